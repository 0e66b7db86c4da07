"""Counting values: distinct elements, histograms, membership, positions, hashes. None of them has a gradient.

Sizes that depend on values are symbols of their own in a static graph (`ir.dims.fresh`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir import dims, dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, common_device, tensor_type
from twofold.ops.record import define
from twofold.ops.summation import axes_of
from twofold.ops.typing import reduced_shape
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

# ---- distinct elements -------------------------------------------------------------------------------------------------------------


def _count(shape: tuple[Any, ...]) -> Any:
    total: Any = 1
    for n in shape:
        total = total * n
    return total


def _distinct_type(name: str) -> Any:
    def rule(input: TensorType, dim: int | None = None, **attributes: Any) -> tuple[TensorType, TensorType, TensorType]:
        if dim is None or not input.shape:
            limit = _count(input.shape)
            n = dims.fresh(0, limit if type(limit) is int else None)
            shape: tuple[Any, ...] = (n,)
            inverse = input.shape
        else:
            size = input.shape[dim]
            if type(size) is int and size and 0 in input.shape:
                raise ShapeError(f"{name}: the tensor of shape {input.shape} has empty slices along dimension {dim}: none can be compared")
            n = dims.fresh(0, size if type(size) is int else None)
            shape = (*input.shape[:dim], n, *input.shape[dim + 1 :])
            inverse = (size,)
        index = tensor_type(dtypes.int64, inverse, input.device)
        return input.with_shape(shape), index, tensor_type(dtypes.int64, (n,), input.device)

    return rule


def _as_rows(input: Any, dim: int | None) -> Any:
    """The slices that are compared, one a row."""
    if dim is None or not input.ndim:
        return np.reshape(input, (-1, 1))
    moved = np.moveaxis(input, dim, 0)
    return moved.reshape(moved.shape[0], math.prod(moved.shape[1:]))


def _from_rows(rows: Any, input: Any, dim: int | None) -> Any:
    if dim is None or not input.ndim:
        return rows.reshape(-1)
    rest = tuple(n for i, n in enumerate(input.shape) if i != dim)
    return np.ascontiguousarray(np.moveaxis(rows.reshape(len(rows), *rest), 0, dim))


def _runs(rows: Any) -> Any:
    """Which rows begin a run of equal ones; NaN equals nothing."""
    first = np.ones(len(rows), np.bool_)
    if len(rows):
        np.any(rows[1:] != rows[:-1], axis=1, out=first[1:])
    return first


def _counts(first: Any) -> Any:
    return np.diff(np.append(np.flatnonzero(first), first.size)).astype(np.int64)


def _unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Any, Any, Any]:
    rows = _as_rows(input, dim)
    first = _runs(rows)
    inverse = np.cumsum(first, dtype=np.int64) - 1
    return _from_rows(rows[first], input, dim), _shaped(inverse, input, dim), _counts(first)


def _shaped(inverse: Any, input: Any, dim: int | None) -> Any:
    return inverse.reshape(input.shape) if dim is None or not input.ndim else inverse


def _unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Any, Any, Any]:
    rows = _as_rows(input, dim)
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] != 1 else np.argsort(rows[:, 0], kind="stable")
    ordered = rows[order]
    first = _runs(ordered)
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.cumsum(first) - 1
    return _from_rows(ordered[first], input, dim), _shaped(inverse, input, dim), _counts(first)


define(
    "unique(Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, Dim? dim=None)"
    " -> (Tensor output, Tensor inverse_indices, Tensor counts)",
    type_rule=_distinct_type("unique"), reference=_unique, gradient=NOT_DIFFERENTIABLE, cost="sort", onnx="Unique@11",
    doc="""The distinct elements in ascending order (always, whatever `sorted` says), or the distinct slices of one dimension.

    With them, for each element its place among the distinct ones, and how often each occurs. NaN equals nothing, itself included.""",
)  # fmt: skip
define(
    "unique_consecutive(Tensor input, bool return_inverse=False, bool return_counts=False, Dim? dim=None)"
    " -> (Tensor output, Tensor inverse_indices, Tensor counts)",
    type_rule=_distinct_type("unique_consecutive"), reference=_unique_consecutive, gradient=NOT_DIFFERENTIABLE, any_dtype=True,
    cost="scan",
    doc="The first of each run of equal elements (or slices of one dimension), the run each element is in, and the runs' lengths.",
)  # fmt: skip


def _isin_type(elements: TensorType, test_elements: TensorType, assume_unique: bool, invert: bool) -> TensorType:
    common_device((elements, test_elements), "isin")
    return tensor_type(dtypes.bool_, elements.shape, elements.device)


define(
    "isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
    type_rule=_isin_type, gradient=NOT_DIFFERENTIABLE, cost="sort", method=False,
    reference=lambda elements, test_elements, assume_unique=False, invert=False: np.isin(elements, test_elements, invert=invert),
    doc="Whether each element of `elements` is among `test_elements` (or is not, with `invert`).",
)  # fmt: skip


def _nonzero_static(input: Any, size: int, fill_value: int = -1) -> Any:
    found = np.argwhere(input)[:size]
    result = np.full((size, input.ndim), fill_value, np.int64)
    result[: len(found)] = found
    return result


def _nonzero_static_type(input: TensorType, size: int, fill_value: int) -> TensorType:
    if type(size) is int and size < 0:
        raise ValueRangeError(f"nonzero_static: the size must not be negative, not {size}")
    return tensor_type(dtypes.int64, (size, input.ndim), input.device)


define(
    "nonzero_static(Tensor input, *, int size, int fill_value=-1) -> Tensor",
    type_rule=_nonzero_static_type, reference=_nonzero_static, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="gather",
    doc="The positions of the first `size` elements that are not zero, one a row; rows beyond their number are `fill_value`.",
)  # fmt: skip


def _hash_type(input: TensorType, dim: Any, keepdim: bool, mode: int) -> TensorType:
    if mode != 0:
        raise ValueRangeError(f"hash_tensor: mode must be 0 (exclusive or of the elements' bits), not {mode}")
    return tensor_type(dtypes.uint64, reduced_shape(input.shape, dim, keepdim), input.device)


def _hash(input: Any, dim: Any = (), keepdim: bool = False, mode: int = 0) -> Any:
    wide = np.asarray(input).astype(np.float64 if input.dtype.kind == "f" else np.uint64)
    xor: Any = np.bitwise_xor.reduce
    return xor(wide.view(np.uint64), axis=axes_of(wide, dim), keepdims=keepdim)


define(
    "hash_tensor(Tensor input, Dim[] dim=(), *, bool keepdim=False, int mode=0) -> Tensor",
    type_rule=_hash_type, reference=_hash, gradient=NOT_DIFFERENTIABLE, cost="reduction",
    doc="The exclusive or, over `dim` (all by default), of the elements' bits as float64 or 64-bit integers; uint64.",
)  # fmt: skip

# ---- histograms --------------------------------------------------------------------------------------------------------------------


def check_range(name: str, low: Any, high: Any) -> tuple[float, float]:
    """The bounds of a histogram; raises ValueRangeError where they are not finite or in the wrong order."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueRangeError(f"{name}: the range [{low}, {high}] is not finite")
    if low > high:
        raise ValueRangeError(f"{name}: the range's upper bound {high} must not be below its lower bound {low}")
    return float(low), float(high)


