"""The bytes of a file to read: mapped into memory, or read whole.

A mapped file is copy-on-write: tensors made from it share the file's pages, nothing is read before it is used, and a write to such a tensor
copies the page it touches and never reaches the file. The file must not be shortened while it is mapped (replacing it by renaming another
over it, as everything here writes files, is safe).
"""

from __future__ import annotations

import mmap
import os
import stat
from typing import Any

import numpy as np

from twofold.ir.dtypes import DType
from twofold.support.errors import ArgumentError, DataError, FileError, MissingFile

PathLike = str | os.PathLike[str]


class Source:
    """`buffer`: a writable buffer of the whole file; `size` in bytes; `name` for messages."""

    def __init__(self, buffer: Any, size: int, name: str) -> None:
        self.buffer, self.size, self.name = buffer, size, name

    def bytes(self, start: int, count: int) -> bytes:
        """A copy of `count` bytes; raises DataError where the file is shorter."""
        if start < 0 or count < 0 or start + count > self.size:
            raise self.fault(f"it ends within {count} bytes at offset {start} (it has {self.size})")
        return bytes(self.buffer[start : start + count])

    def array(self, dtype: DType, count: int, start: int) -> np.ndarray:
        """`count` elements from offset `start` as a 1-d array over the file's memory (a copy where they lie unaligned).

        Each array is a root of its own: a write to one tensor of a file is no write to another.
        """
        size = count * dtype.itemsize
        if start < 0 or count < 0 or start + size > self.size:
            raise self.fault(f"it ends within {size} bytes at offset {start} (it has {self.size})")
        if count == 0:
            return np.empty(0, dtype.numpy)
        if start % dtype.itemsize:
            return np.frombuffer(bytearray(self.buffer[start : start + size]), dtype.numpy)
        return np.frombuffer(self.buffer, dtype.numpy, count, start)

    def fault(self, what: str) -> DataError:
        """The error of a malformed file."""
        return DataError(f"{self.name} cannot be read: {what}")


def strided(flat: np.ndarray, shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> np.ndarray:
    """A view of a 1-d array; strides and offset in elements, already checked. Its base is the array (that of `as_strided` would not be)."""
    if 0 in shape:
        return np.empty(shape, flat.dtype)
    item = flat.dtype.itemsize
    steps = [s * item if n > 1 else item for n, s in zip(shape, stride, strict=True)]
    return np.ndarray(shape, flat.dtype, flat.view(np.uint8), offset * item, steps)


def path_of(path: Any, what: str) -> str:
    """A path as a string; raises ArgumentError for other things."""
    if isinstance(path, bytes) or not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"{what}: the path must be a string or a path, not {type(path).__name__}")
    return os.fspath(path)


def open_source(file: Any, memory_map: bool = True) -> Source:
    """The bytes at a path (a regular file), or of an open binary file from where it stands. Raises FileError."""
    if callable(getattr(file, "read", None)):
        data = file.read()
        if not isinstance(data, (bytes, bytearray)):
            raise ArgumentError(f"the file must be open for reading bytes (mode 'rb'); it gives {type(data).__name__}")
        return Source(bytearray(data), len(data), repr(getattr(file, "name", "the open file")))
    path = path_of(file, "reading")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer must not block
    except OSError as error:
        kind = MissingFile if isinstance(error, FileNotFoundError) else FileError
        raise kind(f"{path!r} cannot be opened: {error.strerror}") from None
    except ValueError:
        raise FileError(f"{path!r} is no path") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{path!r} is a {'folder' if stat.S_ISDIR(status.st_mode) else 'device or pipe'}, not a file")
        return Source(_contents(descriptor, status.st_size, memory_map), status.st_size, repr(path))
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path!r} cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _contents(descriptor: int, size: int, memory_map: bool) -> Any:
    if size == 0:
        return bytearray()
    if memory_map:
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        got = os.readv(descriptor, [view[done:]])
        if got == 0:
            raise FileError("a file that is to be read became shorter meanwhile")
        done += got
    return data
