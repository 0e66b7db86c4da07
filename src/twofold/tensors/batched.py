"""Tensors inside `vmap`: an inner tensor whose dimension 0 counts examples, seen as one example.

A `BatchedTensor` has no array and no history of its own. Its type is that of one example; its data, its node and its views are those of
the inner tensor, which is an ordinary tensor, a symbol, or a batched tensor of an outer `vmap`. So there is one backward graph only, that
of the tensors at the bottom. Levels are numbers never used twice; an inner `vmap` has a greater one than the `vmap` around it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple, NoReturn

from twofold.support.errors import VmapError
from twofold.tensors.core import Tensor


class BatchedTensor(Tensor):
    """One example of a batch; see the module's text. `_inner`: the tensor with all examples along dimension 0; `_level`: whose batch."""

    __slots__ = ("_inner", "_level")

    _inner: Tensor
    _level: int
    _array = None

    @property
    def _node(self) -> Any:
        return self._inner._node

    @_node.setter
    def _node(self, node: Any) -> None:
        self._inner._node = node

    @property
    def _alias(self) -> Any:
        return self._inner._alias


class Level(NamedTuple):
    """One `vmap` that runs: its number, the number of examples, and what random operations do."""

    number: int
    size: Any
    randomness: str


LEVELS: ContextVar[tuple[Level, ...]] = ContextVar("twofold_vmap_levels", default=())
"""The `vmap`s around the present call, outermost first."""
new_level = itertools.count(1).__next__


class Handlers:
    """What `dispatch` and `inplace` call for batched operands; `tensors.batching` fills it in."""

    __slots__ = ("call", "inplace")

    call: Callable[..., Any]
    inplace: Callable[..., Any]


HANDLERS = Handlers()


def batched(inner: Tensor, level: int) -> BatchedTensor:
    """The example view of a tensor whose dimension 0 is the batch of `level`."""
    t = BatchedTensor()
    kind = inner._type
    t._inner, t._level, t._type = inner, level, kind.with_shape(kind.shape[1:])
    return t


def top_level(operands: Any) -> int:
    """The highest level among the operands (lists opened); 0 where none is batched."""
    level = 0
    for x in operands:
        kind = type(x)
        if kind is BatchedTensor:
            level = max(level, x._level)
        elif kind is tuple or kind is list:
            level = max(level, top_level(x))
    return level


def levels_of(t: Any) -> tuple[int, ...]:
    """The levels of a tensor, outermost first."""
    found: list[int] = []
    while type(t) is BatchedTensor:
        found.append(t._level)
        t = t._inner
    return tuple(reversed(found))


def raw_of(t: Tensor) -> Tensor:
    """The tensor at the bottom."""
    while type(t) is BatchedTensor:
        t = t._inner
    return t


def with_raw(t: Tensor, raw: Tensor) -> Tensor:
    """`t` with another tensor of the same shape at the bottom."""
    return batched(with_raw(t._inner, raw), t._level) if type(t) is BatchedTensor else raw


def all_examples(t: Tensor, size: tuple[Any, ...]) -> tuple[Any, ...]:
    """A size with the batches of `t` in front."""
    return (*raw_of(t)._type.shape[: len(levels_of(t))], *size)


def like_example(t: Tensor, raw: Tensor) -> Tensor:
    """A tensor of size `all_examples` seen through the levels of `t`."""
    for level in levels_of(t):
        raw = batched(raw, level)
    return raw


def refuse_value(what: str) -> NoReturn:
    """Python asks for a value that differs from example to example."""
    raise VmapError(
        f"vmap: {what} needs the value of a tensor inside a mapped function, where it stands for all examples at once. "
        "Keep the value a tensor: twofold.where for a choice, indexing by tensors, sums with masks; or loop over the examples"
    )


def refuse_size(what: str) -> NoReturn:
    """The size of a result would differ from example to example."""
    raise VmapError(
        f"vmap: {what} gives a result whose size depends on values, so examples would have different shapes. "
        "Use twofold.where, masked_fill or a multiplication by the mask, which keep the shape"
    )


def batched_text(t: BatchedTensor) -> str:
    """What printing shows."""
    return f"BatchedTensor(level={t._level}, batch={t._inner._type.shape[0]}, {t._type}, inner={t._inner!r})"
