"""Functions and backward nodes of the family "distance". Generated from the records by tools/generate.py: do not edit."""
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

_linalg_cross = get_op("linalg_cross")
_linalg_cross_plans = table(_linalg_cross)


class LinalgCrossBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("linalg_cross")
    saved = ('input', 'other')
    needs = (('other',), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_other, self.plan.ins[0].shape, self.plan.attributes["dim"]) if e[0] is not None else None, rules[1](g, self.s_input, self.plan.ins[1].shape, self.plan.attributes["dim"]) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["linalg_cross"] = LinalgCrossBackward0

def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors of three elements along `dim`; the other dimensions broadcast."""
    if MODE.special or type(input) is not Tensor or type(other) is not Tensor:
        return dispatch(_linalg_cross, (input, other,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = other._type
    a1 = other._array
    e1 = other._node
    k = (t0, t1, dim)
    try:
        p = _linalg_cross_plans[k]
    except (KeyError, TypeError):
        p = _linalg_cross_plans.make(k, (t0, t1,), {"dim": dim})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = LinalgCrossBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_other = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_cdist_forward = get_op("cdist_forward")
_cdist_forward_plans = table(_cdist_forward)


class CdistBackward0(OpNode):
    __slots__ = ("s_x1", "s_x2", "s_result")
    op = get_op("cdist_forward")
    saved = ('x1', 'x2', 'result')
    needs = (('x1', 'x2', 'result'), ('x1', 'x2', 'result'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_x1, self.s_x2, self.s_result, self.plan.ins[0].dtype, self.plan.attributes["p"]) if e[0] is not None else None, rules[1](g, self.s_x1, self.s_x2, self.s_result, self.plan.ins[1].dtype, self.plan.attributes["p"]) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_x1, self.s_x2, self.s_result


NODE_CLASSES["cdist_forward"] = CdistBackward0

def cdist_forward(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: int = 0) -> Tensor:
    """The p-norms of the differences between all rows of x1 (..., n, d) and x2 (..., m, d): (..., n, m); the batches broadcast.

    compute_mode: 1 gives Euclidean distances by a product of matrices, 2 never does, 0 does for more than 25 rows (faster, and less exact
    for near points). The gradient where a distance is 0 is taken as 0.
    """
    if MODE.special or type(x1) is not Tensor or type(x2) is not Tensor:
        return dispatch(_cdist_forward, (x1, x2,), {"p": p, "compute_mode": compute_mode})
    t0 = x1._type
    a0 = x1._array
    e0 = x1._node
    t1 = x2._type
    a1 = x2._array
    e1 = x2._node
    k = (t0, t1, scalar_key(p), compute_mode)
    try:
        p = _cdist_forward_plans[k]
    except (KeyError, TypeError):
        p = _cdist_forward_plans.make(k, (t0, t1,), {"p": p, "compute_mode": compute_mode})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = CdistBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_x1 = a0
        n.s_x2 = a1
        n.s_result = y
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "linalg_cross": linalg_cross,
    "cdist_forward": cdist_forward,
}
INPLACE: dict[str, Any] = {
}
