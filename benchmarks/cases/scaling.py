"""Generated graphs of many nodes: how the time to compile grows with their number."""

from __future__ import annotations

import random
from typing import Any

from cases.case import ScalingCase

SHAPE = (16, 64)
WINDOW = 8
"""A random node takes its operands from the last so many values, so that lifetimes stay short, as in real programs."""


def random_graph(lib: Any, x: Any, nodes: int) -> Any:
    """`nodes` nodes, elementwise ones and reductions along the last dimension, chosen at random; values stay within [-2, 2]."""
    rng = random.Random(0)
    recent = [x]
    written = 0
    while written < nodes:
        a, b = rng.choice(recent), rng.choice(recent)
        kind = rng.randrange(6)
        if kind == 0:
            y, count = lib.tanh(a + b), 2
        elif kind == 1:
            y, count = lib.sigmoid(a) * b, 2
        elif kind == 2:
            y, count = lib.maximum(a, b * 0.5), 2
        elif kind == 3:
            y, count = a - a.mean(-1, keepdim=True), 2
            y, count = lib.tanh(y), count + 1
        elif kind == 4:
            y, count = lib.minimum(a, b.amax(-1, keepdim=True)), 2
        else:
            y, count = lib.where(a > 0.0, a, b * 0.1), 3
        written += count
        recent = [*recent[-WINDOW + 1 :], y]
    total = recent[0]
    for value in recent[1:]:
        total = total + value
    return total


def layered_graph(lib: Any, x: Any, nodes: int) -> Any:
    """Layers of ten nodes like those of a network without its products of matrices: centre, scale, nonlinearity, residual."""
    for layer in range(nodes // 10):
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred * lib.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
        x = x + lib.tanh(scaled * (1.0 + 0.001 * layer)) * 0.1
    return x


def _scaling(label: str, nodes: int) -> ScalingCase:
    generators = {"random": random_graph, "layered": layered_graph}
    return ScalingCase(f"compile_scaling_{label}", f"seconds to compile generated graphs of about {nodes} nodes", nodes, generators)


CASES = [_scaling("1k", 1_000), _scaling("10k", 10_000), _scaling("100k", 100_000)]
