"""Functions and backward nodes of the family "classification". Generated from the records by tools/generate.py: do not edit."""
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

_nll_loss = get_op("nll_loss")
_nll_loss_plans = table(_nll_loss)


class NllLossBackward0(OpNode):
    __slots__ = ("s_target", "s_weight")
    op = get_op("nll_loss")
    saved = ('target', 'weight')
    needs = (('target', 'weight'), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_target, self.s_weight, self.plan.ins[0].shape, self.plan.attributes["reduction"], self.plan.attributes["ignore_index"]) if e[0] is not None else None, None, rules[2](g) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_target, self.s_weight


NODE_CLASSES["nll_loss"] = NllLossBackward0

def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean', ignore_index: int = -100) -> Tensor:
    """-weight[target] input[target] for log-probabilities (N, C, …) and class indices (N, …); also (C,) and ().

    Rows whose target is `ignore_index` count 0. "mean" divides by the sum of the weights of the rows that count.
    """
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor or (weight is not None and type(weight) is not Tensor):
        return dispatch(_nll_loss, (input, target, weight,), {"reduction": reduction, "ignore_index": ignore_index})
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
    k = (t0, t1, t2, reduction, ignore_index)
    try:
        p = _nll_loss_plans[k]
    except (KeyError, TypeError):
        p = _nll_loss_plans.make(k, (t0, t1, t2,), {"reduction": reduction, "ignore_index": ignore_index})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = NllLossBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_target = a1 if e0 is not None else None
        n.s_weight = a2 if e0 is not None else None
    else:
        o._node = None
    return o


_nll_loss_backward = get_op("nll_loss_backward")
_nll_loss_backward_plans = table(_nll_loss_backward)


class NllLossBackwardBackward0(OpNode):
    __slots__ = ("s_target", "s_weight")
    op = get_op("nll_loss_backward")
    saved = ('target', 'weight')
    needs = (('target', 'weight'), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_target, self.s_weight, self.plan.attributes["reduction"], self.plan.attributes["ignore_index"]) if e[0] is not None else None, None, None)

    def free(self) -> None:
        del self.s_target, self.s_weight


NODE_CLASSES["nll_loss_backward"] = NllLossBackwardBackward0

def nll_loss_backward(grad: Tensor, target: Tensor, size: Sequence[int], reduction: str = 'mean', ignore_index: int = -100, weight: Tensor | None = None) -> Tensor:
    """The gradient of nll_loss, which is linear: its adjoint is nll_loss again."""
    if MODE.special or type(grad) is not Tensor or type(target) is not Tensor or (weight is not None and type(weight) is not Tensor):
        return dispatch(_nll_loss_backward, (grad, target, weight,), {"size": size, "reduction": reduction, "ignore_index": ignore_index})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = target._type
    a1 = target._array
    e1 = target._node
    if weight is None:
        t2 = a2 = e2 = None
    else:
        t2 = weight._type
        a2 = weight._array
        e2 = weight._node
    k = (t0, t1, t2, size, reduction, ignore_index)
    try:
        p = _nll_loss_backward_plans[k]
    except (KeyError, TypeError):
        p = _nll_loss_backward_plans.make(k, (t0, t1, t2,), {"size": size, "reduction": reduction, "ignore_index": ignore_index})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = NllLossBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_target = a1 if e0 is not None else None
        n.s_weight = a2 if e0 is not None else None
    else:
        o._node = None
    return o


_cross_entropy = get_op("cross_entropy")
_cross_entropy_plans = table(_cross_entropy)


class CrossEntropyLossBackward0(OpNode):
    __slots__ = ("s_input", "s_target", "s_weight")
    op = get_op("cross_entropy")
    saved = ('input', 'target', 'weight')
    needs = (('input', 'target', 'weight'), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.s_weight, self.plan.attributes["reduction"], self.plan.attributes["ignore_index"], self.plan.attributes["label_smoothing"]) if e[0] is not None else None, None, rules[2](g) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_target, self.s_weight


NODE_CLASSES["cross_entropy"] = CrossEntropyLossBackward0

