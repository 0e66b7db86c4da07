"""Datasets, samplers, collation and the loader: against plain Python, against torch, and the fast path against the plain one."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    default_collate,
    default_convert,
    random_split,
)
from twofold.support.errors import (
    ArgumentError,
    DataError,
    IndexOutOfRange,
    ShapeError,
    TwofoldError,
    UnsupportedError,
    ValueRangeError,
)

Point = namedtuple("Point", "x y")


class Squares(Dataset):
    """(i, i*i) as Python ints, and nothing clever."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, index * index


class Countdown(IterableDataset):
    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n, 0, -1))

    def __len__(self) -> int:
        return self.n


class Doubled(TensorDataset):
    """A subclass that makes its samples itself."""

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(part * 2 for part in super().__getitem__(index))


def pairs(n: int) -> TensorDataset:
    return TensorDataset(twofold.tensor(np.arange(n * 6, dtype=np.float32).reshape(n, 2, 3)), twofold.tensor(np.arange(n)))


def plain(value: Any) -> Any:
    """Tensors as (dtype, nested lists), so that batches compare by `==`."""
    if isinstance(value, twofold.Tensor):
        return str(value.dtype).rpartition(".")[2], value.tolist()
    if isinstance(value, dict):
        return type(value)((key, plain(part)) for key, part in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain, value))
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    return value


def seeded(seed: int) -> Any:
    return twofold.Generator().manual_seed(seed)


# -------------------------------------------------------------------------------------------------------------- datasets


def test_tensor_dataset() -> None:
    dataset = pairs(4)
    assert len(dataset) == 4
    image, label = dataset[2]
    assert plain(image) == ("float32", [[12, 13, 14], [15, 16, 17]])
    assert label.item() == 2
    assert dataset[-1][1].item() == 3


def test_subset_and_concat() -> None:
    subset = Subset(Squares(10), [7, 3])
    assert [subset[i] for i in range(len(subset))] == [(7, 49), (3, 9)]
    both = subset + Squares(2)
    assert isinstance(both, ConcatDataset)
    assert [both[i] for i in range(len(both))] == [(7, 49), (3, 9), (0, 0), (1, 1)]
    assert both[-3] == (3, 9)
    for index in (4, -5):
        with pytest.raises(IndexOutOfRange, match=f"index {index} is out of range for 4"):
            both[index]


@pytest.mark.parametrize(
    "lengths, sizes", [([3, 7], [3, 7]), ([0.5, 0.25, 0.25], [6, 2, 2]), ([1.0], [10]), ([10], [10]), ([0.35, 0.65], [4, 6])]
)
def test_random_split(lengths: list[float], sizes: list[int]) -> None:
    parts = random_split(Squares(10), lengths, generator=seeded(1))
    assert [len(part) for part in parts] == sizes
    assert sorted(part[i][0] for part in parts for i in range(len(part))) == list(range(10))
    again = random_split(Squares(10), lengths, generator=seeded(1))
    assert [part.indices for part in parts] == [part.indices for part in again]


def test_random_split_warns_of_an_empty_part() -> None:
    with pytest.warns(UserWarning, match="part 1 of 2 is empty"):
        random_split(Squares(3), [3, 0])


# --------------------------------------------------------------------------------------------------------------- samplers


def test_sequential_sampler() -> None:
    assert list(SequentialSampler(range(3))) == [0, 1, 2]
    assert len(SequentialSampler(range(3))) == 3


def test_random_sampler() -> None:
    sampler = RandomSampler(range(50), generator=seeded(3))
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert first != list(range(50))
    assert list(RandomSampler(range(50), generator=seeded(3))) == first
    assert all(type(i) is int for i in first)
    assert list(RandomSampler([])) == []


def test_random_sampler_is_the_generators_permutation() -> None:
    assert list(RandomSampler(range(20), generator=seeded(5))) == twofold.randperm(20, generator=seeded(5)).tolist()


def test_random_sampler_uses_the_default_generator() -> None:
    twofold.manual_seed(11)
    first = list(RandomSampler(range(20)))
    twofold.manual_seed(11)
    assert list(RandomSampler(range(20))) == first


