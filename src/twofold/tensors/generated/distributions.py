"""Functions and backward nodes of the family "distributions". Generated from the records by tools/generate.py: do not edit."""
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

_poisson = get_op("poisson")
_poisson_plans = table(_poisson)


class PoissonBackward0(OpNode):
    __slots__ = ()
    op = get_op("poisson")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["poisson"] = PoissonBackward0

def poisson(input: Tensor, state: Tensor) -> Tensor:
    """Whole numbers from the Poisson distribution with the rate that the input holds at each place.

    By the inverse distribution function: consumes two words a value. The gradient is zero, as in PyTorch.
    Raises ValueRangeError for a negative or infinite rate.
    """
    if MODE.special or type(input) is not Tensor or type(state) is not Tensor:
        return dispatch(_poisson, (input, state,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = state._type
    a1 = state._array
    e1 = state._node
    k = (t0, t1)
    try:
        p = _poisson_plans[k]
    except (KeyError, TypeError):
        p = _poisson_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = PoissonBackward0()
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


_binomial = get_op("binomial")
_binomial_plans = table(_binomial)


class BinomialBackward0(OpNode):
    __slots__ = ()
    op = get_op("binomial")
    saved = ()
    needs = ((), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.ins[0].shape) if e[0] is not None else None, rules[1](g, self.plan.ins[1].shape) if e[1] is not None else None, None)


NODE_CLASSES["binomial"] = BinomialBackward0

def binomial(count: Tensor, prob: Tensor, state: Tensor) -> Tensor:
    """How often an event of probability `prob` happens in `count` trials (0 for a negative count), drawn from the mode outwards.

    Consumes two words a value. The gradients are zero, as in PyTorch. Raises ValueRangeError for probabilities outside [0, 1].
    """
    if MODE.special or type(count) is not Tensor or type(prob) is not Tensor or type(state) is not Tensor:
        return dispatch(_binomial, (count, prob, state,), {})
    t0 = count._type
    a0 = count._array
    e0 = count._node
    t1 = prob._type
    a1 = prob._array
    e1 = prob._node
    t2 = state._type
    a2 = state._array
    e2 = state._node
    k = (t0, t1, t2)
    try:
        p = _binomial_plans[k]
    except (KeyError, TypeError):
        p = _binomial_plans.make(k, (t0, t1, t2,), {})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = BinomialBackward0()
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
    "poisson": poisson,
    "binomial": binomial,
}
INPLACE: dict[str, Any] = {
}
