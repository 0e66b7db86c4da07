"""Functions and backward nodes of the family "folding". Generated from the records by tools/generate.py: do not edit."""
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

_im2col = get_op("im2col")
_im2col_plans = table(_im2col)


class Im2colBackward0(OpNode):
    __slots__ = ()
    op = get_op("im2col")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["kernel_size"], self.plan.attributes["dilation"], self.plan.attributes["padding"], self.plan.attributes["stride"]),)


NODE_CLASSES["im2col"] = Im2colBackward0

def im2col(input: Tensor, kernel_size: int | Sequence[int], dilation: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, stride: int | Sequence[int] = 1) -> Tensor:
    """The blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel, L), L the number of blocks. Zeros stand for padding."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_im2col, (input,), {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, kernel_size, dilation, padding, stride)
    try:
        p = _im2col_plans[k]
    except (KeyError, TypeError):
        p = _im2col_plans.make(k, (t0,), {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = Im2colBackward0()
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


_col2im = get_op("col2im")
_col2im_plans = table(_col2im)


class Col2ImBackward0(OpNode):
    __slots__ = ()
    op = get_op("col2im")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.attributes["kernel_size"], self.plan.attributes["dilation"], self.plan.attributes["padding"], self.plan.attributes["stride"]),)


NODE_CLASSES["col2im"] = Col2ImBackward0

def col2im(input: Tensor, output_size: Sequence[int], kernel_size: int | Sequence[int], dilation: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, stride: int | Sequence[int] = 1) -> Tensor:
    """The adjoint of `im2col`: columns (N, C * kernel, L) or (C * kernel, L) added up at their blocks' places in (N, C, *output_size)."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_col2im, (input,), {"output_size": output_size, "kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, output_size, kernel_size, dilation, padding, stride)
    try:
        p = _col2im_plans[k]
    except (KeyError, TypeError):
        p = _col2im_plans.make(k, (t0,), {"output_size": output_size, "kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = Col2ImBackward0()
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


_max_unpool2d = get_op("max_unpool2d")
_max_unpool2d_plans = table(_max_unpool2d)


class MaxUnpool2DBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("max_unpool2d")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_indices) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["max_unpool2d"] = MaxUnpool2DBackward0

def max_unpool2d(input: Tensor, indices: Tensor, output_size: Sequence[int]) -> Tensor:
    """Zeros of 2 spatial dimensions `output_size` with the inputs at flat positions of their planes.

    Where a position comes more than once the last element stays. Raises IndexOutOfRange for a position outside.
    """
    if MODE.special or type(input) is not Tensor or type(indices) is not Tensor:
        return dispatch(_max_unpool2d, (input, indices,), {"output_size": output_size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = indices._type
    a1 = indices._array
    e1 = indices._node
    k = (t0, t1, output_size)
    try:
        p = _max_unpool2d_plans[k]
    except (KeyError, TypeError):
        p = _max_unpool2d_plans.make(k, (t0, t1,), {"output_size": output_size})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaxUnpool2DBackward0()
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


_max_unpool3d = get_op("max_unpool3d")
_max_unpool3d_plans = table(_max_unpool3d)


class MaxUnpool3DBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("max_unpool3d")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_indices) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["max_unpool3d"] = MaxUnpool3DBackward0

def max_unpool3d(input: Tensor, indices: Tensor, output_size: Sequence[int]) -> Tensor:
    """Zeros of 3 spatial dimensions `output_size` with the inputs at flat positions of their planes.

    Where a position comes more than once the last element stays. Raises IndexOutOfRange for a position outside.
    """
    if MODE.special or type(input) is not Tensor or type(indices) is not Tensor:
        return dispatch(_max_unpool3d, (input, indices,), {"output_size": output_size})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = indices._type
    a1 = indices._array
    e1 = indices._node
    k = (t0, t1, output_size)
    try:
        p = _max_unpool3d_plans[k]
    except (KeyError, TypeError):
        p = _max_unpool3d_plans.make(k, (t0, t1,), {"output_size": output_size})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = MaxUnpool3DBackward0()
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


_fractional_max_pool2d = get_op("fractional_max_pool2d")


class FractionalMaxPool2DBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("fractional_max_pool2d")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.ins[0].dtype) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["fractional_max_pool2d"] = FractionalMaxPool2DBackward0

def fractional_max_pool2d(input: Tensor, samples: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """Maxima of windows whose places depend on random numbers (B. Graham, arXiv:1412.6071), and their flat positions.

    `_random_samples` of [0, 1) have the shape (N, C, 2). Raises ShapeError where the windows do not fit.
    """
    return dispatch(_fractional_max_pool2d, (input, samples,), {"kernel_size": kernel_size, "output_size": output_size})


_fractional_max_pool3d = get_op("fractional_max_pool3d")


class FractionalMaxPool3DBackward0(OpNode):
    __slots__ = ("s_indices",)
    op = get_op("fractional_max_pool3d")
    saved = ('indices',)
    needs = (('indices',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g[0], self.s_indices, self.plan.ins[0].shape, self.plan.ins[0].dtype) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_indices


NODE_CLASSES["fractional_max_pool3d"] = FractionalMaxPool3DBackward0

def fractional_max_pool3d(input: Tensor, samples: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """Maxima of windows whose places depend on random numbers (B. Graham, arXiv:1412.6071), and their flat positions.

    `_random_samples` of [0, 1) have the shape (N, C, 3). Raises ShapeError where the windows do not fit.
    """
    return dispatch(_fractional_max_pool3d, (input, samples,), {"kernel_size": kernel_size, "output_size": output_size})


FUNCTIONS: dict[str, Any] = {
    "im2col": im2col,
    "col2im": col2im,
    "max_unpool2d": max_unpool2d,
    "max_unpool3d": max_unpool3d,
    "fractional_max_pool2d": fractional_max_pool2d,
    "fractional_max_pool3d": fractional_max_pool3d,
}
INPLACE: dict[str, Any] = {
}
