"""What a call of a compiled program costs above the time of its kernels, in µs: the median of several repeats, each of many calls.

    taskset -c 0 python benchmarks/calls.py

The program is x + 1 on 8 float32 elements. Its own time is that of its native code called in a loop of native code; the loop over Python's
calls is timed with an empty call and subtracted. torch (eager) and NumPy, where installed, do the same operation; of them the whole call is
shown."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import twofold
from twofold.runtime.codegen import build
from twofold.runtime.target import host_target

ELEMENTS, CALLS, REPEATS = 8, 20_000, 15

LOOP = """
define void @repeat(ptr %run, ptr %table, ptr %context, i64 %count) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %next ]
  %status = call i32 %run(ptr %table, ptr %context)
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %count
  br i1 %more, label %next, label %done
done:
  ret void
}
"""


def per_call(call: Callable[[], Any]) -> float:
    """µs a call: the median of the repeats."""
    call()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    return statistics.median(times)


def kernel_time(program: Any, x: np.ndarray, out: np.ndarray) -> float:
    """µs a run of the program's native code, without Python."""
    executable = program.executable
    frame = executable.new_frame()
    for info, array in ((executable.inputs[0], x), (executable.outputs[0], out)):
        frame.table[info.slot] = array.ctypes.data
    loop = build(LOOP, host_target(), "a loop", level=1)
    repeat = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(loop.address("repeat"))
    table, context, _ = frame.addresses
    run = executable.code.address("run")
    repeat(run, table, context, CALLS)
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        repeat(run, table, context, CALLS)
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    x = np.arange(ELEMENTS, dtype=np.float32)
    out = np.empty_like(x)
    t, o = twofold.tensor(x), twofold.tensor(x)
    program = twofold.trace(lambda x: x + 1.0, (t,)).compile()
    reusing = twofold.trace(lambda x: x + 1.0, (t,)).compile(reuse_outputs=True)
    plan = twofold.record(lambda x: x + 1.0, t)
    kernel, empty = kernel_time(program, x, out), per_call(lambda: None)
    print(f"the program itself: {kernel:.3f} µs; an empty call, subtracted below: {empty:.3f} µs\n")
    print("µs a call above the program's own time")
    ours: dict[str, Callable[[], Any]] = {
        "run_into, arrays": lambda: program.run_into([out], x),
        "run_into, tensors": lambda: program.run_into([o], t),
        "returning an array": lambda: program(x),
        "returning a tensor": lambda: program(t),
        "returning a tensor, reuse_outputs": lambda: reusing(t),
        "replay of a recorded plan": plan.replay,
    }
    for name, call in ours.items():
        print(f"  {name:36} {per_call(call) - empty - kernel:7.3f}")
    print("\nµs a call, all of it")
    others: dict[str, Callable[[], Any]] = {
        "twofold, eager": lambda: t + 1.0,
        "NumPy, out=": lambda: np.add(x, np.float32(1), out=out),
        "NumPy": lambda: x + np.float32(1),
    }
    try:
        import torch
    except ImportError:
        print("  (torch is not installed)")
    else:
        torch.set_num_threads(1)
        torch_x, torch_out = torch.from_numpy(x.copy()), torch.empty(ELEMENTS)
        others["torch, out="] = lambda: torch.add(torch_x, 1.0, out=torch_out)
        others["torch"] = lambda: torch_x + 1.0
    for name, call in others.items():
        print(f"  {name:36} {per_call(call) - empty:7.3f}")


if __name__ == "__main__":
    main()
