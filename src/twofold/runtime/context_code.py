"""The native functions of contexts besides the launch: looking at signals, calling Python for host steps. LLVM text, part of `pool_code`.

Workers block signals. A launch, and a loop of a program between its launches, asks CPython in the main thread and at intervals to run
Python's signal handlers. What a handler raises (Ctrl-C: KeyboardInterrupt) is kept in the context, and the run ends with a nonzero status.
Asking takes the GIL, for which other Python threads may make it wait 5 ms: the intervals grow with what it took.
"""

from __future__ import annotations

CONTEXT_LAUNCH, CONTEXT_HOST, CONTEXT_POLL, CONTEXT_CALLBACK, CONTEXT_DUE, CONTEXT_RAISED = range(6)
"""Words of a context: three functions; the host step's Python callback; when signals are looked at next; and three for an exception."""
CONTEXT_WORDS = CONTEXT_RAISED + 3

STOPPED, FORKED = 1, 2
"""What `launch` returns besides 0: a handler (or the warning about missing threads) raised; or it forked, and this is the child."""
CALLBACK_DONE = 1
"""What the callback of host steps returns if all went well. Not 0: ctypes returns that for a callback in which Ctrl-C was raised."""

POLL_NS = 10_000_000
"""Signals are looked at this often, or so rarely that waiting for the GIL takes 2 % of the time, …"""
POLL_MOST_NS = 250_000_000
"""… but at least this often."""

CONSTANTS = {
    "CALLBACK": CONTEXT_CALLBACK, "DUE": CONTEXT_DUE, "RAISED": CONTEXT_RAISED, "CALLBACK_DONE": CALLBACK_DONE,
    "STOPPED": STOPPED, "FORKED": FORKED, "POLL_NS": POLL_NS, "POLL_MOST_NS": POLL_MOST_NS, "CLOCK_MONOTONIC_COARSE": 6,
}  # fmt: skip
"""For the names that the text spells with a dollar sign."""

TEXT = """
declare i32 @PyErr_CheckSignals()
declare void @PyErr_Fetch(ptr, ptr, ptr)

; Moves the exception that was raised in this thread to the context. The GIL is held.
define internal void @keep_exception(ptr %context) nounwind {
  %type = getelementptr ptr, ptr %context, i64 $RAISED
  %value = getelementptr ptr, ptr %type, i64 1
  %traceback = getelementptr ptr, ptr %type, i64 2
  call void @PyErr_Fetch(ptr %type, ptr %value, ptr %traceback)
  ret void
}

; Lets Python run its signal handlers: 0, $STOPPED or $FORKED. The caller is the main thread, and may hold the GIL or not.
define internal i32 @handle_signals(ptr %context) noinline nounwind {
  %forks = load i64, ptr @forks, align 64
  %begin = call i64 @clock(i32 $CLOCK_MONOTONIC)
  %gil = call i32 @PyGILState_Ensure()
  %raised = call i32 @PyErr_CheckSignals()
  %fine = icmp eq i32 %raised, 0
  br i1 %fine, label %release, label %keep
keep:
  call void @keep_exception(ptr %context)
  br label %release
release:
  call void @PyGILState_Release(i32 %gil)
  %end = call i64 @clock(i32 $CLOCK_MONOTONIC)
  %took = sub i64 %end, %begin
  %fifty = mul i64 %took, 50
  %least = call i64 @llvm.smax.i64(i64 %fifty, i64 $POLL_NS)
  %pause = call i64 @llvm.smin.i64(i64 %least, i64 $POLL_MOST_NS)
  %next = add i64 %end, %pause
  %due = getelementptr i64, ptr %context, i64 $DUE
  store i64 %next, ptr %due, align 8
  %forks_now = load i64, ptr @forks, align 64
  %same = icmp eq i64 %forks, %forks_now
  %status = select i1 %same, i32 0, i32 $FORKED
  %result = select i1 %fine, i32 %status, i32 $STOPPED
  ret i32 %result
}
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.smax.i32(i32, i32)

; handle_signals, if it is time for it and this is the main thread. The context's word DUE says when; it may be long past (0 at first).
define internal i32 @signals(ptr %context) nounwind {
  %word = getelementptr i64, ptr %context, i64 $DUE
  %due = load i64, ptr %word, align 8
  %now = call i64 @clock(i32 $CLOCK_MONOTONIC_COARSE)
  %early = icmp slt i64 %now, %due
  br i1 %early, label %nothing, label %look
look:
  %self = call i64 @pthread_self()
  %main_thread = load atomic i64, ptr @main_thread monotonic, align 64
  %is_main = icmp eq i64 %self, %main_thread
  br i1 %is_main, label %ask, label %later
ask:
  %status = call i32 @handle_signals(ptr %context)
  ret i32 %status
later:
  %next = add i64 %now, $POLL_NS
  store i64 %next, ptr %word, align 8
  br label %nothing
nothing:
  ret i32 0
}

; The context's `poll`: nonzero if a signal handler raised.
define i32 @poll(ptr %context) nounwind {
  %status = call i32 @signals(ptr %context)
  %stopped = icmp eq i32 %status, $STOPPED
  %result = zext i1 %stopped to i32
  ret i32 %result
}

; The context's host step: calls the Python callback, unless a signal handler raises before it. (The callback would handle the signal before
; its first instruction, where nothing catches what is raised.)
define i32 @host_step(ptr %context, i64 %step) nounwind {
  %gil = call i32 @PyGILState_Ensure()
  %raised = call i32 @PyErr_CheckSignals()
  %fine = icmp eq i32 %raised, 0
  br i1 %fine, label %go, label %keep
keep:
  call void @keep_exception(ptr %context)
  br label %release
go:
  %place = getelementptr ptr, ptr %context, i64 $CALLBACK
  %callback = load ptr, ptr %place, align 8
  %answer = call i32 %callback(ptr %context, i64 %step)
  %done = icmp eq i32 %answer, $CALLBACK_DONE
  br label %release
release:
  %ok = phi i1 [ false, %keep ], [ %done, %go ]
  call void @PyGILState_Release(i32 %gil)
  %status = select i1 %ok, i32 0, i32 $STOPPED
  ret i32 %status
}
"""
