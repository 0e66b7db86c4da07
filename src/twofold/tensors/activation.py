"""Activation functions written with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.support.errors import ShapeError
from twofold.tensors.arithmetic import placed
from twofold.tensors.core import Tensor
from twofold.tensors.generated import activation as _activation
from twofold.tensors.generated import elementwise as _elementwise
from twofold.tensors.generated import unary as _unary
from twofold.tensors.inplace import inplace
from twofold.tensors.shapes import reshape

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def relu6(input: Tensor) -> Tensor:
    """x limited to [0, 6]."""
    return placed(_activation.hardtanh(input, 0.0, 6.0))


def selu(input: Tensor) -> Tensor:
    """scale * (max(0, x) + min(0, alpha * (exp(x) - 1))) with the constants of Klambauer et al., arXiv:1706.02515."""
    return placed(_activation.elu(input, SELU_ALPHA, SELU_SCALE))


def selu_(input: Tensor) -> Tensor:
    """`selu` written into the operand, which is returned."""
    return inplace("elu", input, alpha=SELU_ALPHA, scale=SELU_SCALE)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return placed(_elementwise.div(input, placed(_elementwise.add(placed(_unary.abs(input)), 1))))


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return placed(_elementwise.sub(input, placed(_unary.tanh(input))))


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where it is positive, weight * x elsewhere; `weight` has one element, or one for each channel (dimension 1 of the input).

    Raises ShapeError for other sizes.
    """
    shape, size = input._type.shape, weight._type.shape
    if len(size) > 1:
        raise ShapeError(f"prelu: the weight must have at most one dimension, not the shape {tuple(size)}")
    count = size[0] if size else 1
    if count != 1:
        channels = shape[1] if len(shape) > 1 else 1
        if channels != count:
            raise ShapeError(
                f"prelu: the weight has {count} elements, the input of shape {tuple(shape)} has {channels} channels (dimension 1)"
            )
        if len(shape) > 2:
            weight = reshape(weight, (count, *(1,) * (len(shape) - 2)))
    elif len(size) == 1 and not shape:
        weight = reshape(weight, ())
    return placed(_activation.prelu_kernel(input, weight))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "relu6": relu6, "selu": selu, "softsign": softsign, "tanhshrink": tanhshrink, "prelu": prelu,
}  # fmt: skip
INPLACE: dict[str, Callable[..., Any]] = {"selu_": selu_}
