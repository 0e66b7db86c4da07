"""Scaled dot-product attention in NumPy, in blocks of heads and queries.

Per block the scores are one buffer on which mask, softmax and dropout work in place, so no more of the (queries × keys) matrices exists at
a time than a block. Backward computes the weights anew from the logarithms of the rows' sums that forward kept (T. Dao, D. Y. Fu, S. Ermon,
A. Rudra, C. Ré, "FlashAttention", arXiv:2205.14135, section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from twofold.ops import philox
from twofold.ops.random import kept_scale
from twofold.ops.summation import row_sums

Array = Any
BLOCK = 1 << 17
"""Scores worked on at a time: they stay in the cache between passes."""
FEWEST_ROWS = 64
"""Queries of a block, where there are so many: fewer make small products slow."""


def head_groups(query: Array, key: Array, value: Array, mask: Array | None) -> tuple[Array, Array, Array, Array | None]:
    """Grouped queries as one more batch dimension: query (…, Hk, G, L, E) beside key (…, Hk, 1, S, E)."""
    heads, shared = query.shape[-3], key.shape[-3]
    q = query.reshape(*query.shape[:-3], shared, heads // shared if shared else 0, *query.shape[-2:])
    if mask is not None and mask.ndim > 2:
        apart = (shared, heads // shared) if mask.shape[-3] != 1 else (1, 1)
        mask = mask.reshape(*mask.shape[:-3], *apart, *mask.shape[-2:])
    return q, np.expand_dims(key, -3), np.expand_dims(value, -3), mask


def _four(a: Array, batch: tuple[int, ...]) -> Array:
    """`a` as (B, H, rows, columns), broadcast to the batch dimensions, without a copy where strides allow."""
    lead = a.shape[:-2]
    if len(batch) > 2 and lead[:-1] == batch[:-1]:
        a = a.reshape(-1, *a.shape[-3:])
        return np.broadcast_to(a, (a.shape[0], batch[-1], *a.shape[-2:]))
    if lead != batch:
        a = np.broadcast_to(a, batch + a.shape[-2:])
    if len(batch) == 2:
        return a
    if len(batch) < 2:
        return a.reshape((1,) * (2 - len(batch)) + a.shape)
    return a.reshape(math.prod(batch[:-1]), *a.shape[-3:])


class Problem:
    """The operands as (B, H, rows, columns), and the blocks to work on."""

    def __init__(
        self, query: Array, key: Array, value: Array, mask: Array | None, state: Array | None, dropout_p: float, is_causal: bool,
        scale: float | None, grouped: bool,
    ) -> None:  # fmt: skip
        self.given = query.shape, key.shape, value.shape
        if grouped:
            query, key, value, mask = head_groups(query, key, value, mask)
        batches = [query.shape[:-2], key.shape[:-2], value.shape[:-2]]
        self.batch = batches[0] if batches[0] == batches[1] == batches[2] else np.broadcast_shapes(*batches)
        self.shapes = query.shape, key.shape, value.shape
        self.queries, self.keys = query.shape[-2], key.shape[-2]
        self.q, self.k, self.v = (_four(a, self.batch) for a in (query, key, value))
        self.kt, self.vt = self.k.swapaxes(2, 3), self.v.swapaxes(2, 3)
        self.b, self.h = self.q.shape[:2]
        self.added: Array | None = None
        self.mask_shape: tuple[int, ...] = ()
        if mask is not None:
            self.mask_shape = mask.shape
            if mask.dtype == np.bool_:  # adding is several times faster than writing where a mask says so
                mask = np.where(mask, query.dtype.type(0.0), query.dtype.type(-np.inf))
            lead = mask.shape[:-2] if mask.shape[:-3] == self.batch[:-1] else self.batch
            self.added = _four(np.broadcast_to(mask, (*lead, self.queries, self.keys)), self.batch)
        self.causal = is_causal
        width = query.shape[-1]
        self.scale = query.dtype.type(scale if scale is not None else 1.0 / math.sqrt(width) if width else 1.0)
        self.dropout, self.state = dropout_p if state is not None else 0.0, state
        self.kept = query.dtype.type(kept_scale(self.dropout))
        self.rows = max(1, min(self.queries, max(FEWEST_ROWS, BLOCK // max(1, self.keys))))
        self.heads = max(1, min(self.h, BLOCK // max(1, self.rows * self.keys)))
        self.buffers = [np.empty(self.heads * self.rows * self.keys, query.dtype) for _ in range(2)]
        self.beyond = np.triu(np.full((self.rows, self.rows), -np.inf, query.dtype), 1) if is_causal else None

    def blocks(self) -> Iterator[tuple[int, slice, slice, int]]:
        """(b, heads, queries, how many keys they can see)."""
        for b in range(self.b):
            for h in range(0, self.h, self.heads):
                for r in range(0, self.queries, self.rows):
                    end = min(r + self.rows, self.queries)
                    yield b, slice(h, min(h + self.heads, self.h)), slice(r, end), min(end, self.keys) if self.causal else self.keys

    def buffer(self, which: int, heads: slice, rows: slice, keys: int) -> Array:
        shape = (heads.stop - heads.start, rows.stop - rows.start, keys)
        return self.buffers[which][: math.prod(shape)].reshape(shape)

    def scores(self, b: int, heads: slice, rows: slice, keys: int) -> tuple[Array, Array]:
        """(the scaled queries, their masked scores) of a block."""
        q = self.q[b, heads, rows] * self.scale
        s = np.matmul(q, self.kt[b, heads, :, :keys], out=self.buffer(0, heads, rows, keys))
        if self.added is not None:
            s += self.added[b, heads, rows, :keys]
        if self.beyond is not None and keys > rows.start:
            s[:, :, rows.start :] += self.beyond[: s.shape[1], : keys - rows.start]
        return q, s

    def keep(self, b: int, heads: slice, rows: slice, keys: int) -> Array:
        """Which weights of a block dropout keeps: the words of the whole (…, L, S) tensor's draw that belong to the block."""
        assert self.state is not None
        seed, offset = int(self.state[0]), int(self.state[1])
        count = (rows.stop - rows.start) * self.keys
        out = np.empty((heads.stop - heads.start, rows.stop - rows.start, keys), np.bool_)
        for i, h in enumerate(range(heads.start, heads.stop)):
            first = ((b * self.h + h) * self.queries + rows.start) * self.keys
            block, skip = divmod(first, philox.WORDS_PER_BLOCK)
            drawn = philox.bernoulli(seed, offset + block, 1.0 - self.dropout, (count + skip,))[skip:]
            out[i] = drawn.reshape(-1, self.keys)[:, :keys]
        return out

    def result(self, width: int, like: Array) -> Array:
        """An empty (B, H, L, width) in the memory order of `like` (heads inside positions, where the projections made them so)."""
        if like.strides[1] < like.strides[2] and like.ndim == 4:
            return np.empty((self.b, self.queries, self.h, width), like.dtype).transpose(0, 2, 1, 3)
        return np.empty((self.b, self.h, self.queries, width), like.dtype)


