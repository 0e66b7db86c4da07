"""Resampling of the last 1, 2 or 3 dimensions of (N, C, *space): what `interpolate` chooses from.

Every mode is separable: along each dimension an output is a weighted sum of few inputs. The places and weights depend on sizes alone and
are kept, as *layers*: layer k holds the k-th input of every output that has so many. The gradient is the same with rows and columns
exchanged, so it is linear, and its gradient is the resampling itself.

Coordinates follow PyTorch's documentation of `interpolate`; the cubic kernel is R. Keys's, IEEE Trans. ASSP 29 (1981), with a = -0.75
(-0.5 where antialiased).
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined"

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.types import TensorType
from twofold.ops.record import define, helper
from twofold.ops.typing import tensor_operand
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

Array = Any
Ints = tuple[Any, ...]
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(outputs, inputs, weights), one entry for each use of an input by an output."""
Layer = tuple[Any, Any, np.ndarray | None]
"""(outputs or None for all, their inputs, weights or None for ones); places as slices where their distances are equal."""


# ---- which inputs, and with what weights -----------------------------------------------------------------------------------------------


def step_between(size: int, out: int, align_corners: bool, scale: float | None) -> float:
    """How far apart, in inputs, two neighbouring outputs are."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else size / out


def nearest_pairs(size: int, out: int, scale: float | None, exact: bool) -> Pairs:
    """The nearest input; `exact` counts from the pixels' centres. Single precision, as PyTorch computes it, so that ties fall alike."""
    at = np.arange(out)
    step = np.float32(step_between(size, out, False, scale))
    if not exact and (out == size or out == 2 * size):
        places = at * size // out
    else:
        places = np.floor((at.astype(np.float32) + np.float32(0.5 if exact else 0.0)) * step).astype(np.int64)
    return at, np.minimum(places, size - 1), np.ones(out)


def linear_pairs(size: int, out: int, align_corners: bool, scale: float | None) -> Pairs:
    """Two neighbours, by their distances."""
    at = np.arange(out)
    step = step_between(size, out, align_corners, scale)
    place = at * step if align_corners else np.maximum(step * (at + 0.5) - 0.5, 0.0)
    low = np.minimum(place.astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    right = np.clip(place - low, 0.0, 1.0)
    return np.concatenate([at, at]), np.concatenate([low, high]), np.concatenate([1.0 - right, right])


def cubic(x: np.ndarray, a: float) -> np.ndarray:
    """Keys's kernel, zero from 2 on."""
    x = np.abs(x)
    near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    far = ((x - 5.0) * x + 8.0) * a * x - 4.0 * a
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))


def cubic_pairs(size: int, out: int, align_corners: bool, scale: float | None) -> Pairs:
    """Four neighbours; those outside are the border's."""
    at = np.arange(out)
    step = step_between(size, out, align_corners, scale)
    place = at * step if align_corners else step * (at + 0.5) - 0.5
    low = np.floor(place).astype(np.int64)
    taps = [low + k for k in (-1, 0, 1, 2)]
    weights = [cubic(place - t, -0.75) for t in taps]
    return np.tile(at, 4), np.clip(np.concatenate(taps), 0, size - 1), np.concatenate(weights)


def kernel(mode: str, x: np.ndarray) -> np.ndarray:
    """The antialiasing kernel of a mode: a triangle, Keys's cubic, or Lanczos's windowed sinc with three lobes."""
    if mode == "bilinear":
        return np.maximum(1.0 - np.abs(x), 0.0)
    return cubic(x, -0.5) if mode == "bicubic" else np.where(np.abs(x) < 3.0, np.sinc(x) * np.sinc(x / 3.0), 0.0)


def antialiased_pairs(size: int, out: int, align_corners: bool, scale: float | None, mode: str) -> Pairs:
    """All inputs under the kernel, which is as wide as an output where the sizes shrink; weights add up to 1."""
    step = step_between(size, out, align_corners, scale)
    wide = max(step, 1.0)
    support = {"bilinear": 1.0, "bicubic": 2.0, "lanczos": 3.0}[mode] * wide
    rows, columns, weights = [], [], []
    for i in range(out):
        centre = step * (i + 0.5)
        first, last = max(int(centre - support + 0.5), 0), min(int(centre + support + 0.5), size)
        at = np.arange(first, last)
        x = (at - centre + 0.5) / wide
        w = kernel(mode, x)
        total = w.sum()
        rows.append(np.full(len(at), i))
        columns.append(at)
        weights.append(w / total if total else w)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)


def pairs(size: int, out: int, mode: str, align_corners: bool, scale: float | None) -> Pairs:
    """The map along one dimension."""
    if mode in ("nearest", "nearest-exact"):
        return nearest_pairs(size, out, scale, mode == "nearest-exact")
    if mode.endswith("_aa"):
        return antialiased_pairs(size, out, align_corners, scale, mode.removesuffix("_aa"))
    return cubic_pairs(size, out, align_corners, scale) if mode == "bicubic" else linear_pairs(size, out, align_corners, scale)


