"""Padding: with a constant, by reflection, with the border's value, around in a circle. Pads are given last dimension first, as in
PyTorch."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.types import TensorType
from twofold.ops.record import define, helper
from twofold.ops.views import along
from twofold.support.errors import ShapeError, ValueRangeError


def pads_by_dim(pad: tuple[Any, ...], ndim: int) -> list[tuple[int, Any, Any]]:
    """(dimension, before, after) of a pad list."""
    return [(ndim - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]


def padded_shape(name: str, shape: tuple[Any, ...], pad: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape after padding; raises ShapeError for odd or too many pads and for negative results."""
    if len(pad) % 2 or len(pad) > 2 * len(shape):
        raise ShapeError(f"{name}: {pad} needs an even number of values, at most two for each dimension of the tensor of shape {shape}")
    result = list(shape)
    for d, before, after in pads_by_dim(pad, len(shape)):
        result[d] = result[d] + before + after
        if type(result[d]) is int and result[d] < 0:
            raise ShapeError(f"{name}: pads {before} and {after} leave dimension {d} of shape {shape} with a negative size")
    return tuple(result)


def _constant_pad_nd(input: Any, pad: tuple[int, ...], value: Any = 0.0) -> Any:
    a = np.asarray(input)
    shape = list(a.shape)
    source, target = [slice(None)] * a.ndim, [slice(None)] * a.ndim
    for d, before, after in pads_by_dim(pad, a.ndim):
        n = a.shape[d]
        shape[d] = n + before + after
        source[d] = slice(max(0, -before), max(n - max(0, -after), max(0, -before)))
        start = max(0, before)
        target[d] = slice(start, start + source[d].stop - source[d].start)
    result = np.full(shape, value, a.dtype) if value else np.zeros(shape, a.dtype)
    result[tuple(target)] = a[tuple(source)]
    return result


define(
    "constant_pad_nd(Tensor input, int[] pad, Scalar value=0) -> Tensor",
    type_rule=lambda input, pad, value: input.with_shape(padded_shape("pad", input.shape, pad)),
    reference=_constant_pad_nd, any_dtype=True, cost="copy", method=False, onnx="Pad@13",
    gradient=(lambda g, pad: constant_pad_nd(g, negated(pad), 0),),
    doc=(
        "The tensor with `value` around it: `pad` holds (before, after) of the last dimension, then of the one before it, …; "
        "negative pads cut off."
    ),
)  # fmt: skip


def _edge_shape(name: str, mode: str, count: int, input: TensorType, pad: tuple[int, ...]) -> TensorType:
    """Type rule of the other modes: they pad exactly the last `count` dimensions of a tensor with 1 or 2 more."""
    if len(pad) != 2 * count or not count + 1 <= input.ndim <= count + 2:
        raise ShapeError(
            f"pad: mode {mode!r} pads the last {count} dimensions of a tensor of {count + 1} or {count + 2} with {2 * count} values, "
            f"not {pad} of a tensor of shape {input.shape}"
        )
    for d, before, after in pads_by_dim(pad, input.ndim):
        n = input.shape[d]
        if type(n) is not int:
            continue
        limit = {"reflect": n - 1, "circular": n}.get(mode)
        if limit is not None and max(before, after) > limit:
            raise ShapeError(f"pad: mode {mode!r} can add at most {limit} to dimension {d} of size {n}, not {max(before, after)}")
        if mode == "circular" and min(before, after) < 0:
            raise ValueRangeError(f"pad: mode {mode!r} takes no negative pads: {pad}")
        if n == 0:
            raise ShapeError(f"pad: mode {mode!r} has nothing to repeat in dimension {d} of size 0 (tensor of shape {input.shape})")
    return input.with_shape(padded_shape("pad", input.shape, pad))


def edge_positions(mode: str, n: int, before: int, after: int) -> np.ndarray:
    """For each position after padding, the position it copies."""
    i = np.arange(-before, n + after)
    if mode == "circular":
        return i % n
    if mode == "replicate":
        return np.clip(i, 0, n - 1)
    i = np.abs(i)
    return np.where(i >= n, 2 * (n - 1) - i, i)


