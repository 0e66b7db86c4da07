"""Data sets, samplers and the loader, with the names of `torch.utils.data`; and the handwritten digits that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.data.collate import default_collate, default_convert
    from twofold.data.dataset import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
    from twofold.data.loader import DataLoader
    from twofold.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
    from twofold.data.uci_digits import digits, load_digits_arrays

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "collate": ("default_collate", "default_convert"),
        "dataset": ("ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"),
        "loader": ("DataLoader",),
        "sampler": ("BatchSampler", "RandomSampler", "Sampler", "SequentialSampler"),
        "uci_digits": ("digits", "load_digits_arrays"),
    },
)

__all__ = [
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "TensorDataset",
    "default_collate",
    "default_convert",
    "digits",
    "load_digits_arrays",
    "random_split",
]
