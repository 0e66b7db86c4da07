"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twofold.support.errors import ArgumentError, StateDictError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS

Places = dict[str, tuple[dict[str, Any], str]]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with other tensors in place of its parameters and buffers, by name; the module itself stays as it is.

    parameter_and_buffer_dicts: one mapping of names to tensors, or several whose names differ. args: a tuple, or one argument.
    tie_weights: a tensor given for one name also stands for the others under which the module has the same parameter; ValueRangeError where
    they are given different tensors. strict: every parameter and buffer must be given. Unknown names raise StateDictError.
    """
    given = _merged(parameter_and_buffer_dicts)
    places = _places(module)
    unknown = [name for name in given if name not in places]
    if unknown:
        raise StateDictError(f"functional_call: {type(module).__name__} has no parameter or buffer {', '.join(map(repr, unknown))}")
    if tie_weights:
        given = _tied(given, places)
    if strict:
        missing = [name for name in places if name not in given]
        if missing:
            raise StateDictError(f"functional_call(strict=True): nothing was given for {', '.join(map(repr, missing))}")
    arguments = () if args is None else tuple(args) if isinstance(args, tuple) else (args,)
    before = [(table, key, table[key]) for table, key in (places[name] for name in given)]
    try:
        for name, t in given.items():
            table, key = places[name]
            table[key] = t
        return module(*arguments, **(kwargs or {}))
    finally:
        for table, key, t in before:
            table[key] = t


def _merged(dicts: Any) -> dict[str, Any]:
    """All names and tensors given."""
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence) or not all(isinstance(d, Mapping) for d in dicts):
        raise ArgumentError(f"functional_call: parameters are a dict of tensors or a sequence of them, not {type(dicts).__name__}")
    result: dict[str, Any] = {}
    for d in dicts:
        for name, t in d.items():
            if name in result:
                raise ValueRangeError(f"functional_call: {name!r} is given in more than one of the dicts")
            result[name] = t
    return result


def _places(module: Any) -> Places:
    """Where each parameter and buffer is kept: (table, key) by name, shared ones under every name."""
    result: Places = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for table in (part._parameters, part._buffers):
            for key, t in table.items():
                if t is not None:
                    result[f"{prefix}.{key}" if prefix else key] = (table, key)
    return result


def _tied(given: dict[str, Any], places: Places) -> dict[str, Any]:
    """The tensors for all names that mean the same parameter."""
    groups: dict[int, list[str]] = {}
    for name, (table, key) in places.items():
        groups.setdefault(id(table[key]), []).append(name)
    result = dict(given)
    for names in groups.values():
        found = {id(given[n]): given[n] for n in names if n in given}
        if len(found) > 1:
            raise ValueRangeError(
                f"functional_call: {', '.join(names)} are one parameter of the module, but different tensors were given for them"
            )
        for t in found.values():
            result.update(dict.fromkeys(names, t))
    return result


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(parameters, buffers) of modules of one kind, stacked along a new dimension 0, to run them as one under `vmap`.

    The stacked parameters are leaves that require grad where those of the modules do.
    """
    if not models:
        raise ArgumentError("stack_module_state: no modules were given")
    if any(m.training != models[0].training for m in models):
        raise ArgumentError("stack_module_state: all modules must be in training mode, or all in eval mode")
    if any(type(m) is not type(models[0]) for m in models):
        raise ArgumentError("stack_module_state: all modules must be of one class")
    parameters = _stacked([dict(m.named_parameters()) for m in models])
    return parameters, _stacked([dict(m.named_buffers()) for m in models])


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    result = {}
    for name, first in states[0].items():
        stacked = FUNCTIONS["stack"]([s[name].detach() for s in states])
        result[name] = stacked.requires_grad_(first.requires_grad) if first._type.dtype.is_floating_point else stacked
    return result


__all__ = ["functional_call", "stack_module_state"]
