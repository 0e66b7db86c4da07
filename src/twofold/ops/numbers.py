"""Functions of whole numbers and of the parts of floating-point numbers: divisors, steps, neighbours, significand and exponent."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType
from twofold.ops.record import define, refused
from twofold.ops.typing import check_dtype, elementwise, tensor_operand
from twofold.support.errors import DTypeError

# ---- whole numbers -----------------------------------------------------------------------------------------------------------------


def _whole_type(name: str) -> Any:
    rule = elementwise(name, accepts="integral")

    def checked(input: Any, other: Any) -> TensorType:
        tensor_operand(name, input, "input")
        tensor_operand(name, other, "other")
        out: TensorType = rule(input, other)
        if out.dtype is dtypes.bool_:
            raise DTypeError(f"{name} takes integer tensors, not bool; convert with .to(dtype)")
        return out

    return checked


define(
    "gcd(Tensor input, Tensor other) -> Tensor",
    type_rule=_whole_type("gcd"), promotion="default", body="gcd(input, other)", inplace=True, gradient=NOT_DIFFERENTIABLE,
    doc="The greatest common divisor, not negative; gcd(0, 0) is 0. Integer dtypes only (DTypeError).",
)  # fmt: skip
define(
    "lcm(Tensor input, Tensor other) -> Tensor",
    type_rule=_whole_type("lcm"), promotion="default", body="lcm(input, other)", inplace=True, gradient=NOT_DIFFERENTIABLE,
    doc="The least common multiple, not negative; 0 where an operand is 0. Integer dtypes only (DTypeError).",
)  # fmt: skip

# ---- steps and infinities ----------------------------------------------------------------------------------------------------------


def _heaviside_type(input: Any, values: Any) -> TensorType:
    x, v = tensor_operand("heaviside", input, "input"), tensor_operand("heaviside", values, "values")
    if x.dtype is not v.dtype:
        raise DTypeError(f"heaviside: the operands have different dtypes ({x.dtype.name} and {v.dtype.name}); convert one with .to(dtype)")
    out: TensorType = elementwise("heaviside")(input, values)
    return out


define(
    "heaviside(Tensor input, Tensor values) -> Tensor",
    type_rule=_heaviside_type, promotion="default", inplace=True,
    gradient=(refused("the gradient of heaviside is not computed (nor is it in PyTorch)"),) * 2,
    body="heaviside(input, values)",
    doc="The step function: 0 where `input` is negative (or NaN), 1 where it is positive, `values` at 0. The dtypes must be equal.",
)  # fmt: skip


def _infinite(name: str, body: str, doc: str) -> None:
    define(
        f"{name}(Tensor input) -> Tensor",
        type_rule=lambda input: input.with_dtype(dtypes.bool_), body=body, gradient=NOT_DIFFERENTIABLE, doc=doc,
    )  # fmt: skip


_infinite("isposinf", "isinf(input) & (input > 0)", "True where the element is +infinity; false for integers.")
_infinite("isneginf", "isinf(input) & (input < 0)", "True where the element is -infinity; false for integers.")
define(
    "angle(Tensor input) -> Tensor",
    type_rule=elementwise("angle", "float"), promotion="float",
    body="where(input < 0.0, 3.141592653589793, where(isnan(input), input, 0.0))",
    gradient=(lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),),
    doc="The angle of a real number in the complex plane: 0, or pi for a negative number. The gradient is zero.",
)  # fmt: skip

# ---- floating-point numbers --------------------------------------------------------------------------------------------------------


def _frexp_type(input: TensorType) -> tuple[TensorType, TensorType]:
    check_dtype("frexp", input.dtype, "float")
    return input, input.with_dtype(dtypes.int32)


def _frexp(input: Any) -> tuple[Any, Any]:
    mantissa, exponent = np.frexp(input)
    return mantissa, np.asarray(exponent, np.int32)[()]


define(
    "frexp(Tensor input) -> (Tensor mantissa, Tensor exponent)",
    type_rule=_frexp_type, reference=_frexp, cost="library",
    gradient=(lambda g_mantissa, exponent, input_dtype: g_mantissa / exp2(to(exponent, input_dtype)),),
    doc="""The element as mantissa * 2**exponent, 1/2 <= |mantissa| < 1 (0 is 0 * 2**0); the exponent is int32.

Raises DTypeError for integers.""",
)  # fmt: skip
define(
    "nextafter(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("nextafter", accepts="float"), promotion="default", body="nextafter(input, other)", inplace=True,
    any_dtype=True,
    gradient=(lambda g: g, lambda other_shape, other_dtype, other_device: no_slope(other_shape, other_dtype, other_device)),
    doc="The next number of the dtype after `input` in the direction of `other`. Floating-point dtypes only (DTypeError).",
)  # fmt: skip
define(
    "logaddexp2(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("logaddexp2", accepts="float"), promotion="default", body="logaddexp2(input, other)",
    gradient=(
        lambda g, input, other: g * sigmoid((input - other) * 0.6931471805599453),
        lambda g, input, other: g * sigmoid((other - input) * 0.6931471805599453),
    ),
    doc="log2(2**input + 2**other) without overflow.",
)  # fmt: skip
