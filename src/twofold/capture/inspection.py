"""What can be seen of a compiled program: its kernels, code, memory, where the time goes, whether it is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from twofold.compiler.assemble import HostCall, Launch, walk_actions
from twofold.compiler.executable import Executable
from twofold.compiler.faults import first_wrong_node
from twofold.compiler.kernel_info import KernelInfo, kernels_of, launch_lines
from twofold.compiler.memory import MemoryPlan
from twofold.compiler.pipeline import Compilation
from twofold.compiler.profile import Profile, profile
from twofold.compiler.verifying import Blame, VerificationReport, Verifier
from twofold.ir.graph import Graph
from twofold.runtime.codegen import assembly
from twofold.runtime.pool import get_num_threads


class Inspection:
    """The part of programs that looks at them. Those who have it say which graph was given and what arrays the arguments of a call are."""

    __slots__ = ()
    executable: Executable
    compilation: Compilation

    def _given(self) -> Graph:
        raise NotImplementedError

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        raise NotImplementedError

    @property
    def memory(self) -> MemoryPlan:
        """The memory plan: `memory.peak` is what all temporaries together take, in bytes."""
        return self.executable.assembly.memory

    @property
    def llvm(self) -> str:
        """The LLVM text of the whole program, before LLVM's passes."""
        return self.executable.assembly.text

    def assembly(self) -> str:
        """The machine code as assembly text (made anew: it takes as long as compiling)."""
        return assembly(self.llvm, self.compilation.target, name=self._given().name)

    @property
    def kernels(self) -> tuple[KernelInfo, ...]:
        """The kernels in the order in which they run: nodes, lines, listing, code, bytes, operations."""
        return kernels_of(self.executable)

    def profile(self, *args: Any, repeats: int = 20, **kwargs: Any) -> Profile:
        """The time of each kernel and host step for these arguments (those of a call), beside the ceilings of this machine.

        The program runs `repeats` times, and once before; arguments are not written. The first profile in a process measures the ceilings,
        which takes about a second. Raises what a call raises.
        """
        return profile(self.executable, self._arrays(args, kwargs), repeats, get_num_threads())

    def verify(self, *args: Any, **kwargs: Any) -> VerificationReport:
        """Run once on these arguments (those of a call) and compare each kernel with the interpreter in float64, on what it read.

        The report lists every step and all divergences; `report.raise_first()` raises the first. Arguments are not written.
        """
        blame = blame_with(vars(self.compilation.options))
        return Verifier(self.executable, self._given(), blame)(self._arrays(args, kwargs), stop=False)[1]

    def report(self) -> str:
        """Which nodes went into which kernel, what runs on the host and why, what the planner decided, and the bytes moved beside those
        that running node by node would move."""
        a = self.executable.assembly
        lines = [str(s) for s in self.compilation.stages]
        for x in walk_actions(a.actions):
            if isinstance(x, Launch):
                moved = x.spec.bytes_read + x.spec.bytes_written if x.spec is not None else 0
                lines.append(f"{x.name}: {', '.join(x.nodes)}  ({moved} bytes)")
                lines += [f"    {line}" for line in launch_lines(x)]
            elif isinstance(x, HostCall):
                lines.append(f"host: {x.node.name} ({x.reason})")
        lines += [str(d) for d in a.plan.log]
        moved = sum(x.spec.bytes_read + x.spec.bytes_written for x in a.launches if x.spec is not None)
        eager = sum(
            v.type.nbytes for n in a.graph.walk() if not n.op.is_view for v in (*n.operands(), *n.outputs) if hasattr(v.type, "nbytes")
        )
        lines.append(f"kernels move {moved} bytes; node by node it would be {eager}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        hosts = len(self.executable.assembly.hosts)
        kernels = len(self.executable.assembly.launches)
        return f"<{type(self).__name__} {self._given().name}: {kernels} kernels, {hosts} host steps, arena of {self.memory.peak} bytes>"


def blame_with(options: Mapping[str, Any]) -> Blame:
    """Finds the first wrong node of a kernel that diverges, with the options of the program."""
    return partial(first_wrong_node, **{**options, "verify": False, "memory_limit": None})
