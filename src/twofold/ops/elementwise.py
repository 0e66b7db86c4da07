"""Elementwise arithmetic and functions of one and two operands.

Dtypes follow PyTorch: records with promotion "float" turn integers into the default floating-point dtype, "default" keeps them.
Gradients at ties and edges are PyTorch's subgradients; step functions (`floor`, `sign`, …) have the gradient zero, not none.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload,no-redef"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import dtype_of_scalar, float_limits
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, common_device, tensor_type
from twofold.ops.record import define, helper
from twofold.ops.scalar import trunc_divide as trunc_divide_arrays
from twofold.ops.select import select
from twofold.ops.typing import broadcast_shapes, compute_dtype, elementwise, operand_shapes, same
from twofold.support.errors import DTypeError, ValueRangeError


@helper
def no_slope(shape: Any, dtype: Any, device: Any) -> Any:
    """The gradient of a step function: zeros."""
    return zeros(shape, dtype=dtype, device=device)


# ---- sums and products -----------------------------------------------------------------------------------------------------------


def _sub_type(name: str) -> Any:
    """The type rule of a difference, which takes no bool operand."""
    rule = elementwise(name)

    def checked(*operands: Any, **attributes: Any) -> TensorType:
        for t in operands:
            if (t.dtype if type(t) is TensorType else dtype_of_scalar(t.kind)) is dtypes.bool_:
                raise DTypeError(
                    f"{name}: a bool operand cannot be subtracted; use ^ or logical_xor for a difference of masks, ~ to invert one"
                )
        return rule(*operands, **attributes)

    return checked


define(
    "add(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("add"), promotion="default", body="input + other", inplace=True, onnx="Add@14",
    gradient=(lambda g: g, lambda g: g),
    doc="Elementwise sum; of bools, the logical or.",
)  # fmt: skip
define(
    "sub(Tensor input, Tensor other) -> Tensor",
    type_rule=_sub_type("sub"), promotion="default", body="input - other", inplace=True, onnx="Sub@14",
    gradient=(lambda g: g, lambda g: -g),
    doc="Elementwise difference. Bool operands raise DTypeError.",
)  # fmt: skip
define(
    "rsub(Tensor input, Tensor other) -> Tensor",
    type_rule=_sub_type("rsub"), promotion="default", body="other - input", node_name="RsubBackward1",
    gradient=(lambda g: -g, lambda g: g),
    doc="`other - input`, the reflected difference. Bool operands raise DTypeError.",
)  # fmt: skip
define(
    "mul(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("mul"), promotion="default", body="input * other", inplace=True, onnx="Mul@14",
    gradient=(lambda g, other: g * other, lambda g, input: g * input),
    doc="Elementwise product; of bools, the logical and.",
)  # fmt: skip
define(
    "div(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("div", "float"), promotion="float", body="input / other", inplace=True, onnx="Div@14",
    gradient=(lambda g, other: g / other, lambda g, other, result: -g * (result / other)),
    doc="Elementwise true division; integers are divided in the default floating-point dtype.",
)  # fmt: skip

# ---- integer-like division -------------------------------------------------------------------------------------------------------


def check_divisor(name: str, divisor: Any) -> None:
    """Refuse an integer division by zero; floats divide to infinities and NaN."""
    kind = np.asarray(divisor).dtype.kind
    if kind in "iub" and not np.all(divisor):
        raise ValueRangeError(f"{name}: integer division by zero (ZeroDivisionError); floating-point tensors would give inf or nan")


def _floor_divide(input: Any, other: Any) -> Any:
    check_divisor("floor_divide", other)
    return np.floor_divide(input, other)


def _remainder(input: Any, other: Any) -> Any:
    check_divisor("remainder", other)
    return np.remainder(input, other)


def _fmod(input: Any, other: Any) -> Any:
    check_divisor("fmod", other)
    return np.fmod(input, other)


def _div_mode(input: Any, other: Any, rounding_mode: str) -> Any:
    check_divisor("div", other)
    return np.floor_divide(input, other) if rounding_mode == "floor" else trunc_divide_arrays(input, other)


def _trunc_divide(input: Any, other: Any) -> Any:
    check_divisor("trunc_divide", other)
    return trunc_divide_arrays(input, other)


def _div_mode_type(input: Any, other: Any, rounding_mode: str) -> TensorType:
    if rounding_mode not in ("floor", "trunc"):
        raise ValueRangeError(f"div: rounding_mode must be None, 'trunc' or 'floor', not {rounding_mode!r}")
    return elementwise("div", accepts="number")(input, other)


define(
    "floor_divide(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("floor_divide", accepts="number"), promotion="default", reference=_floor_divide, body="input // other",
    inplace=True,
    gradient=(
        lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),
        lambda other_shape, other_dtype, other_device: no_slope(other_shape, other_dtype, other_device),
    ),
    doc="The quotient rounded down. An integer division by zero raises ValueRangeError. The gradient is zero (PyTorch has none).",
)  # fmt: skip


@helper
def divided(input: Any, other: Any, rounding_mode: Any) -> Any:
    """The quotient rounded as `rounding_mode` says."""
    return floor_divide(input, other) if rounding_mode == "floor" else trunc_divide(input, other)


define(
    "trunc_divide(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("trunc_divide", accepts="number"), promotion="default", reference=_trunc_divide, method=False, function=False,
    body="trunc_divide(input, other)",
    gradient=(
        lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),
        lambda other_shape, other_dtype, other_device: no_slope(other_shape, other_dtype, other_device),
    ),
    doc="The quotient rounded towards zero. An integer division by zero raises ValueRangeError. The gradient is zero.",
)  # fmt: skip
define(
    "div_mode(Tensor input, Tensor other, *, str rounding_mode) -> Tensor",
    type_rule=_div_mode_type, promotion="default", reference=_div_mode, inplace=True, node_name="DivBackward2", method=False,
    function=False, decomposition=lambda input, other, rounding_mode: divided(input, other, rounding_mode),
    gradient=(
        lambda input_shape, input_dtype, input_device: no_slope(input_shape, input_dtype, input_device),
        lambda other_shape, other_dtype, other_device: no_slope(other_shape, other_dtype, other_device),
    ),
    doc="`div` with a rounding mode: 'floor' rounds the quotient down, 'trunc' towards zero. The gradient is zero.",
)  # fmt: skip
define(
    "remainder(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("remainder", accepts="number"), promotion="default", reference=_remainder, body="input % other", inplace=True,
    onnx="Mod@13",
    gradient=(lambda g: g, lambda g, input, other: -g * floor_divide(input, other)),
    doc="The remainder of division rounded down: it has the sign of `other`. An integer division by zero raises ValueRangeError.",
)  # fmt: skip
define(
    "fmod(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("fmod", accepts="number"), promotion="default", reference=_fmod, body="fmod(input, other)", inplace=True,
    onnx="Mod@13",
    node_name="FmodBackward1",
    gradient=(lambda g: g, lambda g, input, other: -g * div_mode(input, other, rounding_mode="trunc")),
    doc="The remainder of division rounded towards zero: it has the sign of `input`. An integer division by zero raises ValueRangeError.",
)  # fmt: skip

# ---- powers ----------------------------------------------------------------------------------------------------------------------


def _pow_type(input: Any, other: Any) -> TensorType:
    out = elementwise("pow")(input, other)
    if out.dtype is dtypes.bool_ and type(other) is TensorType:
        raise DTypeError("pow takes number (not bool) tensors, not bool; convert with .to(dtype)")
    return out


def _pow(input: Any, other: Any) -> Any:
    dtype = np.asarray(input).dtype
    if dtype.kind == "f":
        return input**other
    if dtype.kind == "b":
        return input | ~other
    exponent = np.asarray(other)
    if exponent.dtype.kind == "u" or not (exponent < 0).any():
        return np.power(input, other)
    if exponent.ndim == 0 and exponent.flags.writeable is False:  # a Python number; see ir.run
        raise ValueRangeError(
            f"pow: integers to the negative power {int(exponent)} are not integers; convert the tensor to a floating-point dtype"
        )
    positive = np.power(input, np.maximum(exponent, 0))
    odd = np.where(exponent % 2 == 0, 1, -1)
    return np.where(exponent >= 0, positive, np.where(input == 1, 1, np.where(input == -1, odd, 0))).astype(dtype)


@helper
def pow_grad_input(g: Any, input: Any, other: Any, zero: Any) -> Any:
    """d/dx x**p = p x**(p-1), and 0 for p = 0 even where x**-1 is infinite. A number p is known when the rule is read."""
    if type(other) in (float, int, bool):
        if other == 0:
            return no_slope(*zero)
        if other == 1:
            return g * 1.0
        return g * (input * 2.0) if other == 2 else g * (input ** (other - 1) * other)
    return where(other == 0.0, 0.0, g * (other * input ** (other - 1.0)))


@helper
def pow_grad_other(g: Any, input: Any, other: Any, result: Any) -> Any:
    """d/dp x**p = x**p log x, and 0 where x = 0 and p >= 0. A number x is known when the rule is read."""
    if type(input) in (float, int, bool):
        return where(other >= 0.0, 0.0, g * (result * log_of(input))) if input == 0 else g * (result * log_of(input))
    return where(logical_and(input == 0.0, other >= 0.0), 0.0, g * (result * log(input)))


define(
    "pow(Tensor input, Tensor other) -> Tensor",
    type_rule=_pow_type, promotion="default", reference=_pow, body="input ** other", inplace=True, onnx="Pow@15",
    gradient=(
        lambda g, input, other, input_shape, input_dtype, input_device: pow_grad_input(
            g, input, other, (input_shape, input_dtype, input_device)
        ),
        lambda g, input, other, result: pow_grad_other(g, input, other, result),
    ),
    doc="""`input` to the power `other`.

    Integers to a negative Python number raise ValueRangeError; an integer tensor of negative exponents gives 0 except for bases 1 and -1.
    The node is PyTorch's for a number as exponent, `PowBackward0`, in every case.""",
)  # fmt: skip

