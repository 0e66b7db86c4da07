"""Sine, cosine, tangent and their inverses in the precision of their argument.

The reduction x = n π + r (n π/2 + r for the tangent, (n + 1/2) π + r for the cosine) is by Cody and Waite, with π in parts whose products
with n are exact or fused, up to a limit. Beyond it, float32 takes 2ᵉ · 2/π mod 4 for the exponent e of x from a table, in two doubles
(Payne and Hanek's idea: whole turns cancel before the product is formed), and float64 calls the C library lane by lane. Vectors branch
there only if some lane is beyond the limit. For scalars, whose loops LLVM is to vectorise, `branch_free` computes both and selects.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from twofold.compiler.llvm import Function, Val, number, with_element
from twofold.compiler.vector_math_exponential import ExponentialMath
from twofold.runtime.target import Target

TWO_OVER_PI = (
    0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E006492EEA09D1921CFE1DEB1CB129A73EE88235F52EBB4484
)
TWO_OVER_PI_BITS = TWO_OVER_PI.bit_length()
"""2/π = TWO_OVER_PI / 2^TWO_OVER_PI_BITS."""
FLOAT_LIMIT, DOUBLE_LIMIT = 1.0e5, 1.0e6
"""Up to here the parts of π/2 below serve."""
FLOAT_PARTS = (3.141592025756836, 6.278329465203569e-07, 1.0780605906948477e-14)
"""π for float32 with fused multiply-add: 24 bits each."""
DOUBLE_PARTS = (float.fromhex("0x1.921fb54400000p+1"), float.fromhex("0x1.0b4611a600000p-33"), float.fromhex("0x1.3198a2e000000p-68"),
                float.fromhex("0x1.b839a252049c1p-103"))  # fmt: skip
"""π with 33 bits in each part but the last: products with n or n + 1/2 below 2^20 are exact."""
FIRST_EXPONENT, LAST_EXPONENT = 140, 254
"""Biased float32 exponents that the table covers."""
HIGH_BITS = 27
"""The table's first numbers are multiples of 2^-27 below 4: products with 24-bit integers are exact in float64."""
MAGIC = 6755399441055744.0
"""Added to a double, it rounds to an integer."""
PI_TAIL = {23: -8.742277657347586e-08, 52: 1.2246467991473532e-16}
"""π minus π rounded to the format, by the format's mantissa bits."""


def turn_table() -> tuple[list[float], list[float]]:
    """(high, low) parts of 2^(e - 150) · 2/π mod 4 for the biased exponents e of float32."""
    highs, lows = [], []
    for biased in range(FIRST_EXPONENT, LAST_EXPONENT + 1):
        point = TWO_OVER_PI_BITS - (biased - 150)  # bits behind the binary point
        value = TWO_OVER_PI & ((1 << (point + 2)) - 1)
        high = value >> (point - HIGH_BITS)
        rest = value - (high << (point - HIGH_BITS))
        highs.append(math.ldexp(high, -HIGH_BITS))
        lows.append(math.ldexp(rest >> (point - 120), -120) if point > 120 else math.ldexp(rest, -point))
    return highs, lows


class Reduction(NamedTuple):
    """x = (n + offset) · share · π + r."""

    share: float
    offset: float


SINE, COSINE, TANGENT = Reduction(1.0, 0.0), Reduction(1.0, 0.5), Reduction(0.5, 0.0)


