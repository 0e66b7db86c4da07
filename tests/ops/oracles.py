"""Special functions by slow, independent methods (integrals, sums, the standard library), accurate to about 1e-13: oracles of rows.

tests/ops/test_special_functions.py compares with mpmath to rounding, where that is installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)


def each(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A function of floats on arrays that broadcast; NaN where it raises."""

    def safe(*values: float) -> float:
        try:
            return function(*map(float, values))
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return lambda *arrays: (
        np.vectorize(safe, otypes=[np.float64])(*arrays) if np.size(np.broadcast(*arrays)) else np.zeros(np.broadcast(*arrays).shape)
    )


def integral(function: Callable[[np.ndarray], np.ndarray], low: float, high: float, pieces: int = 1) -> float:
    """Gauss-Legendre quadrature on each of some equal pieces."""
    edges = np.linspace(low, high, pieces + 1)
    half = 0.5 * (edges[1] - edges[0])
    return math.fsum(half * float(np.dot(WEIGHTS, function(a + half * (1.0 + NODES)))) for a in edges[:-1])


def lgamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def polygamma(n: int, x: float) -> float:
    """By recurrence to x >= 30, then the asymptotic series."""
    if x <= 0 and x == math.floor(x):
        return (
            math.nan
            if n == 0 and x < 0
            else math.copysign(math.inf, -1.0 if n == 0 and math.copysign(1, x) > 0 else 1.0 if n == 0 else (-1) ** (n + 1))
        )
    terms = []
    while x < 30:
        terms.append((-1.0) ** (n + 1) * math.factorial(n) * x ** -(n + 1))
        x += 1.0
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
    if n == 0:
        terms += [math.log(x), -0.5 / x, *(-b / (2 * k) * x ** (-2 * k) for k, b in enumerate(bernoulli, 1))]
    else:
        sign = (-1.0) ** (n + 1)
        terms += [sign * math.factorial(n - 1) * x**-n, sign * 0.5 * math.factorial(n) * x ** -(n + 1)]
        terms += [sign * b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * x ** -(2 * k + n) for k, b in enumerate(bernoulli, 1)]
    return math.fsum(terms)


def zeta(s: float, q: float) -> float:
    """The first 60 terms, and the integral, the half and two corrections of the Euler-Maclaurin formula."""
    if s == 1 or (q <= 0 and q == math.floor(q)):
        return math.inf
    if s < 1 or q < 0:
        return math.nan
    a = q + 60
    rest = [a ** (1 - s) / (s - 1), 0.5 * a**-s, s * a ** (-s - 1) / 12, -s * (s + 1) * (s + 2) * a ** (-s - 3) / 720]
    rest.append(s * (s + 1) * (s + 2) * (s + 3) * (s + 4) * a ** (-s - 5) / 30240)
    return math.fsum([*((q + k) ** -s for k in range(60)), *rest])


def lower_gamma(a: float, x: float) -> float:
    """P by its series with exactly rounded sums."""
    if not (a > 0 and x >= 0):
        return math.nan
    total, term, n = [1.0], 1.0, 0
    while term > 1e-20 * total[0] and n < 5000:
        n += 1
        term *= x / (a + n)
        total.append(term)
    return math.exp(a * math.log(x) - x - math.lgamma(a + 1)) * math.fsum(total) if x > 0 else 0.0


def upper_gamma(a: float, x: float) -> float:
    """Q as an integral where P is near 1."""
    if x <= a or not x < math.inf:
        return 1.0 - lower_gamma(a, x)
    log = math.lgamma(a)
    return integral(lambda t: np.exp((a - 1) * np.log(t) - t - log), x, x + 80.0 + 12 * math.sqrt(a), 16)


def sinc(x: float) -> float:
    if x == 0:
        return 1.0
    rest = math.remainder(x, 1.0)
    return math.sin(math.pi * rest) * (-1.0) ** round(x - rest) / (math.pi * x)


