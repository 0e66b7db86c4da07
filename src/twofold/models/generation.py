"""Generating text: the next token is chosen from a decoder's scores, appended, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from twofold.autograd.grad_mode import no_grad
from twofold.models.cache import KVCache
from twofold.nn import functional as F
from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.creation import ones
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.joining import cat


def filtered(scores: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    """Scores (batch, vocabulary) in float32, divided by the temperature, -inf at tokens that are not to be drawn.

    top_k keeps the k greatest. top_p keeps the fewest tokens whose probabilities sum to at least p (nucleus sampling, A. Holtzman et al.,
    arXiv:1904.09751), after top_k; one token always stays.
    """
    for name, given in (("temperature", temperature), ("top_p", top_p)):
        if not isinstance(given, (int, float, np.number)) and not (given is None and name == "top_p"):
            raise ArgumentError(f"{name} must be a number, not {given!r}")
    if not temperature > 0:
        raise ValueRangeError(f"temperature must be positive, not {temperature}; do_sample=False always takes the likeliest token")
    x: Any = scores.float() / temperature
    if top_k is not None:
        if type(top_k) is not int or top_k < 1:
            raise ValueRangeError(f"top_k must be a positive int, not {top_k!r}")
        least = x.topk(min(top_k, x.shape[-1]), -1)[0][:, -1:]
        x = x.masked_fill(x < least, -float("inf"))
    if top_p is not None:
        if not 0 < top_p <= 1:
            raise ValueRangeError(f"top_p must be above 0 and at most 1, not {top_p}")
        ordered, index = x.sort(-1, descending=True)
        probabilities = F.softmax(ordered, -1)
        before = probabilities.cumsum(-1) - probabilities
        x = x.masked_fill((before >= top_p).scatter(-1, index, before >= top_p), -float("inf"))
    return x


def choose(scores: Tensor, do_sample: bool, temperature: float, top_k: int | None, top_p: float | None, generator: Any) -> Tensor:
    """The next token of each row, (batch, 1), from the scores (batch, vocabulary)."""
    if not do_sample:
        return scores.argmax(-1, keepdim=True)
    probabilities = F.softmax(filtered(scores, temperature, top_k, top_p), -1)
    return FUNCTIONS["multinomial"](probabilities, 1, generator=generator)


class Generates:
    """`generate` for decoders. A subclass has `config`, `new_cache(batch, capacity)` and `scores(...)`."""

    config: Any
    context: int | None = None
    """The greatest number of tokens the model takes at once (None: no fixed number)."""

    def new_cache(self, batch: int, capacity: int) -> KVCache:
        """An empty cache."""
        raise NotImplementedError

    def scores(self, input_ids: Tensor, attention_mask: Tensor | None, cache: KVCache | None) -> Tensor:
        """Scores of the token after the last one, (batch, vocabulary)."""
        model: Any = self
        return model(input_ids, attention_mask=attention_mask, cache=cache, last_only=True)[:, -1]

    def generate(
        self,
        input_ids: Tensor,
        max_new_tokens: int = 20,
        *,
        do_sample: bool = False,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        eos_token_id: int | Sequence[int] | None = None,
        pad_token_id: int | None = None,
        attention_mask: Tensor | None = None,
        use_cache: bool = True,
        generator: Any = None,
    ) -> Tensor:
        """The tokens (batch, length) followed by up to `max_new_tokens` new ones.

        do_sample: draw tokens by their probabilities (`filtered` says what temperature, top_k and top_p do; `generator` draws); without it
        the likeliest token is taken.
        eos_token_id: a row ends with any of these tokens (the configuration's, if None; () for none); ended rows are filled with
        pad_token_id (the configuration's, or the first of eos_token_id). It stops when all rows have ended.
        attention_mask: (batch, length), 0 at padding, which stands on the left; for rows of different lengths.
        use_cache: keep keys and values in buffers that are allocated once; the tokens are the same without.
        Beyond a model's greatest context (`context`), the last tokens that fit are its input.
        """
        if not isinstance(input_ids, Tensor):
            raise ArgumentError(f"generate: needs tokens as a tensor of shape (batch, length), not {type(input_ids).__name__}")
        if attention_mask is not None and not isinstance(attention_mask, Tensor):
            raise ArgumentError(f"generate: attention_mask must be a tensor or None, not {type(attention_mask).__name__}")
        if input_ids.dim() != 2 or input_ids.shape[1] == 0:
            raise ShapeError(f"generate: needs tokens of shape (batch, length), length at least 1, not {tuple(input_ids.shape)}")
        if type(max_new_tokens) is not int or max_new_tokens < 0:
            raise ValueRangeError(f"generate: max_new_tokens must be an int from 0 on, not {max_new_tokens!r}")
        if attention_mask is not None and attention_mask.shape != input_ids.shape:
            raise ShapeError(f"generate: attention_mask has shape {tuple(attention_mask.shape)}, the tokens {tuple(input_ids.shape)}")
        if attention_mask is not None and not bool(attention_mask[:, -1].bool().all()):
            raise ArgumentError("generate: padding must stand on the left: the last column of attention_mask has a 0")
        stops = self._stops(eos_token_id)
        pad = self._pad(pad_token_id, stops)
        sampling = (do_sample, temperature, top_k, top_p, generator)
        with no_grad():
            return self._generate(input_ids, attention_mask, max_new_tokens, stops, pad, use_cache, sampling)

    def _generate(
        self, tokens: Tensor, mask: Tensor | None, count: int, stops: list[int], pad: int, use_cache: bool, sampling: tuple[Any, ...]
    ) -> Tensor:
        batch, length = tokens.shape
        limit = self.context or length + count
        cache = self.new_cache(batch, min(length + count, limit)) if use_cache and length <= limit else None
        running: Any = ones(batch, 1, dtype="bool")
        fresh = tokens
        for _ in range(count):
            if tokens.shape[1] > limit:  # the window slides: every position changes
                fresh, cache = tokens[:, -limit:], None
            seen = None if mask is None else mask[:, -limit:]
            chosen: Any = choose(self.scores(fresh, seen, cache), *sampling)
            chosen = FUNCTIONS["where"](running, chosen, pad)
            tokens = cat((tokens, chosen), 1)
            if mask is not None:
                mask = cat((mask, ones(batch, 1, dtype=mask.dtype)), 1)
            fresh = chosen if cache is not None else tokens
            for stop in stops:
                running = running & (chosen != stop)
            if stops and not bool(running.any()):
                break
        return tokens

    def _stops(self, given: int | Sequence[int] | None) -> list[int]:
        if given is None:
            given = getattr(self.config, "eos_token_id", None)
        stops = [] if given is None else list(given) if isinstance(given, Iterable) else [given]
        if not all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) for s in stops):
            raise ArgumentError(f"generate: eos_token_id must be an int or several, not {given!r}")
        return [int(s) for s in stops]

    def _pad(self, given: int | None, stops: list[int]) -> int:
        if given is None:
            given = getattr(self.config, "pad_token_id", None)
        if given is not None and (isinstance(given, bool) or not isinstance(given, (int, np.integer))):
            raise ArgumentError(f"generate: pad_token_id must be an int or None, not {given!r}")
        return int(given) if given is not None else stops[0] if stops else 0
