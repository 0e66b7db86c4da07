"""Reductions, sorts, normalisations and losses that choose between records, and those that are made of others.

Where PyTorch gives several signatures one name (`max()`, `max(dim)`, `max(a, b)`), the function here looks at its arguments and calls
the record that is meant. Results of two tensors are named tuples (`values`, `indices`), as PyTorch's are.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

from twofold.ir.dtypes import FLOAT
from twofold.ir.mode import grad_mode
from twofold.ir.op import get_op
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.shapes import reshape
from twofold.tensors.typing import Number


def _result(name: str) -> Any:
    """The class of a (values, indices) result."""

    def show(self: Any) -> str:
        return f"twofold.return_types.{name}(\nvalues={self[0]!r},\nindices={self[1]!r})"

    cls: Any = namedtuple(name, ("values", "indices"))  # type: ignore[misc]
    cls.__module__ = __name__
    setattr(cls, "__repr__", show)  # noqa: B010  (mypy takes __repr__ for a method)
    return cls


RESULTS: dict[str, Any] = {n: _result(n) for n in ("max", "min", "median", "sort", "topk", "kthvalue", "cummax", "cummin")}
"""The classes of results by the function's name."""


def _call(name: str, inputs: tuple[Any, ...], **attributes: Any) -> Any:
    """Run a record the generic way, so that the user's own line is the one remembered."""
    return dispatch(get_op(name), inputs, attributes)


def _pair(result: str, record: str, inputs: tuple[Any, ...], **attributes: Any) -> Any:
    return RESULTS[result](*_call(record, inputs, **attributes))


# ---- extrema, median -------------------------------------------------------------------------------------------------------------------


def _extremum(name: str, binary: str, input: Tensor, dim: Any, keepdim: bool, other: Tensor | None) -> Any:
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        if dim is not None or keepdim:
            raise ArgumentError(f"{name}(): give a second tensor, or dim and keepdim, not both")
        return _call(binary, (input, other))
    if dim is None:
        if keepdim:
            raise ArgumentError(f"{name}(): keepdim needs dim; use a{name}(input, keepdim=True) to keep all dimensions")
        return _call(name, (input,))
    return _pair(name, f"{name}_dim", (input,), dim=dim, keepdim=keepdim)


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The greatest element; with `dim` (values, indices) along that dimension; with a second tensor the elementwise maximum."""
    return _extremum("max", "maximum", input, dim, keepdim, other)


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The least element; with `dim` (values, indices) along that dimension; with a second tensor the elementwise minimum."""
    return _extremum("min", "minimum", input, dim, keepdim, other)


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """(amin, amax) of all elements or along one dimension."""
    return _call("amin", (input,), dim=dim, keepdim=keepdim), _call("amax", (input,), dim=dim, keepdim=keepdim)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all elements; with `dim` (values, indices) along that dimension."""
    if dim is None:
        return _call("median", (input,))
    return _pair("median", "median_dim", (input,), dim=dim, keepdim=keepdim)


# ---- sorting -----------------------------------------------------------------------------------------------------------------------------


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """(values, indices) sorted along `dim`; equal elements keep their order whatever `stable` says."""
    return _pair("sort", "sort", (input,), dim=dim, descending=descending, stable=stable)


def msort(input: Tensor) -> Tensor:
    """The elements sorted along the first dimension."""
    return sort(input, 0)[0]


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """(values, indices) of the `k` greatest (or least) elements along `dim`, in order."""
    return _pair("topk", "topk", (input,), k=k, dim=dim, largest=largest, sorted=sorted)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices) of the `k`-th least element along `dim`."""
    return _pair("kthvalue", "kthvalue", (input,), k=k, dim=dim, keepdim=keepdim)


def cummax(input: Tensor, dim: int) -> Any:
    """(values, indices): running maxima along `dim` and the latest index of each."""
    return _pair("cummax", "cummax", (input,), dim=dim)


def cummin(input: Tensor, dim: int) -> Any:
    """(values, indices): running minima along `dim` and the latest index of each."""
    return _pair("cummin", "cummin", (input,), dim=dim)


# ---- means, variances, norms -------------------------------------------------------------------------------------------------------------


