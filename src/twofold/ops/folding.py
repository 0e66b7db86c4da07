"""Sliding blocks as columns and back (`unfold`, `fold` of nn.functional), maxima put back where they came from, and fractional pooling."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, common_device
from twofold.ops.pooling import lowest, taps
from twofold.ops.record import define, helper
from twofold.ops.typing import tensor_operand
from twofold.support.errors import DTypeError, IndexOutOfRange, ShapeError, ValueRangeError

Ints = tuple[Any, ...]
Array = Any

# ---- columns of blocks -----------------------------------------------------------------------------------------------------------------


def block_counts(space: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Ints:
    """How many blocks fit along each dimension."""
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in zip(space, kernel, dilation, padding, stride, strict=True))


def _check_blocks(name: str, space: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Ints:
    for what, values, least in (("kernel_size", kernel, 1), ("dilation", dilation, 1), ("padding", padding, 0), ("stride", stride, 1)):
        if min(values) < least:
            raise ValueRangeError(f"{name}: {what} must be at least {least}, not {values}")
    counts = block_counts(space, kernel, dilation, padding, stride)
    if any(type(c) is int and c < 1 for c in counts):
        raise ShapeError(f"{name}: blocks of {kernel} (dilation {dilation}, padding {padding}) do not fit the size {tuple(space)}")
    return counts


def _im2col_type(input: Any, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> TensorType:
    t = tensor_operand("unfold", input, "input")
    if t.ndim not in (3, 4) or any(type(n) is int and n == 0 for n in t.shape[-3:]):
        raise ShapeError(f"unfold: the input must have the shape (N, C, H, W) or (C, H, W) with C, H, W above 0, not {tuple(t.shape)}")
    counts = _check_blocks("unfold", t.shape[-2:], kernel_size, dilation, padding, stride)
    return t.with_shape((*t.shape[:-3], t.shape[-3] * kernel_size[0] * kernel_size[1], counts[0] * counts[1]))


def _im2col(input: Array, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
    space = input.shape[-2:]
    out = block_counts(space, kernel_size, dilation, padding, stride)
    columns = np.zeros((*input.shape[:-2], kernel_size[0] * kernel_size[1], *out), input.dtype)
    for k, (o, i) in enumerate(taps(space, out, kernel_size, stride, padding, dilation)):
        columns[(..., k, *o[1:])] = input[i]
    return columns.reshape((*input.shape[:-3], input.shape[-3] * kernel_size[0] * kernel_size[1], out[0] * out[1]))


def _col2im_type(input: Any, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> TensorType:
    t = tensor_operand("fold", input, "input")
    if len(output_size) != 2 or any(type(n) is int and n < 1 for n in output_size):
        raise ShapeError(f"fold: output_size must be two positive sizes, not {output_size}")
    if t.ndim not in (2, 3) or any(type(n) is int and n == 0 for n in t.shape[-2:]):
        raise ShapeError(f"fold: the input must have the shape (N, C * kernel, L) or (C * kernel, L), not {tuple(t.shape)}")
    counts = _check_blocks("fold", output_size, kernel_size, dilation, padding, stride)
    rows, block = t.shape[-2], kernel_size[0] * kernel_size[1]
    if type(rows) is int and rows % block:
        raise ShapeError(f"fold: dimension -2 of the input ({rows}) must divide by the {block} elements of a block of {kernel_size}")
    if t.shape[-1] != counts[0] * counts[1]:
        raise ShapeError(f"fold: {counts[0] * counts[1]} blocks {tuple(counts)} make the size {tuple(output_size)}, not {t.shape[-1]}")
    return t.with_shape((*t.shape[:-2], rows // block, *output_size))


def _col2im(input: Array, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
    out = block_counts(output_size, kernel_size, dilation, padding, stride)
    block = kernel_size[0] * kernel_size[1]
    channels = input.shape[-2] // block
    columns = input.reshape((*input.shape[:-2], channels, block, *out))
    result = np.zeros((*input.shape[:-2], channels, *output_size), input.dtype)
    for k, (o, i) in enumerate(taps(output_size, out, kernel_size, stride, padding, dilation)):
        target = result[i]
        np.add(target, columns[(..., k, *o[1:])], out=target)
    return result


define(
    "im2col(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
    type_rule=_im2col_type, reference=_im2col, cost="copy", method=False, function=False,
    gradient=(
        lambda g, input_shape, kernel_size, dilation, padding, stride: col2im(
            g, input_shape[-2:], kernel_size, dilation, padding, stride
        ),
    ),
    doc="The blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel, L), L the number of blocks. Zeros stand for padding.",
)  # fmt: skip
define(
    "col2im(Tensor input, Shape output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
    type_rule=_col2im_type, reference=_col2im, cost="scatter", method=False, function=False, node_name="Col2ImBackward0",
    gradient=(lambda g, kernel_size, dilation, padding, stride: im2col(g, kernel_size, dilation, padding, stride),),
    doc="The adjoint of `im2col`: columns (N, C * kernel, L) or (C * kernel, L) added up at their blocks' places in (N, C, *output_size).",
)  # fmt: skip

# ---- maxima put back ---------------------------------------------------------------------------------------------------------------------


def _unpool_type(name: str, input: Any, indices: Any, output_size: Ints, n: int) -> TensorType:
    t, at = tensor_operand(name, input, "input"), tensor_operand(name, indices, "indices")
    if t.ndim not in (n + 1, n + 2):
        raise ShapeError(f"{name}: the input must have {n + 1} or {n + 2} dimensions, not the shape {tuple(t.shape)}")
    if at.dtype is not dtypes.int64:
        raise DTypeError(f"{name}: the indices must be int64, not {at.dtype.name}")
    if at.shape != t.shape:
        raise ShapeError(f"{name}: the indices have shape {tuple(at.shape)}, the input {tuple(t.shape)}; they must agree")
    if len(output_size) != n or any(type(k) is int and k < 0 for k in output_size):
        raise ShapeError(f"{name}: output_size must be {n} sizes, not {output_size}")
    if any(type(k) is int and k == 0 for k in t.shape[1:]):
        raise ShapeError(f"{name}: the input of shape {tuple(t.shape)} has an empty dimension that is not the batch's")
    common_device((t, at), name)
    return t.with_shape((*t.shape[: t.ndim - n], *output_size))


def _unpool(input: Array, indices: Array, output_size: Ints) -> Array:
    n = len(output_size)
    lead = input.shape[: input.ndim - n]
    count = int(np.prod(output_size, dtype=np.int64))
    planes = int(np.prod(lead, dtype=np.int64))
    at = indices.reshape(planes, int(np.prod(input.shape[input.ndim - n :])))
    if at.size and (at.min() < 0 or at.max() >= count):
        raise IndexOutOfRange(f"max_unpool: an index is outside the {count} places of an output of size {tuple(output_size)}")
    result = np.zeros((planes, count), input.dtype)
    np.put_along_axis(result, at, input.reshape(at.shape), 1)
    return result.reshape((*lead, *output_size))


@helper
def take_planes(g: Any, indices: Any, n: Any) -> Any:
    """The elements at flat positions of each plane: the adjoint of putting them there."""
    lead = indices.shape[:-n]
    flat = gather(reshape(g, (*lead, count_of(g.shape[-n:]))), len(lead), reshape(indices, (*lead, count_of(indices.shape[-n:]))))
    return reshape(flat, indices.shape)


UNPOOL_DOC = """Zeros of {n} spatial dimensions `output_size` with the inputs at flat positions of their planes.