# ---- extremes --------------------------------------------------------------------------------------------------------------------

define(
    "maximum(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("maximum"), promotion="default", body="maximum(input, other)", onnx="Max@13",
    gradient=(
        lambda g, input, other: where(input == other, g * 0.5, where(input < other, 0.0, g)),
        lambda g, input, other: where(input == other, g * 0.5, where(input > other, 0.0, g)),
    ),
    doc="The larger of two elements; NaN if either is NaN. Equal elements share the gradient.",
)  # fmt: skip
define(
    "minimum(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("minimum"), promotion="default", body="minimum(input, other)", onnx="Min@13",
    gradient=(
        lambda g, input, other: where(input == other, g * 0.5, where(input > other, 0.0, g)),
        lambda g, input, other: where(input == other, g * 0.5, where(input < other, 0.0, g)),
    ),
    doc="The smaller of two elements; NaN if either is NaN. Equal elements share the gradient.",
)  # fmt: skip
define(
    "fmax(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("fmax"), promotion="default", body="fmax(input, other)",
    gradient=(
        lambda g, input, other: where(logical_or(input >= other, other != other), g, 0.0),
        lambda g, input, other: where(logical_or(input >= other, other != other), 0.0, g),
    ),
    doc="The larger of two elements; a number rather than NaN. Of equal elements the first takes the gradient.",
)  # fmt: skip
define(
    "fmin(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("fmin"), promotion="default", body="fmin(input, other)",
    gradient=(
        lambda g, input, other: where(logical_or(input <= other, other != other), g, 0.0),
        lambda g, input, other: where(logical_or(input <= other, other != other), 0.0, g),
    ),
    doc="The smaller of two elements; a number rather than NaN. Of equal elements the first takes the gradient.",
)  # fmt: skip