def _float_only(name: str, dtype: Any) -> None:
    if dtype.category != dtypes.FLOAT:
        raise DTypeError(f"{name} takes floating-point tensors, not {dtype.name}; convert with .to(twofold.float32)")


def _histc_type(input: TensorType, bins: int, min: Any, max: Any) -> TensorType:
    _float_only("histc", input.dtype)
    if type(bins) is int and bins <= 0:
        raise ValueRangeError(f"histc: the number of bins must be positive, not {bins}")
    if min or max:
        check_range("histc", min, max)
    return input.with_shape((bins,))


def _histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    flat = np.reshape(input, -1)
    low, high = float(min), float(max)
    if low == high and flat.size:
        low, high = check_range("histc", flat.min().item(), flat.max().item())
    if low == high:
        low, high = low - 1.0, high + 1.0
    inside = flat[(flat >= low) & (flat <= high)].astype(np.float64)
    place = np.minimum(((inside - low) * bins / (high - low)).astype(np.int64), bins - 1)
    return np.bincount(place, minlength=bins).astype(input.dtype)


define(
    "histc(Tensor input, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    type_rule=_histc_type, reference=_histc, gradient=NOT_DIFFERENTIABLE, cost="scatter",
    doc="""How many elements lie in each of `bins` equal intervals from `min` to `max` (both 0: the least and the greatest element).
    Elements outside, and NaN, are not counted; the last interval includes its end.""",
)  # fmt: skip


def _edges_type(input: TensorType, bins: tuple[int, ...], range: tuple[float, ...] | None) -> tuple[TensorType, ...]:
    _float_only("histogram", input.dtype)
    _check_points("histogram", input, len(bins))
    for n in bins:
        if type(n) is int and n <= 0:
            raise ValueRangeError(f"histogram: the number of bins must be positive, not {n}")
    if range is not None:
        if len(range) != 2 * len(bins):
            raise ShapeError(f"histogram: range must hold a lower and an upper bound for each dimension ({2 * len(bins)}), not {range}")
        for low, high in zip(range[::2], range[1::2], strict=True):
            check_range("histogram", low, high)
    return tuple(input.with_shape((n + 1,)) for n in bins)


def _check_points(name: str, input: TensorType, count: int) -> None:
    if input.ndim < 2:
        raise ShapeError(f"{name}dd: the last dimension must hold the coordinates: at least 2 dimensions are needed, not {input.shape}")
    if input.shape[-1] != count:
        raise ShapeError(f"{name}dd: {count} sequences of bins for points of {input.shape[-1]} coordinates (input of shape {input.shape})")


