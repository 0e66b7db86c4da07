"""`twofold.linalg`: decompositions. Each function takes (..., m, n) of float32 or float64; leading dimensions are a batch."""

from __future__ import annotations

from typing import Any

from twofold.ir.mode import grad_enabled
from twofold.support.errors import UnsupportedError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.linalg_results import result


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """L of A = L L^T (upper: U of A = U^T U) of symmetric positive-definite matrices; LinAlgError where one is not."""
    return call("linalg_cholesky_ex", A, upper=upper, check_errors=True)[0]


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """(L, info): `cholesky` that tells failures in info (int32): the order of the first leading minor that is not positive."""
    return result("linalg_cholesky_ex", call("linalg_cholesky_ex", A, upper=upper, check_errors=check_errors))


def qr(A: Tensor, mode: str = "reduced") -> Any:
    """(Q, R) with A = Q R. mode: "reduced", "complete", or "r" (Q is empty).

    Of a tall matrix the last columns of the complete Q are not determined: it raises UnsupportedError where a gradient is wanted.
    """
    t = A._type
    if mode == "complete" and t.ndim >= 2 and A._node is not None and grad_enabled():
        m, n = t.shape[-2:]
        if not (type(m) is int and type(n) is int and m <= n):
            raise UnsupportedError(
                f"linalg.qr: mode='complete' has no gradient for matrices with more rows than columns ({m} by {n}); use mode='reduced'"
            )
    return result("linalg_qr", call("linalg_qr", A, mode=mode))


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """(U, S, Vh) with A = U diag(S) Vh, S descending. `driver` chooses an algorithm on GPUs and must be None."""
    _no_driver("linalg.svd", driver)
    return result("linalg_svd", call("linalg_svd", A, full_matrices=full_matrices))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, descending."""
    _no_driver("linalg.svdvals", driver)
    return call("linalg_svdvals", A)


def _no_driver(name: str, driver: str | None) -> None:
    if driver is not None:
        raise UnsupportedError(f"{name}: keyword argument `driver` is for CUDA inputs only; leave it out")


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """(eigenvalues, eigenvectors) of symmetric matrices, ascending, from the lower or upper triangle."""
    return result("linalg_eigh", call("linalg_eigh", A, UPLO=UPLO))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, ascending."""
    return call("linalg_eigvalsh", A, UPLO=UPLO)


def eig(A: Tensor) -> Any:
    """Eigenvalues of general matrices are complex: UnsupportedError."""
    raise UnsupportedError("linalg.eig returns complex tensors, which do not exist here; use linalg.eigh for symmetric matrices")


def eigvals(A: Tensor) -> Any:
    """Eigenvalues of general matrices are complex: UnsupportedError."""
    raise UnsupportedError("linalg.eigvals returns complex tensors, which do not exist here; use linalg.eigvalsh for symmetric matrices")


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """(LU, pivots): the packed LU decomposition with partial pivoting, for `lu_solve` and `lu_unpack`."""
    return result("linalg_lu_factor", call("linalg_lu_factor_ex", A, pivot=pivot, check_errors=False)[:2])


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """(LU, pivots, info); info (int32) is the first i (from 1) with U[i, i] = 0, or 0."""
    return result("linalg_lu_factor_ex", call("linalg_lu_factor_ex", A, pivot=pivot, check_errors=check_errors))


def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """(P, L, U) with A = P L U."""
    LU, pivots, _ = call("linalg_lu_factor_ex", A, pivot=pivot, check_errors=False)
    return result("linalg_lu", unpacked(LU, pivots))


def unpacked(LU: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """P, L and U; P is outside the graph of gradients."""
    P, L, U = call("lu_unpack", LU, pivots, unpack_data=unpack_data, unpack_pivots=unpack_pivots)
    return call("detach", P) if P._node is not None else P, L, U


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """(LD, pivots): A = L D L^T of symmetric matrices in packed form, for `ldl_solve`; LinAlgError for a singular D."""
    return result("linalg_ldl_factor", call("linalg_ldl_factor_ex", A, hermitian=hermitian, check_errors=True)[:2])


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """(LD, pivots, info); info (int32) is the first i (from 1) with a zero block of D, or 0."""
    return result("linalg_ldl_factor_ex", call("linalg_ldl_factor_ex", A, hermitian=hermitian, check_errors=check_errors))


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X of A X = B from `ldl_factor`'s result."""
    return call("linalg_ldl_solve", LD, pivots, B, hermitian=hermitian)


def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of the product of Householder reflections whose vectors are below the diagonal of `A` (as from `geqrf`)."""
    return call("linalg_householder_product", A, tau)
