"""Functions and backward nodes of the family "linear". Generated from the records by tools/generate.py: do not edit."""
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

_linear = get_op("linear")
_linear_plans = table(_linear)


class AddmmBackward0(OpNode):
    __slots__ = ("s_input", "s_weight")
    op = get_op("linear")
    saved = ('input', 'weight')
    needs = (('weight',), ('input',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_weight) if e[0] is not None else None, rules[1](g, self.s_input) if e[1] is not None else None, rules[2](g) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_weight


NODE_CLASSES["linear"] = AddmmBackward0

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias: input (*, in_features), weight (out_features, in_features), bias (out_features,) or None.

    One node, which carries the name PyTorch shows for a batch of rows with a bias.
    """
    if MODE.special or type(input) is not Tensor or type(weight) is not Tensor or (bias is not None and type(bias) is not Tensor):
        return dispatch(_linear, (input, weight, bias,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = weight._type
    a1 = weight._array
    e1 = weight._node
    if bias is None:
        t2 = a2 = e2 = None
    else:
        t2 = bias._type
        a2 = bias._array
        e2 = bias._node
    k = (t0, t1, t2)
    try:
        p = _linear_plans[k]
    except (KeyError, TypeError):
        p = _linear_plans.make(k, (t0, t1, t2,), {})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = AddmmBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_weight = a1 if e0 is not None else None
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "linear": linear,
}
INPLACE: dict[str, Any] = {
}
