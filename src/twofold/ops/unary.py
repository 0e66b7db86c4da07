"""Elementwise functions of one operand.

Functions of real analysis turn integers into the default floating-point dtype; `abs`, `sign`, `floor` and their like keep them.
Step functions have the gradient zero, not none.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload,no-redef"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.types import TensorType
from twofold.ops.record import define, helper
from twofold.ops.typing import check_dtype, elementwise

# ---- sign and rounding -----------------------------------------------------------------------------------------------------------


def _sign(input: Any) -> Any:
    if input.dtype.kind == "b":
        return np.array(input)
    return np.where(np.isnan(input), 0, np.sign(input)) if input.dtype.kind == "f" else np.sign(input)


def _step(name: str, function: Any) -> Any:
    """A rounding function that leaves integers as they are."""

    def rounded(input: Any) -> Any:
        return np.array(input) if input.dtype.kind in "iu" else function(input)

    rounded.__name__ = name
    return rounded


def _round(input: Any, decimals: int = 0) -> Any:
    if input.dtype.kind in "iu":
        return np.array(input)
    return np.rint(input) if decimals == 0 else np.round(input, decimals)


def _round_type(input: TensorType, decimals: int) -> TensorType:
    check_dtype("round" if decimals == 0 else "round with decimals", input.dtype, "number" if decimals == 0 else "float")
    return input


def _define_step(name: str, function: Any, doc: str, onnx: str = "") -> None:
    define(
        f"{name}(Tensor input) -> Tensor",
        type_rule=elementwise(name, accepts="number"), promotion="default", reference=_step(name, function), body=f"{name}(input)",
        inplace=True, onnx=onnx,
        gradient=(lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),),
        doc=doc,
    )  # fmt: skip


define(
    "neg(Tensor input) -> Tensor",
    type_rule=elementwise("neg", accepts="number"), promotion="default", body="-input", inplace=True, onnx="Neg@13",
    gradient=(lambda g: -g,),
    doc="Elementwise negation; unsigned integers wrap around. Bool raises DTypeError.",
)  # fmt: skip
define(
    "abs(Tensor input) -> Tensor",
    type_rule=elementwise("abs", accepts="number"), promotion="default", body="abs(input)", inplace=True, onnx="Abs@13",
    gradient=(lambda g, input: g * sign(input),),
    doc="The absolute value; its gradient at 0 is 0.",
)  # fmt: skip
define(
    "sign(Tensor input) -> Tensor",
    type_rule=elementwise("sign"), promotion="default", reference=_sign, body="where(isnan(input), 0.0, sign(input))", inplace=True,
    onnx="Sign@13",
    gradient=(lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),),
    doc="-1, 0 or 1; 0 for NaN.",
)  # fmt: skip
define(
    "sgn(Tensor input) -> Tensor",
    type_rule=elementwise("sgn"), promotion="default", reference=_sign, body="where(isnan(input), 0.0, sign(input))", inplace=True,
    onnx="Sign@13",
    gradient=(lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),),
    doc="For real numbers the same as `sign`.",
)  # fmt: skip
_define_step("floor", np.floor, "The largest integer not above the element; integers stay as they are.", "Floor@13")
_define_step("ceil", np.ceil, "The smallest integer not below the element; integers stay as they are.", "Ceil@13")
_define_step("trunc", np.trunc, "The element without its fraction; integers stay as they are.")
define(
    "round(Tensor input, *, int decimals=0) -> Tensor",
    type_rule=_round_type, reference=_round, inplace=True, onnx="Round@11",
    body="where(decimals == 0, rint(input), where(decimals < 0, rint(input / 10.0 ** -decimals) * 10.0 ** -decimals, "
    "rint(input * 10.0 ** decimals) / 10.0 ** decimals))",
    gradient=(lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),),
    doc="Rounded to `decimals` digits (negative: to tens, hundreds, …), halves to the even neighbour.",
)  # fmt: skip
define(
    "frac(Tensor input) -> Tensor",
    type_rule=elementwise("frac", accepts="float"), promotion="default", body="input - trunc(input)", inplace=True,
    gradient=(lambda g: g,),
    doc="The fraction of the element, with its sign.",
)  # fmt: skip

# ---- functions that turn integers to floats --------------------------------------------------------------------------------------


def _float(name: str, body: str, rule: Any, doc: str, onnx: str = "", **fields: Any) -> None:
    """A function of a real number: integers become the default float dtype first."""
    define(
        f"{name}(Tensor input) -> Tensor",
        type_rule=elementwise(name, "float"), promotion="float", body=body, inplace=True, gradient=(rule,), onnx=onnx, doc=doc, **fields,
    )  # fmt: skip


_float("reciprocal", "1.0 / input", lambda g, result: -g * (result * result), "1 / x.", "Reciprocal@13")
_float("sqrt", "sqrt(input)", lambda g, result: g / (2.0 * result), "The square root; NaN of negative numbers.", "Sqrt@13")
_float("rsqrt", "1.0 / sqrt(input)", lambda g, result: g * (result * result * result * -0.5), "1 / sqrt(x).")
_float("exp", "exp(input)", lambda g, result: g * result, "e to the power x.", "Exp@13")
_float("exp2", "exp2(input)", lambda g, result: g * (result * 0.6931471805599453), "2 to the power x.")
_float("expm1", "expm1(input)", lambda g, result: g * (result + 1.0), "exp(x) - 1, accurate near 0.")
_float("log", "log(input)", lambda g, input: g / input, "The natural logarithm.", "Log@13")
_float("log2", "log2(input)", lambda g, input: g / (input * 0.6931471805599453), "The logarithm to base 2.")
_float("log10", "log10(input)", lambda g, input: g / (input * 2.302585092994046), "The logarithm to base 10.")
_float("log1p", "log1p(input)", lambda g, input: g / (input + 1.0), "log(1 + x), accurate near 0.", node_name="Log1PBackward0")
_float("sin", "sin(input)", lambda g, input: g * cos(input), "The sine (radians).", "Sin@7")
_float("cos", "cos(input)", lambda g, input: -g * sin(input), "The cosine (radians).", "Cos@7")
_float("tan", "tan(input)", lambda g, result: g * (result * result + 1.0), "The tangent (radians).", "Tan@7")
_float("asin", "asin(input)", lambda g, input: g * rsqrt(1.0 - input * input), "The inverse sine; NaN outside [-1, 1].", "Asin@7")
_float("acos", "acos(input)", lambda g, input: -g * rsqrt(1.0 - input * input), "The inverse cosine; NaN outside [-1, 1].", "Acos@7")
_float("atan", "atan(input)", lambda g, input: g / (input * input + 1.0), "The inverse tangent.", "Atan@7")
_float("sinh", "sinh(input)", lambda g, input: g * cosh(input), "The hyperbolic sine.", "Sinh@9")
_float("cosh", "cosh(input)", lambda g, input: g * sinh(input), "The hyperbolic cosine.", "Cosh@9")
_float("tanh", "tanh(input)", lambda g, result: g * (1.0 - result * result), "The hyperbolic tangent.", "Tanh@13")
_float("asinh", "asinh(input)", lambda g, input: g * rsqrt(input * input + 1.0), "The inverse hyperbolic sine.", "Asinh@9")
_float("acosh", "acosh(input)", lambda g, input: g * rsqrt(input * input - 1.0), "The inverse hyperbolic cosine; NaN below 1.", "Acosh@9")
_float(
    "atanh", "atanh(input)", lambda g, input: g / (1.0 - input * input), "The inverse hyperbolic tangent; NaN outside [-1, 1].", "Atanh@9"
)
_float(
    "erf", "erf(input)", lambda g, input: g * (exp(-(input * input)) * 1.1283791670955126),
    "The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x.", "Erf@13",
)  # fmt: skip
_float(
    "erfc", "erfc(input)", lambda g, input: g * (exp(-(input * input)) * -1.1283791670955126), "1 - erf(x), accurate where erf is near 1."
)
_float(
    "sigmoid",
    "1.0 / (1.0 + exp(-input))",
    lambda g, result: g * (result * (1.0 - result)),
    "The logistic function 1 / (1 + exp(-x)).",
    "Sigmoid@13",
)
_float("deg2rad", "input * 0.017453292519943295", lambda g: g * 0.017453292519943295, "Degrees to radians.", node_name="Deg2RadBackward0")
_float("rad2deg", "input * 57.29577951308232", lambda g: g * 57.29577951308232, "Radians to degrees.", node_name="Rad2DegBackward0")


def _logit(input: Any, eps: float | None = None) -> Any:
    x = input if eps is None else np.clip(input, eps, 1.0 - eps)
    return np.log(x / (1.0 - x))


@helper
def logit_slope(input: Any, eps: float | None) -> Any:
    """1 / (x (1 - x)) inside the limits; outside 0 with eps, NaN without."""
    if eps is None:
        return where(logical_or(input < 0.0, input > 1.0), float("nan"), 1.0 / (input * (1.0 - input)))
    return where(logical_or(input < eps, input > 1.0 - eps), 0.0, 1.0 / (input * (1.0 - input)))


@helper
def logit_terms(input: Any, eps: float | None) -> Any:
    """log(x / (1 - x)) of the limited input."""
    if eps is None:
        return log(input / (1.0 - input))
    x = clamp(input, eps, 1.0 - eps)
    return log(x / (1.0 - x))


define(
    "logit(Tensor input, float? eps=None) -> Tensor",
    type_rule=elementwise("logit", "float"), promotion="float", reference=_logit, inplace=True,
    decomposition=lambda input, eps: logit_terms(input, eps),
    gradient=(lambda g, input, eps: g * logit_slope(input, eps),),
    doc="log(x / (1 - x)), the inverse of `sigmoid`; x is first limited to [eps, 1 - eps] where eps is given.",
)  # fmt: skip
