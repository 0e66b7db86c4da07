"""LLVM text of operators, functions of the scalar vocabulary and conversions, for scalars and vectors alike, with NumPy's meaning."""

from __future__ import annotations

import math
from collections.abc import Callable

from twofold.compiler.expr import is_float
from twofold.compiler.llvm import REGISTERS, Function, Operand, Val, number, suffix_of, with_element
from twofold.compiler.vector_math import VectorMath
from twofold.ops.scalar import SCALAR_FUNCTIONS
from twofold.runtime.target import Target

ELEMENTARY = frozenset((
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "erf", "erfc", "pow", "sigmoid", "sqrt", "floor", "ceil", "trunc", "rint",
))  # fmt: skip
"""Functions of `VectorMath`."""
COMPOSED = frozenset((
    "abs", "sign", "square", "reciprocal", "maximum", "minimum", "fmax", "fmin", "where", "fmod", "remainder", "floor_divide", "divide",
    "copysign", "hypot", "isnan", "isinf", "isfinite", "signbit", "trunc_divide", "xlogy", "xlog1py", "heaviside", "logical_not",
    "logical_and", "logical_or", "logical_xor", "left_shift", "right_shift", "logaddexp", "logaddexp2", "softplus", "sinc",
))  # fmt: skip
"""Functions written here from others."""
ROUNDED_TWICE = frozenset(("hypot", "logaddexp", "logaddexp2", "softplus", "xlogy", "xlog1py", "sinc"))
"""Composed functions whose steps round: strict float32 computes them in float64."""
UNSUPPORTED_FUNCTIONS = frozenset(SCALAR_FUNCTIONS) - ELEMENTARY - COMPOSED
"""Functions that no kernel computes: operations that use them run on the host."""
PREDICATES = {
    "lt": ("olt", "slt", "ult"), "le": ("ole", "sle", "ule"), "gt": ("ogt", "sgt", "ugt"), "ge": ("oge", "sge", "uge"),
    "eq": ("oeq", "eq", "eq"), "ne": ("une", "ne", "ne"),
}  # fmt: skip
"""Comparisons of floats, signed and unsigned integers."""
SPELLINGS = {"floordiv": "floor_divide", "mod": "remainder", "div": "divide"}
REDUCING = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}
"""The function that combines two elements of a reduction."""


