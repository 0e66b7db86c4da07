"""What every derivative transform stands on: inputs of its own to differentiate by, and gradients with respect to them.

A transform gives the function *aliases* of its inputs: a node of its own on the graph of an input that has one, else a leaf. The gradient
with respect to exactly these is then what is wanted, however transforms are nested: no two have the same alias. Inside `vmap` an input
that all examples share is repeated for each, so that gradients of single examples are not summed. Symbols get an alias in the graph
that is being recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twofold.ir.mode import GRAD, RECORDER, grad_mode
from twofold.support.errors import AutogradError
from twofold.support.pytree import tree_flatten, tree_unflatten
from twofold.tape.namespaces import TENSOR
from twofold.tape.node import Node
from twofold.tensors import backward as engine
from twofold.tensors import symbolic
from twofold.tensors.batched import raw_of, with_raw
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.levels import in_all_levels, lowered, raised
from twofold.tensors.nodes import new_leaf

Tensors = list[Tensor]


def own_alias(t: Tensor, what: str, repeat: bool = True) -> Tensor:
    """An alias of `t` that belongs to one transform; see the module's text."""
    if not t._type.dtype.is_floating_point:
        raise AutogradError(f"{what}: only floating-point tensors can be differentiated by, not {t._type.dtype.name}")
    if repeat:
        t = in_all_levels(t)
    raw = raw_of(t)
    recorder = raw._recorder if isinstance(raw, Symbol) else RECORDER.get()
    if recorder is not None:
        return with_raw(t, symbolic.separate(recorder, raw))
    if raw._node is not None and GRAD.get():
        return with_raw(t, TENSOR["alias"](raw))
    own: Tensor = raw.detach()
    new_leaf(own)
    return with_raw(t, own)


def reaches_others(tensors: Sequence[Any], own: set[Any]) -> bool:
    """True if the graph behind the tensors leads to a leaf that is not among the nodes `own`."""
    stack: list[Node] = [node for t in tensors if isinstance(t, Tensor) and (node := t._node) is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node in own:
            if not node.is_accumulate and any(e is not None for e in node.edges):
                return True
            continue
        if node.is_accumulate:
            return True
        for e in node.edges:
            if e is not None and e not in seen:
                seen.add(e)
                stack.append(e)
    return False


def pulled(outputs: Tensors, gradients: list[Any], inputs: Tensors, create_graph: bool) -> list[Any]:
    """The gradients of inputs for gradients of outputs; None where outputs do not depend on an input. `gradients`: None for a number 1."""
    raw_inputs = [raw_of(t) for t in inputs]
    recorder = next((t._recorder for t in raw_inputs if isinstance(t, Symbol)), None)
    if recorder is not None:
        pairs = [(t, g) for t, g in zip(outputs, gradients, strict=True) if isinstance(raw_of(t), Symbol)]
        with grad_mode(True), recorder.recording():
            seeds = [lowered(TENSOR["ones"](t._type.shape, dtype=t._type.dtype) if g is None else g, t) for t, g in pairs]
            found = symbolic.gradients(recorder, [raw_of(t) for t, _ in pairs], seeds, raw_inputs)  # type: ignore[misc, arg-type]
            return [None if g is None else raised(g, t) for g, t in zip(found, inputs, strict=True)]
    pairs = [(t, g) for t, g in zip(outputs, gradients, strict=True) if t._node is not None]
    if not pairs:
        return [None] * len(inputs)
    return list(
        engine.grad([t for t, _ in pairs], inputs, [g for _, g in pairs], retain_graph=True, create_graph=create_graph, allow_unused=True)
    )


def is_tracked(t: Any) -> bool:
    """True if the tensor has a graph, or is recorded into one."""
    return t is not None and (t._node is not None or isinstance(raw_of(t), Symbol))


def zeros(t: Tensor) -> Tensor:
    """Zeros of the type of `t`."""
    return TENSOR["zeros"](tuple(t._type.shape), dtype=t._type.dtype)


class Inputs:
    """The inputs of one transform: `own` are their aliases, flat."""

    def __init__(self, what: str, given: Any) -> None:
        leaves, self.spec = tree_flatten(given)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise AutogradError(f"{what}: what is differentiated by must be tensors, not {type(leaf).__name__} ({leaf!r:.40})")
        self.what = what
        self.outer = GRAD.get()
        self.own = [own_alias(t, what) for t in leaves]
        self.nodes = {t._node for t in self.own}

    def tree(self) -> Any:
        """The aliases in the structure of what was given."""
        return tree_unflatten(self.own, self.spec)

    def kept(self, tensors: Sequence[Any]) -> bool:
        """True if a transform around (or a leaf of the user's) wants the graph behind these tensors."""
        return self.outer and reaches_others(tensors, self.nodes)

    def released(self, tree: Any) -> Any:
        """A result for the outside: without the graph, unless somebody else wants it."""
        leaves, spec = tree_flatten(tree)
        keep = self.kept(leaves)
        return tree_unflatten([t if keep or not _has_graph(t) else t.detach() for t in leaves], spec)

    def gradients(self, outputs: Tensors, given: list[Any], create_graph: bool) -> Tensors:
        """The gradients of the aliases, zeros where there is none."""
        found = pulled(outputs, given, self.own, create_graph)
        return [zeros(t) if g is None else g for g, t in zip(found, self.own, strict=True)]


def _has_graph(t: Any) -> bool:
    return isinstance(t, Tensor) and t._node is not None


__all__ = ["Inputs", "is_tracked", "own_alias", "pulled", "reaches_others", "zeros"]
