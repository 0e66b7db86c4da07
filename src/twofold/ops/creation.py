"""Tensors made from attributes alone, copies, conversions, and what in-place writes of values mean."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import BOOL, FLOAT, DType, dtype_of_scalar
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, tensor_type
from twofold.ops.record import define, helper
from twofold.ops.typing import same
from twofold.support.errors import DeviceError, DTypeError, ShapeError, ValueRangeError


def sized(name: str, size: tuple[Any, ...], dtype: DType | None, device: str | None) -> TensorType:
    """The type of a new tensor; the default dtype is the default floating-point one."""
    for n in size:
        if type(n) is int and n < 0:
            raise ShapeError(f"{name}: negative size in {size}")
    return tensor_type(dtype or dtypes.get_default_dtype(), tuple(size), device or "cpu")


def number_as(name: str, value: bool | int | float, dtype: DType) -> Any:
    """A Python number in a dtype, a NumPy scalar; raises ValueRangeError where PyTorch does: outside the dtype's range, NaN as an integer.
    Negative numbers wrap in unsigned dtypes, fractions are cut off in integer ones."""
    if dtype.category == FLOAT:
        result = np.asarray(value, np.float64).astype(dtype.numpy) if abs(value) < math.inf else np.asarray(value).astype(dtype.numpy)
        if np.isinf(result) and abs(value) != math.inf:
            raise ValueRangeError(f"{name}: the value {value} is beyond the range of {dtype.name}")
        return result[()]
    if dtype.category == BOOL:
        return np.bool_(value)
    limits = np.iinfo(dtype.numpy)
    low = -int(limits.max) if not dtype.is_signed else int(limits.min)
    if value != value or not low <= value <= int(limits.max):
        raise ValueRangeError(f"{name}: the value {value} is outside the range of {dtype.name} ({limits.min} to {limits.max})")
    whole = int(value)
    return dtype.numpy.type(whole if whole >= 0 or dtype.is_signed else whole + 2 ** (8 * dtype.itemsize))


def filled(size: tuple[int, ...], value: Any, dtype: DType, name: str = "full") -> np.ndarray:
    """A new array in which every element is `value`."""
    number = number_as(name, value, dtype)
    return np.full(size, number, dtype.numpy) if value else np.zeros(size, dtype.numpy)


# ---- constants -----------------------------------------------------------------------------------------------------------------

define(
    "zeros(Shape size, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=lambda size, dtype, device: sized("zeros", size, dtype, device),
    reference=lambda size, dtype=None, device=None: np.zeros(size, (dtype or dtypes.get_default_dtype()).numpy),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False, onnx="ConstantOfShape@9",
    doc="A tensor of zeros.",
)  # fmt: skip
define(
    "ones(Shape size, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=lambda size, dtype, device: sized("ones", size, dtype, device),
    reference=lambda size, dtype=None, device=None: np.ones(size, (dtype or dtypes.get_default_dtype()).numpy),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False, onnx="ConstantOfShape@9",
    doc="A tensor of ones.",
)  # fmt: skip
define(
    "empty(Shape size, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=lambda size, dtype, device: sized("empty", size, dtype, device),
    reference=lambda size, dtype=None, device=None: np.zeros(size, (dtype or dtypes.get_default_dtype()).numpy),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False, onnx="ConstantOfShape@9",
    doc="A tensor whose elements are to be written before they are read. They are zeros, so that programs which forget repeat.",
)  # fmt: skip


def _full_dtype(fill_value: Any, dtype: DType | None) -> DType:
    return dtype or dtype_of_scalar(type(fill_value))


define(
    "full(Shape size, Scalar fill_value, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=lambda size, fill_value, dtype, device: sized("full", size, _full_dtype(fill_value, dtype), device),
    reference=lambda size, fill_value, dtype=None, device=None: filled(size, fill_value, _full_dtype(fill_value, dtype)),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False, onnx="ConstantOfShape@9",
    doc="A tensor in which every element is `fill_value`; the dtype is that of the value (bool, int64, or the default one).",
)  # fmt: skip


def _like_type(input: TensorType, dtype: DType | None = None, device: str | None = None, **attributes: Any) -> TensorType:
    return tensor_type(dtype or input.dtype, input.shape, device or input.device)


def _numpy(input: Any, dtype: DType | None) -> np.dtype:
    return input.dtype if dtype is None else dtype.numpy


define(
    "zeros_like(Tensor input, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_like_type, reference=lambda input, dtype=None, device=None: np.zeros_like(input, _numpy(input, dtype)),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    doc="Zeros of the input's shape, dtype and memory layout.",
)  # fmt: skip
define(
    "ones_like(Tensor input, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_like_type, reference=lambda input, dtype=None, device=None: np.ones_like(input, _numpy(input, dtype)),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    doc="Ones of the input's shape, dtype and memory layout.",
)  # fmt: skip
define(
    "empty_like(Tensor input, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_like_type, reference=lambda input, dtype=None, device=None: np.zeros_like(input, _numpy(input, dtype)),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    doc="A tensor of the input's shape and dtype to be written before it is read (its elements are zeros).",
)  # fmt: skip


def _full_like(input: Any, fill_value: Any, dtype: DType | None = None, device: str | None = None) -> np.ndarray:
    wanted = _numpy(input, dtype)
    return np.full_like(input, number_as("full_like", fill_value, dtypes.from_numpy(wanted)), wanted)


define(
    "full_like(Tensor input, Scalar fill_value, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_like_type, reference=_full_like, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    doc="A tensor of the input's shape and dtype in which every element is `fill_value`.",
)  # fmt: skip
define(
    "new_zeros(Tensor input, Shape size, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=lambda input, size, dtype, device: sized("new_zeros", size, dtype or input.dtype, device or input.device),
    reference=lambda input, size, dtype=None, device=None: np.zeros(size, _numpy(input, dtype)),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False, function=False, onnx="ConstantOfShape@9",
    doc="Zeros of another shape in the input's dtype and on its device.",
)  # fmt: skip

# ---- ranges --------------------------------------------------------------------------------------------------------------------


def _range_dtype(start: Any, end: Any, step: Any, dtype: DType | None) -> DType:
    return dtype or (dtypes.get_default_dtype() if float in (type(start), type(end), type(step)) else dtypes.int64)


def _range_size(start: Any, end: Any, step: Any) -> Any:
    """How many numbers a range has; sizes may be symbolic where the step is 1."""
    if any(hasattr(v, "is_symbolic_dim") for v in (start, end, step)):
        if step != 1:
            raise ValueRangeError("arange: with symbolic bounds the step must be 1")
        return end - start
    if not all(math.isfinite(v) for v in (start, end, step)):
        raise ValueRangeError(f"arange: start, end and step must be finite: {start}, {end}, {step}")
    if step == 0:
        raise ValueRangeError("arange: the step must not be zero")
    if (end - start) * step < 0:
        raise ValueRangeError(f"arange: a step of {step} does not lead from {start} to {end}")
    return -((start - end) // step) if type(start) is type(end) is type(step) is int else math.ceil((end - start) / step)


def _range_bounds(values: tuple[Any, ...], kind: DType) -> tuple[Any, ...]:
    """Start, end and step as a range of this dtype counts: of an integer dtype their whole parts, as PyTorch's."""
    if kind.category == FLOAT:
        return values
    return tuple(int(v) if type(v) is float and math.isfinite(v) else v for v in values)


