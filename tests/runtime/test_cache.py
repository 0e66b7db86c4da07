"""The object cache: what is found, what is refused, and that no fault of the disk becomes a fault of a compilation."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.objects import ADD, BASE
from twofold.runtime import cache as cache_module
from twofold.runtime import codegen, counters
from twofold.runtime.cache import HEADER_BYTES, ObjectCache, default_cache, default_folder, key_of
from twofold.runtime.target import named_target
from twofold.support import options

ROOT = Path(__file__).parents[2]
KEY, OTHER = "ab" * 32, "cd" * 32
DATA = bytes(range(256)) * 16
LIMIT = 1 << 20


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Counters at zero, nothing said yet, no caches open; the counters are put back."""
    before = counters.counts()
    counters.reset()
    monkeypatch.setattr(cache_module, "_warned", set())
    cache_module._opened.cache_clear()
    yield
    for counter in counters.COUNTERS:
        counter.reset()
        counter.add(before[counter.name])
    cache_module._opened.cache_clear()


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    return ObjectCache(str(tmp_path / "cache"), LIMIT)


def entry(cache: ObjectCache, key: str = KEY) -> Path:
    assert cache.folder is not None
    return Path(cache.folder) / f"{key}.obj"


# --- hits and misses


def test_a_stored_object_is_found(cache: ObjectCache) -> None:
    assert cache.get(KEY) is None
    assert cache.info().folder == cache.folder
    assert not os.path.exists(cache.folder or "")
    assert cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA
    assert ObjectCache(cache.folder, LIMIT).get(KEY) == DATA
    assert cache.get(OTHER) is None
    assert cache.put(KEY, b"")  # replaced
    assert cache.get(KEY) == b""
    info = cache.info()
    assert (info.entries, info.bytes, info.hits, info.misses, info.stores) == (1, HEADER_BYTES, 3, 2, 2)
    assert os.stat(entry(cache)).st_mode & 0o777 == 0o600
    assert os.stat(cache.folder or "").st_mode & 0o777 == 0o700


def test_keys() -> None:
    """Everything that the code depends on is part of the key, and parts cannot run into one another."""
    haswell, v2 = named_target("haswell"), named_target("x86-64-v2")
    keys = [key_of("text", v2), key_of("text ", v2), key_of("text", haswell), key_of("text", v2, "level 1"), key_of("", v2, "text")]
    assert len(set(keys)) == len(keys)
    assert all(len(k) == 64 and int(k, 16) >= 0 for k in keys)
    assert key_of("text", named_target("x86-64-v3")) == key_of("text", haswell), "one CPU under two names"
    assert key_of("\ud800", v2)  # half of a surrogate pair has a key too: LLVM is the one to refuse the text


def test_the_key_names_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of("text", BASE)
    assert "llvmlite" in cache_module.producer()
    monkeypatch.setattr(cache_module, "producer", lambda: "another version")
    assert key_of("text", BASE) != before


