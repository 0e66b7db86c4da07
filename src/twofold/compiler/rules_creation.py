"""Pull rules of tensors made from attributes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twofold.compiler.affine import Affine
from twofold.compiler.expr import Expr, Guard, cast, const, fn, iota, register_type, within
from twofold.compiler.kernel_builder import COMPUTED_AT, Index, KernelBuilder
from twofold.compiler.rules import output_dtype, rule
from twofold.ir.dtypes import FLOAT, DType
from twofold.ir.graph import Node

Guards = tuple[Guard, ...]


def fits_dtype(value: Any, dtype: DType) -> bool:
    """Whether NumPy takes a Python number as one of the dtype without an error."""
    if dtype.category == FLOAT or isinstance(value, bool):
        return True
    if value != value or value in (float("inf"), float("-inf")):
        return False
    try:
        np.full((), value, dtype.numpy)
    except (OverflowError, ValueError):
        return False
    return True


def stored_number(value: Any, dtype: DType) -> Expr:
    """A Python number as an element of this dtype holds it: 16-bit floats are rounded, fractions cut off in integers."""
    return const(np.full((), value, dtype.numpy).astype(np.float32 if dtype.is_low_precision else dtype.numpy).item(), register_type(dtype))


def _whole(node: Node, *names: str) -> list[Any]:
    """The bounds of a range as its dtype counts: of an integer dtype their whole parts, as PyTorch's."""
    values = [node.attributes[n] for n in names]
    return values if output_dtype(node).category == FLOAT else [int(v) for v in values]


@rule("arange")
def arange(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """start + i · step, in int64 if both are integers and otherwise in float64, as the reference."""
    start, step = _whole(node, "start", "step")
    t, position = register_type(output_dtype(node)), iota(index[0])
    if type(start) is int and type(step) is int:
        return cast(iota(index[0].times(step).shifted(start)), t)
    scaled = fn("mul", cast(position, "f64"), const(step, "f64"))
    return cast(fn("add", scaled, const(start, "f64")), t)


def _arange_at(node: Node, index: Sequence[Affine | Expr]) -> Expr | None:
    start, step = _whole(node, "start", "step")
    at = index[0]
    if type(start) is not int or type(step) is not int or not isinstance(at, Expr):
        return None
    scaled = at if step == 1 else fn("mul", at, const(step, "i64"))
    return cast(scaled if start == 0 else fn("add", scaled, const(start, "i64")), register_type(output_dtype(node)))


COMPUTED_AT["arange"] = _arange_at


@rule("linspace")
def linspace(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """The first half counts from the start, the second from the end, in float64, as the reference (`ops.creation.linear_steps`)."""
    start, end = _whole(node, "start", "end")
    steps = node.attributes["steps"]
    width = const((end - start) / (steps - 1) if steps > 1 else 0.0, "f64")
    up = fn("add", const(start, "f64"), fn("mul", cast(iota(index[0]), "f64"), width))
    t = register_type(output_dtype(node))
    if steps == 1:
        return cast(up, t)
    down = fn("sub", const(end, "f64"), fn("mul", cast(iota(index[0].times(-1).shifted(steps - 1)), "f64"), width))
    return cast(fn("where", within(index[0], 0, steps // 2), up, down), t)


@rule("eye")
def eye(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return cast(within(index[1].plus(index[0].times(-1)), 0, 1), register_type(output_dtype(node)))
