"""Functions and backward nodes of the family "counting". Generated from the records by tools/generate.py: do not edit."""
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

_unique = get_op("unique")


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct elements in ascending order (always, whatever `sorted` says), or the distinct slices of one dimension.

    With them, for each element its place among the distinct ones, and how often each occurs. NaN equals nothing, itself included.
    """
    return dispatch(_unique, (input,), {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts, "dim": dim})


_unique_consecutive = get_op("unique_consecutive")


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The first of each run of equal elements (or slices of one dimension), the run each element is in, and the runs' lengths."""
    return dispatch(_unique_consecutive, (input,), {"return_inverse": return_inverse, "return_counts": return_counts, "dim": dim})


_isin = get_op("isin")
_isin_plans = table(_isin)


def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element of `elements` is among `test_elements` (or is not, with `invert`)."""
    if MODE.special or type(elements) is not Tensor or type(test_elements) is not Tensor:
        return dispatch(_isin, (elements, test_elements,), {"assume_unique": assume_unique, "invert": invert})
    t0 = elements._type
    a0 = elements._array
    e0 = elements._node
    t1 = test_elements._type
    a1 = test_elements._array
    e1 = test_elements._node
    k = (t0, t1, assume_unique, invert)
    try:
        p = _isin_plans[k]
    except (KeyError, TypeError):
        p = _isin_plans.make(k, (t0, t1,), {"assume_unique": assume_unique, "invert": invert})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_nonzero_static = get_op("nonzero_static")
_nonzero_static_plans = table(_nonzero_static)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The positions of the first `size` elements that are not zero, one a row; rows beyond their number are `fill_value`."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_nonzero_static, (input,), {"size": size, "fill_value": fill_value})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, size, fill_value)
    try:
        p = _nonzero_static_plans[k]
    except (KeyError, TypeError):
        p = _nonzero_static_plans.make(k, (t0,), {"size": size, "fill_value": fill_value})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_hash_tensor = get_op("hash_tensor")
_hash_tensor_plans = table(_hash_tensor)


def hash_tensor(input: Tensor, dim: int | Sequence[int] = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """The exclusive or, over `dim` (all by default), of the elements' bits as float64 or 64-bit integers; uint64."""
    if MODE.special or type(input) is not Tensor:
        return dispatch(_hash_tensor, (input,), {"dim": dim, "keepdim": keepdim, "mode": mode})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, dim, keepdim, mode)
    try:
        p = _hash_tensor_plans[k]
    except (KeyError, TypeError):
        p = _hash_tensor_plans.make(k, (t0,), {"dim": dim, "keepdim": keepdim, "mode": mode})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_histc = get_op("histc")
_histc_plans = table(_histc)


def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """How many elements lie in each of `bins` equal intervals from `min` to `max` (both 0: the least and the greatest element).
    Elements outside, and NaN, are not counted; the last interval includes its end.
    """
    if MODE.special or type(input) is not Tensor:
        return dispatch(_histc, (input,), {"bins": bins, "min": min, "max": max})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    k = (t0, bins, scalar_key(min), scalar_key(max))
    try:
        p = _histc_plans[k]
    except (KeyError, TypeError):
        p = _histc_plans.make(k, (t0,), {"bins": bins, "min": min, "max": max})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_histogram_bin_edges = get_op("histogram_bin_edges")


def histogram_bin_edges(input: Tensor, bins: int | Sequence[int], range: Sequence[float] | None = None) -> tuple[Tensor, ...]:
    """Equally spaced bin edges for points of D coordinates, the input's last dimension: bins[k] + 1 for each coordinate.
    `range`: lower and upper bounds one after another; by default the least and the greatest coordinates.
    """
    return dispatch(_histogram_bin_edges, (input,), {"bins": bins, "range": range})


_histogram_counts = get_op("histogram_counts")


def histogram_counts(input: Tensor, bins: Sequence[Tensor], weight: Tensor | None = None, density: bool = False) -> Tensor:
    """The number (or total weight) of points in each cell of a grid given by the edges along each coordinate.

    The last cells include their upper edges. `density`: divided by the total and by the cells' volumes.
    """
    return dispatch(_histogram_counts, (input, bins, weight,), {"density": density})


_bincount = get_op("bincount")
_bincount_plans = table(_bincount)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of the numbers 0, 1, … occurs in a 1-d integer tensor, or the sum of its weights.

    As many entries as the greatest element asks for, at least `minlength`: a symbol of its own in a static graph.
    """
    if MODE.special or type(input) is not Tensor or (weights is not None and type(weights) is not Tensor):
        return dispatch(_bincount, (input, weights,), {"minlength": minlength})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    if weights is None:
        t1 = a1 = e1 = None
    else:
        t1 = weights._type
        a1 = weights._array
        e1 = weights._node
    k = (t0, t1, minlength)
    try:
        p = _bincount_plans[k]
    except (KeyError, TypeError):
        p = _bincount_plans.make(k, (t0, t1,), {"minlength": minlength})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "unique": unique,
    "unique_consecutive": unique_consecutive,
    "isin": isin,
    "nonzero_static": nonzero_static,
    "hash_tensor": hash_tensor,
    "histc": histc,
    "histogram_bin_edges": histogram_bin_edges,
    "histogram_counts": histogram_counts,
    "bincount": bincount,
}
INPLACE: dict[str, Any] = {
}
