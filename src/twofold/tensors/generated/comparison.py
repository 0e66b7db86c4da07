"""Functions and backward nodes of the family "comparison". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any


from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op, given_axis
from twofold.ir.types import scalar_type
from twofold.tape.node import tick
from twofold.tape.plan import scalar_key, table
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch
from twofold.tensors.inplace import inplace
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {type(None)}

_eq = get_op("eq")
_eq_plans = table(_eq)


def eq(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """A bool tensor: true where the first operand is equal to the second. False where either is NaN."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_eq, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _eq_plans[k]
    except (KeyError, TypeError):
        p = _eq_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def eq_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`eq` whose result is written into the first operand, which is returned."""
    return inplace("eq", input, other)


_lt = get_op("lt")
_lt_plans = table(_lt)


def lt(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """A bool tensor: true where the first operand is less than the second. False where either is NaN."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_lt, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _lt_plans[k]
    except (KeyError, TypeError):
        p = _lt_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def lt_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`lt` whose result is written into the first operand, which is returned."""
    return inplace("lt", input, other)


_le = get_op("le")
_le_plans = table(_le)


def le(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """A bool tensor: true where the first operand is less than or equal to the second. False where either is NaN."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_le, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _le_plans[k]
    except (KeyError, TypeError):
        p = _le_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def le_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`le` whose result is written into the first operand, which is returned."""
    return inplace("le", input, other)


_gt = get_op("gt")
_gt_plans = table(_gt)


def gt(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """A bool tensor: true where the first operand is greater than the second. False where either is NaN."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_gt, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _gt_plans[k]
    except (KeyError, TypeError):
        p = _gt_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def gt_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`gt` whose result is written into the first operand, which is returned."""
    return inplace("gt", input, other)


_ge = get_op("ge")
_ge_plans = table(_ge)


def ge(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """A bool tensor: true where the first operand is greater than or equal to the second. False where either is NaN."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_ge, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _ge_plans[k]
    except (KeyError, TypeError):
        p = _ge_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def ge_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`ge` whose result is written into the first operand, which is returned."""
    return inplace("ge", input, other)


_ne = get_op("ne")
_ne_plans = table(_ne)


def ne(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """A bool tensor: true where the operands differ, or where either is NaN."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_ne, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _ne_plans[k]
    except (KeyError, TypeError):
        p = _ne_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def ne_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`ne` whose result is written into the first operand, which is returned."""
    return inplace("ne", input, other)


_isnan = get_op("isnan")
_isnan_plans = table(_isnan)


def isnan(input: Tensor) -> Tensor:
    """True where the element is NaN; false for integers."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_isnan, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _isnan_plans[k]
    except (KeyError, TypeError):
        p = _isnan_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_isinf = get_op("isinf")
_isinf_plans = table(_isinf)


def isinf(input: Tensor) -> Tensor:
    """True where the element is an infinity; false for integers."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_isinf, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _isinf_plans[k]
    except (KeyError, TypeError):
        p = _isinf_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_isfinite = get_op("isfinite")
_isfinite_plans = table(_isfinite)


def isfinite(input: Tensor) -> Tensor:
    """True where the element is neither NaN nor infinite."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_isfinite, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _isfinite_plans[k]
    except (KeyError, TypeError):
        p = _isfinite_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_signbit = get_op("signbit")
_signbit_plans = table(_signbit)


def signbit(input: Tensor) -> Tensor:
    """True where the sign bit is set: negative numbers, -0.0 and negative NaN."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_signbit, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _signbit_plans[k]
    except (KeyError, TypeError):
        p = _signbit_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_logical_and = get_op("logical_and")
_logical_and_plans = table(_logical_and)


def logical_and(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """True where both elements are nonzero (NaN counts as nonzero)."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_logical_and, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _logical_and_plans[k]
    except (KeyError, TypeError):
        p = _logical_and_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def logical_and_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`logical_and` whose result is written into the first operand, which is returned."""
    return inplace("logical_and", input, other)


_logical_or = get_op("logical_or")
_logical_or_plans = table(_logical_or)


def logical_or(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """True where at least one element is nonzero (NaN counts as nonzero)."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_logical_or, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _logical_or_plans[k]
    except (KeyError, TypeError):
        p = _logical_or_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def logical_or_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`logical_or` whose result is written into the first operand, which is returned."""
    return inplace("logical_or", input, other)


_logical_xor = get_op("logical_xor")
_logical_xor_plans = table(_logical_xor)


def logical_xor(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """True where exactly one element is nonzero (NaN counts as nonzero)."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_logical_xor, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _logical_xor_plans[k]
    except (KeyError, TypeError):
        p = _logical_xor_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def logical_xor_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`logical_xor` whose result is written into the first operand, which is returned."""
    return inplace("logical_xor", input, other)


_logical_not = get_op("logical_not")
_logical_not_plans = table(_logical_not)


def logical_not(input: Tensor) -> Tensor:
    """True where the element is zero."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_logical_not, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _logical_not_plans[k]
    except (KeyError, TypeError):
        p = _logical_not_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def logical_not_(input: Tensor) -> Tensor:
    """`logical_not` whose result is written into the first operand, which is returned."""
    return inplace("logical_not", input)


