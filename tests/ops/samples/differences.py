"""Samples of differences, numerical derivatives and integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import ArgumentError, DimensionError, ShapeError, ValueRangeError


def diff(a: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    given = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return np.diff(a, n, dim, **given)


def gradient(a: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    steps = (
        spacing if isinstance(spacing, (list, tuple)) else [spacing] * (a.ndim if dim is None else 1 if isinstance(dim, int) else len(dim))
    )
    found = np.gradient(a, *steps, axis=dim, edge_order=edge_order)
    return found if isinstance(found, (list, tuple)) else (found,)


def integral(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    return np.trapezoid(y, x, dx, dim)


def running(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    y = np.moveaxis(y, dim, -1)
    gaps = dx if x is None else np.diff(x)
    return np.moveaxis(np.cumsum((y[..., 1:] + y[..., :-1]) / 2 * gaps, axis=-1), -1, dim)


def integrals(g: Gen) -> list[S]:
    return [
        S(g.real(6)),
        S(g.real(3, 4), dim=0),
        S(g.real(2, 3, 4), dx=0.5),
        S(g.real(3, 4), np.sort(g.distinct(4))),
        S(g.real(5), np.sort(g.distinct(5))),
        S(g.noncontiguous(g.real(3, 4))),
        S(g.real(3, 1)),
    ]


ROWS = [
    Row(
        "diff",
        lambda g: [
            S(g.real(5)),
            S(g.real(3, 4), 2),
            S(g.real(3, 4), dim=0),
            S(g.real(3, 4), 1, 1, g.real(3, 2), g.real(3, 1)),
            S(g.real(3, 4), 0),
            S(g.real(3), 5),
            S(g.noncontiguous(g.real(3, 4))),
            S(g.bools(6)),
        ],
        diff,
        dtypes="number",
        errors=lambda g: [
            E((g.real(),), {}, ShapeError, "diff"),
            E((g.real(3), -1), {}, ValueRangeError, "order"),
            E((g.real(3), 1, 1), {}, DimensionError, "diff"),
            E((g.real(3, 3),), {"prepend": g.real(3)}, ShapeError, "prepend"),
        ],
    ),
    Row(
        "gradient",
        lambda g: [
            S(g.real(6)),
            S(g.real(4, 5)),
            S(g.real(4, 5), dim=1, spacing=0.5),
            S(g.real(4, 5), spacing=[0.5, 2.0], edge_order=2),
            S(g.real(4, 5), spacing=[np.sort(g.distinct(4)), np.sort(g.distinct(5))]),
            S(g.real(5), spacing=[np.sort(g.distinct(5))], edge_order=2),
            S(g.noncontiguous(g.real(3, 4)), dim=(0,)),
        ],
        gradient,
        dtypes=("float64", "float32"),
        grad=(0,),
        errors=lambda g: [
            E((g.real(4),), {"edge_order": 3}, ValueRangeError, "edge_order"),
            E((g.real(1),), {}, ShapeError, "short"),
            E((g.real(3, 3),), {"dim": (0, 0)}, DimensionError, "twice"),
            E((g.real(3, 3),), {"spacing": [1.0]}, ShapeError, "spacings"),
            E((g.real(3),), {"spacing": [g.real(2)]}, ShapeError, "coordinates"),
        ],
    ),
    Row(
        "trapezoid",
        integrals,
        integral,
        dtypes=("float64", "float32"),
        errors=lambda g: [
            E((g.real(3), g.real(4)), {}, ShapeError, "trapezoid"),
            E((g.real(3), g.real(3)), {"dx": 1.0}, ArgumentError, "both"),
            E((g.real(3),), {"dim": 1}, DimensionError, "trapezoid"),
        ],
    ),
    Row("trapz", lambda g: [S(g.real(3, 4)), S(g.real(3, 4), np.sort(g.distinct(4)))], integral, dtypes=("float64", "float32")),
    Row(
        "cumulative_trapezoid",
        integrals,
        running,
        dtypes=("float64", "float32"),
        errors=lambda g: [E((g.real(3), g.real(4)), {}, ShapeError, "cumulative_trapezoid")],
    ),
]
