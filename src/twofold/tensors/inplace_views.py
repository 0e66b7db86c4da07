"""`squeeze_`, `t_`, `transpose_`, …: a tensor takes another shape over the same memory. It becomes a view of a tensor that nobody else sees
and that has what it was: its memory, its history and its other views."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from twofold.ir.mode import grad_enabled
from twofold.ir.op import get_op
from twofold.support.errors import InplaceError, UnsupportedError
from twofold.tensors.alias import Alias, alias_of, live_views
from twofold.tensors.core import Tensor
from twofold.tensors.views import view_of


def become(name: str, self: Tensor, attributes: dict[str, Any]) -> Tensor:
    """Make the tensor the view that operation `name` gives of it.

    Raises InplaceError for a leaf that requires grad, UnsupportedError in a recorded graph and for examples of a mapped batch.
    """
    if self._array is None and self._type.device != "meta":
        raise UnsupportedError(f"{name}_: in a recorded graph or a mapped batch a tensor cannot change its shape in place; use {name}()")
    node = self._node
    if node is not None and node.is_accumulate:
        if grad_enabled():
            raise InplaceError(f"{name}_: a leaf that requires grad cannot be changed in place while gradients are recorded", "leaf")
        raise UnsupportedError(f"{name}_: the shape of a leaf that requires grad is its gradient's too and cannot be changed; use {name}()")
    alias = alias_of(self)
    source = self
    if alias is None or alias.base is None:
        source = former(self, alias)
    view = view_of(get_op(name), source, attributes)
    own = view._alias
    if source is not self:
        own.base._alias.views.append(weakref.ref(self))
    self._array, self._type, self._node, self._alias = view._array, view._type, view._node, own
    return self


def former(self: Tensor, alias: Alias | None) -> Tensor:
    """What the tensor was until now, as a tensor of its own; its views are views of that one from now on."""
    old = Tensor()
    old._array, old._type, old._node = self._array, self._type, self._node
    views = live_views(self)
    old._alias = Alias() if alias is None else alias
    for view in views:
        view._alias.base = old
    return old


def squeeze_(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """`squeeze` in place."""
    return become("squeeze", self, {"dim": tuple(dim) if isinstance(dim, list) else dim})


def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """`unsqueeze` in place."""
    return become("unsqueeze", self, {"dim": dim})


def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` in place."""
    return become("transpose", self, {"dim0": dim0, "dim1": dim1})


def t_(self: Tensor) -> Tensor:
    """`t` in place."""
    return become("t", self, {})


def as_strided_(self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """`as_strided` in place."""
    return become("as_strided", self, {"size": tuple(size), "stride": tuple(stride), "storage_offset": storage_offset})


FUNCTIONS: dict[str, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (squeeze_, unsqueeze_, transpose_, t_, as_strided_)} | {
    "swapaxes_": transpose_, "swapdims_": transpose_,
}  # fmt: skip
