"""Arithmetic that chooses between records, and second names: `add` with `alpha`, `div` with a rounding mode, `masked_fill` by a tensor, …

The functions of the same names without these choices are the generated ones: operators and gradient rules use those.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as _frame
from typing import Any

from twofold.ir.op import get_op
from twofold.support.errors import ArgumentError
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.generated import comparison as _comparison
from twofold.tensors.generated import elementwise as _elementwise
from twofold.tensors.generated import unary as _unary
from twofold.tensors.inplace import inplace
from twofold.tensors.typing import Number


def placed(out: Tensor) -> Tensor:
    """The result of a generated function that a plain function returns: its node's line is the plain function's caller's."""
    node = out._node
    if node is not None:
        f = _frame(2)
        node.code, node.lasti = f.f_code, f.f_lasti
    return out


def _is_one(alpha: Any) -> bool:
    return type(alpha) in (int, float) and alpha == 1


def add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """`input + alpha * other`. `alpha` must be a whole number where the result is one (DTypeError)."""
    if _is_one(alpha):
        return placed(_elementwise.add(input, other))
    return dispatch(get_op("add_alpha"), (input, other), {"alpha": alpha})


def sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """`input - alpha * other`. Bool operands, and an `alpha` that is no whole number where the result is one, raise DTypeError."""
    if _is_one(alpha):
        return placed(_elementwise.sub(input, other))
    return dispatch(get_op("sub_alpha"), (input, other), {"alpha": alpha})


def rsub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """`other - alpha * input`."""
    if _is_one(alpha):
        return placed(_elementwise.rsub(input, other))
    return dispatch(get_op("sub_alpha"), (other, input), {"alpha": alpha})


def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """`input / other`; rounding_mode "trunc" rounds the quotient towards zero, "floor" down, and integers then stay integers.

    An integer division by zero with a rounding mode raises ValueRangeError.
    """
    if rounding_mode is None:
        return placed(_elementwise.div(input, other))
    return dispatch(get_op("div_mode"), (input, other), {"rounding_mode": rounding_mode})


def square(input: Tensor) -> Tensor:
    """`input ** 2`."""
    return placed(_elementwise.pow(input, 2))


def positive(input: Tensor) -> Tensor:
    """The tensor itself (`+x`)."""
    if input._type.dtype.category == 0:
        raise ArgumentError("positive(): + takes no bool tensor")
    return input


def clamp_min(input: Tensor, min: Tensor | Number) -> Tensor:
    """`clamp` with a lower limit only."""
    return placed(_elementwise.clamp(input, min))


def clamp_max(input: Tensor, max: Tensor | Number) -> Tensor:
    """`clamp` with an upper limit only."""
    return placed(_elementwise.clamp(input, None, max))


def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """The input with `value` (a number, or a tensor of no dimensions) where the bool `mask` is true; the dtype stays the input's."""
    if isinstance(value, Tensor):
        return dispatch(get_op("masked_fill_tensor"), (input, mask, value), {})
    return placed(_elementwise.masked_fill(input, mask, value))


def where(condition: Tensor, input: Tensor | Number | None = None, other: Tensor | Number | None = None) -> Any:
    """`input` where `condition` is true, `other` where it is false; with the condition alone, the indices of its true elements, a tensor
    for each dimension."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input is None or other is None:
        raise ArgumentError("where() takes a condition alone, or a condition and two operands")
    return placed(_elementwise.where(condition, input, other))


def where_method(self: Tensor, condition: Tensor, other: Tensor | Number) -> Tensor:
    """This tensor's elements where `condition` is true, those of `other` where it is false."""
    return placed(_elementwise.where(condition, self, other))


# ---- in-place forms --------------------------------------------------------------------------------------------------------------


