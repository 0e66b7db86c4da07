"""Functions and backward nodes of the family "statistics". Generated from the records by tools/generate.py: do not edit."""
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

_nanmedian = get_op("nanmedian")
_nanmedian_plans = table(_nanmedian)


class NanmedianBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("nanmedian")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["nanmedian"] = NanmedianBackward0

def nanmedian(input: Tensor) -> Tensor:
    """The lower median of the elements that are not NaN; NaN if there are none.

    The gradient is shared evenly by the elements equal to it. `twofold.nanmedian` also takes a dimension (`nanmedian_dim`).
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_nanmedian, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _nanmedian_plans[k]
    except (KeyError, TypeError):
        p = _nanmedian_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = NanmedianBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_result = y
    else:
        o._node = None
    return o


_nanmedian_dim = get_op("nanmedian_dim")


class NanmedianBackward1(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("nanmedian_dim")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["nanmedian_dim"] = NanmedianBackward1

def nanmedian_dim(input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower medians along one dimension of the elements that are not NaN (NaN if there are none), and the index of each."""
    return dispatch(_nanmedian_dim, (input,), {"dim": dim, "keepdim": keepdim})


_mode = get_op("mode")


class ModeBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("mode")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["mode"] = ModeBackward0

def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The element that occurs most often along `dim` (of several the least), and the index of its last occurrence."""
    return dispatch(_mode, (input,), {"dim": dim, "keepdim": keepdim})


FUNCTIONS: dict[str, Any] = {
    "nanmedian": nanmedian,
    "nanmedian_dim": nanmedian_dim,
    "mode": mode,
}
INPLACE: dict[str, Any] = {
}
