"""Samples of draws with tensors of parameters: the oracle is the smallest k whose distribution function exceeds the uniform number."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.row import E, Row, S
from tests.ops.samples.random import record, state, state_errors
from twofold.ops import philox
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

WIDE = ("float64",)


def poisson(rate, s):
    u = philox.uniform_f64(int(s[0]), int(s[1]), np.shape(rate))

    def one(lam, v):
        k, term, total = 0, math.exp(-lam), 0.0
        while total + term <= v:
            total += term
            k += 1
            term *= lam / k
        return float(k)

    return np.vectorize(one, otypes=[float])(rate, u) if np.size(rate) else np.zeros(np.shape(rate))


def check_binomial(out, count, p, s):
    """Within the range, certain where the probability is 0 or 1; tests/tensors/test_distributions.py tests the distribution."""
    count, p = np.broadcast_arrays(np.asarray(count, float), np.asarray(p, float))
    out = out.astype(float)
    assert out.shape == count.shape
    assert ((out >= 0) & (out <= np.maximum(count, 0)) & (out == np.floor(out))).all()
    assert (out[p == 0] == 0).all()
    assert (out[p == 1] == np.maximum(count, 0)[p == 1]).all()


ROWS = [
    Row(
        "poisson",
        lambda g: [
            S(g.positive(3, 4) * 3, state()), S(g.positive(0, 2), state()), S(np.asarray(g.positive()), state(1, 9)),
            S(np.array([0.0, 1.0, 30.0, 200.0]), state()).but(grad=False), S(g.noncontiguous(g.positive(3, 5)), state()),
        ],
        poisson, torch=None, call=record("poisson"), dtypes=WIDE, empty=False,
        errors=lambda g: [
            *(E((g.positive(2), *e.args), e.kwargs, e.error, e.text) for e in state_errors("poisson")),
            E((np.array([-1.0]), state()), {}, ValueRangeError, "non-negative"),
            E((np.array([1]), state()), {}, DTypeError, "floating-point"),
        ],
    ),
    Row(
        "binomial",
        lambda g: [
            S(g.ints(3, 4, low=0, high=30), g.unit(3, 4), state()), S(g.ints(3, 1, low=0, high=9), g.unit(4), state()),
            S(np.array([10.0, 10.0, 0.0, -3.0, 1e6]), np.array([0.0, 1.0, 0.4, 0.4, 0.7]), state()).but(grad=False),
            S(g.ints(0, 2), g.unit(2), state()),
            S(np.asarray(7.0), g.unit(), state()),
        ],
        check=check_binomial, torch=None, call=record("binomial"), dtypes=WIDE, grad=(1,), empty=False,
        errors=lambda g: [
            E((np.array([5]), g.unit(1), state()), {}, ValueRangeError, "floating-point"),
            E((np.array([5.0]), np.array([1.5]), state()), {}, ValueRangeError, "within"),
            E((np.array([math.inf]), np.array([0.5]), state()), {}, ValueRangeError, "finite"),
            E((g.positive(2), g.unit(3), state()), {}, ShapeError, "binomial"),
            E((np.array([5.0]), np.array([0.5], np.float32), state()), {}, DTypeError, "dtypes"),
        ],
    ),
]  # fmt: skip
