"""LLVM text of scalar expressions: operators, functions of the scalar vocabulary, conversions between memory and registers."""

from __future__ import annotations

from typing import Protocol

from twofold.compiler.affine import Affine
from twofold.compiler.expr import Expr, is_float, walk
from twofold.compiler.lane_functions import LaneFunctions
from twofold.compiler.llvm import REGISTERS, Function, Val, number, suffix_of
from twofold.ir.dtypes import DType, bfloat16, float16
from twofold.ops.scalar import SCALAR_FUNCTIONS
from twofold.runtime.target import Target

LIBM = frozenset((
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "erf", "erfc", "pow", "fmod", "hypot",
))  # fmt: skip
"""Functions called in the C library (`exp`, `expf`), unless `lane_functions` has them."""
INTRINSICS = {
    "sqrt": "llvm.sqrt",
    "floor": "llvm.floor",
    "ceil": "llvm.ceil",
    "trunc": "llvm.trunc",
    "rint": "llvm.rint",
    "abs": "llvm.fabs",
}
OPERATORS = frozenset((
    "add", "sub", "mul", "div", "neg", "lt", "le", "eq", "ne", "gt", "ge", "and", "or", "xor", "not", "where", "cast", "maximum", "minimum",
    "fmax", "fmin", "isnan", "isinf", "isfinite", "signbit", "copysign", "sign", "logical_and", "logical_or", "logical_xor", "logical_not",
    "sigmoid", "floordiv", "mod", "trunc_divide", "left_shift", "right_shift", "logaddexp", "square", "reciprocal", "heaviside",
    "round_bf16", "round_f16",
))  # fmt: skip
SUPPORTED = OPERATORS | LIBM | frozenset(INTRINSICS)
UNSUPPORTED_FUNCTIONS = frozenset(SCALAR_FUNCTIONS) - SUPPORTED - {"floor_divide", "remainder", "divide"}
"""Functions that no kernel computes: operations that use them run on the host."""
PREDICATES = {"lt": ("olt", "slt", "ult"), "le": ("ole", "sle", "ule"), "gt": ("ogt", "sgt", "ugt"), "ge": ("oge", "sge", "uge"),
              "eq": ("oeq", "eq", "eq"), "ne": ("une", "ne", "ne")}  # fmt: skip


class Surroundings(Protocol):
    """The position at which expressions are evaluated."""

    def index(self, form: Affine) -> Val: ...
    def load(self, e: Expr) -> Val: ...
    def accumulator(self, name: str) -> Val: ...
    def error(self) -> Val: ...


def convert_from_memory(f: Function, x: Val, stored: DType) -> Val:
    """A loaded element as a register value."""
    if stored.short == "bool":
        return f.icmp("ne", x, 0)
    if stored.short == "bf16":
        return f.convert("bitcast", f.binary("shl", f.convert("zext", x, "i32"), 16), "float")
    return f.convert("fpext", x, "float") if stored.short == "f16" else x


def convert_to_memory(f: Function, x: Val, stored: DType) -> Val:
    """A register value as an element in memory; 16-bit floats are rounded to nearest even."""
    if stored.short == "bool":
        return f.convert("zext", x, "i8")
    if stored.short == "bf16":
        # with integers: LLVM's fptrunc becomes an instruction that flushes denormals
        bits = f.convert("bitcast", x, "i32")
        odd = f.binary("and", f.binary("lshr", bits, 16), 1)
        up = f.binary("add", f.binary("add", bits, 0x7FFF), odd)
        up = f.select(f.fcmp("uno", x, x), f.binary("or", bits, 0x400000), up)
        return f.convert("trunc", f.binary("lshr", up, 16), "i16")
    return f.convert("fptrunc", x, "half") if stored.short == "f16" else x


