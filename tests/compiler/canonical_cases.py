"""What the tests of canonicalisation share: special values as inputs, and a graph run before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.compiler.canonical import canonicalise
from twofold.ir.dtypes import BOOL, FLOAT
from twofold.ir.graph import Graph
from twofold.ir.interpreter import Interpreter
from twofold.ir.parser import parse_graph
from twofold.ir.rewrite import PassLog
from twofold.ir.types import TensorType
from twofold.ir.verifier import verify
from twofold.ops.vocabulary import load_vocabulary

load_vocabulary()

TINY = {"float16": 6e-8, "bfloat16": 9.2e-41, "float32": 1.4e-45, "float64": 5e-324}
"""The least subnormal number, about."""
HUGE = {"float16": 65504.0, "bfloat16": 3.3895e38, "float32": 3.4028235e38, "float64": 1.7976931348623157e308}


def special(t: TensorType, seed: int) -> np.ndarray:
    """Special values of the dtype, repeated to the shape in an order of the seed's."""
    n = max(int(t.numel), 1)
    if t.dtype.category == FLOAT:
        tiny, huge = TINY[t.dtype.name], HUGE[t.dtype.name]
        pool = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, huge, -huge, 1.0, -2.5, 7.3, 0.5, 100.0]
    elif t.dtype.category == BOOL:
        pool = [True, False]
    else:
        info = np.iinfo(t.dtype.numpy)
        pool = [0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.min + 1]
    order = [pool[k % len(pool)] for k in range(max(n, len(pool)))]
    np.random.default_rng(seed).shuffle(order)
    return np.array(order[: int(t.numel)]).astype(t.dtype.numpy).reshape(t.shape)


def inputs_of(graph: Graph, seed: int = 0) -> list[np.ndarray]:
    """Special values for each input."""
    return [special(v.type, seed + k) for k, v in enumerate(graph.inputs) if isinstance(v.type, TensorType)]


def before_and_after(inputs: str, nodes: str, outputs: str, log: PassLog | None = None) -> tuple[Graph, tuple[Any, ...], tuple[Any, ...]]:
    """The canonical graph, and the outputs of the original and of it on the same inputs."""
    body = "\n".join("  " + line for line in nodes.splitlines())
    returned = f"({outputs})" if "," in outputs else f"({outputs},)"
    graph = parse_graph(f"graph g({inputs}) {{\n{body}\n  return {returned}\n}}\n")
    verify(graph)
    arrays = inputs_of(graph)
    before = Interpreter(graph).run(*arrays)
    canonicalise(graph, log, verify=True)
    return graph, before, Interpreter(graph).run(*arrays)


def operations(graph: Graph) -> list[str]:
    """The names of the operations, in order."""
    return [node.op.name for node in graph.walk()]


def same_bits(a: Any, b: Any) -> None:
    """Equal dtypes, shapes and bits; NaN counts as NaN, whatever its sign and payload."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    if a.dtype.kind in "fV":
        nan = np.isnan(a.astype(np.float64))
        np.testing.assert_array_equal(nan, np.isnan(b.astype(np.float64)))
        a, b = np.where(nan, np.zeros_like(a), a), np.where(nan, np.zeros_like(b), b)
    np.testing.assert_array_equal(np.ascontiguousarray(a).reshape(-1).view(np.uint8), np.ascontiguousarray(b).reshape(-1).view(np.uint8))
