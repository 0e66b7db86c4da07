"""Program: a compiled graph module, called like the function it was recorded from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.capture.aot import JointModule
from twofold.capture.graph_module import GraphModule, check_signature, reorder
from twofold.compiler.assemble import HostCall, Launch, walk_actions
from twofold.compiler.executable import Executable
from twofold.compiler.memory import MemoryPlan
from twofold.compiler.pipeline import Compilation, compile_graph
from twofold.ir.mode import RECORDER, grad_enabled
from twofold.runtime.codegen import assembly
from twofold.support.errors import ArgumentError, AutogradError
from twofold.support.pytree import tree_map
from twofold.tensors.core import Symbol, Tensor, memory, wrap


@dataclass(frozen=True)
class KernelInfo:
    """One kernel of a program: the graph nodes it computes, the user's lines, what it computes (`listing`), how (`schedule`), and its cost
    by the compiler's count: bytes of its buffers, scalar operations."""

    name: str
    nodes: tuple[str, ...]
    lines: tuple[str, ...]
    listing: str
    schedule: str
    chunks: int
    bytes: int
    operations: int


class Program:
    """A compiled graph. Call it with tensors (results are tensors) or with NumPy arrays (results are arrays).

    It computes no gradients: a call under grad mode with something that requires grad raises. `twofold.aot(…).compile()` compiles forward
    and backward together.
    """

    def __init__(self, module: GraphModule, **options: Any) -> None:
        self.module = module
        self.executable: Executable
        self.compilation: Compilation
        self.executable, self.compilation = compile_graph(module.graph, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program. Raises GuardError for arguments the graph was not recorded for."""
        module = self.module
        leaves = module.leaves_of(args, kwargs)
        if RECORDER.get() is not None or any(isinstance(x, Symbol) for x in leaves):
            return module(*args, **kwargs)
        arrays_given = any(isinstance(x, np.ndarray) for x in leaves) and not any(isinstance(x, Tensor) for x in leaves)
        leaves = [wrap(x) if isinstance(x, np.ndarray) else x for x in leaves]
        tensors = module.match(leaves)
        self._refuse_gradients(tensors)
        sizes = check_signature(module.name, module.layout, leaves, module.bindings)
        reorder(module.name, module.layout, tensors, None)
        outputs = tuple(wrap(x) if isinstance(x, np.ndarray) else x for x in self.executable.run(*map(memory, tensors)))
        result = module.results(tensors, outputs, sizes)
        return tree_map(lambda x: memory(x) if isinstance(x, Tensor) else x, result) if arrays_given else result

    def _refuse_gradients(self, tensors: Sequence[Tensor]) -> None:
        if grad_enabled() and any(t._node is not None for t in tensors):
            raise AutogradError(
                f"{self.module.name}: a compiled program computes no gradients, and an input or a parameter requires grad; call it under "
                "twofold.no_grad(), or compile forward and backward together with twofold.aot(fn, …).compile()"
            )

    def run_into(self, outputs: Sequence[Any], *inputs: Any) -> None:
        """Run into given arrays or tensors, one for each output of the graph, in order.

        Outputs must fit exactly (dtype, shape, C order, writeable) and share no memory with an input or with each other: ArgumentError,
        DTypeError or ShapeError otherwise. A program that writes its arguments is refused.
        """
        module = self.module
        if module.layout.write_backs:
            raise ArgumentError(f"{module.name} writes its arguments: call the program itself")
        given = iter(inputs)
        arrays = []
        expected = sum(spec.path is None for spec in module.layout.inputs)
        if len(inputs) != expected:
            raise ArgumentError(f"{module.name} takes {expected} inputs, {len(inputs)} were given")
        for spec in module.layout.inputs:
            x = next(given) if spec.path is None else module.bindings[spec.path]
            arrays.append(memory(x) if isinstance(x, Tensor) else x)
        self.executable.run_into([memory(x) if isinstance(x, Tensor) else x for x in outputs], *arrays)

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
        """The kernels in the order in which they run."""
        result = []
        for x in self.executable.assembly.launches:
            s = x.spec
            result.append(
                KernelInfo(
                    x.name,
                    x.nodes,
                    _lines(x),
                    s.listing() if s is not None else str(x.template),
                    str(x.schedule or ""),
                    sum(n for _, n in x.code.launches) if x.code is not None else 0,
                    s.bytes_read + s.bytes_written if s is not None else 0,
                    s.operations if s is not None else 0,
                )
            )
        return tuple(result)

    def report(self) -> str:
        """Which nodes went into which kernel, what runs on the host and why, what the planner decided, and the bytes moved beside those
        that running node by node would move."""
        a = self.executable.assembly
        lines = [str(s) for s in self.compilation.stages]
        for x in walk_actions(a.actions):
            if isinstance(x, Launch):
                moved = x.spec.bytes_read + x.spec.bytes_written if x.spec is not None else 0
                lines.append(f"{x.name}: {', '.join(x.nodes)}  ({moved} bytes)")
                lines += [f"    {line}" for line in _lines(x)]
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

    def run_arrays(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The joint graph's outputs for arrays in the order of its inputs."""
        return self.executable.run(*map(np.asarray, arrays))


def compile_module(module: GraphModule, **options: Any) -> Program:
    """`module.compile(**options)`."""
    return Program(module, **options)


def compile_joint(joint: JointModule, **options: Any) -> JointProgram:
    """`joint.compile(**options)`."""
    return JointProgram(joint, **options)


def _lines(x: Launch) -> tuple[str, ...]:
    sources = x.spec.sources if x.spec is not None else ()
    return tuple(dict.fromkeys(f"{s.location}: {s.text}" for s in sources if s.location))
