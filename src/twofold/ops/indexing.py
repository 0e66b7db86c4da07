"""Reading and writing at positions given by tensors: advanced indexing, gather and scatter.

`index` and `index_put` take the index tensors as a list of inputs and, as an attribute, the dimension each of them indexes:
`x[:, i, :, j]` is ``index(x, [i, j], dims=(1, 3))``. As in NumPy, the broadcast shape of the indices stands where the indexed dimensions
were if those are next to one another, else in front.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import itertools
from typing import Any, NoReturn

import numpy as np

from twofold.ir.dtypes import DType
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, common_device
from twofold.ops.record import define, helper
from twofold.ops.typing import broadcast_shapes
from twofold.support.errors import DimensionError, DTypeError, IndexOutOfRange, ShapeError

INDEX_DTYPES = ("int64", "int32")
BLOCK = 1 << 20
"""Elements added at once by `add_rows`: bounds the index array it needs."""

# ---- checks --------------------------------------------------------------------------------------------------------------------


def check_index_dtype(name: str, dtype: DType) -> None:
    """Indices are int64 or int32 tensors."""
    if dtype.name not in INDEX_DTYPES:
        raise DTypeError(f"{name}: indices must be int64 or int32 tensors, not {dtype.name}; convert with .long()")


def refuse(name: str, index: Any, dim: int, n: int, negative: bool) -> NoReturn:
    """Raise IndexOutOfRange that names the first index outside a dimension of size n."""
    i = np.asarray(index)
    bad = i[(i >= n) | (i < (-n if negative else 0))]
    shown = f"index {bad.flat[0]}" if bad.size else "an index"
    raise IndexOutOfRange(f"{name}: {shown} is out of range for dimension {dim} of size {n}")


def check_positive(name: str, index: Any, dim: int, n: int) -> None:
    """Raise IndexOutOfRange if an index lies outside 0 … n-1 (negative ones do not count from the end here)."""
    if index.size and (index.min() < 0 or index.max() >= n):
        refuse(name, index, dim, n, False)


def same_except(name: str, what: str, small: tuple[Any, ...], large: tuple[Any, ...], dim: int | None) -> None:
    """Raise ShapeError unless each size in `small` (except in `dim`) is at most that in `large`."""
    fits = 0 in small or (
        len(small) == len(large)
        and all(d == dim or not (type(n) is int and type(m) is int) or n <= m for d, (n, m) in enumerate(zip(small, large, strict=True)))
    )
    if not fits:
        where = "" if dim is None else f" outside dimension {dim}"
        raise ShapeError(f"{name}: index of shape {small} does not fit {what} of shape {large}{where}")


# ---- adding at positions -------------------------------------------------------------------------------------------------------


def add_rows(target: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
    """`target[rows[i]] += values[i]` for a C-contiguous matrix; rows may repeat."""
    width = target.shape[1]
    if width == 1:
        np.add.at(target.reshape(-1), rows, values.reshape(-1))
        return
    flat, columns = target.reshape(-1), np.arange(width)
    step = max(1, BLOCK // max(1, width))
    for k in range(0, len(rows), step):
        np.add.at(flat, (rows[k : k + step, None] * width + columns).reshape(-1), np.ascontiguousarray(values[k : k + step]).reshape(-1))


def placed_first(dims: tuple[int, ...]) -> bool:
    """True if the indices' shape goes to the front: the indexed dimensions are not next to one another."""
    return any(b - a != 1 for a, b in itertools.pairwise(dims))


def scatter_sum(values: Any, indices: tuple[Any, ...], size: tuple[int, ...], dims: tuple[int, ...]) -> np.ndarray:
    """Zeros of `size` with `values` (of the shape that indexing gives) added where the indices point."""
    rest = [d for d in range(len(size)) if d not in dims]
    order = (*dims, *rest)
    moved = tuple(size[d] for d in order)
    row: Any = 0
    for i, d in zip(indices, dims, strict=True):
        row = row * size[d] + np.where(np.less(i, 0), i + size[d], i)
    row = np.asarray(row)
    values = np.asarray(values)
    if not placed_first(dims):
        values = np.moveaxis(values, range(dims[0], dims[0] + row.ndim), range(row.ndim))
    width = int(np.prod([size[d] for d in rest], dtype=np.int64))
    count = int(np.prod([size[d] for d in dims], dtype=np.int64))
    result = np.zeros((count, width), values.dtype)
    if values.size:
        add_rows(result, row.reshape(-1), values.reshape(-1, width))
    result = result.reshape(moved)
    return result if order == tuple(range(len(size))) else np.ascontiguousarray(np.transpose(result, np.argsort(order)))


