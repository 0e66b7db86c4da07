"""The object cache: compiled code on disk, found by its content.

A key is the digest of everything an object depends on, so entries never go stale; what is old and not used is evicted. An entry is one
file:

    magic (8 bytes) · the key (32) · the payload's length (8, little-endian) · SHA-256 of all that precedes and the payload (32) · payload

The cache never makes a compilation fail (unless warnings are made errors). What is damaged is a miss and is removed; where the folder
cannot be used (no home, read-only, full disk, somebody else's), code is compiled and kept in memory only, and one warning says so. Code is
executed from here, so a folder or an entry that another user owns or may write is not read. Files are written beside their place and
renamed: a reader sees a whole entry or none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import struct
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

from twofold.runtime import counters
from twofold.runtime.target import Target
from twofold.support import options

ENABLED = options.register("cache", bool, True, "whether compiled code is kept on disk", "TWOFOLD_CACHE")
FOLDER = options.register(
    "cache_dir", str, "", "the folder of compiled code; unless given, twofold in $XDG_CACHE_HOME or ~/.cache", "TWOFOLD_CACHE_DIR"
)
SIZE = options.register("cache_size", int, 512, "most MiB of compiled code kept on disk", "TWOFOLD_CACHE_SIZE")

MAGIC = b"2foldobj"
PREFIX = struct.Struct("<8s32sQ")
HEADER_BYTES = PREFIX.size + 32
SUFFIX, TEMPORARY = ".obj", ".tmp"
KEY_DIGITS = 64

SCAN_ONE_IN = 64
"""The folder's size is taken, and old entries evicted, at one store in so many (by the key, so that short processes take part)."""
KEPT = 0.75
"""What eviction leaves, as a part of the limit."""
USED_SECONDS = 3600.0
"""How exactly the time of last use is kept: a hit on an entry younger than this does not write."""
STALE_SECONDS = 3600.0
"""A temporary file older than this was left by a process that died."""


@functools.cache
def producer() -> str:
    """What makes the code: versions of this package and of LLVM.

    llvmlite is not imported for it. Its `_version.py` says its version and commit, which fix the version of LLVM in its published builds;
    the size of its library tells other builds apart. (Code of another build is still right code for the same target: a mistake here costs
    nothing.)
    """
    package = __name__.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", "unknown")
    found = find_spec("llvmlite")
    if found is None or not found.origin:
        return f"{package} {version}, no llvmlite"
    folder = os.path.dirname(found.origin)
    try:
        with open(os.path.join(folder, "_version.py"), "rb") as file:
            described = hashlib.sha256(file.read()).hexdigest()
        binding = os.path.join(folder, "binding")
        library = [(name, os.stat(os.path.join(binding, name)).st_size) for name in sorted(os.listdir(binding)) if "llvmlite." in name]
    except OSError:
        described, library = found.origin, []
    return f"{package} {version}, llvmlite {described} {library}"


def key_of(text: str, target: Target, extra: str = "") -> str:
    """The key (64 hexadecimal digits) of the code of an LLVM text for a target. `extra` says how it is compiled (passes, level)."""
    digest = hashlib.sha256(MAGIC)
    for part in (producer(), target.key, extra, text):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(struct.pack("<Q", len(encoded)))
        digest.update(encoded)
    return digest.hexdigest()


class CacheInfo(NamedTuple):
    """The state of a cache. `entries` and `bytes` are what the folder holds now; hits, misses and stores are this process's."""

    folder: str | None
    enabled: bool
    entries: int
    bytes: int
    limit_bytes: int
    hits: int
    misses: int
    stores: int


