"""Functions and backward nodes of the family "bessel". Generated from the records by tools/generate.py: do not edit."""
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

_i0 = get_op("i0")
_i0_plans = table(_i0)


class I0Backward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("i0")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["i0"] = I0Backward0

def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_i0, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _i0_plans[k]
    except (KeyError, TypeError):
        p = _i0_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = I0Backward0()
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


def i0_(input: Tensor) -> Tensor:
    """`i0` whose result is written into the first operand, which is returned."""
    return inplace("i0", input)


_special_i0e = get_op("special_i0e")
_special_i0e_plans = table(_special_i0e)


class SpecialI0EBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("special_i0e")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["special_i0e"] = SpecialI0EBackward0

def special_i0e(input: Tensor) -> Tensor:
    """exp(-|x|) times the modified Bessel function of the first kind of order 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_i0e, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_i0e_plans[k]
    except (KeyError, TypeError):
        p = _special_i0e_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialI0EBackward0()
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


_special_i1 = get_op("special_i1")
_special_i1_plans = table(_special_i1)


class SpecialI1Backward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("special_i1")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["special_i1"] = SpecialI1Backward0

def special_i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_i1, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_i1_plans[k]
    except (KeyError, TypeError):
        p = _special_i1_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialI1Backward0()
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


_special_i1e = get_op("special_i1e")
_special_i1e_plans = table(_special_i1e)


class SpecialI1EBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("special_i1e")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["special_i1e"] = SpecialI1EBackward0

def special_i1e(input: Tensor) -> Tensor:
    """exp(-|x|) times the modified Bessel function of the first kind of order 1."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_i1e, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_i1e_plans[k]
    except (KeyError, TypeError):
        p = _special_i1e_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialI1EBackward0()
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


_special_bessel_j0 = get_op("special_bessel_j0")
_special_bessel_j0_plans = table(_special_bessel_j0)


class SpecialBesselJ0Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_bessel_j0")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_bessel_j0"] = SpecialBesselJ0Backward0

def special_bessel_j0(input: Tensor) -> Tensor:
    """The Bessel function of the first kind of order 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_bessel_j0, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_bessel_j0_plans[k]
    except (KeyError, TypeError):
        p = _special_bessel_j0_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialBesselJ0Backward0()
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


_special_bessel_j1 = get_op("special_bessel_j1")
_special_bessel_j1_plans = table(_special_bessel_j1)


class SpecialBesselJ1Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_bessel_j1")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_bessel_j1"] = SpecialBesselJ1Backward0

def special_bessel_j1(input: Tensor) -> Tensor:
    """The Bessel function of the first kind of order 1."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_bessel_j1, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_bessel_j1_plans[k]
    except (KeyError, TypeError):
        p = _special_bessel_j1_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialBesselJ1Backward0()
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


_special_bessel_y0 = get_op("special_bessel_y0")
_special_bessel_y0_plans = table(_special_bessel_y0)


class SpecialBesselY0Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_bessel_y0")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_bessel_y0"] = SpecialBesselY0Backward0

def special_bessel_y0(input: Tensor) -> Tensor:
    """The Bessel function of the second kind of order 0; -inf at 0, NaN below."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_bessel_y0, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_bessel_y0_plans[k]
    except (KeyError, TypeError):
        p = _special_bessel_y0_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialBesselY0Backward0()
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


_special_bessel_y1 = get_op("special_bessel_y1")
_special_bessel_y1_plans = table(_special_bessel_y1)


class SpecialBesselY1Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_bessel_y1")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_bessel_y1"] = SpecialBesselY1Backward0

def special_bessel_y1(input: Tensor) -> Tensor:
    """The Bessel function of the second kind of order 1; -inf at 0, NaN below."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_bessel_y1, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_bessel_y1_plans[k]
    except (KeyError, TypeError):
        p = _special_bessel_y1_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialBesselY1Backward0()
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


_special_modified_bessel_i0 = get_op("special_modified_bessel_i0")
_special_modified_bessel_i0_plans = table(_special_modified_bessel_i0)


class SpecialModifiedBesselI0Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_modified_bessel_i0")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_modified_bessel_i0"] = SpecialModifiedBesselI0Backward0

def special_modified_bessel_i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0. No gradient (see `i0`)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_modified_bessel_i0, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_modified_bessel_i0_plans[k]
    except (KeyError, TypeError):
        p = _special_modified_bessel_i0_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialModifiedBesselI0Backward0()
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


_special_modified_bessel_i1 = get_op("special_modified_bessel_i1")
_special_modified_bessel_i1_plans = table(_special_modified_bessel_i1)


class SpecialModifiedBesselI1Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_modified_bessel_i1")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_modified_bessel_i1"] = SpecialModifiedBesselI1Backward0

def special_modified_bessel_i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 1. No gradient (see `i1`)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_modified_bessel_i1, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_modified_bessel_i1_plans[k]
    except (KeyError, TypeError):
        p = _special_modified_bessel_i1_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialModifiedBesselI1Backward0()
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