def pad_edges(input: Any, pad: tuple[int, ...], mode: str) -> Any:
    """Padding by repeating elements of the tensor itself."""
    a = input if pad else np.array(input)
    for d, before, after in pads_by_dim(pad, a.ndim):
        a = a.take(edge_positions(mode, a.shape[d], before, after), axis=d)
    return a


def fold_edges(grad: Any, input_sizes: tuple[int, ...], pad: tuple[int, ...], mode: str) -> Any:
    """The adjoint of `pad_edges`: what was added goes back to where it was copied from."""
    g = grad
    for d, before, after in pads_by_dim(pad, g.ndim):
        n = input_sizes[d]
        low, high = max(0, -before), n - max(0, -after)  # what negative pads leave
        first, last = max(0, before), max(0, before) + max(0, high - low)
        result = np.zeros((*g.shape[:d], n, *g.shape[d + 1 :]), g.dtype)
        if last > first:
            result[along(d, slice(low, high))] = g[along(d, slice(first, last))]
        for i, source in enumerate(edge_positions(mode, n, before, after)):
            if not first <= i < last:
                result[along(d, int(source))] += g[along(d, i)]
        g = result
    return g


@helper
def pad_again(g: Any, pad: Any, mode: Any) -> Any:
    """Padding in a mode other than constant, by its name."""
    if mode == "circular":
        return circular_pad(g, pad)
    functions = (reflection_pad1d, reflection_pad2d, reflection_pad3d, replication_pad1d, replication_pad2d, replication_pad3d)
    return functions[len(pad) // 2 - 1 + (0 if mode == "reflect" else 3)](g, pad)


def _circular_type(input: TensorType, pad: tuple[int, ...]) -> TensorType:
    return _edge_shape("circular_pad", "circular", len(pad) // 2, input, pad)


define(
    "circular_pad(Tensor input, int[] pad) -> Tensor",
    type_rule=_circular_type, reference=lambda input, pad: pad_edges(input, pad, "circular"), any_dtype=True, cost="copy",
    gradient=(lambda g, input_shape, pad: pad_backward(g, input_shape, pad, "circular"),), method=False, function=False, onnx="Pad@19",
    doc="The tensor continued around: what follows its end is its beginning.",
)  # fmt: skip


def _define_edges(name: str, mode: str, count: int, reference: Any, gradient: Any, text: str) -> None:
    define(
        f"{name}{count}d(Tensor input, int[] pad) -> Tensor",
        type_rule=lambda input, pad: _edge_shape(f"{name}{count}d", mode, count, input, pad),
        reference=reference, gradient=(gradient,), node_name=f"{name.title().replace('_', '')}{count}DBackward0", any_dtype=True,
        cost="copy",
        method=False, function=False, onnx="Pad@13", doc=f"{text} in the last {count} dimension(s); `pad` as in `constant_pad_nd`.",
    )  # fmt: skip


for _count in (1, 2, 3):
    _define_edges(
        "reflection_pad", "reflect", _count,
        lambda input, pad: pad_edges(input, pad, "reflect"),
        lambda g, input_shape, pad: pad_backward(g, input_shape, pad, "reflect"),
        "The tensor continued by its mirror image (the border is not repeated)",
    )  # fmt: skip
    _define_edges(
        "replication_pad", "replicate", _count,
        lambda input, pad: pad_edges(input, pad, "replicate"),
        lambda g, input_shape, pad: pad_backward(g, input_shape, pad, "replicate"),
        "The tensor continued by its border's value",
    )  # fmt: skip
define(
    "pad_backward(Tensor grad_output, Shape input_sizes, int[] pad, str mode) -> Tensor",
    type_rule=lambda grad_output, input_sizes, pad, mode: grad_output.with_shape(input_sizes), reference=fold_edges, cost="copy",
    gradient=(lambda g, pad, mode: pad_again(g, pad, mode),), method=False, function=False,
    doc="The adjoint of padding in mode reflect, replicate or circular.",
)  # fmt: skip
