"""Functions and backward nodes of the family "convolution". Generated from the records by tools/generate.py: do not edit."""
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

_convolution = get_op("convolution")
_convolution_plans = table(_convolution)


class ConvolutionBackward0(OpNode):
    __slots__ = ("s_input", "s_weight")
    op = get_op("convolution")
    saved = ('input', 'weight')
    needs = (('weight',), ('input',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_weight, self.plan.ins[0].shape, self.plan.ins[1].shape, self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"], self.plan.attributes["transposed"], self.plan.attributes["groups"]) if e[0] is not None else None, rules[1](g, self.s_input, self.plan.ins[1].shape, self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"], self.plan.attributes["transposed"], self.plan.attributes["groups"]) if e[1] is not None else None, rules[2](g) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_weight


NODE_CLASSES["convolution"] = ConvolutionBackward0

def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], transposed: bool, output_padding: int | Sequence[int], groups: int) -> Tensor:
    """Convolution (cross-correlation, as in all such libraries) over 1 to 3 spatial dimensions.

    input (N, C, *spatial); weight (O, C / groups, *kernel), or with `transposed` (C, O / groups, *kernel); bias (O,) or None. `padding` has a
    value a dimension, or twice as many: the starts of all dimensions, then the ends. Raises ShapeError where channels or sizes do not fit.
    """
    if MODE.special or type(input) is not Tensor or type(weight) is not Tensor or (bias is not None and type(bias) is not Tensor):
        return dispatch(_convolution, (input, weight, bias,), {"stride": stride, "padding": padding, "dilation": dilation, "transposed": transposed, "output_padding": output_padding, "groups": groups})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = weight._type
    a1 = weight._array
    e1 = weight._node
    if bias is None:
        t2 = a2 = e2 = None
    else:
        t2 = bias._type
        a2 = bias._array
        e2 = bias._node
    k = (t0, t1, t2, stride, padding, dilation, transposed, output_padding, groups)
    try:
        p = _convolution_plans[k]
    except (KeyError, TypeError):
        p = _convolution_plans.make(k, (t0, t1, t2,), {"stride": stride, "padding": padding, "dilation": dilation, "transposed": transposed, "output_padding": output_padding, "groups": groups})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = ConvolutionBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_weight = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_convolution_backward_weight = get_op("convolution_backward_weight")
_convolution_backward_weight_plans = table(_convolution_backward_weight)


class ConvolutionBackwardWeightBackward0(OpNode):
    __slots__ = ("s_grad", "s_input")
    op = get_op("convolution_backward_weight")
    saved = ('grad', 'input')
    needs = (('input',), ('grad',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"], self.plan.attributes["groups"]) if e[0] is not None else None, rules[1](g, self.s_grad, self.plan.ins[0].shape, self.plan.ins[1].shape, self.plan.attributes["size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"], self.plan.attributes["groups"]) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_grad, self.s_input


NODE_CLASSES["convolution_backward_weight"] = ConvolutionBackwardWeightBackward0

def convolution_backward_weight(grad: Tensor, input: Tensor, size: Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], groups: int) -> Tensor:
    """The gradient of a plain convolution's weight of shape `size`, from the gradient of the output and the input; linear in both."""
    if MODE.special or type(grad) is not Tensor or type(input) is not Tensor:
        return dispatch(_convolution_backward_weight, (grad, input,), {"size": size, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    k = (t0, t1, size, stride, padding, dilation, groups)
    try:
        p = _convolution_backward_weight_plans[k]
    except (KeyError, TypeError):
        p = _convolution_backward_weight_plans.make(k, (t0, t1,), {"size": size, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = ConvolutionBackwardWeightBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_grad = a0 if e1 is not None else None
        n.s_input = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_convolution_backward_bias = get_op("convolution_backward_bias")
_convolution_backward_bias_plans = table(_convolution_backward_bias)


class ConvolutionBackwardBiasBackward0(OpNode):
    __slots__ = ()
    op = get_op("convolution_backward_bias")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["convolution_backward_bias"] = ConvolutionBackwardBiasBackward0

def convolution_backward_bias(grad: Tensor) -> Tensor:
    """The sum over batch and space, a value for each channel: the gradient of a convolution's bias."""
    if MODE.special or type(grad) is not Tensor:
        return dispatch(_convolution_backward_bias, (grad,), {})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    k = t0
    try:
        p = _convolution_backward_bias_plans[k]
    except (KeyError, TypeError):
        p = _convolution_backward_bias_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ConvolutionBackwardBiasBackward0()
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
    "convolution": convolution,
    "convolution_backward_weight": convolution_backward_weight,
    "convolution_backward_bias": convolution_backward_bias,
}
INPLACE: dict[str, Any] = {
}