# ---- index and index_put ---------------------------------------------------------------------------------------------------------


def _key(indices: tuple[Any, ...], dims: tuple[int, ...]) -> tuple[Any, ...]:
    key: list[Any] = [slice(None)] * (dims[-1] + 1)
    for i, d in zip(indices, dims, strict=True):
        key[d] = i
    return tuple(key)


def indexed_shape(name: str, shape: tuple[Any, ...], indices: tuple[TensorType, ...], dims: tuple[int, ...]) -> tuple[Any, ...]:
    """The shape of the indexed elements."""
    if not indices or len(indices) != len(dims) or list(dims) != sorted(set(dims)) or not 0 <= dims[0] <= dims[-1] < len(shape):
        raise DimensionError(f"{name}: {len(indices)} indices for the dimensions {dims} of a tensor of shape {shape}")
    for t in indices:
        check_index_dtype(name, t.dtype)
    try:
        found = broadcast_shapes(name, *(t.shape for t in indices))
    except ShapeError:
        shown = ", ".join(str(t.shape) for t in indices)
        raise IndexMismatch(f"{name}: the index tensors have shapes {shown}, which do not broadcast together") from None
    if 0 not in found:
        for d in dims:
            if shape[d] == 0:
                raise IndexOutOfRange(f"{name}: dimension {d} of size 0 (tensor of shape {shape}) has no elements to index")
    rest = tuple(n for d, n in enumerate(shape) if d not in dims)
    at = 0 if placed_first(dims) else dims[0]
    return (*rest[:at], *found, *rest[at:])


class IndexMismatch(IndexOutOfRange, ShapeError):
    """Index tensors whose shapes do not broadcast together."""


def _index_type(input: TensorType, indices: tuple[TensorType, ...], dims: tuple[int, ...]) -> TensorType:
    common_device((input, *indices), "index")
    return input.with_shape(indexed_shape("index", input.shape, indices, dims))


def _explain(name: str, shape: tuple[int, ...], indices: tuple[Any, ...], dims: tuple[int, ...]) -> NoReturn:
    """Which of the indices NumPy refused."""
    for i, d in zip(indices, dims, strict=True):
        if np.any((np.asarray(i) >= shape[d]) | (np.asarray(i) < -shape[d])):
            refuse(name, i, d, shape[d], True)
    raise IndexOutOfRange(f"{name}: indices do not fit the tensor of shape {shape}")


def _index(input: Any, indices: tuple[Any, ...], dims: tuple[int, ...]) -> Any:
    try:
        if len(dims) == 1:
            return np.asarray(input).take(indices[0], dims[0])
        found = input[_key(indices, dims)]
    except IndexError:
        _explain("index", input.shape, indices, dims)
    return np.array(found, order="C") if type(found) is np.ndarray and not (found.flags.c_contiguous and found.base is None) else found


define(
    "index(Tensor input, Tensor[] indices, int[] dims) -> Tensor",
    type_rule=_index_type, reference=_index, any_dtype=True, cost="gather", method=False, function=False, onnx="GatherND@13",
    gradient=(lambda g, indices, input_shape, dims: index_backward(g, indices, input_shape, dims), NOT_DIFFERENTIABLE),
    doc="""The elements at integer positions: indices[k] indexes dimension dims[k] (see the module's text); a C-ordered copy.
    Negative indices count from the end; others out of range raise IndexOutOfRange.""",
)  # fmt: skip
define(
    "index_backward(Tensor grad, Tensor[] indices, Shape size, int[] dims) -> Tensor",
    type_rule=lambda grad, indices, size, dims: grad.with_shape(size), reference=scatter_sum, cost="scatter", method=False, function=False,
    gradient=(lambda g, indices, dims: index(g, indices, dims), NOT_DIFFERENTIABLE),
    doc="The adjoint of `index`: gradients of an element taken several times add up.",
)  # fmt: skip


