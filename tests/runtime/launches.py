"""Launches of small kernels on the pool, without the compiler: for the tests of the pool, and for the processes that they start."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np

from twofold.runtime.codegen import build
from twofold.runtime.pool import Context, pool
from twofold.runtime.target import named_target

KERNELS = """
declare i32 @usleep(i32)

; chunk i adds 1 to element i
define void @count(ptr %args, i64 %chunk) {
  %p = load ptr, ptr %args
  %q = getelementptr i64, ptr %p, i64 %chunk
  %old = atomicrmw add ptr %q, i64 1 monotonic
  ret void
}

; the same, after a millisecond
define void @slow(ptr %args, i64 %chunk) {
  %r = call i32 @usleep(i32 1000)
  call void @count(ptr %args, i64 %chunk)
  ret void
}

define void @nap(ptr %args, i64 %chunk) {
  %r = call i32 @usleep(i32 1000)
  ret void
}

; chunk i stores the address of a variable of its thread
declare ptr @__errno_location()
define void @who(ptr %args, i64 %chunk) {
  %r = call i32 @usleep(i32 1000)
  %p = load ptr, ptr %args
  %q = getelementptr i64, ptr %p, i64 %chunk
  %place = call ptr @__errno_location()
  %number = ptrtoint ptr %place to i64
  store i64 %number, ptr %q
  ret void
}

; chunk i stores a denormal times i + 1: zero if the thread flushes denormals
define void @denormal(ptr %args, i64 %chunk) {
  %p = load ptr, ptr %args
  %q = getelementptr double, ptr %p, i64 %chunk
  %number = add i64 %chunk, 1
  %x = uitofp i64 %number to double
  %tiny = fmul double %x, 0x000FFFFFFFFFFFFF
  store double %tiny, ptr %q
  ret void
}

; the thread's floating-point control word
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @get_modes(ptr %p) {
  call void @llvm.x86.sse.stmxcsr(ptr %p)
  ret void
}
define void @set_modes(ptr %p) {
  call void @llvm.x86.sse.ldmxcsr(ptr %p)
  ret void
}

; the launch of `kernel` named in data[1], `data[2]` chunks, `data[0]` times, with a look at signals before each
define i32 @repeat(ptr %context, ptr %args, ptr %data) {
entry:
  %times = load i64, ptr %data
  %kernel.at = getelementptr ptr, ptr %data, i64 1
  %kernel = load ptr, ptr %kernel.at
  %chunks.at = getelementptr i64, ptr %data, i64 2
  %chunks = load i64, ptr %chunks.at
  %launch = load ptr, ptr %context
  %poll.at = getelementptr ptr, ptr %context, i64 2
  %poll = load ptr, ptr %poll.at
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %more = icmp slt i64 %i, %times
  br i1 %more, label %look, label %done
look:
  %signal = call i32 %poll(ptr %context)
  %fine = icmp eq i32 %signal, 0
  br i1 %fine, label %body, label %stop
body:
  %status = call i32 %launch(ptr %context, ptr %kernel, ptr %args, i64 %chunks)
  %ok = icmp eq i32 %status, 0
  br i1 %ok, label %again, label %stop
again:
  %next = add i64 %i, 1
  br label %head
done:
  ret i32 0
stop:
  ret i32 1
}
"""

STEPS = """
; a program of `times` host steps
define i32 @steps(ptr %context, i64 %times) {
entry:
  %step.at = getelementptr ptr, ptr %context, i64 1
  %step = load ptr, ptr %step.at
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %more = icmp slt i64 %i, %times
  br i1 %more, label %again, label %done
again:
  %status = call i32 %step(ptr %context, i64 %i)
  %next = add i64 %i, 1
  br label %head
done:
  ret i32 0
}
"""

_LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_REPEAT = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Launcher:
    """Launches on one array of results. Raises what stops a launch. One thread at a time uses a Launcher."""

    def __init__(self, length: int = 1, dtype: type = np.int64) -> None:
        self.code = build(KERNELS, named_target("x86-64"), "kernels of a test", level=1)
        self.context = Context()
        self.out = np.zeros(length, dtype)
        self._args = np.array([self.out.ctypes.data], np.uint64)
        self._launch = _LAUNCH(pool().code.address("launch"))
        self._repeat = _REPEAT(self.code.address("repeat"))

    def launch(self, kernel: str, chunks: int) -> None:
        status = self._launch(self.context.address, self.code.address(kernel), self._args.ctypes.data, chunks)
        if status:
            self.context.raise_stopped(status)

    def repeat(self, times: int, kernel: str, chunks: int) -> None:
        """`times` launches from native code, as a program makes them."""
        data = np.array([times, self.code.address(kernel), chunks], np.int64)
        status = self._repeat(self.context.address, self._args.ctypes.data, data.ctypes.data)
        if status:
            self.context.raise_stopped(status)


def steps(context: Context, times: int) -> None:
    """A program of so many host steps."""
    code = build(STEPS, named_target("x86-64"), "host steps of a test", level=1)
    ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(code.address("steps"))(context.address, times)


def os_threads(expected: int | None = None) -> int:
    """Threads of this process, as the system counts them. Some that have ended (and were joined) are listed a moment longer: waits a while
    for the number to be the one expected."""
    end = time.monotonic() + 5.0
    while True:
        count = len(list(Path("/proc/self/task").iterdir()))
        if expected is None or count == expected or time.monotonic() > end:
            return count
        time.sleep(0.0005)
