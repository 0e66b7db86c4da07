"""The Transformer: encoder and decoder layers, stacks of them, and both together (A. Vaswani et al., arXiv:1706.03762)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.attention import MultiheadAttention
from twofold.nn.attention_forward import check_mask, warn_of_mixed_masks
from twofold.nn.containers import ModuleList
from twofold.nn.dropout import Dropout
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.nn.normalization import LayerNorm
from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.functions import FUNCTIONS

Activation = Callable[[Tensor], Tensor]


def _activation(given: str | Activation) -> Activation:
    """PyTorch's names of activations."""
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise ValueRangeError(f"activation should be relu/gelu or a function, not {given!r}")
    found: Activation = getattr(F, given)
    return found


def _clones(module: Module, count: int) -> ModuleList:
    """Independent copies of a module: all begin with the same values, as in PyTorch."""
    if not isinstance(module, Module) or not isinstance(count, int):
        raise ArgumentError(f"needs a layer and the number of layers, not {type(module).__name__} and {count!r}")
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """(sz, sz): 0 on and below the diagonal, -inf above."""
    found: Tensor = FUNCTIONS["triu"](FUNCTIONS["full"]((sz, sz), -math.inf, dtype=dtype, device=device), 1)
    return found


def is_causal_mask(mask: Any, is_causal: bool | None, length: int) -> bool:
    """Whether a mask is known (or, where nothing was said, found) to be the causal one of this length.

    While a graph is recorded, or on the meta device, the values of a mask cannot be looked at: unless said so, it is none.
    """
    if is_causal is not None or mask is None:
        return bool(is_causal)
    if isinstance(mask, Symbol) or mask._array is None or tuple(mask._type.shape) != (length, length):
        return False
    if not mask._type.dtype.is_floating_point:
        return False
    return bool(FUNCTIONS["equal"](mask.detach(), square_subsequent_mask(length, dtype=mask._type.dtype)))


def _length(x: Any, batch_first: bool) -> int:
    shape = x._type.shape
    length: int = shape[0] if len(shape) == 2 or not batch_first else shape[1]
    return length


def _check_masks(mask: Any, mask_name: str, padding: Any, padding_name: str) -> None:
    check_mask(padding, padding_name)
    check_mask(mask, mask_name)
    warn_of_mixed_masks(padding, padding_name, mask, mask_name)


class TransformerEncoderLayer(Module):
    """Self-attention and a feed-forward network, each with a residual connection and layer normalisation (afterwards, or before with
    norm_first). Input and output (S, B, d_model), with batch_first (B, S, d_model), or without B."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **place)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self, src: Any, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool = False
    ) -> Tensor:
        """The layer's output, shaped like `src`. Masks as in `MultiheadAttention`; is_causal: a hint that src_mask is causal."""
        _check_masks(src_mask, "src_mask", src_key_padding_mask, "src_key_padding_mask")
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            x = x + self._ff_block(self.norm2(x))
        else:
            x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
            x = self.norm2(x + self._ff_block(x))
        return x

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        out = self.self_attn(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal
        )[0]  # fmt: skip
        return self.dropout1(out)

    def _ff_block(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's output (`memory`) and a feed-forward network, each with a residual connection and layer
    normalisation. tgt and output (T, B, d_model), memory (S, B, d_model), with batch_first (B, …, d_model), or without B."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **place)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **place)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The layer's output, shaped like `tgt`. Masks as in `MultiheadAttention`; the last two are hints about the masks."""
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            x = x + self._mha_block(self.norm2(x), memory, memory_mask, memory_key_padding_mask, memory_is_causal)
            x = x + self._ff_block(self.norm3(x))
        else:
            x = self.norm1(x + self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
            x = self.norm2(x + self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal))
            x = self.norm3(x + self._ff_block(x))
        return x

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        out = self.self_attn(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False
        )[0]  # fmt: skip
        return self.dropout1(out)

    def _mha_block(self, x: Any, memory: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        out = self.multihead_attn(
            x, memory, memory, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False
        )[0]  # fmt: skip
        return self.dropout2(out)

    def _ff_block(self, x: Any) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """`num_layers` copies of a `TransformerEncoderLayer`, one after the other, and a last normalisation if given.

    enable_nested_tensor and mask_check choose among PyTorch's ways of computing; they are without effect here.
    """

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True, mask_check: bool = True
    ) -> None:
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self, src: Any, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool | None = None
    ) -> Tensor:
        """The output of the last layer. is_causal: whether `mask` is causal; None: see for yourself."""
        _check_masks(mask, "mask", src_key_padding_mask, "src_key_padding_mask")
        first: Any = self.layers[0]
        causal = is_causal_mask(mask, is_causal, _length(src, first.self_attn.batch_first))
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        return out if self.norm is None else self.norm(out)


class TransformerDecoder(Module):
    """`num_layers` copies of a `TransformerDecoderLayer`, one after the other, and a last normalisation if given."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The output of the last layer. tgt_is_causal: whether `tgt_mask` is causal; None: see for yourself."""
        first: Any = self.layers[0]
        causal = is_causal_mask(tgt_mask, tgt_is_causal, _length(tgt, first.self_attn.batch_first))
        out = tgt
        for layer in self.layers:
            out = layer(
                out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal, memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """Encoder and decoder: src (S, B, d_model) and tgt (T, B, d_model) to (T, B, d_model); with batch_first (B, …, d_model), or without B.

    custom_encoder, custom_decoder: modules in place of the usual stacks. All matrices begin with Glorot's uniform values.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        settings: tuple[Any, ...] = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(d_model, nhead, *settings, **place)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            below = TransformerDecoderLayer(d_model, nhead, *settings, **place)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            custom_decoder = TransformerDecoder(below, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoder's output, shaped like `tgt`."""
        a, b = tuple(src._type.shape), tuple(tgt._type.shape)
        batch = 0 if self.batch_first else 1
        if len(a) == 3 and len(b) == 3 and a[batch] != b[batch]:
            raise ShapeError(f"Transformer: src of shape {a} and tgt of shape {b} have different batch sizes")
        if a[-1] != self.d_model or b[-1] != self.d_model:
            raise ShapeError(f"Transformer: src of shape {a} and tgt of shape {b} must have d_model = {self.d_model} features")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        out: Tensor = self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
        )  # fmt: skip
        return out

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """(sz, sz): 0 on and below the diagonal, -inf above, to be added to the scores."""
        return square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        """Draw all matrices anew."""
        for p in self.parameters():
            if p._type.ndim > 1:
                init.xavier_uniform_(p)
