"""The time of each step of a program, beside what this machine can do at most.

The program runs as it is (its kernels, arena, threads, control flow) with a clock around each step, several times; a step's time is the
median over the runs of all its executions in one run. The ceiling of a step is the larger of the least time for its memory traffic (at the
bandwidth measured for a working set of its size) and that for its operations (at the measured rate of multiply-and-adds).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from twofold.compiler.assemble import Copy, HostCall
from twofold.compiler.ceilings import Ceilings, ceilings
from twofold.compiler.executable import Executable
from twofold.compiler.instrument import TimedRun, leaves
from twofold.compiler.kernel_info import KernelInfo, host_traffic, kernels_of, lines_of
from twofold.ir.dtypes import float64
from twofold.ir.types import TensorType
from twofold.support.errors import ArgumentError

COLUMNS = ("step", "nodes", "line", "calls", "µs", "share", "bytes", "GB/s", "flops", "GFLOP/s", "of ceiling", "bound by")
MOST_NODES = 34


@dataclass(frozen=True)
class StepProfile:
    """One step: a kernel, a host step or a copy.

    calls:            executions in one run (more than one inside a loop)
    seconds:          median over the runs of the time of all its executions; `least`: the shortest
    share:            of the time of all steps
    bytes, flops:     of all its executions; see `KernelInfo`
    ceiling_seconds:  the least time this machine needs for them; `bound`: "memory" or "compute", whichever takes longer
    """

    name: str
    kind: str
    nodes: tuple[str, ...]
    lines: tuple[str, ...]
    calls: int
    seconds: float
    least: float
    share: float
    bytes: int
    flops: int
    ceiling_seconds: float
    bound: str

    @property
    def gigabytes_per_second(self) -> float:
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def gigaflops(self) -> float:
        return self.flops / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def of_ceiling(self) -> float:
        """How near the step is to the ceiling: 1.0 is all this machine can do. The ceilings are measurements: a little more may occur."""
        return self.ceiling_seconds / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Profile:
    """Where a program spends its time. `str` shows a table; `to_dict` and `to_json` give the figures, times in seconds."""

    name: str
    target: str
    threads: int
    repeats: int
    steps: tuple[StepProfile, ...]
    ceilings: dict[str, float]

    @property
    def seconds(self) -> float:
        """The medians of all steps together."""
        return sum(s.seconds for s in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: numbers, texts, lists and dicts."""
        rates = ("gigabytes_per_second", "gigaflops", "of_ceiling")
        steps = [{**asdict(s), **{r: getattr(s, r) for r in rates}} for s in self.steps]
        return {**asdict(self), "seconds": self.seconds, "steps": steps}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        head = f"{self.name}: {self.seconds * 1e6:.1f} µs a run (median of {self.repeats}), {self.target}, {threads}"
        rows = [COLUMNS, *map(_row, self.steps)]
        widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
        lines = [head, *("  ".join(_aligned(cell, w, i) for i, (cell, w) in enumerate(zip(r, widths, strict=True))).rstrip() for r in rows)]
        lines += ["ceilings: " + ", ".join(f"{k} {v / 1e9:.1f} {'GFLOP/s' if 'float' in k else 'GB/s'}" for k, v in self.ceilings.items())]
        return "\n".join(lines)


def _row(s: StepProfile) -> tuple[str, ...]:
    nodes = ", ".join(s.nodes)
    return (
        s.name, nodes if len(nodes) <= MOST_NODES else nodes[: MOST_NODES - 1] + "…", s.lines[-1].partition(": ")[0] if s.lines else "",
        str(s.calls), f"{s.seconds * 1e6:.1f}", f"{s.share:.0%}", _quantity(s.bytes), f"{s.gigabytes_per_second:.1f}", _quantity(s.flops),
        f"{s.gigaflops:.1f}", f"{s.of_ceiling:.0%}", s.bound,
    )  # fmt: skip


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column < 3 or column == len(COLUMNS) - 1 else cell.rjust(width)


def _quantity(n: int) -> str:
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if n >= 10 * size:
            return f"{n / size:.0f}{unit}"
    return str(n)


