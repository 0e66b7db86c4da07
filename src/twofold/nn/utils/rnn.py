"""Batches of sequences of different lengths: padded, and packed for recurrent networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor, memory, wrap
from twofold.tensors.functions import FUNCTIONS

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip


def _f(name: str, *args: Any, **kwargs: Any) -> Any:
    return FUNCTIONS[name](*args, **kwargs)


class _Fields(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Fields):
    """Sequences of a batch step by step: `data` holds the elements of the first step of all sequences, then of the second, …;
    `batch_sizes` (1-d int64) how many sequences have each step. Longest first: `sorted_indices` says which sequence of the batch is where,
    `unsorted_indices` is its inverse (both None where the batch was sorted)."""

    def __new__(
        cls, data: Any, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None, unsorted_indices: Tensor | None = None
    ) -> PackedSequence:
        if batch_sizes is None:
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with `data` converted as by `Tensor.to`."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self) -> PackedSequence:
        """Itself: there is one device with data."""
        return self.to(device="cpu")

    def double(self) -> PackedSequence:
        """`data` as float64."""
        return self.to(dtype=dtypes.float64)

    def float(self) -> PackedSequence:
        """`data` as float32."""
        return self.to(dtype=dtypes.float32)

    def half(self) -> PackedSequence:
        """`data` as float16."""
        return self.to(dtype=dtypes.float16)

    def long(self) -> PackedSequence:
        """`data` as int64."""
        return self.to(dtype=dtypes.int64)

    def int(self) -> PackedSequence:
        """`data` as int32."""
        return self.to(dtype=dtypes.int32)

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The inverse of a permutation given as 1-d indices; None for None."""
    if permutation is None:
        return None
    return wrap(np.argsort(memory(permutation), kind="stable").astype(np.int64))


def _lengths(lengths: Any) -> np.ndarray:
    try:
        found = np.array(memory(lengths) if isinstance(lengths, Tensor) else lengths).astype(np.int64)
    except (TypeError, ValueError):
        raise ArgumentError(f"lengths must be a 1-d tensor or list of ints, not {lengths!r}") from None
    if found.ndim != 1 or not found.size:
        raise ArgumentError(f"lengths must be a 1-d tensor or list with at least one length, not {lengths!r}")
    if (found <= 0).any():
        raise ValueRangeError(f"every sequence needs at least one element, the lengths are {found.tolist()}")
    return found


def _positions(sizes: np.ndarray, batch: int) -> np.ndarray:
    """Where the packed rows are in (steps * batch) rows."""
    return np.concatenate([t * batch + np.arange(n) for t, n in enumerate(sizes.tolist())])


def _steps(lengths: np.ndarray) -> np.ndarray:
    """The batch sizes of sequences sorted by falling length."""
    return (lengths[None, :] > np.arange(lengths[0])[:, None]).sum(axis=1)


