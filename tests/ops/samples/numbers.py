"""Samples of functions of whole numbers and of the parts of floating-point numbers."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.row import SIGNED, SMALL_UNSIGNED, E, Row, S
from tests.ops.samples.unary import one
from twofold.support.errors import ArgumentError, DTypeError, ShapeError

WHOLE = (*SIGNED, *SMALL_UNSIGNED)


def whole(g):
    return [
        S(g.ints(3, 4, low=-20, high=21), g.ints(4, low=-20, high=21)), S(g.ints(0, 3), g.ints(3)), S(g.ints(), g.ints()),
        S(g.noncontiguous(g.ints(2, 3)), g.ints(2, 3)), S(np.array([0.0, 0.0, 4.0, 6.0]), np.array([0.0, 5.0, 0.0, 4.0])),
    ]  # fmt: skip


def whole_errors(name):
    return lambda g: [
        E((g.bools(2), g.bools(2)), {}, DTypeError, name), E((g.real(2), g.real(2)), {}, DTypeError, name),
        E((g.index(2, 5), 3), {}, DTypeError, "must be a tensor"), E((g.index(2, 5), g.index(3, 5)), {}, ShapeError, name),
    ]  # fmt: skip


def real_pairs(g):
    return [
        S(g.real(3, 4), g.real(3, 4)), S(g.real(3, 1), g.real(4)), S(g.real(0, 3), g.real(1)), S(g.real(), g.real()),
        S(g.noncontiguous(g.real(2, 3)), g.real(2, 3)),
    ]  # fmt: skip


def check_nextafter(out, a, b):
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[out.dtype.itemsize]
    a, b = np.broadcast_arrays(np.asarray(a, out.dtype), np.asarray(b, out.dtype))
    moved = np.abs(out.ravel().view(bits).astype(np.int64) - a.ravel().view(bits).astype(np.int64))
    assert np.array_equal(moved, (a != b).ravel().astype(np.int64))
    assert (np.sign(out.astype(float) - a.astype(float)) == np.sign(b.astype(float) - a.astype(float))).all()


def heaviside(x, v):
    return np.where(x == 0, v, (x > 0).astype(x.dtype))


ROWS = [
    Row("gcd", whole, lambda a, b: np.gcd(a, b), dtypes=WHOLE, grad=False, inplace="gcd_", errors=whole_errors("gcd")),
    Row("lcm", whole, lambda a, b: np.lcm(a, b), dtypes=WHOLE, grad=False, inplace="lcm_", errors=whole_errors("lcm")),
    Row(
        "heaviside",
        lambda g: [*real_pairs(g), S(np.array([0.0, -0.0, 1.0, -2.0, math.inf, math.nan]), np.full(6, 0.5)).but(dtypes="float")],
        heaviside, dtypes="all", grad=False, inplace="heaviside_",
        errors=lambda g: [
            E((g.real(2), g.index(2, 3)), {}, DTypeError, "heaviside"), E((g.real(2), 1.0), {}, DTypeError, "must be a tensor"),
            E((g.real(2), g.real(3)), {}, ShapeError, "heaviside"),
        ],
    ),
    Row("isposinf", one("real"), np.isposinf, dtypes="all", grad=False),
    Row("isneginf", one("real"), np.isneginf, dtypes="all", grad=False),
    Row("angle", one("real"), lambda x: np.where(np.isnan(x), x, np.where(x < 0, math.pi, 0.0)), dtypes="all"),
    Row(
        "frexp", one("nonzero", special=False), lambda x: (np.frexp(x)[0], np.frexp(x)[1].astype(np.int32)),
        errors=lambda g: [E((g.index(3, 5),), {}, DTypeError, "frexp"), E((2.0,), {}, ArgumentError, "frexp")],
    ),
    Row(
        "nextafter", real_pairs, check=check_nextafter, dtypes="float", inplace="nextafter_",
        errors=lambda g: [E((g.index(3, 5), g.index(3, 5)), {}, DTypeError, "nextafter"),
                          E((g.real(2), g.real(3)), {}, ShapeError, "nextafter")],
    ),
    Row(
        "logaddexp2",
        lambda g: [
            *real_pairs(g),
            S(np.array([1000.0, -1000.0, 0.0]), np.array([1000.0, -1001.0, 600.0])).but(dtypes=("float32", "float64"), grad=False),
        ],
        lambda a, b: np.logaddexp2(a, b), errors=lambda g: [E((g.index(3, 5), g.index(3, 5)), {}, DTypeError, "logaddexp2")],
    ),
]  # fmt: skip
