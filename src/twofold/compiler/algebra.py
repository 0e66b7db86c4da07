"""Rules of arithmetic: sums, products, quotients, powers, extremes, rounding.

Every rule gives, for all operands, the bits that the operation's reference gives: NaN stays NaN, zeros keep their signs, infinities and
subnormal numbers are what they were, integers wrap around. One freedom is taken, which IEEE 754 leaves open: which sign and payload a NaN
has. Identities that hold for real numbers only (x * 0, x - x, x + 0.0, (x * a) * b) are not here for floats.

A 16-bit float is computed in float32 and rounded once. A rule that drops an operation whose result is exact (a negation, a factor of one)
is exact there too; a rule that would drop a rounding is not made.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.compiler.canonical_values import (
    call,
    dtype_of,
    full,
    is_bool,
    is_float,
    is_negative_zero,
    is_zero,
    made_by,
    number_of,
    only_used_here,
    replaces,
    result,
)
from twofold.ir.dtypes import FLOAT
from twofold.ir.graph import Node, input_types
from twofold.ir.rewrite import Rewriter, Rules
from twofold.ir.types import scalar_type

ARITHMETIC = Rules()
rule = ARITHMETIC.rule


def negated_operand(x: Any, node: Node) -> Any:
    """a, if the operand is -a and the negation commutes with the conversion to the node's dtype; otherwise None.

    It does for floats. An integer is negated in its own width (-(-128) is -128 in int8), so its dtype must be the node's. Bools, which
    cannot be negated or subtracted, never match.
    """
    negation = made_by(x, "neg")
    if negation is None:
        return None
    dtype = dtype_of(x)
    assert dtype is not None
    return negation.inputs[0] if dtype.category == FLOAT or dtype is result(node).dtype else None


# ---- sums and differences ----------------------------------------------------------------------------------------------------------


@rule("add")
def add_nothing(node: Node, rewriter: Rewriter) -> Any:
    """x + (-0.0) is x for every float; x + 0.0 is not, since -0.0 + 0.0 is 0.0. x + 0 for integers, x or False for bools."""
    nothing = is_negative_zero if is_float(node) else is_zero
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        if replaces(x, node) and nothing(number_of(other)):
            return x
    return None


@rule("add")
def add_of_negation(node: Node, rewriter: Rewriter) -> Any:
    """a + (-b) is a - b, and (-a) + b is b - a: IEEE 754 defines the difference so; modulo 2**n for integers."""
    a, b = node.inputs
    for x, other in ((b, a), (a, b)):
        inner = negated_operand(x, node)
        if inner is not None and not is_bool(other):
            return call(rewriter, "sub", other, inner)
    return None


@rule("rsub")
def reflected_difference(node: Node, rewriter: Rewriter) -> Any:
    """rsub(a, b) is b - a by definition: one form of differences."""
    a, b = node.inputs
    return call(rewriter, "sub", b, a)


@rule("sub")
def subtract_nothing(node: Node, rewriter: Rewriter) -> Any:
    """x - 0.0 is x for every float (-0.0 - 0.0 is -0.0); x - (-0.0) is not. x - 0 for integers."""
    x, other = node.inputs
    return x if replaces(x, node) and is_zero(number_of(other)) else None


@rule("sub")
def subtract_negation(node: Node, rewriter: Rewriter) -> Any:
    """a - (-b) is a + b, as in `add_of_negation`."""
    a, b = node.inputs
    inner = negated_operand(b, node)
    return None if inner is None else call(rewriter, "add", a, inner)


@rule("sub")
def subtract_from_nothing(node: Node, rewriter: Rewriter) -> Any:
    """-0.0 - x is -x for every float (0.0 - x is not: 0.0 - 0.0 is 0.0); 0 - x for integers."""
    nothing = is_negative_zero if is_float(node) else is_zero
    a, x = node.inputs
    return call(rewriter, "neg", x) if replaces(x, node) and nothing(number_of(a)) else None


@rule("sub")
def difference_of_one_integer(node: Node, rewriter: Rewriter) -> Any:
    """x - x is 0 for integers. (For floats it is NaN where x is infinite or NaN.)"""
    a, b = node.inputs
    return full(rewriter, result(node), 0) if a is b and not is_float(node) else None


# ---- negation ----------------------------------------------------------------------------------------------------------------------


@rule("neg")
def double_negation(node: Node, rewriter: Rewriter) -> Any:
    """-(-x) is x: the sign bit flips twice; modulo 2**n for integers."""
    inner = made_by(node.inputs[0], "neg")
    return None if inner is None else inner.inputs[0]


@rule("neg")
def negated_integer_difference(node: Node, rewriter: Rewriter) -> Any:
    """-(a - b) is b - a modulo 2**n. (For equal floats one is -0.0, the other 0.0.)"""
    inner = made_by(node.inputs[0], "sub")
    return None if inner is None or is_float(node) else call(rewriter, "sub", *reversed(inner.inputs))


@rule("neg")
def negated_product(node: Node, rewriter: Rewriter) -> Any:
    """-(x * c) is x * (-c), and -(x / c) is x / (-c), for a float number c: rounding to nearest is symmetric."""
    x = node.inputs[0]
    inner = made_by(x, "mul", "div")
    if inner is None or not is_float(node) or not only_used_here(x, rewriter) or type(inner.inputs[1]) is not float:
        return None
    return call(rewriter, inner.op.name, inner.inputs[0], -inner.inputs[1])


@rule("abs")
def absolute_of_sign_change(node: Node, rewriter: Rewriter) -> Any:
    """|-x| is |x|; of the least integer both are that integer."""
    inner = made_by(node.inputs[0], "neg")
    return None if inner is None else call(rewriter, "abs", inner.inputs[0])


# ---- products and quotients ----------------------------------------------------------------------------------------------------------


@rule("mul")
def multiply_by_one(node: Node, rewriter: Rewriter) -> Any:
    """x * 1 is x for every number; x and True for bools."""
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        if replaces(x, node) and number_of(other) == 1:
            return x
    return None


@rule("mul")
def multiply_by_minus_one(node: Node, rewriter: Rewriter) -> Any:
    """x * -1 is -x: exact, with the sign of zeros and infinities changed; modulo 2**n for integers."""
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        if replaces(x, node) and number_of(other) == -1:
            return call(rewriter, "neg", x)
    return None


@rule("mul")
def multiply_integer_by_zero(node: Node, rewriter: Rewriter) -> Any:
    """x * 0 is 0 for integers and bools. (For floats it is NaN where x is infinite or NaN, and may be -0.0.)"""
    if is_float(node) or not any(is_zero(number_of(x)) for x in node.inputs):
        return None
    return full(rewriter, result(node), False if is_bool(node.output) else 0)


@rule("mul", "div")
def product_of_negations(node: Node, rewriter: Rewriter) -> Any:
    """(-a) * (-b) is a * b and (-a) / (-b) is a / b: the sign of the result is that of both operands together."""
    a, b = (negated_operand(x, node) for x in node.inputs)
    return None if a is None or b is None else call(rewriter, node.op.name, a, b)


@rule("mul", "div")
def negation_into_number(node: Node, rewriter: Rewriter) -> Any:
    """(-a) * c is a * (-c) and (-a) / c is a / (-c) for a float number c."""
    a, c = node.inputs
    inner = negated_operand(a, node)
    return call(rewriter, node.op.name, inner, -c) if inner is not None and type(c) is float and is_float(node) else None


@rule("div")
def divide_by_one(node: Node, rewriter: Rewriter) -> Any:
    """x / 1 is x for every float. (Integers divide in floating point: another dtype.)"""
    x, other = node.inputs
    return x if replaces(x, node) and number_of(other) == 1 else None


@rule("div")
def divide_by_power_of_two(node: Node, rewriter: Rewriter) -> Any:
    """x / c is x * (1 / c) where 1 / c is a number of the dtype: both round the same real number once.

    So for powers of two whose reciprocal is normal, and -1; c may be a constant tensor of them. For other c the reciprocal is itself
    rounded, and the product differs from the quotient in the last bit.
    """
    x, c = node.inputs
    if dtype_of(x) is not result(node).dtype or not is_float(node):
        return None
    if type(c) is float or (type(c) is int and abs(c) < 1 << 63):
        inverse = exact_reciprocal(np.asarray(float(c)), node)
        return None if inverse is None else call(rewriter, "mul", x, float(inverse))
    source = made_by(c, "constant")
    if source is None or dtype_of(c) is not dtype_of(x):
        return None
    inverse = exact_reciprocal(source.attributes["value"].array, node)
    return None if inverse is None else call(rewriter, "mul", x, rewriter.constant(inverse))


def exact_reciprocal(array: np.ndarray, node: Node) -> np.ndarray | None:
    """1 / array if every element is a power of two (or minus one) that is normal in the node's dtype, as is its reciprocal."""
    # 2**±14 are normal in float16, 2**±126 in bfloat16 and float32, 2**±1022 in float64
    limit = {2: 14, 4: 126, 8: 1022}[result(node).dtype.itemsize]
    wide = array.astype(np.float64)
    if wide.size == 0 or wide.size > 1 << 16 or not np.isfinite(wide).all():
        return None
    fraction, exponent = np.frexp(wide)
    if not ((np.abs(fraction) == 0.5) & (np.abs(exponent - 1) <= limit)).all():
        return None
    return (1.0 / wide).astype(array.dtype)


