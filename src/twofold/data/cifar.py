"""Readers of CIFAR-10 and CIFAR-100 in their published formats: the binary version and the Python version, as archive or unpacked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twofold.data.files import file_digest, first_existing, members, read_checked
from twofold.data.images import LabelledImages, refuse_download
from twofold.data.python2 import read_batch
from twofold.support.errors import DataError

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
MOST = 200_000_000
"""No published file is larger, packed or not."""


class Version(NamedTuple):
    """One published form of a data set: the archive, the folder it unpacks to, and the files in it, with their MD5 sums."""

    binary: bool
    archive: str
    archive_md5: str
    folder: str
    train: dict[str, str]
    test: dict[str, str]


class CIFAR10(LabelledImages):
    """CIFAR-10's 50,000 training or 10,000 test images (A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009).

    root: a folder with a published archive (cifar-10-binary.tar.gz or cifar-10-python.tar.gz) or the folder it unpacks to
    (cifar-10-batches-bin, cifar-10-batches-py), or that folder itself. Checksums are verified; the Python version's object streams are
    read by a reader of our own that runs nothing.
    See `LabelledImages` for samples (images are (3, 32, 32)), `data` and `targets`. Raises DataError where a file is missing or damaged.
    """

    name: ClassVar[str] = "CIFAR-10"
    source: ClassVar[str] = "cifar-10-binary.tar.gz (162 MB) is at www.cs.toronto.edu/~kriz/cifar.html"
    classes: ClassVar[tuple[str, ...]] = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
    label_bytes: ClassVar[int] = 1
    label_key: ClassVar[str] = "labels"
    versions: ClassVar[tuple[Version, ...]] = (
        Version(
            True, "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530", "cifar-10-batches-bin",
            {
                "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25", "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
                "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421", "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
                "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
            },
            {"test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d"},
        ),
        Version(
            False, "cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a", "cifar-10-batches-py",
            {
                "data_batch_1": "c99cafc152244af753f735de768cd75f", "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
                "data_batch_3": "54ebc095f3ab1f0389bbae665268c751", "data_batch_4": "634d18415352ddfa80567beed471001a",
                "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
            },
            {"test_batch": "40351d587109b95175f43aff81a1287e"},
        ),
    )  # fmt: skip

    def __init__(
        self,
        root: Any,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        download: bool = False,
    ) -> None:
        refuse_download(download, self.name, self.source)
        self.train = bool(train)
        version, contents = self._contents(Path(root))
        parse = self._parse_binary if version.binary else self._parse_python
        parts = [parse(name, content) for name, content in contents.items()]
        images, labels = (np.concatenate(list(arrays)) for arrays in zip(*parts, strict=True))
        super().__init__(images, labels, transform, target_transform)

    def _contents(self, root: Path) -> tuple[Version, dict[str, bytes]]:
        """The files of the part asked for, by name, from the first version that is there."""
        for version in self.versions:
            files = version.train if self.train else version.test
            folders = [root / version.folder, root, root / self.name]
            folder = next((f for f in folders if first_existing([f], files)), None)
            if folder is not None:
                return version, {name: read_checked(folder / name, md5, MOST) for name, md5 in files.items()}
        for version in self.versions:
            path = first_existing([root], [version.archive])
            if path is None:
                continue
            found = file_digest(path)
            if found != version.archive_md5:
                raise DataError(f"{path} is damaged: its MD5 sum is {found}, that of the published file {version.archive_md5}; get it anew")
            files = version.train if self.train else version.test
            contents = members(path, files, MOST)
            return version, {name: contents[name] for name in files}
        wanted = " nor ".join(f"{v.archive} (or the folder {v.folder})" for v in self.versions)
        raise DataError(f"{self.name}: there is neither {wanted} in {root}; {self.source}")

    def _parse_binary(self, name: str, content: bytes) -> tuple[Any, Any]:
        """(images, labels) of records: the label bytes, then the red, green and blue pixels row by row."""
        record = self.label_bytes + PIXELS
        if not content or len(content) % record:
            raise DataError(f"{name} does not consist of records of {record} bytes")
        rows = np.frombuffer(content, np.uint8).reshape(-1, record)
        return rows[:, self.label_bytes :].reshape(-1, *SHAPE), self._checked(name, rows[:, self.label_bytes - 1].astype(np.int64))

    def _parse_python(self, name: str, content: bytes) -> tuple[Any, Any]:
        images, labels = read_batch(name, content, self.label_key)
        if images.ndim != 2 or images.shape[1] != PIXELS or len(labels) != len(images):
            raise DataError(f"{name}: images of shape {images.shape} and {len(labels)} labels do not belong together")
        return images.reshape(-1, *SHAPE), self._checked(name, np.asarray(labels, np.int64))

    def _checked(self, name: str, labels: Any) -> Any:
        if labels.size and not 0 <= labels.min() <= labels.max() < len(self.classes):
            raise DataError(f"{name}: a label lies outside 0 … {len(self.classes) - 1}")
        return labels


class CIFAR100(CIFAR10):
    """CIFAR-100's 50,000 training or 10,000 test images in 100 (fine) classes; see `CIFAR10`.

    Archives: cifar-100-binary.tar.gz, cifar-100-python.tar.gz; folders: cifar-100-binary, cifar-100-python.
    """

    name: ClassVar[str] = "CIFAR-100"
    source: ClassVar[str] = "cifar-100-binary.tar.gz (161 MB) is at www.cs.toronto.edu/~kriz/cifar.html"
    label_bytes: ClassVar[int] = 2
    label_key: ClassVar[str] = "fine_labels"
    classes: ClassVar[tuple[str, ...]] = (
        "apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle", "bowl", "boy", "bridge", "bus",
        "butterfly", "camel", "can", "castle", "caterpillar", "cattle", "chair", "chimpanzee", "clock", "cloud", "cockroach", "couch",
        "crab", "crocodile", "cup", "dinosaur", "dolphin", "elephant", "flatfish", "forest", "fox", "girl", "hamster", "house", "kangaroo",
        "keyboard", "lamp", "lawn_mower", "leopard", "lion", "lizard", "lobster", "man", "maple_tree", "motorcycle", "mountain", "mouse",
        "mushroom", "oak_tree", "orange", "orchid", "otter", "palm_tree", "pear", "pickup_truck", "pine_tree", "plain", "plate", "poppy",
        "porcupine", "possum", "rabbit", "raccoon", "ray", "road", "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk",
        "skyscraper", "snail", "snake", "spider", "squirrel", "streetcar", "sunflower", "sweet_pepper", "table", "tank", "telephone",
        "television", "tiger", "tractor", "train", "trout", "tulip", "turtle", "wardrobe", "whale", "willow_tree", "wolf", "woman", "worm",
    )  # fmt: skip
    versions: ClassVar[tuple[Version, ...]] = (
        Version(
            True, "cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8", "cifar-100-binary",
            {"train.bin": "6172c7755cfe09b2fe270c85cebc1b15"}, {"test.bin": "4499cfba6c016c1be1438163640a0898"},
        ),
        Version(
            False, "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", "cifar-100-python",
            {"train": "16019d7e3df5f24257cddd939b257f8d"}, {"test": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
        ),
    )  # fmt: skip
