"""Functions and backward nodes of the family "numbers". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

from numpy import isnan as _np_isnan
from numpy import logaddexp2 as _np_logaddexp2
from numpy import nextafter as _np_nextafter
from numpy import where as _np_where

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

_gcd = get_op("gcd")
_gcd_plans = table(_gcd)


def gcd(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The greatest common divisor, not negative; gcd(0, 0) is 0. Integer dtypes only (DTypeError)."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_gcd, (input, other,), {})
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
        p = _gcd_plans[k]
    except (KeyError, TypeError):
        p = _gcd_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def gcd_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`gcd` whose result is written into the first operand, which is returned."""
    return inplace("gcd", input, other)


_lcm = get_op("lcm")
_lcm_plans = table(_lcm)


def lcm(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The least common multiple, not negative; 0 where an operand is 0. Integer dtypes only (DTypeError)."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_lcm, (input, other,), {})
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
        p = _lcm_plans[k]
    except (KeyError, TypeError):
        p = _lcm_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def lcm_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`lcm` whose result is written into the first operand, which is returned."""
    return inplace("lcm", input, other)


_heaviside = get_op("heaviside")
_heaviside_plans = table(_heaviside)


class HeavisideBackward0(OpNode):
    __slots__ = ()
    op = get_op("heaviside")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g) if e[1] is not None else None)


NODE_CLASSES["heaviside"] = HeavisideBackward0

def heaviside(input: Tensor | Number, values: Tensor | Number) -> Tensor:
    """The step function: 0 where `input` is negative (or NaN), 1 where it is positive, `values` at 0. The dtypes must be equal."""
    if MODE.special or type(input) is not Tensor or type(values) not in _PLAIN:
        return dispatch(_heaviside, (input, values,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(values) is Tensor:
        t1 = values._type
        a1 = values._array
        e1 = values._node
    else:
        t1 = scalar_type(type(values))
        a1 = values
        e1 = None
    k = (t0, t1)
    try:
        p = _heaviside_plans[k]
    except (KeyError, TypeError):
        p = _heaviside_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = HeavisideBackward0()
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


def heaviside_(input: Tensor, values: Tensor | Number) -> Tensor:
    """`heaviside` whose result is written into the first operand, which is returned."""
    return inplace("heaviside", input, values)


_isposinf = get_op("isposinf")
_isposinf_plans = table(_isposinf)


def isposinf(input: Tensor) -> Tensor:
    """True where the element is +infinity; false for integers."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_isposinf, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _isposinf_plans[k]
    except (KeyError, TypeError):
        p = _isposinf_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_isneginf = get_op("isneginf")
_isneginf_plans = table(_isneginf)


def isneginf(input: Tensor) -> Tensor:
    """True where the element is -infinity; false for integers."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_isneginf, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _isneginf_plans[k]
    except (KeyError, TypeError):
        p = _isneginf_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_angle = get_op("angle")
_angle_plans = table(_angle)


class AngleBackward0(OpNode):
    __slots__ = ()
    op = get_op("angle")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device),)


NODE_CLASSES["angle"] = AngleBackward0

def angle(input: Tensor) -> Tensor:
    """The angle of a real number in the complex plane: 0, or pi for a negative number. The gradient is zero."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_angle, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_where(a0 < 0.0, 3.141592653589793, _np_where(_np_isnan(a0), a0, 0.0))
    else:
        p = _angle_plans.get(t) or _angle_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AngleBackward0()
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


_frexp = get_op("frexp")


class FrexpBackward0(OpNode):
    __slots__ = ("s_exponent",)
    op = get_op("frexp")
    saved = ('exponent',)
    needs = (('exponent',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_exponent, self.plan.ins[0].dtype),)

    def free(self) -> None:
        del self.s_exponent


NODE_CLASSES["frexp"] = FrexpBackward0

def frexp(input: Tensor) -> tuple[Tensor, Tensor]:
    """The element as mantissa * 2**exponent, 1/2 <= |mantissa| < 1 (0 is 0 * 2**0); the exponent is int32.

    Raises DTypeError for integers.
    """
    return dispatch(_frexp, (input,), {})


_nextafter = get_op("nextafter")
_nextafter_plans = table(_nextafter)


class NextafterBackward0(OpNode):
    __slots__ = ()
    op = get_op("nextafter")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](self.input_type(1).shape, self.input_type(1).dtype, self.input_type(1).device) if e[1] is not None else None)


NODE_CLASSES["nextafter"] = NextafterBackward0

def nextafter(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The next number of the dtype after `input` in the direction of `other`. Floating-point dtypes only (DTypeError)."""
    if MODE.special:
        return dispatch(_nextafter, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_nextafter(a0, a1)
            else:
                k = (t, other._type)
                p = _nextafter_plans.get(k) or _nextafter_plans.make(k, k, {})
                t = p.out
                y = _np_nextafter(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_nextafter(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_nextafter(a0, a1)
        else:
            return dispatch(_nextafter, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_nextafter(a0, a1)
    else:
        return dispatch(_nextafter, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = NextafterBackward0()
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


def nextafter_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`nextafter` whose result is written into the first operand, which is returned."""
    return inplace("nextafter", input, other)


_logaddexp2 = get_op("logaddexp2")
_logaddexp2_plans = table(_logaddexp2)


class Logaddexp2Backward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("logaddexp2")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["logaddexp2"] = Logaddexp2Backward0

def logaddexp2(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """log2(2**input + 2**other) without overflow."""
    if MODE.special:
        return dispatch(_logaddexp2, (input, other,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(other) is Tensor:
            a1 = other._array
            e1 = other._node
            if other._type is t and t.fast:
                p = None
                y = _np_logaddexp2(a0, a1)
            else:
                k = (t, other._type)
                p = _logaddexp2_plans.get(k) or _logaddexp2_plans.make(k, k, {})
                t = p.out
                y = _np_logaddexp2(a0, a1) if p.inline else p.kernel(a0, a1)
        elif type(other) is float and t.fast:
            p = e1 = None
            a1 = other
            y = _np_logaddexp2(a0, a1)
        elif type(other) is int and t.fast and -9007199254740992 <= other <= 9007199254740992:
            p = e1 = None
            a1 = float(other)
            y = _np_logaddexp2(a0, a1)
        else:
            return dispatch(_logaddexp2, (input, other,), {})
    elif type(input) is float and type(other) is Tensor and other._type.fast:
        p = e0 = None
        a0 = input
        a1 = other._array
        e1 = other._node
        t = other._type
        y = _np_logaddexp2(a0, a1)
    else:
        return dispatch(_logaddexp2, (input, other,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = Logaddexp2Backward0()
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


FUNCTIONS: dict[str, Any] = {
    "gcd": gcd,
    "lcm": lcm,
    "heaviside": heaviside,
    "isposinf": isposinf,
    "isneginf": isneginf,
    "angle": angle,
    "frexp": frexp,
    "nextafter": nextafter,
    "logaddexp2": logaddexp2,
}
INPLACE: dict[str, Any] = {
    "gcd_": gcd_,
    "lcm_": lcm_,
    "heaviside_": heaviside_,
    "nextafter_": nextafter_,
}
