"""Functions and backward nodes of the family "elementwise". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

from numpy import arctan2 as _np_atan2
from numpy import copysign as _np_copysign
from numpy import fmax as _np_fmax
from numpy import fmin as _np_fmin
from numpy import fmod as _np_fmod
from numpy import hypot as _np_hypot
from numpy import logaddexp as _np_logaddexp
from numpy import maximum as _np_maximum
from numpy import minimum as _np_minimum

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
    """Elementwise sum; of bools, the logical or."""
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
                y = a0 + a1 if p.inline else p.kernel(a0, a1)
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


def add_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`add` whose result is written into the first operand, which is returned."""
    return inplace("add", input, other)


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
    """Elementwise difference. Bool operands raise DTypeError."""
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
                y = a0 - a1 if p.inline else p.kernel(a0, a1)
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


def sub_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`sub` whose result is written into the first operand, which is returned."""
    return inplace("sub", input, other)


_rsub = get_op("rsub")
_rsub_plans = table(_rsub)


class RsubBackward1(OpNode):
    __slots__ = ()
    op = get_op("rsub")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g) if e[1] is not None else None)


NODE_CLASSES["rsub"] = RsubBackward1

def rsub(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """`other - input`, the reflected difference. Bool operands raise DTypeError."""
    if MODE.special:
        return dispatch(_rsub, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a1 - a0
            else:
                k = (t, other._type)
                p = _rsub_plans.get(k) or _rsub_plans.make(k, k, {})
                t = p.out
                y = a1 - a0 if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a1 - a0
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a1 - a0
        else:
            return dispatch(_rsub, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a1 - a0
    else:
        return dispatch(_rsub, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = RsubBackward1()
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
    """Elementwise product; of bools, the logical and."""
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
                y = a0 * a1 if p.inline else p.kernel(a0, a1)
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


def mul_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`mul` whose result is written into the first operand, which is returned."""
    return inplace("mul", input, other)


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
                y = a0 / a1 if p.inline else p.kernel(a0, a1)
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


