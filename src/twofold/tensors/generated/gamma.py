"""Functions and backward nodes of the family "gamma". Generated from the records by tools/generate.py: do not edit."""
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

_lgamma = get_op("lgamma")
_lgamma_plans = table(_lgamma)


class LgammaBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("lgamma")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["lgamma"] = LgammaBackward0

def lgamma(input: Tensor) -> Tensor:
    """The logarithm of the absolute value of the gamma function; infinity at 0, -1, -2 and so on."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_lgamma, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _lgamma_plans[k]
    except (KeyError, TypeError):
        p = _lgamma_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LgammaBackward0()
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


def lgamma_(input: Tensor) -> Tensor:
    """`lgamma` whose result is written into the first operand, which is returned."""
    return inplace("lgamma", input)


_digamma = get_op("digamma")
_digamma_plans = table(_digamma)


class DigammaBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("digamma")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["digamma"] = DigammaBackward0

def digamma(input: Tensor) -> Tensor:
    """The derivative of `lgamma`; -inf at 0 (inf at -0.0), NaN at -1, -2 and so on."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_digamma, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _digamma_plans[k]
    except (KeyError, TypeError):
        p = _digamma_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = DigammaBackward0()
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


def digamma_(input: Tensor) -> Tensor:
    """`digamma` whose result is written into the first operand, which is returned."""
    return inplace("digamma", input)


_polygamma = get_op("polygamma")
_polygamma_plans = table(_polygamma)


class PolygammaBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("polygamma")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["n"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["polygamma"] = PolygammaBackward0

def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative of order `n` of `digamma`: (-1)**(n+1) n! zeta(n+1, x) for n > 0. Infinite at 0, -1, -2 and so on.

    Raises ValueRangeError for a negative order.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_polygamma, (input,), {"n": n})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, n)
    try:
        p = _polygamma_plans[k]
    except (KeyError, TypeError):
        p = _polygamma_plans.make(k, (t0,), {"n": n})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = PolygammaBackward0()
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


_mvlgamma = get_op("mvlgamma")
_mvlgamma_plans = table(_mvlgamma)


class MvlgammaBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("mvlgamma")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["p"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["mvlgamma"] = MvlgammaBackward0

def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`: the sum of lgamma(x - i/2), i < p, plus p (p-1) log(pi) / 4.

    Raises ValueRangeError for p < 1.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_mvlgamma, (input,), {"p": p})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, p)
    try:
        p = _mvlgamma_plans[k]
    except (KeyError, TypeError):
        p = _mvlgamma_plans.make(k, (t0,), {"p": p})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MvlgammaBackward0()
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


def mvlgamma_(input: Tensor, p: int) -> Tensor:
    """`mvlgamma` whose result is written into the first operand, which is returned."""
    return inplace("mvlgamma", input, p=p)


_special_zeta = get_op("special_zeta")
_special_zeta_plans = table(_special_zeta)


class SpecialZetaBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("special_zeta")
    saved = ('input', 'other')
    needs = ((), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["special_zeta"] = SpecialZetaBackward0

def special_zeta(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The Hurwitz zeta function: the sum of (k + other)**-input, k = 0, 1, …; infinity at input = 1 and at other = 0, -1 and so on.

    NaN for input < 1, and for other < 0 where input is no whole number. Differentiable in `other` only.
    """
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_special_zeta, (input, other,), {})
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
        p = _special_zeta_plans[k]
    except (KeyError, TypeError):
        p = _special_zeta_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = SpecialZetaBackward0()
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


_igamma = get_op("igamma")
_igamma_plans = table(_igamma)


class IgammaBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("igamma")
    saved = ('input', 'other')
    needs = ((), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["igamma"] = IgammaBackward0

def igamma(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other); NaN for negative operands.

    Differentiable in `other` only.
    """
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_igamma, (input, other,), {})
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
        p = _igamma_plans[k]
    except (KeyError, TypeError):
        p = _igamma_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = IgammaBackward0()
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


def igamma_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`igamma` whose result is written into the first operand, which is returned."""
    return inplace("igamma", input, other)


_igammac = get_op("igammac")
_igammac_plans = table(_igammac)


class IgammacBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("igammac")
    saved = ('input', 'other')
    needs = ((), ('input', 'other'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.s_input, self.s_other) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["igammac"] = IgammacBackward0

def igammac(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The regularised upper incomplete gamma function Q(input, other) = 1 - P(input, other); NaN for negative operands.

    Differentiable in `other` only.
    """
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_igammac, (input, other,), {})
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
        p = _igammac_plans[k]
    except (KeyError, TypeError):
        p = _igammac_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = IgammacBackward0()
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


def igammac_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`igammac` whose result is written into the first operand, which is returned."""
    return inplace("igammac", input, other)


FUNCTIONS: dict[str, Any] = {
    "lgamma": lgamma,
    "digamma": digamma,
    "polygamma": polygamma,
    "mvlgamma": mvlgamma,
    "special_zeta": special_zeta,
    "igamma": igamma,
    "igammac": igammac,
}
INPLACE: dict[str, Any] = {
    "lgamma_": lgamma_,
    "digamma_": digamma_,
    "mvlgamma_": mvlgamma_,
    "igamma_": igamma_,
    "igammac_": igammac_,
}