_bitwise_and = get_op("bitwise_and")
_bitwise_and_plans = table(_bitwise_and)


def bitwise_and(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """And of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_bitwise_and, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _bitwise_and_plans[k]
    except (KeyError, TypeError):
        p = _bitwise_and_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def bitwise_and_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`bitwise_and` whose result is written into the first operand, which is returned."""
    return inplace("bitwise_and", input, other)


_bitwise_or = get_op("bitwise_or")
_bitwise_or_plans = table(_bitwise_or)


def bitwise_or(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_bitwise_or, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _bitwise_or_plans[k]
    except (KeyError, TypeError):
        p = _bitwise_or_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def bitwise_or_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`bitwise_or` whose result is written into the first operand, which is returned."""
    return inplace("bitwise_or", input, other)


_bitwise_xor = get_op("bitwise_xor")
_bitwise_xor_plans = table(_bitwise_xor)


def bitwise_xor(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Exclusive or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_bitwise_xor, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _bitwise_xor_plans[k]
    except (KeyError, TypeError):
        p = _bitwise_xor_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def bitwise_xor_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`bitwise_xor` whose result is written into the first operand, which is returned."""
    return inplace("bitwise_xor", input, other)


_bitwise_not = get_op("bitwise_not")
_bitwise_not_plans = table(_bitwise_not)


def bitwise_not(input: Tensor) -> Tensor:
    """Every bit inverted; of bools, the logical not. Floating-point dtypes raise DTypeError."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_bitwise_not, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _bitwise_not_plans[k]
    except (KeyError, TypeError):
        p = _bitwise_not_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def bitwise_not_(input: Tensor) -> Tensor:
    """`bitwise_not` whose result is written into the first operand, which is returned."""
    return inplace("bitwise_not", input)


_bitwise_left_shift = get_op("bitwise_left_shift")
_bitwise_left_shift_plans = table(_bitwise_left_shift)


def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Bits moved up by `other` places; 0 where `other` is negative or too large."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_bitwise_left_shift, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _bitwise_left_shift_plans[k]
    except (KeyError, TypeError):
        p = _bitwise_left_shift_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def bitwise_left_shift_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`bitwise_left_shift` whose result is written into the first operand, which is returned."""
    return inplace("bitwise_left_shift", input, other)


_bitwise_right_shift = get_op("bitwise_right_shift")
_bitwise_right_shift_plans = table(_bitwise_right_shift)


def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Bits moved down by `other` places, the sign kept; 0 (-1 of negative numbers) where `other` is negative or too large."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_bitwise_right_shift, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1)
    try:
        p = _bitwise_right_shift_plans[k]
    except (KeyError, TypeError):
        p = _bitwise_right_shift_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


def bitwise_right_shift_(input: Tensor, other: Tensor | Number) -> Tensor:
    """`bitwise_right_shift` whose result is written into the first operand, which is returned."""
    return inplace("bitwise_right_shift", input, other)


_isclose = get_op("isclose")
_isclose_plans = table(_isclose)


def isclose(input: Tensor | Number, other: Tensor | Number, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """True where |input - other| <= atol + rtol * |other|, or both are one infinity (or NaN, with equal_nan). The dtypes must be equal."""
    if MODE.special or type(input) is not Tensor or type(other) not in _PLAIN:
        return dispatch(_isclose, (input, other,), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if type(other) is Tensor:
        t1 = other._type
        a1 = other._array
        e1 = other._node
    else:
        t1 = scalar_type(type(other))
        a1 = other
        e1 = None
    k = (t0, t1, scalar_key(rtol), scalar_key(atol), equal_nan)
    try:
        p = _isclose_plans[k]
    except (KeyError, TypeError):
        p = _isclose_plans.make(k, (t0, t1,), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "eq": eq,
    "lt": lt,
    "le": le,
    "gt": gt,
    "ge": ge,
    "ne": ne,
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "signbit": signbit,
    "logical_and": logical_and,
    "logical_or": logical_or,
    "logical_xor": logical_xor,
    "logical_not": logical_not,
    "bitwise_and": bitwise_and,
    "bitwise_or": bitwise_or,
    "bitwise_xor": bitwise_xor,
    "bitwise_not": bitwise_not,
    "bitwise_left_shift": bitwise_left_shift,
    "bitwise_right_shift": bitwise_right_shift,
    "isclose": isclose,
}
INPLACE: dict[str, Any] = {
    "eq_": eq_,
    "lt_": lt_,
    "le_": le_,
    "gt_": gt_,
    "ge_": ge_,
    "ne_": ne_,
    "logical_and_": logical_and_,
    "logical_or_": logical_or_,
    "logical_xor_": logical_xor_,
    "logical_not_": logical_not_,
    "bitwise_and_": bitwise_and_,
    "bitwise_or_": bitwise_or_,
    "bitwise_xor_": bitwise_xor_,
    "bitwise_not_": bitwise_not_,
    "bitwise_left_shift_": bitwise_left_shift_,
    "bitwise_right_shift_": bitwise_right_shift_,
}
