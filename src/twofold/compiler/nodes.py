"""Nodes of a graph evaluated one by one on arrays: as their types say, in float64, or in float64 with roundings put in at random.

The last is stochastic arithmetic (Vignes, "A stochastic arithmetic for reliable scientific computation", Math. Comput. Simul. 35, 1993):
the spread of a few results shows how far roundings alone can move a result, whichever order a kernel computes in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from twofold.ir.dtypes import FLOAT, DType, float64
from twofold.ir.effects import TOKEN_VALUE
from twofold.ir.graph import Graph, Node, Value, input_types
from twofold.ir.interpreter import Interpreter
from twofold.ir.run import make_kernel
from twofold.ir.types import TensorType, scalar_type

BITS = frozenset(("view_dtype", "frexp", "nextafter", "signbit"))
"""Operations whose results depend on the representation of a number, not on the number."""
RANDOM_FAMILIES = frozenset(("random", "distributions"))
"""Numbers drawn in another dtype are other numbers."""
ROUNDINGS = 4.0
"""A random rounding is at most this many units in the last place: a function may err by as much."""

SHORT_SUM = 4.0
"""The root of the number of terms up to which roundings of the terms stand for those of partial sums too."""

CallNode = Callable[[Node, "list[Any]"], "tuple[Any, ...]"]


def precision(dtype: DType) -> float:
    """Half a unit in the last place of 1.0, with at least float32's precision: 16-bit floats are computed in float32."""
    return float(np.finfo(np.float64).eps if dtype is float64 else np.finfo(np.float32).eps) / 2


def narrow_call(node: Node, operands: list[Any]) -> tuple[Any, ...]:
    """The node as its types say: what the interpreter does."""
    types = tuple(v.type for v in node.outputs)
    kernel = make_kernel(node.op, input_types(node.inputs, scalar_type), types if node.op.several else types[0], node.attributes)
    with np.errstate(all="ignore"):
        result = kernel(*operands)
    return tuple(result) if node.op.several else (result,)


def wide_call(node: Node, operands: list[Any]) -> tuple[Any, ...]:
    """The node with every float a float64, its results too."""
    if node.op.name == "constant":
        return (widened(node.attributes["value"].array),)
    if node.op.name in BITS or node.op.family in RANDOM_FAMILIES:
        return tuple(map(widened, narrow_call(node, _as_typed(node, operands))))
    given = input_types(node.inputs, scalar_type)
    types = tuple(_wide_type(v.type) for v in node.outputs)
    attributes = {k: float64 if type(a) is DType and a.category == FLOAT else a for k, a in node.attributes.items()}
    if attributes.get("eps", 0) is None:  # that of the dtype
        attributes["eps"] = _machine_epsilon(node)
    kernel = make_kernel(node.op, tuple(map(_wide_type, given)), types if node.op.several else types[0], attributes)
    with np.errstate(all="ignore"):
        result = kernel(*[[widened(x) for x in o] if isinstance(o, (list, tuple)) else widened(o) for o in operands])
    return tuple(result) if node.op.several else (result,)


def rounded_call(random: np.random.Generator) -> CallNode:
    """`wide_call` with operands and results that random roundings have moved."""

    def call(node: Node, operands: list[Any]) -> tuple[Any, ...]:
        if node.op.name == "constant" or node.op.is_view:
            return wide_call(node, operands)
        types = [v.type.dtype for v in node.outputs if isinstance(v.type, TensorType)]
        eps = max((precision(t) for t in types if t.category == FLOAT), default=precision(float64))
        eps *= max(1.0, math.sqrt(terms(node)) / SHORT_SUM)  # partial sums are rounded as well
        moved = [[shaken(x, eps, random) for x in o] if isinstance(o, (list, tuple)) else shaken(o, eps, random) for o in operands]
        results = tuple(shaken(r, eps, random) for r in wide_call(node, moved))
        # a fused kernel may round to 16 bits here, or not
        return results if random.random() < 0.5 else tuple(map(_rounded_to, results, node.outputs))

    return call


def _rounded_to(x: Any, v: Value) -> Any:
    """A wide result rounded to 16 bits where its type has them."""
    if not isinstance(v.type, TensorType) or not v.type.dtype.is_low_precision:
        return x
    with np.errstate(all="ignore"):
        return widened(np.asarray(x).astype(v.type.dtype.numpy))


