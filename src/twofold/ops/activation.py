"""Activation functions."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload,no-redef"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.dtypes import INTEGER
from twofold.ir.types import TensorType
from twofold.ops import activation_eager as eager
from twofold.ops import special
from twofold.ops.record import define, helper
from twofold.ops.select import keep_where
from twofold.ops.typing import check_dtype, elementwise
from twofold.support.errors import ShapeError, ValueRangeError


def _only(name: str, accepts: str) -> Any:
    """The type rule of an activation: the input's type, for the dtypes it takes."""

    def rule(input: TensorType, **attributes: Any) -> TensorType:
        check_dtype(name, input.dtype, accepts)
        return input

    return rule


def _number(value: Any, like: Any) -> Any:
    """A Python number fit for arithmetic with an array: whole beside integers."""
    return int(value) if like.dtype.kind in "iu" else value


# ---- piecewise linear ------------------------------------------------------------------------------------------------------------


def _threshold_backward(grad: Any, input: Any, threshold: Any) -> Any:
    return np.where(input <= threshold, 0.0, grad)


def _threshold_backward_fast(grad: Any, input: Any, threshold: Any) -> Any:
    return keep_where(~(input <= threshold), grad)


define(
    "relu(Tensor input) -> Tensor",
    type_rule=elementwise("relu", accepts="number"), promotion="default", reference=lambda input: np.maximum(input, 0),
    body="maximum(input, 0.0)",
    inplace=True, onnx="Relu@14",
    gradient=(lambda g, result: threshold_backward(g, result, 0.0),),
    doc="max(x, 0); NaN stays NaN. Bool raises DTypeError. The gradient at 0 is 0.",
)  # fmt: skip
define(
    "threshold_backward(Tensor grad, Tensor input, Scalar threshold) -> Tensor",
    type_rule=elementwise("threshold_backward", accepts="float"), promotion="default", reference=_threshold_backward,
    eager=_threshold_backward_fast,
    body="where(input <= threshold, 0.0, grad)", node_name="ThresholdBackwardBackward0", method=False,
    gradient=(
        lambda g, input, threshold: threshold_backward(g, input, threshold),
        lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),
    ),
    doc="`grad` where the input is above the threshold (or NaN), 0 elsewhere.",
)  # fmt: skip
define(
    "threshold(Tensor input, Scalar threshold, Scalar value) -> Tensor",
    type_rule=_only("threshold", "number"), inplace=True,
    reference=lambda input, threshold, value: np.where(input <= threshold, _number(value, input), input),
    body="where(input <= threshold, value, input)",
    gradient=(lambda g, input, threshold: threshold_backward(g, input, threshold),),
    doc="x where it is above `threshold`, `value` elsewhere.",
)  # fmt: skip


def _leaky(input: Any, negative_slope: float = 0.01) -> Any:
    return np.where(input > 0, input, input * negative_slope)


def _leaky_fast(input: Any, negative_slope: float = 0.01) -> Any:
    scaled = input * negative_slope
    return np.maximum(input, scaled) if 0.0 < negative_slope <= 1.0 else np.where(input > 0, input, scaled)


define(
    "leaky_relu(Tensor input, Scalar negative_slope=0.01) -> Tensor",
    type_rule=_only("leaky_relu", "float"), reference=_leaky, eager=_leaky_fast, body="where(input > 0.0, input, input * negative_slope)",
    inplace=True,
    onnx="LeakyRelu@16",
    gradient=(lambda g, input, negative_slope: where(input > 0.0, g, g * negative_slope),),
    doc="x where it is positive, negative_slope * x elsewhere.",
)  # fmt: skip
define(
    "prelu_kernel(Tensor input, Tensor weight) -> Tensor",
    type_rule=elementwise("prelu", accepts="float"), promotion="default", reference=lambda input,
    weight: np.where(input > 0, input, weight * input),
    body="where(input > 0.0, input, weight * input)", method=False, onnx="PRelu@16",
    gradient=(lambda g, input, weight: where(input > 0.0, g, g * weight), lambda g, input: where(input > 0.0, 0.0, g * input)),
    doc="`leaky_relu` with a tensor of slopes that broadcasts; `prelu` brings the slopes of channels into that shape.",
)  # fmt: skip


def _hardtanh_type(input: TensorType, min_val: Any, max_val: Any) -> TensorType:
    check_dtype("hardtanh", input.dtype, "number")
    if min_val > max_val:
        raise ValueRangeError(f"hardtanh: min_val ({min_val}) is above max_val ({max_val})")
    if input.dtype.category == INTEGER and not input.dtype.is_signed and min_val < 0:
        raise ValueRangeError(f"hardtanh: the limit {min_val} is negative, the dtype {input.dtype.name} is unsigned")
    return input


