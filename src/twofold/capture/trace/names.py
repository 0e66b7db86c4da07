"""Names for tensors a traced function closes over: parameter paths of modules, variables of closures and globals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.nn.module import Module
from twofold.tensors.core import Tensor


def names_around(function: Callable[..., Any]) -> dict[int, str]:
    """id of tensor → path, for the tensors reachable by name from the function: its module's, its closure's, its globals'."""
    names: dict[int, str] = {}
    if isinstance(function, Module):
        _module(function, "", names)
        return names
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Module):
        _module(owner, "", names)
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return names
    cells = getattr(plain, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars, cells, strict=False):
        try:
            _value(cell.cell_contents, name, names)
        except ValueError:  # an empty cell
            continue
    space = getattr(plain, "__globals__", {})
    for name in code.co_names:
        if name in space:
            _value(space[name], name, names)
    return names


def _module(module: Module, prefix: str, names: dict[int, str]) -> None:
    for path, t in [*module.named_parameters(prefix, remove_duplicate=True), *module.named_buffers(prefix, remove_duplicate=True)]:
        names.setdefault(id(t), path)


def _value(value: Any, name: str, names: dict[int, str]) -> None:
    if isinstance(value, Module):
        _module(value, name, names)
    elif isinstance(value, Tensor):
        names.setdefault(id(value), name)
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            if isinstance(v, (Tensor, Module)):
                _value(v, f"{name}.{i}", names)
    elif isinstance(value, dict):
        for k, v in value.items():
            if isinstance(v, (Tensor, Module)) and isinstance(k, str):
                _value(v, f"{name}.{k}", names)


def modules_around(function: Callable[..., Any]) -> list[Module]:
    """The modules whose state the function may change by assignment: itself, its owner, those in its closure and globals."""
    found: list[Module] = []
    if isinstance(function, Module):
        found.append(function)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Module):
        found.append(owner)
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is not None:
        for cell in getattr(plain, "__closure__", None) or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if isinstance(value, Module):
                found.append(value)
        space = getattr(plain, "__globals__", {})
        found += [space[n] for n in code.co_names if n in space and isinstance(space[n], Module)]
    return found
