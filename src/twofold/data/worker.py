"""What runs in a worker process of a DataLoader."""

from __future__ import annotations

import itertools
import os
import pickle
import queue
import random
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.data.collate import default_collate
from twofold.data.dataset import Dataset
from twofold.support.errors import DataError
from twofold.tensors.random import manual_seed

Fetch = Callable[[Any], Any]
SEEDS = 1 << 32
"""NumPy's old generator takes seeds below this."""


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself: its number `id`, how many workers there are, its seed, its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


@dataclass(frozen=True)
class Setup:
    """What a worker is made from."""

    dataset: Any
    fetcher: Callable[[Any], Fetch]
    init: Callable[[int], None] | None
    number: int
    workers: int


_info: list[WorkerInfo] = []


def get_worker_info() -> WorkerInfo | None:
    """In a worker process of a DataLoader its `WorkerInfo`, elsewhere None. An IterableDataset takes its part of the data by it."""
    return _info[0] if _info else None


class Exhausted:
    """A worker's answer when its iterable dataset has no more samples."""


@dataclass(frozen=True)
class Indexed:
    """How batches are made of a dataset with indices: of lists of them, or of single ones."""

    collate: Callable[[Any], Any]
    batched: bool

    def __call__(self, dataset: Any) -> Fetch:
        if not self.batched:
            return lambda index: self.collate(dataset[index])
        if self.collate is default_collate and isinstance(dataset, Dataset) and not hasattr(dataset, "__getitems__"):
            return dataset._collated
        if hasattr(dataset, "__getitems__"):
            return lambda indices: self.collate(dataset.__getitems__(indices))
        return lambda indices: self.collate([dataset[i] for i in indices])


@dataclass(frozen=True)
class Iterated:
    """How batches are made of an iterable dataset; `size` None gives single samples. The function's argument means nothing."""

    collate: Callable[[Any], Any]
    size: int | None
    drop_last: bool

    def __call__(self, dataset: Any) -> Fetch:
        samples = iter(dataset)

        def fetch(_: Any) -> Any:
            if self.size is None:
                sample = next(samples, Exhausted)
                return sample if sample is Exhausted else self.collate(sample)
            batch = list(itertools.islice(samples, self.size))
            return self.collate(batch) if batch and (len(batch) == self.size or not self.drop_last) else Exhausted

        return fetch


def seed_everything(seed: int) -> None:
    """Seed the generators of Python, NumPy and Twofold."""
    random.seed(seed)
    np.random.seed(seed % SEEDS)
    manual_seed(seed)


def serve(setup: Setup, connection: Any, inherited: Any) -> None:
    """The worker's life: answer tasks until told to stop, or until the parent is gone.

    Messages: ("begin", seed) starts an iteration; ("task", number, what) asks for a batch; None ends. An answer is (number, kind, pickled
    value or error).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then stops its workers
    for other in inherited:
        other.close()  # a forked process has the parent's ends of all pipes: while they are open nobody sees the parent go
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=receive, args=(connection, tasks), daemon=True).start()
    fetch: Any = None
    while (message := tasks.get()) is not None:
        if message[0] == "begin":
            fetch = Deferred(setup, message[1])
            continue
        number, what = message[1:]
        try:
            value = fetch.get()(what)
            answer = (number, "end", b"") if value is Exhausted else (number, "value", pickle.dumps(value, protocol=5))
        except Exception as error:  # the parent raises it again
            answer = (number, "error", packed(error))
        try:
            connection.send_bytes(pickle.dumps(answer, protocol=5))
        except (BrokenPipeError, ConnectionError):
            break
    # Threads and locks the user's dataset left behind may not end: nothing here needs Python's own farewell but for what was printed.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


class Deferred:
    """The fetch function of an iteration, made at the first task so that an error in making it is an answer."""

    def __init__(self, setup: Setup, seed: int) -> None:
        self.setup, self.seed = setup, seed
        self.made: Fetch | None = None

    def get(self) -> Fetch:
        """Seed, tell the user's init function, make the iterator of an iterable dataset."""
        if self.made is None:
            setup = self.setup
            seed_everything(self.seed)
            _info[:] = [WorkerInfo(setup.number, setup.workers, self.seed, setup.dataset)]
            if setup.init is not None:
                setup.init(setup.number)
            self.made = setup.fetcher(setup.dataset)
        return self.made


def receive(connection: Any, tasks: Any) -> None:
    """Take messages off the pipe at once, so that the parent never waits for a busy worker. Its end means that the parent is gone."""
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            message = None
        tasks.put(message)
        if message is None:
            return


def packed(error: BaseException) -> bytes:
    """An error with its traceback's text. One that cannot be pickled (or read back) becomes a DataError with its class's name."""
    text = "".join(traceback.format_exception(error))
    try:
        content = pickle.dumps((error, text), protocol=5)
        pickle.loads(content)  # the pipe is between two processes of one program
        return content
    except Exception:
        return pickle.dumps((DataError(f"{type(error).__name__}: {error}"), text), protocol=5)
