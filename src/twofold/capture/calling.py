"""How a compiled graph is called: by a builtin function where the call is an ordinary one, with care where it is not.

An ordinary call gives, by position, tensors (or arrays) of exactly the recorded types, in C order, outside of any recording, and wants no
gradient. A graph that writes its arguments, takes or returns nested containers, or returns views of its inputs, is always called with care.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from twofold.capture.graph_module import GraphModule, InputSpec, Layout, Watched, check_signature, reorder
from twofold.capture.reuse import OutputBuffers, StaleArray
from twofold.compiler.executable import Executable
from twofold.ir.mode import GRAD, MODE, RECORDER, grad_enabled
from twofold.runtime.builtin import (
    ARGUMENT,
    BOUND,
    CONSTANT,
    EITHER,
    LEAF,
    PLAIN,
    RESULT_ONE,
    RESULT_TUPLE,
    BufferSpec,
    LeafSpec,
    Signature,
    TensorClass,
    make_call,
    make_into,
)  # fmt: skip
from twofold.support.errors import ArgumentError, AutogradError, InplaceError
from twofold.support.pytree import tree_map
from twofold.tape.versions import stamp
from twofold.tensors.alias import Alias
from twofold.tensors.core import Symbol, Tensor, memory, wrap
from twofold.tensors.dispatch import user_site
from twofold.tensors.nodes import AccumulateGrad

TENSORS = TensorClass(Tensor, Alias, AccumulateGrad, GRAD, MODE)

RUN_INTO_DOC = """run_into(outputs, *inputs)
--

Run into given arrays or tensors: `outputs` has one for each output of the graph, in order.

