"""MNIST and CIFAR readers, on small files made in the published formats (with their own checksums in place of the published ones)."""

from __future__ import annotations

import gzip
import io
import pickle
import pickletools
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.data import CIFAR10, CIFAR100, MNIST, DataLoader, FashionMNIST
from twofold.data.files import md5_of
from twofold.data.python2 import read_batch
from twofold.support.errors import DataError, TwofoldError


def idx(array: Any) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


def write(path: Path, content: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return md5_of(content)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# ---- MNIST -------------------------------------------------------------------------------------------------------------------------------


def make_mnist(folder: Path, packed: bool, monkeypatch: pytest.MonkeyPatch, cls: Any = MNIST) -> dict[bool, tuple[Any, Any]]:
    """Seven training and three test images."""
    made, sums = {}, {}
    for train, prefix, n in ((True, "train", 7), (False, "t10k", 3)):
        images, labels = rng(n).integers(0, 256, (n, 28, 28), np.uint8), rng(n).integers(0, 10, n, np.uint8)
        for name, array in ((f"{prefix}-images-idx3-ubyte", images), (f"{prefix}-labels-idx1-ubyte", labels)):
            name, content = (name + ".gz", gzip.compress(idx(array))) if packed else (name, idx(array))
            sums[name] = write(folder / name, content)
        made[train] = images, labels
    monkeypatch.setattr(cls, "md5", sums)
    return made


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("cls, inside", [(MNIST, "."), (MNIST, "raw"), (MNIST, "MNIST/raw"), (FashionMNIST, "FashionMNIST/raw")])
def test_mnist(tmp_path: Path, packed: bool, cls: Any, inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_mnist(tmp_path / inside, packed, monkeypatch, cls)
    for train, (images, labels) in made.items():
        data = cls(str(tmp_path), train=train)
        assert len(data) == len(images)
        image, label = data[2]
        assert image.shape == (1, 28, 28)
        np.testing.assert_array_equal(image.numpy()[0], images[2].astype(np.float32) / np.float32(255))
        assert label == labels[2]
        np.testing.assert_array_equal(data.data.numpy()[:, 0], images)
        np.testing.assert_array_equal(data.targets.numpy(), labels)
    assert len(cls.classes) == 10


def test_transforms_and_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_mnist(tmp_path, True, monkeypatch)
    plain = MNIST(tmp_path)
    changed = MNIST(tmp_path, transform=lambda x: x * 2, target_transform=lambda y: -y)
    (x, y), (x2, y2) = next(iter(DataLoader(plain, 4))), next(iter(DataLoader(changed, 4)))
    assert x.shape == (4, 1, 28, 28)
    assert y.dtype is twofold.int64
    np.testing.assert_array_equal(x2.numpy(), x.numpy() * 2)
    np.testing.assert_array_equal(y2.numpy(), -y.numpy())
    for i in range(4):
        np.testing.assert_array_equal(x[i].numpy(), plain[i][0].numpy())
    assert repr(plain) == "MNIST(7 images of 1 x 28 x 28)"


def test_the_published_checksums_are_those_verified(tmp_path: Path) -> None:
    """Files in the right form that are not the published ones are refused."""
    write(tmp_path / "train-images-idx3-ubyte", idx(np.zeros((60_000, 28, 28), np.uint8)))
    with pytest.raises(DataError, match="MD5 sum"):
        MNIST(tmp_path)


def broken(folder: Path, name: str, change: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch, checked: bool) -> None:
    content = change((folder / name).read_bytes())
    md5 = write(folder / name, content)
    if not checked:
        monkeypatch.setitem(MNIST.md5, name, md5)


BREAKS: list[tuple[str, Callable[[bytes], bytes], bool, str]] = [
    ("a changed byte", lambda b: b[:-1] + bytes([b[-1] ^ 1]), True, "damaged or another file"),
    ("cut off", lambda b: b[:-5], False, "cannot be unpacked"),
    ("not packed", lambda b: gzip.decompress(b), False, "cannot be unpacked"),
    ("wrong type", lambda b: gzip.compress(b"\0\0\x0d\x03" + gzip.decompress(b)[4:]), False, "no IDX file"),
    ("short", lambda b: gzip.compress(gzip.decompress(b)[:-1]), False, "its header says"),
    ("empty", lambda b: gzip.compress(b""), False, "no IDX file"),
    ("other size", lambda b: gzip.compress(idx(np.zeros((7, 14, 56), np.uint8))), False, "do not belong together"),
    ("bomb", lambda b: gzip.compress(bytes(50_000_000), 1), False, "more than"),
]


@pytest.mark.parametrize("change, checked, text", [b[1:] for b in BREAKS], ids=[b[0] for b in BREAKS])
def test_damaged_mnist(tmp_path: Path, change: Any, checked: bool, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_mnist(tmp_path, True, monkeypatch)
    broken(tmp_path, "train-images-idx3-ubyte.gz", change, monkeypatch, checked)
    with pytest.raises(DataError, match=text):
        MNIST(tmp_path)


@pytest.mark.parametrize("cls", [MNIST, FashionMNIST, CIFAR10, CIFAR100])
def test_missing_files_say_where_to_get_them(tmp_path: Path, cls: Any) -> None:
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DataError, match=r"there is n.* in .*(yann\.lecun|github|toronto)"):
            cls(root)
    with pytest.raises(NotImplementedError, match="nothing is downloaded") as caught:
        cls(tmp_path, download=True)
    assert isinstance(caught.value, TwofoldError)


# ---- CIFAR -------------------------------------------------------------------------------------------------------------------------------


def python2_pickle(batch: dict[str, Any]) -> bytes:
    """A batch as Python 2's cPickle wrote it with protocol 2: strings of bytes, an array with its bytes in its state."""
    out = bytearray(b"\x80\x02}q\x01(")

    def text(value: bytes) -> bytes:
        return (b"U" + bytes([len(value)]) if len(value) < 256 else b"T" + len(value).to_bytes(4, "little")) + value

    def number(n: int) -> bytes:
        return b"K" + bytes([n]) if n < 256 else b"M" + n.to_bytes(2, "little") if n < 65536 else b"J" + n.to_bytes(4, "little")

    for key, value in batch.items():
        out += text(key.encode())
        if isinstance(value, np.ndarray):
            out += b"cnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nq\x03K\x00\x85U\x01b\x87Rq\x04("
            out += b"K\x01" + number(value.shape[0]) + number(value.shape[1]) + b"\x86"
            out += b"cnumpy\ndtype\nq\x05U\x02u1K\x00K\x01\x87Rq\x06(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
            out += b"\x89" + text(value.tobytes()) + b"tb"
        elif isinstance(value, list):
            out += b"](" + b"".join(number(v) if isinstance(v, int) else text(v) for v in value) + b"e"
        else:
            out += text(value)
    return bytes(out + b"u.")


def make_cifar(folder: Path, cls: Any, binary: bool, packed: bool, monkeypatch: pytest.MonkeyPatch) -> dict[bool, tuple[Any, Any]]:
    """Two images a file."""
    g, made, contents = rng(), {True: ([], []), False: ([], [])}, {}
    version = next(v for v in cls.versions if v.binary == binary)
    for train, names in ((True, version.train), (False, version.test)):
        for name in names:
            images, labels = g.integers(0, 256, (2, 3072), np.uint8), g.integers(0, len(cls.classes), 2, np.uint8)
            made[train][0].append(images.reshape(2, 3, 32, 32))
            made[train][1].append(labels)
            if binary:
                lead = [labels[:, None]] if cls.label_bytes == 1 else [labels[:, None] // 5, labels[:, None]]
                contents[name] = np.concatenate([*lead, images], 1).tobytes()
            else:
                contents[name] = python2_pickle(
                    {"batch_label": b"part", cls.label_key: labels.tolist(), "data": images, "filenames": [b"a", b"b"]}
                )
    sums = {name: md5_of(content) for name, content in contents.items()}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(f"{version.folder}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    if packed:
        write(folder / version.archive, archive.getvalue())
    else:
        for name, content in contents.items():
            write(folder / version.folder / name, content)
    own = version._replace(
        archive_md5=md5_of(archive.getvalue()), train={n: sums[n] for n in version.train}, test={n: sums[n] for n in version.test}
    )
    monkeypatch.setattr(cls, "versions", tuple(own if v.binary == binary else v for v in cls.versions))
    return {k: (np.concatenate(a), np.concatenate(b)) for k, (a, b) in made.items()}


@pytest.mark.parametrize("packed", [True, False], ids=["archive", "folder"])
@pytest.mark.parametrize("binary", [True, False], ids=["binary", "python"])
@pytest.mark.parametrize("cls", [CIFAR10, CIFAR100])
def test_cifar(tmp_path: Path, cls: Any, binary: bool, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_cifar(tmp_path, cls, binary, packed, monkeypatch)
    for train, (images, labels) in made.items():
        data = cls(tmp_path, train=train)
        np.testing.assert_array_equal(data.data.numpy(), images)
        np.testing.assert_array_equal(data.targets.numpy(), labels)
        assert data[1][0].shape == (3, 32, 32)
    assert len(cls.classes) == len(set(cls.classes)) == (10 if cls is CIFAR10 else 100)


def test_the_stand_in_for_python_2_is_a_pickle() -> None:
    """What this file writes is what the standard library reads."""
    images = rng().integers(0, 256, (2, 3072), np.uint8)
    content = python2_pickle({"labels": [1, 2], "data": images})
    pickletools.dis(content, io.StringIO())
    batch = pickle.loads(content, encoding="latin1")
    np.testing.assert_array_equal(batch["data"], images)
    mine, labels = read_batch("x", content, "labels")
    np.testing.assert_array_equal(mine, images)
    assert labels == batch["labels"] == [1, 2]


def test_nothing_in_a_python_batch_runs() -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return print, ("run",)

    with pytest.raises(DataError, match=r"__builtin__\.print|builtins\.print"):
        read_batch("x", pickle.dumps({"labels": [1], "data": Evil()}, protocol=2), "labels")
    for content in (b"", b"\x80\x02", pickle.dumps([1, 2], 2), pickle.dumps({"labels": [1]}, 2)):
        with pytest.raises(DataError):
            read_batch("x", content, "labels")


@pytest.mark.parametrize("seed", range(60))
def test_damaged_python_batches(seed: int) -> None:
    """Any change of bytes ends in a DataError, or in arrays."""
    g = rng(seed)
    content = bytearray(python2_pickle({"labels": [1, 2], "data": g.integers(0, 256, (2, 3072), np.uint8), "filenames": [b"a"]}))
    for _ in range(int(g.integers(1, 4))):
        place = int(g.integers(0, 200)) if seed % 2 else int(g.integers(0, len(content)))
        content[place] = int(g.integers(0, 256))
    try:
        images, labels = read_batch("x", bytes(content), "labels")
    except DataError:
        return
    assert images.dtype == np.uint8
    assert all(type(i) is int for i in labels)


def test_damaged_cifar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_cifar(tmp_path, CIFAR10, True, True, monkeypatch)
    archive = tmp_path / "cifar-10-binary.tar.gz"
    content = archive.read_bytes()
    archive.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="damaged"):
        CIFAR10(tmp_path)
    version = CIFAR10.versions[0]._replace(archive_md5=md5_of(content[: len(content) // 2]))
    monkeypatch.setattr(CIFAR10, "versions", (version,))
    with pytest.raises(DataError, match=r"cannot be unpacked|no member"):
        CIFAR10(tmp_path)
    archive.unlink()
    name = "test_batch.bin"
    bad = bytes([10]) + bytes(3072)
    version = version._replace(test={name: md5_of(bad)})
    monkeypatch.setattr(CIFAR10, "versions", (version,))
    write(tmp_path / version.folder / name, bad)
    with pytest.raises(DataError, match="label lies outside"):
        CIFAR10(tmp_path, train=False)
