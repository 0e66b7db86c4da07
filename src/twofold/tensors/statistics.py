"""Statistics made of other operations: quantiles, covariance, modes and medians with indices; clipping of norms."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT
from twofold.ir.op import get_op, wrap_dim
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.reductions import _result
from twofold.tensors.shapes import flatten, movedim, reshape, squeeze, unsqueeze
from twofold.tensors.typing import Number


def run(name: str, *inputs: Any, **attributes: Any) -> Any:
    """A record on tensors, so that the user's own line is the one remembered."""
    return dispatch(get_op(name), inputs, attributes)


RESULTS: dict[str, Any] = {n: _result(n) for n in ("mode", "nanmedian")}


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices): the element that occurs most often along `dim` (of several the least), and its last index."""
    return RESULTS["mode"](*run("mode", input, dim=dim, keepdim=keepdim))


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of the elements that are not NaN; with `dim` (values, indices) along that dimension."""
    if dim is None:
        return run("nanmedian", input)
    return RESULTS["nanmedian"](*run("nanmedian_dim", input, dim=dim, keepdim=keepdim))


# ---- quantiles -----------------------------------------------------------------------------------------------------------------------

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _fractions(name: str, input: Tensor, q: Any) -> Tensor:
    """The `q` of a quantile as a checked tensor."""
    if not isinstance(q, Tensor):
        if not 0.0 <= float(q) <= 1.0:
            raise ValueRangeError(f"{name}: q must be in the range 0 to 1, not {q}")
        q = run("full", size=(), fill_value=float(q), dtype=input._type.dtype, device=input._type.device)
    if q._type.ndim > 1:
        raise ShapeError(f"{name}: q must be a number or a 1-d tensor, not of shape {tuple(q._type.shape)}")
    if q._type.dtype is not input._type.dtype:
        raise DTypeError(f"{name}: q is {q._type.dtype.name}, the input {input._type.dtype.name}; both must have one dtype")
    if not isinstance(q, Symbol) and q._array is not None:
        values = np.asarray(q._array)
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueRangeError(f"{name}: the values of q must be in the range 0 to 1")
    return q


def _quantile(name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, pass_nan: bool) -> Tensor:
    if input._type.dtype not in (dtypes.float32, dtypes.float64):
        raise DTypeError(f"{name} takes float32 and float64 tensors, not {input._type.dtype.name}; convert with .to(dtype)")
    if interpolation not in INTERPOLATIONS:
        raise ValueRangeError(f"{name}: interpolation must be one of {', '.join(INTERPOLATIONS)}, not {interpolation!r}")
    if input._type.numel == 0:
        raise ShapeError(f"{name}: the input of shape {tuple(input._type.shape)} is empty")
    fractions = _fractions(name, input, q)
    rank = input._type.ndim
    rows = flatten(input) if dim is None else movedim(input, wrap_dim(dim, rank, name), -1) if rank else reshape(input, (1,))
    values = run("sort", rows, dim=-1, descending=False, stable=False)[0]
    missing = run("isnan", values)
    n = values._type.shape[-1]
    kind = values._type.dtype
    if pass_nan:
        last = run("sub", run("sum", run("logical_not", missing), dim=-1, keepdim=True, dtype=kind), 1.0)
        last = run("clamp", last, 0.0, None)
    else:
        last = run("full_like", run("slice", values, dim=-1, start=0, end=1), fill_value=operator.index(n) - 1)
        bad = run("any", missing, dim=-1, keepdim=True)
        values = run("masked_fill", values, bad, value=math.nan)
    ranks = run("mul", last, reshape(fractions, (-1,)))
    result = _between(values, ranks, interpolation)
    result = movedim(result, -1, 0) if fractions._type.ndim else result[..., 0]
    if keepdim:
        if dim is None:
            result = reshape(result, (*fractions._type.shape, *(1,) * rank))
        elif rank:
            result = unsqueeze(result, wrap_dim(dim, rank, name) + fractions._type.ndim)
    return result