def as_slice(places: np.ndarray) -> Any:
    """The slice that names the same places, or the places."""
    if len(places) == 1:
        return slice(int(places[0]), int(places[0]) + 1)
    step = int(places[1] - places[0])
    if step < 1 or (np.diff(places) != step).any():
        return places
    return slice(int(places[0]), int(places[-1]) + 1, step)


@lru_cache(maxsize=256)
def layers(size: int, out: int, mode: str, align_corners: bool, scale: float | None, backward: bool) -> tuple[Layer, ...]:
    """The map as layers: from `size` to `out`, or with `backward` its transpose from `out` to `size`."""
    rows, columns, weights = pairs(size, out, mode, align_corners, scale)
    rows, columns = (columns, rows) if backward else (rows, columns)
    count = size if backward else out
    order = np.argsort(rows, kind="stable")
    rows, columns, weights = rows[order], columns[order], weights[order]
    uses = np.bincount(rows, minlength=count)
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(uses) - uses, uses)
    result: list[Layer] = []
    for k in range(int(uses.max(initial=0))):
        here = rank == k
        every = int(here.sum()) == count
        same = (weights[here] == 1.0).all()
        result.append((None if every else as_slice(rows[here]), as_slice(columns[here]), None if same else weights[here]))
    return tuple(result)


# ---- applying them -----------------------------------------------------------------------------------------------------------------------


def apply_layers(x: Array, axis: int, out: int, found: tuple[Layer, ...]) -> Array:
    """The sum of the layers along one axis."""
    lead = (slice(None),) * axis
    tail = (1,) * (x.ndim - axis - 1)
    result: Array = None
    for rows, columns, weights in found:
        part = x[(*lead, columns)] if type(columns) is slice else x.take(columns, axis)
        if weights is not None:
            factor = weights.astype(x.dtype).reshape(-1, *tail)
            part = part * factor if type(columns) is slice else np.multiply(part, factor, out=part)
        if result is None and rows is None:
            result = np.array(part) if type(columns) is slice and weights is None else part
            continue
        if result is None:
            result = np.zeros((*x.shape[:axis], out, *x.shape[axis + 1 :]), x.dtype)
        if rows is None:
            result += part
        else:
            result[(*lead, rows)] += part
    return np.zeros((*x.shape[:axis], out, *x.shape[axis + 1 :]), x.dtype) if result is None else result


FEW = 8
"""Up to so many repetitions are written (or added) one strided pass each."""


def repeated(x: Array, axis: int, times: int) -> Array:
    """Each element `times` times along the axis."""
    size = x.shape[axis]
    result = np.empty((*x.shape[:axis], size * times, *x.shape[axis + 1 :]), x.dtype)
    if times <= FEW:
        lead = (slice(None),) * axis
        for k in range(times):
            result[(*lead, slice(k, None, times))] = x
    else:
        result.reshape((*x.shape[: axis + 1], times, *x.shape[axis + 1 :]))[...] = np.expand_dims(x, axis + 1)
    return result


def added(g: Array, axis: int, times: int) -> Array:
    """The adjoint of `repeated`."""
    size = g.shape[axis] // times
    if times > FEW:
        return np.add.reduce(g.reshape((*g.shape[:axis], size, times, *g.shape[axis + 1 :])), axis=axis + 1)
    lead = (slice(None),) * axis
    result = g[(*lead, slice(0, None, times))] + g[(*lead, slice(1, None, times))]
    for k in range(2, times):
        result += g[(*lead, slice(k, None, times))]
    return result


def doubled(x: Array, axis: int) -> Array:
    """Linear resampling to twice the size, centres aligned: even and odd outputs are 3/4 of one neighbour and 1/4 of the other."""
    n = x.shape[axis]
    lead: tuple[Any, ...] = (slice(None),) * axis
    result: Any = np.empty((*x.shape[:axis], 2 * n, *x.shape[axis + 1 :]), x.dtype)
    first, last = slice(0, n - 1), slice(1, n)
    quarter: Any = x * x.dtype.type(0.25)
    near: Any = x * x.dtype.type(0.75)
    np.add(near[(*lead, last)], quarter[(*lead, first)], out=result[(*lead, slice(2, None, 2))])
    np.add(near[(*lead, first)], quarter[(*lead, last)], out=result[(*lead, slice(1, -1, 2))])
    result[(*lead, 0)] = x[(*lead, 0)]
    result[(*lead, -1)] = x[(*lead, -1)]
    return result