def _is_ours(status: os.stat_result) -> bool:
    """Whether only this user can have written a file or folder."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


class ObjectCache:
    """Compiled objects in a folder (made when something is first stored), at most about `limit_bytes` of them.

    Several threads and processes may use one folder. No method raises for a fault of the disk.
    """

    def __init__(self, folder: str | None, limit_bytes: int) -> None:
        self.folder = os.path.abspath(folder) if folder else None
        self.limit_bytes = limit_bytes
        self._readable = self._writable = self.folder is not None
        self._checked = False
        self._lock = threading.Lock()
        self._unscanned = 0

    # --- reading

    def get(self, key: str) -> bytes | None:
        """The object stored under a key, or None."""
        if not self._readable:
            return None
        data = self._read(key) if self._usable(make=False) else None
        (counters.CACHE_MISSES if data is None else counters.CACHE_HITS).add()
        return data

    def _read(self, key: str) -> bytes | None:
        path = self._path(key)
        try:
            # no links, and no waiting for a writer where a FIFO stands in the entry's place
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not _is_ours(status):
            os.close(descriptor)
            self._warn_once(f"the entry {path!r} of the object cache is not read: it is no file of this user's alone")
            return None
        with open(descriptor, "rb") as file:
            try:
                payload = _payload(file.read(), key) if status.st_size <= self.limit_bytes + HEADER_BYTES else None
                if payload is not None and time.time() - status.st_mtime > USED_SECONDS:
                    os.utime(descriptor)
            except OSError:
                return None
        if payload is None:
            _unlink(path)
        return payload

    # --- writing

    def put(self, key: str, data: bytes) -> bool:
        """Stores an object; whether that worked."""
        if not self._writable or len(data) + HEADER_BYTES > self.limit_bytes * KEPT or not self._usable(make=True):
            return False
        entry = _entry(key, data)
        try:
            try:
                self._write(key, entry)
            except FileNotFoundError:  # somebody removed the folder
                self._checked = False
                if not self._usable(make=True):
                    return False
                self._write(key, entry)
        except OSError as error:
            self._writable = False
            self._warn_once(f"compiled code cannot be stored in {self.folder!r}: {error.strerror or error}")
            return False
        counters.CACHE_STORES.add()
        self._evict_sometimes(key, len(entry))
        return True

    def _write(self, key: str, entry: bytes) -> None:
        assert self.folder is not None
        temporary = os.path.join(self.folder, f".{key[:16]}.{os.urandom(8).hex()}{TEMPORARY}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(entry)  # not synchronised: a crash leaves an entry that its digest proves damaged
            os.replace(temporary, self._path(key))
        except BaseException:
            _unlink(temporary)
            raise

    def _evict_sometimes(self, key: str, stored: int) -> None:
        with self._lock:
            self._unscanned += stored
            due = int(key[:8], 16) % SCAN_ONE_IN == 0 or self._unscanned > self.limit_bytes * (1 - KEPT)
            if due:
                self._unscanned = 0
        if due:
            self.evict()

    def evict(self) -> int:
        """If the folder holds more than the limit, removes what was not used for longest until three quarters of the limit remain; removes
        what dead processes left. Returns the number of entries removed."""
        files = sorted((status.st_mtime, status.st_size, path) for path, status in self._files(SUFFIX))
        total, removed = sum(size for _, size, _ in files), 0
        if total > self.limit_bytes:
            for _, size, path in files:
                if total <= self.limit_bytes * KEPT:
                    break
                _unlink(path)
                total -= size
                removed += 1
        for path, status in self._files(TEMPORARY):
            if time.time() - status.st_mtime > STALE_SECONDS:
                _unlink(path)
        counters.CACHE_EVICTIONS.add(removed)
        return removed

    # --- looking after it

    def clear(self) -> int:
        """Removes every entry; returns how many there were."""
        entries = [path for path, _ in self._files(SUFFIX)]
        for path in (*entries, *(path for path, _ in self._files(TEMPORARY))):
            _unlink(path)
        return len(entries)

    def info(self) -> CacheInfo:
        """What the cache holds, and how often it served this process."""
        sizes = [status.st_size for _, status in self._files(SUFFIX)]
        return CacheInfo(
            self.folder, self._readable, len(sizes), sum(sizes), self.limit_bytes, counters.CACHE_HITS.value, counters.CACHE_MISSES.value,
            counters.CACHE_STORES.value,
        )  # fmt: skip

    def _path(self, key: str) -> str:
        assert self.folder is not None
        return os.path.join(self.folder, key + SUFFIX)

    def _files(self, suffix: str) -> Iterator[tuple[str, os.stat_result]]:
        """The files that this cache made: path and status. Nothing else in the folder is touched."""
        if not self._usable(make=False):
            return
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                is_entry = suffix == SUFFIX and len(entry.name) == KEY_DIGITS + len(SUFFIX)
                if entry.name.endswith(suffix) and (is_entry or (suffix == TEMPORARY and entry.name.startswith("."))):
                    with contextlib.suppress(OSError):  # another process may have removed it meanwhile
                        yield entry.path, entry.stat(follow_symlinks=False)

    def _usable(self, *, make: bool) -> bool:
        """Whether the folder is there, and this user's alone; makes it if asked to."""
        if not self._readable or self._checked:
            return self._readable
        assert self.folder is not None
        try:
            if make:
                os.makedirs(self.folder, 0o700, exist_ok=True)
            status = os.stat(self.folder)
        except FileNotFoundError:
            if not make:
                return False  # nothing was stored yet
            return self._refuse("it cannot be made")
        except OSError as error:
            return self._refuse(error.strerror or str(error))
        if not stat.S_ISDIR(status.st_mode):
            return self._refuse("it is no folder")
        if not _is_ours(status):
            return self._refuse("another user owns it or may write it; give it mode 0700, or name another with TWOFOLD_CACHE_DIR")
        self._checked = True
        return True

    def _refuse(self, why: str) -> bool:
        self._readable = self._writable = False
        self._warn_once(f"compiled code is not kept on disk: {self.folder!r} is not used: {why}")
        return False

    def warn_of_no_home(self) -> None:
        """Says once that there is no place for the cache."""
        self._warn_once("compiled code is not kept on disk: there is no home folder; name one with TWOFOLD_CACHE_DIR")

    def _warn_once(self, message: str) -> None:
        with _warned_lock:
            if self.folder in _warned:
                return
            _warned.add(self.folder)
        warnings.warn(f"{message} (TWOFOLD_CACHE=0 turns the object cache off)", RuntimeWarning, stacklevel=2)