def add_(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """`add` written into the first operand, which is returned."""
    return inplace("add", input, other) if _is_one(alpha) else inplace("add_alpha", input, other, alpha=alpha)


def sub_(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """`sub` written into the first operand, which is returned."""
    return inplace("sub", input, other) if _is_one(alpha) else inplace("sub_alpha", input, other, alpha=alpha)


def div_(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """`div` written into the first operand, which is returned."""
    return inplace("div", input, other) if rounding_mode is None else inplace("div_mode", input, other, rounding_mode=rounding_mode)


def square_(input: Tensor) -> Tensor:
    """`square` written into the operand, which is returned."""
    return inplace("pow", input, 2)


def clamp_min_(input: Tensor, min: Tensor | Number) -> Tensor:
    """`clamp_min` written into the operand, which is returned."""
    return inplace("clamp", input, min, None)


def clamp_max_(input: Tensor, max: Tensor | Number) -> Tensor:
    """`clamp_max` written into the operand, which is returned."""
    return inplace("clamp", input, None, max)


def masked_fill_(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """`masked_fill` written into the first operand, which is returned."""
    if isinstance(value, Tensor):
        return inplace("masked_fill_tensor", input, mask, value)
    return inplace("masked_fill", input, mask, value=value)


def _reflect(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The operator for a number on the left."""

    def operator(self: Tensor, other: Any) -> Tensor:
        return placed(function(other, self))

    return operator


def rtruediv(self: Tensor, other: Any) -> Tensor:
    """`other / self`, as PyTorch computes it: the reciprocal, times `other`."""
    return placed(_elementwise.mul(placed(_unary.reciprocal(self)), other))


OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": _elementwise.add, "__radd__": _elementwise.add, "__sub__": _elementwise.sub, "__rsub__": _elementwise.rsub,
    "__mul__": _elementwise.mul, "__rmul__": _elementwise.mul, "__truediv__": _elementwise.div, "__rtruediv__": rtruediv,
    "__div__": _elementwise.div, "__rdiv__": rtruediv,
    "__floordiv__": _elementwise.floor_divide, "__rfloordiv__": _reflect(_elementwise.floor_divide),
    "__mod__": _elementwise.remainder, "__rmod__": _reflect(_elementwise.remainder),
    "__pow__": _elementwise.pow, "__rpow__": _reflect(_elementwise.pow),
    "__neg__": _unary.neg, "__pos__": positive, "__abs__": _unary.abs, "__invert__": _comparison.bitwise_not,
    "__eq__": _comparison.eq, "__ne__": _comparison.ne, "__lt__": _comparison.lt, "__le__": _comparison.le, "__gt__": _comparison.gt,
    "__ge__": _comparison.ge,
    "__and__": _comparison.bitwise_and, "__rand__": _comparison.bitwise_and, "__or__": _comparison.bitwise_or,
    "__ror__": _comparison.bitwise_or, "__xor__": _comparison.bitwise_xor, "__rxor__": _comparison.bitwise_xor,
    "__lshift__": _comparison.bitwise_left_shift, "__rlshift__": _reflect(_comparison.bitwise_left_shift),
    "__rshift__": _comparison.bitwise_right_shift, "__rrshift__": _reflect(_comparison.bitwise_right_shift),
    "__iadd__": add_, "__isub__": sub_, "__itruediv__": div_, "__imul__": _elementwise.mul_, "__ifloordiv__": _elementwise.floor_divide_,
    "__imod__": _elementwise.remainder_, "__ipow__": _elementwise.pow_, "__iand__": _comparison.bitwise_and_,
    "__ior__": _comparison.bitwise_or_, "__ixor__": _comparison.bitwise_xor_, "__ilshift__": _comparison.bitwise_left_shift_,
    "__irshift__": _comparison.bitwise_right_shift_,
}  # fmt: skip
"""What Python's operators call: the generated functions themselves where possible, since they are the fast ones."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": add, "sub": sub, "rsub": rsub, "div": div, "square": square, "positive": positive, "clamp_min": clamp_min,
    "clamp_max": clamp_max,
    "masked_fill": masked_fill, "where": where,
    "subtract": sub, "multiply": _elementwise.mul, "divide": div, "true_divide": _elementwise.div, "negative": _unary.neg,
    "absolute": _unary.abs, "clip": _elementwise.clamp, "fix": _unary.trunc, "arctan2": _elementwise.atan2, "arcsin": _unary.asin,
    "arccos": _unary.acos, "arctan": _unary.atan, "arcsinh": _unary.asinh, "arccosh": _unary.acosh, "arctanh": _unary.atanh,
}  # fmt: skip
INPLACE: dict[str, Callable[..., Any]] = {
    "add_": add_, "sub_": sub_, "div_": div_, "square_": square_, "clamp_min_": clamp_min_, "clamp_max_": clamp_max_,
    "masked_fill_": masked_fill_,
    "subtract_": sub_, "multiply_": _elementwise.mul_, "divide_": div_, "true_divide_": div_, "negative_": _unary.neg_,
    "absolute_": _unary.abs_,
    "clip_": _elementwise.clamp_, "fix_": _unary.trunc_, "arctan2_": _elementwise.atan2_, "arcsin_": _unary.asin_, "arccos_": _unary.acos_,
    "arctan_": _unary.atan_, "arcsinh_": _unary.asinh_, "arccosh_": _unary.acosh_, "arctanh_": _unary.atanh_,
}  # fmt: skip
METHODS: dict[str, Callable[..., Any]] = {"where": where_method}
