"""Bags of embeddings, and the renormalisation of looked-up rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Symbol, Tensor, memory
from twofold.tensors.inplace import inplace
from twofold.tensors.shapes import reshape

MODES = ("sum", "mean", "max")


def embedding_renorm_(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale the rows of `weight` (N, D) that `indices` name to a norm of at most `max_norm`, in place and without gradient; returns it."""
    with grad_mode(False):
        used = call("gt", call("bincount_of", indices, minlength=weight._type.shape[0]), 0)
        norms = call("linalg_vector_norm", weight.detach(), ord=float(norm_type), dim=(1,), keepdim=False)
        large = call("logical_and", used, call("gt", norms, float(max_norm)))
        factor = call("where", large, float(max_norm) / (norms + 1e-7), 1.0)
        return inplace("mul", weight, reshape(factor, (weight._type.shape[0], 1)))


def padding_row(name: str, weight: Any, padding_idx: int | None) -> int:
    """The row that does not count, from 0; -1 for none."""
    if padding_idx is None:
        return -1
    rows = weight._type.shape[0]
    if not -rows <= padding_idx < rows:
        raise ValueRangeError(f"{name}: padding_idx ({padding_idx}) must be within the {rows} rows of the weight")
    return padding_idx + rows if padding_idx < 0 else padding_idx


def _bags(input: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, Any]:
    """(the bag of each index, the number of bags) for indices in one row."""
    if not isinstance(offsets, Tensor) or offsets._type.ndim != 1:
        raise ValueRangeError("embedding_bag: an input of one dimension needs offsets, a tensor of one dimension")
    if offsets._type.dtype not in (dtypes.int32, dtypes.int64):
        raise DTypeError(f"embedding_bag: offsets must be int32 or int64, not {offsets._type.dtype.name}")
    count, length = offsets._type.shape[0], input._type.shape[0]
    if include_last_offset:
        if count == 0:
            raise ShapeError("embedding_bag: include_last_offset needs at least one offset")
        count = count - 1
    if not isinstance(offsets, Symbol) and offsets._array is not None:
        values = np.asarray(memory(offsets))
        if values.size and (values[0] != 0 or values.max() > length or (np.diff(values) < 0).any()):
            raise ValueRangeError(f"embedding_bag: offsets must begin with 0, never fall and end within the {length} indices: {values}")
    begun = call("cumsum", call("bincount_of", offsets, minlength=length + 1), dim=0)
    return call("slice", begun, dim=0, start=0, end=length, step=1) - 1, count


def _checked(input: Any, weight: Any, mode: str, per_sample_weights: Any, scale_grad_by_freq: bool, sparse: bool) -> None:
    for what, t in (("input", input), ("weight", weight)):
        if not isinstance(t, Tensor):
            raise ArgumentError(f"embedding_bag(): {what} must be a tensor, not {type(t).__name__}")
    if mode not in MODES:
        raise ValueRangeError(f"embedding_bag: mode must be 'sum', 'mean' or 'max', not {mode!r}")
    if weight._type.ndim != 2:
        raise ValueRangeError(f"embedding_bag: the weight must have 2 dimensions, not the shape {tuple(weight._type.shape)}")
    if input._type.ndim not in (1, 2):
        raise ValueRangeError(f"embedding_bag: the input must have 1 or 2 dimensions, not the shape {tuple(input._type.shape)}")
    if per_sample_weights is not None and per_sample_weights._type.shape != input._type.shape:
        shapes = f"{tuple(per_sample_weights._type.shape)} and {tuple(input._type.shape)}"
        raise ValueRangeError(f"embedding_bag: per_sample_weights and input must have one shape, not {shapes}")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueRangeError("embedding_bag: mode 'max' takes neither scale_grad_by_freq nor sparse")
    if sparse:
        raise UnsupportedError("embedding_bag: sparse gradients are not supported")
    if per_sample_weights is not None and mode != "sum":
        raise UnsupportedError(f"embedding_bag: per_sample_weights are for mode 'sum' (as in PyTorch), not {mode!r}")


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of rows of `weight` (N, D) for each bag of indices: input (B, L), or (L,) with the beginnings `offsets`.

    per_sample_weights: factors of the rows, mode "sum". include_last_offset: the last offset only says where the last bag ends.
    padding_idx: this row does not count and gets no gradient. Empty bags give zeros. max_norm: rows used are first scaled to at most this
    norm, in place. Result (B, D). Raises ValueRangeError, UnsupportedError (sparse), DTypeError.
    """
    _checked(input, weight, mode, per_sample_weights, scale_grad_by_freq, sparse)
    x: Any = input
    factors: Any = per_sample_weights
    if x._type.ndim == 2:
        if offsets is not None:
            raise ValueRangeError("embedding_bag: an input of two dimensions holds bags of one length and takes no offsets")
        count, length = x._type.shape
        bag = reshape(call("expand", reshape(call("arange", start=0, end=count, step=1), (count, 1)), size=(count, length)), (-1,))
        x = reshape(x, (count * length,))
        factors = None if factors is None else reshape(factors, (count * length,))
    else:
        bag, count = _bags(x, offsets, include_last_offset)
    row = padding_row("embedding_bag", weight, padding_idx)
    if max_norm is not None:
        embedding_renorm_(weight, x, max_norm, norm_type)
    rows = call("embedding", weight, x, padding_idx=row, scale_grad_by_freq=scale_grad_by_freq)
    if factors is not None:
        rows = rows * reshape(factors, (-1, 1))
    return _pooled(rows, bag, count, mode, None if row < 0 else call("ne", x, row))


def _pooled(rows: Any, bag: Any, count: Any, mode: str, kept: Any) -> Tensor:
    """The rows of each bag brought together; `kept`: which rows count, or None for all. One bag more takes what no bag holds."""
    columns = rows._type.shape[1]
    dtype, device = rows._type.dtype, rows._type.device
    ones = call("ones_like", bag) if kept is None else call("to", kept, dtype=dtypes.int64)
    sizes = call("index_add", call("zeros", size=(count + 1,), dtype=dtypes.int64, device=device), bag, ones, dim=0)
    sizes = reshape(call("slice", sizes, dim=0, start=0, end=count, step=1), (count, 1))
    if mode == "max":
        if kept is not None:
            rows = call("where", reshape(kept, (-1, 1)), rows, float("-inf"))
        lowest = call("full", size=(count + 1, columns), fill_value=float("-inf"), dtype=dtype, device=device)
        index = call("expand", reshape(bag, (-1, 1)), size=rows._type.shape)
        found = call("scatter_reduce", lowest, index, rows, dim=0, reduce="amax", include_self=True)
        return call("where", call("gt", sizes, 0), call("slice", found, dim=0, start=0, end=count, step=1), 0.0)
    if kept is not None:
        rows = call("where", reshape(kept, (-1, 1)), rows, 0.0)
    total = call("index_add", call("zeros", size=(count + 1, columns), dtype=dtype, device=device), bag, rows, dim=0)
    total = call("slice", total, dim=0, start=0, end=count, step=1)
    return total if mode == "sum" else total / call("to", call("clamp", sizes, 1, None), dtype=dtype)


FUNCTIONS: dict[str, Callable[..., Any]] = {"embedding_bag": embedding_bag, "embedding_renorm_": embedding_renorm_}
