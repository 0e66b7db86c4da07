"""Writing files so that a reader sees the old content or the new one, never half: temporary name, fsync, rename."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import Any, BinaryIO

from twofold.support.errors import FileError


class Replacement:
    """New contents for some files of one folder: written beside them, then put in their places together by `commit`."""

    def __init__(self) -> None:
        self._pending: list[tuple[str, str]] = []

    @contextlib.contextmanager
    def file(self, path: str) -> Iterator[BinaryIO]:
        """A new file open for writing, which becomes `path` at `commit`."""
        temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{secrets.token_hex(6)}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            self._pending.append((temporary, path))
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path!r} cannot be written: {error.strerror or error}") from None

    def commit(self) -> None:
        """Put every file in its place, in the order they were written."""
        for temporary, path in self._pending:
            try:
                os.replace(temporary, path)
            except OSError as error:
                raise FileError(f"{path!r} cannot be written: {error.strerror}") from None
        for folder in {os.path.dirname(path) or "." for _, path in self._pending}:
            _sync_folder(folder)
        self._pending.clear()

    def discard(self) -> None:
        """Remove what was written and not committed."""
        for temporary, _ in self._pending:
            remove(temporary)
        self._pending.clear()


def make_folder(path: str) -> None:
    """A folder and those above it, where they are not there; raises FileError."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder {path!r} cannot be made: {error.strerror}") from None


def remove(path: str) -> None:
    """Remove a file if it can be."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # some file systems have no fsync for folders
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def replacing() -> Iterator[Replacement]:
    """`with replacing() as new: ...`: commits at the end of the block; an error leaves all files as they were."""
    replacement = Replacement()
    try:
        yield replacement
        replacement.commit()
    finally:
        replacement.discard()


@contextlib.contextmanager
def output(file: Any) -> Iterator[Any]:
    """A binary file to write: `file` itself if it is open, else a new one that replaces the path at the end of the block."""
    if callable(getattr(file, "write", None)):
        yield file
        return
    with replacing() as new, new.file(file) as handle:
        yield handle
