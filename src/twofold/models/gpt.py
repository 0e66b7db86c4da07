"""GPT: the decoder of GPT-2 in the shape of nanoGPT (its names of parameters and its configuration). A. Radford et al., 2019."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from twofold.models.cache import KVCache, causal_mask, checked_tokens, positions
from twofold.models.generation import Generates
from twofold.models.pretrained import ModelConfig, PretrainedModel
from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.containers import ModuleDict, ModuleList
from twofold.nn.dropout import Dropout
from twofold.nn.embedding import Embedding
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.nn.normalization import LayerNorm
from twofold.support.errors import ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.core import Tensor

ACTIVATIONS = {"gelu": "none", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}
"""Names of activations and what `approximate` of gelu they mean."""
GPT2_USUAL = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}
"""Settings of GPT-2's config.json that change what is computed, with the value this model is for."""
TURNED = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")
"""Weights that Hugging Face's GPT-2 files hold as (in, out)."""


@dataclass
class GPTConfig(ModelConfig):
    """Sizes and settings, nanoGPT's; the defaults are GPT-2's (124 million parameters)."""

    model_type: ClassVar[str] = "nanogpt"
    block_size: int = 1024
    vocab_size: int = 50304
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.0
    bias: bool = True
    activation: str = "gelu"
    layer_norm_epsilon: float = 1e-5
    eos_token_id: int | None = None
    pad_token_id: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_head < 1 or self.n_embd % self.n_head:
            raise ValueRangeError(f"GPTConfig: n_embd ({self.n_embd}) must be divisible by n_head ({self.n_head})")
        if self.activation not in ACTIVATIONS:
            raise UnsupportedError(f"GPTConfig: activation must be one of {', '.join(ACTIVATIONS)}, not {self.activation!r}")

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> GPTConfig:
        """As ModelConfig's; Hugging Face's GPT-2 names are understood too."""
        if given.get("model_type") == "gpt2":
            odd = [n for n, usual in GPT2_USUAL.items() if given.get(n, usual) not in (usual, None)]
            if odd or given.get("n_inner") not in (None, 4 * given.get("n_embd", 768)):
                raise UnsupportedError(f"GPT-2 configurations with another {', '.join(odd) or 'n_inner'} than usual are not supported")
            renamed = {"n_positions": "block_size", "activation_function": "activation", "resid_pdrop": "dropout"}
            given = {renamed.get(name, name): value for name, value in given.items()} | {"bias": True}
        made = super().from_dict(given)
        assert isinstance(made, GPTConfig)
        return made


class CausalSelfAttention(Module):
    """Attention of each position to itself and those before it."""

    def __init__(self, config: GPTConfig, layer: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.layer, self.n_head, self.n_embd, self.dropout = layer, config.n_head, config.n_embd, config.dropout
        self.c_attn = Linear(config.n_embd, 3 * config.n_embd, config.bias, device, dtype)
        self.c_proj = Linear(config.n_embd, config.n_embd, config.bias, device, dtype)
        self.resid_dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None, is_causal: bool = True, cache: KVCache | None = None) -> Tensor:
        """(batch, length, n_embd) to the same."""
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.n_head, width // self.n_head).transpose(1, 2) for part in self.c_attn(x).split(self.n_embd, 2)
        )
        if cache is not None:
            k, v = cache.update(self.layer, k, v)
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).reshape(batch, length, width)))


