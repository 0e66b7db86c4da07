"""Samples of decompositions. What is determined up to signs is checked by its definition; tests/linalg compares more with torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.support.linalg_errors import LinAlgError

PRECISE = ("float64", "float32")
"""The dtypes LAPACK has; 16-bit floats are refused, as by torch."""


def swap(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


def well(g: Gen, *shape: int) -> np.ndarray:
    """Matrices with singular values 1, 1.4, 1.8, …: well conditioned, the values apart."""
    m, n = shape[-2:]
    k = min(m, n)
    u, v = np.linalg.qr(g.real(*shape[:-2], m, k))[0], np.linalg.qr(g.real(*shape[:-2], n, k))[0]
    return np.asarray((u * (1 + 0.4 * np.arange(k))) @ swap(v))


def definite(g: Gen, *shape: int) -> np.ndarray:
    """Symmetric positive-definite matrices with eigenvalues 1, 1.4, …"""
    q = np.linalg.qr(g.real(*shape))[0]
    return np.asarray((q * (1 + 0.4 * np.arange(shape[-1]))) @ swap(q))


def near(a: Any, b: Any, scale: float = 1.0) -> None:
    limit = (1e-12 if a.dtype == b.dtype == np.float64 else 2e-5) * scale
    np.testing.assert_allclose(a, b, rtol=limit, atol=limit)


def refused(name: str, *more: Any, square: bool = True) -> Any:
    """The errors of every operation on one batch of matrices."""

    def errors(g: Gen) -> list[E]:
        found = [
            E((g.real(3),), {}, ShapeError, "at least 2 dimensions"),
            E((g.index((2, 2), 3),), {}, DTypeError, "floating point"),
            E((g.real(2, 2).astype(np.float16),), {}, DTypeError, "low precision"),
            *more,
        ]
        return [*found, E((g.real(2, 3),), {}, ShapeError, "square")] if square else found

    return errors


# ---- checks by definition ----------------------------------------------------------------------------------------------------------------


def check_qr(outs: Any, A: Any, mode: str = "reduced") -> None:
    q, r = outs
    assert np.array_equal(r, np.triu(r))
    if mode == "r":
        assert q.shape == (0,)
        near(swap(r) @ r, swap(A) @ A)
        return
    near(q @ r, A)
    near(swap(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1])))


def check_svd(outs: Any, A: Any, full_matrices: bool = True) -> None:
    u, s, vh = outs
    k = s.shape[-1]
    assert u.shape[-1] == (A.shape[-2] if full_matrices else k)
    assert vh.shape[-2] == (A.shape[-1] if full_matrices else k)
    near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], A)
    near(swap(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (*u.shape[:-2], u.shape[-1], u.shape[-1])))
    near(vh @ swap(vh), np.broadcast_to(np.eye(vh.shape[-2]), (*vh.shape[:-2], vh.shape[-2], vh.shape[-2])))
    assert (np.diff(s) <= 0).all()


def check_eigh(outs: Any, A: Any, UPLO: str = "L") -> None:
    values, vectors = outs
    triangle = np.tril(A) if UPLO == "L" else np.triu(A)
    whole = triangle + swap(triangle) - triangle * np.eye(A.shape[-1])
    near(whole @ vectors, vectors * values[..., None, :])
    near(swap(vectors) @ vectors, np.broadcast_to(np.eye(A.shape[-1]), A.shape))
    assert (np.diff(values) >= 0).all()


def check_geqrf(outs: Any, A: Any) -> None:
    h, tau = outs
    near(np.triu(h[..., : tau.shape[-1], :]), np.linalg.qr(A, "r") if A.size else np.triu(h[..., : tau.shape[-1], :]))


def cholesky(a: Any, upper: bool = False, check_errors: bool = False) -> Any:
    return np.linalg.cholesky(a, upper=upper), np.zeros(a.shape[:-2], np.int32)


def householder(a: Any, tau: Any) -> Any:
    m, n = a.shape[-2:]
    result = np.zeros(a.shape)
    for place in np.ndindex(a.shape[:-2]):
        q = np.eye(m)
        for i in range(tau.shape[-1]):
            v = np.concatenate((np.zeros(i), [1.0], a[place][i + 1 :, i]))
            q = q @ (np.eye(m) - tau[place][i] * np.outer(v, v))
        result[place] = q[:, :n]
    return result


def symmetric(record: str) -> Any:
    """The record on the symmetric part of a matrix, as finite differences of one triangle need."""

    def call(a: Any, **kwargs: Any) -> Any:
        from twofold.tensors.functions import FUNCTIONS

        return FUNCTIONS[record]((a + a.transpose(-1, -2)) * 0.5, **kwargs)

    return call


def eigenvalues(a: Any, UPLO: str = "L") -> Any:
    return np.linalg.eigvalsh((a + swap(a)) * 0.5, UPLO)


def eigh_of_sum(outs: Any, a: Any, UPLO: str = "L") -> None:
    check_eigh(outs, (a + swap(a)) * 0.5, UPLO)


INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
NAN = np.full((2, 2), np.nan)
SHAPES = ((3, 3), (2, 4, 2), (2, 4), (1, 1), (0, 3, 3), (3, 0))

ROWS = [
    Row(
        "gap_ratio",
        lambda g: [
            S(g.real(3, 3), g.nonzero(3, 3)),
            S(g.real(0), g.nonzero(0)),
            S(np.array([0.0, 0.0]), np.array([0.0, 2.0])).but(grad=False),
        ],
        lambda a, b: np.where(a == 0, 0.0, a / np.where(a == 0, 1.0, b)),
        torch=None,
        dtypes=PRECISE,
    ),
    Row(
        "linalg_cholesky_ex",
        lambda g: [
            S(definite(g, 3, 3)),
            S(definite(g, 2, 4, 4), upper=True),
            S(definite(g, 1, 1)),
            S(g.real(0, 0)),
        ],
        cholesky,
        torch=lambda torch, a, **kw: torch.linalg.cholesky_ex((a + a.mT) * 0.5, **kw),
        call=symmetric("linalg_cholesky_ex"),
        dtypes=PRECISE,
        tolerance=4.0,  # the gradient of float32 has the condition number as a factor
        errors=lambda g: [E((np.stack([np.eye(2), INDEFINITE]),), {"check_errors": True}, LinAlgError, "(Batch element 1)")],
    ),
    Row(
        "linalg_qr",
        lambda g: [
            *(S(well(g, *s) if 0 not in s else g.real(*s)) for s in SHAPES),
            S(well(g, 2, 3), "complete"),
            S(well(g, 3, 2), "complete").but(grad=False),  # its last column is not determined
            S(well(g, 4, 3), "r").but(torch=False),  # torch has no gradient for it
            S(well(g, 2, 3), "r").but(torch=False),
        ],
        torch=lambda torch, a, mode="reduced": torch.linalg.qr(a, mode),
        check=check_qr,
        dtypes=PRECISE,
        tolerance=8.0,
        errors=refused("qr", E((np.eye(2), "x"), {}, ValueRangeError, "unrecognized mode"), square=False),
    ),
    Row(
        "geqrf",
        lambda g: [S(g.real(*s)) for s in SHAPES],
        check=check_geqrf,
        dtypes=PRECISE,
        grad=False,
        tolerance=4.0,
        errors=refused("geqrf", square=False),
    ),
    Row(
        "linalg_householder_product",
        lambda g: [
            S(g.real(3, 2), g.real(2)),
            S(g.real(2, 4, 3), g.real(2, 2)),
            S(g.real(3, 3), g.real(0)),
            S(g.real(0, 2, 2), g.real(0, 2)),
        ],
        householder,
        torch=lambda torch, a, tau: torch.linalg.householder_product(a, tau),
        dtypes=PRECISE,
        tolerance=8.0,
        errors=lambda g: [
            E((g.real(2, 3), g.real(2)), {}, ShapeError, "greater than or equal"),
            E((g.real(3, 2), g.real(3)), {}, ShapeError, "greater than or equal"),
            E((g.real(3, 2), g.real(1, 2)), {}, ShapeError, "batch"),
            E((g.real(3, 2), g.real(2).astype(np.float32)), {}, DTypeError, "tau dtype"),
        ],
    ),
    Row(
        "linalg_svd",
        lambda g: [
            *(S(well(g, *s) if 0 not in s else g.real(*s), False) for s in SHAPES),
            S(well(g, 3, 3)),
            S(well(g, 3, 2)).but(grad=False),  # the last column of U is not determined
        ],
        torch=None,  # the signs of singular vectors may differ
        check=check_svd,
        dtypes=PRECISE,
        tolerance=16.0,
        errors=refused("svd", E((NAN,), {}, LinAlgError, "non-finite"), square=False),
    ),
    Row(
        "linalg_svdvals",
        lambda g: [S(well(g, *s) if 0 not in s else g.real(*s)) for s in SHAPES],
        lambda a: np.linalg.svdvals(a) if a.size else np.zeros((*a.shape[:-2], min(a.shape[-2:]))),
        torch=lambda torch, a: torch.linalg.svdvals(a),
        dtypes=PRECISE,
        tolerance=8.0,
        errors=refused("svdvals", E((NAN,), {}, LinAlgError, "non-finite"), square=False),
    ),
    Row(
        "linalg_eigh",
        lambda g: [S(definite(g, 3, 3)), S(definite(g, 2, 3, 3), UPLO="U"), S(g.real(1, 1)), S(g.real(2, 0, 0))],
        torch=None,  # the signs of eigenvectors may differ
        check=eigh_of_sum,
        call=symmetric("linalg_eigh"),
        dtypes=PRECISE,
        tolerance=16.0,
    ),
    Row(
        "linalg_eigvalsh",
        lambda g: [S(definite(g, 3, 3)), S(definite(g, 2, 3, 3), UPLO="U"), S(g.real(1, 1)), S(g.real(2, 0, 0))],
        eigenvalues,
        torch=None,  # called on the symmetric part
        call=symmetric("linalg_eigvalsh"),
        dtypes=PRECISE,
        tolerance=8.0,
    ),
]
