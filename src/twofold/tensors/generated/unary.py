"""Functions and backward nodes of the family "unary". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

from numpy import abs as _np_abs
from numpy import arccos as _np_acos
from numpy import arccosh as _np_acosh
from numpy import arcsin as _np_asin
from numpy import arcsinh as _np_asinh
from numpy import arctan as _np_atan
from numpy import arctanh as _np_atanh
from numpy import ceil as _np_ceil
from numpy import cos as _np_cos
from numpy import cosh as _np_cosh
from numpy import exp as _np_exp
from numpy import exp2 as _np_exp2
from numpy import expm1 as _np_expm1
from numpy import floor as _np_floor
from numpy import isnan as _np_isnan
from numpy import log as _np_log
from numpy import log10 as _np_log10
from numpy import log1p as _np_log1p
from numpy import log2 as _np_log2
from numpy import sign as _np_sign
from numpy import sin as _np_sin
from numpy import sinh as _np_sinh
from numpy import sqrt as _np_sqrt
from numpy import tan as _np_tan
from numpy import tanh as _np_tanh
from numpy import trunc as _np_trunc
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
    """Elementwise negation; unsigned integers wrap around. Bool raises DTypeError."""
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


def neg_(input: Tensor) -> Tensor:
    """`neg` whose result is written into the first operand, which is returned."""
    return inplace("neg", input)


_abs = get_op("abs")
_abs_plans = table(_abs)


class AbsBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("abs")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["abs"] = AbsBackward0

def abs(input: Tensor) -> Tensor:
    """The absolute value; its gradient at 0 is 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_abs, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_abs(a0)
    else:
        p = _abs_plans.get(t) or _abs_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AbsBackward0()
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


def abs_(input: Tensor) -> Tensor:
    """`abs` whose result is written into the first operand, which is returned."""
    return inplace("abs", input)


_sign = get_op("sign")
_sign_plans = table(_sign)


class SignBackward0(OpNode):
    __slots__ = ()
    op = get_op("sign")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device),)


NODE_CLASSES["sign"] = SignBackward0

def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1; 0 for NaN."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sign, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_where(_np_isnan(a0), 0.0, _np_sign(a0))
    else:
        p = _sign_plans.get(t) or _sign_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SignBackward0()
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


def sign_(input: Tensor) -> Tensor:
    """`sign` whose result is written into the first operand, which is returned."""
    return inplace("sign", input)


_sgn = get_op("sgn")
_sgn_plans = table(_sgn)


class SgnBackward0(OpNode):
    __slots__ = ()
    op = get_op("sgn")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device),)


NODE_CLASSES["sgn"] = SgnBackward0

def sgn(input: Tensor) -> Tensor:
    """For real numbers the same as `sign`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sgn, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_where(_np_isnan(a0), 0.0, _np_sign(a0))
    else:
        p = _sgn_plans.get(t) or _sgn_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SgnBackward0()
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


def sgn_(input: Tensor) -> Tensor:
    """`sgn` whose result is written into the first operand, which is returned."""
    return inplace("sgn", input)


_floor = get_op("floor")
_floor_plans = table(_floor)


class FloorBackward0(OpNode):
    __slots__ = ()
    op = get_op("floor")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device),)


NODE_CLASSES["floor"] = FloorBackward0

def floor(input: Tensor) -> Tensor:
    """The largest integer not above the element; integers stay as they are."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_floor, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_floor(a0)
    else:
        p = _floor_plans.get(t) or _floor_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = FloorBackward0()
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


def floor_(input: Tensor) -> Tensor:
    """`floor` whose result is written into the first operand, which is returned."""
    return inplace("floor", input)


_ceil = get_op("ceil")
_ceil_plans = table(_ceil)


class CeilBackward0(OpNode):
    __slots__ = ()
    op = get_op("ceil")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device),)


NODE_CLASSES["ceil"] = CeilBackward0

