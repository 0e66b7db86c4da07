"""Keys and values of earlier positions, kept so that a decoder computes only what is new; and the masks that go with them."""

from __future__ import annotations

from typing import Any

from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.creation import arange, zeros


class KVCache:
    """Buffers for keys and values, allocated once: for each layer (batch, heads, capacity, head_dim). New ones are written in place.

    position: how many positions are filled. As an int, `update` gives views of the filled part, so a step costs what is filled. As a 0-d
    int64 tensor, it gives the whole buffers, so every step has the same shapes and can be one recorded graph; positions not filled yet
    are masked.
    """

    def __init__(self, layers: int, batch: int, heads: int, capacity: int, head_dim: int, dtype: Any = None) -> None:
        self.keys = [zeros(batch, heads, capacity, head_dim, dtype=dtype) for _ in range(layers)]
        self.values = [zeros(batch, heads, capacity, head_dim, dtype=dtype) for _ in range(layers)]
        self.capacity = capacity
        self.position: Any = 0

    def update(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Write the keys and values of new positions, (batch, heads, new, head_dim), and return all that a query may look at.

        Raises ValueRangeError where the buffer is full, ShapeError where the sizes differ. `advance` moves on when all layers have written.
        """
        keys, values = self.keys[layer], self.values[layer]
        if key.shape[:2] != keys.shape[:2] or key.shape[3] != keys.shape[3]:
            raise ShapeError(f"KVCache: keys of shape {tuple(key.shape)} do not fit a buffer of shape {tuple(keys.shape)}")
        new = key.shape[2]
        if isinstance(self.position, Tensor):
            index = self.position + arange(new)
            keys.index_copy_(2, index, key)
            values.index_copy_(2, index, value)
            return keys, values
        end = self.position + new
        if end > self.capacity:
            raise ValueRangeError(f"KVCache: {end} positions do not fit a capacity of {self.capacity}; make a larger cache")
        keys[:, :, self.position : end] = key
        values[:, :, self.position : end] = value
        return keys[:, :, :end], values[:, :, :end]

    def advance(self, count: int) -> None:
        """The next `count` positions are filled."""
        self.position = self.position + count

    def reset(self) -> None:
        """Begin anew."""
        self.position = 0


def checked_tokens(input_ids: Any, what: str) -> Any:
    """The length of tokens (batch, length); raises ArgumentError, ShapeError."""
    if not isinstance(input_ids, Tensor):
        raise ArgumentError(f"{what}: needs tokens as a tensor of shape (batch, length), not {type(input_ids).__name__}")
    if input_ids.dim() != 2:
        raise ShapeError(f"{what}: needs tokens of shape (batch, length), not {tuple(input_ids.shape)}")
    return input_ids.shape[1]


def positions(length: Any, cache: KVCache | None, attention_mask: Tensor | None) -> Tensor:
    """The positions of `length` new tokens, (1, length); or (batch, length), counting only those that the mask (batch, filled + length)
    keeps: tokens left of the first real one are at position 0."""
    if attention_mask is None:
        new = arange(length)
        return (new if cache is None else new + cache.position).unsqueeze(0)
    counted: Any = attention_mask.long().cumsum(-1) - 1
    return counted.clamp(min=0)[:, counted.shape[1] - length :]


def causal_mask(length: Any, cache: KVCache | None, attention_mask: Tensor | None) -> tuple[Tensor | None, bool]:
    """(mask, is_causal) for `scaled_dot_product_attention`: new token i sees the positions filled before it, and itself.

    The mask is bool, (1, 1, length, seen) or (batch, 1, length, seen). attention_mask: (batch, seen), false (or 0) at padding.
    """
    past = 0 if cache is None else cache.position
    fixed = isinstance(past, Tensor)
    if attention_mask is None and not fixed:
        if past == 0:
            return None, True
        if length == 1:
            return None, False
    seen = cache.capacity if cache is not None and fixed else past + length
    rows = (arange(length) + past).unsqueeze(1)
    mask = (arange(seen).unsqueeze(0) <= rows).unsqueeze(0).unsqueeze(0)
    if attention_mask is not None:
        mask = mask & attention_mask.bool().unsqueeze(1).unsqueeze(1)
    return mask, False
