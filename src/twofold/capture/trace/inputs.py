"""Arguments of a trace: names, example tensors, dynamic shapes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from twofold.ir import dims
from twofold.ir.types import TensorType
from twofold.support.errors import ArgumentError
from twofold.support.pytree import tree_flatten
from twofold.tensors.core import Tensor


class Dim:
    """A named dynamic dimension for `dynamic_shapes`: `Dim("batch", min=1, max=64)`."""

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        if not name.isidentifier():
            raise ArgumentError(f"a dynamic dimension needs an identifier as its name, not {name!r}")
        self.name, self.min, self.max = name, min, max

    def __repr__(self) -> str:
        return f"Dim({self.name!r}, min={self.min}, max={self.max})"


def split_examples(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """(args, kwargs) of what the caller gave as examples: a tuple or list of arguments, a dict of keyword arguments, or one argument."""
    if isinstance(example_inputs, dict):
        if not all(isinstance(k, str) for k in example_inputs):
            raise ArgumentError("example_inputs as a dict holds keyword arguments: its keys must be names")
        return (), dict(example_inputs)
    if isinstance(example_inputs, (tuple, list)) and type(example_inputs) in (tuple, list):
        return tuple(example_inputs), {}
    return (example_inputs,), {}


def argument_names(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """A name for each leaf of (args, kwargs), from the function's parameters and the path inside nested arguments."""
    try:
        names = list(inspect.signature(function).bind(*args, **kwargs).arguments)
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as e:
        if isinstance(e, TypeError):
            raise ArgumentError(f"the example inputs do not fit the function: {e}") from None
        names, parameters = [], {}  # type: ignore[assignment]
    positional: list[str] = []
    for name in names:
        if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            positional += [f"{name}_{i}" for i in range(len(args) - len(positional))]
        elif parameters[name].kind is not inspect.Parameter.VAR_KEYWORD and name not in kwargs:
            positional.append(name)
    positional += [f"arg{i}" for i in range(len(positional), len(args))]
    result: list[str] = []
    for name, value in [*zip(positional, args, strict=False), *kwargs.items()]:
        leaves, spec = tree_flatten(value)
        if spec.is_leaf:
            result.append(name)
        else:
            result += [name + _identifier(path) for path in leaf_paths(value, len(leaves))]
    return result


def positional_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the function's parameters that may be given by position or by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD)


def leaf_paths(value: Any, count: int) -> list[str]:
    """The path of each leaf inside a nested argument."""
    spec = tree_flatten(value)[1]
    paths = list(spec.paths()) if hasattr(spec, "paths") else []
    return paths if len(paths) == count else [f"_{i}" for i in range(count)]


def _identifier(path: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in path).rstrip("_")


def dynamic_types(
    dynamic_shapes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str], leaves: list[Any]
) -> dict[int, TensorType]:
    """The types, with symbolic dimensions, of the leaves that `dynamic_shapes` speaks of.

    dynamic_shapes: a dict by argument name, or a sequence by position; for each tensor None, or {dimension: name or Dim}, or a tuple with
    an entry for each dimension. The same name is the same size everywhere.
    """
    if dynamic_shapes is None:
        return {}
    if isinstance(dynamic_shapes, Mapping):
        unknown = [k for k in dynamic_shapes if k not in names]
        if unknown:
            raise ArgumentError(f"dynamic_shapes names {unknown[0]!r}, which is no tensor argument; there are {', '.join(names)}")
        wanted = [dynamic_shapes.get(n) for n in names]
    else:
        if not isinstance(dynamic_shapes, (tuple, list)):
            raise ArgumentError(
                f"dynamic_shapes must be a dict by argument name or a sequence by position, not {type(dynamic_shapes).__name__}"
            )
        wanted = list(dynamic_shapes) + [None] * (len(names) - len(dynamic_shapes))
        if len(wanted) > len(names):
            raise ArgumentError(f"dynamic_shapes has {len(wanted)} entries for {len(names)} arguments")
    symbols: dict[str, Any] = {}
    result: dict[int, TensorType] = {}
    for i, (spec, leaf, name) in enumerate(zip(wanted, leaves, names, strict=True)):
        if spec is None:
            continue
        if not isinstance(leaf, Tensor):
            raise ArgumentError(f"dynamic_shapes: {name} is no tensor")
        result[i] = _with_symbols(spec, leaf._type, name, symbols)
    return result


def _with_symbols(spec: Any, t: TensorType, name: str, symbols: dict[str, Any]) -> TensorType:
    entries = dict(spec) if isinstance(spec, Mapping) else dict(enumerate(spec))
    shape = list(t.shape)
    for d, given in entries.items():
        if given is None:
            continue
        if not isinstance(d, int) or not -t.ndim <= d < t.ndim:
            raise ArgumentError(f"dynamic_shapes: {name} has no dimension {d!r} (its shape is {t.shape})")
        given = Dim(given) if isinstance(given, str) else given
        if not isinstance(given, Dim):
            raise ArgumentError(f"dynamic_shapes: {name}, dimension {d}: expected a name or a Dim, not {given!r}")
        size = shape[d]
        if given.name not in symbols:
            symbols[given.name] = dims.symbol(given.name, 0 if given.min is None else given.min, given.max, size)
        known = symbols[given.name]
        if known.hint != size:
            raise ArgumentError(f"dynamic_shapes: {given.name} is {known.hint} in one example and {size} in {name}, dimension {d}")
        shape[d] = known
    return t.with_shape(tuple(shape))
