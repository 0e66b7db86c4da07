"""Decoders of the Llama family: RMS norm, rotary positions, grouped queries, SwiGLU. Names and config.json are Hugging Face's.

H. Touvron et al., arXiv:2302.13971; Llama 3: arXiv:2407.21783.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from twofold.models.cache import KVCache, causal_mask, checked_tokens, positions
from twofold.models.generation import Generates
from twofold.models.pretrained import ModelConfig, PretrainedModel
from twofold.models.rope import frequencies, rotate, rotations
from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.containers import ModuleList
from twofold.nn.embedding import Embedding
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.nn.normalization import RMSNorm
from twofold.support.errors import DataError, UnsupportedError, ValueRangeError
from twofold.tensors.core import Tensor

MAX_HEAD_DIM = 65536


@dataclass
class LlamaConfig(ModelConfig):
    """Sizes and settings, under the names of config.json. The defaults are Llama 2 7B's."""

    model_type: ClassVar[str] = "llama"
    vocab_size: int = 32000
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    max_position_embeddings: int = 2048
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: dict[str, Any] | None = None
    tie_word_embeddings: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    hidden_act: str = "silu"
    initializer_range: float = 0.02
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = None
    pad_token_id: int | None = None

    qkv_bias: ClassVar[bool] = False
    """Biases on queries, keys and values alone, as Qwen2 has them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_key_value_heads is None:
            self.num_key_value_heads = self.num_attention_heads
        if self.hidden_act != "silu":
            raise UnsupportedError(f"hidden_act {self.hidden_act!r} is not supported in this model; silu is")
        if self.num_attention_heads < 1 or self.num_key_value_heads < 1 or self.num_attention_heads % self.num_key_value_heads:
            raise ValueRangeError(f"{self.num_attention_heads} heads of queries do not divide into {self.num_key_value_heads} of keys")
        if self.head_dim is None:
            self.head_dim = self.hidden_size // self.num_attention_heads
        if not 2 <= self.head_dim <= MAX_HEAD_DIM or self.head_dim % 2:
            raise ValueRangeError(f"head_dim must be even, at least 2 and at most {MAX_HEAD_DIM}, not {self.head_dim}")
        if not self.rope_theta > 0:
            raise ValueRangeError(f"rope_theta must be positive, not {self.rope_theta}")

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> LlamaConfig:
        """As ModelConfig's; newer files keep the settings of rotary embeddings in "rope_parameters"."""
        given = dict(given)
        rope = given.pop("rope_parameters", None) or given.get("rope_scaling")
        if rope is not None:
            if not isinstance(rope, dict):
                raise DataError(f"the configuration's rope settings must be a table, not {rope!r}")
            given["rope_theta"] = rope.get("rope_theta", given.get("rope_theta", 10000.0))
            given["rope_scaling"] = None if rope.get("rope_type", rope.get("type", "default")) == "default" else rope
        if given.get("use_sliding_window"):
            raise UnsupportedError("sliding windows of attention are not supported")
        made = super().from_dict(given)
        assert isinstance(made, LlamaConfig)
        return made


class LlamaAttention(Module):
    """Causal attention; groups of query heads share a head of keys and values."""

    def __init__(self, config: LlamaConfig, layer: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        assert config.head_dim is not None
        assert config.num_key_value_heads is not None
        self.layer = layer
        self.heads, self.shared, self.head_dim = config.num_attention_heads, config.num_key_value_heads, config.head_dim
        hidden, bias = config.hidden_size, config.attention_bias or config.qkv_bias
        self.q_proj = Linear(hidden, self.heads * self.head_dim, bias, device, dtype)
        self.k_proj = Linear(hidden, self.shared * self.head_dim, bias, device, dtype)
        self.v_proj = Linear(hidden, self.shared * self.head_dim, bias, device, dtype)
        self.o_proj = Linear(self.heads * self.head_dim, hidden, config.attention_bias, device, dtype)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor | None, is_causal: bool, cache: KVCache | None) -> Tensor:
        """(batch, length, hidden) to the same."""
        batch, length = x.shape[0], x.shape[1]
        q = rotate(self.q_proj(x).view(batch, length, self.heads, self.head_dim).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(batch, length, self.shared, self.head_dim).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(batch, length, self.shared, self.head_dim).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(self.layer, k, v)
        out = F.scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal, enable_gqa=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, self.heads * self.head_dim))