_special_modified_bessel_k0 = get_op("special_modified_bessel_k0")
_special_modified_bessel_k0_plans = table(_special_modified_bessel_k0)


class SpecialModifiedBesselK0Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_modified_bessel_k0")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_modified_bessel_k0"] = SpecialModifiedBesselK0Backward0

def special_modified_bessel_k0(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind of order 0; infinity at 0, NaN below."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_modified_bessel_k0, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_modified_bessel_k0_plans[k]
    except (KeyError, TypeError):
        p = _special_modified_bessel_k0_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialModifiedBesselK0Backward0()
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


_special_modified_bessel_k1 = get_op("special_modified_bessel_k1")
_special_modified_bessel_k1_plans = table(_special_modified_bessel_k1)


class SpecialModifiedBesselK1Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_modified_bessel_k1")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_modified_bessel_k1"] = SpecialModifiedBesselK1Backward0

def special_modified_bessel_k1(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind of order 1; infinity at 0, NaN below."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_modified_bessel_k1, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_modified_bessel_k1_plans[k]
    except (KeyError, TypeError):
        p = _special_modified_bessel_k1_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialModifiedBesselK1Backward0()
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


_special_scaled_modified_bessel_k0 = get_op("special_scaled_modified_bessel_k0")
_special_scaled_modified_bessel_k0_plans = table(_special_scaled_modified_bessel_k0)


class SpecialScaledModifiedBesselK0Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_scaled_modified_bessel_k0")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_scaled_modified_bessel_k0"] = SpecialScaledModifiedBesselK0Backward0

def special_scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind of order 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_scaled_modified_bessel_k0, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_scaled_modified_bessel_k0_plans[k]
    except (KeyError, TypeError):
        p = _special_scaled_modified_bessel_k0_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialScaledModifiedBesselK0Backward0()
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


_special_scaled_modified_bessel_k1 = get_op("special_scaled_modified_bessel_k1")
_special_scaled_modified_bessel_k1_plans = table(_special_scaled_modified_bessel_k1)


class SpecialScaledModifiedBesselK1Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_scaled_modified_bessel_k1")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_scaled_modified_bessel_k1"] = SpecialScaledModifiedBesselK1Backward0

def special_scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind of order 1."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_scaled_modified_bessel_k1, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_scaled_modified_bessel_k1_plans[k]
    except (KeyError, TypeError):
        p = _special_scaled_modified_bessel_k1_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialScaledModifiedBesselK1Backward0()
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


_special_spherical_bessel_j0 = get_op("special_spherical_bessel_j0")
_special_spherical_bessel_j0_plans = table(_special_spherical_bessel_j0)


class SpecialSphericalBesselJ0Backward0(OpNode):
    __slots__ = ()
    op = get_op("special_spherical_bessel_j0")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_spherical_bessel_j0"] = SpecialSphericalBesselJ0Backward0

def special_spherical_bessel_j0(input: Tensor) -> Tensor:
    """The spherical Bessel function of order 0, sin(x) / x."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_spherical_bessel_j0, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_spherical_bessel_j0_plans[k]
    except (KeyError, TypeError):
        p = _special_spherical_bessel_j0_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialSphericalBesselJ0Backward0()
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


_special_airy_ai = get_op("special_airy_ai")
_special_airy_ai_plans = table(_special_airy_ai)


class SpecialAiryAiBackward0(OpNode):
    __slots__ = ()
    op = get_op("special_airy_ai")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["special_airy_ai"] = SpecialAiryAiBackward0

def special_airy_ai(input: Tensor) -> Tensor:
    """The Airy function Ai."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_special_airy_ai, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _special_airy_ai_plans[k]
    except (KeyError, TypeError):
        p = _special_airy_ai_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SpecialAiryAiBackward0()
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


FUNCTIONS: dict[str, Any] = {
    "i0": i0,
    "special_i0e": special_i0e,
    "special_i1": special_i1,
    "special_i1e": special_i1e,
    "special_bessel_j0": special_bessel_j0,
    "special_bessel_j1": special_bessel_j1,
    "special_bessel_y0": special_bessel_y0,
    "special_bessel_y1": special_bessel_y1,
    "special_modified_bessel_i0": special_modified_bessel_i0,
    "special_modified_bessel_i1": special_modified_bessel_i1,
    "special_modified_bessel_k0": special_modified_bessel_k0,
    "special_modified_bessel_k1": special_modified_bessel_k1,
    "special_scaled_modified_bessel_k0": special_scaled_modified_bessel_k0,
    "special_scaled_modified_bessel_k1": special_scaled_modified_bessel_k1,
    "special_spherical_bessel_j0": special_spherical_bessel_j0,
    "special_airy_ai": special_airy_ai,
}
INPLACE: dict[str, Any] = {
    "i0_": i0_,
}
