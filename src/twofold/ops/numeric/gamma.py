"""The gamma function's logarithm and its derivatives, the Hurwitz zeta function, the incomplete gamma functions.

lgamma and digamma: Chebyshev series on [1/2, 10] (tables.py; near their zeros of the quotient by the zero's factor), Stirling's series
above, reflection below. zeta: Euler-Maclaurin summation. References: NIST Digital Library of Mathematical Functions, 5.11, 5.5, 25.11, 8.
Incomplete gamma functions: series, continued fraction, and the uniform expansion of N. M. Temme, "The asymptotic expansion of the
incomplete gamma functions", SIAM J. Math. Anal. 10 (1979) 757-766.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ops import special
from twofold.ops.numeric import tables
from twofold.ops.numeric.series import chebyshev, constant, in_float64, piecewise, power_series, sin_pi

Array = Any
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
STIRLING = tuple(b / ((2 * k + 2) * (2 * k + 1)) for k, b in enumerate(tables.BERNOULLI[:10]))
DIGAMMA_TERMS = tuple(-b / (2 * k + 2) for k, b in enumerate(tables.BERNOULLI[:10]))


# ---- log gamma -------------------------------------------------------------------------------------------------------------------------


def lgamma_1p(a: Array) -> Array:
    """log(gamma(1 + a)) for |a| <= 1/2."""
    return a * (a - 1.0) * chebyshev(tables.LGAMMA_LOW, a, -0.5, 0.5)


def stirling(x: Array) -> Array:
    """log(gamma(x)) - ((x - 1/2) log(x) - x + log(2 pi)/2), for x >= 8."""
    u = 1.0 / x
    return u * power_series(STIRLING, u * u)


def _lgamma_negative(x: Array) -> Array:
    """gamma(x) gamma(-x) = -pi / (x sin(pi x))."""
    y = -x
    tiny = np.minimum(y, 1.0)
    small = y < 1e-8  # the product x sin(pi x) would lose digits to underflow
    away = np.log(np.pi / (np.abs(sin_pi(x)) * np.where(small, 1.0, y))) - _lgamma_positive(y)
    return np.where(small, -np.log(tiny), away)


def _lgamma_positive(x: Array) -> Array:
    return piecewise(
        (x,),
        (x < 0.5, lambda x: lgamma_1p(x) - np.log(x)),
        ((x >= 0.5) & (x < 1.5), lambda x: lgamma_1p(x - 1.0)),
        ((x >= 1.5) & (x < 3.0), lambda x: (x - 1.0) * (x - 2.0) * chebyshev(tables.LGAMMA_MIDDLE, x, 1.5, 3.0)),
        ((x >= 3.0) & (x < 8.0), lambda x: chebyshev(tables.LGAMMA_HIGH, x, 3.0, 8.0)),
        (x >= 8.0, lambda x: (x - 0.5) * (np.log(x) - 1.0) + (HALF_LOG_2PI - 0.5) + stirling(x)),
    )


@in_float64
def lgamma(x: Array) -> Array:
    """The logarithm of |gamma(x)|; infinity at 0, -1, -2, …"""
    pole = (x <= 0.0) & (x == np.floor(x))
    return piecewise((x,), (x > 0.0, _lgamma_positive), ((x < 0.0) & ~pole, _lgamma_negative), (pole, constant(math.inf)))


# ---- its derivatives -------------------------------------------------------------------------------------------------------------------


def _digamma_low(x: Array) -> Array:
    high, low = tables.DIGAMMA_ROOT
    return ((x - high) - low) * chebyshev(tables.DIGAMMA_LOW, x, 1.0, 3.0)


def _digamma_positive(x: Array) -> Array:
    return piecewise(
        (x,),
        (x < 1.0, lambda x: _digamma_low(x + 1.0) - 1.0 / x),
        ((x >= 1.0) & (x < 3.0), _digamma_low),
        ((x >= 3.0) & (x < 10.0), lambda x: chebyshev(tables.DIGAMMA_HIGH, x, 3.0, 10.0)),
        (x >= 10.0, lambda x: np.log(x) - 0.5 / x + power_series(DIGAMMA_TERMS, 1.0 / (x * x)) / (x * x)),
    )


def _digamma_negative(x: Array) -> Array:
    """digamma(1 - x) - pi / tan(pi x), the angle reduced first."""
    return _digamma_positive(1.0 - x) - np.pi / np.tan(np.pi * (x - np.rint(x)))


@in_float64
def digamma(x: Array) -> Array:
    """The derivative of lgamma; -inf at 0 (inf at -0.0), NaN at -1, -2, …"""
    return piecewise(
        (x,),
        (x > 0.0, _digamma_positive),
        ((x < 0.0) & (x != np.floor(x)), _digamma_negative),
        (x == 0.0, lambda x: np.copysign(math.inf, -x)),
    )


ZETA_TERMS = 10
ZETA_TAIL = tuple(b / math.factorial(2 * k + 2) for k, b in enumerate(tables.BERNOULLI[:12]))
LARGE_EXPONENT = 1e4
"""From here on the terms after the first ones are nothing beside them."""


def _zeta_positive(s: Array, q: Array) -> Array:
    """s > 1, q > 0: the first terms, and the Euler-Maclaurin formula for the rest."""
    total = np.zeros_like(q)
    for k in range(ZETA_TERMS):
        total += (q + k) ** -s
    a, e = q + ZETA_TERMS, np.minimum(s, LARGE_EXPONENT)
    power = a**-e
    rest = power * a / (e - 1.0) + 0.5 * power
    factor = power * e / a
    for k, b in enumerate(ZETA_TAIL):
        rest += b * factor
        factor = factor * ((e + (2 * k + 1)) / a) * ((e + (2 * k + 2)) / a)
    rest = np.where(np.isinf(a), 0.0, rest)
    return np.where(s > LARGE_EXPONENT, total, total + rest)


def _zeta_negative(s: Array, q: Array) -> Array:
    """q < 0 and not whole, s whole: the terms of negative base, (-1)**s sum (j - f)**-s, are a difference of two values of zeta."""
    n = -np.floor(q)
    f = q + n
    sign = np.where(np.remainder(s, 2.0) == 0.0, 1.0, -1.0)
    return _zeta_positive(s, f) + sign * (_zeta_positive(s, 1.0 - f) - _zeta_positive(s, n + 1.0 - f))


@in_float64
def zeta(s: Array, q: Array) -> Array:
    """The Hurwitz zeta function sum (k + q)**-s, k >= 0: infinity for s = 1 and q = 0, -1, …; NaN for s < 1, and q < 0 with s not whole."""
    return piecewise(
        (s, q),
        ((s > 1.0) & (q > 0.0), _zeta_positive),
        ((s > 1.0) & (q < 0.0) & (s == np.floor(s)) & (q != np.floor(q)), _zeta_negative),
        ((s > 1.0) & (q <= 0.0) & (q == np.floor(q)), constant(math.inf)),
        ((s == 1.0) & ~np.isnan(q), constant(math.inf)),
    )


def polygamma(n: int, x: Array) -> Array:
    """The n-th derivative of digamma, (-1)**(n+1) n! zeta(n+1, x)."""
    if n == 0:
        return digamma(x)
    factorial = math.factorial(n) if n <= 170 else math.inf
    kind = np.asarray(x).dtype
    wide = (factorial if n % 2 else -factorial) * zeta(np.float64(n + 1), np.asarray(x, np.float64))
    return np.asarray(wide, kind if kind.kind == "f" else np.float64)[()]


# ---- incomplete gamma functions --------------------------------------------------------------------------------------------------------

EPSILON = 2.0**-53
MOST_TERMS = 2000
LOG1P_TERMS = tuple(1.0 / (2 * k + 3) for k in range(14))
UNIFORM_FROM, UNIFORM_WIDTH = 60.0, 0.3
"""Temme's expansion serves from this `a` on, for |x - a| <= width * a."""