def test_random_sampler_sizes() -> None:
    more = list(RandomSampler(range(4), num_samples=10, generator=seeded(0)))
    assert len(more) == 10
    assert sorted(more[:4]) == sorted(more[4:8]) == [0, 1, 2, 3]
    sampler = RandomSampler(range(4), replacement=True, num_samples=400, generator=seeded(0))
    drawn = list(sampler)
    assert len(sampler) == len(drawn) == 400
    assert min(drawn.count(i) for i in range(4)) > 60
    assert set(drawn) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "n, size, drop, batches", [(5, 2, False, [[0, 1], [2, 3], [4]]), (5, 2, True, [[0, 1], [2, 3]]), (0, 3, False, [])]
)
def test_batch_sampler(n: int, size: int, drop: bool, batches: list[list[int]]) -> None:
    sampler = BatchSampler(SequentialSampler(range(n)), size, drop)
    assert list(sampler) == batches
    assert len(sampler) == len(batches)


# -------------------------------------------------------------------------------------------------------------- collation


def samples(library: Any) -> list[tuple[str, list[Any]]]:
    """Batches of samples; `library` is twofold or torch, for the tensors in them."""
    t = library.tensor
    return [
        ("tensors", [t([1.0, 2.0]), t([3.0, 4.0])]),
        ("0-d tensors", [t(1), t(2)]),
        ("arrays", [np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32)]),
        ("numpy scalars", [np.float32(1.5), np.float32(2.5)]),
        ("floats", [0.1, 2.0]),
        ("ints", [1, 2, 3]),
        ("bools", [True, False]),
        ("strings", ["a", "b"]),
        ("bytes", [b"a", b"b"]),
        ("dicts", [{"a": 1, "b": t([1.0])}, {"b": t([2.0]), "a": 3}]),
        ("ordered dicts", [OrderedDict(a=1), OrderedDict(a=2)]),
        ("named tuples", [Point(1, t([1.0])), Point(2, t([2.0]))]),
        ("tuples", [(1, "x"), (2, "y")]),
        ("lists", [[1, 0.5], [2, 1.5]]),
        ("nested", [{"a": [(1, {"b": 2.0})]}, {"a": [(3, {"b": 4.0})]}]),
    ]


NAMES = [name for name, _ in samples(twofold)]


@pytest.mark.parametrize("name", NAMES)
def test_collate_as_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.data import default_collate as theirs

    def torch_plain(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return str(value.dtype).rpartition(".")[2], value.tolist()
        if isinstance(value, dict):
            return type(value)((key, torch_plain(part)) for key, part in value.items())
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(torch_plain, value))
        return type(value)(map(torch_plain, value)) if isinstance(value, list | tuple) else value

    ours = plain(default_collate(dict(samples(twofold))[name]))
    expected = torch_plain(theirs(dict(samples(torch))[name]))
    assert ours == expected
    assert type(ours) is type(expected)


def test_collate_without_torch() -> None:
    batch = default_collate([{"a": (1, 0.5), "s": "x"}, {"a": (2, 1.5), "s": "y"}])
    assert plain(batch) == {"a": [("int64", [1, 2]), ("float64", [0.5, 1.5])], "s": ["x", "y"]}


def test_collate_copies_arrays() -> None:
    array = np.zeros(2, np.float32)
    batch = default_collate([array, array])
    array[:] = 1.0
    assert batch.tolist() == [[0, 0], [0, 0]]


def test_collate_keeps_gradients() -> None:
    leaf = twofold.tensor([1.0, 2.0], requires_grad=True)
    default_collate([leaf, leaf]).sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0]


def test_convert() -> None:
    array = np.arange(3.0)
    converted = default_convert({"a": array, "b": ["s", (1, array)], "p": Point(np.float32(2), None), "w": np.array(["x"])})
    assert plain(converted["a"]) == ("float64", [0, 1, 2])
    assert plain(converted["b"]) == ["s", [1, ("float64", [0, 1, 2])]]
    assert plain(converted["p"]) == Point(("float32", 2.0), None)
    assert converted["w"].tolist() == ["x"]
    array[0] = 9.0
    assert converted["a"].tolist() == [9, 1, 2]


# ----------------------------------------------------------------------------------------------------------------- loader


def test_batches_in_order() -> None:
    loader = DataLoader(Squares(5), batch_size=2)
    assert len(loader) == 3
    assert [plain(b) for b in loader] == [
        [("int64", [0, 1]), ("int64", [0, 1])],
        [("int64", [2, 3]), ("int64", [4, 9])],
        [("int64", [4]), ("int64", [16])],
    ]
    assert len(list(loader)) == 3


def test_drop_last() -> None:
    loader = DataLoader(Squares(5), batch_size=2, drop_last=True)
    assert len(loader) == len(list(loader)) == 2


