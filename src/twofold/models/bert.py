"""BERT encoders, with Hugging Face's names and config.json: J. Devlin et al., arXiv:1810.04805. Sentence encoders such as MiniLM load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from twofold.models.cache import checked_tokens
from twofold.models.pretrained import ModelConfig, PretrainedModel
from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.containers import ModuleList
from twofold.nn.dropout import Dropout
from twofold.nn.embedding import Embedding
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.nn.normalization import LayerNorm
from twofold.support.errors import UnsupportedError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.creation import arange

ACTIVATIONS: dict[str, Any] = {
    "gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh"), "relu": F.relu, "silu": F.silu, "tanh": F.tanh,
}  # fmt: skip


@dataclass
class BertConfig(ModelConfig):
    """Sizes and settings, under the names of config.json; the defaults are BERT base's."""

    model_type: ClassVar[str] = "bert"
    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    position_embedding_type: str = "absolute"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_act not in ACTIVATIONS:
            raise UnsupportedError(f"BertConfig: hidden_act must be one of {', '.join(ACTIVATIONS)}, not {self.hidden_act!r}")
        if self.position_embedding_type != "absolute":
            raise UnsupportedError(f"BertConfig: positions of the type {self.position_embedding_type!r} are not supported; absolute is")
        if self.num_attention_heads < 1 or self.hidden_size % self.num_attention_heads:
            raise ValueRangeError(
                f"BertConfig: hidden_size ({self.hidden_size}) must be divisible by num_attention_heads ({self.num_attention_heads})"
            )


class BertOutput(NamedTuple):
    """What `BertModel` returns: states (batch, length, hidden_size), and the pooled first one (batch, hidden_size) or None."""

    last_hidden_state: Tensor
    pooler_output: Tensor | None


class BertEmbeddings(Module):
    """The sum of the embeddings of words, positions and segments, normalised."""

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        width = config.hidden_size
        self.word_embeddings = Embedding(config.vocab_size, width, config.pad_token_id, device=device, dtype=dtype)
        self.position_embeddings = Embedding(config.max_position_embeddings, width, device=device, dtype=dtype)
        self.token_type_embeddings = Embedding(config.type_vocab_size, width, device=device, dtype=dtype)
        self.LayerNorm = LayerNorm(width, config.layer_norm_eps, device=device, dtype=dtype)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None, position_ids: Tensor | None) -> Tensor:
        """(batch, length) to (batch, length, hidden_size)."""
        if position_ids is None:
            position_ids = arange(input_ids.shape[1]).unsqueeze(0)
        if token_type_ids is None:
            token_type_ids = input_ids * 0
        x = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids) + self.position_embeddings(position_ids)
        return self.dropout(self.LayerNorm(x))


class BertSelfAttention(Module):
    """Attention of each position to all."""

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        width = config.hidden_size
        self.heads, self.dropout = config.num_attention_heads, config.attention_probs_dropout_prob
        self.query = Linear(width, width, True, device, dtype)
        self.key = Linear(width, width, True, device, dtype)
        self.value = Linear(width, width, True, device, dtype)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, length, hidden_size) to the same."""
        batch, length, width = x.shape
        q, k, v = (
            projection(x).view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        y = F.scaled_dot_product_attention(q, k, v, mask, self.dropout if self.training else 0.0)
        return y.transpose(1, 2).reshape(batch, length, width)


class BertResidual(Module):
    """A linear map, added to the block's input and normalised."""

    def __init__(self, config: BertConfig, inside: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.dense = Linear(inside, config.hidden_size, True, device, dtype)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps, device=device, dtype=dtype)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, shortcut: Tensor) -> Tensor:
        """(*, inside) and (*, hidden_size) to (*, hidden_size)."""
        return self.LayerNorm(self.dropout(self.dense(x)) + shortcut)


