"""The UCI handwritten digits: 1797 images of 8 x 8 pixels, stored in the package. Source and licence (CC BY 4.0) stand in NOTICE."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from twofold.data.dataset import TensorDataset
from twofold.support.errors import DataError, ValueRangeError
from twofold.tensors.core import wrap

FILE = Path(__file__).with_name("digits.npz")
IMAGES, SIZE, GREATEST, CLASSES = 1797, 8, 16, 10

Array = np.ndarray[Any, Any]


def _stored(file: Path) -> tuple[Array, Array]:
    """Images (1797, 8, 8) and labels (1797,) as they are stored, uint8. Raises DataError if the file is missing or not as it should be."""
    try:
        with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            images, labels = archive["images"], archive["labels"]
    except (OSError, EOFError, KeyError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"the digits cannot be read from {file}: {error}; install twofold again") from error
    shapes = images.shape == (IMAGES, SIZE, SIZE) and labels.shape == (IMAGES,)
    if not (shapes and images.dtype == labels.dtype == np.uint8 and images.max() <= GREATEST and labels.max() < CLASSES):
        raise DataError(f"the digits in {file} are damaged; install twofold again")
    return images, labels


def _in_test(labels: Array) -> Array:
    """Which images belong to the test part: of the images of each class, in the file's order, numbers 2, 7, 12, … counted from 0."""
    rank = np.empty(len(labels), np.int64)
    for digit in range(CLASSES):
        members = np.flatnonzero(labels == digit)
        rank[members] = np.arange(len(members))
    return np.equal(rank % 5, 2)


def load_digits_arrays(split: str | None = None) -> tuple[Array, Array]:
    """The digits as NumPy arrays: images float32 (N, 1, 8, 8) in [0, 1] (the stored values 0 ... 16 divided by 16), labels int64 (N,).

    `split` is None for all 1797, "train" for 1438 or "test" for 359 of them. The split never changes: in each class every fifth image is
    for testing. Both parts therefore hold images of all 13 writers. Raises ValueRangeError for another split, DataError if the file is
    damaged.
    """
    if split not in (None, "train", "test"):
        raise ValueRangeError(f"digits: split must be 'train', 'test' or None, got {split!r}")
    images, labels = _stored(FILE)
    if split is not None:
        chosen = _in_test(labels) == (split == "test")
        images, labels = images[chosen], labels[chosen]
    return images[:, None].astype(np.float32) / np.float32(GREATEST), labels.astype(np.int64)


def digits(split: str | None = None) -> TensorDataset:
    """The UCI handwritten digits as a dataset of (image, label): float32 of shape (1, 8, 8) in [0, 1], and a 0-d int64.

    `split` is None (1797 images), "train" (1438) or "test" (359), see `load_digits_arrays`; `.tensors` has all images and labels at once.

    Source: E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998, its test set, as
    scikit-learn ships it. Licence: CC BY 4.0.
    """
    return TensorDataset(*map(wrap, load_digits_arrays(split)))
