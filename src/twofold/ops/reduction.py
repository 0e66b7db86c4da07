"""Reductions."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT, DType
from twofold.ir.types import TensorType, tensor_type
from twofold.ops.record import define, helper
from twofold.ops.typing import reduced_shape
from twofold.support.errors import ShapeError


def _sum_type(input: TensorType, dim: Any, keepdim: bool, dtype: DType | None) -> TensorType:
    out = dtype or (input.dtype if input.dtype.category == FLOAT else dtypes.int64)
    return tensor_type(out, reduced_shape(input.shape, dim, keepdim), input.device)


def _sum(input: Any, dim: Any = None, keepdim: bool = False, dtype: DType | None = None) -> Any:
    axis = None if dim is None or dim == () else dim
    return np.add.reduce(input, axis=axis, keepdims=keepdim, dtype=None if dtype is None else dtype.numpy)


@helper
def unreduce(g: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduction, broadcast back to the input's shape."""
    if dim is not None and not keepdim:
        for d in sorted(dim):
            g = unsqueeze(g, d)
    return expand(g, shape)


define(
    "sum(Tensor input, Dim[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    type_rule=_sum_type, reference=_sum, cost="reduction", onnx="ReduceSum@13",
    gradient=(lambda g, input_shape, dim, keepdim: unreduce(g, input_shape, dim, keepdim),),
    doc="""The sum over `dim` (all dimensions by default). Integers and bools are summed in int64.""",
)  # fmt: skip


def _sum_to_size_type(input: TensorType, size: tuple[Any, ...]) -> TensorType:
    lead = input.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, input.shape[lead:], strict=True)):
        raise ShapeError(f"sum_to_size: a tensor of shape {input.shape} cannot be summed to {size}")
    return input.with_shape(tuple(size))


def _sum_to_size(input: Any, size: tuple[int, ...]) -> Any:
    if input.shape == size:
        return input
    lead = input.ndim - len(size)
    axes = (*range(lead), *(i + lead for i, n in enumerate(size) if n == 1 and input.shape[i + lead] != 1))
    return np.add.reduce(input, axis=axes, keepdims=True).reshape(size) if axes else input.reshape(size)


define(
    "sum_to_size(Tensor input, Shape size) -> Tensor",
    type_rule=_sum_to_size_type, reference=_sum_to_size, cost="reduction",
    gradient=(lambda g, input_shape: expand(g, input_shape),),
    doc="The sum that undoes broadcasting: `size` must broadcast to the input's shape.",
)  # fmt: skip
