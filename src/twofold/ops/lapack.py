"""Dense linear algebra on arrays: what NumPy's LAPACK does not offer (LU, triangular systems, LDL^T, reflections), and its failures told
for each matrix of a batch.

All functions take arrays (..., m, n) of float32 or float64 and treat the leading dimensions as a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.support.linalg_errors import LinAlgError

BLOCK = 48
"""Columns handled together: enough for the matrix product to dominate, few enough for the plain loop inside."""


def transposed(a: Any) -> Any:
    """Every matrix of the batch transposed (a view)."""
    return np.swapaxes(a, -1, -2)


def batch_place(shape: tuple[int, ...], index: int) -> str:
    """How messages name the matrix at a flat index of the batch: "" where there is only one matrix."""
    if not shape:
        return ""
    place = np.unravel_index(index, shape)
    return f"(Batch element {', '.join(str(int(i)) for i in place)}): "


def raise_if_failed(name: str, info: Any, text: str) -> None:
    """Raise LinAlgError for the first matrix whose `info` is not 0; `text` may name {info}."""
    info = np.asarray(info)
    bad = np.flatnonzero(info)
    if bad.size:
        first = int(bad[0])
        raise LinAlgError(f"{name}: {batch_place(info.shape, first)}{text.format(info=int(info.flat[first]))}")


def refuse_non_finite(name: str, a: Any) -> None:
    """Raise LinAlgError if a matrix has NaN or infinities: LAPACK's iterations do not converge for them."""
    good = np.isfinite(a).all(axis=(-1, -2))
    if not np.all(good):
        bad = int(np.flatnonzero(~np.asarray(good))[0])
        raise LinAlgError(
            f"{name}: {batch_place(np.shape(good), bad)}The algorithm failed to converge because the input matrix contained "
            "non-finite values."
        )


def converged(name: str, function: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """One of NumPy's iterative decompositions; its failure as our error."""
    refuse_non_finite(name, a)
    try:
        return function(a, *args, **kwargs)
    except np.linalg.LinAlgError as e:
        if isinstance(e, LinAlgError):
            raise
        raise LinAlgError(f"{name}: the algorithm did not converge (matrices of shape {a.shape[-2:]})") from None


# ---- LU ----------------------------------------------------------------------------------------------------------------------------------


def lu_factor(a: Any) -> tuple[Any, Any, Any]:
    """(LU, pivots, info): P A = L U with partial pivoting, in LAPACK's form: L below the diagonal of LU, U on and above it; in step j row j
    was exchanged with row pivots[j] (counted from 1); info is the first j (from 1) with U[j, j] = 0, or 0.

    Right-looking by blocks of columns (Golub and Van Loan, "Matrix Computations", section 3.2.11).
    """
    batch, m, n = a.shape[:-2], a.shape[-2], a.shape[-1]
    w = np.array(a, order="C").reshape(-1, m, n) if a.size else np.empty((math.prod(batch), m, n), a.dtype)
    count, k = len(w), min(m, n)
    pivots = np.empty((count, k), np.int32)
    info = np.zeros(count, np.int32)
    every = np.arange(count)
    for first in range(0, k, BLOCK):
        last = min(first + BLOCK, k)
        for j in range(first, last):
            p = np.abs(w[:, j:, j]).argmax(axis=1) + j
            pivots[:, j] = p + 1
            row = w[every, p]
            w[every, p] = w[:, j]
            w[:, j] = row
            head = w[:, j, j].copy()
            zero = head == 0
            info[zero & (info == 0)] = j + 1
            head[zero] = 1
            w[:, j + 1 :, j] /= head[:, None]
            w[:, j + 1 :, j + 1 : last] -= w[:, j + 1 :, j, None] * w[:, j, None, j + 1 : last]
        if last < n:
            for j in range(first, last - 1):
                w[:, j + 1 : last, last:] -= w[:, j + 1 : last, j, None] * w[:, j, None, last:]
            w[:, last:, last:] -= w[:, last:, first:last] @ w[:, first:last, last:]
    return w.reshape(a.shape), pivots.reshape((*batch, k)), info.reshape(batch)


def permutation_of(pivots: Any, m: int) -> Any:
    """The order of rows that LAPACK's exchanges make of 0 … m-1, (..., m)."""
    flat = pivots.reshape(-1, pivots.shape[-1]) if pivots.size else np.empty((math.prod(pivots.shape[:-1]), 0), np.int32)
    order = np.tile(np.arange(m), (len(flat), 1))
    every = np.arange(len(flat))
    for j in range(flat.shape[1]):
        p = flat[:, j].astype(np.int64) - 1
        old = order[every, p]
        order[every, p] = order[:, j]
        order[:, j] = old
    return order.reshape((*pivots.shape[:-1], m))


def permutation_matrix(pivots: Any, m: int, dtype: Any) -> Any:
    """P of A = P L U."""
    order = permutation_of(pivots, m)
    result = np.zeros((*order.shape, m), dtype)
    np.put_along_axis(result, order[..., None], 1, axis=-1)
    return np.ascontiguousarray(transposed(result))


# ---- triangular systems ------------------------------------------------------------------------------------------------------------------


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """x with a x = b for triangular a (..., n, n) and b (..., n, k); the batches broadcast. The other triangle is not read, with `unit` the
    diagonal neither. A zero on the diagonal gives infinities and NaN, as BLAS does."""
    if not upper:  # in reverse order rows and columns of a lower triangle are an upper one
        return solve_triangular(a[..., ::-1, ::-1], b[..., ::-1, :], True, unit)[..., ::-1, :].copy()
    n = a.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.empty((*batch, *b.shape[-2:]), b.dtype)
    for first in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK) if n else ():
        last = min(first + BLOCK, n)
        right = b[..., first:last, :]
        if last < n:
            right = right - a[..., first:last, last:] @ x[..., last:, :]
        x[..., first:last, :] = _solve_block(a[..., first:last, first:last], right, unit)
    return x


