"""Samples of relatives of the error function."""

from __future__ import annotations

import math

import numpy as np

from tests.ops import oracles
from tests.ops.oracles import each
from tests.ops.row import E, Row, S
from tests.ops.samples.unary import one
from twofold.support.errors import ArgumentError, ShapeError

ORACLE = 100.0
"""See samples/gamma.py."""
HALF = ("float64", "float32", "float16", "bfloat16")


def points(*values: float) -> S:
    return S(np.array(values)).but(grad=False, dtypes=("float64", "float32"))


def refused(name: str):
    return lambda g: [E(("a",), {}, ArgumentError, name)]


def xlog1py(x, y):
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))


ROWS = [
    Row(
        "erfinv", lambda g: [*one("open", special=False)(g), points(0.0, 1.0, -1.0, 0.999, -1e-5)], each(oracles.erfinv), dtypes=HALF,
        inplace="erfinv_", tolerance=ORACLE, errors=refused("erfinv"),
    ),
    Row(
        "special_erfcx", lambda g: [*one("real")(g)[:-1], points(0.0, -3.0, 4.0)], each(lambda x: math.exp(x * x) * math.erfc(x)),
        torch="erfcx", dtypes=("float64", "float32", "int32", "bool"), tolerance=ORACLE, errors=refused("erfcx"),
    ),
    Row(
        "special_ndtr", lambda g: [*one("real")(g)[:-1], points(0.0, -8.0, 9.0, math.inf, -math.inf)],
        each(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))), torch="ndtr", dtypes="all", tolerance=ORACLE, errors=refused("ndtr"),
    ),
    Row(
        "special_log_ndtr", lambda g: [*one("real")(g)[:-1], points(0.0, -8.0, 9.0)], each(oracles.log_ndtr), torch="log_ndtr",
        dtypes=("float64", "float32", "int64", "bool"), tolerance=ORACLE, errors=refused("log_ndtr"),
    ),
    Row(
        "special_ndtri", lambda g: [*one("unit", special=False)(g), points(0.0, 1.0, 0.5, 1e-20, 0.9999)], each(oracles.ndtri),
        torch="ndtri", dtypes=("float64", "float32"), tolerance=ORACLE, errors=refused("ndtri"),
    ),
    Row(
        "special_entr", lambda g: [*one("positive", special=False)(g), points(0.0, -1.0, math.inf, math.nan)],
        lambda x: np.where(x > 0, -x * np.log(x), np.where(x == 0, 0.0, np.where(np.isnan(x), x, -np.inf))), torch="entr", dtypes="all",
        errors=refused("entr"),
    ),
    Row(
        "special_xlog1py",
        lambda g: [
            S(g.real(3, 4), g.positive(3, 4)), S(g.real(3, 1), g.positive(4)), S(2.0, g.positive(3)), S(g.real(3), 0.5),
            S(g.real(0, 3), g.positive(3)),
            S(g.real(), g.positive()), S(np.array([0.0, 0.0, 1.0]), np.array([-1.0, math.nan, -1.0])).but(grad=False, dtypes="float"),
        ],
        xlog1py, torch="xlog1py", dtypes="all", errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, "xlog1py")],
    ),
    Row(
        "sinc", lambda g: [*one("real", special=False)(g), points(0.0, 1.0, 2.0, -3.0, 0.5, 1e-8, 0.06, 0.07)],
        each(oracles.sinc), dtypes=HALF, inplace="sinc_", tolerance=4.0, errors=refused("sinc"),
    ),
]  # fmt: skip
