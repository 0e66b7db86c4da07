"""Orthogonal polynomials by their three-term recurrences (NIST Digital Library of Mathematical Functions, 18.9).

Chebyshev polynomials of high degree have their trigonometric and hyperbolic forms (18.5). The degree is an operand; its fraction is cut
off, a negative one gives 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ops.numeric.series import in_float64, piecewise

Array = Any
HIGH = 40
"""Chebyshev polynomials above this degree are computed in closed form."""


def recur(x: Array, n: Array, first: Array, step: Callable[[int, Array, Array], tuple[Array, Array]]) -> Array:
    """p_n where p_0 = 1, p_1 = `first` and p_k = a p_(k-1) - b p_(k-2) with (a, b) = step(k, …). What overflowed stays infinite."""
    result = np.where(n < 0.0, 0.0, np.where(n == 0.0, 1.0, first))
    before, last = np.ones_like(x), first + np.zeros_like(x)
    top = int(np.max(n, initial=0.0))
    for k in range(2, top + 1):
        a, b = step(k, x, n)
        grown = a * last
        before, last = last, np.where(np.isinf(last), grown, grown - b * before)
        result = np.where(n == k, last, result)
        if k % 64 == 0 and not np.any(np.isfinite(last) & (n > k)):  # nothing left to compute but signs and NaN
            left = n > k
            return np.where(left, np.where(np.isnan(last), last, last * _sign_power(a, n - k)), result)
    return result


def _sign_power(a: Array, n: Array) -> Array:
    """The sign of a**n."""
    return np.where((a < 0.0) & (np.remainder(n, 2.0) == 1.0), -1.0, 1.0)


def _degree(x: Array, n: Array, function: Callable[[Array, Array], Array]) -> Array:
    """`function` where both operands are numbers; NaN else, but 1 for degree 0."""
    whole = np.trunc(n)
    return piecewise(
        (x, whole),
        (~np.isnan(x) & np.isfinite(whole), function),
        (whole < 0.0, lambda x, n: np.zeros_like(x)),
        (whole == 0.0, lambda x, n: np.ones_like(x)),
    )


def _chebyshev(x: Array, n: Array, first: Array, inside: Callable[..., Array], outside: Callable[..., Array]) -> Array:
    """`inside`(angle, n) for |x| < 1, `outside`(x, n) for x > 1, of high degrees; low ones and the ends by recurrence."""
    ends = np.abs(x) == 1.0
    closed = (n > HIGH) & ~ends
    # At the ends the recurrence is a linear function of the degree: two terms give all.
    low = recur(x, np.where(n > HIGH, np.remainder(n, 2.0) + 2.0, n), first, lambda k, x, n: (2.0 * x, np.ones_like(x)))
    slope = recur(x, np.remainder(n, 2.0) + 4.0, first, lambda k, x, n: (2.0 * x, np.ones_like(x))) - low
    at_end = low + slope * ((n - 2.0 - np.remainder(n, 2.0)) / 2.0)
    return piecewise(
        (x, n, low, at_end),
        (~closed, lambda x, n, low, end: low),
        (ends & (n > HIGH), lambda x, n, low, end: end),
        (closed & (np.abs(x) < 1.0), lambda x, n, low, end: inside(np.arccos(x), n)),
        (closed & (np.abs(x) > 1.0), lambda x, n, low, end: outside(x, n)),
    )


def _alternating(x: Array, n: Array) -> Array:
    return _sign_power(x, n)


def _t(x: Array, n: Array) -> Array:
    return _chebyshev(x, n, x, lambda a, n: np.cos(n * a), lambda x, n: _alternating(x, n) * np.cosh(n * np.arccosh(np.abs(x))))


def _ratio(top: Array, over: Array) -> Array:
    """top / over where top may be infinite."""
    return top / over


def _u_outside(x: Array, n: Array) -> Array:
    a = np.arccosh(np.abs(x))
    return _alternating(x, n) * _ratio(np.sinh((n + 1.0) * a), np.sinh(a))


def _u(x: Array, n: Array) -> Array:
    return _chebyshev(x, n, 2.0 * x, lambda a, n: np.sin((n + 1.0) * a) / np.sin(a), _u_outside)


def _v_outside(x: Array, n: Array) -> Array:
    a = np.arccosh(np.abs(x))
    even = np.cosh((n + 0.5) * a) / np.cosh(0.5 * a)
    odd = np.sinh((n + 0.5) * a) / np.sinh(0.5 * a)
    return np.where(x > 0.0, even, _alternating(x, n) * odd)


def _v(x: Array, n: Array) -> Array:
    return _chebyshev(x, n, 2.0 * x - 1.0, lambda a, n: np.cos((n + 0.5) * a) / np.cos(0.5 * a), _v_outside)


def _w(x: Array, n: Array) -> Array:
    """W_n(x) = (-1)**n V_n(-x)."""
    return np.where(np.remainder(n, 2.0) == 1.0, -1.0, 1.0) * _v(-x, n)


def _shifted(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, n: function(2.0 * x - 1.0, n)


def _hermite_h(x: Array, n: Array) -> Array:
    return recur(x, n, 2.0 * x, lambda k, x, n: (2.0 * x, 2.0 * (k - 1.0)))


def _hermite_he(x: Array, n: Array) -> Array:
    return recur(x, n, x, lambda k, x, n: (x, k - 1.0))


def _laguerre(x: Array, n: Array) -> Array:
    return recur(x, n, 1.0 - x, lambda k, x, n: ((2.0 * k - 1.0 - x) / k, (k - 1.0) / k))


def _legendre(x: Array, n: Array) -> Array:
    return recur(x, n, x, lambda k, x, n: ((2.0 * k - 1.0) * x / k, (k - 1.0) / k))


def _public(function: Callable[[Array, Array], Array], name: str) -> Callable[[Any, Any], Array]:
    def polynomial(x: Array, n: Array) -> Array:
        return _degree(x, n, function)

    polynomial.__name__ = polynomial.__qualname__ = name
    return in_float64(polynomial)


chebyshev_polynomial_t = _public(_t, "chebyshev_polynomial_t")
chebyshev_polynomial_u = _public(_u, "chebyshev_polynomial_u")
chebyshev_polynomial_v = _public(_v, "chebyshev_polynomial_v")
chebyshev_polynomial_w = _public(_w, "chebyshev_polynomial_w")
shifted_chebyshev_polynomial_t = _public(_shifted(_t), "shifted_chebyshev_polynomial_t")
shifted_chebyshev_polynomial_u = _public(_shifted(_u), "shifted_chebyshev_polynomial_u")
shifted_chebyshev_polynomial_v = _public(_shifted(_v), "shifted_chebyshev_polynomial_v")
shifted_chebyshev_polynomial_w = _public(_shifted(_w), "shifted_chebyshev_polynomial_w")
hermite_polynomial_h = _public(_hermite_h, "hermite_polynomial_h")
hermite_polynomial_he = _public(_hermite_he, "hermite_polynomial_he")
laguerre_polynomial_l = _public(_laguerre, "laguerre_polynomial_l")
legendre_polynomial_p = _public(_legendre, "legendre_polynomial_p")
