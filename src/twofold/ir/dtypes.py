"""Data types and PyTorch's promotion rules.

A `DType` names an element type; there is one object for each, so `is` compares. 16-bit floats are stored as `ml_dtypes` / NumPy arrays and
computed in float32, rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.support.errors import DTypeError, UnsupportedError

BOOL, INTEGER, FLOAT = 0, 1, 2


class DType:
    """An element type. `category` is 0 for bool, 1 for integers, 2 for floats; `itemsize` in bytes; `numpy` the NumPy dtype."""

    __slots__ = ("category", "is_signed", "itemsize", "name", "numpy", "short")
    numpy: np.dtype

    def __init__(self, name: str, short: str, numpy: np.dtype | None, category: int, itemsize: int = 0) -> None:
        self.name, self.short, self.category = name, short, category
        if numpy is not None:
            self.numpy = numpy
        self.itemsize = itemsize if numpy is None else numpy.itemsize
        self.is_signed = category == FLOAT or (category == INTEGER and numpy is not None and numpy.kind == "i")

    def __getattr__(self, name: str) -> Any:
        """bfloat16's `numpy`, when it is first asked for: importing ml_dtypes takes 0.6 s with NumPy 2.4. All else is always there."""
        if name != "numpy":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        import ml_dtypes

        self.numpy = np.dtype(ml_dtypes.bfloat16)
        _BY_NUMPY[self.numpy] = self
        return self.numpy

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOAT

    @property
    def is_complex(self) -> bool:
        return False

    @property
    def is_low_precision(self) -> bool:
        """True for 16-bit floats, which are computed in float32."""
        return self.category == FLOAT and self.itemsize == 2

    def __repr__(self) -> str:
        return f"twofold.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> DType:
        return self

    def __deepcopy__(self, memo: object) -> DType:
        return self


bool_ = DType("bool", "bool", np.dtype(np.bool_), BOOL)
int8 = DType("int8", "i8", np.dtype(np.int8), INTEGER)
int16 = DType("int16", "i16", np.dtype(np.int16), INTEGER)
int32 = DType("int32", "i32", np.dtype(np.int32), INTEGER)
int64 = DType("int64", "i64", np.dtype(np.int64), INTEGER)
uint8 = DType("uint8", "u8", np.dtype(np.uint8), INTEGER)
uint16 = DType("uint16", "u16", np.dtype(np.uint16), INTEGER)
uint32 = DType("uint32", "u32", np.dtype(np.uint32), INTEGER)
uint64 = DType("uint64", "u64", np.dtype(np.uint64), INTEGER)
float16 = DType("float16", "f16", np.dtype(np.float16), FLOAT)
bfloat16 = DType("bfloat16", "bf16", None, FLOAT, itemsize=2)
float32 = DType("float32", "f32", np.dtype(np.float32), FLOAT)
float64 = DType("float64", "f64", np.dtype(np.float64), FLOAT)

DTYPES: tuple[DType, ...] = (
    bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, bfloat16, float32, float64,
)  # fmt: skip
BY_NAME = {d.name: d for d in DTYPES} | {"float": float32, "double": float64, "half": float16, "int": int32, "long": int64, "short": int16}
BY_SHORT = {d.short: d for d in DTYPES}
_BY_NUMPY: dict[np.dtype, DType] = {d.numpy: d for d in DTYPES if d is not bfloat16}
"""bfloat16 is added when it is first used."""
_WIDE_UNSIGNED = frozenset((uint16, uint32, uint64))


def from_numpy(dtype: np.dtype) -> DType:
    """The DType of a NumPy dtype; raises DTypeError for complex numbers, strings, objects and other byte orders."""
    try:
        return _BY_NUMPY[dtype]
    except KeyError:
        pass
    if dtype.name == bfloat16.name and dtype == bfloat16.numpy:
        return bfloat16
    if dtype.kind == "c":
        raise UnsupportedError(f"complex numbers ({dtype}) are not supported: keep real and imaginary parts as two tensors")
    if not dtype.isnative and dtype.newbyteorder("=") in _BY_NUMPY:
        raise DTypeError(
            f"arrays of foreign byte order ({dtype.str}) are not supported: convert with array.astype(array.dtype.newbyteorder('='))"
        )
    raise DTypeError(f"{dtype} has no tensor dtype; the dtypes are {', '.join(d.name for d in DTYPES)}")


def float_limits(dtype: np.dtype) -> Any:
    """`np.finfo` of a floating-point dtype (`ml_dtypes.finfo` of bfloat16)."""
    if dtype.kind == "f":
        return np.finfo(dtype)
    import ml_dtypes  # loaded already, since such a dtype exists

    return ml_dtypes.finfo(dtype)


def as_dtype(value: object) -> DType:
    """A DType from a DType, a NumPy dtype or scalar type, a Python type (bool, int, float) or a name."""
    if isinstance(value, DType):
        return value
    if value is bool:
        return bool_
    if value is int:
        return int64
    if value is float:
        return float32
    if value is complex:
        raise UnsupportedError("complex numbers are not supported: keep real and imaginary parts as two tensors")
    if isinstance(value, str) and value in BY_NAME:
        return BY_NAME[value]
    try:
        dtype = np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        raise DTypeError(f"{value!r} is not a dtype; the dtypes are {', '.join(d.name for d in DTYPES)}") from None
    return from_numpy(dtype)


_RANK = {d: i for i, d in enumerate((int8, int16, int32, int64))}


def promote_types(a: DType, b: DType) -> DType:
    """The dtype both operands are converted to, by PyTorch's table.

    uint16, uint32 and uint64 do not promote with other integers (DTypeError), as in PyTorch.
    """
    if a is b:
        return a
    if a.category != b.category:
        high, low = (a, b) if a.category > b.category else (b, a)
        if high.category == FLOAT or low is bool_:
            return high
    if a.category == FLOAT:
        if a.itemsize == b.itemsize:  # float16 and bfloat16
            return float32
        return a if a.itemsize > b.itemsize else b
    if a in _WIDE_UNSIGNED or b in _WIDE_UNSIGNED:
        raise DTypeError(f"{a.name} and {b.name} do not promote to a common dtype; convert one with .to(dtype)")
    if a is uint8 or b is uint8:
        other = b if a is uint8 else a
        return int16 if other is int8 else other
    return a if _RANK[a] > _RANK[b] else b


_default = [float32]


def get_default_dtype() -> DType:
    """The dtype of floating-point tensors made without one (float32 unless `set_default_dtype` changed it)."""
    return _default[0]


def set_default_dtype(dtype: object) -> None:
    """Set the dtype of floating-point tensors made without one; it must be a floating-point dtype."""
    d = as_dtype(dtype)
    if d.category != FLOAT:
        raise DTypeError(f"the default dtype must be a floating-point dtype, not {d.name}")
    _default[0] = d


def dtype_of_scalar(kind: type) -> DType:
    """The dtype a Python scalar of this type takes alone."""
    if kind is bool:
        return bool_
    if kind is int:
        return int64
    return get_default_dtype()
