"""Samples of LU and LDL^T."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Row, S
from tests.ops.samples.decomposition import PRECISE, near, refused, swap, well
from twofold.support.errors import DTypeError, ShapeError, UnsupportedError
from twofold.support.linalg_errors import LinAlgError

SHAPES = ((3, 3), (2, 4, 2), (2, 2, 4), (1, 1), (0, 3, 3), (3, 0))
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def order_of(pivots: Any, m: int) -> list[int]:
    order = list(range(m))
    for i, p in enumerate(pivots):
        order[i], order[p - 1] = order[p - 1], order[i]
    return order


def check_lu(outs: Any, A: Any, check_errors: bool = False) -> None:
    lu, pivots, info = outs
    k = min(A.shape[-2:])
    assert (pivots.dtype, info.dtype) == (np.int32, np.int32)
    for place in np.ndindex(A.shape[:-2]):
        lower = np.tril(lu[place][:, :k], -1) + np.eye(A.shape[-2], k)
        near(lower @ np.triu(lu[place][:k]), A[place][order_of(pivots[place], A.shape[-2])])
        assert (np.abs(lower) <= 1).all()
        assert info[place] == 0 or lu[place][info[place] - 1, info[place] - 1] == 0


def lu_unpack(lu: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    m, n = lu.shape[-2:]
    k = min(m, n)
    p = np.zeros((*lu.shape[:-2], m, m))
    for place in np.ndindex(lu.shape[:-2]):
        p[place] = np.eye(m)[:, order_of(pivots[place], m)]
    lower, upper = np.tril(lu[..., :k], -1) + np.eye(m, k), np.triu(lu[..., :k, :])
    none = np.zeros((0,))
    return p if unpack_pivots else none, lower if unpack_data else none, upper if unpack_data else none


def symmetric(g: Any, *shape: int) -> Any:
    a = g.real(*shape)
    return a + swap(a)


def check_ldl(outs: Any, a: Any, **kwargs: Any) -> None:
    """By solving with the factors."""
    from twofold.ops.lapack import ldl_solve

    ld, pivots, info = outs
    assert (pivots.dtype, info.dtype, pivots.shape) == (np.int32, np.int32, a.shape[:-1])
    if a.size:
        near(a @ ldl_solve(ld, pivots, np.ones_like(a)), np.ones_like(a), 100)


ROWS = [
    Row(
        "linalg_lu_factor_ex",
        lambda g: [*(S(well(g, *s) if 0 not in s else g.real(*s)) for s in SHAPES), S(SINGULAR).but(grad=False)],
        torch=lambda torch, a: torch.linalg.lu_factor_ex(a),
        check=check_lu,
        dtypes=PRECISE,
        tolerance=16.0,
        errors=refused(
            "lu_factor",
            E((SINGULAR,), {"check_errors": True}, LinAlgError, "U[2,2] is zero"),
            E((np.eye(2),), {"pivot": False}, UnsupportedError, "pivot"),
            square=False,
        ),
    ),
    Row(
        "lu_unpack",
        lambda g: [
            S(g.real(3, 3), np.array([2, 3, 3], np.int32)),
            S(g.real(2, 4, 2), np.array([[3, 2], [1, 4]], np.int32)),
            S(g.real(2, 3), np.array([2, 2], np.int32), True, False),
            S(g.real(3, 3), np.array([2, 3, 3], np.int32), unpack_data=False).but(grad=False),
            S(g.real(0, 2, 2), np.zeros((0, 2), np.int32)),
        ],
        lu_unpack,
        torch=lambda torch, lu, pivots, *a, **kw: torch.lu_unpack(lu, pivots, *a, **kw),
        dtypes=PRECISE,
        grad=(0,),
        errors=lambda g: [
            E((g.real(2, 2), g.index(2, 1, 0)), {}, DTypeError, "int32"),
            E((g.real(2, 2), np.array([1], np.int32)), {}, ShapeError, "pivots"),
        ],
    ),
    Row(
        "linalg_ldl_factor_ex",
        lambda g: [S(symmetric(g, 3, 3)), S(symmetric(g, 2, 5, 5)), S(g.real(1, 1)), S(g.real(2, 0, 0))],
        torch=None,  # torch leaves the input's upper triangle in place; tests/linalg compares the lower ones
        check=check_ldl,
        dtypes=PRECISE,
        grad=False,
        errors=refused("ldl_factor", E((np.zeros((2, 2)),), {"check_errors": True}, LinAlgError, "singular")),
    ),
    Row(
        "linalg_ldl_solve",
        lambda g: [
            # rows 0 and 1 exchanged, then 1 with itself; a block of two
            S(np.tril(well(g, 2, 2)) + 2 * np.eye(2), np.array([1, 2], np.int32), g.real(2, 3)),
            S(np.tril(well(g, 2, 3, 3)), np.array([[-2, -2, 3]] * 2, np.int32), g.real(1, 3, 1)),
            S(g.real(0, 2, 2), np.ones((0, 2), np.int32), g.real(0, 2, 1)),
        ],
        torch=lambda torch, ld, p, b: torch.linalg.ldl_solve(ld, p, b),
        check=lambda out, ld, p, b: None if not out.size else np.testing.assert_equal(np.isfinite(out).all(), True),
        dtypes=PRECISE,
        grad=False,
        errors=lambda g: [
            E((np.eye(2), np.array([1, 2], np.int32), g.real(3, 1)), {}, ShapeError, "Incompatible"),
            E((np.eye(2), np.array([1], np.int32), g.real(2, 1)), {}, ShapeError, "pivots"),
            E((np.eye(2), np.array([1, 2]), g.real(2, 1)), {}, DTypeError, "int32"),
            E((np.eye(2), np.array([1, 2], np.int32), g.real(2, 1).astype(np.float32)), {}, DTypeError, "one dtype"),
        ],
    ),
]