class Values:
    """Values of expressions at one position; computed once until `forget`."""

    def __init__(self, f: Function, target: Target, strict: bool, around: Surroundings) -> None:
        self.f, self.target, self.strict, self.around = f, target, strict, around
        self.known: dict[Expr, Val] = {}

    def forget(self) -> None:
        """The position changed."""
        self.known = {}

    def of(self, root: Expr) -> Val:
        """The value of an expression."""
        for e in walk(root):
            if e not in self.known:
                self.known[e] = self._one(e)
        return self.known[root]

    def _one(self, e: Expr) -> Val:
        f, op = self.f, e.op
        if op == "const":
            return number(REGISTERS[e.type], e.attr)
        if op == "iota":
            return self.around.index(e.attr)
        if op == "within":
            x = self.around.index(e.attr[0])
            return f.binary("and", f.icmp("sge", x, e.attr[1]), f.icmp("slt", x, e.attr[2]))
        if op == "acc":
            return self.around.accumulator(e.attr)
        if op == "load":
            return self.around.load(e)
        args = [self.known[a] for a in e.args]
        if op == "check_index":
            return self._checked(args[0], *e.attr)
        if op == "cast":
            return self._cast(args[0], e.args[0].type, e.type)
        return self._function(op, args, e.args[-1].type)

    def _checked(self, x: Val, size: int, site: int) -> Val:
        f = self.f
        wrapped = f.select(f.icmp("slt", x, 0), f.binary("add", x, size), x)
        bad = f.icmp("uge", wrapped, size)
        with f.when(bad):
            f.store(number("i64", site), self.around.error(), 8)
        return f.select(bad, 0, wrapped)

    def _cast(self, x: Val, old: str, new: str) -> Val:
        f, to = self.f, REGISTERS[new]
        if new == "bool":
            return f.fcmp("une", x, 0) if is_float(old) else f.icmp("ne", x, 0)
        if old == "bool":
            return f.convert("uitofp" if is_float(new) else "zext", x, to)
        if is_float(old):
            if is_float(new):
                return f.convert("fpext" if new == "f64" else "fptrunc", x, to)
            # through i64, as C compilers do for NumPy's astype; out of range is saturated, never undefined
            name = "llvm.fptosi.sat" if new != "u64" else "llvm.fptoui.sat"
            self.f.module.declare(f"{name}.i64.{suffix_of(x.type)}", "i64", [x.type])
            wide = f.call(f"{name}.i64.{suffix_of(x.type)}", "i64", x)
            return wide if to == "i64" else f.convert("trunc", wide, to)
        if is_float(new):
            return f.convert("sitofp" if old[0] == "i" else "uitofp", x, to)
        a, b = int(old[1:]), int(new[1:])
        if a == b:
            return Val(to, x.text)
        return f.convert("trunc" if a > b else "sext" if old[0] == "i" else "zext", x, to)

    def _function(self, op: str, args: list[Val], type: str) -> Val:
        f = self.f
        if op in PREDICATES:
            ordered, signed, unsigned = PREDICATES[op]
            if is_float(type):
                return f.fcmp(ordered, *args)
            return f.icmp(signed if type[0] == "i" else unsigned, *args)
        if op == "where":
            return f.select(args[0], args[1], args[2])
        if op in ("and", "or", "xor", "logical_and", "logical_or", "logical_xor"):
            return f.binary(op.removeprefix("logical_"), args[0], args[1])
        if op in ("not", "logical_not"):
            return f.binary("xor", args[0], 1 if type == "bool" else -1)
        return self._float(op, args, type) if is_float(type) else self._integer(op, args, type)

    def _float(self, op: str, args: list[Val], type: str) -> Val:
        f = self.f
        x = args[0]
        simple = {"add": f.fadd, "sub": f.fsub, "mul": f.fmul, "div": f.fdiv}
        if op in simple:
            return simple[op](x, args[1])
        if op == "neg":
            return f.fneg(x)
        if op == "square":
            return f.fmul(x, x)
        if op == "reciprocal":
            return f.fdiv(1.0, x)
        if op in INTRINSICS:
            return f.intrinsic(INTRINSICS[op], x.type, x)
        if type == "f32" and op in LaneFunctions.NAMES and not self.strict:
            return getattr(LaneFunctions(f, x.type, self.target), op)(x)
        if op in LIBM:
            name = op + ("f" if type == "f32" else "")
            f.module.declare(name, x.type, [a.type for a in args])
            return f.call(name, x.type, *args)
        if op in ("maximum", "minimum"):
            return self.extremum(op[:3], args[0], args[1], type)
        return self._float_rare(op, args, type)

    def _float_rare(self, op: str, args: list[Val], type: str) -> Val:
        f, x = self.f, args[0]
        if op in ("fmax", "fmin"):
            return f.intrinsic("llvm.maxnum" if op == "fmax" else "llvm.minnum", x.type, *args)
        if op == "isnan":
            return f.fcmp("uno", x, x)
        if op in ("isinf", "isfinite"):
            size = f.intrinsic("llvm.fabs", x.type, x)
            return f.fcmp("oeq" if op == "isinf" else "olt", size, float("inf"))
        if op == "signbit":
            integer = "i32" if type == "f32" else "i64"
            return f.icmp("slt", f.convert("bitcast", x, integer), 0)
        if op == "copysign":
            return f.intrinsic("llvm.copysign", x.type, *args)
        if op == "sign":
            one = f.intrinsic("llvm.copysign", x.type, number(x.type, 1.0), x)
            return f.select(f.fcmp("one", x, 0.0), one, f.fadd(x, x))
        if op == "sigmoid":
            return f.fdiv(1.0, f.fadd(1.0, self._float("exp", [f.fneg(x)], type)))
        if op == "logaddexp":
            high, low = self.extremum("max", args[0], args[1], type), self.extremum("min", args[0], args[1], type)
            tail = self._float("log1p", [self._float("exp", [f.fsub(low, high)], type)], type)
            return f.select(f.fcmp("oeq", low, high), f.fadd(high, 0.6931471805599453), f.fadd(high, tail))
        if op in ("round_bf16", "round_f16"):
            return self._rounded(op, x)
        if op == "trunc_divide":
            return f.intrinsic("llvm.trunc", x.type, f.fdiv(*args))
        return self._float_modulo(op, args, type)

    def _rounded(self, op: str, x: Val) -> Val:
        dtype = bfloat16 if op == "round_bf16" else float16
        return convert_from_memory(self.f, convert_to_memory(self.f, x, dtype), dtype)

    def _float_modulo(self, op: str, args: list[Val], type: str) -> Val:
        """NumPy's floor division and remainder: the remainder has the divisor's sign."""
        f = self.f
        x, y = args
        r = self._float("fmod", [x, y], type)
        other = f.binary("and", f.fcmp("une", r, 0.0), f.binary("xor", f.fcmp("olt", y, 0.0), f.fcmp("olt", r, 0.0)))
        if op == "mod":
            zero = f.intrinsic("llvm.copysign", x.type, number(x.type, 0.0), y)
            return f.select(f.fcmp("oeq", r, 0.0), zero, f.select(other, f.fadd(r, y), r))
        quotient = f.fdiv(f.fsub(x, r), y)
        quotient = f.select(other, f.fsub(quotient, 1.0), quotient)
        near = f.intrinsic("llvm.floor", x.type, quotient)
        near = f.select(f.fcmp("ogt", f.fsub(quotient, near), 0.5), f.fadd(near, 1.0), near)
        zero = f.intrinsic("llvm.copysign", x.type, number(x.type, 0.0), f.fdiv(x, y))
        whole = f.select(f.fcmp("oeq", quotient, 0.0), zero, near)
        return f.select(f.fcmp("oeq", y, 0.0), f.fdiv(x, y), whole)

    def _integer(self, op: str, args: list[Val], type: str) -> Val:
        f, x = self.f, args[0]
        signed = type[0] == "i"
        simple = {"add": "add", "sub": "sub", "mul": "mul"}
        if op in simple:
            return f.binary(simple[op], x, args[1])
        if op == "neg":
            return f.binary("sub", 0, x)
        if op == "square":
            return f.binary("mul", x, x)
        if op in ("maximum", "minimum", "fmax", "fmin"):
            return self.extremum("max" if "max" in op else "min", args[0], args[1], type)
        if op == "abs":
            return f.select(f.icmp("slt", x, 0), f.binary("sub", 0, x), x) if signed else x
        if op == "sign":
            if not signed:
                return f.convert("zext", f.icmp("ne", x, 0), x.type)
            positive = f.convert("zext", f.icmp("sgt", x, 0), x.type)
            return f.binary("sub", positive, f.convert("zext", f.icmp("slt", x, 0), x.type))
        if op in ("left_shift", "right_shift"):
            return self._shift(op, args, type)
        return self._integer_division(op, args, type)

    def _shift(self, op: str, args: list[Val], type: str) -> Val:
        f, (x, n) = self.f, args
        bits = int(type[1:])
        outside = f.icmp("uge", n, bits)
        kind = "shl" if op == "left_shift" else "ashr" if type[0] == "i" else "lshr"
        shifted = f.binary(kind, x, f.select(outside, 0, n))
        gone: Val | int = f.binary("ashr", x, bits - 1) if kind == "ashr" else 0
        return f.select(outside, f.of(gone, x.type), shifted)

    def _integer_division(self, op: str, args: list[Val], type: str) -> Val:
        """Floor division, its remainder, or division towards zero; by zero gives 0, as NumPy does."""
        f, (x, y) = self.f, args
        signed = type[0] == "i"
        zero = f.icmp("eq", y, 0)
        minus = f.icmp("eq", y, -1) if signed else None
        unsafe = zero if minus is None else f.binary("or", zero, minus)
        safe = f.select(unsafe, 1, y)
        quotient = f.binary("sdiv" if signed else "udiv", x, safe)
        rest = f.binary("sub", x, f.binary("mul", quotient, safe))
        if signed and op in ("floordiv", "mod"):
            down = f.binary("and", f.icmp("ne", rest, 0), f.icmp("slt", f.binary("xor", rest, safe), 0))
            quotient = f.select(down, f.binary("sub", quotient, 1), quotient)
            rest = f.select(down, f.binary("add", rest, safe), rest)
        if op in ("mod", "fmod", "remainder"):
            return f.select(unsafe, 0, rest)
        if minus is not None:
            quotient = f.select(minus, f.binary("sub", 0, x), quotient)
        return f.select(zero, 0, quotient)

    def extremum(self, op: str, a: Val, b: Val, type: str) -> Val:
        """The greater ("max") or lesser of two; NaN is kept."""
        f = self.f
        if is_float(type):
            return f.intrinsic("llvm.maximum" if op == "max" else "llvm.minimum", a.type, a, b)
        sign = "s" if type[0] == "i" else "u"
        return f.intrinsic(f"llvm.{sign}{op}", a.type, a, b)

    def update(self, mode: str, old: Val, new: Val, type: str) -> Val:
        """What an updating store leaves."""
        if mode in ("max", "min"):
            return self.extremum(mode, old, new, type)
        if type == "bool":
            return self.f.binary("or" if mode == "add" else "and", old, new)
        return self._function(mode, [old, new], type)
