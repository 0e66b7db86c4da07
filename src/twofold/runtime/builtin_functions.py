"""The two builtin functions that all programs have, as LLVM text. `builtin_text` has what they share, and says how it is written."""

from __future__ import annotations

CALL = """
; ---- call(*leaves): results are new arrays, or tensors around them

; An array for an output, as a new reference; null with an exception set if there is no memory.
define internal ptr @new_array(ptr %entry, ptr %buffer) {
  %python = get Entry.python of %entry
  %ndarray = get Python.ndarray of %python
  %new_array = get Python.new_array of %python
  %descr = get Buffer.descr of %buffer
  %ndim = get Buffer.ndim of %buffer
  %shape = get Buffer.shape of %buffer
  call void @Py_IncRef(ptr %descr)
  %array = call ptr %new_array(ptr %ndarray, ptr %descr, i32 %ndim, ptr %shape, ptr null, ptr null, i32 0, ptr null)
  ret ptr %array
}

; Where outputs are reused, the list `kept` has for each output the array of the last call and the tensor around it (or None).
; This is the array of output i as a new reference, taken out of its tensor, which becomes stale if somebody has it; null if something else
; looks at the array: an argument, a view, NumPy, a value saved for backward, another call under way.
define internal ptr @kept_array(ptr %entry, ptr %kept, i64 %i) {
  %python = get Entry.python of %entry
  %none = get Python.none of %python
  %array.index = mul i64 %i, 2
  %tensor.index = add i64 %array.index, 1
  %array = call ptr @PyList_GetItem(ptr %kept, i64 %array.index)
  %tensor = call ptr @PyList_GetItem(ptr %kept, i64 %tensor.index)
  %first_call = icmp eq ptr %array, %none
  br i1 %first_call, label %no, label %count
count:
  %references = get Object.references of %array
  %has_tensor = icmp ne ptr %tensor, %none
  %usual = select i1 %has_tensor, i64 2, i64 1
  %alone = icmp eq i64 %references, %usual
  br i1 %alone, label %unshared, label %no
unshared:
  call void @Py_IncRef(ptr %array)
  br i1 %has_tensor, label %inside, label %yes
inside:
  %slot = get Python.array_slot of %python
  %inside.array = call ptr @slot(ptr %tensor, i64 %slot)
  %is_inside = icmp eq ptr %inside.array, %array
  br i1 %is_inside, label %take, label %elsewhere
take:
  %holders = get Object.references of %tensor
  %unused = icmp eq i64 %holders, 1
  br i1 %unused, label %forget, label %make_stale
make_stale:
  %stale = get Entry.stale of %entry
  call void @Py_IncRef(ptr %stale)
  %at = getelementptr i8, ptr %tensor, i64 %slot
  store ptr %stale, ptr %at
  call void @Py_DecRef(ptr %array)
  br label %forget
forget:
  call void @Py_IncRef(ptr %none)
  %status = call i32 @PyList_SetItem(ptr %kept, i64 %tensor.index, ptr %none)
  br label %yes
yes:
  ret ptr %array
elsewhere:
  call void @Py_DecRef(ptr %array)
  br label %no
no:
  ret ptr null
}

; Remembers output i of this call, where outputs are reused. The references are not taken.
define internal void @keep(ptr %entry, i64 %i, ptr %array, ptr %tensor) {
  %kept = get Entry.kept of %entry
  %reuses = icmp ne ptr %kept, null
  br i1 %reuses, label %set, label %done
set:
  %array.index = mul i64 %i, 2
  %tensor.index = add i64 %array.index, 1
  call void @Py_IncRef(ptr %array)
  call void @Py_IncRef(ptr %tensor)
  %status.array = call i32 @PyList_SetItem(ptr %kept, i64 %array.index, ptr %array)
  %status.tensor = call i32 @PyList_SetItem(ptr %kept, i64 %tensor.index, ptr %tensor)
  br label %done
done:
  ret void
}

; An array for each output, bound; false with an exception set if there is no memory.
define internal i1 @bind_outputs(ptr %entry, ptr %frame) {
  %count = get Entry.output_count of %entry
  %outputs = get Entry.outputs of %entry
  %kept = get Entry.kept of %entry
  %reuses = icmp ne ptr %kept, null
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %bound ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %all
one:
  %buffer = getelementptr %Buffer, ptr %outputs, i64 %i
  br i1 %reuses, label %old, label %new
old:
  %old.array = call ptr @kept_array(ptr %entry, ptr %kept, i64 %i)
  %is_kept = icmp ne ptr %old.array, null
  br i1 %is_kept, label %bound, label %new
new:
  %new.array = call ptr @new_array(ptr %entry, ptr %buffer)
  %failed = icmp eq ptr %new.array, null
  br i1 %failed, label %no, label %bound
bound:
  %array = phi ptr [ %old.array, %old ], [ %new.array, %new ]
  call void @bind(ptr %frame, ptr %buffer, ptr %array)
  call void @Py_DecRef(ptr %array)
  %i.next = add i64 %i, 1
  br label %next
all:
  ret i1 true
no:
  ret i1 false
}

; A tensor around an array (whose reference it takes), without history.
define internal ptr @wrap(ptr %python, ptr %array, ptr %type) {
  %class = get Python.tensor of %python
  %new = get Python.new_tensor of %python
  %empty = get Python.empty of %python
  %tensor = call ptr %new(ptr %class, ptr %empty, ptr null)
  %failed = icmp eq ptr %tensor, null
  br i1 %failed, label %no, label %fill
fill:
  %none = get Python.none of %python
  call void @Py_IncRef(ptr %type)
  call void @Py_IncRef(ptr %none)
  %array_slot = get Python.array_slot of %python
  %type_slot = get Python.type_slot of %python
  %node_slot = get Python.node_slot of %python
  %array.at = getelementptr i8, ptr %tensor, i64 %array_slot
  %type.at = getelementptr i8, ptr %tensor, i64 %type_slot
  %node.at = getelementptr i8, ptr %tensor, i64 %node_slot
  store ptr %array, ptr %array.at
  store ptr %type, ptr %type.at
  store ptr %none, ptr %node.at
  ret ptr %tensor
no:
  call void @Py_DecRef(ptr %array)
  ret ptr null
}

; Output number i as a new reference: the array, or a tensor around it.
define internal ptr @result(ptr %entry, ptr %frame, i64 %i) {
  %leaf_count = get Entry.array_count of %entry
  %held = get Frame.held of %frame
  %place = add i64 %leaf_count, %i
  %at = getelementptr ptr, ptr %held, i64 %place
  %array = load ptr, ptr %at
  call void @Py_IncRef(ptr %array)
  %arrays = get Frame.seen_arrays of %frame
  %tensors = get Frame.seen_tensors of %frame
  %has_arrays = icmp ne i64 %arrays, 0
  %has_no_tensors = icmp eq i64 %tensors, 0
  %given_arrays = and i1 %has_arrays, %has_no_tensors
  %python = get Entry.python of %entry
  %class = get Python.tensor of %python
  %has_no_class = icmp eq ptr %class, null
  %as_array = or i1 %given_arrays, %has_no_class
  br i1 %as_array, label %plain, label %wrapped
plain:
  %none = get Python.none of %python
  call void @keep(ptr %entry, i64 %i, ptr %array, ptr %none)
  ret ptr %array
wrapped:
  %outputs = get Entry.outputs of %entry
  %buffer = getelementptr %Buffer, ptr %outputs, i64 %i
  %type = get Buffer.type of %buffer
  %tensor = call ptr @wrap(ptr %python, ptr %array, ptr %type)
  %failed = icmp eq ptr %tensor, null
  br i1 %failed, label %no, label %made
made:
  call void @keep(ptr %entry, i64 %i, ptr %array, ptr %tensor)
  ret ptr %tensor
no:
  ret ptr null
}

; All outputs as a tuple.
define internal ptr @results(ptr %entry, ptr %frame) {
  %count = get Entry.output_count of %entry
  %tuple = call ptr @PyTuple_New(i64 %count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %no, label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %put ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %all
one:
  %item = call ptr @result(ptr %entry, ptr %frame, i64 %i)
  %missing = icmp eq ptr %item, null
  br i1 %missing, label %drop, label %put
put:
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %i, ptr %item)
  %i.next = add i64 %i, 1
  br label %next
all:
  ret ptr %tuple
drop:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
no:
  ret ptr null
}

; Whether each watched array has as many references as it had when the function was made: nothing new looks at its memory.
define internal i1 @unwatched(ptr %entry) {
  %count = get Entry.watched_count of %entry
  %all = get Entry.watched of %entry
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %one ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %watched = getelementptr %Watched, ptr %all, i64 %i
  %array = get Watched.array of %watched
  %usual = get Watched.references of %watched
  %references = get Object.references of %array
  %same = icmp eq i64 %references, %usual
  %i.next = add i64 %i, 1
  br i1 %same, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define ptr @call(ptr %self, ptr %arguments, i64 %count, ptr %names) {
  %entry = call ptr @entry_of(ptr %self)
  %wanted = get Entry.argument_count of %entry
  %same = icmp eq i64 %count, %wanted
  %positional = icmp eq ptr %names, null
  %unwatched = call i1 @unwatched(ptr %entry)
  %ordinary = and i1 %same, %positional
  %usual = and i1 %ordinary, %unwatched
  br i1 %usual, label %begin, label %unusual
begin:
  %frame = call ptr @take_frame(ptr %entry)
  %no_frame = icmp eq ptr %frame, null
  br i1 %no_frame, label %failed, label %check
check:
  %bound = call i1 @bind_leaves(ptr %entry, ptr %frame, ptr %arguments)
  br i1 %bound, label %allocate, label %refused
allocate:
  %allocated = call i1 @bind_outputs(ptr %entry, ptr %frame)
  br i1 %allocated, label %start, label %broken
start:
  %ok = call i1 @run_frame(ptr %entry, ptr %frame)
  br i1 %ok, label %finish, label %broken
finish:
  call void @write_back(ptr %entry, ptr %frame)
  %kind = get Entry.result of %entry
  switch i64 %kind, label %fixed [ i64 1, label %single
                                   i64 2, label %several ]
single:
  %one = call ptr @result(ptr %entry, ptr %frame, i64 0)
  br label %done
several:
  %all = call ptr @results(ptr %entry, ptr %frame)
  br label %done
fixed:
  %object = get Entry.fixed of %entry
  call void @Py_IncRef(ptr %object)
  br label %done
done:
  %returned = phi ptr [ %one, %single ], [ %all, %several ], [ %object, %fixed ]
  call void @give_frame(ptr %entry, ptr %frame)
  ret ptr %returned
broken:
  call void @give_frame(ptr %entry, ptr %frame)
  ret ptr null
refused:
  call void @give_frame(ptr %entry, ptr %frame)
  br label %unusual
unusual:
  %served = call ptr @careful(ptr %entry, ptr %arguments, i64 %count, ptr %names)
  ret ptr %served
failed:
  ret ptr null
}
"""
"""`call(*leaves)`."""

