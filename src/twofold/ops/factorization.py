"""LU and LDL^T: factors in LAPACK's packed form, their unpacking, and solutions from them. See `ops.decomposition` for conventions."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, tensor_type
from twofold.ops import lapack
from twofold.ops.decomposition import Types, broadcast_batch, matrix_operand, per_matrix, smaller, square_operand
from twofold.ops.record import define, helper, refused
from twofold.support.errors import DTypeError, ShapeError, UnsupportedError

# ---- LU ----------------------------------------------------------------------------------------------------------------------------------


def _lu_factor_type(A: TensorType, pivot: bool, check_errors: bool) -> Types:
    t = matrix_operand("linalg.lu_factor", A)
    if not pivot:
        raise UnsupportedError("linalg.lu_factor: LU without pivoting does not exist on the CPU; use pivot=True")
    return t, tensor_type(dtypes.int32, (*t.shape[:-2], smaller(t)), t.device), per_matrix(t)


def _lu_factor(A: Any, pivot: bool = True, check_errors: bool = False) -> tuple[Any, Any, Any]:
    lu, pivots, info = lapack.lu_factor(A)
    if check_errors:
        lapack.raise_if_failed(
            "linalg.lu_factor", info, "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero."
        )
    return lu, pivots, info


@helper
def lu_backward(g_L: Any, g_U: Any, P: Any, L: Any, U: Any) -> Any:
    """The gradient of L and U of A = P L U for square, wide and tall matrices.

    Square: P L^-T (tril(L^T g_L, -1) + triu(g_U U^T)) U^-T. Wide: of [A1 A2] = P L [U1 U2] the second part is P L^-T g_U2, and g_U2 U2^T
    comes off L^T g_L. Tall: likewise by transposition.
    """
    m, n, k = L.shape[-2], U.shape[-1], L.shape[-1]
    L1, U1 = L[..., :k, :], U[..., :, :k]
    below, above = matmul(swapped(L1), g_L[..., :k, :]), matmul(g_U[..., :, :k], swapped(U1))
    if n > k:
        below = below - matmul(g_U[..., :, k:], swapped(U[..., :, k:]))
    if m > k:
        above = above - matmul(swapped(L[..., k:, :]), g_L[..., k:, :])
    phi = linalg_solve_triangular(swapped(U1), tril(below, -1) + triu(above), upper=False, left=False)
    result = linalg_solve_triangular(swapped(L1), phi, upper=True, unitriangular=True)
    if n > k:
        rest = linalg_solve_triangular(swapped(L1), g_U[..., :, k:], upper=True, unitriangular=True)
        result = cat((result, rest), len(L.shape) - 1)
    if m > k:
        rest = linalg_solve_triangular(swapped(U1), g_L[..., k:, :], upper=False, left=False)
        result = cat((result, rest), len(L.shape) - 2)
    return matmul(P, result)


@helper
def lu_factor_backward(g: Any, LU: Any, pivots: Any) -> Any:
    """The gradient of the packed factors."""
    P, L, U = lu_unpack(LU, pivots, True, True)
    k = L.shape[-1]
    return lu_backward(tril(g[..., :, :k], -1), triu(g[..., :k, :]), P, L, U)


define(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    type_rule=_lu_factor_type, reference=_lu_factor, cost="library", method=False,
    gradient=(lambda g_LU, LU, pivots: lu_factor_backward(g_LU, LU, pivots),),
    doc="""The LU decomposition with partial pivoting in LAPACK's packed form, and info.

    LU: L below the diagonal (its own is 1), U on and above it. pivots (int32, from 1): in step i row i was exchanged with that row. info is
    0, or the first i (from 1) with U[i, i] = 0; with `check_errors` LinAlgError is raised then.""",
)  # fmt: skip


def _lu_unpack_type(LU_data: TensorType, LU_pivots: TensorType, unpack_data: bool, unpack_pivots: bool) -> Types:
    t = matrix_operand("lu_unpack", LU_data, "LU_data")
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise DTypeError(
            f"torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, not {LU_pivots.dtype.name}; use the "
            "pivots that lu_factor returns"
        )
    m, n, k, batch = t.shape[-2], t.shape[-1], smaller(t), t.shape[:-2]
    if unpack_pivots and LU_pivots.shape != (*batch, k):
        raise ShapeError(f"lu_unpack: pivots of shape {tuple(LU_pivots.shape)} do not fit LU_data of shape {tuple(t.shape)}")
    none = t.with_shape((0,))
    return (
        t.with_shape((*batch, m, m)) if unpack_pivots else none,
        t.with_shape((*batch, m, k)) if unpack_data else none,
        t.with_shape((*batch, k, n)) if unpack_data else none,
    )


def _lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> tuple[Any, Any, Any]:
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    p, lower, upper = (np.empty((0,), LU_data.dtype) for _ in range(3))
    if unpack_pivots:
        p = lapack.permutation_matrix(LU_pivots, m, LU_data.dtype)
    if unpack_data:
        lower, upper = np.tril(LU_data[..., :, :k], -1), np.triu(LU_data[..., :k, :])
        lower[..., range(k), range(k)] = 1
    return p, lower, upper


@helper
def lu_unpack_backward(g_L: Any, g_U: Any, unpack_data: Any) -> Any:
    """The parts of the factors' gradients that lie in the packed form."""
    if not unpack_data:
        return None
    m, n, k = g_L.shape[-2], g_U.shape[-1], g_L.shape[-1]
    rank = len(g_L.shape)
    both = tril(g_L[..., :k, :], -1) + triu(g_U[..., :, :k])
    if m > k:
        return cat((both, g_L[..., k:, :]), rank - 2)
    return cat((both, g_U[..., :, k:]), rank - 1) if n > k else both


