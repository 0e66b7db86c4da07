"""Samples of views of parts."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.ir.dtypes import float32, float64, int64
from twofold.support.errors import ArgumentError, DimensionError, DTypeError, IndexOutOfRange, ShapeError, ValueRangeError
from twofold.tensors.functions import FUNCTIONS


def at(dim, index):
    return (*(slice(None),) * dim, index)


ROWS = [
    Row(
        "select",
        lambda g: [S(g.real(3, 4), 0, 1), S(g.real(3, 4), -1, -2), S(g.real(2), 0, 0), S(g.real(0, 2), 1, 1), S(g.real(2, 3, 4), 2, 3)],
        lambda a, dim, index: np.take(a, index, dim),
        dtypes="all",
        covers=("select_backward",),
        errors=lambda g: [
            E((g.real(3, 4), 0, 3), {}, IndexOutOfRange, "index 3 is out of range for dimension 0 of size 3"),
            E((g.real(3, 4), 2, 0), {}, DimensionError, "select"),
            E((g.real(), 0, 0), {}, IndexOutOfRange, "0-d"),
            E((g.real(3), 0, 1.0), {}, ArgumentError, "index"),
        ],
    ),
    Row(
        "slice",
        lambda g: [
            S(g.real(5, 3), 0, 1, 4, 1),
            S(g.real(5, 3), 0, None, None, 2),
            S(g.real(3, 5), -1, -3, -1, 1),
            S(g.real(5), 0, 4, 2, 1),
            S(g.real(5), 0, -9, 9, 3),
            S(g.real(0), 0, 0, 1, 1),
        ],
        lambda a, dim, start, end, step: a[at(dim % a.ndim, slice(start, end, step))],
        torch=lambda torch, a, dim, start, end, step: a[at(dim % a.ndim, slice(start, end, step))],
        dtypes="all",
        covers=("slice_backward",),
        errors=lambda g: [
            E((g.real(3), 0, 0, 3, 0), {}, ValueRangeError, "step"),
            E((g.real(3), 0, 0, 3, -1), {}, ValueRangeError, "flip"),
        ],
    ),
    Row(
        "narrow",
        lambda g: [S(g.real(5, 3), 0, 1, 3), S(g.real(5, 3), -1, -2, 2), S(g.real(3), 0, 3, 0)],
        lambda a, dim, start, length: np.take(
            a, range(start % (a.shape[dim] + (start == a.shape[dim])), start % (a.shape[dim] + (start == a.shape[dim])) + length), dim
        ),
        errors=lambda g: [E((g.real(3), 0, 2, 2), {}, ValueRangeError, "narrow"), E((g.real(3), 0, 4, 0), {}, IndexOutOfRange, "narrow")],
    ),
    Row(
        "diagonal",
        lambda g: [
            S(g.real(3, 4)),
            S(g.real(3, 4), 1),
            S(g.real(3, 4), -2),
            S(g.real(2, 3, 4), 0, 0, 2),
            S(g.real(2, 3, 4), 1, -1, 1),
            S(g.real(3, 4), 7),
            S(g.real(0, 2)),
        ],
        np.diagonal,
        dtypes="all",
        covers=("diagonal_backward",),
        errors=lambda g: [E((g.real(3, 4), 0, 1, 1), {}, DimensionError, "diagonal"), E((g.real(3),), {}, DimensionError, "diagonal")],
    ),
    Row(
        "unbind",
        lambda g: [S(g.real(3, 4)), S(g.real(3, 4), -1), S(g.real(2))],
        lambda a, dim=0: [np.take(a, i, dim) for i in range(a.shape[dim])],
        dtypes="all",
        errors=lambda g: [E((g.real(),), {}, DimensionError, "unbind")],
    ),
    Row(
        "split",
        lambda g: [S(g.real(5, 2), 2), S(g.real(2, 4), 2, -1), S(g.real(3), 9), S(g.real(0, 2), 3)],
        lambda a, size, dim=0: np.split(a, range(size, max(a.shape[dim], 1), size), dim),
        dtypes="all",
        errors=lambda g: [E((g.real(3), 0), {}, ValueRangeError, "split"), E((g.real(3), [1, 1]), {}, ShapeError, "add up")],
    ),
    Row(
        "split_with_sizes",
        lambda g: [S(g.real(5, 2), (1, 0, 4)), S(g.real(2, 4), (3, 1), -1)],
        lambda a, sizes, dim=0: np.split(a, np.cumsum(sizes)[:-1], dim),
        dtypes="all",
        errors=lambda g: [E((g.real(3), (4, -1)), {}, ValueRangeError, "negative")],
    ),
    Row(
        "chunk",
        lambda g: [S(g.real(5, 2), 2), S(g.real(5, 2), 4), S(g.real(2, 6), 3, 1), S(g.real(2), 5)],
        lambda a, chunks, dim=0: np.split(a, range(-(-a.shape[dim] // chunks), a.shape[dim], -(-a.shape[dim] // chunks)), dim),
        errors=lambda g: [E((g.real(3), 0), {}, ValueRangeError, "chunk")],
    ),
    Row(
        "tensor_split",
        lambda g: [S(g.real(5, 2), 3), S(g.real(2, 5), (1, 3), -1), S(g.real(5), (4, 2)), S(g.real(2), 3)],
        lambda a, parts, dim=0: np.array_split(a, list(parts) if isinstance(parts, tuple) else parts, dim),
    ),
    Row("hsplit", lambda g: [S(g.real(2, 4), 2), S(g.real(4), (1,))], lambda a, parts: np.hsplit(a, parts)),
    Row(
        "vsplit",
        lambda g: [S(g.real(4, 2), 2)],
        lambda a, parts: np.vsplit(a, parts),
        errors=lambda g: [E((g.real(4, 2), 3), {}, ValueRangeError, "vsplit"), E((g.real(4), 2), {}, DimensionError, "vsplit")],
    ),
    Row("dsplit", lambda g: [S(g.real(2, 2, 4), 2)], lambda a, parts: np.dsplit(a, parts)),
    Row(
        "view_dtype",
        lambda g: [
            S(g.real(2, 3), int64).but(dtypes="float64"),
            S(g.ints(4), float32).but(dtypes="int32"),
            S(g.real(), float64).but(dtypes="int64"),
        ],
        check=lambda out, a, dtype: np.testing.assert_array_equal(out, a.view(dtype.numpy)),
        torch=lambda torch, a, dtype: a.view(dtype),
        dtypes=("float64", "int32", "int64"),
        grad=False,
        errors=lambda g: [E((g.real(2), float32), {}, DTypeError, "8 bytes")],
    ),
    Row(
        "unfold",
        lambda g: [
            S(g.real(7), 0, 3, 2),
            S(g.real(2, 5), -1, 2, 1),
            S(g.real(5, 2), 0, 2, 3),
            S(g.real(), 0, 1, 1),
            S(g.real(3), 0, 0, 1),
            S(g.real(4), 0, 4, 5),
        ],
        lambda a, dim, size, step: windows(a, dim, size, step),
        torch=lambda torch, a, dim, size, step: a.unfold(dim, size, step),
        dtypes="all",
        covers=("unfold_backward",),
        errors=lambda g: [E((g.real(3), 0, 4, 1), {}, ShapeError, "unfold"), E((g.real(3), 0, 1, 0), {}, ValueRangeError, "step")],
    ),
    Row(
        "as_strided",
        lambda g: [
            S(g.real(4, 3), (2, 2), (3, 1), 1),
            S(g.real(6), (3, 3), (1, 1)),
            S(g.real(6), (2, 2), (0, 2)),
            S(g.real(4), (0, 2), (1, 1)),
        ],
        lambda a, size, stride, offset=0: a.reshape(-1)[
            offset
            + sum(np.arange(n).reshape(-1, *(1,) * (len(size) - 1 - i)) * s for i, (n, s) in enumerate(zip(size, stride, strict=True)))
        ],
        call=lambda a, *args: FUNCTIONS["as_strided"](a.contiguous(), *args),
        dtypes="all",
        covers=("as_strided_backward",),
        errors=lambda g: [
            E((g.real(4), (5,), (1,)), {}, IndexOutOfRange, "as_strided"),
            E((g.real(4), (2,), (1, 1)), {}, ShapeError, "as_strided"),
            E((g.real(4), (2,), (-1,)), {}, ValueRangeError, "as_strided"),
        ],
    ),
]


def windows(a, dim, size, step):
    if not a.ndim:
        return a.reshape(1)[:size]
    starts = range(0, a.shape[dim] - size + 1, step)
    return np.stack([np.moveaxis(np.take(a, range(s, s + size), dim), dim, -1) for s in starts], dim % a.ndim)