def test_shuffle() -> None:
    def epoch(loader: DataLoader) -> list[int]:
        return [i for first, _ in loader for i in first.tolist()]

    loader = DataLoader(Squares(40), batch_size=7, shuffle=True, generator=seeded(2))
    one, two = epoch(loader), epoch(loader)
    assert sorted(one) == sorted(two) == list(range(40))
    assert one != two
    assert epoch(DataLoader(Squares(40), batch_size=7, shuffle=True, generator=seeded(2))) == one


def test_without_batches() -> None:
    loader = DataLoader([np.float32(1), "s", (1, 2)], batch_size=None)
    assert [plain(s) for s in loader] == [("float32", 1.0), "s", [1, 2]]
    assert len(loader) == 3


def test_sampler_and_batch_sampler() -> None:
    assert [plain(b) for b in DataLoader([10, 20, 30], batch_size=2, sampler=[2, 0, 2])] == [("int64", [30, 10]), ("int64", [30])]
    loader = DataLoader([10, 20, 30], batch_sampler=[[0], [2, 1]])
    assert [plain(b) for b in loader] == [("int64", [10]), ("int64", [30, 20])]
    assert len(loader) == 2
    assert loader.batch_size is None


def test_collate_fn() -> None:
    assert list(DataLoader(Squares(3), batch_size=2, collate_fn=lambda batch: batch)) == [[(0, 0), (1, 1)], [(2, 4)]]


def test_iterable_dataset() -> None:
    assert [plain(b)[1] for b in DataLoader(Countdown(5), batch_size=2)] == [[5, 4], [3, 2], [1]]
    loader = DataLoader(Countdown(5), batch_size=2, drop_last=True)
    assert [plain(b)[1] for b in loader] == [[5, 4], [3, 2]]
    assert len(loader) == 2
    assert list(DataLoader(Countdown(3), batch_size=None)) == [3, 2, 1]
    assert len(DataLoader(Countdown(3), batch_size=None)) == 3


def fast_and_plain(dataset: Any, indices: list[int]) -> tuple[Any, Any]:
    return dataset._collated(indices), default_collate([dataset[i] for i in indices])


def with_grad() -> TensorDataset:
    return TensorDataset(twofold.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]], requires_grad=True))


DATASETS: list[tuple[str, Callable[[], Any]]] = [
    ("pairs", lambda: pairs(5)),
    ("doubled", lambda: Doubled(*pairs(5).tensors)),
    ("subset", lambda: Subset(pairs(9), [8, 0, 3, 3, 5])),
    ("subset of subset", lambda: Subset(Subset(pairs(9), [8, 0, 3, 3, 5, 1]), [5, 4, 3, 2, 1])),
    ("subset of doubled", lambda: Subset(Doubled(*pairs(9).tensors), [8, 0, 3, 3, 5])),
    ("subset of list", lambda: Subset([(i, i / 2) for i in range(5)], [4, 3, 2, 1, 0])),  # type: ignore[arg-type]
    ("concatenated", lambda: pairs(3) + pairs(2)),
    ("with gradients", with_grad),
    ("strided", lambda: TensorDataset(pairs(5).tensors[0].transpose(1, 2))),
    ("one dimension", lambda: TensorDataset(twofold.tensor([1, 2, 3, 4, 5]))),
    ("python", lambda: Squares(5)),
]


@pytest.mark.parametrize("indices", [[0], [3, 1, 1], [4, 3, 2, 1, 0], [-1, 2]])
@pytest.mark.parametrize("make", [d[1] for d in DATASETS], ids=[d[0] for d in DATASETS])
def test_fast_path_equals_plain_path(make: Callable[[], Any], indices: list[int]) -> None:
    fast, slow = fast_and_plain(make(), indices)
    assert plain(fast) == plain(slow)
    assert type(fast) is type(slow)
    for a, b in zip(fast, slow, strict=True):
        assert a.requires_grad == b.requires_grad
        assert a.is_contiguous() == b.is_contiguous()


def test_batches_do_not_share_memory_with_the_dataset() -> None:
    dataset = pairs(4)
    (batch, _), *_ = DataLoader(dataset, batch_size=4)
    batch.fill_(-1.0)
    assert dataset[0][0].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_fast_path_makes_no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("a sample was made")

    dataset = Subset(pairs(9), [8, 0, 3])
    monkeypatch.setattr(twofold.Tensor, "__getitem__", refuse)
    batch = next(iter(DataLoader(dataset, batch_size=3)))
    assert plain(batch[1]) == ("int64", [8, 0, 3])


# -------------------------------------------------------------------------------------------------------------- bad input

