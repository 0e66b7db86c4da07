"""Worker processes: the same batches in the same order, seeds, errors, deaths, Ctrl-C."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.data import DataLoader, Dataset, IterableDataset, SubsetRandomSampler, TensorDataset, WeightedRandomSampler, get_worker_info
from twofold.support.errors import DataError, ShapeError, TwofoldError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="worker processes are tested on Linux")


class Squares(Dataset[Any]):
    """i -> i² as arrays of growing cost for early indices, so that workers finish out of order."""

    def __len__(self) -> int:
        return 23

    def __getitem__(self, i: int) -> Any:
        if i % 5 == 0:
            time.sleep(0.01)
        return {"x": np.full((3,), i * i, np.float32), "i": i}


class Noise(Dataset[Any]):
    """What the three generators give."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Any:
        return float(twofold.rand(()).item()), random.random(), float(np.random.rand()), get_worker_info().id  # type: ignore[union-attr]


class Stream(IterableDataset[Any]):
    """0 ... n-1, each worker its share."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, self.n, step))


class Failing(Dataset[Any]):
    """Raises, exits or hangs at index 5."""

    def __init__(self, how: Callable[[], Any]) -> None:
        self.how = how

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> int:
        if i == 5:
            self.how()
        return i


def lists(loader: Any) -> list[Any]:
    """Batches as plain values."""
    value = lambda v: v.tolist() if isinstance(v, twofold.Tensor) else v
    return [{k: value(v) for k, v in b.items()} if isinstance(b, dict) else value(b) for b in loader]


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"drop_last": True}, {"batch_size": None}, {"prefetch_factor": 1}], ids=str)
def test_the_same_batches_with_any_number_of_workers(workers: int, options: dict[str, Any]) -> None:
    def run(n: int) -> list[Any]:
        here = {k: v for k, v in options.items() if n or k != "prefetch_factor"}
        loader = DataLoader(Squares(), **{"batch_size": 4, **here}, num_workers=n, generator=twofold.Generator().manual_seed(3))
        return lists(loader) + lists(loader)

    assert run(workers) == run(0)


def test_tensors_arrive_as_tensors() -> None:
    x = twofold.arange(12.0).reshape(6, 2)
    for batch, part in zip(DataLoader(TensorDataset(x), 2, num_workers=2), x.split(2), strict=True):
        assert type(batch) is list
        assert batch[0].tolist() == part.tolist()
        batch[0].add_(1)  # memory of its own, writable


def test_seeds_follow_from_the_generator() -> None:
    def run(seed: int) -> list[Any]:
        loader = DataLoader(Noise(), num_workers=2, generator=twofold.Generator().manual_seed(seed), persistent_workers=True)
        return [[[t.item() for t in b] for b in loader] for _ in range(2)]

    first, again, other = run(0), run(0), run(1)
    assert first == again
    assert first != other
    assert first[0] != first[1], "each epoch has its own noise"
    values = [x for epoch in first for b in epoch for x in b[:3]]
    assert len(set(values)) == len(values), "no two workers, and no two generators, draw the same"
    assert [b[3] for b in first[0]] == [0, 1] * 4


def test_init_function_and_worker_info() -> None:
    def init(worker: int) -> None:
        info = get_worker_info()
        assert info is not None
        assert (info.id, info.num_workers) == (worker, 2)
        assert info.seed == twofold.initial_seed()
        info.dataset.offset = 100 * worker

    class Offset(Dataset[int]):
        offset = -1

        def __len__(self) -> int:
            return 4

        def __getitem__(self, i: int) -> int:
            return self.offset + i

    assert get_worker_info() is None
    assert lists(DataLoader(Offset(), num_workers=2, worker_init_fn=init)) == [[0], [101], [2], [103]]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_iterable_dataset(workers: int) -> None:
    loader = DataLoader(Stream(10), batch_size=2, num_workers=workers)
    batches = lists(loader)
    assert sorted(i for b in batches for i in b) == list(range(10))
    streams = [list(range(w, 10, workers)) for w in range(workers)]
    pieces = [[s[k : k + 2] for k in range(0, len(s), 2)] for s in streams]
    expected = [p[k] for k in range(5) for p in pieces if k < len(p)]
    assert batches == expected
    assert lists(DataLoader(Stream(4), batch_size=None, num_workers=workers)) == [0, 1, 2, 3]


def test_persistent_workers_are_the_same_processes() -> None:
    class Pid(Dataset[int]):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, i: int) -> int:
            return os.getpid()

    kept = DataLoader(Pid(), num_workers=2, persistent_workers=True)
    first = lists(kept)
    next(iter(kept))  # an iteration given up half-way must not spoil the next
    assert lists(kept) == first
    assert len({p for [p] in first}) == 2
    fresh = DataLoader(Pid(), num_workers=2)
    assert lists(fresh) != lists(fresh)


def test_a_users_own_getitems() -> None:
    class Bulk(Dataset[int]):
        def __len__(self) -> int:
            return 5

        def __getitems__(self, indices: list[int]) -> list[int]:
            return [10 * i for i in indices]

    for n in (0, 2):
        assert lists(DataLoader(Bulk(), 2, num_workers=n)) == [[0, 10], [20, 30], [40]]


# ---- trouble -----------------------------------------------------------------------------------------------------------------------------


class Picky(Exception):
    """An error that cannot be rebuilt from its arguments."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


