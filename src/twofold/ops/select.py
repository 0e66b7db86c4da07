"""Choosing between arrays by a mask, without branches.

`np.where` takes about ten times as long on a random mask as on a constant one, since the processor guesses wrong. For 4- and 8-byte
elements the same choice by bit operations takes the same short time for every mask, and moves bits only: NaN and signs of zero stay.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_INTEGERS = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}
SMALL, SMALL_ZERO = 16384, 2048
"""Below this many elements `np.where` is as fast (where one choice is zero: the second figure)."""


def select(condition: Any, input: Any, other: Any) -> Any:
    """`np.where(condition, input, other)` for operands of one dtype (or Python numbers)."""
    size = getattr(condition, "size", 1)
    if size < SMALL_ZERO or condition.dtype.kind != "b" or (size < SMALL and not (_is_zero(input) or _is_zero(other))):
        return np.where(condition, input, other)
    dtype = np.result_type(input, other)
    bits = _INTEGERS.get(dtype.itemsize)
    if bits is None or dtype.kind not in "fi":
        return np.where(condition, input, other)
    mask = condition.astype(bits)
    if _is_zero(other):
        return np.multiply(_bits(input, dtype, bits), mask).view(dtype)
    if _is_zero(input):
        np.subtract(1, mask, mask)
        return np.multiply(_bits(other, dtype, bits), mask).view(dtype)
    np.negative(mask, mask)
    a, b = _bits(input, dtype, bits), _bits(other, dtype, bits)
    out = np.bitwise_and(np.bitwise_xor(a, b), mask)
    return np.bitwise_xor(out, b, out if out.shape == np.broadcast_shapes(out.shape, b.shape) else None).view(dtype)


def keep_where(condition: Any, x: Any) -> Any:
    """`np.where(condition, x, 0)` for bool conditions and floats of 4 or 8 bytes: the bits are multiplied by 0 or 1."""
    bits = _INTEGERS.get(x.dtype.itemsize)
    if bits is None or x.dtype.kind != "f":
        return np.where(condition, x, 0)
    return np.multiply(x.view(bits), condition).view(x.dtype)


def _is_zero(x: Any) -> bool:
    """True for the number 0 (not -0.0)."""
    return type(x) in (float, int) and x == 0 and str(x)[0] != "-"


def _bits(x: Any, dtype: Any, bits: Any) -> Any:
    """The elements' bits as integers."""
    return np.asarray(x, dtype).view(bits)