def _index_put_type(
    input: TensorType, indices: tuple[TensorType, ...], values: TensorType, dims: tuple[int, ...], accumulate: bool
) -> TensorType:
    common_device((input, *indices, values), "index_put")
    shown = indexed_shape("index_put", input.shape, indices, dims)
    if values.dtype is not input.dtype:
        raise DTypeError(f"index_put: values of {values.dtype.name} for a tensor of {input.dtype.name}; convert them with .to(dtype)")
    lead = values.ndim - len(shown)
    if lead > 0 or any(n not in (1, m) for n, m in zip(values.shape, shown[-lead:] if lead else shown, strict=True)):
        raise ShapeError(f"index_put: values of shape {values.shape} do not broadcast to the indexed elements' shape {shown}")
    return input


def put_at(target: np.ndarray, indices: tuple[Any, ...], values: Any, dims: tuple[int, ...], accumulate: bool = False) -> None:
    """`target[…indices…] = values` (or +=) in place. `values` must not share memory with the target."""
    try:
        if not accumulate:
            target[_key(indices, dims)] = values
            return
        shape = np.broadcast_shapes(*(np.shape(i) for i in indices))
        rest = tuple(n for d, n in enumerate(target.shape) if d not in dims)
        at = 0 if placed_first(dims) else dims[0]
        for i, d in zip(indices, dims, strict=True):
            if np.size(i) and (np.max(i) >= target.shape[d] or np.min(i) < -target.shape[d]):
                raise IndexError
        target += scatter_sum(np.broadcast_to(values, (*rest[:at], *shape, *rest[at:])), indices, target.shape, dims)
    except IndexError:
        _explain("index_put", target.shape, indices, dims)


def _index_put(input: Any, indices: tuple[Any, ...], values: Any, dims: tuple[int, ...], accumulate: bool = False) -> Any:
    result = np.array(input)
    put_at(result, indices, values, dims, accumulate)
    return result


@helper
def put_gradient(g: Any, indices: Any, values_shape: Any, dims: Any, accumulate: Any) -> Any:
    """The gradient of what `index_put` overwrites: none is left where it wrote."""
    return g if accumulate else index_put(g, indices, new_zeros(g, values_shape), dims, False)


define(
    "index_put(Tensor input, Tensor[] indices, Tensor values, int[] dims, bool accumulate=False) -> Tensor",
    type_rule=_index_put_type, reference=_index_put, cost="scatter", method=False, function=False, onnx="ScatterND@18",
    gradient=(
        lambda g, indices, values_shape, dims, accumulate: put_gradient(g, indices, values_shape, dims, accumulate),
        NOT_DIFFERENTIABLE,
        lambda g, indices, values_shape, dims: sum_to_size(index(g, indices, dims), values_shape),
    ),
    doc="A copy in which the elements that `index` would give are `values` (broadcast), or have them added with `accumulate`.",
)  # fmt: skip

# ---- gather and scatter ----------------------------------------------------------------------------------------------------------


def check_indices(name: str, index: TensorType) -> None:
    """`check_index_dtype`; an index without elements may have any dtype, as in PyTorch."""
    if index.numel != 0:
        check_index_dtype(name, index.dtype)


def check_ranks(name: str, input: TensorType, index: TensorType) -> None:
    """The index has as many dimensions as the tensor; 0-d counts as 1-d. Without elements it may have any shape."""
    if max(index.ndim, 1) != max(input.ndim, 1) and index.numel != 0:
        raise ShapeError(f"{name}: the index of shape {index.shape} must have as many dimensions as the tensor of shape {input.shape}")


def _gather_type(input: TensorType, index: TensorType, dim: int) -> TensorType:
    check_indices("gather", index)
    common_device((input, index), "gather")
    check_ranks("gather", input, index)
    same_except("gather", "a tensor", index.shape or (1,), input.shape or (1,), dim)
    return input.with_shape(index.shape)


def _box(shape: tuple[int, ...], dim: int) -> tuple[slice, ...]:
    """The part of a tensor that an index of this shape reaches: everything along `dim`."""
    return tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(shape))


def _gather(input: Any, index: Any, dim: int) -> Any:
    if not index.size:
        return np.zeros(index.shape, input.dtype)
    if not input.ndim or not index.ndim:
        check_positive("gather", np.asarray(index), 0, input.size)
        return np.reshape(input, -1)[index]
    check_positive("gather", index, dim, input.shape[dim])
    return np.take_along_axis(input[_box(index.shape, dim)], index, dim)


