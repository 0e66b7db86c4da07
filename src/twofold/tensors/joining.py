"""Joining, repeating, rearranging and padding: functions over the records of `ops.joining` and `ops.padding`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.ir.dtypes import int32, int64
from twofold.ir.op import get_op, wrap_dim
from twofold.support.errors import ArgumentError, DimensionError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.batched import BatchedTensor, refuse_size
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.dispatch import active_recorder, dispatch
from twofold.tensors.shapes import clone, expand, flatten, is_size, reshape, several_tensors, sizes, transpose

_cat, _stack, _repeat, _flip, _roll = (get_op(n) for n in ("cat", "stack", "repeat", "flip", "roll"))
_constant_pad_nd, _unsqueeze, _index_select = (get_op(n) for n in ("constant_pad_nd", "unsqueeze", "index_select"))


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after another along an existing dimension. An empty 1-d tensor goes with any others, as in PyTorch."""
    given = tuple(tensors) if isinstance(tensors, (list, tuple)) else tensors
    if given == ():
        raise ShapeError("cat: at least one tensor is needed")
    if type(given) is tuple and any(isinstance(t, Tensor) and t._type.shape == (0,) for t in given):
        rest = tuple(t for t in given if not (isinstance(t, Tensor) and t._type.shape == (0,)))
        if any(isinstance(t, Tensor) and t._type.ndim != 1 for t in rest):
            given = rest
    return dispatch(_cat, (given,), {"dim": dim})


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape joined along a new dimension."""
    return dispatch(_stack, (tensors,), {"dim": dim})


def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with at least 1 dimension (views)."""
    return _each(tensors, lambda t: reshape(t, (1,)) if t._type.ndim == 0 else t)


def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least 2 dimensions: new ones come first."""
    return _each(tensors, lambda t: reshape(t, ((1,) * (2 - t._type.ndim) + t._type.shape)) if t._type.ndim < 2 else t)


def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least 3 dimensions: a vector becomes 1 x n x 1, a matrix m x n x 1."""
    return _each(tensors, _three_dims)


def _three_dims(t: Tensor) -> Tensor:
    shape = t._type.shape
    return t if len(shape) >= 3 else reshape(t, ((1, 1, 1), (1, *shape, 1), (*shape, 1))[len(shape)])


