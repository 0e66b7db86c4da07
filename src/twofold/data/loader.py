"""The loader: batches of a dataset, in an order given by a sampler, made here or by worker processes."""

from __future__ import annotations

import itertools
import multiprocessing
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from twofold.data.collate import default_collate, default_convert
from twofold.data.dataset import IterableDataset
from twofold.data.processes import WorkerIterator, Workers, default_context
from twofold.data.random import draws
from twofold.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from twofold.data.worker import Exhausted, Indexed, Iterated, Setup
from twofold.support.errors import ArgumentError, ValueRangeError

Collate = Callable[[Any], Any]
SEEDS = (1 << 62) - 1
FIXED = frozenset(("batch_sampler", "batch_size", "dataset", "drop_last", "persistent_workers", "sampler"))
"""Attributes that other parts of a loader are made of: setting one later would change nothing."""


class DataLoader:
    """Batches of `dataset`, with the arguments of `torch.utils.data.DataLoader`.

    dataset            anything with `__getitem__` (or `__getitems__` of a list of indices) and `__len__`, or an `IterableDataset`
    batch_size         samples in a batch (1); None gives single samples, as they are but for arrays, which become tensors
    shuffle            visit the samples in a new random order each time
    sampler            an iterable of indices that gives the order instead
    batch_sampler      an iterable of lists of indices that gives order and batches; excludes the four above and below
    num_workers        0: samples are made in the calling thread; otherwise by so many processes
    collate_fn         makes a batch of a list of samples (`default_collate`)
    drop_last          leave out a last batch that is not full
    timeout            seconds to wait for a batch of a worker (0: as long as it takes)
    worker_init_fn     called with its number in each worker, after the generators are seeded
    multiprocessing_context, prefetch_factor (2 batches a worker), persistent_workers (keep them for the next iteration): as in PyTorch
    generator          where the random order and the workers' seeds come from (the default generator)
    in_order           accepted: batches always come in order

    Each iteration starts anew and draws a seed; worker w seeds the generators of Python, NumPy and Twofold with that seed + w. Batches come
    in the sampler's order whatever the number of workers, so for a dataset without randomness of its own they are the same for any number.
    An error in a worker is raised here, as the same class, with the worker's traceback as a note. Raises ArgumentError for arguments that
    exclude each other, ValueRangeError for values out of range, DataError where a worker dies or takes longer than `timeout`.
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
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        in_order: bool = True,
    ) -> None:
        self.dataset, self.pin_memory, self.generator = dataset, pin_memory, generator
        self._iterable = isinstance(dataset, IterableDataset)
        if pin_memory:
            warnings.warn("pin_memory=True has no effect: there is no accelerator to copy to", UserWarning, stacklevel=2)
        self._set_workers(num_workers, timeout, worker_init_fn, multiprocessing_context, prefetch_factor, persistent_workers)
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
        self.in_order = in_order
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED and "_ready" in self.__dict__:
            raise ValueRangeError(f"DataLoader: {name} cannot be changed once the loader is made; make another one")
        super().__setattr__(name, value)

    def _set_workers(
        self, num_workers: int, timeout: float, init: Callable[[int], None] | None, context: Any, prefetch: int | None, persistent: bool
    ) -> None:
        """Check and keep what concerns worker processes."""
        if type(num_workers) is not int or num_workers < 0:
            raise ValueRangeError(f"DataLoader: num_workers must be an int of at least 0, got {num_workers!r}")
        if not timeout >= 0:
            raise ValueRangeError(f"DataLoader: timeout must not be negative, got {timeout!r}")
        if num_workers == 0 and (prefetch is not None or persistent or timeout or context is not None):
            raise ValueRangeError(
                "DataLoader: prefetch_factor, persistent_workers, timeout and multiprocessing_context need num_workers above 0"
            )
        if prefetch is not None and (type(prefetch) is not int or prefetch <= 0):
            raise ValueRangeError(f"DataLoader: prefetch_factor must be a positive int, got {prefetch!r}")
        if isinstance(context, str):
            if context not in multiprocessing.get_all_start_methods():
                known = ", ".join(multiprocessing.get_all_start_methods())
                raise ValueRangeError(f"DataLoader: multiprocessing_context must be one of {known}, got {context!r}")
            context = multiprocessing.get_context(context)
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, init
        self.multiprocessing_context, self.persistent_workers = context, persistent
        self.prefetch_factor = (2 if prefetch is None else prefetch) if num_workers else None
        self._workers: Workers | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_workers": None}

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
        seed = int(draws(SEEDS, 1, self.generator)[0])
        fetcher: Any = Iterated(self.collate_fn, self.batch_size, self.drop_last)
        if not self._iterable:
            fetcher = Indexed(self.collate_fn, self.batch_sampler is not None)
        if self.num_workers == 0:
            return self._here(fetcher)
        if self._workers is None or not self.persistent_workers:
            setups = [Setup(self.dataset, fetcher, self.worker_init_fn, i, self.num_workers) for i in range(self.num_workers)]
            workers = Workers(setups, self.multiprocessing_context or default_context())
            self._workers = workers if self.persistent_workers else None
        else:
            workers = self._workers
        return WorkerIterator(workers, self._tasks(), seed, self.prefetch_factor or 2, self.timeout, self.persistent_workers)

    def _tasks(self) -> Iterator[Any]:
        """What each batch is made of."""
        if self._iterable:
            return itertools.repeat(None)
        return iter(self.batch_sampler if self.batch_sampler is not None else self.sampler)  # type: ignore[arg-type]

    def _here(self, fetcher: Any) -> Iterator[Any]:
        """Batches made in this thread."""
        fetch = fetcher(self.dataset)
        for task in self._tasks():
            batch = fetch(task)
            if batch is Exhausted:
                return
            yield batch