INTO = """
; ---- into(outputs, *leaves): results are written into given arrays

; Item i of a list or tuple (borrowed), null if there is none or it is neither.
define internal ptr @item(ptr %python, ptr %sequence, i64 %count, i64 %i) {
  %type = get Object.type of %sequence
  %list = get Python.list of %python
  %tuple = get Python.tuple of %python
  %is_list = icmp eq ptr %type, %list
  br i1 %is_list, label %in_list, label %not_list
in_list:
  %list.size = call i64 @PyList_Size(ptr %sequence)
  %list.fits = icmp eq i64 %list.size, %count
  br i1 %list.fits, label %from_list, label %no
from_list:
  %list.item = call ptr @PyList_GetItem(ptr %sequence, i64 %i)
  ret ptr %list.item
not_list:
  %is_tuple = icmp eq ptr %type, %tuple
  br i1 %is_tuple, label %in_tuple, label %no
in_tuple:
  %tuple.size = call i64 @PyTuple_Size(ptr %sequence)
  %tuple.fits = icmp eq i64 %tuple.size, %count
  br i1 %tuple.fits, label %from_tuple, label %no
from_tuple:
  %tuple.item = call ptr @PyTuple_GetItem(ptr %sequence, i64 %i)
  ret ptr %tuple.item
no:
  ret ptr null
}

; The array to write: one that was given, or that of a tensor which nothing else looks at (so that no version need be counted) and which
; does not require grad. Else null.
define internal ptr @target(ptr %python, ptr %object) {
  %type = get Object.type of %object
  %ndarray = get Python.ndarray of %python
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %given, label %other
given:
  ret ptr %object
other:
  %class = get Python.tensor of %python
  %is_tensor = icmp eq ptr %type, %class
  br i1 %is_tensor, label %tensor, label %no
tensor:
  %none = get Python.none of %python
  %node_slot = get Python.node_slot of %python
  %node = call ptr @slot(ptr %object, i64 %node_slot)
  %plain = icmp eq ptr %node, %none
  br i1 %plain, label %inside, label %no
inside:
  %array = call ptr @array_of(ptr %python, ptr %object)
  %unusual = icmp eq ptr %array, null
  br i1 %unusual, label %no, label %owned
owned:
  %references = get Object.references of %array
  %base = get Array.base of %array
  %single = icmp eq i64 %references, 1
  %is_owner = icmp eq ptr %base, null
  %alone = and i1 %single, %is_owner
  br i1 %alone, label %yes, label %no
yes:
  ret ptr %array
no:
  ret ptr null
}

; The size in bytes of the held array number i: leaves first, then outputs.
define internal i64 @size_of(ptr %entry, i64 %i) {
  %leaf_count = get Entry.array_count of %entry
  %sizes = get Entry.sizes of %entry
  %at = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %at
  ret i64 %size
}

; Whether the memory of array number i meets that of one held before it. All are without gaps.
define internal i1 @overlaps(ptr %entry, ptr %frame, i64 %i) {
  %held = get Frame.held of %frame
  %at = getelementptr ptr, ptr %held, i64 %i
  %array = load ptr, ptr %at
  %begin = get Array.data of %array
  %size = call i64 @size_of(ptr %entry, i64 %i)
  %end = getelementptr i8, ptr %begin, i64 %size
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %no, label %next
next:
  %k = phi i64 [ 0, %0 ], [ %k.next, %one ]
  %more = icmp slt i64 %k, %i
  br i1 %more, label %one, label %no
one:
  %other.at = getelementptr ptr, ptr %held, i64 %k
  %other = load ptr, ptr %other.at
  %other.begin = get Array.data of %other
  %other.size = call i64 @size_of(ptr %entry, i64 %k)
  %other.end = getelementptr i8, ptr %other.begin, i64 %other.size
  %before = icmp ule ptr %other.end, %begin
  %after = icmp ule ptr %end, %other.begin
  %apart = or i1 %before, %after
  %k.next = add i64 %k, 1
  br i1 %apart, label %next, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @bind_targets(ptr %entry, ptr %frame, ptr %sequence) {
  %python = get Entry.python of %entry
  %count = get Entry.output_count of %entry
  %outputs = get Entry.outputs of %entry
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %apart ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %all
one:
  %buffer = getelementptr %Buffer, ptr %outputs, i64 %i
  %object = call ptr @item(ptr %python, ptr %sequence, i64 %count, i64 %i)
  %missing = icmp eq ptr %object, null
  br i1 %missing, label %no, label %found
found:
  %array = call ptr @target(ptr %python, ptr %object)
  %unusual = icmp eq ptr %array, null
  br i1 %unusual, label %no, label %usual
usual:
  %fits = call i1 @fits(ptr %array, ptr %buffer)
  br i1 %fits, label %bound, label %no
bound:
  call void @bind(ptr %frame, ptr %buffer, ptr %array)
  %leaf_count = get Entry.array_count of %entry
  %place = add i64 %leaf_count, %i
  %overlaps = call i1 @overlaps(ptr %entry, ptr %frame, i64 %place)
  %i.next = add i64 %i, 1
  br i1 %overlaps, label %no, label %apart
apart:
  br label %next
all:
  ret i1 true
no:
  ret i1 false
}

define ptr @into(ptr %self, ptr %arguments, i64 %count, ptr %names) {
  %entry = call ptr @entry_of(ptr %self)
  %wanted = get Entry.argument_count of %entry
  %given = sub i64 %count, 1
  %same = icmp eq i64 %given, %wanted
  %positional = icmp eq ptr %names, null
  %usual = and i1 %same, %positional
  br i1 %usual, label %begin, label %unusual
begin:
  %frame = call ptr @take_frame(ptr %entry)
  %no_frame = icmp eq ptr %frame, null
  br i1 %no_frame, label %failed, label %check
check:
  %leaves = getelementptr ptr, ptr %arguments, i64 1
  %bound = call i1 @bind_leaves(ptr %entry, ptr %frame, ptr %leaves)
  br i1 %bound, label %targets, label %refused
targets:
  %sequence = load ptr, ptr %arguments
  %fit = call i1 @bind_targets(ptr %entry, ptr %frame, ptr %sequence)
  br i1 %fit, label %start, label %refused
start:
  %ok = call i1 @run_frame(ptr %entry, ptr %frame)
  call void @give_frame(ptr %entry, ptr %frame)
  br i1 %ok, label %finish, label %failed
finish:
  %python = get Entry.python of %entry
  %none = get Python.none of %python
  call void @Py_IncRef(ptr %none)
  ret ptr %none
refused:
  call void @give_frame(ptr %entry, ptr %frame)
  br label %unusual
unusual:
  %served = call ptr @careful(ptr %entry, ptr %arguments, i64 %count, ptr %names)
  ret ptr %served
failed:
  ret ptr null
}
"""
"""`into(outputs, *leaves)`."""