def _each(tensors: tuple[Any, ...], function: Callable[[Tensor], Tensor]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return function(tensors[0])
    return tuple(function(t) for t in several_tensors(tensors))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along dimension 1 (dimension 0 for vectors)."""
    if not tensors:
        raise ShapeError("hstack: at least one tensor is needed")
    given = atleast_1d(*tensors) if len(tensors) > 1 else (atleast_1d(tensors[0]),)
    return cat(given, 0 if given[0]._type.ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along dimension 0; vectors are rows."""
    return cat([atleast_2d(t) for t in tensors], 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along dimension 2 after `atleast_3d`."""
    return cat([atleast_3d(t) for t in tensors], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along dimension 1; vectors and scalars are columns."""
    return cat([reshape(t, (-1, 1)) if t._type.ndim <= 1 else t for t in tensors], 1)


# ---- repeating -----------------------------------------------------------------------------------------------------------------


def repeat(self: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """The tensor repeated along each dimension; more counts than dimensions add leading ones. A copy."""
    return dispatch(_repeat, (self,), {"repeats": sizes("repeat", (named["repeats"],) if "repeats" in named else repeats)})


def tile(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """`repeat`, where fewer counts than dimensions mean the last dimensions."""
    counts = sizes("tile", (named["dims"],) if "dims" in named else dims)
    return dispatch(_repeat, (input,), {"repeats": (1,) * (input._type.ndim - len(counts)) + counts})


def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Each element (of the flattened tensor, or each slice of `dim`) repeated `repeats` times in a row; `repeats` is an int, or a
    tensor with a count
    for each. Counts in a tensor must be concrete. Without `repeats` the tensor is the counts: each position, so many times."""
    if repeats is None:
        if not isinstance(input, Tensor) or input._type.ndim != 1 or input._type.dtype not in (int32, int64):
            raise ShapeError("repeat_interleave: counts alone must be a 1-d tensor of int32 or int64; otherwise give repeats=")
        if dim is not None:
            raise ArgumentError("repeat_interleave: dim= needs repeats=")
        input, repeats = wrap(np.arange(operator.index(input._type.shape[0]))), input
    if dim is None:
        input, dim = flatten(input), 0
    d = wrap_dim(dim, input._type.ndim, "repeat_interleave")
    shape = input._type.shape or (1,)
    if (
        isinstance(repeats, Tensor)
        and repeats._type.numel == 1
        and type(repeats) is not BatchedTensor
        and active_recorder(_repeat, (repeats,)) is None
    ):
        repeats = int(repeats)
    if is_size(repeats) and not isinstance(repeats, Tensor):
        count = operator.index(repeats)
        if count < 0:
            raise ValueRangeError(f"repeat_interleave: negative count {count}")
        source = input if input._type.shape else reshape(input, (1,))
        spread = expand(dispatch(_unsqueeze, (source,), {"dim": d + 1}), (*shape[: d + 1], count, *shape[d + 1 :]))
        return reshape(clone(spread, memory_format="contiguous_format"), (*shape[:d], shape[d] * count, *shape[d + 1 :]))
    if not isinstance(repeats, Tensor):
        raise ArgumentError(f"repeat_interleave(): repeats must be an int or a tensor of counts, not {type(repeats).__name__}")
    if type(repeats) is BatchedTensor:
        refuse_size("repeat_interleave with counts in a tensor")
    recorder = active_recorder(_index_select, (input, repeats))
    if recorder is not None:
        raise UnsupportedError(
            "repeat_interleave: with counts in a tensor the result's size depends on values, which a recorded graph cannot have "
            "yet; give one int, "
            "or compute the positions before and use index_select"
        )
    counts = repeats._array
    if (
        counts is None
        or counts.ndim != 1
        or counts.dtype.kind not in "iu"
        or counts.shape[0] != shape[d]
        or (counts.size and counts.min() < 0)
    ):
        raise ShapeError(
            f"repeat_interleave: repeats must hold one non-negative integer for each of the {shape[d]} slices of dimension {d}"
        )
    positions = wrap(np.repeat(np.arange(shape[d]), counts))
    return dispatch(_index_select, (input, positions), {"dim": d})


# ---- rearranging -----------------------------------------------------------------------------------------------------------------


def flip(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The elements in reverse order along `dims`; a copy."""
    return dispatch(_flip, (input,), {"dims": sizes("flip", (named["dims"],) if "dims" in named else dims)})


def fliplr(input: Tensor) -> Tensor:
    """`flip` along dimension 1."""
    if input._type.ndim < 2:
        raise ShapeError(f"fliplr: a tensor of at least 2 dimensions is needed, not one of shape {tuple(input._type.shape)}")
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """`flip` along dimension 0."""
    if input._type.ndim < 1:
        raise ShapeError("flipud: a tensor of at least 1 dimension is needed")
    return flip(input, 0)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """The elements moved `shifts` places along `dims` in a circle; without `dims` the flattened tensor is rolled."""
    if isinstance(shifts, (tuple, list)) and not shifts:
        raise ValueRangeError("roll: at least one shift is needed")
    if dims is not None and not input._type.ndim and dims not in ((), []):
        raise DimensionError(f"roll: a 0-d tensor has no dimension {dims}")
    return dispatch(_roll, (input,), {"shifts": shifts, "dims": () if dims is None else dims})


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Rotated by `k` quarter turns in the plane of two dimensions, from the first towards the second; a copy."""
    if len(dims) != 2:
        raise DimensionError(f"rot90: two dimensions are needed, not {tuple(dims)}")
    a, b = (wrap_dim(d, input._type.ndim, "rot90") for d in dims)
    if a == b:
        raise DimensionError(f"rot90: the two dimensions must differ, not {tuple(dims)}")
    turns = k % 4
    if turns == 0:
        return clone(input)
    if turns == 2:
        return flip(input, (a, b))
    return flip(transpose(input, a, b), a) if turns == 1 else transpose(flip(input, a), a, b)


# ---- padding ---------------------------------------------------------------------------------------------------------------------


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Tensor:
    """The tensor with a border: `pad` holds (before, after) of the last dimension, then of the one before it, ….

    mode: "constant" (`value`, default 0; negative pads cut off), "reflect", "replicate" or "circular", which pad the last 1 to 3
    dimensions of a
    tensor with one or two more.
    """
    pads = tuple(pad)
    if mode == "constant":
        return dispatch(_constant_pad_nd, (input,), {"pad": pads, "value": 0 if value is None else value})
    if mode not in ("reflect", "replicate", "circular"):
        raise ValueRangeError(f"pad: mode must be constant, reflect, replicate or circular, not {mode!r}")
    if value is not None and value != 0:
        raise ArgumentError(f"pad: mode {mode!r} takes no value")
    if len(pads) not in (2, 4, 6):
        raise ShapeError(f"pad: mode {mode!r} pads 1 to 3 dimensions with two values each, not {pads}")
    name = {"reflect": "reflection_pad", "replicate": "replication_pad"}.get(mode)
    if name is None and any(type(n) is int and n < 0 for n in pads):  # cut off first: what is left goes around
        input = dispatch(_constant_pad_nd, (input,), {"pad": tuple(min(n, 0) for n in pads), "value": 0})
        pads = tuple(max(n, 0) for n in pads)
    return dispatch(get_op(f"{name}{len(pads) // 2}d" if name else "circular_pad"), (input,), {"pad": pads})


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        cat, stack, atleast_1d, atleast_2d, atleast_3d, hstack, vstack, dstack, column_stack, tile, repeat_interleave, flip, fliplr,
        flipud, roll,
        rot90, pad,
    )
} | {"concat": cat, "concatenate": cat, "row_stack": vstack}  # fmt: skip
METHODS: dict[str, Any] = {"repeat": repeat}