def div_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`div` whose result is written into the first operand, which is returned."""
    return inplace("div", input, other)


_floor_divide = get_op("floor_divide")
_floor_divide_plans = table(_floor_divide)


class FloorDivideBackward0(OpNode):
    __slots__ = ()
    op = get_op("floor_divide")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device) if e[0] is not None else None, rules[1](self.input_type(1).shape, self.input_type(1).dtype, self.input_type(1).device) if e[1] is not None else None)


NODE_CLASSES["floor_divide"] = FloorDivideBackward0

def floor_divide(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The quotient rounded down. An integer division by zero raises ValueRangeError. The gradient is zero (PyTorch has none)."""
    if MODE.special:
        return dispatch(_floor_divide, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a0 // a1
            else:
                k = (t, other._type)
                p = _floor_divide_plans.get(k) or _floor_divide_plans.make(k, k, {})
                t = p.out
                y = a0 // a1 if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a0 // a1
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a0 // a1
        else:
            return dispatch(_floor_divide, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a0 // a1
    else:
        return dispatch(_floor_divide, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = FloorDivideBackward0()
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


def floor_divide_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`floor_divide` whose result is written into the first operand, which is returned."""
    return inplace("floor_divide", input, other)


_trunc_divide = get_op("trunc_divide")
_trunc_divide_plans = table(_trunc_divide)


class TruncDivideBackward0(OpNode):
    __slots__ = ()
    op = get_op("trunc_divide")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[0].device) if e[0] is not None else None, rules[1](self.plan.ins[1].shape, self.plan.ins[1].dtype, self.plan.ins[1].device) if e[1] is not None else None)


NODE_CLASSES["trunc_divide"] = TruncDivideBackward0

def trunc_divide(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The quotient rounded towards zero. An integer division by zero raises ValueRangeError. The gradient is zero."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_trunc_divide, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _trunc_divide_plans[k]
    except (KeyError, TypeError):
        p = _trunc_divide_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = TruncDivideBackward0()
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


_div_mode = get_op("div_mode")
_div_mode_plans = table(_div_mode)


class DivBackward2(OpNode):
    __slots__ = ()
    op = get_op("div_mode")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[0].device) if e[0] is not None else None, rules[1](self.plan.ins[1].shape, self.plan.ins[1].dtype, self.plan.ins[1].device) if e[1] is not None else None)


NODE_CLASSES["div_mode"] = DivBackward2

def div_mode(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str) -> Tensor:
    """`div` with a rounding mode: 'floor' rounds the quotient down, 'trunc' towards zero. The gradient is zero."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_div_mode, (input, other,), {"rounding_mode": rounding_mode})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1, rounding_mode)
    try:
        p = _div_mode_plans[k]
    except (KeyError, TypeError):
        p = _div_mode_plans.make(k, (t0, t1,), {"rounding_mode": rounding_mode})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = DivBackward2()
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


def div_mode_(input: Tensor, other: Tensor | Number, *, rounding_mode: str) -> Tensor:
    """`div_mode` whose result is written into the first operand, which is returned."""
    return inplace("div_mode", input, other, rounding_mode=rounding_mode)


_remainder = get_op("remainder")
_remainder_plans = table(_remainder)


class RemainderBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("remainder")
    saved = ('input', 'other')
    needs = ((), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["remainder"] = RemainderBackward0

def remainder(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The remainder of division rounded down: it has the sign of `other`. An integer division by zero raises ValueRangeError."""
    if MODE.special:
        return dispatch(_remainder, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a0 % a1
            else:
                k = (t, other._type)
                p = _remainder_plans.get(k) or _remainder_plans.make(k, k, {})
                t = p.out
                y = a0 % a1 if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a0 % a1
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a0 % a1
        else:
            return dispatch(_remainder, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a0 % a1
    else:
        return dispatch(_remainder, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = RemainderBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_other = a1 if e1 is not None else None
    else:
        o._node = None
    return o


def remainder_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`remainder` whose result is written into the first operand, which is returned."""
    return inplace("remainder", input, other)


_fmod = get_op("fmod")
_fmod_plans = table(_fmod)


class FmodBackward1(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("fmod")
    saved = ('input', 'other')
    needs = ((), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["fmod"] = FmodBackward1

def fmod(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The remainder of division rounded towards zero: it has the sign of `input`. An integer division by zero raises ValueRangeError."""
    if MODE.special:
        return dispatch(_fmod, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_fmod(a0, a1)
            else:
                k = (t, other._type)
                p = _fmod_plans.get(k) or _fmod_plans.make(k, k, {})
                t = p.out
                y = _np_fmod(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_fmod(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_fmod(a0, a1)
        else:
            return dispatch(_fmod, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_fmod(a0, a1)
    else:
        return dispatch(_fmod, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = FmodBackward1()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_other = a1 if e1 is not None else None
    else:
        o._node = None
    return o


def fmod_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`fmod` whose result is written into the first operand, which is returned."""
    return inplace("fmod", input, other)


_pow = get_op("pow")
_pow_plans = table(_pow)


class PowBackward0(OpNode):
    __slots__ = ("s_input", "s_other", "s_result")
    op = get_op("pow")
    saved = ('input', 'other', 'result')
    needs = (('input', 'other'), ('input', 'other', 'result'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other, self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other, self.s_result) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other, self.s_result


NODE_CLASSES["pow"] = PowBackward0

def pow(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """`input` to the power `other`.

    Integers to a negative Python number raise ValueRangeError; an integer tensor of negative exponents gives 0 except for bases 1 and -1.
    The node is PyTorch's for a number as exponent, `PowBackward0`, in every case.
    """
    if MODE.special:
        return dispatch(_pow, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = a0 ** a1
            else:
                k = (t, other._type)
                p = _pow_plans.get(k) or _pow_plans.make(k, k, {})
                t = p.out
                y = a0 ** a1 if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = a0 ** a1
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = a0 ** a1
        else:
            return dispatch(_pow, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = a0 ** a1
    else:
        return dispatch(_pow, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = PowBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
        n.s_result = y if e1 is not None else None
    else:
        o._node = None
    return o


def pow_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`pow` whose result is written into the first operand, which is returned."""
    return inplace("pow", input, other)


_maximum = get_op("maximum")
_maximum_plans = table(_maximum)


class MaximumBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("maximum")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["maximum"] = MaximumBackward0

def maximum(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The larger of two elements; NaN if either is NaN. Equal elements share the gradient."""
    if MODE.special:
        return dispatch(_maximum, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_maximum(a0, a1)
            else:
                k = (t, other._type)
                p = _maximum_plans.get(k) or _maximum_plans.make(k, k, {})
                t = p.out
                y = _np_maximum(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_maximum(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_maximum(a0, a1)
        else:
            return dispatch(_maximum, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_maximum(a0, a1)
    else:
        return dispatch(_maximum, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = MaximumBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
    else:
        o._node = None
    return o


_minimum = get_op("minimum")
_minimum_plans = table(_minimum)


class MinimumBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("minimum")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["minimum"] = MinimumBackward0

def minimum(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The smaller of two elements; NaN if either is NaN. Equal elements share the gradient."""
    if MODE.special:
        return dispatch(_minimum, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_minimum(a0, a1)
            else:
                k = (t, other._type)
                p = _minimum_plans.get(k) or _minimum_plans.make(k, k, {})
                t = p.out
                y = _np_minimum(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_minimum(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_minimum(a0, a1)
        else:
            return dispatch(_minimum, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_minimum(a0, a1)
    else:
        return dispatch(_minimum, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = MinimumBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
    else:
        o._node = None
    return o


_fmax = get_op("fmax")
_fmax_plans = table(_fmax)


class FmaxBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("fmax")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["fmax"] = FmaxBackward0

def fmax(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The larger of two elements; a number rather than NaN. Of equal elements the first takes the gradient."""
    if MODE.special:
        return dispatch(_fmax, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_fmax(a0, a1)
            else:
                k = (t, other._type)
                p = _fmax_plans.get(k) or _fmax_plans.make(k, k, {})
                t = p.out
                y = _np_fmax(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_fmax(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_fmax(a0, a1)
        else:
            return dispatch(_fmax, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_fmax(a0, a1)
    else:
        return dispatch(_fmax, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = FmaxBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
    else:
        o._node = None
    return o


_fmin = get_op("fmin")
_fmin_plans = table(_fmin)


class FminBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("fmin")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["fmin"] = FminBackward0

def fmin(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The smaller of two elements; a number rather than NaN. Of equal elements the first takes the gradient."""
    if MODE.special:
        return dispatch(_fmin, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_fmin(a0, a1)
            else:
                k = (t, other._type)
                p = _fmin_plans.get(k) or _fmin_plans.make(k, k, {})
                t = p.out
                y = _np_fmin(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_fmin(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_fmin(a0, a1)
        else:
            return dispatch(_fmin, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_fmin(a0, a1)
    else:
        return dispatch(_fmin, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = FminBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
    else:
        o._node = None
    return o


_clamp = get_op("clamp")
_clamp_plans = table(_clamp)


class ClampBackward1(OpNode):
    __slots__ = ("s_input", "s_min", "s_max")
    op = get_op("clamp")
    saved = ('input', 'min', 'max')
    needs = (('input', 'min', 'max'), ('input', 'min', 'max'), ('input', 'min', 'max'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_min, self.s_max) if e[0] is not None else None, rules[1](g, self.s_input, self.s_min, self.s_max) if e[1] is not None else None, rules[2](g, self.s_input, self.s_min, self.s_max) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_min, self.s_max


NODE_CLASSES["clamp"] = ClampBackward1

def clamp(input: Tensor | Number, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
    """The elements limited to `min` and `max` (numbers or tensors; None: no limit). Where min > max the result is max.

    Raises ValueRangeError without any limit. The node is PyTorch's for numbers as limits, `ClampBackward1`, in every case.
    """
    if MODE.special or type(input) is not Tensor or type(min) not in _PLAIN_OR_NONE or type(max) not in _PLAIN_OR_NONE:
        return dispatch(_clamp, (input, min, max,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(min) is Tensor:
        t1 = min._type
        a1 = min._array
        e1 = min._node
    else:
        t1 = None if min is None else scalar_type(type(min))
        a1 = min
        e1 = None
    if type(max) is Tensor:
        t2 = max._type
        a2 = max._array
        e2 = max._node
    else:
        t2 = None if max is None else scalar_type(type(max))
        a2 = max
        e2 = None
    k = (t0, t1, t2)
    try:
        p = _clamp_plans[k]
    except (KeyError, TypeError):
        p = _clamp_plans.make(k, (t0, t1, t2,), {})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = ClampBackward1()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_min = a1
        n.s_max = a2
    else:
        o._node = None
    return o


def clamp_(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
    """`clamp` whose result is written into the first operand, which is returned."""
    return inplace("clamp", input, min, max)


_atan2 = get_op("atan2")
_atan2_plans = table(_atan2)


class Atan2Backward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("atan2")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["atan2"] = Atan2Backward0

def atan2(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The angle of the point (x=other, y=input), in radians. The gradient at the origin is zero."""
    if MODE.special:
        return dispatch(_atan2, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_atan2(a0, a1)
            else:
                k = (t, other._type)
                p = _atan2_plans.get(k) or _atan2_plans.make(k, k, {})
                t = p.out
                y = _np_atan2(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_atan2(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_atan2(a0, a1)
        else:
            return dispatch(_atan2, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_atan2(a0, a1)
    else:
        return dispatch(_atan2, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = Atan2Backward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
    else:
        o._node = None
    return o


def atan2_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`atan2` whose result is written into the first operand, which is returned."""
    return inplace("atan2", input, other)


_hypot = get_op("hypot")
_hypot_plans = table(_hypot)


class HypotBackward0(OpNode):
    __slots__ = ("s_input", "s_other", "s_result")
    op = get_op("hypot")
    saved = ('input', 'other', 'result')
    needs = (('input', 'result'), ('other', 'result'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_result) if e[0] is not None else None, rules[1](g, self.s_other, self.s_result) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other, self.s_result


NODE_CLASSES["hypot"] = HypotBackward0

def hypot(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """sqrt(input**2 + other**2) without overflow in between."""
    if MODE.special:
        return dispatch(_hypot, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_hypot(a0, a1)
            else:
                k = (t, other._type)
                p = _hypot_plans.get(k) or _hypot_plans.make(k, k, {})
                t = p.out
                y = _np_hypot(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_hypot(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_hypot(a0, a1)
        else:
            return dispatch(_hypot, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_hypot(a0, a1)
    else:
        return dispatch(_hypot, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = HypotBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e0 is not None else None
        n.s_other = a1 if e1 is not None else None
        n.s_result = y
    else:
        o._node = None
    return o


def hypot_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`hypot` whose result is written into the first operand, which is returned."""
    return inplace("hypot", input, other)


_copysign = get_op("copysign")
_copysign_plans = table(_copysign)


class CopysignBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("copysign")
    saved = ('input', 'result')
    needs = (('input', 'result'), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_result) if e[0] is not None else None, rules[1](self.input_type(1).shape, self.input_type(1).dtype, self.input_type(1).device) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["copysign"] = CopysignBackward0

def copysign(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The magnitude of `input` with the sign of `other` (-0.0 and negative NaN count as negative)."""
    if MODE.special:
        return dispatch(_copysign, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_copysign(a0, a1)
            else:
                k = (t, other._type)
                p = _copysign_plans.get(k) or _copysign_plans.make(k, k, {})
                t = p.out
                y = _np_copysign(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_copysign(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_copysign(a0, a1)
        else:
            return dispatch(_copysign, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_copysign(a0, a1)
    else:
        return dispatch(_copysign, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = CopysignBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e0 is not None else None
        n.s_result = y if e0 is not None else None
    else:
        o._node = None
    return o


def copysign_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`copysign` whose result is written into the first operand, which is returned."""
    return inplace("copysign", input, other)


_logaddexp = get_op("logaddexp")
_logaddexp_plans = table(_logaddexp)


class LogaddexpBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("logaddexp")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["logaddexp"] = LogaddexpBackward0

def logaddexp(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """log(exp(input) + exp(other)) without overflow."""
    if MODE.special:
        return dispatch(_logaddexp, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_logaddexp(a0, a1)
            else:
                k = (t, other._type)
                p = _logaddexp_plans.get(k) or _logaddexp_plans.make(k, k, {})
                t = p.out
                y = _np_logaddexp(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_logaddexp(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_logaddexp(a0, a1)
        else:
            return dispatch(_logaddexp, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_logaddexp(a0, a1)
    else:
        return dispatch(_logaddexp, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = LogaddexpBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
    else:
        o._node = None
    return o


_xlogy = get_op("xlogy")
_xlogy_plans = table(_xlogy)


class XlogyBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("xlogy")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["xlogy"] = XlogyBackward0

def xlogy(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """input * log(other), and 0 where input is 0 (unless other is NaN)."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_xlogy, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _xlogy_plans[k]
    except (KeyError, TypeError):
        p = _xlogy_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = XlogyBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_other = a1
    else:
        o._node = None
    return o


def xlogy_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`xlogy` whose result is written into the first operand, which is returned."""
    return inplace("xlogy", input, other)


_where = get_op("where")
_where_plans = table(_where)


class WhereBackward0(OpNode):
    __slots__ = ("s_condition",)
    op = get_op("where")
    saved = ('condition',)
    needs = ((), ('condition',), ('condition',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (None, rules[1](g, self.s_condition) if e[1] is not None else None, rules[2](g, self.s_condition) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_condition


NODE_CLASSES["where"] = WhereBackward0

def where(condition: Tensor | Number, input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Elements of `input` where the bool `condition` is true, of `other` where it is false; all three broadcast, the last two promote."""
    if MODE.special or type(condition) is not Tensor or type(input) not in _PLAIN or type(other) not in _PLAIN:
        return dispatch(_where, (condition, input, other,), {})
    t0 = condition._type
    a0 = condition._array
    e0 = condition._node
    if type(input) is Tensor:
        t1 = input._type
        a1 = input._array
        e1 = input._node
    else:
        t1 = scalar_type(type(input))
        a1 = input
        e1 = None
    if type(other) is Tensor:
        t2 = other._type
        a2 = other._array
        e2 = other._node
    else:
        t2 = scalar_type(type(other))
        a2 = other
        e2 = None
    k = (t0, t1, t2)
    try:
        p = _where_plans[k]
    except (KeyError, TypeError):
        p = _where_plans.make(k, (t0, t1, t2,), {})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = WhereBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_condition = a0 if e1 is not None or e2 is not None else None
    else:
        o._node = None
    return o


_masked_fill = get_op("masked_fill")
_masked_fill_plans = table(_masked_fill)


class MaskedFillBackward0(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("masked_fill")
    saved = ('mask',)
    needs = (('mask',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mask, self.plan.ins[0].shape) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["masked_fill"] = MaskedFillBackward0

def masked_fill(input: Tensor, mask: Tensor, value: Number) -> Tensor:
    """The input with `value` where the bool `mask` is true; the dtype stays the input's.

    Raises DTypeError for other masks, ValueRangeError for a number an integer dtype cannot hold.
    """
    if MODE.special or type(input) is not Tensor or type(mask) is not Tensor:
        return dispatch(_masked_fill, (input, mask,), {"value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = mask._type
    a1 = mask._array
    e1 = mask._node
    k = (t0, t1, scalar_key(value))
    try:
        p = _masked_fill_plans[k]
    except (KeyError, TypeError):
        p = _masked_fill_plans.make(k, (t0, t1,), {"value": value})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaskedFillBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mask = a1 if e0 is not None else None
    else:
        o._node = None
    return o


def masked_fill_(input: Tensor, mask: Tensor, value: Number) -> Tensor:
    """`masked_fill` whose result is written into the first operand, which is returned."""
    return inplace("masked_fill", input, mask, value=value)


_masked_fill_tensor = get_op("masked_fill_tensor")
_masked_fill_tensor_plans = table(_masked_fill_tensor)


class MaskedFillBackward1(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("masked_fill_tensor")
    saved = ('mask',)
    needs = (('mask',), (), ('mask',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mask, self.plan.ins[0].shape) if e[0] is not None else None, None, rules[2](g, self.s_mask, self.plan.ins[2].dtype) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["masked_fill_tensor"] = MaskedFillBackward1

def masked_fill_tensor(input: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """`masked_fill` with a value that is a tensor of no dimensions."""
    if MODE.special or type(input) is not Tensor or type(mask) is not Tensor or type(value) is not Tensor:
        return dispatch(_masked_fill_tensor, (input, mask, value,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = mask._type
    a1 = mask._array
    e1 = mask._node
    t2 = value._type
    a2 = value._array
    e2 = value._node
    k = (t0, t1, t2)
    try:
        p = _masked_fill_tensor_plans[k]
    except (KeyError, TypeError):
        p = _masked_fill_tensor_plans.make(k, (t0, t1, t2,), {})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = MaskedFillBackward1()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mask = a1 if e0 is not None or e2 is not None else None
    else:
        o._node = None
    return o


def masked_fill_tensor_(input: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """`masked_fill_tensor` whose result is written into the first operand, which is returned."""
    return inplace("masked_fill_tensor", input, mask, value)


_nan_to_num = get_op("nan_to_num")
_nan_to_num_plans = table(_nan_to_num)


class NanToNumBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("nan_to_num")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["nan_to_num"] = NanToNumBackward0

def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest and smallest finite number of the dtype)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_nan_to_num, (input,), {"nan": nan, "posinf": posinf, "neginf": neginf})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(nan), scalar_key(posinf), scalar_key(neginf))
    try:
        p = _nan_to_num_plans[k]
    except (KeyError, TypeError):
        p = _nan_to_num_plans.make(k, (t0,), {"nan": nan, "posinf": posinf, "neginf": neginf})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = NanToNumBackward0()
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


def nan_to_num_(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """`nan_to_num` whose result is written into the first operand, which is returned."""
    return inplace("nan_to_num", input, nan=nan, posinf=posinf, neginf=neginf)


FUNCTIONS: dict[str, Any] = {
    "add": add,
    "sub": sub,
    "rsub": rsub,
    "mul": mul,
    "div": div,
    "floor_divide": floor_divide,
    "trunc_divide": trunc_divide,
    "div_mode": div_mode,
    "remainder": remainder,
    "fmod": fmod,
    "pow": pow,
    "maximum": maximum,
    "minimum": minimum,
    "fmax": fmax,
    "fmin": fmin,
    "clamp": clamp,
    "atan2": atan2,
    "hypot": hypot,
    "copysign": copysign,
    "logaddexp": logaddexp,
    "xlogy": xlogy,
    "where": where,
    "masked_fill": masked_fill,
    "masked_fill_tensor": masked_fill_tensor,
    "nan_to_num": nan_to_num,
}
INPLACE: dict[str, Any] = {
    "add_": add_,
    "sub_": sub_,
    "mul_": mul_,
    "div_": div_,
    "floor_divide_": floor_divide_,
    "div_mode_": div_mode_,
    "remainder_": remainder_,
    "fmod_": fmod_,
    "pow_": pow_,
    "clamp_": clamp_,
    "atan2_": atan2_,
    "hypot_": hypot_,
    "copysign_": copysign_,
    "xlogy_": xlogy_,
    "masked_fill_": masked_fill_,
    "masked_fill_tensor_": masked_fill_tensor_,
    "nan_to_num_": nan_to_num_,
}
