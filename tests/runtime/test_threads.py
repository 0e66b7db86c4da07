"""How many threads there are by default: environment, affinity, control groups."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from tests.runtime.test_pool import lines, run
from twofold.errors import ValueRangeError
from twofold.runtime import threads


@pytest.mark.parametrize(
    "environ, expected",
    [
        ({}, None),
        ({"TWOFOLD_NUM_THREADS": "3"}, 3),
        ({"TWOFOLD_NUM_THREADS": " 12 ", "OMP_NUM_THREADS": "2"}, 12),
        ({"TWOFOLD_NUM_THREADS": "", "OMP_NUM_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "4,2,1"}, 4),
        ({"OMP_NUM_THREADS": "  "}, None),
        ({"TWOFOLD_NUM_THREADS": "1024"}, 1024),
    ],
)
def test_environment(environ: dict[str, str], expected: int | None) -> None:
    assert threads.requested_threads(environ) == expected


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "1025", "99999999999999999999", "1_0", "٣"])
def test_bad_values(text: str) -> None:
    with pytest.raises(ValueRangeError, match="TWOFOLD_NUM_THREADS="):
        threads.requested_threads({"TWOFOLD_NUM_THREADS": text})
    with pytest.warns(RuntimeWarning, match="OMP_NUM_THREADS="):
        assert threads.requested_threads({"OMP_NUM_THREADS": text}) is None


def test_public_names_follow_the_environment() -> None:
    script = """
        print(twofold.get_num_threads())
        twofold.set_num_threads(2)
        print(twofold.get_num_threads())
        Launcher().launch("count", 1)
        print(twofold.get_num_threads())
    """
    assert lines(script, threads=5) == ["5", "2", "2"]
    assert lines("print(twofold.get_num_threads())", threads="", OMP_NUM_THREADS="6") == ["6"]
    bad = run("print(twofold.get_num_threads())", threads="many")
    assert bad.returncode == 1
    assert "TWOFOLD_NUM_THREADS='many'" in bad.stderr


def test_affinity() -> None:
    script = """
        from twofold.runtime import threads
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(threads.usable_cpus(), twofold.get_num_threads())
    """
    assert lines(script, threads="", OMP_NUM_THREADS="") == ["1", "1"]
    assert 1 <= threads.usable_cpus() <= len(os.sched_getaffinity(0))


def files(root: Path, contents: dict[str, str]) -> str:
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


V2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = "34 33 0:29 {root} /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
MEMORY = "35 33 0:30 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"

CGROUPS = {
    "none": ({}, math.inf),
    "version 2": ({"proc/self/mountinfo": V2, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"}, 1.5),
    "version 2, no limit": ({"proc/self/mountinfo": V2, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100\n"}, math.inf),
    "version 2, limited above": (
        {
            "proc/self/mountinfo": V2,
            "proc/self/cgroup": "0::/a/b/c\n",
            "sys/fs/cgroup/a/b/c/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/b/cpu.max": "800000 100000\n",
            "sys/fs/cgroup/a/cpu.max": "50000 100000\n",
        },
        0.5,
    ),
    "version 2 in a container": (
        {"proc/self/mountinfo": V2, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3.0,
    ),
    "version 1": (
        {
            "proc/self/mountinfo": MEMORY + V1.format(root="/"),
            "proc/self/cgroup": "5:memory:/m\n4:cpu,cpuacct:/x\n0::/\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "250000\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
        },
        2.5,
    ),
    "version 1, no limit": (
        {
            "proc/self/mountinfo": V1.format(root="/"),
            "proc/self/cgroup": "4:cpu,cpuacct:/x\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
        },
        math.inf,
    ),
    "version 1 in a container": (
        {
            "proc/self/mountinfo": V1.format(root="/docker/1f"),
            "proc/self/cgroup": "4:cpu,cpuacct:/docker/1f\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "100000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "50000\n",
        },
        2.0,
    ),
    "a mount point with a blank": (
        {"proc/self/mountinfo": V2.replace("fs/cgroup", r"a\040b"), "proc/self/cgroup": "0::/\n", "sys/a b/cpu.max": "1000 1000\n"}, 1.0,
    ),
    "nonsense": ({"proc/self/mountinfo": "-\nx - y\n" + V2, "proc/self/cgroup": "0\n\n:::\n", "sys/fs/cgroup/cpu.max": "0 0 0"}, math.inf),
}  # fmt: skip


@pytest.mark.parametrize("name", CGROUPS)
def test_quota(name: str, tmp_path: Path) -> None:
    contents, expected = CGROUPS[name]
    assert threads.cpu_quota(files(tmp_path, contents)) == expected
