"""Functions and backward nodes of the family "reduction". Generated from the records in `twofold.ops` by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any


from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op
from twofold.tape.node import tick
from twofold.tape.plan import scalar_key, table
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_sum = get_op("sum")
_sum_plans = table(_sum)


class SumBackward0(OpNode):
    __slots__ = ()
    op = get_op("sum")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)


NODE_CLASSES["sum"] = SumBackward0

def sum(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """The sum over `dim` (all dimensions by default). Integers and bools are summed in int64."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sum, (input,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim, dtype)
    try:
        p = _sum_plans[k]
    except (KeyError, TypeError):
        p = _sum_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SumBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


_sum_to_size = get_op("sum_to_size")
_sum_to_size_plans = table(_sum_to_size)


class SumToSizeBackward0(OpNode):
    __slots__ = ()
    op = get_op("sum_to_size")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["sum_to_size"] = SumToSizeBackward0

def sum_to_size(input: Tensor, size: Sequence[int]) -> Tensor:
    """The sum that undoes broadcasting: `size` must broadcast to the input's shape."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sum_to_size, (input,), {"size": size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size)
    try:
        p = _sum_to_size_plans[k]
    except (KeyError, TypeError):
        p = _sum_to_size_plans.make(k, (t0,), {"size": size})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SumToSizeBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


FUNCTIONS = {
    "sum": sum,
    "sum_to_size": sum_to_size,
}