def _excess(m: Array) -> Array:
    """m - log(1 + m) without cancellation, from log(1 + m) = 2 artanh(m / (2 + m))."""
    s = m / (2.0 + m)
    near = m * s - 2.0 * s * s * s * power_series(LOG1P_TERMS, s * s)
    return np.where(np.abs(m) < 0.4, near, m - np.log1p(m))


def _factor(a: Array, x: Array) -> Array:
    """x**a exp(-x) / gamma(a + 1)."""

    def small(a: Array, x: Array) -> Array:
        return np.exp(a * np.log(x) - x - _lgamma_positive(a + 1.0))

    def large(a: Array, x: Array) -> Array:
        m = (x - a) / a
        excess = np.where(m < -0.4, m - np.log(x / a), _excess(m))  # 1 + m has lost the digits of a small x
        return np.exp(-a * excess - stirling(a)) / np.sqrt(2.0 * np.pi * a)

    return piecewise((a, x), (a < 8.0, small), (a >= 8.0, large))


def _lower_series(a: Array, x: Array) -> Array:
    """P by its power series, for x not far above a."""
    total, term, n = np.ones_like(x), np.ones_like(x), 0.0
    for _ in range(MOST_TERMS):
        n += 1.0
        term = term * (x / (a + n))
        total += term
        if not np.any(term > EPSILON * total):
            break
    return _factor(a, x) * total


