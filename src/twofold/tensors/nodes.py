"""What users see of backward nodes: `next_functions`, `_saved_*`, `metadata`, hooks. The generated node classes derive from `OpNode`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir.types import type_of
from twofold.support.errors import AutogradError
from twofold.tape.engine import explain_freed
from twofold.tape.node import AccumulateGrad as TapeAccumulateGrad
from twofold.tape.node import Hooks, Node, Out, owner_of, tick
from twofold.tensors.core import Tensor, wrap_typed

_keys = iter(range(1 << 62)).__next__


class RemovableHandle:
    """Removes a hook: `remove()`, or use as a context manager."""

    __slots__ = ("_key", "_table")

    def __init__(self, table: dict[int, Any], value: Any) -> None:
        self._table, self._key = table, _keys()
        table[self._key] = value

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        self._table.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def public_saved_name(name: str) -> str:
    """The name of a saved value as PyTorch shows it: the first operand is `self`, the output `result`."""
    return "self" if name == "input" else name


class NodeView:
    """The public face of every node; mixed into the generated classes and `AccumulateGrad`."""

    __slots__ = ()

    edges: tuple[Node | None, ...]
    seq: int
    hooks: Hooks | None
    saved: tuple[str, ...]

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes the operands came from, each with the index of the output it was."""
        return tuple((None, 0) if e is None else owner_of(e) for e in self.edges)

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary of the user's own for this node."""
        hooks = self.ensure_hooks()
        return hooks.post.setdefault(-1, _Metadata()).data

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran; a returned tuple replaces grad_inputs."""
        return RemovableHandle(self.ensure_hooks().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs; a returned tuple replaces grad_outputs."""
        return RemovableHandle(self.ensure_hooks().pre, fn)

    def _sequence_nr(self) -> int:
        return -self.seq

    def saved_tensors_by_name(self) -> dict[str, Any]:
        """Saved values under their public names; those that were freed are absent."""
        result: dict[str, Any] = {}
        for name in self.saved:
            if hasattr(self, "s_" + name):
                result[public_saved_name(name)] = boxed_saved(self, name)  # type: ignore[arg-type]
        return result

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_saved_"):
            wanted = attribute[len("_saved_") :]
            for name in self.saved:
                if public_saved_name(name) == wanted:
                    if not hasattr(self, "s_" + name):
                        raise explain_freed(self)  # type: ignore[arg-type]
                    return boxed_saved(self, name)  # type: ignore[arg-type]
            plan = getattr(self, "plan", None)
            if plan is not None and wanted in plan.attributes:
                return plan.attributes[wanted]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")


class _Metadata:
    """Holds a node's metadata among its hooks; called like a hook, it does nothing."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}

    def __call__(self, *args: Any) -> None:
        return None


class OpNode(NodeView, Node):
    """Base of the node classes of records."""

    __slots__ = ()

    def needs_of_inputs(self) -> tuple[bool, ...]:
        """For each tensor parameter (a list counts once) whether a gradient is wanted."""
        result, position = [], 0
        assert self.plan is not None
        for t in self.plan.ins:
            n = len(t) if type(t) is tuple else 1
            result.append(any(e is not None for e in self.edges[position : position + n]))
            position += n
        return tuple(result)

    def flat(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of parameters as those of edges: lists opened, a missing list as so many None."""
        result: list[Any] = []
        assert self.plan is not None
        for g, t in zip(grads, self.plan.ins, strict=True):
            if type(t) is tuple:
                result.extend((None,) * len(t) if g is None else g)
            else:
                result.append(g)
        return tuple(result)


class AccumulateGrad(NodeView, TapeAccumulateGrad):
    """The node of a leaf."""

    __slots__ = ()

    @property
    def variable(self) -> Tensor:
        """The leaf. If only the graph is left of it, a tensor that shares its data and gradient."""
        found = self.leaf()
        if found is None:
            found = wrap_typed(self.array, self.type, self)
        return found


def boxed_saved(node: Node, name: str) -> Any:
    """A saved value as the user gave it: arrays become tensors again, joined to the graph where they were."""
    value = getattr(node, "s_" + name)
    return box_saved(node, name, value)


def box_saved(node: Node, name: str, value: Any) -> Any:
    """See `boxed_saved`."""
    if type(value) is Packed:
        return value.unpacked(edge_of_saved(node, name))
    if isinstance(value, (np.ndarray, np.generic)):
        from_edge = edge_of_saved(node, name)
        return wrap_array(value, from_edge)
    if type(value) is tuple and value and isinstance(value[0], (np.ndarray, np.generic)):
        edges = list_edges(node, name)
        return tuple(wrap_array(v, e) for v, e in zip(value, edges, strict=True))
    return value


def wrap_array(array: Any, node: Node | None) -> Tensor:
    return wrap_typed(array, type_of(array), node)


def edge_of_saved(node: Node, name: str) -> Node | None:
    """The node a saved value belongs to: an operand's edge, or the node itself for an output."""
    position = 0
    for p, t in zip(node.op.inputs, node.plan.ins if node.plan is not None else (node.type,) * len(node.op.inputs), strict=True):
        if p.name == name:
            return node.edges[position]
        position += len(t) if type(t) is tuple else 1
    outputs = node.op.signature.outputs
    if len(outputs) == 1:
        return node if name == "result" else None
    for k, o in enumerate(outputs):
        if o.name == name:
            return _out_of(node, k)
    return None


def _out_of(node: Node, k: int) -> Node | None:
    t = node.type[k]
    return Out(node, k, t) if t.dtype.is_floating_point else None


def list_edges(node: Node, name: str) -> tuple[Node | None, ...]:
    """The edges of a list operand."""
    position = 0
    assert node.plan is not None
    for p, t in zip(node.op.inputs, node.plan.ins, strict=True):
        n = len(t) if type(t) is tuple else 1
        if p.name == name:
            return node.edges[position : position + n]
        position += n
    raise AutogradError(f"{node.name()} has no list operand {name!r}")


class Packed:
    """A saved value that went through `saved_tensors_hooks`: what the pack hook returned, and the hook that undoes it."""

    __slots__ = ("unpack", "value")
    is_packed = True

    def __init__(self, value: Any, unpack: Callable[[Any], Any]) -> None:
        self.value, self.unpack = value, unpack

    def array(self) -> Any:
        """The data alone."""
        return self.unpacked(None)._array

    def unpacked(self, node: Node | None) -> Tensor:
        """The tensor again, joined to the graph at `node`."""
        t = self.unpack(self.value)
        if not isinstance(t, Tensor):
            raise AutogradError(f"the unpack hook of saved_tensors_hooks must return a tensor, not {type(t).__name__}")
        return wrap_typed(t._array, t._type, node)


def new_leaf(t: Tensor) -> AccumulateGrad:
    """Make `t` a leaf that requires grad."""
    t._node = node = AccumulateGrad(t, t._array, t._type)
    return node


__all__ = ["AccumulateGrad", "NodeView", "OpNode", "Packed", "RemovableHandle", "boxed_saved", "new_leaf", "tick"]
