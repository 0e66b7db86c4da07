"""Functions and backward nodes of the family "decomposition". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any


from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op, given_axis
from twofold.ir.types import scalar_type
from twofold.tape.node import tick
from twofold.tape.plan import scalar_key, table
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {type(None)}

_gap_ratio = get_op("gap_ratio")
_gap_ratio_plans = table(_gap_ratio)


class GapRatioBackward0(OpNode):
    __slots__ = ("s_other", "s_result")
    op = get_op("gap_ratio")
    saved = ('other', 'result')
    needs = (('other',), ('other', 'result'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_other) if e[0] is not None else None, rules[1](g, self.s_other, self.s_result) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_other, self.s_result


NODE_CLASSES["gap_ratio"] = GapRatioBackward0

def gap_ratio(input: Tensor, other: Tensor) -> Tensor:
    """input / other for tensors of one shape, where 0 / 0 is 0.

    For gradients of decompositions, which divide by gaps between eigenvalues: what does not depend on the vectors of a repeated eigenvalue
    has a finite gradient there.
    """
    if MODE.special or type(input) is not Tensor or type(other) is not Tensor:
        return dispatch(_gap_ratio, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = other._type
    a1 = other._array
    e1 = other._node
    k = (t0, t1)
    try:
        p = _gap_ratio_plans[k]
    except (KeyError, TypeError):
        p = _gap_ratio_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = GapRatioBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_other = a1
        n.s_result = y if e1 is not None else None
    else:
        o._node = None
    return o


_linalg_cholesky_ex = get_op("linalg_cholesky_ex")


class LinalgCholeskyExBackward0(OpNode):
    __slots__ = ("s_L",)
    op = get_op("linalg_cholesky_ex")
    saved = ('L',)
    needs = (('L',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_L, self.plan.attributes["upper"]),)

    def free(self) -> None:
        del self.s_L


NODE_CLASSES["linalg_cholesky_ex"] = LinalgCholeskyExBackward0

def linalg_cholesky_ex(input: Tensor, *, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The lower factor L of A = L L^T (upper: U of A = U^T U) of positive-definite matrices, from one triangle, and info.

    info (int32) is 0, or the order of the first leading minor that is not positive; with `check_errors` LinAlgError is raised then.
    """
    return dispatch(_linalg_cholesky_ex, (input,), {"upper": upper, "check_errors": check_errors})


_linalg_qr = get_op("linalg_qr")


class LinalgQrBackward0(OpNode):
    __slots__ = ("s_A", "s_Q", "s_R")
    op = get_op("linalg_qr")
    saved = ('A', 'Q', 'R')
    needs = (('Q', 'R', 'A'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], g[1], self.s_Q, self.s_R, self.s_A, self.plan.attributes["mode"]),)

    def free(self) -> None:
        del self.s_A, self.s_Q, self.s_R


NODE_CLASSES["linalg_qr"] = LinalgQrBackward0

def linalg_qr(A: Tensor, mode: str = 'reduced') -> tuple[Tensor, Tensor]:
    """A = Q R with orthonormal columns and an upper triangle, of matrices (..., m, n).

    mode: "reduced" (Q m x k, R k x n, k the smaller of m and n), "complete" (Q m x m, R m x n) or "r" (Q is empty). The columns of Q beyond
    the first k are not determined by A, and gradients of them count as zero; `linalg.qr` refuses to differentiate that case.
    """
    return dispatch(_linalg_qr, (A,), {"mode": mode})


_geqrf = get_op("geqrf")


class GeqrfBackward0(OpNode):
    __slots__ = ()
    op = get_op("geqrf")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0]),)


NODE_CLASSES["geqrf"] = GeqrfBackward0

def geqrf(input: Tensor) -> tuple[Tensor, Tensor]:
    """The QR decomposition as LAPACK leaves it: R on and above the diagonal of `a`, Householder vectors below it with factors `tau`."""
    return dispatch(_geqrf, (input,), {})


_linalg_householder_product = get_op("linalg_householder_product")
_linalg_householder_product_plans = table(_linalg_householder_product)


