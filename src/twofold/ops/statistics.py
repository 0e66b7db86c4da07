"""Statistics by order: medians that pass NaN over, and modes."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.types import TensorType
from twofold.ops.record import define
from twofold.ops.reduction import pick, values_and_indices
from twofold.support.errors import DTypeError


def _nanmedian_index(input: Any, dim: int) -> Any:
    """Indices, `dim` kept, of the lower median of what is not NaN (NaN is sorted to the end)."""
    order = np.argsort(input, axis=dim, kind="stable")
    there = input.shape[dim] - (np.isnan(input).sum(dim, keepdims=True) if input.dtype.kind == "f" else 0)
    middle = np.broadcast_to(np.maximum(there - 1, 0) // 2, (*input.shape[:dim], 1, *input.shape[dim + 1 :]))
    return np.take_along_axis(order, middle, dim)


def _nanmedian(input: Any) -> Any:
    flat = np.asarray(input).reshape(-1)
    if flat.size == 0:
        return flat.dtype.type(np.nan if flat.dtype.kind == "f" else np.iinfo(flat.dtype).min)
    return flat[_nanmedian_index(flat, 0)[0]]


def _nanmedian_dim(input: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    return pick(input, _nanmedian_index(input, dim), dim, keepdim)


def _nanmedian_type(input: TensorType) -> TensorType:
    if input.dtype is dtypes.bool_:
        raise DTypeError("nanmedian takes numbers, not bool")
    return input.with_shape(())


define(
    "nanmedian(Tensor input) -> Tensor",
    type_rule=_nanmedian_type, reference=_nanmedian, cost="sort",
    gradient=(lambda g, input, result, input_shape, input_dtype: split_ties(g, input, result, input_shape, input_dtype, None, False),),
    doc="""The lower median of the elements that are not NaN; NaN if there are none.

    The gradient is shared evenly by the elements equal to it. `twofold.nanmedian` also takes a dimension (`nanmedian_dim`).""",
)  # fmt: skip
define(
    "nanmedian_dim(Tensor input, Dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    type_rule=values_and_indices("nanmedian"), reference=_nanmedian_dim, cost="sort", node_name="NanmedianBackward1", method=False,
    gradient=(
        lambda g_values, indices, input_shape, dim, keepdim: value_selecting_reduction_backward(
            g_values, dim, indices, input_shape, keepdim
        ),
    ),
    doc="The lower medians along one dimension of the elements that are not NaN (NaN if there are none), and the index of each.",
)  # fmt: skip


def _mode(input: Any, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    order = np.argsort(input, axis=dim, kind="stable")
    rows = np.moveaxis(np.take_along_axis(input, order, dim), dim, -1)
    place = np.broadcast_to(np.arange(rows.shape[-1]), rows.shape)
    begins = np.zeros(rows.shape, np.int64)
    begins[..., 1:] = np.where(rows[..., 1:] != rows[..., :-1], place[..., 1:], 0)
    length = place - np.maximum.accumulate(begins, axis=-1)  # of the run so far, less 1
    last = np.moveaxis(np.argmax(length, -1, keepdims=True), -1, dim)
    return pick(input, np.take_along_axis(order, last, dim), dim, keepdim)


define(
    "mode(Tensor input, Dim dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    type_rule=values_and_indices("mode"), reference=_mode, cost="sort",
    gradient=(
        lambda g_values, indices, input_shape, dim, keepdim: value_selecting_reduction_backward(
            g_values, dim, indices, input_shape, keepdim
        ),
    ),
    doc="The element that occurs most often along `dim` (of several the least), and the index of its last occurrence.",
)  # fmt: skip
