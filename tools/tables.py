"""Write the Chebyshev coefficients of special functions, src/twofold/ops/numeric/tables.py.

python tools/tables.py            write it (needs mpmath, which computes every function to 50 digits)
python tools/tables.py --check    compare, number by number

Each table is the Chebyshev series of one smooth function on one interval, cut where the terms left out are below 2e-18 of the largest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpmath import mp  # type: ignore[import-untyped,import-not-found,unused-ignore]

TARGET = Path(__file__).resolve().parent.parent / "src" / "twofold" / "ops" / "numeric" / "tables.py"
NODES = 80
CUT = 2e-18
mp.dps = 50


def chebyshev(function: Callable[[Any], Any], low: Any, high: Any) -> list[float]:
    """The coefficients c of f(x) = sum c[k] T_k(t), x = (low + high) / 2 + t (high - low) / 2, from the values at Chebyshev nodes."""
    low, high = mp.mpf(low), mp.mpf(high)
    angles = [mp.pi * (2 * j + 1) / (2 * NODES) for j in range(NODES)]
    values = [function((low + high) / 2 + mp.cos(a) * (high - low) / 2) for a in angles]
    found = [2 * mp.fsum(v * mp.cos(k * a) for v, a in zip(values, angles, strict=True)) / NODES for k in range(NODES)]
    found[0] /= 2
    largest = max(abs(c) for c in found)
    last = max(k for k, c in enumerate(found) if abs(c) > CUT * largest)
    if last > NODES - 8:
        raise SystemExit(f"a series does not end: {last} terms, then {mp.nstr(found[-1], 3)}")
    return [float(c) for c in found[: last + 1]]


def amplitude(order: int, what: int) -> Callable[[Any], Any]:
    """P (what = 0) and Q x (what = 1) of the asymptotic forms J = sqrt(2/(pi x)) (P cos c - Q sin c), Y = … (P sin c + Q cos c)."""

    def function(v: Any) -> Any:
        x = 8 / mp.sqrt(v)
        c = x - (2 * order + 1) * mp.pi / 4
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        scale = mp.sqrt(mp.pi * x / 2)
        return scale * (j * mp.cos(c) + y * mp.sin(c)) if what == 0 else scale * x * (y * mp.cos(c) - j * mp.sin(c))

    return function


def airy_amplitude(what: int) -> Callable[[Any], Any]:
    """Ai(-x) = (P cos c + Q sin c) / (sqrt(pi) x**(1/4)), c = z - pi/4, z = 2/3 x**1.5; of v = 1/z**2: P, and Q z."""

    def function(v: Any) -> Any:
        z = 1 / mp.sqrt(v)
        x = (mp.mpf(3) / 2 * z) ** (mp.mpf(2) / 3)
        c = z - mp.pi / 4
        a, b = mp.airyai(-x), mp.airybi(-x)
        scale = mp.sqrt(mp.pi) * x ** (mp.mpf(1) / 4)
        return scale * (a * mp.cos(c) - b * mp.sin(c)) if what == 0 else scale * z * (a * mp.sin(c) + b * mp.cos(c))

    return function


def airy_large(u: Any) -> Any:
    z = 1 / u
    x = (mp.mpf(3) / 2 * z) ** (mp.mpf(2) / 3)
    return 2 * mp.sqrt(mp.pi) * x ** (mp.mpf(1) / 4) * mp.exp(z) * mp.airyai(x)


def scaled_complement(t: Any) -> Any:
    x = mp.mpf(15) / 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


ROOT = mp.findroot(mp.digamma, 1.46)
Z2 = mp.mpf(2) / 3 * mp.mpf(2) ** mp.mpf(1.5)


def in_square(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """As a function of s = x * x."""
    return lambda s: function(mp.sqrt(s))


def in_reciprocal(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """As a function of u = 1 / x."""
    return lambda u: function(1 / u)


TABLES: dict[str, tuple[str, Callable[[Any], Any], Any, Any]] = {
    "LGAMMA_LOW": ("log(gamma(x)) / ((x - 1) (x - 2)), x in [1/2, 3/2]", lambda x: mp.loggamma(x) / ((x - 1) * (x - 2)), 0.5, 1.5),
    "LGAMMA_MIDDLE": ("the same, x in [3/2, 3]", lambda x: mp.loggamma(x) / ((x - 1) * (x - 2)), 1.5, 3),
    "LGAMMA_HIGH": ("log(gamma(x)), x in [3, 8]", mp.loggamma, 3, 8),
    "DIGAMMA_LOW": ("digamma(x) / (x - its root), x in [1, 3]", lambda x: mp.digamma(x) / (x - ROOT), 1, 3),
    "DIGAMMA_HIGH": ("digamma(x), x in [3, 10]", mp.digamma, 3, 10),
    "I0_LOW": ("exp(-x) I0(x), x in [0, 8]", lambda x: mp.exp(-x) * mp.besseli(0, x), 0, 8),
    "I0_HIGH": (
        "sqrt(x) exp(-x) I0(x), of u = 1/x in [0, 1/8]", in_reciprocal(lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(0, x)), 0, 0.125
    ),
    "I1_LOW": ("exp(-x) I1(x) / x, x in [0, 8]", lambda x: mp.exp(-x) * mp.besseli(1, x) / x, 0, 8),
    "I1_HIGH": (
        "sqrt(x) exp(-x) I1(x), of u = 1/x in [0, 1/8]", in_reciprocal(lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(1, x)), 0, 0.125
    ),
    "K0_LOW": ("K0(x) + log(x/2) I0(x), of x*x in [0, 4]", in_square(lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)), 0, 4),
    "K0_HIGH": (
        "sqrt(x) exp(x) K0(x), of u = 1/x in [0, 1/2]", in_reciprocal(lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(0, x)), 0, 0.5
    ),
    "K1_LOW": (
        "x (K1(x) - log(x/2) I1(x)), of x*x in [0, 4]",
        in_square(lambda x: x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))), 0, 4,
    ),
    "K1_HIGH": (
        "sqrt(x) exp(x) K1(x), of u = 1/x in [0, 1/2]", in_reciprocal(lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(1, x)), 0, 0.5
    ),
    "J0_LOW": ("J0(x), of x*x in [0, 64]", in_square(lambda x: mp.besselj(0, x)), 0, 64),
    "J1_LOW": ("J1(x) / x, of x*x in [0, 64]", in_square(lambda x: mp.besselj(1, x) / x), 0, 64),
    "Y0_LOW": (
        "Y0(x) - 2/pi log(x) J0(x), of x*x in [0, 64]",
        in_square(lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)), 0, 64,
    ),
    "Y1_LOW": (
        "(Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x, of x*x in [0, 64]",
        in_square(lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x), 0, 64,
    ),
    "P0": ("P of order 0, of v = (8/x)**2 in [0, 1]", amplitude(0, 0), 0, 1),
    "Q0": ("Q x of order 0, of v", amplitude(0, 1), 0, 1),
    "P1": ("P of order 1, of v", amplitude(1, 0), 0, 1),
    "Q1": ("Q x of order 1, of v", amplitude(1, 1), 0, 1),
    "AIRY_LOW": ("Ai(x), x in [-2, 2]", mp.airyai, -2, 2),
    "AIRY_HIGH": ("2 sqrt(pi) x**(1/4) exp(z) Ai(x), of 1/z in [0, 1/z(2)], z = 2/3 x**1.5", airy_large, 0, 1 / Z2),
    "AIRY_P": ("P of Ai(-x), of 1/z**2 in [0, 1/z(2)**2]", airy_amplitude(0), 0, 1 / Z2**2),
    "AIRY_Q": ("Q z of Ai(-x), of 1/z**2", airy_amplitude(1), 0, 1 / Z2**2),
    "ERFCX": ("(1 + 2x) exp(x*x) erfc(x), of t = (x - 15/4) / (x + 15/4) in [-1, 1]", scaled_complement, -1, 1),
}  # fmt: skip


def temme(orders: int, terms: int) -> list[list[float]]:
    """Power series in e of the coefficients C_k(e) of Temme's uniform expansion of the incomplete gamma functions.

    e*e/2 = m - log(1 + m). C_0 = 1/m - 1/e, C_k = C_(k-1)' / e + (-1)**k g_k / m, where the g_k are the coefficients of Stirling's series
    of the gamma function, sqrt(2 pi) a**(a - 1/2) exp(-a) (1 + g_1/a + …).
    """
    size = terms + 2 * orders + 4
    # m = sum a_i e**i: from e de = m/(1+m) dm, that is (1 + m) e = m m'
    a = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, size + 2):
        # coefficient of e**n in m m' - e m - e, where m m' = sum_(i+j=n+1) j a_i a_j
        known = mp.fsum((n + 1 - i) * a[i] * a[n + 1 - i] for i in range(2, n))
        a.append((a[n - 1] - known) / (n + 1))
    ratio = a[1:]  # m / e
    inverse = [mp.mpf(1)]
    for n in range(1, size):
        inverse.append(-mp.fsum(ratio[i] * inverse[n - i] for i in range(1, n + 1)))
    # 1/m = (1/e) sum inverse_n e**n
    stirling = mp.taylor(
        lambda u: mp.exp(mp.fsum(mp.bernoulli(2 * j) / (2 * j * (2 * j - 1)) * u ** (2 * j - 1) for j in range(1, 12))), 0, orders
    )
    found, previous = [], inverse[1:]
    found.append(previous)
    for k in range(1, orders):
        g = (-1) ** k * stirling[k]
        pole = [g * c for c in inverse]  # e**-1, e**0, …
        slope = [n * c for n, c in enumerate(previous)][1:]  # C' = slope_n e**n; C'/e begins with e**-1
        assert abs(slope[0] + pole[0]) < mp.mpf(10) ** -30, (k, slope[0], pole[0])
        previous = [s + p for s, p in zip(slope[1:], pole[1:], strict=False)]
        found.append(previous)
    return [[float(c) for c in row[:terms]] for row in found]


def rows(values: list[float], indent: str) -> list[str]:
    texts = [repr(v) + "," for v in values]
    lines, line = [], indent
    for t in texts:
        if len(line) + len(t) + 1 > 138:
            lines.append(line.rstrip())
            line = indent
        line += t + " "
    return [*lines, line.rstrip()]


def text() -> str:
    lines = [
        '"""Chebyshev coefficients of special functions, made by tools/tables.py (which says how accurate they are): do not edit."""',
        "",
    ]
    for name, (about, function, low, high) in TABLES.items():
        lines += [f"{name} = (", *rows(chebyshev(function, low, high), "    "), ")  # fmt: skip", f'"""{about}."""', ""]
    lines += ["TEMME = ("]
    for row in temme(8, 18):
        lines += ["    (", *rows(row, "        "), "    ),"]
    lines += [")  # fmt: skip", '"""Power series of C_0 … C_7 of Temme\'s expansion of the incomplete gamma functions, |e| <= 0.4."""', ""]
    high, low = float(ROOT), float(ROOT - mp.mpf(float(ROOT)))
    lines += [f"DIGAMMA_ROOT = ({high!r}, {low!r})", '"""The positive root of digamma: its nearest float64, and the rest."""', ""]
    bernoulli = [float(mp.bernoulli(2 * k)) for k in range(1, 16)]
    lines += ["BERNOULLI = (", *rows(bernoulli, "    "), ")  # fmt: skip", '"""B_2, B_4, …, B_30."""']
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare only")
    made = text()
    if parser.parse_args().check:
        return 0 if TARGET.read_text(encoding="utf-8") == made else 1
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
