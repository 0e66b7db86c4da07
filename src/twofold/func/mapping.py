"""`vmap`: a function of one example as a function of a batch of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from twofold.support.errors import VmapError
from twofold.support.pytree import TreeSpec, tree_flatten, tree_unflatten
from twofold.tensors.batched import LEVELS, BatchedTensor, Level, batched, new_level
from twofold.tensors.batching import run
from twofold.tensors.core import Tensor
from twofold.tensors.shapes import movedim

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that applies `func` to every example of its arguments at once.

    in_dims: the dimension of the positional arguments that counts examples: an int for all, or a structure like the arguments (a prefix of
    it will do) with an int or None, for "the same in all examples", at each leaf. Keyword arguments are the same in all examples, as in
    PyTorch. out_dims: where the batch is put in the results; None for a result that no mapped argument takes part in.
    randomness: what random operations do inside: "error" raises, "different" draws for each example, "same" draws once for all.
    chunk_size: how many examples are computed at once (all, by default): less memory, the same results.

    Inside, tensors have the shape of one example; operations on them run on all. What needs the value of one (`item()`, `if`, a mask as an
    index) raises VmapError, a ValueError and RuntimeError.
    """
    if randomness not in RANDOMNESS:
        raise VmapError(f"vmap: randomness must be 'error', 'different' or 'same', not {randomness!r}")
    if chunk_size is not None and chunk_size <= 0:
        raise VmapError(f"vmap: chunk_size must be None or greater than 0, not {chunk_size}")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, spec, size = batch_inputs(func, in_dims, args)
        if chunk_size is None:
            return one_batch(func, leaves, dims, spec, size, out_dims, randomness, kwargs)
        return in_chunks(func, leaves, dims, spec, size, out_dims, randomness, kwargs, chunk_size)

    return mapped


def name_of(func: Any) -> str:
    """A function's name for messages."""
    return getattr(func, "__name__", type(func).__name__)


def batch_inputs(func: Any, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[int | None], TreeSpec, Any]:
    """The leaves of the arguments, the (non-negative) dimension of each that counts examples, their structure, the number of examples."""
    head = f"vmap({name_of(func)}, in_dims={in_dims})"
    if not isinstance(in_dims, (int, tuple)):
        raise VmapError(f"{head}: in_dims must be an int or a tuple like the arguments, not {type(in_dims).__name__}")
    if not args:
        raise VmapError(f"{head}: the call has no positional arguments, so there is nothing to map over")
    leaves, spec = tree_flatten(args)
    dims = broadcast_prefix(in_dims, args, spec)
    if dims is None:
        raise VmapError(f"{head}: in_dims does not have the structure of the arguments, {spec}")
    sizes = []
    for i, (leaf, d) in enumerate(zip(leaves, dims, strict=True)):
        if d is None:
            continue
        if type(d) is not int:
            raise VmapError(f"{head}: entries of in_dims must be ints or None, not {type(d).__name__}")
        if not isinstance(leaf, Tensor):
            raise VmapError(f"{head}: argument leaf {i} is {type(leaf).__name__}, which has no dimension {d}; its in_dims must be None")
        rank = leaf._type.ndim
        if not -rank <= d < rank:
            raise VmapError(f"{head}: dimension {d} is out of range for argument leaf {i} of shape {tuple(leaf._type.shape)}")
        dims[i] = d % rank
        sizes.append(leaf._type.shape[d])
    if not sizes:
        raise VmapError(f"{head}: at least one argument must be a tensor that is mapped over")
    if any(n != sizes[0] for n in sizes):
        raise VmapError(f"{head}: the mapped dimensions must have one size, not {sizes}")
    return leaves, dims, spec, sizes[0]


def broadcast_prefix(prefix: Any, tree: Any, spec: TreeSpec) -> list[Any] | None:
    """An entry of `prefix` for every leaf of `tree`, whose upper part `prefix` looks like; None if it does not."""
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(tree_flatten(tree)[0])
    if spec.is_leaf or type(prefix) is not type(tree) or not isinstance(prefix, (tuple, list, dict)) or len(prefix) != len(tree):
        return [prefix] if spec.is_leaf and not isinstance(prefix, (tuple, list, dict)) else None
    if isinstance(prefix, dict):
        if prefix.keys() != tree.keys():
            return None
        pairs = [(prefix[k], tree[k]) for k in tree]
    else:
        pairs = list(zip(prefix, tree, strict=True))
    result: list[Any] = []
    for p, t in pairs:
        part = broadcast_prefix(p, t, tree_flatten(t)[1])
        if part is None:
            return None
        result.extend(part)
    return result


