"""Batch normalisation in evaluation mode folded into the layer before it; modules made without drawing their parameters."""

from __future__ import annotations

import copy
from typing import Any

from twofold.nn.module import Module
from twofold.nn.parameter import Parameter
from twofold.support.errors import ArgumentError, ModuleError, ShapeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS


def _scale(var: Any, eps: float, weight: Any, bias: Any) -> tuple[Any, Any]:
    """(factor of each channel, the norm's bias)."""
    factor = FUNCTIONS["rsqrt"](var.detach() + eps)
    if weight is not None:
        factor = weight.detach() * factor
    return factor, FUNCTIONS["zeros_like"](factor) if bias is None else bias.detach()


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Tensor | None,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Any, Any]:
    """Weight and bias (parameters) of the convolution that does what convolution and batch norm do in evaluation mode."""
    factor, shift = _scale(bn_rv, bn_eps, bn_w, bn_b)
    rank = conv_w._type.ndim
    shape = (1, -1) + (1,) * (rank - 2) if transpose else (-1,) + (1,) * (rank - 1)
    before: Any = 0.0 if conv_b is None else conv_b.detach()
    weight = (conv_w.detach() * factor.reshape(shape)).to(dtype=conv_w._type.dtype)
    bias = ((before - bn_rm.detach()) * factor + shift).to(dtype=conv_w._type.dtype if conv_b is None else conv_b._type.dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_w.requires_grad if conv_b is None else conv_b.requires_grad)


def _check(first: Any, bn: Any, what: str) -> None:
    if first.training or bn.training:
        raise ModuleError(f"{what}: both modules must be in evaluation mode; call .eval()")
    if bn.running_mean is None or bn.running_var is None:
        raise ModuleError(f"{what}: the batch norm keeps no running statistics")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of the convolution with the batch norm that follows it folded in; both must be in evaluation mode (ModuleError)."""
    _check(conv, bn, "fuse_conv_bn_eval")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Tensor | None, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Tensor | None, bn_b: Tensor | None
) -> tuple[Any, Any]:
    """Weight and bias (parameters) of the linear layer that does what it and a batch norm do in evaluation mode."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of the linear layer with the batch norm that follows it folded in; both must be in evaluation mode (ModuleError)."""
    _check(linear, bn, "fuse_linear_bn_eval")
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise ShapeError(f"fuse_linear_bn_eval: a norm of {bn.num_features} features after a layer of {linear.out_features}")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """A module whose parameters have memory but no values: made on the meta device, then given memory on `device` (by default the CPU).

    The class must take an argument `device`, as the layers of `nn` do.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise ArgumentError(f"skip_init: expects a subclass of Module, not {module_cls!r}")
    device = kwargs.pop("device", "cpu")
    make: Any = module_cls
    made: Module = make(*args, device="meta", **kwargs).to_empty(device=device)
    return made
