"""Parameters that are functions of others: `register_parametrization(module, "weight", parametrization)`.

The module gets a class of its own, in which the parameter's name is a property that computes the value from `module.parametrizations`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from twofold.ir.mode import grad_mode
from twofold.nn.containers import ModuleDict, ModuleList
from twofold.nn.module import Module
from twofold.nn.parameter import Parameter
from twofold.support.errors import ModuleError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor

_cache: ContextVar[dict[tuple[int, str], Tensor] | None] = ContextVar("twofold_parametrization_cache", default=None)


@contextmanager
def cached() -> Iterator[None]:
    """Inside the block (of this thread or task) each parametrized tensor is computed once."""
    if _cache.get() is not None:
        yield
        return
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


def _as_parameter(t: Tensor, like: Any) -> Any:
    """The value as what it replaces: a parameter or a plain tensor."""
    if isinstance(like, Parameter):
        return t if isinstance(t, Parameter) else Parameter(t.detach(), bool(getattr(like, "requires_grad", True)))
    return t


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other to `original` (or `original0`, `original1`, … where the
    right inverse of the first gives several)."""

    def __init__(self, modules: list[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueRangeError("ParametrizationList needs at least one parametrization")
        super().__init__(modules)
        self.unsafe = unsafe
        new: Any = original
        with grad_mode(False):
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._place("original", new, original)
        else:
            for i, t in enumerate(new):
                self._place(f"original{i}", t, original)
        if not unsafe:
            self._check(original)

    def _place(self, name: str, new: Tensor, like: Tensor) -> None:
        if isinstance(like, Parameter):
            self.register_parameter(name, _as_parameter(new.clone() if new is like else new, like))
        else:
            self.register_buffer(name, new.detach() if new is like else new)

    def _check(self, original: Tensor) -> None:
        value = self()
        if not isinstance(value, Tensor):
            raise ValueRangeError(f"a parametrization must return a tensor, not {type(value).__name__}")
        if value._type.shape != original._type.shape or value._type.dtype is not original._type.dtype:
            raise ShapeError(
                f"a parametrization must keep type and shape: {original._type} became {value._type}; pass unsafe=True to allow this"
            )

    def originals(self) -> tuple[Tensor, ...]:
        """The tensors that are kept."""
        return (self.original,) if self.is_tensor else tuple(getattr(self, f"original{i}") for i in range(self.ntensors))

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrized tensor is `value` (as far as the parametrizations allow)."""
        with grad_mode(False):
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise ModuleError(f"{type(module).__name__} has no right_inverse: the parametrized tensor cannot be assigned")
                new = module.right_inverse(new)
            for old, t in zip(self.originals(), (new,) if self.is_tensor else new, strict=True):
                old.data = t.detach().clone()

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        first, *rest = list(self)
        x: Tensor = first(*self.originals())
        for module in rest:
            x = module(x)
        return x


def _property(name: str) -> property:
    def getter(self: Any) -> Tensor:
        table = _cache.get()
        if table is None:
            value: Tensor = self.parametrizations[name]()
            return value
        key = (id(self), name)
        if key not in table:
            table[key] = self.parametrizations[name]()
        return table[key]

    def setter(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(getter, setter)


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """Copies the module; the copy has a class of its own."""
    new: Any = object.__new__(type(self).__mro__[1])
    memo[id(self)] = new
    object.__getattribute__(new, "__dict__").update(copy.deepcopy(self.__dict__, memo))
    _give_class(new)
    for name in self.parametrizations:
        setattr(type(new), name, _property(name))
    return new


def _refuse_pickle(self: Any, protocol: Any = None) -> Any:
    raise ModuleError("a parametrized module cannot be pickled: keep its state_dict()")


def _give_class(module: Module) -> None:
    base = type(module)
    fields = {"__deepcopy__": _deepcopy, "__reduce_ex__": _refuse_pickle, "__module__": base.__module__}
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), fields)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """True if the module (or this tensor of it) is parametrized."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Make `module.<tensor_name>` the value of `parametrization(original)`; further ones are applied to the result. Returns the module.

    A `right_inverse` method of the parametrization gives the first original, and makes assignment possible. Unless `unsafe`, shape and
    dtype must stay. State-dict keys are `parametrizations.<tensor_name>.original` (original0, … for several). Raises ValueRangeError for a
    name that is neither parameter nor buffer, ShapeError where the shape changes.
    """
    if is_parametrized(module, tensor_name):
        found: Any = module.parametrizations[tensor_name]
        old = getattr(module, tensor_name)
        if hasattr(parametrization, "right_inverse"):
            with grad_mode(False):
                inner = parametrization.right_inverse(old.detach())
        else:
            inner = None
        if not unsafe and parametrization(old.detach())._type != old._type:
            raise ShapeError("a parametrization must keep type and shape; pass unsafe=True to allow another")
        if inner is not None:
            found.right_inverse(inner)
        found.append(parametrization)
        found.unsafe = found.unsafe or unsafe
        return module
    table = module._parameters if tensor_name in module._parameters else module._buffers
    original = table.get(tensor_name)
    if original is None:
        raise ValueRangeError(f"{type(module).__name__} has no parameter or buffer {tensor_name!r}")
    listed = ParametrizationList([parametrization], original, unsafe)
    del table[tensor_name]
    if not is_parametrized(module):
        _give_class(module)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = listed
    return module


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make the tensor a plain parameter (or buffer) again: with its present value, or with the original's. Returns the module."""
    if not is_parametrized(module, tensor_name):
        raise ValueRangeError(f"{type(module).__name__} has no parametrization of {tensor_name!r}")
    listed: Any = module.parametrizations[tensor_name]
    if not leave_parametrized and not listed.is_tensor:
        raise ValueRangeError(f"{tensor_name!r} has several originals; only leave_parametrized=True is possible")
    originals = listed.originals()
    parameter = isinstance(originals[0], Parameter)
    with grad_mode(False):
        value = getattr(module, tensor_name).detach() if leave_parametrized else originals[0].detach()
    wanted = any(t.requires_grad for t in originals)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type(module).__mro__[1]
    if parameter:
        if listed.is_tensor:
            kept = originals[0]
            kept.data = value
            module.register_parameter(tensor_name, kept)
        else:
            module.register_parameter(tensor_name, Parameter(value, wanted))
    else:
        module.register_buffer(tensor_name, value)
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class the module had before it was parametrized."""
    return type(module).__mro__[1] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Give `to_module` copies of the parametrizations (of one tensor or all) of `from_module`, with their originals. Returns it."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        source: Any = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in source:
            register_parametrization(to_module, name, copy.deepcopy(parametrization), unsafe=source.unsafe)
        target: Any = to_module.parametrizations[name]
        for old, t in zip(target.originals(), source.originals(), strict=True):
            old.data = t.detach().clone()
    return to_module
