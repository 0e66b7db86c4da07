"""Determinants, with gradients that hold for singular matrices too.

The gradient of a determinant is the matrix of cofactors, a polynomial in the elements. It is computed by singular values where the
inverse is no way to it: of A = U diag(s) V^T it is det(U V^T) U diag(product of the other s) V^T.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.types import TensorType
from twofold.ops import lapack
from twofold.ops.decomposition import Types, square_operand
from twofold.ops.record import define, helper

SAFE = 1e-3
"""How much of the dtype's precision may be lost for cofactors to be taken from the inverse."""


def others_product(s: Any) -> Any:
    """For each place of the last dimension the product of all the others."""
    ones = np.ones_like(s[..., :1])
    before = np.concatenate((ones, np.cumprod(s, -1)[..., :-1]), -1)
    after = np.concatenate((ones, np.cumprod(s[..., ::-1], -1)[..., :-1]), -1)[..., ::-1]
    return before * after


def _cofactor(A: Any) -> Any:
    n = A.shape[-1]
    if not A.size:
        return np.zeros_like(A)
    if n == 1:
        return np.ones_like(A)
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(A)
            condition = np.abs(A).sum(-2).max(-1) * np.abs(inverse).sum(-2).max(-1)
            if np.all(condition < SAFE / np.finfo(A.dtype).eps):
                return np.asarray(np.linalg.det(A))[..., None, None] * lapack.transposed(inverse)
        except np.linalg.LinAlgError:
            pass
        if not np.isfinite(A).all():
            return np.full_like(A, np.nan)
        u, s, vh = np.linalg.svd(A)
        sign = np.sign(np.linalg.det(u) * np.linalg.det(vh))
        return np.asarray(sign)[..., None, None] * ((u * others_product(s)[..., None, :]) @ vh)


@helper
def pair_products(s: Any, like: Any) -> Any:
    """Off the diagonal the products of all s but the two of row and column, zeros on it; (..., n, n), the shape of `like`."""
    last = len(s.shape) - 1
    one = ones_like(s[..., :1])
    before = cat((one, cumprod(s, last)[..., :-1]), last)
    after = flip(cat((one, cumprod(flip(s, (last,)), last)[..., :-1]), last), (last,))
    right_of = triu(ones_like(like), 1)
    running = cumprod(where(eq(right_of, 0.0), 1.0, as_row(s)), last + 1)
    between = cat((ones_like(running[..., :1]), running[..., :-1]), last + 1)
    upper = triu(as_column(before) * between * as_row(after), 1)
    return upper + swapped(upper)


@helper
def cofactor_backward(g: Any, A: Any) -> Any:
    """In the basis of singular vectors, with G = U^T g V and P the pair products: -P G^T off the diagonal, P diag(G) on it."""
    if A.shape[-1] < 2:
        return zeros_like(A)
    U, S, Vh = linalg_svd(A, False)
    G = matmul(swapped(U), matmul(g, swapped(Vh)))
    P = pair_products(S, G)
    inner = diagonal_matrix(squeeze(matmul(P, as_column(diagonal_of(G))), (len(A.shape) - 1,))) - P * swapped(G)
    turn = sign(linalg_det(U) * linalg_det(Vh))
    return each_times(turn, matmul(U, matmul(inner, Vh)))


define(
    "linalg_cofactor(Tensor A) -> Tensor",
    type_rule=lambda A: square_operand("linalg_cofactor", A), reference=_cofactor, cost="library", method=False,
    gradient=(lambda g, A: cofactor_backward(g, A),),
    doc="The matrices of cofactors: the gradients of determinants; det(A) A^-T where A has an inverse.",
)  # fmt: skip


@helper
def each_times(g: Any, x: Any) -> Any:
    """Each matrix of a batch times its number."""
    n = len(g.shape)
    return unsqueeze(unsqueeze(g, n), n + 1) * x


define(
    "linalg_det(Tensor A) -> Tensor",
    type_rule=lambda A: square_operand("linalg.det", A).with_shape(A.shape[:-2]), cost="library", method=False,
    reference=lambda A: np.linalg.det(A) if A.size or A.shape[-1] == 0 else np.zeros(A.shape[:-2], A.dtype),
    gradient=(lambda g, A: each_times(g, linalg_cofactor(A)),),
    doc="The determinants of square matrices. First and second derivatives exist at singular matrices too.",
)  # fmt: skip


def _slogdet_type(A: TensorType) -> Types:
    t = square_operand("linalg.slogdet", A)
    return t.with_shape(t.shape[:-2]), t.with_shape(t.shape[:-2])


def _slogdet(A: Any) -> tuple[Any, Any]:
    sign, size = np.linalg.slogdet(A)
    return sign, size


define(
    "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    type_rule=_slogdet_type, reference=_slogdet, cost="library", method=False,
    gradient=(lambda g_logabsdet, A: each_times(g_logabsdet, swapped(linalg_inv_ex(A)[0])),),
    doc="Sign and logarithm of the magnitude of determinants; (0, -inf) for singular matrices, where the gradient is infinite.",
)  # fmt: skip