Outputs must fit exactly (dtype, shape, C order, writeable) and share no memory with an input or with each other: ArgumentError, DTypeError
or ShapeError otherwise. A program that writes its arguments is refused; so is, under grad mode, anything that requires grad."""


def refuse_gradients(name: str, tensors: Sequence[Tensor]) -> None:
    """AutogradError if gradients are wanted of the program `name`, which computes none."""
    if grad_enabled() and any(t._node is not None for t in tensors):
        raise AutogradError(
            f"{name}: a compiled program computes no gradients, and an input or a parameter requires grad; call it under "
            "twofold.no_grad(), or compile forward and backward together with twofold.aot(fn, …).compile()"
        )


@dataclass
class RecordedPrograms:
    """The programs called in the last recording of a block: how often, and how many nodes they wrote into its graph."""

    recorder: Any = None
    calls: int = 0
    nodes: int = 0

    def add(self, recorder: Any, nodes: int) -> None:
        """A program wrote `nodes` nodes. A recording may begin anew: then what the one before counted is forgotten."""
        if recorder is not self.recorder:
            self.recorder, self.calls, self.nodes = recorder, 0, 0
        self.calls += 1
        self.nodes += nodes


_PROGRAMS: ContextVar[RecordedPrograms | None] = ContextVar("twofold_recorded_programs", default=None)


@contextmanager
def counted_programs() -> Iterator[RecordedPrograms]:
    """Count the calls of compiled programs that are recorded in the block."""
    found = RecordedPrograms()
    token = _PROGRAMS.set(found)
    try:
        yield found
    finally:
        _PROGRAMS.reset(token)


class Calls:
    """The calls of one compiled graph. It does not know the functions it makes: no cycle keeps a program that nobody uses."""

    def __init__(self, module: GraphModule, executable: Executable) -> None:
        self.module, self.executable = module, executable
        self.native = executable.native(max(len(module.layout.watched), len(executable.inputs)))
        self.buffers = OutputBuffers(executable) if executable.options.reuse_outputs else None

    # --- with care

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program on arguments like the recorded ones. Raises GuardError for others."""
        module = self.module
        leaves = module.leaves_of(args, kwargs)
        recorder = RECORDER.get()
        if recorder is not None or any(isinstance(x, Symbol) for x in leaves):
            return self._recorded(recorder, args, kwargs)
        arrays_given = any(isinstance(x, np.ndarray) for x in leaves) and not any(isinstance(x, Tensor) for x in leaves)
        leaves = [wrap(x) if isinstance(x, np.ndarray) else x for x in leaves]
        tensors = module.match(leaves)
        refuse_gradients(module.name, tensors)
        sizes = check_signature(module.name, module.layout, leaves, module.bindings)
        reorder(module.name, module.layout, tensors, None)
        result = module.results(tensors, self._run(tensors), sizes)
        return tree_map(lambda x: memory(x) if isinstance(x, Tensor) else x, result) if arrays_given else result

    @cached_property
    def _on_arrays(self) -> Callable[..., tuple[Any, ...]]:
        """The executable, called on arrays in the order of the graph's inputs."""
        return self.executable.function()

    def _run(self, tensors: list[Tensor]) -> tuple[Any, ...]:
        """The graph's outputs for tensors in the order of its inputs."""
        executable = self.executable
        if self.buffers is None:
            return tuple(wrap(x) if isinstance(x, np.ndarray) else x for x in self._on_arrays(*map(memory, tensors)))
        inputs = [executable.prepared(memory(t), b) for t, b in zip(tensors, executable.inputs, strict=True)]
        arrays = self.buffers.take()
        executable.call(inputs, arrays)
        outputs = [wrap(x) for x in arrays]
        self.buffers.keep(arrays, outputs)
        return tuple(outputs[r] if type(r) is int else r[0] for r in executable.results)

    def _recorded(self, recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """While a graph is recorded, the program's graph is written into it."""
        counted = _PROGRAMS.get() if recorder is not None else None
        before = recorder.graph.count() if counted is not None else 0
        result = self.module(*args, **kwargs)
        if counted is not None:
            counted.add(recorder, recorder.graph.count() - before)
        return result

    def into(self, outputs: Sequence[Any], *inputs: Any) -> None:
        """`Program.run_into`."""
        module = self.module
        if module.layout.write_backs:
            raise ArgumentError(f"{module.name} writes its arguments: call the program itself")
        given = iter(inputs)
        expected = sum(spec.path is None for spec in module.layout.inputs)
        if len(inputs) != expected:
            raise ArgumentError(f"{module.name} takes {expected} inputs, {len(inputs)} were given")
        sources = [next(given) if spec.path is None else module.bindings[spec.path] for spec in module.layout.inputs]
        refuse_gradients(module.name, [x for x in sources if isinstance(x, Tensor)])
        written = [x for x in outputs if isinstance(x, Tensor)]
        if grad_enabled() and any(t._node is not None for t in written):
            raise InplaceError(f"{module.name}: an output requires grad: give memory that does not, or use twofold.no_grad()", "leaf")
        arrays = [memory(x) if isinstance(x, Tensor) else x for x in sources]
        self.executable.run_into([memory(x) if isinstance(x, Tensor) else x for x in outputs], *arrays)
        for t in written:
            stamp(memory(t), "run_into", *user_site())

    # --- as builtin functions

    def builtin_call(self) -> Callable[..., Any]:
        """What an ordinary call uses; it hands others to `call`."""
        executable = self.executable
        leaves, result = self._call_leaves(), self._result_kind()
        if leaves is None or result is None:
            return self.call
        outputs = [executable.buffer_spec(b) for b in executable.outputs]
        signature = Signature(leaves, outputs, len(self.module.layout.in_spec.children[0].children), TENSORS)
        stale = StaleArray(self.module.name) if self.buffers is not None else None
        return make_call(self.native, signature, self.call, result=result, stale=stale) or self.call

    def builtin_into(self) -> Callable[..., None]:
        """`Program.run_into`; what is out of the ordinary goes to `into`."""
        layout, executable = self.module.layout, self.executable
        if layout.write_backs or any(i.whole for i in layout.inputs):
            return self.into
        leaves, position = [], 0
        for spec, info in zip(layout.inputs, executable.inputs, strict=True):
            buffer = executable.buffer_spec(info)
            if spec.path is None:
                leaves.append(LeafSpec(ARGUMENT, position, gradient=EITHER, buffer=buffer))
                position += 1
            else:
                leaves.append(LeafSpec(BOUND, object=self.module.bindings[spec.path], gradient=EITHER, buffer=buffer))
        outputs = [executable.buffer_spec(b) for b in executable.outputs]
        return make_into(self.native, Signature(leaves, outputs, position, TENSORS), self.into, doc=RUN_INTO_DOC) or self.into

    def _call_leaves(self) -> list[LeafSpec] | None:
        """What the builtin function checks of a call; None where calls need more than it can check."""
        layout = self.module.layout
        positions = _flat_positions(layout)
        gradients = [_gradient(k, recorded) for k, recorded in enumerate(layout.signature)]
        if positions is None or None in gradients or layout.write_backs or any(i.whole for i in layout.inputs):
            return None
        buffers = {_source(i): self.executable.buffer_spec(b) for i, b in zip(layout.inputs, self.executable.inputs, strict=True)}
        leaves = [LeafSpec(CONSTANT, position, None) for position, leaf in enumerate(positions) if leaf is None]
        where = {leaf: position for position, leaf in enumerate(positions) if leaf is not None}
        leaves += [LeafSpec(CONSTANT, where[leaf], value) for leaf, value in layout.constants.items()]
        for w, gradient in zip(layout.watched, gradients, strict=True):
            assert gradient is not None
            buffer = buffers.get(_source(w)) or BufferSpec(w.type.dtype.numpy, w.type.shape, None)
            if w.leaf is not None:
                leaves.append(LeafSpec(ARGUMENT, where[w.leaf], gradient=gradient, buffer=buffer))
            else:
                assert w.path is not None
                leaves.append(LeafSpec(BOUND, object=self.module.bindings[w.path], gradient=gradient, buffer=buffer))
        return leaves

    def _result_kind(self) -> int | None:
        """How the outputs become what is returned: the only one, or a tuple of all of them in order; None if in another way."""
        layout, spec = self.module.layout, self.module.layout.out_spec
        in_order = [r.output for r in layout.results] == self.executable.results == list(range(len(self.executable.outputs)))
        if not in_order or any(r.alias is not None for r in layout.results):
            return None
        if spec.is_leaf:
            return RESULT_ONE
        return RESULT_TUPLE if spec.kind is tuple and all(child.is_leaf for child in spec.children) else None


def _source(spec: InputSpec | Watched) -> tuple[int | None, str | None]:
    return spec.leaf, spec.path


def _flat_positions(layout: Layout) -> list[int | None] | None:
    """For each positional argument the number of its leaf, None where the argument was None. No list if some argument is a container or
    was given by name."""
    positional, named = layout.in_spec.children
    if named.children:
        return None
    found: list[int | None] = []
    leaf = 0
    for child in positional.children:
        if child.is_leaf:
            found.append(leaf)
            leaf += 1
        elif child.kind is type(None):
            found.append(None)
        else:
            return None
    return found


def _gradient(k: int, recorded: tuple[Any, ...]) -> int | None:
    """How the tensor number k of a recorded signature takes part in gradients (see `signature_of`); None for one that is given twice,
    overlaps itself, is not in C order, or is the result of an operation that requires grad."""
    plain, base_plain, base_is_leaf, first, _, _, _, overlapping, strides = recorded
    if first != k or overlapping is not None or strides is not None:
        return None
    if plain and base_plain:
        return PLAIN
    return LEAF if not plain and not base_plain and base_is_leaf else None
