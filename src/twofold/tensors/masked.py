"""Reductions and normalisations over the elements that a bool mask lets through: what `twofold.masked` has.

`mask` broadcasts to the input; elements where it is False count as not there. Where nothing is left a sum is 0, a product 1, an extremum
the least or greatest value of the dtype, a mean NaN. The names, arguments and results are those of `torch.masked` on strided tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT, DType, as_dtype
from twofold.ir.op import get_op, wrap_dim
from twofold.ops.typing import broadcast_shapes
from twofold.support.errors import ArgumentError, DimensionError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.limits import iinfo
from twofold.tensors.shapes import expand, reshape
from twofold.tensors.typing import DTypeLike, Number


def run(name: str, *inputs: Any, **attributes: Any) -> Any:
    """A record on tensors, so that the user's own line is the one remembered."""
    return dispatch(get_op(name), inputs, attributes)


# ---- parts ---------------------------------------------------------------------------------------------------------------------


def dims_of(name: str, dim: Any, rank: int) -> tuple[int, ...]:
    """The dimensions to reduce, counted from the front; None and () mean all."""
    if dim is None or dim == ():
        return tuple(range(rank))
    found = tuple(wrap_dim(d, rank, name) for d in ((dim,) if isinstance(dim, int) else dim))
    if len(set(found)) != len(found):
        raise DimensionError(f"masked.{name}: a dimension is given twice in dim={dim}")
    return tuple(sorted(found)) if rank else ()


def mask_of(name: str, input: Tensor, mask: Tensor) -> Tensor:
    """The mask as bool, in the input's shape."""
    if not isinstance(mask, Tensor):
        raise ArgumentError(f"masked.{name}(): the mask must be a tensor, not {type(mask).__name__}")
    if mask._type.dtype is not dtypes.bool_:
        mask = run("ne", mask, 0)
    shape = input._type.shape
    if mask._type.ndim > len(shape):
        raise DimensionError(
            f"masked.{name}: the mask of shape {tuple(mask._type.shape)} has more dimensions than the input ({tuple(shape)})"
        )
    if broadcast_shapes(f"masked.{name}", mask._type.shape, shape) != shape:
        raise ShapeError(
            f"masked.{name}: the mask of shape {tuple(mask._type.shape)} does not broadcast to the input's shape {tuple(shape)}"
        )
    return mask if mask._type.shape == shape else expand(mask, shape)


def filled(name: str, input: Tensor, mask: Tensor | None, value: Any) -> Tensor:
    """The input with `value` where the mask is False."""
    if mask is None:
        return input
    return run("masked_fill", input, run("logical_not", mask_of(name, input, mask)), value=value)


def extreme(name: str, dtype: DType, sign: int) -> Any:
    """The greatest (sign 1) or least (-1) value of a dtype."""
    if dtype.category == FLOAT:
        return sign * math.inf
    if dtype is dtypes.bool_:
        raise DTypeError(f"masked.{name} takes numbers, not bool; convert with .to(dtype)")
    return iinfo(dtype).max if sign > 0 else iinfo(dtype).min


def widened(dtype: DType) -> DType:
    """The dtype of sums and products: int64 for integers and bool."""
    return dtype if dtype.category == FLOAT else dtypes.int64


def kind(input: Tensor, dtype: DTypeLike | None) -> DType:
    """The dtype asked for, by default the input's."""
    return input._type.dtype if dtype is None else as_dtype(dtype)


def cast(t: Tensor, dtype: DType) -> Tensor:
    """The tensor in a dtype."""
    return t if t._type.dtype is dtype else run("to", t, dtype=dtype)


def over(name: str, t: Tensor, dims: tuple[int, ...], keepdim: bool, **attributes: Any) -> Tensor:
    """A reduction of a record over several dimensions (none for a 0-d tensor)."""
    return run(name, t, dim=dims or None, keepdim=keepdim, **attributes)


# ---- sums and products ---------------------------------------------------------------------------------------------------------


