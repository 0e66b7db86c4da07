"""Samples of inverses, linear systems and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Row, S
from tests.ops.samples.decomposition import PRECISE, refused, swap, well
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.support.linalg_errors import LinAlgError

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def triangular(A: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    t = np.triu(A) if upper else np.tril(A)
    if unitriangular:
        t = t - t * np.eye(A.shape[-1]) + np.eye(A.shape[-1])
    return np.linalg.solve(t, B) if left else swap(np.linalg.solve(swap(t), swap(B)))


def solve(A: Any, B: Any, left: bool = True, check_errors: bool = False) -> Any:
    x = np.linalg.solve(A, B) if left else swap(np.linalg.solve(swap(A), swap(B)))
    return x, np.zeros(A.shape[:-2], np.int32)


def lstsq(A: Any, B: Any, rcond: Any = None, driver: str = "gelsy") -> Any:
    x = np.linalg.pinv(A, rcond=rcond or 1e-7) @ B
    values = np.linalg.svdvals(A)
    rank = (values > (rcond or 1e-7) * values[..., :1]).sum(-1)
    return x, ((B - A @ x) ** 2).sum(-2), rank, values


def pinv(A: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if not A.size:
        return swap(A)
    if atol is None:
        return np.linalg.pinv(A, rcond=1e-6 if rtol is None else rtol, hermitian=hermitian)
    return np.linalg.pinv(A, rcond=float(np.max(atol)) / np.linalg.svdvals(A).max())


def matrix_exp(a: Any) -> Any:
    """The series, of a matrix scaled to be small."""
    x = a / 2.0**10
    one = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    term = result = one
    for i in range(1, 12):
        term = term @ x / i
        result = result + term
    for _ in range(10):
        result = result @ result
    return result


def rank_one(g: Any, m: int, n: int) -> Any:
    return np.outer(g.nonzero(m), g.nonzero(n))


ROWS = [
    Row(
        "linalg_inv_ex",
        lambda g: [S(well(g, 3, 3)), S(well(g, 2, 4, 4)), S(well(g, 1, 1)), S(g.real(0, 0)), S(g.real(0, 2, 2))],
        lambda a: (np.linalg.inv(a), np.zeros(a.shape[:-2], np.int32)),
        torch=lambda torch, a: torch.linalg.inv_ex(a),
        dtypes=PRECISE,
        tolerance=4.0,
        errors=refused(
            "inv", E((np.stack([np.eye(2), SINGULAR]),), {"check_errors": True}, LinAlgError, "(Batch element 1): The diagonal")
        ),
    ),
    Row(
        "linalg_solve_ex",
        lambda g: [
            S(well(g, 3, 3), g.real(3, 2)),
            S(well(g, 2, 3, 3), g.real(3, 1)),
            S(well(g, 3, 3), g.real(2, 3, 2)),
            S(well(g, 3, 3), g.real(2, 3), left=False),
            S(well(g, 2, 2), g.real(2, 0)),
            S(g.real(0, 0), g.real(0, 2)),
        ],
        solve,
        torch=lambda torch, a, b, **kw: torch.linalg.solve_ex(a, b, **kw),
        dtypes=PRECISE,
        tolerance=4.0,
        errors=lambda g: [
            E((SINGULAR, g.real(2, 1)), {"check_errors": True}, LinAlgError, "singular"),
            E((np.eye(2), g.real(3, 1)), {}, ShapeError, "Incompatible"),
            E((g.real(2, 3), g.real(2, 1)), {}, ShapeError, "square"),
            E((np.eye(2), g.real(2, 1).astype(np.float32)), {}, DTypeError, "same dtype"),
            E((np.stack([np.eye(2)] * 2), g.real(3, 2, 1)), {}, ShapeError, "broadcast"),
        ],
    ),
    Row(
        "linalg_solve_triangular",
        lambda g: [
            S(well(g, 3, 3) + 2 * np.eye(3), g.real(3, 2), upper=True),
            S(well(g, 2, 3, 3) + 2 * np.eye(3), g.real(3, 1), upper=False),
            S(well(g, 3, 3) + 2 * np.eye(3), g.real(2, 2, 3), upper=True, left=False),
            S(well(g, 3, 3), g.real(2, 3), upper=False, left=False, unitriangular=True),
            S(well(g, 3, 3), g.real(3, 2), upper=True, unitriangular=True),
            S(g.real(0, 0), g.real(0, 2), upper=True),
            S(g.positive(1, 1), g.real(1, 0), upper=True),
        ],
        triangular,
        torch=lambda torch, a, b, **kw: torch.linalg.solve_triangular(a, b, **kw),
        dtypes=PRECISE,
        tolerance=4.0,
        errors=lambda g: [
            E((np.eye(2), g.real(3, 1)), {"upper": True}, ShapeError, "Incompatible"),
            E((np.eye(2), g.real(2)), {"upper": True}, ShapeError, "at least 2"),
        ],
    ),
    Row(
        "linalg_pinv",
        lambda g: [
            S(well(g, 3, 3)),
            S(well(g, 2, 4, 2)),
            S(well(g, 2, 4)),
            S(rank_one(g, 3, 2)).but(grad=False),
            S(well(g, 3, 2), np.array(1.2)).but(grad=False),
            S(well(g, 3, 2), None, np.array(0.9, np.float64)).but(grad=False),
            S(g.real(0, 3)),
        ],
        pinv,
        torch=lambda torch, a, *t: torch.linalg.pinv(a, **dict(zip(("atol", "rtol"), t, strict=False))),
        dtypes=PRECISE,
        tolerance=8.0,
        errors=refused("pinv", square=False),
    ),
    Row(
        "linalg_lstsq",
        lambda g: [
            S(well(g, 4, 2), g.real(4, 3)),
            S(well(g, 2, 3, 3), g.real(3, 1)),
            S(well(g, 2, 4), g.real(2, 2), driver="gels"),
            S(rank_one(g, 3, 2), g.real(3, 1), rcond=1e-3).but(grad=False),
        ],
        lstsq,
        torch=None,  # `linalg.lstsq` leaves some results out; tests/linalg compares it
        dtypes=PRECISE,
        tolerance=16.0,
        errors=lambda g: [
            E((g.real(3, 2), g.real(4, 2)), {}, ShapeError, "size(-2)"),
            E((g.real(3, 2), g.real(3, 2)), {"driver": "x"}, ValueRangeError, "driver"),
            E((g.real(3, 2), g.real(3, 2).astype(np.float32)), {}, DTypeError, "same dtype"),
        ],
    ),
    Row(
        "linalg_matrix_exp",
        lambda g: [S(g.real(3, 3)), S(g.real(2, 2, 2) * 4), S(g.real(1, 1)), S(g.real(0, 0)), S(g.real(0, 2, 2))],
        matrix_exp,
        torch=lambda torch, a: torch.linalg.matrix_exp(a),
        dtypes=PRECISE,
        tolerance=16.0,  # of the oracle's ten squarings
        errors=refused("matrix_exp"),
    ),
]