def ceil(input: Tensor) -> Tensor:
    """The smallest integer not below the element; integers stay as they are."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_ceil, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_ceil(a0)
    else:
        p = _ceil_plans.get(t) or _ceil_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = CeilBackward0()
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


def ceil_(input: Tensor) -> Tensor:
    """`ceil` whose result is written into the first operand, which is returned."""
    return inplace("ceil", input)


_trunc = get_op("trunc")
_trunc_plans = table(_trunc)


class TruncBackward0(OpNode):
    __slots__ = ()
    op = get_op("trunc")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](self.input_type(0).shape, self.input_type(0).dtype, self.input_type(0).device),)


NODE_CLASSES["trunc"] = TruncBackward0

def trunc(input: Tensor) -> Tensor:
    """The element without its fraction; integers stay as they are."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_trunc, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_trunc(a0)
    else:
        p = _trunc_plans.get(t) or _trunc_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = TruncBackward0()
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


def trunc_(input: Tensor) -> Tensor:
    """`trunc` whose result is written into the first operand, which is returned."""
    return inplace("trunc", input)


_round = get_op("round")
_round_plans = table(_round)


class RoundBackward0(OpNode):
    __slots__ = ()
    op = get_op("round")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[0].device),)


NODE_CLASSES["round"] = RoundBackward0

def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounded to `decimals` digits (negative: to tens, hundreds, …), halves to the even neighbour."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_round, (input,), {"decimals": decimals})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, decimals)
    try:
        p = _round_plans[k]
    except (KeyError, TypeError):
        p = _round_plans.make(k, (t0,), {"decimals": decimals})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = RoundBackward0()
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


def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """`round` whose result is written into the first operand, which is returned."""
    return inplace("round", input, decimals=decimals)


_frac = get_op("frac")
_frac_plans = table(_frac)


class FracBackward0(OpNode):
    __slots__ = ()
    op = get_op("frac")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["frac"] = FracBackward0

def frac(input: Tensor) -> Tensor:
    """The fraction of the element, with its sign."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_frac, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = a0 - _np_trunc(a0)
    else:
        p = _frac_plans.get(t) or _frac_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = FracBackward0()
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


def frac_(input: Tensor) -> Tensor:
    """`frac` whose result is written into the first operand, which is returned."""
    return inplace("frac", input)


_reciprocal = get_op("reciprocal")
_reciprocal_plans = table(_reciprocal)


class ReciprocalBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("reciprocal")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["reciprocal"] = ReciprocalBackward0

def reciprocal(input: Tensor) -> Tensor:
    """1 / x."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_reciprocal, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = 1.0 / a0
    else:
        p = _reciprocal_plans.get(t) or _reciprocal_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = ReciprocalBackward0()
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


def reciprocal_(input: Tensor) -> Tensor:
    """`reciprocal` whose result is written into the first operand, which is returned."""
    return inplace("reciprocal", input)


_sqrt = get_op("sqrt")
_sqrt_plans = table(_sqrt)


class SqrtBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("sqrt")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["sqrt"] = SqrtBackward0

def sqrt(input: Tensor) -> Tensor:
    """The square root; NaN of negative numbers."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sqrt, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_sqrt(a0)
    else:
        p = _sqrt_plans.get(t) or _sqrt_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SqrtBackward0()
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


def sqrt_(input: Tensor) -> Tensor:
    """`sqrt` whose result is written into the first operand, which is returned."""
    return inplace("sqrt", input)


_rsqrt = get_op("rsqrt")
_rsqrt_plans = table(_rsqrt)


class RsqrtBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("rsqrt")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["rsqrt"] = RsqrtBackward0

def rsqrt(input: Tensor) -> Tensor:
    """1 / sqrt(x)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_rsqrt, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = 1.0 / _np_sqrt(a0)
    else:
        p = _rsqrt_plans.get(t) or _rsqrt_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = RsqrtBackward0()
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


def rsqrt_(input: Tensor) -> Tensor:
    """`rsqrt` whose result is written into the first operand, which is returned."""
    return inplace("rsqrt", input)


_exp = get_op("exp")
_exp_plans = table(_exp)


class ExpBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("exp")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["exp"] = ExpBackward0

def exp(input: Tensor) -> Tensor:
    """e to the power x."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_exp, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_exp(a0)
    else:
        p = _exp_plans.get(t) or _exp_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = ExpBackward0()
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


def exp_(input: Tensor) -> Tensor:
    """`exp` whose result is written into the first operand, which is returned."""
    return inplace("exp", input)


_exp2 = get_op("exp2")
_exp2_plans = table(_exp2)


class Exp2Backward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("exp2")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["exp2"] = Exp2Backward0

def exp2(input: Tensor) -> Tensor:
    """2 to the power x."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_exp2, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_exp2(a0)
    else:
        p = _exp2_plans.get(t) or _exp2_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = Exp2Backward0()
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