def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean', ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    """The cross-entropy between scores (N, C, …) and class indices (N, …), also (C,) and (): nll_loss of log_softmax in one operation.

    weight: one a class. Rows whose target is `ignore_index` count 0; "mean" divides by the sum of the weights of rows that count.
    label_smoothing: how much of each target is spread evenly over all classes. `twofold.cross_entropy` also takes probabilities as targets.
    PyTorch's two nodes (NllLossBackward0 after LogSoftmaxBackward0) are one here.
    """
    if MODE.special or type(input) is not Tensor or type(target) is not Tensor or (weight is not None and type(weight) is not Tensor):
        return dispatch(_cross_entropy, (input, target, weight,), {"reduction": reduction, "ignore_index": ignore_index, "label_smoothing": label_smoothing})
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
    k = (t0, t1, t2, reduction, ignore_index, scalar_key(label_smoothing))
    try:
        p = _cross_entropy_plans[k]
    except (KeyError, TypeError):
        p = _cross_entropy_plans.make(k, (t0, t1, t2,), {"reduction": reduction, "ignore_index": ignore_index, "label_smoothing": label_smoothing})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = CrossEntropyLossBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e0 is not None else None
        n.s_target = a1 if e0 is not None else None
        n.s_weight = a2 if e0 is not None else None
    else:
        o._node = None
    return o


_cross_entropy_backward = get_op("cross_entropy_backward")
_cross_entropy_backward_plans = table(_cross_entropy_backward)


class CrossEntropyBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_input", "s_target", "s_weight")
    op = get_op("cross_entropy_backward")
    saved = ('grad', 'input', 'target', 'weight')
    needs = (('input', 'target', 'weight'), ('grad', 'input', 'target', 'weight'), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.s_weight, self.plan.attributes["reduction"], self.plan.attributes["ignore_index"], self.plan.attributes["label_smoothing"], self.plan.ins[0].dtype) if e[0] is not None else None, rules[1](g, self.s_grad, self.s_input, self.s_target, self.s_weight, self.plan.attributes["reduction"], self.plan.attributes["ignore_index"], self.plan.attributes["label_smoothing"]) if e[1] is not None else None, None, None)

    def free(self) -> None:
        del self.s_grad, self.s_input, self.s_target, self.s_weight


NODE_CLASSES["cross_entropy_backward"] = CrossEntropyBackwardBackward0

def cross_entropy_backward(grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean', ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    """The gradient of cross_entropy: softmax less the targets, scaled row by row. The softmax is computed anew."""
    if MODE.special or type(grad) is not Tensor or type(input) is not Tensor or type(target) is not Tensor or (weight is not None and type(weight) is not Tensor):
        return dispatch(_cross_entropy_backward, (grad, input, target, weight,), {"reduction": reduction, "ignore_index": ignore_index, "label_smoothing": label_smoothing})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    t2 = target._type
    a2 = target._array
    e2 = target._node
    if weight is None:
        t3 = a3 = e3 = None
    else:
        t3 = weight._type
        a3 = weight._array
        e3 = weight._node
    k = (t0, t1, t2, t3, reduction, ignore_index, scalar_key(label_smoothing))
    try:
        p = _cross_entropy_backward_plans[k]
    except (KeyError, TypeError):
        p = _cross_entropy_backward_plans.make(k, (t0, t1, t2, t3,), {"reduction": reduction, "ignore_index": ignore_index, "label_smoothing": label_smoothing})
    y = p.kernel(a0, a1, a2, a3)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = CrossEntropyBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2, e3)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_grad = a0 if e1 is not None else None
        n.s_input = a1 if e0 is not None or e1 is not None else None
        n.s_target = a2 if e0 is not None or e1 is not None else None
        n.s_weight = a3 if e0 is not None or e1 is not None else None
    else:
        o._node = None
    return o


_cross_entropy_factor = get_op("cross_entropy_factor")
_cross_entropy_factor_plans = table(_cross_entropy_factor)


class CrossEntropyFactorBackward0(OpNode):
    __slots__ = ("s_input", "s_target", "s_weight")
    op = get_op("cross_entropy_factor")
    saved = ('input', 'target', 'weight')
    needs = (('input', 'target', 'weight'), (), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.s_target, self.s_weight, self.plan.attributes["reduction"], self.plan.attributes["ignore_index"], self.plan.attributes["label_smoothing"], self.plan.ins[0].dtype) if e[0] is not None else None, None, None, None)

    def free(self) -> None:
        del self.s_input, self.s_target, self.s_weight


NODE_CLASSES["cross_entropy_factor"] = CrossEntropyFactorBackward0

def cross_entropy_factor(grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean', ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    """For each row the gradient of its loss times the sum of its target weights; linear in grad, of `input` only the shape matters."""
    if MODE.special or type(grad) is not Tensor or type(input) is not Tensor or type(target) is not Tensor or (weight is not None and type(weight) is not Tensor):
        return dispatch(_cross_entropy_factor, (grad, input, target, weight,), {"reduction": reduction, "ignore_index": ignore_index, "label_smoothing": label_smoothing})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    t2 = target._type
    a2 = target._array
    e2 = target._node
    if weight is None:
        t3 = a3 = e3 = None
    else:
        t3 = weight._type
        a3 = weight._array
        e3 = weight._node
    k = (t0, t1, t2, t3, reduction, ignore_index, scalar_key(label_smoothing))
    try:
        p = _cross_entropy_factor_plans[k]
    except (KeyError, TypeError):
        p = _cross_entropy_factor_plans.make(k, (t0, t1, t2, t3,), {"reduction": reduction, "ignore_index": ignore_index, "label_smoothing": label_smoothing})
    y = p.kernel(a0, a1, a2, a3)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CrossEntropyFactorBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2, e3)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a1 if e0 is not None else None
        n.s_target = a2 if e0 is not None else None
        n.s_weight = a3 if e0 is not None else None
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "nll_loss": nll_loss,
    "nll_loss_backward": nll_loss_backward,
    "cross_entropy": cross_entropy,
    "cross_entropy_backward": cross_entropy_backward,
    "cross_entropy_factor": cross_entropy_factor,
}
INPLACE: dict[str, Any] = {
}
