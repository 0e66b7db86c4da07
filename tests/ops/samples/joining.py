"""Samples of joining, repeating and rearranging."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import ArgumentError, DimensionError, ShapeError, ValueRangeError
from twofold.tensors.functions import FUNCTIONS, METHODS

ROWS = [
    Row(
        "cat",
        lambda g: [
            S([g.real(2, 3), g.real(1, 3)]),
            S([g.real(2, 3), g.real(2, 0), g.real(2, 1)], -1),
            S([g.real(2)]),
            S([g.real(2, 2), g.index((1, 2), 5)]).but(dtypes="float"),
        ],
        lambda arrays, dim=0: np.concatenate(arrays, dim),
        dtypes="all",
        errors=lambda g: [
            E(([g.real(2, 3), g.real(2, 2)],), {}, ShapeError, "tensor 1 has shape (2, 2)"),
            E(([],), {}, ShapeError, "at least one"),
            E(([g.real()],), {}, ShapeError, "0-d"),
            E((g.real(2),), {}, ArgumentError, "sequence"),
            E(([g.real(2), 1.0],), {}, ArgumentError, "tensors[1]"),
            E(([g.real(2)], 1), {}, DimensionError, "cat"),
        ],
    ),
    Row(
        "stack",
        lambda g: [S([g.real(2, 3), g.real(2, 3)]), S([g.real(2, 3)] * 2, -1), S([g.real(), g.real()]), S([g.real(0)], 1)],
        lambda arrays, dim=0: np.stack(arrays, dim),
        dtypes="all",
        errors=lambda g: [E(([g.real(2), g.real(3)],), {}, ShapeError, "tensor 1"), E(([],), {}, ShapeError, "at least one")],
    ),
    Row("hstack", lambda g: [S([g.real(2), g.real(1)]), S([g.real(2, 1), g.real(2, 3)]), S([g.real()])], np.hstack),
    Row("vstack", lambda g: [S([g.real(2), g.real(2)]), S([g.real(1, 2), g.real(2, 2)])], np.vstack),
    Row("dstack", lambda g: [S([g.real(2), g.real(2)]), S([g.real(2, 2), g.real(2, 2)]), S([g.real(), g.real()])], np.dstack),
    Row(
        "column_stack",
        lambda g: [S([g.real(2), g.real(2, 2)]), S([g.real(), g.real()])],
        lambda v: np.column_stack([np.atleast_1d(a) for a in v]),
    ),
    Row("atleast_1d", lambda g: [S(g.real()), S(g.real(2)), S(g.real(), g.real(1, 2))], np.atleast_1d),
    Row("atleast_2d", lambda g: [S(g.real()), S(g.real(2)), S(g.real(1, 2, 3))], np.atleast_2d),
    Row("atleast_3d", lambda g: [S(g.real()), S(g.real(2)), S(g.real(2, 3))], np.atleast_3d),
    Row(
        "repeat",
        lambda g: [S(g.real(2, 3), (2, 1)), S(g.real(2), (3, 2)), S(g.real(), (2,)), S(g.real(2), (0,)), S(g.real(), ())],
        np.tile,
        torch=lambda torch, a, repeats: a.repeat(repeats),
        dtypes="all",
        call=lambda a, repeats: METHODS["repeat"](a, repeats),
        errors=lambda g: [E((g.real(2, 3), (2,)), {}, ShapeError, "repeat"), E((g.real(2), (-1,)), {}, ValueRangeError, "negative")],
    ),
    Row("tile", lambda g: [S(g.real(2, 3), (2,)), S(g.real(2), (2, 3))], np.tile),
    Row(
        "repeat_interleave",
        lambda g: [
            S(g.real(2, 3), 2),
            S(g.real(2, 3), 2, 1),
            S(g.real(2, 3), 0, 0),
            S(g.real(3, 2), np.array([1, 0, 2]), 0),
            S(g.real(2), np.array([3])),
        ],
        lambda a, repeats, dim=None: np.repeat(a, repeats, dim),
        meta=False,
        grad=(0,),
        call=lambda a, repeats, dim=None: no_meta(a) or FUNCTIONS["repeat_interleave"](a, repeats, dim),
        errors=lambda g: [
            E((g.real(2), np.array([1, 2, 3])), {}, ShapeError, "repeat_interleave"),
            E((g.real(2), -1), {}, ValueRangeError, "negative"),
        ],
    ),
    Row(
        "flip",
        lambda g: [S(g.real(2, 3), (0,)), S(g.real(2, 3), (0, -1)), S(g.real(2), ()), S(g.real(0, 2), (0,))],
        np.flip,
        dtypes="all",
        errors=lambda g: [E((g.real(2), (0, 0)), {}, DimensionError, "twice")],
    ),
    Row("fliplr", lambda g: [S(g.real(2, 3))], np.fliplr, errors=lambda g: [E((g.real(2),), {}, ShapeError, "fliplr")]),
    Row("flipud", lambda g: [S(g.real(2, 3))], np.flipud),
    Row(
        "roll",
        lambda g: [S(g.real(5), 2), S(g.real(2, 3), -1), S(g.real(2, 3), (1, 2), (0, -1)), S(g.real(0), 1, 0)],
        lambda a, shifts, dims=None: np.roll(a, shifts, dims),
        dtypes="all",
        errors=lambda g: [E((g.real(2, 3), (1, 2), (0,)), {}, ValueRangeError, "roll")],
    ),
    Row(
        "rot90",
        lambda g: [S(g.real(2, 3), k) for k in (0, 1, 2, 3, -1)] + [S(g.real(2, 3, 2), 1, (2, 0))],
        lambda a, k=1, dims=(0, 1): np.rot90(a, k, dims),
        torch=lambda torch, a, k=1, dims=(0, 1): torch.rot90(a, k, dims),
        errors=lambda g: [E((g.real(2, 2), 1, (0, 0)), {}, DimensionError, "rot90")],
    ),
    *(
        Row(
            name,
            lambda g, name=name: [S(g.real(3, 4)), S(g.real(3, 4), 1), S(g.real(2, 3, 3), -1), S(g.real(0, 2)), S(g.real(2, 2), 9)],
            getattr(np, name),
            dtypes="all",
            inplace=name + "_",
            errors=lambda g, name=name: [E((g.real(3),), {}, ShapeError, name)],
        )
        for name in ("tril", "triu")
    ),
    Row(
        "diag_embed",
        lambda g: [S(g.real(3)), S(g.real(2, 3), 1), S(g.real(2, 3), -1, 0, 2), S(g.real(0))],
        lambda a, offset=0, dim1=-2, dim2=-1: embedded(a, offset, dim1, dim2),
        dtypes="all",
        errors=lambda g: [E((g.real(2), 0, 0, 0), {}, DimensionError, "diag_embed")],
    ),
    Row(
        "diag",
        lambda g: [S(g.real(3)), S(g.real(3), -1), S(g.real(2, 3), 1)],
        np.diag,
        errors=lambda g: [E((g.real(2, 2, 2),), {}, ShapeError, "diag")],
    ),
]


def no_meta(a):
    """`repeats` as a number needs no value: tell the two apart for the test that expects a refusal."""
    if a._array is None:
        raise ShapeError("no data")


def embedded(a, offset, dim1, dim2):
    n = a.shape[-1] + abs(offset)
    result = np.zeros((*a.shape[:-1], n, n), a.dtype)
    rows = np.arange(a.shape[-1]) + max(0, -offset)
    result[..., rows, rows + offset] = a
    return np.moveaxis(result, (-2, -1), (dim1, dim2))