def _hardtanh(input: Any, min_val: Any = -1.0, max_val: Any = 1.0) -> Any:
    return np.minimum(np.maximum(input, _number(min_val, input)), _number(max_val, input))


define(
    "hardtanh(Tensor input, Scalar min_val=-1.0, Scalar max_val=1.0) -> Tensor",
    type_rule=_hardtanh_type, reference=_hardtanh, body="minimum(maximum(input, min_val), max_val)", inplace=True, onnx="Clip@13",
    gradient=(lambda g, input, min_val, max_val: where(logical_or(input <= min_val, input >= max_val), 0.0, g),),
    doc="x limited to [min_val, max_val]; the gradient at the limits is 0.",
)  # fmt: skip
define(
    "hardsigmoid(Tensor input) -> Tensor",
    type_rule=elementwise("hardsigmoid", accepts="float"), promotion="default", body="minimum(maximum(input + 3.0, 0.0), 6.0) / 6.0",
    inplace=True,
    onnx="HardSigmoid@6",
    gradient=(lambda g, input: where(logical_and(input > -3.0, input < 3.0), g * (1.0 / 6.0), 0.0),),
    doc="min(max(x + 3, 0), 6) / 6.",
)  # fmt: skip
define(
    "hardswish(Tensor input) -> Tensor",
    type_rule=elementwise("hardswish", accepts="float"), promotion="default", body="input * minimum(maximum(input + 3.0, 0.0), 6.0) / 6.0",
    inplace=True, onnx="HardSwish@14",
    gradient=(lambda g, input: where(input <= -3.0, 0.0, where(input >= 3.0, g, g * (input / 3.0 + 0.5))),),
    doc="x * min(max(x + 3, 0), 6) / 6.",
)  # fmt: skip
define(
    "hardshrink(Tensor input, Scalar lambd=0.5) -> Tensor",
    type_rule=_only("hardshrink", "float"), reference=lambda input, lambd=0.5: np.where((input >= -lambd) & (input <= lambd), 0.0, input),
    body="where((input >= -lambd) & (input <= lambd), 0.0, input)", onnx="Shrink@9",
    gradient=(lambda g, input, lambd: where(logical_and(input >= -lambd, input <= lambd), 0.0, g),),
    doc="x where |x| > lambd, 0 elsewhere.",
)  # fmt: skip


def _softshrink_type(input: TensorType, lambd: Any) -> TensorType:
    if lambd < 0:
        raise ValueRangeError(f"softshrink: lambd must not be negative, not {lambd}")
    return _only("softshrink", "float")(input, lambd=lambd)


define(
    "softshrink(Tensor input, Scalar lambd=0.5) -> Tensor",
    type_rule=_softshrink_type, onnx="Shrink@9",
    body="where(input > lambd, input - lambd, where(input < -lambd, input + lambd, input * 0.0))",
    gradient=(lambda g, input, lambd: where(logical_and(input >= -lambd, input <= lambd), 0.0, g),),
    doc="x - lambd above lambd, x + lambd below -lambd, 0 between.",
)  # fmt: skip


def _pair(name: str) -> Any:
    """The type rule of an activation's gradient: `grad` and `input` of one type."""

    def rule(grad: TensorType, input: TensorType, **attributes: Any) -> TensorType:
        check_dtype(name, input.dtype, "float")
        if grad.shape != input.shape:
            raise ShapeError(f"{name}: grad has shape {tuple(grad.shape)}, input {tuple(input.shape)}")
        return input

    return rule


# ---- smooth ----------------------------------------------------------------------------------------------------------------------


