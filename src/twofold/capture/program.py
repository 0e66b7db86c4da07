"""Program: a compiled graph module, called like the function it was recorded from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.capture.aot import JointModule
from twofold.capture.arguments import argument_arrays
from twofold.capture.calling import Calls
from twofold.capture.graph_module import GraphModule
from twofold.capture.inspection import Inspection, blame_with
from twofold.compiler.executable import Executable
from twofold.compiler.pipeline import Compilation, compile_graph
from twofold.compiler.verifying import VerifiedExecutable
from twofold.ir.graph import Graph
from twofold.runtime.target import why_not_here


class Program(Inspection):
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

    def _given(self) -> Graph:
        return self.module.graph

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        return argument_arrays(self.module, args, kwargs)


class JointProgram(JointModule, Inspection):
    """A compiled joint graph: called like the `JointModule`, with forward and backward in one native program."""

    def __init__(self, joint: JointModule, **options: Any) -> None:
        super().__init__(joint.graph, joint.forward_module, joint.tangents, joint._gradients_of)
        self.executable, self.compilation = compile_graph(joint.graph, **options)
        if self.compilation.options.verify:
            self.executable = VerifiedExecutable(self.executable, joint.graph, blame_with(options))
        self._on_arrays = self.executable.function()

    def _given(self) -> Graph:
        return self.graph

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        """`tangents` may be among the keywords, as in a call."""
        return self.arrays_of(args, {k: v for k, v in kwargs.items() if k != "tangents"}, kwargs.get("tangents"))

    def run_arrays(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The joint graph's outputs for arrays in the order of its inputs."""
        return self._on_arrays(*map(np.asarray, arrays))


def compile_module(module: GraphModule, **options: Any) -> Program:
    """`module.compile(**options)`."""
    return Program(module, **options)


def compile_joint(joint: JointModule, **options: Any) -> JointProgram:
    """`joint.compile(**options)`."""
    return JointProgram(joint, **options)
