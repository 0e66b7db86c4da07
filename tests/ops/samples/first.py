"""Samples of elementwise arithmetic and functions."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import ArgumentError, DTypeError, ShapeError


def pairs(g, other):
    return [
        S(g.real(3, 4), other(3, 4)),
        S(g.real(3, 4), other(4)),
        S(g.real(3, 1), other(1, 4)),
        S(g.real(0, 3), other(1)),
        S(g.real(), other(2)),
        S(g.real(1), other()),
        S(g.real(2, 3), 1.5).but(dtypes="float"),
        S(g.real(2, 3), 2),
        S(-2.5, other(3)).but(dtypes="float"),
    ]


def shapes_error(g, name):
    return [E((g.real(2), g.real(3)), {}, ShapeError, name), E((g.real(2), "a"), {}, ArgumentError, name)]


ROWS = [
    Row("add", lambda g: pairs(g, g.real), lambda a, b: a + b, dtypes="number", inplace="add_", errors=lambda g: shapes_error(g, "add")),
    Row("mul", lambda g: pairs(g, g.real), lambda a, b: a * b, dtypes="number", inplace="mul_", errors=lambda g: shapes_error(g, "mul")),
    Row("sub", lambda g: pairs(g, g.real), lambda a, b: a - b, dtypes="number", inplace="sub_", errors=lambda g: shapes_error(g, "sub")),
    Row("div", lambda g: pairs(g, g.nonzero), lambda a, b: a / b, dtypes="number", inplace="div_", errors=lambda g: shapes_error(g, "div")),
    Row(
        "neg",
        lambda g: [S(g.real(3, 4)), S(g.real(0)), S(g.real())],
        lambda a: -a,
        dtypes="number",
        inplace="neg_",
        errors=lambda g: [E((g.bools(2),), {}, DTypeError, "neg")],
    ),
    *(
        Row(
            name,
            lambda g, d=domain: [
                S(getattr(g, d)(3, 4)),
                S(getattr(g, d)(1)),
                S(getattr(g, d)()),
                S(g.special()).but(grad=False, dtypes="float"),
            ],
            getattr(np, name),
            dtypes="all",
            inplace=name + "_",
        )
        for name, domain in (("sin", "real"), ("cos", "real"), ("tanh", "real"), ("log", "positive"))
    ),
]
