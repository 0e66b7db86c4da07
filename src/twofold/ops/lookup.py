"""Embeddings, one-hot vectors, and what masks select: sizes that depend on values are symbols of their own in a static graph."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dims, dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, common_device, tensor_type
from twofold.ops.indexing import (
    add_rows,
    check_index_dtype,
    check_indices,
    check_positive,
    check_ranks,
    flat_positions,
    refuse,
    same_except,
)
from twofold.ops.record import define, helper
from twofold.ops.typing import broadcast_shapes
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

# ---- embedding -----------------------------------------------------------------------------------------------------------------


def _embedding_type(weight: TensorType, indices: TensorType, padding_idx: int, scale_grad_by_freq: bool) -> TensorType:
    check_index_dtype("embedding", indices.dtype)
    common_device((weight, indices), "embedding")
    if weight.ndim != 2:
        raise ShapeError(f"embedding: the weight must have 2 dimensions (one row for each index), not shape {weight.shape}")
    return weight.with_shape((*indices.shape, weight.shape[1]))


def _embedding(weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Any:
    if indices.size and indices.min() < 0:
        refuse("embedding", indices, 0, weight.shape[0], False)
    try:
        return weight.take(indices, 0)
    except IndexError:
        refuse("embedding", indices, 0, weight.shape[0], False)


define(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False) -> Tensor",
    type_rule=_embedding_type, reference=_embedding, any_dtype=True, cost="gather", method=False, onnx="Gather@13",
    gradient=(
        lambda g, indices, weight_shape, padding_idx, scale_grad_by_freq: embedding_dense_backward(
            g, indices, weight_shape[0], padding_idx, scale_grad_by_freq
        ),
        NOT_DIFFERENTIABLE,
    ),
    doc="""Rows of `weight` at the positions of an integer tensor of any shape; result shape (*indices.shape, columns).
    The row `padding_idx` (if not negative) gets no gradient; `scale_grad_by_freq` divides gradients by how often an index occurs.""",
)  # fmt: skip


def _embedding_backward(grad_output: Any, indices: Any, num_weights: int, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Any:
    rows = np.reshape(indices, -1)
    values = grad_output.reshape(rows.size, grad_output.shape[-1])
    if padding_idx >= 0:
        kept = rows != padding_idx
        rows, values = rows[kept], values[kept]
    result = np.zeros((num_weights, grad_output.shape[-1]), grad_output.dtype)
    if scale_grad_by_freq:
        values = values / np.bincount(rows, minlength=num_weights)[rows, None].astype(values.dtype)
    add_rows(result, rows, values)
    return result


@helper
def embedding_twice(g: Any, indices: Any, padding_idx: Any, scale_grad_by_freq: Any) -> Any:
    """The derivative of an embedding's gradient with respect to what came in."""
    r = embedding(g, indices, padding_idx, False)
    if padding_idx >= 0:
        r = r * unsqueeze(ne(indices, padding_idx), -1)
    if scale_grad_by_freq:
        r = r / unsqueeze(take(bincount_of(indices, g.shape[0]), indices), -1)
    return r


define(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx=-1, bool "
    "scale_grad_by_freq=False) -> Tensor",
    type_rule=lambda grad_output, indices, num_weights, padding_idx, scale_grad_by_freq: grad_output.with_shape(
        (num_weights, grad_output.shape[-1])
    ),
    reference=_embedding_backward, cost="scatter", method=False, function=False,
    gradient=(
        lambda g, indices, padding_idx, scale_grad_by_freq: embedding_twice(g, indices, padding_idx, scale_grad_by_freq),
        NOT_DIFFERENTIABLE,
    ),
    doc="The gradient of an embedding's weight, dense: gradients of repeated indices add up.",
)  # fmt: skip
define(
    "bincount_of(Tensor input, int minlength) -> Tensor",
    type_rule=lambda input, minlength: tensor_type(dtypes.int64, (minlength,), input.device),
    reference=lambda input, minlength: np.bincount(np.reshape(input, -1), minlength=minlength)[:minlength],
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="scatter", method=False, function=False,
    doc="How often each of the numbers 0 … minlength-1 occurs.",
)  # fmt: skip