def _solve_block(a: Any, b: Any, unit: bool) -> Any:
    """One diagonal block. Gaussian elimination of an upper triangle exchanges nothing and is plain back substitution."""
    block = np.triu(a)
    n = block.shape[-1]
    if unit:
        block[..., range(n), range(n)] = 1
    if np.diagonal(block, 0, -2, -1).all():
        return np.linalg.solve(block, b)
    x = np.array(np.broadcast_to(b, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])))
    with np.errstate(all="ignore"):
        for i in range(n - 1, -1, -1):
            x[..., i, :] /= block[..., i, i, None]
            x[..., :i, :] -= block[..., :i, i, None] * x[..., i, None, :]
    return x


# ---- inverse, solution, Cholesky, with failures told one by one --------------------------------------------------------------------------


def one_by_one(function: Callable[..., Any], *arrays: Any) -> Any:
    """`function` of each matrix of a batch (the arrays have one batch shape), the results stacked."""
    batch = arrays[0].shape[:-2]
    flat = [a.reshape(-1, *a.shape[-2:]) for a in arrays]
    results = [function(*parts) for parts in zip(*flat, strict=True)]
    return [np.reshape(np.array(r), (*batch, *np.shape(r[0]))) for r in zip(*results, strict=True)]


def inverse(a: Any) -> tuple[Any, Any]:
    """(inverse, info): of a singular matrix infinities, and the first zero pivot (from 1) in info."""

    def one(matrix: Any) -> tuple[Any, Any]:
        try:
            return np.linalg.inv(matrix), np.int32(0)
        except np.linalg.LinAlgError:
            return np.full_like(matrix, np.inf), lu_factor(matrix)[2]

    try:
        return np.linalg.inv(a), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        result, info = one_by_one(one, a)
        return result, info


def solution(a: Any, b: Any) -> tuple[Any, Any]:
    """(x, info) with a x = b; the batches broadcast. For a singular matrix infinities, and the first zero pivot (from 1) in info."""

    def one(matrix: Any, right: Any) -> tuple[Any, Any]:
        try:
            return np.linalg.solve(matrix, right), np.int32(0)
        except np.linalg.LinAlgError:
            return np.full_like(right, np.inf), lu_factor(matrix)[2]

    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    try:
        return np.linalg.solve(a, b), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        left = np.broadcast_to(a, (*batch, *a.shape[-2:]))
        x, _ = one_by_one(one, left, np.broadcast_to(b, (*batch, *b.shape[-2:])))
        return x, lu_factor(a)[2]


