"""Counts of what the runtime did in this process: modules compiled, look-ups in the object cache, runs of native programs."""

from __future__ import annotations

import ctypes
import threading


class Counter:
    """A number that several threads may increase."""

    __slots__ = ("_lock", "_value", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._value = 0

    @property
    def value(self) -> int:
        return self._value

    def add(self, amount: int = 1) -> None:
        with self._lock:
            self._value += amount

    def reset(self) -> None:
        with self._lock:
            self._value = 0

    def __repr__(self) -> str:
        return f"Counter({self.name!r}, {self._value})"


class NativeCounter(Counter):
    """A counter that native code increases too: holding the GIL, it adds to the 64-bit integer at `address`."""

    __slots__ = ("_cell", "address")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._cell = ctypes.c_int64()
        self.address = ctypes.addressof(self._cell)

    @property
    def value(self) -> int:
        return self._value + self._cell.value

    def reset(self) -> None:
        super().reset()
        self._cell.value = 0


COMPILATIONS = Counter("compilations")
"""Modules that LLVM turned into object code."""
CACHE_HITS = Counter("cache hits")
CACHE_MISSES = Counter("cache misses")
CACHE_STORES = Counter("cache stores")
CACHE_EVICTIONS = Counter("cache evictions")
NATIVE_CALLS = NativeCounter("native calls")
"""Runs of native programs: calls from Python into compiled code."""

COUNTERS = (COMPILATIONS, CACHE_HITS, CACHE_MISSES, CACHE_STORES, CACHE_EVICTIONS, NATIVE_CALLS)


def counts() -> dict[str, int]:
    """Every counter's value, by name."""
    return {counter.name: counter.value for counter in COUNTERS}


def reset() -> None:
    """Sets every counter to zero; for tests."""
    for counter in COUNTERS:
        counter.reset()
