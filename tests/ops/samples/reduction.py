"""Samples of reductions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, DimensionError, DTypeError, ShapeError


def axis(a: Any, dim: Any) -> Any:
    """NumPy's axis for PyTorch's dim."""
    return None if dim is None or a.ndim == 0 or dim in ((), []) else tuple(dim) if isinstance(dim, (tuple, list)) else dim


def over_many(g: Gen, make: Any) -> list[S]:
    """Any number of dimensions: none given, one, several, negative, kept; sizes 0 and 1; 0-d."""
    return [
        S(make(3, 4)),
        S(make(2, 3, 4), dim=0),
        S(make(2, 3, 4), dim=-1, keepdim=True),
        S(make(2, 3, 4), dim=(0, 2)),
        S(make(2, 3, 4), dim=[-1, 0], keepdim=True),
        S(g.noncontiguous(make(3, 4)), dim=1),
        S(make(1, 5), dim=0),
        S(make(3, 0), dim=0),
        S(make()),
        S(make(), dim=0, keepdim=True),
    ]


def over_one(g: Gen, make: Any) -> list[S]:
    """One dimension or all."""
    return [
        S(make(3, 4)),
        S(make(2, 3, 4), dim=0),
        S(make(2, 3, 4), dim=-1, keepdim=True),
        S(g.noncontiguous(make(3, 4)), dim=1),
        S(make(1, 5), dim=0),
        S(make(3, 0), dim=0),
        S(make()),
        S(make(), dim=0),
    ]


def along(g: Gen, make: Any) -> list[S]:
    """Exactly one dimension."""
    return [
        S(make(5), dim=0),
        S(make(2, 3, 4), dim=1),
        S(make(2, 3, 4), dim=-1, keepdim=True),
        S(g.noncontiguous(make(3, 4)), dim=1),
        S(make(1, 5), dim=0),
        S(make(3, 0), dim=0),
        S(make(), dim=0),
    ]


def with_nan(g: Gen, *shape: int) -> np.ndarray:
    a = g.real(*shape)
    a.flat[1::3] = np.nan
    return a


def with_zeros(g: Gen, *shape: int) -> np.ndarray:
    a = g.nonzero(*shape)
    a.flat[1::4] = 0.0
    return a


def reducer(function: Any) -> Any:
    """An oracle from a NumPy function of (array, axis=, keepdims=)."""
    return lambda a, dim=None, keepdim=False: function(a, axis=axis(a, dim), keepdims=keepdim)


def summed(function: Any) -> Any:
    """The same with a dtype: integers are summed in int64."""

    def oracle(a: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        if (dtype is not None and np.dtype(dtype).kind == "i") or a.dtype.kind in "iub":
            a = np.trunc(a).astype(np.int64)
        return function(a, axis=axis(a, dim), keepdims=keepdim)

    return oracle


def mean(a: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Without NumPy's warning for no elements."""
    total = np.sum(a, axis=axis(a, dim), keepdims=keepdim)
    return total / (a.size / total.size) if total.size else total


def summed_to(a: Any, size: tuple[int, ...]) -> Any:
    lead = a.ndim - len(size)
    return a.sum(axis=(*range(lead), *(i + lead for i, n in enumerate(size) if n == 1)), keepdims=True).reshape(size)