def _one_hot_type(input: TensorType, num_classes: int) -> TensorType:
    check_index_dtype("one_hot", input.dtype)
    if type(num_classes) is int and num_classes < 1:
        raise ValueRangeError(f"one_hot: the number of classes must be positive, not {num_classes}")
    return tensor_type(dtypes.int64, (*input.shape, num_classes), input.device)


def _one_hot(input: Any, num_classes: int) -> Any:
    i = np.asarray(input)
    check_positive("one_hot", i, 0, num_classes)
    return (i[..., None] == np.arange(num_classes)).astype(np.int64)


define(
    "one_hot(Tensor input, int num_classes) -> Tensor",
    type_rule=_one_hot_type, reference=_one_hot, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="scatter", method=False,
    onnx="OneHot@11",
    doc="For each index a vector of `num_classes` zeros (int64) with a 1 at the index, as a new last dimension.",
)  # fmt: skip

# ---- masks -----------------------------------------------------------------------------------------------------------------------


def _check_mask(name: str, mask: TensorType) -> None:
    if mask.dtype is not dtypes.bool_:
        raise DTypeError(f"{name}: the mask must be a bool tensor, not {mask.dtype.name}; convert with .bool()")


def _masked_select_type(input: TensorType, mask: TensorType) -> TensorType:
    _check_mask("masked_select", mask)
    common_device((input, mask), "masked_select")
    shape = broadcast_shapes("masked_select", input.shape, mask.shape)
    return input.with_shape((dims.fresh(0, _known_count(shape)),))


def _known_count(shape: tuple[Any, ...]) -> int | None:
    count: Any = 1
    for n in shape:
        count = count * n
    return count if type(count) is int else None


def _masked_select(input: Any, mask: Any) -> Any:
    a, m = np.broadcast_arrays(input, mask)
    return a[m]


define(
    "masked_select(Tensor input, Tensor mask) -> Tensor",
    type_rule=_masked_select_type, reference=_masked_select, any_dtype=True, cost="gather",
    gradient=(
        lambda g, input_shape, mask: sum_to_size(masked_spread(g, mask, input_shape), input_shape),
        NOT_DIFFERENTIABLE,
    ),
    doc="The elements where a bool mask (broadcast) is True, 1-d. The size depends on values: a symbol of its own in a static graph.",
)  # fmt: skip


def _masked_spread(values: Any, mask: Any, size: tuple[int, ...]) -> Any:
    shape = np.broadcast_shapes(np.shape(mask), size)
    result = np.zeros(shape, values.dtype)
    result[np.broadcast_to(mask, shape)] = values
    return result


define(
    "masked_spread(Tensor values, Tensor mask, Shape size) -> Tensor",
    type_rule=lambda values, mask, size: values.with_shape(broadcast_shapes("masked_spread", mask.shape, size)),
    reference=_masked_spread, any_dtype=True, cost="scatter", method=False, function=False,
    gradient=(lambda g, mask: masked_select(g, mask), NOT_DIFFERENTIABLE),
    doc="The adjoint of `masked_select`: the values where the mask (broadcast with `size`) is True, zeros elsewhere.",
)  # fmt: skip


def _masked_scatter_type(input: TensorType, mask: TensorType, source: TensorType) -> TensorType:
    _check_mask("masked_scatter", mask)
    common_device((input, mask, source), "masked_scatter")
    if source.dtype is not input.dtype:
        raise DTypeError(f"masked_scatter: a source of {source.dtype.name} for a tensor of {input.dtype.name}; convert it with .to(dtype)")
    return input.with_shape(broadcast_shapes("masked_scatter", input.shape, mask.shape))


