"""Runs of a program with something around each step: a clock, or a call into Python.

Only the function `run` is written anew. The kernels are those of the program, at their addresses, and they run in its order, with its
arena, its chunks and its launcher, control flow included.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.compiler.assemble import Assembly, Copy, HostCall, Launch, RunWriter, walk_actions
from twofold.compiler.executable import Executable, fault, root_of
from twofold.compiler.host import HostRunner, array_at
from twofold.compiler.llvm import Module, Val
from twofold.runtime.codegen import NativeCode, build
from twofold.runtime.entry import Frame
from twofold.support.errors import ArgumentError

LEAVES = (Launch, HostCall, Copy)
CLOCK_MONOTONIC = 1


def leaves(assembly: Assembly) -> list[Any]:
    """The actions that do something themselves, in program order."""
    return [a for a in walk_actions(assembly.actions) if isinstance(a, LEAVES)]


def count_steps(actions: Sequence[Any]) -> int:
    """One more than the highest number of a step."""
    return 1 + max((a.step for a in walk_actions(actions)), default=0)


class _TimedWriter(RunWriter):
    """`run` with a clock around each step: `times` gets nanoseconds and the number of executions of each. The last entry is for nothing at
    all: what reading the clock takes."""

    def write(self, actions: list[Any]) -> None:
        steps = count_steps(actions)
        self.module.globals[f"@times = external global [{2 * steps + 2} x i64]"] = None
        self.module.declare("clock_gettime", "i32", ["i32", "ptr"])
        self.spec = self.f.scratch(16, 8)
        self._count(steps, self._now())
        super().write(actions)

    def _now(self) -> Val:
        f = self.f
        f.emit(f"call i32 @clock_gettime(i32 {CLOCK_MONOTONIC}, ptr {self.spec})")
        seconds = f.load("i64", self.spec, 8)
        return f.add(f.mul(seconds, 1_000_000_000), f.load("i64", f.gep(self.spec, 1, "i64"), 8))

    def action(self, a: Any) -> None:
        if not isinstance(a, LEAVES):
            super().action(a)
            return
        begin = self._now()
        super().action(a)
        self._count(a.step, begin)

    def _count(self, step: int, begin: Val) -> None:
        elapsed = self.f.sub(self._now(), begin)
        for k, amount in ((0, elapsed), (1, self.f.of(1, "i64"))):
            place = self.f.gep(Val("ptr", "@times"), 2 * step + k, "i64")
            self.f.store(self.f.add(self.f.load("i64", place, 8), amount), place, 8)


class _ProbedWriter(RunWriter):
    """`run` with a host step before and after each step: numbers from `first` on."""

    first = 0

    def action(self, a: Any) -> None:
        if not isinstance(a, LEAVES):
            super().action(a)
            return
        self.host_step(self.first + 2 * a.step)
        super().action(a)
        self.host_step(self.first + 2 * a.step + 1)


def _text(assembly: Assembly, kind: type[RunWriter]) -> tuple[str, list[str]]:
    """The LLVM text of a `run` whose kernels are elsewhere, and the kernels' names."""
    module = Module()
    kernels = list(dict.fromkeys(s for x in assembly.launches if x.code is not None for s, _ in x.code.launches))
    for name in kernels:
        module.declare(name, "void", ["ptr", "i64"])
    kind(module, assembly.buffers, assembly.scratch_slots).write(assembly.actions)
    return str(module), kernels


def _kernel_addresses(code: NativeCode, kernels: Sequence[str]) -> dict[str, int]:
    return {name: code.address(name) for name in kernels}


@dataclass
class View:
    """What a probe sees: the program's buffers at this moment."""

    assembly: Assembly
    table: Any

    def array(self, name: str) -> np.ndarray:
        """The memory of a buffer, flat; a view, not a copy."""
        info = self.assembly.buffers[name]
        return array_at(int(self.table[info.slot]), info.type).reshape(-1)

    @property
    def error(self) -> int:
        """The error word: the site of a fault, 0 if there is none."""
        return ctypes.c_int64.from_address(int(self.table[0])).value


class InstrumentedRun:
    """One instrumented form of an executable. A call takes prepared arrays and returns the outputs; one thread at a time."""

    def __init__(self, executable: Executable, kind: type[RunWriter], symbols: dict[str, int], host: Callable[[int, Any], None]) -> None:
        self.executable = executable
        self.assembly = executable.assembly
        text, kernels = _text(self.assembly, kind)
        addresses = _kernel_addresses(executable.code, kernels)
        self.code = build(text, executable.target, f"{executable.name}, step by step", level=1, symbols={**addresses, **symbols})
        self.frame: Frame = executable.new_frame(self.code, host)

    def __call__(self, arrays: Sequence[Any], outputs: Sequence[np.ndarray] | None = None) -> Sequence[np.ndarray]:
        """The outputs, written into `outputs` if they are given; raises what the program raises (IndexOutOfRange), and what a host function
        raised."""
        e = self.executable
        if len(arrays) != len(e.inputs):
            names = ", ".join(b.name for b in e.inputs)
            raise ArgumentError(f"{e.name} takes {len(e.inputs)} inputs ({names}), {len(arrays)} were given")
        inputs = [e.prepared(x, b) for x, b in zip(arrays, e.inputs, strict=True)]
        outputs = e.fresh_outputs() if outputs is None else outputs
        given = [*zip(e.inputs, inputs, strict=True), *zip(e.outputs, outputs, strict=True)]
        error = self.frame.call({b.slot: x.ctypes.data for b, x in given})
        if error:
            raise fault(self.assembly, error)
        return outputs


class TimedRun(InstrumentedRun):
    """Runs that add up, for each step of `leaves`, nanoseconds and executions; the last entry is what reading the clock takes."""

    def __init__(self, executable: Executable) -> None:
        self.times = np.zeros(2 * count_steps(executable.assembly.actions) + 2, np.int64)
        super().__init__(executable, _TimedWriter, {"times": self.times.ctypes.data}, host_function(executable))

    def take(self) -> np.ndarray:
        """(nanoseconds, executions) by step since the last call, as an array of two columns."""
        taken = self.times.reshape(-1, 2).copy()
        self.times[:] = 0
        return taken


class ProbedRun(InstrumentedRun):
    """Runs that call `before(action, view)` and `after(action, view)` around each of `leaves`; what they raise ends the run."""

    def __init__(self, executable: Executable, before: Callable[[Any, View], None], after: Callable[[Any, View], None]) -> None:
        a = executable.assembly
        run_host, base = host_function(executable), len(a.hosts)
        steps = {x.step: x for x in leaves(a)}

        def host(number: int, table: Any) -> None:
            if number < base:
                run_host(number, table)
                return
            step, later = divmod(number - base, 2)
            (after if later else before)(steps[step], View(a, table))

        class Writer(_ProbedWriter):
            first = base

        super().__init__(executable, Writer, {}, host)


def host_function(executable: Executable) -> Callable[[int, Any], None]:
    """What runs the program's own host steps."""
    a = executable.assembly
    return HostRunner(a.hosts, a.buffers, lambda v: root_of(a, v).name).run
