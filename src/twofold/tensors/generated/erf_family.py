"""Functions and backward nodes of the family "erf_family". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

from numpy import isnan as _np_isnan
from numpy import log as _np_log
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

_erfinv = get_op("erfinv")
_erfinv_plans = table(_erfinv)


class ErfinvBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("erfinv")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["erfinv"] = ErfinvBackward0

def erfinv(input: Tensor) -> Tensor:
    """The inverse of `erf`: infinities at -1 and 1, NaN outside."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_erfinv, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _erfinv_plans[k]
    except (KeyError, TypeError):
        p = _erfinv_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ErfinvBackward0()
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


def erfinv_(input: Tensor) -> Tensor:
    """`erfinv` whose result is written into the first operand, which is returned."""
    return inplace("erfinv", input)


_special_erfcx = get_op("special_erfcx")
_special_erfcx_plans = table(_special_erfcx)


class SpecialErfcxBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("special_erfcx")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["special_erfcx"] = SpecialErfcxBackward0

def special_erfcx(input: Tensor) -> Tensor:
    """exp(x * x) erfc(x), without overflow."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_erfcx, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_erfcx_plans[k]
    except (KeyError, TypeError):
        p = _special_erfcx_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialErfcxBackward0()
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


_special_ndtr = get_op("special_ndtr")
_special_ndtr_plans = table(_special_ndtr)


class SpecialNdtrBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("special_ndtr")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["special_ndtr"] = SpecialNdtrBackward0

def special_ndtr(input: Tensor) -> Tensor:
    """The standard normal distribution function."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_ndtr, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_ndtr_plans[k]
    except (KeyError, TypeError):
        p = _special_ndtr_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialNdtrBackward0()
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


_special_log_ndtr = get_op("special_log_ndtr")
_special_log_ndtr_plans = table(_special_log_ndtr)


class SpecialLogNdtrBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("special_log_ndtr")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["special_log_ndtr"] = SpecialLogNdtrBackward0

def special_log_ndtr(input: Tensor) -> Tensor:
    """The logarithm of `ndtr`, accurate in both tails."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_log_ndtr, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_log_ndtr_plans[k]
    except (KeyError, TypeError):
        p = _special_log_ndtr_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialLogNdtrBackward0()
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


_special_ndtri = get_op("special_ndtri")
_special_ndtri_plans = table(_special_ndtri)


class SpecialNdtriBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("special_ndtri")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["special_ndtri"] = SpecialNdtriBackward0

def special_ndtri(input: Tensor) -> Tensor:
    """The inverse of `ndtr`: infinities at 0 and 1, NaN outside."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_ndtri, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_ndtri_plans[k]
    except (KeyError, TypeError):
        p = _special_ndtri_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialNdtriBackward0()
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


_special_entr = get_op("special_entr")
_special_entr_plans = table(_special_entr)


class SpecialEntrBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("special_entr")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["special_entr"] = SpecialEntrBackward0

def special_entr(input: Tensor) -> Tensor:
    """-x log(x); 0 at 0, -inf below."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_entr, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_where(a0 > 0.0, -a0 * _np_log(a0), _np_where(a0 == 0.0, 0.0, _np_where(_np_isnan(a0), a0, -1e400)))
    else:
        p = _special_entr_plans.get(t) or _special_entr_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SpecialEntrBackward0()
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


_special_xlog1py = get_op("special_xlog1py")
_special_xlog1py_plans = table(_special_xlog1py)


class SpecialXlog1PyBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("special_xlog1py")
    saved = ('input', 'other')
    needs = (('input', 'other'), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_other) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["special_xlog1py"] = SpecialXlog1PyBackward0

def special_xlog1py(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """input * log(1 + other), and 0 where input is 0 (unless other is NaN)."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_special_xlog1py, (input, other,), {})
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
        p = _special_xlog1py_plans[k]
    except (KeyError, TypeError):
        p = _special_xlog1py_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = SpecialXlog1PyBackward0()
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


_sinc = get_op("sinc")
_sinc_plans = table(_sinc)


class SincBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("sinc")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["sinc"] = SincBackward0

def sinc(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sinc, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _sinc_plans[k]
    except (KeyError, TypeError):
        p = _sinc_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SincBackward0()
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


def sinc_(input: Tensor) -> Tensor:
    """`sinc` whose result is written into the first operand, which is returned."""
    return inplace("sinc", input)


FUNCTIONS: dict[str, Any] = {
    "erfinv": erfinv,
    "special_erfcx": special_erfcx,
    "special_ndtr": special_ndtr,
    "special_log_ndtr": special_log_ndtr,
    "special_ndtri": special_ndtri,
    "special_entr": special_entr,
    "special_xlog1py": special_xlog1py,
    "sinc": sinc,
}
INPLACE: dict[str, Any] = {
    "erfinv_": erfinv_,
    "sinc_": sinc_,
}