def _clamp_type(input: Any, min: Any, max: Any) -> TensorType:
    if min is None and max is None:
        raise ValueRangeError("clamp: at least one of min and max must be given")
    return elementwise("clamp")(input, min, max)


def _clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    if min is None:
        return np.minimum(input, max)
    lifted = np.maximum(input, min)
    return lifted if max is None else np.minimum(lifted, max)


@helper
def clamp_inside(input: Any, min: Any, max: Any) -> Any:
    """Where `input` lies within the limits that are given."""
    if min is None:
        return input <= max
    if max is None:
        return input >= min
    return logical_and(input >= min, input <= max)


@helper
def clamp_below(input: Any, min: Any, max: Any) -> Any:
    """Where the result is `min`."""
    return input < min if max is None else logical_and(input < min, min < max)


@helper
def clamp_above(input: Any, min: Any, max: Any) -> Any:
    """Where the result is `max`."""
    return input > max if min is None else logical_or(input > max, max < min)


@helper
def clamped(input: Any, min: Any, max: Any) -> Any:
    """The limits that are given, one after the other."""
    if min is None:
        return minimum(input, max)
    if max is None:
        return maximum(input, min)
    return minimum(maximum(input, min), max)


define(
    "clamp(Tensor input, Tensor? min=None, Tensor? max=None) -> Tensor",
    type_rule=_clamp_type, promotion="default", reference=_clamp, inplace=True, onnx="Clip@13", node_name="ClampBackward1",
    decomposition=lambda input, min, max: clamped(input, min, max),
    gradient=(
        lambda g, input, min, max: where(clamp_inside(input, min, max), g, 0.0),
        lambda g, input, min, max: where(clamp_below(input, min, max), g, 0.0),
        lambda g, input, min, max: where(clamp_above(input, min, max), g, 0.0),
    ),
    doc="""The elements limited to `min` and `max` (numbers or tensors; None: no limit). Where min > max the result is max.

    Raises ValueRangeError without any limit. The node is PyTorch's for numbers as limits, `ClampBackward1`, in every case.""",
)  # fmt: skip

