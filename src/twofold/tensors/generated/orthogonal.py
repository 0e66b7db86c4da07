"""Functions and backward nodes of the family "orthogonal". Generated from the records by tools/generate.py: do not edit."""
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

_special_chebyshev_polynomial_t = get_op("special_chebyshev_polynomial_t")
_special_chebyshev_polynomial_t_plans = table(_special_chebyshev_polynomial_t)


class SpecialChebyshevPolynomialTBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_chebyshev_polynomial_t")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_chebyshev_polynomial_t"] = SpecialChebyshevPolynomialTBackward0

def special_chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the first kind of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_chebyshev_polynomial_t, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_chebyshev_polynomial_t_plans[k]
    except (KeyError, TypeError):
        p = _special_chebyshev_polynomial_t_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialChebyshevPolynomialTBackward0()
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


_special_shifted_chebyshev_polynomial_t = get_op("special_shifted_chebyshev_polynomial_t")
_special_shifted_chebyshev_polynomial_t_plans = table(_special_shifted_chebyshev_polynomial_t)


class SpecialShiftedChebyshevPolynomialTBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_shifted_chebyshev_polynomial_t")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_shifted_chebyshev_polynomial_t"] = SpecialShiftedChebyshevPolynomialTBackward0

def special_shifted_chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the first kind at 2x - 1, of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_shifted_chebyshev_polynomial_t, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_shifted_chebyshev_polynomial_t_plans[k]
    except (KeyError, TypeError):
        p = _special_shifted_chebyshev_polynomial_t_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialShiftedChebyshevPolynomialTBackward0()
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


_special_chebyshev_polynomial_u = get_op("special_chebyshev_polynomial_u")
_special_chebyshev_polynomial_u_plans = table(_special_chebyshev_polynomial_u)


class SpecialChebyshevPolynomialUBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_chebyshev_polynomial_u")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_chebyshev_polynomial_u"] = SpecialChebyshevPolynomialUBackward0

def special_chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the second kind of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_chebyshev_polynomial_u, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_chebyshev_polynomial_u_plans[k]
    except (KeyError, TypeError):
        p = _special_chebyshev_polynomial_u_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialChebyshevPolynomialUBackward0()
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


_special_shifted_chebyshev_polynomial_u = get_op("special_shifted_chebyshev_polynomial_u")
_special_shifted_chebyshev_polynomial_u_plans = table(_special_shifted_chebyshev_polynomial_u)


class SpecialShiftedChebyshevPolynomialUBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_shifted_chebyshev_polynomial_u")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_shifted_chebyshev_polynomial_u"] = SpecialShiftedChebyshevPolynomialUBackward0

def special_shifted_chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the second kind at 2x - 1, of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_shifted_chebyshev_polynomial_u, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_shifted_chebyshev_polynomial_u_plans[k]
    except (KeyError, TypeError):
        p = _special_shifted_chebyshev_polynomial_u_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialShiftedChebyshevPolynomialUBackward0()
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


_special_chebyshev_polynomial_v = get_op("special_chebyshev_polynomial_v")
_special_chebyshev_polynomial_v_plans = table(_special_chebyshev_polynomial_v)


class SpecialChebyshevPolynomialVBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_chebyshev_polynomial_v")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_chebyshev_polynomial_v"] = SpecialChebyshevPolynomialVBackward0

def special_chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the third kind of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_chebyshev_polynomial_v, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_chebyshev_polynomial_v_plans[k]
    except (KeyError, TypeError):
        p = _special_chebyshev_polynomial_v_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialChebyshevPolynomialVBackward0()
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


_special_shifted_chebyshev_polynomial_v = get_op("special_shifted_chebyshev_polynomial_v")
_special_shifted_chebyshev_polynomial_v_plans = table(_special_shifted_chebyshev_polynomial_v)


class SpecialShiftedChebyshevPolynomialVBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_shifted_chebyshev_polynomial_v")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_shifted_chebyshev_polynomial_v"] = SpecialShiftedChebyshevPolynomialVBackward0

def special_shifted_chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the third kind at 2x - 1, of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_shifted_chebyshev_polynomial_v, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_shifted_chebyshev_polynomial_v_plans[k]
    except (KeyError, TypeError):
        p = _special_shifted_chebyshev_polynomial_v_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialShiftedChebyshevPolynomialVBackward0()
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


_special_chebyshev_polynomial_w = get_op("special_chebyshev_polynomial_w")
_special_chebyshev_polynomial_w_plans = table(_special_chebyshev_polynomial_w)


class SpecialChebyshevPolynomialWBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_chebyshev_polynomial_w")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_chebyshev_polynomial_w"] = SpecialChebyshevPolynomialWBackward0

def special_chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the fourth kind of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_chebyshev_polynomial_w, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_chebyshev_polynomial_w_plans[k]
    except (KeyError, TypeError):
        p = _special_chebyshev_polynomial_w_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialChebyshevPolynomialWBackward0()
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