def _spread_arguments(name: str, dim: Any, unbiased: bool | None, correction: Any) -> tuple[Any, Any]:
    """(dim, correction) of the older signatures, in which a bool says whether to correct."""
    if isinstance(dim, bool):
        if unbiased is not None:
            raise ArgumentError(f"{name}(): unbiased is given twice")
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise ArgumentError(f"{name}(): give unbiased or correction, not both")
        correction = int(unbiased)
    return dim, 1 if correction is None else correction


def var(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Number | None = None) -> Tensor:
    """The variance over `dim` (all by default). correction: what is taken off the number of elements (1); unbiased=False means 0."""
    dim, correction = _spread_arguments("var", dim, unbiased, correction)
    return _call("var", (input,), dim=dim, correction=correction, keepdim=keepdim)


def std(input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Number | None = None) -> Tensor:
    """The standard deviation over `dim` (all by default), see `var`."""
    dim, correction = _spread_arguments("std", dim, unbiased, correction)
    return _call("std", (input,), dim=dim, correction=correction, keepdim=keepdim)


def var_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Number | None = None
) -> tuple[Tensor, Tensor]:
    """(variance, mean) over `dim`."""
    dim, correction = _spread_arguments("var_mean", dim, unbiased, correction)
    return _call("var", (input,), dim=dim, correction=correction, keepdim=keepdim), _call("mean", (input,), dim=dim, keepdim=keepdim)


def std_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Number | None = None
) -> tuple[Tensor, Tensor]:
    """(standard deviation, mean) over `dim`."""
    dim, correction = _spread_arguments("std_mean", dim, unbiased, correction)
    return _call("std", (input,), dim=dim, correction=correction, keepdim=keepdim), _call("mean", (input,), dim=dim, keepdim=keepdim)


def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean over `dim` of the elements that are not NaN."""
    if input._type.dtype.category != FLOAT:
        raise DTypeError(f"nanmean takes floating-point tensors, not {input._type.dtype.name}; convert with .to(twofold.float32)")
    total = _call("nansum", (input,), dim=dim, keepdim=keepdim, dtype=dtype)
    there = _call("logical_not", (_call("isnan", (input,)),))
    return _call("div", (total, _call("sum", (there,), dim=dim, keepdim=keepdim, dtype=total._type.dtype)))


# ---- normalisation -----------------------------------------------------------------------------------------------------------------


def softmin(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """softmax(-input)."""
    return _call("softmax", (_call("neg", (input,)),), dim=dim, dtype=dtype)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """input divided by its p-norm over `dim`, or by `eps` where the norm is less."""
    size = _call("linalg_vector_norm", (input,), ord=p, dim=dim, keepdim=True)
    return _call("div", (input, _call("clamp", (size, eps, None))))


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel (dimension 1) of an (N, C, …) input.

    training: by this batch's mean and biased variance, and the running statistics that are given move towards the batch's mean and unbiased
    variance by `momentum`, in place; otherwise by the running statistics. Raises ValueRangeError for one value a channel in training.
    """
    shape = input._type.shape
    if tuple(shape) == (0,):
        return _call("clone", (input,))  # PyTorch takes an empty vector, of no channels
    sizes = (shape[0], *shape[2:]) if len(shape) >= 2 else ()
    if training:
        count: Any = 1
        for n in sizes:
            count = count * n
        if count == 1 and len(shape) >= 2:
            raise ValueRangeError(f"batch_norm: in training each channel needs more than one value; the input has shape {tuple(shape)}")
    output, mean, variance = _call("native_batch_norm", (input, weight, bias, running_mean, running_var), training=training, eps=eps)
    if training and (running_mean is not None or running_var is not None):
        with grad_mode(False):
            _move(running_mean, mean, momentum)
            if running_var is not None:
                _move(running_var, variance + _call("divide_by_count", (variance,), sizes=sizes, correction=1), momentum)
    return output