def exp2_(input: Tensor) -> Tensor:
    """`exp2` whose result is written into the first operand, which is returned."""
    return inplace("exp2", input)


_expm1 = get_op("expm1")
_expm1_plans = table(_expm1)


class Expm1Backward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("expm1")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["expm1"] = Expm1Backward0

def expm1(input: Tensor) -> Tensor:
    """exp(x) - 1, accurate near 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_expm1, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_expm1(a0)
    else:
        p = _expm1_plans.get(t) or _expm1_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = Expm1Backward0()
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


def expm1_(input: Tensor) -> Tensor:
    """`expm1` whose result is written into the first operand, which is returned."""
    return inplace("expm1", input)


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
    """The natural logarithm."""
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


def log_(input: Tensor) -> Tensor:
    """`log` whose result is written into the first operand, which is returned."""
    return inplace("log", input)


_log2 = get_op("log2")
_log2_plans = table(_log2)


class Log2Backward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("log2")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["log2"] = Log2Backward0

def log2(input: Tensor) -> Tensor:
    """The logarithm to base 2."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_log2, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_log2(a0)
    else:
        p = _log2_plans.get(t) or _log2_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = Log2Backward0()
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


def log2_(input: Tensor) -> Tensor:
    """`log2` whose result is written into the first operand, which is returned."""
    return inplace("log2", input)


_log10 = get_op("log10")
_log10_plans = table(_log10)


class Log10Backward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("log10")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["log10"] = Log10Backward0

def log10(input: Tensor) -> Tensor:
    """The logarithm to base 10."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_log10, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_log10(a0)
    else:
        p = _log10_plans.get(t) or _log10_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = Log10Backward0()
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


def log10_(input: Tensor) -> Tensor:
    """`log10` whose result is written into the first operand, which is returned."""
    return inplace("log10", input)


_log1p = get_op("log1p")
_log1p_plans = table(_log1p)


class Log1PBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("log1p")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["log1p"] = Log1PBackward0

def log1p(input: Tensor) -> Tensor:
    """log(1 + x), accurate near 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_log1p, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_log1p(a0)
    else:
        p = _log1p_plans.get(t) or _log1p_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = Log1PBackward0()
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


def log1p_(input: Tensor) -> Tensor:
    """`log1p` whose result is written into the first operand, which is returned."""
    return inplace("log1p", input)


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
    """The sine (radians)."""
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


def sin_(input: Tensor) -> Tensor:
    """`sin` whose result is written into the first operand, which is returned."""
    return inplace("sin", input)


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
    """The cosine (radians)."""
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


def cos_(input: Tensor) -> Tensor:
    """`cos` whose result is written into the first operand, which is returned."""
    return inplace("cos", input)


_tan = get_op("tan")
_tan_plans = table(_tan)


class TanBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("tan")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["tan"] = TanBackward0

def tan(input: Tensor) -> Tensor:
    """The tangent (radians)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_tan, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_tan(a0)
    else:
        p = _tan_plans.get(t) or _tan_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = TanBackward0()
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


def tan_(input: Tensor) -> Tensor:
    """`tan` whose result is written into the first operand, which is returned."""
    return inplace("tan", input)


_asin = get_op("asin")
_asin_plans = table(_asin)


class AsinBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("asin")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["asin"] = AsinBackward0

def asin(input: Tensor) -> Tensor:
    """The inverse sine; NaN outside [-1, 1]."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_asin, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_asin(a0)
    else:
        p = _asin_plans.get(t) or _asin_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AsinBackward0()
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


def asin_(input: Tensor) -> Tensor:
    """`asin` whose result is written into the first operand, which is returned."""
    return inplace("asin", input)


_acos = get_op("acos")
_acos_plans = table(_acos)


class AcosBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("acos")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["acos"] = AcosBackward0

