"""Samples of Bessel functions."""

from __future__ import annotations

import math

import numpy as np

from tests.ops import oracles
from tests.ops.oracles import each
from tests.ops.row import E, Row, S
from tests.ops.samples.unary import one
from twofold.support.errors import ArgumentError

ORACLE = 100.0
"""See samples/gamma.py."""
FLOATS = ("float64", "float32")
MANY = (*FLOATS, "int16", "uint8", "bool")


def i(n: int, scale: float = 0.0):
    return each(lambda x: oracles.bessel_i(n, x, scale))


def k(n: int, scale: float = 0.0):
    return each(lambda x: oracles.bessel_k(n, x, scale))


def real(*extra: float):
    def samples(g):
        points = S(np.array([0.0, 3.0, 7.5, 9.0, 20.0, *extra])).but(grad=False, dtypes=FLOATS)
        return [*one("real", special=False)(g), S(g.real(3) * 8).but(dtypes=FLOATS, grad=False), points]

    return samples


def positive(g):
    points = S(np.array([0.0, 1.9, 2.1, 9.0, 20.0])).but(grad=False, dtypes=FLOATS)
    return [*one("positive", special=False)(g), points, S(np.array([-1.0])).but(grad=False, dtypes=FLOATS)]


def row(name, samples, oracle, dtypes=MANY, **fields):
    return Row(
        name, samples, oracle, torch=name.removeprefix("special_"), dtypes=dtypes, tolerance=ORACLE,
        errors=lambda g: [E(("a",), {}, ArgumentError, name.removeprefix("special_"))], **fields,
    )  # fmt: skip


J_ZERO = 1e3
"""Near the zeros of J and Y the oracle's absolute error counts."""


def oscillating(name, samples, oracle):
    made = row(name, samples, oracle)
    object.__setattr__(made, "tolerance", J_ZERO)
    return made


ROWS = [
    row("i0", real(-5.0), i(0), dtypes="all", inplace="i0_"),
    row("special_i0e", real(-5.0), i(0, 1.0), dtypes="all"),
    row("special_i1", real(-5.0), i(1), dtypes="all"),
    row("special_i1e", real(-5.0), i(1, 1.0), dtypes="all"),
    row("special_modified_bessel_i0", real(-5.0), i(0)),
    row("special_modified_bessel_i1", real(-5.0), i(1)),
    oscillating("special_bessel_j0", real(-9.0), each(lambda x: oracles.bessel_j(0, x))),
    oscillating("special_bessel_j1", real(-9.0), each(lambda x: oracles.bessel_j(1, x))),
    oscillating("special_bessel_y0", positive, each(lambda x: oracles.bessel_y(0, x))),
    oscillating("special_bessel_y1", positive, each(lambda x: oracles.bessel_y(1, x))),
    row("special_modified_bessel_k0", positive, k(0)),
    row("special_modified_bessel_k1", positive, k(1)),
    row("special_scaled_modified_bessel_k0", positive, k(0, 1.0)),
    row("special_scaled_modified_bessel_k1", positive, k(1, 1.0)),
    row(
        "special_spherical_bessel_j0", real(math.inf, -math.inf),
        lambda x: np.where(x == 0, 1.0, np.where(np.isinf(x), 0.0, np.sin(x) / np.where(x == 0, 1.0, x))),
    ),
    oscillating(
        "special_airy_ai",
        lambda g: [*one("real", special=False)(g), S(np.array([0.0, 2.1, 5.0, 9.0, -2.1, -4.0])).but(grad=False, dtypes=FLOATS)],
        each(oracles.airy),
    ),
]  # fmt: skip
