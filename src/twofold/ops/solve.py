"""Inverses and solutions of linear systems: general, triangular, least squares, pseudo-inverse; the exponential of a matrix.

See `ops.decomposition` for conventions.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE, Joint
from twofold.ir.types import TensorType
from twofold.ops import lapack
from twofold.ops.decomposition import Types, broadcast_batch, matrix_operand, per_matrix, smaller, square_operand
from twofold.ops.record import define, helper
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

_transposed = lapack.transposed

# ---- inverse -----------------------------------------------------------------------------------------------------------------------------


def _inv_ex_type(A: TensorType, check_errors: bool) -> Types:
    t = square_operand("linalg.inv", A)
    return t, per_matrix(t)


def _inv_ex(A: Any, check_errors: bool = False) -> tuple[Any, Any]:
    result, info = lapack.inverse(A)
    if check_errors:
        lapack.raise_if_failed(
            "linalg.inv", info, "The diagonal element {info} is zero, the inversion could not be completed because the input matrix is "
            "singular.",
        )  # fmt: skip
    return result, info


define(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    type_rule=_inv_ex_type, reference=_inv_ex, cost="library", method=False,
    flops=lambda ins, outs, attributes: 2 * ins[0].numel * ins[0].shape[-1],
    gradient=(lambda g_inverse, inverse: -matmul(swapped(inverse), matmul(g_inverse, swapped(inverse))),),
    doc="""The inverses of square matrices, and info: 0, or the first zero pivot (from 1) of a singular matrix, whose "inverse" is inf.

    With `check_errors` LinAlgError is raised for a singular matrix.""",
)  # fmt: skip

# ---- solution ----------------------------------------------------------------------------------------------------------------------------


def check_system(name: str, A: TensorType, B: TensorType, left: bool) -> tuple[TensorType, TensorType]:
    """Operands of A X = B (left) or X A = B."""
    t, b = square_operand(name, A, "A"), matrix_operand(name, B, "B")
    if t.dtype is not b.dtype:
        raise DTypeError(f"{name}: Expected A and B to have the same dtype, but found A of {t.dtype.name} and B of {b.dtype.name}")
    inner = b.shape[-2] if left else b.shape[-1]
    if inner != t.shape[-1]:
        raise ShapeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({t.shape[-2]}x{t.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    return t, b


def _solve_ex_type(A: TensorType, B: TensorType, left: bool, check_errors: bool) -> Types:
    t, b = check_system("linalg.solve", A, B, left)
    return b.with_shape((*broadcast_batch("linalg.solve", t, b), *b.shape[-2:])), per_matrix(t)


def _solve_ex(A: Any, B: Any, left: bool = True, check_errors: bool = False) -> tuple[Any, Any]:
    x, info = lapack.solution(A, B) if left else lapack.solution(_transposed(A), _transposed(B))
    if check_errors:
        lapack.raise_if_failed("linalg.solve", info, "The solver failed because the input matrix is singular.")
    return (x if left else _transposed(x)), info


@helper
def solve_backward(g: Any, A: Any, X: Any, B_shape: Any, left: Any, needs: Any) -> Any:
    """(gradient of A, gradient of B): B's is A^-T g, A's is -(B's) X^T (X A = B: -X^T (B's))."""
    right = linalg_solve_ex(swapped(A), g, left=left)[0]
    of_A = None
    if needs[0]:
        of_A = -unbroadcast(matmul(right, swapped(X)) if left else matmul(swapped(X), right), A.shape)
    return of_A, unbroadcast(right, B_shape) if needs[1] else None


define(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor solution, Tensor info)",
    type_rule=_solve_ex_type, reference=_solve_ex, cost="library", method=False,
    gradient=Joint(lambda g_solution, A, B_shape, solution, left, needs: solve_backward(g_solution, A, solution, B_shape, left, needs)),
    doc="""X of A X = B for square matrices A (..., n, n) and B (..., n, k) (left=False: X A = B), the batches broadcast, and info.

    info: 0, or the first zero pivot (from 1) of a singular A, whose X is inf; with `check_errors` LinAlgError is raised then.
    `linalg.solve` also takes vectors.""",
)  # fmt: skip


def _solve_triangular_type(A: TensorType, B: TensorType, upper: bool, left: bool, unitriangular: bool) -> TensorType:
    t, b = check_system("linalg.solve_triangular", A, B, left)
    return b.with_shape((*broadcast_batch("linalg.solve_triangular", t, b), *b.shape[-2:]))


def _solve_triangular(A: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    if left:
        return lapack.solve_triangular(A, B, upper, unitriangular)
    return _transposed(lapack.solve_triangular(_transposed(A), _transposed(B), not upper, unitriangular))


@helper
def solve_triangular_backward(g: Any, A: Any, X: Any, B_shape: Any, upper: Any, left: Any, unitriangular: Any, needs: Any) -> Any:
    """(gradient of A, within its triangle; gradient of B)."""
    right = linalg_solve_triangular(swapped(A), g, upper=not upper, left=left, unitriangular=unitriangular)
    of_A = None
    if needs[0]:
        of_A = -unbroadcast(matmul(right, swapped(X)) if left else matmul(swapped(X), right), A.shape)
        skipped = 1 if unitriangular else 0
        of_A = triu(of_A, skipped) if upper else tril(of_A, -skipped)
    return of_A, unbroadcast(right, B_shape) if needs[1] else None


define(
    "linalg_solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    type_rule=_solve_triangular_type, reference=_solve_triangular, cost="library", method=False,
    gradient=Joint(
        lambda g, A, B_shape, result, upper, left, unitriangular, needs: solve_triangular_backward(
            g, A, result, B_shape, upper, left, unitriangular, needs
        )
    ),
    doc="""X of A X = B (left=False: X A = B) for triangular A; the other triangle is not read, and with `unitriangular` the diagonal is 1.

    The batches broadcast. A zero on the diagonal gives infinities and NaN, without an error.""",
)  # fmt: skip

# ---- pseudo-inverse and least squares ----------------------------------------------------------------------------------------------------


def _pinv_type(A: TensorType, atol: TensorType | None, rtol: TensorType | None, hermitian: bool) -> TensorType:
    t = square_operand("linalg.pinv", A) if hermitian else matrix_operand("linalg.pinv", A)
    return t.with_shape((*t.shape[:-2], t.shape[-1], t.shape[-2]))


def threshold(size: Any, m: int, n: int, atol: Any, rtol: Any) -> Any:
    """Below which singular values (or magnitudes of eigenvalues) count as zero, (..., 1): max(atol, rtol * largest); rtol is max(m, n) eps
    unless it or an atol above 0 is given."""
    largest = size.max(-1, initial=0.0)
    if rtol is None:
        usual = max(m, n) * np.finfo(size.dtype).eps
        rtol = usual if atol is None else np.where(np.asarray(atol) > 0, 0.0, usual)
    return np.asarray(np.maximum(0.0 if atol is None else atol, np.asarray(rtol) * largest))[..., None]


def _pinv(A: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    m, n = A.shape[-2:]
    if not A.size:
        return np.zeros((*A.shape[:-2], n, m), A.dtype)
    if hermitian:
        values, u = lapack.converged("linalg.pinv", np.linalg.eigh, A)
        v = u
    else:
        u, values, vh = lapack.converged("linalg.pinv", np.linalg.svd, A, False)
        v = _transposed(vh)
    size = np.abs(values)
    kept = size > threshold(size, m, n, atol, rtol)
    inverse = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(A.dtype)
    return (v * inverse[..., None, :]) @ _transposed(u)


@helper
def pinv_backward(g: Any, A: Any, P: Any) -> Any:
    """The gradient at matrices of locally constant rank.

    Source: G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate", SIAM J. Numer. Anal. 10 (1973).
    """
    G, T = swapped(g), swapped(P)
    first = matmul(matmul(G, P), T)
    second = matmul(T, matmul(P, G))
    return first - matmul(swapped(matmul(A, P)), first) + second - matmul(second, swapped(matmul(P, A))) - matmul(matmul(T, g), T)


define(
    "linalg_pinv(Tensor A, Tensor? atol=None, Tensor? rtol=None, *, bool hermitian=False) -> Tensor",
    type_rule=_pinv_type, reference=_pinv, cost="library", method=False,
    gradient=(lambda g, A, result: pinv_backward(g, A, result), NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE),
    doc="""The pseudo-inverses (..., n, m) of matrices (..., m, n); singular values up to max(atol, rtol * largest) count as zero.

    rtol defaults to max(m, n) times the dtype's epsilon, or to 0 where atol > 0. `hermitian`: A is symmetric, only its lower triangle is
    read, and eigenvalues are used.""",
)  # fmt: skip

DRIVERS = ("gelsy", "gels", "gelsd", "gelss")


def _lstsq_type(self: TensorType, b: TensorType, rcond: Any, driver: str) -> Types:
    name = "linalg.lstsq"
    t, u = matrix_operand(name, self, "input"), matrix_operand(name, b, "other")
    if driver not in DRIVERS:
        raise ValueRangeError(f"{name}: parameter `driver` should be one of {', '.join(DRIVERS)}, not {driver!r}")
    if t.dtype is not u.dtype:
        raise DTypeError(f"{name}: Expected input and other to have the same dtype, not {t.dtype.name} and {u.dtype.name}")
    if t.shape[-2] != u.shape[-2]:
        raise ShapeError(f"{name}: input.size(-2) should match other.size(-2), the shapes are {tuple(t.shape)} and {tuple(u.shape)}")
    batch = broadcast_batch(name, t, u)
    k = u.shape[-1]
    return (
        u.with_shape((*batch, t.shape[-1], k)),
        u.with_shape((*batch, k)),
        per_matrix(t, dtypes.int64),
        t.with_shape((*t.shape[:-2], smaller(t))),
    )


def _lstsq(self: Any, b: Any, rcond: Any = None, driver: str = "gelsy") -> tuple[Any, Any, Any, Any]:
    m, n = self.shape[-2:]
    batch = np.broadcast_shapes(self.shape[:-2], b.shape[:-2])
    values = np.zeros((*self.shape[:-2], min(m, n)), self.dtype)
    kept = np.ones(values.shape, bool)
    x = np.zeros((*batch, n, b.shape[-1]), b.dtype)
    if self.size:
        u, values, vh = lapack.converged("linalg.lstsq", np.linalg.svd, self, False)
        if driver != "gels":
            limit = max(m, n) * np.finfo(self.dtype).eps if rcond is None else rcond
            kept = values > limit * values.max(-1, keepdims=True, initial=0.0)
        inverse = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(self.dtype)
        x = _transposed(vh) @ (inverse[..., None] * (_transposed(u) @ b))
    rest = b - self @ x
    return x, (rest * rest).sum(-2), np.asarray(kept.sum(-1), np.int64), np.array(values)


@helper
def lstsq_backward(g: Any, g_residuals: Any, g_values: Any, A: Any, B: Any, X: Any) -> Any:
    """(gradient of A, gradient of B) of X = pinv(A) B, of the sums of squares of B - A X, and of the singular values.

    The residual is orthogonal to A's columns, so that the gradient of its square needs no derivative of X.
    """
    P = linalg_pinv(A)
    rest = (B - matmul(A, X)) * as_row(g_residuals) * 2.0
    of_A = unbroadcast(pinv_backward(matmul(g, swapped(B)), A, P) - matmul(rest, swapped(X)), A.shape)
    of_A = of_A + svdvals_backward(g_values, A)
    return of_A, unbroadcast(matmul(swapped(P), g) + rest, B.shape)


define(
    "linalg_lstsq(Tensor self, Tensor b, Scalar? rcond=None, *, str driver='gelsy') -> "
    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    type_rule=_lstsq_type, reference=_lstsq, cost="library", method=False,
    gradient=Joint(
        lambda g_solution, g_residuals, g_singular_values, self, b, solution: lstsq_backward(
            g_solution, g_residuals, g_singular_values, self, b, solution
        )
    ),
    doc="""The X of least norm among those that minimise |A X - B| for matrices A (..., m, n) and B (..., m, k), by singular values.

    Singular values up to rcond (max(m, n) epsilon by default) times the largest count as zero, but not with driver "gels", which takes A to
    have full rank. Also the sums of squares of B - A X (..., k), ranks (int64) and singular values; `linalg.lstsq` leaves out of these
    what a driver does not give.""",
)  # fmt: skip

# ---- the exponential ---------------------------------------------------------------------------------------------------------------------


@helper
def matrix_exp_backward(g: Any, A: Any) -> Any:
    """The upper right block of exp([[A^T, g], [0, A^T]]).

    Source: R. Mathias, "A chain rule for matrix functions and applications", SIAM J. Matrix Anal. Appl. 17 (1996).
    """
    T = swapped(A)
    n, rank = A.shape[-1], len(A.shape)
    both = cat((cat((T, g), rank - 1), cat((zeros_like(T), T), rank - 1)), rank - 2)
    return linalg_matrix_exp(both)[..., :n, n:]


define(
    "linalg_matrix_exp(Tensor self) -> Tensor",
    type_rule=lambda self: square_operand("linalg.matrix_exp", self), reference=lapack.matrix_exp, cost="library", method=False,
    gradient=(lambda g, self: matrix_exp_backward(g, self),),
    doc="The exponentials of square matrices, (..., n, n); computed in float64.",
)  # fmt: skip
