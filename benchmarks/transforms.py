"""Gradients of single examples and second derivatives beside torch.func's, on two threads, in alternating processes.

python benchmarks/transforms.py [--pairs 7] [--json FILE]
python benchmarks/transforms.py --side twofold|torch      one process, figures as JSON (milliseconds)

mlp, cnn: vmap(grad(loss)) over 64 (32) examples of a network of 784-256-128-10 (two convolutions of 16 and 32 channels on 3 x 32 x 32).
hessian: of tanh(A x) summed, 64 variables.  jacobian: jacrev of a layer of 128 to 128.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from pairs import machine, paired, show, summarise  # noqa: E402

THREADS = "2"
ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TWOFOLD_NUM_THREADS"), THREADS)


def per_sample(lib: Any, module: Any, x: Any) -> Callable[[], Any]:
    """Gradients of every example."""
    y = lib.randint(0, 10, (x.shape[0],))
    parameters = {k: p.detach() for k, p in module.named_parameters()}

    def loss(p: Any, x: Any, y: Any) -> Any:
        return lib.nn.functional.cross_entropy(lib.func.functional_call(module, p, (x.unsqueeze(0),)), y.unsqueeze(0))

    gradients = lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: gradients(parameters, x, y)


def mlp(lib: Any) -> Callable[[], Any]:
    nn = lib.nn
    module = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    return per_sample(lib, module, lib.randn(64, 784))


def cnn(lib: Any) -> Callable[[], Any]:
    nn = lib.nn
    first = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
    second = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 64, 10))
    return per_sample(lib, nn.Sequential(first, second), lib.randn(32, 3, 32, 32))


def hessian(lib: Any) -> Callable[[], Any]:
    a, x = lib.randn(64, 64), lib.randn(64)
    return lambda: lib.func.hessian(lambda v: lib.tanh(a @ v).sum())(x)


def jacobian(lib: Any) -> Callable[[], Any]:
    layer, x = lib.nn.Linear(128, 128), lib.randn(128)
    return lambda: lib.func.jacrev(lambda v: lib.tanh(layer(v)))(x)


CASES = {"mlp, per example": (mlp, 15), "cnn, per example": (cnn, 5), "hessian, 64": (hessian, 15), "jacobian, 128": (jacobian, 15)}


def side(name: str) -> dict[str, float]:
    """All figures of one package, in this process."""
    if name == "torch":
        import torch as lib

        lib.set_num_threads(int(THREADS))
    else:
        import twofold as lib
    figures = {}
    for case, (make, steps) in CASES.items():
        lib.manual_seed(0)
        step = make(lib)
        for _ in range(2):
            step()
        times = []
        for _ in range(steps):
            start = time.perf_counter()
            step()
            times.append((time.perf_counter() - start) * 1e3)
        figures[case + ", ms"] = statistics.median(times)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", choices=("twofold", "torch"))
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(side(arguments.side)))
        return
    commands = [[arguments.python, __file__, "--side", name] for name in ("twofold", "torch")]
    rows = summarise(paired(*commands, arguments.pairs, ENVIRONMENT), {})
    show(rows, "milliseconds, median of a process, median of processes; two threads")
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