def doubled_back(g: Array, axis: int) -> Array:
    """The adjoint of `doubled`."""
    lead: tuple[Any, ...] = (slice(None),) * axis
    even, odd = g[(*lead, slice(0, None, 2))], g[(*lead, slice(1, None, 2))]
    result: Any = (even + odd) * g.dtype.type(0.75)
    far: Any = even * g.dtype.type(0.25)
    result[(*lead, slice(0, -1))] += far[(*lead, slice(1, None))]
    result[(*lead, 0)] += far[(*lead, 0)]
    np.multiply(odd, g.dtype.type(0.25), out=far)
    result[(*lead, slice(1, None))] += far[(*lead, slice(0, -1))]
    result[(*lead, -1)] += far[(*lead, -1)]
    return result


def cheap_order(old: Ints, new: Ints) -> list[int]:
    """Dimensions in the order of work: those that shrink (the most first), then those that grow, the last, which is the slowest, first."""
    n = len(old)
    shrinking = sorted((i for i in range(n) if new[i] <= old[i]), key=lambda i: new[i] / old[i])
    return shrinking + [i for i in reversed(range(n)) if new[i] > old[i]]


def is_doubling(mode: str, old: int, new: int, align_corners: bool, scale: float | None) -> bool:
    """True where `doubled` serves."""
    return mode in ("linear", "bilinear", "trilinear") and new == 2 * old and old > 1 and not align_corners and scale in (None, 2.0)