def sum(
    input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The sum over `dim` (all by default) of the elements where the mask is True."""
    out = widened(input._type.dtype) if dtype is None else as_dtype(dtype)
    return over("sum", filled("sum", input, mask, 0), dims_of("sum", dim, input._type.ndim), bool(keepdim), dtype=out)


def prod(
    input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The product over `dim` (all by default) of the elements where the mask is True."""
    out = widened(input._type.dtype) if dtype is None else as_dtype(dtype)
    result = cast(filled("prod", input, mask, 1), out)
    for d in reversed(dims_of("prod", dim, input._type.ndim)):
        result = run("prod", result, dim=d, keepdim=bool(keepdim), dtype=None)
    return result


def cumsum(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """Running sums along `dim` in which elements where the mask is False count as 0."""
    out = kind(input, dtype)
    return cast(run("cumsum", filled("cumsum", input, mask, 0), dim=dim, dtype=out), out)


def cumprod(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """Running products along `dim` in which elements where the mask is False count as 1."""
    out = kind(input, dtype)
    return cast(run("cumprod", filled("cumprod", input, mask, 1), dim=dim, dtype=out), out)


# ---- extrema -------------------------------------------------------------------------------------------------------------------


def amax(
    input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The greatest element over `dim` (all by default) where the mask is True; -inf or the dtype's least value where none is."""
    shown = input if mask is None else filled("amax", input, mask, extreme("amax", input._type.dtype, -1))
    return cast(over("amax", shown, dims_of("amax", dim, input._type.ndim), bool(keepdim)), kind(input, dtype))


def amin(
    input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The least element over `dim` (all by default) where the mask is True; inf or the dtype's greatest value where none is."""
    shown = input if mask is None else filled("amin", input, mask, extreme("amin", input._type.dtype, 1))
    return cast(over("amin", shown, dims_of("amin", dim, input._type.ndim), bool(keepdim)), kind(input, dtype))


def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The index of the greatest element where the mask is True, along `dim` or of the flattened tensor; in the input's dtype by default."""
    shown = input if mask is None else filled("argmax", input, mask, extreme("argmax", input._type.dtype, -1))
    return cast(run("argmax", shown, dim=dim, keepdim=bool(keepdim)), kind(input, dtype))


def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The index of the least element where the mask is True, along `dim` or of the flattened tensor; in the input's dtype by default."""
    shown = input if mask is None else filled("argmin", input, mask, extreme("argmin", input._type.dtype, 1))
    return cast(run("argmin", shown, dim=dim, keepdim=bool(keepdim)), kind(input, dtype))


# ---- means and spread ----------------------------------------------------------------------------------------------------------


def _counts(name: str, input: Tensor, dims: tuple[int, ...], keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements count."""
    there = run("ones_like", input, dtype=dtypes.int64) if mask is None else mask_of(name, input, mask)
    return over("sum", there, dims, keepdim, dtype=None)


def mean(
    input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The mean over `dim` (all by default) of the elements where the mask is True; NaN where none is."""
    out = kind(input, dtype)
    if out.category != FLOAT:
        raise ValueRangeError(f"masked.mean: the result must be floating-point, not {out.name}; pass dtype=twofold.float32")
    count = _counts("mean", input, dims_of("mean", dim, input._type.ndim), bool(keepdim), mask)
    return run("div", sum(input, dim, keepdim=keepdim, dtype=out, mask=mask), count)


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """The lower median along `dim` of the elements that are not NaN and where the mask is True; NaN where none is (integers: an
    error)."""
    is_float = input._type.dtype.category == FLOAT
    shown = filled("median", input if is_float else cast(input, dtypes.float32), mask, math.nan)
    result = run("nanmedian_dim", shown, dim=dim, keepdim=keepdim)[0]
    if is_float:
        return result
    if bool(run("any", run("isnan", result), dim=None, keepdim=False)):
        raise ValueRangeError("masked.median: of integers every row needs an element where the mask is True")
    return cast(result, kind(input, dtype))


def _spread(
    name: str, input: Tensor, dim: Any, unbiased: bool | None, correction: Any, keepdim: Any, dtype: Any, mask: Tensor | None
) -> Tensor:
    """The variance."""
    if unbiased is not None and correction is not None:
        raise ArgumentError(f"masked.{name}(): give unbiased or correction, not both")
    taken = float(correction) if correction is not None else 1.0 if unbiased is None else float(unbiased)
    out = kind(input, dtype) if dtype is not None or input._type.dtype.category == FLOAT else dtypes.float32
    compute = out if out.category == FLOAT else dtypes.float32
    dims = dims_of(name, dim, input._type.ndim)
    count = _counts(name, input, dims, True, mask)
    center = run("div", sum(input, dim, keepdim=True, dtype=out, mask=mask), count)
    off = run("sub", input, center)
    total = sum(run("mul", off, off), dim, keepdim=keepdim, dtype=compute, mask=mask)
    count = cast(count if keepdim else reshape(count, total._type.shape), compute)
    if taken:
        count = run("clamp", run("sub", count, taken), 0, None)
    return cast(run("div", total, count), out)


def var(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: Number | None = None, keepdim: bool | None = False,
    dtype: DTypeLike | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The variance over `dim` (all by default) of the elements where the mask is True, `correction` (1) taken off their number."""
    return _spread("var", input, dim, unbiased, correction, bool(keepdim), dtype, mask)


def std(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: Number | None = None, keepdim: bool | None = False,
    dtype: DTypeLike | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The standard deviation over `dim`, see `var`."""
    out = kind(input, dtype) if dtype is not None or input._type.dtype.category == FLOAT else dtypes.float32
    compute = out if out.category == FLOAT else dtypes.float32
    return cast(run("sqrt", cast(_spread("std", input, dim, unbiased, correction, bool(keepdim), dtype, mask), compute)), out)


# ---- norms and exponentials ----------------------------------------------------------------------------------------------------


def norm(
    input: Tensor, ord: float | None = 2.0, dim: Any = None, *, keepdim: bool | None = False, dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The vector norm of order `ord` over `dim` (all by default) of the elements where the mask is True."""
    order = 2.0 if ord is None else float(ord)
    shown = filled("norm", input, mask, math.inf if order == -math.inf else 0)
    dims = dims_of("norm", dim, input._type.ndim)
    return over("linalg_vector_norm", shown, dims, bool(keepdim), ord=order, dtype=kind(input, dtype))


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The elements where the mask is True (others 0) divided by their norm along `dim`, or by `eps` where that is greater."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return run("div", filled("normalize", input, mask, 0), run("clamp", size, eps, None))


def logsumexp(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: DTypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """log(sum(exp(input))) over `dim` (all by default) of the elements where the mask is True; -inf where none is."""
    shown = input if mask is None else filled("logsumexp", input, mask, extreme("logsumexp", input._type.dtype, -1))
    dims = dims_of("logsumexp", dim, input._type.ndim)
    return cast(run("logsumexp", shown, dim=dims, keepdim=keepdim), kind(input, dtype))


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: DTypeLike | None = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None
) -> Tensor:
    """log(exp(input) + exp(other)) where elements that are masked out count as -inf."""
    low = -math.inf
    shown = run("logaddexp", filled("logaddexp", input, input_mask, low), filled("logaddexp", other, other_mask, low))
    return cast(shown, kind(input, dtype))


def softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """softmax along `dim` of the elements where the mask is True; others are 0, and NaN where none is True."""
    shown = input if mask is None else filled("softmax", input, mask, extreme("softmax", input._type.dtype, -1))
    return run("softmax", shown, dim=dim, dtype=kind(input, dtype))


def log_softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of `softmax`."""
    shown = input if mask is None else filled("log_softmax", input, mask, extreme("log_softmax", input._type.dtype, -1))
    return run("log_softmax", shown, dim=dim, dtype=kind(input, dtype))


def softmin(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """softmax(-input) along `dim` of the elements where the mask is True."""
    shown = input if mask is None else filled("softmin", input, mask, extreme("softmin", input._type.dtype, 1))
    return run("softmax", run("neg", shown), dim=dim, dtype=kind(input, dtype))


MASKED: dict[str, Callable[..., Tensor]] = {
    f.__name__: f
    for f in (
        sum, prod, cumsum, cumprod, amax, amin, argmax, argmin, mean, median, var, std, norm, normalize, logsumexp, logaddexp, softmax,
        log_softmax, softmin,
    )
}  # fmt: skip
"""The public functions, by name."""
