"""Functions and backward nodes of the family "slicing". Generated from the records by tools/generate.py: do not edit."""
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

_select = get_op("select")


class SelectBackward0(OpNode):
    __slots__ = ()
    op = get_op("select")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["index"]),)


NODE_CLASSES["select"] = SelectBackward0

def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The view at one index of a dimension, which is left out; a negative index counts from the end. Raises IndexOutOfRange."""
    return dispatch(_select, (input,), {"dim": dim, "index": index})


_select_backward = get_op("select_backward")
_select_backward_plans = table(_select_backward)


class SelectBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("select_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"], self.plan.attributes["index"]),)


NODE_CLASSES["select_backward"] = SelectBackwardBackward0

def select_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int) -> Tensor:
    """The adjoint of `select`: zeros with the gradient at one index."""
    if MODE.special or type(grad_output) is not Tensor:
        return dispatch(_select_backward, (grad_output,), {"input_sizes": input_sizes, "dim": dim, "index": index})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    k = (t0, input_sizes, dim, index)
    try:
        p = _select_backward_plans[k]
    except (KeyError, TypeError):
        p = _select_backward_plans.make(k, (t0,), {"input_sizes": input_sizes, "dim": dim, "index": index})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SelectBackwardBackward0()
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


_slice = get_op("slice")


class SliceBackward0(OpNode):
    __slots__ = ()
    op = get_op("slice")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["dim"], self.plan.attributes["start"], self.plan.attributes["end"], self.plan.attributes["step"]),)


NODE_CLASSES["slice"] = SliceBackward0

def slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """The view of the elements start, start + step, … before `end` of a dimension, with Python's meaning of negative and missing bounds."""
    return dispatch(_slice, (input,), {"dim": dim, "start": start, "end": end, "step": step})


_slice_backward = get_op("slice_backward")
_slice_backward_plans = table(_slice_backward)


class SliceBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("slice_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"], self.plan.attributes["start"], self.plan.attributes["end"], self.plan.attributes["step"]),)


NODE_CLASSES["slice_backward"] = SliceBackwardBackward0

def slice_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """The adjoint of `slice`: zeros with the gradient in the slice."""
    if MODE.special or type(grad_output) is not Tensor:
        return dispatch(_slice_backward, (grad_output,), {"input_sizes": input_sizes, "dim": dim, "start": start, "end": end, "step": step})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    k = (t0, input_sizes, dim, start, end, step)
    try:
        p = _slice_backward_plans[k]
    except (KeyError, TypeError):
        p = _slice_backward_plans.make(k, (t0,), {"input_sizes": input_sizes, "dim": dim, "start": start, "end": end, "step": step})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = SliceBackwardBackward0()
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


_diagonal = get_op("diagonal")


class DiagonalBackward0(OpNode):
    __slots__ = ()
    op = get_op("diagonal")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["offset"], self.plan.attributes["dim1"], self.plan.attributes["dim2"]),)


NODE_CLASSES["diagonal"] = DiagonalBackward0

def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The view of the diagonal of the matrices in `dim1` and `dim2`, as the last dimension; `offset` > 0 is above the main diagonal."""
    return dispatch(_diagonal, (input,), {"offset": offset, "dim1": dim1, "dim2": dim2})


_diagonal_backward = get_op("diagonal_backward")
_diagonal_backward_plans = table(_diagonal_backward)


class DiagonalBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("diagonal_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["offset"], self.plan.attributes["dim1"], self.plan.attributes["dim2"]),)


NODE_CLASSES["diagonal_backward"] = DiagonalBackwardBackward0

def diagonal_backward(grad_output: Tensor, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Tensor:
    """The adjoint of `diagonal`: zeros with the gradient on the diagonal."""
    if MODE.special or type(grad_output) is not Tensor:
        return dispatch(_diagonal_backward, (grad_output,), {"input_sizes": input_sizes, "offset": offset, "dim1": dim1, "dim2": dim2})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    k = (t0, input_sizes, offset, dim1, dim2)
    try:
        p = _diagonal_backward_plans[k]
    except (KeyError, TypeError):
        p = _diagonal_backward_plans.make(k, (t0,), {"input_sizes": input_sizes, "offset": offset, "dim1": dim1, "dim2": dim2})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = DiagonalBackwardBackward0()
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


_unbind = get_op("unbind")


class UnbindBackward0(OpNode):
    __slots__ = ()
    op = get_op("unbind")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"]),)


NODE_CLASSES["unbind"] = UnbindBackward0

def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The views at every index of a dimension, which is left out. Each can be written in place (PyTorch refuses that)."""
    return dispatch(_unbind, (input,), {"dim": dim})


_split = get_op("split")


