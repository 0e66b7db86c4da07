"""Samples of functions of one operand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import ArgumentError, DTypeError

LN2 = math.log(2.0)


def one(domain: str, special: bool = True, scale: float = 1.0) -> Any:
    """Samples from a domain: a matrix, a matrix with gaps, one element, none, no dimension, special values."""

    def samples(g: Gen) -> list[S]:
        make = lambda *shape: np.asarray(getattr(g, domain)(*shape) * scale)
        found = [S(make(3, 4)), S(g.noncontiguous(make(2, 3))), S(make(1)), S(make(0, 2)), S(make())]
        return [*found, S(g.special()).but(grad=False, dtypes="float")] if special else found

    return samples


def above_one(g: Gen) -> list[S]:
    return [
        S(g.positive(3, 4) + 1.0),
        S(g.positive(1) + 1.0),
        S(np.asarray(g.positive() + 1.0)),
        S(g.special()).but(grad=False, dtypes="float"),
    ]


def no_bool(name: str) -> Any:
    return lambda g: [E((g.bools(2),), {}, DTypeError, name), E(("a",), {}, ArgumentError, name)]


def large(g: Gen) -> list[S]:
    x = np.linspace(-5.0, 5.0, 400).reshape(20, 20)
    return [S(x).but(dtypes="float"), S(np.linspace(-1.0, 1.0, 9000)).but(dtypes=("float32", "float64"), grad=False)]


def each(function: Any) -> Any:
    return lambda a: np.vectorize(function, otypes=[np.float64])(a)


def sign(a: np.ndarray) -> np.ndarray:
    return a.copy() if a.dtype == bool else np.where(np.isnan(a), 0, np.sign(a))


def quiet_expm1(x: float) -> float:
    return math.inf if x > 709.0 else math.expm1(x)


FLOATS: list[tuple[str, str, Any]] = [
    ("reciprocal", "nonzero", lambda a: 1.0 / a), ("sqrt", "positive", np.sqrt), ("rsqrt", "positive", lambda a: 1.0 / np.sqrt(a)),
    ("exp", "real", np.exp), ("exp2", "real", np.exp2), ("expm1", "real", np.expm1), ("log", "positive", np.log),
    ("log2", "positive", np.log2),
    ("log10", "positive", np.log10), ("log1p", "positive", np.log1p), ("sin", "real", np.sin), ("cos", "real", np.cos),
    ("tan", "open", np.tan),
    ("asin", "open", np.arcsin), ("acos", "open", np.arccos), ("atan", "real", np.arctan), ("sinh", "real", np.sinh),
    ("cosh", "real", np.cosh),
    ("tanh", "real", np.tanh), ("asinh", "real", np.arcsinh), ("atanh", "open", np.arctanh),
    ("sigmoid", "real", lambda a: 1.0 / (1.0 + np.exp(-a))), ("deg2rad", "real", np.deg2rad),
    ("rad2deg", "real", np.rad2deg),
]  # fmt: skip
STEPS: list[tuple[str, Any]] = [("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc)]

ROWS = [
    *(Row(name, one(domain), oracle, dtypes="all", inplace=name + "_") for name, domain, oracle in FLOATS),
    *(
        Row(name, lambda g: [*one("real")(g), *large(g)], each(f), dtypes="all", inplace=name + "_")  # large: other forms than small ones
        for name, f in (("erf", math.erf), ("erfc", math.erfc))
    ),
    Row("acosh", above_one, np.arccosh, dtypes="all", inplace="acosh_"),
    Row("neg", one("real"), lambda a: -a, dtypes="number", inplace="neg_", errors=no_bool("neg")),
    Row("abs", one("nonzero"), np.abs, dtypes="number", inplace="abs_", errors=no_bool("abs")),
    Row("sign", one("nonzero"), sign, dtypes="all", inplace="sign_"),
    Row("sgn", one("nonzero"), sign, torch="sign", dtypes="all", inplace="sgn_"),
    *(
        Row(name, one("distinct"), lambda a, f=oracle: f(a).astype(a.dtype), dtypes="number", inplace=name + "_", errors=no_bool(name))
        for name, oracle in STEPS
    ),
    Row(
        "round",
        lambda g: [
            *one("distinct")(g),
            S(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])).but(grad=False),
            S(g.real(5) * 10, decimals=1).but(dtypes=("float64", "float32")),
            S(g.real(5) * 100, decimals=-1).but(dtypes=("float64", "float32")),
        ],
        lambda a, decimals=0: np.round(a, decimals),
        dtypes="number",
        inplace="round_",
        errors=lambda g: [*no_bool("round")(g), E((np.array([1, 2]),), {"decimals": 1}, DTypeError, "decimals")],
    ),
    Row(
        "frac",
        one("distinct", special=False),
        lambda a: a - np.trunc(a),
        inplace="frac_",
        errors=lambda g: [E((np.array([1]),), {}, DTypeError, "frac")],
    ),
    Row(
        "logit",
        lambda g: [
            *one("unit")(g),
            S(g.unit(3, 4), 0.1).but(dtypes="float", grad=False),
            S(np.array([0.3, 0.6, 0.02, 0.97]), eps=0.1).but(dtypes="float"),
            S(np.array([0.0, 1.0, -0.5, 1.5]), eps=0.1).but(grad=False, dtypes="float"),
        ],
        lambda a, eps=None: (lambda x: np.log(x / (1.0 - x)))(a if eps is None else np.clip(a, eps, 1.0 - eps)),
        dtypes="all",
        inplace="logit_",
    ),
]
