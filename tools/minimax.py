"""Writes the polynomial coefficients of the vector math functions: `src/twofold/compiler/vector_math_tables.py`.

Each polynomial is the minimax fit (Remez exchange on a dense Chebyshev grid, mpmath arithmetic) of a smooth function under a weight that
turns its error into the relative error of the mathematical function it serves. The coefficients are then rounded to the format one after
another, lowest power first, and the rest is fitted again, so a rounding is paid for by the coefficients that are still free; of these
candidates (the rest rounded at once) the best is kept.

    python tools/minimax.py            write the file
    python tools/minimax.py --check    fail if the file differs

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


def remez(basis: list[list[Any]], values: list[Any], weights: list[Any]) -> tuple[list[Any], Any]:
    """Coefficients of basis functions (each by its values on the grid) that come nearest to the values, and the weighted error."""
    unknowns, points = len(basis), len(values)
    references = [round((points - 1) * (1 - mp.cos(mp.pi * i / unknowns)) / 2) for i in range(unknowns + 1)]
    best: tuple[list[Any], Any] = ([], mp.inf)
    for _ in range(12):
        rows = [[b[r] for b in basis] + [(-1) ** i / weights[r]] for i, r in enumerate(references)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([values[r] for r in references]))
        coefficients, levelled = list(solution)[:-1], abs(solution[unknowns])
        errors = [(mp.fdot(coefficients, [b[i] for b in basis]) - values[i]) * weights[i] for i in range(points)]
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
    powers = [[x**k for x in xs] for k in range(degree + 1)]
    rest = list(values)
    done: list[float] = []
    best: tuple[list[float], float] = ([], float("inf"))
    for first in range(degree + 1):
        free, _ = remez(powers[first:], rest, weights)
        candidate = done + [rounded(c, format) for c in free]
        error = max(abs((horner(candidate, x) - v) * w) for x, v, w in zip(xs, values, weights, strict=True))
        if error < best[1]:
            best = candidate, float(error)
        done.append(candidate[first])
        rest = [r - mp.mpf(done[-1]) * power for r, power in zip(rest, powers[first], strict=True)]
    return best


HALF_LN2 = 0.34661
CENTER = 4.0


def scaled_erfc(q: Any) -> Any:
    """(1 + 2x) exp(x²) erfc(x) at the x with q = (x - 4) / (x + 4)."""
    x = CENTER * (1 + q) / (1 - q)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def mapped(x: float) -> float:
    return (x - CENTER) / (x + CENTER)


def odd(f: Fun) -> Fun:
    """(f(x) / x - 1) / z as a function of z = x²."""
    return lambda z: (f(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def odd_weight(f: Fun) -> Fun:
    return lambda z: z * mp.sqrt(z) / f(mp.sqrt(z))


def per_x(f: Fun) -> Fun:
    """f(x) / x as a function of z = x²."""
    return lambda z: f(mp.sqrt(z)) / mp.sqrt(z)


def times_x(f: Fun) -> Fun:
    return lambda z: mp.sqrt(z) / f(mp.sqrt(z))


def atanh_in_bits(s: Any) -> Any:
    return 2 * mp.atanh(s) / mp.log(2)


FITS = [
    Fit("exp", "exp(r)", mp.exp, lambda r: mp.exp(-r), -HALF_LN2, HALF_LN2, 6, 11),
    Fit("expm1", "(exp(r) - 1 - r) / r²", lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.expm1(r), -HALF_LN2, HALF_LN2, 4, 10),
    Fit("exp2", "2^r", lambda r: mp.mpf(2) ** r, lambda r: mp.mpf(2) ** -r, -0.5, 0.5, 6, 11),
    Fit("log", "(log(1 + g) - g + g²/2) / g³", lambda g: (mp.log1p(g) - g + g * g / 2) / g**3, lambda g: g**3 / mp.log1p(g),
        -0.3334, 0.3334, 7, None),
    Fit("log_atanh", "(2 atanh(s) / s - 2) / z, z = s²", lambda z: 2 * odd(mp.atanh)(z), odd_weight(mp.atanh), 0, 0.0401, None, 7),
    Fit("log1p", "log(1 + x) / x", lambda x: mp.log1p(x) / x, lambda x: x / mp.log1p(x), 0, 1, 9, 20),
    Fit("log2_atanh", "2 atanh(s) / (s log 2), z = s², for pow of float32", per_x(atanh_in_bits), times_x(atanh_in_bits),
        0, 0.0401, None, 4),
    Fit("sin", "(sin(x) / x - 1) / z, z = x²", odd(mp.sin), odd_weight(mp.sin), 0, 0.63, 2, 5),
    Fit("cos", "(cos(x) - 1 + z/2) / z², z = x²", lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2 / mp.cos(mp.sqrt(z)),
        0, 0.63, 2, 5),
    Fit("sin_half_turn", "(sin(x) / x - 1) / z, z = x²", odd(mp.sin), odd_weight(mp.sin), 0, 2.468, 3, 7),
    Fit("asin", "(asin(x) / x - 1) / z, z = x²", odd(mp.asin), odd_weight(mp.asin), 0, 0.25, 4, 11),
    Fit("atan", "(atan(x) / x - 1) / z, z = x²", odd(mp.atan), odd_weight(mp.atan), 0, 0.1717, 3, 10),
    Fit("erf_exponent", "-log(erfc(t)) / t", lambda t: -mp.log(mp.erfc(t)) / t, lambda t: t * mp.erfc(t) / mp.erf(t), 0, 3.925, 7, None),
    Fit("erf_exponent", "-log(erfc(t)) / t", lambda t: -mp.log(mp.erfc(t)) / t, lambda t: t * mp.erfc(t) / mp.erf(t), 0, 5.93, None, 22),
    Fit("erf_near", "erf(x) / x - 1, z = x²", lambda z: per_x(mp.erf)(z) - 1, times_x(mp.erf), 0, 0.811, 5, 12),
    Fit("erfc", "(1 + 2x) exp(x²) erfc(x), q = (x - 4) / (x + 4)", scaled_erfc, lambda q: 1 / scaled_erfc(q),
        mapped(0.44), mapped(10.2), 9, None),
    Fit("erfc", "(1 + 2x) exp(x²) erfc(x), q = (x - 4) / (x + 4)", scaled_erfc, lambda q: 1 / scaled_erfc(q),
        mapped(0.44), mapped(27.3), None, 20),
]  # fmt: skip

HEADER = '''"""Coefficients of the vector math functions, lowest power first. Written by tools/minimax.py: do not edit."""

from typing import NamedTuple

Coefficients = tuple[float, ...]
_NONE: Coefficients = ()


class Tables(NamedTuple):
    """The polynomials of one format; empty where a function does not use one."""

'''


def table_file() -> str:
    """The text of the generated module."""
    names = list(dict.fromkeys(spec.name for spec in FITS))
    lines = [HEADER + "\n".join(f"    {n}: Coefficients = _NONE" for n in names) + "\n"]
    for format in ("f32", "f64"):
        lines.append(f"\n{format.upper()} = Tables(")
        for spec in FITS:
            if (degree := getattr(spec, format)) is not None:
                coefficients, error = fit(spec, degree, format)
                units = f"{error / EPSILON[format]:.3f} units of 2^-{BITS[format]}"
                lines.append(f"    # {spec.meaning}, on [{spec.low:.4g}, {spec.high:.4g}]: {units}")
                lines += [f"    {spec.name}=(", *(f"        {c!r}," for c in coefficients), "    ),"]
        lines.append(")")
    return "\n".join(lines) + "\n"


BITS = {"f32": 23, "f64": 52}
EPSILON = {format: 2.0**-bits for format, bits in BITS.items()}

if __name__ == "__main__":
    text = table_file()
    if "--check" in sys.argv:
        sys.exit(0 if OUTPUT.read_text(encoding="utf-8") == text else f"{OUTPUT} is out of date: run tools/minimax.py")
    OUTPUT.write_text(text, encoding="utf-8")
