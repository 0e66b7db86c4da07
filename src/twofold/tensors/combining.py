"""Tensors put together from others: block diagonals, products and combinations of elements, joined chunks."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.ir.dtypes import FLOAT, int64
from twofold.ir.op import get_op, wrap_dim
from twofold.support.errors import ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.creation import literal
from twofold.tensors.dispatch import dispatch
from twofold.tensors.joining import cat, stack
from twofold.tensors.shapes import flatten, meshgrid, reshape, several_tensors


def padded(t: Tensor, pad: tuple[Any, ...]) -> Tensor:
    """Zeros around a tensor: (before, after) of the last dimension, then of the one before it, …."""
    return dispatch(get_op("constant_pad_nd"), (t,), {"pad": pad, "value": 0})


def block_diag(*tensors: Any) -> Tensor:
    """The matrix with the given ones along its diagonal and zeros elsewhere; scalars and vectors are rows."""
    blocks = []
    for i, t in enumerate(several_tensors(tensors)):
        if t._type.ndim > 2:
            raise ShapeError(f"block_diag: tensor {i} has shape {tuple(t._type.shape)}; at most 2 dimensions are possible")
        blocks.append(reshape(t, (1, -1) if t._type.numel != 0 else (1, 0)) if t._type.ndim < 2 else t)
    if not blocks:
        return dispatch(get_op("zeros"), (), {"size": (1, 0)})
    width: Any = 0
    for t in blocks:
        width = width + t._type.shape[1]
    rows, before = [], 0
    for t in blocks:
        after = width - before - t._type.shape[1]
        rows.append(padded(t, (before, after)))
        before = before + t._type.shape[1]
    return cat(rows, 0)


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of an element of each 1-d tensor, one a row, the last varying fastest; of one tensor the tensor itself."""
    given = several_tensors(tensors)
    for i, t in enumerate(given):
        if t._type.ndim != 1:
            raise ShapeError(f"cartesian_prod: tensor {i} has shape {tuple(t._type.shape)}; 1-d tensors are needed")
    if len(given) == 1:
        return given[0]
    return stack([flatten(t) for t in meshgrid(*given)], 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of `r` elements of a 1-d tensor, one a row, in the order of `itertools.combinations`."""
    if input._type.ndim != 1:
        raise ShapeError(f"combinations: a 1-d tensor is needed, not one of shape {tuple(input._type.shape)}")
    if r < 0:
        raise ValueRangeError(f"combinations: the number of elements must not be negative, not {r}")
    if r == 0:
        return dispatch(get_op("zeros"), (), {"size": (0,), "dtype": input._type.dtype})
    n = operator.index(input._type.shape[0])
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    positions = np.array(list(choose(range(n), r)), np.int64).reshape(-1, r)
    chosen = literal(positions)
    return dispatch(get_op("take"), (input, chosen if input._type.device == "cpu" else chosen.to(input._type.device)), {})


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix whose diagonal `offset` holds all elements of the tensor, zeros elsewhere."""
    return dispatch(get_op("diag_embed"), (flatten(input),), {"offset": offset})


def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Each tensor padded with zeros along `dim` to a multiple of `num_chunks`, cut there into as many chunks, each chunk flattened; the
    chunks of all tensors joined: shape (sizes before `dim`, num_chunks, rest)."""
    if num_chunks < 1:
        raise ValueRangeError(f"_chunk_cat: the number of chunks must be positive, not {num_chunks}")
    if not tensors:
        raise ShapeError("_chunk_cat: at least one tensor is needed")
    first = tensors[0]._type
    d = wrap_dim(dim, first.ndim, "_chunk_cat")
    parts = []
    for i, t in enumerate(tensors):
        shape = t._type.shape
        if t._type.numel == 0:
            raise ShapeError(f"_chunk_cat: tensor {i} of shape {tuple(shape)} is empty")
        if len(shape) <= d or shape[:d] != first.shape[:d] or t._type.dtype is not first.dtype:
            raise ShapeError(
                f"_chunk_cat: tensor {i} ({t._type}) must have the dtype of tensor 0 ({first}) and its sizes before dimension {d}"
            )
        missing = -shape[d] % num_chunks
        whole = padded(t, (0, 0) * (len(shape) - 1 - d) + (0, missing)) if missing else t
        parts.append(reshape(whole, (*shape[:d], num_chunks, -1)))
    return cat(parts, d + 1)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix of a vector: a row for each element with its powers N-1 … 0 (N: by default the vector's size), or 0 … N-1
    with `increasing`."""
    if x._type.ndim != 1:
        raise ShapeError(f"vander: a 1-d tensor is needed, not one of shape {tuple(x._type.shape)}")
    rows = x._type.shape[0]
    columns = operator.index(rows) if N is None else N
    if columns < 0:
        raise ValueRangeError(f"vander: N must not be negative, not {N}")
    kind = x._type.dtype if x._type.dtype.category == FLOAT else int64
    start = dispatch(get_op("ones"), (), {"size": (rows, min(columns, 1)), "dtype": kind, "device": x._type.device})
    base = dispatch(get_op("to"), (x,), {"dtype": kind}) if kind is not x._type.dtype else x
    wide = dispatch(get_op("expand"), (reshape(base, (-1, 1) if rows != 0 else (0, 1)),), {"size": (rows, max(columns - 1, 0))})
    powers = cat([start, dispatch(get_op("cumprod"), (wide,), {"dim": 1})], 1)
    return powers if increasing else dispatch(get_op("flip"), (powers,), {"dims": (1,)})


def matrix_trace(self: Tensor) -> Tensor:
    """The sum of a matrix's diagonal, PyTorch's `trace` (`twofold.trace` of a tensor too; of a function it records a graph)."""
    if self._type.ndim != 2:
        raise ShapeError(f"trace: a matrix is needed, not a tensor of shape {tuple(self._type.shape)}")
    diagonal = dispatch(get_op("diagonal"), (self,), {"offset": 0, "dim1": 0, "dim2": 1})
    return dispatch(get_op("sum"), (diagonal,), {})


METHODS: dict[str, Callable[..., Any]] = {"trace": matrix_trace}
FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (block_diag, cartesian_prod, combinations, diagflat, vander, _chunk_cat)}
