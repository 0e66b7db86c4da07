"""Samples of sums with a factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError


def with_alpha(g: Gen) -> list[S]:
    return [
        S(g.real(3, 4), g.real(3, 4), alpha=0.5).but(dtypes="float"),
        S(g.real(3, 1), g.real(4), alpha=3),
        S(g.real(2), g.real(), alpha=-2),
        S(g.real(0), g.real(1), alpha=2),
        S(g.real(3), 2, alpha=2),
        S(g.real(), g.real(), alpha=2),
    ]


def triples(g: Gen, last: Any) -> list[S]:
    return [
        S(g.real(3, 4), g.real(3, 4), last(3, 4)),
        S(g.positive(3, 4), g.positive(4), np.abs(last(3, 1)), value=2),
        S(g.real(4), g.real(3, 1), last(1), value=-0.5).but(dtypes="float"),
        S(g.real(0), g.real(1), last()),
        S(g.real(), g.real(), last()),
    ]


def weights(g: Gen) -> list[S]:
    return [
        S(g.real(3, 4), g.real(3, 4), 0.25),
        S(g.real(3, 4), g.real(4), 0.75),
        S(g.real(3, 4), g.real(3, 4), g.unit(3, 4)),
        S(g.real(3, 1), g.real(4), g.unit()),
        S(g.real(2), g.real(2), -1.5),
        S(g.real(0), g.real(0), 0.5),
        S(g.real(), g.real(), g.unit()),
    ]


ROWS = [
    Row(
        "add_alpha", with_alpha, lambda a, b, alpha=1: a + np.asarray(alpha).astype(a.dtype) * b, torch="add", dtypes="number",
        inplace="add_alpha_",
        errors=lambda g: [
            E((np.array([1]), np.array([2])), {"alpha": 0.5}, DTypeError, "alpha"),
            E((g.real(2), g.real(3)), {"alpha": 2}, ShapeError, "add"),
            E((g.real(2), g.real(2)), {"alpha": True}, DTypeError, "alpha"),
        ],
    ),
    Row(
        "sub_alpha", with_alpha, lambda a, b, alpha=1: a - np.asarray(alpha).astype(a.dtype) * b, torch="sub", dtypes="number",
        inplace="sub_alpha_",
        errors=lambda g: [E((np.array([1]), np.array([2])), {"alpha": 0.5}, DTypeError, "alpha"),
            E((g.real(2), g.bools(2)), {"alpha": 2}, DTypeError, "bool")],
    ),
    Row(
        "addcmul", lambda g: triples(g, g.real), lambda a, b, c, value=1: a + np.asarray(value).astype(a.dtype) * b * c, dtypes="number",
        inplace="addcmul_",
        errors=lambda g: [E((np.array([1]), np.array([2]), np.array([3])), {"value": 0.5}, DTypeError, "value")],
    ),
    Row(
        "addcdiv", lambda g: triples(g, g.nonzero), lambda a, b, c, value=1: a + value * b / c, inplace="addcdiv_",
        errors=lambda g: [E((np.array([1]), np.array([2]), np.array([3])), {}, DTypeError, "addcdiv")],
    ),
    Row(
        "lerp", weights, lambda a, b, w: a + w * (b - a), inplace="lerp_",
        errors=lambda g: [E((g.real(2), g.real(2).astype(np.float32), 0.5), {}, DTypeError, "end"),
            E((np.array([1]), np.array([2]), 0.5), {}, DTypeError, "lerp")],
    ),
]  # fmt: skip