# ---- other functions of two operands ---------------------------------------------------------------------------------------------


@helper
def atan2_slope(input: Any, other: Any) -> Any:
    """1 / (y**2 + x**2), and 0 at the origin."""
    square = input * input + other * other
    return where(square == 0.0, 0.0, 1.0 / square)


define(
    "atan2(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("atan2", "float"), promotion="float", body="atan2(input, other)", inplace=True,
    gradient=(
        lambda g, input, other: g * (other * atan2_slope(input, other)),
        lambda g, input, other: g * (-input * atan2_slope(input, other)),
    ),
    doc="The angle of the point (x=other, y=input), in radians. The gradient at the origin is zero.",
)  # fmt: skip
define(
    "hypot(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("hypot", accepts="float"), promotion="default", body="hypot(input, other)", inplace=True,
    gradient=(lambda g, input, result: g * (input / result), lambda g, other, result: g * (other / result)),
    doc="sqrt(input**2 + other**2) without overflow in between.",
)  # fmt: skip


@helper
def copysign_slope(input: Any, result: Any) -> Any:
    """The sign by which `input` became `result`; 0 at 0."""
    return where(input == 0.0, 0.0, result / input)


define(
    "copysign(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("copysign", "float"), promotion="float", body="copysign(input, other)", inplace=True,
    gradient=(
        lambda g, input, result: g * copysign_slope(input, result),
        lambda other_shape, other_dtype, other_device: no_slope(other_shape, other_dtype, other_device),
    ),
    doc="The magnitude of `input` with the sign of `other` (-0.0 and negative NaN count as negative).",
)  # fmt: skip


define(
    "logaddexp(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("logaddexp", accepts="float"), promotion="default", body="logaddexp(input, other)",
    gradient=(lambda g, input, other: g * sigmoid(input - other), lambda g, input, other: g * sigmoid(other - input)),
    decomposition=lambda input, other: where(
        input == other, input + 0.6931471805599453, maximum(input, other) + log1p(exp(-abs(input - other)))
    ),
    doc="log(exp(input) + exp(other)) without overflow.",
)  # fmt: skip


@helper
def log_of(x: Any) -> Any:
    """The natural logarithm of an operand, which may be a Python number."""
    import math

    if type(x) in (float, int, bool):
        return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan
    return log(x)


define(
    "xlogy(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("xlogy", "float"), promotion="float", inplace=True,
    body="xlogy(input, other)",
    gradient=(
        lambda g, input, other: where(logical_and(input == 0.0, other <= 0.0), 0.0, g * log_of(other)),
        lambda g, input, other: g * (input / other),
    ),
    doc="input * log(other), and 0 where input is 0 (unless other is NaN).",
)  # fmt: skip

# ---- choice ----------------------------------------------------------------------------------------------------------------------


def _where_type(condition: Any, input: Any, other: Any) -> TensorType:
    if type(condition) is not TensorType or condition.dtype not in (dtypes.bool_, dtypes.uint8):
        shown = condition.dtype.name if type(condition) is TensorType else "a Python number"
        raise DTypeError(f"where: the condition must be a bool tensor, not {shown}; compare first, for example condition != 0")
    operands = (condition, input, other)
    shape = broadcast_shapes("where", *operand_shapes(operands))
    return tensor_type(compute_dtype((input, other), "default"), shape, common_device(operands, "where"))


define(
    "where(Tensor condition, Tensor input, Tensor other) -> Tensor",
    type_rule=_where_type, promotion="default", reference=lambda condition, input, other: np.where(condition, input, other),
    body="where(condition, input, other)", eager=select, onnx="Where@16",
    gradient=(
        NOT_DIFFERENTIABLE,
        lambda g, condition: where(condition, g, 0.0),
        lambda g, condition: where(condition, 0.0, g),
    ),
    doc="Elements of `input` where the bool `condition` is true, of `other` where it is false; all three broadcast, the last two promote.",
)  # fmt: skip


