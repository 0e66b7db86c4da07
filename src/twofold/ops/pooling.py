"""Pooling over 2 or 3 spatial dimensions: maxima, means, and their adaptive forms. (One dimension is pooled as two, the first of size 1.)

Every pass keeps the memory layout of its input: channels-last arrays give channels-last results.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType
from twofold.ops.record import define, helper
from twofold.ops.typing import tensor_operand
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

Ints = tuple[Any, ...]
Array = Any

# ---- shapes --------------------------------------------------------------------------------------------------------------------------


def pooled_size(n: Any, k: int, s: int, p: int, d: int, ceil_mode: bool) -> Any:
    """The output's size along one dimension. With `ceil_mode` a last window counts that begins inside the input or its left padding."""
    room = n + 2 * p - d * (k - 1) - 1
    if not ceil_mode:
        return room // s + 1
    out = -(-room // s) + 1
    return out - 1 if (out - 1) * s >= n + p else out


def check_pooled(name: str, n: int, t: TensorType, float_only: bool) -> None:
    """The dtype (means: floating-point or int64), and that nothing but the batch is empty."""
    if t.dtype is dtypes.bool_ or (float_only and not (t.dtype.is_floating_point or t.dtype is dtypes.int64)):
        raise DTypeError(f"{name} does not take {t.dtype.name} tensors; convert with .to(dtype)")
    if 0 in t.shape[t.ndim - n - 1 :]:
        raise ShapeError(f"{name}: only the batch may be empty, the input has shape {tuple(t.shape)}")


def _pooled_type(
    name: str, input: Any, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool, float_only: bool
) -> TensorType:
    t = tensor_operand(name, input, "input")
    n = len(kernel_size)
    if t.ndim not in (n + 1, n + 2):
        raise ShapeError(f"{name}: the input must have {n + 1} or {n + 2} dimensions, not shape {tuple(t.shape)}")
    check_pooled(name, n, t, float_only)
    for what, values, least in (("kernel_size", kernel_size, 1), ("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1)):
        if len(values) != n or min(values) < least:
            raise ValueRangeError(f"{name}: {what} must be {n} numbers of at least {least}, not {values}")
    for k, p, d in zip(kernel_size, padding, dilation, strict=True):
        if p > (d * (k - 1) + 1) // 2:
            raise ValueRangeError(f"{name}: padding {padding} is more than half of the kernel {kernel_size} (dilation {dilation})")
    space = t.shape[t.ndim - n :]
    sizes = tuple(pooled_size(*each, ceil_mode) for each in zip(space, kernel_size, stride, padding, dilation, strict=True))
    if any(type(m) is int and m < 1 for m in (*sizes, *space)):
        raise ShapeError(f"{name}: a kernel of {kernel_size} with padding {padding} does not fit the input of shape {tuple(t.shape)}")
    return t.with_shape((*t.shape[: t.ndim - n], *sizes))


# ---- windows, tap by tap -------------------------------------------------------------------------------------------------------------


def tap_range(at: int, size: int, out: int, s: int, p: int, d: int) -> tuple[slice, slice]:
    """The outputs whose window has element `at` inside the input, and the places it has there."""
    shift = at * d - p
    first = max(0, -(shift // s)) if shift < 0 else 0
    last = min(out, (size - 1 - shift) // s + 1)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    return slice(first, last), slice(first * s + shift, (last - 1) * s + shift + 1, s)


def taps(space: Ints, out: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Iterator[tuple[Any, Any]]:
    """(index of outputs, index of inputs) for each element of the kernel, in row-major order."""
    for at in np.ndindex(*kernel):
        pairs = [tap_range(*each) for each in zip(at, space, out, stride, padding, dilation, strict=True)]
        yield (..., *(o for o, _ in pairs)), (..., *(i for _, i in pairs))


def pool_axis(x: Array, axis: int, out: int, k: int, s: int, p: int, d: int, ufunc: Any, empty: Any) -> Array:
    """Reduce windows along one axis with `ufunc`; `empty` is its neutral element."""
    lead = (slice(None),) * axis
    ranges = [tap_range(i, x.shape[axis], out, s, p, d) for i in range(k)]
    if k > 1 and all(o == slice(0, out) for o, _ in ranges[:2]):
        result = ufunc(x[(*lead, ranges[0][1])], x[(*lead, ranges[1][1])])
        ranges = ranges[2:]
    elif k == 1 and ranges[0][0] == slice(0, out):
        return np.array(x[(*lead, ranges[0][1])])
    else:
        result = np.empty_like(x, shape=(*x.shape[:axis], out, *x.shape[axis + 1 :]))
        result.fill(empty)
    for o, i in ranges:
        target = result[(*lead, o)]
        ufunc(target, x[(*lead, i)], out=target)
    return result


# ---- maxima --------------------------------------------------------------------------------------------------------------------------


def lowest(dtype: np.dtype) -> Any:
    """The neutral element of maxima."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def winners(x: Array, out: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Array:
    """For each window the number of the element that is its maximum: the first of equal ones; the last NaN where there is one, as in
    PyTorch."""
    n = len(kernel)
    result = np.full((*x.shape[: x.ndim - n], *out), -1)
    best = np.full(result.shape, lowest(x.dtype), x.dtype)
    for k, (o, i) in enumerate(taps(x.shape[x.ndim - n :], out, kernel, stride, padding, dilation)):
        value = x[i]
        better = (value > best[o]) | (value != value) | (result[o] < 0)
        best[o] = np.where(better, value, best[o])
        result[o] = np.where(better, k, result[o])
    return result


def _max_pool_reference(input: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Array:
    n = len(kernel_size)
    space = input.shape[input.ndim - n :]
    out = tuple(pooled_size(*each, ceil_mode) for each in zip(space, kernel_size, stride, padding, dilation, strict=True))
    result = np.full((*input.shape[: input.ndim - n], *out), lowest(input.dtype), input.dtype)
    for o, i in taps(space, out, kernel_size, stride, padding, dilation):
        result[o] = np.maximum(result[o], input[i])
    return result


def _max_pool_eager(input: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Array:
    """One dimension after the other."""
    n = len(kernel_size)
    least = lowest(input.dtype)
    y = input
    for i in range(n):
        axis = input.ndim - n + i
        out = pooled_size(input.shape[axis], kernel_size[i], stride[i], padding[i], dilation[i], ceil_mode)
        y = pool_axis(y, axis, out, kernel_size[i], stride[i], padding[i], dilation[i], np.maximum, least)
    return y


def _max_backward_reference(
    grad: Array, input: Array, output: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Array:
    n = len(kernel_size)
    out = grad.shape[grad.ndim - n :]
    won = winners(input, out, kernel_size, stride, padding, dilation)
    result = np.zeros_like(input, grad.dtype)
    for k, (o, i) in enumerate(taps(input.shape[input.ndim - n :], out, kernel_size, stride, padding, dilation)):
        result[i] += np.where(won[o] == k, grad[o], 0)
    return result


def _max_backward_eager(grad: Array, input: Array, output: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Array:
    """The elements that equal their window's maximum are found tap by tap; bit masks move the gradients, so that infinite ones stay where
    they belong."""
    if grad.dtype != input.dtype or grad.dtype.kind != "f" or np.isnan(output).any():
        return _max_backward_reference(grad, input, output, kernel_size, stride, padding, dilation)
    n = len(kernel_size)
    out, space = grad.shape[grad.ndim - n :], input.shape[input.ndim - n :]
    whole = np.int32 if grad.dtype.itemsize == 4 else np.int64
    left = np.empty_like(output)
    np.copyto(left, grad)
    bits = left.view(whole)
    overlap = any(s < d * (k - 1) + 1 for s, k, d in zip(stride, kernel_size, dilation, strict=True))
    covered = not overlap and not any(padding) and all(k * m == size for k, m, size in zip(kernel_size, out, space, strict=True))
    result = np.empty_like(input) if covered else np.zeros_like(input)
    for o, i in taps(space, out, kernel_size, stride, padding, dilation):
        hit = input[i] == output[o]
        moved = bits[o] & np.negative(hit.view(np.int8), dtype=whole)
        target = result[i]
        if overlap:
            np.add(target, moved.view(grad.dtype), out=target)
        else:
            np.copyto(target, moved.view(grad.dtype))
        np.bitwise_xor(bits[o], moved, out=bits[o])
    return result


def _max_gather(source: Array, input: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, size: Ints) -> Array:
    n = len(kernel_size)
    won = winners(input, size, kernel_size, stride, padding, dilation)
    result = np.zeros(won.shape, source.dtype)
    for k, (o, i) in enumerate(taps(input.shape[input.ndim - n :], size, kernel_size, stride, padding, dilation)):
        result[o] = np.where(won[o] == k, source[i], result[o])
    return result


def _max_indices(input: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, size: Ints) -> Array:
    n = len(kernel_size)
    space = input.shape[input.ndim - n :]
    won = winners(input, size, kernel_size, stride, padding, dilation)
    places = np.arange(int(np.prod(space))).reshape(space)
    result = np.zeros(won.shape, np.int64)
    for k, (o, i) in enumerate(taps(space, size, kernel_size, stride, padding, dilation)):
        result[o] = np.where(won[o] == k, places[i], result[o])
    return result


MAX_DOC = """The maximum of each window of `kernel_size` over the last {n} dimensions of (N, C, *space) or (C, *space).

The gradient goes to the first of equal maxima. Raises ValueRangeError for padding of more than half a kernel, ShapeError where nothing
fits."""


def _pool_flops(ins: Any, outs: Any, attributes: Any) -> Any:
    count = outs[0].numel
    for k in attributes["kernel_size"]:
        count = count * k
    return count


define(
    "max_pool2d(Tensor input, int[2] kernel_size, int[2] stride, int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
    type_rule=lambda input, **a: _pooled_type("max_pool2d", input, float_only=False, **a),
    reference=_max_pool_reference, eager=_max_pool_eager,
    cost="pooling", flops=_pool_flops, node_name="MaxPool2DWithIndicesBackward0", method=False, onnx="MaxPool@12", doc=MAX_DOC.format(n=2),
    gradient=(
        lambda g, input, result, kernel_size, stride, padding, dilation: max_pool_backward(
            g, input, result, kernel_size, stride, padding, dilation
        ),
    ),
)  # fmt: skip
define(
    "max_pool3d(Tensor input, int[3] kernel_size, int[3] stride, int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
    type_rule=lambda input, **a: _pooled_type("max_pool3d", input, float_only=False, **a),
    reference=_max_pool_reference, eager=_max_pool_eager,
    cost="pooling", flops=_pool_flops, node_name="MaxPool3DWithIndicesBackward0", method=False, onnx="MaxPool@12", doc=MAX_DOC.format(n=3),
    gradient=(
        lambda g, input, result, kernel_size, stride, padding, dilation: max_pool_backward(
            g, input, result, kernel_size, stride, padding, dilation
        ),
    ),
)  # fmt: skip
define(
    "max_pool_backward(Tensor grad, Tensor input, Tensor output, int[] kernel_size, int[] stride, int[] padding, int[] dilation) -> Tensor",
    type_rule=lambda grad, input, output, **a: grad.with_shape(input.shape), reference=_max_backward_reference, eager=_max_backward_eager,
    cost="pooling", method=False, function=False,
    gradient=(
        lambda g, input, grad_shape, kernel_size, stride, padding, dilation: max_pool_gather(
            g, input, kernel_size, stride, padding, dilation, grad_shape[-len(kernel_size):]
        ),
        NOT_DIFFERENTIABLE,
        NOT_DIFFERENTIABLE,
    ),
    doc="""The gradient of max_pool's input: each window's gradient at the place of its maximum.

Linear in `grad`; its derivative in the input is zero wherever it exists.""",
)  # fmt: skip
define(
    "max_pool_gather(Tensor source, Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, Shape size) -> Tensor",
    type_rule=lambda source, input, kernel_size, stride, padding, dilation, size: source.with_shape(
        (*input.shape[: input.ndim - len(size)], *size)
    ),
    reference=_max_gather, cost="pooling", method=False, function=False,
    gradient=(
        lambda g, input, kernel_size, stride, padding, dilation: max_pool_backward(
            g, input, max_pool_gather(input, input, kernel_size, stride, padding, dilation, g.shape[-len(kernel_size):]),
            kernel_size, stride, padding, dilation,
        ),
        NOT_DIFFERENTIABLE,
    ),
    doc="For each window the element of `source` where `input` has the window's maximum; `size` is the output's spatial shape.",
)  # fmt: skip
define(
    "max_pool_indices(Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, Shape size) -> Tensor",
    type_rule=lambda input, kernel_size, stride, padding, dilation, size: input.with_shape(
        (*input.shape[: input.ndim - len(size)], *size)
    ).with_dtype(dtypes.int64),
    reference=_max_indices, cost="pooling", method=False, function=False, gradient=NOT_DIFFERENTIABLE,
    doc="The flat position of each window's maximum within the spatial dimensions: what `max_pool(…, return_indices=True)` gives second.",
)  # fmt: skip

# ---- means ---------------------------------------------------------------------------------------------------------------------------


def window_counts(size: int, out: int, k: int, s: int, p: int, include_pad: bool) -> np.ndarray:
    """How many positions each window along one dimension counts."""
    start = np.arange(out) * s - p
    end = np.minimum(start + k, size + p)
    return end - start if include_pad else np.minimum(end, size) - np.maximum(start, 0)


def scale_means(y: Array, space: Ints, kernel: Ints, stride: Ints, padding: Ints, include_pad: bool, divisor: int | None) -> Array:
    """Divide sums over windows by what their windows count."""
    n = len(kernel)
    out = y.shape[y.ndim - n :]
    counts = [window_counts(*each, include_pad) for each in zip(space, out, kernel, stride, padding, strict=True)]
    if y.dtype.kind != "f":  # whole numbers: rounded towards zero
        total = divisor if divisor is not None else functools.reduce(np.multiply.outer, counts)
        quotient = np.abs(y) // np.abs(total)
        return np.where((y < 0) != np.less(total, 0), -quotient, quotient)
    if divisor is not None:
        return y / y.dtype.type(divisor)
    if all((c == c[0]).all() for c in counts):
        return y / y.dtype.type(np.prod([c[0] for c in counts]))
    total = counts[0].reshape((-1,) + (1,) * (n - 1))
    for i, c in enumerate(counts[1:], 1):
        total = total * c.reshape((-1,) + (1,) * (n - 1 - i))
    return y / total.astype(y.dtype)


def _avg_pool(
    input: Array, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, count_include_pad: bool, divisor_override: int | None
) -> Array:
    n = len(kernel_size)
    y = input
    for i in range(n):
        axis = input.ndim - n + i
        out = pooled_size(input.shape[axis], kernel_size[i], stride[i], padding[i], 1, ceil_mode)
        y = pool_axis(y, axis, out, kernel_size[i], stride[i], padding[i], 1, np.add, 0)
    return scale_means(y, input.shape[input.ndim - n :], kernel_size, stride, padding, count_include_pad, divisor_override)


def spread_axis(g: Array, axis: int, size: int, k: int, s: int, p: int) -> Array:
    """The adjoint of `pool_axis` for sums."""
    lead = (slice(None),) * axis
    result = np.zeros_like(g, shape=(*g.shape[:axis], size, *g.shape[axis + 1 :]))
    for at in range(k):
        o, i = tap_range(at, size, g.shape[axis], s, p, 1)
        target = result[(*lead, i)]
        np.add(target, g[(*lead, o)], out=target)
    return result


def _avg_pool_backward(
    grad: Array, size: Ints, kernel_size: Ints, stride: Ints, padding: Ints, count_include_pad: bool, divisor_override: int | None
) -> Array:
    n = len(kernel_size)
    g = scale_means(grad, size, kernel_size, stride, padding, count_include_pad, divisor_override)
    for i in range(n):
        g = spread_axis(g, grad.ndim - n + i, size[i], kernel_size[i], stride[i], padding[i])
    return g


def _avg_type(name: str, input: Any, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, divisor_override: Any) -> TensorType:
    if divisor_override == 0:
        raise ValueRangeError(f"{name}: divisor_override must not be 0")
    return _pooled_type(name, input, kernel_size, stride, padding, (1,) * len(kernel_size), ceil_mode, True)


@helper
def avg_pool_gradient(
    g: Any, input_shape: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: Any, divisor_override: Any
) -> Any:
    """The rule of all avg_pool records."""
    size = input_shape[-len(kernel_size) :]
    return avg_pool_backward(g, size, kernel_size, stride, padding, count_include_pad, divisor_override)


AVG_DOC = """The mean of each window of `kernel_size` over the last {n} dimensions of (N, C, *space) or (C, *space).

Padding counts as zeros unless `count_include_pad` is False; `divisor_override` replaces the count. Floating-point
tensors, and int64, where means are rounded towards zero."""

define(
    """avg_pool2d(Tensor input, int[2] kernel_size, int[2] stride, int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True,
       int? divisor_override=None) -> Tensor""",
    type_rule=lambda input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: _avg_type(
        "avg_pool2d", input, kernel_size, stride, padding, ceil_mode, divisor_override
    ),
    reference=_avg_pool, cost="pooling", flops=_pool_flops, node_name="AvgPool2DBackward0", method=False, onnx="AveragePool@11",
    gradient=(
        lambda g, input_shape, kernel_size, stride, padding, count_include_pad, divisor_override: avg_pool_gradient(
            g, input_shape, kernel_size, stride, padding, count_include_pad, divisor_override
        ),
    ),
    doc=AVG_DOC.format(n=2),
)  # fmt: skip
define(
    """avg_pool3d(Tensor input, int[3] kernel_size, int[3] stride, int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True,
       int? divisor_override=None) -> Tensor""",
    type_rule=lambda input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: _avg_type(
        "avg_pool3d", input, kernel_size, stride, padding, ceil_mode, divisor_override
    ),
    reference=_avg_pool, cost="pooling", flops=_pool_flops, node_name="AvgPool3DBackward0", method=False, onnx="AveragePool@11",
    gradient=(
        lambda g, input_shape, kernel_size, stride, padding, count_include_pad, divisor_override: avg_pool_gradient(
            g, input_shape, kernel_size, stride, padding, count_include_pad, divisor_override
        ),
    ),
    doc=AVG_DOC.format(n=3),
)  # fmt: skip
define(
    """avg_pool_backward(Tensor grad, Shape size, int[] kernel_size, int[] stride, int[] padding, bool count_include_pad,
       int? divisor_override) -> Tensor""",
    type_rule=lambda grad, size, **a: grad.with_shape((*grad.shape[: grad.ndim - len(size)], *size)),
    reference=_avg_pool_backward, cost="pooling", method=False, function=False,
    gradient=(
        lambda g, grad_shape, kernel_size, stride, padding, count_include_pad, divisor_override: avg_pool_again(
            g, grad_shape, kernel_size, stride, padding, count_include_pad, divisor_override
        ),
    ),
    doc="The gradient of avg_pool's input; `size` is the input's spatial shape. Linear.",
)  # fmt: skip


@helper
def avg_pool_again(
    g: Any, grad_shape: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: Any, divisor_override: Any
) -> Any:
    """The adjoint of avg_pool_backward: avg_pool itself. Whether sizes were rounded up shows in the output's shape."""
    n = len(kernel_size)
    space = g.shape[-n:]
    lower = tuple((space[i] + 2 * padding[i] - kernel_size[i]) // stride[i] + 1 for i in range(n))
    ceil_mode = lower != tuple(grad_shape[-n:])
    if n == 2:
        return avg_pool2d(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return avg_pool3d(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


# ---- adaptive forms --------------------------------------------------------------------------------------------------------------------


def bins(size: int, out: int) -> list[tuple[int, int]]:
    """The stretch of the input that each output along one dimension sees."""
    return [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def _adaptive_type(name: str, n: int, input: Any, output_size: Ints, float_only: bool) -> TensorType:
    t = tensor_operand(name, input, "input")
    if t.ndim not in (n + 1, n + 2):
        raise ShapeError(f"{name}: the input must have {n + 1} or {n + 2} dimensions, not shape {tuple(t.shape)}")
    if t.dtype is dtypes.bool_ or (float_only and not t.dtype.is_floating_point):
        raise DTypeError(f"{name} does not take {t.dtype.name} tensors; convert with .to(dtype)")
    if len(output_size) != n or any(type(k) is int and k < 0 for k in output_size):
        raise ShapeError(f"{name}: output_size must be {n} sizes, not {output_size}")
    if any(type(k) is int and k == 0 for k in t.shape[t.ndim - n :]):
        raise ShapeError(f"{name}: the input of shape {tuple(t.shape)} has an empty spatial dimension")
    return t.with_shape((*t.shape[: t.ndim - n], *output_size))


def _adaptive_avg(input: Array, output_size: Ints) -> Array:
    n = len(output_size)
    y = input
    for i, out in enumerate(output_size):
        axis = input.ndim - n + i
        size = y.shape[axis]
        if out and size % out == 0:
            k = size // out
            y = pool_axis(y, axis, out, k, k, 0, 1, np.add, 0)
            y /= y.dtype.type(k)
            continue
        lead = (slice(None),) * axis
        result = np.empty_like(y, shape=(*y.shape[:axis], out, *y.shape[axis + 1 :]))
        for j, (a, b) in enumerate(bins(size, out)):
            result[(*lead, j)] = np.add.reduce(y[(*lead, slice(a, b))], axis=axis) / y.dtype.type(b - a)
        y = result
    return y


def _adaptive_avg_backward(grad: Array, size: Ints) -> Array:
    n = len(size)
    g = grad
    for i, full in enumerate(size):
        axis = grad.ndim - n + i
        lead = (slice(None),) * axis
        result = np.zeros_like(g, shape=(*g.shape[:axis], full, *g.shape[axis + 1 :]))
        for j, (a, b) in enumerate(bins(full, g.shape[axis])):
            target = result[(*lead, slice(a, b))]
            np.add(target, g[(*lead, slice(j, j + 1))] / g.dtype.type(b - a), out=target)
        g = result
    return g


define(
    "adaptive_avg_pool2d(Tensor input, Shape output_size) -> Tensor",
    type_rule=lambda input, output_size: _adaptive_type("adaptive_avg_pool2d", 2, input, output_size, True),
    reference=_adaptive_avg, cost="pooling", node_name="AdaptiveAvgPool2DBackward0", method=False,
    gradient=(lambda g, input_shape: adaptive_avg_pool_backward(g, input_shape[-2:]),),
    doc="Means over (H, W) so that the output has `output_size`: output i sees inputs floor(i * H / out) to ceil((i + 1) * H / out).",
)  # fmt: skip
define(
    "adaptive_avg_pool3d(Tensor input, Shape output_size) -> Tensor",
    type_rule=lambda input, output_size: _adaptive_type("adaptive_avg_pool3d", 3, input, output_size, True),
    reference=_adaptive_avg, cost="pooling", node_name="AdaptiveAvgPool3DBackward0", method=False,
    gradient=(lambda g, input_shape: adaptive_avg_pool_backward(g, input_shape[-3:]),),
    doc="Means over (D, H, W) so that the output has `output_size`.",
)  # fmt: skip


@helper
def adaptive_avg_pool_again(g: Any, grad_shape: Any, n: Any) -> Any:
    """The adjoint of adaptive_avg_pool_backward."""
    return adaptive_avg_pool2d(g, grad_shape[-2:]) if n == 2 else adaptive_avg_pool3d(g, grad_shape[-3:])


define(
    "adaptive_avg_pool_backward(Tensor grad, Shape size) -> Tensor",
    type_rule=lambda grad, size: grad.with_shape((*grad.shape[: grad.ndim - len(size)], *size)),
    reference=_adaptive_avg_backward, cost="pooling", method=False, function=False,
    gradient=(lambda g, grad_shape, size: adaptive_avg_pool_again(g, grad_shape, len(size)),),
    doc="The gradient of adaptive_avg_pool's input; `size` is the input's spatial shape. Linear.",
)  # fmt: skip


def _adaptive_max(input: Array, output_size: Ints) -> tuple[Array, Array]:
    n = len(output_size)
    space = input.shape[input.ndim - n :]
    lead = input.shape[: input.ndim - n]
    values = np.empty((*lead, *output_size), input.dtype)
    indices = np.empty(values.shape, np.int64)
    places = np.arange(int(np.prod(space))).reshape(space)
    edges = [bins(size, out) for size, out in zip(space, output_size, strict=True)]
    for at in np.ndindex(*output_size):
        where = tuple(slice(*e[i]) for e, i in zip(edges, at, strict=True))
        window = input[(..., *where)].reshape((*lead, -1))
        best = np.argmax(window, axis=-1)
        values[(..., *at)] = np.take_along_axis(window, best[..., None], -1)[..., 0]
        indices[(..., *at)] = places[where].reshape(-1)[best]
    return values, indices


@helper
def scatter_planes(g: Any, indices: Any, input_shape: Any, dtype: Any, n: Any) -> Any:
    """Gradients added at flat positions of each plane."""
    lead = input_shape[:-n]
    plane = (*lead, count_of(input_shape[-n:]))
    many = (*lead, count_of(g.shape[-n:]))
    return reshape(scatter_add(zeros(plane, dtype=dtype), len(lead), reshape(indices, many), reshape(g, many)), input_shape)


define(
    "adaptive_max_pool2d(Tensor input, Shape output_size) -> (Tensor values, Tensor indices)",
    type_rule=lambda input, output_size: (
        (t := _adaptive_type("adaptive_max_pool2d", 2, input, output_size, False)), t.with_dtype(dtypes.int64),
    ),
    reference=_adaptive_max, cost="pooling", node_name="AdaptiveMaxPool2DBackward0", method=False,
    gradient=(lambda g_values, indices, input_shape, input_dtype: scatter_planes(g_values, indices, input_shape, input_dtype, 2),),
    doc="Maxima over (H, W) so that the output has `output_size`, and their flat positions in the plane; the first of equal ones counts.",
)  # fmt: skip
define(
    "adaptive_max_pool3d(Tensor input, Shape output_size) -> (Tensor values, Tensor indices)",
    type_rule=lambda input, output_size: (
        (t := _adaptive_type("adaptive_max_pool3d", 3, input, output_size, False)), t.with_dtype(dtypes.int64),
    ),
    reference=_adaptive_max, cost="pooling", node_name="AdaptiveMaxPool3DBackward0", method=False,
    gradient=(lambda g_values, indices, input_shape, input_dtype: scatter_planes(g_values, indices, input_shape, input_dtype, 3),),
    doc="Maxima over (D, H, W) so that the output has `output_size`, and their flat positions.",
)  # fmt: skip
