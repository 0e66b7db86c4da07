"""Published data files in a local folder: found, checked against their checksums, unpacked with limits."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from twofold.support.errors import DataError

BLOCK = 1 << 20


def md5_of(content: bytes) -> str:
    """The MD5 sum by which data files are published: it finds damage, not forgery."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def read_checked(path: Path, md5: str, limit: int) -> bytes:
    """The content of a file of at most `limit` bytes with this MD5 sum; raises DataError otherwise."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise DataError(f"{path} has {size} bytes, more than the published file; get it anew")
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    found = md5_of(content)
    if found != md5:
        raise DataError(f"{path} is damaged or another file: its MD5 sum is {found}, that of the published file {md5}; get it anew")
    return content


def gunzip(path: Path, content: bytes, limit: int) -> bytes:
    """Unpacked gzip content of at most `limit` bytes."""
    import io  # only here

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            unpacked = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be unpacked: {error}") from error
    if len(unpacked) > limit:
        raise DataError(f"{path} unpacks to more than {limit} bytes: it is not the published file")
    return unpacked


def members(path: Path, wanted: Iterable[str], limit: int) -> dict[str, bytes]:
    """Members of a .tar.gz by the last part of their name, read in memory: nothing is written, no link followed."""
    names = set(wanted)
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                name = member.name.rsplit("/", 1)[-1]
                if name not in names or not member.isfile():
                    continue
                if member.size > limit:
                    raise DataError(f"{name} in {path} has {member.size} bytes, more than the published file")
                stream: Any = archive.extractfile(member)
                found[name] = stream.read()
                if len(found) == len(names):
                    break
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be unpacked: {error}") from error
    missing = names - set(found)
    if missing:
        raise DataError(f"{path} has no member {', '.join(sorted(missing))}: it is not the published archive")
    return found


def file_digest(path: Path) -> str:
    """The MD5 sum of a large file, read block by block."""
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with open(path, "rb") as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    return digest.hexdigest()


def first_existing(folders: Iterable[Path], names: Iterable[str]) -> Path | None:
    """The first of `names` that is there in one of the folders."""
    wanted = list(names)
    for folder in folders:
        for name in wanted:
            if (folder / name).exists():
                return folder / name
    return None