_special_shifted_chebyshev_polynomial_w = get_op("special_shifted_chebyshev_polynomial_w")
_special_shifted_chebyshev_polynomial_w_plans = table(_special_shifted_chebyshev_polynomial_w)


class SpecialShiftedChebyshevPolynomialWBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_shifted_chebyshev_polynomial_w")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_shifted_chebyshev_polynomial_w"] = SpecialShiftedChebyshevPolynomialWBackward0

def special_shifted_chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Chebyshev polynomial of the fourth kind at 2x - 1, of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_shifted_chebyshev_polynomial_w, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_shifted_chebyshev_polynomial_w_plans[k]
    except (KeyError, TypeError):
        p = _special_shifted_chebyshev_polynomial_w_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialShiftedChebyshevPolynomialWBackward0()
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


_special_hermite_polynomial_h = get_op("special_hermite_polynomial_h")
_special_hermite_polynomial_h_plans = table(_special_hermite_polynomial_h)


class SpecialHermitePolynomialHBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_hermite_polynomial_h")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_hermite_polynomial_h"] = SpecialHermitePolynomialHBackward0

def special_hermite_polynomial_h(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The physicists' Hermite polynomial of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_hermite_polynomial_h, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_hermite_polynomial_h_plans[k]
    except (KeyError, TypeError):
        p = _special_hermite_polynomial_h_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialHermitePolynomialHBackward0()
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


_special_hermite_polynomial_he = get_op("special_hermite_polynomial_he")
_special_hermite_polynomial_he_plans = table(_special_hermite_polynomial_he)


class SpecialHermitePolynomialHeBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_hermite_polynomial_he")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_hermite_polynomial_he"] = SpecialHermitePolynomialHeBackward0

def special_hermite_polynomial_he(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The probabilists' Hermite polynomial of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_hermite_polynomial_he, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_hermite_polynomial_he_plans[k]
    except (KeyError, TypeError):
        p = _special_hermite_polynomial_he_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialHermitePolynomialHeBackward0()
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


_special_laguerre_polynomial_l = get_op("special_laguerre_polynomial_l")
_special_laguerre_polynomial_l_plans = table(_special_laguerre_polynomial_l)


class SpecialLaguerrePolynomialLBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_laguerre_polynomial_l")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_laguerre_polynomial_l"] = SpecialLaguerrePolynomialLBackward0

def special_laguerre_polynomial_l(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Laguerre polynomial of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_laguerre_polynomial_l, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_laguerre_polynomial_l_plans[k]
    except (KeyError, TypeError):
        p = _special_laguerre_polynomial_l_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialLaguerrePolynomialLBackward0()
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


_special_legendre_polynomial_p = get_op("special_legendre_polynomial_p")
_special_legendre_polynomial_p_plans = table(_special_legendre_polynomial_p)


class SpecialLegendrePolynomialPBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_legendre_polynomial_p")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["special_legendre_polynomial_p"] = SpecialLegendrePolynomialPBackward0

def special_legendre_polynomial_p(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The Legendre polynomial of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused."""
    if MODE.special or type(input) is not Tensor or type(n) not in _PLAIN:
        return dispatch(_special_legendre_polynomial_p, (input, n,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(n) is Tensor:
        t1 = n._type
        a1 = n._array
        e1 = n._node
    else:
        t1 = scalar_type(type(n))
        a1 = n
        e1 = None
    k = (t0, t1)
    try:
        p = _special_legendre_polynomial_p_plans[k]
    except (KeyError, TypeError):
        p = _special_legendre_polynomial_p_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialLegendrePolynomialPBackward0()
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


FUNCTIONS: dict[str, Any] = {
    "special_chebyshev_polynomial_t": special_chebyshev_polynomial_t,
    "special_shifted_chebyshev_polynomial_t": special_shifted_chebyshev_polynomial_t,
    "special_chebyshev_polynomial_u": special_chebyshev_polynomial_u,
    "special_shifted_chebyshev_polynomial_u": special_shifted_chebyshev_polynomial_u,
    "special_chebyshev_polynomial_v": special_chebyshev_polynomial_v,
    "special_shifted_chebyshev_polynomial_v": special_shifted_chebyshev_polynomial_v,
    "special_chebyshev_polynomial_w": special_chebyshev_polynomial_w,
    "special_shifted_chebyshev_polynomial_w": special_shifted_chebyshev_polynomial_w,
    "special_hermite_polynomial_h": special_hermite_polynomial_h,
    "special_hermite_polynomial_he": special_hermite_polynomial_he,
    "special_laguerre_polynomial_l": special_laguerre_polynomial_l,
    "special_legendre_polynomial_p": special_legendre_polynomial_p,
}
INPLACE: dict[str, Any] = {
}
