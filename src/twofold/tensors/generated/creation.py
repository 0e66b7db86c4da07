"""Functions and backward nodes of the family "creation". Generated from the records by tools/generate.py: do not edit."""
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

_zeros = get_op("zeros")


def zeros(size: Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A tensor of zeros."""
    return dispatch(_zeros, (), {"size": size, "dtype": dtype, "device": device})


_ones = get_op("ones")


def ones(size: Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A tensor of ones."""
    return dispatch(_ones, (), {"size": size, "dtype": dtype, "device": device})


_empty = get_op("empty")


def empty(size: Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A tensor whose elements are to be written before they are read. They are zeros, so that programs which forget repeat."""
    return dispatch(_empty, (), {"size": size, "dtype": dtype, "device": device})


_full = get_op("full")


def full(size: Sequence[int], fill_value: Number, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A tensor in which every element is `fill_value`; the dtype is that of the value (bool, int64, or the default one)."""
    return dispatch(_full, (), {"size": size, "fill_value": fill_value, "dtype": dtype, "device": device})


_zeros_like = get_op("zeros_like")
_zeros_like_plans = table(_zeros_like)


def zeros_like(input: Tensor, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """Zeros of the input's shape, dtype and memory layout."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_zeros_like, (input,), {"dtype": dtype, "device": device})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dtype, device)
    try:
        p = _zeros_like_plans[k]
    except (KeyError, TypeError):
        p = _zeros_like_plans.make(k, (t0,), {"dtype": dtype, "device": device})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_ones_like = get_op("ones_like")
_ones_like_plans = table(_ones_like)


def ones_like(input: Tensor, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """Ones of the input's shape, dtype and memory layout."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_ones_like, (input,), {"dtype": dtype, "device": device})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dtype, device)
    try:
        p = _ones_like_plans[k]
    except (KeyError, TypeError):
        p = _ones_like_plans.make(k, (t0,), {"dtype": dtype, "device": device})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_empty_like = get_op("empty_like")
_empty_like_plans = table(_empty_like)


def empty_like(input: Tensor, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A tensor of the input's shape and dtype to be written before it is read (its elements are zeros)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_empty_like, (input,), {"dtype": dtype, "device": device})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dtype, device)
    try:
        p = _empty_like_plans[k]
    except (KeyError, TypeError):
        p = _empty_like_plans.make(k, (t0,), {"dtype": dtype, "device": device})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_full_like = get_op("full_like")
_full_like_plans = table(_full_like)


def full_like(input: Tensor, fill_value: Number, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A tensor of the input's shape and dtype in which every element is `fill_value`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_full_like, (input,), {"fill_value": fill_value, "dtype": dtype, "device": device})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(fill_value), dtype, device)
    try:
        p = _full_like_plans[k]
    except (KeyError, TypeError):
        p = _full_like_plans.make(k, (t0,), {"fill_value": fill_value, "dtype": dtype, "device": device})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_new_zeros = get_op("new_zeros")
_new_zeros_plans = table(_new_zeros)


def new_zeros(input: Tensor, size: Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """Zeros of another shape in the input's dtype and on its device."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_new_zeros, (input,), {"size": size, "dtype": dtype, "device": device})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, dtype, device)
    try:
        p = _new_zeros_plans[k]
    except (KeyError, TypeError):
        p = _new_zeros_plans.make(k, (t0,), {"size": size, "dtype": dtype, "device": device})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_arange = get_op("arange")


def arange(start: Any, end: Any, step: Any = 1, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """The numbers start, start + step, … before `end`: int64 if all three are integers, otherwise the default dtype."""
    return dispatch(_arange, (), {"start": start, "end": end, "step": step, "dtype": dtype, "device": device})


_linspace = get_op("linspace")


def linspace(start: Number, end: Number, steps: int, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """`steps` evenly spaced numbers from `start` to `end`, both included (of an integer dtype: between their whole parts)."""
    return dispatch(_linspace, (), {"start": start, "end": end, "steps": steps, "dtype": dtype, "device": device})


_logspace = get_op("logspace")


def logspace(start: Number, end: Number, steps: int, base: float = 10.0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """`base` to the powers of `steps` evenly spaced exponents from `start` to `end`."""
    return dispatch(_logspace, (), {"start": start, "end": end, "steps": steps, "base": base, "dtype": dtype, "device": device})


_eye = get_op("eye")


def eye(n: int, m: int | None = None, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """A matrix of n rows and m (or n) columns with ones on its main diagonal."""
    return dispatch(_eye, (), {"n": n, "m": m, "dtype": dtype, "device": device})


_tril_indices = get_op("tril_indices")


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """The positions (a row of row numbers, a row of column numbers) of the lower triangle of a matrix."""
    return dispatch(_tril_indices, (), {"row": row, "col": col, "offset": offset, "dtype": dtype, "device": device})


_triu_indices = get_op("triu_indices")


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """The positions (a row of row numbers, a row of column numbers) of the upper triangle of a matrix."""
    return dispatch(_triu_indices, (), {"row": row, "col": col, "offset": offset, "dtype": dtype, "device": device})


_to = get_op("to")
_to_plans = table(_to)


class ToCopyBackward0(OpNode):
    __slots__ = ()
    op = get_op("to")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].dtype),)


NODE_CLASSES["to"] = ToCopyBackward0

def to(input: Tensor, dtype: DTypeLike) -> Tensor:
    """The elements converted to another dtype."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_to, (input,), {"dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dtype)
    try:
        p = _to_plans[k]
    except (KeyError, TypeError):
        p = _to_plans.make(k, (t0,), {"dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ToCopyBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


_clone = get_op("clone")
_clone_plans = table(_clone)


class CloneBackward0(OpNode):
    __slots__ = ()
    op = get_op("clone")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["clone"] = CloneBackward0

def clone(input: Tensor, *, memory_format: str | None = None) -> Tensor:
    """A copy with its own memory, in the same memory layout (or `memory_format`: contiguous_format, channels_last)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_clone, (input,), {"memory_format": memory_format})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, memory_format)
    try:
        p = _clone_plans[k]
    except (KeyError, TypeError):
        p = _clone_plans.make(k, (t0,), {"memory_format": memory_format})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = CloneBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


_copy = get_op("copy")
_copy_plans = table(_copy)


class CopyBackwards(OpNode):
    __slots__ = ()
    op = get_op("copy")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, rules[1](g, self.plan.ins[1].shape, self.plan.ins[1].dtype, self.plan.ins[0].dtype) if e[1] is not None else None)


NODE_CLASSES["copy"] = CopyBackwards

def copy(input: Tensor, other: Tensor) -> Tensor:
    """The elements of `other`, broadcast and converted to the input's shape and dtype."""
    if MODE.special or type(input) is not Tensor or type(other) is not Tensor:
        return dispatch(_copy, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = other._type
    a1 = other._array
    e1 = other._node
    k = (t0, t1)
    try:
        p = _copy_plans[k]
    except (KeyError, TypeError):
        p = _copy_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = CopyBackwards()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


def copy_(input: Tensor, other: Tensor) -> Tensor:
    """`copy` whose result is written into the first operand, which is returned."""
    return inplace("copy", input, other)


_fill = get_op("fill")
_fill_plans = table(_fill)


class FillBackward0(OpNode):
    __slots__ = ()
    op = get_op("fill")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["fill"] = FillBackward0

def fill(input: Tensor, value: Number) -> Tensor:
    """A tensor of the input's type in which every element is `value`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_fill, (input,), {"value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(value))
    try:
        p = _fill_plans[k]
    except (KeyError, TypeError):
        p = _fill_plans.make(k, (t0,), {"value": value})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = FillBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


def fill_(input: Tensor, value: Number) -> Tensor:
    """`fill` whose result is written into the first operand, which is returned."""
    return inplace("fill", input, value=value)


_zero = get_op("zero")
_zero_plans = table(_zero)


class ZeroBackward0(OpNode):
    __slots__ = ()
    op = get_op("zero")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["zero"] = ZeroBackward0

def zero(input: Tensor) -> Tensor:
    """Zeros of the input's type."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_zero, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _zero_plans[k]
    except (KeyError, TypeError):
        p = _zero_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ZeroBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


def zero_(input: Tensor) -> Tensor:
    """`zero` whose result is written into the first operand, which is returned."""
    return inplace("zero", input)


FUNCTIONS: dict[str, Any] = {
    "zeros": zeros,
    "ones": ones,
    "empty": empty,
    "full": full,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "empty_like": empty_like,
    "full_like": full_like,
    "new_zeros": new_zeros,
    "arange": arange,
    "linspace": linspace,
    "logspace": logspace,
    "eye": eye,
    "tril_indices": tril_indices,
    "triu_indices": triu_indices,
    "to": to,
    "clone": clone,
    "copy": copy,
    "fill": fill,
    "zero": zero,
}
INPLACE: dict[str, Any] = {
    "copy_": copy_,
    "fill_": fill_,
    "zero_": zero_,
}
