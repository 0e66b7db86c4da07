"""Sorting and searching. All sorts are stable; NaN counts as greater than every number."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, tensor_type
from twofold.ops.record import define
from twofold.ops.reduction import pick, values_and_indices
from twofold.ops.typing import reduced_shape
from twofold.support.errors import DTypeError, IndexOutOfRange, ShapeError, ValueRangeError


def order(input: Any, dim: int, descending: bool) -> Any:
    """Indices that sort `input` (at least 1-d) along `dim`; equal elements keep their order."""
    if not descending:
        return np.argsort(input, axis=dim, kind="stable")
    backwards = np.flip(np.argsort(np.flip(input, dim), axis=dim, kind="stable"), dim)
    return input.shape[dim] - 1 - backwards


def _sort_type(input: TensorType, dim: int, descending: bool, stable: bool) -> tuple[TensorType, TensorType]:
    return input, tensor_type(dtypes.int64, input.shape, input.device)


def _sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    indices = order(input, dim, descending)
    return np.take_along_axis(input, indices, dim), indices


def _argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return np.int64(0) if input.ndim == 0 else order(input, dim, descending)


define(
    "sort(Tensor input, Dim dim=-1, bool descending=False, bool stable=False) -> (Tensor values, Tensor indices)",
    type_rule=_sort_type, reference=_sort, cost="sort",
    gradient=(lambda g_values, indices, input_shape, dim: value_selecting_reduction_backward(g_values, dim, indices, input_shape, True),),
    doc="The elements sorted along `dim`, and their former indices. Equal elements always keep their order; NaN comes after every number.",
)  # fmt: skip
define(
    "argsort(Tensor input, Dim dim=-1, bool descending=False, bool stable=False) -> Tensor",
    type_rule=lambda input, dim, descending, stable: tensor_type(dtypes.int64, input.shape, input.device),
    reference=_argsort, cost="sort", gradient=NOT_DIFFERENTIABLE,
    doc="The indices that sort the elements along `dim`, see `sort`.",
)  # fmt: skip


def _topk_type(input: TensorType, k: int, dim: int, largest: bool, sorted: bool) -> tuple[TensorType, TensorType]:
    n = input.shape[dim] if input.shape else 1
    if type(n) is int and not 0 <= k <= n:
        raise ValueRangeError(f"topk: k={k} is out of range for dimension {dim} of size {n} of the tensor of shape {input.shape}")
    shape = (*input.shape[:dim], k, *input.shape[dim + 1 :]) if input.shape else ()
    return input.with_shape(shape), tensor_type(dtypes.int64, shape, input.device)


def _topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    indices = order(input, dim, largest)[(slice(None),) * dim + (slice(k),)].copy()
    return np.take_along_axis(input, indices, dim), indices


define(
    "topk(Tensor input, int k, Dim dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    type_rule=_topk_type, reference=_topk, cost="sort", onnx="TopK@11",
    gradient=(lambda g_values, indices, input_shape, dim: value_selecting_reduction_backward(g_values, dim, indices, input_shape, True),),
    doc="The `k` greatest (or least) elements along `dim`, in order, and their indices. Of equal elements the first are taken.",
)  # fmt: skip


def _kthvalue_type(input: TensorType, k: int, dim: int, keepdim: bool) -> tuple[TensorType, TensorType]:
    n = input.shape[dim] if input.shape else 1
    if type(n) is int and not 1 <= k <= n:
        raise ValueRangeError(
            f"kthvalue: k={k} is out of range for dimension {dim} of size {n} of the tensor of shape {input.shape} (1 is the least)"
        )
    shape = reduced_shape(input.shape, (dim,), keepdim)
    return input.with_shape(shape), tensor_type(dtypes.int64, shape, input.device)


def _kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    return pick(input, np.take(order(input, dim, False), [k - 1], axis=dim), dim, keepdim)


define(
    "kthvalue(Tensor input, int k, Dim dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    type_rule=_kthvalue_type, reference=_kthvalue, cost="sort",
    gradient=(
        lambda g_values, indices, input_shape, dim, keepdim: value_selecting_reduction_backward(
            g_values, dim, indices, input_shape, keepdim
        ),
    ),
    doc="The `k`-th least element along `dim` (k counts from 1) and its index.",
)  # fmt: skip

# ---- medians --------------------------------------------------------------------------------------------------------------------------


def _median_index(input: Any, dim: int) -> Any:
    """Indices, `dim` kept, of the lower median, or of the first NaN."""
    order = np.argsort(input, axis=dim, kind="stable")
    index = np.take(order, [(input.shape[dim] - 1) // 2], axis=dim)
    if input.dtype.kind != "f":
        return index
    bad = np.isnan(input)
    return np.where(np.any(bad, dim, keepdims=True), np.argmax(bad, dim, keepdims=True), index)


def _median(input: Any) -> Any:
    flat = np.asarray(input).reshape(-1)
    if flat.size == 0:
        return flat.dtype.type(np.nan if flat.dtype.kind == "f" else np.iinfo(flat.dtype).min)
    return flat[_median_index(flat, 0)[0]]


def _median_dim(input: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    return pick(input, _median_index(input, dim), dim, keepdim)


def _median_type(input: TensorType) -> TensorType:
    if input.dtype is dtypes.bool_:
        raise DTypeError("median takes numbers, not bool")
    return input.with_shape(())


define(
    "median(Tensor input) -> Tensor",
    type_rule=_median_type, reference=_median, cost="sort",
    gradient=(lambda g, input, result, input_shape, input_dtype: split_ties(g, input, result, input_shape, input_dtype, None, False),),
    doc="""The median of all elements: of an even number the lower of the middle two; NaN if there is one, and NaN of no elements.

    The gradient is shared evenly by the elements equal to it. `twofold.median` also takes a dimension (`median_dim`).""",
)  # fmt: skip
define(
    "median_dim(Tensor input, Dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    type_rule=values_and_indices("median"), reference=_median_dim, cost="sort", node_name="MedianBackward1", method=False,
    gradient=(
        lambda g_values, indices, input_shape, dim, keepdim: value_selecting_reduction_backward(
            g_values, dim, indices, input_shape, keepdim
        ),
    ),
    doc="The medians along one dimension (the lower of two middle elements; NaN if there is one) and the index of each.",
)  # fmt: skip

# ---- searching --------------------------------------------------------------------------------------------------------------


def _searchsorted_type(
    sorted_sequence: TensorType, input: TensorType, sorter: TensorType | None, out_int32: bool, right: bool
) -> TensorType:
    if sorted_sequence.ndim == 0 or (sorted_sequence.ndim != 1 and sorted_sequence.shape[:-1] != input.shape[:-1]):
        raise ShapeError(
            f"searchsorted: sorted_sequence of shape {sorted_sequence.shape} must be 1-d, or agree with input of shape {input.shape} "
            "in all but the last dimension"
        )
    if sorter is not None and (sorter.shape != sorted_sequence.shape or sorter.dtype is not dtypes.int64):
        raise ShapeError(f"searchsorted: the sorter must be an int64 tensor of the sequence's shape {sorted_sequence.shape}, not {sorter}")
    return tensor_type(dtypes.int32 if out_int32 else dtypes.int64, input.shape, input.device)


def _searchsorted(sorted_sequence: Any, input: Any, sorter: Any = None, out_int32: bool = False, right: bool = False) -> Any:
    side: Any = "right" if right else "left"
    if sorter is not None:
        n = sorted_sequence.shape[-1]
        if sorter.size and (sorter.min() < 0 or sorter.max() >= n):
            raise IndexOutOfRange(f"searchsorted: the sorter has indices outside 0 to {n - 1}")
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    if sorted_sequence.ndim == 1:
        return np.searchsorted(sorted_sequence, input, side)
    rows = sorted_sequence.reshape(math.prod(sorted_sequence.shape[:-1]), sorted_sequence.shape[-1])
    wanted = input.reshape(len(rows), input.shape[-1])
    result = np.empty(wanted.shape, np.int64)
    for i in range(len(rows)):
        result[i] = np.searchsorted(rows[i], wanted[i], side)
    return result.reshape(input.shape)


define(
    "searchsorted(Tensor sorted_sequence, Tensor input, *, Tensor? sorter=None, bool out_int32=False, bool right=False) -> Tensor",
    type_rule=_searchsorted_type, reference=_searchsorted, cost="sort", gradient=NOT_DIFFERENTIABLE, method=False,
    doc="""Where each element of `input` would be put in to keep the last dimension of `sorted_sequence` sorted: left of equals, or right.
    `sorter`: the indices that sort the sequence, where it is not sorted.""",
)  # fmt: skip