class Functions:
    """Writes functions of values into `f`. Types are those of expressions: "f32", "i64", "bool", …; a value is a scalar or a vector."""

    def __init__(self, f: Function, target: Target, strict: bool) -> None:
        self.f, self.target, self.strict = f, target, strict
        self._math: dict[str, VectorMath] = {}

    def apply(self, op: str, args: list[Val], type: str) -> Val:
        """`op` of operands of a type (of the last operand's, for `where`)."""
        op = SPELLINGS.get(op, op)
        if op in PREDICATES:
            ordered, signed, unsigned = PREDICATES[op]
            if is_float(type):
                return self.f.fcmp(ordered, *args)
            return self.f.icmp(signed if type[0] == "i" else unsigned, *args)
        if op == "where":
            return self.f.select(args[0], args[1], args[2])
        if op in ("and", "or", "xor", "logical_and", "logical_or", "logical_xor"):
            return self.f.binary(op.removeprefix("logical_"), args[0], args[1])
        if op in ("not", "logical_not"):
            return self.f.binary("xor", args[0], 1 if type == "bool" else -1)
        if type == "bool":
            return self._bool(op, args)
        if is_float(type):
            return self._float(op, args, type)
        return self._integer(op, args, type)

    def combine(self, op: str, a: Val, b: Val, type: str) -> Val:
        """Two elements of a reduction, or of an updating store, as one."""
        return self.apply(REDUCING.get(op, op), [a, b], type)

    def _bool(self, op: str, args: list[Val]) -> Val:
        if op in ("add", "maximum", "fmax", "max"):
            return self.f.binary("or", args[0], args[1])
        if op in ("mul", "minimum", "fmin", "min"):
            return self.f.binary("and", args[0], args[1])
        assert op in ("abs", "square", "sign"), op
        return args[0]

    # --- floats

    def math(self, x: Val) -> VectorMath:
        """The elementary functions for values of this type."""
        found = self._math.get(x.type)
        if found is None:
            found = self._math[x.type] = VectorMath(self.f, x.type, self.target, self.strict)
        return found

    def _float(self, op: str, args: list[Val], type: str) -> Val:
        f, x = self.f, args[0]
        if op in ELEMENTARY:
            return getattr(self.math(x), op)(*args)
        if self.strict and op in ROUNDED_TWICE:
            return self._strict(op, args, type)
        simple: dict[str, Callable[..., Val]] = {"add": f.fadd, "sub": f.fsub, "mul": f.fmul, "divide": f.fdiv}
        if op in simple:
            return simple[op](x, args[1])
        intrinsic = {"abs": "fabs", "maximum": "maximum", "minimum": "minimum", "copysign": "copysign", "fmax": "maxnum", "fmin": "minnum"}
        if op in intrinsic:
            return self._intrinsic(intrinsic[op], *args)
        if op == "max" or op == "min":
            return self._intrinsic(op + "imum", *args)
        return getattr(self, "_float_" + op)(*args)

    def _strict(self, op: str, args: list[Val], type: str) -> Val:
        """float32 in float64, rounded once. float64 composed of correctly rounded steps; hypot is the C library's."""
        wide = Functions(self.f, self.target, False)
        if type == "f32":
            return self.f.convert("fptrunc", getattr(wide, "_float_" + op)(*(self.f.convert("fpext", a, "double") for a in args)), "float")
        if op == "hypot":
            return self.math(args[0]).own.per_lane("hypotl", *args, through=self.math(args[0]).long_double)
        return getattr(self, "_float_" + op)(*args)

    def _intrinsic(self, name: str, *args: Val) -> Val:
        return self.f.intrinsic("llvm." + name, args[0].type, *args)

    def _float_neg(self, x: Val) -> Val:
        return self.f.fneg(x)

    def _float_square(self, x: Val) -> Val:
        return self.f.fmul(x, x)

    def _float_reciprocal(self, x: Val) -> Val:
        return self.f.fdiv(1.0, x)

    def _float_isnan(self, x: Val) -> Val:
        return self.f.fcmp("uno", x, x)

    def _float_isinf(self, x: Val) -> Val:
        return self.f.fcmp("oeq", self._intrinsic("fabs", x), math.inf)

    def _float_isfinite(self, x: Val) -> Val:
        return self.f.fcmp("olt", self._intrinsic("fabs", x), math.inf)

    def _float_signbit(self, x: Val) -> Val:
        return self.f.icmp("slt", self.f.convert("bitcast", x, "i32" if x.element == "float" else "i64"), 0)

    def _float_sign(self, x: Val) -> Val:
        f = self.f
        one = self._intrinsic("copysign", number(x.type, 1.0), x)
        return f.select(f.fcmp("one", x, 0.0), one, f.fadd(f.fmul(x, 0.0, ""), 0.0, ""))

    def _float_heaviside(self, x: Val, v: Val) -> Val:
        f = self.f
        return f.select(f.fcmp("oeq", x, 0.0), v, f.select(f.fcmp("ogt", x, 0.0), number(x.type, 1.0), number(x.type, 0.0)))

    def _float_trunc_divide(self, x: Val, y: Val) -> Val:
        return self._intrinsic("trunc", self.f.fdiv(x, y))

    def _float_fmod(self, x: Val, y: Val) -> Val:
        """The exact remainder with the dividend's sign: from the quotient where that is small, else the C library's, lane by lane."""
        f = self.f
        wide = x.element == "float" and not self.target.has_fma
        if not x.is_vector or not (wide or self.target.has_fma):
            return f.binary("frem", x, y)
        a, b = self._intrinsic("fabs", x), self._intrinsic("fabs", y)
        if wide:
            a, b = f.convert("fpext", a, "double"), f.convert("fpext", b, "double")
        ratio = f.fdiv(a, b)
        whole = self._intrinsic("trunc", ratio)
        # exact: the quotient is right or too large by 1
        r = f.fsub(a, f.fmul(whole, b, ""), "") if wide else f.fma(f.fneg(whole), b, a)
        r = f.select(f.fcmp("olt", r, 0.0), f.fadd(r, b, ""), r)
        near = self._intrinsic("copysign", f.convert("fptrunc", r, "float") if wide else r, x)
        simple = f.binary("and", f.fcmp("olt", ratio, 2.0**22), f.fcmp("olt", b, math.inf))
        slot = f.variable(x.type, near)
        with f.when(self.math(x).own.any_lane(f.binary("xor", simple, True))):
            f.set(slot, f.select(simple, near, f.binary("frem", x, y)))
        return f.get(slot, x.type)

    def _divided(self, x: Val, y: Val) -> tuple[Val, Val]:
        """(the remainder with the dividend's sign, whether floor division moves it to the divisor's)."""
        f = self.f
        r = self._float_fmod(x, y)
        return r, f.binary("and", f.fcmp("une", r, 0.0), f.binary("xor", f.fcmp("olt", y, 0.0), f.fcmp("olt", r, 0.0)))

    def _float_remainder(self, x: Val, y: Val) -> Val:
        f = self.f
        r, moved = self._divided(x, y)
        zero = self._intrinsic("copysign", number(x.type, 0.0), y)
        return f.select(f.fcmp("oeq", r, 0.0), zero, f.select(moved, f.fadd(r, y, ""), r))

    def _float_floor_divide(self, x: Val, y: Val) -> Val:
        """As NumPy's npy_floor_divide: from the exact remainder, so that the quotient is whole."""
        f = self.f
        r, moved = self._divided(x, y)
        quotient = f.fdiv(f.fsub(x, r, ""), y)
        quotient = f.select(moved, f.fsub(quotient, 1.0, ""), quotient)
        near = self._intrinsic("floor", quotient)
        near = f.select(f.fcmp("ogt", f.fsub(quotient, near, ""), 0.5), f.fadd(near, 1.0, ""), near)
        zero = self._intrinsic("copysign", number(x.type, 0.0), f.fdiv(x, y))
        whole = f.select(f.fcmp("oeq", quotient, 0.0), zero, near)
        return f.select(f.fcmp("oeq", y, 0.0), f.fdiv(x, y), whole)

    def _float_hypot(self, x: Val, y: Val) -> Val:
        """√(x² + y²): float32 in float64; float64 scaled by the larger operand's power of two. Infinite if an operand is."""
        f = self.f
        a, b = self._intrinsic("fabs", x), self._intrinsic("fabs", y)
        if x.element == "float":
            p, q = f.convert("fpext", x, "double"), f.convert("fpext", y, "double")
            root = f.convert("fptrunc", self._intrinsic("sqrt", f.fadd(f.fmul(p, p, ""), f.fmul(q, q, ""), "")), "float")
        else:
            larger = self._intrinsic("maxnum", a, b)
            huge, tiny = f.fcmp("ogt", larger, 2.0**500), f.fcmp("olt", larger, 2.0**-500)
            scale = f.select(huge, number(x.type, 2.0**-600), f.select(tiny, number(x.type, 2.0**600), number(x.type, 1.0)))
            back = f.select(huge, number(x.type, 2.0**600), f.select(tiny, number(x.type, 2.0**-600), number(x.type, 1.0)))
            p, q = f.fmul(a, scale), f.fmul(b, scale)
            root = f.fmul(self._intrinsic("sqrt", f.fadd(f.fmul(p, p, ""), f.fmul(q, q, ""), "")), back)
        infinite = f.binary("or", f.fcmp("oeq", a, math.inf), f.fcmp("oeq", b, math.inf))
        return f.select(infinite, number(x.type, math.inf), root)

    def _float_softplus(self, x: Val) -> Val:
        f, m = self.f, self.math(x)
        tail = m.log1p_of_fraction(m.exp(f.fneg(self._intrinsic("fabs", x))))
        return f.fadd(self._intrinsic("maximum", x, number(x.type, 0.0)), tail)

    def _log_sum(self, x: Val, y: Val, tail: Callable[[Val], Val], same: float) -> Val:
        """max + tail(min - max); infinities of one sign have no difference, equal operands need none."""
        f = self.f
        high, low = self._intrinsic("maximum", x, y), self._intrinsic("minimum", x, y)
        return f.select(f.fcmp("oeq", low, high), f.fadd(high, same), f.fadd(high, tail(f.fsub(low, high))))

    def _float_logaddexp(self, x: Val, y: Val) -> Val:
        m = self.math(x)
        return self._log_sum(x, y, lambda d: m.log1p_of_fraction(m.exp(d)), math.log(2))

    def _float_logaddexp2(self, x: Val, y: Val) -> Val:
        m = self.math(x)
        return self._log_sum(x, y, lambda d: self.f.fmul(m.log1p_of_fraction(m.exp2(d)), 1 / math.log(2), ""), 1.0)

    def _x_times(self, x: Val, y: Val, logarithm: Callable[[Val], Val]) -> Val:
        f = self.f
        plain = f.binary("and", f.fcmp("oeq", x, 0.0), f.fcmp("ord", y, y))
        return f.select(plain, number(x.type, 0.0), f.fmul(x, logarithm(y)))

    def _float_xlogy(self, x: Val, y: Val) -> Val:
        return self._x_times(x, y, self.math(x).log)

    def _float_xlog1py(self, x: Val, y: Val) -> Val:
        return self._x_times(x, y, self.math(x).log1p)

    def _float_sinc(self, x: Val) -> Val:
        """sin(πx) / (πx), the sine of the distance to the nearest whole number."""
        f = self.f
        whole = self._intrinsic("rint", x)
        sine = self.math(x).sin(f.fmul(f.fsub(x, whole, ""), math.pi))
        half = f.fmul(whole, 0.5, "")
        odd = f.fcmp("une", half, self._intrinsic("floor", half))
        sine = f.select(odd, f.fneg(sine), sine)
        return f.select(f.fcmp("oeq", x, 0.0), number(x.type, 1.0), f.fdiv(sine, f.fmul(x, math.pi, "")))

    def _float_round_bf16(self, x: Val) -> Val:
        return bf16_value(self.f, bf16_bits(self.f, x))

    def _float_round_f16(self, x: Val) -> Val:
        return f16_value(self.f, f16_bits(self.f, x, self.target), self.target)

    # --- integers

    def _integer(self, op: str, args: list[Val], type: str) -> Val:
        f, x = self.f, args[0]
        signed = type[0] == "i"
        if op in ("add", "sub", "mul"):
            return f.binary(op, x, args[1])
        if op in ("maximum", "minimum", "fmax", "fmin", "max", "min"):
            return self._intrinsic(("s" if signed else "u") + ("max" if "max" in op else "min"), *args)
        if op == "neg":
            return f.binary("sub", 0, x)
        if op == "square":
            return f.binary("mul", x, x)
        if op == "abs":
            return f.select(f.icmp("slt", x, 0), f.binary("sub", 0, x), x) if signed else x
        if op == "sign":
            positive = f.convert("zext", f.icmp("sgt" if signed else "ne", x, 0), x.element)
            return f.binary("sub", positive, f.convert("zext", f.icmp("slt", x, 0), x.element)) if signed else positive
        if op in ("left_shift", "right_shift"):
            return self._shift(op, x, args[1], type)
        if op == "pow":
            return self._integer_power(x, args[1], type)
        return self._integer_division(op, x, args[1], signed)

    def _shift(self, op: str, x: Val, n: Val, type: str) -> Val:
        """Shifts by the width or more (or by a negative number) give what shifting bit by bit would: 0, or the sign."""
        f, bits = self.f, int(type[1:])
        outside = f.icmp("uge", n, bits)
        kind = "shl" if op == "left_shift" else "ashr" if type[0] == "i" else "lshr"
        shifted = f.binary(kind, x, f.select(outside, 0, n))
        gone: Operand = f.binary("ashr", x, bits - 1) if kind == "ashr" else 0
        return f.select(outside, f.of(gone, x.type), shifted)

    def _integer_division(self, op: str, x: Val, y: Val, signed: bool) -> Val:
        """Floor division, its remainder, C's remainder, or division towards zero; by zero gives 0, as NumPy does."""
        f = self.f
        zero = f.icmp("eq", y, 0)
        minus = f.icmp("eq", y, -1) if signed else None
        unsafe = zero if minus is None else f.binary("or", zero, minus)
        safe = f.select(unsafe, 1, y)
        quotient = f.binary("sdiv" if signed else "udiv", x, safe)
        rest = f.binary("sub", x, f.binary("mul", quotient, safe))
        if signed and op in ("floor_divide", "remainder"):
            down = f.binary("and", f.icmp("ne", rest, 0), f.icmp("slt", f.binary("xor", rest, safe), 0))
            quotient = f.select(down, f.binary("sub", quotient, 1), quotient)
            rest = f.select(down, f.binary("add", rest, safe), rest)
        if op in ("remainder", "fmod"):
            return f.select(unsafe, 0, rest)
        assert op in ("floor_divide", "trunc_divide"), op
        if minus is not None:
            quotient = f.select(minus, f.binary("sub", 0, x), quotient)
        return f.select(zero, 0, quotient)

    def _integer_power(self, x: Val, n: Val, type: str) -> Val:
        """xⁿ by squaring, wrapping; a negative exponent gives the integer part: 0 unless x is 1 or -1."""
        f = self.f
        result, base, left = f.variable(x.type, 1), f.variable(x.type, x), f.variable(x.type, n)
        with f.loop(0, int(type[1:])):
            square, rest, power = f.get(base, x.type), f.get(left, x.type), f.get(result, x.type)
            odd = f.icmp("ne", f.binary("and", rest, 1), 0)
            f.set(result, f.select(odd, f.binary("mul", power, square), power))
            f.set(base, f.binary("mul", square, square))
            f.set(left, f.binary("lshr", rest, 1))
        power = f.get(result, x.type)
        if type[0] == "u":
            return power
        unit = f.binary("or", f.icmp("eq", x, 1), f.icmp("eq", x, -1))
        return f.select(f.icmp("slt", n, 0), f.select(unit, power, 0), power)

    # --- conversions

    def cast(self, x: Val, old: str, new: str) -> Val:
        """NumPy's astype; a float that an integer type cannot hold gives some value, never poison."""
        f, to = self.f, REGISTERS[new]
        if new == "bool":
            return f.fcmp("une", x, 0.0) if is_float(old) else f.icmp("ne", x, 0)
        if old == "bool":
            return f.convert("uitofp" if is_float(new) else "zext", x, to)
        if is_float(old) and is_float(new):
            return f.convert("fpext" if new == "f64" else "fptrunc", x, to)
        if is_float(old):
            return self._float_to_integer(x, new)
        if is_float(new):
            return f.convert("sitofp" if old[0] == "i" else "uitofp", x, to)
        a, b = int(old[1:]), int(new[1:])
        if a == b:
            return x
        return f.convert("trunc" if a > b else "sext" if old[0] == "i" else "zext", x, to)

    def _float_to_integer(self, x: Val, new: str) -> Val:
        """Through i32 for types it holds, else through i64, as C compilers do; u64 above i64's range directly."""
        f, to = self.f, REGISTERS[new]
        wide = "i32" if new in ("i8", "i16", "i32", "u8", "u16") else "i64"
        y = self._saturating("fptosi", x, wide)
        if new == "u64":
            return f.select(f.fcmp("oge", x, 2.0**63), self._saturating("fptoui", x, wide), y)
        return y if to == wide else f.convert("trunc", y, to)

    def _saturating(self, name: str, x: Val, element: str) -> Val:
        type = with_element(x.type, element)
        symbol = f"llvm.{name}.sat.{suffix_of(type)}.{suffix_of(x.type)}"
        self.f.module.declare(symbol, type, [x.type])
        return self.f.call(symbol, type, x)


