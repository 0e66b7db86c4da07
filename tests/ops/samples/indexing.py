"""Samples of indexing by tensors, gather and scatter."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import DimensionError, DTypeError, IndexOutOfRange, ShapeError, ValueRangeError
from twofold.tensors.functions import FUNCTIONS


def key(indices, dims):
    result = [slice(None)] * (max(dims) + 1)
    for i, d in zip(indices, dims, strict=True):
        result[d] = i
    return tuple(result)


def copied(a, write):
    a = np.array(a)
    write(a)
    return a


def put_at(a, indices, values, dims, accumulate=False):
    def write(r):
        if accumulate:
            np.add.at(r, key(indices, dims), values)
        else:
            r[key(indices, dims)] = values

    return copied(a, write)


def boxed(a, index):
    return a[tuple(slice(n) for n in index.shape)]


def along(a, dim, index, src, combine):
    """The definition of scatter, element by element."""
    a = np.array(a)
    for place in np.ndindex(index.shape):
        where = list(place)
        if where:
            where[dim % a.ndim] = int(index[place])
        a[tuple(where)] = combine(a[tuple(where)], src[place] if isinstance(src, np.ndarray) else src)
    return a


def replace(old, new):
    return new


def rows(a, dim, index, source, combine, alpha=1):
    a = np.array(a)
    for k, i in enumerate(np.atleast_1d(index)):
        where = (slice(None),) * (dim % a.ndim) + (i,)
        a[where] = combine(a[where], alpha * np.take(source, k, dim) if isinstance(source, np.ndarray) else source)
    return a


index = np.array
OUT = "index 3 is out of range for dimension 0 of size 3"

ROWS = [
    Row(
        "index",
        lambda g: [
            S(g.real(3, 4), [index([2, 0, 0])], (0,)),
            S(g.real(3, 4), [index([[1, -1], [0, 3]])], (1,)),
            S(g.real(2, 3, 4), [index([0, 1]), index([[-1], [2]])], (0, 2)),
            S(g.real(2, 3, 4), [index([0, 1]), index([[-1], [2]])], (1, 2)),
            S(g.real(3), [np.zeros(0, np.int64)], (0,)),
            S(g.real(2, 3), [index(1), index([0, 2])], (0, 1)),
            S(g.real(2, 3), [index([0, 1], np.int32)], (0,)),
            S(g.real(2, 0), [index([1, 0, 1])], (0,)),
        ],
        lambda a, indices, dims: a[key(indices, dims)],
        torch=lambda torch, a, indices, dims: a[key(indices, dims)],
        dtypes="all",
        covers=("index_backward",),
        errors=lambda g: [
            E((g.real(3, 4), [index([0, 3])], (0,)), {}, IndexOutOfRange, OUT),
            E((g.real(3, 4), [index([0]), index([-5])], (0, 1)), {}, IndexOutOfRange, "index -5 is out of range for dimension 1 of size 4"),
            E((g.real(3, 4), [index([0, 1]), index([0, 1, 2])], (0, 1)), {}, IndexOutOfRange, "do not broadcast"),
            E((g.real(3), [index([0.0])], (0,)), {}, DTypeError, "float64"),
            E((g.real(3), [index([0])], (1,)), {}, DimensionError, "index"),
            E((g.real(0), [index([0])], (0,)), {}, IndexOutOfRange, "size 0"),
        ],
    ),
    Row(
        "index_put",
        lambda g: [
            S(g.real(3, 4), [index([2, 0])], g.real(2, 4), (0,)),
            S(g.real(3, 4), [index([2, 0, 2])], g.real(4), (0,), True),
            S(g.real(2, 3, 4), [index([0, 1]), index([[-1], [2]])], g.real(2, 2, 1), (0, 2), True),
            S(g.real(2, 3, 4), [index([0, 1]), index([-1, 2])], g.real(), (0, 2)),
            S(g.real(3), [np.zeros(0, np.int64)], g.real(1), (0,)),
        ],
        put_at,
        torch=lambda torch, *args: put_by_key(*args),
        dtypes="all",
        call=lambda a, indices, values, dims, accumulate=False: FUNCTIONS["index_put"](a, with_gaps(indices, dims), values, accumulate),
        errors=lambda g: [
            E((g.real(3), [index([3])], g.real(1), (0,)), {}, IndexOutOfRange, OUT),
            E((g.real(3), [index([0, 1])], g.real(3), (0,)), {}, ShapeError, "index_put"),
            E((g.real(3), [index([0])], g.index(1, 3), (0,)), {}, DTypeError, "index_put"),
        ],
    ),
    Row(
        "gather",
        lambda g: [
            S(g.real(3, 4), 0, g.index((2, 4), 3)),
            S(g.real(3, 4), -1, g.index((2, 5), 4)),
            S(g.real(3), 0, g.index(0, 3)),
            S(g.real(), 0, index(0)),
            S(g.real(2, 3), 1, g.index((2, 1), 3).astype(np.int32)),
        ],
        lambda a, dim, index: np.take_along_axis(boxed_except(a, index, dim), index, dim) if a.ndim else a,
        dtypes="all",
        errors=lambda g: [
            E((g.real(3), 0, index([3])), {}, IndexOutOfRange, OUT),
            E((g.real(3), 0, index([-1])), {}, IndexOutOfRange, "index -1"),
            E((g.real(3), 0, index([[0]])), {}, ShapeError, "gather"),
            E((g.real(2, 3), 1, g.index((3, 1), 3)), {}, ShapeError, "gather"),
        ],
    ),
    Row(
        "take_along_dim",
        lambda g: [S(g.real(3, 4), g.index((1, 4), 3), 0), S(g.real(3, 1), g.index((3, 4), 1), -1), S(g.real(2, 3), g.index((2, 2), 6))],
        lambda a, index, dim=None: (
            np.take_along_axis(a.reshape(-1), index.reshape(-1), 0)
            if dim is None
            else np.take_along_axis(*broadcast_except(a, index, dim), dim)
        ),
        errors=lambda g: [E((g.real(3), g.index((1, 1), 3), 0), {}, ShapeError, "take_along_dim")],
    ),
    Row(
        "scatter",
        lambda g: [
            S(g.real(3, 4), 0, index([[0, 1, 2, 0], [1, 2, 0, 2]]), g.real(2, 4)),
            S(g.real(3, 4), 1, index([[3, 0], [1, 2]]), g.real(3, 3)).but(
                torch=False
            ),  # torch's backward refuses a source larger than the index
            S(g.real(), 0, index(0), g.real()),
            S(g.real(3), 0, np.zeros(0, np.int64), g.real(0)),
        ],
        lambda a, dim, index, src: along(a, dim, index, src, replace),
        dtypes="all",
        inplace="scatter_",
        errors=lambda g: [
            E((g.real(3), 0, index([3]), g.real(1)), {}, IndexOutOfRange, OUT),
            E((g.real(3), 0, index([0, 1]), g.real(1)), {}, ShapeError, "source"),
            E((g.real(3), 0, index([0]), g.index(1, 3)), {}, DTypeError, "scatter"),
            E((g.real(3), 0, index([0]), g.real(1)), {"reduce": "max"}, ValueRangeError, "scatter"),
        ],
    ),
    Row(
        "scatter_value",
        lambda g: [S(g.real(3, 4), 0, g.index((2, 4), 3), 2), S(g.real(), 0, index(0), 1)],
        lambda a, dim, index, value: along(a, dim, index, value, replace),
        torch="scatter",
        dtypes="number",
    ),
    Row(
        "scatter_add",
        lambda g: [
            S(g.real(3, 4), 0, g.index((5, 4), 3), g.real(5, 4)),
            S(g.real(3, 4), -1, g.index((2, 3), 4), g.real(3, 3)).but(torch=False),
            S(g.real(), 0, index(0), g.real()),
            S(g.real(2), 0, np.zeros(0, np.int64), g.real(3)).but(torch=False),
        ],
        lambda a, dim, index, src: along(a, dim, index, src, np.add),
        dtypes="number",
        inplace="scatter_add_",
        errors=lambda g: [E((g.real(3), 0, index([-1]), g.real(1)), {}, IndexOutOfRange, "scatter_add")],
    ),
    Row(
        "index_select",
        lambda g: [
            S(g.real(3, 4), 0, index([2, 0, 2])),
            S(g.real(3, 4), -1, index([1])),
            S(g.real(3), 0, index(1)),
            S(g.real(), 0, index([0])),
            S(g.real(3), 0, np.zeros(0, np.int64)),
        ],
        lambda a, dim, index: np.take(a, np.atleast_1d(index), dim) if a.ndim else a,
        dtypes="all",
        errors=lambda g: [
            E((g.real(3), 0, index([3])), {}, IndexOutOfRange, OUT),
            E((g.real(3), 0, index([-1])), {}, IndexOutOfRange, "index -1"),
            E((g.real(3), 0, index([[0]])), {}, ShapeError, "1-d"),
        ],
    ),
    Row(
        "index_add",
        lambda g: [
            S(g.real(3, 4), 0, index([2, 0, 2]), g.real(3, 4)),
            S(g.real(3, 4), 1, index([1, 1]), g.real(3, 2), alpha=2),
            S(g.real(3), 0, index(1), g.real(1)),
        ],
        lambda a, dim, index, source, alpha=1: rows(a, dim, index, source, np.add, alpha),
        dtypes="number",
        inplace="index_add_",
        errors=lambda g: [
            E((g.real(3), 0, index([0, 1]), g.real(3)), {}, ShapeError, "index_add"),
            E((g.real(3), 0, index([3]), g.real(1)), {}, IndexOutOfRange, OUT),
        ],
    ),
    Row(
        "index_copy",
        lambda g: [
            S(g.real(3, 4), 0, index([2, 0]), g.real(2, 4)),
            S(g.real(3, 4), -1, index([1]), g.real(3, 1)),
            S(g.real(3), 0, np.zeros(0, np.int64), g.real(0)),
        ],
        lambda a, dim, index, source: rows(a, dim, index, source, replace),
        dtypes="all",
        inplace="index_copy_",
    ),
    Row(
        "index_fill",
        lambda g: [S(g.real(3, 4), 0, index([2, 0]), 2), S(g.real(3, 4), -1, index([1, 1]), 1)],
        lambda a, dim, index, value: rows(a, dim, index, value, replace),
        dtypes="number",
        inplace="index_fill_",
        errors=lambda g: [
            E((g.real(3), 0, index([3]), 1.0), {}, IndexOutOfRange, OUT),
            E((g.real(3), 0, index([0]), g.real(1)), {}, ShapeError, "index_fill"),
        ],
    ),
    Row(
        "take",
        lambda g: [S(g.real(3, 4), index([[0, 11], [-1, 5]])), S(g.real(3), np.zeros((0, 2), np.int64)), S(g.real(), index([0, 0]))],
        lambda a, index: a.reshape(-1)[index],
        dtypes="all",
        errors=lambda g: [E((g.real(2, 2), index([4])), {}, IndexOutOfRange, "index 4")],
    ),
    Row(
        "put",
        lambda g: [S(g.real(3, 4), index([[0, 11], [-2, 5]]), g.real(4)), S(g.real(2, 2), index([1, 1, 0]), g.real(3), True)],
        lambda a, index, source, accumulate=False: copied(
            a, lambda r: np.add.at(r.reshape(-1), index.reshape(-1), source.reshape(-1)) if accumulate else np.put(r, index, source)
        ),
        torch="put",
        dtypes="number",
        inplace="put_",
        errors=lambda g: [
            E((g.real(2), index([0, 1]), g.real(1)), {}, ShapeError, "put"),
            E((g.real(2), index([2]), g.real(1)), {}, IndexOutOfRange, "index 2"),
        ],
    ),
]


def put_by_key(a, indices, values, dims, accumulate=False):
    first = tuple(range(len(dims)))
    return a.movedim(dims, first).index_put(tuple(indices), values, accumulate).movedim(first, dims)


def with_gaps(indices, dims):
    """PyTorch's form of the indices: None where a dimension is not indexed."""
    return tuple(next((i for i, d in zip(indices, dims, strict=True) if d == k), None) for k in range(max(dims) + 1))


def boxed_except(a, index, dim):
    return a[tuple(slice(None) if d == dim % a.ndim else slice(n) for d, n in enumerate(index.shape))]


def broadcast_except(a, index, dim):
    full = [max(n, m) if 0 not in (n, m) else 0 for n, m in zip(a.shape, index.shape, strict=True)]
    dim %= a.ndim
    return (
        np.broadcast_to(a, [a.shape[d] if d == dim else n for d, n in enumerate(full)]),
        np.broadcast_to(index, [index.shape[d] if d == dim else n for d, n in enumerate(full)]),
    )
