"""Writes to memory, so that backward can tell when a saved value was overwritten.

Memory is known by its root array (the end of the `.base` chain): a write through a view, a detached alias or a NumPy slice made here counts
for all. Arrays nobody wrote cost nothing: only written ones have an entry, which disappears with the array.
"""

from __future__ import annotations

import threading
import weakref
from types import CodeType
from typing import Any

import numpy as np

from twofold.tape.node import tick

ndarray = np.ndarray


class Stamp:
    """The writes to one root array: how many, and when, by what and where the last one was."""

    __slots__ = ("clock", "code", "count", "lasti", "name", "ref")

    def __init__(self, ref: Any) -> None:
        self.ref, self.count, self.clock, self.name = ref, 0, 0, ""
        self.code: CodeType | None = None
        self.lasti = 0


STAMPS: dict[int, Stamp] = {}


class Newest:
    """`clock`: when the last write of all was. A node younger than it has nothing to check."""

    __slots__ = ("clock",)

    def __init__(self) -> None:
        self.clock = 0


NEWEST = Newest()
_lock = threading.Lock()


def root_of(array: Any) -> Any:
    """The array that owns the memory, as far as NumPy knows."""
    base = array.base
    while type(base) is ndarray:
        array = base
        base = array.base
    return array


def stamp(array: Any, name: str, code: CodeType | None, lasti: int) -> None:
    """Record a write to the memory of `array` by operation `name` at (code, lasti)."""
    root = root_of(array)
    key = id(root)
    found = STAMPS.get(key)
    if found is None:
        found = STAMPS[key] = Stamp(weakref.ref(root, lambda _, key=key: STAMPS.pop(key, None)))  # type: ignore[misc]
    with _lock:  # the newest clock must never go back, whichever thread writes
        found.count += 1
        found.clock = NEWEST.clock = tick()
    found.name, found.code, found.lasti = name, code, lasti


def version(array: Any) -> int:
    """How often the memory of `array` has been written in place."""
    if type(array) is not ndarray:
        return 0
    found = STAMPS.get(id(root_of(array)))
    return found.count if found is not None else 0


def newer_write(array: Any, seq: int) -> Stamp | None:
    """The last write to the array's memory if it is younger than sequence number `seq` (younger numbers are smaller)."""
    if type(array) is not ndarray:
        return None
    found = STAMPS.get(id(root_of(array)))
    return found if found is not None and found.clock < seq else None


ESCAPED: dict[int, Any] = {}
"""Root arrays that something outside can write without a stamp (NumPy, DLPack); weak references with removing callbacks."""


def mark_escaped(array: Any) -> None:
    """Remember that the memory of `array` was handed out: it is never packed or folded ahead."""
    root = root_of(array)
    key = id(root)
    if key not in ESCAPED:
        ESCAPED[key] = weakref.ref(root, lambda _, key=key: ESCAPED.pop(key, None))  # type: ignore[misc]


def has_escaped(array: Any) -> bool:
    """True if `mark_escaped` was called on the array's memory."""
    return id(root_of(array)) in ESCAPED
