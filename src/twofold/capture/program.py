"""Program: a compiled graph module, called like the function it was recorded from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from twofold.capture.aot import JointModule
from twofold.capture.arguments import argument_arrays
from twofold.capture.calling import Calls
from twofold.capture.graph_module import GraphModule
from twofold.compiler.assemble import HostCall, Launch, walk_actions
from twofold.compiler.executable import Executable
from twofold.compiler.faults import first_wrong_node
from twofold.compiler.kernel_info import KernelInfo, kernels_of, launch_lines
from twofold.compiler.memory import MemoryPlan
from twofold.compiler.pipeline import Compilation, compile_graph
from twofold.compiler.profile import Profile, profile
from twofold.compiler.verifying import Blame, VerificationReport, VerifiedExecutable, Verifier
from twofold.runtime.codegen import assembly
from twofold.runtime.pool import get_num_threads
from twofold.runtime.target import why_not_here


class Program:
    """A compiled graph. Call it with tensors (results are tensors) or with NumPy arrays (results are arrays).

    It computes no gradients: a call under grad mode with something that requires grad raises. `twofold.aot(…).compile()` compiles forward
    and backward together. Arguments that the graph was not recorded for raise GuardError.
    """

    __slots__ = ("__call__", "__dict__", "__weakref__", "run_into")
    __call__: Callable[..., Any]
    """A slot, so that calling a program calls the builtin function in it: a method in Python would take longer than all the rest of a
    call."""
    run_into: Callable[..., None]
    """`run_into(outputs, *inputs)`: run into given arrays or tensors, one for each output of the graph, in order.

    Outputs must fit exactly (dtype, shape, C order, writeable) and share no memory with an input or with each other: ArgumentError,
    DTypeError or ShapeError otherwise. A program that writes its arguments is refused; so is, under grad mode, anything that requires grad.
    """

    def __init__(self, module: GraphModule, **options: Any) -> None:
        self.module = module
        self.executable: Executable
        self.compilation: Compilation
        self.executable, self.compilation = compile_graph(module.graph, **options)
        verify = self.compilation.options.verify
        if verify:
            self.executable = VerifiedExecutable(self.executable, module.graph, blame_with(options))
        calls = Calls(module, self.executable)
        plain = verify or bool(why_not_here(self.compilation.target))
        self.__call__ = calls.call if plain else calls.builtin_call()
        self.run_into = calls.into if plain else calls.builtin_into()

    # --- looking at it

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
        return assembly(self.llvm, self.compilation.target, name=self.module.name)

    @property
    def kernels(self) -> tuple[KernelInfo, ...]:
        """The kernels in the order in which they run: nodes, lines, listing, code, bytes, operations."""
        return kernels_of(self.executable)

    def profile(self, *args: Any, repeats: int = 20, **kwargs: Any) -> Profile:
        """The time of each kernel and host step for these arguments (those of a call), beside the ceilings of this machine.

        The program runs `repeats` times, and once before; arguments are not written. The first profile in a process measures the ceilings,
        which takes about a second. Raises what a call raises.
        """
        return profile(self.executable, argument_arrays(self.module, args, kwargs), repeats, get_num_threads())

    def verify(self, *args: Any, **kwargs: Any) -> VerificationReport:
        """Run once on these arguments (those of a call) and compare each kernel with the interpreter in float64, on what it read.

        The report lists every step and all divergences; `report.raise_first()` raises the first. Arguments are not written.
        """
        blame = blame_with(vars(self.compilation.options))
        return Verifier(self.executable, self.module.graph, blame)(argument_arrays(self.module, args, kwargs), stop=False)[1]

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
        return f"<Program {self.module.name}: {kernels} kernels, {hosts} host steps, arena of {self.memory.peak} bytes>"


class JointProgram(JointModule):
    """A compiled joint graph: called like the `JointModule`, with forward and backward in one native program."""

    def __init__(self, joint: JointModule, **options: Any) -> None:
        super().__init__(joint.graph, joint.forward_module, joint.tangents, joint._gradients_of)
        self.executable, self.compilation = compile_graph(joint.graph, **options)
        if self.compilation.options.verify:
            self.executable = VerifiedExecutable(self.executable, joint.graph, blame_with(options))
        self._on_arrays = self.executable.function()

    @property
    def kernels(self) -> tuple[KernelInfo, ...]:
        """The kernels, forward and backward, in the order in which they run."""
        return kernels_of(self.executable)

    def run_arrays(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The joint graph's outputs for arrays in the order of its inputs."""
        return self._on_arrays(*map(np.asarray, arrays))


def compile_module(module: GraphModule, **options: Any) -> Program:
    """`module.compile(**options)`."""
    return Program(module, **options)


def compile_joint(joint: JointModule, **options: Any) -> JointProgram:
    """`joint.compile(**options)`."""
    return JointProgram(joint, **options)


def blame_with(options: Mapping[str, Any]) -> Blame:
    """Finds the first wrong node of a kernel that diverges, with the options of the program."""
    return partial(first_wrong_node, **{**options, "verify": False, "memory_limit": None})
