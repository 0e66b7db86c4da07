"""Counts of what the runtime did in this process: modules compiled, look-ups in the object cache."""

from __future__ import annotations

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


COMPILATIONS = Counter("compilations")
"""Modules that LLVM turned into object code."""
CACHE_HITS = Counter("cache hits")
CACHE_MISSES = Counter("cache misses")
CACHE_STORES = Counter("cache stores")
CACHE_EVICTIONS = Counter("cache evictions")

COUNTERS = (COMPILATIONS, CACHE_HITS, CACHE_MISSES, CACHE_STORES, CACHE_EVICTIONS)


def counts() -> dict[str, int]:
    """Every counter's value, by name."""
    return {counter.name: counter.value for counter in COUNTERS}


def reset() -> None:
    """Sets every counter to zero; for tests."""
    for counter in COUNTERS:
        counter.reset()