# --- 16-bit floats


def bf16_bits(f: Function, x: Val) -> Val:
    """A float rounded to bfloat16, nearest even, as an i16. With integers: LLVM's fptrunc may flush denormals."""
    bits = f.convert("bitcast", x, "i32")
    odd = f.binary("and", f.binary("lshr", bits, 16), 1)
    up = f.binary("add", f.binary("add", bits, 0x7FFF), odd)
    up = f.select(f.fcmp("uno", x, x), f.binary("or", bits, 0x400000), up)
    return f.convert("trunc", f.binary("lshr", up, 16), "i16")


def bf16_value(f: Function, bits: Val) -> Val:
    """The float of a bfloat16 in an i16."""
    return f.convert("bitcast", f.binary("shl", f.convert("zext", bits, "i32"), 16), "float")


def _has_half(target: Target) -> bool:
    return not target.is_x86 or "f16c" in target.features


def f16_bits(f: Function, x: Val, target: Target) -> Val:
    """A float rounded to float16, nearest even, as an i16; by integers where the target has no instruction for it."""
    if _has_half(target):
        return f.convert("bitcast", f.convert("fptrunc", x, "half"), "i16")
    bits = f.convert("bitcast", x, "i32")
    sign = f.binary("and", bits, -0x80000000)
    size = f.binary("xor", bits, sign)
    # normal results: round the mantissa by adding, rebias the exponent; denormal ones: the addition of 0.5 aligns the bits
    odd = f.binary("and", f.binary("lshr", size, 13), 1)
    normal = f.binary("lshr", f.binary("add", f.binary("add", size, odd), 0xFFF - (112 << 23)), 13)
    aligned = f.convert("bitcast", f.fadd(f.convert("bitcast", size, "float"), 0.5, ""), "i32")
    small = f.binary("sub", aligned, 0x3F000000)
    special = f.select(f.icmp("ugt", size, 0x7F800000), number(size.type, 0x7E00), number(size.type, 0x7C00))
    result = f.select(f.icmp("ult", size, 113 << 23), small, normal)
    result = f.select(f.icmp("uge", size, 143 << 23), special, result)
    return f.convert("trunc", f.binary("or", result, f.binary("lshr", sign, 16)), "i16")


def f16_value(f: Function, bits: Val, target: Target) -> Val:
    """The float of a float16 in an i16."""
    if _has_half(target):
        return f.convert("fpext", f.convert("bitcast", bits, "half"), "float")
    wide = f.convert("zext", bits, "i32")
    size = f.binary("shl", f.binary("and", wide, 0x7FFF), 13)
    scaled = f.fmul(f.convert("bitcast", size, "float"), 2.0**112, "")
    special = f.binary("or", f.binary("and", size, 0x7FFFFF), 0x7F800000)
    special = f.convert("bitcast", special, "float")
    value = f.select(f.icmp("uge", size, 0x0F800000), special, scaled)
    sign = f.binary("shl", f.binary("and", wide, 0x8000), 16)
    return f.convert("bitcast", f.binary("or", f.convert("bitcast", value, "i32"), sign), "float")
