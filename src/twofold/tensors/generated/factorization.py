"""Functions and backward nodes of the family "factorization". Generated from the records by tools/generate.py: do not edit."""
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

_linalg_lu_factor_ex = get_op("linalg_lu_factor_ex")


class LinalgLuFactorExBackward0(OpNode):
    __slots__ = ("s_LU", "s_pivots")
    op = get_op("linalg_lu_factor_ex")
    saved = ('LU', 'pivots')
    needs = (('LU', 'pivots'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_LU, self.s_pivots),)

    def free(self) -> None:
        del self.s_LU, self.s_pivots


NODE_CLASSES["linalg_lu_factor_ex"] = LinalgLuFactorExBackward0

def linalg_lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """The LU decomposition with partial pivoting in LAPACK's packed form, and info.

    LU: L below the diagonal (its own is 1), U on and above it. pivots (int32, from 1): in step i row i was exchanged with that row. info is
    0, or the first i (from 1) with U[i, i] = 0; with `check_errors` LinAlgError is raised then.
    """
    return dispatch(_linalg_lu_factor_ex, (A,), {"pivot": pivot, "check_errors": check_errors})


_lu_unpack = get_op("lu_unpack")


class LuUnpackBackward0(OpNode):
    __slots__ = ()
    op = get_op("lu_unpack")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g[1], g[2], self.plan.attributes["unpack_data"]) if e[0] is not None else None, None)


NODE_CLASSES["lu_unpack"] = LuUnpackBackward0

def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """P, L and U of A = P L U from what `linalg.lu_factor` returns; tensors not asked for are empty, of shape (0,)."""
    return dispatch(_lu_unpack, (LU_data, LU_pivots,), {"unpack_data": unpack_data, "unpack_pivots": unpack_pivots})


_linalg_ldl_factor_ex = get_op("linalg_ldl_factor_ex")


class LinalgLdlFactorExBackward0(OpNode):
    __slots__ = ()
    op = get_op("linalg_ldl_factor_ex")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0]),)


NODE_CLASSES["linalg_ldl_factor_ex"] = LinalgLdlFactorExBackward0

def linalg_ldl_factor_ex(self: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """A = L D L^T of symmetric matrices from their lower triangle, with Bunch and Kaufman's pivoting, in LAPACK's packed form.

    D has blocks of order 1 (pivot > 0) and 2 (two equal negative pivots). `hermitian` changes nothing for real matrices.
    """
    return dispatch(_linalg_ldl_factor_ex, (self,), {"hermitian": hermitian, "check_errors": check_errors})


_linalg_ldl_solve = get_op("linalg_ldl_solve")
_linalg_ldl_solve_plans = table(_linalg_ldl_solve)


class LinalgLdlSolveBackward0(OpNode):
    __slots__ = ()
    op = get_op("linalg_ldl_solve")
    saved = ()
    needs = ((), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None, rules[2](g) if e[2] is not None else None)


NODE_CLASSES["linalg_ldl_solve"] = LinalgLdlSolveBackward0

def linalg_ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X of A X = B from `linalg.ldl_factor`'s result; the batches broadcast."""
    if MODE.special or type(LD) is not Tensor or type(pivots) is not Tensor or type(B) is not Tensor:
        return dispatch(_linalg_ldl_solve, (LD, pivots, B,), {"hermitian": hermitian})
    t0 = LD._type
    a0 = LD._array
    e0 = LD._node
    t1 = pivots._type
    a1 = pivots._array
    e1 = pivots._node
    t2 = B._type
    a2 = B._array
    e2 = B._node
    k = (t0, t1, t2, hermitian)
    try:
        p = _linalg_ldl_solve_plans[k]
    except (KeyError, TypeError):
        p = _linalg_ldl_solve_plans.make(k, (t0, t1, t2,), {"hermitian": hermitian})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = LinalgLdlSolveBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "linalg_lu_factor_ex": linalg_lu_factor_ex,
    "lu_unpack": lu_unpack,
    "linalg_ldl_factor_ex": linalg_ldl_factor_ex,
    "linalg_ldl_solve": linalg_ldl_solve,
}
INPLACE: dict[str, Any] = {
}