@helper
def elu_slope(input: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    """The slope of `elu`; exp sees no positive number, so that it cannot overflow where it is not used."""
    return where(input > 0.0, scale, exp(clamp(input, None, 0.0) * input_scale) * (alpha * scale * input_scale))


define(
    "elu(Tensor input, Scalar alpha=1.0, Scalar scale=1.0, Scalar input_scale=1.0) -> Tensor",
    type_rule=_only("elu", "float"), inplace=True, onnx="Elu@6",
    body="where(input > 0.0, input * scale, expm1(minimum(input, 0.0) * input_scale) * (alpha * scale))",
    gradient=(lambda g, input, alpha, scale, input_scale: g * elu_slope(input, alpha, scale, input_scale),),
    doc="scale * x where x is positive, scale * alpha * (exp(input_scale * x) - 1) elsewhere.",
)  # fmt: skip


def _celu_type(input: TensorType, alpha: Any) -> TensorType:
    check_dtype("celu", input.dtype, "float")
    if alpha == 0:
        raise ValueRangeError("celu: alpha must not be 0")
    return input


define(
    "celu(Tensor input, Scalar alpha=1.0) -> Tensor",
    type_rule=_celu_type, inplace=True, onnx="Celu@12",
    body="where(input > 0.0, input, expm1(minimum(input, 0.0) / alpha) * alpha)",
    gradient=(lambda g, input, alpha: g * elu_slope(input, alpha, 1.0, 1.0 / alpha),),
    doc="x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere.",
)  # fmt: skip
define(
    "softplus(Tensor input, Scalar beta=1.0, Scalar threshold=20.0) -> Tensor",
    type_rule=_only("softplus", "float"), onnx="Softplus@1",
    body="where(input * beta > threshold, input, log1p(exp(minimum(input * beta, threshold))) / beta)",
    gradient=(lambda g, input, beta, threshold: where(input * beta > threshold, g, g * sigmoid(input * beta)),),
    doc="log(1 + exp(beta * x)) / beta; x itself where beta * x is above `threshold`.",
)  # fmt: skip
define(
    "logsigmoid(Tensor input) -> Tensor",
    type_rule=elementwise("logsigmoid", accepts="float"), promotion="default", body="minimum(input, 0.0) - log1p(exp(-abs(input)))",
    node_name="LogSigmoidBackward0",
    gradient=(lambda g, input: g * sigmoid(-input),),
    doc="log(sigmoid(x)) without overflow.",
)  # fmt: skip


@helper
def silu_slope(input: Any) -> Any:
    """d/dx x*s(x) = s (1 + x (1 - s)), s the logistic function."""
    s = sigmoid(input)
    return s * (input * (1.0 - s) + 1.0)


define(
    "silu(Tensor input) -> Tensor",
    type_rule=elementwise("silu", accepts="float"), promotion="default", body="input / (1.0 + exp(-input))", inplace=True,
    eager=eager.silu,
    gradient=(lambda g, input: silu_backward(g, input),),
    decomposition=lambda input: input * sigmoid(input),
    doc="x * sigmoid(x).",
)  # fmt: skip


@helper
def silu_curve(input: Any) -> Any:
    """The slope's slope, s (1 - s) (2 + x (1 - 2 s))."""
    s = sigmoid(input)
    return s * (1.0 - s) * (input * (1.0 - s * 2.0) + 2.0)


def _silu_backward(grad: Any, input: Any) -> Any:
    with np.errstate(over="ignore"):
        s = 1.0 / (1.0 + np.exp(-input))
    return grad * (s * (1.0 + input * (1.0 - s)))


define(
    "silu_backward(Tensor grad, Tensor input) -> Tensor",
    type_rule=_pair("silu_backward"), reference=_silu_backward, eager=eager.silu_backward, method=False,
    gradient=(lambda g, input: silu_backward(g, input), lambda g, grad, input: g * grad * silu_curve(input)),
    decomposition=lambda grad, input: grad * silu_slope(input),
    doc="The gradient of silu: grad s (1 + x (1 - s)), s the logistic function of x.",
)  # fmt: skip


@helper
def mish_slope(input: Any) -> Any:
    """d/dx x*t = t + x s (1 - t*t) with t = tanh(softplus(x)), s the logistic function."""
    t = tanh(softplus(input))
    return t + input * sigmoid(input) * (1.0 - t * t)


define(
    "mish(Tensor input) -> Tensor",
    type_rule=elementwise("mish", accepts="float"), promotion="default",
    body="input * tanh(maximum(input, 0.0) + log1p(exp(-abs(input))))", inplace=True, onnx="Mish@18",
    gradient=(lambda g, input: g * mish_slope(input),),
    decomposition=lambda input: input * tanh(softplus(input)),
    doc="x * tanh(softplus(x)).",
)  # fmt: skip

# ---- GELU ------------------------------------------------------------------------------------------------------------------------


def _gelu_type(input: TensorType, approximate: str) -> TensorType:
    check_dtype("gelu", input.dtype, "float")
    if approximate not in ("none", "tanh"):
        raise ValueRangeError(f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}")
    return input


def _gelu(input: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * input * (1.0 + np.tanh(0.7978845608028654 * (input + 0.044715 * (input * input * input))))
    return input * (0.5 * special.erfc(input * -0.7071067811865476))


@helper
def gelu_slope(input: Any, approximate: str) -> Any:
    """The slope of `gelu`: Phi(x) + x phi(x), or that of the approximation by tanh."""
    if approximate == "tanh":
        square = input * input
        t = tanh(input * 0.7978845608028654 * (square * 0.044715 + 1.0))
        return (t + 1.0) * 0.5 + input * 0.3989422804014327 * (1.0 - t * t) * (square * 0.134145 + 1.0)
    return erfc(input * -0.7071067811865476) * 0.5 + input * exp(input * input * -0.5) * 0.3989422804014327


@helper
def gelu_parts(input: Any, approximate: str) -> Any:
    """`gelu` in elementary operations."""
    if approximate == "tanh":
        return input * 0.5 * (tanh(input * 0.7978845608028654 * (input * input * 0.044715 + 1.0)) + 1.0)
    return input * (erfc(input * -0.7071067811865476) * 0.5)


define(
    "gelu(Tensor input, *, str approximate='none') -> Tensor",
    type_rule=_gelu_type, reference=_gelu, eager=eager.gelu, onnx="Gelu@20",
    gradient=(lambda g, input, approximate: gelu_backward(g, input, approximate),),
    decomposition=lambda input, approximate: gelu_parts(input, approximate),
    doc="""x * Phi(x), Phi the distribution function of the normal distribution (Hendrycks and Gimpel, arXiv:1606.08415).

    approximate: 'none', or 'tanh' for 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))).""",
)  # fmt: skip


@helper
def gelu_curve(input: Any, approximate: str) -> Any:
    """The slope's slope."""
    square = input * input
    if approximate == "tanh":
        t = tanh(input * 0.7978845608028654 * (square * 0.044715 + 1.0))
        inner = (square * 0.134145 + 1.0) * 0.7978845608028654  # the slope of tanh's argument, whose own slope is 6 * 0.0356774 x
        return (1.0 - t * t) * (inner + square * 0.10703222440890037 - input * t * (inner * inner))
    return exp(square * -0.5) * 0.3989422804014327 * (2.0 - square)


def _gelu_backward(grad: Any, input: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        t = np.tanh(0.7978845608028654 * (input + 0.044715 * (input * input * input)))
        return grad * (0.5 * (1.0 + t) + 0.3989422804014327 * input * (1.0 - t * t) * (1.0 + 0.134145 * (input * input)))
    return grad * (0.5 * special.erfc(input * -0.7071067811865476) + input * np.exp(-0.5 * (input * input)) * 0.3989422804014327)


define(
    "gelu_backward(Tensor grad, Tensor input, str approximate='none') -> Tensor",
    type_rule=_pair("gelu_backward"), reference=_gelu_backward, eager=eager.gelu_backward, method=False,
    gradient=(
        lambda g, input, approximate: gelu_backward(g, input, approximate),
        lambda g, grad, input, approximate: g * grad * gelu_curve(input, approximate),
    ),
    decomposition=lambda grad, input, approximate: grad * gelu_slope(input, approximate),
    doc="The gradient of gelu: grad (Phi(x) + x phi(x)), or the slope of the approximation by tanh.",
)  # fmt: skip

# ---- gated -----------------------------------------------------------------------------------------------------------------------


def _glu_type(input: TensorType, dim: int) -> TensorType:
    check_dtype("glu", input.dtype, "float")
    if input.ndim == 0:
        raise ShapeError("glu: a tensor of no dimensions cannot be halved")
    n = input.shape[dim]
    if type(n) is int and n % 2:
        raise ShapeError(f"glu: dimension {dim} of the tensor of shape {input.shape} has the odd size {n} and cannot be halved")
    return input.with_shape((*input.shape[:dim], n // 2, *input.shape[dim + 1 :]))


def _glu(input: Any, dim: int = -1) -> Any:
    a, b = np.split(input, 2, dim)
    return a / (1.0 + np.exp(-b))


@helper
def halves(input: Any, dim: int) -> tuple[Any, Any]:
    """The two halves along a dimension."""
    n = input.shape[dim] // 2
    return slice(input, dim, 0, n), slice(input, dim, n, 2 * n)


@helper
def glu_backward(g: Any, input: Any, dim: int) -> Any:
    """The gradient of `glu`."""
    a, b = halves(input, dim)
    s = sigmoid(b)
    return cat((g * s, g * (a * (s * (1.0 - s)))), dim)


@helper
def glu_parts(input: Any, dim: int) -> Any:
    """`glu` in elementary operations."""
    a, b = halves(input, dim)
    return a * sigmoid(b)


define(
    "glu(Tensor input, Dim dim=-1) -> Tensor",
    type_rule=_glu_type, reference=_glu,
    gradient=(lambda g, input, dim: glu_backward(g, input, dim),),
    decomposition=lambda input, dim: glu_parts(input, dim),
    doc="a * sigmoid(b), a and b the halves of the input along `dim`. Raises ShapeError where that size is odd.",
)  # fmt: skip