def one_batch(
    func: Any, leaves: list[Any], dims: list[int | None], spec: TreeSpec, size: Any, out_dims: Any, randomness: str, kwargs: dict[str, Any]
) -> Any:
    """`func` on all the examples at once."""
    level = Level(new_level(), size, randomness)
    inputs = [x if d is None else batched(movedim(x, d, 0) if d else x, level.number) for x, d in zip(leaves, dims, strict=True)]
    token = LEVELS.set((*LEVELS.get(), level))
    try:
        result = func(*tree_unflatten(inputs, spec), **kwargs)
    finally:
        LEVELS.reset(token)
    return opened(func, result, out_dims, level)


def opened(func: Any, result: Any, out_dims: Any, level: Level) -> Any:
    """What the function returned, with all examples."""
    outs, spec = tree_flatten(result)
    dims = output_dims(func, out_dims, result, spec)
    return tree_unflatten([open_one(func, t, d, level) for t, d in zip(outs, dims, strict=True)], spec)


def output_dims(func: Any, out_dims: Any, result: Any, spec: TreeSpec) -> list[Any]:
    """The entry of out_dims for each leaf of the result."""
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(result, Tensor):
        out_dims = out_dims[0]
    if isinstance(out_dims, tuple) and isinstance(result, list):
        out_dims = list(out_dims)
    found = broadcast_prefix(out_dims, result, spec)
    if found is None:
        raise VmapError(f"vmap({name_of(func)}): out_dims={out_dims} does not have the structure of what the function returned, {spec}")
    return found


def open_one(func: Any, t: Any, dim: Any, level: Level) -> Any:
    """One result with all examples; a result that is the same in all is repeated."""
    if not isinstance(t, Tensor):
        if dim is None:
            return t
        raise VmapError(
            f"vmap({name_of(func)}): the function returned {type(t).__name__}; it may only return tensors (or pass out_dims=None for it)"
        )
    mine = type(t) is BatchedTensor and t._level == level.number
    if dim is None:
        if mine:
            raise VmapError(f"vmap({name_of(func)}): a result that differs from example to example needs an out_dims, not None")
        return t
    if type(dim) is not int:
        raise VmapError(f"vmap({name_of(func)}): entries of out_dims must be ints or None, not {type(dim).__name__}")
    rank = t._type.ndim + 1
    if not -rank <= dim < rank:
        raise VmapError(f"vmap({name_of(func)}): out_dims={dim} is out of range for a result of shape {tuple(t._type.shape)}")
    inner = t._inner if type(t) is BatchedTensor and mine else run("expand", t, size=(level.size, *t._type.shape))
    return movedim(inner, 0, dim) if dim % rank else inner


def in_chunks(
    func: Any, leaves: list[Any], dims: list[int | None], spec: TreeSpec, size: int, out_dims: Any, randomness: str,
    kwargs: dict[str, Any], chunk_size: int,
) -> Any:  # fmt: skip
    """`func` on some examples after others."""
    bounds = list(range(0, int(size), chunk_size)) or [0]
    parts: list[list[Any]] = []
    for start in bounds:
        n = min(chunk_size, size - start)
        some = [x if d is None else x.narrow(d, start, n) for x, d in zip(leaves, dims, strict=True)]
        outs, out_spec = tree_flatten(one_batch(func, some, dims, spec, n, out_dims, randomness, kwargs))
        parts.append(outs)
    last = tree_unflatten(outs, out_spec)
    places = output_dims(func, out_dims, last, out_spec)
    joined = [joined_chunks(list(column), d) for column, d in zip(zip(*parts, strict=True), places, strict=True)]
    return tree_unflatten(joined, out_spec)


def joined_chunks(column: list[Any], dim: Any) -> Any:
    """One result's chunks put together."""
    if dim is None or len(column) == 1:
        return column[0]
    return run("cat", tuple(column), dim=dim)


def basis_chunks(total: int, chunk_size: int | None) -> list[tuple[int, int]]:
    """(start, end) of the parts that rows 0 … total are computed in."""
    step = total if chunk_size is None else chunk_size
    starts = range(0, total, max(step, 1))
    return list(itertools.pairwise([*starts, total]))


__all__ = ["vmap"]
