"""Llama, Qwen2 and BERT as functions of their parameters, written with torch from the papers: the twins that ours are compared with."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F


def attend(q: Any, k: Any, v: Any, allowed: Any) -> Any:
    """(batch, heads, length, d) each; `allowed` broadcasts to (batch, heads, length, length)."""
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bhij,bhjd->bhid", scores.masked_fill(~allowed, float("-inf")).softmax(-1), v)


def heads(x: Any, count: int) -> Any:
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


def rms(x: Any, weight: Any, eps: float) -> Any:
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def turned(x: Any, theta: float) -> Any:
    """Rotary positions with complex numbers: features i and i + d/2 are one of them."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * theta ** -(torch.arange(half, dtype=torch.float64) / half)
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles).to(torch.complex(x, x).dtype)
    return torch.cat((z.real, z.imag), -1)


def llama(p: dict[str, Any], ids: Any, mask: Any, *, layers: int, count: int, shared: int, theta: float, eps: float) -> Any:
    """Scores (batch, length, vocabulary)."""
    n = ids.shape[1]
    allowed = torch.ones(n, n).tril().bool() & mask.bool()[:, None, None, :] | torch.eye(n).bool()
    x = p["model.embed_tokens.weight"][ids]
    for i in range(layers):
        at = f"model.layers.{i}."

        def project(x: Any, name: str, at: str = at) -> Any:
            return F.linear(x, p[f"{at}{name}.weight"], p.get(f"{at}{name}.bias"))

        y = rms(x, p[at + "input_layernorm.weight"], eps)
        q, k, v = (heads(project(y, f"self_attn.{name}_proj"), c) for name, c in (("q", count), ("k", shared), ("v", shared)))
        k, v = (t.repeat_interleave(count // shared, 1) for t in (turned(k, theta), v))
        x = x + project(attend(turned(q, theta), k, v, allowed).transpose(1, 2).flatten(2), "self_attn.o_proj")
        y = rms(x, p[at + "post_attention_layernorm.weight"], eps)
        x = x + project(F.silu(project(y, "mlp.gate_proj")) * project(y, "mlp.up_proj"), "mlp.down_proj")
    return F.linear(rms(x, p["model.norm.weight"], eps), p.get("lm_head.weight", p["model.embed_tokens.weight"]))


def bert(p: dict[str, Any], ids: Any, mask: Any, kinds: Any, *, layers: int, count: int, eps: float) -> Any:
    """States and pooled state, joined: (batch, length + 1, hidden)."""

    def linear(x: Any, name: str) -> Any:
        return F.linear(x, p[name + ".weight"], p[name + ".bias"])

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * p[name + ".weight"] + p[name + ".bias"]

    at = "embeddings."
    x = p[at + "word_embeddings.weight"][ids] + p[at + "position_embeddings.weight"][: ids.shape[1]]
    x = norm(x + p[at + "token_type_embeddings.weight"][kinds], at + "LayerNorm")
    for i in range(layers):
        at = f"encoder.layer.{i}."
        q, k, v = (heads(linear(x, f"{at}attention.self.{name}"), count) for name in ("query", "key", "value"))
        y = attend(q, k, v, mask.bool()[:, None, None, :]).transpose(1, 2).flatten(2)
        x = norm(x + linear(y, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        y = F.gelu(linear(x, at + "intermediate.dense"))
        x = norm(x + linear(y, at + "output.dense"), at + "output.LayerNorm")
    return torch.cat((x, torch.tanh(linear(x[:, :1], "pooler.dense"))), 1)
