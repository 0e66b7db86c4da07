"""The error function, its complement, powers."""

from __future__ import annotations

import math

from twofold.compiler.llvm import Val
from twofold.compiler.vector_math_trigonometric import TrigonometricMath


class ElementaryMath(TrigonometricMath):
    """All functions, in the precision of the type."""

    def _erf_near(self, x: Val) -> Val:
        """x + x P(x²), for |x| ≤ 0.9."""
        return self.madd(x, self.polynomial(self.mul(x, x), self.tables.erf_near), x)

    def _erfc_tail(self, a: Val) -> Val:
        """erfc a for a ≥ 0.44 (used from 0.65): exp(-a²) P((a - 4) / (a + 4)) / (1 + 2a), after Shepherd and Laframboise (1981).

        a² is used in two parts: the square of a's high half is exact, the rest small.
        """
        a = self.at_most(self.at_least(a, 0.44), 10.2 if self.mantissa == 23 else 27.3)
        mask = -(1 << 12) if self.mantissa == 23 else -(1 << 27)
        high = self.from_bits(self.integer_op("and", self.bits(a), mask))
        rest = self.mul(self.sub(high, a), self.add(a, high))
        e = self.exp_of_sum(self.f.fneg(self.mul(high, high)), rest)
        p = self.polynomial(self.div(self.sub(a, 4.0), self.add(a, 4.0)), self.tables.erfc)
        return self.mul(e, self.div(p, self.add(self.add(a, a), 1.0)))

    def erf(self, x: Val) -> Val:
        """1 - e^-g for g = -log erfc|x|, a polynomial, as 1 - 2ⁿ - 2ⁿ·(eʳ - 1): no cancellation near 0."""
        a = self.at_most(self.magnitude(x), self.format.erf_one)
        p, raw = self._expm1_parts(self.mul(self.f.fneg(a), self.polynomial(a, self.tables.erf_exponent)))
        scale = self.pow2(raw)
        return self.with_sign(self.madd(self.f.fneg(scale), p, self.sub(1.0, scale)), self.sign(x))

    def erfc(self, x: Val) -> Val:
        """1 - erf x: near 0 so; the tail for larger x; 2 - erfc(-x) for smaller ones."""
        a = self.magnitude(x)
        tail = self._erfc_tail(a)
        far = self.where(self.compare("olt", x, 0.0), self.sub(2.0, tail), tail)
        far = self.where(self.compare("uno", x, x), x, far)
        return self.where(self.compare("ole", a, 0.65), self.sub(1.0, self._erf_near(x)), far)

    def _power_in_double(self, x: Val, y: Val) -> Val:
        """|x|ʸ for float32 operands, in float64 but no more precise than float32 needs; log2 is ±∞ at 0 and ∞, 0 only at 1."""
        wide = ElementaryMath(self.f, self.double, self.target, self.branch_free)
        m, k = wide._log_reduced(wide.widened(self.magnitude(x)))
        g = wide.sub(m, 1.0)
        s = wide.div(g, wide.add(g, 2.0))
        logarithm = wide.madd(s, wide.polynomial(wide.mul(s, s), wide.tables.log2_atanh), k)
        logarithm = wide._log_special(wide.widened(self.magnitude(x)), logarithm)
        low, high = self.format.exp2_limits
        product = wide.mul(wide.widened(y), logarithm)
        bounded = wide.at_most(wide.at_least(product, low - 4), high + 4)
        n, raw = wide.round_scaled(bounded, 1.0)
        return wide.scaled(wide.polynomial(wide.sub(bounded, n), self.tables.exp2), raw)

    def pow(self, x: Val, y: Val) -> Val:
        """xʸ with C99's special values. float32 computes 2^(y log2|x|) in float64; float64 is the C library's, lane by lane."""
        if self.mantissa == 52:
            return self.per_lane("pow", x, y)
        f = self.f
        size = f.convert("fptrunc", self._power_in_double(x, y), "float")
        size = self.where(self.compare("oeq", self.magnitude(x), 1.0), self.where(self.compare("uno", y, y), y, 1.0), size)
        half = self.mul(y, 0.5)
        integer = self.compare("oeq", self.rounding("trunc", y), y)
        odd = f.binary("and", integer, self.compare("une", self.rounding("trunc", half), half))
        signed = self.flip(size, self.integer_op("and", f.convert("sext", odd, "i32"), self.sign(x)))
        finite_negative = f.binary("and", self.compare("olt", x, 0.0), self.compare("ogt", x, -math.inf))
        bad = f.binary("and", finite_negative, self.compare("une", self.rounding("trunc", y), y))
        result = self.where(bad, math.nan, signed)
        return self.where(f.binary("or", self.compare("oeq", x, 1.0), self.compare("oeq", y, 0.0)), 1.0, result)
