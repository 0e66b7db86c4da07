"""Scans: running sums, products, extrema, and the first-order recurrence that their gradients need."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT, DType
from twofold.ir.op import Joint
from twofold.ir.types import TensorType, tensor_type
from twofold.ops.record import define, helper
from twofold.ops.reduction import require_float
from twofold.ops.summation import working
from twofold.ops.typing import same
from twofold.support.errors import ShapeError


def _scan_type(input: TensorType, dim: int, dtype: DType | None) -> TensorType:
    return input.with_dtype(dtype or (input.dtype if input.dtype.category == FLOAT else dtypes.int64))


def _ready(input: Any, dtype: DType | None) -> Any:
    """The operand of a running sum or product, at least 1-d, in the dtype to add in."""
    if dtype is not None:
        input = input.astype(working(dtype))
    elif input.dtype.kind != "f":
        input = input.astype(np.int64)
    return np.atleast_1d(input)


def _accumulated(function: Any, a: Any, dim: int) -> Any:
    """The running result along `dim`. One element enters after the other, so float32 would lose a digit every ten: it is kept in
    float64, as PyTorch does."""
    if a.dtype != np.float32 or a.shape[dim] < 16:
        return function.accumulate(a, axis=dim)
    with np.errstate(over="ignore"):
        return function.accumulate(a, axis=dim, dtype=np.float64).astype(np.float32)


def _cumsum(input: Any, dim: int, dtype: DType | None = None) -> Any:
    return _accumulated(np.add, _ready(input, dtype), dim).reshape(input.shape)


def _cumprod(input: Any, dim: int, dtype: DType | None = None) -> Any:
    return _accumulated(np.multiply, _ready(input, dtype), dim).reshape(input.shape)


@helper
def reversed_cumsum(g: Any, dim: int, shape: Any) -> Any:
    """For each position the sum from there to the end."""
    return flip(cumsum(flip(g, (dim,)), dim), (dim,)) if shape else g


@helper
def cumprod_gradient(g: Any, input: Any, result: Any, dim: int, shape: Any) -> Any:
    """With y_k = x_0 … x_k: dx_i = y_(i-1) S_i where S_i = g_i + x_(i+1) S_(i+1). Nothing is divided, so zeros are exact."""
    if not shape:
        return g
    tail = linear_recurrence(shift(input, dim, -1, 0.0), g, dim, True)
    return shift(result, dim, 1, 1.0) * tail


define(
    "cumsum(Tensor input, Dim dim, *, dtype? dtype=None) -> Tensor",
    type_rule=_scan_type, reference=_cumsum, cost="scan", inplace=True, onnx="CumSum@14",
    gradient=(lambda g, input_shape, input_dtype, dim, dtype: cast_back(reversed_cumsum(g, dim, input_shape), dtype, input_dtype),),
    doc="Running sums along `dim`. Integers and bools are summed in int64.",
)  # fmt: skip
define(
    "cumprod(Tensor input, Dim dim, *, dtype? dtype=None) -> Tensor",
    type_rule=_scan_type, reference=_cumprod, cost="scan", inplace=True,
    gradient=(
        lambda g, input, result, input_shape, input_dtype, dim, dtype: cast_back(
            cumprod_gradient(g, input, result, dim, input_shape), dtype, input_dtype
        ),
    ),
    doc="Running products along `dim`. Integers and bools are multiplied in int64. The gradient is exact where elements are 0.",
)  # fmt: skip


def _shift(input: Any, dim: int, amount: int, fill: Any = 0.0) -> Any:
    n = input.shape[dim]
    result = np.full(input.shape, fill, input.dtype)
    lead = (slice(None),) * dim
    if abs(amount) < n:
        source = slice(-amount, None) if amount <= 0 else slice(0, n - amount)
        target = slice(amount, None) if amount > 0 else slice(0, n + amount)
        result[(*lead, target)] = input[(*lead, source)]
    return result


define(
    "shift(Tensor input, Dim dim, int amount, Scalar fill=0.0) -> Tensor",
    type_rule=same, reference=_shift, cost="copy", method=False,
    gradient=(lambda g, dim, amount: shift(g, dim, -amount, 0.0),),
    doc="The elements moved by `amount` places along `dim`; what falls off is lost, places left free are `fill`.",
)  # fmt: skip


def _recurrence_type(a: TensorType, b: TensorType, dim: int, reverse: bool) -> TensorType:
    if a.shape != b.shape or not a.shape:
        raise ShapeError(f"linear_recurrence: a of shape {a.shape} and b of shape {b.shape} must have one shape with a dimension")
    require_float("linear_recurrence", b.dtype)
    return b


def _linear_recurrence(a: Any, b: Any, dim: int, reverse: bool = False) -> Any:
    result = np.array(b)
    s, k = np.moveaxis(result, dim, 0), np.moveaxis(a, dim, 0)
    if reverse:
        s, k = s[::-1], k[::-1]
    for i in range(1, s.shape[0]):
        s[i] += k[i] * s[i - 1]
    return result


@helper
def recurrence_gradient(g: Any, a: Any, result: Any, dim: int, reverse: bool) -> Any:
    step = -1 if reverse else 1
    db = linear_recurrence(shift(a, dim, -step, 0.0), g, dim, not reverse)
    return db * shift(result, dim, step, 0.0), db


define(
    "linear_recurrence(Tensor a, Tensor b, Dim dim, bool reverse=False) -> Tensor",
    type_rule=_recurrence_type, reference=_linear_recurrence, cost="scan", method=False,
    gradient=Joint(lambda g, a, result, dim, reverse: recurrence_gradient(g, a, result, dim, reverse)),
    doc="""s_0 = b_0, s_i = a_i s_(i-1) + b_i along `dim`, from the end where `reverse`. a_0 is not used.

    Gradients of running products and of `logcumsumexp` are recurrences of this kind, and so is its own.""",
)  # fmt: skip


def _logcumsumexp_type(input: TensorType, dim: int) -> TensorType:
    require_float("logcumsumexp", input.dtype)
    return input


@helper
def logcumsumexp_gradient(g: Any, input: Any, result: Any, dim: int, shape: Any) -> Any:
    """dx_i = exp(x_i - y_i) S_i where S_i = g_i + exp(y_i - y_(i+1)) S_(i+1): no exponent is above 0."""
    if not shape:
        return g
    rise = shift(result - shift(result, dim, 1, 0.0), dim, -1, 0.0)
    return exp(input - result) * linear_recurrence(exp(-rise), g, dim, True)


define(
    "logcumsumexp(Tensor input, Dim dim) -> Tensor",
    type_rule=_logcumsumexp_type, cost="scan",
    reference=lambda input, dim: _accumulated(np.logaddexp, np.atleast_1d(input), dim).reshape(input.shape),
    gradient=(lambda g, input, result, input_shape, dim: logcumsumexp_gradient(g, input, result, dim, input_shape),),
    doc="The logarithms of running sums of exponentials along `dim`, without overflow.",
)  # fmt: skip


def _running_type(input: TensorType, dim: int) -> tuple[TensorType, TensorType]:
    return input, tensor_type(dtypes.int64, input.shape, input.device)


def _running(ufunc: Any, input: Any, dim: int) -> tuple[Any, Any]:
    """Running extremum and the latest index it came from."""
    a = np.atleast_1d(input)
    values = ufunc.accumulate(a, axis=dim)
    here = (a == values) | np.isnan(a) if a.dtype.kind == "f" else a == values
    place = np.arange(a.shape[dim]).reshape(-1, *(1,) * (a.ndim - dim - 1))
    indices = np.maximum.accumulate(np.where(here, place, 0), axis=dim)
    return values.reshape(input.shape), indices.reshape(input.shape)


@helper
def running_gradient(g: Any, indices: Any, dim: int, shape: Any, dtype: Any) -> Any:
    return scatter_add(zeros(shape, dtype=dtype), dim, indices, g) if shape else g


define(
    "cummax(Tensor input, Dim dim) -> (Tensor values, Tensor indices)",
    type_rule=_running_type, reference=lambda input, dim: _running(np.maximum, input, dim), cost="scan",
    gradient=(lambda g_values, indices, input_shape, input_dtype, dim: running_gradient(g_values, indices, dim, input_shape, input_dtype),),
    doc="Running maxima along `dim` and the latest index of each; from the first NaN on everything is NaN.",
)  # fmt: skip
define(
    "cummin(Tensor input, Dim dim) -> (Tensor values, Tensor indices)",
    type_rule=_running_type, reference=lambda input, dim: _running(np.minimum, input, dim), cost="scan",
    gradient=(lambda g_values, indices, input_shape, input_dtype, dim: running_gradient(g_values, indices, dim, input_shape, input_dtype),),
    doc="Running minima along `dim` and the latest index of each; from the first NaN on everything is NaN.",
)  # fmt: skip
