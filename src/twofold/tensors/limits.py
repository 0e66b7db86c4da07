"""What PyTorch keeps beside its tensors: limits of dtypes, promotion as functions, memory formats, constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir import dtypes, types
from twofold.ir.dtypes import DType, as_dtype, float_limits, get_default_dtype
from twofold.support.errors import ArgumentError, DTypeError
from twofold.tensors.core import Tensor

inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
newaxis = None


class memory_format:  # noqa: N801  (PyTorch's name)
    """An order of a tensor's elements in memory."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"twofold.{self._name}"

    def __reduce__(self) -> str:
        return self._name


contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
preserve_format = memory_format("preserve_format")


class layout:  # noqa: N801  (PyTorch's name)
    """How a tensor keeps its elements. There is one: `strided`, an array with a step for each dimension."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "twofold.strided"

    def __reduce__(self) -> str:
        return "strided"


strided = layout()


class finfo:  # noqa: N801  (PyTorch's name)
    """Limits of a floating-point dtype (default: the default dtype): bits, eps, max, min, tiny, smallest_normal, resolution, dtype (its
    name)."""

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: Any = None) -> None:
        d = get_default_dtype() if type is None else as_dtype(type)
        if not d.is_floating_point:
            raise DTypeError(f"finfo() is for floating-point dtypes, not {d.name}: use iinfo()")
        info = float_limits(d.numpy)
        self.dtype, self.bits, self.eps, self.resolution = d.name, d.itemsize * 8, float(info.eps), float(f"{float(info.resolution):.0e}")
        self.max, self.min, self.tiny = float(info.max), float(info.min), float(info.smallest_normal)
        self.smallest_normal = self.tiny

    def __repr__(self) -> str:
        parts = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{p}={getattr(self, p):g}' for p in parts)}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


class iinfo:  # noqa: N801  (PyTorch's name)
    """Limits of an integer dtype: bits, max, min, dtype (its name)."""

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: Any) -> None:
        d = as_dtype(type)
        if d.category != dtypes.INTEGER:
            raise DTypeError(f"iinfo() is for integer dtypes, not {d.name}" + (": use finfo()" if d.is_floating_point else ""))
        info = np.iinfo(d.numpy)
        self.dtype, self.bits, self.max, self.min = d.name, d.itemsize * 8, int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """The dtype an operation on two operands (tensors or Python numbers) computes in."""
    return types.result_type(_type_of(tensor1), _type_of(tensor2))


def _type_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._type
    if type(value) in (bool, int, float):
        return types.scalar_type(type(value))
    raise ArgumentError(f"result_type() takes tensors and Python numbers, not {type(value).__name__}")


def can_cast(from_: Any, to: Any) -> bool:
    """True if a result of dtype `from_` may be written to a tensor of dtype `to`: float to integer and integer to bool may not."""
    return as_dtype(from_).category <= as_dtype(to).category


def is_tensor(obj: object) -> bool:
    """True for a tensor (or a symbol)."""
    return isinstance(obj, Tensor)


__all__ = [
    "can_cast", "channels_last", "contiguous_format", "e", "finfo", "iinfo", "inf", "is_tensor", "layout",
    "memory_format", "nan", "newaxis", "pi",
    "preserve_format", "result_type", "strided",
]  # fmt: skip
