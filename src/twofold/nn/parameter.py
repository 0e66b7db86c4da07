"""Parameters and buffers: plain tensors with a mark, so that operations on them stay fast."""

from __future__ import annotations

from typing import Any

from twofold.support.errors import ArgumentError, DTypeError
from twofold.tensors.core import Symbol, Tensor, wrap_typed
from twofold.tensors.nodes import new_leaf


class _MarkedMeta(type):
    """`isinstance(t, Parameter)` asks for the mark."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and bool(getattr(instance, cls._mark, False))  # type: ignore[attr-defined]


class Parameter(metaclass=_MarkedMeta):
    """A tensor that is a parameter of the module it is assigned to.

    `Parameter(data, requires_grad=True)` returns a tensor that shares the memory of `data` and begins a new history; `isinstance(p,
    Parameter)` is true for it. It is a `Tensor` itself, not a subclass, so that nothing about it is slower.
    """

    _mark = "_is_param"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        if data is None:
            raise ArgumentError("Parameter needs a tensor")
        if not isinstance(data, Tensor) or isinstance(data, Symbol):
            raise ArgumentError(f"Parameter needs a concrete tensor, not {type(data).__name__}")
        if requires_grad and not data._type.dtype.is_floating_point:
            raise DTypeError(f"only floating-point parameters can require gradients, not {data._type.dtype.name}; pass requires_grad=False")
        t = wrap_typed(data._array, data._type)
        t._is_param = True
        if requires_grad:
            new_leaf(t)
        return t


class Buffer(metaclass=_MarkedMeta):
    """A tensor that becomes a buffer of the module it is assigned to. `persistent=False` keeps it out of the state dict."""

    _mark = "_is_buffer"

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if not isinstance(data, Tensor):
            raise ArgumentError(f"Buffer needs a tensor, not {type(data).__name__}")
        t = wrap_typed(data._array, data._type)
        t.__dict__["_is_buffer"] = True
        t.__dict__["_persistent"] = persistent
        return t
