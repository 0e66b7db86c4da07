"""Batch normalisation on arrays: sums a channel and the affine passes, for both memory layouts, in chunks that stay in the cache.

Channels-last memory (and (N, C) data) is a matrix of rows of C, several put into one row where C is small; channels-first memory with small
images a matrix of rows of C*L with every channel's value repeated; with large images it stays (N, C, L).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ops.summation import chunks

REPEAT_BELOW = 512
"""Image sizes up to which channel values are repeated rather than broadcast: NumPy's inner loops are that long."""


class Layout:
    """How an (N, C, …) array is worked on: `kind` is "rows", "repeated" or "images"."""

    __slots__ = ("channels", "count", "group", "kind", "length", "shape")

    def __init__(self, a: Any) -> None:
        self.shape = a.shape
        self.channels = a.shape[1]
        self.length = math.prod(a.shape[2:])
        self.count = a.shape[0] * self.length
        self.group = 1  # rows of C put into one
        if a.ndim == 2 or np.moveaxis(a, 1, -1).flags.c_contiguous:
            self.kind = "rows"
            while 0 < self.group * self.channels <= REPEAT_BELOW and self.count % (2 * self.group) == 0:
                self.group *= 2
        else:
            self.kind = "repeated" if self.length <= REPEAT_BELOW else "images"

    def open(self, a: Any) -> Any:
        """The array in the shape that is worked on; a copy only where its memory differs from the layout."""
        if self.kind == "rows":
            return np.moveaxis(a, 1, -1).reshape(self.count // self.group, self.group * self.channels)
        if self.kind == "repeated":
            return a.reshape(self.shape[0], self.channels * self.length)
        return a.reshape(self.shape[0], self.channels, self.length)

    def close(self, a: Any) -> Any:
        """Back to (N, C, …), the memory as it is."""
        if self.kind == "rows":
            return np.moveaxis(a.reshape(self.shape[0], *self.shape[2:], self.channels), -1, 1)
        return a.reshape(self.shape)

    def spread(self, p: Any) -> Any:
        """A value a channel, so that it broadcasts to what is worked on."""
        if self.kind == "rows":
            return p if self.group == 1 else np.tile(p, self.group)
        return np.repeat(p, self.length) if self.kind == "repeated" else p[:, None]

    def total(self, part: Any) -> Any:
        """The sum of a chunk for each channel."""
        if self.kind == "images":
            return np.add.reduce(np.add.reduce(part, axis=2), axis=0)
        return self._fold(np.add.reduce(part, axis=0))

    def dot(self, a: Any, b: Any) -> Any:
        """The sum of the products of two chunks for each channel."""
        if self.kind == "images":
            return np.add.reduce(np.vecdot(a, b), axis=0)
        return self._fold(np.einsum("ij,ij->j", a, b))

    def _fold(self, s: Any) -> Any:
        if self.kind == "rows":
            return s if self.group == 1 else np.add.reduce(s.reshape(self.group, self.channels), axis=0)
        return np.add.reduce(s.reshape(self.channels, self.length), axis=1)

    def chunks(self, a: Any) -> Any:
        return chunks(a.shape[0], math.prod(a.shape[1:]))


def statistics(x: Any, layout: Layout) -> tuple[Any, Any]:
    """(mean, biased variance) for each channel, in two passes."""
    n = layout.count
    mean = np.zeros(layout.channels, x.dtype)
    for part in layout.chunks(x):
        mean += layout.total(x[part])
    if n == 0:
        return mean * np.nan, mean * np.nan
    mean /= n
    var = np.zeros(layout.channels, x.dtype)
    m = layout.spread(mean)
    for part in layout.chunks(x):
        d = x[part] - m
        var += layout.dot(d, d)
    var /= n
    return mean, var


def normalize(x: Any, layout: Layout, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias."""
    scale = 1.0 / np.sqrt(var + x.dtype.type(eps))
    if weight is not None:
        scale = (scale * weight).astype(x.dtype, copy=False)
    m, s, b = layout.spread(mean), layout.spread(scale), None if bias is None else layout.spread(bias)
    out = np.empty(x.shape, x.dtype)
    for part in layout.chunks(x):
        o = np.subtract(x[part], m, out=out[part])
        o *= s
        if b is not None:
            o += b
    return out


def gradients(
    g: Any, grad_mean: Any, grad_var: Any, x: Any, layout: Layout, mean: Any, var: Any, weight: Any, training: bool, eps: float
) -> tuple[Any, Any, Any]:
    """(dx, dweight, dbias): dx = A g + B (x - mean) + C with one A, B, C a channel."""
    n = max(layout.count, 1)
    r = 1.0 / np.sqrt(var + x.dtype.type(eps))
    m = layout.spread(mean)
    db, dc = np.zeros(layout.channels, x.dtype), np.zeros(layout.channels, x.dtype)
    for part in layout.chunks(x):
        db += layout.total(g[part])
        dc += layout.dot(g[part], x[part] - m)
    dw = dc * r
    a = r if weight is None else (r * weight).astype(x.dtype, copy=False)
    scale = layout.spread(a)
    dx = np.empty(x.shape, x.dtype)
    if not training:
        np.multiply(g, scale, out=dx)
        return dx, dw, db
    b = layout.spread((2.0 * grad_var - a * r * dw) / n)
    c = layout.spread((grad_mean - a * db) / n)
    for part in layout.chunks(x):
        d = np.subtract(x[part], m, out=dx[part])
        d *= b
        d += c
        d += g[part] * scale
    return dx, dw, db
