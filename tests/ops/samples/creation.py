"""Samples of creation functions, copies and conversions."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.ir.dtypes import bfloat16, bool_, float32, float64, int8, int32, int64
from twofold.support.errors import ArgumentError, DeviceError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.functions import FUNCTIONS

ONE = ("float32",)
"""Rows without operands: the dtype under test plays no part."""


def constant(make):
    """NumPy's function with the dtype as a keyword; our default is float32."""
    return lambda *args, dtype=np.float32, **kwargs: make(*args, dtype=dtype, **kwargs)


def like(make):
    return lambda a, *args, dtype=None: make(a, *args, dtype=dtype)


def spaced(start, end, steps, dtype=np.float32, base=None):
    values = np.linspace(start, end, steps)
    values = values if base is None else np.power(base, values)
    return np.trunc(values) if np.dtype(dtype).kind == "i" else values


ROWS = [
    *(
        Row(
            name,
            lambda g: [S((2, 3)), S(()), S((0,)), S((2,), dtype=int64), S((2,), dtype=bool_), S((2, 1), dtype=bfloat16)],
            constant(np.zeros if name == "empty" else getattr(np, name)),
            torch=None if name == "empty" else name,  # torch leaves the elements of empty as they are
            dtypes=ONE,
            errors=lambda g, name=name: [
                E(((2, -1),), {}, ShapeError, "negative"),
                E((), {}, ArgumentError, name),
                E((2.0,), {}, ArgumentError, name),
                E((2,), {"device": "cuda"}, DeviceError, "cuda"),
                E((2,), {"dtype": "float31"}, DTypeError, "float31"),
                E((2,), {"colour": 1}, ArgumentError, "colour"),
            ],
        )
        for name in ("zeros", "ones", "empty")
    ),
    Row(
        "full",
        lambda g: [
            S((2, 3), 1.5),
            S((2,), 3),
            S((), True),
            S((2,), 1.7, dtype=int32),
            S((2,), 3, dtype=float64),
            S((1,), 0.1, dtype=bfloat16),
        ],
        lambda size, value, dtype=None: np.full(size, value, dtype),
        dtypes=ONE,
        errors=lambda g: [
            E(((2,), 300), {"dtype": int8}, ValueRangeError, "300"),
            E(((2,), float("nan")), {"dtype": int64}, ValueRangeError, "nan"),
            E(((2,), "a"), {}, ArgumentError, "fill_value"),
            E(((2,), 1e300), {}, ValueRangeError, "1e+300"),
        ],
    ),
    Row("scalar_tensor", lambda g: [S(3), S(1.5, dtype=float64)], lambda v, dtype=np.float32: np.array(v, dtype), dtypes=ONE),
    *(
        Row(
            name,
            lambda g: [S(g.real(2, 3)), S(g.real()), S(g.real(0, 2)), S(g.real(2), dtype=int64)],
            like(np.zeros_like if name == "empty_like" else getattr(np, name)),
            torch=None if name == "empty_like" else name,
            dtypes="all",
            grad=False,
        )
        for name in ("zeros_like", "ones_like", "empty_like")
    ),
    Row(
        "full_like",
        lambda g: [S(g.real(2, 3), 2), S(g.real(), 1), S(g.real(2), 1.5, dtype=float64)],
        like(np.full_like),
        dtypes="number",
        grad=False,
        errors=lambda g: [E((g.index(2, 3), float("inf")), {}, ValueRangeError, "inf")],
    ),
    Row(
        "new_zeros",
        lambda g: [S(g.real(2), (3, 1)), S(g.real(), ())],
        lambda a, size: np.zeros(size, a.dtype),
        dtypes="all",
        grad=False,
    ),
    Row(
        "arange",
        lambda g: [S(0, 5), S(2, 8, 3), S(5, 0, -2), S(0.0, 1.0, 0.3), S(0, 5, dtype=float64), S(1, 1), S(0, 3, dtype=bfloat16)],
        lambda start, end, step=1, dtype=None: np.arange(start, end, step) if dtype is None else np.arange(start, end, step, dtype),
        dtypes=ONE,
        errors=lambda g: [
            E((0, 5, 0), {}, ValueRangeError, "zero"),
            E((0, -5), {}, ValueRangeError, "does not lead"),
            E((0, float("inf")), {}, ValueRangeError, "finite"),
            E((0, 3), {"dtype": bool_}, DTypeError, "bool"),
            E(("a",), {}, ArgumentError, "arange"),
        ],
    ),
    Row("arange to an end", lambda g: [S(4), S(2.5)], np.arange, torch="arange", dtypes=ONE, call=lambda end: FUNCTIONS["arange"](end)),
    Row(
        "linspace",
        lambda g: [S(0, 1, 5), S(3, -3, 4), S(0, 1, 1), S(0, 1, 0), S(-1, 10, 7, dtype=float64), S(0, 5, 4, dtype=int64)],
        spaced,
        dtypes=ONE,
        errors=lambda g: [E((0, 1, -1), {}, ValueRangeError, "linspace")],
    ),
    Row(
        "logspace",
        lambda g: [S(0, 1, 5), S(0, 3, 4, 2.0), S(-2, 2, 3, dtype=float64)],
        lambda start, end, steps, base=10.0, dtype=np.float32: spaced(start, end, steps, dtype, base),
        dtypes=ONE,
    ),
    Row(
        "eye", lambda g: [S(3), S(2, 3), S(0), S(2, dtype=bool_)], lambda n, m=None, dtype=np.float32: np.eye(n, m, dtype=dtype), dtypes=ONE
    ),
    *(
        Row(
            name,
            lambda g: [S(3, 4), S(4, 3, 1), S(3, 3, -1), S(0, 2), S(2, 2, 5, dtype=int32)],
            lambda row, col, offset=0, dtype=np.int64, name=name: np.stack(getattr(np, name)(row, offset, col)).astype(dtype),
            dtypes=ONE,
        )
        for name in ("tril_indices", "triu_indices")
    ),
    Row(
        "to",
        lambda g: (
            [S(g.real(2, 3), dtype).but(grad=dtype is float64) for dtype in (float32, float64, bfloat16, int64, bool_)]
            + [S(g.real(), float64), S(g.real(0), int8).but(grad=False)]
        ),
        lambda a, dtype: a.astype(dtype),
        torch=lambda torch, a, dtype: a.to(dtype),
        dtypes=("float64", "float32", "float16", "bfloat16", "int64", "int8", "uint8", "bool"),
    ),
    Row(
        "clone",
        lambda g: [
            S(g.real(2, 3)),
            S(g.real()),
            S(g.real(0)),
            S(g.real(2, 3), memory_format="contiguous_format"),
            S(g.real(1, 2, 2, 3), memory_format="channels_last"),
        ],
        lambda a, memory_format=None: a,
        torch=lambda torch, a, memory_format=None: a.clone(),
        dtypes="all",
        errors=lambda g: [
            E((g.real(2),), {"memory_format": "channels_last"}, ShapeError, "channels_last"),
            E((g.real(2),), {"memory_format": "sparse"}, ValueRangeError, "sparse"),
        ],
    ),
    Row(
        "copy",
        lambda g: [
            S(g.real(2, 3), g.real(2, 3)),
            S(g.real(2, 3), g.real(3)),
            S(g.real(2, 3), g.real()),
            S(g.real(2), np.array([1, 2])),
            S(g.real(0, 2), g.real(2)),
        ],
        lambda a, b: np.broadcast_to(b, a.shape).astype(a.dtype),
        torch=lambda torch, a, b: a.clone().copy_(b),
        dtypes="all",
        inplace="copy_",
        errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, "copy"), E((g.real(2), g.real(1, 2)), {}, ShapeError, "copy")],
    ),
    Row(
        "fill",
        lambda g: [S(g.real(2, 3), 2), S(g.real(), 1), S(g.real(0), 1)],
        lambda a, value: np.full_like(a, value),
        torch="fill",
        dtypes="number",
        inplace="fill_",
        errors=lambda g: [E((g.index(2, 3), float("nan")), {}, ValueRangeError, "nan")],
    ),
    Row(
        "zero",
        lambda g: [S(g.real(2, 3)), S(g.real())],
        np.zeros_like,
        torch=lambda torch, a: torch.zero_(a.clone()),
        dtypes="all",
        inplace="zero_",
    ),
]
