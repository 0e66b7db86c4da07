"""Functions and backward nodes of the family "loss". Generated from the records by tools/generate.py: do not edit."""
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

_mse_loss = get_op("mse_loss")
_mse_loss_plans = table(_mse_loss)


class MseLossBackward0(OpNode):
    __slots__ = ("s_input", "s_target")
    op = get_op("mse_loss")
    saved = ('input', 'target')
    needs = (('input', 'target'), ('input', 'target'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[0] is not None else None, rules[1](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.ins[1].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target


NODE_CLASSES["mse_loss"] = MseLossBackward0

def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """(input - target)²."""
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor:
        return dispatch(_mse_loss, (input, target,), {"reduction": reduction})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    k = (t0, t1, reduction)
    try:
        p = _mse_loss_plans[k]
    except (KeyError, TypeError):
        p = _mse_loss_plans.make(k, (t0, t1,), {"reduction": reduction})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = MseLossBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_target = a1
    else:
        o._node = None
    return o


_l1_loss = get_op("l1_loss")
_l1_loss_plans = table(_l1_loss)


class L1LossBackward0(OpNode):
    __slots__ = ("s_input", "s_target")
    op = get_op("l1_loss")
    saved = ('input', 'target')
    needs = (('input', 'target'), ('input', 'target'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[0] is not None else None, rules[1](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.ins[1].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target


NODE_CLASSES["l1_loss"] = L1LossBackward0

def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """|input - target|."""
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor:
        return dispatch(_l1_loss, (input, target,), {"reduction": reduction})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    k = (t0, t1, reduction)
    try:
        p = _l1_loss_plans[k]
    except (KeyError, TypeError):
        p = _l1_loss_plans.make(k, (t0, t1,), {"reduction": reduction})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = L1LossBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_target = a1
    else:
        o._node = None
    return o


_smooth_l1_loss = get_op("smooth_l1_loss")
_smooth_l1_loss_plans = table(_smooth_l1_loss)


class SmoothL1LossBackward0(OpNode):
    __slots__ = ("s_input", "s_target")
    op = get_op("smooth_l1_loss")
    saved = ('input', 'target')
    needs = (('input', 'target'), ('input', 'target'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.attributes["beta"], self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[0] is not None else None, rules[1](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.attributes["beta"], self.plan.ins[1].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target


NODE_CLASSES["smooth_l1_loss"] = SmoothL1LossBackward0

def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    """With d = |input - target|: d²/(2 beta) where d < beta, d - beta/2 elsewhere."""
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor:
        return dispatch(_smooth_l1_loss, (input, target,), {"reduction": reduction, "beta": beta})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    k = (t0, t1, reduction, scalar_key(beta))
    try:
        p = _smooth_l1_loss_plans[k]
    except (KeyError, TypeError):
        p = _smooth_l1_loss_plans.make(k, (t0, t1,), {"reduction": reduction, "beta": beta})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = SmoothL1LossBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_target = a1
    else:
        o._node = None
    return o


_huber_loss = get_op("huber_loss")
_huber_loss_plans = table(_huber_loss)


class HuberLossBackward0(OpNode):
    __slots__ = ("s_input", "s_target")
    op = get_op("huber_loss")
    saved = ('input', 'target')
    needs = (('input', 'target'), ('input', 'target'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.attributes["delta"], self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[0] is not None else None, rules[1](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.attributes["delta"], self.plan.ins[1].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target


NODE_CLASSES["huber_loss"] = HuberLossBackward0

def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0) -> Tensor:
    """With d = |input - target|: d²/2 where d < delta, delta (d - delta/2) elsewhere. P. J. Huber, Ann. Math. Stat. 35 (1964)."""
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor:
        return dispatch(_huber_loss, (input, target,), {"reduction": reduction, "delta": delta})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    k = (t0, t1, reduction, scalar_key(delta))
    try:
        p = _huber_loss_plans[k]
    except (KeyError, TypeError):
        p = _huber_loss_plans.make(k, (t0, t1,), {"reduction": reduction, "delta": delta})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = HuberLossBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_target = a1
    else:
        o._node = None
    return o


_binary_cross_entropy = get_op("binary_cross_entropy")
_binary_cross_entropy_plans = table(_binary_cross_entropy)


class BinaryCrossEntropyBackward0(OpNode):
    __slots__ = ("s_input", "s_target", "s_weight")
    op = get_op("binary_cross_entropy")
    saved = ('input', 'target', 'weight')
    needs = (('input', 'target', 'weight'), ('input', 'weight'), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.s_weight, self.plan.attributes["reduction"]) if e[0] is not None else None, rules[1](g, self.s_input, self.s_weight, self.plan.attributes["reduction"]) if e[1] is not None else None, rules[2](g) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target, self.s_weight


NODE_CLASSES["binary_cross_entropy"] = BinaryCrossEntropyBackward0

def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean') -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)) for probabilities in [0, 1], logarithms cut off at -100. `weight` broadcasts."""
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor or (weight is not None and type(weight) is not Tensor):
        return dispatch(_binary_cross_entropy, (input, target, weight,), {"reduction": reduction})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    if weight is None:
        t2 = a2 = e2 = None
    else:
        t2 = weight._type
        a2 = weight._array
        e2 = weight._node
    k = (t0, t1, t2, reduction)
    try:
        p = _binary_cross_entropy_plans[k]
    except (KeyError, TypeError):
        p = _binary_cross_entropy_plans.make(k, (t0, t1, t2,), {"reduction": reduction})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = BinaryCrossEntropyBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e0 is not None or e1 is not None else None
        n.s_target = a1 if e0 is not None else None
        n.s_weight = a2 if e0 is not None or e1 is not None else None
    else:
        o._node = None
    return o


_binary_cross_entropy_with_logits = get_op("binary_cross_entropy_with_logits")
_binary_cross_entropy_with_logits_plans = table(_binary_cross_entropy_with_logits)


class BinaryCrossEntropyWithLogitsBackward0(OpNode):
    __slots__ = ("s_input", "s_target", "s_weight", "s_pos_weight")
    op = get_op("binary_cross_entropy_with_logits")
    saved = ('input', 'target', 'weight', 'pos_weight')
    needs = (('input', 'target', 'weight', 'pos_weight'), ('input', 'weight', 'pos_weight'), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.s_weight, self.s_pos_weight, self.plan.attributes["reduction"]) if e[0] is not None else None, rules[1](g, self.s_input, self.s_weight, self.s_pos_weight, self.plan.attributes["reduction"]) if e[1] is not None else None, rules[2](g) if e[2] is not None else None, rules[3](g) if e[3] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target, self.s_weight, self.s_pos_weight


NODE_CLASSES["binary_cross_entropy_with_logits"] = BinaryCrossEntropyWithLogitsBackward0

def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: str = 'mean') -> Tensor:
    """binary_cross_entropy of sigmoid(input), computed without overflow; `pos_weight` multiplies the terms of positive targets.

    `weight` and `pos_weight` broadcast to the input.
    """
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor or (weight is not None and type(weight) is not Tensor) or (pos_weight is not None and type(pos_weight) is not Tensor):
        return dispatch(_binary_cross_entropy_with_logits, (input, target, weight, pos_weight,), {"reduction": reduction})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    if weight is None:
        t2 = a2 = e2 = None
    else:
        t2 = weight._type
        a2 = weight._array
        e2 = weight._node
    if pos_weight is None:
        t3 = a3 = e3 = None
    else:
        t3 = pos_weight._type
        a3 = pos_weight._array
        e3 = pos_weight._node
    k = (t0, t1, t2, t3, reduction)
    try:
        p = _binary_cross_entropy_with_logits_plans[k]
    except (KeyError, TypeError):
        p = _binary_cross_entropy_with_logits_plans.make(k, (t0, t1, t2, t3,), {"reduction": reduction})
    y = p.kernel(a0, a1, a2, a3)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None or e3 is not None) and p.tracks and grad_enabled():
        o._node = n = BinaryCrossEntropyWithLogitsBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2, e3)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e0 is not None or e1 is not None else None
        n.s_target = a1 if e0 is not None else None
        n.s_weight = a2 if e0 is not None or e1 is not None else None
        n.s_pos_weight = a3 if e0 is not None or e1 is not None else None
    else:
        o._node = None
    return o


_kl_div = get_op("kl_div")
_kl_div_plans = table(_kl_div)


class KlDivBackward0(OpNode):
    __slots__ = ("s_input", "s_target")
    op = get_op("kl_div")
    saved = ('input', 'target')
    needs = (('input', 'target'), ('input', 'target'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.attributes["log_target"], self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[0] is not None else None, rules[1](g, self.s_input, self.s_target, self.plan.attributes["reduction"], self.plan.attributes["log_target"], self.plan.ins[1].shape, self.plan.ins[0].dtype, self.plan.ins[1].dtype) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target


NODE_CLASSES["kl_div"] = KlDivBackward0

def kl_div(input: Tensor, target: Tensor, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """target (log(target) - input) for log-probabilities `input`; with `log_target` the target is a log-probability too."""
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor:
        return dispatch(_kl_div, (input, target,), {"reduction": reduction, "log_target": log_target})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    k = (t0, t1, reduction, log_target)
    try:
        p = _kl_div_plans[k]
    except (KeyError, TypeError):
        p = _kl_div_plans.make(k, (t0, t1,), {"reduction": reduction, "log_target": log_target})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = KlDivBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_target = a1
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "mse_loss": mse_loss,
    "l1_loss": l1_loss,
    "smooth_l1_loss": smooth_l1_loss,
    "huber_loss": huber_loss,
    "binary_cross_entropy": binary_cross_entropy,
    "binary_cross_entropy_with_logits": binary_cross_entropy_with_logits,
    "kl_div": kl_div,
}
INPLACE: dict[str, Any] = {
}
