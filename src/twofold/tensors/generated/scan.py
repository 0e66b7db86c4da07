"""Functions and backward nodes of the family "scan". Generated from the records by tools/generate.py: do not edit."""
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
from twofold.tensors.inplace import inplace
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {type(None)}

_cumsum = get_op("cumsum")
_cumsum_plans = table(_cumsum)


class CumsumBackward0(OpNode):
    __slots__ = ()
    op = get_op("cumsum")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["dtype"]),)


NODE_CLASSES["cumsum"] = CumsumBackward0

def cumsum(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None, axis: int | None = None) -> Tensor:
    """Running sums along `dim`. Integers and bools are summed in int64."""
    if dim is None:
        dim = given_axis("cumsum", axis)
    if MODE.special or type(input) is not Tensor:
        return dispatch(_cumsum, (input,), {"dim": dim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, dtype)
    try:
        p = _cumsum_plans[k]
    except (KeyError, TypeError):
        p = _cumsum_plans.make(k, (t0,), {"dim": dim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CumsumBackward0()
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


def cumsum_(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None, axis: int | None = None) -> Tensor:
    """`cumsum` whose result is written into the first operand, which is returned."""
    if dim is None:
        dim = given_axis("cumsum", axis)
    return inplace("cumsum", input, dim=dim, dtype=dtype)


_cumprod = get_op("cumprod")
_cumprod_plans = table(_cumprod)


class CumprodBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("cumprod")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["dtype"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["cumprod"] = CumprodBackward0

def cumprod(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None, axis: int | None = None) -> Tensor:
    """Running products along `dim`. Integers and bools are multiplied in int64. The gradient is exact where elements are 0."""
    if dim is None:
        dim = given_axis("cumprod", axis)
    if MODE.special or type(input) is not Tensor:
        return dispatch(_cumprod, (input,), {"dim": dim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, dtype)
    try:
        p = _cumprod_plans[k]
    except (KeyError, TypeError):
        p = _cumprod_plans.make(k, (t0,), {"dim": dim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CumprodBackward0()
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


def cumprod_(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None, axis: int | None = None) -> Tensor:
    """`cumprod` whose result is written into the first operand, which is returned."""
    if dim is None:
        dim = given_axis("cumprod", axis)
    return inplace("cumprod", input, dim=dim, dtype=dtype)


_shift = get_op("shift")
_shift_plans = table(_shift)


class ShiftBackward0(OpNode):
    __slots__ = ()
    op = get_op("shift")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"], self.plan.attributes["amount"]),)


NODE_CLASSES["shift"] = ShiftBackward0

def shift(input: Tensor, dim: int, amount: int, fill: Number = 0.0) -> Tensor:
    """The elements moved by `amount` places along `dim`; what falls off is lost, places left free are `fill`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_shift, (input,), {"dim": dim, "amount": amount, "fill": fill})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, amount, scalar_key(fill))
    try:
        p = _shift_plans[k]
    except (KeyError, TypeError):
        p = _shift_plans.make(k, (t0,), {"dim": dim, "amount": amount, "fill": fill})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ShiftBackward0()
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


_linear_recurrence = get_op("linear_recurrence")
_linear_recurrence_plans = table(_linear_recurrence)


class LinearRecurrenceBackward0(OpNode):
    __slots__ = ("s_a", "s_result")
    op = get_op("linear_recurrence")
    saved = ('a', 'result')
    needs = (('a', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g, self.s_a, self.s_result, self.plan.attributes["dim"], self.plan.attributes["reverse"])

    def free(self) -> None:
        del self.s_a, self.s_result


NODE_CLASSES["linear_recurrence"] = LinearRecurrenceBackward0

def linear_recurrence(a: Tensor, b: Tensor, dim: int, reverse: bool = False) -> Tensor:
    """s_0 = b_0, s_i = a_i s_(i-1) + b_i along `dim`, from the end where `reverse`. a_0 is not used.

    Gradients of running products and of `logcumsumexp` are recurrences of this kind, and so is its own.
    """
    if MODE.special or type(a) is not Tensor or type(b) is not Tensor:
        return dispatch(_linear_recurrence, (a, b,), {"dim": dim, "reverse": reverse})
    t0 = a._type
    a0 = a._array
    e0 = a._node
    t1 = b._type
    a1 = b._array
    e1 = b._node
    k = (t0, t1, dim, reverse)
    try:
        p = _linear_recurrence_plans[k]
    except (KeyError, TypeError):
        p = _linear_recurrence_plans.make(k, (t0, t1,), {"dim": dim, "reverse": reverse})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = LinearRecurrenceBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_a = a0
        n.s_result = y
    else:
        o._node = None
    return o


_logcumsumexp = get_op("logcumsumexp")
_logcumsumexp_plans = table(_logcumsumexp)


class LogcumsumexpBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("logcumsumexp")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.attributes["dim"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["logcumsumexp"] = LogcumsumexpBackward0

def logcumsumexp(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """The logarithms of running sums of exponentials along `dim`, without overflow."""
    if dim is None:
        dim = given_axis("logcumsumexp", axis)
    if MODE.special or type(input) is not Tensor:
        return dispatch(_logcumsumexp, (input,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim)
    try:
        p = _logcumsumexp_plans[k]
    except (KeyError, TypeError):
        p = _logcumsumexp_plans.make(k, (t0,), {"dim": dim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LogcumsumexpBackward0()
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


_cummax = get_op("cummax")


class CummaxBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("cummax")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["cummax"] = CummaxBackward0

def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Running maxima along `dim` and the latest index of each; from the first NaN on everything is NaN."""
    return dispatch(_cummax, (input,), {"dim": dim})


_cummin = get_op("cummin")


class CumminBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("cummin")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["cummin"] = CumminBackward0

def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Running minima along `dim` and the latest index of each; from the first NaN on everything is NaN."""
    return dispatch(_cummin, (input,), {"dim": dim})


FUNCTIONS: dict[str, Any] = {
    "cumsum": cumsum,
    "cumprod": cumprod,
    "shift": shift,
    "linear_recurrence": linear_recurrence,
    "logcumsumexp": logcumsumexp,
    "cummax": cummax,
    "cummin": cummin,
}
INPLACE: dict[str, Any] = {
    "cumsum_": cumsum_,
    "cumprod_": cumprod_,
}
