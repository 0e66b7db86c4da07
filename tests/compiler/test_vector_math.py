"""Errors of the mathematical functions in units in the last place, against wider arithmetic; the limits are those of docs/accuracy.md.

float32 is swept over all exponents (every 2^15-th bit pattern), float64 sampled over its exponents, both with special values and the places
where a function changes its way of computing. References are NumPy's float64 for float32, long double for float64.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.compiler.function_kernels import Case, Kernel, case, kernels
from twofold.compiler.emit_functions import ELEMENTARY, ROUNDED_TWICE
from twofold.ops import special

LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288")
DTYPE = {"f32": np.float32, "f64": np.float64}
TWO_OPERANDS = ("pow", "atan2", "hypot", "logaddexp", "logaddexp2", "xlogy", "xlog1py")
ABSOLUTE = ("logaddexp", "logaddexp2")
"""Sums that cancel: their errors are counted in units of the largest operand if that is larger than the result."""
EXACT = ("sqrt", "floor", "ceil", "trunc", "rint")
"""Correctly rounded: tested in test_emit_functions.py."""
NAMES = sorted((ELEMENTARY | ROUNDED_TWICE) - set(EXACT))
LANES = {"native": {"f32": 16, "f64": 16}, "haswell": {"f32": 8, "f64": 4}, "x86-64-v2": {"f32": 4, "f64": 2}}
"""16 lanes of float64 take two registers, as in kernels that mix the formats."""

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(np.finfo(LONG).nmant < 63, reason="long double is no wider than float64 here, so there is no reference"),
]


class Limits(NamedTuple):
    """The largest errors that docs/accuracy.md states."""

    f32: float
    f64: float
    strict_f32: float
    strict_f64: float


@functools.cache
def limits() -> dict[str, Limits]:
    """The rows `| name | four numbers | …` of the document's tables."""
    text = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", text, re.MULTILINE)
    return {name: Limits(*map(float, numbers)) for name, *numbers in rows}


# --- references


def _through_libm(name: str) -> Any:
    function = getattr(ctypes.CDLL("libm.so.6"), name)
    function.restype, function.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
    # ctypes gives long doubles as float: two parts, the second of what the first lost, would be needed for more than 53 bits
    return function


def _sinc(x: Any) -> Any:
    whole = np.rint(x)
    sine = np.sin(PI * (x - whole)) * np.where(np.fmod(whole, 2) == 0, 1, -1)
    return np.where(x == 0, 1, sine / (PI * x))


def _x_times(x: Any, logarithm: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0, x * logarithm(y))


REFERENCES: dict[str, Any] = {
    name: getattr(np, {"a": "arc" + name[1:]}.get(name[0] if name.startswith(("as", "ac", "at")) else "", name))
    for name in NAMES
    if name not in ("erf", "erfc", "sigmoid", "softplus", "sinc", "xlogy", "xlog1py", "pow")
} | {
    "pow": np.power,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(x.dtype.type(0), x),
    "sinc": _sinc,
    "xlogy": lambda x, y: _x_times(x, np.log, y),
    "xlog1py": lambda x, y: _x_times(x, np.log1p, y),
}


