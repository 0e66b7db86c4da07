"""Functions of PyTorch's operator set (ATen) that are public there under these names, over records of other signatures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from twofold.ir.mode import grad_mode
from twofold.support.errors import ShapeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.reductions import batch_norm
from twofold.tensors.shapes import reshape


def _statistics(x: Any, dim: tuple[int, ...], eps: float, keepdim: bool) -> tuple[Tensor, Tensor]:
    """Mean and 1 / sqrt(biased variance + eps) over dimensions, without gradient."""
    with grad_mode(False):
        mean = call("mean", x.detach(), dim=dim, keepdim=True)
        far = x.detach() - mean
        rstd = call("rsqrt", call("mean", far * far, dim=dim, keepdim=True) + eps)
        if keepdim:
            return mean, rstd
        return call("squeeze", mean, dim=dim), call("squeeze", rstd, dim=dim)


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(layer_norm, mean, 1 / sqrt(variance + eps)); gradients flow through the first only. Raises ShapeError."""
    size = tuple(normalized_shape)
    if not size:
        raise ShapeError("native_layer_norm: normalized_shape must have at least one dimension")
    for what, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t._type.shape) != size:
            raise ShapeError(f"native_layer_norm: the {what} has shape {tuple(t._type.shape)}, normalized_shape is {size}; they must agree")
    output = call("layer_norm", input, weight, bias, normalized_shape=size, eps=eps)
    n = input._type.ndim
    return (output, *_statistics(input, tuple(range(n - len(size), n)), eps, True))


def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(group_norm, means (N, group), 1 / sqrt(variances + eps) (N, group))."""
    shape = tuple(input._type.shape)
    if len(shape) < 2 or shape[:2] != (N, C) or math.prod(shape[2:]) != HxW:
        raise ShapeError(f"native_group_norm: N={N}, C={C}, HxW={HxW} do not describe an input of shape {shape}")
    output = call("group_norm", input, weight, bias, num_groups=group, eps=eps)
    x: Any = reshape(input, (N, group, C // group * HxW))
    mean = call("mean", x, dim=(2,), keepdim=True)
    far = x - mean
    rstd = call("rsqrt", call("mean", far * far, dim=(2,)) + eps)
    return output, call("squeeze", mean, dim=(2,)), rstd


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """(batch_norm, means, 1 / sqrt(variances + eps)) of each channel; without `training` the last two are empty, as in PyTorch.

    Running statistics are updated in training; gradients flow through the first output only.
    """
    shape = tuple(input._type.shape)
    if len(shape) < 2:
        raise ShapeError(f"native_batch_norm: the input must have at least 2 dimensions, not the shape {shape}")
    if not training:
        output = batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
        empty = (call("zeros", size=(0,), dtype=input._type.dtype, device=input._type.device) for _ in range(2))
        return (output, *empty)
    dim = (0, *range(2, len(shape)))
    statistics = _statistics(input, dim, eps, False)
    return (batch_norm(input, running_mean, running_var, weight, bias, True, momentum, eps), *statistics)


def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None, *settings: Any) -> tuple[Tensor, Tensor, Tensor]:
    """`native_batch_norm`; running_mean and running_var may also be left out: (…, training, momentum, eps)."""
    running = settings[:-3] if len(settings) > 3 else (None, None)
    return native_batch_norm(input, weight, bias, *running, *settings[-3:])


def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """(grad_output - sum(grad_output * output, dim)) * output: the gradient of a softmax whose result is `output`."""
    g: Any = grad_output
    y: Any = output
    result = (g - call("sum", g * y, dim=(dim,), keepdim=True)) * y
    return result if result._type.dtype is input_dtype else call("to", result, dtype=input_dtype)


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """grad_output * mask * scale."""
    return call("native_dropout_backward", grad_output, mask, scale=scale)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "native_layer_norm": native_layer_norm, "native_group_norm": native_group_norm, "native_batch_norm": native_batch_norm,
    "_native_batch_norm_legit": _native_batch_norm_legit, "_softmax_backward_data": _softmax_backward_data,
}  # fmt: skip