def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Pack a padded batch (T, B, *), with batch_first (B, T, *), whose sequences have these lengths (a list or 1-d tensor).

    enforce_sorted: the lengths must fall; otherwise the batch is sorted first. Raises ValueRangeError for lengths that do not fall or are
    not positive, ShapeError for lengths that do not fit.
    """
    found = _lengths(lengths)
    if input._type.ndim < 2:
        raise ShapeError(f"pack_padded_sequence: the input needs at least 2 dimensions, its shape is {tuple(input._type.shape)}")
    order = None
    if not enforce_sorted:
        places = np.argsort(-found, kind="stable").astype(np.int64)
        found, order = found[places], wrap(places)
        input = _f("index_select", input, 0 if batch_first else 1, order)
    elif (found[1:] > found[:-1]).any():
        raise ValueRangeError(f"pack_padded_sequence: lengths must fall, they are {found.tolist()}; or pass enforce_sorted=False")
    x = _f("transpose", input, 0, 1) if batch_first else input
    shape = tuple(x._type.shape)
    if shape[1] != found.size:
        raise ShapeError(
            f"pack_padded_sequence: {found.size} lengths for a batch of {shape[1]} (input of shape {tuple(input._type.shape)})"
        )
    if found[0] > shape[0]:
        raise ShapeError(f"pack_padded_sequence: the longest sequence has length {found[0]}, the input has {shape[0]} steps")
    sizes = _steps(found)
    rows = _f("reshape", x, (shape[0] * shape[1], *shape[2:]))
    data = _f("index_select", rows, 0, wrap(_positions(sizes, shape[1])))
    return PackedSequence(data, wrap(sizes.astype(np.int64)), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """(padded batch (T, B, *) or (B, T, *), lengths): the inverse of `pack_padded_sequence`; the batch is in its original order.

    total_length: pad to so many steps; ValueRangeError where a sequence is longer.
    """
    sizes = memory(sequence.batch_sizes)
    steps, batch = len(sizes), int(sizes[0])
    if total_length is not None:
        if total_length < steps:
            raise ValueRangeError(f"pad_packed_sequence: total_length ({total_length}) is below the longest sequence's length ({steps})")
        steps = total_length
    data = sequence.data
    count, *rest = data._type.shape
    back = np.full(steps * batch, count, np.int64)  # the row of padding
    back[_positions(sizes, batch)] = np.arange(count)
    padding = _f("full", (1, *rest), padding_value, dtype=data._type.dtype)
    padded = _f("reshape", _f("index_select", _f("cat", (data, padding), 0), 0, wrap(back)), (steps, batch, *rest))
    lengths = (sizes[None, :] > np.arange(batch)[:, None]).sum(axis=1).astype(np.int64)
    if batch_first:
        padded = _f("transpose", padded, 0, 1)
    if sequence.unsorted_indices is not None:
        lengths = lengths[memory(sequence.unsorted_indices)]
        padded = _f("index_select", padded, 0 if batch_first else 1, sequence.unsorted_indices)
    return padded, wrap(lengths)


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Sequences (L, *) of different lengths as one padded tensor (T, B, *), with batch_first (B, T, *), T the greatest length."""
    if padding_side not in ("left", "right"):
        raise ValueRangeError(f"pad_sequence: padding_side must be 'left' or 'right', not {padding_side!r}")
    if isinstance(sequences, Tensor):
        sequences = _f("unbind", sequences, 0)
    listed = list(sequences)
    if not listed or not all(isinstance(t, Tensor) for t in listed):
        raise ArgumentError("pad_sequence: needs a list of at least one tensor")
    shapes = [tuple(t._type.shape) for t in listed]
    if any(len(s) < 1 or s[1:] != shapes[0][1:] for s in shapes):
        raise ShapeError(f"pad_sequence: the sequences must agree in all but the first dimension, their shapes are {shapes}")
    longest = max(s[0] for s in shapes)
    rows = []
    for t, s in zip(listed, shapes, strict=True):
        if s[0] < longest:
            rest = _f("full", (longest - s[0], *s[1:]), padding_value, dtype=t._type.dtype)
            t = _f("cat", (t, rest) if padding_side == "right" else (rest, t), 0)
        rows.append(t)
    padded: Tensor = _f("stack", rows, 0 if batch_first else 1)
    return padded


def unpad_sequence(padded_sequences: Any, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch (T, B, *), with batch_first (B, T, *), by their lengths: the inverse of `pad_sequence`."""
    x = padded_sequences if batch_first else _f("transpose", padded_sequences, 0, 1)
    return [_f("slice", row, 0, 0, int(n)) for row, n in zip(_f("unbind", x, 0), memory(lengths).tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences (L, *), longest first unless enforce_sorted=False."""
    lengths = [int(t._type.shape[0]) for t in sequences]
    return pack_padded_sequence(pad_sequence(list(sequences)), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch: the inverse of `pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
