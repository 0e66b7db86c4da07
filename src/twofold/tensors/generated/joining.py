"""Functions and backward nodes of the family "joining". Generated from the records by tools/generate.py: do not edit."""
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

_cat = get_op("cat")


class CatBackward0(OpNode):
    __slots__ = ()
    op = get_op("cat")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        n = self.needs_of_inputs()
        return self.flat((rules[0](g, tuple(t.shape for t in self.plan.ins[0]), self.plan.attributes["dim"]) if n[0] else None,))


NODE_CLASSES["cat"] = CatBackward0

def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after another along an existing dimension; other sizes must be equal. Dtypes are promoted."""
    return dispatch(_cat, (tensors,), {"dim": dim})


_stack = get_op("stack")


class StackBackward0(OpNode):
    __slots__ = ()
    op = get_op("stack")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        n = self.needs_of_inputs()
        return self.flat((rules[0](g, self.plan.attributes["dim"]) if n[0] else None,))


NODE_CLASSES["stack"] = StackBackward0

def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape joined along a new dimension. Dtypes are promoted."""
    return dispatch(_stack, (tensors,), {"dim": dim})


_repeat = get_op("repeat")
_repeat_plans = table(_repeat)


class RepeatBackward0(OpNode):
    __slots__ = ()
    op = get_op("repeat")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["repeats"]),)


NODE_CLASSES["repeat"] = RepeatBackward0

def repeat(input: Tensor, repeats: Sequence[int]) -> Tensor:
    """The tensor repeated `repeats[i]` times along dimension i; more counts than dimensions add leading ones. A copy; `expand` is the view."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_repeat, (input,), {"repeats": repeats})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, repeats)
    try:
        p = _repeat_plans[k]
    except (KeyError, TypeError):
        p = _repeat_plans.make(k, (t0,), {"repeats": repeats})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = RepeatBackward0()
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


_flip = get_op("flip")
_flip_plans = table(_flip)


class FlipBackward0(OpNode):
    __slots__ = ()
    op = get_op("flip")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dims"]),)


NODE_CLASSES["flip"] = FlipBackward0

def flip(input: Tensor, dims: int | Sequence[int]) -> Tensor:
    """The elements in reverse order along the dimensions `dims`; a copy."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_flip, (input,), {"dims": dims})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dims)
    try:
        p = _flip_plans[k]
    except (KeyError, TypeError):
        p = _flip_plans.make(k, (t0,), {"dims": dims})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = FlipBackward0()
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


_roll = get_op("roll")
_roll_plans = table(_roll)


class RollBackward0(OpNode):
    __slots__ = ()
    op = get_op("roll")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["shifts"], self.plan.attributes["dims"]),)


NODE_CLASSES["roll"] = RollBackward0

def roll(input: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> Tensor:
    """The elements moved `shifts` places along `dims`, those pushed out coming in again at the other end. Without `dims` the flattened tensor is rolled."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_roll, (input,), {"shifts": shifts, "dims": dims})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, shifts, dims)
    try:
        p = _roll_plans[k]
    except (KeyError, TypeError):
        p = _roll_plans.make(k, (t0,), {"shifts": shifts, "dims": dims})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = RollBackward0()
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


_tril = get_op("tril")
_tril_plans = table(_tril)


class TrilBackward0(OpNode):
    __slots__ = ()
    op = get_op("tril")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["diagonal"]),)


NODE_CLASSES["tril"] = TrilBackward0

def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of the matrices in the last two dimensions, zeros above `diagonal` (0 is the main one, positive above it)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_tril, (input,), {"diagonal": diagonal})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, diagonal)
    try:
        p = _tril_plans[k]
    except (KeyError, TypeError):
        p = _tril_plans.make(k, (t0,), {"diagonal": diagonal})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = TrilBackward0()
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


def tril_(input: Tensor, diagonal: int = 0) -> Tensor:
    """`tril` whose result is written into the first operand, which is returned."""
    return inplace("tril", input, diagonal=diagonal)


_triu = get_op("triu")
_triu_plans = table(_triu)


class TriuBackward0(OpNode):
    __slots__ = ()
    op = get_op("triu")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["diagonal"]),)


NODE_CLASSES["triu"] = TriuBackward0

def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of the matrices in the last two dimensions, zeros below `diagonal` (0 is the main one, positive above it)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_triu, (input,), {"diagonal": diagonal})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, diagonal)
    try:
        p = _triu_plans[k]
    except (KeyError, TypeError):
        p = _triu_plans.make(k, (t0,), {"diagonal": diagonal})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = TriuBackward0()
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


def triu_(input: Tensor, diagonal: int = 0) -> Tensor:
    """`triu` whose result is written into the first operand, which is returned."""
    return inplace("triu", input, diagonal=diagonal)


_diag_embed = get_op("diag_embed")
_diag_embed_plans = table(_diag_embed)


class DiagEmbedBackward0(OpNode):
    __slots__ = ()
    op = get_op("diag_embed")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["offset"], self.plan.attributes["dim1"], self.plan.attributes["dim2"]),)


NODE_CLASSES["diag_embed"] = DiagEmbedBackward0

def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices in `dim1` and `dim2` whose diagonals are the input's last dimension, zeros elsewhere."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_diag_embed, (input,), {"offset": offset, "dim1": dim1, "dim2": dim2})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, offset, dim1, dim2)
    try:
        p = _diag_embed_plans[k]
    except (KeyError, TypeError):
        p = _diag_embed_plans.make(k, (t0,), {"offset": offset, "dim1": dim1, "dim2": dim2})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = DiagEmbedBackward0()
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


FUNCTIONS: dict[str, Any] = {
    "cat": cat,
    "stack": stack,
    "repeat": repeat,
    "flip": flip,
    "roll": roll,
    "tril": tril,
    "triu": triu,
    "diag_embed": diag_embed,
}
INPLACE: dict[str, Any] = {
    "tril_": tril_,
    "triu_": triu_,
}
