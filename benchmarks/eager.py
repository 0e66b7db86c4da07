"""Eager operations and a training step beside torch's, on one thread, in alternating processes.

python benchmarks/eager.py [--pairs 7] [--json FILE]
python benchmarks/eager.py --against-self PYTHON [--python PYTHON]     our figures under two interpreters
python benchmarks/eager.py --side twofold|torch                        one process, figures as JSON (microseconds; the step in milliseconds)
"""

from __future__ import annotations

import argparse
import json
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from pairs import machine, paired, show, summarise

LIMITS = {
    "add 8": 0.6, "mul 8, grad": 0.6, "matmul 8x8, grad": 0.6, "100 chained mul, fwd + bwd": 0.6, "broadcast mul, grad": 0.8, "sum 8": 0.8,
    "x * 2.0, grad": 0.8, "training step, ms": 1.2,
}  # fmt: skip
SELF_LIMIT = 1.2


def best(statement: Callable[[], Any], number: int, repeat: int) -> float:
    """The least microseconds of one call."""
    return min(timeit.repeat(statement, number=number, repeat=repeat)) / number * 1e6


def cases(lib: Any) -> dict[str, float]:
    """The small operations; `lib` is either package."""
    a, b = lib.ones(8), lib.ones(8)
    g = lib.ones(8, requires_grad=True)
    m, mg = lib.ones(8, 8), lib.ones(8, 8, requires_grad=True)
    wide, row = lib.ones(4, 8, requires_grad=True), lib.ones(8)
    one = lib.ones(8)

    def chain() -> Any:
        y = g
        for _ in range(100):
            y = y * a
        return y

    def chain_and_back() -> None:
        chain().backward(one)

    figures = {
        "add 8": best(lambda: a + b, 20000, 15),
        "mul 8, grad": best(lambda: g * a, 20000, 15),
        "matmul 8x8, grad": best(lambda: mg @ m, 10000, 15),
        "100 chained mul, fwd + bwd": best(chain_and_back, 100, 15),
        "100 chained mul, forward": best(chain, 100, 15),
        "broadcast mul, grad": best(lambda: wide * row, 10000, 15),
        "sum 8": best(lambda: a.sum(), 10000, 15),
        "sum 8, grad": best(lambda: g.sum(), 10000, 15),
        "x * 2.0, grad": best(lambda: g * 2.0, 20000, 15),
        "x * 2.0": best(lambda: a * 2.0, 20000, 15),
        "tanh 8, grad": best(lambda: g.tanh(), 10000, 15),
    }
    return figures


def training_step(lib: Any, nn: Any, optim: Any) -> float:
    """Milliseconds of the tour's training step: batch 64, forward, loss, backward, AdamW."""
    lib.manual_seed(0)

    class Net(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
            self.relu, self.pool, self.flatten, self.fc = nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 10)

        def forward(self, x: Any) -> Any:
            x = self.relu(self.conv1(x))
            return self.fc(self.flatten(self.pool(self.relu(self.conv2(x)))))

    net, loss_of = Net(), nn.CrossEntropyLoss()
    optimizer = optim.AdamW(net.parameters(), lr=2e-3)
    x, y = lib.randn(64, 1, 8, 8), lib.randint(0, 10, (64,))

    def step() -> None:
        loss = loss_of(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(20):
        step()
    return best(step, 20, 15) / 1e3


def side(name: str) -> dict[str, float]:
    """All figures of one package, in this process."""
    if name == "torch":
        import torch as lib
        from torch import nn, optim

        lib.set_num_threads(1)
    else:
        import twofold as lib
        from twofold import nn, optim
    figures = cases(lib)
    figures["training step, ms"] = training_step(lib, nn, optim)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", choices=("twofold", "torch"))
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--against-self", metavar="PYTHON")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(side(arguments.side)))
        return
    ours = [arguments.python, __file__, "--side", "twofold"]
    if arguments.against_self:
        theirs = [arguments.against_self, __file__, "--side", "twofold"]
        results = paired(ours, theirs, arguments.pairs)
        limits = dict.fromkeys(results[0][0], SELF_LIMIT)
    else:
        theirs = [arguments.python, __file__, "--side", "torch"]
        results = paired(ours, theirs, arguments.pairs)
        limits = LIMITS
    rows = summarise(results, limits)
    show(rows, "microseconds, least of a process, median of processes; the training step in milliseconds")
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n")
    if any(r["holds"] is False for r in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
