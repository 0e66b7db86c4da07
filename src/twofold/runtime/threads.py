"""How many threads a program uses, unless it is told: what the environment says, else as many as this process may keep busy."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping

from twofold.runtime.pool_code import MAX_THREADS
from twofold.support.errors import ValueRangeError

OWN, OPENMP = "TWOFOLD_NUM_THREADS", "OMP_NUM_THREADS"
"""The environment variables, in the order in which they are asked. OpenMP's may be a list, for nested regions: its first number is used."""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _mounts(text: str) -> Iterator[tuple[str, str, int]]:
    """The mounts of cgroup file systems that can hold a CPU quota: mount point, the cgroup at its root, version (proc(5), mountinfo)."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        root, point = (re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), f) for f in fields[3:5])
        if kind[0] == "cgroup2":
            yield point, root, 2
        elif kind[0] == "cgroup" and "cpu" in kind[2].split(","):
            yield point, root, 1


def _own_groups(text: str) -> dict[int, str]:
    """The cgroups this process is in: version → path (cgroups(7), /proc/pid/cgroup)."""
    groups = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            groups[2] = path
        elif "cpu" in controllers.split(","):
            groups[1] = path
    return groups


def _quota_of(folder: str, version: int) -> float:
    """CPUs' worth of time that one cgroup may use; infinity if it is not limited."""
    if version == 2:
        text = _read(f"{folder}/cpu.max")
    else:
        text = _read(f"{folder}/cpu.cfs_quota_us") + " " + _read(f"{folder}/cpu.cfs_period_us")
    try:
        quota, period = map(int, text.split())
    except ValueError:  # "max", or no such files
        return math.inf
    return quota / period if quota > 0 and period > 0 else math.inf


def cpu_quota(root: str = "") -> float:
    """CPUs' worth of time that control groups (version 1 or 2) leave this process: the least of its cgroup's and those above it; infinity
    if there is no limit. `root` is put before every path that is read."""
    groups = _own_groups(_read(f"{root}/proc/self/cgroup"))
    least = math.inf
    for point, top, version in _mounts(_read(f"{root}/proc/self/mountinfo")):
        group, outer = groups.get(version, "/").rstrip("/"), top.rstrip("/")
        folder, end = point.rstrip("/"), point.rstrip("/")
        if f"{group}/".startswith(f"{outer}/"):
            folder += group.removeprefix(outer)
        while True:
            least = min(least, _quota_of(f"{root}{folder}", version))
            if folder == end or not folder:
                break
            folder = os.path.dirname(folder).rstrip("/")
    return least


def usable_cpus() -> int:
    """CPUs that this process may keep busy: those it may run on (its affinity), at most its quota of CPU time, rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    cpus = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, min(cpus, MAX_THREADS, _ceil(cpu_quota())))


def _ceil(quota: float) -> int:
    return MAX_THREADS if quota >= MAX_THREADS else math.ceil(quota)


def requested_threads(environ: Mapping[str, str] = os.environ) -> int | None:
    """The number of threads that the environment asks for, if it does.

    Raises ValueRangeError if TWOFOLD_NUM_THREADS is no number from 1 to MAX_THREADS. OMP_NUM_THREADS, which is not ours, is ignored with a
    warning if it makes no sense.
    """
    own = environ.get(OWN, "").strip()
    if own:
        number = _number(own)
        if number is None:
            raise ValueRangeError(f"the environment variable {OWN}={own!r} is not a number of threads (1 to {MAX_THREADS})")
        return number
    openmp = environ.get(OPENMP, "").strip()
    if openmp:
        number = _number(openmp.partition(",")[0].strip())
        if number is None:
            warnings.warn(
                f"the environment variable {OPENMP}={openmp!r} does not begin with a number of threads (1 to {MAX_THREADS}): it is ignored;"
                f" {OWN} says how many threads twofold uses",
                RuntimeWarning,
                stacklevel=2,
            )
        return number
    return None


def _number(text: str) -> int | None:
    """A number of threads; None if it is not one."""
    return int(text) if re.fullmatch(r"\+?[0-9]{1,9}", text) and 1 <= int(text) <= MAX_THREADS else None


def default_threads() -> int:
    """TWOFOLD_NUM_THREADS, else OMP_NUM_THREADS, else `usable_cpus()`."""
    return requested_threads() or usable_cpus()
