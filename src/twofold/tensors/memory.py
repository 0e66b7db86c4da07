"""How elements lie in memory: tensors made with given strides, and tensors whose own shape or strides are changed in place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.ir.dtypes import as_dtype
from twofold.ir.mode import RECORDER
from twofold.ir.op import get_op
from twofold.ir.types import tensor_type
from twofold.ops.slicing import strided
from twofold.support.errors import (
    ArgumentError,
    AutogradError,
    DeviceError,
    InplaceError,
    ShapeError,
    UnsupportedError,
    ValueRangeError,
)
from twofold.tape.versions import has_escaped
from twofold.tensors.alias import alias_of, live_views
from twofold.tensors.batched import BatchedTensor
from twofold.tensors.core import Symbol, Tensor, memory, wrap_typed
from twofold.tensors.creation import finish, floating, literal, placed
from twofold.tensors.creation import from_numpy as shared
from twofold.tensors.dispatch import dispatch
from twofold.tensors.inplace import inplace
from twofold.tensors.shapes import format_name, sizes

# ---- tensors with given strides ------------------------------------------------------------------------------------------------


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of the given sizes and strides (in elements) to be written before it is read; its elements are zeros."""
    shape, steps = sizes("empty_strided", (tuple(size),)), sizes("empty_strided", (tuple(stride),))
    if len(shape) != len(steps):
        raise ShapeError(f"empty_strided: {len(shape)} sizes {shape} but {len(steps)} strides {steps}")
    if any(type(n) is int and n < 0 for n in (*shape, *steps)):
        raise ValueRangeError(f"empty_strided: sizes and strides must not be negative, not {shape}, {steps}")
    kind, where = floating(dtype), placed(device)
    if where == "meta" or RECORDER.get() is not None or any(type(n) is not int for n in shape):
        made = dispatch(get_op("empty"), (), {"size": shape, "dtype": kind, "device": where})  # no strides there
        return finish(made, requires_grad, "empty_strided")
    count = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    flat = np.zeros(max(count, 1), kind.numpy)
    array = strided(flat, shape, tuple(s * kind.itemsize for s in steps)) if count else np.zeros(shape, kind.numpy)
    return finish(literal(array), requires_grad, "empty_strided")


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor without gaps whose dimensions lie in memory in the order `physical_layout`, outermost first; its elements are zeros."""
    shape, order = tuple(size), tuple(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(f"empty_permuted: physical_layout must name each of the {len(shape)} dimensions once, not {order}")
    steps, step = [0] * len(shape), 1
    for d in reversed(order):
        steps[d] = step
        step *= max(shape[d], 1)
    return empty_strided(shape, steps, dtype=dtype, device=device, requires_grad=requires_grad)


def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """`empty_strided` with this tensor's dtype and device as defaults."""
    return empty_strided(size, stride, dtype=dtype or self._type.dtype, device=device or self._type.device, requires_grad=requires_grad)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor of `count` elements (-1: all) that shares the memory of an object with Python's buffer protocol, from byte `offset` on.

    A read-only buffer gives a tensor that cannot be written in place.
    """
    kind = as_dtype(dtype)
    room = memoryview(buffer).nbytes
    if not 0 <= offset < max(room, 1) or room == 0:
        raise ValueRangeError(f"frombuffer: offset {offset} lies outside the buffer of {room} bytes")
    if count == 0 or count < -1:
        raise ValueRangeError(f"frombuffer: count must be positive, or -1 for all, not {count}")
    rest = room - offset
    if count > 0 and count * kind.itemsize > rest:
        raise ValueRangeError(f"frombuffer: {count} elements of {kind.name} need {count * kind.itemsize} bytes, the buffer has {rest}")
    if count < 0 and rest % kind.itemsize:
        raise ValueRangeError(f"frombuffer: {rest} bytes are no whole number of {kind.name} elements ({kind.itemsize} bytes each)")
    number = count if count > 0 else rest // kind.itemsize
    raw = np.frombuffer(buffer, np.uint8, number * kind.itemsize, offset)
    return finish(shared(raw.view(kind.numpy)), requires_grad, "frombuffer")


# ---- the tensor itself changed -------------------------------------------------------------------------------------------------


def concrete(name: str, t: Tensor) -> None:
    """Refuse symbols, and changing a tensor's own shape while a graph is recorded: other holders of it would not see the change."""
    if not isinstance(t, Tensor):
        raise ArgumentError(f"{name}(): a tensor is needed, not {type(t).__name__}")
    if isinstance(t, (Symbol, BatchedTensor)) or RECORDER.get() is not None:
        raise UnsupportedError(
            f"{name} changes the tensor object itself, which a recorded graph or vmap cannot do; use the form without underscore"
        )
    if live_views(t):
        raise InplaceError(f"{name}: the tensor has views, which would not change with it; use the form without underscore", "view")


