"""Bessel functions of order 0 and 1, modified ones, the Airy function Ai: Chebyshev series (tables.py) near 0, and far away series for
what is left after exponentials, square roots and trigonometric functions are taken out.

Source: NIST Digital Library of Mathematical Functions, chapters 10 and 9.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ops.numeric import tables
from twofold.ops.numeric.series import chebyshev, constant, in_float64, piecewise

Array = Any
SPLIT = 8.0
TWO_OVER_PI = 2.0 / math.pi
SQRT_HALF = math.sqrt(0.5)


# ---- J and Y ---------------------------------------------------------------------------------------------------------------------------


def _far(x: Array, order: int, second: bool) -> Array:
    """J (or Y) of large x: sqrt(2/(pi x)) (P cos c - Q sin c), and (P sin c + Q cos c), c = x - pi/4 - order pi/2.

    The sine and cosine of c are sums of those of x, which NumPy reduces exactly.
    """
    v = (SPLIT / x) ** 2
    p = chebyshev(tables.P1 if order else tables.P0, v, 0.0, 1.0)
    q = chebyshev(tables.Q1 if order else tables.Q0, v, 0.0, 1.0) / x
    finite = np.where(np.isinf(x), 0.0, x)
    sine, cosine = np.sin(finite), np.cos(finite)
    plus, minus = SQRT_HALF * (sine + cosine), SQRT_HALF * (sine - cosine)
    cos_c, sin_c = (minus, -plus) if order else (plus, minus)
    return np.sqrt(TWO_OVER_PI / x) * (p * sin_c + q * cos_c if second else p * cos_c - q * sin_c)


def _j(x: Array, order: int) -> Array:
    """J of x >= 0."""

    def near(x: Array) -> Array:
        return chebyshev(tables.J1_LOW, x * x, 0.0, 64.0) * x if order else chebyshev(tables.J0_LOW, x * x, 0.0, 64.0)

    return piecewise((x,), (x <= SPLIT, near), (x > SPLIT, lambda x: _far(x, order, False)))


@in_float64
def bessel_j0(x: Array) -> Array:
    """The Bessel function of the first kind of order 0."""
    return _j(np.abs(x), 0)


@in_float64
def bessel_j1(x: Array) -> Array:
    """The Bessel function of the first kind of order 1."""
    return np.copysign(1.0, x) * _j(np.abs(x), 1)


def _y0_near(x: Array) -> Array:
    return chebyshev(tables.Y0_LOW, x * x, 0.0, 64.0) + TWO_OVER_PI * np.log(x) * _j(x, 0)


def _y1_near(x: Array) -> Array:
    return chebyshev(tables.Y1_LOW, x * x, 0.0, 64.0) * x + TWO_OVER_PI * (np.log(x) * _j(x, 1) - 1.0 / x)


@in_float64
def bessel_y0(x: Array) -> Array:
    """The Bessel function of the second kind of order 0: -inf at 0, NaN below."""
    return piecewise(
        (x,),
        ((x > 0.0) & (x <= SPLIT), _y0_near),
        (x > SPLIT, lambda x: _far(x, 0, True)),
        (x == 0.0, constant(-math.inf)),
    )


@in_float64
def bessel_y1(x: Array) -> Array:
    """The Bessel function of the second kind of order 1: -inf at 0, NaN below."""
    return piecewise(
        (x,),
        ((x > 0.0) & (x <= SPLIT), _y1_near),
        (x > SPLIT, lambda x: _far(x, 1, True)),
        (x == 0.0, constant(-math.inf)),
    )


# ---- I and K ---------------------------------------------------------------------------------------------------------------------------


def _i_scaled(x: Array, order: int) -> Array:
    """exp(-x) I(x) of x >= 0."""
    low, high = (tables.I1_LOW, tables.I1_HIGH) if order else (tables.I0_LOW, tables.I0_HIGH)

    def near(x: Array) -> Array:
        return chebyshev(low, x, 0.0, SPLIT) * (x if order else 1.0)

    return piecewise((x,), (x <= SPLIT, near), (x > SPLIT, lambda x: chebyshev(high, 1.0 / x, 0.0, 1.0 / SPLIT) / np.sqrt(x)))


def _grown(scaled: Array, x: Array) -> Array:
    """scaled * exp(x), in two factors since exp(x) overflows before the product."""
    half = np.exp(0.5 * x)
    return np.where(np.isinf(x), math.inf, half * scaled * half)


@in_float64
def i0(x: Array) -> Array:
    """The modified Bessel function of the first kind of order 0."""
    y = np.abs(x)
    return _grown(_i_scaled(y, 0), y)


@in_float64
def i0e(x: Array) -> Array:
    """exp(-|x|) i0(x)."""
    return _i_scaled(np.abs(x), 0)


@in_float64
def i1(x: Array) -> Array:
    """The modified Bessel function of the first kind of order 1."""
    y = np.abs(x)
    return np.copysign(1.0, x) * _grown(_i_scaled(y, 1), y)


@in_float64
def i1e(x: Array) -> Array:
    """exp(-|x|) i1(x)."""
    return np.copysign(1.0, x) * _i_scaled(np.abs(x), 1)


def _i_near(x: Array, order: int) -> Array:
    return _i_scaled(x, order) * np.exp(x)


def _k(x: Array, order: int, scaled: bool) -> Array:
    def near(x: Array) -> Array:
        log = np.log(0.5 * x)
        if order:
            value = chebyshev(tables.K1_LOW, x * x, 0.0, 4.0) / x + log * _i_near(x, 1)
        else:
            value = chebyshev(tables.K0_LOW, x * x, 0.0, 4.0) - log * _i_near(x, 0)
        return value * np.exp(x) if scaled else value

    def far(x: Array) -> Array:
        value = chebyshev(tables.K1_HIGH if order else tables.K0_HIGH, 1.0 / x, 0.0, 0.5) / np.sqrt(x)
        return value if scaled else value * np.exp(-x)

    return piecewise((x,), ((x > 0.0) & (x <= 2.0), near), (x > 2.0, far), (x == 0.0, constant(math.inf)))


@in_float64
def modified_bessel_k0(x: Array) -> Array:
    """The modified Bessel function of the second kind of order 0: infinity at 0, NaN below."""
    return _k(x, 0, False)


@in_float64
def modified_bessel_k1(x: Array) -> Array:
    """The modified Bessel function of the second kind of order 1: infinity at 0, NaN below."""
    return _k(x, 1, False)


@in_float64
def scaled_modified_bessel_k0(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind of order 0."""
    return _k(x, 0, True)


