"""Which arguments of a function a transform is about, and what the function returned."""

from __future__ import annotations

from typing import Any

from twofold.support.errors import AutogradError
from twofold.support.pytree import tree_flatten
from twofold.tensors.core import Tensor

Argnums = int | tuple[int, ...]


def wrapped_argnums(what: str, argnums: Any, count: int) -> Argnums:
    """argnums counted from the front; raises AutogradError (a RuntimeError, as PyTorch's) where they do not fit."""
    if isinstance(argnums, int):
        if not -count <= argnums < count:
            raise AutogradError(f"{what}: argnums={argnums}, but the call has {count} positional argument(s)")
        return argnums % count
    if not isinstance(argnums, tuple) or not all(isinstance(i, int) for i in argnums):
        raise AutogradError(f"{what}: argnums must be an int or a tuple of ints, not {argnums!r}")
    if not argnums:
        raise AutogradError(f"{what}: argnums must not be empty")
    found = tuple(int(wrapped_argnums(what, i, count)) for i in argnums)  # type: ignore[arg-type]
    if len(set(found)) != len(found):
        raise AutogradError(f"{what}: argnums must be different arguments, not {argnums}")
    return found


def chosen(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """The arguments meant: one, or a tuple."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def replaced(args: tuple[Any, ...], argnums: Argnums, values: Any) -> tuple[Any, ...]:
    """The arguments with those meant replaced."""
    new = list(args)
    if isinstance(argnums, int):
        new[argnums] = values
    else:
        for i, v in zip(argnums, values, strict=True):
            new[i] = v
    return tuple(new)


def with_aux(what: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """(output, aux) of what a function returned."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise AutogradError(f"{what}(has_aux=True): the function must return a tuple (output, aux), not {type(result).__name__}")
    return result


def tensors_of(what: str, tree: Any) -> tuple[list[Tensor], Any]:
    """The tensors of a structure, and the structure; anything else in it is an error."""
    leaves, spec = tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise AutogradError(f"{what}: the function must return tensors, not {type(leaf).__name__}")
    if not leaves:
        raise AutogradError(f"{what}: the function returned no tensor")
    return leaves, spec
