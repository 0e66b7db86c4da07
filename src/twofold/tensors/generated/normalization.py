"""Functions and backward nodes of the family "normalization". Generated from the records by tools/generate.py: do not edit."""
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

_layer_norm = get_op("layer_norm")
_layer_norm_plans = table(_layer_norm)


class NativeLayerNormBackward0(OpNode):
    __slots__ = ("s_input", "s_weight")
    op = get_op("layer_norm")
    saved = ('input', 'weight')
    needs = (('input', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g, self.s_input, self.s_weight, self.plan.attributes["normalized_shape"], self.plan.attributes["eps"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_input, self.s_weight


NODE_CLASSES["layer_norm"] = NativeLayerNormBackward0

def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the last dimensions, which are `normalized_shape`, times `weight` plus `bias`.

    Backward computes mean and variance anew rather than keep them: two passes over the input in place of a second output.
    J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer Normalization" (2016).
    """
    if MODE.special or type(input) is not Tensor or (weight is not None and type(weight) is not Tensor) or (bias is not None and type(bias) is not Tensor):
        return dispatch(_layer_norm, (input, weight, bias,), {"normalized_shape": normalized_shape, "eps": eps})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if weight is None:
        t1 = a1 = e1 = None
    else:
        t1 = weight._type
        a1 = weight._array
        e1 = weight._node
    if bias is None:
        t2 = a2 = e2 = None
    else:
        t2 = bias._type
        a2 = bias._array
        e2 = bias._node
    k = (t0, t1, t2, normalized_shape, scalar_key(eps))
    try:
        p = _layer_norm_plans[k]
    except (KeyError, TypeError):
        p = _layer_norm_plans.make(k, (t0, t1, t2,), {"normalized_shape": normalized_shape, "eps": eps})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = NativeLayerNormBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_weight = a1
    else:
        o._node = None
    return o


_layer_norm_backward = get_op("layer_norm_backward")


class LayerNormBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_input", "s_weight")
    op = get_op("layer_norm_backward")
    saved = ('grad', 'input', 'weight')
    needs = (('grad', 'input', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], self.s_grad, self.s_input, self.s_weight, self.plan.attributes["normalized_shape"], self.plan.attributes["eps"], self.plan.attributes["wants_weight"], self.plan.attributes["wants_bias"])

    def free(self) -> None:
        del self.s_grad, self.s_input, self.s_weight


NODE_CLASSES["layer_norm_backward"] = LayerNormBackwardBackward0

def layer_norm_backward(grad: Tensor, input: Tensor, normalized_shape: Sequence[int], eps: float, wants_weight: bool, wants_bias: bool, weight: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of layer_norm; those of parameters that are not wanted have shape (0,)."""
    return dispatch(_layer_norm_backward, (grad, input, weight,), {"normalized_shape": normalized_shape, "eps": eps, "wants_weight": wants_weight, "wants_bias": wants_bias})


_rms_norm = get_op("rms_norm")
_rms_norm_plans = table(_rms_norm)


class FusedRmsNormBackward0(OpNode):
    __slots__ = ("s_input", "s_weight")
    op = get_op("rms_norm")
    saved = ('input', 'weight')
    needs = (('input', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g, self.s_input, self.s_weight, self.plan.ins[0].dtype, self.plan.attributes["normalized_shape"], self.plan.attributes["eps"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_input, self.s_weight


NODE_CLASSES["rms_norm"] = FusedRmsNormBackward0

def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """x / sqrt(mean(x²) + eps) over the last dimensions, which are `normalized_shape`, times `weight`.

    eps: by default the machine epsilon of the dtype computed in. B. Zhang, R. Sennrich, "Root Mean Square Layer Normalization" (2019).
    """
    if MODE.special or type(input) is not Tensor or (weight is not None and type(weight) is not Tensor):
        return dispatch(_rms_norm, (input, weight,), {"normalized_shape": normalized_shape, "eps": eps})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if weight is None:
        t1 = a1 = e1 = None
    else:
        t1 = weight._type
        a1 = weight._array
        e1 = weight._node
    k = (t0, t1, normalized_shape, scalar_key(eps))
    try:
        p = _rms_norm_plans[k]
    except (KeyError, TypeError):
        p = _rms_norm_plans.make(k, (t0, t1,), {"normalized_shape": normalized_shape, "eps": eps})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = FusedRmsNormBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_weight = a1
    else:
        o._node = None
    return o


_rms_norm_backward = get_op("rms_norm_backward")


class RmsNormBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_input", "s_weight")
    op = get_op("rms_norm_backward")
    saved = ('grad', 'input', 'weight')
    needs = (('grad', 'input', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], self.s_grad, self.s_input, self.s_weight, self.plan.attributes["normalized_shape"], self.plan.attributes["eps"], self.plan.attributes["wants_weight"])

    def free(self) -> None:
        del self.s_grad, self.s_input, self.s_weight


NODE_CLASSES["rms_norm_backward"] = RmsNormBackwardBackward0

def rms_norm_backward(grad: Tensor, input: Tensor, normalized_shape: Sequence[int], eps: float, wants_weight: bool, weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The gradients of rms_norm; that of a weight that is not wanted has shape (0,)."""
    return dispatch(_rms_norm_backward, (grad, input, weight,), {"normalized_shape": normalized_shape, "eps": eps, "wants_weight": wants_weight})


_group_norm = get_op("group_norm")
_group_norm_plans = table(_group_norm)


class NativeGroupNormBackward0(OpNode):
    __slots__ = ("s_input", "s_weight")
    op = get_op("group_norm")
    saved = ('input', 'weight')
    needs = (('input', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g, self.s_input, self.s_weight, self.plan.attributes["num_groups"], self.plan.attributes["eps"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_input, self.s_weight


NODE_CLASSES["group_norm"] = NativeGroupNormBackward0

def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """Normalises each of `num_groups` groups of channels (dimension 1) of each sample; `weight` and `bias` have one element a channel.

    Y. Wu, K. He, "Group Normalization" (2018).
    """
    if MODE.special or type(input) is not Tensor or (weight is not None and type(weight) is not Tensor) or (bias is not None and type(bias) is not Tensor):
        return dispatch(_group_norm, (input, weight, bias,), {"num_groups": num_groups, "eps": eps})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if weight is None:
        t1 = a1 = e1 = None
    else:
        t1 = weight._type
        a1 = weight._array
        e1 = weight._node
    if bias is None:
        t2 = a2 = e2 = None
    else:
        t2 = bias._type
        a2 = bias._array
        e2 = bias._node
    k = (t0, t1, t2, num_groups, scalar_key(eps))
    try:
        p = _group_norm_plans[k]
    except (KeyError, TypeError):
        p = _group_norm_plans.make(k, (t0, t1, t2,), {"num_groups": num_groups, "eps": eps})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = NativeGroupNormBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_weight = a1
    else:
        o._node = None
    return o


_group_norm_backward = get_op("group_norm_backward")


class GroupNormBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_input", "s_weight")
    op = get_op("group_norm_backward")
    saved = ('grad', 'input', 'weight')
    needs = (('grad', 'input', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], self.s_grad, self.s_input, self.s_weight, self.plan.attributes["num_groups"], self.plan.attributes["eps"], self.plan.attributes["wants_weight"], self.plan.attributes["wants_bias"])

    def free(self) -> None:
        del self.s_grad, self.s_input, self.s_weight


NODE_CLASSES["group_norm_backward"] = GroupNormBackwardBackward0

def group_norm_backward(grad: Tensor, input: Tensor, num_groups: int, eps: float, wants_weight: bool, wants_bias: bool, weight: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of group_norm; those of parameters that are not wanted have shape (0,)."""
    return dispatch(_group_norm_backward, (grad, input, weight,), {"num_groups": num_groups, "eps": eps, "wants_weight": wants_weight, "wants_bias": wants_bias})


_native_batch_norm = get_op("native_batch_norm")


class NativeBatchNormBackward0(OpNode):
    __slots__ = ("s_input", "s_weight", "s_mean", "s_var")
    op = get_op("native_batch_norm")
    saved = ('input', 'weight', 'mean', 'var')
    needs = (('input', 'mean', 'var', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], self.s_input, self.s_mean, self.s_var, self.s_weight, self.plan.attributes["training"], self.plan.attributes["eps"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_input, self.s_weight, self.s_mean, self.s_var


NODE_CLASSES["native_batch_norm"] = NativeBatchNormBackward0

def native_batch_norm(input: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, running_mean: Tensor | None = None, running_var: Tensor | None = None, training: bool = False, eps: float = 1e-05) -> tuple[Tensor, Tensor, Tensor]:
    """Normalises each channel (dimension 1) over the batch and all other dimensions; returns (output, mean, variance).

    training: mean and (biased) variance of this batch; otherwise `running_mean` and `running_var`, which carry no gradient. Nothing is
    written: `twofold.batch_norm` updates running statistics. S. Ioffe, C. Szegedy, "Batch Normalization" (2015).
    """
    return dispatch(_native_batch_norm, (input, weight, bias, running_mean, running_var,), {"training": training, "eps": eps})


_native_batch_norm_backward = get_op("native_batch_norm_backward")


class NativeBatchNormBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_grad_mean", "s_grad_var", "s_input", "s_mean", "s_var", "s_weight")
    op = get_op("native_batch_norm_backward")
    saved = ('grad', 'grad_mean', 'grad_var', 'input', 'mean', 'var', 'weight')
    needs = (('grad', 'grad_mean', 'grad_var', 'input', 'mean', 'var', 'weight'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], self.s_grad, self.s_grad_mean, self.s_grad_var, self.s_input, self.s_mean, self.s_var, self.s_weight, self.plan.attributes["training"], self.plan.attributes["eps"])

    def free(self) -> None:
        del self.s_grad, self.s_grad_mean, self.s_grad_var, self.s_input, self.s_mean, self.s_var, self.s_weight


NODE_CLASSES["native_batch_norm_backward"] = NativeBatchNormBackwardBackward0

def native_batch_norm_backward(grad: Tensor, grad_mean: Tensor, grad_var: Tensor, input: Tensor, mean: Tensor, var: Tensor, training: bool, eps: float, weight: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of native_batch_norm for those of its three outputs; in training mean and var are functions of the input."""
    return dispatch(_native_batch_norm_backward, (grad, grad_mean, grad_var, input, mean, var, weight,), {"training": training, "eps": eps})


FUNCTIONS: dict[str, Any] = {
    "layer_norm": layer_norm,
    "layer_norm_backward": layer_norm_backward,
    "rms_norm": rms_norm,
    "rms_norm_backward": rms_norm_backward,
    "group_norm": group_norm,
    "group_norm_backward": group_norm_backward,
    "native_batch_norm": native_batch_norm,
    "native_batch_norm_backward": native_batch_norm_backward,
}
INPLACE: dict[str, Any] = {
}
