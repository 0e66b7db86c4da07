"""The native side of `runtime.builtin`, as LLVM text: frames, checks, and the run itself. The functions are in `builtin_functions`.

What they know of a program is in the structures of `runtime.builtin_layout`. Two forms are not LLVM's and are expanded there:

    %x = get Struct.field of %pointer
    put Struct.field of %pointer, %value

The Python C API is called by symbol. Reference counts are changed by its functions, which know of immortal objects; structures of Python
and NumPy are read only as far as `builtin_layout.python_layout` has verified them. Everything here runs with the GIL held, except `run` of
a program whose work takes long enough.
"""

from __future__ import annotations

TEXT = """
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyObject_CallNoArgs(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i32 @PyContextVar_Get(ptr, ptr, ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyLong_FromLong(i64)
declare ptr @PyTuple_New(i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i64 @PyList_Size(ptr)
declare ptr @PyList_GetItem(ptr, i64)
declare i32 @PyList_SetItem(ptr, i64, ptr)

; ---- frames: a stack of free ones. It needs no lock: nothing between reading and writing its top gives up the GIL.

; A free frame, or a new one that Python makes; null with an exception set if that fails.
define internal ptr @take_frame(ptr %entry) {
  %frames = get Entry.frames of %entry
  %top = get Frames.top of %frames
  %none.free = icmp eq ptr %top, null
  br i1 %none.free, label %grow, label %pop
pop:
  %rest = get Frame.next of %top
  put Frames.top of %frames, %rest
  br label %clear
grow:
  %new_frame = get Frames.new_frame of %frames
  %number = call ptr @PyObject_CallNoArgs(ptr %new_frame)
  %failed = icmp eq ptr %number, null
  br i1 %failed, label %no_frame, label %made
made:
  %address = call ptr @PyLong_AsVoidPtr(ptr %number)
  call void @Py_DecRef(ptr %number)
  br label %clear
clear:
  %frame = phi ptr [ %top, %pop ], [ %address, %made ]
  put Frame.held_count of %frame, 0
  put Frame.seen_arrays of %frame, 0
  put Frame.seen_tensors of %frame, 0
  put Frame.seen_gradients of %frame, 0
  ret ptr %frame
no_frame:
  ret ptr null
}

; Gives up the references that the frame holds.
define internal void @release_held(ptr %frame) {
  %count = get Frame.held_count of %frame
  %held = get Frame.held of %frame
  put Frame.held_count of %frame, 0
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %one ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %done
one:
  %at = getelementptr ptr, ptr %held, i64 %i
  %object = load ptr, ptr %at
  call void @Py_DecRef(ptr %object)
  %i.next = add i64 %i, 1
  br label %next
done:
  ret void
}

define internal void @give_frame(ptr %entry, ptr %frame) {
  call void @release_held(ptr %frame)
  %frames = get Entry.frames of %entry
  %top = get Frames.top of %frames
  put Frame.next of %frame, %top
  put Frames.top of %frames, %frame
  ret void
}

; Keeps an array alive until the frame is given back, and enters its memory into the table.
define internal void @bind(ptr %frame, ptr %buffer, ptr %array) {
  call void @Py_IncRef(ptr %array)
  %count = get Frame.held_count of %frame
  %held = get Frame.held of %frame
  %at = getelementptr ptr, ptr %held, i64 %count
  store ptr %array, ptr %at
  %after = add i64 %count, 1
  put Frame.held_count of %frame, %after
  %slot = get Buffer.slot of %buffer
  %has_slot = icmp sge i64 %slot, 0
  br i1 %has_slot, label %enter, label %done
enter:
  %table = get Frame.table of %frame
  %entry = getelementptr ptr, ptr %table, i64 %slot
  %data = get Array.data of %array
  store ptr %data, ptr %entry
  br label %done
done:
  ret void
}

; ---- checks

; Whether an array is what a buffer needs: its dtype, shape and flags (C order, aligned; writeable if it is written).
define internal i1 @fits(ptr %array, ptr %buffer) {
  %descr = get Array.descr of %array
  %wanted.descr = get Buffer.descr of %buffer
  %same.descr = icmp eq ptr %descr, %wanted.descr
  %flags = get Array.flags of %array
  %wanted.flags = get Buffer.flags of %buffer
  %present = and i32 %flags, %wanted.flags
  %same.flags = icmp eq i32 %present, %wanted.flags
  %ndim = get Array.ndim of %array
  %wanted.ndim = get Buffer.ndim of %buffer
  %same.ndim = icmp eq i32 %ndim, %wanted.ndim
  %a = and i1 %same.descr, %same.flags
  %b = and i1 %a, %same.ndim
  br i1 %b, label %sizes, label %no
sizes:
  %shape = get Array.shape of %array
  %wanted.shape = get Buffer.shape of %buffer
  br label %next
next:
  %i = phi i32 [ 0, %sizes ], [ %i.next, %size ]
  %more = icmp slt i32 %i, %ndim
  br i1 %more, label %size, label %yes
size:
  %at = getelementptr i64, ptr %shape, i32 %i
  %wanted.at = getelementptr i64, ptr %wanted.shape, i32 %i
  %n = load i64, ptr %at
  %wanted.n = load i64, ptr %wanted.at
  %same.n = icmp eq i64 %n, %wanted.n
  %i.next = add i32 %i, 1
  br i1 %same.n, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; What is in a slot of an object, null if it is unset.
define internal ptr @slot(ptr %object, i64 %offset) {
  %at = getelementptr i8, ptr %object, i64 %offset
  %value = load ptr, ptr %at
  ret ptr %value
}

; The array in a tensor, if it has one: not a symbol, not on the meta device, not a NumPy scalar. Else null.
define internal ptr @array_of(ptr %python, ptr %tensor) {
  %offset = get Python.array_slot of %python
  %array = call ptr @slot(ptr %tensor, i64 %offset)
  %unset = icmp eq ptr %array, null
  br i1 %unset, label %no, label %typed
typed:
  %type = get Object.type of %array
  %ndarray = get Python.ndarray of %python
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %yes, label %no
yes:
  ret ptr %array
no:
  ret ptr null
}

; Whether a tensor requires grad as it did when the graph was recorded (Leaf.gradient: 0 no; 1 yes, a leaf; 2 any will do). A view is looked
; at only where neither it nor its base requires grad. The frame notes if some tensor requires grad.
define internal i1 @same_gradient(ptr %python, ptr %frame, ptr %leaf, ptr %tensor) {
  %none = get Python.none of %python
  %node_slot = get Python.node_slot of %python
  %node = call ptr @slot(ptr %tensor, i64 %node_slot)
  %gradient = get Leaf.gradient of %leaf
  %is_any = icmp eq i64 %gradient, 2
  %is_plain = icmp eq ptr %node, %none
  br i1 %is_plain, label %plain, label %tracked
tracked:
  put Frame.seen_gradients of %frame, 1
  %unset = icmp eq ptr %node, null
  br i1 %unset, label %no, label %node_set
node_set:
  br i1 %is_any, label %yes, label %not_any
not_any:
  %is_recorded = icmp eq i64 %gradient, 1
  %node_type = get Object.type of %node
  %leaf_node = get Python.leaf_node of %python
  %is_leaf = icmp eq ptr %node_type, %leaf_node
  %as_recorded = and i1 %is_recorded, %is_leaf
  br i1 %as_recorded, label %alias, label %no
plain:
  %plain_recorded = icmp eq i64 %gradient, 0
  br i1 %plain_recorded, label %alias, label %plain_any
plain_any:
  br i1 %is_any, label %yes, label %no
alias:
  %alias_slot = get Python.alias_slot of %python
  %record = call ptr @slot(ptr %tensor, i64 %alias_slot)
  %unset_alias = icmp eq ptr %record, null
  %none_alias = icmp eq ptr %record, %none
  %has_no_alias = or i1 %unset_alias, %none_alias
  br i1 %has_no_alias, label %yes, label %recorded_alias
recorded_alias:
  %record_type = get Object.type of %record
  %alias_class = get Python.alias of %python
  %is_record = icmp eq ptr %record_type, %alias_class
  br i1 %is_record, label %aliased, label %no
aliased:
  %base_slot = get Python.base_slot of %python
  %base = call ptr @slot(ptr %record, i64 %base_slot)
  %is_base = icmp eq ptr %base, %none
  br i1 %is_base, label %yes, label %viewed
viewed:
  %base_unset = icmp eq ptr %base, null
  br i1 %base_unset, label %no, label %base_set
base_set:
  %base_node = call ptr @slot(ptr %base, i64 %node_slot)
  %base_plain = icmp eq ptr %base_node, %none
  %both = and i1 %base_plain, %is_plain
  br i1 %both, label %yes, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; The array of one argument or bound tensor; null: the careful path must look at it.
define internal ptr @array_of_leaf(ptr %python, ptr %frame, ptr %leaf, ptr %object) {
  %kind = get Leaf.kind of %leaf
  %is_bound = icmp eq i64 %kind, 1
  br i1 %is_bound, label %tensor, label %typed
typed:
  %type = get Object.type of %object
  %ndarray = get Python.ndarray of %python
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %array, label %other
array:
  put Frame.seen_arrays of %frame, 1
  ret ptr %object
other:
  %class = get Python.tensor of %python
  %is_tensor = icmp eq ptr %type, %class
  br i1 %is_tensor, label %argument, label %no
argument:
  put Frame.seen_tensors of %frame, 1
  br label %tensor
tensor:
  %same = call i1 @same_gradient(ptr %python, ptr %frame, ptr %leaf, ptr %object)
  br i1 %same, label %yes, label %no
yes:
  %found = call ptr @array_of(ptr %python, ptr %object)
  ret ptr %found
no:
  ret ptr null
}

; Whether gradients may be wanted here: some tensor requires grad, and grad mode is not off.
define internal i1 @wants_gradients(ptr %python, ptr %frame) {
  %value.at = alloca ptr
  %seen = get Frame.seen_gradients of %frame
  %any = icmp ne i64 %seen, 0
  br i1 %any, label %ask, label %no
ask:
  %variable = get Python.grad_mode of %python
  store ptr null, ptr %value.at
  %status = call i32 @PyContextVar_Get(ptr %variable, ptr null, ptr %value.at)
  %value = load ptr, ptr %value.at
  %unknown = icmp eq ptr %value, null
  br i1 %unknown, label %yes, label %known
known:
  call void @Py_DecRef(ptr %value)
  %off = get Python.false of %python
  %is_off = icmp eq ptr %value, %off
  br i1 %is_off, label %no, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; Checks all leaves and binds their arrays; false: the careful path must serve the call.
define internal i1 @bind_leaves(ptr %entry, ptr %frame, ptr %arguments) {
  %python = get Entry.python of %entry
  %count = get Entry.leaf_count of %entry
  %leaves = get Entry.leaves of %entry
  %mode.at = get Python.mode of %python
  %zero = get Python.zero of %python
  %mode = load ptr, ptr %mode.at
  %ordinary = icmp eq ptr %mode, %zero
  br i1 %ordinary, label %next, label %no
next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %accepted ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %all
one:
  %leaf = getelementptr %Leaf, ptr %leaves, i64 %i
  %kind = get Leaf.kind of %leaf
  %fixed = get Leaf.object of %leaf
  %is_bound = icmp eq i64 %kind, 1
  br i1 %is_bound, label %chosen, label %given
given:
  %position = get Leaf.position of %leaf
  %at = getelementptr ptr, ptr %arguments, i64 %position
  %argument = load ptr, ptr %at
  %is_constant = icmp eq i64 %kind, 2
  br i1 %is_constant, label %constant, label %chosen
constant:
  %same = icmp eq ptr %argument, %fixed
  br i1 %same, label %accepted, label %no
chosen:
  %object = phi ptr [ %fixed, %one ], [ %argument, %given ]
  %array = call ptr @array_of_leaf(ptr %python, ptr %frame, ptr %leaf, ptr %object)
  %unusual = icmp eq ptr %array, null
  br i1 %unusual, label %no, label %found
found:
  %buffer = get Leaf.buffer of %leaf
  %fits = call i1 @fits(ptr %array, ptr %buffer)
  br i1 %fits, label %bound, label %no
bound:
  call void @bind(ptr %frame, ptr %buffer, ptr %array)
  br label %accepted
accepted:
  %i.next = add i64 %i, 1
  br label %next
all:
  %wants = call i1 @wants_gradients(ptr %python, ptr %frame)
  %ok = xor i1 %wants, true
  ret i1 %ok
no:
  ret i1 false
}

; ---- running

; Calls the program; true if it ended well. Else an exception is set.
define internal i1 @run_frame(ptr %entry, ptr %frame) {
  %pair = alloca [2 x ptr]
  %counter = get Entry.counter of %entry
  %calls = load i64, ptr %counter
  %calls.after = add i64 %calls, 1
  store i64 %calls.after, ptr %counter
  %error.at = get Frame.error of %frame
  store i64 0, ptr %error.at
  %run = get Entry.run of %entry
  %table = get Frame.table of %frame
  %context = get Frame.context of %frame
  %releases = get Entry.releases_gil of %entry
  %is_long = icmp ne i64 %releases, 0
  br i1 %is_long, label %long, label %short
long:
  %thread = call ptr @PyEval_SaveThread()
  %status.long = call i32 %run(ptr %table, ptr %context)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %ran
short:
  %status.short = call i32 %run(ptr %table, ptr %context)
  br label %ran
ran:
  %status = phi i32 [ %status.long, %long ], [ %status.short, %short ]
  %error = load i64, ptr %error.at
  %status.wide = sext i32 %status to i64
  %either = or i64 %error, %status.wide
  %ok = icmp eq i64 %either, 0
  br i1 %ok, label %good, label %bad
good:
  ret i1 true
bad:
  %number = call ptr @PyLong_FromLong(i64 %status.wide)
  %failed = icmp eq ptr %number, null
  br i1 %failed, label %no, label %explained
explained:
  %explain = get Entry.explain of %entry
  %object = get Frame.object of %frame
  store ptr %object, ptr %pair
  %second = getelementptr ptr, ptr %pair, i64 1
  store ptr %number, ptr %second
  %nothing = call ptr @PyObject_Vectorcall(ptr %explain, ptr %pair, i64 2, ptr null)
  call void @Py_DecRef(ptr %number)
  br label %no
no:
  ret i1 false
}

; Copies results into the memory of leaves that the program writes.
define internal void @write_back(ptr %entry, ptr %frame) {
  %count = get Entry.copy_count of %entry
  %copies = get Entry.copies of %entry
  %table = get Frame.table of %frame
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %one ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %done
one:
  %copy = getelementptr %Copy, ptr %copies, i64 %i
  %source.slot = get Copy.source of %copy
  %target.slot = get Copy.target of %copy
  %size = get Copy.size of %copy
  %source.at = getelementptr ptr, ptr %table, i64 %source.slot
  %target.at = getelementptr ptr, ptr %table, i64 %target.slot
  %source = load ptr, ptr %source.at
  %target = load ptr, ptr %target.at
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %size, i1 false)
  %i.next = add i64 %i, 1
  br label %next
done:
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal ptr @careful(ptr %entry, ptr %arguments, i64 %count, ptr %names) {
  %function = get Entry.careful of %entry
  %result = call ptr @PyObject_Vectorcall(ptr %function, ptr %arguments, i64 %count, ptr %names)
  ret ptr %result
}

define internal ptr @entry_of(ptr %self) {
  %state = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %entry = get Array.data of %state
  ret ptr %entry
}
"""
"""What both functions need."""