define(
    "gather(Tensor input, Dim dim, Tensor index) -> Tensor",
    type_rule=_gather_type, reference=_gather, any_dtype=True, cost="gather", onnx="GatherElements@13",
    gradient=(lambda g, dim, index, input_shape: scatter_add(new_zeros(g, input_shape), dim, index, g), NOT_DIFFERENTIABLE),
    doc="The element at index[i, j, …] of dimension `dim` for every position of `index`: result[i, j] = input[index[i, j], j] for dim 0.",
)  # fmt: skip


def _scatter_type(name: str) -> Any:
    def rule(input: TensorType, index: TensorType, src: TensorType | None = None, *, dim: int, **attributes: Any) -> TensorType:
        check_indices(name, index)
        common_device((input, index) if src is None else (input, index, src), name)
        check_ranks(name, input, index)
        same_except(name, "a tensor", index.shape or (1,), input.shape or (1,), dim)
        if src is not None:
            same_except(name, "a source", index.shape or (1,), src.shape or (1,), None)
            if src.dtype is not input.dtype:
                raise DTypeError(f"{name}: a source of {src.dtype.name} for a tensor of {input.dtype.name}; convert it with .to(dtype)")
        return input

    return rule


def flat_positions(index: Any, dim: int, shape: tuple[int, ...]) -> np.ndarray:
    """The flat position in a C-ordered array of `shape` that each element of `index` means along `dim`."""
    step, result = 1, np.asarray(index) * 0
    for d in reversed(range(len(shape))):
        if d == dim:
            result = result + index * step
        else:
            result = result + (np.arange(index.shape[d]) * step).reshape(-1, *(1,) * (len(shape) - 1 - d))
        step *= shape[d]
    return np.asarray(result)


def _scatter(name: str, input: Any, dim: int, index: Any, src: Any, ufunc: Any = None) -> Any:
    """A C-ordered copy of the input with `src` assigned (or combined by `ufunc`) at the positions of `index`."""
    result = np.array(input, order="C")
    i = np.asarray(index)
    n = input.shape[dim] if input.ndim else 1
    check_positive(name, i, dim, n)
    if not i.size:
        return result
    flat = result.reshape(-1)
    i = i if i.ndim else i.reshape(1)
    where = flat_positions(i, dim, result.shape or (1,)).reshape(-1)
    if isinstance(src, np.ndarray):
        src = np.atleast_1d(src)[tuple(slice(m) for m in i.shape)].reshape(-1)
    if ufunc is None:
        flat[where] = src
    else:
        ufunc.at(flat, where, src)
    return result


@helper
def gathered(g: Any, dim: Any, index: Any, shape: Any) -> Any:
    """The gradient of a source that was scattered; parts of it that the index does not reach get none."""
    r = gather(g, dim, index)
    if not shape or not r.shape:
        return reshape(r, shape)
    rest = [n for d in reversed(range(len(shape))) for n in (0, shape[d] - r.shape[d])]
    return r if tuple(r.shape) == tuple(shape) else constant_pad_nd(r, tuple(rest), 0)


define(
    "scatter(Tensor input, Dim dim, Tensor index, Tensor src) -> Tensor",
    type_rule=lambda input, index, src, dim: _scatter_type("scatter")(input, index, src, dim=dim),
    reference=lambda input, index, src, dim: _scatter("scatter", input, dim, index, src), any_dtype=True, cost="scatter", inplace=True,
    gradient=(
        lambda g, dim, index: scatter_value(g, dim, index, 0),
        NOT_DIFFERENTIABLE,
        lambda g, dim, index, src_shape: gathered(g, dim, index, src_shape),
    ), onnx="ScatterElements@18",
    doc="""A copy with src[i, j, …] written at index[i, j, …] of dimension `dim`: result[index[i, j], j] = src[i, j] for dim 0.
    Where positions repeat one of the values is written, and gradients of all flow back.""",
)  # fmt: skip
define(
    "scatter_value(Tensor input, Dim dim, Tensor index, Scalar value) -> Tensor",
    type_rule=lambda input, index, dim, value: _scatter_type("scatter")(input, index, dim=dim),
    reference=lambda input, index, dim, value: _scatter("scatter", input, dim, index, value), any_dtype=True, cost="scatter",
    gradient=(lambda g, dim, index: scatter_value(g, dim, index, 0), NOT_DIFFERENTIABLE),
    node_name="ScatterBackward1", method=False, function=False, onnx="ScatterElements@18",
    doc="`scatter` of one number.",
)  # fmt: skip
define(
    "scatter_add(Tensor input, Dim dim, Tensor index, Tensor src) -> Tensor",
    type_rule=lambda input, index, src, dim: _scatter_type("scatter_add")(input, index, src, dim=dim),
    reference=lambda input, index, src, dim: _scatter("scatter_add", input, dim, index, src, np.add), cost="scatter", inplace=True,
    gradient=(lambda g: g, NOT_DIFFERENTIABLE, lambda g, dim, index, src_shape: gathered(g, dim, index, src_shape)),
    onnx="ScatterElements@18",
    doc="A copy with src[i, j, …] added at index[i, j, …] of dimension `dim`; values for the same position add up.",
)  # fmt: skip

