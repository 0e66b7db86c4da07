"""Samples of distances and of the cross product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.row import E, Row, S
from tests.ops.samples.decomposition import PRECISE
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError


def cdist(a: Any, b: Any, p: float = 2.0, compute_mode: int = 0) -> Any:
    difference = a[..., :, None, :] - b[..., None, :, :]
    return np.linalg.norm(difference, p, -1) if difference.size else np.zeros(difference.shape[:-1])


ROWS = [
    Row(
        "linalg_cross",
        lambda g: [
            S(g.real(2, 3), g.real(2, 3)),
            S(g.real(3, 2), g.real(3, 1), dim=0),
            S(g.real(2, 3), g.real(1, 3)),
            S(g.real(3), g.real(3), dim=-1),
            S(g.real(0, 3), g.real(0, 3)),
        ],
        lambda a, b, dim=-1: np.cross(a, b, axis=dim) if a.size else a * b,
        torch=lambda torch, a, b, **kw: torch.linalg.cross(a, b, **kw),
        dtypes=("float32", "float64", "int32", "int64"),
        errors=lambda g: [
            E((g.real(2), g.real(2)), {}, ShapeError, "length 3"),
            E((g.real(3), g.real(1, 3)), {}, ShapeError, "same number"),
            E((g.real(3), g.real(3).astype(np.float32)), {}, DTypeError, "one dtype"),
        ],
    ),
    Row(
        "cdist_forward",
        lambda g: [
            *(S(g.real(4, 3), g.real(2, 3), p) for p in (2.0, 1.0, 3.0, 0.5, math.inf)),
            S(g.real(4, 3), g.real(2, 3), 0.0).but(grad=False),
            S(g.real(2, 3, 2), g.real(4, 2)),
            S(g.real(3, 2), g.real(2, 2, 2), 2.0, 1),
            S(g.real(0, 2), g.real(3, 2)),
            S(g.real(2, 2), g.real(0, 2)),
            S(g.real(30, 2), g.real(3, 2), 2.0, 2),
        ],
        cdist,
        torch=lambda torch, a, b, p=2.0, mode=0: torch.cdist(a, b, p),
        dtypes=PRECISE,
        tolerance=8.0,
        errors=lambda g: [
            E((g.real(3), g.real(2, 3)), {}, ShapeError, "at least 2D"),
            E((g.real(3, 3), g.real(2, 2)), {}, ShapeError, "columns"),
            E((g.real(3, 3), g.real(2, 3), -1.0), {}, ValueRangeError, "non-negative"),
            E((g.real(3, 3), g.real(2, 3).astype(np.float32)), {}, DTypeError, "one dtype"),
        ],
    ),
]