class LlamaMLP(Module):
    """SwiGLU: down(silu(gate(x)) * up(x))."""

    def __init__(self, config: LlamaConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.gate_proj = Linear(config.hidden_size, config.intermediate_size, config.mlp_bias, device, dtype)
        self.up_proj = Linear(config.hidden_size, config.intermediate_size, config.mlp_bias, device, dtype)
        self.down_proj = Linear(config.intermediate_size, config.hidden_size, config.mlp_bias, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(*, hidden) to the same."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaDecoderLayer(Module):
    """Attention, then the MLP, each on the normalised input and added to it."""

    def __init__(self, config: LlamaConfig, layer: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.self_attn = LlamaAttention(config, layer, device, dtype)
        self.mlp = LlamaMLP(config, device, dtype)
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps, device=device, dtype=dtype)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps, device=device, dtype=dtype)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor | None, is_causal: bool, cache: KVCache | None) -> Tensor:
        """(batch, length, hidden) to the same."""
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask, is_causal, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaModel(Module):
    """Tokens (batch, length) to hidden states (batch, length, hidden_size)."""

    def __init__(self, config: LlamaConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        assert config.head_dim is not None
        pad = config.pad_token_id if config.pad_token_id is not None and config.pad_token_id < config.vocab_size else None
        self.embed_tokens = Embedding(config.vocab_size, config.hidden_size, pad, device=device, dtype=dtype)
        self.layers = ModuleList([LlamaDecoderLayer(config, i, device, dtype) for i in range(config.num_hidden_layers)])
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps, device=device, dtype=dtype)
        self.register_buffer("inv_freq", frequencies(config.head_dim, config.rope_theta, config.rope_scaling), persistent=False)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """See `LlamaForCausalLM`."""
        length = checked_tokens(input_ids, "LlamaModel")
        x = self.embed_tokens(input_ids)
        if position_ids is None:
            position_ids = positions(length, cache, attention_mask)
        cos, sin = rotations(self.inv_freq, position_ids, x.dtype)
        mask, is_causal = causal_mask(length, cache, attention_mask)
        for layer in self.layers:
            x = layer(x, cos, sin, mask, is_causal, cache)
        if cache is not None:
            cache.advance(length)
        return self.norm(x)


class LlamaForCausalLM(Generates, PretrainedModel):
    """A Llama decoder with its scores of the next token.

    Parameters begin normal with deviation `initializer_range`, biases 0, norms 1, as Hugging Face's; the row of
    `pad_token_id` begins 0 and gets no gradient from the embedding.
    """

    config_class: ClassVar[type[ModelConfig]] = LlamaConfig
    accepts: ClassVar[tuple[str, ...]] = ("llama",)

    def __init__(self, config: LlamaConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__(config, device, dtype)
        self.config = config
        self.model = LlamaModel(config, device, dtype)
        self.lm_head = Linear(config.hidden_size, config.vocab_size, False, device, dtype)
        for module in self.modules():
            if isinstance(module, (Linear, Embedding)):
                init.normal_(module.weight, 0.0, config.initializer_range)
            if isinstance(module, Embedding):
                module._fill_padding_idx_with_zero()
            if isinstance(module, Linear) and module.bias is not None:
                init.zeros_(module.bias)
        self.tie()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cache: KVCache | None = None,
        last_only: bool = False,
    ) -> Tensor:
        """Tokens (batch, length) to scores (batch, length, vocab_size).

        attention_mask: (batch, length), or with a cache (batch, filled + length): 0 at padding, which must stand on the left.
        position_ids: (batch, length) or (1, length); by default the place of each token, padding not counted.
        cache: keys and values of earlier positions, to which the new ones are added.  last_only: scores of the last position alone.
        """
        x = self.model(input_ids, attention_mask, position_ids, cache)
        return self.lm_head(x[:, -1:] if last_only else x)

    def tied(self) -> list[tuple[str, str]]:
        """The embedding is also the matrix of scores where the configuration says so."""
        return [("model.embed_tokens.weight", "lm_head.weight")] if self.config.tie_word_embeddings else []

    def adapt(self, weights: dict[str, Tensor], given: dict[str, Any]) -> dict[str, Tensor]:
        """Older files hold the frequencies of rotary embeddings, which the configuration tells."""
        return {name: t for name, t in weights.items() if not name.endswith("rotary_emb.inv_freq")}

    def new_cache(self, batch: int, capacity: int) -> KVCache:
        """An empty cache for `batch` rows of at most `capacity` tokens."""
        c = self.config
        return KVCache(c.num_hidden_layers, batch, c.num_key_value_heads, capacity, c.head_dim, self.model.embed_tokens.weight.dtype)
