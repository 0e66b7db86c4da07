"""Functions and backward nodes of the family "reduction". Generated from the records by tools/generate.py: do not edit."""
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

_divide_by_count = get_op("divide_by_count")
_divide_by_count_plans = table(_divide_by_count)


class DivideByCountBackward0(OpNode):
    __slots__ = ()
    op = get_op("divide_by_count")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["sizes"], self.plan.attributes["correction"]),)


NODE_CLASSES["divide_by_count"] = DivideByCountBackward0

def divide_by_count(input: Tensor, sizes: Sequence[int], correction: Number = 0) -> Tensor:
    """The elements divided by the product of `sizes` less `correction` (by 0 where that is negative).

    Gradients of means use it: the sizes may be symbolic.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_divide_by_count, (input,), {"sizes": sizes, "correction": correction})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, sizes, scalar_key(correction))
    try:
        p = _divide_by_count_plans[k]
    except (KeyError, TypeError):
        p = _divide_by_count_plans.make(k, (t0,), {"sizes": sizes, "correction": correction})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = DivideByCountBackward0()
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


_sum = get_op("sum")
_sum_plans = table(_sum)


class SumBackward0(OpNode):
    __slots__ = ()
    op = get_op("sum")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["keepdim"], self.plan.attributes["dtype"]),)


NODE_CLASSES["sum"] = SumBackward0

def sum(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DTypeLike | None = None, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """The sum over `dim` (all dimensions by default). Integers and bools are summed in int64."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sum, (input,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim, dtype)
    try:
        p = _sum_plans[k]
    except (KeyError, TypeError):
        p = _sum_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SumBackward0()
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


_sum_to_size = get_op("sum_to_size")
_sum_to_size_plans = table(_sum_to_size)


class SumToSizeBackward0(OpNode):
    __slots__ = ()
    op = get_op("sum_to_size")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape),)


NODE_CLASSES["sum_to_size"] = SumToSizeBackward0

def sum_to_size(input: Tensor, size: Sequence[int]) -> Tensor:
    """The sum that undoes broadcasting: `size` must broadcast to the input's shape."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_sum_to_size, (input,), {"size": size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size)
    try:
        p = _sum_to_size_plans[k]
    except (KeyError, TypeError):
        p = _sum_to_size_plans.make(k, (t0,), {"size": size})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SumToSizeBackward0()
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


_mean = get_op("mean")
_mean_plans = table(_mean)


class MeanBackward0(OpNode):
    __slots__ = ()
    op = get_op("mean")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["keepdim"], self.plan.attributes["dtype"]),)


NODE_CLASSES["mean"] = MeanBackward0

def mean(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DTypeLike | None = None, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """The mean over `dim` (all dimensions by default); NaN of no elements. Takes floating-point tensors, others with `dtype=`."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_mean, (input,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim, dtype)
    try:
        p = _mean_plans[k]
    except (KeyError, TypeError):
        p = _mean_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MeanBackward0()
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


_nansum = get_op("nansum")
_nansum_plans = table(_nansum)


class NansumBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("nansum")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["keepdim"], self.plan.attributes["dtype"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["nansum"] = NansumBackward0

def nansum(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DTypeLike | None = None, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """The sum over `dim` in which NaN counts as 0."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_nansum, (input,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim, dtype)
    try:
        p = _nansum_plans[k]
    except (KeyError, TypeError):
        p = _nansum_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = NansumBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
    else:
        o._node = None
    return o


_prod = get_op("prod")
_prod_plans = table(_prod)


class ProdBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("prod")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["keepdim"], self.plan.attributes["dtype"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["prod"] = ProdBackward0

def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DTypeLike | None = None, axis: int | None = None, keepdims: bool | None = None) -> Tensor:
    """The product over one dimension (all by default); 1 of no elements. Integers and bools are multiplied in int64."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_prod, (input,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim, dtype)
    try:
        p = _prod_plans[k]
    except (KeyError, TypeError):
        p = _prod_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ProdBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
    else:
        o._node = None
    return o


_var = get_op("var")
_var_plans = table(_var)


class VarBackward0(OpNode):
    __slots__ = ("s_input",)
    op = get_op("var")
    saved = ('input',)
    needs = (('input',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["correction"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_input


NODE_CLASSES["var"] = VarBackward0

def var(input: Tensor, dim: int | Sequence[int] | None = None, *, correction: Number | None = 1, keepdim: bool = False) -> Tensor:
    """The variance over `dim` with `correction` taken off the number of elements (1: unbiased), computed in two passes.

    NaN where no element is left after the correction.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_var, (input,), {"dim": dim, "correction": correction, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, scalar_key(correction), keepdim)
    try:
        p = _var_plans[k]
    except (KeyError, TypeError):
        p = _var_plans.make(k, (t0,), {"dim": dim, "correction": correction, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = VarBackward0()
        n.seq = tick()
        n.edges = (e0,)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0
    else:
        o._node = None
    return o


_std = get_op("std")
_std_plans = table(_std)


class StdBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("std")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["correction"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["std"] = StdBackward0

def std(input: Tensor, dim: int | Sequence[int] | None = None, *, correction: Number | None = 1, keepdim: bool = False) -> Tensor:
    """The standard deviation, see `var`. Its gradient where it is 0 is taken as 0."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_std, (input,), {"dim": dim, "correction": correction, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, scalar_key(correction), keepdim)
    try:
        p = _std_plans[k]
    except (KeyError, TypeError):
        p = _std_plans.make(k, (t0,), {"dim": dim, "correction": correction, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = StdBackward0()
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


_amax = get_op("amax")
_amax_plans = table(_amax)


class AmaxBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("amax")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["amax"] = AmaxBackward0

def amax(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """The greatest element over `dim` (all dimensions by default); NaN if there is one. The gradient is shared evenly by equal maxima."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_amax, (input,), {"dim": dim, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim)
    try:
        p = _amax_plans[k]
    except (KeyError, TypeError):
        p = _amax_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AmaxBackward0()
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


_amin = get_op("amin")
_amin_plans = table(_amin)


class AminBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("amin")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["amin"] = AminBackward0

def amin(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """The least element over `dim` (all dimensions by default); NaN if there is one. The gradient is shared evenly by equal minima."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_amin, (input,), {"dim": dim, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim)
    try:
        p = _amin_plans[k]
    except (KeyError, TypeError):
        p = _amin_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AminBackward0()
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


_max = get_op("max")
_max_plans = table(_max)


class MaxBackward1(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("max")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["max"] = MaxBackward1

def max(input: Tensor) -> Tensor:
    """The greatest of all elements. `twofold.max` also takes a dimension (`max_dim`) or a second tensor (`maximum`)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_max, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _max_plans[k]
    except (KeyError, TypeError):
        p = _max_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaxBackward1()
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


_min = get_op("min")
_min_plans = table(_min)


class MinBackward1(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("min")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["min"] = MinBackward1

def min(input: Tensor) -> Tensor:
    """The least of all elements. `twofold.min` also takes a dimension (`min_dim`) or a second tensor (`minimum`)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_min, (input,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = t0
    try:
        p = _min_plans[k]
    except (KeyError, TypeError):
        p = _min_plans.make(k, (t0,), {})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MinBackward1()
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


_value_selecting_reduction_backward = get_op("value_selecting_reduction_backward")
_value_selecting_reduction_backward_plans = table(_value_selecting_reduction_backward)


class ValueSelectingReductionBackwardBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("value_selecting_reduction_backward")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_indices, self.plan.attributes["dim"], self.plan.attributes["sizes"], self.plan.attributes["keepdim"]) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["value_selecting_reduction_backward"] = ValueSelectingReductionBackwardBackward0

def value_selecting_reduction_backward(grad: Tensor, dim: int, indices: Tensor, sizes: Sequence[int], keepdim: bool) -> Tensor:
    """Zeros of shape `sizes` with `grad` at `indices` along `dim`, which name no place twice: the gradient of choosing elements."""
    if MODE.special or type(grad) is not Tensor or type(indices) is not Tensor:
        return dispatch(_value_selecting_reduction_backward, (grad, indices,), {"dim": dim, "sizes": sizes, "keepdim": keepdim})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    t1 = indices._type
    a1 = indices._array
    e1 = indices._node
    k = (t0, t1, dim, sizes, keepdim)
    try:
        p = _value_selecting_reduction_backward_plans[k]
    except (KeyError, TypeError):
        p = _value_selecting_reduction_backward_plans.make(k, (t0, t1,), {"dim": dim, "sizes": sizes, "keepdim": keepdim})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ValueSelectingReductionBackwardBackward0()
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


_max_dim = get_op("max_dim")


class MaxBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("max_dim")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["max_dim"] = MaxBackward0

def max_dim(input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The greatest elements along one dimension and the first index of each (that of the first NaN if there is one)."""
    return dispatch(_max_dim, (input,), {"dim": dim, "keepdim": keepdim})


_min_dim = get_op("min_dim")


class MinBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("min_dim")
    saved = ('indices',)
    needs = (('indices',),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["min_dim"] = MinBackward0

def min_dim(input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The least elements along one dimension and the first index of each (that of the first NaN if there is one)."""
    return dispatch(_min_dim, (input,), {"dim": dim, "keepdim": keepdim})


_argmax = get_op("argmax")
_argmax_plans = table(_argmax)


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None, keepdims: bool | None = None) -> Tensor:
    """The index of the first greatest element along `dim` (of the flattened tensor by default); of the first NaN if there is one."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_argmax, (input,), {"dim": dim, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim)
    try:
        p = _argmax_plans[k]
    except (KeyError, TypeError):
        p = _argmax_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_argmin = get_op("argmin")
_argmin_plans = table(_argmin)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None, keepdims: bool | None = None) -> Tensor:
    """The index of the first least element along `dim` (of the flattened tensor by default); of the first NaN if there is one."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_argmin, (input,), {"dim": dim, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim)
    try:
        p = _argmin_plans[k]
    except (KeyError, TypeError):
        p = _argmin_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_any = get_op("any")
_any_plans = table(_any)


def any(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """Whether some element over `dim` (all dimensions by default) is not 0; False of no elements. bool, of uint8 uint8 as in PyTorch."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_any, (input,), {"dim": dim, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim)
    try:
        p = _any_plans[k]
    except (KeyError, TypeError):
        p = _any_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_all = get_op("all")
_all_plans = table(_all)


def all(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """Whether every element over `dim` (all dimensions by default) is not 0; True of no elements. bool, of uint8 uint8 as in PyTorch."""
    if axis is not None:
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_all, (input,), {"dim": dim, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim)
    try:
        p = _all_plans[k]
    except (KeyError, TypeError):
        p = _all_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_count_nonzero = get_op("count_nonzero")
_count_nonzero_plans = table(_count_nonzero)


def count_nonzero(input: Tensor, dim: int | Sequence[int] | None = None, *, axis: int | Sequence[int] | None = None) -> Tensor:
    """How many elements over `dim` (all dimensions by default) are not 0."""
    if axis is not None:
        dim = axis
    if MODE.special or type(input) is not Tensor:
        return dispatch(_count_nonzero, (input,), {"dim": dim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim)
    try:
        p = _count_nonzero_plans[k]
    except (KeyError, TypeError):
        p = _count_nonzero_plans.make(k, (t0,), {"dim": dim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_logsumexp = get_op("logsumexp")
_logsumexp_plans = table(_logsumexp)


class LogsumexpBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("logsumexp")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["keepdim"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["logsumexp"] = LogsumexpBackward0

def logsumexp(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, axis: int | Sequence[int] | None = None, keepdims: bool | None = None) -> Tensor:
    """log(sum(exp(input))) over `dim` without overflow: the maximum is taken out first. Integers become the default float dtype."""
    if dim is None:
        dim = given_axis("logsumexp", axis)
    if keepdims is not None:
        keepdim = keepdims
    if MODE.special or type(input) is not Tensor:
        return dispatch(_logsumexp, (input,), {"dim": dim, "keepdim": keepdim})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim)
    try:
        p = _logsumexp_plans[k]
    except (KeyError, TypeError):
        p = _logsumexp_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LogsumexpBackward0()
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


_linalg_vector_norm = get_op("linalg_vector_norm")
_linalg_vector_norm_plans = table(_linalg_vector_norm)


class LinalgVectorNormBackward0(OpNode):
    __slots__ = ("s_input", "s_result")
    op = get_op("linalg_vector_norm")
    saved = ('input', 'result')
    needs = (('input', 'result'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.s_input, self.s_result, self.plan.ins[0].shape, self.plan.ins[0].dtype, self.plan.attributes["ord"], self.plan.attributes["dim"], self.plan.attributes["keepdim"], self.plan.attributes["dtype"]),)

    def free(self) -> None:
        del self.s_input, self.s_result


NODE_CLASSES["linalg_vector_norm"] = LinalgVectorNormBackward0

def linalg_vector_norm(input: Tensor, ord: Number = 2, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """The vector norm over `dim` (all dimensions by default): ord 2, 1, inf, -inf, 0 (elements that are not 0) or any number p.

    The gradient where the norm is 0 is taken as 0.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_linalg_vector_norm, (input,), {"ord": ord, "dim": dim, "keepdim": keepdim, "dtype": dtype})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, scalar_key(ord), dim, keepdim, dtype)
    try:
        p = _linalg_vector_norm_plans[k]
    except (KeyError, TypeError):
        p = _linalg_vector_norm_plans.make(k, (t0,), {"ord": ord, "dim": dim, "keepdim": keepdim, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = LinalgVectorNormBackward0()
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


FUNCTIONS: dict[str, Any] = {
    "divide_by_count": divide_by_count,
    "sum": sum,
    "sum_to_size": sum_to_size,
    "mean": mean,
    "nansum": nansum,
    "prod": prod,
    "var": var,
    "std": std,
    "amax": amax,
    "amin": amin,
    "max": max,
    "min": min,
    "value_selecting_reduction_backward": value_selecting_reduction_backward,
    "max_dim": max_dim,
    "min_dim": min_dim,
    "argmax": argmax,
    "argmin": argmin,
    "any": any,
    "all": all,
    "count_nonzero": count_nonzero,
    "logsumexp": logsumexp,
    "linalg_vector_norm": linalg_vector_norm,
}
INPLACE: dict[str, Any] = {
}
