"""The loader: batches of a dataset, in an order given by a sampler."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from twofold.data.collate import default_collate, default_convert
from twofold.data.dataset import Dataset, IterableDataset
from twofold.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from twofold.support.errors import ArgumentError, UnsupportedError, ValueRangeError

Collate = Callable[[Any], Any]


class DataLoader:
    """Batches of `dataset`, with the arguments of `torch.utils.data.DataLoader`.

    dataset        anything with `__getitem__` and `__len__`, or an `IterableDataset`
    batch_size     samples in a batch (1); None gives single samples, as they are but for arrays, which become tensors
    shuffle        visit the samples in a new random order each time
    sampler        an iterable of indices that gives the order instead
    batch_sampler  an iterable of lists of indices that gives order and batches; excludes the four above and below
    num_workers    0: samples are made in the calling thread. Other values raise UnsupportedError
    collate_fn     makes a batch of a list of samples (`default_collate`)
    drop_last      leave out a last batch that is not full
    generator      where the random order comes from (the default generator)

    Each iteration starts anew; its random order is drawn when the first batch is asked for. Raises ArgumentError for arguments that
    exclude each other, ValueRangeError for values out of range.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Collate | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        *,
        generator: Any = None,
    ) -> None:
        if num_workers != 0:
            raise UnsupportedError(f"DataLoader: worker processes do not exist yet; num_workers must be 0, got {num_workers}")
        if pin_memory:
            raise UnsupportedError("DataLoader: pin_memory is for copies to a GPU, and there is none here; leave it False")
        self.dataset, self.num_workers, self.pin_memory, self.generator = dataset, num_workers, pin_memory, generator
        self._iterable = isinstance(dataset, IterableDataset)
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ArgumentError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ArgumentError("DataLoader: drop_last needs batches, but batch_size is None")
        if sampler is not None and shuffle:
            raise ArgumentError("DataLoader: sampler gives the order, so it excludes shuffle=True")
        if self._iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ArgumentError("DataLoader: an IterableDataset gives its own order: it excludes shuffle, sampler and batch_sampler")
        if batch_size is not None and (type(batch_size) is not int or batch_size <= 0):
            raise ValueRangeError(f"DataLoader: batch_size must be a positive int or None, got {batch_size!r}")
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler = self.batch_sampler = None
        if not self._iterable:
            self.sampler = self._default_sampler(bool(shuffle)) if sampler is None and batch_sampler is None else sampler
            self.batch_sampler = batch_sampler
            if batch_size is not None and self.sampler is not None:
                self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        batched = batch_size is not None or batch_sampler is not None
        self.collate_fn: Collate = collate_fn or (default_collate if batched else default_convert)

    def _default_sampler(self, shuffle: bool) -> Iterable[int]:
        if not shuffle:
            return SequentialSampler(self.dataset)
        return RandomSampler(self.dataset, generator=self.generator)

    def __len__(self) -> int:
        """The number of batches (of samples, where batch_size is None)."""
        if not self._iterable:
            return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        if self._iterable:
            return self._from_iterable()
        if self.batch_sampler is not None:
            return map(self._batch, self.batch_sampler)
        return (self.collate_fn(self.dataset[i]) for i in self.sampler or ())

    def _batch(self, indices: list[int]) -> Any:
        if self.collate_fn is default_collate and isinstance(self.dataset, Dataset):
            return self.dataset._collated(indices)
        return self.collate_fn([self.dataset[i] for i in indices])

    def _from_iterable(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(itertools.islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)
