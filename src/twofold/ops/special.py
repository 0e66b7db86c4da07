"""Special functions NumPy does not have, vectorised, in the dtype of their argument (16-bit floats arrive as float32).

erf and erfc: rational approximations of W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969),
pp. 631-637, evaluated in float64; relative error below 1e-15 over the whole range. float32 arrays take a shorter way: for y >= 0,
erfc(y) = exp(-y*y) t Q(t) with t = 1 / (1 + y/2) and a polynomial Q that interpolates at Chebyshev nodes of 0 <= y <= 10.1 (relative
error 5e-9), and below 1/2 erf(y) = y R(y*y). All is done in blocks that stay in the cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_A = (3.16112374387056560e00, 1.13864154151050156e02, 3.77485237685302021e02, 3.20937758913846947e03, 1.85777706184603153e-1)
_B = (2.36012909523441209e01, 2.44024637934444173e02, 1.28261652607737228e03, 2.84423683343917062e03)
_C = (
    5.64188496988670089e-1, 8.88314979438837594e00, 6.61191906371416295e01, 2.98635138197400131e02, 8.81952221241769090e02,
    1.71204761263407058e03, 2.05107837782607147e03, 1.23033935479799725e03, 2.15311535474403846e-8,
)  # fmt: skip
_D = (
    1.57449261107098347e01, 1.17693950891312499e02, 5.37181101862009858e02, 1.62138957456669019e03, 3.29079923573345963e03,
    4.36261909014324716e03, 3.43936767414372164e03, 1.23033935480374942e03,
)  # fmt: skip
_P = (
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
    1.63153871373020978e-2,
)
_Q = (2.56852019228982242e00, 1.87295284992346725e00, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3)
_SQRT_PI_INVERSE = 0.56418958354775628695


def _small(x: Any) -> Any:
    """erf for |x| <= 0.46875."""
    y = x * x
    num, den = _A[4] * y, y
    for i in range(3):
        num, den = (num + _A[i]) * y, (den + _B[i]) * y
    return x * (num + _A[3]) / (den + _B[3])


def _scaled_square(x: Any) -> Any:
    """exp(-x*x) with the rounding error of x*x taken back."""
    coarse = np.trunc(x * 16.0) / 16.0
    return np.exp(-coarse * coarse) * np.exp(-(x - coarse) * (x + coarse))


def _tail(y: Any) -> Any:
    """erfc for y > 0.46875."""
    middle = np.minimum(y, 4.0)
    num, den = _C[8] * middle, middle
    for i in range(7):
        num, den = (num + _C[i]) * middle, (den + _D[i]) * middle
    low = (num + _C[7]) / (den + _D[7])
    far = np.clip(y, 4.0, 30.0)
    z = 1.0 / (far * far)
    num, den = _P[5] * z, z
    for i in range(4):
        num, den = (num + _P[i]) * z, (den + _Q[i]) * z
    high = (_SQRT_PI_INVERSE - z * (num + _P[4]) / (den + _Q[4])) / far
    return np.where(y <= 4.0, low, high) * _scaled_square(np.minimum(y, 30.0))


def _float64(x: Any) -> tuple[Any, Any]:
    a = np.asarray(x)
    return a.astype(np.float64), (a.dtype if a.dtype.kind == "f" else np.dtype(np.float64))


_QT = (
    0.2820861790346818, 0.2823108027256144, 0.2445541698056723, 0.18937623639274614, 0.040532233585715546, 0.07114500253264881,
    -0.0813255978514051, -0.22448714462753536, 0.3361779175642589, -0.17299535340843908, 0.032625556274701026,
)  # fmt: skip
_RU = (1.1283791656017914, -0.37612609007469133, 0.11282831428452025, -0.026757732734180188, 0.00471908256567358)
_BLOCK = 8192
FEW = 128
_HIGH_BITS = np.int32(-4096)
"""Keeps the upper 12 bits of a float32's significand, so that its square is exact."""