class BertAttention(Module):
    """Attention and its residual."""

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.self = BertSelfAttention(config, device, dtype)
        self.output = BertResidual(config, config.hidden_size, device, dtype)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, length, hidden_size) to the same."""
        return self.output(self.self(x, mask), x)


class BertIntermediate(Module):
    """A linear map to the wide layer and the activation."""

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.dense = Linear(config.hidden_size, config.intermediate_size, True, device, dtype)
        self.activation = config.hidden_act

    def forward(self, x: Tensor) -> Tensor:
        """(*, hidden_size) to (*, intermediate_size)."""
        return ACTIVATIONS[self.activation](self.dense(x))


class BertLayer(Module):
    """Attention, then the wide layer."""

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.attention = BertAttention(config, device, dtype)
        self.intermediate = BertIntermediate(config, device, dtype)
        self.output = BertResidual(config, config.intermediate_size, device, dtype)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, length, hidden_size) to the same."""
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class BertEncoder(Module):
    """The layers."""

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.layer = ModuleList([BertLayer(config, device, dtype) for _ in range(config.num_hidden_layers)])

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, length, hidden_size) to the same."""
        for layer in self.layer:
            x = layer(x, mask)
        return x


class BertPooler(Module):
    """tanh of a linear map of the first position."""

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.dense = Linear(config.hidden_size, config.hidden_size, True, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, hidden_size) to (batch, hidden_size)."""
        return self.dense(x[:, 0]).tanh()


class BertModel(PretrainedModel):
    """Tokens to states, each of which knows all tokens.

    Parameters begin normal with deviation `initializer_range`, biases 0, norms 1, as Hugging Face's.
    """

    config_class: ClassVar[type[ModelConfig]] = BertConfig
    accepts: ClassVar[tuple[str, ...]] = ("bert",)

    def __init__(self, config: BertConfig, device: Any = None, dtype: Any = None, pooler: bool = True) -> None:
        super().__init__(config, device, dtype)
        self.config = config
        self.embeddings = BertEmbeddings(config, device, dtype)
        self.encoder = BertEncoder(config, device, dtype)
        self.pooler = BertPooler(config, device, dtype) if pooler else None
        for module in self.modules():
            if isinstance(module, (Linear, Embedding)):
                init.normal_(module.weight, 0.0, config.initializer_range)
            if isinstance(module, Embedding):
                module._fill_padding_idx_with_zero()
            if isinstance(module, Linear):
                init.zeros_(module.bias)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> BertOutput:
        """Tokens (batch, length) to states (batch, length, hidden_size).

        attention_mask: (batch, length), 0 at padding.  token_type_ids: (batch, length), the segment of each token, 0 by default.
        position_ids: (batch, length) or (1, length), 0 ... length - 1 by default.
        """
        checked_tokens(input_ids, "BertModel")
        mask = None if attention_mask is None else attention_mask.bool().unsqueeze(1).unsqueeze(1)
        x = self.encoder(self.embeddings(input_ids, token_type_ids, position_ids), mask)
        return BertOutput(x, None if self.pooler is None else self.pooler(x))

    def adapt(self, weights: dict[str, Tensor], given: dict[str, Any]) -> dict[str, Tensor]:
        """Files of models with a head have a prefix and more tensors; old ones call the norms' parameters gamma and beta."""
        prefix = "bert." if any(name.startswith("bert.") for name in weights) else ""
        found = {}
        for name, t in weights.items():
            if not name.startswith(prefix) or name.endswith("position_ids"):
                continue
            new = name[len(prefix) :]
            if new.startswith(("embeddings.", "encoder.", "pooler.")):
                found[new.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")] = t
        if not any(name.startswith("pooler.") for name in found):
            self.pooler = None
        return found


def mean_pooling(states: Tensor, attention_mask: Tensor, normalize: bool = True) -> Tensor:
    """The mean of each row's states (batch, length, d) where the mask (batch, length) is not 0, divided by its length: (batch, d).

    This is how sentence-transformers makes embeddings.
    """
    weights: Any = attention_mask.unsqueeze(-1).to(states.dtype)
    mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
    return F.normalize(mean, dim=1) if normalize else mean
