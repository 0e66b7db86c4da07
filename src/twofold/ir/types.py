"""Types of values: tensors, Python scalars, tokens. Interned: there is one object for each type, so `is` compares and hashing is by
identity.

`TensorType(dtype, shape, device)` says all that a graph knows of a tensor: strides are no part of it. A dimension is an int or a symbolic
expression (`ir.dims.Dim`).
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from twofold.ir import dtypes
from twofold.ir.dtypes import INTEGER, DType, promote_types
from twofold.support.errors import DeviceError

TABLE_LIMIT = 1 << 16
"""Entries of the array-to-type table; beyond it the table is emptied (types themselves live as long as something uses them)."""


class Type:
    """Base of all types of values."""

    __slots__ = ()


class TensorType(Type):
    """dtype, shape and device of a tensor. Make one with `tensor_type`.

    `fast` is True where the inlined forms of operations may be used: float32 or float64 data in memory.
    """

    __slots__ = ("__weakref__", "device", "dtype", "fast", "ndim", "shape")

    def __init__(self, dtype: DType, shape: tuple[Any, ...], device: str) -> None:
        self.dtype, self.shape, self.device = dtype, shape, device
        self.ndim = len(shape)
        self.fast = device == "cpu" and (dtype is dtypes.float32 or dtype is dtypes.float64)

    @property
    def numel(self) -> Any:
        """The number of elements (an int, or a symbolic expression)."""
        count: Any = 1
        for n in self.shape:
            count = count * n
        return count

    @property
    def nbytes(self) -> Any:
        return self.numel * self.dtype.itemsize

    @property
    def is_static(self) -> bool:
        """True if every dimension is an int."""
        return all(type(n) is int for n in self.shape)

    def with_shape(self, shape: tuple[Any, ...]) -> TensorType:
        return tensor_type(self.dtype, shape, self.device)

    def with_dtype(self, dtype: DType) -> TensorType:
        return tensor_type(dtype, self.shape, self.device)

    def __repr__(self) -> str:
        device = "" if self.device == "cpu" else f"@{self.device}"
        return f"{self.dtype.short}[{', '.join(map(str, self.shape))}]{device}"

    def __reduce__(self) -> tuple[object, ...]:
        return tensor_type, (self.dtype, self.shape, self.device)


class ScalarType(Type):
    """A Python number used as an operand: `kind` is bool, int or float. It takes part in promotion by its category only."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return self.kind.__name__

    def __reduce__(self) -> tuple[object, ...]:
        return scalar_type, (self.kind,)


class TokenType(Type):
    """The type of values that only order effects."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "token"

    def __reduce__(self) -> str:
        return "TOKEN"


TOKEN = TokenType()
_SCALARS: dict[type, ScalarType] = {k: ScalarType(k) for k in (bool, int, float)}
_types: weakref.WeakValueDictionary[tuple[DType, tuple[Any, ...], str], TensorType] = weakref.WeakValueDictionary()
_lock = threading.Lock()
_of_array: dict[tuple[int, tuple[int, ...]], TensorType] = {}


def scalar_type(kind: type) -> ScalarType:
    """The type of Python scalars of class `kind` (bool, int or float)."""
    return _SCALARS[kind]


def tensor_type(dtype: DType, shape: tuple[Any, ...], device: str = "cpu") -> TensorType:
    """The interned tensor type."""
    key = (dtype, shape, device)
    found = _types.get(key)
    if found is None:
        if device not in ("cpu", "meta"):
            raise DeviceError(f"device {device!r} does not exist here: Twofold runs on 'cpu' (and 'meta', shapes without data)")
        with _lock:
            found = _types.get(key)
            if found is None:
                found = _types[key] = TensorType(dtype, shape, device)
    return found


def type_of(array: Any) -> TensorType:
    """The type of a NumPy array or NumPy scalar."""
    key = (array.dtype.num, array.shape)
    found = _of_array.get(key)
    if found is None:
        found = tensor_type(dtypes.from_numpy(array.dtype), array.shape)
        if len(_of_array) >= TABLE_LIMIT:
            _of_array.clear()
        if array.dtype.isnative:
            _of_array[key] = found
    elif not array.dtype.isnative:
        dtypes.from_numpy(array.dtype)
    return found


def result_type(*operands: Type) -> DType:
    """PyTorch's result dtype: tensors with dimensions first, then 0-d tensors, then Python scalars; a later group only matters if its
    category (bool < integer < float) is higher."""
    best: list[DType | None] = [None, None, None]
    for t in operands:
        if type(t) is TensorType:
            rank, d = (0 if t.ndim else 1), t.dtype
        elif type(t) is ScalarType:
            rank, d = 2, dtypes.dtype_of_scalar(t.kind)
        else:
            continue
        current = best[rank]
        best[rank] = d if current is None else promote_types(current, d)
    result: DType | None = None
    for group in best:
        if group is not None and (result is None or group.category > result.category):
            result = group
    assert result is not None, "result_type needs a tensor or scalar operand"
    return result


def common_device(operands: tuple[Type, ...], name: str) -> str:
    """The one device of the tensor operands; raises DeviceError naming the operation when they differ."""
    device = None
    for t in operands:
        if type(t) is TensorType and t.device != device:
            if device is not None:
                raise DeviceError(f"{name}: operands on different devices ({device} and {t.device}); move one with .to(device)")
            device = t.device
    return device or "cpu"


def is_integral(dtype: DType) -> bool:
    """True for integers and bool."""
    return dtype.category <= INTEGER
