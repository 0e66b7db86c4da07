"""The affine map of a linear layer, as one operation.

A family of its own because two records share PyTorch's node name AddmmBackward0, and a generated module holds each class name once.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

from twofold.ir.types import TensorType
from twofold.ops.matrix import factors, product_flops
from twofold.ops.record import define, helper
from twofold.support.errors import ShapeError


def _linear_type(input: TensorType, weight: TensorType, bias: TensorType | None) -> TensorType:
    if bias is None:
        factors("linear", input=input, weight=weight)
    else:
        factors("linear", input=input, weight=weight, bias=bias)
    if weight.ndim != 2:
        raise ShapeError(f"linear: weight must have 2 dimensions (out_features, in_features), not shape {tuple(weight.shape)}")
    if input.ndim == 0 or input.shape[-1] != weight.shape[1]:
        raise ShapeError(
            f"linear: the last dimension of the input of shape {tuple(input.shape)} must be in_features = {weight.shape[1]} "
            f"(weight of shape {tuple(weight.shape)})"
        )
    if bias is not None and bias.shape != (weight.shape[0],):
        raise ShapeError(f"linear: bias must have shape ({weight.shape[0]},), not {tuple(bias.shape)}")
    return input.with_shape((*input.shape[:-1], weight.shape[0]))


def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    n = input.ndim
    if n <= 2 or not input.shape[-1]:
        y = input.dot(weight.T)
    else:
        y = input.reshape(-1, input.shape[-1]).dot(weight.T)
    if bias is not None:
        y += bias
    return y if n <= 2 else y.reshape((*input.shape[:-1], weight.shape[0]))


@helper
def linear_backward_weight(g: Any, input: Any) -> Any:
    """The sum over all rows of (gradient of the output) x (input)."""
    if len(g.shape) == 1:
        return unsqueeze(g, 1) * input
    return mm(t(flat_rows(g)), flat_rows(input))


@helper
def linear_backward_bias(g: Any) -> Any:
    """The sum over all rows."""
    return g if len(g.shape) == 1 else sum(flat_rows(g), (0,))


define(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    type_rule=_linear_type, reference=_linear, cost="matmul", node_name="AddmmBackward0", method=False, onnx="Gemm@13",
    flops=lambda ins, outs, attributes: product_flops(ins[1].shape[1], outs[0]),
    gradient=(
        lambda g, weight: matmul(g, weight),
        lambda g, input: linear_backward_weight(g, input),
        lambda g: linear_backward_bias(g),
    ),
    doc="""input @ weight.T + bias: input (*, in_features), weight (out_features, in_features), bias (out_features,) or None.

One node, which carries the name PyTorch shows for a batch of rows with a bias.""",
)  # fmt: skip
