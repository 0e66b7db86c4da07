"""The scalar vocabulary: the functions an elementwise body may use, with their NumPy meaning.

A body is an expression over its inputs' names, attributes, numbers, the operators ``+ - * / // % ** < <= > >= == != & | ^ ~`` and these
functions. The loop compiler gives each of them a native form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ops import special

SCALAR_FUNCTIONS: dict[str, Any] = {
    "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "sqrt": np.sqrt, "square": np.square,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "where": np.where, "pow": np.power, "fmod": np.fmod,
    "remainder": np.remainder, "floor_divide": np.floor_divide, "divide": np.true_divide, "copysign": np.copysign, "hypot": np.hypot,
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit, "reciprocal": np.reciprocal,
    "logical_not": np.logical_not, "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "left_shift": np.left_shift, "right_shift": np.right_shift,
    "erf": special.erf, "erfc": special.erfc, "sigmoid": special.sigmoid, "softplus": special.softplus,
}  # fmt: skip

NUMPY_SPELLING: dict[str, str] = {name: f"np.{f.__name__}" for name, f in SCALAR_FUNCTIONS.items() if f.__class__ is np.ufunc} | {
    "abs": "np.abs", "where": "np.where",
}  # fmt: skip
"""How the generated fast path spells a scalar function; a body that uses another one has no inlined form."""
