"""Copies in place of views (`…_copy`), and copies with a part replaced (`…_scatter`): PyTorch's functional forms of views and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from twofold.ir.op import get_op
from twofold.support.errors import ShapeError
from twofold.tensors import shapes
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch

_clone, _scatter = get_op("clone"), get_op("view_scatter")


def fresh(t: Tensor) -> Tensor:
    """A contiguous copy."""
    return dispatch(_clone, (t,), {"memory_format": "contiguous_format"})


def viewed(name: str, input: Tensor, **attributes: Any) -> Any:
    """The view (or views) that a record gives."""
    return dispatch(get_op(name), (input,), attributes)


def expand_copy(input: Tensor, size: Sequence[int], *, implicit: bool = False) -> Tensor:
    """A copy of what `expand` shows."""
    return fresh(shapes.expand(input, tuple(size)))


def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of what `diagonal` shows."""
    return fresh(viewed("diagonal", input, offset=offset, dim1=dim1, dim2=dim2))


def alias_copy(input: Tensor) -> Tensor:
    """A contiguous copy of the tensor."""
    return fresh(input)


def detach_copy(input: Tensor) -> Tensor:
    """A contiguous copy of the tensor without history."""
    return fresh(shapes.detach(input))


def as_strided_copy(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A copy of what `as_strided` shows."""
    return fresh(shapes.as_strided(input, size, stride, storage_offset))


def narrow_copy(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A copy of what `narrow` shows."""
    return fresh(shapes.narrow(input, dim, start, length))


def view_copy(input: Tensor, size: Any) -> Tensor:
    """A copy under another shape, or of the memory read as another dtype (given one in place of a shape)."""
    if isinstance(size, (list, tuple)):
        return fresh(shapes.reshape(input, tuple(size)))
    return fresh(shapes.view(input, size))


def permute_copy(input: Tensor, dims: Sequence[int]) -> Tensor:
    """A copy of what `permute` shows."""
    return fresh(shapes.permute(input, tuple(dims)))


def transpose_copy(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A copy of what `transpose` shows."""
    return fresh(shapes.transpose(input, dim0, dim1))


def t_copy(input: Tensor) -> Tensor:
    """A copy of what `t` shows."""
    return fresh(shapes.transposed(input))


def squeeze_copy(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A copy of what `squeeze` shows."""
    return fresh(shapes.squeeze(input, dim))


def unsqueeze_copy(input: Tensor, dim: int) -> Tensor:
    """A copy of what `unsqueeze` shows."""
    return fresh(shapes.unsqueeze(input, dim))


def select_copy(input: Tensor, dim: int, index: int) -> Tensor:
    """A copy of what `select` shows."""
    return fresh(shapes.select(input, dim, index))


def slice_copy(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A copy of the elements start, start + step, … before `end` of a dimension."""
    return fresh(viewed("slice", input, dim=dim, start=start, end=end, step=step))


def unfold_copy(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A copy of the windows that `unfold` shows."""
    return fresh(viewed("unfold", input, dimension=dimension, size=size, step=step))


def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of what `unbind` shows."""
    return tuple(fresh(t) for t in viewed("unbind", input, dim=dim))


def split_copy(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of what `split` shows."""
    return tuple(fresh(t) for t in shapes.split(input, split_size, dim))


def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of what `split` shows for a list of sizes."""
    return tuple(fresh(t) for t in shapes.split(input, tuple(split_sizes), dim))


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`split`. (In PyTorch the parts are no views for autograd; here writing to them is always followed.)"""
    return shapes.split(input, split_size, dim)


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split` with a list of sizes, see `unsafe_split`."""
    return shapes.split(input, tuple(split_sizes), dim)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk`, see `unsafe_split`."""
    return shapes.chunk(input, chunks, dim)


# ---- a part replaced -----------------------------------------------------------------------------------------------------------------


def replaced(public: str, name: str, input: Tensor, src: Tensor, **attributes: Any) -> Tensor:
    """A copy of the input in which what the view `name` shows is `src`."""
    op = get_op(name)
    canonical = op.canonical((input._type,), attributes)
    shown = op.infer((input._type,), canonical).shape
    if shown != src._type.shape:
        raise ShapeError(f"{public}: the source has shape {tuple(src._type.shape)}, what it replaces {tuple(shown)}")
    if src._type.dtype is not input._type.dtype:
        src = dispatch(get_op("to"), (src,), {"dtype": input._type.dtype})
    return dispatch(_scatter, (input, src), {"chain": ((name, tuple(canonical.items())),)})


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of the input whose diagonal (see `diagonal`) is `src`."""
    return replaced("diagonal_scatter", "diagonal", input, src, offset=offset, dim1=dim1, dim2=dim2)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of the input whose slice at one index of a dimension (see `select`) is `src`."""
    return replaced("select_scatter", "select", input, src, dim=dim, index=index)


def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A copy of the input whose elements start, start + step, … before `end` of a dimension are `src`."""
    return replaced("slice_scatter", "slice", input, src, dim=dim, start=start, end=end, step=step)


def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A copy of the input whose elements that `as_strided` shows are `src`. Strides count in the contiguous copy."""
    whole = shapes.contiguous(input)
    return replaced("as_strided_scatter", "as_strided", whole, src, size=tuple(size), stride=tuple(stride), storage_offset=storage_offset)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        expand_copy, diagonal_copy, alias_copy, detach_copy, as_strided_copy, narrow_copy, view_copy, permute_copy, transpose_copy, t_copy,
        squeeze_copy, unsqueeze_copy, select_copy, slice_copy, unfold_copy, unbind_copy, split_copy, split_with_sizes_copy, unsafe_split,
        unsafe_split_with_sizes, unsafe_chunk, diagonal_scatter, select_scatter, slice_scatter, as_strided_scatter,
    )
}  # fmt: skip
