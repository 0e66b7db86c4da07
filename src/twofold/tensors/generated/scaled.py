"""Functions and backward nodes of the family "scaled". Generated from the records by tools/generate.py: do not edit."""
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

_add_alpha = get_op("add_alpha")
_add_alpha_plans = table(_add_alpha)


class AddBackward0(OpNode):
    __slots__ = ()
    op = get_op("add_alpha")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.plan.attributes["alpha"]) if e[1] is not None else None)


NODE_CLASSES["add_alpha"] = AddBackward0

def add_alpha(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """input + alpha * other: `add` with a factor."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_add_alpha, (input, other,), {"alpha": alpha})
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
    k = (t0, t1, scalar_key(alpha))
    try:
        p = _add_alpha_plans[k]
    except (KeyError, TypeError):
        p = _add_alpha_plans.make(k, (t0, t1,), {"alpha": alpha})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
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


def add_alpha_(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """`add_alpha` whose result is written into the first operand, which is returned."""
    return inplace("add_alpha", input, other, alpha=alpha)


_sub_alpha = get_op("sub_alpha")
_sub_alpha_plans = table(_sub_alpha)


class SubBackward0(OpNode):
    __slots__ = ()
    op = get_op("sub_alpha")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.plan.attributes["alpha"]) if e[1] is not None else None)


NODE_CLASSES["sub_alpha"] = SubBackward0

def sub_alpha(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """input - alpha * other: `sub` with a factor."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_sub_alpha, (input, other,), {"alpha": alpha})
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
    k = (t0, t1, scalar_key(alpha))
    try:
        p = _sub_alpha_plans[k]
    except (KeyError, TypeError):
        p = _sub_alpha_plans.make(k, (t0, t1,), {"alpha": alpha})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
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


def sub_alpha_(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """`sub_alpha` whose result is written into the first operand, which is returned."""
    return inplace("sub_alpha", input, other, alpha=alpha)


_addcmul = get_op("addcmul")
_addcmul_plans = table(_addcmul)


class AddcmulBackward0(OpNode):
    __slots__ = ("s_tensor1", "s_tensor2")
    op = get_op("addcmul")
    saved = ('tensor1', 'tensor2')
    needs = ((), ('tensor2',), ('tensor1',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.s_tensor2, self.plan.attributes["value"]) if e[1] is not None else None, rules[2](g, self.s_tensor1, self.plan.attributes["value"]) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_tensor1, self.s_tensor2


NODE_CLASSES["addcmul"] = AddcmulBackward0

def addcmul(input: Tensor | Number, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
    """input + value * tensor1 * tensor2. For integers `value` must be an integer."""
    if MODE.special or type(input) is not Tensor or type(tensor1) not in _PLAIN or type(tensor2) not in _PLAIN:
        return dispatch(_addcmul, (input, tensor1, tensor2,), {"value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(tensor1) is Tensor:
        t1 = tensor1._type
        a1 = tensor1._array
        e1 = tensor1._node
    else:
        t1 = scalar_type(type(tensor1))
        a1 = tensor1
        e1 = None
    if type(tensor2) is Tensor:
        t2 = tensor2._type
        a2 = tensor2._array
        e2 = tensor2._node
    else:
        t2 = scalar_type(type(tensor2))
        a2 = tensor2
        e2 = None
    k = (t0, t1, t2, scalar_key(value))
    try:
        p = _addcmul_plans[k]
    except (KeyError, TypeError):
        p = _addcmul_plans.make(k, (t0, t1, t2,), {"value": value})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = AddcmulBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_tensor1 = a1 if e2 is not None else None
        n.s_tensor2 = a2 if e1 is not None else None
    else:
        o._node = None
    return o


def addcmul_(input: Tensor, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
    """`addcmul` whose result is written into the first operand, which is returned."""
    return inplace("addcmul", input, tensor1, tensor2, value=value)


_addcdiv = get_op("addcdiv")
_addcdiv_plans = table(_addcdiv)


class AddcdivBackward0(OpNode):
    __slots__ = ("s_tensor1", "s_tensor2")
    op = get_op("addcdiv")
    saved = ('tensor1', 'tensor2')
    needs = ((), ('tensor2',), ('tensor1', 'tensor2'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.s_tensor2, self.plan.attributes["value"]) if e[1] is not None else None, rules[2](g, self.s_tensor1, self.s_tensor2, self.plan.attributes["value"]) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_tensor1, self.s_tensor2


NODE_CLASSES["addcdiv"] = AddcdivBackward0

def addcdiv(input: Tensor | Number, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
    """input + value * tensor1 / tensor2, for floating-point dtypes."""
    if MODE.special or type(input) is not Tensor or type(tensor1) not in _PLAIN or type(tensor2) not in _PLAIN:
        return dispatch(_addcdiv, (input, tensor1, tensor2,), {"value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(tensor1) is Tensor:
        t1 = tensor1._type
        a1 = tensor1._array
        e1 = tensor1._node
    else:
        t1 = scalar_type(type(tensor1))
        a1 = tensor1
        e1 = None
    if type(tensor2) is Tensor:
        t2 = tensor2._type
        a2 = tensor2._array
        e2 = tensor2._node
    else:
        t2 = scalar_type(type(tensor2))
        a2 = tensor2
        e2 = None
    k = (t0, t1, t2, scalar_key(value))
    try:
        p = _addcdiv_plans[k]
    except (KeyError, TypeError):
        p = _addcdiv_plans.make(k, (t0, t1, t2,), {"value": value})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = AddcdivBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_tensor1 = a1 if e2 is not None else None
        n.s_tensor2 = a2 if e1 is not None or e2 is not None else None
    else:
        o._node = None
    return o


def addcdiv_(input: Tensor, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
    """`addcdiv` whose result is written into the first operand, which is returned."""
    return inplace("addcdiv", input, tensor1, tensor2, value=value)


_lerp = get_op("lerp")
_lerp_plans = table(_lerp)


class LerpBackward0(OpNode):
    __slots__ = ("s_input", "s_end", "s_weight")
    op = get_op("lerp")
    saved = ('input', 'end', 'weight')
    needs = (('weight',), ('weight',), ('input', 'end'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_weight) if e[0] is not None else None, rules[1](g, self.s_weight) if e[1] is not None else None, rules[2](g, self.s_input, self.s_end) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_end, self.s_weight


NODE_CLASSES["lerp"] = LerpBackward0

def lerp(input: Tensor | Number, end: Tensor | Number, weight: Tensor | Number) -> Tensor:
    """input + weight * (end - input), exact at both ends; all of one dtype. The node is that of a number as weight, `LerpBackward0`."""
    if MODE.special or type(input) is not Tensor or type(end) not in _PLAIN or type(weight) not in _PLAIN:
        return dispatch(_lerp, (input, end, weight,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(end) is Tensor:
        t1 = end._type
        a1 = end._array
        e1 = end._node
    else:
        t1 = scalar_type(type(end))
        a1 = end
        e1 = None
    if type(weight) is Tensor:
        t2 = weight._type
        a2 = weight._array
        e2 = weight._node
    else:
        t2 = scalar_type(type(weight))
        a2 = weight
        e2 = None
    k = (t0, t1, t2)
    try:
        p = _lerp_plans[k]
    except (KeyError, TypeError):
        p = _lerp_plans.make(k, (t0, t1, t2,), {})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = LerpBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e2 is not None else None
        n.s_end = a1 if e2 is not None else None
        n.s_weight = a2 if e0 is not None or e1 is not None else None
    else:
        o._node = None
    return o


def lerp_(input: Tensor, end: Tensor | Number, weight: Tensor | Number) -> Tensor:
    """`lerp` whose result is written into the first operand, which is returned."""
    return inplace("lerp", input, end, weight)


FUNCTIONS: dict[str, Any] = {
    "add_alpha": add_alpha,
    "sub_alpha": sub_alpha,
    "addcmul": addcmul,
    "addcdiv": addcdiv,
    "lerp": lerp,
}
INPLACE: dict[str, Any] = {
    "add_alpha_": add_alpha_,
    "sub_alpha_": sub_alpha_,
    "addcmul_": addcmul_,
    "addcdiv_": addcdiv_,
    "lerp_": lerp_,
}