def forward(problem: Problem, output_shape: tuple[int, ...]) -> tuple[Array, Array]:
    """(output, logsumexp of the scores); rows that see no key give zeros and -inf."""
    p = problem
    out = p.result(p.v.shape[3], p.q)
    lse = np.empty((p.b, p.h, p.queries), out.dtype)
    if not p.keys:
        out[...] = 0.0
        lse[...] = -np.inf
    masked = p.added is not None
    for b, heads, rows, keys in p.blocks() if p.keys and out.size + lse.size else ():
        _, s = p.scores(b, heads, rows, keys)
        top = np.maximum.reduce(s, axis=2, keepdims=True)
        if masked:
            top[top == -np.inf] = 0.0
        s -= top
        np.exp(s, out=s)
        total = row_sums(s)
        if masked:
            with np.errstate(divide="ignore"):
                lse[b, heads, rows] = (np.log(total) + top)[..., 0]
            total[total == 0.0] = 1.0
        else:
            lse[b, heads, rows] = (np.log(total) + top)[..., 0]
        if p.dropout:
            s *= p.keep(b, heads, rows, keys)
            total /= p.kept if p.kept else np.inf
        o = np.matmul(s, p.v[b, heads, :keys], out=out[b, heads, rows])
        o *= 1.0 / total if not p.dropout or p.kept else 0.0
    return out.reshape(output_shape), lse.reshape(output_shape[:-1])