Where a position comes more than once the last element stays. Raises IndexOutOfRange for a position outside."""
define(
    "max_unpool2d(Tensor input, Tensor indices, Shape output_size) -> Tensor",
    type_rule=lambda input, indices, output_size: _unpool_type("max_unpool2d", input, indices, output_size, 2),
    reference=_unpool, any_dtype=True, cost="scatter", method=False, function=False, node_name="MaxUnpool2DBackward0", onnx="MaxUnpool@11",
    gradient=(lambda g, indices: take_planes(g, indices, 2), NOT_DIFFERENTIABLE), doc=UNPOOL_DOC.format(n=2),
)  # fmt: skip
define(
    "max_unpool3d(Tensor input, Tensor indices, Shape output_size) -> Tensor",
    type_rule=lambda input, indices, output_size: _unpool_type("max_unpool3d", input, indices, output_size, 3),
    reference=_unpool, any_dtype=True, cost="scatter", method=False, function=False, node_name="MaxUnpool3DBackward0", onnx="MaxUnpool@11",
    gradient=(lambda g, indices: take_planes(g, indices, 3), NOT_DIFFERENTIABLE), doc=UNPOOL_DOC.format(n=3),
)  # fmt: skip

# ---- fractional pooling ------------------------------------------------------------------------------------------------------------------


def _fractional_type(name: str, input: Any, samples: Any, kernel_size: Ints, output_size: Ints, n: int) -> tuple[TensorType, TensorType]:
    t, u = tensor_operand(name, input, "input"), tensor_operand(name, samples, "_random_samples")
    if t.ndim not in (n + 1, n + 2) or any(type(k) is int and k == 0 for k in t.shape[-n - 1 :]):
        raise ShapeError(f"{name}: the input must have {n + 1} or {n + 2} dimensions, all but the batch above 0, not {tuple(t.shape)}")
    if not t.dtype.is_floating_point or u.dtype is not t.dtype:
        raise DTypeError(
            f"{name}: the input and the random samples must be of one floating-point dtype, not {t.dtype.name}, {u.dtype.name}"
        )
    batch = t.shape[0] if t.ndim == n + 2 else 1
    if u.shape != (batch, t.shape[-n - 1], n):
        raise ShapeError(f"{name}: the random samples must have the shape {(batch, t.shape[-n - 1], n)}, not {tuple(u.shape)}")
    for size, k, out in zip(t.shape[-n:], kernel_size, output_size, strict=True):
        if k < 1 or (type(out) is int and out < 1):
            raise ValueRangeError(f"{name}: kernel_size {kernel_size} and output_size {output_size} must be positive")
        if type(size) is int and out + k - 1 > size:
            raise ShapeError(f"{name}: {out} windows of {k} do not fit a dimension of {size}")
    common_device((t, u), name)
    result = t.with_shape((*t.shape[:-n], *output_size))
    return result, result.with_dtype(dtypes.int64)


def window_starts(samples: Array, size: int, out: int, k: int) -> np.ndarray:
    """Where the windows along one dimension begin, for each plane: int((i + u) * a) - int(u * a) with a = (size - k) / (out - 1), the last
    one at the end (B. Graham, arXiv:1412.6071, as PyTorch computes it)."""
    starts = np.full((*samples.shape, out), size - k, np.int64)
    if out > 1:
        kind = samples.dtype.type
        a = kind(size - k) / kind(out - 1)
        i = np.arange(out - 1).astype(samples.dtype)
        starts[..., :-1] = ((i + samples[..., None]) * a).astype(np.int64) - (samples * a).astype(np.int64)[..., None]
    return starts


def _fractional(input: Array, samples: Array, kernel_size: Ints, output_size: Ints) -> tuple[Array, Array]:
    n = len(kernel_size)
    space = input.shape[-n:]
    count = int(np.prod(input.shape[:-n]))
    planes = input.reshape(count, int(np.prod(space)))
    uniform = samples.reshape(count, n)
    order = (
        (1, 0) if n == 2 else (0, 1, 2)
    )  # PyTorch's samples of two dimensions are (width, height), those of three (depth, height, width)
    starts = [window_starts(uniform[:, order[i]], space[i], int(output_size[i]), kernel_size[i]) for i in range(n)]
    best = np.full((planes.shape[0], int(np.prod(output_size))), lowest(input.dtype), input.dtype)
    where = np.zeros(best.shape, np.int64)
    for number, at in enumerate(np.ndindex(*kernel_size)):
        place: Any = np.zeros((planes.shape[0],) + (1,) * n, np.int64)
        for i in range(n):
            shape = (planes.shape[0],) + tuple(int(output_size[i]) if j == i else 1 for j in range(n))
            place = place * space[i] + (starts[i] + at[i]).reshape(shape)
        place = place.reshape(best.shape)
        value = np.take_along_axis(planes, place, 1)
        better = (value > best) | (value != value) | (number == 0)
        best = np.where(better, value, best)
        where = np.where(better, place, where)
    shape = (*input.shape[:-n], *output_size)
    return best.reshape(shape), where.reshape(shape)


FRACTIONAL_DOC = """Maxima of windows whose places depend on random numbers (B. Graham, arXiv:1412.6071), and their flat positions.

