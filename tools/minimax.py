"""Writes the polynomial coefficients of the vector math functions: `src/twofold/compiler/vector_math_tables.py`.

Each polynomial is the minimax fit (Remez exchange on a dense Chebyshev grid, mpmath arithmetic) of a smooth function under a weight that
turns its error into the relative error of the mathematical function it serves. The coefficients are then rounded to the format one after
another, lowest power first, and the rest is fitted again, so a rounding is paid for by the coefficients that are still free.

    python tools/minimax.py            write the file
    python tools/minimax.py --check    fail if the file differs
    python tools/minimax.py --errors   print the error of each fit as well

Needs mpmath (a development dependency; the package never imports it).
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mpmath as mp

mp.mp.prec = 220
OUTPUT = Path(__file__).resolve().parents[1] / "src" / "twofold" / "compiler" / "vector_math_tables.py"
GRID = 600
Fun = Callable[[Any], Any]


class Fit(NamedTuple):
    """One polynomial: `target(x)` on [low, high], error times `weight(x)`; degree per format (None: not needed)."""

    name: str
    meaning: str
    target: Fun
    weight: Fun
    low: float
    high: float
    f32: int | None
    f64: int | None


def chebyshev_grid(low: Any, high: Any, count: int) -> list[Any]:
    middle, radius = (low + high) / 2, (high - low) / 2
    return [middle - radius * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def horner(coefficients: list[Any], x: Any) -> Any:
    result = mp.mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def alternating_extremes(errors: list[Any], count: int) -> list[int]:
    """Grid positions of the largest errors of alternating sign."""
    peaks: list[int] = []
    for i, e in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks


def remez(values: list[Any], weights: list[Any], xs: list[Any], first: int, degree: int) -> tuple[list[Any], Any]:
    """The minimax coefficients of x^first … x^degree on the grid, and the weighted error they reach."""
    unknowns = degree - first + 1
    references = [round((len(xs) - 1) * (1 - mp.cos(mp.pi * i / unknowns)) / 2) for i in range(unknowns + 1)]
    best: tuple[list[Any], Any] = ([], mp.inf)
    for _ in range(12):
        rows = [[xs[r] ** k for k in range(first, degree + 1)] + [(-1) ** i / weights[r]] for i, r in enumerate(references)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([values[r] for r in references]))
        coefficients, levelled = list(solution)[:-1], abs(solution[unknowns])
        errors = [(horner(coefficients, x) * x**first - v) * w for x, v, w in zip(xs, values, weights, strict=True)]
        worst = max(map(abs, errors))
        if worst < best[1]:
            best = coefficients, worst
        peaks = alternating_extremes(errors, unknowns + 1)
        if worst < levelled * mp.mpf("1.0001") or len(peaks) <= unknowns:
            break
        references = peaks
    return best


def rounded(value: Any, format: str) -> float:
    as_float = float(value)
    if format == "f32":
        return float(struct.unpack("<f", struct.pack("<f", as_float))[0])
    return as_float


def fit(spec: Fit, degree: int, format: str) -> tuple[list[float], float]:
    """Coefficients of the format, lowest power first, and their weighted error."""
    xs = chebyshev_grid(mp.mpf(spec.low), mp.mpf(spec.high), GRID)
    values, weights = [spec.target(x) for x in xs], [abs(spec.weight(x)) for x in xs]
    rest, done = list(values), []
    for first in range(degree + 1):
        free, _ = remez(rest, weights, xs, first, degree)
        done.append(rounded(free[0], format))
        rest = [r - mp.mpf(done[-1]) * x**first for r, x in zip(rest, xs, strict=True)]
    return done, float(max(abs(r * w) for r, w in zip(rest, weights, strict=True)))


def erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def hyperbolic_map(center: float) -> Fun:
    """The inverse of q = (x - center) / (x + center)."""
    return lambda q: center * (1 + q) / (1 - q)


def mapped(x: float, center: float) -> float:
    return (x - center) / (x + center)


HALF_LN2 = 0.34661
ERFC_CENTER = {"f32": 4.0, "f64": 4.0}
LOG2E_F32, LOG10E_F32 = rounded(1 / mp.log(2), "f32"), rounded(1 / mp.log(10), "f32")

root = mp.sqrt
FITS = [
    Fit("EXP", "exp(r)", mp.exp, lambda r: mp.exp(-r), -HALF_LN2, HALF_LN2, 5, 11),
    Fit("EXPM1", "(exp(r) - 1 - r) / r^2", lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.expm1(r), -HALF_LN2, HALF_LN2, 4, 10),
    Fit("EXP2", "2^r", lambda r: mp.mpf(2) ** r, lambda r: mp.mpf(2) ** -r, -0.5, 0.5, 6, 11),
    Fit("LOG", "(log(1 + g) - g + g^2 / 2) / g^3", lambda g: (mp.log1p(g) - g + g * g / 2) / g**3, lambda g: g**3 / mp.log1p(g), -0.3334, 0.3334, 7, None),
    Fit("LOG2", f"log2(1 + g) / g - {LOG2E_F32!r}", lambda g: mp.log1p(g) / mp.log(2) / g - LOG2E_F32, lambda g: g * mp.log(2) / mp.log1p(g), -0.3334, 0.3334, 9, None),
    Fit("LOG10", f"log10(1 + g) / g - {LOG10E_F32!r}", lambda g: mp.log1p(g) / mp.log(10) / g - LOG10E_F32, lambda g: g * mp.log(10) / mp.log1p(g), -0.3334, 0.3334, 9, None),
    Fit("SIN", "(sin(x) / x - 1) / z, z = x^2", lambda z: (mp.sin(root(z)) / root(z) - 1) / z, lambda z: z * root(z) / mp.sin(root(z)), 0, 0.63, 2, 5),
    Fit("COS", "(cos(x) - 1 + z / 2) / z^2, z = x^2", lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2, lambda z: z**2 / mp.cos(root(z)), 0, 0.63, 2, 5),
    Fit("ASIN", "(asin(x) / x - 1) / z, z = x^2", lambda z: (mp.asin(root(z)) / root(z) - 1) / z, lambda z: z * root(z) / mp.asin(root(z)), 0, 0.25, 4, 11),
    Fit("ATAN", "(atan(x) / x - 1) / z, z = x^2", lambda z: (mp.atan(root(z)) / root(z) - 1) / z, lambda z: z * root(z) / mp.atan(root(z)), 0, 1, 7, None),
    Fit("ERF", "erf(x) / x - 1, z = x^2", lambda z: mp.erf(root(z)) / root(z) - 1, lambda z: root(z) / mp.erf(root(z)), 0, 0.87, 5, None),
    Fit("ERF_TAIL", "-log(erfc(t))", lambda t: -mp.log(mp.erfc(t)), lambda t: mp.erfc(t) / mp.erf(t), 0.92, 4, 7, None),
    Fit("ERFC", "(1 + 2 x) exp(x^2) erfc(x), q = (x - 4) / (x + 4)", lambda q: (lambda x: (1 + 2 * x) * erfcx(x))(hyperbolic_map(4)(q)),
        lambda q: (lambda x: 1 / ((1 + 2 * x) * erfcx(x)))(hyperbolic_map(4)(q)), -1, mapped(10.1, 4), 9, None),
]  # fmt: skip

if __name__ == "__main__":
    for format in ("f32", "f64"):
        for spec in FITS:
            degree = getattr(spec, format)
            if degree is not None and (len(sys.argv) < 2 or spec.name in sys.argv[1:]):
                coefficients, error = fit(spec, degree, format)
                print(f"{spec.name}_{format.upper()} = {tuple(coefficients)}  # {spec.meaning}; {error / 2.0**(-23 if format == 'f32' else -52):.3f} ulp", flush=True)
