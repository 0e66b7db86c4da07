"""Samples of distinct elements, membership, histograms, searching and positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from tests.ops.samples.sorting import increasing, search
from twofold.support.errors import ArgumentError, DTypeError, IndexOutOfRange, ShapeError, ValueRangeError


def unique(a: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    found = np.unique(a, True, True, True, axis=dim if a.ndim else None, equal_nan=False)
    inverse = found[2].reshape(a.shape) if dim is None or not a.ndim else found[2].reshape(-1)
    parts = (found[0], *((inverse,) if return_inverse else ()), *((found[3],) if return_counts else ()))
    return parts if len(parts) > 1 else parts[0]


def consecutive(a: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    rows = [a.reshape(-1)[i] for i in range(a.size)] if dim is None else [np.take(a, i, dim) for i in range(a.shape[dim])]
    runs: list[Any] = []
    inverse, counts = [], []
    for r in rows:
        if not runs or np.any(runs[-1] != r):
            runs.append(r)
            counts.append(0)
        counts[-1] += 1
        inverse.append(len(runs) - 1)
    out = np.array(runs, a.dtype) if dim is None else np.stack(runs, dim)
    places = np.array(inverse, np.int64).reshape(a.shape if dim is None else (-1,))
    parts = (out, *((places,) if return_inverse else ()), *((np.array(counts, np.int64),) if return_counts else ()))
    return parts if len(parts) > 1 else parts[0]


def histc(a: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    low, high = (a.min(), a.max()) if min == max and a.size else (min, max)
    return np.histogram(a, bins, (low - 1, high + 1) if low == high else (low, high))[0].astype(a.dtype)


def histogram(a: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    count, edges = np.histogram(a, bins, range, density, weight)
    return count.astype(a.dtype), edges.astype(a.dtype)


def histogramdd(a: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    pairs = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    count, edges = np.histogramdd(a, bins, pairs, density, weight)
    return count.astype(a.dtype), *(e.astype(a.dtype) for e in edges)


def flat_histogramdd(*args: Any, **kwargs: Any) -> Any:
    """(hist, edges, …) rather than a tuple in a tuple."""
    import twofold

    found = twofold.histogramdd(*args, **kwargs)
    return found.hist, *found.bin_edges


def hashed(a: Any, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Any:
    wide = a.astype(np.float64 if a.dtype.kind == "f" else np.int64).view(np.uint64)
    axes = tuple(range(a.ndim)) if dim == () else (dim,) if isinstance(dim, int) else dim
    return np.bitwise_xor.reduce(wide, axis=axes or None, keepdims=keepdim)


def nonzero_static(a: Any, *, size: int, fill_value: int = -1) -> Any:
    found = np.argwhere(a)[:size]
    rest = np.full((size - len(found), a.ndim), fill_value)
    return np.concatenate([found, rest]).astype(np.int64)


def few(g: Gen, *shape: int) -> np.ndarray:
    return g.ints(*shape, low=0, high=4)


SORTER = np.array([2, 0, 3, 1])

ROWS = [
    Row(
        "unique",
        lambda g: [
            S(few(g, 12)),
            S(few(g, 3, 4), return_inverse=True),
            S(few(g, 3, 4), True, True, True),
            S(few(g, 5, 2), return_inverse=True, return_counts=True, dim=0),
            S(few(g, 2, 6), return_counts=True, dim=-1),
            S(g.noncontiguous(few(g, 3, 4)), return_inverse=True),
            S(np.array([np.nan, 1.0, np.nan, 1.0]), return_counts=True).but(dtypes="float"),
            S(few(g, 0), return_inverse=True),
            S(few(g)),
        ],
        unique,
        dtypes="number",
        grad=False,
        meta=False,
        errors=lambda g: [E((g.real(2, 0),), {"dim": 0}, ShapeError, "unique")],
    ),
    Row(
        "unique_consecutive",
        lambda g: [
            S(few(g, 12), return_counts=True),
            S(few(g, 3, 4), return_inverse=True),
            S(np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]), True, True, 0),
            S(g.noncontiguous(few(g, 3, 4))),
            S(few(g, 0), return_inverse=True),
        ],
        consecutive,
        dtypes="number",
        grad=False,
        meta=False,
        errors=lambda g: [E((g.real(2, 0),), {"dim": 0}, ShapeError, "unique_consecutive")],
    ),
    Row(
        "isin",
        lambda g: [S(few(g, 3, 4), few(g, 2)), S(few(g, 6), few(g, 0)), S(few(g, 5), few(g, 3), invert=True), S(few(g, 5), 2)],
        lambda a, b, *, invert=False: np.isin(a, b, invert=invert),
        dtypes="number",
        grad=False,
        errors=lambda g: [E((1, 2), {}, ArgumentError, "tensor"), E((g.bools(2), g.bools(2)), {}, DTypeError, "bool")],
    ),
    Row(
        "nonzero_static",
        lambda g: [
            S(few(g, 3, 4), size=5),
            S(few(g, 3), size=6, fill_value=7),
            S(few(g, 4), size=0),
            S(np.array(1.0), size=2),
            S(g.noncontiguous(few(g, 3, 4)), size=4),
        ],
        nonzero_static,
        dtypes="all",
        grad=False,
        errors=lambda g: [E((g.real(2),), {"size": -1}, ValueRangeError, "nonzero_static")],
    ),
    Row(
        "hash_tensor",
        lambda g: [
            S(g.real(3, 4)),
            S(g.real(3, 4), 1),
            S(g.real(2, 3, 4), (0, 2), keepdim=True),
            S(g.real()),
            S(g.noncontiguous(g.real(3, 4)), 0),
        ],
        hashed,
        dtypes=("float64", "int64"),
        grad=False,
        errors=lambda g: [E((g.real(2),), {"mode": 1}, ValueRangeError, "mode")],
    ),
    Row(
        "histc",
        lambda g: [
            S(g.real(20), 5),
            S(g.real(4, 5), 4, -1, 1),
            S(np.full(3, 2.0), 4),
            S(g.noncontiguous(g.real(3, 4)), 3),
            S(g.ints(30, low=0, high=4), bins=4, min=0, max=4),
        ],
        histc,
        dtypes=("float64", "float32"),
        grad=False,
        errors=lambda g: [
            E((g.real(3), 0), {}, ValueRangeError, "histc"),
            E((g.real(3),), {"min": 2, "max": 1}, ValueRangeError, "bound"),
            E((np.array([1.0, np.inf]),), {}, ValueRangeError, "finite"),
            E((np.array([1, 2]),), {}, DTypeError, "histc"),
        ],
    ),
    Row(
        "histogram",
        lambda g: [
            S(g.real(20), 5),
            S(g.real(4, 5), 4, range=(-1.0, 1.0)),
            S(g.real(10), 3, weight=g.unit(10)),
            S(g.real(10), 3, density=True),
            S(g.real(12), np.array([-1.0, -0.2, 0.5, 2.0])),
            S(g.noncontiguous(g.real(3, 4)), 3),
        ],
        histogram,
        dtypes=("float64", "float32"),
        grad=False,
        covers=("histogram_bin_edges", "histogram_counts"),
        errors=lambda g: [
            E((g.real(3), 0), {}, ValueRangeError, "positive"),
            E((g.real(3), 3), {"range": (1.0, 0.0)}, ValueRangeError, "bound"),
            E((g.real(3), 3), {"weight": g.real(2)}, ShapeError, "weight"),
        ],
    ),
    Row(
        "histogramdd",
        lambda g: [
            S(g.real(20, 2), (3, 4)),
            S(g.real(10, 2), 3, range=(-1.0, 1.0, -2.0, 2.0)),
            S(g.real(10, 2), (2, 3), weight=g.unit(10), density=True),
            S(g.real(9, 2), [np.array([-1.0, 0.0, 2.0]), np.array([-2.0, 1.0, 2.0])]),
        ],
        histogramdd,
        torch=lambda torch, *args, **kwargs: (lambda r: (r.hist, *r.bin_edges))(torch.histogramdd(*args, **kwargs)),
        dtypes=("float64", "float32"),
        grad=False,
        call=flat_histogramdd,
        errors=lambda g: [E((g.real(3), 3), {}, ShapeError, "histogramdd"), E((g.real(3, 2), (3,)), {}, ShapeError, "coordinates")],
    ),
    Row(
        "bincount",
        lambda g: [
            S(g.index(10, 5)),
            S(g.index(10, 5), minlength=8),
            S(g.index(6, 4), g.unit(6)),
            S(g.index(0, 4), minlength=2),
        ],
        lambda a, weights=None, minlength=0: np.bincount(a, weights, minlength),
        dtypes=("float64", "float32"),
        grad=False,
        meta=False,
        errors=lambda g: [
            E((np.array([1, -1]),), {}, ValueRangeError, "negative"),
            E((g.index((2, 2), 3),), {}, ShapeError, "1-d"),
            E((g.index(3, 3), g.real(2)), {}, ShapeError, "weights"),
        ],
    ),
    Row(
        "searchsorted",
        lambda g: [
            S(increasing(g, 6), g.ints(3, 4)),
            S(increasing(g, 6), g.ints(5), right=True),
            S(increasing(g, 6), g.ints(5), side="right"),
            S(increasing(g, 6), g.ints(5), side="left"),
            S(increasing(g, 6), 2),
            S(increasing(g, 4)[np.argsort(SORTER)], g.ints(5), sorter=SORTER),
            S(increasing(g, 2, 5), g.ints(2, 3), out_int32=True),
            S(increasing(g, 0), g.ints(3)),
            S(increasing(g, 4), g.ints()),
        ],
        lambda a, v, *, out_int32=False, right=False, side="left", sorter=None: search(
            a if sorter is None else a[sorter], np.asarray(v), out_int32=out_int32, right=right or side == "right"
        ),
        dtypes=("float64", "float32", "int64", "int8"),
        grad=False,
        errors=lambda g: [
            E((g.real(2, 3), g.real(3, 3)), {}, ShapeError, "searchsorted"),
            E((g.real(3), g.real(3)), {"side": "middle"}, ValueRangeError, "middle"),
            E((g.real(3), g.real(3)), {"side": "left", "right": True}, ValueRangeError, "contradicts"),
            E((g.real(3), g.real(3)), {"sorter": np.array([0, 1, 3])}, IndexOutOfRange, "sorter"),
            E((g.real(3), g.real(3)), {"sorter": np.array([0, 1])}, ShapeError, "sorter"),
            E((g.real(3), g.index(3, 3)), {}, DTypeError, "searchsorted"),
        ],
    ),
    Row(
        "bucketize",
        lambda g: [S(g.ints(3, 4), increasing(g, 6)), S(g.ints(5), increasing(g, 6), right=True), S(1, increasing(g, 6))],
        lambda a, boundaries, *, right=False: search(boundaries, np.asarray(a), right=right),
        dtypes=("float64", "int64"),
        grad=False,
        errors=lambda g: [E((g.real(2), g.real(2, 2)), {}, ShapeError, "bucketize")],
    ),
    Row(
        "unravel_index",
        lambda g: [S(g.index((2, 3), 20), (4, 5)), S(g.index(4, 24), (2, 3, 4)), S(g.index((), 6), 6)],
        lambda a, shape: np.unravel_index(a, shape),
        dtypes=("float64",),
        grad=False,
        errors=lambda g: [E((g.real(2), (2, 2)), {}, DTypeError, "integers"), E((g.index(2, 4), (2, -2)), {}, ValueRangeError, "negative")],
    ),
]