def variance(a: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    at = axis(a, dim)
    n = a.size if at is None else math.prod(a.shape[i] for i in np.atleast_1d(at))
    d = a - a.mean(axis=at, keepdims=True) if n else a
    total = (d * d).sum(axis=at, keepdims=keepdim)
    return total / max(n - correction, 0) if n else total * np.nan


def chosen(value: Any, index: Any) -> Any:
    """(values, indices) along one dimension."""

    def oracle(a: Any, dim: int, keepdim: bool = False) -> Any:
        if a.ndim == 0:
            return a, np.int64(0)
        return value(a, axis=dim, keepdims=keepdim), index(a, axis=dim, keepdims=keepdim)

    return oracle


def vector_norm(a: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    at, size = axis(a, dim), np.abs(a)
    if ord in (math.inf, -math.inf):
        return (np.max if ord > 0 else np.min)(size, axis=at, keepdims=keepdim)
    if ord == 0:
        return np.sum(a != 0, axis=at, keepdims=keepdim).astype(np.float64)
    return np.sum(size**ord, axis=at, keepdims=keepdim) ** (1.0 / ord)


def logsumexp(a: Any, dim: Any, keepdim: bool = False) -> Any:
    return np.logaddexp.reduce(a.astype(np.float64), axis=axis(a, dim) if a.ndim else None, keepdims=keepdim)


def any_all(function: Any) -> Any:
    def oracle(a: Any, dim: Any = None, keepdim: bool = False) -> Any:
        result = np.asarray(function(a, axis=axis(a, dim), keepdims=keepdim))
        return result.astype(np.uint8) if a.dtype == np.uint8 else result

    return oracle


def bad_dims(name: str) -> Any:
    return lambda g: [
        E((g.real(2, 3),), {"dim": 2}, DimensionError, name),
        E((g.real(2, 3),), {"dim": (0, -2)}, DimensionError, "twice"),
        E((g.real(2, 3),), {"dim": 0.5}, ArgumentError, name),
    ]


def no_elements(name: str) -> Any:
    return lambda g: [
        E((g.real(0, 3),), {}, ShapeError, name),
        E((g.real(0, 3),), {"dim": 0}, ShapeError, "empty"),
        E((g.real(2, 3),), {"dim": -3}, DimensionError, name),
    ]


def tied(g: Gen) -> np.ndarray:
    return np.array([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0], [-1.0, -5.0, 4.0, 4.0]])


def extremum_samples(g: Gen) -> list[S]:
    return [
        *[s for s in over_many(g, g.distinct) if s.args[0].shape != (3, 0)],
        S(g.real(0, 3), dim=1).but(layouts=False),
        S(tied(g), dim=1).but(grad=False),
        S(g.special()).but(grad=False, dtypes="float"),
        S(g.bools(3, 4), dim=0),
    ]


def whole_samples(g: Gen) -> list[S]:
    return [
        S(g.distinct(3, 4)),
        S(g.noncontiguous(g.distinct(3, 4))),
        S(g.distinct(1)),
        S(g.distinct()),
        S(tied(g)).but(grad=False),
        S(g.special()).but(grad=False, dtypes="float"),
        S(g.bools(3)),
    ]


def index_samples(g: Gen) -> list[S]:
    return [
        *[s for s in over_one(g, g.distinct) if s.args[0].shape != (3, 0)],
        S(g.real(0, 3), dim=1),
        S(tied(g), dim=1),
        S(g.special()).but(dtypes="float"),
        S(g.distinct(2, 3), keepdim=True),
    ]


def pick_samples(g: Gen) -> list[S]:
    return [
        *[s for s in along(g, g.distinct) if s.args[0].shape != (3, 0)],
        S(g.real(0, 3), dim=1),
        S(tied(g), dim=1).but(grad=False),
        S(np.array([[1.0, np.nan, 2.0, np.nan], [1.0, 0.0, 2.0, 3.0]]), dim=1).but(grad=False, dtypes="float"),
    ]


def select_backward(grad: Any, dim: int, indices: Any, sizes: Any, keepdim: bool) -> Any:
    out = np.zeros(sizes)
    if not keepdim:
        grad, indices = np.expand_dims(grad, dim), np.expand_dims(indices, dim)
    np.put_along_axis(out, indices, grad, dim)
    return out


ROWS = [
    Row(
        "sum",
        lambda g: [
            *over_many(g, g.real),
            S(g.real(2, 3), dim=()),
            S(g.real(3), dtype=dtypes.float64),
            S(g.ints(2, 3), dim=0, dtype=dtypes.int32).but(grad=False),
            S(g.real(300, 70), dim=0).but(layouts=False),
            S(g.real(600, 5, 9), dim=(0, 2)).but(layouts=False),
        ],
        summed(np.sum),
        dtypes="all",
        errors=bad_dims("sum"),
    ),
    Row(
        "mean",
        lambda g: [*over_many(g, g.real), S(g.real(0)), S(g.real(3), dtype=dtypes.float64), S(g.real(300, 70), dim=0)],
        mean,
        errors=lambda g: [*bad_dims("mean")(g), E((np.arange(3),), {}, DTypeError, "mean")],
    ),
    Row(
        "nansum",
        lambda g: [*over_many(g, g.real), S(with_nan(g, 3, 4), dim=1).but(dtypes="float"), S(with_nan(g, 5)).but(dtypes="float")],
        summed(np.nansum),
        dtypes="number",
        errors=bad_dims("nansum"),
    ),
    Row(
        "nanmean",
        lambda g: [*over_many(g, g.real), S(with_nan(g, 3, 4), dim=1)],
        lambda a, dim=None, keepdim=False: (
            np.nansum(a, axis=axis(a, dim), keepdims=keepdim) / np.sum(~np.isnan(a), axis=axis(a, dim), keepdims=keepdim)
        ),
        errors=lambda g: [E((np.arange(3),), {}, DTypeError, "nanmean")],
    ),
    Row(
        "prod",
        lambda g: [*over_one(g, g.nonzero), S(with_zeros(g, 3, 5), dim=1), S(with_zeros(g, 3, 3)), S(g.ints(4), dtype=dtypes.float64)],
        summed(np.prod),
        dtypes="all",
        errors=lambda g: [E((g.real(2),), {"dim": 1}, DimensionError, "prod")],
    ),
    Row(
        "var",
        lambda g: [
            *over_many(g, g.real)[:6],
            S(g.real(2, 3, 4), dim=(0, 1), correction=0),
            S(g.real(3, 5), dim=1, correction=2, keepdim=True),
            S(g.real(3, 5) + 1000.0, dim=1).but(dtypes=("float32", "float64"), grad=False),
            # torch warns where the correction leaves nothing
            S(g.real(1)).but(grad=False, torch=False),
            S(g.real(3, 0), dim=1).but(grad=False, torch=False),
        ],
        variance,
        errors=lambda g: [*bad_dims("var")(g), E((np.arange(3),), {}, DTypeError, "var")],
    ),
    Row(
        "std",
        lambda g: [
            *over_many(g, g.real)[:6],
            S(g.real(2, 3, 4), dim=(0, 1), correction=0),
            S(g.real(3, 5), dim=1, correction=2, keepdim=True),
            S(np.zeros((2, 3))).but(grad=False),
            S(g.real(1)).but(grad=False, torch=False),
            S(g.real(3, 0), dim=1).but(grad=False, torch=False),
        ],
        lambda a, dim=None, *, correction=1, keepdim=False: np.sqrt(variance(a, dim, correction=correction, keepdim=keepdim)),
        errors=lambda g: [E((np.arange(3),), {}, DTypeError, "std")],
    ),
    Row(
        "var_mean",
        lambda g: [S(g.real(3, 4)), S(g.real(2, 3, 4), dim=(0, -1), keepdim=True), S(g.real(3, 4), dim=1, unbiased=False)],
        lambda a, dim=None, unbiased=True, keepdim=False: (
            variance(a, dim, correction=int(unbiased), keepdim=keepdim),
            mean(a, dim, keepdim),
        ),
        errors=lambda g: [E((g.real(3),), {"unbiased": True, "correction": 1}, ArgumentError, "both")],
    ),
    Row(
        "std_mean",
        lambda g: [S(g.real(3, 4)), S(g.real(2, 3, 4), dim=(0, -1), keepdim=True), S(g.real(3, 4), dim=1, correction=0)],
        lambda a, dim=None, keepdim=False, *, correction=1: (
            np.sqrt(variance(a, dim, correction=correction, keepdim=keepdim)),
            mean(a, dim, keepdim),
        ),
    ),
    Row("amax", extremum_samples, reducer(np.max), dtypes="all", errors=no_elements("amax")),
    Row("amin", extremum_samples, reducer(np.min), dtypes="all", errors=no_elements("amin")),
    Row(
        "aminmax",
        lambda g: [S(g.distinct(3, 4)), S(g.distinct(3, 4), dim=1, keepdim=True)],
        lambda a, *, dim=None, keepdim=False: (np.min(a, axis=dim, keepdims=keepdim), np.max(a, axis=dim, keepdims=keepdim)),
        dtypes="number",
    ),
    Row(
        "max",
        whole_samples,
        lambda a: np.max(a),
        dtypes="all",
        errors=lambda g: [
            E((g.real(0, 3),), {}, ShapeError, "max"),
            E((g.real(2, 3),), {"keepdim": True}, ArgumentError, "keepdim"),
            E((g.real(2, 3), 2), {}, DimensionError, "max"),
            E((g.real(2, 3), g.real(2)), {"keepdim": True}, ArgumentError, "second"),
            E((g.real(2, 3), g.real(2)), {}, ShapeError, "maximum"),
        ],
    ),
    Row("min", whole_samples, lambda a: np.min(a), dtypes="all", errors=lambda g: [E((g.real(0, 3),), {}, ShapeError, "min")]),
    Row("max_dim", pick_samples, chosen(np.max, np.argmax), torch="max", dtypes="all", errors=lambda g: no_elements("max")(g)[1:]),
    Row("min_dim", pick_samples, chosen(np.min, np.argmin), torch="min", dtypes="all", errors=lambda g: no_elements("min")(g)[1:]),
    Row(
        "argmax",
        index_samples,
        lambda a, dim=None, keepdim=False: np.argmax(a, axis=axis(a, dim), keepdims=keepdim),
        dtypes="number",
        grad=False,
        errors=no_elements("argmax"),
    ),
    Row(
        "argmin",
        index_samples,
        lambda a, dim=None, keepdim=False: np.argmin(a, axis=axis(a, dim), keepdims=keepdim),
        dtypes="number",
        grad=False,
        errors=no_elements("argmin"),
    ),
    Row(
        "value_selecting_reduction_backward",
        lambda g: [
            S(g.real(2, 4), 1, g.index((2, 4), 3), (2, 3, 4), False),
            S(g.real(2, 1), 1, g.index((2, 1), 3), (2, 3), True),
            S(g.real(2, 3), 1, np.array([[2, 0, 1], [1, 0, 3]]), (2, 4), True),
        ],
        select_backward,
        torch=None,
    ),
    Row("any", lambda g: over_many(g, lambda *s: with_zeros(g, *s)), any_all(np.any), dtypes="all", grad=False, errors=bad_dims("any")),
    Row("all", lambda g: over_many(g, lambda *s: with_zeros(g, *s)), any_all(np.all), dtypes="all", grad=False, errors=bad_dims("all")),
    Row(
        "count_nonzero",
        lambda g: [
            S(with_zeros(g, 3, 4)),
            S(with_zeros(g, 2, 3, 4), dim=(0, -1)),
            S(with_zeros(g, 3, 4), dim=1),
            S(g.real(0)),
            S(g.real()),
        ],
        lambda a, dim=None: np.count_nonzero(a, axis=axis(a, dim)),
        dtypes="all",
        grad=False,
        errors=bad_dims("count_nonzero"),
    ),
    Row(
        "logsumexp",
        lambda g: [
            *[s for s in over_many(g, g.real) if "dim" in s.kwargs],
            S(g.real(3, 4) * 300.0, dim=1).but(dtypes=("float32", "float64")),
            S(np.array([[-np.inf, 0.0], [np.inf, 1.0], [-np.inf, -np.inf]]), dim=1).but(grad=False, dtypes="float"),
        ],
        logsumexp,
        dtypes=("float", "int64"),
        errors=bad_dims("logsumexp"),
    ),
    Row(
        "linalg_vector_norm",
        lambda g: [
            *over_many(g, g.nonzero),
            S(g.nonzero(3, 4), ord=1, dim=1),
            S(g.distinct(3, 4), ord=math.inf),
            S(g.distinct(3, 4), ord=-math.inf, dim=0),
            S(g.nonzero(3, 4), ord=3, dim=(0, 1)),
            S(g.nonzero(3, 4), ord=1.5, dim=1, keepdim=True),
            S(g.nonzero(3), ord=0.5),
            S(with_zeros(g, 3, 4), ord=0, dim=1),
            S(g.nonzero(3), ord=-1),
            S(with_zeros(g, 2, 3), ord=2.5, dim=1).but(grad=False),
            S(np.zeros(3)).but(grad=False),
            S(np.zeros(3), ord=1).but(grad=False),
        ],
        vector_norm,
        torch=lambda torch, *a, **k: torch.linalg.vector_norm(*a, **k),
        errors=lambda g: [
            E((np.arange(3),), {}, DTypeError, "linalg_vector_norm"),
            E((g.real(0),), {"ord": math.inf}, ShapeError, "empty"),
            E((g.real(3),), {"dim": 1}, DimensionError, "linalg_vector_norm"),
        ],
    ),
    Row(
        "norm",
        lambda g: [S(g.real(3, 4)), S(g.real(3, 4), 1, 1), S(g.distinct(3, 4), math.inf, dim=0, keepdim=True)],
        lambda a, p=2, dim=None, keepdim=False: vector_norm(a, p, dim, keepdim),
    ),
    Row(
        "sum_to_size",
        lambda g: [
            S(g.real(2, 3, 4), (3, 1)),
            S(g.real(2, 3), (2, 3)),
            S(g.real(2, 3), ()),
            S(g.real(1, 3), (3,)),
            S(g.real(0, 3), (1, 3)),
            S(g.noncontiguous(g.real(4, 3)), (1, 3)),
        ],
        summed_to,
        torch=lambda torch, a, size: a.sum_to_size(size),
        errors=lambda g: [E((g.real(2, 3), (2,)), {}, ShapeError, "sum_to_size")],
    ),
    Row(
        "divide_by_count",
        lambda g: [S(g.real(3, 4), (3, 4)), S(g.real(2), (5,), 1), S(g.real(), ()), S(g.positive(3), (1,), 1).but(grad=False)],
        lambda a, sizes, correction=0: a / max(math.prod(sizes) - correction, 0),
        torch=None,
    ),
]
