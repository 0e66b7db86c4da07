"""Samples of comparisons, tests, logic and bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError


def pairs(g: Gen) -> list[S]:
    a, b = np.meshgrid(g.special(), g.special())
    return [
        S(g.ints(3, 4), g.ints(3, 4)),
        S(g.ints(3, 1), g.ints(4)),
        S(g.noncontiguous(g.ints(2, 3)), g.ints()),
        S(g.ints(0, 2), g.ints(1)),
        S(g.ints(), g.ints()),
        S(a, b).but(dtypes="float"),
    ]


def with_numbers(g: Gen) -> list[S]:
    return [*pairs(g), S(g.ints(2, 3), 1), S(g.real(3), 0.1).but(dtypes="float"), S(2, g.ints(3)).but(torch=False), S(g.ints(3), True)]


def bits(g: Gen) -> list[S]:
    return [
        S(g.ints(3, 4), g.ints(3, 4)),
        S(g.ints(3, 1), g.ints(4)),
        S(g.ints(0), g.ints(1)),
        S(g.ints(), g.ints(2)),
        S(g.ints(3), 3).but(dtypes="number"),
    ]


def shifts(g: Gen) -> list[S]:
    return [
        S(g.ints(3, 4), g.ints(3, 4, low=0, high=5)),
        S(g.ints(3), 2),
        S(g.ints(0), 1),
        S(g.ints(4), np.array([7.0, 8.0, 15.0, 70.0])).but(dtypes=("int8", "int16", "int32", "int64", "uint8")),
        S(g.ints(3), np.array([-1.0, -2.0, 3.0])).but(dtypes=("int8", "int32", "int64")),
    ]


def shifted(function: Any) -> Any:
    """The shift in Python's integers, wrapped to the dtype."""

    def oracle(a: np.ndarray, b: Any) -> np.ndarray:
        width = a.dtype.itemsize * 8

        def one(x: int, n: int) -> int:
            if not 0 <= n < width:
                return -1 if function is np.right_shift and x < 0 else 0
            return (x << n if function is np.left_shift else x >> n) & ((1 << width) - 1)

        pairs = np.broadcast(a, b)
        found = [one(int(x), int(n)) & ((1 << width) - 1) for x, n in pairs]
        return np.array(found, dtype=np.uint64).astype(f"u{a.dtype.itemsize}").view(a.dtype).reshape(pairs.shape)

    return oracle


def one(g: Gen) -> list[S]:
    return [S(g.ints(3, 4)), S(g.noncontiguous(g.ints(2, 3))), S(g.ints(0)), S(g.ints()), S(g.special()).but(dtypes="float")]


def floats_only(name: str) -> Any:
    return lambda g: [E((g.real(2), g.real(2)), {}, DTypeError, name)]


def close(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    return np.isclose(a, b, rtol, atol, equal_nan)


ROWS = [
    *(
        Row(
            name, with_numbers, f, dtypes="all", inplace=name + "_", errors=lambda g, n=name: [E((g.real(2), g.real(3)), {}, ShapeError, n)]
        )
        for name, f in {
            "eq": np.equal,
            "ne": np.not_equal,
            "lt": np.less,
            "le": np.less_equal,
            "gt": np.greater,
            "ge": np.greater_equal,
        }.items()
    ),
    *(Row(name, one, getattr(np, name), dtypes="all") for name in ("isnan", "isinf", "isfinite")),
    Row(
        "signbit",
        lambda g: [*one(g)[:4], S(np.array([0.0, -0.0, -1.0, np.inf, -np.inf])).but(dtypes="float")],
        lambda a: np.signbit(a) if a.dtype.kind == "f" else a < 0,
        dtypes="all",
    ),
    *(Row(name, pairs, getattr(np, name), dtypes="all", inplace=name + "_") for name in ("logical_and", "logical_or", "logical_xor")),
    Row("logical_not", one, np.logical_not, dtypes="all", inplace="logical_not_"),
    *(
        Row(name, bits, getattr(np, name), dtypes="integral", inplace=name + "_", errors=floats_only(name))
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    ),
    Row(
        "bitwise_not",
        lambda g: [S(g.ints(3, 4)), S(g.ints(0)), S(g.ints())],
        np.bitwise_not,
        dtypes="integral",
        inplace="bitwise_not_",
        errors=lambda g: [E((g.real(2),), {}, DTypeError, "bitwise_not")],
    ),
    *(
        Row(
            name,
            shifts,
            shifted(f),
            dtypes=("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            inplace=name + "_",
            errors=lambda g, n=name: [*floats_only(n)(g), E((g.bools(2), g.bools(2)), {}, DTypeError, "bool")],
        )
        for name, f in {"bitwise_left_shift": np.left_shift, "bitwise_right_shift": np.right_shift}.items()
    ),
    Row(
        "isclose",
        lambda g: [
            S(np.array([1.0, 1.0, 2.0, np.inf, np.nan, -np.inf]), np.array([1.0, 1.1, 2.0 + 1e-6, np.inf, np.nan, np.inf])).but(
                dtypes="float64"
            ),
            S(np.array([1.0, np.nan]), np.array([1.0, np.nan]), equal_nan=True).but(dtypes="float"),
            S(g.ints(3, 4), g.ints(4), 0.5, 0.1),
            S(g.ints(3), g.ints(3), 0.0, 0.0),
            S(g.ints(0), g.ints(1)),
            S(g.ints(), g.ints()),
        ],
        close,
        dtypes="number",
        errors=lambda g: [
            E((g.real(2), np.array([1, 2])), {}, DTypeError, "different dtypes"),
            E((g.real(2), g.real(2)), {"rtol": -1.0}, ValueRangeError, "negative"),
        ],
    ),
]
