"""Samples of random records, which are pure functions of a state: the oracle is the counter-based stream itself
(tests/ops/test_philox.py)."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.ir import dtypes
from twofold.ir.op import get_op
from twofold.ops import philox
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors.dispatch import dispatch


def state(seed=7, offset=3):
    return np.array([seed, offset], np.uint64)


def parts(s):
    return int(s[0]), int(s[1])


def record(name):
    """The record itself: the public function of this name has another signature."""
    op = get_op(name)

    def function(*args, **kwargs):
        given = dict(zip([p.name for p in op.signature.params], args, strict=False)) | kwargs
        attributes = {p.name: given.get(p.name, p.default) for p in op.attributes}
        return dispatch(op, tuple(given[p.name] for p in op.inputs), attributes)

    return function


FLOATS = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)
HUGE = (1 << 64) - 1


def uniform(s, size, low=0.0, high=1.0, *, dtype=np.float32):
    u = philox.uniform(*parts(s), size, dtype)
    if (low, high) == (0.0, 1.0):
        return u
    wide = u.astype(np.float32) if dtype.itemsize == 2 else u
    return (wide * wide.dtype.type(high - low) + wide.dtype.type(low)).astype(dtype)


def normal(s, size, mean=0.0, std=1.0, *, dtype=np.float32):
    wide = np.dtype(np.float32) if np.dtype(dtype).itemsize == 2 else np.dtype(dtype)
    return (philox.normal(*parts(s), size, wide) * wide.type(std) + wide.type(mean)).astype(dtype)


def dropout(x, s, p, train=True):
    if not train:
        return x.copy(), np.ones(x.shape, bool)
    mask = philox.bernoulli(*parts(s), 1.0 - p, x.shape)
    return x * mask * (0.0 if p == 1.0 else 1.0 / (1.0 - p)), mask


def check_multinomial(indices, weights, s, num_samples, replacement=False):
    rows, drawn = np.atleast_2d(weights), np.atleast_2d(indices)
    assert indices.dtype == np.int64
    assert drawn.shape == (len(rows), num_samples)
    for row, taken in zip(rows, drawn, strict=True):
        assert (row[taken] > 0).all()
        assert replacement or len(set(taken.tolist())) == num_samples


def state_errors(name, *args):
    """States that are none."""
    return [
        E((np.zeros(2, np.int64), *args), {}, DTypeError, name),
        E((np.zeros(3, np.uint64), *args), {}, DTypeError, name),
    ]


ROWS = [
    Row(
        "uniform",
        lambda g: [
            *(S(state(), (3, 4), 0.0, 1.0, dtype=d) for d in FLOATS),
            *(S(state(HUGE, HUGE), (17,), -2.0, 3.0, dtype=d) for d in FLOATS),
            S(state(), (0, 2), dtype=dtypes.float32),
            S(state(), (), 1.0, 1.0, dtype=dtypes.float64),
            S(state(), (70, 1000), dtype=dtypes.float32),
        ],
        uniform,
        torch=None,
        call=record("uniform"),
        dtypes="float64",
        grad=False,
        errors=lambda g: [
            *state_errors("uniform", (2,)),
            E((state(), (2,)), {"dtype": dtypes.int64}, DTypeError, "floating"),
            E((state(), (-1,)), {}, ShapeError, "negative"),
            E((state(), (2,), 1.0, 0.0), {}, ValueRangeError, "low <= high"),
        ],
    ),
    Row(
        "normal",
        lambda g: [
            *(S(state(), (3, 4), 0.0, 1.0, dtype=d) for d in FLOATS),
            *(S(state(1, HUGE), (9,), -2.0, 3.0, dtype=d) for d in FLOATS),
            S(state(), (0,), dtype=dtypes.float32),
            S(state(), (), dtype=dtypes.float32),
        ],
        normal,
        torch=None,
        call=record("normal"),
        dtypes="float64",
        grad=False,
        errors=lambda g: [*state_errors("normal", (2,)), E((state(), (2,), 0.0, -1.0), {}, ValueRangeError, "deviation")],
    ),
    Row(
        "exponential",
        lambda g: (
            [S(state(), (3, 4), r, dtype=d) for d in (dtypes.float32, dtypes.float64) for r in (1.0, 2.5)]
            + [S(state(), (0,), dtype=dtypes.float32)]
        ),
        # NumPy's own logarithm: within an ulp or two of the polynomial's
        lambda s, size, lambd=1.0, *, dtype=np.float32: -np.log1p(-philox.uniform(*parts(s), size, dtype).astype(np.float64)) / lambd,
        torch=None,
        call=record("exponential"),
        dtypes="float64",
        grad=False,
        tolerance=1e9,  # compared as float64 although drawn in float32 too; test_random.py compares more closely
        errors=lambda g: [*state_errors("exponential", (2,)), E((state(), (2,), 0.0), {}, ValueRangeError, "lambd")],
    ),
    Row(
        "randint",
        lambda g: [
            S(state(), -3, 9, (3, 4)),
            S(state(), 0, 256, (5,), dtype=dtypes.uint8),
            S(state(), 0, HUGE, (5,), dtype=dtypes.uint64),
            S(state(), 5, 6, ()),
            S(state(), 0, 2, (0, 3), dtype=dtypes.int8),
        ],
        lambda s, low, high, size, *, dtype=np.int64: philox.randint(*parts(s), low, high, size, dtype),
        torch=None,
        call=record("randint"),
        dtypes="float64",
        grad=False,
        errors=lambda g: [
            *state_errors("randint", 0, 2, (2,)),
            E((state(), 2, 2, (2,)), {}, ValueRangeError, "low < high"),
            E((state(), 0, 300, (2,)), {"dtype": dtypes.uint8}, ValueRangeError, "range"),
            E((state(), 0, 3, (2,)), {"dtype": dtypes.float32}, DTypeError, "integers"),
        ],
    ),
    Row(
        "randperm",
        lambda g: [S(state(), 6), S(state(), 0), S(state(), 1), S(state(), 300, dtype=dtypes.int32)],
        lambda s, n, *, dtype=np.int64: philox.permutation(*parts(s), n).astype(dtype),
        torch=None,
        call=record("randperm"),
        dtypes="float64",
        grad=False,
        errors=lambda g: [*state_errors("randperm", 3), E((state(), -1), {}, ValueRangeError, "negative")],
    ),
    Row(
        "bernoulli",
        lambda g: [S(g.unit(3, 4), state()), S(g.unit(0), state()), S(g.unit(), state()), S(np.array([0.0, 1.0]), state()).but(grad=False)],
        lambda p, s: philox.bernoulli(*parts(s), p, p.shape).astype(np.float64),
        torch=None,
        call=record("bernoulli"),
        errors=lambda g: [
            E((g.unit(2), np.zeros(2, np.int64)), {}, DTypeError, "bernoulli"),
            E((g.index(2, 2), state()), {}, DTypeError, "floating"),
            E((np.array([0.5, 1.5]), state()), {}, ValueRangeError, "within"),
            E((np.array([np.nan]), state()), {}, ValueRangeError, "within"),
        ],
    ),
    Row(
        "bernoulli_p",
        lambda g: [S(state(), p, (3, 40), dtype=d) for p in (0.0, 0.3, 1.0) for d in (dtypes.float32, dtypes.bool_, dtypes.int64)],
        lambda s, p, size, *, dtype: philox.bernoulli(*parts(s), p, size).astype(dtype),
        torch=None,
        call=record("bernoulli_p"),
        dtypes="float64",
        grad=False,
        errors=lambda g: [*state_errors("bernoulli_p", 0.5, (2,)), E((state(), 1.5, (2,)), {}, ValueRangeError, "between 0 and 1")],
    ),
    Row(
        "multinomial",
        lambda g: [
            S(g.positive(5), state(), 3),
            S(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5]]), state(), 2),
            S(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]]), state(), 20, True),
            S(np.array([3.0]), state(), 1),
        ],
        check=check_multinomial,
        torch=None,
        call=record("multinomial"),
        grad=False,
        errors=lambda g: [
            E((g.unit(2), np.zeros(2, np.int64), 1), {}, DTypeError, "multinomial"),
            E((g.unit(2, 2, 2), state(), 1), {}, ShapeError, "vector or matrix"),
            E((g.unit(2), state(), 0), {}, ValueRangeError, "num_samples"),
            E((g.unit(2), state(), 3), {}, ValueRangeError, "without replacement"),
            E((np.array([-1.0, 2.0]), state(), 1), {}, ValueRangeError, "negative"),
            E((np.array([np.inf, 2.0]), state(), 1), {}, ValueRangeError, "finite"),
            E((np.zeros(2), state(), 1, True), {}, ValueRangeError, "positive weight"),
            E((np.array([0.0, 1.0]), state(), 2), {}, ValueRangeError, "positive weights"),
        ],
    ),
    Row(
        "random_advance",
        lambda g: [S(state(), 0), S(state(), 5), S(state(3, HUGE), 2)],
        lambda s, count: np.array([parts(s)[0], (parts(s)[1] + count) % (1 << 64)], np.uint64),
        torch=None,
        call=record("random_advance"),
        dtypes="float64",
        grad=False,
        errors=lambda g: [*state_errors("random_advance", 1), E((state(), -1), {}, ValueRangeError, "negative")],
    ),
    Row(
        "native_dropout",
        lambda g: [
            S(g.real(3, 4), state(), 0.5),
            S(g.real(3, 4), state(), 0.25, True),
            S(g.real(3, 4), state(), 0.5, False),
            S(g.real(3, 4), state(), 1.0),
            S(g.real(3, 4), state(), 0.0),
            S(g.real(0, 4), state(), 0.5),
            S(g.real(), state(), 0.5),
        ],
        dropout,
        torch=None,
        call=record("native_dropout"),
        covers=("native_dropout_backward",),
        errors=lambda g: [
            E((g.real(2), np.zeros(2, np.int64), 0.5), {}, DTypeError, "native_dropout"),
            E((g.real(2), state(), 1.5), {}, ValueRangeError, "between 0 and 1"),
            E((g.index(2, 2), state(), 0.5), {}, DTypeError, "floating"),
        ],
    ),
]
