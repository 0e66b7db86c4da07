"""Checkpointing: a part of the network keeps its inputs only, and is computed again when backward needs what it would have saved.

The part runs under `saved_tensors_hooks` that keep a placeholder for each saved tensor. The first placeholder that backward asks for
runs the function
again and fills all of them; each is dropped with the node it belongs to.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from twofold.ir.mode import RECORDER, SAVED_HOOKS, grad_enabled, grad_mode, special
from twofold.support.errors import ArgumentError, AutogradError, UnsupportedError, describe_site
from twofold.tape.engine import CURRENT, overwritten
from twofold.tape.node import Node, tick
from twofold.tape.versions import newer_write
from twofold.tensors.batched import LEVELS, BatchedTensor, batched, raw_of
from twofold.tensors.core import Symbol, Tensor, wrap_typed
from twofold.tensors.dispatch import pack_one, user_site
from twofold.tensors.nodes import Packed, new_leaf, public_saved_name
from twofold.tensors.random import default_generator


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Any = None,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)` without keeping what its operations save for backward: it runs again during backward.

    use_reentrant: None and False are the same, without a warning; PyTorch's older re-entrant form (True) does not exist here.
    preserve_rng_state: the second run draws the same random numbers.
    determinism_check: "default" compares each tensor saved by the second run with the first (operation, name, shape, dtype) and raises
    AutogradError
    naming both where they differ; "none" does not.
    early_stop: the second run ends as soon as the last saved tensor is there.
    debug: a difference also lists all operations of both runs.

    Where no gradient is recorded, or a static graph is, the function simply runs.
    """
    if use_reentrant:
        raise UnsupportedError("checkpoint(use_reentrant=True) does not exist here: pass False; gradients are the same")
    if context_fn is not None:
        raise UnsupportedError("checkpoint(context_fn=...) does not exist yet: selective checkpointing comes with the partitioner")
    if determinism_check not in ("default", "none"):
        raise ArgumentError(f"checkpoint: determinism_check is 'default' or 'none', not {determinism_check!r}")
    if not grad_enabled() or RECORDER.get() is not None or any(isinstance(a, Tensor) and isinstance(raw_of(a), Symbol) for a in args):
        return function(*args, **kwargs)
    part = _Part(function, args, kwargs, preserve_rng_state, determinism_check == "default", early_stop, debug)
    with special(SAVED_HOOKS, (_FirstRun(part), _unpack)):
        return function(*args, **kwargs)


class _Inputs(Node):
    """Stands for the checkpointed call where its inputs go through the hooks of an outer checkpoint."""

    def name(self) -> str:
        return "checkpoint"


class _Placeholder:
    """What a node keeps in place of a saved tensor: its number in the part's order. `value` holds the recomputed data until the node is
    freed."""

    __slots__ = ("__weakref__", "index", "part", "value")

    def __init__(self, part: _Part, index: int) -> None:
        self.part, self.index = part, index
        self.value: Any = None


class _Part:
    """One checkpointed call: how to run it again, and what its first run saved."""

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], random: bool, check: bool, early_stop: bool, debug: bool
    ) -> None:
        self.function, self.kwargs, self.check, self.early_stop, self.debug = function, kwargs, check, early_stop, debug
        self.state = default_generator().get_state() if random else None
        self.node = _Inputs()
        self.node.seq, self.node.hooks = tick(), None
        self.node.code, self.node.lasti = user_site()
        hooks = SAVED_HOOKS.get()
        self.args = [self.stored(i, a, hooks) if isinstance(a, Tensor) else a for i, a in enumerate(args)]
        self.saved: list[tuple[str, str, Any, Any]] = []
        self.levels = LEVELS.get()
        self.placeholders: list[weakref.ref[_Placeholder]] = []

    def stored(self, index: int, t: Tensor, hooks: Any) -> Any:
        """A tensor argument as it is kept: a leaf itself, otherwise its data (through the hooks of an outer checkpoint)."""
        if type(t) is BatchedTensor:
            return _Example(self.stored(index, t._inner, hooks), t._level)
        if t._node is not None and t._node.is_accumulate:
            return t
        value = t._array if hooks is None else pack_one(self.node, f"input{index}", wrap_typed(t._array, t._type), hooks)
        return _Argument(value, t._type, t._node is not None)

    def argument(self, index: int, kept: Any) -> Any:
        """The argument for the second run."""
        if type(kept) is _Example:
            return batched(self.argument(index, kept.inner), kept.level)
        if type(kept) is not _Argument:
            return kept
        value = kept.value
        if type(value) is Packed:
            value = value.array()
        elif (write := newer_write(value, self.node.seq)) is not None:
            raise overwritten(self.node, f"argument {index}", write)
        t = wrap_typed(value, kept.type)
        if kept.requires_grad:
            new_leaf(t)
        return t

    def run_again(self) -> dict[int, Any]:
        """The data of all saved tensors whose nodes still exist, by number."""
        second = _SecondRun(self)
        args = [self.argument(i, a) for i, a in enumerate(self.args)]
        token = LEVELS.set(self.levels)
        with grad_mode(True), special(SAVED_HOOKS, (second, _same)), self.random_state():
            try:
                self.function(*args, **self.kwargs)
            except _Enough:
                return second.values
            finally:
                LEVELS.reset(token)
        if self.check and second.count < len(self.saved):
            raise AutogradError(self.difference(second, f"it saved {second.count} tensors, the first run {len(self.saved)}"))
        return second.values

    @contextmanager
    def random_state(self) -> Iterator[None]:
        """The random state of the first run, for the block."""
        if self.state is None:
            yield
            return
        generator = default_generator()
        now = generator.get_state()
        generator.set_state(self.state)
        try:
            yield
        finally:
            generator.set_state(now)

    def difference(self, second: _SecondRun, what: str) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        text = f"checkpoint: running {name} again for backward did not repeat the first run: {what}. "
        text += "The function must do the same both times: no changing global state, no random numbers with preserve_rng_state=False"
        if self.debug:
            for title, saved in (("first", self.saved), ("second", second.saved)):
                text += f"\n{title} run:" + "".join(f"\n  {i}: {described(s)}" for i, s in enumerate(saved))
        return text