def _polynomial(coefficients: tuple[float, ...], t: Any, out: Any) -> None:
    np.multiply(t, coefficients[-1], out)
    for c in coefficients[-2:0:-1]:
        out += c
        out *= t
    out += coefficients[0]


def _erfc_block(y: Any, t: Any, p: Any, head: Any, d: Any) -> None:
    """erfc of 0 <= y <= 10.1 into `p`; the other arrays are room to work in."""
    np.multiply(y, 0.5, t)
    t += 1.0
    np.divide(1.0, t, t)
    _polynomial(_QT, t, p)
    p *= t
    np.bitwise_and(y.view(np.int32), _HIGH_BITS, out=head.view(np.int32))
    np.subtract(y, head, d)
    np.add(y, head, t)
    d *= t  # y*y - head*head, at most 0.05
    np.multiply(d, -1.0 / 6.0, t)
    t += 0.5
    t *= d
    t -= 1.0
    t *= d
    t += 1.0  # exp(-d)
    head *= head
    np.negative(head, head)
    np.exp(head, head)
    p *= head
    p *= t


def _float32_blocks(x: Any, complement: bool) -> Any:
    """erf (or erfc) of a float32 array, in the array's memory order."""
    source = np.array(x, order="K")
    result = np.empty_like(source)
    flat, out = source.ravel(order="K"), result.ravel(order="K")
    room = np.empty((6, min(_BLOCK, max(flat.size, 1))), np.float32)
    for begin in range(0, flat.size, _BLOCK):
        b = flat[begin : begin + _BLOCK]
        y, t, p, head, d, sign = room[:, : b.size]
        np.abs(b, y)
        small = y < 0.5
        np.minimum(y, 10.1, out=y)
        _erfc_block(y, t, p, head, d)
        np.copysign(np.float32(1.0), b, sign)
        if complement:  # sign * p + (1 - sign)
            p *= sign
            np.subtract(1.0, sign, sign)
            np.add(p, sign, out[begin : begin + b.size])
            continue
        np.subtract(1.0, p, p)
        p *= sign
        np.multiply(b, b, t)
        _polynomial(_RU, np.minimum(t, 0.25, out=t), head)
        head *= b
        np.copyto(p, head, where=small)
        out[begin : begin + b.size] = p
    return result


def _few(x: Any, function: Any) -> Any:
    """A function of the standard library on each element: quicker than many array operations where there are few."""
    x = np.asarray(x)
    values = [function(v) for v in x.ravel().tolist()]
    return np.array(values, np.float64).astype(x.dtype if x.dtype.kind == "f" else np.float64).reshape(x.shape)


def erf(x: Any) -> Any:
    """The error function."""
    if np.size(x) <= FEW:
        return _few(x, math.erf)
    if type(x) is np.ndarray and x.dtype == np.float32 and x.ndim:
        return _float32_blocks(x, False)
    x, dtype = _float64(x)
    y = np.abs(x)
    return np.where(y <= 0.46875, _small(np.where(y <= 0.46875, x, 0.0)), np.copysign(1.0 - _tail(np.maximum(y, 0.46875)), x)).astype(dtype)


def erfc(x: Any) -> Any:
    """The complementary error function, accurate in its tail."""
    if np.size(x) <= FEW:
        return _few(x, math.erfc)
    if type(x) is np.ndarray and x.dtype == np.float32 and x.ndim:
        return _float32_blocks(x, True)
    x, dtype = _float64(x)
    y = np.abs(x)
    tail = _tail(np.maximum(y, 0.46875))
    return np.where(y <= 0.46875, 1.0 - _small(np.where(y <= 0.46875, x, 0.0)), np.where(x < 0, 2.0 - tail, tail)).astype(dtype)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); where exp overflows the result is 0."""
    return 1.0 / (1.0 + np.exp(-x))


def softplus(x: Any) -> Any:
    """log(1 + exp(x)) without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))
