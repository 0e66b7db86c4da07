"""Samplers: in which order, and in which batches, the samples of a dataset are visited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from twofold.data.random import draws, permutation, weighted
from twofold.support.errors import ArgumentError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.core import Tensor, wrap

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Base of samplers: a subclass has `__iter__()` over indices (or lists of indices), and `__len__()` if it knows their number."""

    def __iter__(self) -> Iterator[T_co]:
        raise UnsupportedError(f"{type(self).__name__} does not define __iter__")


class SequentialSampler(Sampler[int]):
    """0, 1, ... len(data_source) - 1."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order, a new one each time: each once (more than once round if `num_samples` is larger than the data), or drawn
    independently with `replacement`. The order comes from `generator`, or from the default generator.
    """

    def __init__(self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None) -> None:
        if num_samples is not None and (type(num_samples) is not int or num_samples <= 0):
            raise ValueRangeError(f"RandomSampler: num_samples must be a positive int, got {num_samples!r}")
        self.data_source, self.replacement, self.generator = data_source, bool(replacement), generator
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        """How many indices one iteration gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, wanted = len(self.data_source), self.num_samples
        if n == 0:
            return
        if self.replacement:
            yield from draws(n, wanted, self.generator).tolist()
            return
        while wanted > 0:
            yield from permutation(n, self.generator)[:wanted].tolist()
            wanted -= n

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order, a new one each time."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in permutation(len(self.indices), self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices 0 ... len(weights) - 1 drawn with probabilities proportional to their weights, with or without replacement."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None) -> None:
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueRangeError(f"WeightedRandomSampler: num_samples must be a positive int, got {num_samples!r}")
        if type(replacement) is not bool:
            raise ArgumentError(f"WeightedRandomSampler: replacement must be a bool, got {replacement!r}")
        array = np.asarray(weights._array if isinstance(weights, Tensor) else weights, np.float64)
        if array.ndim != 1:
            raise ShapeError(f"WeightedRandomSampler: weights must have one dimension, not the shape {array.shape}")
        self.weights, self.num_samples, self.replacement, self.generator = wrap(array), num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        yield from weighted(self.weights, self.num_samples, self.replacement, self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of `batch_size`; the last may be shorter, and is left out with `drop_last`."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if type(batch_size) is not int or batch_size <= 0:
            raise ValueRangeError(f"batch_size must be a positive int, got {batch_size!r}")
        if type(drop_last) is not bool:
            raise ArgumentError(f"drop_last must be a bool, got {drop_last!r}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
