"""Batches taken off tensors and put on again, so that gradients of batched tensors are computed by one run of the ordinary engine.

A tensor with levels l1 < l2 < … has a tensor at the bottom whose leading dimensions are those batches in that order. Gradients of the one
at the bottom are gradients of every example, because examples do not meet: `lowered` makes what the engine works on, `raised` undoes it.
Levels that only a gradient has stay on it, and the engine then works with batched tensors.
"""

from __future__ import annotations

from typing import Any

from twofold.support.errors import ArgumentError, AutogradError, ShapeError, UnsupportedError
from twofold.tape.namespaces import TENSOR
from twofold.tensors.batched import LEVELS, BatchedTensor, batched, levels_of, raw_of
from twofold.tensors.batching import run
from twofold.tensors.core import Tensor


def without_level(t: Tensor, level: int, size: Any) -> Tensor:
    """The tensor with the batch of `level` as a dimension 0 of its own; repeated where it has no such batch."""
    if type(t) is not BatchedTensor or t._level < level:
        return run("expand", t, size=(size, *t._type.shape))
    if t._level == level:
        return t._inner
    inner = run("transpose", without_level(t._inner, level, size), dim0=0, dim1=1)
    return batched(inner, t._level)


def with_level(t: Tensor, level: int) -> Tensor:
    """`without_level` undone: dimension 0 becomes the batch of `level`."""
    if type(t) is not BatchedTensor or t._level < level:
        return batched(t, level)
    return batched(with_level(run("transpose", t._inner, dim0=0, dim1=1), level), t._level)


def lowered(t: Tensor, like: Tensor) -> Tensor:
    """`t`, of the shape of `like`, with the levels of `like` as leading dimensions: of the shape of the tensor at the bottom of `like`."""
    levels, sizes = levels_of(like), raw_of(like)._type.shape
    for level, size in reversed(tuple(zip(levels, sizes, strict=False))):
        t = without_level(t, level, size)
    return t


def raised(t: Tensor, like: Tensor) -> Tensor:
    """`lowered` undone."""
    for level in levels_of(like):
        t = with_level(t, level)
    return t


def in_all_levels(t: Tensor) -> Tensor:
    """The tensor with the batches of all `vmap`s around; repeated where it has none, so that every example has a tensor of its own."""
    have = levels_of(t)
    for level in LEVELS.get():
        if level.number not in have:
            t = with_level(run("expand", t, size=(level.size, *t._type.shape)), level.number)
    return t


def root_of_levels(root: Tensor, g: Any) -> tuple[Tensor, Any]:
    """A batched root and its gradient as the tensors the engine works on."""
    kind = root._type
    if g is None:
        if kind.numel != 1:
            raise AutogradError(
                f"the gradient of a tensor of shape {tuple(kind.shape)} cannot be implied: it needs one element, or a gradient argument"
            )
        g = TENSOR["ones"](kind.shape, dtype=kind.dtype)
    if not isinstance(g, Tensor):
        raise ArgumentError(f"the gradient of a root must be a tensor or None, not {type(g).__name__}")
    if g._type.shape != kind.shape:
        raise ShapeError(f"the gradient has shape {tuple(g._type.shape)}, the tensor it belongs to {tuple(kind.shape)}")
    return raw_of(root), lowered(g, root)


def check_levels(outputs: Any, inputs: Any) -> None:
    """Raise where a gradient would be a sum over examples: an input that all examples share, differentiated inside `vmap`."""
    reached = {level for t in outputs for level in levels_of(t)}
    for i, t in enumerate(inputs):
        if isinstance(t, Tensor) and not reached <= set(levels_of(t)):
            raise UnsupportedError(
                f"grad: input {i} is shared by all examples of a vmap, and the outputs differ from example to example: a gradient for each "
                "example would be lost in a sum. Use twofold.func.grad (or vjp) inside vmap, or pass the input as a mapped argument"
            )
