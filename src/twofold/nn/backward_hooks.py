"""Full backward hooks: identity nodes around a module's inputs and outputs that see their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.ir.mode import grad_enabled
from twofold.support.errors import ValueRangeError
from twofold.support.pytree import tree_flatten, tree_unflatten
from twofold.tape.node import Out, tick
from twofold.tensors.backward import replaced
from twofold.tensors.core import Symbol, Tensor, wrap_typed
from twofold.tensors.nodes import OpNode


class BackwardHookFunctionBackward(OpNode):
    """Passes gradients on; `watch(domain, gradients)` sees them all and may replace them."""

    __slots__ = ("watch",)
    is_custom = True
    watch: Callable[[Any, list[Any]], list[Any]]

    def run(self, domain: Any, g: Any) -> tuple[Any, ...]:
        """The gradients of the inputs."""
        return tuple(self.watch(domain, list(g)))


def identity(tensors: list[Tensor], watch: Callable[[Any, list[Any]], list[Any]]) -> list[Tensor]:
    """The tensors behind one node; those that carry no gradient keep none."""
    node = BackwardHookFunctionBackward()
    node.seq = tick()
    node.edges = tuple(t._node for t in tensors)
    node.plan, node.hooks, node.code, node.lasti = None, None, None, 0
    node.type = tuple(t._type for t in tensors)
    node.watch = watch
    return [t if t._node is None else wrap_typed(t._array, t._type, Out(node, k, t._type)) for k, t in enumerate(tensors)]


class Link:
    """One call of a hooked module: what its backward hooks need to meet."""

    def __init__(self, module: Any, tables: dict[str, dict[int, Any]]) -> None:
        self.module, self.tables = module, tables
        self.count = 0
        self.has_grad_inputs = False
        self.grad_output: tuple[Any, ...] = ()

    def at_outputs(self, domain: Any, parts: list[Any]) -> list[Any]:
        """The outputs' gradients are known."""
        boxed = tuple(None if p is None else domain.box(p) for p in parts)
        for hook, _, _ in list(self.tables["backward_pre"].values()):
            given = hook(self.module, boxed)
            if given is not None:
                boxed = self.returned(given, boxed, "a full backward pre-hook")
        self.grad_output = boxed
        if not self.has_grad_inputs:
            self.run_hooks((None,) * self.count)
        return [None if t is None else domain.unbox(t) for t in boxed]

    def at_inputs(self, domain: Any, parts: list[Any]) -> list[Any]:
        """The inputs' gradients are known."""
        boxed = self.run_hooks(tuple(None if p is None else domain.box(p) for p in parts))
        return [None if t is None else domain.unbox(t) for t in boxed]

    def run_hooks(self, grad_input: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook, _, _ in list(self.tables["backward"].values()):
            given = hook(self.module, grad_input, self.grad_output)
            if given is not None:
                grad_input = self.returned(given, grad_input, "a full backward hook")
        return grad_input

    def returned(self, given: Any, old: tuple[Any, ...], what: str) -> tuple[Any, ...]:
        """The gradients that a hook returned in place of the old ones, checked."""
        new = given if isinstance(given, tuple) else (given,)
        what = f"{what} of {type(self.module).__name__}"
        if len(new) != len(old):
            raise ValueRangeError(f"{what} returned {len(new)} gradients, but there are {len(old)}")
        return tuple(g if g is None or o is None else replaced(o, g, what) for g, o in zip(new, old, strict=True))


def wrap_inputs(module: Any, tables: dict[str, dict[int, Any]], args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Link | None]:
    """The positional arguments behind a watching node, and the call's Link; (args, None) where nothing is recorded."""
    if not grad_enabled() or any(isinstance(a, Symbol) for a in args):
        return args, None
    link = Link(module, tables)
    tensors = [a for a in args if isinstance(a, Tensor)]
    link.count = len(tensors)
    link.has_grad_inputs = any(t._node is not None for t in tensors)
    if not link.has_grad_inputs:
        return args, link
    watched = iter(identity(tensors, link.at_inputs))
    return tuple(next(watched) if isinstance(a, Tensor) else a for a in args), link


def wrap_outputs(link: Link, result: Any) -> Any:
    """The module's results behind a watching node."""
    leaves, spec = tree_flatten(result)
    tensors = [t for t in leaves if isinstance(t, Tensor)]
    if not any(t._node is not None for t in tensors):
        return result
    watched = iter(identity(tensors, link.at_outputs))
    return tree_unflatten([next(watched) if isinstance(t, Tensor) else t for t in leaves], spec)
