"""Batches made by worker processes, in the order they were asked for."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import sys
import time
import warnings
import weakref
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

from twofold.data.worker import Setup, serve
from twofold.support.errors import DataError

JOIN_SECONDS = 5.0


def default_context() -> Any:
    """fork on Linux, where a dataset need not be picklable and starts at once; the platform's own way elsewhere."""
    return multiprocessing.get_context("fork" if sys.platform == "linux" else None)


class Workers:
    """The processes of one loader; they outlive an iteration only with `persistent_workers`. counter: tasks given so far."""

    def __init__(self, setups: list[Setup], context: Any) -> None:
        self.pid = os.getpid()
        self.counter = 0
        self.connections: list[Any] = []
        self.processes: list[Any] = []
        forks = context.get_start_method() == "fork"
        for setup in setups:
            ours, theirs = context.Pipe()
            self.connections.append(ours)
            inherited = list(self.connections) if forks else []
            process = context.Process(target=serve, args=(setup, theirs, inherited), daemon=True, name=f"DataLoader worker {setup.number}")
            with warnings.catch_warnings():
                # Since 3.12 Python warns of a fork while threads run, BLAS's idle ones among them, which are made anew after a fork.
                warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
                process.start()
            theirs.close()
            self.processes.append(process)
        self._finalizer = weakref.finalize(self, stop, self.pid, self.connections, self.processes)

    def send(self, worker: int, message: Any) -> None:
        """Give a worker a message; a dead one is found when its answer is waited for."""
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            self.connections[worker].send(message)

    def answer(self, worker: int, deadline: float | None, timeout: float) -> tuple[int, str, bytes]:
        """The next answer of a worker; raises DataError where it died or took too long."""
        connection, process = self.connections[worker], self.processes[worker]
        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        ready = wait([connection, process.sentinel], left)
        if not ready:
            raise DataError(f"DataLoader: worker {worker} (process {process.pid}) gave no batch within timeout={timeout:g} seconds")
        if connection in ready or connection.poll():
            try:
                number, kind, content = pickle.loads(connection.recv_bytes())  # from a process of our own
                return number, kind, content
            except (EOFError, OSError):
                pass
        process.join(JOIN_SECONDS)
        raise DataError(f"DataLoader: worker {worker} (process {process.pid}) ended unexpectedly, {ending(process.exitcode)}")

    def close(self) -> None:
        """End all workers."""
        self._finalizer()


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is not None and code < 0:
        return f"killed by signal {-code}" + (" (often for want of memory)" if code == -9 else "")
    return f"with exit code {code}"


def stop(pid: int, connections: list[Any], processes: list[Any]) -> None:
    """Tell workers to end, wait a little, kill those that do not. A forked copy of the loader must not do this."""
    if os.getpid() != pid:
        return
    for connection in connections:
        with contextlib.suppress(OSError, ValueError):
            connection.send(None)
        connection.close()  # a worker that is writing a batch gets an error and ends
    deadline = time.monotonic() + JOIN_SECONDS
    for process in processes:
        process.join(max(deadline - time.monotonic(), 0.0))
        if process.is_alive():
            process.terminate()
            process.join(JOIN_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()


class WorkerIterator(Iterator[Any]):
    """One pass over the data: task k goes to worker k modulo their number, and answers are given out in the order of the tasks.

    tasks: what each batch is made of (lists of indices; endless None for an iterable dataset).  `prefetch` tasks a worker are under way.
    """

    def __init__(self, workers: Workers, tasks: Iterator[Any], seed: int, prefetch: int, timeout: float, persistent: bool) -> None:
        self._workers, self._tasks, self._persistent, self._timeout = workers, tasks, persistent, timeout
        self._alive = list(range(len(workers.processes)))
        self._turn = 0
        self._owners: dict[int, int] = {}
        self._arrived: dict[int, tuple[str, bytes]] = {}
        self._asked = self._given = workers.counter
        self._done = False
        for worker in self._alive:
            workers.send(worker, ("begin", seed + worker))
        for _ in range(prefetch * len(self._alive)):
            self._ask()

    def _ask(self) -> None:
        """Give the next task to the next worker that has not come to its end."""
        if not self._alive:
            return
        try:
            task = next(self._tasks)
        except StopIteration:
            return
        worker = self._alive[self._turn % len(self._alive)]
        self._turn += 1
        self._owners[self._asked] = worker
        self._workers.send(worker, ("task", self._asked, task))
        self._asked = self._workers.counter = self._asked + 1

    def __next__(self) -> Any:
        if self._done:
            raise StopIteration
        try:
            while self._given < self._asked:
                kind, content = self._next_answer()
                if kind == "end":
                    self._retire(self._owners.pop(self._given))
                else:
                    self._ask()
                    self._owners.pop(self._given)
                self._given += 1
                if kind == "value":
                    return pickle.loads(content)  # from a process of our own
                if kind == "error":
                    raise_again(content, self._workers)
        except BaseException:
            self._finish(failed=True)
            raise
        self._finish(failed=False)
        raise StopIteration

    def _next_answer(self) -> tuple[str, bytes]:
        """The answer to the oldest open task."""
        owner = self._owners[self._given]
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None
        while self._given not in self._arrived:
            number, kind, content = self._workers.answer(owner, deadline, self._timeout)
            if number >= self._given:  # an abandoned iteration's answers are older
                self._arrived[number] = kind, content
        return self._arrived.pop(self._given)

    def _retire(self, worker: int) -> None:
        """A worker whose iterable dataset has ended gets no more tasks; the others go on in their order."""
        if worker in self._alive:
            place = self._alive.index(worker)
            turn = self._turn % len(self._alive)
            self._alive.remove(worker)
            self._turn = turn - (place < turn)
            self._ask()

    def _finish(self, failed: bool) -> None:
        self._done = True
        if failed or not self._persistent:
            self._workers.close()


def raise_again(content: bytes, workers: Workers) -> None:
    """Raise a worker's error here, with the worker's traceback as a note."""
    error, text = pickle.loads(content)  # from a process of our own
    error.add_note(f"This error arose in a worker process of a DataLoader. Its traceback there:\n{text}")
    raise error
