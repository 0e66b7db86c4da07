"""Relatives of the error function, and the normal distribution function with its logarithm and its inverse.

erfcx is a Chebyshev series (tables.py) in the variable of M. M. Shepherd and J. G. Laframboise, Math. Comp. 36 (1981) 249-253; the inverse
is M. J. Wichura's algorithm AS 241, Applied Statistics 37 (1988) 477-484.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ops import philox, special
from twofold.ops.numeric import tables
from twofold.ops.numeric.series import chebyshev, constant, exp_square, in_float64, piecewise, power_series

Array = Any
SQRT_HALF = math.sqrt(0.5)


def _erfcx_positive(x: Array) -> Array:
    t = np.where(np.isinf(x), 1.0, (x - 3.75) / (np.minimum(x, 1e300) + 3.75))
    return chebyshev(tables.ERFCX, t, -1.0, 1.0) / (1.0 + 2.0 * x)


def _erfcx(x: Array) -> Array:
    return piecewise((x,), (x >= 0.0, _erfcx_positive), (x < 0.0, lambda x: 2.0 * exp_square(x, 1.0) - _erfcx_positive(-x)))


@in_float64
def erfcx(x: Array) -> Array:
    """exp(x * x) erfc(x)."""
    return _erfcx(x)


@in_float64
def ndtr(x: Array) -> Array:
    """The standard normal distribution function."""
    return piecewise(
        (x,),
        (x < -1.0, lambda x: 0.5 * _erfcx(-x * SQRT_HALF) * exp_square(x, -0.5)),
        (x >= -1.0, lambda x: 0.5 * special.erfc(-x * SQRT_HALF)),
    )


@in_float64
def log_ndtr(x: Array) -> Array:
    """The logarithm of ndtr, accurate in both tails."""
    return piecewise(
        (x,),
        (x < -1.0, lambda x: np.log(0.5 * _erfcx(-x * SQRT_HALF)) - 0.5 * x * x),
        (x >= -1.0, lambda x: np.log1p(-0.5 * special.erfc(x * SQRT_HALF))),
    )


def ratio(t: Array, up: tuple[float, ...], down: tuple[float, ...]) -> Array:
    """A quotient of polynomials, coefficients from the highest power down."""
    return power_series(up[::-1], t) / power_series(down[::-1], t)


def quantile(inner: Array, outer: Array) -> Array:
    """The deviate beyond which lies the area `outer` in (0, 1/2]; `inner` = 1/2 - outer is given because each is exact where the other has
    lost digits. AS 241, PPND16: relative error about 1e-16."""
    r = np.sqrt(-np.log(np.where(outer > 0.0, outer, 0.25)))
    centre = philox.CENTRE - inner * inner
    return piecewise(
        (inner, centre, r),
        (inner <= philox.SPLIT_CENTRE, lambda q, c, r: q * ratio(c, philox.PPND16_A, philox.PPND16_B)),
        (
            (inner > philox.SPLIT_CENTRE) & (r <= philox.SPLIT_TAIL),
            lambda q, c, r: ratio(r - philox.TAIL, philox.PPND16_C, philox.PPND16_D),
        ),
        (r > philox.SPLIT_TAIL, lambda q, c, r: ratio(r - philox.SPLIT_TAIL, philox.PPND16_E, philox.PPND16_F)),
    )


@in_float64
def ndtri(p: Array) -> Array:
    """The inverse of ndtr: infinities at 0 and 1, NaN outside."""
    lower = np.minimum(p, 1.0 - p)
    return piecewise(
        (p, lower),
        ((p > 0.0) & (p < 1.0), lambda p, t: np.copysign(quantile(0.5 - t, t), p - 0.5)),
        (p == 0.0, constant(-math.inf)),
        (p == 1.0, constant(math.inf)),
    )


@in_float64
def erfinv(x: Array) -> Array:
    """The inverse of erf: infinities at -1 and 1, NaN outside."""
    y = np.abs(x)
    value = piecewise(
        (y,),
        (y < 1.0, lambda y: SQRT_HALF * quantile(0.5 * y, 0.5 - 0.5 * y)),
        (y == 1.0, constant(math.inf)),
    )
    return np.copysign(value, x)