DAMAGES: dict[str, Any] = {
    "empty": lambda data: b"",
    "the header only": lambda data: data[:HEADER_BYTES],
    "half a header": lambda data: data[: HEADER_BYTES // 2],
    "truncated": lambda data: data[:-1],
    "too long": lambda data: data + b"\0",
    "another format": lambda data: b"2foldxyz" + data[8:],
    "another key": lambda data: data[:8] + bytes(32) + data[40:],
    "a wrong length": lambda data: data[:40] + bytes(8) + data[48:],
    "a wrong digest": lambda data: data[:48] + bytes(32) + data[80:],
    "one bit of the payload": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "text": lambda data: b"hello\n",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_entry_is_a_miss_and_is_removed(cache: ObjectCache, name: str) -> None:
    cache.put(KEY, DATA)
    path = entry(cache)
    path.write_bytes(DAMAGES[name](path.read_bytes()))
    assert cache.get(KEY) is None
    assert not path.exists()
    assert cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA


def test_an_entry_under_a_wrong_name(cache: ObjectCache) -> None:
    cache.put(KEY, DATA)
    os.rename(entry(cache), entry(cache, OTHER))
    assert cache.get(OTHER) is None


def test_what_is_no_file(cache: ObjectCache, tmp_path: Path) -> None:
    """A folder, a link and a FIFO in an entry's place: no entry, and nobody waits for a writer."""
    cache.put(OTHER, DATA)
    path = entry(cache)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path.mkdir()
        assert cache.get(KEY) is None
        path.rmdir()
        path.symlink_to(entry(cache, OTHER))
        assert cache.get(KEY) is None
        path.unlink()
        os.mkfifo(path, 0o600)
        assert cache.get(KEY) is None


# --- whom it trusts


def test_an_entry_that_others_may_write_is_not_read(cache: ObjectCache) -> None:
    cache.put(KEY, DATA)
    entry(cache).chmod(0o666)
    with pytest.warns(RuntimeWarning, match="no file of this user's alone"):
        assert cache.get(KEY) is None
    assert cache.get(KEY) is None  # said once


def owned_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module.os, "geteuid", lambda: 123456)


def test_an_entry_of_another_user_is_not_read(cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA
    owned_by_another(monkeypatch)
    with pytest.warns(RuntimeWarning, match="no file of this user's alone"):
        assert cache.get(KEY) is None
    assert entry(cache).exists()


def test_a_folder_of_another_user_is_not_used(cache: ObjectCache, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkdir(cache.folder or "", 0o700)
    owned_by_another(monkeypatch)
    with pytest.warns(RuntimeWarning, match="TWOFOLD_CACHE_DIR"):
        assert not cache.put(KEY, DATA)
    assert cache.get(KEY) is None
    assert os.listdir(cache.folder or "") == []


def test_a_folder_that_others_may_write_is_not_used(cache: ObjectCache) -> None:
    os.mkdir(cache.folder or "")
    os.chmod(cache.folder or "", 0o777)
    with pytest.warns(RuntimeWarning, match="may write it"):
        assert cache.get(KEY) is None
    assert not cache.put(KEY, DATA)
    assert not cache.info().enabled


# --- faults of the disk


def failing(monkeypatch: pytest.MonkeyPatch, name: str, code: int, writing_only: bool = False) -> None:
    """Makes a function of `os` fail with an error of the system."""
    real = getattr(os, name)

    def call(path: Any, *arguments: Any, **named: Any) -> Any:
        if writing_only and not arguments[0] & os.O_CREAT:
            return real(path, *arguments, **named)
        raise OSError(code, os.strerror(code), path)

    monkeypatch.setattr(cache_module.os, name, call)


FAULTS = {
    "a read-only file system": ("open", errno.EROFS, True),
    "a folder without the right to write": ("open", errno.EACCES, True),
    "no inode left": ("open", errno.ENOSPC, True),
    "too many open files": ("open", errno.EMFILE, True),
    "a rename that fails": ("replace", errno.EIO, False),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_stored(cache: ObjectCache, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """One warning; what is there already is still read; nothing half-written is left."""
    cache.put(OTHER, DATA)
    function, code, writing_only = FAULTS[name]
    failing(monkeypatch, function, code, writing_only)
    with pytest.warns(RuntimeWarning, match=f"cannot be stored in .*: {os.strerror(code)}") as said:
        stored = [cache.put(KEY, DATA), cache.put(KEY, DATA)]
    assert stored == [False, False]
    assert len(said) == 1
    assert cache.get(OTHER) == DATA
    assert os.listdir(cache.folder or "") == [f"{OTHER}.obj"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ObjectCache(str(tmp_path / "file" / "cache"), LIMIT)
    with pytest.warns(RuntimeWarning, match="not kept on disk"):
        assert not cache.put(KEY, DATA)
    assert cache.get(KEY) is None


def test_a_file_in_the_folder_s_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ObjectCache(str(tmp_path / "file"), LIMIT)
    with pytest.warns(RuntimeWarning, match="not kept on disk"):
        assert not cache.put(KEY, DATA)


def test_a_folder_that_vanishes(cache: ObjectCache) -> None:
    cache.put(KEY, DATA)
    shutil.rmtree(cache.folder or "")
    assert cache.get(KEY) is None
    assert cache.put(KEY, DATA)
    assert cache.get(KEY) == DATA


COMPILE = """
import sys, warnings
from twofold.runtime import codegen, counters
from twofold.runtime.target import named_target
import ctypes
text = "define i64 @f(i64 %a) {\\n %b = mul i64 %a, 3\\n ret i64 %b\\n}"
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    BEFORE
    code = codegen.build(text, named_target("x86-64-v2"), level=1)
print(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address("f"))(14))
print(counters.counts()["compilations"], counters.counts()["cache stores"], "llvmlite" in sys.modules)
print(*(str(w.message) for w in said))
"""


def compile_in_a_process(folder: str, before: str = "", wrapper: tuple[str, ...] = (), **environment: str) -> list[str]:
    """A process that compiles one function and runs it: its lines of output."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TWOFOLD")}
    environment = {**kept, "PYTHONPATH": os.pathsep.join(sys.path), "TWOFOLD_CACHE_DIR": folder, **environment}
    command = [*wrapper, sys.executable, "-c", COMPILE.replace("BEFORE", before)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    if wrapper and done.returncode in (70, 126):
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on file sizes: the write itself fails, as on a full disk."""
    lines = compile_in_a_process(str(tmp_path), "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))")
    assert lines[:2] == ["42", "1 0 True"]
    assert "cannot be stored" in lines[2]
    assert os.listdir(tmp_path) == []


def mounted(options: str, folder: Path) -> tuple[str, ...]:
    """A wrapper that gives a command a small file system of its own; it exits with 70 where that is not allowed."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        pytest.skip("no program 'unshare'")
    script = f'mount -t tmpfs -o {options} tmpfs "$0" && chmod 700 "$0" || exit 70; exec "$@"'
    return ("unshare", "-m", "sh", "-c", script, str(folder))


def test_a_folder_mounted_noexec(tmp_path: Path) -> None:
    """Code is executed from memory of the process, so the mount's flag does not matter."""
    wrapper = mounted("noexec,size=1m", tmp_path)
    again = "codegen._loaded.clear(); codegen.build(text, named_target('x86-64-v2'), level=1); codegen._loaded.clear()"
    lines = compile_in_a_process(str(tmp_path), again, wrapper)
    assert lines[:2] == ["42", "1 1 True"]


def test_a_really_full_disk(tmp_path: Path) -> None:
    """A file system of one page, which the folder's own entry fills."""
    wrapper = mounted("size=4k,nr_inodes=2", tmp_path)
    lines = compile_in_a_process(str(tmp_path), f"open({str(tmp_path / 'x')!r}, 'wb').write(bytes(4096))", wrapper)
    assert lines[:2] == ["42", "1 0 True"]
    assert "cannot be stored" in lines[2]


def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert compile_in_a_process(str(tmp_path))[:2] == ["42", "1 1 True"]
    assert compile_in_a_process(str(tmp_path))[:2] == ["42", "0 0 False"]
    assert compile_in_a_process(str(tmp_path), TWOFOLD_CACHE="0")[:2] == ["42", "1 0 True"]


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TWOFOLD_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    options.reset()
    monkeypatch.setattr(cache_module.os.path, "expanduser", lambda path: path)  # no entry in the table of users either
    assert default_folder() is None
    with pytest.warns(RuntimeWarning, match="there is no home folder; name one with TWOFOLD_CACHE_DIR"):
        cache = default_cache()
    assert not cache.put(KEY, DATA)
    assert cache.get(KEY) is None
    assert cache.info().folder is None
    assert not cache.info().enabled
    default_cache()  # said once


def test_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TWOFOLD_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/somewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    options.reset()
    assert default_folder() == "/somewhere/.cache/twofold"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_folder() == "/caches/twofold"
    with options.override(cache_dir="~/mine"):
        assert default_folder() == "/somewhere/mine"
    with options.override(cache=False, cache_dir=str(tmp_path)):
        assert not default_cache().put(KEY, DATA)
        assert os.listdir(tmp_path) == []
    with options.override(cache_dir=str(tmp_path / "a"), cache_size=3):
        assert default_cache().limit_bytes == 3 << 20
        assert default_cache() is default_cache()


# --- its size


def test_eviction(tmp_path: Path) -> None:
    """The limit holds; what was used last stays."""
    large, cache = ObjectCache(str(tmp_path), LIMIT), ObjectCache(str(tmp_path), 100_000)
    keys = [hashlib.sha256(bytes([i])).hexdigest() for i in range(40)]
    now = time.time()
    for age, key in enumerate(reversed(keys)):
        large.put(key, bytes(4000))
        os.utime(entry(cache, key), (now - age * 10, now - age * 10))
    assert large.evict() == 0
    removed = cache.evict()
    info = cache.info()
    assert info.entries == 40 - removed
    assert 70_000 < info.bytes <= 75_000
    present = [entry(cache, key).exists() for key in keys]
    assert present == [False] * (40 - info.entries) + [True] * info.entries, "the newest are kept"
    assert cache.evict() == 0


def test_stores_alone_keep_it_bounded(tmp_path: Path) -> None:
    """No call of `evict`: a process that stores a lot looks at the size itself."""
    cache = ObjectCache(str(tmp_path), 100_000)
    largest = 0
    for i in range(300):
        assert cache.put(hashlib.sha256(bytes([i % 256, i >> 8])).hexdigest(), bytes(2000))
        largest = max(largest, cache.info().bytes)
    assert largest <= 100_000 * 1.25 + 2100
    assert counters.CACHE_EVICTIONS.value > 100


def test_a_hit_makes_an_old_entry_young(cache: ObjectCache) -> None:
    cache.put(KEY, DATA)
    os.utime(entry(cache), (1_000_000, 1_000_000))
    assert cache.get(KEY) == DATA
    assert time.time() - os.stat(entry(cache)).st_mtime < 1000
    stamp = time.time() - 60
    os.utime(entry(cache), (stamp, stamp))
    cache.get(KEY)
    assert os.stat(entry(cache)).st_mtime == pytest.approx(stamp), "a hit on a young entry writes nothing"


def test_what_is_too_large_is_not_stored(tmp_path: Path) -> None:
    cache = ObjectCache(str(tmp_path), 10_000)
    assert not cache.put(KEY, bytes(9_000))
    assert cache.put(KEY, bytes(5_000))
    assert not ObjectCache(str(tmp_path), 0).put(OTHER, b"")


def test_clear(cache: ObjectCache) -> None:
    for key in (KEY, OTHER):
        cache.put(key, DATA)
    assert cache.folder is not None
    for name in (".0123.tmp", "notes.txt", "short.obj"):
        (Path(cache.folder) / name).write_text("")
    assert cache.clear() == 2
    assert sorted(os.listdir(cache.folder)) == ["notes.txt", "short.obj"], "only what the cache made is removed"
    assert cache.clear() == 0


def test_what_dead_processes_left(cache: ObjectCache) -> None:
    cache.put(KEY, DATA)
    old, young = (Path(cache.folder or "") / name for name in (".old.tmp", ".young.tmp"))
    for path in (old, young):
        path.write_bytes(b"half of an entry")
    os.utime(old, (1_000_000, 1_000_000))
    cache.evict()
    assert not old.exists()
    assert young.exists()
    assert cache.get(KEY) == DATA


# --- many at once

WRITER = """
import hashlib, sys
from twofold.runtime.cache import ObjectCache
cache = ObjectCache(sys.argv[1], 1 << 22)
sys.stdin.readline()
wrong = 0
for i in range(400):
    key = hashlib.sha256(bytes([i % 40])).hexdigest()
    data = bytes.fromhex(key) * (50 + i % 40)
    found = cache.get(key)
    wrong += found is not None and found != data
    if found is None or i % 5 == 0:
        wrong += not cache.put(key, data)
    if i % 97 == 0:
        cache.evict()
print(wrong)
"""


def test_eight_processes_write_the_same_keys(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(8)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    results = [process.communicate(timeout=120) for process in processes]
    assert results == [("0\n", "")] * 8
    assert len(os.listdir(tmp_path)) == 40, "every entry once, and no temporary file"


def test_threads(cache: ObjectCache) -> None:
    failures = []

    def work(number: int) -> None:
        for i in range(60):
            key = hashlib.sha256(bytes([i % 7])).hexdigest()
            if not cache.put(key, key.encode() * 9) or cache.get(key) != key.encode() * 9:
                failures.append((number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert cache.info().entries == 7


# --- with the compiler


def test_build_uses_the_cache(tmp_path: Path) -> None:
    with options.override(cache_dir=str(tmp_path)):
        code = codegen.build(ADD + "; the cache's test", BASE, level=1)
        assert (counters.COMPILATIONS.value, counters.CACHE_HITS.value, counters.CACHE_MISSES.value) == (1, 0, 1)
        del code
        again = codegen.build(ADD + "; the cache's test", BASE, level=1)
        assert again.address("add")
        assert counters.COMPILATIONS.value == 1
        assert counters.CACHE_HITS.value == 1


def test_an_entry_that_is_no_object_is_compiled_anew(tmp_path: Path) -> None:
    """Its digest is right, so it was stored like this."""
    text = ADD + "; stored wrongly"
    with options.override(cache_dir=str(tmp_path)):
        key = key_of(text, BASE, f"{codegen.RECIPE}; level 1")
        assert default_cache().put(key, b"no object")
        assert codegen.build(text, BASE, level=1).address("add")
        assert counters.COMPILATIONS.value == 1
        assert default_cache().get(key) != b"no object"
