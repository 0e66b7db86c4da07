"""Functions and backward nodes of the family "padding". Generated from the records by tools/generate.py: do not edit."""
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

_constant_pad_nd = get_op("constant_pad_nd")
_constant_pad_nd_plans = table(_constant_pad_nd)


class ConstantPadNdBackward0(OpNode):
    __slots__ = ()
    op = get_op("constant_pad_nd")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["pad"]),)


NODE_CLASSES["constant_pad_nd"] = ConstantPadNdBackward0

def constant_pad_nd(input: Tensor, pad: int | Sequence[int], value: Number = 0) -> Tensor:
    """The tensor with `value` around it: `pad` holds (before, after) of the last dimension, then of the one before it, …; negative pads cut off."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_constant_pad_nd, (input,), {"pad": pad, "value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad, scalar_key(value))
    try:
        p = _constant_pad_nd_plans[k]
    except (KeyError, TypeError):
        p = _constant_pad_nd_plans.make(k, (t0,), {"pad": pad, "value": value})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ConstantPadNdBackward0()
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


_circular_pad = get_op("circular_pad")
_circular_pad_plans = table(_circular_pad)


class CircularPadBackward0(OpNode):
    __slots__ = ()
    op = get_op("circular_pad")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["pad"]),)


NODE_CLASSES["circular_pad"] = CircularPadBackward0

def circular_pad(input: Tensor, pad: int | Sequence[int]) -> Tensor:
    """The tensor continued around: what follows its end is its beginning."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_circular_pad, (input,), {"pad": pad})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad)
    try:
        p = _circular_pad_plans[k]
    except (KeyError, TypeError):
        p = _circular_pad_plans.make(k, (t0,), {"pad": pad})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CircularPadBackward0()
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


_reflection_pad1d = get_op("reflection_pad1d")
_reflection_pad1d_plans = table(_reflection_pad1d)


