"""Samples of determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import Row, S
from tests.ops.samples.decomposition import PRECISE, refused, well


def cofactor(a: Any) -> Any:
    """From the minors."""
    n = a.shape[-1]
    result = np.ones(a.shape)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(a, i, -2), j, -1)
            result[..., i, j] = (-1) ** (i + j) * (np.linalg.det(minor) if n > 1 else 1.0)
    return result


def deficient(g: Any, n: int, rank: int) -> Any:
    """A matrix of this rank."""
    return g.real(n, rank) @ g.real(rank, n)


SHAPES = ((3, 3), (2, 4, 4), (1, 1), (0, 2, 2))

ROWS = [
    Row(
        "linalg_det",
        lambda g: [
            *(S(g.real(*s)) for s in SHAPES),
            S(g.real(2, 0, 0)),
            # torch's gradients are inexact for singular matrices: it shifts zeros of the diagonal of U
            *(S(a).but(torch=False) for a in (deficient(g, 3, 2), deficient(g, 4, 2), np.diag([2.0, 0.0]))),
        ],
        lambda a: np.linalg.det(a) if a.size or a.shape[-1] == 0 else np.zeros(a.shape[:-2]),
        torch=lambda torch, a: torch.linalg.det(a),
        dtypes=PRECISE,
        tolerance=8.0,
        errors=refused("det"),
    ),
    Row(
        "linalg_cofactor",
        lambda g: [
            *(S(well(g, *s) if 0 not in s else g.real(*s)) for s in SHAPES),
            S(deficient(g, 3, 2)),
            S(deficient(g, 4, 2)).but(grad=False),  # its second derivative goes through two equal singular values
        ],
        cofactor,
        torch=None,
        dtypes=PRECISE,
        tolerance=32.0,  # third derivatives go through singular values
        errors=refused("cofactor"),
    ),
    Row(
        "linalg_slogdet",
        lambda g: [*(S(well(g, *s) if 0 not in s else g.real(*s)) for s in SHAPES), S(np.zeros((2, 2))).but(grad=False)],
        lambda a: tuple(np.linalg.slogdet(a)),
        torch=lambda torch, a: torch.linalg.slogdet(a),
        dtypes=PRECISE,
        tolerance=4.0,
        errors=refused("slogdet"),
    ),
]
