"""The backward graph for users: nodes, hooks on what is saved, hooks over several tensors, edges without their tensors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from twofold.ir.mode import SAVED_HOOKS, special
from twofold.support.errors import ArgumentError, AutogradError, user_frame
from twofold.tape.engine import CURRENT
from twofold.tape.node import Node, owner_of
from twofold.tape.versions import stamp
from twofold.tensors.core import Tensor, memory

_disabled: ContextVar[str | None] = ContextVar("twofold_saved_hooks_disabled", default=None)


class saved_tensors_hooks:  # noqa: N801  (PyTorch's name)
    """Context manager: tensors saved for backward inside go through `pack_hook(tensor)`, whose result is kept in their place, and through
    `unpack_hook(packed)` when backward needs them.

    Of nested contexts the innermost alone applies. The unpack hook must return a tensor of the same shape and values; what the hooks do
    is not recorded.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        message = _disabled.get()
        if message is not None:
            raise AutogradError(message)
        context = special(SAVED_HOOKS, (self.pack_hook, self.unpack_hook))
        context.__enter__()
        self._entered.append(context)

    def __exit__(self, *exc: Any) -> None:
        self._entered.pop().__exit__(None, None, None)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, entering `saved_tensors_hooks` raises AutogradError with this message; entered while hooks are active, this raises at
    once."""
    if SAVED_HOOKS.get() is not None:
        raise AutogradError(error_message)
    token = _disabled.set(error_message)
    try:
        yield
    finally:
        _disabled.reset(token)


class GradientEdge(NamedTuple):
    """Output `output_nr` of `node`: where a gradient goes, without the tensor. `autograd.grad` and `backward` take it in place of an
    input."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge the tensor's gradient arrives at; raises AutogradError if it does not require grad."""
    node = tensor._node if isinstance(tensor, Tensor) else None
    if node is None:
        raise AutogradError("get_gradient_edge() takes a tensor that requires grad")
    owner, index = owner_of(node)
    return GradientEdge(owner, index, node)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Tell autograd that the memory was written by other means, so that a backward that needs the old value raises."""
    frame = user_frame(1)
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(t, Tensor):
            raise ArgumentError(f"increment_version() takes tensors, not {type(t).__name__}")
        stamp(memory(t), "increment_version", None if frame is None else frame.f_code, 0 if frame is None else frame.f_lasti)


class MultiHandle:
    """Removes the hooks of several tensors: `remove()`, or use as a context manager."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all") -> MultiHandle:
    """Call `fn` once in each backward pass: with mode "all" when the gradients of all `tensors` that this pass reaches are there, with a
    list of them
    (None for the others); with "any" at the first one, with that gradient."""
    if mode not in ("all", "any"):
        raise ArgumentError(f"register_multi_grad_hook() has the modes 'all' and 'any', not {mode!r}")
    nodes = []
    for t in tensors:
        if not isinstance(t, Tensor) or t._node is None:
            raise AutogradError("register_multi_grad_hook() takes tensors that require grad")
        nodes.append(t._node)
    return MultiHandle((_AllHook if mode == "all" else _AnyHook)(nodes, fn).register(tensors))


class _AllHook:
    """State of one registration, by backward run; entries of runs that failed half-way go with the run."""

    def __init__(self, nodes: list[Node], fn: Callable[[Any], None]) -> None:
        self.nodes, self.fn, self.lock = nodes, fn, threading.Lock()

    def register(self, tensors: Sequence[Tensor]) -> list[Any]:
        return [t.register_hook(self.hook(i)) for i, t in enumerate(tensors)]

    def hook(self, index: int) -> Callable[[Tensor], None]:
        def arrived(g: Tensor) -> None:
            run = CURRENT.get()
            with self.lock:
                state = run.notes.get(self)
                if state is None:
                    expected = run.reachable()
                    state = run.notes[self] = ([None] * len(self.nodes), sum(n in expected for n in self.nodes))
                grads, left = state
                grads[index] = g
                run.notes[self] = (grads, left - 1)
            if left == 1:
                self.fn(grads)

        return arrived


class _AnyHook(_AllHook):
    def hook(self, index: int) -> Callable[[Tensor], None]:
        def arrived(g: Tensor) -> None:
            run = CURRENT.get()
            with self.lock:
                first = self not in run.notes
                run.notes[self] = True
            if first:
                self.fn(g)

        return arrived


__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version", "register_multi_grad_hook",
    "saved_tensors_hooks",
]  # fmt: skip
