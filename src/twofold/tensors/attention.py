"""Attention as a function: the record's first output, with dropout from a generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.ir.op import get_op
from twofold.support.errors import ArgumentError
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.random import draw


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale query keyᵀ + mask) value: query (…, L, E), key (…, S, E), value (…, S, Ev), result (…, L, Ev).

    attn_mask: bool (true: takes part) or a float tensor that is added to the scores; broadcasts to (…, L, S). is_causal: query i sees the
    keys 0 … i (no other mask may be given). scale: 1/sqrt(E) by default. enable_gqa: key and value may have fewer heads (dimension -3),
    each shared by a group of queries. Rows that see no key are zero. dropout_p: the probability with which a weight is dropped, *always*
    (pass 0.0 in evaluation). A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762.
    """
    for name, t in (("query", query), ("key", key), ("value", value)):
        if not isinstance(t, Tensor):
            raise ArgumentError(f"scaled_dot_product_attention(): {name} must be a tensor, not {type(t).__name__}")
    op = get_op("scaled_dot_product_attention")
    attributes = {
        "dropout_p": float(dropout_p), "is_causal": bool(is_causal), "scale": scale, "enable_gqa": bool(enable_gqa),
    }  # fmt: skip
    if dropout_p == 0.0:
        return dispatch(op, (query, key, value, attn_mask, None), attributes)[0]
    count: Any = key._type.shape[-2] if key._type.ndim > 1 else 1
    shapes = [t._type.shape[:-2] for t in (query, key, value)]
    if enable_gqa:
        shapes = [shapes[0]]
    rank = max(map(len, shapes))
    for i in range(rank):
        sizes = [s[i - rank + len(s)] for s in shapes if i - rank + len(s) >= 0]
        count = count * next((n for n in sizes if n != 1), 1)
    if query._type.ndim > 1:
        count = count * query._type.shape[-2]
    return draw(op, None, (query, key, value, attn_mask), attributes, count, 1)[0]


FUNCTIONS: dict[str, Callable[..., Any]] = {"scaled_dot_product_attention": scaled_dot_product_attention}
