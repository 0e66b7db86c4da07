"""`scatter` and its relatives with PyTorch's forms, where one name stands for several records; `take_along_dim`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import get_op, wrap_dim
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.generated.comparison import lt
from twofold.tensors.generated.elementwise import add, where
from twofold.tensors.inplace import inplace
from twofold.tensors.shapes import expand, flatten, reshape
from twofold.tensors.views import view_of

_gather, _index_fill = get_op("gather"), get_op("index_fill")
_slice, _to, _zeros = get_op("slice"), get_op("to"), get_op("zeros")


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` whose input and indices are broadcast together except in `dim` (None: both flattened). Negative indices count from the
    end."""
    if dim is None:
        return dispatch(_gather, (flatten(input), counted_from_front(flatten(indices), input._type.numel)), {"dim": 0})
    rank = input._type.ndim
    if indices._type.ndim != rank:
        raise ShapeError(
            f"take_along_dim: input of shape {tuple(input._type.shape)} and indices of shape {tuple(indices._type.shape)} differ in rank"
        )
    if indices._type.dtype is not dtypes.int64:
        raise DTypeError(f"take_along_dim: indices must be int64, not {indices._type.dtype.name}; convert with .long()")
    d = wrap_dim(dim, rank, "take_along_dim")
    pairs = list(zip(input._type.shape, indices._type.shape, strict=True))
    full = [n if m == 1 else m for n, m in pairs]
    wide = expand(input, tuple(pairs[k][0] if k == d else n for k, n in enumerate(full)))
    positions = expand(indices, tuple(pairs[k][1] if k == d else n for k, n in enumerate(full)))
    return dispatch(_gather, (wide, counted_from_front(positions, input._type.shape[d])), {"dim": d})


def counted_from_front(indices: Tensor, n: Any) -> Tensor:
    """Indices of which negative ones count from the end of a dimension of size n, as ones from its front."""
    if indices._array is not None and (np.size(indices._array) == 0 or np.min(indices._array) >= 0):
        return indices
    return where(lt(indices, 0), add(indices, n), indices) if type(n) is int else indices


# ---- scatter -------------------------------------------------------------------------------------------------------------------------


def _scattered(
    input: Tensor, dim: int, index: Tensor, src: Any, value: Any, reduce: str | None
) -> tuple[str, Tensor, tuple[Tensor, ...], dict[str, Any]]:
    """(record, index, (source,), attributes) that a call of `scatter` means."""
    given = src if value is None else value
    if given is None:
        raise ArgumentError("scatter() needs src (a tensor) or value (a number)")
    given = given.item() if isinstance(given, np.generic) else given
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise ValueRangeError(f"scatter: reduce must be 'add' or 'multiply', not {reduce!r}")
        if not isinstance(given, Tensor):
            attributes = {"size": (), "fill_value": given, "dtype": input._type.dtype, "device": input._type.device}
            given = expand(dispatch(get_op("full"), (), attributes), index._type.shape)
        if reduce == "multiply":
            return "scatter_reduce", index, (cut(given, index),), {"dim": dim, "reduce": "prod", "include_self": True}
        return "scatter_add", index, (given,), {"dim": dim}
    if isinstance(given, Tensor):
        return "scatter", index, (given,), {"dim": dim}
    return "scatter_value", index, (), {"dim": dim, "value": given}


def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
    """A copy with src[i, j, …] (or one number) written at index[i, j, …] of dimension `dim`; `reduce` "add" or "multiply" combines it with
    what is there."""
    name, positions, source, attributes = _scattered(input, dim, index, src, value, reduce)
    return dispatch(get_op(name), (input, positions, *source), attributes)


def scatter_(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
    """`scatter` in place."""
    name, positions, source, attributes = _scattered(input, dim, index, src, value, reduce)
    return inplace(name, input, positions, *source, **attributes)


def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """A copy with the source's values reduced ("sum", "prod", "mean", "amax", "amin") at the positions of `index` along `dim`."""
    attributes = {"dim": dim, "reduce": reduce, "include_self": include_self}
    return dispatch(get_op("scatter_reduce"), (input, index, cut(src, index)), attributes)


def scatter_reduce_(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """`scatter_reduce` in place."""
    return inplace("scatter_reduce", input, index, cut(src, index), dim=dim, reduce=reduce, include_self=include_self)


def cut(src: Tensor, index: Tensor) -> Tensor:
    """The part of the source that an index of this shape reaches."""
    if src._type.shape != index._type.shape and src._type.ndim == index._type.ndim:
        for d, n in enumerate(index._type.shape):
            if n != src._type.shape[d]:
                src = view_of(_slice, src, {"dim": d, "start": 0, "end": n, "step": 1})
    return src


# ---- whole slices ----------------------------------------------------------------------------------------------------------------------


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with `value`, a number or a 0-d tensor, written over the slices of `dim` at the positions of a 1-d index tensor."""
    name, others, attributes = _fill_parts(input, index, value, dim)
    return dispatch(get_op(name), (input, *others), attributes)


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """`index_fill` in place."""
    name, others, attributes = _fill_parts(input, index, value, dim)
    return inplace(name, input, *others, **attributes)


def _fill_parts(input: Tensor, index: Tensor, value: Any, dim: int) -> tuple[str, tuple[Tensor, ...], dict[str, Any]]:
    """The record and its operands. A tensor's value is written by a mask, so that its gradient is the sum over what it filled."""
    if not isinstance(value, Tensor):
        return "index_fill", (index,), {"dim": dim, "value": value}
    if value._type.ndim:
        raise ShapeError(f"index_fill: the value must be a number or a 0-d tensor, not of shape {tuple(value._type.shape)}")
    shape = input._type.shape or (1,)
    d = wrap_dim(dim, len(shape), "index_fill")
    nothing = dispatch(_zeros, (), {"size": (shape[d],), "dtype": dtypes.bool_, "device": input._type.device})
    mask = dispatch(_index_fill, (nothing, index), {"dim": 0, "value": True})
    mask = reshape(mask, (*(1,) * d, shape[d], *(1,) * (len(shape) - d - 1)) if input._type.ndim else ())
    if value._type.dtype is not input._type.dtype:
        value = dispatch(_to, (value,), {"dtype": input._type.dtype})
    return "masked_fill_tensor", (mask, value), {}


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (take_along_dim, scatter, scatter_reduce, index_fill)}
INPLACE: dict[str, Callable[..., Any]] = {f.__name__: f for f in (scatter_, scatter_reduce_, index_fill_)}
