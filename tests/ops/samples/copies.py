"""Samples of copies of views, of copies with a part replaced, and of tensors put together from others."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DimensionError, IndexOutOfRange, ShapeError, ValueRangeError


def copy(name: str, make: Callable[[Gen], list[S]], numpy: Callable[..., Any]) -> Row:
    """The row of a view's copying form, on all dtypes."""
    return Row(name, make, numpy, dtypes="number")


def replaced(show: Callable[..., Any]) -> Callable[..., Any]:
    """A copy whose part that `show` gives is the second argument."""

    def function(a: Any, src: Any, *args: Any, **kwargs: Any) -> Any:
        result = a.copy(order="C")
        part = show(result, *args, **kwargs)
        if not part.flags.writeable:  # numpy.diagonal's views
            part.flags.writeable = True
        part[...] = src
        return result

    return function


def along(a: Any, dim: int, index: Any) -> Any:
    return a[(*(slice(None),) * (dim % a.ndim), index, ...)]


def diagonal(a: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return np.diagonal(a, offset, dim1, dim2)


def strided(a: Any, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    flat = a.reshape(-1)[storage_offset:]
    return np.lib.stride_tricks.as_strided(flat, size, tuple(s * a.itemsize for s in stride), writeable=True)


def block_diag(*blocks: Any) -> Any:
    parts = [np.atleast_2d(b) for b in blocks]
    result = np.zeros((sum(p.shape[0] for p in parts), sum(p.shape[1] for p in parts)), np.result_type(*parts))
    i = j = 0
    for p in parts:
        result[i : i + p.shape[0], j : j + p.shape[1]] = p
        i, j = i + p.shape[0], j + p.shape[1]
    return result


def combinations(a: Any, r: int = 2, with_replacement: bool = False) -> Any:
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(a.tolist(), r)), a.dtype).reshape(-1, r)


def chunk_cat(tensors: Any, dim: int, num_chunks: int) -> Any:
    parts = []
    for t in tensors:
        d = dim % t.ndim
        wide = np.pad(t, [(0, -t.shape[d] % num_chunks if k == d else 0) for k in range(t.ndim)])
        parts.append(wide.reshape(*t.shape[:d], num_chunks, -1))
    return np.concatenate(parts, dim % tensors[0].ndim + 1)


def both(g: Gen, *shape: int) -> list[np.ndarray]:
    a = g.real(*shape)
    return [a, g.noncontiguous(a)]


