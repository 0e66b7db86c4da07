"""Data sets, samplers and the loader, with the names of `torch.utils.data`; and the handwritten digits that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.data import transforms
    from twofold.data.cifar import CIFAR10, CIFAR100
    from twofold.data.collate import default_collate, default_convert
    from twofold.data.dataset import (
        ChainDataset,
        ConcatDataset,
        Dataset,
        IterableDataset,
        StackDataset,
        Subset,
        TensorDataset,
        random_split,
    )
    from twofold.data.loader import DataLoader
    from twofold.data.mnist import MNIST, FashionMNIST
    from twofold.data.sampler import (
        BatchSampler,
        RandomSampler,
        Sampler,
        SequentialSampler,
        SubsetRandomSampler,
        WeightedRandomSampler,
    )
    from twofold.data.uci_digits import digits, load_digits_arrays
    from twofold.data.worker import WorkerInfo, get_worker_info

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "cifar": ("CIFAR10", "CIFAR100"),
        "collate": ("default_collate", "default_convert"),
        "dataset": (
            "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset", "random_split",
        ),
        "loader": ("DataLoader",),
        "mnist": ("MNIST", "FashionMNIST"),
        "sampler": (
            "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
        ),
        "transforms": (),
        "uci_digits": ("digits", "load_digits_arrays"),
        "worker": ("WorkerInfo", "get_worker_info"),
    },
)  # fmt: skip

__all__ = [
    "CIFAR10", "CIFAR100", "MNIST", "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "FashionMNIST",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
    "WeightedRandomSampler", "WorkerInfo", "default_collate", "default_convert", "digits", "get_worker_info", "load_digits_arrays",
    "random_split", "transforms",
]  # fmt: skip
