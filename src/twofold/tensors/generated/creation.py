"""Functions and backward nodes of the family "creation". Generated from the records in `twofold.ops` by tools/generate.py: do not edit."""
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

_zeros = get_op("zeros")


def zeros(size: Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A tensor of zeros."""
    return dispatch(_zeros, (), {"size": size, "dtype": dtype, "device": device})


_to = get_op("to")
_to_plans = table(_to)


class ToCopyBackward0(OpNode):
    __slots__ = ()
    op = get_op("to")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].dtype),)


NODE_CLASSES["to"] = ToCopyBackward0

def to(input: Tensor, dtype: DTypeLike) -> Tensor:
    """The elements converted to another dtype."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_to, (input,), {"dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dtype)
    try:
        p = _to_plans[k]
    except (KeyError, TypeError):
        p = _to_plans.make(k, (t0,), {"dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ToCopyBackward0()
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


_clone = get_op("clone")
_clone_plans = table(_clone)


class CloneBackward0(OpNode):
    __slots__ = ()
    op = get_op("clone")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["clone"] = CloneBackward0

def clone(input: Tensor) -> Tensor:
    """A copy with its own memory, in the same memory layout."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_clone, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _clone_plans[k]
    except (KeyError, TypeError):
        p = _clone_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CloneBackward0()
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


FUNCTIONS: dict[str, Any] = {
    "zeros": zeros,
    "to": to,
    "clone": clone,
}
INPLACE: dict[str, Any] = {
}