_warned: set[str | None] = set()
_warned_lock = threading.Lock()
"""Folders about which something was said in this process."""


def _entry(key: str, data: bytes) -> bytes:
    prefix = PREFIX.pack(MAGIC, bytes.fromhex(key), len(data))
    return b"".join((prefix, hashlib.sha256(prefix + data).digest(), data))


def _payload(content: bytes, key: str) -> bytes | None:
    """The object in an entry's bytes; None if it is damaged, or another key's."""
    if len(content) < HEADER_BYTES:
        return None
    magic, stored_key, length = PREFIX.unpack_from(content)
    data = content[HEADER_BYTES:]
    if magic != MAGIC or stored_key != bytes.fromhex(key) or length != len(data):
        return None
    digest = hashlib.sha256(content[: PREFIX.size] + data).digest()
    return data if digest == content[PREFIX.size : HEADER_BYTES] else None


def default_folder() -> str | None:
    """The folder that the option `cache_dir` names, else `twofold` in $XDG_CACHE_HOME (if absolute) or ~/.cache; None without a home."""
    if FOLDER.value:
        return os.path.expanduser(FOLDER.value)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser(os.path.join("~", ".cache"))
    return os.path.join(base, "twofold") if os.path.isabs(base) else None


@functools.lru_cache(maxsize=8)
def _opened(folder: str | None, limit_bytes: int) -> ObjectCache:
    return ObjectCache(folder, limit_bytes)


def default_cache() -> ObjectCache:
    """The cache that the options name; one that holds nothing if it is switched off or there is no home."""
    folder = default_folder() if ENABLED.value else None
    cache = _opened(folder, max(SIZE.value, 0) << 20)
    if folder is None and ENABLED.value:
        cache.warn_of_no_home()
    return cache


def cache_info() -> CacheInfo:
    """What the cache of compiled code holds (folder, entries, bytes, limit), and how often it served this process."""
    return default_cache().info()


def clear_cache() -> int:
    """Removes all compiled code from the cache's folder; returns how many entries there were. Programs that exist go on running."""
    return default_cache().clear()
