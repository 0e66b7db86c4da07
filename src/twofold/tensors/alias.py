"""Views of concrete tensors: who shares memory with whom, so that in-place writes keep every gradient right.

A *family* is a base tensor and the views of it that autograd follows. `detach` shares memory but begins a new family. `Tensor._alias` stays
an unset slot until a tensor is viewed, is a view, or is written.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from twofold.ir.mode import GRAD
from twofold.ir.op import get_op
from twofold.tape.node import Node, tick
from twofold.tape.plan import table
from twofold.tape.versions import root_of
from twofold.tensors.core import Tensor

Step = tuple[str, tuple[tuple[str, Any], ...]]


class Alias:
    """Of a base: base None, chain (), and weak references to its views. Of a view: its base, the chain of steps from it, and whether it was
    made under no_grad."""

    __slots__ = ("base", "chain", "limit", "nograd", "views")

    def __init__(self, base: Tensor | None = None, chain: tuple[Step, ...] = (), nograd: bool = False) -> None:
        self.base, self.chain, self.nograd = base, chain, nograd
        self.views: list[Any] = []
        self.limit = 8


def alias_of(t: Tensor) -> Alias | None:
    """The tensor's alias record, or None."""
    try:
        return t._alias
    except AttributeError:
        return None


def base_of(t: Tensor) -> Tensor:
    """The base of the tensor's family (itself if it is no view)."""
    alias = alias_of(t)
    return t if alias is None or alias.base is None else alias.base


def chain_of(t: Tensor) -> tuple[Step, ...]:
    """The view steps from the base."""
    alias = alias_of(t)
    return () if alias is None else alias.chain


def keep_layout(t: Tensor) -> None:
    """Others share the tensor's memory: it must not be put into another order behind their back (see `dispatch.logical_order`)."""
    if alias_of(t) is None:
        t._alias = Alias()


def make_step(name: str, attributes: dict[str, Any], index: int | None = None) -> Step:
    """A hashable description of one view operation. `attributes` are canonical: in the signature's order, by which plans are looked up
    too."""
    pairs = tuple(attributes.items())
    return name, (pairs if index is None else (("", index), *pairs))


def adopt(source: Tensor, view: Tensor, step: Step) -> bool:
    """Register `view` as `step` of `source`; returns False if it was made under no_grad (it then has no history)."""
    alias = alias_of(source)
    if alias is None:
        alias = source._alias = Alias()
    base = source if alias.base is None else alias.base
    nograd = alias.nograd or not GRAD.get()
    view._alias = Alias(base, (*alias.chain, step), nograd)
    registry = base._alias
    if len(registry.views) >= registry.limit:
        registry.views = [r for r in registry.views if r() is not None]
        registry.limit = 2 * len(registry.views) + 8
    registry.views.append(weakref.ref(view))
    return not nograd


def overlaps(array: Any) -> bool:
    """True if two elements of the array share memory (an expanded dimension, windows of `unfold` that overlap)."""
    if array.flags.c_contiguous or array.size < 2:
        return False
    steps = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    if steps[0][0] == 0:
        return True
    reach = 0  # how far the dimensions of smaller steps lead; a step beyond it cannot come back to a place already met
    for step, n in steps:
        if step <= reach:
            return places_meet(steps)
        reach += step * (n - 1)
    return False


def places_meet(steps: list[tuple[int, int]]) -> bool:
    """True if an element can be reached by two indices, for (stride, size) pairs where the strides alone do not tell."""
    places: Any = np.zeros(1, np.int64)
    for step, n in steps:
        places = np.add.outer(places, step * np.arange(n)).reshape(-1)
    return len(np.unique(places)) < len(places)


def same_memory(a: Any, b: Any) -> bool:
    """True if two arrays have one root array."""
    return type(a) is np.ndarray and type(b) is np.ndarray and root_of(a) is root_of(b)


def live_views(base: Tensor) -> list[Tensor]:
    """The views of a base that still exist."""
    alias = alias_of(base)
    if alias is None:
        return []
    return [v for r in alias.views if (v := r()) is not None and v._alias.base is base]


def rehome(base: Tensor, node_class: Any) -> None:
    """Give every live view (not those made under no_grad) a new node that hangs on the base's present one.

    `node_class` is the node class of `view_chain`.
    """
    for view in live_views(base):
        alias = view._alias
        if alias.nograd:
            continue
        if base._node is None:
            view._node = None
            continue
        view._node = chain_node(base, alias.chain, view, node_class)


def chain_node(base: Tensor, chain: tuple[Step, ...], view: Tensor, node_class: Any) -> Node:
    """The node of a view by `chain` of the base's present value."""
    source = base._node
    assert source is not None
    node: Node = node_class()
    op = get_op("view_chain")
    plans = table(op)
    key = (base._type, chain)
    plan = plans.get(key) or plans.make(key, (base._type,), {"chain": chain})
    node.edges, node.plan, node.type = (source,), plan, view._type
    node.code, node.lasti, node.hooks = source.code, source.lasti, None
    node.seq = tick()
    return node
