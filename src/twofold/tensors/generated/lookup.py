"""Functions and backward nodes of the family "lookup". Generated from the records by tools/generate.py: do not edit."""
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

_embedding = get_op("embedding")
_embedding_plans = table(_embedding)


class EmbeddingBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("embedding")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_indices, self.plan.ins[0].shape, self.plan.attributes["padding_idx"], self.plan.attributes["scale_grad_by_freq"]) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["embedding"] = EmbeddingBackward0

def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Tensor:
    """Rows of `weight` at the positions of an integer tensor of any shape; result shape (*indices.shape, columns).
    The row `padding_idx` (if not negative) gets no gradient; `scale_grad_by_freq` divides gradients by how often an index occurs.
    """
    if MODE.special or type(weight) is not Tensor or type(indices) is not Tensor:
        return dispatch(_embedding, (weight, indices,), {"padding_idx": padding_idx, "scale_grad_by_freq": scale_grad_by_freq})
    t0 = weight._type
    a0 = weight._array
    e0 = weight._node
    t1 = indices._type
    a1 = indices._array
    e1 = indices._node
    k = (t0, t1, padding_idx, scale_grad_by_freq)
    try:
        p = _embedding_plans[k]
    except (KeyError, TypeError):
        p = _embedding_plans.make(k, (t0, t1,), {"padding_idx": padding_idx, "scale_grad_by_freq": scale_grad_by_freq})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = EmbeddingBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_indices = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_embedding_dense_backward = get_op("embedding_dense_backward")
_embedding_dense_backward_plans = table(_embedding_dense_backward)


class EmbeddingDenseBackwardBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("embedding_dense_backward")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_indices, self.plan.attributes["padding_idx"], self.plan.attributes["scale_grad_by_freq"]) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["embedding_dense_backward"] = EmbeddingDenseBackwardBackward0