def _arange_type(start: Any, end: Any, step: Any, dtype: DType | None, device: str | None) -> TensorType:
    kind = _range_dtype(start, end, step, dtype)
    if kind is dtypes.bool_:
        raise DTypeError("arange: bool is no dtype of a range")
    return sized("arange", (_range_size(*_range_bounds((start, end, step), kind)),), kind, device)


def _arange(start: Any, end: Any, step: Any = 1, dtype: DType | None = None, device: str | None = None) -> Any:
    kind = _range_dtype(start, end, step, dtype)
    start, end, step = _range_bounds((start, end, step), kind)
    steps = np.arange(_range_size(start, end, step))
    return ((steps * step if step != 1 else steps) + start).astype(kind.numpy)


define(
    "arange(any start, any end, any step=1, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_arange_type, reference=_arange, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False, onnx="Range@11",
    doc="The numbers start, start + step, … before `end`: int64 if all three are integers, otherwise the default dtype.",
)  # fmt: skip


def linear_steps(start: float, end: float, steps: int) -> np.ndarray:
    """`steps` numbers in float64 from start to end, both exact; the second half counts from the end, as PyTorch's does."""
    i = np.arange(steps)
    width = (end - start) / (steps - 1) if steps > 1 else 0.0
    return np.where(i < steps // 2 if steps > 1 else True, start + i * width, end - (steps - 1 - i) * width)


def _linspace(start: float, end: float, steps: int, dtype: DType | None = None, device: str | None = None) -> np.ndarray:
    kind = dtype or dtypes.get_default_dtype()
    first, last = _range_bounds((start, end), kind)
    return linear_steps(first, last, steps).astype(kind.numpy)


def _logspace(
    start: float, end: float, steps: int, base: float = 10.0, dtype: DType | None = None, device: str | None = None
) -> np.ndarray:
    kind = dtype or dtypes.get_default_dtype()
    first, last = _range_bounds((start, end), kind)
    return np.power(base, linear_steps(first, last, steps)).astype(kind.numpy)


def _space_type(name: str) -> Any:
    def rule(start: Any, end: Any, steps: Any, dtype: DType | None, device: str | None, base: float = 10.0) -> TensorType:
        if type(steps) is int and steps < 0:
            raise ValueRangeError(f"{name}: the number of steps must not be negative, not {steps}")
        return sized(name, (steps,), dtype, device)

    return rule


define(
    "linspace(Scalar start, Scalar end, int steps, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_space_type("linspace"), gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    reference=_linspace,
    doc="`steps` evenly spaced numbers from `start` to `end`, both included (of an integer dtype: between their whole parts).",
)  # fmt: skip
define(
    "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_space_type("logspace"), gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    reference=_logspace,
    doc="`base` to the powers of `steps` evenly spaced exponents from `start` to `end`.",
)  # fmt: skip
define(
    "eye(int n, int? m=None, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=lambda n, m, dtype, device: sized("eye", (n, n if m is None else m), dtype, device),
    reference=lambda n, m=None, dtype=None, device=None: np.eye(n, m, dtype=(dtype or dtypes.get_default_dtype()).numpy),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    doc="A matrix of n rows and m (or n) columns with ones on its main diagonal.",
)  # fmt: skip


def triangle_size(row: int, col: int, offset: int) -> int:
    """How many positions of a row × col matrix lie on or below diagonal `offset`."""
    return sum(max(0, min(col, i + offset + 1)) for i in range(row))


def _indices_type(name: str, lower: bool) -> Any:
    def rule(row: int, col: int, offset: int, dtype: DType | None, device: str | None) -> TensorType:
        if row < 0 or col < 0:
            raise ShapeError(f"{name}: negative size {row} x {col}")
        n = triangle_size(row, col, offset) if lower else row * col - triangle_size(row, col, offset - 1)
        return sized(name, (2, n), dtype or dtypes.int64, device)

    return rule


define(
    "tril_indices(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_indices_type("tril_indices", True), gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    reference=lambda row, col, offset=0, dtype=None, device=None:
        np.stack(np.tril_indices(row, offset, col)).astype((dtype or dtypes.int64).numpy),
    doc="The positions (a row of row numbers, a row of column numbers) of the lower triangle of a matrix.",
)  # fmt: skip
define(
    "triu_indices(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=_indices_type("triu_indices", False), gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False,
    reference=lambda row, col, offset=0, dtype=None, device=None:
        np.stack(np.triu_indices(row, offset, col)).astype((dtype or dtypes.int64).numpy),
    doc="The positions (a row of row numbers, a row of column numbers) of the upper triangle of a matrix.",
)  # fmt: skip

# ---- copies and conversions ----------------------------------------------------------------------------------------------------


def converted(a: Any, dtype: np.dtype) -> Any:
    """A copy in another dtype, quiet where numbers do not fit (infinity, or an unspecified integer, as PyTorch)."""
    if (a.dtype.kind in "fV" and dtype.kind != "b" and dtype.itemsize <= a.dtype.itemsize) or dtype.itemsize == 2:
        with np.errstate(all="ignore"):
            return a.astype(dtype)
    return a.astype(dtype)


define(
    "to(Tensor input, dtype dtype) -> Tensor",
    type_rule=lambda input, dtype: input.with_dtype(dtype),
    reference=lambda input, dtype: converted(input, dtype.numpy), any_dtype=True, cost="copy", node_name="ToCopyBackward0", method=False,
    gradient=(lambda g, input_dtype: to(g, input_dtype),), onnx="Cast@13",
    doc="The elements converted to another dtype.",
)  # fmt: skip


def _clone_type(input: TensorType, memory_format: str | None) -> TensorType:
    if memory_format not in (None, "preserve_format", "contiguous_format", "channels_last"):
        raise ValueRangeError(f"clone: memory_format {memory_format!r} is none of preserve_format, contiguous_format, channels_last")
    if memory_format == "channels_last" and input.ndim != 4:
        raise ShapeError(f"clone: channels_last needs a tensor of 4 dimensions, not one of shape {input.shape}")
    return input


def _clone(input: Any, memory_format: str | None = None) -> Any:
    if memory_format == "channels_last":
        return np.array(input.transpose(0, 2, 3, 1), order="C").transpose(0, 3, 1, 2)
    return np.array(input, order="C" if memory_format == "contiguous_format" else "K")


define(
    "clone(Tensor input, *, str? memory_format=None) -> Tensor",
    type_rule=_clone_type, reference=_clone, any_dtype=True, cost="copy", onnx="Identity@14",
    gradient=(lambda g: g,),
    doc="A copy with its own memory, in the same memory layout (or `memory_format`: contiguous_format, channels_last).",
)  # fmt: skip

# ---- values written in place -----------------------------------------------------------------------------------------------------


def _copy_type(input: TensorType, other: TensorType) -> TensorType:
    lead = other.ndim - input.ndim
    if lead > 0 or any(n not in (1, m) for n, m in zip(other.shape, input.shape[-lead:] if lead else input.shape, strict=True)):
        raise ShapeError(f"copy: a tensor of shape {other.shape} does not broadcast to shape {input.shape}, which is written")
    if input.device != other.device:
        raise DeviceError(f"copy: operands on different devices ({input.device} and {other.device})")
    return input


def _copy(input: Any, other: Any) -> Any:
    result = np.empty_like(input)
    if result.dtype == other.dtype:
        result[...] = other
    else:
        result[...] = converted(other, result.dtype)
    return result


@helper
def copied_gradient(g: Any, shape: Any, dtype: Any, from_dtype: Any) -> Any:
    """The gradient of the source of a copy, in its shape and dtype."""
    g = sum_to_size(g, shape)
    return g if dtype is from_dtype else to(g, dtype)


define(
    "copy(Tensor input, Tensor other) -> Tensor",
    type_rule=_copy_type, reference=_copy, any_dtype=True, cost="copy", node_name="CopyBackwards", inplace=True, method=False,
    function=False,
    gradient=(
        lambda g: zeros_like(g),
        lambda g, other_shape, other_dtype, input_dtype: copied_gradient(g, other_shape, other_dtype, input_dtype),
    ),
    doc="The elements of `other`, broadcast and converted to the input's shape and dtype.",
)  # fmt: skip
define(
    "fill(Tensor input, Scalar value) -> Tensor",
    type_rule=same, any_dtype=True, cost="copy", inplace=True, method=False,
    reference=lambda input, value: np.full_like(input, number_as("fill", value, dtypes.from_numpy(input.dtype))),
    gradient=(lambda g: zeros_like(g),),
    doc="A tensor of the input's type in which every element is `value`.",
)  # fmt: skip
define(
    "zero(Tensor input) -> Tensor",
    type_rule=same, reference=lambda input: np.zeros_like(input), any_dtype=True, cost="copy", inplace=True, method=False, function=False,
    gradient=(lambda g: zeros_like(g),),
    doc="Zeros of the input's type.",
)  # fmt: skip
