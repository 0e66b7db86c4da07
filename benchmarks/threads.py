"""What a launch costs, in nanoseconds: kernels that do nothing, launched from native code as programs do.

    python benchmarks/threads.py [threads]

serial       one chunk, which the calling thread runs
spinning     as many chunks as threads, launches one after another: workers still look for work. Each chunk ends when all have begun, so
             that the calling thread cannot do it all alone
tiny         the same with empty chunks, which the calling thread may take before a worker does
sleeping     spinning's launch after 5 ms of rest: workers sleep and must be woken
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import twofold
from twofold.runtime.codegen import build
from twofold.runtime.pool import Context, pool
from twofold.runtime.target import named_target

ROUNDS, LAUNCHES = 15, 2000
REST = 0.005

CODE = """
declare void @llvm.x86.sse2.pause()
define void @empty(ptr %args, i64 %chunk) {
  ret void
}
; waits until every chunk of its launch has begun: args is a counter of chunks that began, and their number in a launch
define void @meet(ptr %args, i64 %chunk) {
entry:
  %count.at = getelementptr i64, ptr %args, i64 1
  %count = load i64, ptr %count.at
  %begun = atomicrmw add ptr %args, i64 1 seq_cst
  %launch = udiv i64 %begun, %count
  %next = add i64 %launch, 1
  %enough = mul i64 %next, %count
  br label %wait
wait:
  %now = load atomic i64, ptr %args acquire, align 8
  %all = icmp sge i64 %now, %enough
  br i1 %all, label %done, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  br label %wait
done:
  ret void
}
define void @repeat(ptr %context, ptr %kernel, ptr %args, i64 %chunks, i64 %times) {
entry:
  %launch = load ptr, ptr %context
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %status = call i32 %launch(ptr %context, ptr %kernel, ptr %args, i64 %chunks)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %head, label %done
done:
  ret void
}
"""


def timed(call: Callable[[], None]) -> int:
    begin = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - begin


def measure(threads: int) -> dict[str, object]:
    """Median (and least) ns of one launch of each kind."""
    twofold.set_num_threads(threads)
    code = build(CODE, named_target("x86-64"), "the benchmark of launches", level=1)
    context, args = Context(), np.array([0, threads], np.int64)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64)(code.address("repeat"))

    def launches(kernel: str, chunks: int, times: int) -> Callable[[], None]:
        arguments = (context.address, code.address(kernel), args.ctypes.data, chunks, times)
        return lambda: function(*arguments)

    samples: dict[str, list[float]] = {"serial": [], "tiny": [], "spinning": [], "sleeping": []}
    one, entering = launches("meet", threads, 1), launches("empty", 1, 1)
    for _ in range(ROUNDS):
        samples["serial"].append(timed(launches("empty", 1, LAUNCHES)) / LAUNCHES)
        samples["tiny"].append(timed(launches("empty", threads, LAUNCHES)) / LAUNCHES)
        samples["spinning"].append(timed(launches("meet", threads, LAUNCHES)) / LAUNCHES)
        for _ in range(10):
            time.sleep(REST)
            enter = timed(entering)  # the way from Python, after a rest
            time.sleep(REST)
            samples["sleeping"].append(timed(one) - enter)
    table = {kind: [round(statistics.median(ns)), round(min(ns))] for kind, ns in samples.items()}
    return {"threads": threads, "workers": int(pool().count_workers()), "ns of a launch [median, least]": table}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("threads", nargs="?", type=int, default=2)
    print(json.dumps(measure(parser.parse_args().threads)))