# ---- whole slices at one dimension -------------------------------------------------------------------------------------------------


def _vector(name: str, input: TensorType, dim: int, index: TensorType) -> Any:
    """Check a 1-d (or 0-d) index along `dim`; the number of its elements."""
    check_index_dtype(name, index.dtype)
    common_device((input, index), name)
    if index.ndim > 1:
        raise ShapeError(f"{name}: the index must be 1-d, not of shape {index.shape}")
    return index.shape[0] if index.ndim else 1


def _resized(shape: tuple[Any, ...], dim: int, n: Any) -> tuple[Any, ...]:
    return (*shape[:dim], n, *shape[dim + 1 :]) if shape else ()


def _index_select(input: Any, index: Any, dim: int) -> Any:
    i = np.asarray(index).reshape(-1)
    if not input.ndim:
        check_positive("index_select", i, 0, 1)
        return np.array(input)
    if i.size and i.min() < 0:
        refuse("index_select", i, dim, input.shape[dim], False)
    try:
        return input.take(i, dim)
    except IndexError:
        refuse("index_select", i, dim, input.shape[dim], False)


define(
    "index_select(Tensor input, Dim dim, Tensor index) -> Tensor",
    type_rule=lambda input, index, dim: input.with_shape(_resized(input.shape, dim, _vector("index_select", input, dim, index))),
    reference=_index_select, any_dtype=True, cost="gather", onnx="Gather@13",
    gradient=(lambda g, dim, index, input_shape: index_add(new_zeros(g, input_shape), dim, index, g), NOT_DIFFERENTIABLE),
    doc="The slices of dimension `dim` at the positions of a 1-d index tensor; a copy.",
)  # fmt: skip


def _slices_type(name: str, input: TensorType, index: TensorType, source: TensorType, dim: int) -> TensorType:
    n = _vector(name, input, dim, index)
    wanted = _resized(input.shape, dim, n)
    if source.shape != wanted:
        raise ShapeError(
            f"{name}: the source must have shape {wanted}, not {source.shape}, for an index of {n} in dimension {dim} of {input.shape}"
        )
    if source.dtype is not input.dtype:
        raise DTypeError(f"{name}: a source of {source.dtype.name} for a tensor of {input.dtype.name}; convert it with .to(dtype)")
    return input


def _index_add(input: Any, index: Any, source: Any, dim: int, alpha: Any = 1) -> Any:
    i = np.asarray(index).reshape(-1)
    shape = input.shape or (1,)
    check_positive("index_add", i, dim, shape[dim])
    added = scatter_sum(np.reshape(source, _resized(shape, dim, i.size)), (i,), shape, (dim,)).reshape(input.shape)
    return np.asarray(input + (added if alpha == 1 else added * np.asarray(alpha).astype(added.dtype)))


define(
    "index_add(Tensor input, Dim dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    type_rule=lambda input, index, source, dim, alpha: _slices_type("index_add", input, index, source, dim),
    reference=_index_add, cost="scatter", inplace=True,
    gradient=(
        lambda g: g,
        NOT_DIFFERENTIABLE,
        lambda g, dim, index, source_shape, alpha: reshape(index_select(g, dim, index), source_shape) * alpha,
    ),
    doc=(
        "A copy with `alpha` times the slices of `source` added to the slices of dimension `dim` at the positions of a 1-d index; "
        "repeated ones add up."
    ),
)  # fmt: skip


