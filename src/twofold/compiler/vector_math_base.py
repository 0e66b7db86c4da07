"""What the vector math functions share: constants, bit patterns, polynomials, rare branches.

Everything is plain LLVM text for any number of lanes. Floating-point instructions carry no fast-math flags here: error-free steps must
stay as written, and a fused multiply-add is asked for by name (`madd`) where the target has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from twofold.compiler.llvm import Function, Operand, Val, number, with_element
from twofold.runtime.target import Target


class LaneMath:
    """Small steps on values of one floating-point type, scalar or vector.

    Args:
        f: The function being written.
        type: "float", "double" or a vector of them.
        target: The processor; None stands for one with fused multiply-add.
    """

    magic: float
    """Added and subtracted, it rounds a small number to an integer; the sum's low bits hold that integer."""
    mantissa: int
    """Bits of the mantissa that are stored."""

    def __init__(self, f: Function, type: str, target: Target | None) -> None:
        self.f, self.type, self.target = f, type, target
        self.has_fma = target is None or target.has_fma
        self.has_scale_instruction = target is not None and target.is_x86 and target.vector_bytes == 64
        wide = number_of_bits(type) == 64
        self.integer = with_element(type, "i64" if wide else "i32")
        self.magic, self.mantissa = (6755399441055744.0, 52) if wide else (12582912.0, 23)
        self.bias = 1023 if wide else 127
        self.sign_bit = -(1 << 63) if wide else -(1 << 31)

    # --- arithmetic

    def constant(self, value: float) -> Val:
        return number(self.type, value)

    def add(self, a: Operand, b: Operand) -> Val:
        return self.f.fadd(a, b, "")

    def sub(self, a: Operand, b: Operand) -> Val:
        return self.f.fsub(a, b, "")

    def mul(self, a: Operand, b: Operand) -> Val:
        return self.f.fmul(a, b, "")

    def div(self, a: Operand, b: Operand) -> Val:
        return self.f.fdiv(a, b)

    def madd(self, a: Operand, b: Operand, c: Operand) -> Val:
        """a·b + c: rounded once with fused multiply-add, twice without."""
        return self.f.fma(a, b, c) if self.has_fma else self.add(self.mul(a, b), c)

    def polynomial(self, x: Val, coefficients: Sequence[float]) -> Val:
        """Σ cₖ xᵏ by Horner's rule; coefficients from the lowest power."""
        result = self.constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.madd(result, x, c)
        return result

    def sqrt(self, x: Val) -> Val:
        return self.f.intrinsic("llvm.sqrt", self.type, x)

    def rounding(self, mode: str, x: Val) -> Val:
        """`floor`, `ceil`, `trunc` or `rint`."""
        return self.f.intrinsic(f"llvm.{mode}", self.type, x)

    # --- bits

    def bits(self, x: Val) -> Val:
        return self.f.let(self.integer, f"bitcast {x.type} {x} to {self.integer}")

    def from_bits(self, x: Val) -> Val:
        return self.f.let(self.type, f"bitcast {x.type} {x} to {self.type}")

    def integer_op(self, op: str, a: Operand, b: Operand) -> Val:
        return self.f.binary(op, self.f.of(a, self.integer), self.f.of(b, self.integer))

    def magnitude(self, x: Val) -> Val:
        return self.f.intrinsic("llvm.fabs", self.type, x)

    def sign(self, x: Val) -> Val:
        """The sign bit of x, everything else zero; an integer."""
        return self.integer_op("and", self.bits(x), self.sign_bit)

    def with_sign(self, magnitude: Val, sign: Val) -> Val:
        """A number that is not negative, with the sign bit `sign`."""
        return self.from_bits(self.integer_op("or", self.bits(magnitude), sign))

    def flip(self, x: Val, sign: Val) -> Val:
        """x, negated where the sign bit `sign` is set."""
        return self.from_bits(self.integer_op("xor", self.bits(x), sign))

    def pow2(self, raw: Val, more: int = 0) -> Val:
        """2^(n + more) for the integer n whose raw bits `round_scaled` gives; the power must be a normal number."""
        return self.from_bits(self.integer_op("add", self.integer_op("shl", raw, self.mantissa), (self.bias + more) << self.mantissa))

    def scaled(self, x: Val, n: Val) -> Val:
        """x·2ⁿ by adding to the exponent: x and the result must be normal. High bits of n beyond the exponent are ignored."""
        return self.from_bits(self.integer_op("add", self.bits(x), self.integer_op("shl", n, self.mantissa)))

    def times_power(self, x: Val, n: Val, raw: Val) -> Val:
        """x·2ⁿ for 1/2 < x < 2 and any result: rounded once if it is denormal, infinite if it is too large.

        `n` is the exponent as a floating-point number, `raw` its bits as `round_scaled` gives them.
        """
        if self.has_scale_instruction and x.is_vector:
            return self._scaled_by_instruction(x, n)
        # in two factors: 2ⁿ itself may be no normal number
        bias = self.bias << self.mantissa
        half = self.integer_op("shl", self.integer_op("lshr", raw, 1), self.mantissa)
        rest = self.integer_op("sub", self.integer_op("shl", raw, self.mantissa), half)
        large, factor = (self.from_bits(self.integer_op("add", part, bias)) for part in (half, rest))
        return self.mul(self.mul(x, large), factor)

    def _scaled_by_instruction(self, x: Val, n: Val) -> Val:
        """VSCALEF of AVX-512, register by register."""
        f, bits = self.f, number_of_bits(x.type)
        lanes = min(x.lanes, 512 // bits)
        if lanes < x.lanes:
            low, high = list(range(x.lanes // 2)), list(range(x.lanes // 2, x.lanes))
            first, second = (self._scaled_by_instruction(f.shuffle(x, None, part), f.shuffle(n, None, part)) for part in (low, high))
            return f.shuffle(first, second, low + high)
        if lanes * bits < 128:
            widened = [*range(lanes), *[-1] * (128 // bits - lanes)]
            y = self._scaled_by_instruction(f.shuffle(x, None, widened), f.shuffle(n, None, widened))
            return f.shuffle(y, None, list(range(lanes)))
        name = f"llvm.x86.avx512.mask.scalef.p{'d' if bits == 64 else 's'}.{lanes * bits}"
        mask = number("i16" if lanes == 16 else "i8", -1)
        rounding = [number("i32", 4)] if lanes * bits == 512 else []
        parameters = [x, n, x, mask, *rounding]
        f.module.declare(name, x.type, [p.type for p in parameters])
        return f.call(name, x.type, *parameters)

    # --- choices

    def where(self, condition: Val, a: Operand, b: Operand) -> Val:
        return self.f.select(condition, self.f.of(a, self.type), self.f.of(b, self.type))

    def compare(self, predicate: str, a: Val, b: Operand) -> Val:
        """An ordered comparison (`oeq`, `olt`, `ogt`, …) or an unordered one (`uno`, …)."""
        return self.f.fcmp(predicate, a, self.f.of(b, self.type))

    def at_most(self, x: Val, bound: float) -> Val:
        """min(x, bound); NaN stays NaN."""
        return self.where(self.compare("ogt", x, bound), bound, x)

    def at_least(self, x: Val, bound: float) -> Val:
        """max(x, bound); NaN stays NaN."""
        return self.where(self.compare("olt", x, bound), bound, x)

    def round_scaled(self, x: Val, scale: float) -> tuple[Val, Val]:
        """The integer nearest to x·scale: as a float, and as an integer (only its low bits are meant)."""
        shifted = self.madd(x, scale, self.magic)
        return self.sub(shifted, self.magic), self.bits(shifted)

    def any_lane(self, condition: Val) -> Val:
        """True if the condition holds in some lane."""
        if not condition.is_vector:
            return condition
        return self.f.intrinsic("llvm.vector.reduce.or", "i1", condition, overload=condition.type)

    # --- other formats, the C library

    def widened(self, x: Val) -> Val:
        """The lanes as double."""
        return self.f.convert("fpext", x, "double")

    def per_lane(self, name: str, *args: Val, through: str | None = None) -> Val:
        """The C library's function of this name called for each lane, computed in the type `through`, if given."""
        element = through or args[0].element
        self.f.module.declare(name, element, [element] * len(args))
        return self.each_lane(lambda *lanes: self._through(element, lambda *wide: self.f.call(name, element, *wide), lanes), *args)

    def each_lane(self, function: Callable[..., Val], *args: Val) -> Val:
        """A function of scalars for each lane."""
        if not args[0].is_vector:
            return function(*args)
        result = Val(self.type, "poison")
        for lane in range(args[0].lanes):
            y = function(*(self.f.let(a.element, f"extractelement {a.type} {a}, i64 {lane}") for a in args))
            result = self.f.let(self.type, f"insertelement {self.type} {result}, {y.type} {y}, i64 {lane}")
        return result

    def _through(self, element: str, function: Callable[..., Val], args: Sequence[Val]) -> Val:
        """A function of scalars computed in a wider type."""
        own = args[0].type
        if element == own:
            return function(*args)
        return self.f.convert("fptrunc", function(*(self.f.convert("fpext", a, element) for a in args)), own)

    def sigmoid_per_lane(self, x: Val, through: str) -> Val:
        """1 / (1 + e⁻ˣ) for each lane, computed in the wider type `through`."""
        self.f.module.declare("expl", through, [through])

        def one_lane(wide: Val) -> Val:
            one = self.f.convert("fpext", number("double", 1.0), through)
            return self.f.fdiv(one, self.f.fadd(one, self.f.call("expl", through, self.f.fneg(wide)), ""))

        return self.each_lane(lambda lane: self._through(through, one_lane, [lane]), x)


def number_of_bits(type: str) -> int:
    """Bits of one element of a floating-point type."""
    return 64 if "double" in type else 32