`_random_samples` of [0, 1) have the shape (N, C, {n}). Raises ShapeError where the windows do not fit."""
define(
    "fractional_max_pool2d(Tensor input, Tensor samples, int[2] kernel_size, int[2] output_size) -> (Tensor output, Tensor indices)",
    type_rule=lambda input, samples, kernel_size, output_size: _fractional_type(
        "fractional_max_pool2d", input, samples, kernel_size, output_size, 2
    ),
    reference=_fractional, cost="pooling", method=False, function=False, node_name="FractionalMaxPool2DBackward0",
    gradient=(
        lambda g_output, indices, input_shape, input_dtype: scatter_planes(g_output, indices, input_shape, input_dtype, 2),
        NOT_DIFFERENTIABLE,
    ),
    doc=FRACTIONAL_DOC.format(n=2),
)  # fmt: skip
define(
    "fractional_max_pool3d(Tensor input, Tensor samples, int[3] kernel_size, int[3] output_size) -> (Tensor output, Tensor indices)",
    type_rule=lambda input, samples, kernel_size, output_size: _fractional_type(
        "fractional_max_pool3d", input, samples, kernel_size, output_size, 3
    ),
    reference=_fractional, cost="pooling", method=False, function=False, node_name="FractionalMaxPool3DBackward0",
    gradient=(
        lambda g_output, indices, input_shape, input_dtype: scatter_planes(g_output, indices, input_shape, input_dtype, 3),
        NOT_DIFFERENTIABLE,
    ),
    doc=FRACTIONAL_DOC.format(n=3),
)  # fmt: skip