# ---- powers ------------------------------------------------------------------------------------------------------------------------


@rule("pow")
def power_of_zero_or_one(node: Node, rewriter: Rewriter) -> Any:
    """x ** 1 is x, and x ** 0 is 1, of NaN too (IEEE 754-2019, 9.2.1); for integers and bools as well."""
    x, exponent = node.inputs
    if type(exponent) not in (bool, int, float) or not replaces(x, node):
        return None
    if exponent == 1:
        return x
    return full(rewriter, result(node), True if is_bool(x) else 1.0 if is_float(node) else 1) if exponent == 0 else None


@rule("pow")
def power_of_two(node: Node, rewriter: Rewriter) -> Any:
    """x ** 2 is x * x: what the reference computes, correctly rounded; modulo 2**n for integers."""
    x, exponent = node.inputs
    matches = type(exponent) in (int, float) and exponent == 2 and replaces(x, node)
    return call(rewriter, "mul", x, x) if matches else None


@rule("pow")
def power_as_function(node: Node, rewriter: Rewriter) -> Any:
    """x ** 0.5 is sqrt(x), and x ** -1 is 1 / x.

    The power function of IEEE 754 differs from the square root at -inf (inf) and -0.0 (0.0), but the reference, NumPy's operator with a
    number as exponent, computes the square root and the reciprocal themselves, as PyTorch does. A tensor of exponents goes the other way
    and is left alone.
    """
    x, exponent = node.inputs
    if type(exponent) not in (int, float) or not is_float(node) or not replaces(x, node):
        return None
    name = {0.5: "sqrt", -1: "reciprocal"}.get(exponent)
    return None if name is None else call(rewriter, name, x)


