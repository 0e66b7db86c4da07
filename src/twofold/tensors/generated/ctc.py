"""Functions and backward nodes of the family "ctc". Generated from the records by tools/generate.py: do not edit."""
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

_ctc_loss = get_op("ctc_loss")
_ctc_loss_plans = table(_ctc_loss)


class CtcLossBackward0(OpNode):
    __slots__ = ("s_log_probs", "s_targets", "s_input_lengths", "s_target_lengths", "s_result")
    op = get_op("ctc_loss")
    saved = ('log_probs', 'targets', 'input_lengths', 'target_lengths', 'result')
    needs = (('log_probs', 'targets', 'input_lengths', 'target_lengths', 'result'), (), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_log_probs, self.s_targets, self.s_input_lengths, self.s_target_lengths, self.s_result, self.plan.attributes["blank"], self.plan.attributes["zero_infinity"]) if e[0] is not None else None, None, None, None)

    def free(self) -> None:
        del self.s_log_probs, self.s_targets, self.s_input_lengths, self.s_target_lengths, self.s_result


NODE_CLASSES["ctc_loss"] = CtcLossBackward0

def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0, zero_infinity: bool = False) -> Tensor:
    """-log of the probability of each target: log_probs (T, N, C), targets (N, S) or all in one row, lengths (N,); result (N,).

    The gradient takes for granted that `log_probs` came from log_softmax, as PyTorch's does. Infinite where no path fits.
    """
    if MODE.special or type(log_probs) is not Tensor or type(targets) is not Tensor or type(input_lengths) is not Tensor or type(target_lengths) is not Tensor:
        return dispatch(_ctc_loss, (log_probs, targets, input_lengths, target_lengths,), {"blank": blank, "zero_infinity": zero_infinity})
    t0 = log_probs._type
    a0 = log_probs._array
    e0 = log_probs._node
    t1 = targets._type
    a1 = targets._array
    e1 = targets._node
    t2 = input_lengths._type
    a2 = input_lengths._array
    e2 = input_lengths._node
    t3 = target_lengths._type
    a3 = target_lengths._array
    e3 = target_lengths._node
    k = (t0, t1, t2, t3, blank, zero_infinity)
    try:
        p = _ctc_loss_plans[k]
    except (KeyError, TypeError):
        p = _ctc_loss_plans.make(k, (t0, t1, t2, t3,), {"blank": blank, "zero_infinity": zero_infinity})
    y = p.kernel(a0, a1, a2, a3)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CtcLossBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2, e3)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_log_probs = a0 if e0 is not None else None
        n.s_targets = a1 if e0 is not None else None
        n.s_input_lengths = a2 if e0 is not None else None
        n.s_target_lengths = a3 if e0 is not None else None
        n.s_result = y if e0 is not None else None
    else:
        o._node = None
    return o


_ctc_loss_backward = get_op("ctc_loss_backward")
_ctc_loss_backward_plans = table(_ctc_loss_backward)


class CtcLossBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_log_probs", "s_targets", "s_input_lengths", "s_target_lengths", "s_losses")
    op = get_op("ctc_loss_backward")
    saved = ('grad', 'log_probs', 'targets', 'input_lengths', 'target_lengths', 'losses')
    needs = (('grad', 'log_probs', 'targets', 'input_lengths', 'target_lengths', 'losses'), (), (), (), (), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_grad, self.s_log_probs, self.s_targets, self.s_input_lengths, self.s_target_lengths, self.s_losses, self.plan.attributes["blank"], self.plan.attributes["zero_infinity"]) if e[0] is not None else None, rules[1](g) if e[1] is not None else None, None, None, None, None)

    def free(self) -> None:
        del self.s_grad, self.s_log_probs, self.s_targets, self.s_input_lengths, self.s_target_lengths, self.s_losses


NODE_CLASSES["ctc_loss_backward"] = CtcLossBackwardBackward0

def ctc_loss_backward(grad: Tensor, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, losses: Tensor, blank: int, zero_infinity: bool) -> Tensor:
    """The gradient of ctc_loss: exp(log_probs) minus the share of paths through each class, times `grad`."""
    if MODE.special or type(grad) is not Tensor or type(log_probs) is not Tensor or type(targets) is not Tensor or type(input_lengths) is not Tensor or type(target_lengths) is not Tensor or type(losses) is not Tensor:
        return dispatch(_ctc_loss_backward, (grad, log_probs, targets, input_lengths, target_lengths, losses,), {"blank": blank, "zero_infinity": zero_infinity})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = log_probs._type
    a1 = log_probs._array
    e1 = log_probs._node
    t2 = targets._type
    a2 = targets._array
    e2 = targets._node
    t3 = input_lengths._type
    a3 = input_lengths._array
    e3 = input_lengths._node
    t4 = target_lengths._type
    a4 = target_lengths._array
    e4 = target_lengths._node
    t5 = losses._type
    a5 = losses._array
    e5 = losses._node
    k = (t0, t1, t2, t3, t4, t5, blank, zero_infinity)
    try:
        p = _ctc_loss_backward_plans[k]
    except (KeyError, TypeError):
        p = _ctc_loss_backward_plans.make(k, (t0, t1, t2, t3, t4, t5,), {"blank": blank, "zero_infinity": zero_infinity})
    y = p.kernel(a0, a1, a2, a3, a4, a5)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = CtcLossBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2, e3, e4, e5)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_grad = a0 if e0 is not None else None
        n.s_log_probs = a1 if e0 is not None else None
        n.s_targets = a2 if e0 is not None else None
        n.s_input_lengths = a3 if e0 is not None else None
        n.s_target_lengths = a4 if e0 is not None else None
        n.s_losses = a5 if e0 is not None else None
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "ctc_loss": ctc_loss,
    "ctc_loss_backward": ctc_loss_backward,
}
INPLACE: dict[str, Any] = {
}
