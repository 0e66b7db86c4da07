"""nanoGPT's network, written with torch: the twin that ours is compared with."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, width: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x: Any) -> Any:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, bias: bool) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = Norm(width, bias), Norm(width, bias)
        self.attn, self.mlp = nn.Module(), nn.Module()
        self.attn.c_attn, self.attn.c_proj = nn.Linear(width, 3 * width, bias), nn.Linear(width, width, bias)
        self.mlp.c_fc, self.mlp.c_proj = nn.Linear(width, 4 * width, bias), nn.Linear(4 * width, width, bias)

    def forward(self, x: Any) -> Any:
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, c // self.heads).transpose(1, 2) for p in self.attn.c_attn(self.ln_1(x)).split(c, 2))
        scores = (q @ k.transpose(2, 3)) / (c // self.heads) ** 0.5
        scores = scores.masked_fill(torch.ones(t, t).triu(1).bool(), float("-inf"))
        x = x + self.attn.c_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x))))


class TorchGPT(nn.Module):
    def __init__(self, vocab: int, block: int, layers: int, heads: int, width: int, bias: bool) -> None:
        super().__init__()
        h = nn.ModuleList([Layer(width, heads, bias) for _ in range(layers)])
        parts = {"wte": nn.Embedding(vocab, width), "wpe": nn.Embedding(block, width), "h": h, "ln_f": Norm(width, bias)}
        self.transformer = nn.ModuleDict(parts)
        self.lm_head = nn.Linear(width, vocab, False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, idx: Any, targets: Any) -> Any:
        t = self.transformer
        x = t.wte(idx) + t.wpe(torch.arange(idx.shape[1]))
        for layer in t.h:
            x = layer(x)
        scores = self.lm_head(t.ln_f(x))
        return F.cross_entropy(scores.view(-1, scores.shape[-1]), targets.reshape(-1), ignore_index=-1)
