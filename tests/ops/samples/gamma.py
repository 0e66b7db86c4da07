"""Samples of the gamma function's relatives."""

from __future__ import annotations

import math

import numpy as np

from tests.ops import oracles
from tests.ops.oracles import each
from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError

ORACLE = 100.0
"""The factor on error limits for the error of the oracles; test_special_functions.py compares to rounding."""


def positive(g: Gen) -> list[S]:
    return [
        S(g.positive(3, 4)), S(g.noncontiguous(g.positive(2, 3) * 4)), S(g.positive(1)), S(g.positive(0, 2)), S(g.positive()),
        S(np.array([-0.5, -1.5, -2.25, -3.75])).but(dtypes=("float64", "float32"), grad=False),
        S(np.array([0.0, 1.0, 2.0, 20.0, 300.0])).but(grad=False, dtypes=("float64", "float32")),
    ]  # fmt: skip


def pairs(g: Gen) -> list[S]:
    return [
        S(g.positive(3, 4) * 2, g.positive(3, 4) * 2), S(g.positive(3, 1), g.positive(4)), S(g.positive(0, 3), g.positive(1)),
        S(g.positive(), g.positive()), S(g.noncontiguous(g.positive(2, 3)), g.positive(2, 3) * 9),
        S(np.array([70.0, 200.0, 200.0, 40.0]), np.array([65.0, 220.0, 120.0, 4.0])).but(dtypes=("float64", "float32"), grad=False),
    ]  # fmt: skip


def mvlgamma(x: np.ndarray, p: int) -> np.ndarray:
    return sum((each(oracles.lgamma)(x - i / 2) for i in range(p)), p * (p - 1) / 4 * math.log(math.pi) * np.ones_like(x, np.float64))


ROWS = [
    Row(
        "lgamma", positive, each(oracles.lgamma), dtypes="all", inplace="lgamma_", tolerance=ORACLE,
        errors=lambda g: [E(("a",), {}, ArgumentError, "lgamma")],
    ),
    Row(
        "digamma", positive, each(lambda x: oracles.polygamma(0, x)), dtypes="all", inplace="digamma_", tolerance=ORACLE,
        errors=lambda g: [E(("a",), {}, ArgumentError, "digamma")],
    ),
    Row(
        "polygamma",
        lambda g: [
            S(n, *s.args).but(dtypes="all" if s.grad and n < 3 else ("float64", "float32"), grad=s.grad)
            for n in (0, 1, 3) for s in positive(g)
        ],
        lambda n, x: each(lambda v: oracles.polygamma(n, v))(x),
        dtypes="all",
        tolerance=ORACLE,
        errors=lambda g: [E((-1, g.positive(2)), {}, ValueRangeError, "negative"), E((1.5, g.positive(2)), {}, ArgumentError, "polygamma")],
    ),
    Row(
        "mvlgamma",
        lambda g: [S(g.positive(3, 4) + 2.0, p) for p in (1, 2, 4)] + [S(g.positive(0, 2) + 2.0, 3), S(np.asarray(g.positive() + 2.0), 3)],
        mvlgamma,
        dtypes=("float64", "float32", "int32", "int64"),
        inplace="mvlgamma_",
        tolerance=ORACLE,
        errors=lambda g: [E((g.positive(2), 0), {}, ValueRangeError, "mvlgamma")],
    ),
    Row(
        "special_zeta",
        lambda g: [
            S(g.positive(3, 4) + 1.1, g.positive(3, 4)), S(g.positive(3, 1) + 1.5, g.positive(4)), S(2.5, g.positive(3)),
            S(g.positive(3) + 1.2, 2.0),
            S(g.positive(0, 3) + 1.0, g.positive(3)), S(np.asarray(g.positive() + 1.5), g.positive()),
            S(np.array([1.0, 2.0, 2.0, 0.5, 2.5]), np.array([2.0, 0.0, -1.0, 1.0, -0.5])).but(grad=False, dtypes=("float64", "float32")),
        ],
        each(oracles.zeta),
        torch="zeta",
        dtypes=("float64", "float32", "int64", "uint8"),
        grad=(1,),
        tolerance=ORACLE,
    ),
    *(
        Row(
            name, pairs, oracle, dtypes=("float64", "float32"), grad=(1,), inplace=name + "_", tolerance=ORACLE,
            errors=lambda g, name=name: [
                E((g.index(3, 5), g.index(3, 5)), {}, DTypeError, name), E((g.positive(2), g.positive(3)), {}, ShapeError, name),
            ],
        )
        for name, oracle in (("igamma", each(oracles.lower_gamma)), ("igammac", each(oracles.upper_gamma)))
    ),
]  # fmt: skip