def embedding_dense_backward(grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Tensor:
    """The gradient of an embedding's weight, dense: gradients of repeated indices add up."""
    if MODE.special or type(grad_output) is not Tensor or type(indices) is not Tensor:
        return dispatch(_embedding_dense_backward, (grad_output, indices,), {"num_weights": num_weights, "padding_idx": padding_idx, "scale_grad_by_freq": scale_grad_by_freq})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    t1 = indices._type
    a1 = indices._array
    e1 = indices._node
    k = (t0, t1, num_weights, padding_idx, scale_grad_by_freq)
    try:
        p = _embedding_dense_backward_plans[k]
    except (KeyError, TypeError):
        p = _embedding_dense_backward_plans.make(k, (t0, t1,), {"num_weights": num_weights, "padding_idx": padding_idx, "scale_grad_by_freq": scale_grad_by_freq})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = EmbeddingDenseBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_indices = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_bincount_of = get_op("bincount_of")
_bincount_of_plans = table(_bincount_of)


def bincount_of(input: Tensor, minlength: int) -> Tensor:
    """How often each of the numbers 0 … minlength-1 occurs."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_bincount_of, (input,), {"minlength": minlength})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, minlength)
    try:
        p = _bincount_of_plans[k]
    except (KeyError, TypeError):
        p = _bincount_of_plans.make(k, (t0,), {"minlength": minlength})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_one_hot = get_op("one_hot")
_one_hot_plans = table(_one_hot)


def one_hot(input: Tensor, num_classes: int) -> Tensor:
    """For each index a vector of `num_classes` zeros (int64) with a 1 at the index, as a new last dimension."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_one_hot, (input,), {"num_classes": num_classes})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, num_classes)
    try:
        p = _one_hot_plans[k]
    except (KeyError, TypeError):
        p = _one_hot_plans.make(k, (t0,), {"num_classes": num_classes})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_masked_select = get_op("masked_select")
_masked_select_plans = table(_masked_select)


class MaskedSelectBackward0(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("masked_select")
    saved = ('mask',)
    needs = (('mask',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.ins[0].shape, self.s_mask) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["masked_select"] = MaskedSelectBackward0

def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a bool mask (broadcast) is True, 1-d. The size depends on values: a symbol of its own in a static graph."""
    if MODE.special or type(input) is not Tensor or type(mask) is not Tensor:
        return dispatch(_masked_select, (input, mask,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = mask._type
    a1 = mask._array
    e1 = mask._node
    k = (t0, t1)
    try:
        p = _masked_select_plans[k]
    except (KeyError, TypeError):
        p = _masked_select_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaskedSelectBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mask = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_masked_spread = get_op("masked_spread")
_masked_spread_plans = table(_masked_spread)


class MaskedSpreadBackward0(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("masked_spread")
    saved = ('mask',)
    needs = (('mask',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mask) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["masked_spread"] = MaskedSpreadBackward0

def masked_spread(values: Tensor, mask: Tensor, size: Sequence[int]) -> Tensor:
    """The adjoint of `masked_select`: the values where the mask (broadcast with `size`) is True, zeros elsewhere."""
    if MODE.special or type(values) is not Tensor or type(mask) is not Tensor:
        return dispatch(_masked_spread, (values, mask,), {"size": size})
    t0 = values._type
    a0 = values._array
    e0 = values._node
    t1 = mask._type
    a1 = mask._array
    e1 = mask._node
    k = (t0, t1, size)
    try:
        p = _masked_spread_plans[k]
    except (KeyError, TypeError):
        p = _masked_spread_plans.make(k, (t0, t1,), {"size": size})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaskedSpreadBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mask = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_masked_scatter = get_op("masked_scatter")
_masked_scatter_plans = table(_masked_scatter)


class MaskedScatterBackward0(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("masked_scatter")
    saved = ('mask',)
    needs = (('mask',), (), ('mask',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mask, self.plan.ins[0].shape) if e[0] is not None else None, None, rules[2](g, self.s_mask, self.plan.ins[2].shape) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["masked_scatter"] = MaskedScatterBackward0

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy in which the elements where a bool mask is True are those of `source`, taken in order."""
    if MODE.special or type(input) is not Tensor or type(mask) is not Tensor or type(source) is not Tensor:
        return dispatch(_masked_scatter, (input, mask, source,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = mask._type
    a1 = mask._array
    e1 = mask._node
    t2 = source._type
    a2 = source._array
    e2 = source._node
    k = (t0, t1, t2)
    try:
        p = _masked_scatter_plans[k]
    except (KeyError, TypeError):
        p = _masked_scatter_plans.make(k, (t0, t1, t2,), {})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = MaskedScatterBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mask = a1 if e0 is not None or e2 is not None else None
    else:
        o._node = None
    return o


def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`masked_scatter` whose result is written into the first operand, which is returned."""
    return inplace("masked_scatter", input, mask, source)


_masked_scatter_backward = get_op("masked_scatter_backward")
_masked_scatter_backward_plans = table(_masked_scatter_backward)


class MaskedScatterBackwardBackward0(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("masked_scatter_backward")
    saved = ('mask',)
    needs = (('mask',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mask, self.plan.ins[0].shape) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["masked_scatter_backward"] = MaskedScatterBackwardBackward0

def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """The gradient of `masked_scatter`'s source: the selected elements in order, then zeros."""
    if MODE.special or type(grad_output) is not Tensor or type(mask) is not Tensor:
        return dispatch(_masked_scatter_backward, (grad_output, mask,), {"sizes": sizes})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    t1 = mask._type
    a1 = mask._array
    e1 = mask._node
    k = (t0, t1, sizes)
    try:
        p = _masked_scatter_backward_plans[k]
    except (KeyError, TypeError):
        p = _masked_scatter_backward_plans.make(k, (t0, t1,), {"sizes": sizes})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaskedScatterBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mask = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_nonzero = get_op("nonzero")
_nonzero_plans = table(_nonzero)


def nonzero(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero, one a row (int64). The count depends on values: a symbol of its own in a static graph."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_nonzero, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _nonzero_plans[k]
    except (KeyError, TypeError):
        p = _nonzero_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_scatter_reduce = get_op("scatter_reduce")
_scatter_reduce_plans = table(_scatter_reduce)


class ScatterReduceBackward0(OpNode):
    __slots__ = ("s_input", "s_index", "s_src", "s_result")
    op = get_op("scatter_reduce")
    saved = ('input', 'index', 'src', 'result')
    needs = (('input', 'index', 'src', 'result'), (), ('input', 'index', 'src', 'result'))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_input, self.plan.attributes["dim"], self.s_index, self.s_src, self.s_result, self.plan.attributes["reduce"], self.plan.attributes["include_self"]) if e[0] is not None else None, None, rules[2](g, self.s_input, self.plan.attributes["dim"], self.s_index, self.s_src, self.s_result, self.plan.attributes["reduce"], self.plan.attributes["include_self"]) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_index, self.s_src, self.s_result


NODE_CLASSES["scatter_reduce"] = ScatterReduceBackward0

def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """A copy with src[i, j, …] reduced ("sum", "mean", "prod", "amax" or "amin") into index[i, j, …] of dimension `dim`.
    `include_self`: together with what was there, or without it. Equal extremes share the gradient.
    """
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor or type(src) is not Tensor:
        return dispatch(_scatter_reduce, (input, index, src,), {"dim": dim, "reduce": reduce, "include_self": include_self})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    t2 = src._type
    a2 = src._array
    e2 = src._node
    k = (t0, t1, t2, dim, reduce, include_self)
    try:
        p = _scatter_reduce_plans[k]
    except (KeyError, TypeError):
        p = _scatter_reduce_plans.make(k, (t0, t1, t2,), {"dim": dim, "reduce": reduce, "include_self": include_self})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = ScatterReduceBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e0 is not None or e2 is not None else None
        n.s_index = a1 if e0 is not None or e2 is not None else None
        n.s_src = a2 if e0 is not None or e2 is not None else None
        n.s_result = y if e0 is not None or e2 is not None else None
    else:
        o._node = None
    return o


def scatter_reduce_(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """`scatter_reduce` whose result is written into the first operand, which is returned."""
    return inplace("scatter_reduce", input, index, src, dim=dim, reduce=reduce, include_self=include_self)


FUNCTIONS: dict[str, Any] = {
    "embedding": embedding,
    "embedding_dense_backward": embedding_dense_backward,
    "bincount_of": bincount_of,
    "one_hot": one_hot,
    "masked_select": masked_select,
    "masked_spread": masked_spread,
    "masked_scatter": masked_scatter,
    "masked_scatter_backward": masked_scatter_backward,
    "nonzero": nonzero,
    "scatter_reduce": scatter_reduce,
}
INPLACE: dict[str, Any] = {
    "masked_scatter_": masked_scatter_,
    "scatter_reduce_": scatter_reduce_,
}