def _upper_fraction(a: Array, x: Array) -> Array:
    """Q by its continued fraction (Legendre's; evaluated after W. J. Lentz, Applied Optics 15 (1976) 668), for x > a."""
    b = x + 1.0 - a
    c, d = np.full_like(x, 1e300), 1.0 / b
    value = d.copy()
    for k in range(1, MOST_TERMS):
        n = -k * (k - a)
        b = b + 2.0
        d, c = 1.0 / (n * d + b), b + n / c
        step = d * c
        value = value * step
        if not np.any(np.abs(step - 1.0) > 2.0 * EPSILON):
            break
    return _factor(a, x) * a * value


def _upper_small(a: Array, x: Array) -> Array:
    """Q for small a and x, where 1 - P would cancel."""
    total, term = np.zeros_like(x), np.ones_like(x)
    for n in range(1, MOST_TERMS):
        term = term * (-x / n)
        part = term / (a + n)
        total += part
        if not np.any(np.abs(part) > EPSILON * np.abs(total)):
            break
    one = np.where(a <= 0.5, lgamma_1p(np.minimum(a, 0.5)), _lgamma_positive(1.0 + a))
    exponent = a * np.log(x) - one
    return -np.expm1(exponent) - a * np.exp(exponent) * total


def _uniform(a: Array, x: Array, upper: bool) -> Array:
    """Temme's expansion: erfc(± e sqrt(a/2)) / 2 ± exp(-a e**2 / 2) / sqrt(2 pi a) sum C_k(e) a**-k."""
    m = (x - a) / a
    half_square = _excess(m)
    e = np.copysign(np.sqrt(2.0 * half_square), m)
    total = np.zeros_like(e)
    for row in reversed(tables.TEMME):
        total = total / a + power_series(row, e)
    rest = np.exp(-a * half_square) / np.sqrt(2.0 * np.pi * a) * total
    root = e * np.sqrt(0.5 * a)
    return 0.5 * special.erfc(root) + rest if upper else 0.5 * special.erfc(-root) - rest


def _incomplete(a: Array, x: Array, upper: bool) -> Array:
    inside = (a > 0.0) & (x > 0.0) & np.isfinite(a) & np.isfinite(x)
    uniform = inside & (a >= UNIFORM_FROM) & (np.abs(x - a) <= UNIFORM_WIDTH * a)
    fraction = inside & ~uniform & (x > 1.1) & (x > a)
    lower = inside & ~uniform & ~fraction
    complement: tuple[tuple[Array, Callable[..., Array]], ...]
    if upper:
        direct = lower & (x <= 1.1) & np.where(x <= 0.5, -0.4 / np.log(np.minimum(x, 0.5)) >= a, x * 1.1 >= a)
        complement = (fraction, _upper_fraction), (lower, lambda a, x: 1.0 - _lower_series(a, x)), (direct, _upper_small)
    else:
        complement = (fraction, lambda a, x: 1.0 - _upper_fraction(a, x)), (lower, _lower_series)
    none, whole = (1.0, 0.0) if upper else (0.0, 1.0)
    return piecewise(
        (a, x),
        *complement,
        (uniform, lambda a, x: _uniform(a, x, upper)),
        ((x == 0.0) & (a > 0.0), constant(none)),
        (np.isinf(a) & (a > 0.0) & (x >= 0.0) & np.isfinite(x), constant(none)),
        ((a == 0.0) & (x > 0.0), constant(whole)),
        (np.isinf(x) & (x > 0.0) & (a >= 0.0) & np.isfinite(a), constant(whole)),
    )


@in_float64
def igamma(a: Array, x: Array) -> Array:
    """The regularised lower incomplete gamma function P(a, x); NaN for negative operands."""
    return _incomplete(a, x, False)


@in_float64
def igammac(a: Array, x: Array) -> Array:
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x); NaN for negative operands."""
    return _incomplete(a, x, True)
