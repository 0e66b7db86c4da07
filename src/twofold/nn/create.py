"""New tensors for modules: always concrete, also while a graph is recorded."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from twofold.ir.dtypes import as_dtype, get_default_dtype, int64
from twofold.ir.types import tensor_type
from twofold.nn.parameter import Parameter
from twofold.support.errors import ArgumentError, DTypeError, OutOfMemory, ShapeError, TwofoldError
from twofold.tensors.core import Tensor, wrap, wrap_typed
from twofold.tensors.device import usable_device


def new_tensor(shape: tuple[int, ...], fill: float | None = None, device: Any = None, dtype: Any = None) -> Tensor:
    """A tensor of the default (or a given floating-point) dtype: uninitialised, or full of one number."""
    kind = get_default_dtype() if dtype is None else as_dtype(dtype)
    if not kind.is_floating_point:
        raise DTypeError(f"the dtype of a module's parameters must be a floating-point dtype, not {kind.name}")
    place = "cpu" if device is None else usable_device(device)
    shape = _sizes(shape)
    array = None
    if place == "cpu":
        try:
            array = np.empty(shape, kind.numpy) if fill is None else np.full(shape, fill, kind.numpy)
        except MemoryError:
            raise OutOfMemory(f"there is not enough memory for a parameter or buffer of shape {shape} and dtype {kind.name}") from None
        except ValueError as error:  # NumPy's own limits
            raise ShapeError(f"a parameter or buffer of shape {shape}: {error}") from None
    return wrap_typed(array, tensor_type(kind, shape, place))


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape as ints; raises ArgumentError, ShapeError."""
    try:
        sizes = tuple(operator.index(n) for n in shape)
    except TypeError as error:
        if isinstance(error, TwofoldError):
            raise
        raise ArgumentError(f"the sizes of a layer must be ints: it would have a parameter or buffer of shape {shape}") from None
    if min(sizes, default=0) < 0:
        raise ShapeError(f"the sizes of a layer must not be negative: it would have a parameter or buffer of shape {sizes}")
    return sizes


def new_parameter(shape: tuple[int, ...], device: Any = None, dtype: Any = None) -> Any:
    """An uninitialised parameter."""
    return Parameter(new_tensor(shape, None, device, dtype))


def counter(device: Any = None) -> Tensor:
    """A 0-d int64 tensor of zero."""
    if device is not None and usable_device(device) == "meta":
        return wrap_typed(None, tensor_type(int64, (), "meta"))
    return wrap(np.zeros((), np.int64))


def repeated(value: Any, count: int, what: str) -> tuple[Any, ...]:
    """`count` numbers from one number or a sequence of so many."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        values = tuple(value)
        if len(values) != count:
            raise ArgumentError(f"{what} must be one number or {count} numbers, not {values}")
        return values
    return (value,) * count
