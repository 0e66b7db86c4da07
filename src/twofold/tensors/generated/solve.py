"""Functions and backward nodes of the family "solve". Generated from the records by tools/generate.py: do not edit."""
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

_linalg_inv_ex = get_op("linalg_inv_ex")


class LinalgInvExBackward0(OpNode):
    __slots__ = ("s_inverse",)
    op = get_op("linalg_inv_ex")
    saved = ('inverse',)
    needs = (('inverse',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_inverse),)

    def free(self) -> None:
        del self.s_inverse


NODE_CLASSES["linalg_inv_ex"] = LinalgInvExBackward0

def linalg_inv_ex(A: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The inverses of square matrices, and info: 0, or the first zero pivot (from 1) of a singular matrix, whose "inverse" is inf.

    With `check_errors` LinAlgError is raised for a singular matrix.
    """
    return dispatch(_linalg_inv_ex, (A,), {"check_errors": check_errors})


_linalg_solve_ex = get_op("linalg_solve_ex")


class LinalgSolveExBackward0(OpNode):
    __slots__ = ("s_A", "s_solution")
    op = get_op("linalg_solve_ex")
    saved = ('A', 'solution')
    needs = (('A', 'solution'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], self.s_A, self.plan.ins[1].shape, self.s_solution, self.plan.attributes["left"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_A, self.s_solution


NODE_CLASSES["linalg_solve_ex"] = LinalgSolveExBackward0

def linalg_solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """X of A X = B for square matrices A (..., n, n) and B (..., n, k) (left=False: X A = B), the batches broadcast, and info.

    info: 0, or the first zero pivot (from 1) of a singular A, whose X is inf; with `check_errors` LinAlgError is raised then.
    `linalg.solve` also takes vectors.
    """
    return dispatch(_linalg_solve_ex, (A, B,), {"left": left, "check_errors": check_errors})


_linalg_solve_triangular = get_op("linalg_solve_triangular")
_linalg_solve_triangular_plans = table(_linalg_solve_triangular)


class LinalgSolveTriangularBackward0(OpNode):
    __slots__ = ("s_A", "s_result")
    op = get_op("linalg_solve_triangular")
    saved = ('A', 'result')
    needs = (('A', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g, self.s_A, self.plan.ins[1].shape, self.s_result, self.plan.attributes["upper"], self.plan.attributes["left"], self.plan.attributes["unitriangular"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_A, self.s_result


NODE_CLASSES["linalg_solve_triangular"] = LinalgSolveTriangularBackward0

def linalg_solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X of A X = B (left=False: X A = B) for triangular A; the other triangle is not read, and with `unitriangular` the diagonal is 1.

    The batches broadcast. A zero on the diagonal gives infinities and NaN, without an error.
    """
    if MODE.special or type(A) is not Tensor or type(B) is not Tensor:
        return dispatch(_linalg_solve_triangular, (A, B,), {"upper": upper, "left": left, "unitriangular": unitriangular})
    t0 = A._type
    a0 = A._array
    e0 = A._node
    t1 = B._type
    a1 = B._array
    e1 = B._node
    k = (t0, t1, upper, left, unitriangular)
    try:
        p = _linalg_solve_triangular_plans[k]
    except (KeyError, TypeError):
        p = _linalg_solve_triangular_plans.make(k, (t0, t1,), {"upper": upper, "left": left, "unitriangular": unitriangular})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = LinalgSolveTriangularBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_A = a0
        n.s_result = y
    else:
        o._node = None
    return o


_linalg_pinv = get_op("linalg_pinv")
_linalg_pinv_plans = table(_linalg_pinv)


class LinalgPinvBackward0(OpNode):
    __slots__ = ("s_A", "s_result")
    op = get_op("linalg_pinv")
    saved = ('A', 'result')
    needs = (('A', 'result'), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_A, self.s_result) if e[0] is not None else None, None, None)

    def free(self) -> None:
        del self.s_A, self.s_result


NODE_CLASSES["linalg_pinv"] = LinalgPinvBackward0

