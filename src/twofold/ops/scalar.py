"""The scalar vocabulary: the functions an elementwise body may use, with their NumPy meaning.

A body is an expression over its inputs' names, attributes, numbers, the operators ``+ - * / // % ** < <= > >= == != & | ^ ~`` and these
functions. The loop compiler gives each of them a native form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ops import special
from twofold.ops.numeric import bessel, error, gamma, orthogonal, series


def xlogy(x: Any, y: Any) -> Any:
    """x log(y), 0 where x is 0 and y is a number."""
    return np.where((x == 0.0) & ~np.isnan(y), 0.0, x * np.log(y))


def xlog1py(x: Any, y: Any) -> Any:
    """x log(1 + y), 0 where x is 0 and y is a number."""
    return np.where((x == 0.0) & ~np.isnan(y), 0.0, x * np.log1p(y))


def heaviside(x: Any, v: Any) -> Any:
    """0 below 0 and for NaN, 1 above 0, v at 0."""
    return np.where(x == 0, v, x > 0)


def trunc_divide(x: Any, y: Any) -> Any:
    """The quotient rounded towards zero, whole numbers exactly."""
    if np.result_type(x, y).kind == "f":
        return np.trunc(np.true_divide(x, y))
    quotient = np.floor_divide(x, y)
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(quotient.dtype)


SCALAR_FUNCTIONS: dict[str, Any] = {
    "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "sqrt": np.sqrt, "square": np.square,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "where": np.where, "pow": np.power, "fmod": np.fmod,
    "remainder": np.remainder, "floor_divide": np.floor_divide, "divide": np.true_divide, "copysign": np.copysign, "hypot": np.hypot,
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit, "reciprocal": np.reciprocal,
    "trunc_divide": trunc_divide, "xlogy": xlogy, "xlog1py": xlog1py, "heaviside": heaviside,
    "logical_not": np.logical_not, "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "left_shift": np.left_shift, "right_shift": np.right_shift,
    "gcd": np.gcd, "lcm": np.lcm, "nextafter": np.nextafter, "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2,
    "erf": special.erf, "erfc": special.erfc, "sigmoid": special.sigmoid, "softplus": special.softplus,
    "sinc": series.sinc, "erfcx": error.erfcx, "erfinv": error.erfinv, "ndtr": error.ndtr, "ndtri": error.ndtri, "log_ndtr": error.log_ndtr,
    "lgamma": gamma.lgamma, "digamma": gamma.digamma, "polygamma": gamma.polygamma, "zeta": gamma.zeta, "igamma": gamma.igamma,
    "igammac": gamma.igammac,
    "i0": bessel.i0, "i0e": bessel.i0e, "i1": bessel.i1, "i1e": bessel.i1e, "airy_ai": bessel.airy_ai,
    "bessel_j0": bessel.bessel_j0, "bessel_j1": bessel.bessel_j1, "bessel_y0": bessel.bessel_y0, "bessel_y1": bessel.bessel_y1,
    "spherical_bessel_j0": bessel.spherical_bessel_j0,
    **{f"{s}modified_bessel_k{n}": getattr(bessel, f"{s}modified_bessel_k{n}") for s in ("", "scaled_") for n in (0, 1)},
    **{f"{s}chebyshev_polynomial_{k}": getattr(orthogonal, f"{s}chebyshev_polynomial_{k}") for s in ("", "shifted_") for k in "tuvw"},
    **{k: getattr(orthogonal, k) for k in (
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    )},
}  # fmt: skip

NUMPY_SPELLING: dict[str, str] = {name: f"np.{f.__name__}" for name, f in SCALAR_FUNCTIONS.items() if f.__class__ is np.ufunc} | {
    "abs": "np.abs", "where": "np.where",
}  # fmt: skip
"""How the generated fast path spells a scalar function; a body that uses another one has no inlined form."""
