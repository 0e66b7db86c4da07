"""Compiled kernels beside torch's eager operations, one thread each, in one process: the least time of 15 calls.

    python benchmarks/kernels.py

For orientation while the compiler has no thread pool; `run.py` measures against all peers in separate processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import twofold
import twofold.nn.functional as F

T = torch.nn.functional
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "pointwise 4M": (
        lambda x: twofold.relu(x * 1.3 + 0.2) * twofold.tanh(x) + twofold.exp(-x * x),
        lambda x: torch.relu(x * 1.3 + 0.2) * torch.tanh(x) + torch.exp(-x * x),
        ((1 << 22,),),
    ),
    "softmax 4096x1024": (lambda x: x.softmax(1), lambda x: x.softmax(1), ((4096, 1024),)),
    "gelu + layer norm 2048x768": (
        lambda x, w, b: F.layer_norm(F.gelu(x), (768,), w, b),
        lambda x, w, b: T.layer_norm(T.gelu(x), (768,), w, b),
        ((2048, 768), (768,), (768,)),
    ),
    "layer norm 2048x768": (
        lambda x, w, b: F.layer_norm(x, (768,), w, b),
        lambda x, w, b: T.layer_norm(x, (768,), w, b),
        ((2048, 768), (768,), (768,)),
    ),
    "column sum 4096x1024": (lambda x: x.sum(0), lambda x: x.sum(0), ((4096, 1024),)),
    "batch norm, training 32x64x56x56": (
        lambda x: F.batch_norm(x, None, None, training=True),
        lambda x: T.batch_norm(x, None, None, training=True),
        ((32, 64, 56, 56),),
    ),
}


def least(run: Callable[[], Any], count: int = 15) -> float:
    """The least time of a call, in milliseconds."""
    run()
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def main() -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    for name, (ours, theirs, shapes) in CASES.items():
        arrays = [rng.standard_normal(s).astype(np.float32) for s in shapes]
        program = twofold.trace(ours, tuple(map(twofold.tensor, arrays)), check=False).compile()
        outputs = program.executable.fresh_outputs()
        tensors = [torch.from_numpy(a) for a in arrays]
        with torch.inference_mode():
            a = least(lambda p=program, o=outputs, x=arrays: p.run_into(o, *x))
            b = least(lambda f=theirs, x=tensors: f(*x))
        print(f"{name:34} {a:8.3f} ms, torch {b:8.3f} ms, ratio {a / b:.2f}")


if __name__ == "__main__":
    main()