class TrigonometricMath(ExponentialMath):
    """sin, cos, tan, asin, acos, atan, atan2. `branch_free`: no branches, for loops that LLVM vectorises."""

    def __init__(self, f: Function, type: str, target: Target | None, branch_free: bool) -> None:
        super().__init__(f, type, target)
        self.branch_free = branch_free
        self.double = with_element(type, "double")
        self.half_pi, self.quarter_pi, self.pi_tail = math.pi / 2, math.pi / 4, PI_TAIL[self.mantissa]

    # --- reduction

    def _nearest(self, x: Val, by: Reduction) -> tuple[Val, Val]:
        """(n + offset, n's raw bits) for the integer n nearest to x / (share · π) - offset."""
        per_unit = 1 / (by.share * math.pi)
        if not by.offset:
            return self.round_scaled(x, per_unit)
        n, raw = self.round_scaled(self.madd(x, per_unit, -by.offset), 1.0)
        return self.add(n, by.offset), raw

    def _float_reduced(self, x: Val, by: Reduction) -> tuple[Val, Val]:
        """(r, n) of float32; infinity gives NaN. Only the low bits of n are meant."""
        if self.has_fma:
            n, raw = self._nearest(x, by)
            r = x
            for part in FLOAT_PARTS:
                r = self.madd(n, -part * by.share, r)
        else:
            r, raw = self._reduced_in_double(x, by)
        far = self.compare("ogt", self.magnitude(x), FLOAT_LIMIT)
        if self.branch_free or not x.is_vector:
            far_r, far_n = self._table_reduced(x, by)
            return self.where(far, far_r, r), self.f.select(far, far_n, raw)
        r_slot, n_slot = self.f.variable(self.type, r), self.f.variable(self.integer, raw)
        with self.f.when(self.any_lane(far)):
            far_r, far_n = self._table_reduced(x, by)
            self.f.set(r_slot, self.where(far, far_r, r))
            self.f.set(n_slot, self.f.select(far, far_n, raw))
        return self.f.get(r_slot, self.type), self.f.get(n_slot, self.integer)

    def _low_bits(self, shifted: Val) -> Val:
        """The integer that was rounded by adding MAGIC to doubles, as 32-bit lanes."""
        wide = with_element(self.type, "i64")
        return self.f.convert("trunc", self.f.let(wide, f"bitcast {shifted.type} {shifted} to {wide}"), "i32")

    def _reduced_in_double(self, x: Val, by: Reduction) -> tuple[Val, Val]:
        """The reduction of float32 in float64 arithmetic, where there is no fused multiply-add."""
        wide = self.widened(x)
        turns = self.sub(self.mul(wide, 1 / (by.share * math.pi)), by.offset)
        shifted = self.add(turns, MAGIC)
        n = self.add(self.sub(shifted, MAGIC), by.offset)
        r = wide
        for part in DOUBLE_PARTS[:2]:
            r = self.sub(r, self.mul(n, part * by.share))
        return self.f.convert("fptrunc", r, "float"), self._low_bits(shifted)

    def _table(self, name: str, values: list[float]) -> Val:
        """A constant array of doubles in the module."""
        numbers = ", ".join(f"double {number('double', v)}" for v in values)
        self.f.module.globals[f"@{name} = private unnamed_addr constant [{len(values)} x double] [{numbers}], align 64"] = None
        return Val("ptr", "@" + name)

    def _table_entry(self, table: Val, index: Val) -> Val:
        if not index.is_vector:
            return self.f.load("double", self.f.gep(table, index, "double"), 8)
        pointers = self.f.let(with_element(index.type, "ptr"), f"getelementptr inbounds double, ptr {table}, {index.type} {index}")
        return self.f.gather(self.double, pointers, number(with_element(index.type, "i1"), True), 8)

    def _table_reduced(self, x: Val, by: Reduction) -> tuple[Val, Val]:
        """(r, n) for |x| ≥ 2^13 from the table of turns: |x| = M 2^e with a 24-bit integer M, and M · (2^e 2/π mod 4) are quarter turns."""
        f, a = self.f, self.magnitude(x)
        bits = self.bits(a)
        biased = self.integer_op("lshr", bits, 23)
        for name, bound in (("llvm.smax", FIRST_EXPONENT), ("llvm.smin", LAST_EXPONENT)):
            biased = f.intrinsic(name, self.integer, biased, number(self.integer, bound))
        index = f.convert("zext", self.integer_op("sub", biased, FIRST_EXPONENT), "i64")
        highs, lows = turn_table()
        high = self._table_entry(self._table("twofold_turns_high", highs), index)
        low = self._table_entry(self._table("twofold_turns_low", lows), index)
        whole = f.convert("sitofp", self.integer_op("or", self.integer_op("and", bits, 0x7FFFFF), 0x800000), "double")
        negative = f.icmp("slt", self.bits(x), f.of(0, self.integer))
        whole = f.select(negative, f.fneg(whole), whole)
        # in units of the reduction; powers of two: exact
        product, rest = self.mul(whole, self.mul(high, 0.5 / by.share)), self.mul(whole, self.mul(low, 0.5 / by.share))
        shifted = self.add(self.sub(self.add(product, rest), by.offset), MAGIC)
        turns = self.add(self.sub(shifted, MAGIC), by.offset)
        r = self.mul(self.add(self.sub(product, turns), rest), by.share * math.pi)
        return self.where(self.compare("olt", a, math.inf), f.convert("fptrunc", r, "float"), math.nan), self._low_bits(shifted)

    def _two_difference(self, a: Val, b: Val) -> tuple[Val, Val]:
        """a - b rounded, and what the rounding lost (Knuth)."""
        d = self.sub(a, b)
        v = self.sub(d, a)
        return d, self.sub(self.sub(a, self.sub(d, v)), self.add(b, v))

    def _double_reduced(self, x: Val, by: Reduction) -> tuple[Val, Val, Val]:
        """(r, tail of r, n) for |x| ≤ 1e6, of float64."""
        first, second, third, last = (part * by.share for part in DOUBLE_PARTS)
        n, raw = self._nearest(x, by)
        r, lost = self._two_difference(self.sub(x, self.mul(n, first)), self.mul(n, second))
        r, lost_more = self._two_difference(r, self.mul(n, third))
        tail = self.sub(self.add(lost, lost_more), self.mul(n, last))
        high = self.add(r, tail)
        return high, self.add(self.sub(r, high), tail), raw

    # --- kernels

    def _sine(self, r: Val, tail: Val | None) -> Val:
        """sin(r + tail) for |r| ≤ π/4."""
        z = self.mul(r, r)
        cubic = self.mul(self.mul(z, r), self.polynomial(z, self.tables.sin))
        if tail is not None:
            cubic = self.add(cubic, self.mul(tail, self.madd(z, -0.5, 1.0)))
        return self.add(r, cubic)

    def _cosine(self, r: Val, tail: Val | None) -> Val:
        """cos(r + tail) for |r| ≤ π/4: 1 - z/2 with its rounding error put back."""
        z = self.mul(r, r)
        if tail is None:
            return self.madd(self.mul(z, z), self.polynomial(z, self.tables.cos), self.madd(z, -0.5, 1.0))
        half = self.mul(z, 0.5)
        w = self.sub(1.0, half)
        lost = self.sub(self.sub(1.0, w), half)
        rest = self.sub(self.mul(self.mul(z, z), self.polynomial(z, self.tables.cos)), self.mul(r, tail))
        return self.add(w, self.add(lost, rest))

    def _sine_of_half_turn(self, x: Val, by: Reduction) -> tuple[Val, Val]:
        """(sin r for |r| ≤ π/2, n)."""
        if self.mantissa == 23:
            r, n = self._float_reduced(x, by)
            z = self.mul(r, r)
            return self.mul(r, self.madd(z, self.polynomial(z, self.tables.sin_half_turn), 1.0)), n
        r, tail, n = self._double_reduced(x, by)
        z = self.mul(r, r)
        cubic = self.mul(self.mul(z, r), self.polynomial(z, self.tables.sin_half_turn))
        return self.add(r, self.add(cubic, self.mul(tail, self.madd(z, -0.5, 1.0)))), n

    def _parts(self, x: Val) -> tuple[Val, Val, Val]:
        """(sine of r, cosine of r, n) for x = n π/2 + r."""
        if self.mantissa == 23:
            r, n = self._float_reduced(x, TANGENT)
            return self._sine(r, None), self._cosine(r, None), n
        r, tail, n = self._double_reduced(x, TANGENT)
        return self._sine(r, tail), self._cosine(r, tail), n

    def _with_far_lanes(self, name: str, x: Val, near: Val) -> Val:
        """float64: the C library's value in lanes beyond the limit."""
        if self.mantissa == 23:
            return near
        far = self.compare("ogt", self.magnitude(x), DOUBLE_LIMIT)
        slot = self.f.variable(self.type, near)
        with self.f.when(self.any_lane(far)):
            self.f.set(slot, self.where(far, self.per_lane(name, x), near))
        return self.f.get(slot, self.type)

    def _parity_as_sign(self, n: Val) -> Val:
        """Bit 0 of n moved to the sign's place."""
        return self.integer_op("shl", n, 63 if self.mantissa == 52 else 31)

    def sin(self, x: Val) -> Val:
        """The sine: (-1)ⁿ sin r for x = n π + r."""
        y, n = self._sine_of_half_turn(x, SINE)
        y = self.flip(y, self._parity_as_sign(n))
        if self.mantissa == 52:  # the sum loses the sign of -0
            y = self.where(self.compare("oeq", x, 0.0), x, y)
        return self._with_far_lanes("sin", x, y)

    def cos(self, x: Val) -> Val:
        """The cosine: -(-1)ⁿ sin r for x = (n + 1/2) π + r."""
        y, n = self._sine_of_half_turn(x, COSINE)
        return self._with_far_lanes("cos", x, self.flip(self.f.fneg(y), self._parity_as_sign(n)))

    def tan(self, x: Val) -> Val:
        """The tangent for x = n π/2 + r: sine over cosine, or minus cosine over sine for odd n."""
        sine, cosine, n = self._parts(x)
        odd = self.f.icmp("ne", self.integer_op("and", n, 1), self.f.of(0, self.integer))
        y = self.div(self.where(odd, cosine, sine), self.where(odd, sine, cosine))
        y = self.where(self.compare("oeq", x, 0.0), x, self.flip(y, self._parity_as_sign(n)))
        return self._with_far_lanes("tan", x, y)

    # --- inverse functions

    def _atan_of_ratio(self, y: Val, x: Val) -> Val:
        """atan(y / x) for y, x ≥ 0, in [0, π/2]: one quotient, of y/x, (y - x)/(y + x) or -x/y, whose size is at most tan(π/8)."""
        steep = self.compare("ogt", y, self.mul(x, 2.414213562373095))
        middle = self.compare("ogt", y, self.mul(x, 0.41421356237309503))
        numerator = self.where(steep, self.f.fneg(x), self.where(middle, self.sub(y, x), y))
        denominator = self.where(steep, y, self.where(middle, self.add(y, x), x))
        # 0 / 0 is 0 here
        t = self.div(numerator, self.where(self.compare("oeq", y, 0.0), 1.0, denominator))
        z = self.mul(t, t)
        near = self.madd(self.mul(t, z), self.polynomial(z, self.tables.atan), t)
        base = self.where(steep, self.half_pi, self.where(middle, self.quarter_pi, 0.0))
        tail = self.where(steep, self.pi_tail / 2, self.where(middle, self.pi_tail / 4, 0.0))
        return self.add(base, self.add(near, tail))

    def atan(self, x: Val) -> Val:
        """The angle in [-π/2, π/2] whose tangent is x."""
        return self.with_sign(self._atan_of_ratio(self.magnitude(x), self.constant(1.0)), self.sign(x))

    def atan2(self, y: Val, x: Val) -> Val:
        """The angle of the point (x, y) in [-π, π]; signs of zero and infinities as C99's."""
        f, a, b = self.f, self.magnitude(y), self.magnitude(x)
        both = f.binary("and", self.compare("oeq", a, math.inf), self.compare("oeq", b, math.inf))
        huge = 2.0 ** (self.bias - 3)
        scale = self.where(f.binary("or", self.compare("ogt", a, huge), self.compare("ogt", b, huge)), 0.125, 1.0)
        a, b = self.where(both, 1.0, self.mul(a, scale)), self.where(both, 1.0, self.mul(b, scale))
        angle = self._atan_of_ratio(a, b)
        back = self.sub(math.pi, self.sub(angle, self.pi_tail))
        angle = self.where(f.icmp("slt", self.bits(x), f.of(0, self.integer)), back, angle)
        angle = self.with_sign(self.magnitude(angle), self.sign(y))
        return self.where(self.compare("uno", x, y), self.add(x, y), angle)

    def _asin_kernel(self, a: Val) -> tuple[Val, Val]:
        """(whether a ≤ 1/2, asin a or asin √((1 - a) / 2))."""
        small = self.compare("ole", a, 0.5)
        z = self.where(small, self.mul(a, a), self.mul(self.sub(1.0, a), 0.5))
        s = self.where(small, a, self.sqrt(z))
        return small, self.madd(self.mul(s, z), self.polynomial(z, self.tables.asin), s)

    def asin(self, x: Val) -> Val:
        """The angle in [-π/2, π/2] whose sine is x: π/2 - 2 asin √((1 - |x|) / 2) above 1/2."""
        small, p = self._asin_kernel(self.magnitude(x))
        far = self.sub(self.half_pi, self.sub(self.add(p, p), self.pi_tail / 2))
        return self.with_sign(self.where(small, p, far), self.sign(x))

    def acos(self, x: Val) -> Val:
        """The angle in [0, π] whose cosine is x."""
        small, p = self._asin_kernel(self.magnitude(x))
        twice = self.add(p, p)
        near = self.sub(self.half_pi, self.sub(self.flip(p, self.sign(x)), self.pi_tail / 2))
        left = self.sub(math.pi, self.sub(twice, self.pi_tail))
        return self.where(small, near, self.where(self.compare("olt", x, 0.0), left, twice))