def _masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    a, m = np.broadcast_arrays(input, mask)
    result = np.array(a, order="C")
    count = int(np.count_nonzero(m))
    if count > np.size(source):
        raise ShapeError(
            f"masked_scatter: the mask selects {count} elements, the source of shape {np.shape(source)} has only {np.size(source)}"
        )
    result[m] = np.reshape(source, -1)[:count]
    return result


define(
    "masked_scatter(Tensor input, Tensor mask, Tensor source) -> Tensor",
    type_rule=_masked_scatter_type, reference=_masked_scatter, any_dtype=True, cost="scatter", inplace=True,
    gradient=(
        lambda g, mask, input_shape: sum_to_size(g * logical_not(mask), input_shape),
        NOT_DIFFERENTIABLE,
        lambda g, mask, source_shape: masked_scatter_backward(g, mask, source_shape),
    ),
    doc="A copy in which the elements where a bool mask is True are those of `source`, taken in order.",
)  # fmt: skip


def _masked_scatter_backward(grad_output: Any, mask: Any, sizes: tuple[int, ...]) -> Any:
    result = np.zeros(int(np.prod(sizes, dtype=np.int64)), grad_output.dtype)
    taken = _masked_select(grad_output, mask)
    result[: taken.size] = taken
    return result.reshape(sizes)


define(
    "masked_scatter_backward(Tensor grad_output, Tensor mask, Shape sizes) -> Tensor",
    type_rule=lambda grad_output, mask, sizes: grad_output.with_shape(sizes),
    reference=_masked_scatter_backward, any_dtype=True, cost="gather", method=False, function=False,
    gradient=(lambda g, mask, grad_output_shape: masked_scatter(new_zeros(g, grad_output_shape), mask, g), NOT_DIFFERENTIABLE),
    doc="The gradient of `masked_scatter`'s source: the selected elements in order, then zeros.",
)  # fmt: skip
define(
    "nonzero(Tensor input) -> Tensor",
    type_rule=lambda input: tensor_type(dtypes.int64, (dims.fresh(0, _known_count(input.shape)), input.ndim), input.device),
    reference=lambda input: np.argwhere(input), gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="gather", onnx="NonZero@13",
    doc=(
        "The positions of the elements that are not zero, one a row (int64). The count depends on values: a symbol of its own in a "
        "static graph."
    ),
)  # fmt: skip

# ---- scatter_reduce ----------------------------------------------------------------------------------------------------------------

REDUCTIONS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _scatter_reduce_type(input: TensorType, index: TensorType, src: TensorType, dim: int, reduce: str, include_self: bool) -> TensorType:
    check_indices("scatter_reduce", index)
    common_device((input, index, src), "scatter_reduce")
    if reduce not in REDUCTIONS:
        raise ValueRangeError(f"scatter_reduce: reduce must be one of {', '.join(REDUCTIONS)}, not {reduce!r}")
    if index.shape != src.shape:
        raise ShapeError(f"scatter_reduce: index and source must have one shape, not {index.shape} and {src.shape}")
    check_ranks("scatter_reduce", input, index)
    same_except("scatter_reduce", "a tensor", index.shape or (1,), input.shape or (1,), dim)
    if src.dtype is not input.dtype:
        raise DTypeError(f"scatter_reduce: a source of {src.dtype.name} for a tensor of {input.dtype.name}; convert it with .to(dtype)")
    return input


def _scatter_reduce(input: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool = True) -> Any:
    result = np.array(input, order="C")
    i = np.asarray(index)
    check_positive("scatter_reduce", i, dim, input.shape[dim] if input.ndim else 1)
    if not i.size:
        return result
    flat, where = result.reshape(-1), flat_positions(np.atleast_1d(i), dim, result.shape or (1,)).reshape(-1)
    if not include_self:
        flat[where] = _start(reduce, flat.dtype)
    REDUCTIONS[reduce].at(flat, where, np.reshape(src, -1))
    if reduce == "mean":
        count = np.bincount(where, minlength=flat.size) + (1 if include_self else 0)
        np.maximum(count, 1, out=count)
        flat[...] = flat / count if flat.dtype.kind == "f" else flat // count
    return result