def cholesky(a: Any) -> tuple[Any, Any]:
    """(L, info) with a = L L^T, from the lower triangle; info is the order of the first leading minor that is not positive, or 0. Columns
    from there on are NaN."""

    def one(matrix: Any) -> tuple[Any, Any]:
        try:
            return np.linalg.cholesky(matrix), np.int32(0)
        except np.linalg.LinAlgError:
            return leading_cholesky(matrix)

    try:
        return np.linalg.cholesky(a), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        result, info = one_by_one(one, a)
        return result, info


def leading_cholesky(a: Any) -> tuple[Any, Any]:
    """The columns of the factor of one matrix as far as they exist."""
    n = len(a)
    result = np.tril(a)
    for j in range(n):
        d = result[j, j] - result[j, :j] @ result[j, :j]
        if not d > 0:
            result[:, j:] = np.nan
            return np.tril(result), np.int32(j + 1)
        result[j, j] = math.sqrt(d)
        result[j + 1 :, j] = (result[j + 1 :, j] - result[j + 1 :, :j] @ result[j, :j]) / result[j, j]
    return result, np.int32(0)


# ---- symmetric indefinite matrices -------------------------------------------------------------------------------------------------------

GROWTH = (1.0 + math.sqrt(17.0)) / 8.0
"""The threshold between pivots of order 1 and 2 that keeps elements from growing (Bunch and Kaufman, 1977)."""


def ldl_factor(a: Any) -> tuple[Any, Any, Any]:
    """(LD, pivots, info) of a batch of symmetric matrices, lower triangle, in LAPACK's form (`sytrf`)."""
    n = a.shape[-1]
    if not a.size:
        return np.zeros_like(a), np.zeros((*a.shape[:-2], n), np.int32), np.zeros(a.shape[:-2], np.int32)
    ld, pivots, info = one_by_one(_ldl_one, a)
    return ld, pivots, info


def _ldl_one(a: Any) -> tuple[Any, Any, Any]:
    """Bunch and Kaufman's diagonal pivoting of one matrix: A = L D L^T, D with blocks of order 1 and 2.

    Source: J. R. Bunch and L. Kaufman, "Some stable methods for calculating inertia and solving symmetric linear systems", Math. Comp. 31
    (1977). pivots[k] > 0: row k was exchanged with that row; a block of two has the negative of the row exchanged with its second.
    """
    w, n = np.tril(a), len(a)
    pivots, info, k = np.zeros(n, np.int32), 0, 0
    while k < n:
        step, p = _ldl_pivot(w, k)
        place = k + step - 1
        if p != place:
            _exchange(w, k, place, p)
        if step == 1:
            pivots[k] = p + 1
            d = w[k, k]
            if d == 0:
                info = info or k + 1
            else:
                column = w[k + 1 :, k] / d
                w[k + 1 :, k + 1 :] -= np.tril(np.outer(column, w[k + 1 :, k]))
                w[k + 1 :, k] = column
        else:
            pivots[k] = pivots[k + 1] = -(p + 1)
            if k + 2 < n:
                block = np.array([[w[k, k], w[k + 1, k]], [w[k + 1, k], w[k + 1, k + 1]]])
                columns = w[k + 2 :, k : k + 2].copy()
                factors = np.linalg.solve(block, columns.T).T
                w[k + 2 :, k + 2 :] -= np.tril(factors @ columns.T)
                w[k + 2 :, k : k + 2] = factors
        k += step
    return w, pivots, np.int32(info)


def _ldl_pivot(w: Any, k: int) -> tuple[int, int]:
    """(order of the pivot, row to be exchanged) at step k."""
    n = len(w)
    diagonal = abs(w[k, k])
    if k + 1 == n:
        return 1, k
    r = k + 1 + int(np.abs(w[k + 1 :, k]).argmax())
    largest = abs(w[r, k])
    if max(diagonal, largest) == 0 or diagonal >= GROWTH * largest:
        return 1, k
    others = max(np.abs(w[r, k:r]).max(initial=0.0), np.abs(w[r + 1 :, r]).max(initial=0.0))
    if diagonal >= GROWTH * largest * (largest / others):
        return 1, k
    if abs(w[r, r]) >= GROWTH * others:
        return 1, r
    return 2, r


