"""Softmax and log-softmax, and their gradients."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.dtypes import DType
from twofold.ir.types import TensorType
from twofold.ops.record import define, helper
from twofold.ops.reduction import require_float
from twofold.ops.summation import CHUNK, chunks, row_sums, working
from twofold.ops.typing import same


def _softmax_type(name: str) -> Any:
    def rule(input: TensorType, dim: int, dtype: DType | None) -> TensorType:
        require_float(name, dtype or input.dtype)
        return input.with_dtype(dtype or input.dtype)

    return rule


def _softmax_into(x: Any, out: Any, axis: int) -> None:
    np.subtract(x, np.maximum.reduce(x, axis=axis, keepdims=True), out=out)
    np.exp(out, out=out)
    total = row_sums(out) if axis == 1 and x.ndim == 2 else np.add.reduce(out, axis=axis, keepdims=True)
    np.divide(out, total, out=out)


def _log_softmax_into(x: Any, out: Any, axis: int) -> None:
    np.subtract(x, np.maximum.reduce(x, axis=axis, keepdims=True), out=out)
    np.subtract(out, np.log(np.add.reduce(np.exp(out), axis=axis, keepdims=True)), out=out)


def along_rows(function: Any, input: Any, dim: int, dtype: DType | None) -> Any:
    """A new array filled by `function(x, out, axis)`: in chunks of rows where `dim` is the last, contiguous one."""
    x = np.asarray(input) if dtype is None else np.asarray(input).astype(working(dtype), copy=False)
    out = np.empty_like(x)
    if x.ndim == 0:
        x, out = x.reshape(1), out.reshape(1)
    if x.size:
        if x.size > CHUNK and dim == x.ndim - 1 and x.flags.c_contiguous:
            x2, out2 = x.reshape(-1, x.shape[-1]), out.reshape(-1, x.shape[-1])
            for part in chunks(*x2.shape):
                function(x2[part], out2[part], 1)
        else:
            function(x, out, dim)
    return out.reshape(np.shape(input))


def _softmax(input: Any, dim: int, dtype: DType | None = None) -> Any:
    return along_rows(_softmax_into, input, dim, dtype)


def _log_softmax(input: Any, dim: int, dtype: DType | None = None) -> Any:
    return along_rows(_log_softmax_into, input, dim, dtype)


define(
    "softmax(Tensor input, Dim dim, *, dtype? dtype=None) -> Tensor",
    type_rule=_softmax_type("softmax"), reference=_softmax, cost="reduction", onnx="Softmax@13",
    gradient=(lambda g, result, input_dtype, dim, dtype: cast_back(softmax_backward(g, result, dim), dtype, input_dtype),),
    decomposition=lambda input, dim, dtype: softmax_parts(cast_to(input, dtype), dim),
    doc="exp(input) divided by its sum over `dim`, computed after taking out the maximum. `dtype`: convert the input first.",
)  # fmt: skip
define(
    "log_softmax(Tensor input, Dim dim, *, dtype? dtype=None) -> Tensor",
    type_rule=_softmax_type("log_softmax"), reference=_log_softmax, cost="reduction", onnx="LogSoftmax@13",
    gradient=(lambda g, result, input_dtype, dim, dtype: cast_back(log_softmax_backward(g, result, dim), dtype, input_dtype),),
    decomposition=lambda input, dim, dtype: log_softmax_parts(cast_to(input, dtype), dim),
    doc="The logarithm of `softmax`, computed as input - max - log(sum(exp(input - max))).",
)  # fmt: skip


@helper
def cast_to(input: Any, dtype: Any) -> Any:
    return input if dtype is None else to(input, dtype)


@helper
def softmax_parts(input: Any, dim: int) -> Any:
    if input.shape and input.shape[dim] == 0:
        return clone(input)
    e = exp(input - amax(input, (dim,), True))
    return e / sum(e, (dim,), True)


@helper
def log_softmax_parts(input: Any, dim: int) -> Any:
    if input.shape and input.shape[dim] == 0:
        return clone(input)
    shifted = input - amax(input, (dim,), True)
    return shifted - log(sum(exp(shifted), (dim,), True))


def _last(a: Any, dim: int) -> bool:
    return a.ndim > 0 and dim == a.ndim - 1


def _dot(a: Any, b: Any, dim: int) -> Any:
    """sum(a * b) over `dim`, kept."""
    if _last(a, dim):
        return np.vecdot(a, b)[..., None]
    return np.add.reduce(a * b, axis=None if a.ndim == 0 else dim, keepdims=True)


def _softmax_backward(grad: Any, output: Any, dim: int) -> Any:
    result = grad - _dot(grad, output, dim)
    result *= output
    return result


def _log_softmax_backward(grad: Any, output: Any, dim: int) -> Any:
    p = np.exp(output)
    p *= np.add.reduce(grad, axis=None if grad.ndim == 0 else dim, keepdims=True)
    return grad - p if grad.ndim == 0 else np.subtract(grad, p, out=p)


define(
    "softmax_backward(Tensor grad, Tensor output, Dim dim) -> Tensor",
    type_rule=same, reference=_softmax_backward, cost="reduction", method=False,
    gradient=(
        lambda g, output, dim: softmax_backward(g, output, dim),
        lambda g, grad, output, dim: g * (grad - sum(grad * output, (dim,), True)) - grad * sum(g * output, (dim,), True),
    ),
    decomposition=lambda grad, output, dim: output * (grad - sum(grad * output, (dim,), True)),
    doc="The gradient of softmax: output (grad - sum(grad output)).",
)  # fmt: skip
define(
    "log_softmax_backward(Tensor grad, Tensor output, Dim dim) -> Tensor",
    type_rule=same, reference=_log_softmax_backward, cost="reduction", method=False,
    gradient=(
        lambda g, output, dim: g - sum(g * exp(output), (dim,), True),
        lambda g, grad, output, dim: -(g * exp(output)) * sum(grad, (dim,), True),
    ),
    decomposition=lambda grad, output, dim: grad - exp(output) * sum(grad, (dim,), True),
    doc="The gradient of log_softmax: grad - exp(output) sum(grad).",
)  # fmt: skip
