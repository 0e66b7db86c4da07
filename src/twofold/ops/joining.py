"""Joining tensors, repeating and rearranging their elements: all copies."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.types import TensorType, common_device, result_type, tensor_type
from twofold.ops.record import define, helper
from twofold.support.errors import DimensionError, ShapeError, ValueRangeError

# ---- joining -------------------------------------------------------------------------------------------------------------------


def _cat_type(tensors: tuple[TensorType, ...], dim: int) -> TensorType:
    if not tensors:
        raise ShapeError("cat: at least one tensor is needed")
    first = tensors[0].shape
    size: Any = 0
    for i, t in enumerate(tensors):
        if t.ndim == 0:
            raise ShapeError(f"cat: tensor {i} is 0-d; 0-d tensors have no dimension to be joined along, use stack()")
        if t.ndim != len(first) or any(n != m for d, (n, m) in enumerate(zip(t.shape, first, strict=True)) if d != dim):
            raise ShapeError(f"cat: tensor {i} has shape {t.shape}, tensor 0 has {first}: sizes must be equal except in dimension {dim}")
        size = size + t.shape[dim]
    return tensor_type(result_type(*tensors), (*first[:dim], size, *first[dim + 1 :]), common_device(tensors, "cat"))


@helper
def cut_apart(g: Any, shapes: Any, dim: Any) -> Any:
    """The gradient of joining tensors of these shapes along `dim`."""
    return split_with_sizes(g, tuple(s[dim] for s in shapes), dim)


define(
    "cat(Tensor[] tensors, Dim dim=0) -> Tensor",
    type_rule=_cat_type, reference=lambda tensors, dim=0: np.concatenate(tensors, axis=dim), promotion="default", any_dtype=True,
    cost="copy",
    gradient=(lambda g, tensors_shape, dim: cut_apart(g, tensors_shape, dim),), method=False, onnx="Concat@13",
    doc="The tensors one after another along an existing dimension; other sizes must be equal. Dtypes are promoted.",
)  # fmt: skip


def _stack_type(tensors: tuple[TensorType, ...], dim: int) -> TensorType:
    if not tensors:
        raise ShapeError("stack: at least one tensor is needed")
    first = tensors[0].shape
    for i, t in enumerate(tensors):
        if t.shape != first:
            raise ShapeError(f"stack: tensor {i} has shape {t.shape}, tensor 0 has {first}: all shapes must be equal")
    return tensor_type(result_type(*tensors), (*first[:dim], len(tensors), *first[dim:]), common_device(tensors, "stack"))


define(
    "stack(Tensor[] tensors, NewDim dim=0) -> Tensor",
    type_rule=_stack_type, reference=lambda tensors, dim=0: np.stack(tensors, axis=dim), promotion="default", any_dtype=True, cost="copy",
    gradient=(lambda g, dim: unbind(g, dim),), method=False,
    doc="Tensors of one shape joined along a new dimension. Dtypes are promoted.",
)  # fmt: skip

# ---- repeating -----------------------------------------------------------------------------------------------------------------


def _repeat_type(input: TensorType, repeats: tuple[Any, ...]) -> TensorType:
    lead = len(repeats) - input.ndim
    if lead < 0:
        raise ShapeError(
            f"repeat: {len(repeats)} repeat counts {repeats} for a tensor of {input.ndim} dimensions: give at least one for each"
        )
    for r in repeats:
        if type(r) is int and r < 0:
            raise ValueRangeError(f"repeat: negative count in {repeats}")
    return input.with_shape((*repeats[:lead], *(n * r for n, r in zip(input.shape, repeats[lead:], strict=True))))


@helper
def unrepeat(g: Any, shape: Any, repeats: Any) -> Any:
    """The gradient of `repeat`: the sum over all copies."""
    lead = len(repeats) - len(shape)
    sizes = (*repeats[:lead], *[n for pair in zip(repeats[lead:], shape, strict=True) for n in pair])
    copies = (*range(lead), *range(lead, lead + 2 * len(shape), 2))
    return reshape(sum(reshape(g, sizes), copies), shape) if repeats else g


define(
    "repeat(Tensor input, Shape repeats) -> Tensor",
    type_rule=_repeat_type, reference=lambda input, repeats: np.tile(input, repeats) if repeats else np.array(input), any_dtype=True,
    cost="copy",
    gradient=(lambda g, input_shape, repeats: unrepeat(g, input_shape, repeats),), function=False, onnx="Tile@13",
    doc=(
        "The tensor repeated `repeats[i]` times along dimension i; more counts than dimensions add leading ones. A copy; `expand` "
        "is the view."
    ),
)  # fmt: skip

# ---- rearranging ---------------------------------------------------------------------------------------------------------------

define(
    "flip(Tensor input, Dim[] dims) -> Tensor",
    type_rule=lambda input, dims: input, reference=lambda input, dims: np.array(np.flip(input, dims)), any_dtype=True, cost="copy",
    gradient=(lambda g, dims: flip(g, dims),),
    doc="The elements in reverse order along the dimensions `dims`; a copy.",
)  # fmt: skip


def _roll_type(input: TensorType, shifts: tuple[int, ...], dims: tuple[int, ...]) -> TensorType:
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        raise ValueRangeError(f"roll: {len(shifts)} shifts {shifts} for {len(dims)} dimensions {dims}: give one for each")
    return input


@helper
def negated(numbers: Any) -> Any:
    """The negatives of a tuple of numbers."""
    return tuple(-n for n in numbers)


define(
    "roll(Tensor input, int[] shifts, Dim[] dims=()) -> Tensor",
    type_rule=_roll_type, any_dtype=True, cost="copy",
    reference=lambda input, shifts, dims=(): np.array(np.roll(input, shifts, dims) if dims else np.roll(input, shifts[0])),
    gradient=(lambda g, shifts, dims: roll(g, negated(shifts), dims),),
    doc=(
        "The elements moved `shifts` places along `dims`, those pushed out coming in again at the other end. Without `dims` the "
        "flattened tensor is rolled."
    ),
)  # fmt: skip


def _triangle_type(name: str) -> Any:
    def rule(input: TensorType, diagonal: int) -> TensorType:
        if input.ndim < 2:
            raise ShapeError(f"{name}: a tensor of at least 2 dimensions is needed, not one of shape {input.shape}")
        return input

    return rule


define(
    "tril(Tensor input, int diagonal=0) -> Tensor",
    type_rule=_triangle_type("tril"), reference=lambda input, diagonal=0: np.tril(input, diagonal), any_dtype=True, cost="copy",
    inplace=True,
    gradient=(lambda g, diagonal: tril(g, diagonal),), onnx="Trilu@14",
    doc="The lower triangle of the matrices in the last two dimensions, zeros above `diagonal` (0 is the main one, positive above it).",
)  # fmt: skip
define(
    "triu(Tensor input, int diagonal=0) -> Tensor",
    type_rule=_triangle_type("triu"), reference=lambda input, diagonal=0: np.triu(input, diagonal), any_dtype=True, cost="copy",
    inplace=True,
    gradient=(lambda g, diagonal: triu(g, diagonal),), onnx="Trilu@14",
    doc="The upper triangle of the matrices in the last two dimensions, zeros below `diagonal` (0 is the main one, positive above it).",
)  # fmt: skip


def _diag_embed_shape(shape: tuple[Any, ...], offset: int, dim1: int, dim2: int) -> tuple[Any, ...]:
    n = shape[-1] + abs(offset)
    rest = iter(shape[:-1])
    return tuple(n if d in (dim1, dim2) else next(rest) for d in range(len(shape) + 1))


def _diag_embed_type(input: TensorType, offset: int, dim1: int, dim2: int) -> TensorType:
    if input.ndim == 0 or dim1 == dim2:
        raise DimensionError(
            f"diag_embed: two different dimensions and a tensor of at least 1 dimension are needed, not {dim1}, {dim2}, {input.shape}"
        )
    return input.with_shape(_diag_embed_shape(input.shape, offset, dim1, dim2))


def _diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    rank = input.ndim + 1
    dim1, dim2 = dim1 % rank, dim2 % rank
    result = np.zeros(_diag_embed_shape(input.shape, offset, dim1, dim2), input.dtype)
    shown = np.diagonal(result, offset, dim1, dim2)
    shown.flags.writeable = True
    shown[...] = input
    return result


define(
    "diag_embed(Tensor input, int offset=0, NewDim dim1=-2, NewDim dim2=-1) -> Tensor",
    type_rule=_diag_embed_type, reference=_diag_embed, any_dtype=True, cost="copy",
    gradient=(lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2),),
    doc="Matrices in `dim1` and `dim2` whose diagonals are the input's last dimension, zeros elsewhere.",
)  # fmt: skip
