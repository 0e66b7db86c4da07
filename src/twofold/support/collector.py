"""Pausing Python's collector of cyclic garbage while many objects are made that stay."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """No cyclic garbage is collected inside the block (in any thread); afterwards the collector is as it was before.

    Work that makes objects by the million without dropping cycles of them spends a large part of its time in collections that find nothing.
    Blocks may be nested, and run in several threads at once: the last to end switches the collector on again.
    """
    global _pauses, _was_enabled
    with _lock:
        if not _pauses:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if not _pauses and _was_enabled:
                gc.enable()
