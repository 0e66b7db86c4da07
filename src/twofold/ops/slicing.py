"""Views of parts: one index, a slice, the diagonal, windows, other strides; and taking tensors apart."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from twofold.ir import dims
from twofold.ir.dtypes import DType
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType
from twofold.ops.record import define, helper, positions
from twofold.ops.views import along
from twofold.support.errors import DimensionError, DTypeError, IndexOutOfRange, InplaceError, ShapeError, ValueRangeError

# ---- parts of a dimension ------------------------------------------------------------------------------------------------------


def check_index(name: str, index: Any, n: Any, dim: int, shape: tuple[Any, ...]) -> None:
    """Raise IndexOutOfRange for an index outside a dimension of known size."""
    if type(n) is int and type(index) is int and not -n <= index < n:
        raise IndexOutOfRange(f"{name}: index {index} is out of range for dimension {dim} of size {n} (tensor of shape {shape})")


def without(shape: tuple[Any, ...], dim: int) -> tuple[Any, ...]:
    """The shape without one dimension."""
    return (*shape[:dim], *shape[dim + 1 :])


def _select_type(input: TensorType, dim: int, index: Any) -> TensorType:
    if input.ndim == 0:
        raise IndexOutOfRange("select: a 0-d tensor has no dimension to index; item() gives its value")
    check_index("select", index, input.shape[dim], dim, input.shape)
    return input.with_shape(without(input.shape, dim))


def _select_backward(grad: Any, input_sizes: tuple[int, ...], dim: int, index: int) -> Any:
    result = np.zeros(input_sizes, grad.dtype)
    result[along(dim, index)] = grad
    return result


define(
    "select(Tensor(a) input, Dim dim, int index) -> Tensor(a)",
    type_rule=_select_type, reference=lambda input, dim, index: input[along(dim, index)], any_dtype=True, cost="view", onnx="Gather@13",
    gradient=(lambda g, input_shape, dim, index: select_backward(g, input_shape, dim, index),),
    doc="The view at one index of a dimension, which is left out; a negative index counts from the end. Raises IndexOutOfRange.",
)  # fmt: skip
define(
    "select_backward(Tensor grad_output, Shape input_sizes, int dim, int index) -> Tensor",
    type_rule=lambda grad_output, input_sizes, dim, index: grad_output.with_shape(input_sizes),
    reference=_select_backward, any_dtype=True, cost="copy", method=False, function=False,
    gradient=(lambda g, dim, index: select(g, dim, index),),
    doc="The adjoint of `select`: zeros with the gradient at one index.",
)  # fmt: skip


def slice_length(n: Any, start: Any, end: Any, step: int) -> Any:
    """How many elements `start:end:step` takes of a dimension of size `n`, which may be symbolic."""
    if type(n) is int and type(start) in (int, type(None)) and type(end) in (int, type(None)):
        return len(range(*slice(start, end, step).indices(n)))
    first, last = (_bound(n, b, default) for b, default in ((start, 0), (end, n)))
    length = dims.maximum(last - first, 0)
    return length if step == 1 else (length + (step - 1)) // step


def _bound(n: Any, bound: Any, default: Any) -> Any:
    """A slice bound counted from the front and cut to the dimension.

    A symbolic bound is negative where it cannot be positive (`x[:, -k:]`); where it can be either it is taken for a size, as `x[:n - 1]`
    means it.
    """
    if bound is None:
        return default
    greatest = bound if type(bound) is int else bound.bounds[1]
    if greatest is not None and greatest < 0:
        return dims.maximum(n + bound, 0)
    if type(bound) is not int and greatest == 0:  # -k where k may be 0, which means the front: (n + bound) modulo n, for n = 0 too
        return (n + dims.maximum(bound, -n)) % dims.maximum(n, 1)
    return dims.minimum(bound, n)


def _slice_type(input: TensorType, dim: int, start: Any, end: Any, step: int) -> TensorType:
    if input.ndim == 0:
        raise IndexOutOfRange("slice: a 0-d tensor has no dimension to slice")
    if step <= 0:
        raise ValueRangeError(f"slice: the step must be greater than zero, not {step}; flip() reverses a dimension")
    return input.with_shape((*input.shape[:dim], slice_length(input.shape[dim], start, end, step), *input.shape[dim + 1 :]))


def _slice_backward(grad: Any, input_sizes: tuple[int, ...], dim: int, start: Any = None, end: Any = None, step: int = 1) -> Any:
    result = np.zeros(input_sizes, grad.dtype)
    result[along(dim, slice(start, end, step))] = grad
    return result


define(
    "slice(Tensor(a) input, Dim dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    type_rule=_slice_type, any_dtype=True, cost="view", onnx="Slice@13", method=False, function=False,
    reference=lambda input, dim=0, start=None, end=None, step=1: input[along(dim, slice(start, end, step))],
    gradient=(lambda g, input_shape, dim, start, end, step: slice_backward(g, input_shape, dim, start, end, step),),
    doc=(
        "The view of the elements start, start + step, … before `end` of a dimension, with Python's meaning of negative and missing "
        "bounds."
    ),
)  # fmt: skip
define(
    "slice_backward(Tensor grad_output, Shape input_sizes, int dim, int? start=None, int? end=None, int step=1) -> Tensor",
    type_rule=lambda grad_output, input_sizes, dim, start, end, step: grad_output.with_shape(input_sizes),
    reference=_slice_backward, any_dtype=True, cost="copy", method=False, function=False,
    gradient=(lambda g, dim, start, end, step: slice(g, dim, start, end, step),),
    doc="The adjoint of `slice`: zeros with the gradient in the slice.",
)  # fmt: skip


def _diagonal_type(input: TensorType, offset: int, dim1: int, dim2: int) -> TensorType:
    if input.ndim < 2 or dim1 == dim2:
        raise DimensionError(f"diagonal: two different dimensions are needed, not {dim1} and {dim2} of a tensor of shape {input.shape}")
    rows, columns = input.shape[dim1], input.shape[dim2]
    length = dims.minimum(rows, columns - offset) if offset >= 0 else dims.minimum(rows + offset, columns)
    rest = tuple(n for i, n in enumerate(input.shape) if i not in (dim1, dim2))
    return input.with_shape((*rest, dims.maximum(length, 0)))


def _diagonal_backward(grad: Any, input_sizes: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Any:
    result = np.zeros(input_sizes, grad.dtype)
    shown = np.diagonal(result, offset, dim1, dim2)
    shown.flags.writeable = True
    shown[...] = grad
    return result


define(
    "diagonal(Tensor(a) input, int offset=0, Dim dim1=0, Dim dim2=1) -> Tensor(a)",
    type_rule=_diagonal_type, reference=lambda input, offset=0, dim1=0, dim2=1: np.diagonal(input, offset, dim1, dim2), any_dtype=True,
    cost="view",
    gradient=(lambda g, input_shape, offset, dim1, dim2: diagonal_backward(g, input_shape, offset, dim1, dim2),),
    doc="The view of the diagonal of the matrices in `dim1` and `dim2`, as the last dimension; `offset` > 0 is above the main diagonal.",
)  # fmt: skip
define(
    "diagonal_backward(Tensor grad_output, Shape input_sizes, int offset, int dim1, int dim2) -> Tensor",
    type_rule=lambda grad_output, input_sizes, offset, dim1, dim2: grad_output.with_shape(input_sizes),
    reference=_diagonal_backward, any_dtype=True, cost="copy", method=False, function=False,
    gradient=(lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2),),
    doc="The adjoint of `diagonal`: zeros with the gradient on the diagonal.",
)  # fmt: skip

# ---- several views at once -------------------------------------------------------------------------------------------------------


def _unbind_type(input: TensorType, dim: int) -> tuple[TensorType, ...]:
    if input.ndim == 0:
        raise DimensionError("unbind: a 0-d tensor has no dimension to take apart")
    return (input.with_shape(without(input.shape, dim)),) * operator.index(input.shape[dim])


define(
    "unbind(Tensor(a) input, Dim dim=0) -> Tensor(a)[]",
    type_rule=_unbind_type, reference=lambda input, dim=0: tuple(input[along(dim, i)] for i in range(input.shape[dim])),
    any_dtype=True, cost="view", onnx="Split@18",
    gradient=(lambda g, dim: stack(g, dim),),
    doc="The views at every index of a dimension, which is left out. Each can be written in place (PyTorch refuses that).",
)  # fmt: skip


def _split_type(input: TensorType, split_size: int, dim: int) -> tuple[TensorType, ...]:
    if input.ndim == 0:
        raise DimensionError("split: a 0-d tensor has no dimension to split")
    n = operator.index(input.shape[dim])
    if split_size < 0 or (split_size == 0 and n != 0):
        raise ValueRangeError(f"split: a size of {split_size} does not split dimension {dim} of size {n}")
    return tuple(input.with_shape((*input.shape[:dim], size, *input.shape[dim + 1 :])) for size in part_sizes(n, split_size))


def part_sizes(n: int, split_size: int) -> tuple[int, ...]:
    """The sizes of the parts of `n` elements taken `split_size` at a time; a dimension of size 0 gives one empty part."""
    return tuple(min(split_size, n - i) for i in range(0, n, split_size)) if n else (0,)


@helper
def join(g: Any, dim: Any) -> Any:
    """The gradient of taking a tensor apart along `dim`."""
    return cat(g, dim)


define(
    "split(Tensor(a) input, int split_size, Dim dim=0) -> Tensor(a)[]",
    type_rule=_split_type, any_dtype=True, cost="view", onnx="Split@18",
    reference=lambda input, split_size, dim=0: _cut(input, part_sizes(input.shape[dim], split_size), dim),
    gradient=(lambda g, dim: join(g, dim),),
    doc="Views of `split_size` elements each along a dimension; the last may be smaller.",
)  # fmt: skip


def _cut(input: Any, sizes: tuple[int, ...], dim: int) -> tuple[Any, ...]:
    parts, at = [], 0
    for n in sizes:
        parts.append(input[along(dim, slice(at, at + n))])
        at += n
    return tuple(parts)


def _split_with_sizes_type(input: TensorType, split_sizes: tuple[Any, ...], dim: int) -> tuple[TensorType, ...]:
    if input.ndim == 0:
        raise DimensionError("split_with_sizes: a 0-d tensor has no dimension to split")
    total: Any = 0
    for n in split_sizes:
        if type(n) is int and n < 0:
            raise ValueRangeError(f"split_with_sizes: negative size in {split_sizes}")
        total = total + n
    if total != input.shape[dim]:
        raise ShapeError(
            f"split_with_sizes: the sizes {split_sizes} add up to {total}, dimension {dim} of shape {input.shape} is {input.shape[dim]}"
        )
    return tuple(input.with_shape((*input.shape[:dim], n, *input.shape[dim + 1 :])) for n in split_sizes)


define(
    "split_with_sizes(Tensor(a) input, Shape split_sizes, Dim dim=0) -> Tensor(a)[]",
    type_rule=_split_with_sizes_type, any_dtype=True, cost="view", onnx="Split@18",
    reference=lambda input, split_sizes, dim=0: _cut(input, split_sizes, dim),
    gradient=(lambda g, dim: join(g, dim),),
    doc="Views of the given sizes along a dimension; the sizes must add up to its size.",
)  # fmt: skip

# ---- windows, strides, other dtypes ------------------------------------------------------------------------------------------------


def _view_dtype_type(input: TensorType, dtype: DType) -> TensorType:
    if dtype.itemsize != input.dtype.itemsize:
        raise DTypeError(
            f"view: {input.dtype.name} elements of {input.dtype.itemsize} bytes cannot be seen as {dtype.name} of {dtype.itemsize} bytes"
        )
    return input.with_dtype(dtype)


define(
    "view_dtype(Tensor(a) input, dtype dtype) -> Tensor(a)",
    type_rule=_view_dtype_type, reference=lambda input, dtype: np.asarray(input).view(dtype.numpy), any_dtype=True, cost="view",
    method=False,
    function=False, gradient=NOT_DIFFERENTIABLE,
    doc="The same memory read as another dtype of the same size.",
)  # fmt: skip


def strided(a: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> np.ndarray:
    """A window on the memory of `a` with other strides (bytes), `offset` bytes from its first element. Unlike NumPy's as_strided its
    `.base` leads to the array that owns the memory, so writes through it are seen.

    Raises InplaceError where that array has gaps in its memory (it came from another library as a view of such): NumPy lends only memory
    without gaps.
    """
    root = a
    while type(root.base) is np.ndarray:
        root = root.base
    flat = root.view(f"u{root.itemsize}") if root.ndim and root.dtype.kind == "V" else root  # ml_dtypes arrays give no buffer
    if not flat.flags.forc:
        flat = flat.transpose(sorted(range(flat.ndim), key=lambda d: -flat.strides[d]))
        if not flat.flags.c_contiguous:
            raise InplaceError(
                f"the tensor of shape {a.shape} shows memory that has gaps or runs backwards (shape {root.shape}, strides {root.strides} "
                "bytes) and is another library's: windows on it cannot be shown. Use contiguous() first",
                "view",
            )
    start = a.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    result: np.ndarray = np.ndarray(shape, a.dtype, flat, start + offset, strides)
    if not a.flags.writeable:
        result.flags.writeable = False
    return result


def _unfold_type(input: TensorType, dimension: int, size: int, step: int) -> TensorType:
    n = input.shape[dimension] if input.ndim else 1
    if step <= 0 or size < 0:
        raise ValueRangeError(f"unfold: the step must be positive and the size not negative, not step={step}, size={size}")
    if type(n) is int and size > n:
        raise ShapeError(f"unfold: windows of {size} do not fit dimension {dimension} of size {n} (tensor of shape {input.shape})")
    if input.ndim == 0:
        return input.with_shape((size,))
    return input.with_shape((*input.shape[:dimension], (n - size) // step + 1, *input.shape[dimension + 1 :], size))


def _unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    a = np.asarray(input)
    if a.ndim == 0:
        return a.reshape(1)[:size]
    n, s = a.shape[dimension], a.strides[dimension]
    if a.size == 0:
        return np.empty((*a.shape[:dimension], (n - size) // step + 1, *a.shape[dimension + 1 :], size), a.dtype)
    shape = (*a.shape[:dimension], (n - size) // step + 1, *a.shape[dimension + 1 :], size)
    return strided(a, shape, (*a.strides[:dimension], s * step, *a.strides[dimension + 1 :], s))


def _unfold_backward(grad: Any, input_sizes: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    result = np.zeros(input_sizes, grad.dtype)
    if not input_sizes:
        return grad.reshape(()) + result if size else result
    count = grad.shape[dim]
    for k in range(size):
        result[along(dim, slice(k, k + step * (count - 1) + 1, step))] += grad[..., k]
    return result


define(
    "unfold(Tensor(a) input, Dim dimension, int size, int step) -> Tensor(a)",
    type_rule=_unfold_type, reference=_unfold, any_dtype=True, cost="view", function=False,
    gradient=(lambda g, input_shape, dimension, size, step: unfold_backward(g, input_shape, dimension, size, step),),
    doc="The view of all windows of `size` elements, `step` apart, along a dimension; the windows' elements become a new last dimension.",
)  # fmt: skip
define(
    "unfold_backward(Tensor grad_in, Shape input_sizes, int dim, int size, int step) -> Tensor",
    type_rule=lambda grad_in, input_sizes, dim, size, step: grad_in.with_shape(input_sizes),
    reference=_unfold_backward, cost="copy", method=False, function=False,
    gradient=(lambda g, dim, size, step: unfold(g, dim, size, step),),
    doc="The adjoint of `unfold`: windows added up where they overlap.",
)  # fmt: skip


def _as_strided_type(input: TensorType, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int | None) -> TensorType:
    if len(size) != len(stride):
        raise ShapeError(f"as_strided: {len(size)} sizes {size} but {len(stride)} strides {stride}")
    offset = storage_offset or 0
    if min((offset, *size, *stride)) < 0:
        raise ValueRangeError(f"as_strided: sizes, strides and offset must not be negative: {size}, {stride}, {offset}")
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if 0 not in size and last >= input.numel:
        raise IndexOutOfRange(
            f"as_strided: size {size}, stride {stride} and offset {offset} reach element {last} of a tensor of {input.numel} elements"
        )
    return input.with_shape(size)


def _as_strided(input: Any, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int | None = None) -> Any:
    a = np.asarray(input)
    if not a.flags.c_contiguous:
        raise InplaceError(
            f"as_strided: the tensor of shape {a.shape} is not contiguous: its elements are not in C order. Use contiguous() first", "view"
        )
    if 0 in size:
        return np.empty(size, a.dtype)
    return strided(a, size, tuple(s * a.itemsize for s in stride), (storage_offset or 0) * a.itemsize)


def _as_strided_backward(
    grad: Any, input_sizes: tuple[int, ...], size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int | None = None
) -> Any:
    flat = np.zeros(int(np.prod(input_sizes, dtype=np.int64)), grad.dtype)
    np.add.at(flat, _as_strided(positions((flat.size,)), size, stride, storage_offset).reshape(-1), grad.reshape(-1))
    return flat.reshape(input_sizes)


define(
    "as_strided(Tensor(a) input, Shape size, Shape stride, int? storage_offset=None) -> Tensor(a)",
    type_rule=_as_strided_type, reference=_as_strided, any_dtype=True, cost="view",
    gradient=(lambda g, input_shape, size, stride, storage_offset: as_strided_backward(g, input_shape, size, stride, storage_offset),),
    doc="""A view with the given sizes and strides (in elements) of a contiguous tensor's memory.
    The offset counts from the tensor's own first element; elements may be shown several times.""",
)  # fmt: skip
define(
    "as_strided_backward(Tensor grad_output, Shape input_sizes, Shape size, Shape stride, int? storage_offset=None) -> Tensor",
    type_rule=lambda grad_output, input_sizes, size, stride, storage_offset: grad_output.with_shape(input_sizes),
    reference=_as_strided_backward, cost="copy", method=False, function=False,
    gradient=(lambda g, input_sizes, size, stride, storage_offset: as_strided(reshape_copy(g, input_sizes), size, stride, storage_offset),),
    doc="The adjoint of `as_strided`: elements shown several times add up.",
)  # fmt: skip
