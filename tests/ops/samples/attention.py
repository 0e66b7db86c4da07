"""Samples of scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError


def attention(
    q: Any, k: Any, v: Any, mask: Any = None, p: float = 0.0, is_causal: bool = False, scale: Any = None, enable_gqa: Any = False
):
    if enable_gqa:
        k, v = (np.repeat(x, q.shape[-3] // k.shape[-3], -3) for x in (k, v))
    s = q @ np.swapaxes(k, -1, -2) * (scale or 1 / math.sqrt(q.shape[-1] or 1))
    if mask is not None:
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    if is_causal:
        s = np.where(np.tri(*s.shape[-2:]) > 0, s, -np.inf)
    top = np.max(s, axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isinf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ v


def three(g: Gen, q: tuple[int, ...], k: tuple[int, ...], width: int, *rest: Any, **settings: Any) -> S:
    return S(g.real(*q), g.real(*k), g.real(*k[:-1], width), *rest, **settings)


def unseen(g: Gen) -> Any:
    """A mask with a row that sees nothing."""
    mask = g.bools(3, 4)
    mask[:, 0] = True
    mask[1] = False
    return mask


def samples(g: Gen) -> list[S]:
    return [
        three(g, (3, 2), (4, 2), 3),
        three(g, (2, 3, 2), (2, 4, 2), 2, is_causal=True),
        three(g, (2, 3, 3, 2), (2, 3, 4, 2), 3, g.real(3, 4)),
        three(g, (2, 2, 3, 2), (2, 2, 4, 2), 3, g.real(2, 1, 1, 4), scale=0.3),
        three(g, (2, 2, 3, 2), (2, 2, 4, 2), 2, unseen(g)),
        three(g, (2, 1, 2, 3, 2), (1, 2, 1, 4, 2), 2, g.real(2, 2, 3, 4)),
        three(g, (2, 4, 3, 2), (2, 2, 4, 2), 2, enable_gqa=True),
        three(g, (2, 4, 3, 2), (2, 1, 3, 2), 2, is_causal=True, enable_gqa=True),
        three(g, (1, 2, 3, 2), (1, 1, 4, 2), 2, g.real(2, 3, 4), enable_gqa=True),
        three(g, (1, 1), (1, 1), 1),
        three(g, (2, 0, 3), (2, 4, 3), 2),
        three(g, (0, 2, 3), (0, 4, 3), 2),
        # no keys: torch gives zeros as well, but its backward refuses
        three(g, (2, 2, 3), (2, 0, 3), 2).but(torch=False),
        S(g.noncontiguous(g.real(2, 3, 4, 2)), g.noncontiguous(g.real(2, 3, 5, 2)), g.noncontiguous(g.real(2, 3, 5, 2))),
        three(g, (2, 5, 4), (2, 300, 4), 4).but(layouts=False, dtypes=("float32", "float64")),
    ]


ROWS = [
    Row(
        "scaled_dot_product_attention",
        samples,
        attention,
        covers=("scaled_dot_product_attention_backward",),
        errors=lambda g: [
            E((g.real(2, 3), g.real(2, 4), g.real(2, 4)), {}, ShapeError, "last dimensions"),
            E((g.real(2, 3), g.real(2, 3), g.real(4, 3)), {}, ShapeError, "lengths"),
            E((g.real(3), g.real(2, 3), g.real(2, 3)), {}, ShapeError, "2 dimensions"),
            E((g.real(2, 2, 3), g.real(3, 2, 3), g.real(2, 2, 3)), {}, ShapeError, "broadcast"),
            E((g.real(2, 3), g.real(2, 3), g.real(2, 3), g.real(3, 2)), {}, ShapeError, "attn_mask"),
            E((g.real(2, 3), g.real(2, 3), g.real(2, 3), g.real(2, 2)), {"is_causal": True}, ValueRangeError, "is_causal"),
            E((g.real(2, 3), g.real(2, 3), g.real(2, 3), g.index((2, 2), 2)), {}, DTypeError, "attn_mask"),
            E((g.index((2, 3), 2),) * 3, {}, DTypeError, "floating"),
            E((g.real(2, 3),) * 3, {"dropout_p": -0.1}, ValueRangeError, "between 0 and 1"),
        ],
    ),
]