def acos(input: Tensor) -> Tensor:
    """The inverse cosine; NaN outside [-1, 1]."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_acos, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_acos(a0)
    else:
        p = _acos_plans.get(t) or _acos_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AcosBackward0()
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


def acos_(input: Tensor) -> Tensor:
    """`acos` whose result is written into the first operand, which is returned."""
    return inplace("acos", input)


_atan = get_op("atan")
_atan_plans = table(_atan)


class AtanBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("atan")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["atan"] = AtanBackward0

def atan(input: Tensor) -> Tensor:
    """The inverse tangent."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_atan, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_atan(a0)
    else:
        p = _atan_plans.get(t) or _atan_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AtanBackward0()
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


def atan_(input: Tensor) -> Tensor:
    """`atan` whose result is written into the first operand, which is returned."""
    return inplace("atan", input)


_sinh = get_op("sinh")
_sinh_plans = table(_sinh)


class SinhBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("sinh")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["sinh"] = SinhBackward0

def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sinh, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_sinh(a0)
    else:
        p = _sinh_plans.get(t) or _sinh_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SinhBackward0()
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


def sinh_(input: Tensor) -> Tensor:
    """`sinh` whose result is written into the first operand, which is returned."""
    return inplace("sinh", input)


_cosh = get_op("cosh")
_cosh_plans = table(_cosh)


class CoshBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("cosh")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["cosh"] = CoshBackward0

def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_cosh, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_cosh(a0)
    else:
        p = _cosh_plans.get(t) or _cosh_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = CoshBackward0()
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


def cosh_(input: Tensor) -> Tensor:
    """`cosh` whose result is written into the first operand, which is returned."""
    return inplace("cosh", input)


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
    """The hyperbolic tangent."""
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


def tanh_(input: Tensor) -> Tensor:
    """`tanh` whose result is written into the first operand, which is returned."""
    return inplace("tanh", input)


_asinh = get_op("asinh")
_asinh_plans = table(_asinh)


class AsinhBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("asinh")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["asinh"] = AsinhBackward0

