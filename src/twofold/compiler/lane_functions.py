"""Mathematical functions of float32 without branches, written inline so that LLVM vectorises the loops around them.

Range reduction and polynomials; the coefficients are minimax fits (Remez exchange, 220 bits). Largest errors against float64 over all
exponents (tests/compiler/test_lane_functions.py): exp 2, log 2, tanh 4, erf 3, erfc 6 units in the last place.
"""

from __future__ import annotations

from twofold.compiler.llvm import Val, number
from twofold.compiler.vector_math_base import LaneMath

EXPM1 = (0.4999999701976776, 0.16666539013385773, 0.04166775569319725, 0.008367118425667286, 0.0013835838763043284)
LOG = (
    0.3333321511745453, -0.25001588463783264, 0.20010940730571747, -0.16596578061580658, 0.13993273675441742, -0.13368692994117737,
    0.14056484401226044, -0.0769277885556221,
)  # fmt: skip
ERF = (0.12837915122509003, -0.37612485885620117, 0.11281692981719971, -0.026761475950479507, 0.004985076375305653, -0.0005947720492258668)
ERF_TAIL = (
    -0.00017468618170823902, 1.1295149326324463, 0.6333469152450562, 0.10828006267547607, -0.025119395926594734, 0.0041710431687533855,
    -0.00043445589835755527, 2.1094096155138686e-05,
)  # fmt: skip
ERFC = (
    1.2329951524734497, -0.1396181881427765, 0.015376852825284004, 0.0679977685213089, -0.1010693609714508, 0.09460970014333725,
    -0.06535065174102783, 0.03507965803146362, -0.020328063517808914, 0.003554822411388159,
)  # fmt: skip
LOG2E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693145751953125, 1.4286067653302293e-06
"""ln 2 in two parts; the first has 15 bits, so its product with an exponent is exact."""


class LaneFunctions(LaneMath):
    """The functions `NAMES` on "float" or vectors of it."""

    NAMES = frozenset(("exp", "log", "tanh", "erf", "erfc"))

    def _reduced(self, x: Val) -> tuple[Val, Val]:
        """(r, n) with x = n ln 2 + r, |r| ≤ ln 2 / 2."""
        q, raw = self.round_scaled(x, LOG2E)
        r = self.madd(q, -LN2_LOW, self.madd(q, -LN2_HIGH, x))
        return r, self.magic_integer(raw)

    def exp(self, x: Val) -> Val:
        """eˣ; overflows to infinity above 88.73, goes through the denormals to 0 at -103.98."""
        return self._power(*self._reduced(self.at_least(self.at_most(x, 89.0), -104.0)))

    def _power(self, r: Val, n: Val) -> Val:
        """2ⁿ eʳ, the power applied in two steps so that denormal results are rounded once."""
        half = self.integer_op("ashr", n, 1)
        p = self.add(self.madd(self.mul(r, r), self.polynomial(r, EXPM1), r), 1.0)
        return self.mul(self.mul(p, self.pow2(half)), self.pow2(self.integer_op("sub", n, half)))

    def log(self, x: Val) -> Val:
        """The natural logarithm; -infinity at 0, NaN below."""
        small = self.compare("olt", x, 1.1754943508222875e-38)
        a = self.where(small, self.mul(x, 8388608.0), x)
        bits = self.bits(a)
        shifted = self.integer_op("and", self.integer_op("sub", bits, 0x3F2AAAAB), -0x800000)
        exponent = self.f.convert("sitofp", self.integer_op("ashr", shifted, 23), "float")
        exponent = self.where(small, self.sub(exponent, 23.0), exponent)
        g = self.sub(self.from_bits(self.integer_op("sub", bits, shifted)), 1.0)
        square = self.mul(g, g)
        tail = self.madd(self.mul(square, g), self.polynomial(g, LOG), self.mul(exponent, LN2_LOW))
        tail = self.madd(square, -0.5, tail)
        result = self.add(self.mul(exponent, LN2_HIGH), self.add(g, tail))
        result = self.where(self.compare("oeq", x, float("inf")), x, result)
        result = self.where(self.compare("oeq", x, 0.0), float("-inf"), result)
        result = self.where(self.compare("olt", x, 0.0), float("nan"), result)
        return self.where(self.compare("uno", x, 0.0), x, result)

    def tanh(self, x: Val) -> Val:
        """(e²ˣ - 1) / (e²ˣ + 1), from e²ˣ - 1, which is accurate near 0; 1 from 10 on."""
        a = self.at_most(self.magnitude(x), 10.0)
        r, n = self._reduced(self.add(a, a))
        p = self.madd(self.mul(r, r), self.polynomial(r, EXPM1), r)
        scale = self.pow2(n)
        e = self.madd(scale, p, self.sub(scale, 1.0))
        return self.with_sign(self.div(e, self.add(e, 2.0)), self.sign(x))

    def erf(self, x: Val) -> Val:
        """The error function: x + x P(x²) near 0, 1 - exp(-P(|x|)) beyond."""
        a = self.at_most(self.magnitude(x), 4.0)
        near = self.madd(self.polynomial(self.mul(x, x), ERF), x, x)
        tail = self.sub(number(self.type, 1.0), self.exp(self.f.fneg(self.polynomial(a, ERF_TAIL))))
        far = self.where(self.compare("uno", x, 0.0), x, self.with_sign(self.magnitude(tail), self.sign(x)))
        return self.where(self.compare("olt", a, 0.93), near, far)

    def erfc(self, x: Val) -> Val:
        """1 - erf x: exp(-x²) P((x - 4) / (x + 4)) / (1 + 2x) for positive x, with x² in two parts; 2 - erfc(-x) for
        negative x; 1 - erf x near 0."""
        a = self.at_most(self.magnitude(x), 10.1)
        p = self.polynomial(self.div(self.sub(a, 4.0), self.add(a, 4.0)), ERFC)
        high = self.from_bits(self.integer_op("and", self.bits(a), -0x1000))
        rest = self.mul(self.sub(a, high), self.add(a, high))
        r, n = self._reduced(self.f.fneg(self.mul(high, high)))
        e = self._power(self.sub(r, rest), n)
        tail = self.div(self.mul(e, p), self.madd(a, 2.0, 1.0))
        far = self.where(self.compare("olt", x, 0.0), self.sub(number(self.type, 2.0), tail), tail)
        near = self.sub(number(self.type, 1.0), self.madd(self.polynomial(self.mul(x, x), ERF), x, x))
        return self.where(self.compare("olt", a, 0.5), near, far)