define(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    type_rule=_lu_unpack_type, reference=_lu_unpack, cost="library", method=False,
    gradient=(lambda g_L, g_U, unpack_data: lu_unpack_backward(g_L, g_U, unpack_data), NOT_DIFFERENTIABLE),
    doc="""P, L and U of A = P L U from what `linalg.lu_factor` returns; tensors not asked for are empty, of shape (0,).""",
)  # fmt: skip

# ---- symmetric indefinite matrices -------------------------------------------------------------------------------------------------------


def _ldl_factor_type(self: TensorType, hermitian: bool, check_errors: bool) -> Types:
    t = square_operand("linalg.ldl_factor_ex", self, "self")
    return t, tensor_type(dtypes.int32, t.shape[:-1], t.device), per_matrix(t)


def _ldl_factor(self: Any, hermitian: bool = False, check_errors: bool = False) -> tuple[Any, Any, Any]:
    ld, pivots, info = lapack.ldl_factor(self)
    if check_errors:
        lapack.raise_if_failed("linalg.ldl_factor_ex", info, "The diagonal element {info} of D is zero: the matrix is singular.")
    return ld, pivots, info


define(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)",
    type_rule=_ldl_factor_type, reference=_ldl_factor, cost="library", method=False,
    gradient=(refused("the gradient of linalg.ldl_factor is not computed (nor is it in PyTorch)", "g_LD"),),
    doc="""A = L D L^T of symmetric matrices from their lower triangle, with Bunch and Kaufman's pivoting, in LAPACK's packed form.

    D has blocks of order 1 (pivot > 0) and 2 (two equal negative pivots). `hermitian` changes nothing for real matrices.""",
)  # fmt: skip


def _ldl_solve_type(LD: TensorType, pivots: TensorType, B: TensorType, hermitian: bool) -> TensorType:
    name = "linalg.ldl_solve"
    t, b = square_operand(name, LD, "LD"), matrix_operand(name, B, "B")
    if t.dtype is not b.dtype:
        raise DTypeError(f"{name}: LD is {t.dtype.name} and B is {b.dtype.name}: they must have one dtype")
    if b.shape[-2] != t.shape[-1]:
        raise ShapeError(
            f"{name}: Incompatible matrix sizes: each LD matrix is {t.shape[-2]} by {t.shape[-1]}, each B {b.shape[-2]} by {b.shape[-1]}"
        )
    if pivots.shape != t.shape[:-1]:
        raise ShapeError(f"{name}: pivots of shape {tuple(pivots.shape)} do not fit LD of shape {tuple(t.shape)}")
    if pivots.dtype is not dtypes.int32:
        raise DTypeError(f"{name}: Expected pivots to be integers (int32), not {pivots.dtype.name}")
    return b.with_shape((*broadcast_batch(name, t, b), *b.shape[-2:]))


define(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    type_rule=_ldl_solve_type, cost="library", method=False,
    gradient=(
        refused("the gradient of linalg.ldl_solve with respect to LD is not computed (nor is it in PyTorch)"), NOT_DIFFERENTIABLE,
        refused("the gradient of linalg.ldl_solve with respect to B is not computed (nor is it in PyTorch)"),
    ),
    reference=lambda LD, pivots, B, hermitian=False: lapack.ldl_solve(LD, pivots, B),
    doc="X of A X = B from `linalg.ldl_factor`'s result; the batches broadcast.",
)  # fmt: skip
