"""Reductions into positions and over segments, and masked indexing: compositions of `scatter_reduce`, `index` and `index_put`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import get_op, wrap_dim
from twofold.support.errors import ArgumentError, DTypeError, IndexOutOfRange, ShapeError, ValueRangeError
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.inplace import inplace
from twofold.tensors.shapes import expand, reshape
from twofold.tensors.typing import Number


def run(name: str, *inputs: Any, **attributes: Any) -> Any:
    """A record on tensors, so that the user's own line is the one remembered."""
    return dispatch(get_op(name), inputs, attributes)


# ---- index_reduce --------------------------------------------------------------------------------------------------------------


def _index_parts(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool) -> tuple[Any, Any]:
    """(operands after the input, attributes) of the `scatter_reduce` that an `index_reduce` is."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise ValueRangeError(f"index_reduce: reduce must be 'prod', 'mean', 'amax' or 'amin', not {reduce!r}; index_add sums")
    if index._type.dtype not in (dtypes.int64, dtypes.int32):
        raise DTypeError(f"index_reduce: indices must be int64 or int32 tensors, not {index._type.dtype.name}; convert with .long()")
    shape = input._type.shape
    d = wrap_dim(dim, len(shape), "index_reduce")
    n = index._type.numel
    wanted = (*shape[:d], n, *shape[d + 1 :]) if shape else source._type.shape
    if index._type.ndim > 1 or source._type.shape != wanted:
        raise ShapeError(
            f"index_reduce: an index of shape {tuple(index._type.shape)} along dimension {d} of {tuple(shape)} needs a source of shape "
            f"{tuple(wanted)}, not {tuple(source._type.shape)}"
        )
    rank = source._type.ndim
    places = expand(reshape(index, (-1, *(1,) * (rank - 1 - d)) if rank else ()), source._type.shape)
    return (places, source), {"dim": d, "reduce": reduce, "include_self": include_self}


def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """A copy with the slices of `source` reduced ("prod", "mean", "amax", "amin") into the slices of `dim` at the positions of a 1-d index.

    include_self: together with what was there, or without it.
    """
    others, attributes = _index_parts(input, dim, index, source, reduce, include_self)
    return dispatch(get_op("scatter_reduce"), (input, *others), attributes)


def index_reduce_(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """`index_reduce` in place."""
    others, attributes = _index_parts(input, dim, index, source, reduce, include_self)
    return inplace("scatter_reduce", input, *others, **attributes)


# ---- segments ------------------------------------------------------------------------------------------------------------------

STARTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
SCATTERED = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number | None = None,
) -> Tensor:
    """The "sum", "mean", "max", "min" or "prod" of each run of elements along dimension `axis`; runs are given by their `lengths`, or by
    `offsets`, where each begins, with the end of the last one. What comes before in `data`'s dimensions goes before in theirs too.

    initial: the value a reduction begins with. Without one, no elements give 0, NaN, -inf, inf or 1. unsafe=True leaves out the check
    that the lengths are not negative and add up to the size of `axis`.
    """
    if reduce not in STARTS:
        raise ValueRangeError(f"segment_reduce: reduce must be one of {', '.join(STARTS)}, not {reduce!r}")
    if indices is not None or (lengths is None) == (offsets is None):
        raise ArgumentError("segment_reduce(): give either lengths or offsets, and no indices")
    if data._type.dtype.category != dtypes.FLOAT:
        raise DTypeError(f"segment_reduce takes floating-point tensors, not {data._type.dtype.name}")
    rank = data._type.ndim
    d = wrap_dim(axis, rank, "segment_reduce")
    n = data._type.shape[d] if rank else 1
    begins, ends, counts = _bounds(data, d, lengths, offsets, unsafe)
    lead = data._type.shape[:d]
    place = expand(run("arange", start=0, end=n, step=1, dtype=dtypes.int64, device=data._type.device), (*lead, n))
    segment = run("searchsorted", run("clone", ends, memory_format="contiguous_format"), place, None, out_int32=False, right=True)
    number = counts._type.shape[-1]
    # elements outside every segment go to one more, which is cut off
    inside = run("logical_and", run("lt", segment, number), run("ge", place, run("slice", begins, dim=d, start=0, end=1)))
    segment = run("where", inside, segment, number)
    tail = data._type.shape[d + 1 :]
    wide = expand(reshape(segment, (*lead, n, *(1,) * len(tail))), data._type.shape)
    start = STARTS[reduce] if initial is None else float(initial)
    size = (*lead, number + 1, *tail)
    zero = run("full", size=size, fill_value=start, dtype=data._type.dtype, device=data._type.device)
    result = run("scatter_reduce", zero, wide, data, dim=d, reduce=SCATTERED[reduce], include_self=True)
    result = run("slice", result, dim=d, start=0, end=number)
    return _mean(result, reshape(counts, (*lead, number, *(1,) * len(tail))), initial) if reduce == "mean" else result


def _mean(total: Tensor, counts: Tensor, initial: Number | None) -> Tensor:
    """The sums divided by the counts; for no elements NaN, or the initial value as it is."""
    counts = run("to", counts, dtype=total._type.dtype)
    return total / counts if initial is None else total / run("clamp", counts, 1.0, None)


def _bounds(data: Tensor, d: int, lengths: Tensor | None, offsets: Tensor | None, unsafe: bool) -> tuple[Tensor, Tensor, Tensor]:
    """(begins, ends, lengths) of the segments, int64."""
    given = lengths if lengths is not None else offsets
    assert given is not None
    shape = given._type.shape
    if given._type.dtype not in (dtypes.int64, dtypes.int32):
        raise DTypeError(f"segment_reduce: lengths and offsets must be int64 or int32, not {given._type.dtype.name}")
    if len(shape) != d + 1 or shape[:d] != data._type.shape[:d]:
        raise ShapeError(
            f"segment_reduce: lengths or offsets of shape {tuple(shape)} for axis {d} of {tuple(data._type.shape)}: the dimensions before "
            "the axis, and one more, are needed"
        )
    given = given if given._type.dtype is dtypes.int64 else run("to", given, dtype=dtypes.int64)
    if offsets is not None:
        begins, ends = run("slice", given, dim=d, start=0, end=-1), run("slice", given, dim=d, start=1, end=None)
        return begins, ends, run("sub", ends, begins)
    if not unsafe and not isinstance(given, Symbol) and given._array is not None:
        values = np.asarray(given._array)
        if (values < 0).any() or (values.sum(-1) != (data._type.shape[d] if data._type.ndim else 1)).any():
            raise ValueRangeError("segment_reduce: the lengths must not be negative and must add up to the size of the axis")
    ends = run("cumsum", given, dim=d)
    return run("sub", ends, given), ends, given


# ---- masked indexing -----------------------------------------------------------------------------------------------------------


def _clamped(input: Tensor, indices: Sequence[Any]) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """The index tensors, cut to the tensor's sizes, and the dimension of each."""
    found, dims = [], []
    for d, i in enumerate(indices):
        if i is not None:
            n = input._type.shape[d]
            if n == 0:
                raise IndexOutOfRange(f"_unsafe_masked_index: dimension {d} of size 0 has no elements to index")
            found.append(run("clamp", i, -n, n - 1))
            dims.append(d)
    return tuple(found), tuple(dims)


def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Sequence[Any], fill: Number) -> Tensor:
    """`input[indices]` where the mask is True, `fill` elsewhere; indices that are masked out may be out of range."""
    positions, dims = _clamped(input, indices)
    shown = dispatch(get_op("index"), (input, positions), {"dims": dims})
    return run("masked_fill", shown, run("logical_not", mask), value=fill)


def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Sequence[Any], values: Tensor) -> Tensor:
    """A copy with the values, where the mask is True, added at `input[indices]`."""
    positions, dims = _clamped(input, indices)
    kept = run("masked_fill", values, run("logical_not", mask), value=0)
    return dispatch(get_op("index_put"), (input, positions, kept), {"dims": dims, "accumulate": True})


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (index_reduce, segment_reduce, _unsafe_masked_index, _unsafe_masked_index_put_accumulate)
} | {"_segment_reduce": segment_reduce}
INPLACE: dict[str, Callable[..., Any]] = {"index_reduce_": index_reduce_}
