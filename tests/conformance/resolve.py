"""From an entry of torch's op_db to the callable here that a user would call in its place."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo

import twofold
from tests.conformance.convert import to_torch


def title(op: OpInfo) -> str:
    """The entry's name with its variant: `std/unbiased`."""
    return op.name + (f"/{op.variant_test_name}" if op.variant_test_name else "")


def entries() -> dict[str, OpInfo]:
    """All entries of op_db by title."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {title(op): op for op in op_db}


def attribute(root: Any, path: str) -> Any:
    """`root.a.b.c`, or None."""
    for part in path.split("."):
        try:
            root = getattr(root, part)
        except AttributeError:
            return None
    return root


class Namespace:
    """Stands for the module `torch` in torch's own test functions: attributes come from twofold."""

    strided = None
    layout = type(None)

    def __getattr__(self, name: str) -> Any:
        if name in ("random", "testing", "backends", "are_deterministic_algorithms_enabled"):
            return getattr(torch, name)
        if name in ("complex32", "complex64", "complex128"):
            return None
        return Masked() if name == "masked" else getattr(twofold, name)


class Masked:
    """Stands for `torch.masked`: torch's own tests ask it which results depend on a mask at all."""

    def __getattr__(self, name: str) -> Any:
        return getattr(twofold.masked, name)

    def _output_mask(self, op: Any, input: twofold.Tensor, *args: Any, **kwargs: Any) -> twofold.Tensor:
        return self._torchs("_output_mask", getattr(torch.masked, op.__name__), input, *args, **kwargs)

    def _input_mask(self, input: twofold.Tensor, *args: Any, **kwargs: Any) -> twofold.Tensor:
        return self._torchs("_input_mask", input, *args, **kwargs)

    @staticmethod
    def _torchs(name: str, *args: Any, **kwargs: Any) -> twofold.Tensor:
        given = tuple(to_torch(v.detach()) if isinstance(v, twofold.Tensor) else v for v in args)
        named = {k: to_torch(v.detach()) if isinstance(v, twofold.Tensor) else v for k, v in kwargs.items()}
        return twofold.from_numpy(getattr(torch.masked, name)(*given, **named).numpy().copy())


def call_directly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """In place of torch's `wrapper_set_seed`, which seeds torch's generator: seeds ours."""
    twofold.manual_seed(42)
    return function(*args, **kwargs)


def rebind(function: Any) -> Any:
    """The same Python function with `torch` meaning twofold: torch's wrappers around operations, and its processing of outputs."""
    if not isinstance(function, types.FunctionType):
        return function
    if function.__name__ == "wrapper_set_seed":
        return call_directly
    module = function.__module__ or ""
    if not module.startswith("torch.testing"):
        return function
    names = dict(function.__globals__, torch=Namespace(), wrapper_set_seed=call_directly)
    for name in function.__code__.co_names:
        inner = function.__globals__.get(name)
        if isinstance(inner, types.FunctionType) and inner is not function and name not in ("wrapper_set_seed",):
            names[name] = rebind(inner)
    cells = tuple(types.CellType(rebind(_content(cell))) for cell in function.__closure__ or ())
    clone = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    clone.__kwdefaults__ = function.__kwdefaults__
    return clone


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def home(name: str) -> Any:
    """What this name of op_db means here: a function of the package, else a method or attribute of tensors; None if absent."""
    found = None if name.startswith("__") else attribute(twofold, name)
    if found is None and attribute(torch, name) is None:
        found = getattr(twofold.Tensor, name, None)
        if found is None:
            found = getattr(twofold.Tensor, name + "_", None)
    return found


def find(op: OpInfo) -> Callable[..., Any] | None:
    """Our callable for the entry, or None."""
    found = home(op.name)
    if found is None:
        return None
    function = op.op
    if isinstance(function, types.FunctionType) and (function.__module__ or "").startswith("torch.testing"):
        return rebind(function)
    return found


def method(op: OpInfo) -> Callable[..., Any] | None:
    """The method form, where torch has one; None if torch has none."""
    if op.method_variant is None or not isinstance(op.name, str) or op.name.startswith("__"):
        return None
    name = getattr(op.method_variant, "__name__", op.name)
    if getattr(torch.Tensor, name, None) is None:
        return None
    return getattr(twofold.Tensor, name, absent(name))


def inplace(op: OpInfo) -> Callable[..., Any] | None:
    """The in-place form, where torch has one; None if torch has none."""
    variant = op.inplace_variant
    name = getattr(variant, "__name__", None)
    if variant is None or name is None or name == "<lambda>" or getattr(torch.Tensor, name, None) is None:
        return None
    return getattr(twofold.Tensor, name, absent(name))


def absent(name: str) -> Callable[..., Any]:
    """A function that says that the method does not exist."""

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise AttributeError(f"Tensor has no method {name}")

    return missing


def aliases(op: OpInfo) -> dict[str, bool]:
    """torch's other names of this operation, and whether each exists here."""
    names = [alias.name.removeprefix("torch.") for alias in op.aliases]
    return {name: attribute(twofold, name) is not None or hasattr(twofold.Tensor, name) for name in names}