def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor itself another shape: its elements in memory order, cut off or (with zeros) added to. Returns it.

    Raises AutogradError where gradients are wanted, InplaceError for tensors that are views, have some, or share memory that is too small.
    """
    concrete("resize_", self)
    shape = sizes("resize_", size)
    if any(n < 0 for n in shape):
        raise ValueRangeError(f"resize_: negative size in {shape}")
    if self._node is not None:
        raise AutogradError("resize_: a tensor that requires grad cannot be resized; make a new one")
    out = tensor_type(self._type.dtype, shape, self._type.device)
    if shape == self._type.shape:
        return self
    if self._array is None:
        self._type = out
        return self
    alias = alias_of(self)
    if alias is not None and alias.base is not None:
        raise InplaceError("resize_: the tensor is a view; clone() it first", "view")
    array, count = memory(self), math.prod(shape)
    if count > array.size and (has_escaped(array) or not array.flags.owndata):
        raise InplaceError("resize_: the tensor's memory is shared and cannot grow; clone() it first", "view")
    flat = array.ravel(order="K")
    if count > array.size:
        flat = np.concatenate([flat, np.zeros(count - array.size, array.dtype)])
    made = flat[:count].reshape(shape)
    if format_name(memory_format) == "channels_last" and len(shape) == 4:
        made = made.reshape(tuple(shape[d] for d in (0, 2, 3, 1))).transpose(0, 3, 1, 2)
    self._array, self._type = made, out
    return self


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another tensor."""
    return resize_(input, tuple(the_template._type.shape), memory_format=memory_format)


def set_(self: Tensor, source: Tensor | None = None) -> Tensor:
    """Make the tensor share the memory of another, with its shape and strides; without one it becomes empty."""
    concrete("set_", self)
    if source is None:
        self.data = wrap_typed(np.zeros(0, self._type.dtype.numpy), tensor_type(self._type.dtype, (0,)))
        return self
    if not isinstance(source, Tensor):
        raise ArgumentError(f"set_(): the source must be a tensor, not {type(source).__name__} (there are no storage objects here)")
    if source._type.dtype is not self._type.dtype:
        raise ArgumentError(f"set_(): the source is {source._type.dtype.name}, the tensor {self._type.dtype.name}")
    self.data = source
    return self


# ---- elements by a Python function ---------------------------------------------------------------------------------------------


def _called(name: str, self: Tensor, others: tuple[Tensor, ...], function: Callable[..., Any]) -> Tensor:
    """Write function(element, …) into every element."""
    if isinstance(self, (Symbol, BatchedTensor)) or RECORDER.get() is not None:
        raise UnsupportedError(
            f"{name} calls a Python function for each element, which a recorded graph or vmap cannot hold; use tensor operations"
        )
    if self._array is None:
        raise DeviceError(f"{name}: a tensor on the meta device has no elements")
    if self._node is not None or any(t._node is not None for t in others):
        raise AutogradError(f"{name}: gradients cannot flow through a Python function of numbers; detach() the tensors first")
    columns = [memory(self)]
    for t in others:
        if t._type.dtype is not self._type.dtype:
            raise ArgumentError(f"{name}(): the tensors must have one dtype, not {self._type.dtype.name} and {t._type.dtype.name}")
        columns.append(np.broadcast_to(memory(t), self._type.shape))
    values = [function(*row) for row in zip(*(c.reshape(-1).tolist() for c in columns), strict=True)]
    result = np.array(values, self._type.dtype.numpy).reshape(self._type.shape)
    return inplace("copy", self, literal(result))


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element x by callable(x), a Python number. Slow; for tensors that do not require grad."""
    return _called("apply_", self, (), callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element x by callable(x, y), with y the element of `tensor` (broadcast) there."""
    return _called("map_", self, (tensor,), callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element a by callable(a, b, c), with b and c the elements of `x` and `y` (broadcast) there."""
    return _called("map2_", self, (x, y), callable)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal of a matrix, or of a tensor whose dimensions are all equal. wrap: in a matrix with more rows than
    columns the diagonal begins again, after a row left free."""
    shape = self._type.shape
    if len(shape) < 2:
        raise ShapeError(f"fill_diagonal_: a tensor of at least 2 dimensions is needed, not one of shape {tuple(shape)}")
    if len(shape) > 2 and len(set(shape)) != 1:
        raise ShapeError(f"fill_diagonal_: beyond 2 dimensions all must be equal, not {tuple(shape)}")
    mask = np.zeros(tuple(n.__index__() for n in shape), np.bool_)
    n = min(mask.shape)
    mask[(np.arange(n),) * mask.ndim] = True
    if wrap and mask.ndim == 2 and mask.shape[0] > mask.shape[1] + 1:
        mask.reshape(-1)[:: mask.shape[1] + 1] = True
    return inplace("masked_fill", self, literal(mask), value=fill_value)


# ---- questions -----------------------------------------------------------------------------------------------------------------


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """True if both tensors show the same memory with the same sizes and strides."""
    a, b = memory(self), memory(tensor)
    return bool(a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides and self._type.dtype is tensor._type.dtype)


def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions in the order they lie in memory, outermost first."""
    steps = self.stride()
    return tuple(sorted(range(len(steps)), key=lambda d: (-steps[d], d)))


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (empty_strided, empty_permuted, frombuffer)}
INPLACE: dict[str, Callable[..., Any]] = {f.__name__: f for f in (resize_, resize_as_, set_, apply_, map_, map2_, fill_diagonal_)}
METHODS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (new_empty_strided, is_set_to, dim_order)}
