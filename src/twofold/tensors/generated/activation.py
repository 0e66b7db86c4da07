"""Functions and backward nodes of the family "activation". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

from numpy import abs as _np_abs
from numpy import exp as _np_exp
from numpy import log1p as _np_log1p
from numpy import maximum as _np_maximum
from numpy import minimum as _np_minimum
from numpy import tanh as _np_tanh
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

_relu = get_op("relu")
_relu_plans = table(_relu)


class ReluBackward0(OpNode):
    __slots__ = ("s_result",)
    op = get_op("relu")
    saved = ('result',)
    needs = (('result',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_result),)

    def free(self) -> None:
        del self.s_result


NODE_CLASSES["relu"] = ReluBackward0

def relu(input: Tensor) -> Tensor:
    """max(x, 0); NaN stays NaN. Bool raises DTypeError. The gradient at 0 is 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_relu, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_maximum(a0, 0.0)
    else:
        p = _relu_plans.get(t) or _relu_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = ReluBackward0()
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


def relu_(input: Tensor) -> Tensor:
    """`relu` whose result is written into the first operand, which is returned."""
    return inplace("relu", input)


_threshold_backward = get_op("threshold_backward")
_threshold_backward_plans = table(_threshold_backward)


class ThresholdBackwardBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("threshold_backward")
    saved = ('input',)
    needs = (('input',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.plan.attributes["threshold"]) if e[0] is not None else None, rules[1](self.plan.ins[1].shape, self.plan.ins[1].dtype, self.plan.ins[1].device) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["threshold_backward"] = ThresholdBackwardBackward0

def threshold_backward(grad: Tensor | Number, input: Tensor | Number, threshold: Number) -> Tensor:
    """`grad` where the input is above the threshold (or NaN), 0 elsewhere."""
    if MODE.special or type(grad) is not Tensor or type(input) not in _PLAIN:
        return dispatch(_threshold_backward, (grad, input,), {"threshold": threshold})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    if type(input) is Tensor:
        t1 = input._type
        a1 = input._array
        e1 = input._node
    else:
        t1 = scalar_type(type(input))
        a1 = input
        e1 = None
    k = (t0, t1, scalar_key(threshold))
    try:
        p = _threshold_backward_plans[k]
    except (KeyError, TypeError):
        p = _threshold_backward_plans.make(k, (t0, t1,), {"threshold": threshold})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = ThresholdBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_threshold = get_op("threshold")
_threshold_plans = table(_threshold)


class ThresholdBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("threshold")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["threshold"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["threshold"] = ThresholdBackward0

def threshold(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """x where it is above `threshold`, `value` elsewhere."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_threshold, (input,), {"threshold": threshold, "value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(threshold), scalar_key(value))
    try:
        p = _threshold_plans[k]
    except (KeyError, TypeError):
        p = _threshold_plans.make(k, (t0,), {"threshold": threshold, "value": value})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ThresholdBackward0()
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


def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """`threshold` whose result is written into the first operand, which is returned."""
    return inplace("threshold", input, threshold=threshold, value=value)


_leaky_relu = get_op("leaky_relu")
_leaky_relu_plans = table(_leaky_relu)


class LeakyReluBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("leaky_relu")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["negative_slope"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["leaky_relu"] = LeakyReluBackward0

def leaky_relu(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """x where it is positive, negative_slope * x elsewhere."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_leaky_relu, (input,), {"negative_slope": negative_slope})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(negative_slope))
    try:
        p = _leaky_relu_plans[k]
    except (KeyError, TypeError):
        p = _leaky_relu_plans.make(k, (t0,), {"negative_slope": negative_slope})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LeakyReluBackward0()
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


def leaky_relu_(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """`leaky_relu` whose result is written into the first operand, which is returned."""
    return inplace("leaky_relu", input, negative_slope=negative_slope)


_prelu_kernel = get_op("prelu_kernel")
_prelu_kernel_plans = table(_prelu_kernel)


class PreluKernelBackward0(OpNode):
    __slots__ = ("s_input", "s_weight")
    op = get_op("prelu_kernel")
    saved = ('input', 'weight')
    needs = (('input', 'weight'), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_weight) if e[0] is not None else None, rules[1](g, self.s_input) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_weight


NODE_CLASSES["prelu_kernel"] = PreluKernelBackward0

def prelu_kernel(input: Tensor | Number, weight: Tensor | Number) -> Tensor:
    """`leaky_relu` with a tensor of slopes that broadcasts; `prelu` brings the slopes of channels into that shape."""
    if MODE.special:
        return dispatch(_prelu_kernel, (input, weight,), {})
    if type(input) is Tensor:
        t = input._type
        a0 = input._array
        e0 = input._node
        if type(weight) is Tensor:
            a1 = weight._array
            e1 = weight._node
            if weight._type is t and t.fast:
                p = None
                y = _np_where(a0 > 0.0, a0, a1 * a0)
            else:
                k = (t, weight._type)
                p = _prelu_kernel_plans.get(k) or _prelu_kernel_plans.make(k, k, {})
                t = p.out
                y = _np_where(a0 > 0.0, a0, a1 * a0) if p.inline else p.kernel(a0, a1)
        elif type(weight) is float and t.fast:
            p = e1 = None
            a1 = weight
            y = _np_where(a0 > 0.0, a0, a1 * a0)
        elif type(weight) is int and t.fast and -9007199254740992 <= weight <= 9007199254740992:
            p = e1 = None
            a1 = float(weight)
            y = _np_where(a0 > 0.0, a0, a1 * a0)
        else:
            return dispatch(_prelu_kernel, (input, weight,), {})
    elif type(input) is float and type(weight) is Tensor and weight._type.fast:
        p = e0 = None
        a0 = input
        a1 = weight._array
        e1 = weight._node
        t = weight._type
        y = _np_where(a0 > 0.0, a0, a1 * a0)
    else:
        return dispatch(_prelu_kernel, (input, weight,), {})
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and (p is None or p.tracks) and grad_enabled():
        o._node = n = PreluKernelBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_weight = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_hardtanh = get_op("hardtanh")
_hardtanh_plans = table(_hardtanh)


class HardtanhBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("hardtanh")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["min_val"], self.plan.attributes["max_val"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["hardtanh"] = HardtanhBackward0

def hardtanh(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
    """x limited to [min_val, max_val]; the gradient at the limits is 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_hardtanh, (input,), {"min_val": min_val, "max_val": max_val})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(min_val), scalar_key(max_val))
    try:
        p = _hardtanh_plans[k]
    except (KeyError, TypeError):
        p = _hardtanh_plans.make(k, (t0,), {"min_val": min_val, "max_val": max_val})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = HardtanhBackward0()
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


def hardtanh_(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
    """`hardtanh` whose result is written into the first operand, which is returned."""
    return inplace("hardtanh", input, min_val=min_val, max_val=max_val)


_hardsigmoid = get_op("hardsigmoid")
_hardsigmoid_plans = table(_hardsigmoid)


class HardsigmoidBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("hardsigmoid")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["hardsigmoid"] = HardsigmoidBackward0

def hardsigmoid(input: Tensor) -> Tensor:
    """min(max(x + 3, 0), 6) / 6."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_hardsigmoid, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_minimum(_np_maximum(a0 + 3.0, 0.0), 6.0) / 6.0
    else:
        p = _hardsigmoid_plans.get(t) or _hardsigmoid_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = HardsigmoidBackward0()
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


def hardsigmoid_(input: Tensor) -> Tensor:
    """`hardsigmoid` whose result is written into the first operand, which is returned."""
    return inplace("hardsigmoid", input)


_hardswish = get_op("hardswish")
_hardswish_plans = table(_hardswish)


class HardswishBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("hardswish")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["hardswish"] = HardswishBackward0

def hardswish(input: Tensor) -> Tensor:
    """x * min(max(x + 3, 0), 6) / 6."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_hardswish, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = a0 * _np_minimum(_np_maximum(a0 + 3.0, 0.0), 6.0) / 6.0
    else:
        p = _hardswish_plans.get(t) or _hardswish_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = HardswishBackward0()
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


def hardswish_(input: Tensor) -> Tensor:
    """`hardswish` whose result is written into the first operand, which is returned."""
    return inplace("hardswish", input)


_hardshrink = get_op("hardshrink")
_hardshrink_plans = table(_hardshrink)


class HardshrinkBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("hardshrink")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["lambd"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["hardshrink"] = HardshrinkBackward0

def hardshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """x where |x| > lambd, 0 elsewhere."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_hardshrink, (input,), {"lambd": lambd})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(lambd))
    try:
        p = _hardshrink_plans[k]
    except (KeyError, TypeError):
        p = _hardshrink_plans.make(k, (t0,), {"lambd": lambd})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = HardshrinkBackward0()
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


_softshrink = get_op("softshrink")
_softshrink_plans = table(_softshrink)


class SoftshrinkBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("softshrink")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["lambd"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["softshrink"] = SoftshrinkBackward0

def softshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """x - lambd above lambd, x + lambd below -lambd, 0 between."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_softshrink, (input,), {"lambd": lambd})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(lambd))
    try:
        p = _softshrink_plans[k]
    except (KeyError, TypeError):
        p = _softshrink_plans.make(k, (t0,), {"lambd": lambd})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SoftshrinkBackward0()
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


_elu = get_op("elu")
_elu_plans = table(_elu)


class EluBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("elu")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["alpha"], self.plan.attributes["scale"], self.plan.attributes["input_scale"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["elu"] = EluBackward0

def elu(input: Tensor, alpha: Number = 1.0, scale: Number = 1.0, input_scale: Number = 1.0) -> Tensor:
    """scale * x where x is positive, scale * alpha * (exp(input_scale * x) - 1) elsewhere."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_elu, (input,), {"alpha": alpha, "scale": scale, "input_scale": input_scale})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(alpha), scalar_key(scale), scalar_key(input_scale))
    try:
        p = _elu_plans[k]
    except (KeyError, TypeError):
        p = _elu_plans.make(k, (t0,), {"alpha": alpha, "scale": scale, "input_scale": input_scale})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = EluBackward0()
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


def elu_(input: Tensor, alpha: Number = 1.0, scale: Number = 1.0, input_scale: Number = 1.0) -> Tensor:
    """`elu` whose result is written into the first operand, which is returned."""
    return inplace("elu", input, alpha=alpha, scale=scale, input_scale=input_scale)


_celu = get_op("celu")
_celu_plans = table(_celu)


class CeluBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("celu")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["alpha"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["celu"] = CeluBackward0

def celu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_celu, (input,), {"alpha": alpha})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(alpha))
    try:
        p = _celu_plans[k]
    except (KeyError, TypeError):
        p = _celu_plans.make(k, (t0,), {"alpha": alpha})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CeluBackward0()
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


def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """`celu` whose result is written into the first operand, which is returned."""
    return inplace("celu", input, alpha=alpha)


_softplus = get_op("softplus")
_softplus_plans = table(_softplus)


class SoftplusBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("softplus")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["beta"], self.plan.attributes["threshold"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["softplus"] = SoftplusBackward0

def softplus(input: Tensor, beta: Number = 1.0, threshold: Number = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above `threshold`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_softplus, (input,), {"beta": beta, "threshold": threshold})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(beta), scalar_key(threshold))
    try:
        p = _softplus_plans[k]
    except (KeyError, TypeError):
        p = _softplus_plans.make(k, (t0,), {"beta": beta, "threshold": threshold})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SoftplusBackward0()
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


_logsigmoid = get_op("logsigmoid")
_logsigmoid_plans = table(_logsigmoid)


class LogSigmoidBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("logsigmoid")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["logsigmoid"] = LogSigmoidBackward0

def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)) without overflow."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_logsigmoid, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = _np_minimum(a0, 0.0) - _np_log1p(_np_exp(-_np_abs(a0)))
    else:
        p = _logsigmoid_plans.get(t) or _logsigmoid_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = LogSigmoidBackward0()
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


_silu = get_op("silu")
_silu_plans = table(_silu)


class SiluBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("silu")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["silu"] = SiluBackward0

def silu(input: Tensor) -> Tensor:
    """x * sigmoid(x)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_silu, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = a0 / (1.0 + _np_exp(-a0))
    else:
        p = _silu_plans.get(t) or _silu_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = SiluBackward0()
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


def silu_(input: Tensor) -> Tensor:
    """`silu` whose result is written into the first operand, which is returned."""
    return inplace("silu", input)


_silu_backward = get_op("silu_backward")
_silu_backward_plans = table(_silu_backward)


class SiluBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_input")
    op = get_op("silu_backward")
    saved = ('grad', 'input')
    needs = (('input',), ('grad', 'input'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input) if e[0] is not None else None, rules[1](g, self.s_grad, self.s_input) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_grad, self.s_input


NODE_CLASSES["silu_backward"] = SiluBackwardBackward0

def silu_backward(grad: Tensor, input: Tensor) -> Tensor:
    """The gradient of silu: grad s (1 + x (1 - s)), s the logistic function of x."""
    if MODE.special or type(grad) is not Tensor or type(input) is not Tensor:
        return dispatch(_silu_backward, (grad, input,), {})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    k = (t0, t1)
    try:
        p = _silu_backward_plans[k]
    except (KeyError, TypeError):
        p = _silu_backward_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = SiluBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_grad = a0 if e1 is not None else None
        n.s_input = a1
    else:
        o._node = None
    return o


_mish = get_op("mish")
_mish_plans = table(_mish)


class MishBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("mish")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["mish"] = MishBackward0

def mish(input: Tensor) -> Tensor:
    """x * tanh(softplus(x))."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_mish, (input,), {})
    t = input._type
    a0 = input._array
    if t.fast:
        p = None
        y = a0 * _np_tanh(_np_maximum(a0, 0.0) + _np_log1p(_np_exp(-_np_abs(a0))))
    else:
        p = _mish_plans.get(t) or _mish_plans.make(t, (t,), {})
        t = p.out
        y = p.kernel(a0)
    e0 = input._node
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and (p is None or p.tracks) and grad_enabled():
        o._node = n = MishBackward0()
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


def mish_(input: Tensor) -> Tensor:
    """`mish` whose result is written into the first operand, which is returned."""
    return inplace("mish", input)


_gelu = get_op("gelu")
_gelu_plans = table(_gelu)


class GeluBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("gelu")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["approximate"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["gelu"] = GeluBackward0

def gelu(input: Tensor, *, approximate: str = 'none') -> Tensor:
    """x * Phi(x), Phi the distribution function of the normal distribution (Hendrycks and Gimpel, arXiv:1606.08415).

    approximate: 'none', or 'tanh' for 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))).
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_gelu, (input,), {"approximate": approximate})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, approximate)
    try:
        p = _gelu_plans[k]
    except (KeyError, TypeError):
        p = _gelu_plans.make(k, (t0,), {"approximate": approximate})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = GeluBackward0()
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


_gelu_backward = get_op("gelu_backward")
_gelu_backward_plans = table(_gelu_backward)


class GeluBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_input")
    op = get_op("gelu_backward")
    saved = ('grad', 'input')
    needs = (('input',), ('grad', 'input'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.plan.attributes["approximate"]) if e[0] is not None else None, rules[1](g, self.s_grad, self.s_input, self.plan.attributes["approximate"]) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_grad, self.s_input


NODE_CLASSES["gelu_backward"] = GeluBackwardBackward0

def gelu_backward(grad: Tensor, input: Tensor, approximate: str = 'none') -> Tensor:
    """The gradient of gelu: grad (Phi(x) + x phi(x)), or the slope of the approximation by tanh."""
    if MODE.special or type(grad) is not Tensor or type(input) is not Tensor:
        return dispatch(_gelu_backward, (grad, input,), {"approximate": approximate})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    k = (t0, t1, approximate)
    try:
        p = _gelu_backward_plans[k]
    except (KeyError, TypeError):
        p = _gelu_backward_plans.make(k, (t0, t1,), {"approximate": approximate})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = GeluBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_grad = a0 if e1 is not None else None
        n.s_input = a1
    else:
        o._node = None
    return o


_glu = get_op("glu")
_glu_plans = table(_glu)


class GluBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("glu")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.attributes["dim"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["glu"] = GluBackward0

def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b), a and b the halves of the input along `dim`. Raises ShapeError where that size is odd."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_glu, (input,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim)
    try:
        p = _glu_plans[k]
    except (KeyError, TypeError):
        p = _glu_plans.make(k, (t0,), {"dim": dim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = GluBackward0()
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


FUNCTIONS: dict[str, Any] = {
    "relu": relu,
    "threshold_backward": threshold_backward,
    "threshold": threshold,
    "leaky_relu": leaky_relu,
    "prelu_kernel": prelu_kernel,
    "hardtanh": hardtanh,
    "hardsigmoid": hardsigmoid,
    "hardswish": hardswish,
    "hardshrink": hardshrink,
    "softshrink": softshrink,
    "elu": elu,
    "celu": celu,
    "softplus": softplus,
    "logsigmoid": logsigmoid,
    "silu": silu,
    "silu_backward": silu_backward,
    "mish": mish,
    "gelu": gelu,
    "gelu_backward": gelu_backward,
    "glu": glu,
}
INPLACE: dict[str, Any] = {
    "relu_": relu_,
    "threshold_": threshold_,
    "leaky_relu_": leaky_relu_,
    "hardtanh_": hardtanh_,
    "hardsigmoid_": hardsigmoid_,
    "hardswish_": hardswish_,
    "elu_": elu_,
    "celu_": celu_,
    "silu_": silu_,
    "mish_": mish_,
}