ROWS = [
    copy("expand_copy", lambda g: [S(a, (2, 3, 4)) for a in both(g, 3, 1)], np.broadcast_to),
    copy("diagonal_copy", lambda g: [S(a) for a in both(g, 3, 4)] + [S(g.real(2, 3, 4), 1, 0, 2)], diagonal),
    copy("alias_copy", lambda g: [S(a) for a in both(g, 3, 4)] + [S(g.real())], np.copy),
    Row("detach_copy", lambda g: [S(a) for a in both(g, 3, 4)], np.copy, dtypes="number", grad=False),
    copy("as_strided_copy", lambda g: [S(g.real(3, 4), (2, 2), (1, 2)).but(layouts=False), S(g.real(9), (2, 3), (3, 1), 1)], strided),
    copy("narrow_copy", lambda g: [S(a, 1, 1, 2) for a in both(g, 3, 4)], lambda a, d, start, n: along(a, d, slice(start, start + n))),
    copy("view_copy", lambda g: [S(g.real(3, 4), (2, -1)), S(g.real(3, 4), [12])], lambda a, size: a.reshape(size)),
    copy("permute_copy", lambda g: [S(a, (2, 0, 1)) for a in both(g, 2, 3, 4)], np.transpose),
    copy("transpose_copy", lambda g: [S(a, 0, -1) for a in both(g, 2, 3, 4)], np.swapaxes),
    copy("t_copy", lambda g: [S(a) for a in both(g, 3, 4)] + [S(g.real(3))], np.transpose),
    copy("squeeze_copy", lambda g: [S(a) for a in both(g, 1, 3, 1)] + [S(g.real(1, 3, 1), 0)], np.squeeze),
    copy("unsqueeze_copy", lambda g: [S(a, 1) for a in both(g, 3, 4)], np.expand_dims),
    copy("select_copy", lambda g: [S(a, 1, -2) for a in both(g, 3, 4)], along),
    copy(
        "slice_copy",
        lambda g: [S(a, 1, 1, None, 2) for a in both(g, 3, 6)] + [S(g.real(5))],
        lambda a, d=0, start=None, end=None, step=1: along(a, d, slice(start, end, step)),
    ),
    copy(
        "unfold_copy",
        lambda g: [S(a, 1, 3, 2) for a in both(g, 2, 7)],
        lambda a, d, size, step: along(np.lib.stride_tricks.sliding_window_view(a, size, d), d, slice(None, None, step)),
    ),
    copy("unbind_copy", lambda g: [S(a, 1) for a in both(g, 3, 2)], lambda a, d: tuple(np.moveaxis(a, d, 0))),
    copy("split_copy", lambda g: [S(a, 2, 1) for a in both(g, 3, 5)], lambda a, n, d: np.split(a, range(n, a.shape[d], n), d)),
    copy("split_with_sizes_copy", lambda g: [S(a, (1, 4), 1) for a in both(g, 3, 5)], lambda a, n, d: np.split(a, np.cumsum(n)[:-1], d)),
    copy("unsafe_split", lambda g: [S(g.real(3, 5), 2, 1)], lambda a, n, d: np.split(a, range(n, a.shape[d], n), d)),
    copy("unsafe_split_with_sizes", lambda g: [S(g.real(3, 5), (1, 4), 1)], lambda a, n, d: np.split(a, np.cumsum(n)[:-1], d)),
    copy("unsafe_chunk", lambda g: [S(g.real(6, 2), 3)], lambda a, n: np.split(a, n)),
    Row(
        "diagonal_scatter",
        lambda g: [S(g.real(3, 4), g.real(3)), S(g.real(4, 4), g.real(3), 1)],
        replaced(diagonal),
        dtypes="number",
        errors=lambda g: [E((g.real(3, 3), g.real(2)), {}, ShapeError, "diagonal_scatter")],
    ),
    Row(
        "select_scatter",
        lambda g: [S(g.real(3, 4), g.real(4), 0, 1), S(g.noncontiguous(g.real(3, 4)), g.real(3), 1, -1)],
        replaced(along),
        dtypes="number",
        errors=lambda g: [
            E((g.real(3, 3), g.real(2), 0, 0), {}, ShapeError, "select_scatter"),
            E((g.real(3), g.real(), 0, 3), {}, IndexOutOfRange, "select"),
        ],
    ),
    Row(
        "slice_scatter",
        lambda g: [S(g.real(6), g.real(3), 0, 0, None, 2), S(g.real(3, 5), g.real(3, 2), 1, 2, 4), S(g.real(2, 3), g.real(2, 3))],
        replaced(lambda a, d=0, start=None, end=None, step=1: along(a, d, slice(start, end, step))),
        dtypes="number",
        errors=lambda g: [E((g.real(3, 3), g.real(2, 2), 0, 0, 2), {}, ShapeError, "slice_scatter")],
    ),
    Row(
        "as_strided_scatter",
        lambda g: [S(g.real(3, 3), g.real(2, 2), (2, 2), (3, 1)), S(g.real(8), g.real(3), (3,), (2,), 1)],
        replaced(strided),
        torch=None,  # its gradient of the input is that of the elements replaced, not of those kept (2.13)
        dtypes="number",
        errors=lambda g: [E((g.real(3, 3), g.real(2), (2, 2), (3, 1)), {}, ShapeError, "as_strided_scatter")],
    ),
    Row(
        "block_diag",
        lambda g: [S(g.real(2, 3), g.real(1, 2), g.real(4)), S(g.real(), g.real(2, 2)), S(g.real(0, 2), g.real(2, 1))],
        block_diag,
        dtypes="number",
        errors=lambda g: [E((g.real(2, 2, 2),), {}, ShapeError, "block_diag")],
    ),
    Row(
        "cartesian_prod",
        lambda g: [S(g.real(3), g.real(2)), S(g.real(2), g.real(1), g.real(3)), S(g.real(3))],
        lambda *a: np.stack(np.meshgrid(*a, indexing="ij"), -1).reshape(-1, len(a)) if len(a) > 1 else a[0],
        dtypes="number",
        errors=lambda g: [E((g.real(2, 2), g.real(2)), {}, ShapeError, "cartesian_prod")],
    ),
    Row(
        "combinations",
        lambda g: [S(g.real(4)), S(g.real(4), 3), S(g.real(3), 2, True), S(g.real(2), 3), S(g.real(3), 1)],
        combinations,
        dtypes="number",
        errors=lambda g: [E((g.real(2, 2),), {}, ShapeError, "combinations"), E((g.real(2), -1), {}, ValueRangeError, "negative")],
    ),
    Row("diagflat", lambda g: [S(g.real(2, 2)), S(g.real(3), -1), S(g.real(), 1)], np.diagflat, dtypes="number"),
    Row(
        "vander",
        lambda g: [S(g.real(4)), S(g.real(3), 5), S(g.real(3), 2, True), S(g.real(2), 0), S(g.real(3), 1)],
        np.vander,
        torch=None,  # which has no gradient of it
        dtypes=("float64", "float32", "int64"),
        errors=lambda g: [E((g.real(2, 2),), {}, ShapeError, "vander"), E((g.real(2), -1), {}, ValueRangeError, "negative")],
    ),
    Row(
        "_chunk_cat",
        lambda g: [S([g.real(3, 2), g.real(4, 3)], 0, 2), S([g.real(2, 3), g.real(2, 1, 2)], 1, 2)],
        chunk_cat,
        torch=lambda torch, tensors, dim, n: torch._chunk_cat(tensors, dim, n),
        dtypes=("float64", "float32"),
        errors=lambda g: [
            E(([g.real(2), g.real(3)], 0, 0), {}, ValueRangeError, "positive"),
            E(([], 0, 2), {}, ShapeError, "at least one"),
            E(([g.real(2)], 1, 2), {}, DimensionError, "_chunk_cat"),
        ],
    ),
]