def _move(running: Tensor | None, batch: Tensor, momentum: float) -> None:
    """running += momentum (batch - running), in place."""
    if running is not None:
        if batch._type.dtype is not running._type.dtype:
            batch = _call("to", (batch,), dtype=running._type.dtype)
        running.lerp_(batch, momentum)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel of each sample of an (N, C, …) input over all other dimensions (or by running statistics)."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    shape = input._type.shape
    if len(shape) < 3:
        raise ShapeError(f"instance_norm: the input needs at least 3 dimensions (batch, channels, …), its shape is {tuple(shape)}")
    if all(type(n) is int for n in shape[2:]) and math.prod(shape[2:]) == 1:
        raise ShapeError(f"instance_norm: more than one value a channel is needed when training; the input's shape is {tuple(shape)}")
    output = _call("group_norm", (input, weight, bias), num_groups=shape[1], eps=eps)
    if running_mean is not None or running_var is not None:
        with grad_mode(False):
            dim = tuple(range(2, len(shape)))
            _move(running_mean, _call("mean", (input,), dim=(0, *dim)), momentum)
            if running_var is not None:
                _move(running_var, _call("mean", (_call("var", (input,), dim=dim),), dim=0), momentum)
    return output


# ---- losses ------------------------------------------------------------------------------------------------------------------------


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: None = None,
    ignore_index: int = -100,
    reduce: None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross-entropy between scores (N, C, …) and class indices (N, …), or probabilities of the scores' shape.

    weight: one a class. ignore_index: class index that does not count. label_smoothing: how much of each target is spread over all classes.
    reduction: "mean" (over indices weighted by `weight`, over samples with probabilities), "sum" or "none".
    """
    _refuse_old("cross_entropy", size_average, reduce)
    if target._type.dtype.category != FLOAT:
        return _call(
            "cross_entropy", (input, target, weight), reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
        )
    return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)


def _refuse_old(name: str, size_average: Any, reduce: Any) -> None:
    if size_average is not None or reduce is not None:
        raise ArgumentError(f"{name}(): size_average and reduce are not supported; use reduction='mean', 'sum' or 'none'")


def _soft_cross_entropy(input: Tensor, target: Any, weight: Tensor | None, reduction: str, label_smoothing: float) -> Tensor:
    """The same for probabilities of classes."""
    shape = input._type.shape
    if target._type.shape != shape:
        raise ShapeError(
            f"cross_entropy: floating-point targets are probabilities and need the input's shape {tuple(shape)}, "
            f"not {tuple(target._type.shape)}"
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueRangeError(f"cross_entropy: reduction must be 'mean', 'sum' or 'none', not {reduction!r}")
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueRangeError(f"cross_entropy: label_smoothing must be between 0 and 1, not {label_smoothing}")
    if not shape:
        raise ShapeError("cross_entropy: input needs a dimension of classes, its shape is ()")
    dim = 0 if len(shape) == 1 else 1
    if label_smoothing:
        even = _call(
            "divide_by_count", (_call("full", (), size=(), fill_value=label_smoothing, dtype=target._type.dtype),), sizes=(shape[dim],)
        )
        target = target * (1.0 - label_smoothing) + even
    logp = _call("log_softmax", (input,), dim=dim)
    if weight is not None:
        target = target * reshape(weight, tuple([n if i == dim else 1 for i, n in enumerate(shape)]))
    loss = -_call("sum", (logp * target,), dim=dim)
    if reduction == "none":
        return loss
    return _call("mean" if reduction == "mean" else "sum", (loss,))


def _kl_div(
    input: Tensor, target: Tensor, size_average: None = None, reduce: None = None, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target (log(target) - input) for log-probabilities `input`; reduction "batchmean" divides the sum by the first dimension's size."""
    _refuse_old("kl_div", size_average, reduce)
    if reduction != "batchmean":
        return _call("kl_div", (input, target), reduction=reduction, log_target=log_target)
    total = _call("kl_div", (input, target), reduction="sum", log_target=log_target)
    return _call("divide_by_count", (total,), sizes=input._type.shape[:1])


FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        max, min, aminmax, median, sort, msort, topk, kthvalue, cummax, cummin, var, std, var_mean, std_mean, nanmean,
        softmin, normalize, batch_norm, instance_norm, cross_entropy,
    )
} | {"kl_div": _kl_div}  # fmt: skip
METHODS = {name: FUNCTIONS[name] for name in ("max", "min", "median", "sort", "topk", "kthvalue", "cummax", "cummin", "var", "std")}
