"""How much memory this machine, or the control group this process runs in, has."""

from __future__ import annotations

import functools
import os

CONTROL_GROUP_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""The limit of the process's group where it is seen as the root (in containers), in versions 2 and 1 of control groups."""


def _number_in(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):  # not there, or "max"
        return None


def _swap() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("SwapTotal:")), 0)
    except OSError:
        return 0


@functools.cache
def memory_size() -> int:
    """Bytes of memory, swap included: no process can use more. (Some of it is in use; how much is free changes all the time.)"""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") + _swap()
    limits = [limit for path in CONTROL_GROUP_FILES if (limit := _number_in(path)) is not None]
    return min(physical, *limits) if limits else physical
