"""Functions and backward nodes of the family "views". Generated from the records by tools/generate.py: do not edit."""
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
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {type(None)}

_expand = get_op("expand")


class ExpandBackward0(OpNode):
    __slots__ = ()
    op = get_op("expand")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["expand"] = ExpandBackward0

def expand(input: Tensor, size: Sequence[int]) -> Tensor:
    """A view in which dimensions of size 1 (and new leading ones) are repeated without copying; -1 keeps a size."""
    return dispatch(_expand, (input,), {"size": size})


_unsqueeze = get_op("unsqueeze")


class UnsqueezeBackward0(OpNode):
    __slots__ = ()
    op = get_op("unsqueeze")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"]),)


NODE_CLASSES["unsqueeze"] = UnsqueezeBackward0

def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a dimension of size 1 put in at `dim`."""
    return dispatch(_unsqueeze, (input,), {"dim": dim})


_squeeze = get_op("squeeze")


class SqueezeBackward0(OpNode):
    __slots__ = ()
    op = get_op("squeeze")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["squeeze"] = SqueezeBackward0

def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A view without the dimensions of size 1 (all, or those of `dim` that are 1)."""
    return dispatch(_squeeze, (input,), {"dim": dim})


_view = get_op("view")


class ViewBackward0(OpNode):
    __slots__ = ()
    op = get_op("view")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["view"] = ViewBackward0

def view(input: Tensor, size: Sequence[int]) -> Tensor:
    """The same elements under another shape, sharing memory; raises where strides do not allow it. In a graph, which knows no strides, it always exists."""
    return dispatch(_view, (input,), {"size": size})


_reshape_copy = get_op("reshape_copy")
_reshape_copy_plans = table(_reshape_copy)


class UnsafeViewBackward0(OpNode):
    __slots__ = ()
    op = get_op("reshape_copy")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["reshape_copy"] = UnsafeViewBackward0

def reshape_copy(input: Tensor, size: Sequence[int]) -> Tensor:
    """A contiguous copy of the elements under another shape: what `reshape` does where no view exists."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_reshape_copy, (input,), {"size": size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size)
    try:
        p = _reshape_copy_plans[k]
    except (KeyError, TypeError):
        p = _reshape_copy_plans.make(k, (t0,), {"size": size})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UnsafeViewBackward0()
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


_permute = get_op("permute")


class PermuteBackward0(OpNode):
    __slots__ = ()
    op = get_op("permute")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dims"]),)


NODE_CLASSES["permute"] = PermuteBackward0

def permute(input: Tensor, dims: int | Sequence[int]) -> Tensor:
    """A view with the dimensions in the order `dims`."""
    return dispatch(_permute, (input,), {"dims": dims})


_transpose = get_op("transpose")


class TransposeBackward0(OpNode):
    __slots__ = ()
    op = get_op("transpose")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim0"], self.plan.attributes["dim1"]),)


NODE_CLASSES["transpose"] = TransposeBackward0

def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions exchanged."""
    return dispatch(_transpose, (input,), {"dim0": dim0, "dim1": dim1})


_t = get_op("t")


class TBackward0(OpNode):
    __slots__ = ()
    op = get_op("t")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["t"] = TBackward0

def t(input: Tensor) -> Tensor:
    """The transposed matrix, a view (a tensor of fewer than 2 dimensions as it is)."""
    return dispatch(_t, (input,), {})


_alias = get_op("alias")


class AliasBackward0(OpNode):
    __slots__ = ()
    op = get_op("alias")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g),)


NODE_CLASSES["alias"] = AliasBackward0

def alias(input: Tensor) -> Tensor:
    """A view of everything."""
    return dispatch(_alias, (input,), {})


_detach = get_op("detach")


def detach(input: Tensor) -> Tensor:
    """The same memory without history: no gradient flows through it."""
    return dispatch(_detach, (input,), {})


_view_chain = get_op("view_chain")


class AsStridedBackward0(OpNode):
    __slots__ = ()
    op = get_op("view_chain")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["chain"]),)


NODE_CLASSES["view_chain"] = AsStridedBackward0

def view_chain(input: Tensor, chain: Any) -> Tensor:
    """A chain of views applied at once."""
    return dispatch(_view_chain, (input,), {"chain": chain})


_view_chain_backward = get_op("view_chain_backward")
_view_chain_backward_plans = table(_view_chain_backward)


class ViewChainBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("view_chain_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["chain"]),)


NODE_CLASSES["view_chain_backward"] = ViewChainBackwardBackward0

def view_chain_backward(grad: Tensor, size: Sequence[int], chain: Any) -> Tensor:
    """The adjoint of `view_chain`."""
    if MODE.special or type(grad) is not Tensor:
        return dispatch(_view_chain_backward, (grad,), {"size": size, "chain": chain})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    k = (t0, size, scalar_key(chain))
    try:
        p = _view_chain_backward_plans[k]
    except (KeyError, TypeError):
        p = _view_chain_backward_plans.make(k, (t0,), {"size": size, "chain": chain})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ViewChainBackwardBackward0()
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


_view_scatter = get_op("view_scatter")
_view_scatter_plans = table(_view_scatter)


class CopySlices(OpNode):
    __slots__ = ()
    op = get_op("view_scatter")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.ins[1].shape, self.plan.ins[1].dtype, self.plan.attributes["chain"]) if e[0] is not None else None, rules[1](g, self.plan.attributes["chain"]) if e[1] is not None else None)


NODE_CLASSES["view_scatter"] = CopySlices

def view_scatter(input: Tensor, src: Tensor, chain: Any) -> Tensor:
    """A copy of the input in which the elements that a chain of views shows are those of `src`: what a write through a view becomes."""
    if MODE.special or type(input) is not Tensor or type(src) is not Tensor:
        return dispatch(_view_scatter, (input, src,), {"chain": chain})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = src._type
    a1 = src._array
    e1 = src._node
    k = (t0, t1, scalar_key(chain))
    try:
        p = _view_scatter_plans[k]
    except (KeyError, TypeError):
        p = _view_scatter_plans.make(k, (t0, t1,), {"chain": chain})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = CopySlices()
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


FUNCTIONS: dict[str, Any] = {
    "expand": expand,
    "unsqueeze": unsqueeze,
    "squeeze": squeeze,
    "view": view,
    "reshape_copy": reshape_copy,
    "permute": permute,
    "transpose": transpose,
    "t": t,
    "alias": alias,
    "detach": detach,
    "view_chain": view_chain,
    "view_chain_backward": view_chain_backward,
    "view_scatter": view_scatter,
}
INPLACE: dict[str, Any] = {
}