def _edges(input: Any, bins: tuple[int, ...], range: tuple[float, ...] | None = None) -> tuple[Any, ...]:
    points = np.reshape(input, (-1, len(bins)))
    result = []
    for k, n in enumerate(bins):
        if range is not None:
            low, high = range[2 * k], range[2 * k + 1]
        elif len(points):
            low, high = check_range("histogram", points[:, k].min().item(), points[:, k].max().item())
        else:
            low, high = 0.0, 1.0
        if low == high:
            low, high = low - 0.5, high + 0.5
        result.append(np.linspace(low, high, n + 1).astype(input.dtype))
    return tuple(result)


define(
    "histogram_bin_edges(Tensor input, int[] bins, float[]? range=None) -> Tensor[]",
    type_rule=_edges_type, reference=_edges, gradient=NOT_DIFFERENTIABLE, cost="reduction", method=False, function=False,
    doc="""Equally spaced bin edges for points of D coordinates, the input's last dimension: bins[k] + 1 for each coordinate.
    `range`: lower and upper bounds one after another; by default the least and the greatest coordinates.""",
)  # fmt: skip


def _bins_type(input: TensorType, bins: tuple[TensorType, ...], weight: TensorType | None, density: bool) -> TensorType:
    _float_only("histogram", input.dtype)
    _check_points("histogram", input, len(bins))
    for t in bins:
        if t.ndim != 1 or t.shape[0] == 0:
            raise ShapeError(f"histogram: bin edges must be a 1-d tensor with at least one element, not of shape {t.shape}")
        if t.dtype is not input.dtype:
            raise DTypeError(f"histogram: bin edges of {t.dtype.name} for an input of {input.dtype.name}; convert them with .to(dtype)")
    if weight is not None:
        if weight.dtype is not input.dtype:
            raise DTypeError(f"histogram: weights of {weight.dtype.name} for an input of {input.dtype.name}; convert them with .to(dtype)")
        if weight.shape != input.shape[:-1]:
            raise ShapeError(f"histogram: weights of shape {weight.shape} for points of shape {input.shape[:-1]}: they must be equal")
    return input.with_shape(tuple(t.shape[0] - 1 for t in bins))


def _bins(input: Any, bins: tuple[Any, ...], weight: Any = None, density: bool = False) -> Any:
    points = np.reshape(input, (-1, len(bins)))
    shape = tuple(len(e) - 1 for e in bins)
    inside = np.ones(len(points), np.bool_)
    place = np.zeros(len(points), np.int64)
    for k, edges in enumerate(bins):
        x = points[:, k]
        inside &= (x >= edges[0]) & (x <= edges[-1])
        at = np.searchsorted(edges, x, side="right") - 1
        place = place * max(shape[k], 1) + np.minimum(at, shape[k] - 1)
    amount = None if weight is None else np.reshape(weight, -1)[inside].astype(np.float64)
    size = math.prod(shape)
    counts = np.bincount(place[inside], amount, size)[:size].astype(np.float64).reshape(shape) if size else np.zeros(shape)
    if density:
        counts = counts / counts.sum() if counts.sum() else counts * np.nan
        for k, edges in enumerate(bins):
            counts = counts / np.diff(edges.astype(np.float64)).reshape(-1, *(1,) * (len(bins) - 1 - k))
    return counts.astype(input.dtype)


define(
    "histogram_counts(Tensor input, Tensor[] bins, Tensor? weight=None, bool density=False) -> Tensor",
    type_rule=_bins_type, reference=_bins, gradient=NOT_DIFFERENTIABLE, cost="scatter", method=False, function=False,
    doc="""The number (or total weight) of points in each cell of a grid given by the edges along each coordinate.

    The last cells include their upper edges. `density`: divided by the total and by the cells' volumes.""",
)  # fmt: skip


def _bincount_type(input: TensorType, weights: TensorType | None, minlength: int) -> TensorType:
    if input.ndim != 1 or input.dtype.category == dtypes.FLOAT or input.dtype is dtypes.bool_:
        raise ShapeError(f"bincount takes 1-d tensors of non-negative integers, not {input.dtype.name} of shape {input.shape}")
    if type(minlength) is int and minlength < 0:
        raise ValueRangeError(f"bincount: minlength must not be negative, not {minlength}")
    if weights is not None and weights.shape != input.shape:
        raise ShapeError(f"bincount: weights of shape {weights.shape} for an input of shape {input.shape}: they must be equal")
    out = dtypes.int64 if weights is None else weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64
    return tensor_type(out, (dims.fresh(0, None),), input.device)


def _bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    a = np.asarray(input)
    if a.size and a.min() < 0:
        raise ValueRangeError(f"bincount: negative element {a.min()}; only non-negative integers can be counted")
    if weights is None:
        return np.bincount(a.astype(np.int64), minlength=minlength).astype(np.int64)
    out = np.float32 if weights.dtype == np.float32 else np.float64
    return np.bincount(a.astype(np.int64), np.asarray(weights, np.float64), minlength).astype(out)


define(
    "bincount(Tensor input, Tensor? weights=None, int minlength=0) -> Tensor",
    type_rule=_bincount_type, reference=_bincount, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="scatter",
    doc="""How often each of the numbers 0, 1, … occurs in a 1-d integer tensor, or the sum of its weights.

    As many entries as the greatest element asks for, at least `minlength`: a symbol of its own in a static graph.""",
)  # fmt: skip
