from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from twofold.data import uci_digits
from twofold.data.uci_digits import digits, load_digits_arrays
from twofold.support.errors import DataError, ValueRangeError


def test_the_stored_numbers() -> None:
    images, labels = uci_digits._stored(uci_digits.FILE)
    digest = hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()
    assert digest == "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert uci_digits.FILE.stat().st_size < 100_000


def test_same_as_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.datasets")
    theirs = sklearn.load_digits()
    images, labels = load_digits_arrays()
    np.testing.assert_array_equal(images[:, 0] * 16, theirs.images)
    np.testing.assert_array_equal(labels, theirs.target)


@pytest.mark.parametrize("split, count", [(None, 1797), ("train", 1438), ("test", 359)])
def test_arrays(split: str | None, count: int) -> None:
    images, labels = load_digits_arrays(split)
    assert images.shape == (count, 1, 8, 8)
    assert labels.shape == (count,)
    assert images.dtype == np.float32
    assert labels.dtype == np.int64
    assert images.min() == 0.0
    assert images.max() == 1.0
    assert images.flags.writeable


def test_the_split_is_fixed_stratified_and_complete() -> None:
    images, labels = load_digits_arrays()
    train, test = load_digits_arrays("train"), load_digits_arrays("test")
    assert hashlib.sha256(test[0].tobytes() + test[1].tobytes()).hexdigest()[:16] == TEST_PART
    shares = np.bincount(test[1]) / np.bincount(labels)
    assert shares.min() > 0.195
    assert shares.max() < 0.205
    together = sorted([*map(np.ndarray.tobytes, train[0]), *map(np.ndarray.tobytes, test[0])])
    assert together == sorted(map(np.ndarray.tobytes, images))


def test_dataset() -> None:
    dataset = digits("test")
    images, labels = load_digits_arrays("test")
    assert len(dataset) == 359
    np.testing.assert_array_equal(dataset.tensors[0].numpy(), images)
    np.testing.assert_array_equal(dataset.tensors[1].numpy(), labels)
    dataset.tensors[0].numpy()[:] = 7.0
    assert digits("test").tensors[0].numpy().max() == 1.0


def test_unknown_split() -> None:
    with pytest.raises(ValueRangeError, match="'train', 'test' or None, got 'valid'"):
        digits("valid")


def test_damaged_file(tmp_path: Path) -> None:
    missing, garbage, cut, wrong = (tmp_path / name for name in ("missing.npz", "garbage.npz", "cut.npz", "wrong.npz"))
    garbage.write_bytes(b"not an archive")
    cut.write_bytes(uci_digits.FILE.read_bytes()[:20_000])
    np.savez(wrong, images=np.zeros((1797, 8, 8), np.uint8), labels=np.full(1797, 10, np.uint8))
    for file in (missing, garbage, cut, wrong):
        with pytest.raises(DataError, match="install twofold again"):
            uci_digits._stored(file)
    np.savez(wrong, images=np.zeros(3))
    with pytest.raises(DataError, match="labels"):
        uci_digits._stored(wrong)


def test_no_pickle_is_read(tmp_path: Path) -> None:
    file = tmp_path / "pickled.npz"
    np.savez(file, images=np.array([print], dtype=object), labels=np.zeros(1797, np.uint8))
    with pytest.raises(DataError, match="allow_pickle"):
        uci_digits._stored(file)


TEST_PART = "c53c44ac47f786cf"