def _start(reduce: str, dtype: np.dtype) -> Any:
    """The value that a reduction begins with."""
    if reduce in ("sum", "mean", "prod"):
        return 1 if reduce == "prod" else 0
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


@helper
def reduce_counts(like: Any, dim: Any, index: Any, hits: Any, own: Any) -> Any:
    """For each element how many of the values reduced into it count (its own, and those with `hits` 1), at least 1."""
    counts = scatter_add(own, dim, index, new_zeros(like, index.shape) + hits)
    return counts + eq(counts, 0)


@helper
def reduced_self(g: Any, input: Any, dim: Any, index: Any, src: Any, result: Any, reduce: Any, include_self: Any) -> Any:
    """The gradient of `scatter_reduce` for the tensor reduced into."""
    if not include_self:
        return scatter_value(g, dim, index, 0)
    if reduce == "sum":
        return g
    if reduce == "prod":
        return g * scatter_reduce(ones_like(g), dim, index, src, reduce, include_self=True)
    if reduce == "mean":
        return g / reduce_counts(g, dim, index, 1.0, ones_like(g))
    own = zeros_like(g) + eq(input, result)
    return g * own / reduce_counts(g, dim, index, eq(src, gather(result, dim, index)), own)


@helper
def product_source(g: Any, input: Any, dim: Any, index: Any, src: Any, include_self: Any) -> Any:
    """The gradient of a product for the source: for each value the product of the others of its group, of which one may be 0.

    Zeros are left out of the products and counted: the others' product is 0 if one of them is 0, else the product of all values of the
    group that are not 0, divided by the own value if that is not 0.
    """
    none = eq(src, 0.0)
    plain = where(none, 1.0, src)
    start = where(eq(input, 0.0), 1.0, input) if include_self else ones_like(g)
    zeros_in = zeros_like(g) + eq(input, 0.0) if include_self else zeros_like(g)
    count = scatter_add(zeros_in, dim, index, new_zeros(g, index.shape) + none)
    product = scatter_reduce(start, dim, index, plain, "prod", include_self=True)
    others = gather(count, dim, index)
    others = where(none, others - 1.0, others)
    return where(eq(others, 0.0), gather(g * product, dim, index) / plain, 0.0)


@helper
def reduced_source(g: Any, input: Any, dim: Any, index: Any, src: Any, result: Any, reduce: Any, include_self: Any) -> Any:
    """The gradient of `scatter_reduce` for the source; equal extremes share it."""
    if reduce == "sum":
        return gather(g, dim, index)
    if reduce == "prod":
        return product_source(g, input, dim, index, src, include_self)
    own = zeros_like(g)
    if reduce == "mean":
        return gather(g / reduce_counts(g, dim, index, 1.0, own + 1.0 if include_self else own), dim, index)
    if include_self:
        own = own + eq(input, result)
    hits = eq(src, gather(result, dim, index))
    return gather(g / reduce_counts(g, dim, index, hits, own), dim, index) * hits


define(
    "scatter_reduce(Tensor input, Dim dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    type_rule=_scatter_reduce_type, reference=_scatter_reduce, cost="scatter", inplace=True, onnx="ScatterElements@18",
    gradient=(
        lambda g, input, dim, index, src, result, reduce, include_self:
            reduced_self(g, input, dim, index, src, result, reduce, include_self),
        NOT_DIFFERENTIABLE,
        lambda g, input, dim, index, src, result, reduce, include_self:
            reduced_source(g, input, dim, index, src, result, reduce, include_self),
    ),
    doc="""A copy with src[i, j, …] reduced ("sum", "mean", "prod", "amax" or "amin") into index[i, j, …] of dimension `dim`.
    `include_self`: together with what was there, or without it. Equal extremes share the gradient.""",
)  # fmt: skip