class _Example:
    """A tensor argument seen through a level of `vmap`."""

    __slots__ = ("inner", "level")

    def __init__(self, inner: Any, level: int) -> None:
        self.inner, self.level = inner, level


class _Argument:
    """Data of a tensor argument."""

    __slots__ = ("requires_grad", "type", "value")

    def __init__(self, value: Any, type: Any, requires_grad: bool) -> None:
        self.value, self.type, self.requires_grad = value, type, requires_grad


def described(saved: tuple[str, str, Any, Any]) -> str:
    """`MulBackward0's 'other', f32[2, 3] (at file:line)`."""
    op, name, kind, site = saved
    return f"{op}'s {name!r}, {kind} (at {describe_site(*site)})"


def _entry(node: Node, name: str, t: Tensor) -> tuple[str, str, Any, Any]:
    return node.name(), public_saved_name(name), t._type, (node.code, node.lasti)


class _FirstRun:
    """The pack hook of the first run: keeps a placeholder."""

    def __init__(self, part: _Part) -> None:
        self.part = part

    def pack_for(self, node: Node, name: str, t: Tensor) -> _Placeholder:
        part = self.part
        placeholder = _Placeholder(part, len(part.saved))
        part.placeholders.append(weakref.ref(placeholder))
        part.saved.append(_entry(node, name, t))
        return placeholder


class _SecondRun:
    """The pack hook of the second run: keeps data, and compares."""

    def __init__(self, part: _Part) -> None:
        self.part, self.count = part, 0
        self.values: dict[int, Any] = {}
        self.saved: list[tuple[str, str, Any, Any]] = []

    def pack_for(self, node: Node, name: str, t: Tensor) -> Tensor:
        part, index = self.part, self.count
        self.count += 1
        entry = _entry(node, name, t)
        if part.debug:
            self.saved.append(entry)
        if index >= len(part.saved):
            if part.check:
                raise AutogradError(part.difference(self, f"it saved a tensor more: {described(entry)}"))
            return t
        if part.check and entry[:3] != part.saved[index][:3]:
            what = f"saved tensor {index} was {described(part.saved[index])} and became {described(entry)}"
            raise AutogradError(part.difference(self, what))
        if part.placeholders[index]() is not None:
            self.values[index] = t._array
        if part.early_stop and index == len(part.saved) - 1:
            raise _Enough
        return t


class _Enough(BaseException):
    """Ends the second run: all that backward needs is there. No Exception, so that a user's `except Exception` lets it pass."""


def _same(t: Tensor) -> Tensor:
    return t


def _unpack(placeholder: _Placeholder) -> Tensor:
    """The unpack hook of the first run: the recomputed data."""
    part, index, run = placeholder.part, placeholder.index, CURRENT.get()
    kept = placeholder.value if run is None or not run.keep else run.notes.get(part, {}).get(index)
    if kept is None:
        values = part.run_again()
        if index not in values:
            raise AutogradError("checkpoint: the second run did not reach what backward needs")
        kept = values[index]
        if run is not None and run.keep:  # another pass may follow: nothing may stay with the nodes
            run.notes[part] = values
        elif run is not None:
            for i, value in values.items():
                if (other := part.placeholders[i]()) is not None:
                    other.value = value
    return wrap_typed(kept, part.saved[index][2])


__all__ = ["checkpoint"]
