"""Functions and backward nodes of the family "sorting". Generated from the records by tools/generate.py: do not edit."""
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

_sort = get_op("sort")


class SortBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("sort")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["sort"] = SortBackward0

def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """The elements sorted along `dim`, and their former indices. Equal elements always keep their order; NaN comes after every number."""
    return dispatch(_sort, (input,), {"dim": dim, "descending": descending, "stable": stable})


_argsort = get_op("argsort")
_argsort_plans = table(_argsort)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, *, axis: int | None = None) -> Tensor:
    """The indices that sort the elements along `dim`, see `sort`."""
    if axis is not None:
        dim = axis
    if MODE.special or type(input) is not Tensor:
        return dispatch(_argsort, (input,), {"dim": dim, "descending": descending, "stable": stable})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, descending, stable)
    try:
        p = _argsort_plans[k]
    except (KeyError, TypeError):
        p = _argsort_plans.make(k, (t0,), {"dim": dim, "descending": descending, "stable": stable})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_topk = get_op("topk")


class TopkBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("topk")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["topk"] = TopkBackward0

def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The `k` greatest (or least) elements along `dim`, in order, and their indices. Of equal elements the first are taken."""
    return dispatch(_topk, (input,), {"k": k, "dim": dim, "largest": largest, "sorted": sorted})


_kthvalue = get_op("kthvalue")


class KthvalueBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("kthvalue")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["kthvalue"] = KthvalueBackward0

def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The `k`-th least element along `dim` (k counts from 1) and its index."""
    return dispatch(_kthvalue, (input,), {"k": k, "dim": dim, "keepdim": keepdim})


_median = get_op("median")
_median_plans = table(_median)


class MedianBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("median")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["median"] = MedianBackward0

def median(input: Tensor) -> Tensor:
    """The median of all elements: of an even number the lower of the middle two; NaN if there is one, and NaN of no elements.

    The gradient is shared evenly by the elements equal to it. `twofold.median` also takes a dimension (`median_dim`).
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_median, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _median_plans[k]
    except (KeyError, TypeError):
        p = _median_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MedianBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
        n.s_result = y
    else:
        o._node = None
    return o


_median_dim = get_op("median_dim")


class MedianBackward1(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("median_dim")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["median_dim"] = MedianBackward1

def median_dim(input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The medians along one dimension (the lower of two middle elements; NaN if there is one) and the index of each."""
    return dispatch(_median_dim, (input,), {"dim": dim, "keepdim": keepdim})


_searchsorted = get_op("searchsorted")
_searchsorted_plans = table(_searchsorted)


def searchsorted(sorted_sequence: Tensor, input: Tensor, *, sorter: Tensor | None = None, out_int32: bool = False, right: bool = False) -> Tensor:
    """Where each element of `input` would be put in to keep the last dimension of `sorted_sequence` sorted: left of equals, or right.
    `sorter`: the indices that sort the sequence, where it is not sorted.
    """
    if MODE.special or type(sorted_sequence) is not Tensor or type(input) is not Tensor or (sorter is not None and type(sorter) is not Tensor):
        return dispatch(_searchsorted, (sorted_sequence, input, sorter,), {"out_int32": out_int32, "right": right})
    t0 = sorted_sequence._type
    a0 = sorted_sequence._array
    e0 = sorted_sequence._node
    t1 = input._type
    a1 = input._array
    e1 = input._node
    if sorter is None:
        t2 = a2 = e2 = None
    else:
        t2 = sorter._type
        a2 = sorter._array
        e2 = sorter._node
    k = (t0, t1, t2, out_int32, right)
    try:
        p = _searchsorted_plans[k]
    except (KeyError, TypeError):
        p = _searchsorted_plans.make(k, (t0, t1, t2,), {"out_int32": out_int32, "right": right})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "sort": sort,
    "argsort": argsort,
    "topk": topk,
    "kthvalue": kthvalue,
    "median": median,
    "median_dim": median_dim,
    "searchsorted": searchsorted,
}
INPLACE: dict[str, Any] = {
}