def _between(values: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    """The sorted `values` at fractional `ranks` of the last dimension."""
    if interpolation == "lower":
        ranks = run("floor", ranks)
    elif interpolation == "higher":
        ranks = run("ceil", ranks)
    elif interpolation == "nearest":
        ranks = run("round", ranks)
    below = run("floor", ranks)
    low = run("gather", values, run("to", below, dtype=dtypes.int64), dim=-1)
    if interpolation not in ("linear", "midpoint"):
        return low
    weight = run("full_like", ranks, fill_value=0.5) if interpolation == "midpoint" else run("sub", ranks, below)
    high = run("gather", values, run("to", run("ceil", ranks), dtype=dtypes.int64), dim=-1)
    return run("lerp", low, high, weight)


def quantile(input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """The q-quantiles over one dimension (of all elements by default); a 1-d `q` gives a new first dimension. NaN where there is a NaN.

    interpolation between the two nearest elements: "linear", "lower", "higher", "midpoint", "nearest". Definition 7 of Hyndman and Fan,
    Sample Quantiles in Statistical Packages, 1996.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


def nanquantile(
    input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """`quantile` of the elements that are not NaN; NaN where there are none."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


# ---- covariance -----------------------------------------------------------------------------------------------------------------------


def _frequencies(name: str, weights: Tensor | None, integral: bool, count: Any) -> None:
    """Check the weights of observations."""
    if weights is None:
        return
    if weights._type.ndim > 1:
        raise ShapeError(f"cov: {name} must have at most 1 dimension, not shape {tuple(weights._type.shape)}")
    is_float = weights._type.dtype.category == FLOAT
    if is_float == integral:
        raise DTypeError(f"cov: {name} must be {'integers' if integral else 'floating-point'}, not {weights._type.dtype.name}")
    if weights._type.numel != count:
        raise ShapeError(f"cov: {name} has {weights._type.numel} element(s) for {count} observations")
    if not isinstance(weights, Symbol) and weights._array is not None and (np.asarray(weights._array) < 0).any():
        raise ValueRangeError(f"cov: {name} must not be negative")


def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables, the input's rows, over observations, its columns (a vector: the variance of one variable).

    correction: taken off the number of observations; fweights: how often each was observed (integers); aweights: their importance.
    """
    if input._type.ndim > 2:
        raise ShapeError(f"cov: a tensor of at most 2 dimensions is needed, not one of shape {tuple(input._type.shape)}")
    if input._type.dtype is dtypes.bool_:
        raise DTypeError("cov takes numbers, not bool")
    rows = input if input._type.ndim == 2 else reshape(input, (1, -1) if input._type.numel != 0 else (1, 0))
    count = rows._type.shape[1]
    _frequencies("fweights", fweights, True, count)
    _frequencies("aweights", aweights, False, count)
    if rows._type.dtype.category != FLOAT:
        rows = run("to", rows, dtype=dtypes.get_default_dtype())
    weights = _weights(fweights, aweights)
    if weights is None:
        total: Any = float(operator.index(count))
        mean = run("sum", rows, dim=1, keepdim=True) / total if count != 0 else run("sum", rows, dim=1, keepdim=True) * math.nan
        norm: Any = total - correction
    else:
        total = run("sum", weights)
        mean = run("sum", rows * weights, dim=1, keepdim=True) / total
        norm = total - correction
        if aweights is not None and correction != 0:
            norm = total - run("sum", weights * aweights) / total * correction
    centered = rows - mean
    weighted = centered if weights is None else run("to", centered * weights, dtype=centered._type.dtype)
    product = run("mm", centered, run("t", weighted))
    return squeeze(_divided(product, norm))


def _weights(fweights: Tensor | None, aweights: Tensor | None) -> Tensor | None:
    given = [reshape(w, (-1,)) for w in (fweights, aweights) if w is not None]
    return None if not given else given[0] if len(given) == 1 else given[0] * given[1]


def _divided(product: Tensor, norm: Any) -> Tensor:
    """The sums of products over the number of observations that count, which is taken as 0 where it is negative."""
    if isinstance(norm, Tensor):
        return run("to", product / run("clamp", norm, 0, None), dtype=product._type.dtype)
    if norm <= 0:
        warnings.warn("cov: no degrees of freedom are left (observations less correction is not positive)", UserWarning, stacklevel=3)
        norm = 0.0
    return product / norm


def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlation coefficients of variables, the input's rows, over observations, its columns; between -1 and 1."""
    if input._type.ndim > 2:
        raise ShapeError(f"corrcoef: a tensor of at most 2 dimensions is needed, not one of shape {tuple(input._type.shape)}")
    c = cov(input)
    if c._type.ndim == 0:
        return c / c
    deviation = run("sqrt", run("diagonal", c, offset=0, dim1=0, dim2=1))
    return run("clamp", c / unsqueeze(deviation, 1) / unsqueeze(deviation, 0), -1.0, 1.0)


# ---- norms ---------------------------------------------------------------------------------------------------------------------------


def _scale(input: Tensor, p: Number, dim: int, maxnorm: Number) -> Tensor:
    """What the slices of `dim` are multiplied by."""
    if input._type.dtype.category != FLOAT:
        raise DTypeError(f"renorm takes floating-point tensors, not {input._type.dtype.name}; convert with .to(twofold.float32)")
    if input._type.ndim < 2:
        raise ShapeError(f"renorm: a tensor of at least 2 dimensions is needed, not one of shape {tuple(input._type.shape)}")
    if p <= 0 or maxnorm < 0:
        raise ValueRangeError(f"renorm: p must be positive and maxnorm not negative, not p={p}, maxnorm={maxnorm}")
    d = wrap_dim(dim, input._type.ndim, "renorm")
    rest = tuple(i for i in range(input._type.ndim) if i != d)
    size = run("linalg_vector_norm", input, ord=float(p), dim=rest, keepdim=True)
    return run("where", run("gt", size, maxnorm), maxnorm / (size + 1e-7), 1.0)


def renorm(input: Tensor, p: Number, dim: int, maxnorm: Number) -> Tensor:
    """A copy in which every slice of `dim` whose p-norm is above `maxnorm` is scaled down to it."""
    return run("mul", input, _scale(input, p, dim, maxnorm))


def renorm_(input: Tensor, p: Number, dim: int, maxnorm: Number) -> Tensor:
    """`renorm` in place."""
    return input.mul_(_scale(run("clone", input), p, dim, maxnorm))  # the norm's gradient needs the values before the write


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (mode, nanmedian, quantile, nanquantile, cov, corrcoef, renorm)}
INPLACE: dict[str, Callable[..., Any]] = {"renorm_": renorm_}
METHODS: dict[str, Callable[..., Any]] = {"mode": mode, "nanmedian": nanmedian}