class Profiler:
    """Profiles one executable."""

    def __init__(self, executable: Executable, threads: int) -> None:
        self.executable, self.threads = executable, threads
        self.run = TimedRun(executable)
        self.infos = {k.name: k for k in kernels_of(executable)}

    def __call__(self, arrays: Sequence[Any], repeats: int) -> Profile:
        """The profile of runs on these arrays. Raises ArgumentError for fewer than one repetition, and what the program raises."""
        if type(repeats) is not int or repeats < 1:
            raise ArgumentError(f"profile(): repeats is a number of runs, at least 1, not {repeats!r}")
        self.run(arrays)
        self.run.take()  # the first run meets cold caches and pages
        taken = []
        for _ in range(repeats):
            self.run(arrays)
            taken.append(self.run.take())
        table = np.stack(taken).astype(np.float64)
        clock = table[:, -1, 0].min()
        times = np.maximum(table[:, :, 0] - clock * table[:, :, 1], 0.0) * 1e-9
        calls = np.median(table[:, :, 1], axis=0).astype(int)
        ran = [a for a in leaves(self.executable.assembly) if calls[a.step]]
        total = sum(float(np.median(times[:, a.step])) for a in ran) or 1.0
        limits = ceilings(self.executable.target, self.threads)
        steps = tuple(self._step(a, times[:, a.step], int(calls[a.step]), total, limits) for a in ran)
        e = self.executable
        return Profile(e.name, e.target.name, self.threads, repeats, steps, self._shown_ceilings(steps, limits))

    def _step(self, a: Any, times: Any, calls: int, total: float, limits: Ceilings) -> StepProfile:
        name, kind, nodes, lines, read, written, flops, wide = self._described(a)
        memory = limits.bandwidth(read + written).seconds(read, written) * calls if read + written else 0.0
        compute = flops * calls / limits.peak("float64" if wide else "float32") if flops else 0.0
        seconds = float(np.median(times))
        return StepProfile(
            name, kind, nodes, lines, calls, seconds, float(times.min()), seconds / total, (read + written) * calls, flops * calls,
            max(memory, compute), "compute" if compute > memory else "memory",
        )  # fmt: skip

    def _described(self, a: Any) -> tuple[str, str, tuple[str, ...], tuple[str, ...], int, int, int, bool]:
        """Name, kind, nodes, lines, bytes read and written, operations, whether they are in float64."""
        if isinstance(a, HostCall):
            read, written, flops = host_traffic(a)
            nodes = [*a.views, a.node]
            wide = any(_is_wide(v.type) for v in a.node.outputs)
            return f"host step {a.number}", "host", tuple(n.name for n in nodes), lines_of(nodes), read, written, flops, wide
        if isinstance(a, Copy):
            return "copy", "copy", (a.source, a.target), (), a.nbytes, a.nbytes, 0, False
        k: KernelInfo = self.infos[a.name]
        wide = any(_is_wide(self.executable.assembly.buffers[n].type) for n in a.buffers)
        return k.name, "kernel", k.nodes, k.lines, k.bytes_read, k.bytes_written, k.flops, wide

    @staticmethod
    def _shown_ceilings(steps: Sequence[StepProfile], limits: Ceilings) -> dict[str, float]:
        """The ceilings that the steps were compared with: bytes or operations a second by name."""
        sizes = sorted({limits.bandwidth(s.bytes // s.calls).nbytes for s in steps if s.bytes})
        shown = {f"copying within {_quantity(n)} bytes": 2.0 / limits.bandwidth(n).copy for n in sizes}
        if any(s.flops for s in steps):
            shown["float32 multiply-and-add"] = limits.peak("float32")
        return shown


def _is_wide(t: Any) -> bool:
    return isinstance(t, TensorType) and t.dtype is float64


def profile(executable: Executable, arrays: Sequence[Any], repeats: int, threads: int) -> Profile:
    """The time of each step of a program for these inputs."""
    return Profiler(executable, threads)(arrays, repeats)


__all__ = ["Profile", "Profiler", "StepProfile", "profile"]
