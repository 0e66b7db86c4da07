"""Draws from distributions: their moments and distribution functions, the same bits in every way of running, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import twofold
from tests.ops.calls import array
from twofold.support.errors import ArgumentError, TwofoldError, ValueRangeError

COUNT = 20000


def drawn(name: str, *args: Any, dtype: Any = twofold.float64) -> np.ndarray:
    twofold.manual_seed(5)
    t = twofold.zeros(COUNT, dtype=dtype)
    assert getattr(t, name)(*args) is t
    return array(t).astype(np.float64)


def distance(values: np.ndarray, cdf: Any) -> float:
    """The Kolmogorov-Smirnov statistic times sqrt(n): above 1.95 with probability 0.001."""
    ordered = np.sort(values)
    exact = np.vectorize(cdf)(ordered)
    n = len(ordered)
    steps = np.arange(n + 1) / n
    return float(max(np.max(exact - steps[:-1]), np.max(steps[1:] - exact))) * math.sqrt(n)


CONTINUOUS = {
    "cauchy_": ((1.0, 2.0), lambda x: 0.5 + math.atan((x - 1.0) / 2.0) / math.pi),
    "exponential_": ((2.0,), lambda x: 1 - math.exp(-2.0 * x)),
    "log_normal_": ((0.5, 0.75), lambda x: 0.5 * math.erfc(-(math.log(x) - 0.5) / 0.75 / math.sqrt(2))),
    "normal_": ((1.0, 3.0), lambda x: 0.5 * math.erfc(-(x - 1.0) / 3.0 / math.sqrt(2))),
    "uniform_": ((-1.0, 3.0), lambda x: (x + 1) / 4),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str, dtype: str) -> None:
    args, cdf = CONTINUOUS[name]
    assert distance(drawn(name, *args, dtype=getattr(twofold, dtype)), cdf) < 1.95


def frequencies_agree(values: np.ndarray, pmf: dict[int, float]) -> None:
    """Each frequency within five standard deviations."""
    for k, p in pmf.items():
        assert abs(np.mean(values == k) - p) < 5 * math.sqrt(p * (1 - p) / len(values)) + 1e-9, k


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int64", "uint8"])
def test_geometric(dtype: str) -> None:
    values = drawn("geometric_", 0.3, dtype=getattr(twofold, dtype))
    frequencies_agree(values, {k: 0.3 * 0.7 ** (k - 1) for k in range(1, 12)})


@pytest.mark.parametrize("rate", [0.3, 4.0, 90.0])
def test_poisson(rate: float) -> None:
    twofold.manual_seed(6)
    values = array(twofold.poisson(twofold.full((COUNT,), rate, dtype=twofold.float64)))
    middle = int(rate)
    frequencies_agree(
        values, {k: math.exp(-rate + k * math.log(rate) - math.lgamma(k + 1)) for k in range(max(middle - 9, 0), middle + 10)}
    )


@pytest.mark.parametrize("n,p", [(1, 0.25), (12, 0.3), (12, 0.8), (400, 0.5), (5, 1.0)])
def test_binomial(n: int, p: float) -> None:
    twofold.manual_seed(7)
    values = array(twofold.binomial(twofold.full((COUNT,), float(n)), twofold.full((COUNT,), p)))
    middle = int(n * p)
    frequencies_agree(values, {k: math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(max(middle - 9, 0), min(middle + 9, n) + 1)})


def test_large_parameters() -> None:
    twofold.manual_seed(8)
    rates = twofold.full((500,), 1e12, dtype=twofold.float64)
    z = (array(twofold.poisson(rates)) - 1e12) / 1e6
    assert abs(z.mean()) < 0.25
    assert 0.85 < z.std() < 1.15
    counts = array(twofold.binomial(twofold.full((500,), 1e7, dtype=twofold.float64), twofold.full((500,), 0.25, dtype=twofold.float64)))
    z = (counts - 2.5e6) / math.sqrt(1e7 * 0.25 * 0.75)
    assert abs(z.mean()) < 0.25
    assert 0.85 < z.std() < 1.15


WAYS = {
    "cauchy": lambda x: twofold.zeros_like(x).cauchy_(),
    "geometric": lambda x: twofold.zeros_like(x).geometric_(0.4),
    "log_normal": lambda x: twofold.zeros_like(x).log_normal_(),
    "poisson": lambda x: twofold.poisson(x),
    "binomial": lambda x: twofold.binomial(x * 10.0, x / (x + 1.0)),
}


@pytest.mark.parametrize("name", WAYS)
def test_recorded_graphs_draw_the_same(name: str) -> None:
    f, x = WAYS[name], twofold.full((3, 4), 2.0)
    graph = twofold.trace(lambda x: f(x) + f(x), (x,))
    twofold.manual_seed(3)
    eager = array(f(x) + f(x))
    after = array(twofold.get_rng_state())
    twofold.manual_seed(3)
    np.testing.assert_array_equal(array(graph(x)), eager)
    np.testing.assert_array_equal(array(twofold.get_rng_state()), after)


def test_gradients_are_zero() -> None:
    rate = twofold.full((4,), 3.0, requires_grad=True)
    twofold.poisson(rate).sum().backward()
    assert (array(rate.grad) == 0).all()
    p = twofold.full((4,), 0.5, requires_grad=True)
    twofold.binomial(twofold.full((4,), 3.0), p).sum().backward()
    assert (array(p.grad) == 0).all()


BAD: list[tuple[Any, type[Exception]]] = [
    (lambda: twofold.zeros(3).cauchy_(0.0, 0.0), ValueRangeError),
    (lambda: twofold.zeros(3, dtype=twofold.int64).cauchy_(), TwofoldError),
    (lambda: twofold.zeros(3).geometric_(0.0), ValueRangeError),
    (lambda: twofold.zeros(3).geometric_(1.0), ValueRangeError),
    (lambda: twofold.poisson(twofold.tensor([-1.0])), ValueRangeError),
    (lambda: twofold.poisson(2.0), ArgumentError),
    (lambda: twofold.binomial(3.0, twofold.tensor([0.5])), ArgumentError),
    (lambda: twofold.binomial(twofold.tensor([3.0]), twofold.tensor([-0.5])), ValueRangeError),
]


@pytest.mark.parametrize("index", range(len(BAD)))
def test_refused_calls_change_nothing(index: int) -> None:
    call, error = BAD[index]
    before = array(twofold.get_rng_state()).copy()
    with pytest.raises(error):
        call()
    np.testing.assert_array_equal(array(twofold.get_rng_state()), before)
