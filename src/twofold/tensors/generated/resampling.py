"""Functions and backward nodes of the family "resampling". Generated from the records by tools/generate.py: do not edit."""
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

_upsample_nearest1d = get_op("upsample_nearest1d")
_upsample_nearest1d_plans = table(_upsample_nearest1d)


class UpsampleNearest1DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_nearest1d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_nearest1d"] = UpsampleNearest1DBackward0

def upsample_nearest1d(input: Tensor, size: Sequence[int], mode: str = 'nearest', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Each output is the input nearest to it, over the last 1 dimension. `scales` is output / input."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_nearest1d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_nearest1d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_nearest1d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleNearest1DBackward0()
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


_upsample_nearest_exact1d = get_op("upsample_nearest_exact1d")
_upsample_nearest_exact1d_plans = table(_upsample_nearest_exact1d)


class UpsampleNearestExact1DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_nearest_exact1d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_nearest_exact1d"] = UpsampleNearestExact1DBackward0

def upsample_nearest_exact1d(input: Tensor, size: Sequence[int], mode: str = 'nearest-exact', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Each output is the input nearest to it, over the last 1 dimension. `scales` is output / input. Counted from the pixels' centres."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_nearest_exact1d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_nearest_exact1d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_nearest_exact1d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleNearestExact1DBackward0()
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


_upsample_nearest2d = get_op("upsample_nearest2d")
_upsample_nearest2d_plans = table(_upsample_nearest2d)


class UpsampleNearest2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_nearest2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_nearest2d"] = UpsampleNearest2DBackward0

def upsample_nearest2d(input: Tensor, size: Sequence[int], mode: str = 'nearest', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Each output is the input nearest to it, over the last 2 dimensions. `scales` is output / input."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_nearest2d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_nearest2d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_nearest2d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleNearest2DBackward0()
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


_upsample_nearest_exact2d = get_op("upsample_nearest_exact2d")
_upsample_nearest_exact2d_plans = table(_upsample_nearest_exact2d)


class UpsampleNearestExact2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_nearest_exact2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_nearest_exact2d"] = UpsampleNearestExact2DBackward0

def upsample_nearest_exact2d(input: Tensor, size: Sequence[int], mode: str = 'nearest-exact', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Each output is the input nearest to it, over the last 2 dimensions. `scales` is output / input. Counted from the pixels' centres."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_nearest_exact2d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_nearest_exact2d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_nearest_exact2d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleNearestExact2DBackward0()
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


_upsample_nearest3d = get_op("upsample_nearest3d")
_upsample_nearest3d_plans = table(_upsample_nearest3d)


class UpsampleNearest3DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_nearest3d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_nearest3d"] = UpsampleNearest3DBackward0

def upsample_nearest3d(input: Tensor, size: Sequence[int], mode: str = 'nearest', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Each output is the input nearest to it, over the last 3 dimensions. `scales` is output / input."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_nearest3d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_nearest3d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_nearest3d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleNearest3DBackward0()
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


_upsample_nearest_exact3d = get_op("upsample_nearest_exact3d")
_upsample_nearest_exact3d_plans = table(_upsample_nearest_exact3d)


class UpsampleNearestExact3DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_nearest_exact3d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_nearest_exact3d"] = UpsampleNearestExact3DBackward0

def upsample_nearest_exact3d(input: Tensor, size: Sequence[int], mode: str = 'nearest-exact', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Each output is the input nearest to it, over the last 3 dimensions. `scales` is output / input. Counted from the pixels' centres."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_nearest_exact3d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_nearest_exact3d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_nearest_exact3d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleNearestExact3DBackward0()
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


_upsample_linear1d = get_op("upsample_linear1d")
_upsample_linear1d_plans = table(_upsample_linear1d)


class UpsampleLinear1DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_linear1d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_linear1d"] = UpsampleLinear1DBackward0

def upsample_linear1d(input: Tensor, size: Sequence[int], mode: str = 'linear', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Resampling of the last 1 dimension(s), mode linear. `align_corners`: the outer pixels' centres meet, else their outer edges."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_linear1d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_linear1d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_linear1d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleLinear1DBackward0()
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


_upsample_bilinear2d = get_op("upsample_bilinear2d")
_upsample_bilinear2d_plans = table(_upsample_bilinear2d)


class UpsampleBilinear2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_bilinear2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_bilinear2d"] = UpsampleBilinear2DBackward0

def upsample_bilinear2d(input: Tensor, size: Sequence[int], mode: str = 'bilinear', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Resampling of the last 2 dimension(s), mode bilinear. `align_corners`: the outer pixels' centres meet, else their outer edges."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_bilinear2d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_bilinear2d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_bilinear2d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleBilinear2DBackward0()
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


_upsample_trilinear3d = get_op("upsample_trilinear3d")
_upsample_trilinear3d_plans = table(_upsample_trilinear3d)


class UpsampleTrilinear3DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_trilinear3d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_trilinear3d"] = UpsampleTrilinear3DBackward0

def upsample_trilinear3d(input: Tensor, size: Sequence[int], mode: str = 'trilinear', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Resampling of the last 3 dimension(s), mode trilinear. `align_corners`: the outer pixels' centres meet, else their outer edges."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_trilinear3d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_trilinear3d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_trilinear3d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleTrilinear3DBackward0()
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


_upsample_bicubic2d = get_op("upsample_bicubic2d")
_upsample_bicubic2d_plans = table(_upsample_bicubic2d)


class UpsampleBicubic2DBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_bicubic2d")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_bicubic2d"] = UpsampleBicubic2DBackward0

def upsample_bicubic2d(input: Tensor, size: Sequence[int], mode: str = 'bicubic', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Resampling of the last 2 dimension(s), mode bicubic. `align_corners`: the outer pixels' centres meet, else their outer edges."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_bicubic2d, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_bicubic2d_plans[k]
    except (KeyError, TypeError):
        p = _upsample_bicubic2d_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleBicubic2DBackward0()
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


_upsample_bilinear2d_aa = get_op("upsample_bilinear2d_aa")
_upsample_bilinear2d_aa_plans = table(_upsample_bilinear2d_aa)


class UpsampleBilinear2DAaBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_bilinear2d_aa")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_bilinear2d_aa"] = UpsampleBilinear2DAaBackward0

def upsample_bilinear2d_aa(input: Tensor, size: Sequence[int], mode: str = 'bilinear_aa', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Resampling of the last 2 dimension(s), mode bilinear_aa. `align_corners`: the outer pixels' centres meet, else their outer edges."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_bilinear2d_aa, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_bilinear2d_aa_plans[k]
    except (KeyError, TypeError):
        p = _upsample_bilinear2d_aa_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleBilinear2DAaBackward0()
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


_upsample_bicubic2d_aa = get_op("upsample_bicubic2d_aa")
_upsample_bicubic2d_aa_plans = table(_upsample_bicubic2d_aa)


class UpsampleBicubic2DAaBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_bicubic2d_aa")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_bicubic2d_aa"] = UpsampleBicubic2DAaBackward0

def upsample_bicubic2d_aa(input: Tensor, size: Sequence[int], mode: str = 'bicubic_aa', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Resampling of the last 2 dimension(s), mode bicubic_aa. `align_corners`: the outer pixels' centres meet, else their outer edges."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_bicubic2d_aa, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_bicubic2d_aa_plans[k]
    except (KeyError, TypeError):
        p = _upsample_bicubic2d_aa_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleBicubic2DAaBackward0()
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


_upsample_lanczos2d_aa = get_op("upsample_lanczos2d_aa")
_upsample_lanczos2d_aa_plans = table(_upsample_lanczos2d_aa)


class UpsampleLanczos2DAaBackward0(OpNode):
    __slots__ = ()
    op = get_op("upsample_lanczos2d_aa")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["upsample_lanczos2d_aa"] = UpsampleLanczos2DAaBackward0

def upsample_lanczos2d_aa(input: Tensor, size: Sequence[int], mode: str = 'lanczos_aa', align_corners: bool = False, scales: Sequence[float] | None = None) -> Tensor:
    """Resampling of the last 2 dimension(s), mode lanczos_aa. `align_corners`: the outer pixels' centres meet, else their outer edges."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_upsample_lanczos2d_aa, (input,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _upsample_lanczos2d_aa_plans[k]
    except (KeyError, TypeError):
        p = _upsample_lanczos2d_aa_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = UpsampleLanczos2DAaBackward0()
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


_resample_backward = get_op("resample_backward")
_resample_backward_plans = table(_resample_backward)


class ResampleBackwardBackward0(OpNode):
    __slots__ = ()
    op = get_op("resample_backward")
    saved = ()
    needs = ((),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["mode"], self.plan.attributes["align_corners"], self.plan.attributes["scales"]),)


NODE_CLASSES["resample_backward"] = ResampleBackwardBackward0

def resample_backward(grad: Tensor, size: Sequence[int], mode: str, align_corners: bool, scales: Sequence[float] | None = None) -> Tensor:
    """The gradient of a resampling's input; `size` is the input's spatial shape. Linear."""
    if MODE.special or type(grad) is not Tensor:
        return dispatch(_resample_backward, (grad,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    t0 = grad._type
    a0 = grad._array
    e0 = grad._node
    k = (t0, size, mode, align_corners, scalar_key(scales))
    try:
        p = _resample_backward_plans[k]
    except (KeyError, TypeError):
        p = _resample_backward_plans.make(k, (t0,), {"size": size, "mode": mode, "align_corners": align_corners, "scales": scales})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = ResampleBackwardBackward0()
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
    "upsample_nearest1d": upsample_nearest1d,
    "upsample_nearest_exact1d": upsample_nearest_exact1d,
    "upsample_nearest2d": upsample_nearest2d,
    "upsample_nearest_exact2d": upsample_nearest_exact2d,
    "upsample_nearest3d": upsample_nearest3d,
    "upsample_nearest_exact3d": upsample_nearest_exact3d,
    "upsample_linear1d": upsample_linear1d,
    "upsample_bilinear2d": upsample_bilinear2d,
    "upsample_trilinear3d": upsample_trilinear3d,
    "upsample_bicubic2d": upsample_bicubic2d,
    "upsample_bilinear2d_aa": upsample_bilinear2d_aa,
    "upsample_bicubic2d_aa": upsample_bicubic2d_aa,
    "upsample_lanczos2d_aa": upsample_lanczos2d_aa,
    "resample_backward": resample_backward,
}
INPLACE: dict[str, Any] = {
}
