"""Samples of sorting and searching."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DimensionError, DTypeError, ShapeError, ValueRangeError


def order(a: Any, dim: int = -1, descending: bool = False) -> Any:
    """Stable, NaN greatest; written with Python's sort."""
    if a.ndim == 0:
        return np.int64(0)
    result = np.empty(a.shape, np.int64)
    rows, out = np.moveaxis(a, dim, -1), np.moveaxis(result, dim, -1)
    for place in np.ndindex(rows.shape[:-1]):
        row = rows[place].tolist()
        keys = [(1, 0.0) if v != v else (0, v) for v in row]
        found = sorted(range(len(row)), key=lambda i, k=keys: k[i])
        if descending:
            found = sorted(range(len(row)), key=lambda i, k=keys: (-k[i][0], -k[i][1]))
        out[place] = found
    return result


def sort(a: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    index = order(a, dim, descending)
    return (np.take_along_axis(a, index, dim) if a.ndim else a), index


def topk(a: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if a.ndim == 0:
        return a, np.int64(0)
    index = np.take(order(a, dim, largest), np.arange(k), axis=dim)
    return np.take_along_axis(a, index, dim), index


def kthvalue(a: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if a.ndim == 0:
        return a, np.int64(0)
    result = topk(a, k, dim, False)
    last = tuple(np.take(r, [k - 1], axis=dim) for r in result)
    return last if keepdim else tuple(np.squeeze(r, dim) for r in last)


def samples(g: Gen) -> list[S]:
    tied = np.array([[2.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, -1.0]])
    return [
        S(g.distinct(5)),
        S(g.distinct(2, 3, 4), dim=1),
        S(g.distinct(3, 4), 0, True),
        S(g.noncontiguous(g.distinct(3, 4)), descending=True),
        S(tied, stable=True).but(grad=False),
        S(tied, descending=True, stable=True).but(grad=False),
        S(np.array([1.0, np.nan, -np.inf, np.inf, np.nan, 0.0]), stable=True).but(grad=False, dtypes="float"),
        S(np.array([1.0, np.nan, -np.inf, np.inf, np.nan, 0.0]), descending=True, stable=True).but(grad=False, dtypes="float"),
        S(g.distinct(0, 3), dim=0),
        S(g.distinct(1)),
        S(g.distinct()),
    ]


def whole(g: Gen, *shape: int) -> np.ndarray:
    """Different whole positive numbers: no ties in any dtype (which of equal elements torch takes is not said)."""
    return np.asarray(g.permutation(int(np.prod(shape))) + 1, np.float64).reshape(shape)


def search(sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    result = np.empty(values.shape, np.int32 if out_int32 else np.int64)
    for place in np.ndindex(values.shape):
        row = sequence if sequence.ndim == 1 else sequence[place[:-1]]
        result[place] = sum(bool(s <= values[place] if right else s < values[place]) for s in row)
    return result


def increasing(g: Gen, *shape: int) -> np.ndarray:
    return np.sort(g.ints(*shape), axis=-1)


def lower_median(a: Any) -> Any:
    flat = np.sort(a.reshape(-1))
    return flat[(flat.size - 1) // 2] if flat.size and not np.isnan(flat[-1]) else flat.dtype.type(np.nan)


def median_dim(a: Any, dim: int, keepdim: bool = False) -> Any:
    if a.ndim == 0:
        return a, np.int64(0)
    order = np.argsort(a, axis=dim, kind="stable")
    index = np.take(order, [(a.shape[dim] - 1) // 2], axis=dim)
    if a.dtype.kind == "f":
        index = np.where(np.isnan(a).any(axis=dim, keepdims=True), np.isnan(a).argmax(axis=dim, keepdims=True), index)
    result = np.take_along_axis(a, index, dim), index
    return result if keepdim else tuple(np.squeeze(r, dim) for r in result)


def median_samples(g: Gen) -> list[S]:
    return [
        S(g.distinct(5), dim=0),
        S(g.distinct(2, 3, 4), dim=-1, keepdim=True),
        S(g.distinct(2, 3, 4), dim=1),
        S(g.noncontiguous(g.distinct(3, 4)), dim=1),
        S(np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 2.0]]), dim=1).but(grad=False, dtypes="float"),
        S(g.real(0, 3), dim=1),
        S(g.distinct(), dim=0),
    ]


ROWS = [
    Row(
        "median",
        lambda g: [
            S(g.distinct(3, 4)),
            S(g.distinct(5)),
            S(g.noncontiguous(g.distinct(3, 3))),
            S(g.distinct()),
            S(np.array([1.0, np.nan, 2.0])).but(grad=False, dtypes="float"),
            S(g.real(0)).but(dtypes="float", grad=False),
        ],
        lower_median,
        dtypes="number",
        errors=lambda g: [E((g.bools(3),), {}, DTypeError, "median")],
    ),
    Row(
        "median_dim",
        median_samples,
        median_dim,
        torch="median",
        dtypes="number",
        errors=lambda g: [E((g.real(0, 3),), {"dim": 0}, ShapeError, "empty"), E((g.real(2, 3),), {"dim": -3}, DimensionError, "median")],
    ),
    Row("sort", samples, sort, dtypes="number", errors=lambda g: [E((g.real(2, 3), 2), {}, DimensionError, "sort")]),
    Row(
        "argsort",
        samples,
        lambda a, dim=-1, descending=False, stable=False: order(a, dim, descending),
        dtypes="number",
        grad=False,
        errors=lambda g: [E((g.real(2, 3), 2), {}, DimensionError, "argsort")],
    ),
    Row("msort", lambda g: [S(g.distinct(4, 3)), S(g.distinct(5))], lambda a: np.sort(a, axis=0), dtypes="number"),
    Row(
        "topk",
        lambda g: [
            S(whole(g, 3, 5), 2),
            S(whole(g, 4, 3), 3, 0, False),
            S(whole(g, 3, 4), 0),
            S(g.noncontiguous(whole(g, 3, 4)), 4),
            S(whole(g), 1),
        ],
        topk,
        dtypes="number",
        errors=lambda g: [E((g.real(2, 3), 4), {}, ValueRangeError, "k=4"), E((g.real(2, 3), -1), {}, ValueRangeError, "topk")],
    ),
    Row(
        "kthvalue",
        lambda g: [S(whole(g, 3, 5), 2), S(whole(g, 4, 3), 1, 0, True), S(g.noncontiguous(whole(g, 3, 4)), 4), S(whole(g), 1)],
        kthvalue,
        dtypes="number",
        errors=lambda g: [E((g.real(2, 3), 0), {}, ValueRangeError, "k=0"), E((g.real(2, 3), 4), {}, ValueRangeError, "kthvalue")],
    ),
]
