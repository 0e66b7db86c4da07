"""Convolution of 1 to 3 spatial dimensions, plain and transposed, with gradients that are convolutions themselves.

With g the gradient of the output, the gradient of the input is a convolution of the other kind (transposed for plain) of g with the same
weight, and the gradient of the weight is one record more, in which input and g change places for a transposed convolution. So the
vocabulary is
closed: every derivative of any order is made of the two records here (and a sum for the bias).
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.types import TensorType
from twofold.ops import convolution_eager as fast
from twofold.ops.convolution_eager import split_padding
from twofold.ops.matrix import factors
from twofold.ops.record import define, helper
from twofold.support.errors import ShapeError, ValueRangeError

Ints = tuple[Any, ...]


def _positive(name: str, what: str, values: Ints, least: int) -> None:
    if any(type(v) is int and v < least for v in values):
        raise ValueRangeError(f"{name}: {what} must be at least {least}, not {values}")


def convolution_sizes(spatial: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, extra: Ints) -> Ints:
    """The output's spatial sizes."""
    low, high = split_padding(padding, len(stride))
    span = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if transposed:
        return tuple((n - 1) * s - a - b + w + e for n, s, a, b, w, e in zip(spatial, stride, low, high, span, extra, strict=True))
    return tuple((n + a + b - w) // s + 1 for n, s, a, b, w in zip(spatial, stride, low, high, span, strict=True))


def _check(input: TensorType, weight: TensorType, stride: Ints, padding: Ints, dilation: Ints, output_padding: Ints, groups: int) -> None:
    """Ranks and attributes."""
    n = len(stride)
    if input.ndim != n + 2 or weight.ndim != n + 2:
        raise ShapeError(
            f"convolution: {n} strides need an input of {n + 2} dimensions (batch, channels, …) and a weight of {n + 2}; "
            f"their shapes are {tuple(input.shape)} and {tuple(weight.shape)}"
        )
    for what, values in (("dilation", dilation), ("output_padding", output_padding)):
        if len(values) != n:
            raise ShapeError(f"convolution: {what} must have {n} values, not {values}")
    if len(padding) not in (n, 2 * n):
        raise ShapeError(f"convolution: padding must have {n} values (or {2 * n}: the starts, then the ends), not {padding}")
    _positive("convolution", "stride", stride, 1)
    _positive("convolution", "dilation", dilation, 1)
    _positive("convolution", "padding", padding, 0)
    _positive("convolution", "output_padding", output_padding, 0)
    _positive("convolution", "groups", (groups,), 1)
    _positive("convolution", "the kernel's size", weight.shape[2:], 1)


def _convolution_type(
    input: TensorType, weight: TensorType, bias: TensorType | None, stride: Ints, padding: Ints, dilation: Ints, transposed: bool,
    output_padding: Ints, groups: int,
) -> TensorType:  # fmt: skip
    operands = {"input": input, "weight": weight} | ({} if bias is None else {"bias": bias})
    factors("convolution", **operands)
    _check(input, weight, stride, padding, dilation, output_padding, groups)
    shapes = f"input {tuple(input.shape)}, weight {tuple(weight.shape)}, groups {groups}"
    first, second = weight.shape[:2]
    if transposed:
        out, expected, divided = second * groups, first, first
    else:
        out, expected, divided = first, second * groups, first
    if input.shape[1] != expected:
        raise ShapeError(f"convolution: the input has {input.shape[1]} channels, the weight is for {expected} ({shapes})")
    if type(divided) is int and divided % groups:
        raise ShapeError(f"convolution: {divided} channels do not divide into {groups} groups ({shapes})")
    if bias is not None and bias.shape != (out,):
        raise ShapeError(f"convolution: bias must have shape ({out},), not {tuple(bias.shape)} ({shapes})")
    sizes = convolution_sizes(input.shape[2:], weight.shape[2:], stride, padding, dilation, transposed, output_padding)
    if any(type(n) is int and n < (0 if transposed else 1) for n in sizes) or any(type(n) is int and n == 0 for n in input.shape[2:]):
        raise ShapeError(
            f"convolution: the kernel does not fit the input: the output would have spatial sizes {sizes} ({shapes}, padding {padding})"
        )
    return input.with_shape((input.shape[0], out, *sizes))


# ---- the reference: all windows at once ----------------------------------------------------------------------------------------------


def _windows(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """A view (batch, channels, *output, *kernel) of the padded input."""
    n = len(stride)
    low, high = split_padding(padding, n)
    x = np.pad(x, ((0, 0), (0, 0), *zip(low, high, strict=True)))
    span = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(x, span, tuple(range(2, n + 2)))
    return view[(slice(None), slice(None), *(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation))]


def _plain(x: Any, w: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    n, c, o = len(stride), w.shape[1], w.shape[0] // groups
    seen = _windows(x, w.shape[2:], stride, padding, dilation)
    axes = ((1, *range(n + 2, 2 * n + 2)), (1, *range(2, n + 2)))
    parts = [np.tensordot(seen[:, i * c : (i + 1) * c], w[i * o : (i + 1) * o], axes) for i in range(groups)]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def _transposed(x: Any, w: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The adjoint of `_plain` in its input, onto spatial sizes `size`."""
    n, o, c = len(stride), w.shape[0] // groups, w.shape[1]
    low, high = split_padding(padding, n)
    room = tuple(k + a + b for k, a, b in zip(size, low, high, strict=True))
    reach = tuple((k - 1) * s + d * (m - 1) + 1 for k, s, d, m in zip(x.shape[2:], stride, dilation, w.shape[2:], strict=True))
    out = np.zeros((x.shape[0], c * groups, *(max(a, b) for a, b in zip(room, reach, strict=True))), x.dtype)
    for at in np.ndindex(*w.shape[2:]):
        where = tuple(slice(i * d, i * d + (k - 1) * s + 1, s) for i, d, k, s in zip(at, dilation, x.shape[2:], stride, strict=True))
        for i in range(groups):
            part = np.tensordot(x[:, i * o : (i + 1) * o], w[(slice(i * o, (i + 1) * o), slice(None), *at)], ((1,), (0,)))
            out[(slice(None), slice(i * c, (i + 1) * c), *where)] += np.moveaxis(part, -1, 1)
    return out[(slice(None), slice(None), *(slice(a, a + k) for a, k in zip(low, size, strict=True)))]


def _reference(
    input: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, output_padding: Ints, groups: int
) -> Any:
    if transposed:
        size = convolution_sizes(input.shape[2:], weight.shape[2:], stride, padding, dilation, True, output_padding)
        y = np.array(_transposed(input, weight, size, stride, padding, dilation, groups))
    else:
        y = _plain(input, weight, stride, padding, dilation, groups)
    return y if bias is None else y + bias.reshape((-1,) + (1,) * len(stride))


def _backward_weight_reference(grad: Any, input: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    n, o, c = len(stride), grad.shape[1] // groups, input.shape[1] // groups
    seen = _windows(input, size[2:], stride, padding, dilation)
    seen = seen[(slice(None), slice(None), *(slice(k) for k in grad.shape[2:]))]
    axes = ((0, *range(2, n + 2)), (0, *range(2, n + 2)))
    parts = [np.tensordot(grad[:, i * o : (i + 1) * o], seen[:, i * c : (i + 1) * c], axes) for i in range(groups)]
    return np.concatenate(parts, 0)


# ---- records -------------------------------------------------------------------------------------------------------------------------


@helper
def convolution_remainder(size: Any, out: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """The output_padding with which a transposed convolution of spatial sizes `out` gives back `size`."""
    n = len(stride)
    ends = padding if len(padding) == n else padding[n:]
    return tuple(size[i] - ((out[i] - 1) * stride[i] - padding[i] - ends[i] + dilation[i] * (kernel[i] - 1) + 1) for i in range(n))


@helper
def convolution_backward_input(
    g: Any, weight: Any, input_shape: Any, weight_shape: Any, stride: Any, padding: Any, dilation: Any, transposed: Any, groups: Any
) -> Any:
    """The gradient of the input: the convolution of the other kind."""
    if transposed:
        return convolution(g, weight, None, stride, padding, dilation, False, (0,) * len(stride), groups)
    extra = convolution_remainder(input_shape[2:], g.shape[2:], weight_shape[2:], stride, padding, dilation)
    return convolution(g, weight, None, stride, padding, dilation, True, extra, groups)


@helper
def convolution_backward_kernel(
    g: Any, input: Any, weight_shape: Any, stride: Any, padding: Any, dilation: Any, transposed: Any, groups: Any
) -> Any:
    """The gradient of the weight."""
    if transposed:
        return convolution_backward_weight(input, g, weight_shape, stride, padding, dilation, groups)
    return convolution_backward_weight(g, input, weight_shape, stride, padding, dilation, groups)


def convolution_flops(ins: Any, outs: Any, attributes: Any) -> Any:
    """Two for each tap of each output (of each input, where transposed)."""
    weight = ins[1].shape
    taps: Any = weight[1] if not attributes["transposed"] else weight[1] * attributes["groups"]
    for k in weight[2:]:
        taps = taps * k
    if attributes["transposed"]:
        return 2 * taps * ins[0].numel // attributes["groups"]
    return 2 * taps * outs[0].numel


define(
    """convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed,
       int[] output_padding, int groups) -> Tensor""",
    type_rule=_convolution_type, reference=_reference, eager=fast.convolution, cost="convolution", method=False, onnx="Conv@11",
    flops=convolution_flops,
    gradient=(
        lambda g, weight, input_shape, weight_shape, stride, padding, dilation, transposed, groups: convolution_backward_input(
            g, weight, input_shape, weight_shape, stride, padding, dilation, transposed, groups
        ),
        lambda g, input, weight_shape, stride, padding, dilation, transposed, groups: convolution_backward_kernel(
            g, input, weight_shape, stride, padding, dilation, transposed, groups
        ),
        lambda g: convolution_backward_bias(g),
    ),
    doc="""Convolution (cross-correlation, as in all such libraries) over 1 to 3 spatial dimensions.

input (N, C, *spatial); weight (O, C / groups, *kernel), or with `transposed` (C, O / groups, *kernel); bias (O,) or None. `padding` has a
value a dimension, or twice as many: the starts of all dimensions, then the ends. Raises ShapeError where channels or sizes do not fit.""",
)  # fmt: skip


def _backward_weight_type(
    grad: TensorType, input: TensorType, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> TensorType:
    factors("convolution_backward_weight", grad=grad, input=input)
    if grad.ndim != input.ndim or grad.shape[0] != input.shape[0] or len(size) != input.ndim:
        raise ShapeError(
            f"convolution_backward_weight: shapes {tuple(grad.shape)} and {tuple(input.shape)} do not fit a weight of shape {size}"
        )
    return grad.with_shape(tuple(size))


define(
    """convolution_backward_weight(Tensor grad, Tensor input, Shape size, int[] stride, int[] padding, int[] dilation,
       int groups) -> Tensor""",
    type_rule=_backward_weight_type, reference=_backward_weight_reference, eager=fast.convolution_backward_weight,
    cost="convolution", method=False, function=False,
    flops=lambda ins, outs, attributes: 2 * outs[0].numel * ins[0].numel // ins[0].shape[1],
    gradient=(
        lambda g, input, stride, padding, dilation, groups: convolution(
            input, g, None, stride, padding, dilation, False, (0,) * len(stride), groups
        ),
        lambda g, grad, grad_shape, input_shape, size, stride, padding, dilation, groups: convolution_backward_input(
            grad, g, input_shape, size, stride, padding, dilation, False, groups
        ),
    ),
    doc="The gradient of a plain convolution's weight of shape `size`, from the gradient of the output and the input; linear in both.",
)  # fmt: skip


def _backward_bias_type(grad: TensorType) -> TensorType:
    if grad.ndim < 2:
        raise ShapeError(f"convolution_backward_bias: a gradient of shape {tuple(grad.shape)} has no channels")
    if grad.dtype is dtypes.bool_:
        raise ShapeError("convolution_backward_bias does not take bool tensors")
    return grad.with_shape((grad.shape[1],))


@helper
def convolution_spread_bias(g: Any, shape: Any) -> Any:
    """A value a channel, repeated over batch and space."""
    return expand(reshape(g, (shape[1],) + (1,) * (len(shape) - 2)), shape)


define(
    "convolution_backward_bias(Tensor grad) -> Tensor",
    type_rule=_backward_bias_type, cost="reduction", method=False, function=False,
    reference=lambda grad: np.add.reduce(grad, axis=(0, *range(2, grad.ndim))), eager=fast.convolution_backward_bias,
    gradient=(lambda g, grad_shape: convolution_spread_bias(g, grad_shape),),
    decomposition=lambda grad: sum(grad, but_channels(grad.shape)),
    doc="The sum over batch and space, a value for each channel: the gradient of a convolution's bias.",
)  # fmt: skip