def terms(node: Node) -> int:
    """About how many terms each element of the node's results sums: the largest dimension (a scan, a product), the elements read for each
    one written (a reduction), or for two operands the root of that of their pairs (convolutions)."""
    shapes = [v.type.shape for v in node.operands() if isinstance(v.type, TensorType) and v.type.numel]
    if node.op.cost == "elementwise" or node.op.is_view or not shapes:
        return 1
    written = max((v.type.numel for v in node.outputs if isinstance(v.type, TensorType)), default=1) or 1
    sizes = sorted(map(math.prod, shapes))
    pairs = math.isqrt(sizes[-1] * sizes[-2] // written) if len(sizes) > 1 else 1
    return max(1, sizes[-1] // written, pairs, *(n for shape in shapes for n in shape))


def shaken(x: Any, eps: float, random: np.random.Generator) -> Any:
    """A float array times 1 + δ, |δ| ≤ ROUNDINGS · eps; anything else as it is."""
    if not hasattr(x, "dtype") or not _is_float(x):
        return x
    wide = widened(x)
    with np.errstate(all="ignore"):
        return wide * (1.0 + ROUNDINGS * eps * random.uniform(-1.0, 1.0, np.shape(wide)))


def widened(x: Any) -> Any:
    """A float array in float64; anything else as it is."""
    return x.astype(np.float64) if hasattr(x, "dtype") and _is_float(x) else x


def _machine_epsilon(node: Node) -> float:
    """What an operation whose `eps` is None adds: the distance from 1.0 to the next number of the dtype it computes in."""
    t: Any = next(node.operands()).type
    return 2.0 * precision(t.dtype)


def _is_float(x: Any) -> bool:
    return x.dtype.kind == "f" or x.dtype.name == "bfloat16"


def _wide_type(t: Any) -> Any:
    if type(t) is tuple:
        return tuple(map(_wide_type, t))
    return t.with_dtype(float64) if type(t) is TensorType and t.dtype.category == FLOAT else t


def _as_typed(node: Node, operands: list[Any]) -> list[Any]:
    """Operands in the dtypes of the node's operands."""

    def one(x: Any, v: Any) -> Any:
        return x.astype(v.type.dtype.numpy) if type(v) is Value and isinstance(v.type, TensorType) else x

    return [
        [one(a, v) for a, v in zip(x, vs, strict=True)] if type(vs) is tuple else one(x, vs)
        for x, vs in zip(operands, node.inputs, strict=True)
    ]


def operands_of(node: Node, values: Mapping[Value, Any]) -> list[Any]:
    """What the node's kernel is called with."""

    def one(v: Value) -> Any:
        return values[v] if isinstance(v.type, TensorType) else values.get(v, TOKEN_VALUE)

    return [one(x) if type(x) is Value else [one(v) for v in x] if type(x) is tuple else x for x in node.inputs]


def cone(targets: Iterable[Value], known: Callable[[Value], bool]) -> list[Node]:
    """The nodes that compute `targets` from known values, in an order in which they can run. Targets themselves count as unknown."""
    order: list[Node] = []
    done: set[Node] = set()
    roots = dict.fromkeys(targets)
    stack: list[tuple[Node, bool]] = [(v.node, False) for v in reversed(roots) if v.node is not None]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done.add(node)
            order.append(node)
            continue
        stack.append((node, True))
        for v in node.operands():
            if v.node is not None and v.node not in done and (v in roots or not known(v)):
                stack.append((v.node, False))
    return order


def evaluate_nodes(order: Iterable[Node], known: Mapping[Value, Any], call: CallNode) -> dict[Value, Any]:
    """Run nodes in order on known values: all values."""
    values = dict(known)
    for node in order:
        values.update(zip(node.outputs, call(node, operands_of(node, values)), strict=True))
    return values


class WideInterpreter(Interpreter):
    """Runs a graph with every float a float64."""

    def __init__(self, graph: Graph, call: CallNode = wide_call) -> None:
        super().__init__(graph)
        self._call = call

    def input(self, value: Value, array: Any) -> Any:
        return widened(super().input(value, array))

    def call_op(self, node: Node, inputs: list[Any], attributes: dict[str, Any]) -> Any:
        if node.op.effect == "print":
            return TOKEN_VALUE
        results = self._call(node, inputs)
        return results if node.op.several else results[0]

    def constant(self, node: Node) -> Any:
        return widened(super().constant(node))
