"""Special functions NumPy does not have, vectorised, in the dtype of their argument (16-bit floats arrive as float32).

erf and erfc: rational approximations of W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969),
pp. 631-637, evaluated in float64; relative error below 1e-15 over the whole range.
"""

from __future__ import annotations

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
_P = (3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4, 1.63153871373020978e-2)
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


def erf(x: Any) -> Any:
    """The error function."""
    x, dtype = _float64(x)
    y = np.abs(x)
    return np.where(y <= 0.46875, _small(np.where(y <= 0.46875, x, 0.0)), np.copysign(1.0 - _tail(np.maximum(y, 0.46875)), x)).astype(dtype)


def erfc(x: Any) -> Any:
    """The complementary error function, accurate in its tail."""
    x, dtype = _float64(x)
    y = np.abs(x)
    tail = _tail(np.maximum(y, 0.46875))
    return np.where(y <= 0.46875, 1.0 - _small(np.where(y <= 0.46875, x, 0.0)), np.where(x < 0, 2.0 - tail, tail)).astype(dtype)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)) without overflow: exp is taken of -|x| only."""
    e = np.exp(-np.abs(x))
    return np.where(np.asarray(x) >= 0, 1.0, e) / (1.0 + e)


def softplus(x: Any) -> Any:
    """log(1 + exp(x)) without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))
