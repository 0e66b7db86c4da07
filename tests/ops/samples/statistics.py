"""Samples of order statistics and of the functions made of them: quantiles, covariance, clipping of norms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DimensionError, DTypeError, ShapeError, ValueRangeError


def middle(values: list[float]) -> int:
    """The place of the lower median of what is not NaN (0 if nothing is left)."""
    there = sorted((v, i) for i, v in enumerate(values) if v == v)
    return there[(len(there) - 1) // 2][1] if there else 0


def most_common(values: list[float]) -> int:
    """The last place of the commonest value; of several the least."""
    counts = {v: values.count(v) for v in values}
    best = min((-n, v) for v, n in counts.items())[1]
    return len(values) - 1 - values[::-1].index(best)


def along(choose: Any) -> Any:
    """(values, indices) along a dimension, by a function of a list."""

    def function(a: Any, dim: int = -1, keepdim: bool = False) -> Any:
        if a.ndim == 0:
            return a, np.int64(0)
        index = np.apply_along_axis(lambda row: choose(row.tolist()), dim, a).astype(np.int64)
        index = np.expand_dims(index, dim)
        result = np.take_along_axis(a, index, dim), index
        return result if keepdim else tuple(np.squeeze(r, dim) for r in result)

    return function


def with_nan(g: Gen, *shape: int) -> np.ndarray:
    a = g.distinct(*shape)
    a.reshape(-1)[::3] = np.nan
    return a


def quantile(a: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear", function: Any = np.quantile) -> Any:
    return function(a, q, axis=dim if a.ndim else None, keepdims=keepdim and a.ndim > 0, method=interpolation)


def nanquantile(*args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a row without numbers
        return quantile(*args, **kwargs, function=np.nanquantile)


def cov(a: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(a, ddof=correction, fweights=fweights, aweights=aweights)


def renorm(a: Any, p: float, dim: int, maxnorm: float) -> Any:
    rows = np.moveaxis(a, dim, 0).reshape(a.shape[dim], -1)
    size = (np.abs(rows) ** p).sum(1) ** (1 / p)
    scale = np.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)
    return a * np.expand_dims(scale, tuple(d for d in range(a.ndim) if d != dim % a.ndim))


ROWS = [
    Row(
        "nanmedian",
        lambda g: [
            S(g.distinct(3, 4)),
            S(g.distinct(5)),
            S(g.noncontiguous(g.distinct(3, 3))),
            S(g.distinct()),
            S(with_nan(g, 3, 4)).but(dtypes="float", grad=False),
            S(g.real(0)).but(dtypes="float", grad=False),
        ],
        lambda a: a.reshape(-1)[middle(a.reshape(-1).tolist())] if a.size else a.dtype.type(np.nan),
        dtypes="number",
        errors=lambda g: [E((g.bools(3),), {}, DTypeError, "nanmedian")],
    ),
    Row(
        "nanmedian_dim",
        lambda g: [
            S(g.distinct(5), dim=0),
            S(g.distinct(2, 3, 4), dim=-1, keepdim=True),
            S(g.noncontiguous(g.distinct(3, 4)), dim=1),
            S(with_nan(g, 3, 5), dim=1).but(grad=False, dtypes="float"),
            S(g.distinct(), dim=0),
        ],
        along(middle),
        torch="nanmedian",
        dtypes="number",
        errors=lambda g: [
            E((g.real(0, 3),), {"dim": 0}, ShapeError, "empty"),
            E((g.real(2, 3),), {"dim": -3}, DimensionError, "nanmedian"),
        ],
    ),
    Row(
        "mode",
        lambda g: [
            S(g.ints(7, low=0, high=3)).but(grad=False),
            S(g.ints(4, 6, low=0, high=3), dim=0).but(grad=False),
            S(g.distinct(3, 4), dim=1, keepdim=True),
            S(g.noncontiguous(g.ints(3, 5, low=0, high=2)), 1).but(grad=False),
            S(g.distinct(1)),
            S(g.distinct()),
        ],
        along(most_common),
        dtypes="number",
        errors=lambda g: [E((g.real(2, 0),), {}, ShapeError, "mode"), E((g.real(2, 3), 2), {}, DimensionError, "mode")],
    ),
    Row(
        "quantile",
        lambda g: [
            S(g.distinct(7), 0.3),
            S(g.distinct(4, 5), 0.5, 0),
            S(g.distinct(4, 5), 0.77, -1, True),
            S(g.distinct(2, 3, 4), np.array([0.0, 0.25, 1.0]), 1),
            S(g.distinct(2, 3), np.array([0.1, 0.9]), keepdim=True),
            *(S(g.distinct(3, 6), 0.34, 1, interpolation=how) for how in ("lower", "higher", "midpoint", "nearest")),
            S(g.noncontiguous(g.distinct(3, 4)), 0.5, 1),
            S(np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 2.0]]), 0.5, 1).but(grad=False),
            S(g.distinct(), 0.5),
        ],
        quantile,
        dtypes=("float64", "float32"),
        grad=(0,),
        errors=lambda g: [
            E((g.ints(3).astype(np.int64), 0.5), {}, DTypeError, "quantile"),
            E((g.real(3), 1.5), {}, ValueRangeError, "range"),
            E((g.real(3), g.unit(2, 2)), {}, ShapeError, "1-d"),
            E((g.real(3), 0.5), {"interpolation": "cubic"}, ValueRangeError, "cubic"),
            E((g.real(0), 0.5), {}, ShapeError, "empty"),
        ],
    ),
    Row(
        "nanquantile",
        lambda g: [
            S(g.distinct(7), 0.3),
            S(with_nan(g, 4, 5), 0.5, 0).but(grad=False),
            S(with_nan(g, 4, 5), np.array([0.2, 0.6]), 1, True).but(grad=False),
            S(with_nan(g, 3, 7), 0.34, 1, interpolation="lower").but(grad=False),
            S(np.array([[np.nan, np.nan], [1.0, np.nan]]), 0.5, 1).but(grad=False),
        ],
        nanquantile,
        dtypes=("float64", "float32"),
        grad=(0,),
        errors=lambda g: [E((g.real(3), -0.1), {}, ValueRangeError, "nanquantile")],
    ),
    Row(
        "cov",
        lambda g: [
            S(g.real(3, 6)),
            S(g.real(5)),
            S(g.real(3, 6), correction=0),
            S(g.real(2, 5), fweights=np.array([1, 2, 0, 1, 3])).but(dtypes=("float64", "float32")),
            S(g.real(2, 5), aweights=g.unit(5)).but(dtypes=("float64", "float32")),
            S(g.real(2, 5), fweights=np.array([1, 2, 1, 1, 3]), aweights=g.unit(5)).but(dtypes=("float64", "float32")),
            S(g.noncontiguous(g.real(3, 4))),
        ],
        cov,
        dtypes=("float64", "float32"),
        grad=(0,),
        errors=lambda g: [
            E((g.real(2, 2, 2),), {}, ShapeError, "cov"),
            E((g.bools(2, 3),), {}, DTypeError, "bool"),
            E((g.real(2, 3),), {"fweights": np.array([1, 2])}, ShapeError, "fweights"),
            E((g.real(2, 3),), {"fweights": np.array([1, -2, 1])}, ValueRangeError, "negative"),
            E((g.real(2, 3),), {"aweights": np.array([1, 2, 3])}, DTypeError, "aweights"),
        ],
    ),
    Row(
        "corrcoef",
        lambda g: [S(g.real(3, 6)), S(g.real(2, 9)), S(g.noncontiguous(g.real(3, 5)))],
        np.corrcoef,
        dtypes=("float64", "float32"),
        errors=lambda g: [E((g.real(2, 2, 2),), {}, ShapeError, "corrcoef")],
        tolerance=4,
    ),
    Row(
        "renorm",
        lambda g: [S(g.real(3, 4), 2, 0, 1.0), S(g.real(2, 3, 4), 1, -1, 0.5), S(g.noncontiguous(g.real(3, 4)), 2.5, 1, 1.0)],
        renorm,
        dtypes=("float64", "float32"),
        inplace="renorm_",
        errors=lambda g: [E((g.real(3), 2, 0, 1.0), {}, ShapeError, "renorm"), E((g.real(3, 3), 0, 0, 1.0), {}, ValueRangeError, "p=0")],
    ),
]