class SplitBackward0(OpNode):
    __slots__ = ()
    op = get_op("split")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"]),)


NODE_CLASSES["split"] = SplitBackward0

def split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `split_size` elements each along a dimension; the last may be smaller."""
    return dispatch(_split, (input,), {"split_size": split_size, "dim": dim})


_split_with_sizes = get_op("split_with_sizes")


class SplitWithSizesBackward0(OpNode):
    __slots__ = ()
    op = get_op("split_with_sizes")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"]),)


NODE_CLASSES["split_with_sizes"] = SplitWithSizesBackward0

def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given sizes along a dimension; the sizes must add up to its size."""
    return dispatch(_split_with_sizes, (input,), {"split_sizes": split_sizes, "dim": dim})


_view_dtype = get_op("view_dtype")


def view_dtype(input: Tensor, dtype: DTypeLike) -> Tensor:
    """The same memory read as another dtype of the same size."""
    return dispatch(_view_dtype, (input,), {"dtype": dtype})


_unfold = get_op("unfold")


class UnfoldBackward0(OpNode):
    __slots__ = ()
    op = get_op("unfold")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["dimension"], self.plan.attributes["size"], self.plan.attributes["step"]),)


NODE_CLASSES["unfold"] = UnfoldBackward0

def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """The view of all windows of `size` elements, `step` apart, along a dimension; the windows' elements become a new last dimension."""
    return dispatch(_unfold, (input,), {"dimension": dimension, "size": size, "step": step})


_unfold_backward = get_op("unfold_backward")
_unfold_backward_plans = table(_unfold_backward)


class UnfoldBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("unfold_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["dim"], self.plan.attributes["size"], self.plan.attributes["step"]),)


NODE_CLASSES["unfold_backward"] = UnfoldBackwardBackward0

def unfold_backward(grad_in: Tensor, input_sizes: Sequence[int], dim: int, size: int, step: int) -> Tensor:
    """The adjoint of `unfold`: windows added up where they overlap."""
    if MODE.special or type(grad_in) is not Tensor:
        return dispatch(_unfold_backward, (grad_in,), {"input_sizes": input_sizes, "dim": dim, "size": size, "step": step})
    t0 = grad_in._type
    a0 = grad_in._array
    e0 = grad_in._node
    k = (t0, input_sizes, dim, size, step)
    try:
        p = _unfold_backward_plans[k]
    except (KeyError, TypeError):
        p = _unfold_backward_plans.make(k, (t0,), {"input_sizes": input_sizes, "dim": dim, "size": size, "step": step})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UnfoldBackwardBackward0()
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


_as_strided = get_op("as_strided")


class AsStridedBackward0(OpNode):
    __slots__ = ()
    op = get_op("as_strided")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["size"], self.plan.attributes["stride"], self.plan.attributes["storage_offset"]),)


NODE_CLASSES["as_strided"] = AsStridedBackward0

def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view with the given sizes and strides (in elements) of a contiguous tensor's memory.
    The offset counts from the tensor's own first element; elements may be shown several times.
    """
    return dispatch(_as_strided, (input,), {"size": size, "stride": stride, "storage_offset": storage_offset})


_as_strided_backward = get_op("as_strided_backward")
_as_strided_backward_plans = table(_as_strided_backward)


class AsStridedBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("as_strided_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["input_sizes"], self.plan.attributes["size"], self.plan.attributes["stride"], self.plan.attributes["storage_offset"]),)


NODE_CLASSES["as_strided_backward"] = AsStridedBackwardBackward0

def as_strided_backward(grad_output: Tensor, input_sizes: Sequence[int], size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """The adjoint of `as_strided`: elements shown several times add up."""
    if MODE.special or type(grad_output) is not Tensor:
        return dispatch(_as_strided_backward, (grad_output,), {"input_sizes": input_sizes, "size": size, "stride": stride, "storage_offset": storage_offset})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    k = (t0, input_sizes, size, stride, storage_offset)
    try:
        p = _as_strided_backward_plans[k]
    except (KeyError, TypeError):
        p = _as_strided_backward_plans.make(k, (t0,), {"input_sizes": input_sizes, "size": size, "stride": stride, "storage_offset": storage_offset})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = AsStridedBackwardBackward0()
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
    "select": select,
    "select_backward": select_backward,
    "slice": slice,
    "slice_backward": slice_backward,
    "diagonal": diagonal,
    "diagonal_backward": diagonal_backward,
    "unbind": unbind,
    "split": split,
    "split_with_sizes": split_with_sizes,
    "view_dtype": view_dtype,
    "unfold": unfold,
    "unfold_backward": unfold_backward,
    "as_strided": as_strided,
    "as_strided_backward": as_strided_backward,
}
INPLACE: dict[str, Any] = {
}
