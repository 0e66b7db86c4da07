"""Functions and backward nodes of the family "determinant". Generated from the records by tools/generate.py: do not edit."""
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

_linalg_cofactor = get_op("linalg_cofactor")
_linalg_cofactor_plans = table(_linalg_cofactor)


class LinalgCofactorBackward0(OpNode):
    __slots__ = ("s_A",)
    op = get_op("linalg_cofactor")
    saved = ('A',)
    needs = (('A',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_A),)

    def free(self) -> None:
        del self.s_A


NODE_CLASSES["linalg_cofactor"] = LinalgCofactorBackward0

def linalg_cofactor(A: Tensor) -> Tensor:
    """The matrices of cofactors: the gradients of determinants; det(A) A^-T where A has an inverse."""
    if MODE.special or type(A) is not Tensor:
        return dispatch(_linalg_cofactor, (A,), {})
    t0 = A._type
    a0 = A._array
    e0 = A._node
    k = t0
    try:
        p = _linalg_cofactor_plans[k]
    except (KeyError, TypeError):
        p = _linalg_cofactor_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LinalgCofactorBackward0()
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


_linalg_det = get_op("linalg_det")
_linalg_det_plans = table(_linalg_det)


class LinalgDetBackward0(OpNode):
    __slots__ = ("s_A",)
    op = get_op("linalg_det")
    saved = ('A',)
    needs = (('A',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_A),)

    def free(self) -> None:
        del self.s_A


NODE_CLASSES["linalg_det"] = LinalgDetBackward0

def linalg_det(A: Tensor) -> Tensor:
    """The determinants of square matrices. First and second derivatives exist at singular matrices too."""
    if MODE.special or type(A) is not Tensor:
        return dispatch(_linalg_det, (A,), {})
    t0 = A._type
    a0 = A._array
    e0 = A._node
    k = t0
    try:
        p = _linalg_det_plans[k]
    except (KeyError, TypeError):
        p = _linalg_det_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LinalgDetBackward0()
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


_linalg_slogdet = get_op("linalg_slogdet")


class LinalgSlogdetBackward0(OpNode):
    __slots__ = ("s_A",)
    op = get_op("linalg_slogdet")
    saved = ('A',)
    needs = (('A',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[1], self.s_A),)

    def free(self) -> None:
        del self.s_A


NODE_CLASSES["linalg_slogdet"] = LinalgSlogdetBackward0

def linalg_slogdet(A: Tensor) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the magnitude of determinants; (0, -inf) for singular matrices, where the gradient is infinite."""
    return dispatch(_linalg_slogdet, (A,), {})


FUNCTIONS: dict[str, Any] = {
    "linalg_cofactor": linalg_cofactor,
    "linalg_det": linalg_det,
    "linalg_slogdet": linalg_slogdet,
}
INPLACE: dict[str, Any] = {
}