class ReflectionPad1DBackward0(OpNode):
    __slots__ = ()
    op = get_op("reflection_pad1d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["pad"]),)


NODE_CLASSES["reflection_pad1d"] = ReflectionPad1DBackward0

def reflection_pad1d(input: Tensor, pad: int | Sequence[int]) -> Tensor:
    """The tensor continued by its mirror image (the border is not repeated) in the last 1 dimension(s); `pad` as in `constant_pad_nd`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_reflection_pad1d, (input,), {"pad": pad})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad)
    try:
        p = _reflection_pad1d_plans[k]
    except (KeyError, TypeError):
        p = _reflection_pad1d_plans.make(k, (t0,), {"pad": pad})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ReflectionPad1DBackward0()
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


_replication_pad1d = get_op("replication_pad1d")
_replication_pad1d_plans = table(_replication_pad1d)


class ReplicationPad1DBackward0(OpNode):
    __slots__ = ()
    op = get_op("replication_pad1d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["pad"]),)


NODE_CLASSES["replication_pad1d"] = ReplicationPad1DBackward0

def replication_pad1d(input: Tensor, pad: int | Sequence[int]) -> Tensor:
    """The tensor continued by its border's value in the last 1 dimension(s); `pad` as in `constant_pad_nd`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_replication_pad1d, (input,), {"pad": pad})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad)
    try:
        p = _replication_pad1d_plans[k]
    except (KeyError, TypeError):
        p = _replication_pad1d_plans.make(k, (t0,), {"pad": pad})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ReplicationPad1DBackward0()
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


_reflection_pad2d = get_op("reflection_pad2d")
_reflection_pad2d_plans = table(_reflection_pad2d)


class ReflectionPad2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("reflection_pad2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["pad"]),)


NODE_CLASSES["reflection_pad2d"] = ReflectionPad2DBackward0

def reflection_pad2d(input: Tensor, pad: int | Sequence[int]) -> Tensor:
    """The tensor continued by its mirror image (the border is not repeated) in the last 2 dimension(s); `pad` as in `constant_pad_nd`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_reflection_pad2d, (input,), {"pad": pad})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad)
    try:
        p = _reflection_pad2d_plans[k]
    except (KeyError, TypeError):
        p = _reflection_pad2d_plans.make(k, (t0,), {"pad": pad})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ReflectionPad2DBackward0()
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


_replication_pad2d = get_op("replication_pad2d")
_replication_pad2d_plans = table(_replication_pad2d)


class ReplicationPad2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("replication_pad2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["pad"]),)


NODE_CLASSES["replication_pad2d"] = ReplicationPad2DBackward0

def replication_pad2d(input: Tensor, pad: int | Sequence[int]) -> Tensor:
    """The tensor continued by its border's value in the last 2 dimension(s); `pad` as in `constant_pad_nd`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_replication_pad2d, (input,), {"pad": pad})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad)
    try:
        p = _replication_pad2d_plans[k]
    except (KeyError, TypeError):
        p = _replication_pad2d_plans.make(k, (t0,), {"pad": pad})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ReplicationPad2DBackward0()
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


_reflection_pad3d = get_op("reflection_pad3d")
_reflection_pad3d_plans = table(_reflection_pad3d)


class ReflectionPad3DBackward0(OpNode):
    __slots__ = ()
    op = get_op("reflection_pad3d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["pad"]),)


NODE_CLASSES["reflection_pad3d"] = ReflectionPad3DBackward0

def reflection_pad3d(input: Tensor, pad: int | Sequence[int]) -> Tensor:
    """The tensor continued by its mirror image (the border is not repeated) in the last 3 dimension(s); `pad` as in `constant_pad_nd`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_reflection_pad3d, (input,), {"pad": pad})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad)
    try:
        p = _reflection_pad3d_plans[k]
    except (KeyError, TypeError):
        p = _reflection_pad3d_plans.make(k, (t0,), {"pad": pad})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ReflectionPad3DBackward0()
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


_replication_pad3d = get_op("replication_pad3d")
_replication_pad3d_plans = table(_replication_pad3d)


class ReplicationPad3DBackward0(OpNode):
    __slots__ = ()
    op = get_op("replication_pad3d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["pad"]),)


NODE_CLASSES["replication_pad3d"] = ReplicationPad3DBackward0

def replication_pad3d(input: Tensor, pad: int | Sequence[int]) -> Tensor:
    """The tensor continued by its border's value in the last 3 dimension(s); `pad` as in `constant_pad_nd`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_replication_pad3d, (input,), {"pad": pad})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, pad)
    try:
        p = _replication_pad3d_plans[k]
    except (KeyError, TypeError):
        p = _replication_pad3d_plans.make(k, (t0,), {"pad": pad})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ReplicationPad3DBackward0()
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


_pad_backward = get_op("pad_backward")
_pad_backward_plans = table(_pad_backward)


class PadBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("pad_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["pad"], self.plan.attributes["mode"]),)


NODE_CLASSES["pad_backward"] = PadBackwardBackward0

def pad_backward(grad_output: Tensor, input_sizes: Sequence[int], pad: int | Sequence[int], mode: str) -> Tensor:
    """The adjoint of padding in mode reflect, replicate or circular."""
    if MODE.special or type(grad_output) is not Tensor:
        return dispatch(_pad_backward, (grad_output,), {"input_sizes": input_sizes, "pad": pad, "mode": mode})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    k = (t0, input_sizes, pad, mode)
    try:
        p = _pad_backward_plans[k]
    except (KeyError, TypeError):
        p = _pad_backward_plans.make(k, (t0,), {"input_sizes": input_sizes, "pad": pad, "mode": mode})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = PadBackwardBackward0()
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
    "constant_pad_nd": constant_pad_nd,
    "circular_pad": circular_pad,
    "reflection_pad1d": reflection_pad1d,
    "replication_pad1d": replication_pad1d,
    "reflection_pad2d": reflection_pad2d,
    "replication_pad2d": replication_pad2d,
    "reflection_pad3d": reflection_pad3d,
    "replication_pad3d": replication_pad3d,
    "pad_backward": pad_backward,
}
INPLACE: dict[str, Any] = {
}