def _masked_fill_type(input: TensorType, mask: TensorType, value: Any) -> TensorType:
    if mask.dtype is not dtypes.bool_:
        raise DTypeError(f"masked_fill: the mask must be a bool tensor, not {mask.dtype.name}; compare first, for example mask != 0")
    if type(value) is TensorType:
        if value.ndim != 0:
            raise ValueRangeError(f"masked_fill: the value must be a number or a tensor of no dimensions, not one of shape {value.shape}")
    elif input.dtype.category == 1:
        info = np.iinfo(input.dtype.numpy)
        if not info.min <= value <= info.max:
            raise ValueRangeError(f"masked_fill: {value} does not fit {input.dtype.name}")
    shape = broadcast_shapes("masked_fill", input.shape, mask.shape)
    return tensor_type(input.dtype, shape, common_device((input, mask), "masked_fill"))


def _masked_fill(input: Any, mask: Any, value: Any) -> Any:
    return select(mask, np.asarray(value).astype(input.dtype), input)


@helper
def shrink(g: Any, shape: Any) -> Any:
    """The gradient of a broadcast operand, summed to its shape."""
    return g if tuple(g.shape) == tuple(shape) else sum_to_size(g, shape)


@helper
def filling(value: Any, dtype_name: str) -> Any:
    """A Python number of the kind that elements of a dtype are."""
    if "float" in dtype_name:
        return value
    return bool(value) if dtype_name == "bool" else int(value)


define(
    "masked_fill(Tensor input, Tensor mask, Scalar value) -> Tensor",
    type_rule=_masked_fill_type, reference=_masked_fill, inplace=True, any_dtype=True,
    gradient=(lambda g, mask, input_shape: shrink(masked_fill(g, mask, 0.0), input_shape), NOT_DIFFERENTIABLE),
    decomposition=lambda input, mask, value: where(mask, filling(value, input.dtype.name), input),
    doc="""The input with `value` where the bool `mask` is true; the dtype stays the input's.

    Raises DTypeError for other masks, ValueRangeError for a number an integer dtype cannot hold.""",
)  # fmt: skip
define(
    "masked_fill_tensor(Tensor input, Tensor mask, Tensor value) -> Tensor",
    type_rule=_masked_fill_type, reference=_masked_fill, inplace=True, any_dtype=True, node_name="MaskedFillBackward1", method=False,
    function=False,
    gradient=(
        lambda g, mask, input_shape: shrink(masked_fill(g, mask, 0.0), input_shape),
        NOT_DIFFERENTIABLE,
        lambda g, mask, value_dtype: to(sum(where(mask, g, 0.0)), value_dtype),
    ),
    decomposition=lambda input, mask, value: where(mask, value if value.dtype is input.dtype else to(value, input.dtype), input),
    doc="`masked_fill` with a value that is a tensor of no dimensions.",
)  # fmt: skip


def _nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    out = np.array(input)
    if out.dtype.kind in "iub":
        return out
    limits = float_limits(out.dtype)
    values = np.asarray(input)
    out[np.isnan(values)] = 0.0 if nan is None else nan
    out[values == np.inf] = limits.max if posinf is None else posinf
    out[values == -np.inf] = limits.min if neginf is None else neginf
    return out


@helper
def only_numbers(input: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """`nan_to_num` in elementary operations; the table holds the largest finite number of each floating-point dtype."""
    largest = {
        "float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38, "bfloat16": 3.3895313892515355e38, "float16": 65504.0,
    }.get(input.dtype.name)  # fmt: skip
    if largest is None:
        return clone(input)
    above = where(eq(input, float("inf")), largest if posinf is None else posinf, input)
    finite = where(eq(input, float("-inf")), -largest if neginf is None else neginf, above)
    return where(isnan(input), 0.0 if nan is None else nan, finite)


define(
    "nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    type_rule=same, reference=_nan_to_num, inplace=True, any_dtype=True,
    gradient=(lambda g, input: where(isfinite(input), g, 0.0),),
    decomposition=lambda input, nan, posinf, neginf: only_numbers(input, nan, posinf, neginf),
    doc="NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest and smallest finite number of the dtype).",
)  # fmt: skip