def backward(
    problem: Problem, grad: Array, grad_logsumexp: Array | None, output: Array, logsumexp: Array, wants_mask: bool
) -> tuple[Array, Array, Array, Array | None]:
    """The gradients of query, key, value and of a float mask (if wanted), in the operands' shapes."""
    p = problem
    shape = (p.b, p.h, p.queries)
    g = _four(grad.reshape(*p.batch, *grad.shape[-2:]), p.batch)
    delta = np.vecdot(g, _four(output.reshape(*p.batch, *output.shape[-2:]), p.batch))
    if grad_logsumexp is not None:
        delta = delta - grad_logsumexp.reshape(shape)
    lse = logsumexp.reshape(shape)
    lse = np.where(lse == -np.inf, lse.dtype.type(np.inf), lse)  # rows that see nothing have weights exp(-inf) = 0
    dq = p.result(p.q.shape[3], p.q)
    dk, dv = np.zeros(p.k.shape, dq.dtype), np.zeros(p.v.shape, dq.dtype)
    dm = np.zeros(_mask_sum(p), dq.dtype) if wants_mask else None
    if not p.keys:
        dq[...] = 0.0
    for b, heads, rows, keys in p.blocks() if p.keys else ():
        q, w = p.scores(b, heads, rows, keys)
        w -= lse[b, heads, rows, None]
        np.exp(w, out=w)
        go = g[b, heads, rows]
        ds = np.matmul(go, p.vt[b, heads, :, :keys], out=p.buffer(1, heads, rows, keys))
        if p.dropout:
            keep = p.keep(b, heads, rows, keys) * p.kept
            ds *= keep
            dv[b, heads, :keys] += np.matmul((w * keep).swapaxes(1, 2), go)
        else:
            dv[b, heads, :keys] += np.matmul(w.swapaxes(1, 2), go)
        ds -= delta[b, heads, rows, None]
        ds *= w
        d = np.matmul(ds, p.k[b, heads, :keys], out=dq[b, heads, rows])
        d *= p.scale
        dk[b, heads, :keys] += np.matmul(ds.swapaxes(1, 2), q)
        if dm is not None:
            _add_to_mask(dm, ds, b, heads, rows, keys)
    wide = [x.reshape(*p.batch, *x.shape[-2:]) for x in (dq, dk, dv)]
    parts = [_summed(x, s).reshape(t) for x, s, t in zip(wide, p.shapes, p.given, strict=True)]
    if dm is not None and len(p.batch) > 2:
        dm = _summed(dm.reshape(*p.batch, p.queries, p.keys), p.mask_shape)
    return parts[0], parts[1], parts[2], dm


def _mask_sum(p: Problem) -> tuple[int, ...]:
    """The shape in which the mask's gradient is added up: the mask's own with four dimensions, or that of the scores where batch
    dimensions were put together."""
    if len(p.batch) > 2:
        return p.b, p.h, p.queries, p.keys
    return (1,) * (4 - len(p.mask_shape)) + p.mask_shape


def _add_to_mask(dm: Array, ds: Array, b: int, heads: slice, rows: slice, keys: int) -> None:
    mb, mh, ml, ms = dm.shape
    axes = tuple(i for i, n in enumerate((mh, ml, ms)) if n == 1)
    part = np.add.reduce(ds, axis=axes, keepdims=True) if axes else ds
    every = slice(None)
    dm[b if mb > 1 else 0, heads if mh > 1 else every, rows if ml > 1 else every, slice(keys) if ms > 1 else every] += part


def _summed(a: Array, shape: tuple[int, ...]) -> Array:
    """`a` summed over the dimensions in which `shape` was broadcast."""
    if a.shape == shape:
        return a
    lead = a.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and a.shape[i + lead] != 1)
    return np.add.reduce(a, axis=axes, keepdims=True).reshape(shape)
