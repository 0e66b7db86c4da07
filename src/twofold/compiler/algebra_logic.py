"""Rules of comparisons, truth values, bits, choices, conversions of dtype and dropout. What `algebra` says of exactness holds here too."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.compiler.canonical_values import (
    broadcast,
    call,
    dtype_of,
    full,
    is_bool,
    made_by,
    number_of,
    replaces,
    result,
    type_of_value,
)
from twofold.ir.dtypes import BOOL, FLOAT, INTEGER, DType
from twofold.ir.graph import Node
from twofold.ir.rewrite import Rewriter, Rules

LOGIC = Rules()
rule = LOGIC.rule

OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
"""The comparison that is true where the other is false, unless an operand is NaN. (Of eq and ne: also then.)"""

# ---- comparisons ---------------------------------------------------------------------------------------------------------------------


def compares_floats(node: Node) -> bool:
    """May an operand of the comparison be NaN?"""
    return any(type(x) is float or ((d := dtype_of(x)) is not None and d.category == FLOAT) for x in node.inputs)


@rule("eq", "ne", "lt", "le", "gt", "ge")
def comparison_with_itself(node: Node, rewriter: Rewriter) -> Any:
    """x < x is false, of NaN too; x == x is true and x != x false for integers and bools; for floats x != x is isnan(x)."""
    a, b = node.inputs
    if a is not b:
        return None
    name = node.op.name
    if name in ("lt", "gt"):
        return full(rewriter, result(node), False)
    if not compares_floats(node):
        return full(rewriter, result(node), name != "ne")
    return call(rewriter, "isnan", a) if name == "ne" else None


@rule("logical_not")
def negated_comparison(node: Node, rewriter: Rewriter) -> Any:
    """not (a == b) is a != b, of NaN too; not (a < b) is a >= b where no operand is floating-point."""
    inner = made_by(node.inputs[0], *OPPOSITE)
    if inner is None or (inner.op.name not in ("eq", "ne") and compares_floats(inner)):
        return None
    return call(rewriter, OPPOSITE[inner.op.name], *inner.inputs)


@rule("eq", "ne")
def comparison_of_truth_values(node: Node, rewriter: Rewriter) -> Any:
    """b == True and b != False are b, b == False and b != True are not b, for a bool b."""
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        number = number_of(other)
        if replaces(x, node) and type(number) is bool:
            return x if number is (node.op.name == "eq") else call(rewriter, "logical_not", x)
    return None


# ---- truth values and bits -------------------------------------------------------------------------------------------------------------


@rule("logical_not", "bitwise_not")
def double_inversion(node: Node, rewriter: Rewriter) -> Any:
    """not not b is b for bools, ~~x is x for all bits."""
    x = node.inputs[0]
    inner = made_by(x, node.op.name)
    return inner.inputs[0] if inner is not None and replaces(inner.inputs[0], node) else None


@rule("bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor")
def bits_of_truth_values(node: Node, rewriter: Rewriter) -> Any:
    """On bools the operations on bits are the logical ones: one form of both."""
    return call(rewriter, node.op.name.replace("bitwise", "logical"), *node.inputs) if all(map(is_bool, node.inputs)) else None


@rule("logical_and", "logical_or", "bitwise_and", "bitwise_or")
def operand_taken_twice(node: Node, rewriter: Rewriter) -> Any:
    """x and x is x, x or x is x."""
    a, b = node.inputs
    return a if a is b and replaces(a, node) else None


@rule("logical_xor", "bitwise_xor")
def difference_with_itself(node: Node, rewriter: Rewriter) -> Any:
    """x xor x is false, or 0."""
    a, b = node.inputs
    return full(rewriter, result(node), False if is_bool(node.output) else 0) if a is b else None


@rule("logical_and", "logical_or", "logical_xor")
def truth_value_known(node: Node, rewriter: Rewriter) -> Any:
    """b and True, b or False, b xor False are b; b and False is false, b or True is true, b xor True is not b. NaN counts as true."""
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        number = number_of(other)
        if number is None or not replaces(x, node):
            continue
        known = bool(number)
        if node.op.name == "logical_xor":
            return call(rewriter, "logical_not", x) if known else x
        return x if known is (node.op.name == "logical_and") else full(rewriter, result(node), known)
    return None


@rule("bitwise_and", "bitwise_or", "bitwise_xor")
def bits_known(node: Node, rewriter: Rewriter) -> Any:
    """x & 0 is 0, x | 0 and x ^ 0 are x, x & (all ones) is x, x | (all ones) is all ones."""
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        number = number_of(other)
        if number is None or not replaces(x, node) or result(node).dtype.category != INTEGER:
            continue
        ones = -1 if result(node).dtype.is_signed else int(np.iinfo(result(node).dtype.numpy).max)
        if number == 0:
            return full(rewriter, result(node), 0) if node.op.name == "bitwise_and" else x
        if number == ones and node.op.name != "bitwise_xor":
            return x if node.op.name == "bitwise_and" else full(rewriter, result(node), ones)
    return None


@rule("bitwise_left_shift", "bitwise_right_shift")
def shift_by_nothing(node: Node, rewriter: Rewriter) -> Any:
    """A shift by 0 bits changes nothing."""
    x, distance = node.inputs
    return x if replaces(x, node) and number_of(distance) == 0 else None


# ---- choices ---------------------------------------------------------------------------------------------------------------------------


@rule("where")
def choice_known(node: Node, rewriter: Rewriter) -> Any:
    """where(True, a, b) is a, where(False, a, b) is b, in the result's shape; left alone where the choice also converts the dtype."""
    condition, a, b = node.inputs
    known = number_of(condition)
    return None if known is None else broadcast(rewriter, a if known else b, result(node))


