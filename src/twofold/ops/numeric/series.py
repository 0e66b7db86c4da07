"""What the functions here share: evaluation of series, choice by region, and the passage through float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

Array = Any


def in_float64(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of one-dimensional float64 arrays of one length, made to take arrays of any dtype that broadcast.

    The result has the floating dtype that NumPy promotes the operands to (float64 for integers), and is rounded once.
    """

    @wraps(function)
    def wrapped(*operands: Any) -> Array:
        dtype = np.result_type(*operands)
        arrays = np.broadcast_arrays(*[np.asarray(x, np.float64) for x in operands])
        with np.errstate(all="ignore"):  # also for calls from outside the modules of `tensors.quiet`
            result = function(*[a.ravel() for a in arrays]).reshape(arrays[0].shape)
            return result.astype(dtype if dtype.kind == "f" else np.float64, copy=False)[()]

    return wrapped


def chebyshev(coefficients: Sequence[float], x: Array, low: float, high: float) -> Array:
    """The Chebyshev series on [low, high], by Clenshaw's recurrence (Math. Tables Aids Comput. 9 (1955) 118)."""
    t = (2.0 * x - (low + high)) / (high - low)
    twice = t + t
    before, last = np.zeros_like(t), np.full_like(t, coefficients[-1])
    for c in coefficients[-2:0:-1]:
        before, last = last, twice * last - before + c
    return t * last - before + coefficients[0]


def power_series(coefficients: Sequence[float], x: Array) -> Array:
    """sum c[k] x**k by Horner's scheme."""
    result = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        result = result * x + c
    return result


def piecewise(operands: tuple[Array, ...], *pieces: tuple[Array, Callable[..., Array]], other: float = np.nan) -> Array:
    """Each function on the elements where its condition holds (of several, the last); `other` where none does."""
    result = np.full(operands[0].shape, other)
    for condition, function in pieces:
        chosen = np.flatnonzero(condition)
        if chosen.size:
            result[chosen] = function(*[x[chosen] for x in operands])
    return result


def constant(value: float) -> Callable[..., Array]:
    """A piece on which the function has one value."""
    return lambda *operands: np.full(operands[0].shape, value)


def exp_square(x: Array, factor: float) -> Array:
    """exp(factor * x * x) for |factor| <= 1, without the rounding error of x * x: Cody's splitting of x at 1/16 (Math. Comp. 23, 1969)."""
    coarse = np.trunc(x * 16.0) / 16.0
    safe = np.where(np.isfinite(x), (x - coarse) * (x + coarse), 0.0)
    return np.exp(factor * (coarse * coarse)) * np.exp(factor * safe)


def sin_pi(x: Array) -> Array:
    """sin(pi x); exact zeros at whole numbers."""
    whole = np.rint(x)
    return np.sin(np.pi * (x - whole)) * np.where(np.remainder(whole, 2.0) == 0.0, 1.0, -1.0)


@in_float64
def sinc(x: Array) -> Array:
    """sin(pi x) / (pi x), 1 at 0."""
    return np.where(x == 0.0, 1.0, sin_pi(x) / (np.pi * np.where(x == 0.0, 1.0, x)))