def linalg_pinv(A: Tensor, atol: Tensor | None = None, rtol: Tensor | None = None, *, hermitian: bool = False) -> Tensor:
    """The pseudo-inverses (..., n, m) of matrices (..., m, n); singular values up to max(atol, rtol * largest) count as zero.

    rtol defaults to max(m, n) times the dtype's epsilon, or to 0 where atol > 0. `hermitian`: A is symmetric, only its lower triangle is
    read, and eigenvalues are used.
    """
    if MODE.special or type(A) is not Tensor or (atol is not None and type(atol) is not Tensor) or (rtol is not None and type(rtol) is not Tensor):
        return dispatch(_linalg_pinv, (A, atol, rtol,), {"hermitian": hermitian})
    t0 = A._type
    a0 = A._array
    e0 = A._node
    if atol is None:
        t1 = a1 = e1 = None
    else:
        t1 = atol._type
        a1 = atol._array
        e1 = atol._node
    if rtol is None:
        t2 = a2 = e2 = None
    else:
        t2 = rtol._type
        a2 = rtol._array
        e2 = rtol._node
    k = (t0, t1, t2, hermitian)
    try:
        p = _linalg_pinv_plans[k]
    except (KeyError, TypeError):
        p = _linalg_pinv_plans.make(k, (t0, t1, t2,), {"hermitian": hermitian})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LinalgPinvBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_A = a0 if e0 is not None else None
        n.s_result = y if e0 is not None else None
    else:
        o._node = None
    return o


_linalg_lstsq = get_op("linalg_lstsq")


class LinalgLstsqBackward0(OpNode):
    __slots__ = ("s_self", "s_b", "s_solution")
    op = get_op("linalg_lstsq")
    saved = ('self', 'b', 'solution')
    needs = (('self', 'b', 'solution'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[3], self.s_self, self.s_b, self.s_solution)

    def free(self) -> None:
        del self.s_self, self.s_b, self.s_solution


NODE_CLASSES["linalg_lstsq"] = LinalgLstsqBackward0

def linalg_lstsq(self: Tensor, b: Tensor, rcond: Number | None = None, *, driver: str = 'gelsy') -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The X of least norm among those that minimise |A X - B| for matrices A (..., m, n) and B (..., m, k), by singular values.

    Singular values up to rcond (max(m, n) epsilon by default) times the largest count as zero, but not with driver "gels", which takes A to
    have full rank. Also the sums of squares of B - A X (..., k), ranks (int64) and singular values; `linalg.lstsq` leaves out of these
    what a driver does not give.
    """
    return dispatch(_linalg_lstsq, (self, b,), {"rcond": rcond, "driver": driver})


_linalg_matrix_exp = get_op("linalg_matrix_exp")
_linalg_matrix_exp_plans = table(_linalg_matrix_exp)


class LinalgMatrixExpBackward0(OpNode):
    __slots__ = ("s_self",)
    op = get_op("linalg_matrix_exp")
    saved = ('self',)
    needs = (('self',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_self),)

    def free(self) -> None:
        del self.s_self


NODE_CLASSES["linalg_matrix_exp"] = LinalgMatrixExpBackward0

def linalg_matrix_exp(self: Tensor) -> Tensor:
    """The exponentials of square matrices, (..., n, n); computed in float64."""
    if MODE.special or type(self) is not Tensor:
        return dispatch(_linalg_matrix_exp, (self,), {})
    t0 = self._type
    a0 = self._array
    e0 = self._node
    k = t0
    try:
        p = _linalg_matrix_exp_plans[k]
    except (KeyError, TypeError):
        p = _linalg_matrix_exp_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LinalgMatrixExpBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_self = a0
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "linalg_inv_ex": linalg_inv_ex,
    "linalg_solve_ex": linalg_solve_ex,
    "linalg_solve_triangular": linalg_solve_triangular,
    "linalg_pinv": linalg_pinv,
    "linalg_lstsq": linalg_lstsq,
    "linalg_matrix_exp": linalg_matrix_exp,
}
INPLACE: dict[str, Any] = {
}
