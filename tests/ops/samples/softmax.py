"""Samples of softmax and log-softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, DimensionError, DTypeError


def log_softmax(a: Any, dim: int, *, dtype: Any = None) -> Any:
    if a.ndim == 0:
        return a * 0
    shifted = a - np.max(a, axis=dim, keepdims=True, initial=-np.inf) if a.size else a
    return shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))


def softmax(a: Any, dim: int, *, dtype: Any = None) -> Any:
    return np.exp(log_softmax(a, dim))


def samples(g: Gen) -> list[S]:
    return [
        S(g.real(3, 4), 1),
        S(g.real(2, 3, 4), -2),
        S(g.real(5), 0),
        S(g.noncontiguous(g.real(3, 4)), -1),
        S(g.real(2, 3, 2, 2), 1),
        S(g.real(3, 4) * 100.0, 1).but(grad=False, dtypes=("float32", "float64")),
        S(g.real(40, 1000), 1).but(layouts=False, dtypes=("float32", "float64")),  # more than one chunk
        S(np.array([[-np.inf, 0.0, 1.0], [-np.inf, -np.inf, 2.0]]), 1).but(grad=False, dtypes="float"),
        S(g.real(3, 4), 1, dtype=dtypes.float64),
        S(g.real(1, 1), 0),
        S(g.real(3, 0), 1),
        S(g.real(0, 3), 1),
        S(g.real(), 0),
    ]


def backward_samples(g: Gen) -> list[S]:
    return [
        S(g.real(3, 4), g.unit(3, 4), 1),
        S(g.real(2, 3, 4), g.unit(2, 3, 4), 1),
        S(g.real(3, 0), g.real(3, 0), 1),
        S(g.real(), g.unit(), 0),
        S(g.noncontiguous(g.real(3, 4)), g.unit(3, 4), -1),
    ]


def total(a: Any, dim: int) -> Any:
    return a.sum(axis=dim, keepdims=True) if a.ndim else a


def wrong(name: str) -> Any:
    return lambda g: [
        E((np.arange(3), 0), {}, DTypeError, name),
        E((g.real(2, 3), 2), {}, DimensionError, name),
        E((g.real(2, 3), None), {}, ArgumentError, name),
    ]


ROWS = [
    Row("softmax", samples, softmax, errors=wrong("softmax")),
    Row("log_softmax", samples, log_softmax, errors=wrong("log_softmax")),
    Row("softmin", lambda g: [S(g.real(3, 4), 1), S(g.real(3, 4), 0)], lambda a, dim: softmax(-a, dim)),
    Row("softmax_backward", backward_samples, lambda g, y, dim: y * (g - total(g * y, dim)), torch=None),
    Row("log_softmax_backward", backward_samples, lambda g, y, dim: g - np.exp(y) * total(g, dim), torch=None),
]
