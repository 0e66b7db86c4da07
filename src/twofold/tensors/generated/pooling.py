"""Functions and backward nodes of the family "pooling". Generated from the records by tools/generate.py: do not edit."""
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

_max_pool2d = get_op("max_pool2d")
_max_pool2d_plans = table(_max_pool2d)


class MaxPool2DWithIndicesBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("max_pool2d")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.attributes["kernel_size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["max_pool2d"] = MaxPool2DWithIndicesBackward0

def max_pool2d(input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False) -> Tensor:
    """The maximum of each window of `kernel_size` over the last 2 dimensions of (N, C, *space) or (C, *space).

    The gradient goes to the first of equal maxima. Raises ValueRangeError for padding of more than half a kernel, ShapeError where nothing
    fits.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_max_pool2d, (input,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, kernel_size, stride, padding, dilation, ceil_mode)
    try:
        p = _max_pool2d_plans[k]
    except (KeyError, TypeError):
        p = _max_pool2d_plans.make(k, (t0,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaxPool2DWithIndicesBackward0()
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


_max_pool3d = get_op("max_pool3d")
_max_pool3d_plans = table(_max_pool3d)


class MaxPool3DWithIndicesBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("max_pool3d")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.attributes["kernel_size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["max_pool3d"] = MaxPool3DWithIndicesBackward0

def max_pool3d(input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False) -> Tensor:
    """The maximum of each window of `kernel_size` over the last 3 dimensions of (N, C, *space) or (C, *space).

    The gradient goes to the first of equal maxima. Raises ValueRangeError for padding of more than half a kernel, ShapeError where nothing
    fits.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_max_pool3d, (input,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, kernel_size, stride, padding, dilation, ceil_mode)
    try:
        p = _max_pool3d_plans[k]
    except (KeyError, TypeError):
        p = _max_pool3d_plans.make(k, (t0,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaxPool3DWithIndicesBackward0()
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


_max_pool_backward = get_op("max_pool_backward")
_max_pool_backward_plans = table(_max_pool_backward)


class MaxPoolBackwardBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("max_pool_backward")
    saved = ('input',)
    needs = (('input',), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.plan.ins[0].shape, self.plan.attributes["kernel_size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"]) if e[0] is not None else None, None, None)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["max_pool_backward"] = MaxPoolBackwardBackward0

def max_pool_backward(grad: Tensor, input: Tensor, output: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int]) -> Tensor:
    """The gradient of max_pool's input: each window's gradient at the place of its maximum.

    Linear in `grad`; its derivative in the input is zero wherever it exists.
    """
    if MODE.special or type(grad) is not Tensor or type(input) is not Tensor or type(output) is not Tensor:
        return dispatch(_max_pool_backward, (grad, input, output,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    t2 = output._type
    a2 = output._array
    e2 = output._node
    k = (t0, t1, t2, kernel_size, stride, padding, dilation)
    try:
        p = _max_pool_backward_plans[k]
    except (KeyError, TypeError):
        p = _max_pool_backward_plans.make(k, (t0, t1, t2,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaxPoolBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
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


_max_pool_gather = get_op("max_pool_gather")
_max_pool_gather_plans = table(_max_pool_gather)


class MaxPoolGatherBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("max_pool_gather")
    saved = ('input',)
    needs = (('input',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.plan.attributes["kernel_size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["dilation"]) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["max_pool_gather"] = MaxPoolGatherBackward0

def max_pool_gather(source: Tensor, input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], size: Sequence[int]) -> Tensor:
    """For each window the element of `source` where `input` has the window's maximum; `size` is the output's spatial shape."""
    if MODE.special or type(source) is not Tensor or type(input) is not Tensor:
        return dispatch(_max_pool_gather, (source, input,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "size": size})
    t0 = source._type
    a0 = source._array
    e0 = source._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    k = (t0, t1, kernel_size, stride, padding, dilation, size)
    try:
        p = _max_pool_gather_plans[k]
    except (KeyError, TypeError):
        p = _max_pool_gather_plans.make(k, (t0, t1,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "size": size})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaxPoolGatherBackward0()
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


_max_pool_indices = get_op("max_pool_indices")
_max_pool_indices_plans = table(_max_pool_indices)


def max_pool_indices(input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], size: Sequence[int]) -> Tensor:
    """The flat position of each window's maximum within the spatial dimensions: what `max_pool(…, return_indices=True)` gives second."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_max_pool_indices, (input,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "size": size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, kernel_size, stride, padding, dilation, size)
    try:
        p = _max_pool_indices_plans[k]
    except (KeyError, TypeError):
        p = _max_pool_indices_plans.make(k, (t0,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "size": size})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_avg_pool2d = get_op("avg_pool2d")
_avg_pool2d_plans = table(_avg_pool2d)


class AvgPool2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("avg_pool2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["kernel_size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["count_include_pad"], self.plan.attributes["divisor_override"]),)


NODE_CLASSES["avg_pool2d"] = AvgPool2DBackward0

def avg_pool2d(input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """The mean of each window of `kernel_size` over the last 2 dimensions of (N, C, *space) or (C, *space).

    Padding counts as zeros unless `count_include_pad` is False; `divisor_override` replaces the count. Floating-point
    tensors, and int64, where means are rounded towards zero.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_avg_pool2d, (input,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "count_include_pad": count_include_pad, "divisor_override": divisor_override})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    try:
        p = _avg_pool2d_plans[k]
    except (KeyError, TypeError):
        p = _avg_pool2d_plans.make(k, (t0,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "count_include_pad": count_include_pad, "divisor_override": divisor_override})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AvgPool2DBackward0()
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


_avg_pool3d = get_op("avg_pool3d")
_avg_pool3d_plans = table(_avg_pool3d)


class AvgPool3DBackward0(OpNode):
    __slots__ = ()
    op = get_op("avg_pool3d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["kernel_size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["count_include_pad"], self.plan.attributes["divisor_override"]),)


NODE_CLASSES["avg_pool3d"] = AvgPool3DBackward0

def avg_pool3d(input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """The mean of each window of `kernel_size` over the last 3 dimensions of (N, C, *space) or (C, *space).

    Padding counts as zeros unless `count_include_pad` is False; `divisor_override` replaces the count. Floating-point
    tensors, and int64, where means are rounded towards zero.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_avg_pool3d, (input,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "count_include_pad": count_include_pad, "divisor_override": divisor_override})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    try:
        p = _avg_pool3d_plans[k]
    except (KeyError, TypeError):
        p = _avg_pool3d_plans.make(k, (t0,), {"kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "count_include_pad": count_include_pad, "divisor_override": divisor_override})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AvgPool3DBackward0()
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


_avg_pool_backward = get_op("avg_pool_backward")
_avg_pool_backward_plans = table(_avg_pool_backward)


class AvgPoolBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("avg_pool_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["kernel_size"], self.plan.attributes["stride"], self.plan.attributes["padding"], self.plan.attributes["count_include_pad"], self.plan.attributes["divisor_override"]),)


NODE_CLASSES["avg_pool_backward"] = AvgPoolBackwardBackward0

def avg_pool_backward(grad: Tensor, size: Sequence[int], kernel_size: int | Sequence[int], stride: int | Sequence[int], padding: int | Sequence[int], count_include_pad: bool, divisor_override: int | None = None) -> Tensor:
    """The gradient of avg_pool's input; `size` is the input's spatial shape. Linear."""
    if MODE.special or type(grad) is not Tensor:
        return dispatch(_avg_pool_backward, (grad,), {"size": size, "kernel_size": kernel_size, "stride": stride, "padding": padding, "count_include_pad": count_include_pad, "divisor_override": divisor_override})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    k = (t0, size, kernel_size, stride, padding, count_include_pad, divisor_override)
    try:
        p = _avg_pool_backward_plans[k]
    except (KeyError, TypeError):
        p = _avg_pool_backward_plans.make(k, (t0,), {"size": size, "kernel_size": kernel_size, "stride": stride, "padding": padding, "count_include_pad": count_include_pad, "divisor_override": divisor_override})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AvgPoolBackwardBackward0()
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


_adaptive_avg_pool2d = get_op("adaptive_avg_pool2d")
_adaptive_avg_pool2d_plans = table(_adaptive_avg_pool2d)


class AdaptiveAvgPool2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("adaptive_avg_pool2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["adaptive_avg_pool2d"] = AdaptiveAvgPool2DBackward0

def adaptive_avg_pool2d(input: Tensor, output_size: Sequence[int]) -> Tensor:
    """Means over (H, W) so that the output has `output_size`: output i sees inputs floor(i * H / out) to ceil((i + 1) * H / out)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_adaptive_avg_pool2d, (input,), {"output_size": output_size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, output_size)
    try:
        p = _adaptive_avg_pool2d_plans[k]
    except (KeyError, TypeError):
        p = _adaptive_avg_pool2d_plans.make(k, (t0,), {"output_size": output_size})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AdaptiveAvgPool2DBackward0()
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


_adaptive_avg_pool3d = get_op("adaptive_avg_pool3d")
_adaptive_avg_pool3d_plans = table(_adaptive_avg_pool3d)


class AdaptiveAvgPool3DBackward0(OpNode):
    __slots__ = ()
    op = get_op("adaptive_avg_pool3d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["adaptive_avg_pool3d"] = AdaptiveAvgPool3DBackward0

def adaptive_avg_pool3d(input: Tensor, output_size: Sequence[int]) -> Tensor:
    """Means over (D, H, W) so that the output has `output_size`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_adaptive_avg_pool3d, (input,), {"output_size": output_size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, output_size)
    try:
        p = _adaptive_avg_pool3d_plans[k]
    except (KeyError, TypeError):
        p = _adaptive_avg_pool3d_plans.make(k, (t0,), {"output_size": output_size})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AdaptiveAvgPool3DBackward0()
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


_adaptive_avg_pool_backward = get_op("adaptive_avg_pool_backward")
_adaptive_avg_pool_backward_plans = table(_adaptive_avg_pool_backward)


class AdaptiveAvgPoolBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("adaptive_avg_pool_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["size"]),)


NODE_CLASSES["adaptive_avg_pool_backward"] = AdaptiveAvgPoolBackwardBackward0

def adaptive_avg_pool_backward(grad: Tensor, size: Sequence[int]) -> Tensor:
    """The gradient of adaptive_avg_pool's input; `size` is the input's spatial shape. Linear."""
    if MODE.special or type(grad) is not Tensor:
        return dispatch(_adaptive_avg_pool_backward, (grad,), {"size": size})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    k = (t0, size)
    try:
        p = _adaptive_avg_pool_backward_plans[k]
    except (KeyError, TypeError):
        p = _adaptive_avg_pool_backward_plans.make(k, (t0,), {"size": size})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AdaptiveAvgPoolBackwardBackward0()
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


_adaptive_max_pool2d = get_op("adaptive_max_pool2d")


class AdaptiveMaxPool2DBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("adaptive_max_pool2d")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.ins[0].dtype),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["adaptive_max_pool2d"] = AdaptiveMaxPool2DBackward0

def adaptive_max_pool2d(input: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Maxima over (H, W) so that the output has `output_size`, and their flat positions in the plane; the first of equal ones counts."""
    return dispatch(_adaptive_max_pool2d, (input,), {"output_size": output_size})


_adaptive_max_pool3d = get_op("adaptive_max_pool3d")


class AdaptiveMaxPool3DBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("adaptive_max_pool3d")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.ins[0].dtype),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["adaptive_max_pool3d"] = AdaptiveMaxPool3DBackward0

def adaptive_max_pool3d(input: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Maxima over (D, H, W) so that the output has `output_size`, and their flat positions."""
    return dispatch(_adaptive_max_pool3d, (input,), {"output_size": output_size})


FUNCTIONS: dict[str, Any] = {
    "max_pool2d": max_pool2d,
    "max_pool3d": max_pool3d,
    "max_pool_backward": max_pool_backward,
    "max_pool_gather": max_pool_gather,
    "max_pool_indices": max_pool_indices,
    "avg_pool2d": avg_pool2d,
    "avg_pool3d": avg_pool3d,
    "avg_pool_backward": avg_pool_backward,
    "adaptive_avg_pool2d": adaptive_avg_pool2d,
    "adaptive_avg_pool3d": adaptive_avg_pool3d,
    "adaptive_avg_pool_backward": adaptive_avg_pool_backward,
    "adaptive_max_pool2d": adaptive_max_pool2d,
    "adaptive_max_pool3d": adaptive_max_pool3d,
}
INPLACE: dict[str, Any] = {
}
