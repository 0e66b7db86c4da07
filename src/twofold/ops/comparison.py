"""Comparisons, tests, logic on truth values and on bits. None of them carries a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.dtypes import bool_
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType
from twofold.ops.record import define
from twofold.ops.typing import elementwise
from twofold.support.errors import DTypeError, ValueRangeError


def _compare(name: str, symbol: str, doc: str, onnx: str) -> None:
    define(
        f"{name}(Tensor input, Tensor other) -> Tensor",
        type_rule=elementwise(name, result=bool_), promotion="default", body=f"input {symbol} other", inplace=True, onnx=onnx,
        gradient=NOT_DIFFERENTIABLE, doc=f"A bool tensor: true where the first operand is {doc} the second. False where either is NaN.",
    )  # fmt: skip


_compare("eq", "==", "equal to", "Equal@13")
_compare("lt", "<", "less than", "Less@13")
_compare("le", "<=", "less than or equal to", "LessOrEqual@16")
_compare("gt", ">", "greater than", "Greater@13")
_compare("ge", ">=", "greater than or equal to", "GreaterOrEqual@16")
define(
    "ne(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("ne", result=bool_), promotion="default", body="input != other", inplace=True, onnx="Not(Equal)@13",
    gradient=NOT_DIFFERENTIABLE, doc="A bool tensor: true where the operands differ, or where either is NaN.",
)  # fmt: skip


def _test(name: str, doc: str, onnx: str = "") -> None:
    define(
        f"{name}(Tensor input) -> Tensor",
        type_rule=lambda input: input.with_dtype(bool_), body=f"{name}(input)", gradient=NOT_DIFFERENTIABLE, doc=doc, onnx=onnx,
    )  # fmt: skip


_test("isnan", "True where the element is NaN; false for integers.", "IsNaN@13")
_test("isinf", "True where the element is an infinity; false for integers.", "IsInf@10")
_test("isfinite", "True where the element is neither NaN nor infinite.")
_test("signbit", "True where the sign bit is set: negative numbers, -0.0 and negative NaN.")

# ---- truth values ----------------------------------------------------------------------------------------------------------------


def _logic(name: str, doc: str, onnx: str) -> None:
    define(
        f"{name}(Tensor input, Tensor other) -> Tensor",
        type_rule=elementwise(name, result=bool_), promotion="default", body=f"{name}(input, other)", inplace=True, onnx=onnx,
        gradient=NOT_DIFFERENTIABLE, doc=doc,
    )  # fmt: skip


_logic("logical_and", "True where both elements are nonzero (NaN counts as nonzero).", "And@7")
_logic("logical_or", "True where at least one element is nonzero (NaN counts as nonzero).", "Or@7")
_logic("logical_xor", "True where exactly one element is nonzero (NaN counts as nonzero).", "Xor@7")
define(
    "logical_not(Tensor input) -> Tensor",
    type_rule=lambda input: input.with_dtype(bool_), body="logical_not(input)", inplace=True, onnx="Not@1",
    gradient=NOT_DIFFERENTIABLE, doc="True where the element is zero.",
)  # fmt: skip

# ---- bits ------------------------------------------------------------------------------------------------------------------------


def _bits(name: str, symbol: str, doc: str) -> None:
    define(
        f"{name}(Tensor input, Tensor other) -> Tensor",
        type_rule=elementwise(name, accepts="integral"), promotion="default", body=f"input {symbol} other", inplace=True,
        onnx=f"{name.title().replace('_', '')}@18",
        gradient=NOT_DIFFERENTIABLE, doc=f"{doc} of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError.",
    )  # fmt: skip


_bits("bitwise_and", "&", "And")
_bits("bitwise_or", "|", "Or")
_bits("bitwise_xor", "^", "Exclusive or")
define(
    "bitwise_not(Tensor input) -> Tensor",
    type_rule=elementwise("bitwise_not", accepts="integral"), promotion="default", body="~input", inplace=True,
    onnx="BitwiseNot@18",
    gradient=NOT_DIFFERENTIABLE, doc="Every bit inverted; of bools, the logical not. Floating-point dtypes raise DTypeError.",
)  # fmt: skip


def _shift_type(name: str) -> Any:
    rule = elementwise(name, accepts="integral")

    def checked(*operands: Any) -> TensorType:
        out: TensorType = rule(*operands)
        if out.dtype is bool_:
            raise DTypeError(f"{name} takes integer tensors, not bool; convert with .to(dtype)")
        return out

    return checked


define(
    "bitwise_left_shift(Tensor input, Tensor other) -> Tensor",
    type_rule=_shift_type("bitwise_left_shift"), promotion="default", body="left_shift(input, other)", inplace=True, onnx="BitShift@11",
    gradient=NOT_DIFFERENTIABLE, doc="Bits moved up by `other` places; 0 where `other` is negative or too large.",
)  # fmt: skip
define(
    "bitwise_right_shift(Tensor input, Tensor other) -> Tensor",
    type_rule=_shift_type("bitwise_right_shift"), promotion="default", body="right_shift(input, other)", inplace=True, onnx="BitShift@11",
    gradient=NOT_DIFFERENTIABLE,
    doc="Bits moved down by `other` places, the sign kept; 0 (-1 of negative numbers) where `other` is negative or too large.",
)  # fmt: skip


def isclose_arrays(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """The reference of `isclose`; 16-bit floats are compared in float32, integers in float64."""
    close = input == other
    if equal_nan:
        close = close | (np.isnan(input) & np.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if input.dtype.kind in "iub":
        input, other = input.astype(np.float64), other.astype(np.float64)
    return close | (np.isfinite(input) & np.isfinite(other) & (np.abs(input - other) <= atol + np.abs(rtol * other)))


def _isclose_type(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> TensorType:
    if type(input) is TensorType and type(other) is TensorType and input.dtype is not other.dtype:
        raise DTypeError(
            f"isclose: the operands have different dtypes ({input.dtype.name} and {other.dtype.name}); convert one with .to(dtype)"
        )
    if rtol < 0 or atol < 0:
        raise ValueRangeError(f"isclose: rtol and atol must not be negative, not {rtol} and {atol}")
    return elementwise("isclose", result=bool_)(input, other)


define(
    "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    type_rule=_isclose_type, promotion="default", reference=isclose_arrays, gradient=NOT_DIFFERENTIABLE,
    body="(input == other) | (equal_nan & isnan(input) & isnan(other)) | "
    "(isfinite(input) & isfinite(other) & (abs(input * 1.0 - other * 1.0) <= atol + abs(rtol * other)))",
    doc="True where |input - other| <= atol + rtol * |other|, or both are one infinity (or NaN, with equal_nan). The dtypes must be equal.",
)  # fmt: skip
