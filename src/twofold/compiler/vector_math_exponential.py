"""Exponentials, logarithms and hyperbolic functions in the precision of their argument, without branches.

exp: Cody-Waite reduction x = n ln 2 + r and a minimax polynomial. expm1, tanh, sinh and cosh share its reduction and build
2ⁿ·(eʳ - 1) + (2ⁿ - 1), which keeps its accuracy near 0. log: x = 2ᵏ m with m in [2/3, 4/3); float32 uses a polynomial in m - 1, float64
the series of 2 atanh((m - 1) / (m + 1)), as Sun's e_log. log1p shifts m - 1 by the rounding error of 1 + x. The inverse hyperbolic
functions go through log1p.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from twofold.compiler.llvm import Function, Val, number
from twofold.compiler.vector_math_base import LaneMath
from twofold.compiler.vector_math_tables import F32, F64, Tables
from twofold.runtime.target import Target

LN2, LOG2E, LOG10E, LOG10_2 = math.log(2), 1.4426950408889634, 0.4342944819032518, math.log10(2)


class Format(NamedTuple):
    """Limits and split constants of a floating-point format. A high part has so few bits that its product with any exponent is exact."""

    tables: Tables
    ln2: tuple[float, float]
    log2e: tuple[float, float]
    log10e: tuple[float, float]
    log10_2: tuple[float, float]
    exp_limits: tuple[float, float]
    """Below the first eˣ rounds to 0, above the second it is infinite."""
    exp2_limits: tuple[float, float]
    """The same for 2ˣ."""
    exp_max: float
    """The largest x with a finite eˣ."""
    sigmoid_one: float
    """From here on the sigmoid is 1."""
    smallest_normal: float
    denormal_shift: int
    """A power of two that makes every denormal number normal."""
    mantissa_start: int
    """The bits of 2/3: subtracting them puts the exponent of [2/3, 4/3) to 0."""
    tanh_one: float
    """From here on tanh is 1."""
    erf_one: float
    """From here on the error function is 1."""
    square_limit: float
    """Up to here x² does not overflow, beyond it x² + 1 = x² to within rounding."""
    tiny: float
    """Below it sinh x = x."""


FLOAT = Format(
    F32, (0.693145751953125, 1.4286068203094173e-06), (1.4426950216293335, 1.9259629911266175e-08),
    (0.4342944920063019, LOG10E - 0.4342944920063019), (0.3010299801826477, LOG10_2 - 0.3010299801826477),
    (-104.0, 89.0), (-151.0, 129.0), 88.72283172607422, 30.0, 2.0**-126, 24, 0x3F2AAAAB, 9.02, 3.925, 2.0**30, 2.0**-12,
)  # fmt: skip
DOUBLE = Format(
    F64, (float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")),
    (LOG2E, float.fromhex("0x1.777d0ffda0d24p-56")), (LOG10E, float.fromhex("0x1.95355baaafad3p-57")),
    (LOG10_2, float.fromhex("-0x1.9dc1da994fd21p-59")),
    (-746.0, 710.0), (-1076.0, 1025.0), 709.782712893384, 50.0, 2.0**-1022, 54, 0x3FE5555555555555, 20.0, 5.93, 2.0**60, 2.0**-26,
)  # fmt: skip


class ExponentialMath(LaneMath):
    """exp, log and what is built from them."""

    def __init__(self, f: Function, type: str, target: Target | None) -> None:
        super().__init__(f, type, target)
        self.format = DOUBLE if self.mantissa == 52 else FLOAT
        self.tables = self.format.tables

    # --- exponentials

    def _reduced(self, x: Val) -> tuple[Val, Val, Val]:
        """(r, n, n's raw bits): x = n ln 2 + r with |r| ≤ ln 2 / 2."""
        n, raw = self.round_scaled(x, LOG2E)
        high, low = self.format.ln2
        return self.madd(n, -low, self.madd(n, -high, x)), n, raw

    def exp(self, x: Val) -> Val:
        """eˣ."""
        low, high = self.format.exp_limits
        r, n, raw = self._reduced(self.at_most(self.at_least(x, low), high))
        return self.times_power(self.polynomial(r, self.tables.exp), n, raw)

    def exp2(self, x: Val) -> Val:
        """2ˣ."""
        low, high = self.format.exp2_limits
        bounded = self.at_most(self.at_least(x, low), high)
        n, raw = self.round_scaled(bounded, 1.0)
        return self.times_power(self.polynomial(self.sub(bounded, n), self.tables.exp2), n, raw)

    def exp_of_sum(self, high: Val, low: Val) -> Val:
        """e^(high + low) for high ≤ 0 and a small low, more precise than `exp`; 0 where it underflows."""
        bounded = self.at_least(high, self.format.exp_limits[0])
        n, raw = self.round_scaled(self.add(bounded, low), LOG2E)
        first, second = self.format.ln2
        r = self.add(self.madd(n, -second, self.madd(n, -first, bounded)), low)
        return self.times_power(self.add(self.madd(self.mul(r, r), self.polynomial(r, self.tables.expm1), r), 1.0), n, raw)

    def _expm1_parts(self, x: Val) -> tuple[Val, Val]:
        """(eʳ - 1, n's raw bits) for x = n ln 2 + r."""
        r, _, raw = self._reduced(x)
        return self.madd(self.mul(r, r), self.polynomial(r, self.tables.expm1), r), raw

    def expm1(self, x: Val) -> Val:
        """eˣ - 1. Computed at half its size, so that 2ⁿ does not overflow before the result does."""
        p, raw = self._expm1_parts(self.at_most(self.at_least(x, -60.0), self.format.exp_max + 0.3))
        half = self.pow2(raw, -1)
        e = self.madd(half, p, self.sub(half, 0.5))
        result = self.with_sign(self.magnitude(self.add(e, e)), self.sign(x))
        return self.where(self.compare("olt", self.magnitude(x), self.format.tiny**2), x, result)

    def sigmoid(self, x: Val) -> Val:
        """eˣ / (1 + eˣ); the numerator carries results that are small."""
        e = self.exp(self.at_most(x, self.format.sigmoid_one))
        return self.div(e, self.add(e, 1.0))

    def tanh(self, x: Val) -> Val:
        """(e²ˣ - 1) / (e²ˣ + 1) for |x|."""
        a = self.at_most(self.magnitude(x), self.format.tanh_one)
        p, raw = self._expm1_parts(self.add(a, a))
        scale = self.pow2(raw)
        e = self.madd(scale, p, self.sub(scale, 1.0))
        return self.with_sign(self.div(e, self.add(e, 2.0)), self.sign(x))

    def sinh(self, x: Val) -> Val:
        """(e + e / (e + 1)) / 2 with e = e^|x| - 1, computed at a quarter of its size."""
        a = self.at_most(self.magnitude(x), self.format.exp_max + 0.9)
        p, raw = self._expm1_parts(a)
        quarter = self.pow2(raw, -2)
        e = self.madd(quarter, p, self.sub(quarter, 0.25))
        half = self.add(e, self.div(e, self.madd(e, 4.0, 1.0)))
        result = self.with_sign(self.add(half, half), self.sign(x))
        return self.where(self.compare("olt", self.magnitude(x), self.format.tiny), x, result)

    def cosh(self, x: Val) -> Val:
        """(e^|x| + e^-|x|) / 2."""
        p, raw = self._expm1_parts(self.at_most(self.magnitude(x), self.format.exp_max + 0.9))
        quarter = self.pow2(raw, -2)
        e = self.madd(quarter, p, quarter)
        half = self.add(e, self.div(0.0625, e))
        return self.add(half, half)

    # --- logarithms

    def _mantissa_and_exponent(self, x: Val) -> tuple[Val, Val]:
        """(m, k) with x = 2ᵏ m, m in [2/3, 4/3), for a positive normal x; k as an integer shifted to the place of the exponent."""
        bits = self.bits(x)
        shifted = self.integer_op("sub", bits, self.format.mantissa_start)
        k = self.integer_op("and", shifted, -(1 << self.mantissa))
        return self.from_bits(self.integer_op("sub", bits, k)), k

    def _exponent_value(self, k: Val) -> Val:
        """The shifted exponent as a floating-point number."""
        if self.mantissa == 23:
            return self.mul(self.f.convert("sitofp", k, "float"), 2.0**-23)
        # no conversion of i64 before AVX-512: the magic number's low bits take the integer
        whole = self.integer_op("add", self.integer_op("ashr", k, self.mantissa), 0x4338000000000000)
        return self.sub(self.from_bits(whole), self.magic)

    def _log_reduced(self, x: Val) -> tuple[Val, Val]:
        """(m, k): x = 2ᵏ m for any positive x, k a floating-point number."""
        small = self.compare("olt", x, self.format.smallest_normal)
        shift = self.format.denormal_shift
        m, k = self._mantissa_and_exponent(self.where(small, self.mul(x, 2.0**shift), x))
        k_value = self._exponent_value(k)
        return m, self.where(small, self.sub(k_value, float(shift)), k_value)

    def _log1p_parts(self, g: Val) -> tuple[Val, Val]:
        """log(1 + g) as g + rest, for g in [-1/3, 1/3]."""
        square = self.mul(g, g)
        if self.mantissa == 23:
            return g, self.mul(square, self.madd(g, self.polynomial(g, self.tables.log), -0.5))
        s = self.div(g, self.add(g, 2.0))
        z = self.mul(s, s)
        half = self.mul(square, 0.5)
        series = self.mul(z, self.polynomial(z, self.tables.log_atanh))
        return g, self.sub(self.mul(s, self.add(half, series)), half)

    def _log_special(self, x: Val, result: Val) -> Val:
        """The logarithm's values at 0, infinity, NaN and below 0."""
        result = self.where(self.compare("olt", x, math.inf), result, x)
        result = self.where(self.compare("olt", x, 0.0), math.nan, result)
        return self.where(self.compare("oeq", x, 0.0), -math.inf, result)

    def _log_with(self, x: Val, factor: tuple[float, float], per_exponent: tuple[float, float]) -> Val:
        """log(x) in the base whose 1/ln is `factor` (in two parts); `per_exponent` is that of 2, in two parts."""
        m, k = self._log_reduced(x)
        high, low = self._log1p_parts(self.sub(m, 1.0))
        rest = self.madd(low, factor[0], self.mul(self.add(high, low), factor[1]))
        if per_exponent[1]:
            rest = self.madd(k, per_exponent[1], rest)
        return self._log_special(x, self.madd(k, per_exponent[0], self.madd(high, factor[0], rest)))

    def log(self, x: Val) -> Val:
        """The natural logarithm."""
        m, k = self._log_reduced(x)
        high, low = self._log1p_parts(self.sub(m, 1.0))
        return self._log_special(x, self.madd(k, LN2, self.add(high, low)))

    def log2(self, x: Val) -> Val:
        """The logarithm to base 2."""
        return self._log_with(x, self.format.log2e, (1.0, 0.0))

    def log10(self, x: Val) -> Val:
        """The logarithm to base 10."""
        return self._log_with(x, self.format.log10e, self.format.log10_2)

    def log1p(self, x: Val) -> Val:
        """log(1 + x)."""
        u = self.add(x, 1.0)
        # what rounding 1 + x lost
        lost = self.where(self.compare("ogt", x, 1.0), self.sub(1.0, self.sub(u, x)), self.sub(x, self.sub(u, 1.0)))
        m, k = self._mantissa_and_exponent(u)
        # 2^-k; from 2^126 (2^1022) on its exponent has no room, and nothing that was lost matters
        near = self.f.intrinsic("llvm.smin", self.integer, k, number(self.integer, (self.bias - 1) << self.mantissa))
        inverse = self.from_bits(self.integer_op("sub", self.bias << self.mantissa, near))
        g = self.madd(lost, inverse, self.sub(m, 1.0))
        high, low = self._log1p_parts(g)
        result = self._log_special(u, self.madd(self._exponent_value(k), LN2, self.add(high, low)))
        return self.where(self.compare("olt", self.magnitude(x), self.format.tiny**2), x, result)

    def log1p_of_fraction(self, x: Val) -> Val:
        """log(1 + x) for 0 ≤ x ≤ 1 (or NaN), in half the time of `log1p`."""
        return self.mul(x, self.polynomial(x, self.tables.log1p))

    # --- inverse hyperbolic functions

    def asinh(self, x: Val) -> Val:
        """log1p(a + a² / (1 + √(1 + a²))) for a = |x|; log a + log 2 where a² is large."""
        a = self.magnitude(x)
        large = self.compare("ogt", a, self.format.square_limit)
        square = self.mul(a, a)
        z = self.add(a, self.div(square, self.add(self.sqrt(self.add(square, 1.0)), 1.0)))
        y = self.log1p(self.where(large, a, z))
        return self.with_sign(self.where(large, self.add(y, LN2), y), self.sign(x))

    def acosh(self, x: Val) -> Val:
        """log1p(t + √(2t + t²)) for t = x - 1; log x + log 2 where t² is large."""
        large = self.compare("ogt", x, self.format.square_limit)
        t = self.sub(x, 1.0)
        z = self.add(t, self.sqrt(self.madd(t, t, self.add(t, t))))
        y = self.log1p(self.where(large, x, z))
        y = self.where(large, self.add(y, LN2), y)
        return self.where(self.compare("olt", x, 1.0), math.nan, y)

    def atanh(self, x: Val) -> Val:
        """log1p(2a / (1 - a)) / 2 for a = |x|."""
        a = self.magnitude(x)
        y = self.mul(self.log1p(self.div(self.add(a, a), self.sub(1.0, a))), 0.5)
        y = self.with_sign(self.magnitude(y), self.sign(x))
        return self.where(self.compare("olt", a, self.format.tiny), x, y)
