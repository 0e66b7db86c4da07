"""Sums of arrays as accurate as they are fast, and the small arithmetic of reductions that references share.

NumPy adds pairwise only where the reduction runs along memory; other sums are sequential, and in float32 their error grows with the
number of terms. `add_reduce` sums such long dimensions in blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from twofold.ir.dtypes import DType

SMALL = 1 << 14
"""Arrays of fewer elements are summed by NumPy as it likes."""
BLOCK = 128
CHUNK = 1 << 16
"""Elements worked on at a time where several passes follow one another: they stay in the cache."""
_F32 = np.dtype(np.float32)


def axes_of(a: Any, dim: Any) -> tuple[int, ...] | None:
    """NumPy's axis argument for canonical dimensions (None and () are all; a 0-d array has none)."""
    return None if dim is None or dim == () or a.ndim == 0 else dim


def count_over(a: Any, axes: tuple[int, ...] | None) -> int:
    """The number of elements that are reduced to one."""
    return int(a.size) if axes is None else math.prod(a.shape[i] for i in axes)


def working(dtype: Any) -> np.dtype:
    """The NumPy dtype to compute in for an output dtype: float32 for 16-bit floats."""
    if isinstance(dtype, DType):
        return _F32 if dtype.is_low_precision else dtype.numpy
    return np.dtype(dtype)


def add_reduce(a: Any, axes: tuple[int, ...] | None, keepdims: Any = False) -> Any:
    """The sum over `axes` (None: all)."""
    if axes is None or a.size < SMALL or a.dtype is not _F32:
        return np.add.reduce(a, axis=axes, keepdims=keepdims)
    first = a.ndim - len(axes)
    if a.flags.c_contiguous and all(i >= first for i in axes):
        return np.add.reduce(a, axis=axes, keepdims=keepdims)  # rows in memory
    shape = a.shape
    for i in sorted(axes, key=lambda i: abs(a.strides[i])):
        a = _along(a, i)
    if keepdims:
        return a
    return a.reshape(tuple([n for i, n in enumerate(shape) if i not in axes]))


def _along(a: Any, axis: int) -> Any:
    """The sum over one axis, kept, in blocks where NumPy would add one by one."""
    n = a.shape[axis]
    stride = abs(a.strides[axis])  # 0: an expanded dimension, which NumPy may add in any order
    if n <= 2 * BLOCK or 0 < stride == min((abs(s) for s, m in zip(a.strides, a.shape, strict=True) if m > 1), default=0):
        return np.add.reduce(a, axis=axis, keepdims=True)
    whole = n - n % BLOCK
    head, tail = (slice(None),) * axis + (slice(whole),), (slice(None),) * axis + (slice(whole, None),)
    parts = np.add.reduce(a[head].reshape(*a.shape[:axis], whole // BLOCK, BLOCK, *a.shape[axis + 1 :]), axis=axis + 1)
    total = _along(parts, axis)
    if whole != n:
        total += np.add.reduce(a[tail], axis=axis, keepdims=True)
    return total


TINY = 32
"""Up to so many elements Python adds faster than NumPy begins a reduction."""


def tiny_sum(ins: tuple[Any, ...], out: Any, attributes: dict[str, Any]) -> Callable[[Any], Any] | None:
    """The sum of all elements of a small float tensor, added in float64; None for other sums."""
    (t,) = ins
    if attributes["dim"] not in (None, ()) or attributes["keepdim"] or not t.fast or out.dtype is not t.dtype or not t.is_static:
        return None
    if not 0 < t.numel <= TINY or not t.ndim:
        return None
    to_dtype = t.dtype.numpy.type
    if t.ndim == 1:
        return lambda a: to_dtype(sum(a.tolist()))
    return lambda a: to_dtype(sum(a.ravel().tolist()))


def chunks(rows: int, width: int) -> Iterator[slice]:
    """Slices of rows of about CHUNK elements."""
    step = max(1, CHUNK // max(1, width))
    for i in range(0, rows, step):
        yield slice(i, i + step)


WIDE = 1024
"""Rows up to this length are summed by a product with ones: it is several times faster, and as accurate while rows are short."""


def row_sums(a: Any) -> Any:
    """The sums over the last dimension, kept."""
    if a.dtype is not _F32 or a.shape[-1] > WIDE or a.ndim < 2:
        return np.add.reduce(a, axis=-1, keepdims=True)
    return np.matmul(a, np.ones((a.shape[-1], 1), _F32))


def column_sums(a: Any) -> Any:
    """The sums over the rows of a matrix, 1-d."""
    return np.ones(a.shape[0], _F32).dot(a) if a.dtype is _F32 and a.shape[0] <= WIDE else add_reduce(a, (0,))