class GPTMLP(Module):
    """Two linear maps with GELU between them."""

    def __init__(self, config: GPTConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.c_fc = Linear(config.n_embd, 4 * config.n_embd, config.bias, device, dtype)
        self.c_proj = Linear(4 * config.n_embd, config.n_embd, config.bias, device, dtype)
        self.dropout = Dropout(config.dropout)
        self.approximate = ACTIVATIONS[config.activation]

    def forward(self, x: Tensor) -> Tensor:
        """(*, n_embd) to the same."""
        return self.dropout(self.c_proj(F.gelu(self.c_fc(x), approximate=self.approximate)))


class Block(Module):
    """Attention, then the MLP, each on the normalised input and added to it."""

    def __init__(self, config: GPTConfig, layer: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        norm = {"eps": config.layer_norm_epsilon, "bias": config.bias, "device": device, "dtype": dtype}
        self.ln_1 = LayerNorm(config.n_embd, **norm)
        self.attn = CausalSelfAttention(config, layer, device, dtype)
        self.ln_2 = LayerNorm(config.n_embd, **norm)
        self.mlp = GPTMLP(config, device, dtype)

    def forward(self, x: Tensor, mask: Tensor | None = None, is_causal: bool = True, cache: KVCache | None = None) -> Tensor:
        """(batch, length, n_embd) to the same."""
        x = x + self.attn(self.ln_1(x), mask, is_causal, cache)
        return x + self.mlp(self.ln_2(x))


class GPT(Generates, PretrainedModel):
    """Tokens to scores of the next token. The embedding of tokens is also the matrix of scores.

    Parameters begin as nanoGPT's: normal with deviation 0.02 (projections back into the stream 0.02/sqrt(2 n_layer)), biases 0.
    `from_pretrained` reads Hugging Face's GPT-2 folders, and those that `save_pretrained` wrote.
    """

    config_class: ClassVar[type[ModelConfig]] = GPTConfig
    accepts: ClassVar[tuple[str, ...]] = ("gpt2", "nanogpt")

    def __init__(self, config: GPTConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__(config, device, dtype)
        self.config = config
        self.context = config.block_size
        layers = [Block(config, i, device, dtype) for i in range(config.n_layer)]
        norm = LayerNorm(config.n_embd, config.layer_norm_epsilon, bias=config.bias, device=device, dtype=dtype)
        self.transformer = ModuleDict(
            {
                "wte": Embedding(config.vocab_size, config.n_embd, device=device, dtype=dtype),
                "wpe": Embedding(config.block_size, config.n_embd, device=device, dtype=dtype),
                "drop": Dropout(config.dropout),
                "h": ModuleList(layers),
                "ln_f": norm,
            }
        )
        self.lm_head = Linear(config.n_embd, config.vocab_size, False, device, dtype)
        self.tie()
        for name, p in self.named_parameters():
            if name.endswith("c_proj.weight"):
                init.normal_(p, 0.0, 0.02 / math.sqrt(2 * config.n_layer))
            elif p.dim() == 2:
                init.normal_(p, 0.0, 0.02)
            elif name.endswith("bias"):
                init.zeros_(p)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Tokens (batch, length) to (scores (batch, length, vocab_size), mean cross-entropy against `targets`, where -1 does not count).

        Without targets: the scores of the last position alone, (batch, 1, vocab_size), and None.
        """
        x = self.hidden(idx)
        if targets is None:
            return self.lm_head(x[:, -1:]), None
        scores = self.lm_head(x)
        loss = F.cross_entropy(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1), ignore_index=-1)
        return scores, loss

    def hidden(
        self,
        idx: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Tokens (batch, length) to the states before the scores, (batch, length, n_embd); arguments as `LlamaForCausalLM.forward`'s."""
        length = checked_tokens(idx, "GPT")
        if type(length) is int and length > self.config.block_size:
            raise ShapeError(f"GPT: {length} tokens are more than block_size, {self.config.block_size}")
        if position_ids is None:
            position_ids = positions(length, cache, attention_mask)
        mask, is_causal = causal_mask(length, cache, attention_mask)
        parts = self.transformer
        x = parts["drop"](parts["wte"](idx) + parts["wpe"](position_ids))
        for block in parts["h"]:
            x = block(x, mask, is_causal, cache)
        if cache is not None:
            cache.advance(length)
        return parts["ln_f"](x)

    def scores(self, input_ids: Tensor, attention_mask: Tensor | None, cache: KVCache | None) -> Tensor:
        """Scores of the token after the last one, (batch, vocab_size)."""
        return self.lm_head(self.hidden(input_ids, attention_mask, None, cache)[:, -1])

    def tied(self) -> list[tuple[str, str]]:
        """The embedding of tokens is the matrix of scores."""
        return [("transformer.wte.weight", "lm_head.weight")]

    def adapt(self, weights: dict[str, Tensor], given: dict[str, Any]) -> dict[str, Tensor]:
        """Hugging Face's names and its turned weights."""
        if given.get("model_type") != "gpt2":
            return weights
        found = {}
        for name, t in weights.items():
            if name.endswith((".attn.bias", ".attn.masked_bias")):
                continue  # masks, which older files hold
            new = name if name.startswith(("transformer.", "lm_head.")) else f"transformer.{name}"
            found[new] = t.t().contiguous() if new.endswith(TURNED) else t
        return found

    def new_cache(self, batch: int, capacity: int) -> KVCache:
        """An empty cache for `batch` rows of at most `capacity` tokens."""
        c = self.config
        return KVCache(c.n_layer, batch, c.n_head, capacity, c.n_embd // c.n_head, self.lm_head.weight.dtype)