@rule("where")
def choice_between_equals(node: Node, rewriter: Rewriter) -> Any:
    """where(c, a, a) is a."""
    _, a, b = node.inputs
    return a if a is b and replaces(a, node) else None


@rule("where")
def choice_of_truth_values(node: Node, rewriter: Rewriter) -> Any:
    """where(c, True, False) is c, where(c, False, True) is not c."""
    c, a, b = node.inputs
    if not replaces(c, node) or type(a) is not bool or type(b) is not bool or a is b:
        return None
    return c if a else call(rewriter, "logical_not", c)


@rule("where")
def choice_by_inversion(node: Node, rewriter: Rewriter) -> Any:
    """where(not c, a, b) is where(c, b, a) for a bool c."""
    condition, a, b = node.inputs
    inner = made_by(condition, "logical_not")
    return call(rewriter, "where", inner.inputs[0], b, a) if inner is not None and is_bool(inner.inputs[0]) else None


@rule("masked_fill")
def fill_known(node: Node, rewriter: Rewriter) -> Any:
    """masked_fill with a mask of equal elements is the input, or a tensor of the value."""
    x, mask = node.inputs
    known = number_of(mask)
    if known is None:
        return None
    return full(rewriter, result(node), node.attributes["value"]) if known else broadcast(rewriter, x, result(node))


# ---- dtypes ----------------------------------------------------------------------------------------------------------------------------

DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""Bits of the significand, the leading one included: integers of as many bits are exact."""
EXPONENTS = {"float16": 5, "bfloat16": 8, "float32": 8, "float64": 11}
"""Bits of the exponent."""


def holds(wide: DType, narrow: DType) -> bool:
    """Does `wide` hold every value of `narrow` exactly?"""
    if wide is narrow or narrow.category == BOOL:
        return True
    if wide.category == BOOL or narrow.category > wide.category:
        return False
    if narrow.category == FLOAT:
        return DIGITS[wide.name] >= DIGITS[narrow.name] and EXPONENTS[wide.name] >= EXPONENTS[narrow.name]
    bits = 8 * narrow.itemsize - narrow.is_signed
    if wide.category == FLOAT:
        return bits <= DIGITS[wide.name]
    return bits <= 8 * wide.itemsize - wide.is_signed and (wide.is_signed or not narrow.is_signed)


@rule("to")
def conversion_to_itself(node: Node, rewriter: Rewriter) -> Any:
    """A conversion to the dtype the tensor has."""
    return node.inputs[0] if replaces(node.inputs[0], node) else None


@rule("to")
def conversion_by_way_of(node: Node, rewriter: Rewriter) -> Any:
    """to(to(x, b), c) is to(x, c) where b holds every value of x exactly, or where all three are integers and c is no wider than b
    (both drop high bits only).

    What a float out of range of an integer dtype becomes depends on the dtype it comes from, so a float must not be on the way to an
    integer then; and wide integers are rounded twice on their way to a 16-bit float.
    """
    inner = made_by(node.inputs[0], "to")
    if inner is None:
        return None
    x = inner.inputs[0]
    a, b, c = type_of_value(x).dtype, result(inner).dtype, result(node).dtype
    drops_high_bits = a.category == b.category == c.category == INTEGER and c.itemsize <= b.itemsize
    by_float = FLOAT in (a.category, b.category) and c.category == INTEGER and not holds(c, a)
    rounds_twice = c.is_low_precision and a.category == INTEGER and a.itemsize > 2
    if not drops_high_bits and (not holds(b, a) or by_float or rounds_twice):
        return None
    return x if replaces(x, node) else call(rewriter, "to", x, dtype=c)


# ---- dropout -----------------------------------------------------------------------------------------------------------------------------


@rule("native_dropout")
def dropout_without_effect(node: Node, rewriter: Rewriter) -> Any:
    """Not in training the elements are kept as they are, and the mask is true. The generator's state advances in a node of its own."""
    if node.attributes["train"]:
        return None
    kept = full(rewriter, type_of_value(node.outputs[1]), True)
    return (node.inputs[0], kept) if kept is not False else None


@rule("native_dropout_backward")
def dropout_gradient_without_effect(node: Node, rewriter: Rewriter) -> Any:
    """The gradient times 1 where a mask is true everywhere."""
    g, mask = node.inputs
    return g if node.attributes["scale"] == 1.0 and number_of(mask) is True and replaces(g, node) else None
