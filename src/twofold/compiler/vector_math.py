"""Elementary functions as LLVM text, for scalars and vectors of float32 and float64.

Accuracy, domain and source of each function: docs/accuracy.md. Special values are those of C99 and NumPy. Three ways of computing:

    default         the format's own arithmetic, at most 4 units in the last place
    strict float32  float64 arithmetic, rounded once: at most 0.51 units
    strict float64  the C library, lane by lane: its double functions where they are correct to 1 unit, else its long double ones
"""

from __future__ import annotations

from twofold.compiler.llvm import Function, Val, with_element
from twofold.compiler.vector_math_special import ElementaryMath
from twofold.runtime.target import Target

EXACT_ENOUGH = frozenset(("exp", "exp2", "log", "log2", "pow", "sin", "cos"))
"""Functions of the GNU C library whose float64 errors are below 1 unit in the last place (its manual, "Errors in Math Functions")."""


class VectorMath:
    """Writes functions of values of one type into `f`.

    Args:
        f: The function being written. The current block may change: some functions branch.
        type: "float", "double", "<N x float>" or "<N x double>"; of all arguments and results.
        target: The processor; None stands for one with fused multiply-add.
        strict: At most 1 unit in the last place.
        branch_free: Write no branches, so that LLVM can vectorise a loop around the text; by default for scalars.
    """

    def __init__(self, f: Function, type: str, target: Target | None, strict: bool = False, *, branch_free: bool | None = None) -> None:
        self.f, self.type, self.target, self.strict = f, type, target, strict
        self.is_double = "double" in type
        free = type[0] != "<" if branch_free is None else branch_free
        self.wide = strict and not self.is_double
        self.libm = strict and self.is_double
        self.long_double = "x86_fp80" if target is None or target.is_x86 else "fp128"
        self.own = ElementaryMath(f, with_element(type, "double") if strict else type, target, free)

    def _one(self, name: str, *args: Val) -> Val:
        if self.libm:
            return self._from_libm(name, *args)
        if self.wide:
            y: Val = getattr(self.own, name)(*map(self.own.widened, args))
            return self.f.convert("fptrunc", y, "float")
        return getattr(self.own, name)(*args)

    def _from_libm(self, name: str, *args: Val) -> Val:
        if name == "sigmoid":
            return self.own.sigmoid_per_lane(args[0], self.long_double)
        if name in EXACT_ENOUGH:
            return self.own.per_lane(name, *args)
        return self.own.per_lane(name + "l", *args, through=self.long_double)

    def exp(self, x: Val) -> Val:
        """eˣ."""
        return self._one("exp", x)

    def exp2(self, x: Val) -> Val:
        """2ˣ."""
        return self._one("exp2", x)

    def expm1(self, x: Val) -> Val:
        """eˣ - 1."""
        return self._one("expm1", x)

    def log(self, x: Val) -> Val:
        """The natural logarithm."""
        return self._one("log", x)

    def log2(self, x: Val) -> Val:
        """The logarithm to base 2."""
        return self._one("log2", x)

    def log10(self, x: Val) -> Val:
        """The logarithm to base 10."""
        return self._one("log10", x)

    def log1p(self, x: Val) -> Val:
        """log(1 + x)."""
        return self._one("log1p", x)

    def log1p_of_fraction(self, x: Val) -> Val:
        """log(1 + x) for 0 ≤ x ≤ 1, in half the time of `log1p`."""
        return self._one("log1p" if self.libm else "log1p_of_fraction", x)

    def sin(self, x: Val) -> Val:
        """The sine."""
        return self._one("sin", x)

    def cos(self, x: Val) -> Val:
        """The cosine."""
        return self._one("cos", x)

    def tan(self, x: Val) -> Val:
        """The tangent."""
        return self._one("tan", x)

    def asin(self, x: Val) -> Val:
        """The inverse sine, in [-π/2, π/2]."""
        return self._one("asin", x)

    def acos(self, x: Val) -> Val:
        """The inverse cosine, in [0, π]."""
        return self._one("acos", x)

    def atan(self, x: Val) -> Val:
        """The inverse tangent, in [-π/2, π/2]."""
        return self._one("atan", x)

    def atan2(self, y: Val, x: Val) -> Val:
        """The angle of the point (x, y), in [-π, π]."""
        return self._one("atan2", y, x)

    def sinh(self, x: Val) -> Val:
        """The hyperbolic sine."""
        return self._one("sinh", x)

    def cosh(self, x: Val) -> Val:
        """The hyperbolic cosine."""
        return self._one("cosh", x)

    def tanh(self, x: Val) -> Val:
        """The hyperbolic tangent."""
        return self._one("tanh", x)

    def asinh(self, x: Val) -> Val:
        """The inverse hyperbolic sine."""
        return self._one("asinh", x)

    def acosh(self, x: Val) -> Val:
        """The inverse hyperbolic cosine."""
        return self._one("acosh", x)

    def atanh(self, x: Val) -> Val:
        """The inverse hyperbolic tangent."""
        return self._one("atanh", x)

    def erf(self, x: Val) -> Val:
        """The error function."""
        return self._one("erf", x)

    def erfc(self, x: Val) -> Val:
        """1 - erf x."""
        return self._one("erfc", x)

    def pow(self, x: Val, y: Val) -> Val:
        """xʸ."""
        return self._one("pow", x, y)

    def sigmoid(self, x: Val) -> Val:
        """1 / (1 + e⁻ˣ)."""
        return self._one("sigmoid", x)

    def sqrt(self, x: Val) -> Val:
        """The square root, correctly rounded."""
        return self.f.intrinsic("llvm.sqrt", self.type, x)

    def floor(self, x: Val) -> Val:
        """The largest integer that is not greater."""
        return self.f.intrinsic("llvm.floor", self.type, x)

    def ceil(self, x: Val) -> Val:
        """The smallest integer that is not less."""
        return self.f.intrinsic("llvm.ceil", self.type, x)

    def trunc(self, x: Val) -> Val:
        """The integer part."""
        return self.f.intrinsic("llvm.trunc", self.type, x)

    def rint(self, x: Val) -> Val:
        """The nearest integer, the even one of two."""
        return self.f.intrinsic("llvm.rint", self.type, x)
