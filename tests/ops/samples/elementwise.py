"""Samples of arithmetic and functions of two operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError

NUMBER = "number"


def pairs(g: Gen, left: Any = None, right: Any = None) -> list[S]:
    """Two operands of equal and broadcasting shapes, of sizes 0 and 1, without dimensions, and numbers on either side."""
    left, right = left or g.real, right or g.real
    return [
        S(left(3, 4), right(3, 4)),
        S(left(3, 4), right(4)),
        S(left(3, 1), right(1, 4)),
        S(left(0, 3), right(1)),
        S(left(), right(2)),
        S(left(1), right()),
        S(g.noncontiguous(left(2, 3)), right(3)),
        S(left(2, 3), 1.5).but(dtypes="float"),
        S(left(2, 3), 2),
        S(2.5, right(3)).but(dtypes="float", torch=False),
    ]


def tensors(g: Gen, left: Any = None, right: Any = None) -> list[S]:
    """`pairs` for operations that take no numbers in torch."""
    return [
        s if isinstance(s.args[0], np.ndarray) and isinstance(s.args[1], np.ndarray) else s.but(torch=False, dtypes=s.dtypes)
        for s in pairs(g, left, right)
    ]


def special(g: Gen) -> S:
    a, b = np.meshgrid(g.special(), g.special())
    return S(a, b).but(grad=False, dtypes="float")


def mismatch(name: str) -> Any:
    return lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, name), E((g.real(2), "a"), {}, ArgumentError, name)]


def no_bool(name: str) -> Any:
    return lambda g: [*mismatch(name)(g), E((g.bools(2), g.bools(2)), {}, DTypeError, "bool")]


def by_zero(name: str) -> Any:
    def errors(g: Gen) -> list[E]:
        zeros = np.array([1, 0])
        return [
            *no_bool(name)(g),
            E((np.array([1, 2]), zeros), {}, ValueRangeError, "by zero"),
            E((np.array([1, 2]), 0), {}, ValueRangeError, "by zero"),
        ]

    return errors


def xlogy(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((a == 0) & ~np.isnan(b), 0.0, a * np.log(b))


def trunc_div(a: Any, b: Any, rounding_mode: str) -> Any:
    if rounding_mode == "floor":
        return np.floor_divide(a, b)
    if np.asarray(a).dtype.kind == "f":
        return np.trunc(a / b)
    return np.asarray([int(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1) for x, y in np.broadcast(a, b)]).reshape(
        np.broadcast_shapes(np.shape(a), np.shape(b))
    )


def powers(g: Gen) -> list[S]:
    return [
        S(g.positive(3, 4), g.real(4)).but(dtypes="float"),
        S(g.positive(2, 1), g.positive(1, 3)).but(dtypes="float"),
        S(g.ints(3, 2, low=1, high=4), g.ints(2, low=0, high=4)).but(grad=False, dtypes=NUMBER),
        *(S(g.nonzero(3), p).but(dtypes="float") for p in (2, 3, -1, -2, 0, 1, 2.0, 0.0)),
        *(S(g.positive(3), p).but(dtypes="float") for p in (0.5, -0.5, 1.5)),
        S(g.ints(4, low=-3, high=4), 3).but(grad=False, dtypes=NUMBER),
        S(2, g.real(3)).but(dtypes="float"),
        S(2.5, g.real(2, 2)).but(dtypes="float"),
        S(g.positive(), g.real(3)).but(dtypes="float"),
        S(g.positive(0), 2).but(dtypes="float"),
        S(g.special(), 2).but(grad=False, dtypes="float"),
        S(g.special(), -1.0).but(grad=False, dtypes="float"),
        special(g),
    ]


def limits(g: Gen) -> list[S]:
    x = g.distinct(3, 4)
    return [
        S(x, -0.5, 0.7),
        S(x, min=-0.5),
        S(x, max=0.7),
        S(x, None, 1).but(dtypes=NUMBER),
        S(x, -1, 2).but(dtypes=("float", "int8", "int16", "int32", "int64")),
        S(x, 2.0, -1.0),
        S(x, g.real(4), g.real(3, 1)),
        S(x, g.positive(1) * -1.0, None),
        S(x, None, g.real()),
        S(g.real(0, 2), 0.0, 1.0),
        S(g.real(), 0.0, 1.0),
        S(g.special(), -1.0, 1.0).but(grad=False),
    ]


def clip(a: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        a = np.maximum(a, min)
    return a if max is None else np.minimum(a, max)


def choices(g: Gen) -> list[S]:
    return [
        S(g.bools(3, 4), g.real(3, 4), g.real(3, 4)),
        S(g.bools(4), g.real(3, 1), g.real(4)),
        S(g.bools(3, 1), g.real(4), 0.5).but(dtypes="float"),
        S(g.bools(3), 2, g.real(3)),
        S(g.bools(), g.real(2), g.real()),
        S(g.bools(0, 2), g.real(2), g.real(1)),
        S(g.bools(80, 90), g.real(80, 90), g.real(90)),
        S(g.bools(80, 90), g.real(80, 1), g.real(80, 90)),
    ]


def fills(g: Gen) -> list[S]:
    return [
        S(g.real(3, 4), g.bools(3, 4), 2),
        S(g.real(3, 4), g.bools(4), -1.5).but(dtypes="float"),
        S(g.real(3, 4), g.bools(3, 1), float("-inf")).but(grad=False, dtypes="float"),
        S(g.real(4), g.bools(3, 1), 0.0),
        S(g.real(), g.bools(), 3),
        S(g.real(0), g.bools(0), 3),
        S(g.real(80, 90), g.bools(80, 90), 2.0),
    ]


def finite(a: np.ndarray, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> np.ndarray:
    return np.nan_to_num(a, nan=nan or 0.0, posinf=posinf, neginf=neginf)


ROWS = [
    Row("add", pairs, lambda a, b: a + b, dtypes=NUMBER, inplace="add_", errors=mismatch("add")),
    Row("sub", pairs, lambda a, b: a - b, dtypes=NUMBER, inplace="sub_", errors=no_bool("sub")),
    Row("rsub", pairs, lambda a, b: b - a, dtypes=NUMBER, errors=no_bool("rsub")),
    Row("mul", pairs, lambda a, b: a * b, dtypes=NUMBER, inplace="mul_", errors=mismatch("mul")),
    Row(
        "div",
        lambda g: [*pairs(g, g.real, g.nonzero), special(g)],
        lambda a, b: np.true_divide(a, b),
        dtypes=NUMBER,
        inplace="div_",
        errors=lambda g: [*mismatch("div")(g), E((g.real(2), 2.0), {"rounding_mode": "up"}, ValueRangeError, "rounding_mode")],
    ),
    Row(
        "div_mode",
        lambda g: [
            S(a, b, rounding_mode=m).but(dtypes=NUMBER)
            for m in ("floor", "trunc")
            for a, b in ((g.real(3, 4) * 5, g.nonzero(4)), (g.real(2), 2), (g.real(0), g.nonzero(1)), (g.real(), g.nonzero(3)))
        ],
        trunc_div,
        torch="div",
        dtypes=NUMBER,
        inplace="div_mode_",
        errors=lambda g: [E((np.array([1]), np.array([0])), {"rounding_mode": "trunc"}, ValueRangeError, "by zero")],
    ),
    Row(
        "trunc_divide",
        lambda g: pairs(g, g.real, g.nonzero),
        lambda a, b: trunc_div(a, b, "trunc"),
        torch=lambda torch, a, b: torch.div(torch.as_tensor(a), b, rounding_mode="trunc"),
        dtypes=NUMBER,
        grad=True,  # zero
        errors=by_zero("trunc_divide"),
    ),
    Row(
        "floor_divide",
        lambda g: pairs(g, g.real, g.nonzero),
        np.floor_divide,
        dtypes=NUMBER,
        grad=True,  # zero; torch has none
        inplace="floor_divide_",
        errors=by_zero("floor_divide"),
    ),
    Row("remainder", lambda g: pairs(g, g.real, g.nonzero), np.remainder, dtypes=NUMBER, inplace="remainder_", errors=by_zero("remainder")),
    Row("fmod", lambda g: tensors(g, g.real, g.nonzero), np.fmod, dtypes=NUMBER, inplace="fmod_", errors=by_zero("fmod")),
    Row(
        "pow",
        powers,
        lambda a, b: np.power(a, b),
        dtypes=NUMBER,
        inplace="pow_",
        errors=lambda g: [*no_bool("pow")(g), E((np.array([2, 3]), -1), {}, ValueRangeError, "negative power")],
    ),
    *(
        Row(
            name,
            lambda g: [
                *tensors(g, g.distinct, lambda *s: np.asarray(g.distinct(*s) + 0.1)),
                special(g),
                S(np.array([1.0, 2.0]), np.array([1.0, 3.0])).but(grad=False),
            ],
            getattr(np, name),
            dtypes="all",
            errors=mismatch(name),
        )
        for name in ("maximum", "minimum", "fmax", "fmin")
    ),
    Row("clamp", limits, clip, inplace="clamp_", dtypes=NUMBER, errors=lambda g: [E((g.real(2),), {}, ValueRangeError, "at least one")]),
    Row("atan2", lambda g: [*tensors(g), special(g)], np.arctan2, dtypes=NUMBER, inplace="atan2_", errors=mismatch("atan2")),
    Row(
        "hypot",
        lambda g: [*tensors(g, g.nonzero, g.nonzero), special(g)],
        np.hypot,
        inplace="hypot_",
        errors=lambda g: [E((np.array([1]), np.array([2])), {}, DTypeError, "hypot")],
    ),
    Row(
        "copysign",
        lambda g: [*pairs(g, g.nonzero, g.nonzero), special(g)],
        np.copysign,
        dtypes=NUMBER,
        inplace="copysign_",
        errors=mismatch("copysign"),
    ),
    Row("logaddexp", lambda g: [*tensors(g), special(g)], np.logaddexp, errors=mismatch("logaddexp"), tolerance=4.0),
    Row(
        "xlogy",
        lambda g: [*tensors(g, g.real, g.positive), special(g), S(np.zeros(3), np.array([0.0, 1.0, -1.0])).but(grad=False)],
        xlogy,
        dtypes=NUMBER,
        inplace="xlogy_",
        errors=mismatch("xlogy"),
    ),
    Row(
        "where",
        choices,
        np.where,
        dtypes="all",
        errors=lambda g: [
            E((g.real(2), g.real(2), g.real(2)), {}, DTypeError, "condition"),
            E((g.bools(2), g.real(3), g.real(2)), {}, ShapeError, "where"),
        ],
    ),
    Row(
        "masked_fill",
        fills,
        lambda a, m, v: np.where(m, np.asarray(v, a.dtype), a),
        dtypes="all",
        inplace="masked_fill_",
        errors=lambda g: [
            E((g.real(2), g.real(2), 1.0), {}, DTypeError, "mask"),
            E((np.zeros(2, np.int8), g.bools(2), 300), {}, ValueRangeError, "300"),
            E((np.zeros(2, np.int64), g.bools(2), float("inf")), {}, ValueRangeError, "inf"),
            E((g.real(2), g.bools(3), 1.0), {}, ShapeError, "masked_fill"),
        ],
    ),
    Row(
        "masked_fill_tensor",
        lambda g: [S(g.real(3, 4), g.bools(4), g.real()), S(g.real(4), g.bools(2, 4), g.real()), S(g.real(0), g.bools(0), g.real())],
        lambda a, m, v: np.where(m, v, a),
        torch="masked_fill",
        dtypes="all",
        inplace="masked_fill_tensor_",
        errors=lambda g: [E((g.real(2), g.bools(2), g.real(1)), {}, ValueRangeError, "no dimensions")],
    ),
    Row(
        "nan_to_num",
        lambda g: [
            S(g.special(), 1.5, 2.0, -3.0).but(grad=False, dtypes="float"),
            S(np.array([np.nan, -np.inf, 2.0]), nan=0.5, neginf=-1.0).but(grad=False, dtypes="float"),
            S(g.real(3, 4)),
            S(g.real()),
            S(g.real(0)),
        ],
        finite,
        dtypes="all",
        inplace="nan_to_num_",
    ),
]