def _exchange(w: Any, k: int, i: int, p: int) -> None:
    """Exchange rows and columns i < p of the trailing symmetric matrix that begins at k, of which only the lower triangle is kept."""
    w[p + 1 :, i], w[p + 1 :, p] = w[p + 1 :, p].copy(), w[p + 1 :, i].copy()
    w[i + 1 : p, i], w[p, i + 1 : p] = w[p, i + 1 : p].copy(), w[i + 1 : p, i].copy()
    w[i, i], w[p, p] = w[p, p], w[i, i]
    if i > k:
        w[i, k], w[p, k] = w[p, k], w[i, k]


def ldl_solve(ld: Any, pivots: Any, b: Any) -> Any:
    """x with A x = b from `ldl_factor`'s result; the batches broadcast."""
    batch = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2])
    shape = (*batch, *b.shape[-2:])
    if not math.prod(shape):
        return np.zeros(shape, b.dtype)
    wide = np.broadcast_to(pivots, (*batch, pivots.shape[-1]))[..., None]
    (x,) = one_by_one(_ldl_solve_one, np.broadcast_to(ld, (*batch, *ld.shape[-2:])), wide, np.broadcast_to(b, shape))
    return x


def _ldl_solve_one(ld: Any, pivots: Any, b: Any) -> tuple[Any]:
    x, n, k = b.copy(), len(ld), 0
    pivots = pivots[:, 0]
    steps = []
    while k < n:
        step = 1 if pivots[k] > 0 else 2
        i, p = k + step - 1, abs(int(pivots[k])) - 1
        steps.append((k, step, i, p))
        x[[i, p]] = x[[p, i]]
        block = np.tril(ld[k : k + step, k : k + step])
        block += np.tril(block, -1).T
        x[k + step :] -= ld[k + step :, k : k + step] @ x[k : k + step]
        x[k : k + step] = np.linalg.solve(block, x[k : k + step]) if step == 2 else x[k : k + 1] / block
        k += step
    for k, step, i, p in reversed(steps):
        x[k : k + step] -= ld[k + step :, k : k + step].T @ x[k + step :]
        x[[i, p]] = x[[p, i]]
    return (x,)


# ---- reflections -------------------------------------------------------------------------------------------------------------------------


def reflector(a: Any, i: int) -> Any:
    """Column i of the Householder vectors in `a`: zeros, a one in row i, the elements below it."""
    v = np.array(a[..., :, i])
    v[..., :i] = 0
    v[..., i] = 1
    return v


def householder_product(a: Any, tau: Any) -> Any:
    """The first n columns of H_1 H_2 … H_k, H_i = I - tau_i v_i v_i^T, from LAPACK's form: v_i below the diagonal of column i."""
    n = a.shape[-1]
    q = np.zeros(a.shape, a.dtype)
    q[..., range(n), range(n)] = 1
    for i in range(tau.shape[-1] - 1, -1, -1):
        v = reflector(a, i)[..., i:]
        part = q[..., i:, i:]
        part -= (tau[..., i, None] * v)[..., :, None] * (v[..., None, :] @ part)
    return q


# ---- the exponential of a matrix ---------------------------------------------------------------------------------------------------------

PADE_13 = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
THETA_13 = 5.371920351148152
"""The 1-norm up to which the approximant of degree 13 is exact to double precision."""


def matrix_exp(a: Any) -> Any:
    """exp of each matrix by scaling, a Padé approximant of degree 13, and squaring; in float64.

    Source: N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26 (2005).
    """
    x = a.astype(np.float64)
    size = np.abs(x).sum(-2).max(-1, initial=0.0)
    finite = np.isfinite(size)
    with np.errstate(all="ignore"):
        squarings = np.where(finite & (size > THETA_13), np.ceil(np.log2(np.where(finite, size, 1.0) / THETA_13)), 0).astype(np.int64)
    x = x * np.ldexp(1.0, -squarings)[..., None, None]
    one = np.eye(x.shape[-1])
    c = PADE_13
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    u = x @ (x6 @ (c[13] * x6 + c[11] * x4 + c[9] * x2) + c[7] * x6 + c[5] * x4 + c[3] * x2 + c[1] * one)
    v = x6 @ (c[12] * x6 + c[10] * x4 + c[8] * x2) + c[6] * x6 + c[4] * x4 + c[2] * x2 + c[0] * one
    result = np.linalg.solve(v - u, v + u)
    for i in range(int(squarings.max(initial=0))):
        result = np.where((squarings > i)[..., None, None], result @ result, result)
    return result.astype(a.dtype)
