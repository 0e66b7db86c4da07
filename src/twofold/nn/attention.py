"""Multi-head attention as a module."""

from __future__ import annotations

from typing import Any

from twofold.nn import init
from twofold.nn.attention_forward import check_mask, multi_head_attention_forward, warn_of_mixed_masks
from twofold.nn.create import new_parameter
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.support.errors import ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear`; the name is PyTorch's for the output projection of attention."""


class MultiheadAttention(Module):
    """Attention of several heads: softmax(Q Kᵀ / sqrt(E / heads)) V between projections of query, key and value, projected again.

    query (L, B, E), key (S, B, kdim), value (S, B, vdim), with batch_first (B, L, E), …, or without B. Returns (output, weights): output
    like query; weights (B, L, S), the average over heads, or (B, heads, L, S), or None without need_weights (which is faster).
    add_bias_kv: one more, learnt, key and value.  add_zero_attn: one more key and value of zeros.
    A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueRangeError(f"MultiheadAttention: embed_dim ({embed_dim}) must be a positive multiple of num_heads ({num_heads})")
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        sizes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = new_parameter((3 * embed_dim, embed_dim), device, dtype)
            for name in sizes:
                self.register_parameter(name, None)
        else:
            for name, width in sizes.items():
                self.register_parameter(name, new_parameter((embed_dim, width), device, dtype))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", new_parameter((3 * embed_dim,), device, dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        if add_bias_kv:
            self.bias_k = new_parameter((1, 1, embed_dim), device, dtype)
            self.bias_v = new_parameter((1, 1, embed_dim), device, dtype)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the input projections (Glorot's uniform) and the added key and value (Glorot's normal) anew; biases become zero."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(output, weights or None).

        key_padding_mask (B, S) and attn_mask (L, S) or (B * heads, L, S): bool (true: left out) or added to the scores. is_causal: a hint
        that attn_mask, which must be given, is causal.
        """
        check_mask(key_padding_mask, "key_padding_mask")
        check_mask(attn_mask, "attn_mask")
        warn_of_mixed_masks(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask")
        swap = self.batch_first and query._type.ndim == 3
        if swap:
            same = query is key, key is value
            turned = FUNCTIONS["transpose"]
            query = turned(query, 0, 1)
            key = query if same[0] else turned(key, 0, 1)
            value = key if same[1] else turned(value, 0, 1)
        out, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return FUNCTIONS["transpose"](out, 0, 1) if swap else out, weights
