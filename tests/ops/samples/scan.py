"""Samples of scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, DimensionError, DTypeError, ShapeError


def along(g: Gen, make: Any) -> list[S]:
    return [
        S(make(5), 0),
        S(make(2, 3, 4), 1),
        S(make(3, 4), -1),
        S(g.noncontiguous(make(3, 4)), 0),
        S(make(1, 3), 0),
        S(make(0, 3), 0),
        S(make(), 0),
    ]


def some_zeros(g: Gen, *shape: int) -> np.ndarray:
    a = g.nonzero(*shape)
    a.flat[1::3] = 0.0
    return a


def scanned(ufunc: Any) -> Any:
    """An oracle from a ufunc; integers run in int64."""

    def oracle(a: Any, dim: int, *, dtype: Any = None) -> Any:
        if a.dtype.kind in "iub":
            a = a.astype(np.int64)
        return ufunc.accumulate(a, axis=dim) if a.ndim else a

    return oracle


def running(ufunc: Any) -> Any:
    """Running extrema with the latest index of each, element by element."""

    def oracle(a: Any, dim: int) -> Any:
        values, indices = np.array(a), np.zeros(a.shape, np.int64)
        if a.ndim:
            v, ix = np.moveaxis(values, dim, 0), np.moveaxis(indices, dim, 0)
            for i in range(1, len(v)):
                best = ufunc(v[i - 1], v[i])
                new = (v[i] == best) | np.isnan(v[i])
                ix[i] = np.where(new, i, ix[i - 1])
                v[i] = best
        return values, indices

    return oracle


def shifted(a: Any, dim: int, amount: int, fill: float = 0.0) -> Any:
    result = np.roll(a, amount, dim)
    v = np.moveaxis(result, dim, 0)
    v[:amount] = fill if amount > 0 else v[:amount]
    if amount < 0:
        v[amount:] = fill
    return result


def recurrence(a: Any, b: Any, dim: int, reverse: bool = False) -> Any:
    out = np.array(b)
    s, k = (np.moveaxis(x, dim, 0)[:: -1 if reverse else 1] for x in (out, a))
    for i in range(1, len(s)):
        s[i] = k[i] * s[i - 1] + s[i]
    return out


def wrong_dim(name: str) -> Any:
    return lambda g: [E((g.real(2, 3), 2), {}, DimensionError, name), E((g.real(2, 3), "x"), {}, ArgumentError, name)]


ROWS = [
    Row(
        "cumsum",
        lambda g: [*along(g, g.real), S(g.real(2, 3), 1, dtype=dtypes.float64)],
        scanned(np.add),
        dtypes="all",
        inplace="cumsum_",
        errors=wrong_dim("cumsum"),
    ),
    Row(
        "cumprod",
        lambda g: [*along(g, g.nonzero), S(some_zeros(g, 3, 5), 1), S(some_zeros(g, 7), 0)],
        scanned(np.multiply),
        dtypes="all",
        inplace="cumprod_",
        errors=wrong_dim("cumprod"),
    ),
    Row(
        "logcumsumexp",
        lambda g: [*along(g, g.real), S(g.real(3, 4) * 200.0, 1).but(dtypes=("float32", "float64"))],
        lambda a, dim: np.logaddexp.accumulate(a, axis=dim) if a.ndim else a,
        errors=lambda g: [E((np.arange(3), 0), {}, DTypeError, "logcumsumexp")],
    ),
    Row(
        "cummax",
        lambda g: [
            *along(g, g.distinct),
            S(np.array([1.0, 3.0, 3.0, 2.0, 3.0]), 0).but(grad=False),
            S(np.array([1.0, np.nan, 3.0, np.nan, 2.0]), 0).but(grad=False, dtypes="float"),
        ],
        running(np.maximum),
        dtypes="number",
        errors=wrong_dim("cummax"),
    ),
    Row(
        "cummin",
        lambda g: [
            *along(g, g.distinct),
            S(np.array([3.0, 1.0, 1.0, 2.0, 1.0]), 0).but(grad=False),
            S(np.array([1.0, np.nan, 3.0, np.nan, 2.0]), 0).but(grad=False, dtypes="float"),
        ],
        running(np.minimum),
        dtypes="number",
        errors=wrong_dim("cummin"),
    ),
    Row(
        "shift",
        lambda g: [
            S(g.real(5), 0, 2),
            S(g.real(2, 4), -1, -1, 1.5),
            S(g.real(3, 2), 0, 5),
            S(g.real(3, 2), 0, -3),
            S(g.real(3), 0, 0),
            S(g.real(0, 2), 0, 1),
            S(g.noncontiguous(g.real(3, 4)), 1, 1),
        ],
        shifted,
        torch=None,
        errors=lambda g: [E((g.real(2), 1, 1), {}, DimensionError, "shift")],
    ),
    Row(
        "linear_recurrence",
        lambda g: [
            S(g.real(5), g.real(5), 0),
            S(g.real(2, 3, 4), g.real(2, 3, 4), 1, True),
            S(g.real(3, 4), g.real(3, 4), -1),
            S(g.real(1), g.real(1), 0),
            S(g.real(0, 2), g.real(0, 2), 0),
            S(g.noncontiguous(g.real(3, 4)), g.real(3, 4), 0, True),
        ],
        recurrence,
        torch=None,
        errors=lambda g: [E((g.real(2), g.real(3), 0), {}, ShapeError, "linear_recurrence")],
    ),
]