def _forward(input: Array, size: Ints, mode: str, align_corners: bool, scales: tuple[float, ...] | None) -> Array:
    n = len(size)
    y = input
    for i in cheap_order(input.shape[input.ndim - n :], size):
        axis = input.ndim - n + i
        old, new, scale = input.shape[axis], int(size[i]), None if scales is None else scales[i]
        if mode == "nearest" and new % old == 0 and scale in (None, new / old):
            y = repeated(y, axis, new // old) if new > old else y
        elif is_doubling(mode, old, new, align_corners, scale):
            y = doubled(y, axis)
        else:
            y = apply_layers(y, axis, new, layers(old, new, mode, align_corners, scale, False))
    return np.array(y) if y is input else y


def _backward(grad: Array, size: Ints, mode: str, align_corners: bool, scales: tuple[float, ...] | None) -> Array:
    n = len(size)
    g = grad
    for i in cheap_order(grad.shape[grad.ndim - n :], size):
        axis = grad.ndim - n + i
        old, new, scale = int(size[i]), grad.shape[axis], None if scales is None else scales[i]
        if mode == "nearest" and new % old == 0 and scale in (None, new / old):
            g = added(g, axis, new // old) if new > old else g
        elif is_doubling(mode, old, new, align_corners, scale):
            g = doubled_back(g, axis)
        else:
            g = apply_layers(g, axis, old, layers(old, new, mode, align_corners, scale, True))
    return np.array(g) if g is grad else g


# ---- records -----------------------------------------------------------------------------------------------------------------------------


def _resampled_type(name: str, input: Any, size: Ints, scales: Any, n: int, any_number: bool) -> TensorType:
    t = tensor_operand(name, input, "input")
    if t.ndim != n + 2:
        raise ShapeError(f"{name}: the input must have {n + 2} dimensions (N, C, and {n} of space), not the shape {tuple(t.shape)}")
    if len(size) != n or (scales is not None and len(scales) != n):
        raise ShapeError(f"{name}: expects {n} output sizes, not {size}")
    space = t.shape[2:]
    if any(type(k) is int and k < 1 for k in (*space, *size)):
        raise ShapeError(f"{name}: input and output sizes must be positive, but are {tuple(space)} and {tuple(size)}")
    if type(t.shape[1]) is int and t.shape[1] == 0:
        raise ShapeError(f"{name}: the input of shape {tuple(t.shape)} has no channels")
    if not (t.dtype.is_floating_point or (any_number and t.dtype is dtypes.uint8)):
        raise DTypeError(f"{name} does not take {t.dtype.name} tensors; convert with .to(dtype)")
    return t.with_shape((*t.shape[:2], *size))


@helper
def resample_gradient(g: Any, size: Any, mode: Any, align_corners: Any, scales: Any) -> Any:
    """The rule of all resampling records."""
    return resample_backward(g, size, mode, align_corners, scales)


def _resampling(name: str, mode: str, n: int, node: str, doc: str, corners: bool) -> None:
    """Define one record. Its rule needs the mode as a constant in its code, so it is an attribute."""
    define(
        f"{name}(Tensor input, Shape size, str mode='{mode}', bool align_corners=False, float[]? scales=None) -> Tensor",
        type_rule=lambda input, size, mode, align_corners, scales: _resampled_type(name, input, size, scales, n, not corners),
        reference=_reference(mode), cost="gather", node_name=node, method=False, function=False, onnx="Resize@13",
        gradient=(
            lambda g, input_shape, mode, align_corners, scales: resample_gradient(g, input_shape[2:], mode, align_corners, scales),
        ),
        doc=doc,
    )  # fmt: skip


def _reference(default: str) -> Any:
    def reference(
        input: Array, size: Ints, mode: str = default, align_corners: bool = False, scales: tuple[float, ...] | None = None
    ) -> Array:
        return _forward(input, size, mode, align_corners, scales)

    return reference


SPACE = {1: "1d", 2: "2d", 3: "3d"}
for _n, _d in SPACE.items():
    _text = f"Each output is the input nearest to it, over the last {_n} dimension{'s' if _n > 1 else ''}. `scales` is output / input."
    _resampling(f"upsample_nearest{_d}", "nearest", _n, f"UpsampleNearest{_d.upper()}Backward0", _text, False)
    _resampling(
        f"upsample_nearest_exact{_d}", "nearest-exact", _n, f"UpsampleNearestExact{_d.upper()}Backward0",
        _text + " Counted from the pixels' centres.", False,
    )  # fmt: skip
for _name, _mode, _n, _node in (
    ("upsample_linear1d", "linear", 1, "UpsampleLinear1DBackward0"),
    ("upsample_bilinear2d", "bilinear", 2, "UpsampleBilinear2DBackward0"),
    ("upsample_trilinear3d", "trilinear", 3, "UpsampleTrilinear3DBackward0"),
    ("upsample_bicubic2d", "bicubic", 2, "UpsampleBicubic2DBackward0"),
    ("upsample_bilinear2d_aa", "bilinear_aa", 2, "UpsampleBilinear2DAaBackward0"),
    ("upsample_bicubic2d_aa", "bicubic_aa", 2, "UpsampleBicubic2DAaBackward0"),
    ("upsample_lanczos2d_aa", "lanczos_aa", 2, "UpsampleLanczos2DAaBackward0"),
):
    _resampling(
        _name, _mode, _n, _node,
        f"Resampling of the last {_n} dimension(s), mode {_mode}. `align_corners`: the outer pixels' centres meet, else their outer edges.",
        True,
    )  # fmt: skip


@helper
def resample_again(g: Any, size: Any, mode: Any, align_corners: Any, scales: Any) -> Any:
    """The adjoint of resample_backward: the record of that mode."""
    n = len(size)
    if mode == "nearest":
        if n == 1:
            return upsample_nearest1d(g, size, mode, align_corners, scales)
        if n == 2:
            return upsample_nearest2d(g, size, mode, align_corners, scales)
        return upsample_nearest3d(g, size, mode, align_corners, scales)
    if mode == "nearest-exact":
        if n == 1:
            return upsample_nearest_exact1d(g, size, mode, align_corners, scales)
        if n == 2:
            return upsample_nearest_exact2d(g, size, mode, align_corners, scales)
        return upsample_nearest_exact3d(g, size, mode, align_corners, scales)
    if mode == "linear":
        return upsample_linear1d(g, size, mode, align_corners, scales)
    if mode == "bilinear":
        return upsample_bilinear2d(g, size, mode, align_corners, scales)
    if mode == "trilinear":
        return upsample_trilinear3d(g, size, mode, align_corners, scales)
    if mode == "bicubic":
        return upsample_bicubic2d(g, size, mode, align_corners, scales)
    if mode == "bilinear_aa":
        return upsample_bilinear2d_aa(g, size, mode, align_corners, scales)
    if mode == "bicubic_aa":
        return upsample_bicubic2d_aa(g, size, mode, align_corners, scales)
    return upsample_lanczos2d_aa(g, size, mode, align_corners, scales)


define(
    "resample_backward(Tensor grad, Shape size, str mode, bool align_corners, float[]? scales) -> Tensor",
    type_rule=lambda grad, size, mode, align_corners, scales: grad.with_shape((*grad.shape[:2], *size)),
    reference=_backward, cost="scatter", method=False, function=False,
    gradient=(
        lambda g, grad_shape, mode, align_corners, scales: resample_again(g, grad_shape[2:], mode, align_corners, scales),
    ),
    doc="The gradient of a resampling's input; `size` is the input's spatial shape. Linear.",
)  # fmt: skip


# ---- sizes -------------------------------------------------------------------------------------------------------------------------------


def scaled_size(name: str, space: Ints, factors: tuple[float, ...]) -> Ints:
    """Output sizes: floor(size * factor) for sizes that are numbers."""
    found = []
    for n, f in zip(space, factors, strict=True):
        if type(n) is int:
            found.append(math.floor(float(n) * f))
        elif float(f).is_integer():
            found.append(n * int(f))
        else:
            raise ValueRangeError(f"{name}: a symbolic size can only be scaled by a whole number, not {f}")
    return tuple(found)