def asinh(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_asinh, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_asinh(a0)
    else:
        p = _asinh_plans.get(t) or _asinh_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AsinhBackward0()
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


def asinh_(input: Tensor) -> Tensor:
    """`asinh` whose result is written into the first operand, which is returned."""
    return inplace("asinh", input)


_acosh = get_op("acosh")
_acosh_plans = table(_acosh)


class AcoshBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("acosh")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["acosh"] = AcoshBackward0

def acosh(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine; NaN below 1."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_acosh, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_acosh(a0)
    else:
        p = _acosh_plans.get(t) or _acosh_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AcoshBackward0()
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


def acosh_(input: Tensor) -> Tensor:
    """`acosh` whose result is written into the first operand, which is returned."""
    return inplace("acosh", input)


_atanh = get_op("atanh")
_atanh_plans = table(_atanh)


class AtanhBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("atanh")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["atanh"] = AtanhBackward0

def atanh(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_atanh, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_atanh(a0)
    else:
        p = _atanh_plans.get(t) or _atanh_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = AtanhBackward0()
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


def atanh_(input: Tensor) -> Tensor:
    """`atanh` whose result is written into the first operand, which is returned."""
    return inplace("atanh", input)


_erf = get_op("erf")
_erf_plans = table(_erf)


class ErfBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("erf")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["erf"] = ErfBackward0

def erf(input: Tensor) -> Tensor:
    """The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_erf, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _erf_plans[k]
    except (KeyError, TypeError):
        p = _erf_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ErfBackward0()
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


def erf_(input: Tensor) -> Tensor:
    """`erf` whose result is written into the first operand, which is returned."""
    return inplace("erf", input)


_erfc = get_op("erfc")
_erfc_plans = table(_erfc)


class ErfcBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("erfc")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["erfc"] = ErfcBackward0

def erfc(input: Tensor) -> Tensor:
    """1 - erf(x), accurate where erf is near 1."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_erfc, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _erfc_plans[k]
    except (KeyError, TypeError):
        p = _erfc_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ErfcBackward0()
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


def erfc_(input: Tensor) -> Tensor:
    """`erfc` whose result is written into the first operand, which is returned."""
    return inplace("erfc", input)


_sigmoid = get_op("sigmoid")
_sigmoid_plans = table(_sigmoid)


class SigmoidBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("sigmoid")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["sigmoid"] = SigmoidBackward0

def sigmoid(input: Tensor) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sigmoid, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = 1.0 / (1.0 + _np_exp(-a0))
    else:
        p = _sigmoid_plans.get(t) or _sigmoid_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SigmoidBackward0()
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


def sigmoid_(input: Tensor) -> Tensor:
    """`sigmoid` whose result is written into the first operand, which is returned."""
    return inplace("sigmoid", input)


_deg2rad = get_op("deg2rad")
_deg2rad_plans = table(_deg2rad)


class Deg2RadBackward0(OpNode):
    __slots__ = ()
    op = get_op("deg2rad")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["deg2rad"] = Deg2RadBackward0

def deg2rad(input: Tensor) -> Tensor:
    """Degrees to radians."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_deg2rad, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = a0 * 0.017453292519943295
    else:
        p = _deg2rad_plans.get(t) or _deg2rad_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = Deg2RadBackward0()
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


def deg2rad_(input: Tensor) -> Tensor:
    """`deg2rad` whose result is written into the first operand, which is returned."""
    return inplace("deg2rad", input)


_rad2deg = get_op("rad2deg")
_rad2deg_plans = table(_rad2deg)


class Rad2DegBackward0(OpNode):
    __slots__ = ()
    op = get_op("rad2deg")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["rad2deg"] = Rad2DegBackward0

def rad2deg(input: Tensor) -> Tensor:
    """Radians to degrees."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_rad2deg, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = a0 * 57.29577951308232
    else:
        p = _rad2deg_plans.get(t) or _rad2deg_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = Rad2DegBackward0()
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


def rad2deg_(input: Tensor) -> Tensor:
    """`rad2deg` whose result is written into the first operand, which is returned."""
    return inplace("rad2deg", input)


_logit = get_op("logit")
_logit_plans = table(_logit)


class LogitBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("logit")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["eps"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["logit"] = LogitBackward0

def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of `sigmoid`; x is first limited to [eps, 1 - eps] where eps is given."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_logit, (input,), {"eps": eps})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(eps))
    try:
        p = _logit_plans[k]
    except (KeyError, TypeError):
        p = _logit_plans.make(k, (t0,), {"eps": eps})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LogitBackward0()
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


def logit_(input: Tensor, eps: float | None = None) -> Tensor:
    """`logit` whose result is written into the first operand, which is returned."""
    return inplace("logit", input, eps=eps)


FUNCTIONS: dict[str, Any] = {
    "neg": neg,
    "abs": abs,
    "sign": sign,
    "sgn": sgn,
    "floor": floor,
    "ceil": ceil,
    "trunc": trunc,
    "round": round,
    "frac": frac,
    "reciprocal": reciprocal,
    "sqrt": sqrt,
    "rsqrt": rsqrt,
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "erf": erf,
    "erfc": erfc,
    "sigmoid": sigmoid,
    "deg2rad": deg2rad,
    "rad2deg": rad2deg,
    "logit": logit,
}
INPLACE: dict[str, Any] = {
    "neg_": neg_,
    "abs_": abs_,
    "sign_": sign_,
    "sgn_": sgn_,
    "floor_": floor_,
    "ceil_": ceil_,
    "trunc_": trunc_,
    "round_": round_,
    "frac_": frac_,
    "reciprocal_": reciprocal_,
    "sqrt_": sqrt_,
    "rsqrt_": rsqrt_,
    "exp_": exp_,
    "exp2_": exp2_,
    "expm1_": expm1_,
    "log_": log_,
    "log2_": log2_,
    "log10_": log10_,
    "log1p_": log1p_,
    "sin_": sin_,
    "cos_": cos_,
    "tan_": tan_,
    "asin_": asin_,
    "acos_": acos_,
    "atan_": atan_,
    "sinh_": sinh_,
    "cosh_": cosh_,
    "tanh_": tanh_,
    "asinh_": asinh_,
    "acosh_": acosh_,
    "atanh_": atanh_,
    "erf_": erf_,
    "erfc_": erfc_,
    "sigmoid_": sigmoid_,
    "deg2rad_": deg2rad_,
    "rad2deg_": rad2deg_,
    "logit_": logit_,
}