def _index_write(name: str, input: Any, dim: int, index: Any, value: Any) -> Any:
    result = np.array(input)
    i = np.asarray(index).reshape(-1)
    check_positive(name, i, dim, input.shape[dim] if input.ndim else 1)
    if not input.ndim:
        return np.array(value).reshape(()) if i.size else result
    result[(slice(None),) * dim + (i,)] = value
    return result


define(
    "index_copy(Tensor input, Dim dim, Tensor index, Tensor source) -> Tensor",
    type_rule=lambda input, index, source, dim: _slices_type("index_copy", input, index, source, dim),
    reference=lambda input, index, source, dim: _index_write("index_copy", input, dim, index, source), any_dtype=True, cost="scatter",
    inplace=True,
    gradient=(
        lambda g, dim, index: index_fill(g, dim, index, 0),
        NOT_DIFFERENTIABLE,
        lambda g, dim, index, source_shape: reshape(index_select(g, dim, index), source_shape),
    ),
    doc="A copy with the slices of `source` written over those of dimension `dim` at the positions of a 1-d index tensor.",
)  # fmt: skip


def _index_fill_type(input: TensorType, index: TensorType, dim: int, value: Any) -> TensorType:
    _vector("index_fill", input, dim, index)
    return input


def _index_fill(input: Any, index: Any, dim: int, value: Any) -> Any:
    return _index_write("index_fill", input, dim, index, np.asarray(value).astype(input.dtype))


define(
    "index_fill(Tensor input, Dim dim, Tensor index, Scalar value) -> Tensor",
    type_rule=_index_fill_type, reference=_index_fill, any_dtype=True, cost="scatter", inplace=True,
    gradient=(lambda g, dim, index: index_fill(g, dim, index, 0), NOT_DIFFERENTIABLE),
    doc="A copy with a number written over the slices of dimension `dim` at the positions of a 1-d index tensor.",
)  # fmt: skip

# ---- flat positions --------------------------------------------------------------------------------------------------------------


def _take_type(input: TensorType, index: TensorType) -> TensorType:
    check_index_dtype("take", index.dtype)
    common_device((input, index), "take")
    return input.with_shape(index.shape)


def _take(input: Any, index: Any) -> Any:
    try:
        return np.asarray(input).reshape(-1).take(index)
    except IndexError:
        refuse("take", index, 0, input.size, True)


define(
    "take(Tensor input, Tensor index) -> Tensor",
    type_rule=_take_type, reference=_take, any_dtype=True, cost="gather",
    gradient=(lambda g, index, input_shape: put(new_zeros(g, input_shape), index, g, True), NOT_DIFFERENTIABLE),
    doc="The elements at flat positions (of the tensor in C order); negative ones count from the end.",
)  # fmt: skip


def _put_type(input: TensorType, index: TensorType, source: TensorType, accumulate: bool) -> TensorType:
    check_index_dtype("put", index.dtype)
    common_device((input, index, source), "put")
    if index.numel != source.numel:
        raise ShapeError(f"put: {index.numel} positions (shape {index.shape}) but {source.numel} values (shape {source.shape})")
    if source.dtype is not input.dtype:
        raise DTypeError(f"put: a source of {source.dtype.name} for a tensor of {input.dtype.name}; convert it with .to(dtype)")
    return input


def _put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    result = np.array(input, order="C")
    flat, i, values = result.reshape(-1), np.reshape(index, -1), np.reshape(source, -1)
    try:
        if accumulate:
            np.add.at(flat, i, values)
        else:
            flat[i] = values
    except IndexError:
        refuse("put", i, 0, flat.size, True)
    return result


@helper
def put_over(g: Any, index: Any, shape: Any, accumulate: Any) -> Any:
    """The gradient of what `put` overwrites."""
    return g if accumulate else put(g, index, new_zeros(g, shape), False)


define(
    "put(Tensor input, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    type_rule=_put_type, reference=_put, cost="scatter", inplace=True,
    gradient=(
        lambda g, index, source_shape, accumulate: put_over(g, index, source_shape, accumulate),
        NOT_DIFFERENTIABLE,
        lambda g, index, source_shape: reshape(take(g, index), source_shape),
    ),
    doc="A copy with `source` written (or added, with `accumulate`) at flat positions of the tensor in C order.",
)  # fmt: skip
