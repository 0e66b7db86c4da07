"""Functions and backward nodes of the family "indexing". Generated from the records by tools/generate.py: do not edit."""
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

_index = get_op("index")


class IndexBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("index")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        n = self.needs_of_inputs()
        return self.flat((rules[0](g, self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dims"]) if n[0] else None, None,))

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["index"] = IndexBackward0

def index(input: Tensor, indices: Sequence[Tensor], dims: int | Sequence[int]) -> Tensor:
    """The elements at integer positions: indices[k] indexes dimension dims[k] (see the module's text); a C-ordered copy.
    Negative indices count from the end; others out of range raise IndexOutOfRange.
    """
    return dispatch(_index, (input, indices,), {"dims": dims})


_index_backward = get_op("index_backward")


class IndexBackwardBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("index_backward")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        n = self.needs_of_inputs()
        return self.flat((rules[0](g, self.s_indices, self.plan.attributes["dims"]) if n[0] else None, None,))

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["index_backward"] = IndexBackwardBackward0

def index_backward(grad: Tensor, indices: Sequence[Tensor], size: Sequence[int], dims: int | Sequence[int]) -> Tensor:
    """The adjoint of `index`: gradients of an element taken several times add up."""
    return dispatch(_index_backward, (grad, indices,), {"size": size, "dims": dims})


_index_put = get_op("index_put")


class IndexPutBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("index_put")
    saved = ('indices',)
    needs = (('indices',), (), ('indices',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        n = self.needs_of_inputs()
        return self.flat((rules[0](g, self.s_indices, self.plan.ins[2].shape, self.plan.attributes["dims"], self.plan.attributes["accumulate"]) if n[0] else None, None, rules[2](g, self.s_indices, self.plan.ins[2].shape, self.plan.attributes["dims"]) if n[2] else None,))

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["index_put"] = IndexPutBackward0

def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, dims: int | Sequence[int], accumulate: bool = False) -> Tensor:
    """A copy in which the elements that `index` would give are `values` (broadcast), or have them added with `accumulate`."""
    return dispatch(_index_put, (input, indices, values,), {"dims": dims, "accumulate": accumulate})


_gather = get_op("gather")
_gather_plans = table(_gather)


class GatherBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("gather")
    saved = ('index',)
    needs = (('index',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.attributes["dim"], self.s_index, self.plan.ins[0].shape) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["gather"] = GatherBackward0

def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The element at index[i, j, …] of dimension `dim` for every position of `index`: result[i, j] = input[index[i, j], j] for dim 0."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor:
        return dispatch(_gather, (input, index,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    k = (t0, t1, dim)
    try:
        p = _gather_plans[k]
    except (KeyError, TypeError):
        p = _gather_plans.make(k, (t0, t1,), {"dim": dim})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = GatherBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_scatter = get_op("scatter")
_scatter_plans = table(_scatter)


class ScatterBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("scatter")
    saved = ('index',)
    needs = (('index',), (), ('index',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.attributes["dim"], self.s_index) if e[0] is not None else None, None, rules[2](g, self.plan.attributes["dim"], self.s_index, self.plan.ins[2].shape) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["scatter"] = ScatterBackward0

def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with src[i, j, …] written at index[i, j, …] of dimension `dim`: result[index[i, j], j] = src[i, j] for dim 0.
    Where positions repeat one of the values is written, and gradients of all flow back.
    """
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor or type(src) is not Tensor:
        return dispatch(_scatter, (input, index, src,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    t2 = src._type
    a2 = src._array
    e2 = src._node
    k = (t0, t1, t2, dim)
    try:
        p = _scatter_plans[k]
    except (KeyError, TypeError):
        p = _scatter_plans.make(k, (t0, t1, t2,), {"dim": dim})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = ScatterBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None or e2 is not None else None
    else:
        o._node = None
    return o


def scatter_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`scatter` whose result is written into the first operand, which is returned."""
    return inplace("scatter", input, index, src, dim=dim)


_scatter_value = get_op("scatter_value")
_scatter_value_plans = table(_scatter_value)


class ScatterBackward1(OpNode):
    __slots__ = ("s_index",)
    op = get_op("scatter_value")
    saved = ('index',)
    needs = (('index',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.attributes["dim"], self.s_index) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["scatter_value"] = ScatterBackward1

def scatter_value(input: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    """`scatter` of one number."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor:
        return dispatch(_scatter_value, (input, index,), {"dim": dim, "value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    k = (t0, t1, dim, scalar_key(value))
    try:
        p = _scatter_value_plans[k]
    except (KeyError, TypeError):
        p = _scatter_value_plans.make(k, (t0, t1,), {"dim": dim, "value": value})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ScatterBackward1()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_scatter_add = get_op("scatter_add")
_scatter_add_plans = table(_scatter_add)


class ScatterAddBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("scatter_add")
    saved = ('index',)
    needs = ((), (), ('index',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None, rules[2](g, self.plan.attributes["dim"], self.s_index, self.plan.ins[2].shape) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["scatter_add"] = ScatterAddBackward0

def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with src[i, j, …] added at index[i, j, …] of dimension `dim`; values for the same position add up."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor or type(src) is not Tensor:
        return dispatch(_scatter_add, (input, index, src,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    t2 = src._type
    a2 = src._array
    e2 = src._node
    k = (t0, t1, t2, dim)
    try:
        p = _scatter_add_plans[k]
    except (KeyError, TypeError):
        p = _scatter_add_plans.make(k, (t0, t1, t2,), {"dim": dim})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = ScatterAddBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e2 is not None else None
    else:
        o._node = None
    return o


def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`scatter_add` whose result is written into the first operand, which is returned."""
    return inplace("scatter_add", input, index, src, dim=dim)


_index_select = get_op("index_select")
_index_select_plans = table(_index_select)


class IndexSelectBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("index_select")
    saved = ('index',)
    needs = (('index',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.attributes["dim"], self.s_index, self.plan.ins[0].shape) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["index_select"] = IndexSelectBackward0

def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of dimension `dim` at the positions of a 1-d index tensor; a copy."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor:
        return dispatch(_index_select, (input, index,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    k = (t0, t1, dim)
    try:
        p = _index_select_plans[k]
    except (KeyError, TypeError):
        p = _index_select_plans.make(k, (t0, t1,), {"dim": dim})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = IndexSelectBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_index_add = get_op("index_add")
_index_add_plans = table(_index_add)


class IndexAddBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("index_add")
    saved = ('index',)
    needs = ((), (), ('index',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None, rules[2](g, self.plan.attributes["dim"], self.s_index, self.plan.ins[2].shape, self.plan.attributes["alpha"]) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["index_add"] = IndexAddBackward0

def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """A copy with `alpha` times the slices of `source` added to the slices of dimension `dim` at the positions of a 1-d index; repeated ones add up."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor or type(source) is not Tensor:
        return dispatch(_index_add, (input, index, source,), {"dim": dim, "alpha": alpha})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    t2 = source._type
    a2 = source._array
    e2 = source._node
    k = (t0, t1, t2, dim, scalar_key(alpha))
    try:
        p = _index_add_plans[k]
    except (KeyError, TypeError):
        p = _index_add_plans.make(k, (t0, t1, t2,), {"dim": dim, "alpha": alpha})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = IndexAddBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e2 is not None else None
    else:
        o._node = None
    return o


def index_add_(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """`index_add` whose result is written into the first operand, which is returned."""
    return inplace("index_add", input, index, source, dim=dim, alpha=alpha)


_index_copy = get_op("index_copy")
_index_copy_plans = table(_index_copy)


class IndexCopyBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("index_copy")
    saved = ('index',)
    needs = (('index',), (), ('index',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.attributes["dim"], self.s_index) if e[0] is not None else None, None, rules[2](g, self.plan.attributes["dim"], self.s_index, self.plan.ins[2].shape) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["index_copy"] = IndexCopyBackward0

def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy with the slices of `source` written over those of dimension `dim` at the positions of a 1-d index tensor."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor or type(source) is not Tensor:
        return dispatch(_index_copy, (input, index, source,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    t2 = source._type
    a2 = source._array
    e2 = source._node
    k = (t0, t1, t2, dim)
    try:
        p = _index_copy_plans[k]
    except (KeyError, TypeError):
        p = _index_copy_plans.make(k, (t0, t1, t2,), {"dim": dim})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = IndexCopyBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None or e2 is not None else None
    else:
        o._node = None
    return o


def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """`index_copy` whose result is written into the first operand, which is returned."""
    return inplace("index_copy", input, index, source, dim=dim)


_index_fill = get_op("index_fill")
_index_fill_plans = table(_index_fill)


class IndexFillBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("index_fill")
    saved = ('index',)
    needs = (('index',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.attributes["dim"], self.s_index) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["index_fill"] = IndexFillBackward0

def index_fill(input: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    """A copy with a number written over the slices of dimension `dim` at the positions of a 1-d index tensor."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor:
        return dispatch(_index_fill, (input, index,), {"dim": dim, "value": value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    k = (t0, t1, dim, scalar_key(value))
    try:
        p = _index_fill_plans[k]
    except (KeyError, TypeError):
        p = _index_fill_plans.make(k, (t0, t1,), {"dim": dim, "value": value})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = IndexFillBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None else None
    else:
        o._node = None
    return o


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    """`index_fill` whose result is written into the first operand, which is returned."""
    return inplace("index_fill", input, index, dim=dim, value=value)


_take = get_op("take")
_take_plans = table(_take)


class TakeBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("take")
    saved = ('index',)
    needs = (('index',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_index, self.plan.ins[0].shape) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["take"] = TakeBackward0

def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at flat positions (of the tensor in C order); negative ones count from the end."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor:
        return dispatch(_take, (input, index,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    k = (t0, t1)
    try:
        p = _take_plans[k]
    except (KeyError, TypeError):
        p = _take_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = TakeBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_put = get_op("put")
_put_plans = table(_put)


class PutBackward0(OpNode):
    __slots__ = ("s_index",)
    op = get_op("put")
    saved = ('index',)
    needs = (('index',), (), ('index',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_index, self.plan.ins[2].shape, self.plan.attributes["accumulate"]) if e[0] is not None else None, None, rules[2](g, self.s_index, self.plan.ins[2].shape) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_index


NODE_CLASSES["put"] = PutBackward0

def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `source` written (or added, with `accumulate`) at flat positions of the tensor in C order."""
    if MODE.special or type(input) is not Tensor or type(index) is not Tensor or type(source) is not Tensor:
        return dispatch(_put, (input, index, source,), {"accumulate": accumulate})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = index._type
    a1 = index._array
    e1 = index._node
    t2 = source._type
    a2 = source._array
    e2 = source._node
    k = (t0, t1, t2, accumulate)
    try:
        p = _put_plans[k]
    except (KeyError, TypeError):
        p = _put_plans.make(k, (t0, t1, t2,), {"accumulate": accumulate})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = PutBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_index = a1 if e0 is not None or e2 is not None else None
    else:
        o._node = None
    return o


def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`put` whose result is written into the first operand, which is returned."""
    return inplace("put", input, index, source, accumulate=accumulate)


FUNCTIONS: dict[str, Any] = {
    "index": index,
    "index_backward": index_backward,
    "index_put": index_put,
    "gather": gather,
    "scatter": scatter,
    "scatter_value": scatter_value,
    "scatter_add": scatter_add,
    "index_select": index_select,
    "index_add": index_add,
    "index_copy": index_copy,
    "index_fill": index_fill,
    "take": take,
    "put": put,
}
INPLACE: dict[str, Any] = {
    "scatter_": scatter_,
    "scatter_add_": scatter_add_,
    "index_add_": index_add_,
    "index_copy_": index_copy_,
    "index_fill_": index_fill_,
    "put_": put_,
}
