"""GELU and SiLU in NumPy, block by block, so that the passes over a block find it in the cache; and the slopes for backward.

For float32 the error function is x P(x²) / Q(x²) on [-4, 4], beyond which it is ±1 in this precision; the coefficients are those of the
rational approximation that Eigen, XLA and others use (maximal error below 4 units in the last place).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ops import special

Array = Any
BLOCK = 1 << 15
"""Elements of a block: some arrays of them fit the second cache."""
ERF_P = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04,
    -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
ERF_Q = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02)
HALF_ROOT = 0.7071067811865476
"""1 / sqrt(2)"""
DENSITY = 0.3989422804014327
"""1 / sqrt(2 pi)"""
TANH_SCALE = 0.7978845608028654
"""sqrt(2 / pi)"""


def _horner(square: Array, coefficients: tuple[float, ...], out: Array) -> Array:
    np.multiply(square, square.dtype.type(coefficients[0]), out=out)
    for c in coefficients[1:-1]:
        out += square.dtype.type(c)
        out *= square
    out += square.dtype.type(coefficients[-1])
    return out


def normal_distribution(x: Array) -> Array:
    """The distribution function of the normal distribution, a new array."""
    if x.dtype != np.float32:
        result = special.erfc(x * -HALF_ROOT)
        result *= 0.5
        return result
    z = x * np.float32(HALF_ROOT)
    np.clip(z, np.float32(-4.0), np.float32(4.0), out=z)
    square = z * z
    z *= _horner(square, ERF_P, np.empty_like(z))
    z /= _horner(square, ERF_Q, np.empty_like(z))
    z += np.float32(1.0)
    z *= np.float32(0.5)
    return z


def _gelu(x: Array, out: Array) -> None:
    np.multiply(normal_distribution(x), x, out=out)


def _gelu_tanh(x: Array, out: Array) -> None:
    np.multiply(x, x, out=out)
    out *= 0.044715
    out += 1.0
    out *= x
    out *= TANH_SCALE
    np.tanh(out, out=out)
    out += 1.0
    out *= x
    out *= 0.5


def _gelu_slope(x: Array, out: Array) -> None:
    np.multiply(x, x, out=out)
    out *= -0.5
    np.exp(out, out=out)
    out *= DENSITY
    out *= x
    out += normal_distribution(x)


def _gelu_tanh_slope(x: Array, out: Array) -> None:
    square = x * x
    t = square * 0.044715
    t += 1.0
    t *= x
    t *= TANH_SCALE
    np.tanh(t, out=t)
    np.multiply(t, t, out=out)
    np.subtract(1.0, out, out=out)
    out *= x
    square *= 0.134145
    square += 1.0
    out *= square
    out *= TANH_SCALE
    out += t
    out += 1.0
    out *= 0.5


def _silu(x: Array, out: Array) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1.0
    np.divide(x, out, out=out)


def _silu_slope(x: Array, out: Array) -> None:
    """s (1 + x (1 - s)) = s + y - s y, y = x s."""
    s = np.negative(x)
    np.exp(s, out=s)
    s += 1.0
    np.reciprocal(s, out=s)
    np.subtract(1.0, s, out=out)
    out *= x
    out += 1.0
    out *= s


def in_blocks(function: Callable[[Array, Array], None], input: Array) -> Array:
    """An array in the memory layout of `input`, filled by function(block, out) one block after the other."""
    x = np.asarray(input)
    out = np.empty_like(x)
    if x.ndim == 0:
        x, flat = x.reshape(1), out.reshape(1)
    else:
        flat = out.ravel(order="K")
        if not np.shares_memory(flat, out):
            flat = out = np.empty(x.shape, x.dtype)
            flat = out.reshape(-1)
            x = np.ascontiguousarray(x)
        x = x.ravel(order="K")
    with np.errstate(over="ignore"):
        for i in range(0, flat.size, BLOCK):
            function(x[i : i + BLOCK], flat[i : i + BLOCK])
    return out


def times_slope(slope: Callable[[Array, Array], None], grad: Array, input: Array) -> Array:
    """grad * slope(input), block by block."""
    g, x = np.asarray(grad), np.asarray(input)
    if g.strides != x.strides or not (x.flags.c_contiguous and g.flags.c_contiguous):
        g, x = np.ascontiguousarray(g), np.ascontiguousarray(x)
    out = np.empty(x.shape, x.dtype)
    flat, g, x = out.reshape(-1), g.reshape(-1), x.reshape(-1)
    with np.errstate(over="ignore"):
        for i in range(0, flat.size, BLOCK):
            part = flat[i : i + BLOCK]
            slope(x[i : i + BLOCK], part)
            part *= g[i : i + BLOCK]
    return out


def gelu(input: Array, approximate: str = "none") -> Array:
    """The eager form of `gelu`."""
    return in_blocks(_gelu_tanh if approximate == "tanh" else _gelu, input)


def gelu_backward(grad: Array, input: Array, approximate: str = "none") -> Array:
    """The eager form of `gelu_backward`."""
    return times_slope(_gelu_tanh_slope if approximate == "tanh" else _gelu_slope, grad, input)


def silu(input: Array) -> Array:
    """The eager form of `silu`."""
    return in_blocks(_silu, input)


def silu_backward(grad: Array, input: Array) -> Array:
    """The eager form of `silu_backward`."""
    return times_slope(_silu_slope, grad, input)
