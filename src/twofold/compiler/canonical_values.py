"""What the rules of canonicalisation ask about values: is it a number, which node made it, may it stand for another; and what they make."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir.dtypes import BOOL, FLOAT, DType
from twofold.ir.graph import Node, Value
from twofold.ir.op import get_op
from twofold.ir.rewrite import Rewriter
from twofold.ir.types import TensorType, tensor_type

SPLAT_ELEMENTS = 4096
"""The largest constant that is searched for being one number throughout: rules look at constants often."""

NUMBERS = (bool, int, float)


def made_by(x: Any, *names: str) -> Node | None:
    """The node whose output the operand is, if its operation is one of `names`."""
    if type(x) is not Value or x.node is None:
        return None
    return x.node if x.node.op.name in names else None


def type_of_value(x: Value) -> TensorType:
    """The type of a tensor value."""
    assert isinstance(x.type, TensorType), x
    return x.type


def result(node: Node) -> TensorType:
    """The type of a node's only output."""
    return type_of_value(node.output)


def dtype_of(x: Any) -> DType | None:
    """The dtype of a tensor operand; None for Python numbers."""
    return x.type.dtype if type(x) is Value and type(x.type) is TensorType else None


def is_float(node: Node) -> bool:
    """Is the result floating-point?"""
    return result(node).dtype.category == FLOAT


def is_bool(x: Any) -> bool:
    """Is the operand of dtype bool (or a Python bool)?"""
    dtype = dtype_of(x)
    return type(x) is bool if dtype is None else dtype.category == BOOL


def number_of(x: Any) -> bool | int | float | None:
    """The Python number an operand is: one itself, a constant of equal elements, or the result of `full`; otherwise None.

    Elements are equal by their bits, so 0.0 and -0.0 are different; the number holds the element exactly.
    """
    if type(x) in NUMBERS:
        return x
    node = made_by(x, "constant", "full")
    if node is None or type(x.type) is not TensorType:
        return None
    dtype = x.type.dtype
    if node.op.name == "full":
        number = node.attributes["fill_value"]
        with np.errstate(all="ignore"):
            return _scalar(np.asarray(number).astype(dtype.numpy)) if fits(number, dtype) else None
    array = node.attributes["value"].array
    if not 0 < array.size <= SPLAT_ELEMENTS:
        return None
    flat = array.reshape(-1)
    bits = flat.view(f"u{flat.itemsize}")
    return _scalar(flat[0]) if (bits == bits[0]).all() else None


def fits(number: bool | int | float, dtype: DType) -> bool:
    """Can an element of `dtype` stand for the number without an error or a wrap-around? (A float dtype rounds.)"""
    if dtype.category == FLOAT:
        return type(number) is not int or abs(number) <= 1 << 53  # a Python float holds it exactly
    if dtype.category == BOOL:
        return type(number) is bool
    return type(number) is not float and np.iinfo(dtype.numpy).min <= number <= np.iinfo(dtype.numpy).max


def _scalar(element: Any) -> bool | int | float:
    kind = element.dtype.kind
    return bool(element) if kind == "b" else int(element) if kind in "iu" else float(element)


def is_zero(number: Any) -> bool:
    """Is it 0, or 0.0, or False, but not -0.0?"""
    return number is not None and number == 0 and not is_negative_zero(number)


def is_negative_zero(number: Any) -> bool:
    """Is it -0.0?"""
    return type(number) is float and number == 0.0 and math.copysign(1.0, number) < 0


def replaces(x: Any, node: Node) -> bool:
    """May the operand stand where the node's only output does: is it a value of the same type?"""
    return type(x) is Value and x.type is node.output.type


def only_used_here(x: Value, rewriter: Rewriter) -> bool:
    """Is the value used by one node and returned by no region? In constant time."""
    return len(rewriter.uses.nodes.get(x, ())) == 1 and not rewriter.uses.regions.get(x)


def settled(t: TensorType) -> bool:
    """Does the type hold no data-dependent size? Such a size is known only while a node that decides it is there: a shape that mentions one
    is not written into the attributes of another node."""
    return t.is_static or not any(s.is_fresh for n in t.shape if type(n) is not int for s in n.symbols())


def call(rewriter: Rewriter, name: str, *inputs: Any, **attributes: Any) -> Any:
    """A new node by the name of its operation."""
    return rewriter.call(get_op(name), inputs, attributes)


def full(rewriter: Rewriter, t: TensorType, number: bool | int | float) -> Any:
    """A tensor of equal elements; False (the rule does not match) where the size or the number does not allow it."""
    if not settled(t) or not fits(number, t.dtype):
        return False
    number = float(number) if t.dtype.category == FLOAT else number
    return call(rewriter, "full", size=t.shape, fill_value=number, dtype=t.dtype, device=None if t.device == "cpu" else t.device)


def broadcast(rewriter: Rewriter, x: Any, t: TensorType) -> Any:
    """The operand in the shape `t` (a value of its dtype, or a number); False where that is no plain broadcast."""
    if type(x) in NUMBERS:
        return full(rewriter, t, x)
    if x.type is t:
        return x
    if not settled(t) or tensor_type(x.type.dtype, t.shape, x.type.device) is not t:
        return False
    return call(rewriter, "expand", x, size=t.shape)
