"""Decompositions of matrices: Cholesky, QR, Householder reflections, singular values, eigenvalues of symmetric matrices.

Every operation takes (..., m, n), the leading dimensions being a batch. NumPy's LAPACK computes where it has the routine, `ops.lapack`
elsewhere. Names of records and outputs are ATen's.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dims import minimum
from twofold.ir.dtypes import FLOAT
from twofold.ir.op import Joint
from twofold.ir.types import TensorType, tensor_type
from twofold.ops import lapack
from twofold.ops.record import define, helper, refused
from twofold.ops.typing import broadcast_shapes, tensor_operand
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

Types = tuple[TensorType, ...]
_transposed = lapack.transposed


# ---- operands ----------------------------------------------------------------------------------------------------------------------------


def real_operand(name: str, t: Any, argument: str = "A") -> TensorType:
    """A tensor of float32 or float64, or DTypeError."""
    t = tensor_operand(name, t, argument)
    if t.dtype.category != FLOAT:
        raise DTypeError(f"{name}: expected a floating point tensor as {argument}, not {t.dtype.name}; convert with .to(twofold.float32)")
    if t.dtype.itemsize < 4:
        raise DTypeError(f"{name}: low precision dtypes are not supported; {argument} is {t.dtype.name}: convert with .to(twofold.float32)")
    return t


def matrix_operand(name: str, t: Any, argument: str = "A") -> TensorType:
    """Float matrices (..., m, n)."""
    t = real_operand(name, t, argument)
    if t.ndim < 2:
        raise ShapeError(f"{name}: the input tensor {argument} must have at least 2 dimensions, its shape is {tuple(t.shape)}")
    return t


def square_operand(name: str, t: Any, argument: str = "A") -> TensorType:
    """Float matrices (..., n, n)."""
    t = matrix_operand(name, t, argument)
    if t.shape[-1] != t.shape[-2]:
        raise ShapeError(f"{name}: {argument} must be batches of square matrices, but they are {t.shape[-2]} by {t.shape[-1]} matrices")
    return t


def per_matrix(t: TensorType, dtype: Any = dtypes.int32) -> TensorType:
    """One number for each matrix of the batch."""
    return tensor_type(dtype, t.shape[:-2], t.device)


def smaller(t: TensorType) -> Any:
    """min(m, n)."""
    return minimum(t.shape[-2], t.shape[-1])


def broadcast_batch(name: str, a: TensorType, b: TensorType) -> tuple[Any, ...]:
    """The batch that two operands broadcast to."""
    from_a, from_b = a.shape[:-2], b.shape[:-2]
    return from_a if from_a == from_b else broadcast_shapes(name, from_a, from_b)


# ---- helpers of gradient rules -----------------------------------------------------------------------------------------------------------


@helper
def diagonal_of(x: Any) -> Any:
    """The diagonals of the matrices of a batch."""
    n = len(x.shape)
    return diagonal(x, 0, n - 2, n - 1)


@helper
def diagonal_matrix(x: Any) -> Any:
    """Matrices with the last dimension on the diagonal."""
    n = len(x.shape)
    return diag_embed(x, 0, n - 1, n)


@helper
def as_row(x: Any) -> Any:
    """(..., n) to (..., 1, n)."""
    return unsqueeze(x, len(x.shape) - 1)


@helper
def as_column(x: Any) -> Any:
    """(..., n) to (..., n, 1)."""
    return unsqueeze(x, len(x.shape))


@helper
def off_diagonal(gaps: Any) -> Any:
    """Differences of all pairs, with 1 for the difference of a number and itself."""
    return gaps + triu(tril(ones_like(gaps)))


@helper
def symmetric_part(x: Any) -> Any:
    """(X + X^T) / 2."""
    return (x + swapped(x)) * 0.5


@helper
def skew(x: Any) -> Any:
    """X - X^T."""
    return x - swapped(x)


# ---- division by gaps --------------------------------------------------------------------------------------------------------------------


def _gap_ratio(input: Any, other: Any) -> Any:
    with np.errstate(all="ignore"):
        result = np.true_divide(input, other)
    return np.where(input == 0, result.dtype.type(0), result)


define(
    "gap_ratio(Tensor input, Tensor other) -> Tensor",
    type_rule=lambda input, other: input, reference=_gap_ratio, function=False, method=False, cost="library",
    gradient=(lambda g, other: gap_ratio(g, other), lambda g, other, result: -gap_ratio(g * result, other)),
    doc="""input / other for tensors of one shape, where 0 / 0 is 0.

    For gradients of decompositions, which divide by gaps between eigenvalues: what does not depend on the vectors of a repeated eigenvalue
    has a finite gradient there.""",
)  # fmt: skip

# ---- Cholesky ----------------------------------------------------------------------------------------------------------------------------


def _cholesky_ex_type(input: TensorType, upper: bool, check_errors: bool) -> Types:
    t = square_operand("linalg.cholesky", input)
    return t, per_matrix(t)


def _cholesky_ex(input: Any, upper: bool = False, check_errors: bool = False) -> tuple[Any, Any]:
    factor, info = lapack.cholesky(_transposed(input) if upper else input)
    if check_errors:
        lapack.raise_if_failed(
            "linalg.cholesky", info, "The factorization could not be completed because the input is not positive-definite (the leading "
            "minor of order {info} is not positive-definite).",
        )  # fmt: skip
    return _transposed(factor) if upper else factor, info


@helper
def cholesky_backward(g: Any, L: Any) -> Any:
    """The gradient of the lower factor, symmetric: L^-T sym(Phi) L^-1, Phi the lower triangle of L^T g with the diagonal halved.

    Source: I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527 (2016).
    """
    phi = tril(matmul(swapped(L), g))
    phi = phi - diagonal_matrix(diagonal_of(phi) * 0.5)
    left = linalg_solve_triangular(swapped(L), phi, upper=True)
    return symmetric_part(linalg_solve_triangular(L, left, upper=False, left=False))


define(
    "linalg_cholesky_ex(Tensor input, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    type_rule=_cholesky_ex_type, reference=_cholesky_ex, cost="library", method=False,
    flops=lambda ins, outs, attributes: outs[0].numel * outs[0].shape[-1] // 3,
    gradient=(lambda g_L, L, upper: cholesky_backward(swapped(g_L), swapped(L)) if upper else cholesky_backward(g_L, L),),
    doc="""The lower factor L of A = L L^T (upper: U of A = U^T U) of positive-definite matrices, from one triangle, and info.

    info (int32) is 0, or the order of the first leading minor that is not positive; with `check_errors` LinAlgError is raised then.""",
)  # fmt: skip

# ---- QR ----------------------------------------------------------------------------------------------------------------------------------


def _qr_type(A: TensorType, mode: str) -> Types:
    t = matrix_operand("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise ValueRangeError(f"qr received unrecognized mode {mode!r}; it must be one of 'reduced', 'r' or 'complete'")
    m, n, k = t.shape[-2], t.shape[-1], smaller(t)
    rows = m if mode == "complete" else k
    q = t.with_shape((0,)) if mode == "r" else t.with_shape((*t.shape[:-2], m, rows))
    return q, t.with_shape((*t.shape[:-2], rows, n))


def _qr(A: Any, mode: str = "reduced") -> tuple[Any, Any]:
    if mode == "r":
        return np.empty((0,), A.dtype), np.linalg.qr(A, "r")
    result = np.linalg.qr(A, "complete" if mode == "complete" else "reduced")
    return np.array(result[0]), np.array(result[1])


@helper
def qr_backward(g_Q: Any, g_R: Any, Q: Any, R: Any, A: Any, mode: Any) -> Any:
    """The gradient of the first min(m, n) columns of Q and rows of R.

    Sources: S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum experimental
    design", arXiv:1001.1654 (2010); wide matrices: D. A. O. Roberts and L. R. Roberts, "QR and LQ decomposition matrix backpropagation
    algorithms for square, wide, and deep matrices", arXiv:2009.10071 (2020).
    """
    if mode == "r":
        Q, R = linalg_qr(A, "reduced")
        g_Q = zeros_like(Q)
    m, n = A.shape[-2], A.shape[-1]
    if m >= n:
        return qr_backward_tall(g_Q[..., :, :n], g_R[..., :n, :], Q[..., :, :n], R[..., :n, :])
    rest = A[..., :, m:]
    square = qr_backward_tall(g_Q + matmul(rest, swapped(g_R[..., :, m:])), g_R[..., :, :m], Q, R[..., :, :m])
    return cat((square, matmul(Q, g_R[..., :, m:])), len(A.shape) - 1)


@helper
def qr_backward_tall(g_Q: Any, g_R: Any, Q: Any, R: Any) -> Any:
    """The case m >= n."""
    M = matmul(R, swapped(g_R)) - matmul(swapped(g_Q), Q)
    lower = tril(M, -1)
    both = lower + swapped(lower) + diagonal_matrix(diagonal_of(M))
    return linalg_solve_triangular(swapped(R), g_Q + matmul(Q, both), upper=False, left=False)


define(
    "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    type_rule=_qr_type, reference=_qr, cost="library", method=False,
    gradient=(lambda g_Q, g_R, Q, R, A, mode: qr_backward(g_Q, g_R, Q, R, A, mode),),
    doc="""A = Q R with orthonormal columns and an upper triangle, of matrices (..., m, n).

    mode: "reduced" (Q m x k, R k x n, k the smaller of m and n), "complete" (Q m x m, R m x n) or "r" (Q is empty). The columns of Q beyond
    the first k are not determined by A, and gradients of them count as zero; `linalg.qr` refuses to differentiate that case.""",
)  # fmt: skip


def _geqrf_type(input: TensorType) -> Types:
    t = matrix_operand("geqrf", input, "input")
    return t, t.with_shape((*t.shape[:-2], smaller(t)))


def _geqrf(input: Any) -> tuple[Any, Any]:
    if not input.size:
        return np.array(input), np.zeros((*input.shape[:-2], min(input.shape[-2:])), input.dtype)
    h, tau = np.linalg.qr(input, "raw")
    return np.ascontiguousarray(_transposed(h)), tau


define(
    "geqrf(Tensor input) -> (Tensor a, Tensor tau)",
    type_rule=_geqrf_type, reference=_geqrf, cost="library",
    gradient=(refused("the gradient of geqrf is not computed (nor is it in PyTorch); linalg.qr has one", "g_a"),),
    doc="The QR decomposition as LAPACK leaves it: R on and above the diagonal of `a`, Householder vectors below it with factors `tau`.",
)  # fmt: skip


def _householder_type(input: TensorType, tau: TensorType) -> TensorType:
    name = "linalg.householder_product"
    t, u = matrix_operand(name, input, "input"), real_operand(name, tau, "tau")
    if type(t.shape[-1]) is int and type(t.shape[-2]) is int and t.shape[-2] < t.shape[-1]:
        raise ShapeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], the shape is {tuple(t.shape)}")
    if u.ndim != t.ndim - 1 or u.shape[:-1] != t.shape[:-2]:
        raise ShapeError(
            f"{name}: tau of shape {tuple(u.shape)} must have the batch dimensions of input, {tuple(t.shape[:-2])}, and one more"
        )
    if type(u.shape[-1]) is int and type(t.shape[-1]) is int and u.shape[-1] > t.shape[-1]:
        raise ShapeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], not {t.shape[-1]} and {u.shape[-1]}")
    if u.dtype is not t.dtype:
        raise DTypeError(f"{name}: tau dtype {u.dtype.name} does not match input dtype {t.dtype.name}")
    return t


@helper
def householder_backward(g: Any, a: Any, tau: Any) -> Any:
    """(gradient of a, gradient of tau): with Q_i = H_i … H_k I and G_i = H_(i-1) … H_1 g,
    dtau_i = -<Q_(i+1)^T v_i, G_i^T v_i> and dv_i = -tau_i (Q_(i+1) G_i^T v_i + G_i Q_(i+1)^T v_i)."""
    one = tril(triu(ones_like(a)))
    vectors = tril(a, -1) + one
    k = tau.shape[-1]
    parts = [one]
    for i in range(k - 1, 0, -1):
        v = vectors[..., :, i : i + 1]
        parts.append(parts[-1] - as_row(tau[..., i : i + 1]) * matmul(v, matmul(swapped(v), parts[-1])))
    parts.reverse()
    g_vectors, g_tau = [], []
    for i in range(k):
        v, factor = vectors[..., :, i : i + 1], as_row(tau[..., i : i + 1])
        q, h = matmul(swapped(parts[i]), v), matmul(swapped(g), v)
        last = len(a.shape) - 1
        g_tau.append(sum(-(q * h), (last - 1,)))
        g_vectors.append(-factor * (matmul(parts[i], h) + matmul(g, q)))
        g = g - factor * matmul(v, swapped(h))
    if k < a.shape[-1]:
        g_vectors.append(zeros_like(a[..., :, k:]))
    if k == 0:
        return zeros_like(a), zeros_like(tau)
    return tril(cat(tuple(g_vectors), len(a.shape) - 1), -1), cat(tuple(g_tau), len(tau.shape) - 1)


define(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    type_rule=_householder_type, reference=lapack.householder_product, cost="library", method=False,
    gradient=Joint(lambda g, input, tau: householder_backward(g, input, tau)),
    doc="""The first n columns of H_1 H_2 … H_k, H_i = I - tau_i v_i v_i^T, from vectors below the diagonal of `input` (..., m, n), m >= n.

    v_i has zeros above place i and a one there; what `input` has on and above its diagonal is not read.""",
)  # fmt: skip

# ---- singular values ---------------------------------------------------------------------------------------------------------------------


def _svd_type(A: TensorType, full_matrices: bool) -> Types:
    t = matrix_operand("linalg.svd", A)
    m, n, k = t.shape[-2], t.shape[-1], smaller(t)
    batch = t.shape[:-2]
    shapes = ((m, m), (k,), (n, n)) if full_matrices else ((m, k), (k,), (k, n))
    return tuple(t.with_shape((*batch, *s)) for s in shapes)


@helper
def svd_backward(g_U: Any, g_S: Any, g_Vh: Any, U: Any, S: Any, Vh: Any) -> Any:
    """The gradient of U, S and V^T; of full matrices only the first columns count.

    Source: J. Townsend, "Differentiating the singular value decomposition" (2016).
    """
    k, m, n = S.shape[-1], U.shape[-2], Vh.shape[-1]
    U, g_U, Vh, g_Vh = U[..., :, :k], g_U[..., :, :k], Vh[..., :k, :], g_Vh[..., :k, :]
    row, column = as_row(S), as_column(S)
    gaps = off_diagonal((row - column) * (row + column))
    left = gap_ratio(skew(matmul(swapped(U), g_U)), gaps) * row
    right = column * gap_ratio(skew(matmul(Vh, swapped(g_Vh))), gaps)
    inner = matmul(U, left + right + diagonal_matrix(g_S))
    if m > k:
        inner = inner + gap_ratio(g_U - matmul(U, matmul(swapped(U), g_U)), row + zeros_like(U))
    result = matmul(inner, Vh)
    if n > k:
        outside = g_Vh - matmul(matmul(g_Vh, swapped(Vh)), Vh)
        result = result + matmul(U, gap_ratio(outside, column + zeros_like(Vh)))
    return result


def _svd(A: Any, full_matrices: bool = True) -> tuple[Any, Any, Any]:
    if not A.size:
        return _empty_svd(A, full_matrices)
    u, s, vh = lapack.converged("linalg.svd", np.linalg.svd, A, full_matrices)
    return u, s, vh


def _empty_svd(A: Any, full: bool) -> tuple[Any, Any, Any]:
    batch, m, n = A.shape[:-2], A.shape[-2], A.shape[-1]
    k = min(m, n)
    u = np.broadcast_to(np.eye(m, m if full else k, dtype=A.dtype), (*batch, m, m if full else k))
    vh = np.broadcast_to(np.eye(n if full else k, n, dtype=A.dtype), (*batch, n if full else k, n))
    return np.array(u), np.zeros((*batch, k), A.dtype), np.array(vh)


define(
    "linalg_svd(Tensor A, bool full_matrices=True) -> (Tensor U, Tensor S, Tensor Vh)",
    type_rule=_svd_type, reference=_svd, cost="library", method=False,
    gradient=(lambda g_U, g_S, g_Vh, U, S, Vh: svd_backward(g_U, g_S, g_Vh, U, S, Vh),),
    doc="""A = U diag(S) Vh of matrices (..., m, n), S in descending order.

    full_matrices: U (..., m, m) and Vh (..., n, n), otherwise the first min(m, n) columns and rows. Gradients of U and Vh are infinite
    where singular values are equal. Raises LinAlgError for NaN and infinities.""",
)  # fmt: skip


def _svdvals_type(A: TensorType) -> TensorType:
    t = matrix_operand("linalg.svdvals", A)
    return t.with_shape((*t.shape[:-2], smaller(t)))


@helper
def svdvals_backward(g: Any, A: Any) -> Any:
    """U diag(g) V^T."""
    U, _, Vh = linalg_svd(A, False)
    return matmul(U * as_row(g), Vh)


def _svdvals(A: Any) -> Any:
    if not A.size:
        return np.zeros((*A.shape[:-2], min(A.shape[-2:])), A.dtype)
    return lapack.converged("linalg.svdvals", np.linalg.svdvals, A)


define(
    "linalg_svdvals(Tensor A) -> Tensor",
    type_rule=_svdvals_type, reference=_svdvals, cost="library", method=False, gradient=(lambda g, A: svdvals_backward(g, A),),
    doc="The singular values of matrices in descending order, (..., min(m, n)).",
)  # fmt: skip

# ---- eigenvalues of symmetric matrices ---------------------------------------------------------------------------------------------------


def _check_uplo(name: str, UPLO: str) -> None:
    if UPLO.upper() not in ("L", "U"):
        raise ValueRangeError(f"{name}: expected UPLO argument to be 'L' or 'U', but got {UPLO!r}")


def _eigh_type(A: TensorType, UPLO: str) -> Types:
    t = square_operand("linalg.eigh", A)
    _check_uplo("linalg.eigh", UPLO)
    return t.with_shape(t.shape[:-1]), t


@helper
def eigh_backward(g_values: Any, g_vectors: Any, values: Any, vectors: Any) -> Any:
    """V (diag(g_values) + (V^T g_vectors) / gaps) V^T. Source: M. Giles, "An extended collection of matrix derivative results for forward
    and reverse mode algorithmic differentiation", report 08/01, Oxford (2008)."""
    inner = matmul(swapped(vectors), g_vectors)
    inner = gap_ratio(inner - diagonal_matrix(diagonal_of(inner)), off_diagonal(as_row(values) - as_column(values)))
    return matmul(vectors, matmul(inner + diagonal_matrix(g_values), swapped(vectors)))


