"""From a list of samples to a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from twofold.support.errors import DataError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.functions import FUNCTIONS


def default_convert(data: Any) -> Any:
    """A sample with its NumPy arrays made tensors (sharing memory), through dicts, named tuples, tuples and lists; all else as it is."""
    if isinstance(data, Tensor | str | bytes):
        return data
    if isinstance(data, np.ndarray | np.generic):
        return data if data.dtype.kind in "USO" else wrap(np.asarray(data))
    if isinstance(data, Mapping):
        return _rebuild_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple):
        parts = [default_convert(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence):
        return _rebuild_sequence(data, [default_convert(part) for part in data])
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """Samples of one structure as one sample with a new first dimension, as PyTorch does it.

    Tensors (of one shape) are stacked; NumPy arrays and numbers become tensors, Python floats as float64; strings and bytes stay a list;
    dicts, named tuples, tuples and lists are collated by part (a tuple gives a list). Raises ShapeError or ValueRangeError for samples that
    differ in shape or length, DataError for an empty batch or a kind that has no batch.
    """
    if not batch:
        raise DataError("default_collate: the batch is empty")
    first = batch[0]
    if isinstance(first, Tensor):
        return FUNCTIONS["stack"](list(batch), 0)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, np.ndarray | np.generic | bool | int | float):
        return _collate_values(batch)
    if isinstance(first, Mapping):
        return _collate_mappings(first, batch)
    if isinstance(first, Sequence):
        lengths = sorted({len(sample) for sample in batch})
        if len(lengths) > 1:
            raise ValueRangeError(f"default_collate: the samples of a batch have different lengths: {', '.join(map(str, lengths))}")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        if isinstance(first, tuple):
            return type(first)(*parts) if hasattr(first, "_fields") else parts
        return _rebuild_sequence(first, parts)
    raise DataError(
        f"default_collate: a batch of {type(first).__name__} cannot be made; samples consist of tensors, NumPy arrays, numbers, strings, "
        "dicts, tuples and lists. Give DataLoader a collate_fn for others"
    )


def _collate_values(batch: Sequence[Any]) -> Tensor:
    """Arrays or numbers; Python floats are float64 and ints int64, as PyTorch has it."""
    arrays = [np.asarray(value) for value in batch]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) > 1:
        raise ShapeError(f"default_collate: arrays of different shapes in one batch: {', '.join(map(str, shapes))}")
    stacked = np.stack(arrays)
    if stacked.dtype.kind in "USO":
        raise DataError(f"default_collate: values of dtype {stacked.dtype} cannot become a tensor (the first is {batch[0]!r})")
    return wrap(stacked)


def _collate_mappings(first: Mapping[Any, Any], batch: Sequence[Any]) -> Any:
    for sample in batch:
        if sample.keys() != first.keys():
            raise ValueRangeError(f"default_collate: samples with different keys in one batch: {list(first)} and {list(sample)}")
    return _rebuild_mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})


def _rebuild_mapping(like: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """A mapping of the class of `like`, or a dict where that class cannot be made from one."""
    try:
        return type(like)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def _rebuild_sequence(like: Sequence[Any], parts: list[Any]) -> Any:
    """A sequence of the class of `like`, or a list where that class cannot be made from one (such as range)."""
    if isinstance(like, list) and type(like) is list:
        return parts
    try:
        return type(like)(parts)  # type: ignore[call-arg]
    except TypeError:
        return parts