class LinalgHouseholderProductBackward0(OpNode):
    __slots__ = ("s_input", "s_tau")
    op = get_op("linalg_householder_product")
    saved = ('input', 'tau')
    needs = (('input', 'tau'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g, self.s_input, self.s_tau)

    def free(self) -> None:
        del self.s_input, self.s_tau


NODE_CLASSES["linalg_householder_product"] = LinalgHouseholderProductBackward0

def linalg_householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of H_1 H_2 … H_k, H_i = I - tau_i v_i v_i^T, from vectors below the diagonal of `input` (..., m, n), m >= n.

    v_i has zeros above place i and a one there; what `input` has on and above its diagonal is not read.
    """
    if MODE.special or type(input) is not Tensor or type(tau) is not Tensor:
        return dispatch(_linalg_householder_product, (input, tau,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = tau._type
    a1 = tau._array
    e1 = tau._node
    k = (t0, t1)
    try:
        p = _linalg_householder_product_plans[k]
    except (KeyError, TypeError):
        p = _linalg_householder_product_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = LinalgHouseholderProductBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_tau = a1
    else:
        o._node = None
    return o


_linalg_svd = get_op("linalg_svd")


class LinalgSvdBackward0(OpNode):
    __slots__ = ("s_U", "s_S", "s_Vh")
    op = get_op("linalg_svd")
    saved = ('U', 'S', 'Vh')
    needs = (('U', 'S', 'Vh'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], g[1], g[2], self.s_U, self.s_S, self.s_Vh),)

    def free(self) -> None:
        del self.s_U, self.s_S, self.s_Vh


NODE_CLASSES["linalg_svd"] = LinalgSvdBackward0

def linalg_svd(A: Tensor, full_matrices: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """A = U diag(S) Vh of matrices (..., m, n), S in descending order.

    full_matrices: U (..., m, m) and Vh (..., n, n), otherwise the first min(m, n) columns and rows. Gradients of U and Vh are infinite
    where singular values are equal. Raises LinAlgError for NaN and infinities.
    """
    return dispatch(_linalg_svd, (A,), {"full_matrices": full_matrices})


_linalg_svdvals = get_op("linalg_svdvals")
_linalg_svdvals_plans = table(_linalg_svdvals)


class LinalgSvdvalsBackward0(OpNode):
    __slots__ = ("s_A",)
    op = get_op("linalg_svdvals")
    saved = ('A',)
    needs = (('A',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_A),)

    def free(self) -> None:
        del self.s_A


NODE_CLASSES["linalg_svdvals"] = LinalgSvdvalsBackward0

def linalg_svdvals(A: Tensor) -> Tensor:
    """The singular values of matrices in descending order, (..., min(m, n))."""
    if MODE.special or type(A) is not Tensor:
        return dispatch(_linalg_svdvals, (A,), {})
    t0 = A._type
    a0 = A._array
    e0 = A._node
    k = t0
    try:
        p = _linalg_svdvals_plans[k]
    except (KeyError, TypeError):
        p = _linalg_svdvals_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LinalgSvdvalsBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_A = a0
    else:
        o._node = None
    return o


_linalg_eigh = get_op("linalg_eigh")


class LinalgEighBackward0(OpNode):
    __slots__ = ("s_eigenvalues", "s_eigenvectors")
    op = get_op("linalg_eigh")
    saved = ('eigenvalues', 'eigenvectors')
    needs = (('eigenvalues', 'eigenvectors'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], g[1], self.s_eigenvalues, self.s_eigenvectors),)

    def free(self) -> None:
        del self.s_eigenvalues, self.s_eigenvectors


NODE_CLASSES["linalg_eigh"] = LinalgEighBackward0

def linalg_eigh(A: Tensor, UPLO: str = 'L') -> tuple[Tensor, Tensor]:
    """Eigenvalues (..., n), ascending, and orthonormal eigenvectors (columns) of symmetric matrices, from one triangle.

    UPLO: "L" (lower) or "U". The gradient is that of a symmetric matrix: it does not tell the triangles apart. Raises LinAlgError for NaN
    and infinities.
    """
    return dispatch(_linalg_eigh, (A,), {"UPLO": UPLO})


_linalg_eigvalsh = get_op("linalg_eigvalsh")
_linalg_eigvalsh_plans = table(_linalg_eigvalsh)


class LinalgEigvalshBackward0(OpNode):
    __slots__ = ("s_A",)
    op = get_op("linalg_eigvalsh")
    saved = ('A',)
    needs = (('A',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_A, self.plan.attributes["UPLO"]),)

    def free(self) -> None:
        del self.s_A


NODE_CLASSES["linalg_eigvalsh"] = LinalgEigvalshBackward0

def linalg_eigvalsh(A: Tensor, UPLO: str = 'L') -> Tensor:
    """The eigenvalues of symmetric matrices, ascending, from one triangle (UPLO "L" or "U")."""
    if MODE.special or type(A) is not Tensor:
        return dispatch(_linalg_eigvalsh, (A,), {"UPLO": UPLO})
    t0 = A._type
    a0 = A._array
    e0 = A._node
    k = (t0, UPLO)
    try:
        p = _linalg_eigvalsh_plans[k]
    except (KeyError, TypeError):
        p = _linalg_eigvalsh_plans.make(k, (t0,), {"UPLO": UPLO})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LinalgEigvalshBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_A = a0
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "gap_ratio": gap_ratio,
    "linalg_cholesky_ex": linalg_cholesky_ex,
    "linalg_qr": linalg_qr,
    "geqrf": geqrf,
    "linalg_householder_product": linalg_householder_product,
    "linalg_svd": linalg_svd,
    "linalg_svdvals": linalg_svdvals,
    "linalg_eigh": linalg_eigh,
    "linalg_eigvalsh": linalg_eigvalsh,
}
INPLACE: dict[str, Any] = {
}