BAD: list[tuple[str, Callable[[], Any], type[TwofoldError], str]] = [
    ("no tensors", lambda: TensorDataset(), ArgumentError, "at least one tensor"),
    ("not a tensor", lambda: TensorDataset(np.ones(3)), ArgumentError, "got ndarray"),  # type: ignore[arg-type]
    ("lengths", lambda: TensorDataset(twofold.ones(3), twofold.ones(4, 3)), ShapeError, r"shapes \(3,\), \(4, 3\)"),
    ("0-d", lambda: TensorDataset(twofold.tensor(1.0)), ShapeError, "first dimension"),
    ("index", lambda: pairs(3)[3], IndexOutOfRange, "3"),
    ("index in a batch", lambda: list(DataLoader(pairs(3), sampler=[3])), IndexOutOfRange, "3"),
    ("nothing", lambda: ConcatDataset([]), ArgumentError, "at least one dataset"),
    ("iterable", lambda: ConcatDataset([Countdown(3)]), ArgumentError, "no length"),
    ("split sum", lambda: random_split(Squares(10), [3, 6]), ValueRangeError, "do not sum to the size of the dataset, 10"),
    ("split fractions", lambda: random_split(Squares(10), [0.5, 0.6]), ValueRangeError, "do not sum"),
    ("split halves", lambda: random_split(Squares(10), [4.5, 5.5]), ValueRangeError, "do not sum"),
    ("split negative", lambda: random_split(Squares(10), [12, -2]), ValueRangeError, "negative"),
    ("num_samples", lambda: RandomSampler(range(3), num_samples=0), ValueRangeError, "positive int, got 0"),
    ("batch size", lambda: BatchSampler(range(3), 0, False), ValueRangeError, "positive int, got 0"),
    ("drop_last", lambda: BatchSampler(range(3), 1, 1), ArgumentError, "must be a bool"),  # type: ignore[arg-type]
    ("loader size", lambda: DataLoader(Squares(3), batch_size=-1), ValueRangeError, "got -1"),
    ("loader size type", lambda: DataLoader(Squares(3), batch_size=2.0), ValueRangeError, "got 2.0"),  # type: ignore[arg-type]
    ("both orders", lambda: DataLoader(Squares(3), shuffle=True, sampler=[1]), ArgumentError, "excludes shuffle"),
    ("both batches", lambda: DataLoader(Squares(3), batch_size=2, batch_sampler=[[1]]), ArgumentError, "batch_sampler excludes"),
    ("drop without", lambda: DataLoader(Squares(3), batch_size=None, drop_last=True), ArgumentError, "drop_last needs"),
    ("a fixed attribute", lambda: setattr(DataLoader(Squares(3)), "batch_size", 2), ValueRangeError, "batch_size cannot be changed"),
    ("iterable order", lambda: DataLoader(Countdown(3), shuffle=True), ArgumentError, "IterableDataset"),
    ("no getitem", lambda: Dataset()[0], UnsupportedError, "Dataset does not define __getitem__"),
    ("no iter", lambda: iter(IterableDataset()), UnsupportedError, "does not define __iter__"),
    ("sampler iter", lambda: iter(Sampler()), UnsupportedError, "Sampler does not define __iter__"),
    ("empty", lambda: default_collate([]), DataError, "empty"),
    ("kind", lambda: default_collate([object()]), DataError, "a batch of object cannot be made"),
    ("none", lambda: default_collate([None]), DataError, "a batch of NoneType"),
    ("shapes", lambda: default_collate([np.ones(2), np.ones(3)]), ShapeError, r"\(2,\), \(3,\)"),
    ("tensor shapes", lambda: default_collate([twofold.ones(2), twofold.ones(3)]), ShapeError, "2"),
    ("tuple lengths", lambda: default_collate([(1, 2), (1,)]), ValueRangeError, "different lengths: 1, 2"),
    ("keys", lambda: default_collate([{"a": 1}, {"b": 1}]), ValueRangeError, "different keys"),
    ("texts", lambda: default_collate([np.array(["a"]), np.array(["b"])]), DataError, "dtype <U1"),
    ("number and text", lambda: default_collate([1, "a"]), DataError, "cannot become a tensor"),
    ("huge", lambda: default_collate([2**70]), DataError, "cannot become a tensor"),
    ("complex", lambda: default_collate([np.complex64(1)]), UnsupportedError, "complex"),
]


@pytest.mark.parametrize("call, error, message", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input(call: Callable[[], Any], error: type[TwofoldError], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
