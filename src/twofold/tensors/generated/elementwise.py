"""Functions and backward nodes of the family "elementwise". Generated from the records in `twofold.ops` by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

from numpy import cos as _np_cos
from numpy import log as _np_log
from numpy import sin as _np_sin
from numpy import tanh as _np_tanh

from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op
from twofold.tape.node import tick
from twofold.tape.plan import scalar_key, table
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_add = get_op("add")
_add_plans = table(_add)


class AddBackward0(OpNode):
    __slots__ = ()
    op = get_op("add")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g) if e[1] is not None else None)


NODE_CLASSES["add"] = AddBackward0

def add(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Elementwise sum."""
    if MODE.special:
        return dispatch(_add, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a0 + a1
            else:
                k = (t, other._type)
                p = _add_plans.get(k) or _add_plans.make(k, k, {})
                t = p.out
                y = p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a0 + a1
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a0 + a1
        else:
            return dispatch(_add, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a0 + a1
    else:
        return dispatch(_add, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = AddBackward0()
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


_mul = get_op("mul")
_mul_plans = table(_mul)


class MulBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("mul")
    saved = ('input', 'other')
    needs = (('other',), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["mul"] = MulBackward0

def mul(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Elementwise product."""
    if MODE.special:
        return dispatch(_mul, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a0 * a1
            else:
                k = (t, other._type)
                p = _mul_plans.get(k) or _mul_plans.make(k, k, {})
                t = p.out
                y = p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a0 * a1
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a0 * a1
        else:
            return dispatch(_mul, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a0 * a1
    else:
        return dispatch(_mul, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = MulBackward0()
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


_neg = get_op("neg")
_neg_plans = table(_neg)


class NegBackward0(OpNode):
    __slots__ = ()
    op = get_op("neg")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["neg"] = NegBackward0

def neg(input: Tensor) -> Tensor:
    """Elementwise negation."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_neg, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = -a0
    else:
        p = _neg_plans.get(t) or _neg_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = NegBackward0()
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


_sin = get_op("sin")
_sin_plans = table(_sin)


class SinBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("sin")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["sin"] = SinBackward0

def sin(input: Tensor) -> Tensor:
    """Elementwise sine (radians)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sin, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_sin(a0)
    else:
        p = _sin_plans.get(t) or _sin_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SinBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
    else:
        o._node = None
    return o


_cos = get_op("cos")
_cos_plans = table(_cos)


class CosBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("cos")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["cos"] = CosBackward0

def cos(input: Tensor) -> Tensor:
    """Elementwise cosine (radians)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_cos, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_cos(a0)
    else:
        p = _cos_plans.get(t) or _cos_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = CosBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
    else:
        o._node = None
    return o


_tanh = get_op("tanh")
_tanh_plans = table(_tanh)


class TanhBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("tanh")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["tanh"] = TanhBackward0

def tanh(input: Tensor) -> Tensor:
    """Elementwise hyperbolic tangent."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_tanh, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_tanh(a0)
    else:
        p = _tanh_plans.get(t) or _tanh_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = TanhBackward0()
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


_log = get_op("log")
_log_plans = table(_log)


class LogBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("log")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["log"] = LogBackward0

def log(input: Tensor) -> Tensor:
    """Elementwise natural logarithm."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_log, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_log(a0)
    else:
        p = _log_plans.get(t) or _log_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = LogBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
    else:
        o._node = None
    return o


_div = get_op("div")
_div_plans = table(_div)


class DivBackward0(OpNode):
    __slots__ = ("s_other", "s_result")
    op = get_op("div")
    saved = ('other', 'result')
    needs = (('other',), ('other', 'result'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_other) if e[0] is not None else None, rules[1](g, self.s_other, self.s_result) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_other, self.s_result


NODE_CLASSES["div"] = DivBackward0

def div(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Elementwise true division; integers are divided in the default floating-point dtype."""
    if MODE.special:
        return dispatch(_div, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a0 / a1
            else:
                k = (t, other._type)
                p = _div_plans.get(k) or _div_plans.make(k, k, {})
                t = p.out
                y = p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a0 / a1
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a0 / a1
        else:
            return dispatch(_div, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a0 / a1
    else:
        return dispatch(_div, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = DivBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_other = a1
        n.s_result = y if e1 is not None else None
    else:
        o._node = None
    return o


_sub = get_op("sub")
_sub_plans = table(_sub)


class SubBackward0(OpNode):
    __slots__ = ()
    op = get_op("sub")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g) if e[1] is not None else None)


NODE_CLASSES["sub"] = SubBackward0

def sub(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Elementwise difference."""
    if MODE.special:
        return dispatch(_sub, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a0 - a1
            else:
                k = (t, other._type)
                p = _sub_plans.get(k) or _sub_plans.make(k, k, {})
                t = p.out
                y = p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a0 - a1
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a0 - a1
        else:
            return dispatch(_sub, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a0 - a1
    else:
        return dispatch(_sub, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = SubBackward0()
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


FUNCTIONS = {
    "add": add,
    "mul": mul,
    "neg": neg,
    "sin": sin,
    "cos": cos,
    "tanh": tanh,
    "log": log,
    "div": div,
    "sub": sub,
}
