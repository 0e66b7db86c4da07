"""Qwen2 decoders: Llama's with biases on queries, keys and values. arXiv:2407.10671."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from twofold.models.llama import LlamaConfig, LlamaForCausalLM
from twofold.models.pretrained import ModelConfig


@dataclass
class Qwen2Config(LlamaConfig):
    """Sizes and settings, under the names of config.json. The defaults are Qwen2 0.5B's."""

    model_type: ClassVar[str] = "qwen2"
    vocab_size: int = 151936
    hidden_size: int = 896
    intermediate_size: int = 4864
    num_hidden_layers: int = 24
    num_attention_heads: int = 14
    num_key_value_heads: int | None = 2
    max_position_embeddings: int = 32768
    rope_theta: float = 1000000.0
    tie_word_embeddings: bool = True

    qkv_bias: ClassVar[bool] = True


class Qwen2ForCausalLM(LlamaForCausalLM):
    """A Qwen2 decoder with its scores of the next token; see `LlamaForCausalLM`."""

    config_class: ClassVar[type[ModelConfig]] = Qwen2Config
    accepts: ClassVar[tuple[str, ...]] = ("qwen2",)
