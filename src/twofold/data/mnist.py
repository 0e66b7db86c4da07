"""Readers of MNIST and Fashion-MNIST in their published format (IDX files, gzipped or not)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from twofold.data.files import first_existing, gunzip, read_checked
from twofold.data.images import LabelledImages, refuse_download
from twofold.support.errors import DataError

SIDE = 28
FILES = {True: ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"), False: ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")}
COUNTS = {True: 60_000, False: 10_000}
IDX_UBYTE = 8


def parse_idx(name: str, content: bytes) -> Any:
    """The array of an IDX file of bytes: two zeros, the type 8, the number of dimensions, big-endian sizes, data."""
    if len(content) < 4 or content[0] or content[1] or content[2] != IDX_UBYTE or not 1 <= content[3] <= 4:
        raise DataError(f"{name} is no IDX file of bytes (it begins {content[:4]!r})")
    rank = content[3]
    start = 4 + 4 * rank
    sizes = [int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(rank)]
    count = 1
    for size in sizes:
        count *= size
    if len(content) != start + count:
        raise DataError(f"{name}: its header says {' x '.join(map(str, sizes))} bytes, but {max(len(content) - start, 0)} follow")
    return np.frombuffer(content, np.uint8, count, start).reshape(sizes).copy()


class MNIST(LabelledImages):
    """MNIST's 60,000 training or 10,000 test images of handwritten digits (Y. LeCun, C. Cortes, C. Burges), (1, 28, 28).

    root: a folder with the four published files, gzipped as published or unpacked; they may lie in root, in root/raw or in root/MNIST/raw.
    Checksums are verified. See `LabelledImages` for samples, `data` and `targets`. Raises DataError where a file is missing or damaged.
    """

    name: ClassVar[str] = "MNIST"
    source: ClassVar[str] = "the four files are at yann.lecun.com/exdb/mnist and at storage.googleapis.com/cvdf-datasets/mnist"
    classes: ClassVar[tuple[str, ...]] = tuple(
        f"{i} - {word}" for i, word in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"))
    )
    md5: ClassVar[dict[str, str]] = {
        "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
        "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    }

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
        images, labels = (self._read(Path(root), name) for name in FILES[self.train])
        if images.shape[1:] != (SIDE, SIDE) or labels.shape != images.shape[:1]:
            raise DataError(f"{self.name}: images of shape {images.shape} and labels of shape {labels.shape} do not belong together")
        super().__init__(images[:, None], labels, transform, target_transform)

    def _read(self, root: Path, name: str) -> Any:
        folders = [root, root / "raw", root / self.name / "raw", root / self.name]
        path = first_existing(folders, (name, name + ".gz"))
        if path is None:
            raise DataError(f"{self.name}: there is no {name} or {name}.gz in {root} (or its raw or {self.name}/raw); {self.source}")
        limit = 16 + SIDE * SIDE * max(COUNTS.values())
        content = read_checked(path, self.md5[path.name], limit)
        return parse_idx(str(path), gunzip(path, content, limit) if path.suffix == ".gz" else content)


class FashionMNIST(MNIST):
    """Fashion-MNIST's 60,000 training or 10,000 test images of clothes (H. Xiao, K. Rasul, R. Vollgraf, arXiv:1708.07747), (1, 28, 28).

    As `MNIST`, whose file names it has; root/FashionMNIST/raw is looked into too.
    """

    name: ClassVar[str] = "FashionMNIST"
    source: ClassVar[str] = "the four files are at github.com/zalandoresearch/fashion-mnist, in data/fashion"
    classes: ClassVar[tuple[str, ...]] = (
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    )  # fmt: skip
    md5: ClassVar[dict[str, str]] = {
        "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
        "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
        "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
        "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
        "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
        "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
    }
