"""A user's `Function` inside `vmap`: how its arguments and results are taken out of a level and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from twofold.support.errors import AutogradError, UnsupportedError
from twofold.support.pytree import tree_flatten, tree_map, tree_unflatten
from twofold.tape.namespaces import TENSOR
from twofold.tensors.batched import LEVELS, BatchedTensor, batched
from twofold.tensors.batching import run
from twofold.tensors.core import Tensor


class VmapInfo(NamedTuple):
    """What a Function's own `vmap` is told: the number of examples, and the `randomness` of the vmap."""

    batch_size: Any
    randomness: str


def holds(t: Any, level: int) -> bool:
    """True if `t` has the batch of `level` outermost."""
    return type(t) is BatchedTensor and t._level == level


def inner_of(t: Any, level: int) -> Any:
    """A tensor without the batch of `level`; anything else as it is."""
    return t._inner if type(t) is BatchedTensor and t._level == level else t


def size_of(args: Any, level: int) -> Any:
    """The number of examples at `level`."""
    return next(t._inner._type.shape[0] for t in tree_flatten(args)[0] if type(t) is BatchedTensor and t._level == level)


def user_rule(vmap: Callable[..., Any], name: str, args: tuple[Any, ...], level: int) -> Any:
    """Call a Function's own `vmap(info, in_dims, *args)`, which returns (outputs, out_dims)."""
    randomness = next((v.randomness for v in LEVELS.get() if v.number == level), "error")
    info = VmapInfo(size_of(args, level), randomness)
    in_dims = tree_map(lambda t: 0 if holds(t, level) else None, args)
    returned = vmap(info, in_dims, *tree_map(lambda t: inner_of(t, level), args))
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise AutogradError(f"{name}.vmap must return (outputs, out_dims), not {type(returned).__name__}")
    outputs, out_dims = returned
    leaves, spec = tree_flatten(outputs)
    dims = [out_dims] * len(leaves) if out_dims is None or isinstance(out_dims, int) else list(out_dims)
    if len(dims) != len(leaves):
        raise AutogradError(f"{name}.vmap returned {len(leaves)} outputs and {len(dims)} out_dims")
    found = [t if d is None else batched(TENSOR["movedim"](t, d, 0) if d else t, level) for t, d in zip(leaves, dims, strict=True)]
    return tree_unflatten(found, spec)


class Context:
    """`ctx` as one example of a level sees it; what is stored on it is stored on the real one."""

    def __init__(self, ctx: Any, level: int, size: Any, skipped: int) -> None:
        self.__dict__.update(_ctx=ctx, _level=level, _size=size, _skipped=skipped, _saved=())

    def save_for_backward(self, *tensors: Any) -> None:
        """See `FunctionNode.save_for_backward`."""
        self.__dict__["_saved"] = tuple(holds(t, self._level) for t in tensors)
        self._ctx.save_for_backward(*(inner_of(t, self._level) for t in tensors))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given."""
        return tuple(batched(t, self._level) if b else t for t, b in zip(self._ctx.saved_tensors, self._saved, strict=True))

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """See `FunctionNode.mark_non_differentiable`."""
        self._ctx.mark_non_differentiable(*(inner_of(t, self._level) for t in tensors))

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Not available inside `vmap`."""
        raise UnsupportedError("mark_dirty() inside vmap: a Function that changes arguments in place needs a vmap of its own")

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of forward whether it is a tensor that requires grad."""
        return tuple(self._ctx.needs_input_grad[self._skipped :])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


def unmapped(t: Any, level: int, size: Any) -> Any:
    """A result of all examples: repeated where it is the same in all."""
    if not isinstance(t, Tensor):
        return t
    return t._inner if type(t) is BatchedTensor and t._level == level else run("expand", t, size=(size, *t._type.shape))


def summed(t: Any, level: int, size: Any) -> Any:
    """A gradient of an argument that all examples share: the sum of theirs."""
    if t is None:
        return None
    return run("sum", t._inner, dim=(0,)) if holds(t, level) else run("mul", t, size)
