"""Datasets: things with a length and samples by index, or things to iterate over. Names and behaviour of `torch.utils.data`."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from twofold.data.collate import default_collate
from twofold.data.random import permutation
from twofold.support.errors import ArgumentError, IndexOutOfRange, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.core import Tensor, wrap

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Base of datasets: a subclass has `__getitem__(index)` and `__len__()`."""

    def __getitem__(self, index: int) -> T_co:
        raise UnsupportedError(f"{type(self).__name__} does not define __getitem__")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])

    def _collated(self, indices: list[int]) -> Any:
        """The samples of these indices as `default_collate` would give them. Overridden where the samples need not be made for that."""
        return default_collate([self[i] for i in indices])


class IterableDataset(Dataset[T_co]):
    """Base of datasets that are only iterated over: a subclass has `__iter__()`."""

    def __iter__(self) -> Iterator[T_co]:
        raise UnsupportedError(f"{type(self).__name__} does not define __iter__")


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples are the tensors' entries along their first dimension: `dataset[i] == (a[i], b[i], ...)`.

    Raises ShapeError, naming the shapes, unless all tensors have the same first dimension.
    """

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors:
            raise ArgumentError("TensorDataset: expects at least one tensor")
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise ArgumentError(f"TensorDataset: expects tensors, got {type(tensor).__name__}")
        shapes = [tensor._type.shape for tensor in tensors]
        if any(not shape or shape[0] != shapes[0][0] for shape in shapes):
            raise ShapeError(f"TensorDataset: the tensors must agree in their first dimension, got shapes {', '.join(map(str, shapes))}")
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0]._type.shape[0])

    def _collated(self, indices: list[int]) -> Any:
        """Rows of the arrays at once, where nothing can see the difference: concrete tensors without gradients, and no subclass that makes
        its samples itself."""
        plain = type(self).__getitem__ is TensorDataset.__getitem__
        if not plain or any(type(t) is not Tensor or t._node is not None or t._array is None for t in self.tensors):
            return super()._collated(indices)
        rows, n = np.asarray(indices), len(self)
        if rows.dtype.kind not in "iu" or rows.size == 0 or rows.min() < -n or rows.max() >= n:
            return super()._collated(indices)
        return [wrap(tensor._array[rows]) for tensor in self.tensors]


class StackDataset(Dataset[Any]):
    """Samples of several datasets of one length side by side: tuples for positional ones, dicts for named ones."""

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if bool(args) == bool(kwargs):
            raise ArgumentError("StackDataset: expects datasets, all by position or all by name")
        self.datasets: Any = args or kwargs
        lengths = [len(d) for d in (args or kwargs.values())]  # type: ignore[arg-type]
        if len(set(lengths)) > 1:
            raise ValueRangeError(f"StackDataset: the datasets must have one length, got {', '.join(map(str, lengths))}")
        self._length = lengths[0]

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: d[index] for name, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __len__(self) -> int:
        return self._length


class ChainDataset(IterableDataset[Any]):
    """The samples of several iterable datasets, one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise ArgumentError("ChainDataset: chains iterable datasets only; ConcatDataset is for those with indices")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(d) for d in self.datasets)  # type: ignore[arg-type,misc]


class Subset(Dataset[T_co]):
    """The samples of `dataset` at `indices`, in that order."""

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> T_co:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)

    def _collated(self, indices: list[int]) -> Any:
        if type(self).__getitem__ is not Subset.__getitem__ or not isinstance(self.dataset, Dataset):
            return super()._collated(indices)
        return self.dataset._collated([self.indices[i] for i in indices])


class ConcatDataset(Dataset[Any]):
    """The samples of several datasets, one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("ConcatDataset: expects at least one dataset")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise ArgumentError("ConcatDataset: an IterableDataset has no length and no indices")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexOutOfRange(f"index {index} is out of range for {len(self)} samples")
        which = bisect.bisect_right(self.cumulative_sizes, position)
        return self.datasets[which][position - (self.cumulative_sizes[which - 1] if which else 0)]


def random_split(dataset: Dataset[T_co], lengths: Sequence[int | float], generator: Any = None) -> list[Subset[T_co]]:
    """Parts of `dataset` that do not overlap, in random order: of the given lengths, or of fractions that sum to 1 (what rounding leaves
    goes to the parts one by one, from the first).

    Raises ValueRangeError if the lengths do not sum to the size of the dataset.
    """
    size: int = len(dataset)  # type: ignore[arg-type]
    if any(n < 0 for n in lengths):
        raise ValueRangeError(f"random_split: lengths must not be negative, got {list(lengths)}")
    fractions = math.isclose(sum(lengths), 1) and sum(lengths) <= 1
    if fractions:
        counts = [math.floor(size * fraction) for fraction in lengths]
        for i in range(size - sum(counts)):
            counts[i % len(counts)] += 1
    else:
        counts = [int(n) for n in lengths]
    if sum(counts) != size or (not fractions and counts != list(lengths)):
        raise ValueRangeError(f"random_split: the lengths {list(lengths)} do not sum to the size of the dataset, {size} (nor to 1)")
    if 0 in counts:
        warnings.warn(f"random_split: part {counts.index(0)} of {len(counts)} is empty", stacklevel=2)
    order = permutation(size, generator).tolist()
    ends = list(itertools.accumulate(counts))
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)]
