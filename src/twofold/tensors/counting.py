"""Functions over the records of `ops.counting`: distinct elements, membership, histograms, positions."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import Op, get_op
from twofold.ir.types import type_of
from twofold.support.errors import ArgumentError, DeviceError, DTypeError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.batched import refuse_size, top_level
from twofold.tensors.core import Tensor, wrap_typed
from twofold.tensors.dispatch import active_recorder, array_of, dispatch, operand, type_of_operand
from twofold.tensors.shapes import is_size, reshape
from twofold.tensors.typing import Number

# ---- results whose size depends on values ----------------------------------------------------------------------------------------


def counted(op: Op, inputs: tuple[Any, ...], attributes: dict[str, Any], ways_out: str) -> tuple[Tensor, ...]:
    """Run a record without gradient whose output sizes are known only from values (eagerly; a recorded graph cannot hold them yet)."""
    if top_level(inputs):
        refuse_size(op.name)
    if top_level(inputs):
        refuse_size(op.name)
    if active_recorder(op, inputs) is not None:
        raise UnsupportedError(f"{op.name}: the size of the result depends on values, which a recorded graph cannot have yet; {ways_out}")
    operands = tuple(operand(op, p, x) for p, x in zip(op.inputs, inputs, strict=True))
    ins = tuple(map(type_of_operand, operands))
    canonical = op.canonical(ins, attributes)
    op.infer(ins, canonical)
    if any(isinstance(x, Tensor) and x._array is None for x in operands):
        raise DeviceError(f"{op.name}: the size of the result depends on values, which a tensor on the meta device does not have")
    arrays = tuple(_widened(array_of(x), op) for x in operands)
    results = op.reference(*arrays, **canonical)
    outs = []
    for k, r in enumerate(results if op.several else (results,)):
        dtype = ins[0].dtype if op.several and k == 0 else None
        array = np.asarray(r) if dtype is None else np.asarray(r).astype(dtype.numpy, copy=False)
        outs.append(wrap_typed(array, type_of(array)))
    return tuple(outs)


def _widened(array: Any, op: Op) -> Any:
    """16-bit floats as float32, where the record does not take them as they are."""
    low = array is not None and array.dtype.itemsize == 2 and array.dtype.kind in "fV" and not op.any_dtype
    return array.astype(np.float32) if low else array


def _chosen(outputs: tuple[Tensor, ...], return_inverse: bool, return_counts: bool) -> Any:
    found = (outputs[0], *((outputs[1],) if return_inverse else ()), *((outputs[2],) if return_counts else ()))
    return found if len(found) > 1 else found[0]


UNIQUE_WAYS_OUT = "take the distinct elements before, or sort and compare neighbours, which keeps the shape"


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The distinct elements (or slices of `dim`) in ascending order; with `return_inverse` also the place of each element among them, with
    `return_counts` also how often each occurs. NaN equals nothing. Not differentiable."""
    attributes = {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts, "dim": dim}
    return _chosen(counted(get_op("unique"), (input,), attributes, UNIQUE_WAYS_OUT), return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The first element (or slice of `dim`) of each run of equal ones; with `return_inverse` also the run each element is in, with
    `return_counts` also the runs' lengths. Not differentiable."""
    attributes = {"return_inverse": return_inverse, "return_counts": return_counts, "dim": dim}
    return _chosen(counted(get_op("unique_consecutive"), (input,), attributes, UNIQUE_WAYS_OUT), return_inverse, return_counts)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of the numbers 0, 1, … occurs in a 1-d tensor of non-negative integers, or the sum of their weights; at least
    `minlength` entries."""
    return counted(get_op("bincount"), (input, weights), {"minlength": minlength}, "use scatter_add into zeros of a known size")[0]


# ---- membership -----------------------------------------------------------------------------------------------------------------------


def number_beside(t: Tensor, value: Number) -> Tensor:
    """A number as a 0-d tensor that is compared with `t`: in its dtype, or as float64 where that would lose digits."""
    dtype = t._type.dtype if t._type.dtype.category == dtypes.FLOAT or type(value) is not float else dtypes.float64
    return dispatch(get_op("full"), (), {"size": (), "fill_value": value, "dtype": dtype, "device": t._type.device})


def isin(elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element of `elements` is among `test_elements` (is not, with `invert`); one of the two may be a number."""
    given = [elements, test_elements]
    if not any(isinstance(x, Tensor) for x in given):
        raise ArgumentError("isin(): elements or test_elements must be a tensor")
    beside = next(x for x in given if isinstance(x, Tensor))
    operands = tuple(x if isinstance(x, Tensor) else number_beside(beside, x) for x in given)
    for t in operands:
        if t._type.dtype is dtypes.bool_:
            raise DTypeError("isin takes numbers, not bool; convert with .to(twofold.uint8)")
    return dispatch(get_op("isin"), operands, {"assume_unique": assume_unique, "invert": invert})


def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where each element of `input` (a tensor or a number) would be put into the last dimension of `sorted_sequence` to keep it sorted.

    side "left" (the default) means before equal elements, "right" (or right=True) behind them. sorter: the indices that sort a sequence
    which is not sorted. Result int64, or int32 with `out_int32`.
    """
    if side is not None and side not in ("left", "right"):
        raise ValueRangeError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    if side == "left" and right:
        raise ValueRangeError("searchsorted: side='left' contradicts right=True")
    if not isinstance(input, Tensor):
        if sorted_sequence._type.ndim != 1:
            raise ShapeError(
                f"searchsorted: a number can be searched for in a 1-d sequence only, not of shape {tuple(sorted_sequence._type.shape)}"
            )
        input = number_beside(sorted_sequence, input)
    elif input._type.dtype is not sorted_sequence._type.dtype:
        raise DTypeError(
            f"searchsorted: the sequence is {sorted_sequence._type.dtype.name}, the values {input._type.dtype.name}; convert one with "
            ".to(dtype)"
        )
    attributes = {"out_int32": out_int32, "right": right or side == "right"}
    return dispatch(get_op("searchsorted"), (sorted_sequence, input, sorter), attributes)


def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The index of the interval between 1-d sorted `boundaries` that each element lies in, see `searchsorted`."""
    if boundaries._type.ndim != 1:
        raise ShapeError(f"bucketize: boundaries must be 1-d, their shape is {tuple(boundaries._type.shape)}")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


# ---- histograms ---------------------------------------------------------------------------------------------------------------------

Histogram: Any = namedtuple("histogram", ("hist", "bin_edges"))  # type: ignore[name-match]
HistogramDD: Any = namedtuple("histogramdd", ("hist", "bin_edges"))  # type: ignore[name-match]


def _histogram(points: Tensor, bins: Any, range: Any, weight: Tensor | None, density: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The counts and the edges for points of as many coordinates as there are entries in `bins`."""
    if all(isinstance(b, Tensor) for b in bins):
        if range is not None:
            raise ArgumentError("histogram(): a range goes with a number of bins, not with bin edges")
        edges = tuple(bins)
    else:
        given = None if range is None else tuple(float(v) for v in range)
        edges = dispatch(get_op("histogram_bin_edges"), (points,), {"bins": tuple(bins), "range": given})
    return dispatch(get_op("histogram_counts"), (points, edges, weight), {"density": density}), edges


def histogram(
    input: Tensor, bins: Any, *, range: Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """(hist, bin_edges): how many elements lie in each bin, or the weight of those. `bins`: a number of equal bins over `range` (by default
    from the least to the greatest element), or a 1-d tensor of edges. `density`: divided by the total and by the bins' widths."""
    if weight is not None and weight._type.shape != input._type.shape:
        raise ShapeError(
            f"histogram: weight of shape {tuple(weight._type.shape)} for an input of shape {tuple(input._type.shape)}: they must be equal"
        )
    points = reshape(input, (input._type.numel, 1))
    flat = None if weight is None else reshape(weight, (-1,) if weight._type.numel != 0 else (0,))
    counts, edges = _histogram(points, (bins,), range, flat, density)
    return Histogram(counts, edges[0])


def histogramdd(
    input: Tensor, bins: Any, *, range: Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """(hist, bin_edges) of points whose coordinates are the input's last dimension: hist has a dimension for each coordinate.

    bins: a number for all coordinates or one for each, or a 1-d tensor of edges for each.
    """
    if input._type.ndim < 2:
        raise ShapeError(f"histogramdd: the last dimension must hold the coordinates; the input has shape {tuple(input._type.shape)}")
    given = (bins,) * input._type.shape[-1] if is_size(bins) and not isinstance(bins, Tensor) else tuple(bins)
    counts, edges = _histogram(input, given, range, weight, density)
    return HistogramDD(counts, edges)


# ---- indices ------------------------------------------------------------------------------------------------------------------------


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates, one tensor for each dimension, that flat indices into a tensor of this shape mean."""
    if indices._type.dtype.category != dtypes.INTEGER:
        raise DTypeError(f"unravel_index: indices must be integers, not {indices._type.dtype.name}")
    sizes = (shape,) if is_size(shape) else tuple(shape)
    for n in sizes:
        if not is_size(n):
            raise ArgumentError(f"unravel_index(): sizes must be integers, not {type(n).__name__}")
        if type(n) is int and n < 0:
            raise ValueRangeError(f"unravel_index: negative size in {sizes}")
    if indices._type.dtype is not dtypes.int64:
        indices = dispatch(get_op("to"), (indices,), {"dtype": dtypes.int64})
    result, step = [], 1
    for n in reversed(sizes):
        whole = dispatch(get_op("div_mode"), (indices, step), {"rounding_mode": "floor"})
        result.append(dispatch(get_op("remainder"), (whole, n), {}) if n != 0 else whole)
        step = step * n
    return tuple(reversed(result))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (unique, unique_consecutive, bincount, isin, searchsorted, bucketize, histogram, histogramdd, unravel_index)
}