# ---- extremes ------------------------------------------------------------------------------------------------------------------------


@rule("maximum", "minimum", "fmax", "fmin")
def extreme_of_one(node: Node, rewriter: Rewriter) -> Any:
    """max(x, x) is x, NaN included."""
    a, b = node.inputs
    return a if a is b and replaces(a, node) else None


@rule("maximum", "minimum", "fmax", "fmin")
def extreme_taken_twice(node: Node, rewriter: Rewriter) -> Any:
    """max(max(x, y), y) is max(x, y), with y in one place: whichever of 0.0 and -0.0 the operation takes, it takes twice."""
    a, b = node.inputs
    inner = made_by(a, node.op.name)
    if inner is None or not replaces(a, node):
        return None
    y = inner.inputs[1]
    same_number = type(y) is type(b) and type(y) in (int, float) and y == b and is_zero(y) == is_zero(b)
    return a if y is b or same_number else None


@rule("maximum", "minimum")
def extreme_of_no_limit(node: Node, rewriter: Rewriter) -> Any:
    """max(x, -inf) and min(x, inf) are x; NaN stays NaN. (fmax takes the number rather than NaN: not there.)"""
    limit = -math.inf if node.op.name == "maximum" else math.inf
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        if is_float(node) and replaces(x, node) and number_of(other) == limit:
            return x
    return None


@rule("relu", "abs", "sign", "sgn", "floor", "ceil", "trunc")
def applied_twice(node: Node, rewriter: Rewriter) -> Any:
    """f(f(x)) is f(x) for projections."""
    return node.inputs[0] if made_by(node.inputs[0], node.op.name) is not None else None


@rule("floor", "ceil", "trunc")
def rounded_already(node: Node, rewriter: Rewriter) -> Any:
    """Whole numbers stay: the result of another rounding, and integers."""
    x = node.inputs[0]
    return x if not is_float(node) or made_by(x, "floor", "ceil", "trunc") is not None else None


# ---- numbers as operands -------------------------------------------------------------------------------------------------------------


@rule("add", "sub", "mul", "div", "maximum", "minimum", "fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "where")
def number_as_operand(node: Node, rewriter: Rewriter) -> Any:
    """A tensor of equal elements, of the dtype the operation computes in, becomes a Python number, if the result's type stays.

    The number holds the element exactly, so the conversion back gives the element. (Not for `pow`, which treats exponents that are numbers
    otherwise, nor for integer divisions, which report a zero divisor differently.)
    """
    inputs = node.inputs
    first = 1 if node.op.name == "where" else 0  # the condition stays a tensor
    for k in range(first, len(inputs)):
        x = inputs[k]
        dtype = dtype_of(x)
        if dtype is None or not any(dtype_of(inputs[i]) is dtype for i in range(first, len(inputs)) if i != k):
            continue
        number = number_of(x)
        if number is None:
            continue
        changed = (*inputs[:k], number, *inputs[k + 1 :])
        if node.op.infer(input_types(changed, scalar_type), node.attributes) is node.output.type:
            rewriter.set_inputs(node, changed)
            return True
    return None
