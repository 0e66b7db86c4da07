"""CIFAR's Python version: a dict with a NumPy array of bytes and a list of labels, as Python 2 wrote it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.serialization.torch_stream import Bare, Function, Reader
from twofold.support.errors import DataError


class ArrayOfBytes(Bare):
    """An array being read: its shape and bytes come with its state."""

    __slots__ = ("shape", "values")

    def __init__(self) -> None:
        super().__init__("an array")
        self.shape: tuple[int, ...] = ()
        self.values: Any = None


class ByteType(Bare):
    """The dtype uint8, the only one in these files."""


def _dtype(code: Any, *_: Any) -> Bare:
    if code != "u1":
        raise ValueError(f"an array of dtype {code!r}")
    return ByteType("a dtype")


class BatchReader(Reader):
    """A reader that knows arrays of bytes besides containers."""

    def build(self, state: Any) -> None:
        """The state of a dtype (ignored: it has no fields and no byte order) or of an array."""
        target = self.stack[-1]
        if isinstance(target, ByteType):
            return
        if not isinstance(target, ArrayOfBytes):
            super().build(state)
            return
        _, shape, dtype, fortran, content = state
        if not isinstance(dtype, ByteType) or fortran or not isinstance(content, str):
            raise self.fault("an array that does not hold bytes in C order")
        array = np.frombuffer(content.encode("latin-1"), np.uint8)
        if not all(type(n) is int and n >= 0 for n in shape) or int(np.prod(shape)) != array.size:
            raise self.fault(f"an array of shape {shape} with {array.size} bytes")
        self.stack[-1] = array.reshape(shape)
        for key, value in list(self.memo.items()):
            if value is target:
                self.memo[key] = self.stack[-1]


NAMES: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): Function("numpy.core.multiarray._reconstruct", lambda *_: ArrayOfBytes()),
    ("numpy", "ndarray"): Bare("numpy.ndarray"),
    ("numpy", "dtype"): Function("numpy.dtype", _dtype),
}


def _stored(_: Any) -> Any:
    raise DataError("a persistent object in a file of images")


def read_batch(name: str, content: bytes, label_key: str) -> tuple[Any, list[int]]:
    """(array of images, uint8 (N, 3072); labels) of one batch file; raises DataError."""
    reader = BatchReader(content, 0, NAMES, _stored, lambda text: DataError(f"{name} is no batch of images: {text}"))
    batch = reader.read()
    images = batch.get("data") if isinstance(batch, dict) else None
    labels = batch.get(label_key) if isinstance(batch, dict) else None
    if not isinstance(images, np.ndarray) or not isinstance(labels, list) or not all(type(i) is int for i in labels):
        raise DataError(f"{name} is no batch of images: it lacks 'data' or '{label_key}'")
    return images, labels