def bessel_j(n: int, x: float) -> float:
    """(1/pi) times the integral of cos(n t - x sin t) over [0, pi]: the trapezoidal rule, exact for periodic functions."""
    t = np.arange(400) * (2 * np.pi / 400)
    return 0.0 if x == 0 < n else float(np.mean(np.cos(n * t - x * np.sin(t)))) if math.isfinite(x) else 0.0 if not math.isnan(x) else x


def bessel_y(n: int, x: float) -> float:
    if not x > 0 or math.isinf(x):
        return -math.inf if x == 0 else 0.0 if x == math.inf else math.nan
    first = integral(lambda t: np.sin(x * np.sin(t) - n * t), 0.0, math.pi)
    end = math.asinh(60 / x) + 1.0
    second = integral(lambda t: (np.exp(n * t) + (-1) ** n * np.exp(-n * t)) * np.exp(-x * np.sinh(t)), 0.0, end, 8)
    return (first - second) / math.pi


def bessel_i(n: int, x: float, scale: float = 0.0) -> float:
    """(1/pi) times the integral of exp(x cos t) cos(n t) over [0, pi], times exp(-scale |x|)."""
    if math.isinf(x) or (x == 0 and n):
        return 0.0 if scale or x == 0 else x if n else math.inf
    t = np.arange(400) * (2 * np.pi / 400)
    return float(np.mean(np.exp(x * np.cos(t) - scale * abs(x)) * np.cos(n * t)))


def bessel_k(order: float, x: float, scale: float = 0.0) -> float:
    """The integral of exp(-x cosh t) cosh(order t) over [0, inf), times exp(scale x)."""
    if not x > 0 or math.isinf(x):
        return math.inf if x == 0 else 0.0 if x == math.inf else math.nan
    end = math.acosh(1 + 60 / x) + 1.0
    return integral(lambda t: np.exp(-x * (np.cosh(t) - scale)) * np.cosh(order * t), 0.0, end, 8)


def airy(x: float) -> float:
    """The power series for small x, K of order 1/3 for large ones."""
    if x > 2:
        return math.sqrt(x / 3) / math.pi * bessel_k(1 / 3, 2 / 3 * x**1.5)
    first, second, f, g = [1.0], [x], 1.0, x
    for k in range(1, 60):
        f *= x**3 / ((3 * k - 1) * (3 * k))
        g *= x**3 / ((3 * k) * (3 * k + 1))
        first.append(f)
        second.append(g)
    return 3 ** (-2 / 3) / math.gamma(2 / 3) * math.fsum(first) - 3 ** (-1 / 3) / math.gamma(1 / 3) * math.fsum(second)


def erfinv(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1 else NormalDist().inv_cdf((1 + x) / 2) / math.sqrt(2)


def ndtri(p: float) -> float:
    return -math.inf if p == 0 else math.inf if p == 1 else NormalDist().inv_cdf(p)


def log_ndtr(x: float) -> float:
    value = 0.5 * math.erfc(-x / math.sqrt(2))
    return math.log(value) if x < 1 else math.log1p(-0.5 * math.erfc(x / math.sqrt(2)))


def chebyshev(kind: str) -> Callable[..., np.ndarray]:
    """By angles, complex ones outside [-1, 1]."""

    def function(x: Any, n: Any) -> np.ndarray:
        x, n = np.broadcast_arrays(np.asarray(x, np.complex128), np.trunc(np.asarray(n, np.float64)))
        a = np.arccos(x)
        value = {
            "t": lambda: np.cos(n * a), "u": lambda: np.sin((n + 1) * a) / np.sin(a), "v": lambda: np.cos((n + 0.5) * a) / np.cos(a / 2),
            "w": lambda: np.sin((n + 0.5) * a) / np.sin(a / 2),
        }[kind]().real  # fmt: skip
        return np.where(n < 0, 0.0, np.where(n == 0, 1.0, value))

    return function


def polynomial(evaluate: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """NumPy's evaluation of the series with one term."""
    return each(lambda x, n: 0.0 if int(n) < 0 else float(evaluate(x, [0.0] * int(n) + [1.0])))