def fail(error: BaseException) -> Callable[[], Any]:
    def how() -> None:
        raise error

    return how


@pytest.mark.parametrize(
    "error, kind, text",
    [
        (KeyError("name"), KeyError, "name"),
        (ShapeError("shapes 2 and 3"), ShapeError, "shapes 2 and 3"),
        (Picky(1, 2), DataError, "Picky: 1 and 2"),
    ],
    ids=["KeyError", "ShapeError", "own"],
)
def test_errors_come_back_with_the_workers_traceback(error: Exception, kind: type[Exception], text: str) -> None:
    loader = DataLoader(Failing(fail(error)), batch_size=2, num_workers=2)
    seen = []
    with pytest.raises(kind, match=text) as caught:
        for batch in loader:
            seen.append(batch.tolist())
    assert seen == [[0, 1], [2, 3]], "batches before the error come first"
    notes = "\n".join(caught.value.__notes__)
    assert "in __getitem__" in notes
    assert "worker process" in notes


def test_a_worker_that_dies() -> None:
    with pytest.raises(DataError, match="exit code 7"):
        list(DataLoader(Failing(lambda: os._exit(7)), num_workers=2))
    with pytest.raises(DataError, match="signal 9"):
        list(DataLoader(Failing(lambda: os.kill(os.getpid(), signal.SIGKILL)), num_workers=1))


def test_a_worker_that_hangs() -> None:
    with pytest.raises(DataError, match=r"within timeout=0.5 seconds"):
        list(DataLoader(Failing(lambda: time.sleep(60)), num_workers=2, timeout=0.5))


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_dropped_iterator_ends_its_workers() -> None:
    loader = DataLoader(Squares(), num_workers=2)
    iterator = iter(loader)
    next(iterator)
    pids = [p.pid for p in iterator._workers.processes]  # type: ignore[attr-defined]
    assert all(map(alive, pids))
    del iterator
    assert wait_for(lambda: not any(map(alive, pids)))


SCRIPT = textwrap.dedent("""
    import os, signal, sys, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    from twofold.data import DataLoader, Dataset
    class Slow(Dataset):
        def __len__(self): return 1000
        def __getitem__(self, i):
            time.sleep(0.01)
            return i
    iterator = iter(DataLoader(Slow(), num_workers=2))
    next(iterator)
    print(*[p.pid for p in iterator._workers.processes], flush=True)
    for _ in iterator: pass
""")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_the_parent_ends(how: signal.Signals) -> None:
    """Ctrl-C (which the terminal sends to the whole group) gives one KeyboardInterrupt and no worker's traceback; none outlives it."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    pids = [int(p) for p in process.stdout.readline().split()]
    assert len(pids) == 2
    if how is signal.SIGINT:
        os.killpg(process.pid, how)
    else:
        process.kill()
    _, errors = process.communicate(timeout=60)
    assert wait_for(lambda: not any(map(alive, pids)))
    if how is signal.SIGINT:
        assert errors.count("Traceback") == 1
        assert errors.rstrip().endswith("KeyboardInterrupt")


def test_spawned_workers() -> None:
    loader = DataLoader(Squares(), batch_size=8, num_workers=1, multiprocessing_context="spawn")
    assert lists(loader) == lists(DataLoader(Squares(), batch_size=8))


# ---- samplers ----------------------------------------------------------------------------------------------------------------------------


def test_samplers_of_subsets_and_weights() -> None:
    generator = twofold.Generator().manual_seed(0)
    sampler = SubsetRandomSampler([3, 5, 9, 11], generator)
    orders = [list(sampler) for _ in range(8)]
    assert all(sorted(o) == [3, 5, 9, 11] for o in orders)
    assert len({tuple(o) for o in orders}) > 1
    assert len(sampler) == 4
    weights = [0.0, 1.0, 3.0]
    drawn = list(WeightedRandomSampler(weights, 4000, generator=generator))
    counts = np.bincount(drawn, minlength=3) / 4000
    np.testing.assert_allclose(counts, [0, 0.25, 0.75], atol=0.03)
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False, generator=generator)) == [0, 1, 2]


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: DataLoader(Squares(), num_workers=-1), ValueError, "num_workers"),
    (lambda: DataLoader(Squares(), num_workers=1.5), ValueError, "num_workers"),  # type: ignore[arg-type]
    (lambda: DataLoader(Squares(), timeout=-1), ValueError, "timeout"),
    (lambda: DataLoader(Squares(), prefetch_factor=2), ValueError, "num_workers above 0"),
    (lambda: DataLoader(Squares(), persistent_workers=True), ValueError, "num_workers above 0"),
    (lambda: DataLoader(Squares(), num_workers=1, prefetch_factor=0), ValueError, "prefetch_factor"),
    (lambda: DataLoader(Squares(), num_workers=1, multiprocessing_context="thread"), ValueError, "must be one of"),
    (lambda: WeightedRandomSampler([1.0], 0), ValueError, "num_samples"),
    (lambda: WeightedRandomSampler([1.0], 1, 1), TypeError, "replacement"),  # type: ignore[arg-type]
    (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, "one dimension"),  # type: ignore[list-item]
]


@pytest.mark.parametrize("call, kind, text", BAD, ids=[t for _, _, t in BAD])
def test_bad_arguments(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, TwofoldError)


def test_pin_memory_warns() -> None:
    with pytest.warns(UserWarning, match="no accelerator"):
        DataLoader(Squares(), pin_memory=True)