define(
    "linalg_eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    type_rule=_eigh_type, cost="library", method=False,
    reference=lambda A, UPLO="L": tuple(lapack.converged("linalg.eigh", np.linalg.eigh, A, UPLO.upper())),
    gradient=(
        lambda g_eigenvalues, g_eigenvectors, eigenvalues, eigenvectors: eigh_backward(
            g_eigenvalues, g_eigenvectors, eigenvalues, eigenvectors
        ),
    ),
    doc="""Eigenvalues (..., n), ascending, and orthonormal eigenvectors (columns) of symmetric matrices, from one triangle.

    UPLO: "L" (lower) or "U". The gradient is that of a symmetric matrix: it does not tell the triangles apart. Raises LinAlgError for NaN
    and infinities.""",
)  # fmt: skip


def _eigvalsh_type(A: TensorType, UPLO: str) -> TensorType:
    t = square_operand("linalg.eigvalsh", A)
    _check_uplo("linalg.eigvalsh", UPLO)
    return t.with_shape(t.shape[:-1])


@helper
def eigvalsh_backward(g: Any, A: Any, UPLO: Any) -> Any:
    """V diag(g) V^T."""
    _, vectors = linalg_eigh(A, UPLO)
    return matmul(vectors * as_row(g), swapped(vectors))


define(
    "linalg_eigvalsh(Tensor A, str UPLO='L') -> Tensor",
    type_rule=_eigvalsh_type, cost="library", method=False,
    reference=lambda A, UPLO="L": lapack.converged("linalg.eigvalsh", np.linalg.eigvalsh, A, UPLO.upper()),
    gradient=(lambda g, A, UPLO: eigvalsh_backward(g, A, UPLO),),
    doc="The eigenvalues of symmetric matrices, ascending, from one triangle (UPLO \"L\" or \"U\").",
)  # fmt: skip