@in_float64
def scaled_modified_bessel_k1(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind of order 1."""
    return _k(x, 1, True)


@in_float64
def spherical_bessel_j0(x: Array) -> Array:
    """sin(x) / x, 1 at 0."""
    finite = np.where((x == 0.0) | np.isinf(x), 1.0, x)
    return np.where(x == 0.0, 1.0, np.where(np.isinf(x), 0.0, np.sin(finite) / finite))


# ---- Airy ------------------------------------------------------------------------------------------------------------------------------

AIRY_SPLIT = 2.0
ZETA_SPLIT = 2.0 / 3.0 * 2.0**1.5


def _airy_high(x: Array) -> Array:
    root = np.sqrt(x)
    z = x * root * (2.0 / 3.0)
    value = chebyshev(tables.AIRY_HIGH, 1.0 / z, 0.0, 1.0 / ZETA_SPLIT) / (2.0 * math.sqrt(math.pi) * np.sqrt(root))
    return value * np.exp(-z)


def _airy_low(x: Array) -> Array:
    y = -x
    root = np.sqrt(y)
    z = np.where(np.isinf(y), 0.0, y * root * (2.0 / 3.0))
    v = 1.0 / (y * y * y * (4.0 / 9.0))
    p = chebyshev(tables.AIRY_P, v, 0.0, 1.0 / ZETA_SPLIT**2)
    q = chebyshev(tables.AIRY_Q, v, 0.0, 1.0 / ZETA_SPLIT**2) * np.sqrt(v)
    sine, cosine = np.sin(z), np.cos(z)
    return (p * (sine + cosine) + q * (sine - cosine)) * (SQRT_HALF / math.sqrt(math.pi)) / np.sqrt(root)


@in_float64
def airy_ai(x: Array) -> Array:
    """The Airy function Ai, with limit 0 on both sides."""
    return piecewise(
        (x,),
        (np.abs(x) <= AIRY_SPLIT, lambda x: chebyshev(tables.AIRY_LOW, x, -AIRY_SPLIT, AIRY_SPLIT)),
        (x > AIRY_SPLIT, _airy_high),
        (x < -AIRY_SPLIT, _airy_low),
    )
