"""Functions and backward nodes of the family "mutation". Generated from the records by tools/generate.py: do not edit."""
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

_set_data = get_op("set_data")
_set_data_plans = table(_set_data)


class SetDataBackward0(OpNode):
    __slots__ = ()
    op = get_op("set_data")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["set_data"] = SetDataBackward0

def set_data(input: Tensor, data: Tensor) -> Tensor:
    """The values of `data` with the history of `input`: what is left of a write under no_grad when a program is recorded."""
    if MODE.special or type(input) is not Tensor or type(data) is not Tensor:
        return dispatch(_set_data, (input, data,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = data._type
    a1 = data._array
    e1 = data._node
    k = (t0, t1)
    try:
        p = _set_data_plans[k]
    except (KeyError, TypeError):
        p = _set_data_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SetDataBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


_sym_size = get_op("sym_size")


def sym_size(value: int) -> Tensor:
    """A size, symbolic where the shape is, as a 0-d int64 tensor: what `x.shape[0]` becomes where it is an operand."""
    return dispatch(_sym_size, (), {"value": value})


_refuse_gradient = get_op("refuse_gradient")
_refuse_gradient_plans = table(_refuse_gradient)


def refuse_gradient(g: Tensor, reason: str) -> Tensor:
    """Always raises UnsupportedError with the reason: the rule of a gradient that is not computed (see `ops.record.refused`)."""
    if MODE.special or type(g) is not Tensor:
        return dispatch(_refuse_gradient, (g,), {"reason": reason})
    t0 = g._type
    a0 = g._array
    e0 = g._node
    k = (t0, reason)
    try:
        p = _refuse_gradient_plans[k]
    except (KeyError, TypeError):
        p = _refuse_gradient_plans.make(k, (t0,), {"reason": reason})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "set_data": set_data,
    "sym_size": sym_size,
    "refuse_gradient": refuse_gradient,
}
INPLACE: dict[str, Any] = {
}
