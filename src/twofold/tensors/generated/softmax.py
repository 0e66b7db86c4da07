"""Functions and backward nodes of the family "softmax". Generated from the records by tools/generate.py: do not edit."""
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

_softmax = get_op("softmax")
_softmax_plans = table(_softmax)


class SoftmaxBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("softmax")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["dtype"]),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["softmax"] = SoftmaxBackward0

def softmax(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None, axis: int | None = None) -> Tensor:
    """exp(input) divided by its sum over `dim`, computed after taking out the maximum. `dtype`: convert the input first."""
    if dim is None:
        dim = given_axis("softmax", axis)
    if MODE.special or type(input) is not Tensor:
        return dispatch(_softmax, (input,), {"dim": dim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, dtype)
    try:
        p = _softmax_plans[k]
    except (KeyError, TypeError):
        p = _softmax_plans.make(k, (t0,), {"dim": dim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SoftmaxBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_result = y
    else:
        o._node = None
    return o


_log_softmax = get_op("log_softmax")
_log_softmax_plans = table(_log_softmax)


class LogSoftmaxBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("log_softmax")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["dtype"]),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["log_softmax"] = LogSoftmaxBackward0

def log_softmax(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None, axis: int | None = None) -> Tensor:
    """The logarithm of `softmax`, computed as input - max - log(sum(exp(input - max)))."""
    if dim is None:
        dim = given_axis("log_softmax", axis)
    if MODE.special or type(input) is not Tensor:
        return dispatch(_log_softmax, (input,), {"dim": dim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, dtype)
    try:
        p = _log_softmax_plans[k]
    except (KeyError, TypeError):
        p = _log_softmax_plans.make(k, (t0,), {"dim": dim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LogSoftmaxBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_result = y
    else:
        o._node = None
    return o


_softmax_backward = get_op("softmax_backward")
_softmax_backward_plans = table(_softmax_backward)


class SoftmaxBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_output")
    op = get_op("softmax_backward")
    saved = ('grad', 'output')
    needs = (('output',), ('grad', 'output'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_output, self.plan.attributes["dim"]) if e[0] is not None else None, rules[1](g, self.s_grad, self.s_output, self.plan.attributes["dim"]) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_grad, self.s_output


NODE_CLASSES["softmax_backward"] = SoftmaxBackwardBackward0

def softmax_backward(grad: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of softmax: output (grad - sum(grad output))."""
    if MODE.special or type(grad) is not Tensor or type(output) is not Tensor:
        return dispatch(_softmax_backward, (grad, output,), {"dim": dim})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = output._type
    a1 = output._array
    e1 = output._node
    k = (t0, t1, dim)
    try:
        p = _softmax_backward_plans[k]
    except (KeyError, TypeError):
        p = _softmax_backward_plans.make(k, (t0, t1,), {"dim": dim})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = SoftmaxBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_grad = a0 if e1 is not None else None
        n.s_output = a1
    else:
        o._node = None
    return o


_log_softmax_backward = get_op("log_softmax_backward")
_log_softmax_backward_plans = table(_log_softmax_backward)


class LogSoftmaxBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_output")
    op = get_op("log_softmax_backward")
    saved = ('grad', 'output')
    needs = (('output',), ('grad', 'output'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_output, self.plan.attributes["dim"]) if e[0] is not None else None, rules[1](g, self.s_grad, self.s_output, self.plan.attributes["dim"]) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_grad, self.s_output


NODE_CLASSES["log_softmax_backward"] = LogSoftmaxBackwardBackward0

def log_softmax_backward(grad: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of log_softmax: grad - exp(output) sum(grad)."""
    if MODE.special or type(grad) is not Tensor or type(output) is not Tensor:
        return dispatch(_log_softmax_backward, (grad, output,), {"dim": dim})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = output._type
    a1 = output._array
    e1 = output._node
    k = (t0, t1, dim)
    try:
        p = _log_softmax_backward_plans[k]
    except (KeyError, TypeError):
        p = _log_softmax_backward_plans.make(k, (t0, t1,), {"dim": dim})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = LogSoftmaxBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_grad = a0 if e1 is not None else None
        n.s_output = a1
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "softmax_backward": softmax_backward,
    "log_softmax_backward": log_softmax_backward,
}
INPLACE: dict[str, Any] = {
}
