"""`trace`: record a function or module by calling it once with symbols."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.capture.graph_module import Alias, GraphModule, InputSpec, Layout, Result, Watched, WriteBack, find, signature_of
from twofold.capture.trace.check import check_against_eager
from twofold.capture.trace.inputs import argument_names, dynamic_types, positional_names, split_examples
from twofold.capture.trace.names import modules_around, names_around
from twofold.capture.trace.state import ModuleState
from twofold.ir.graph import Graph, Value
from twofold.ir.mode import RECORDER
from twofold.ir.passes import dce
from twofold.ir.types import TensorType
from twofold.nn.module import Module
from twofold.support.errors import ArgumentError, TraceError
from twofold.support.pytree import TreeSpec, tree_flatten, tree_unflatten
from twofold.tape.versions import root_of
from twofold.tensors.alias import base_of
from twofold.tensors.combining import matrix_trace
from twofold.tensors.core import Symbol, Tensor, memory
from twofold.tensors.random import default_generator
from twofold.tensors.recorder import Recorder, Regroup, Storage, overlapping

ATTEMPTS = 8
"""Recordings tried: each one more finds inputs that share memory with a written one."""


def trace(
    fn: Callable[..., Any],
    example_inputs: Any = (),
    specialize: bool = False,
    check: bool = True,
    dynamic_shapes: Any = None,
    name: str | None = None,
) -> GraphModule:
    """Record `fn` (a function or an nn.Module) as a static graph by calling it once with symbols in place of the tensors.

    example_inputs: a tuple of arguments, a dict of keyword arguments, or one argument; containers of tensors are allowed.
    specialize: where Python needs a value (a branch, `int()`, `.item()`), use the example's and record what follows from it; without it
    such Python
        raises TraceError.  check: compare graph and function on perturbed inputs (integers kept); state is restored.
    dynamic_shapes: {argument: {dimension: name or Dim}}: dimensions that may vary.

    Tensors that `fn` closes over become bindings, by reference. Buffers and arguments it writes are written back by the graph.
    Raises TraceError, GraphError, or InplaceError (kind input_alias) where a call cannot be recorded.
    """
    given: Any = fn
    if isinstance(given, Tensor):  # torch.trace of a matrix
        return matrix_trace(given)  # type: ignore[return-value]
    if not callable(fn):
        raise ArgumentError(f"trace needs a function or module, not {type(fn).__name__}")
    if RECORDER.get() is not None:
        raise TraceError("trace inside a recorded function: record the outer function alone")
    args, kwargs = split_examples(example_inputs)
    recording = Recording(fn, args, kwargs, specialize, dynamic_shapes, name or _name_of(fn))
    try:
        module = recording.run()
    finally:
        for recorder in recording.recorders:
            recorder.closed = True
    for note in module.notes:
        warnings.warn(f"trace(specialize=True): {note}", UserWarning, stacklevel=2)
    if isinstance(fn, Module):
        module.training = fn.training
    if check:
        check_against_eager(module, fn, args, kwargs, perturb=not specialize)
    return module


def _name_of(fn: Any) -> str:
    text = type(fn).__name__ if isinstance(fn, Module) else getattr(fn, "__name__", type(fn).__name__)
    return text if text.isidentifier() else "forward"


class Recording:
    """One call of `trace`."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], specialize: bool, dynamic_shapes: Any, name: str) -> None:
        self.fn, self.args, self.kwargs, self.specialize, self.name = fn, args, kwargs, specialize, name
        self.leaves, self.in_spec = tree_flatten((args, kwargs))
        for leaf in self.leaves:
            if isinstance(leaf, Symbol):
                raise TraceError("example inputs must be concrete tensors, not symbols")
            if isinstance(leaf, np.ndarray):
                raise ArgumentError("an example input is a NumPy array: make it a tensor with twofold.from_numpy(array)")
        target = fn.forward if isinstance(fn, Module) else fn
        self.names = argument_names(target, args, kwargs)
        self.positional = positional_names(target)[: len(args)]
        self.types = dynamic_types(dynamic_shapes, args, kwargs, self.names, self.leaves)
        self.paths = names_around(fn)
        for t, path in ((default_generator()._state, "generator.state"),):
            self.paths.setdefault(id(t), path)
        self.recorders: list[Recorder] = []
        self.used: set[str] = set()
        self.chosen: dict[int, str] = {}

    def name_of(self, t: Tensor) -> str:
        """The binding path of a closed-over tensor."""
        if id(t) not in self.chosen:
            path = self.paths.get(id(t), "")
            if not path or path in self.used:
                n = 0
                while f"tensor_{n}" in self.used:
                    n += 1
                path = f"tensor_{n}"
            self.used.add(path)
            self.chosen[id(t)] = path
        return self.chosen[id(t)]

    def run(self) -> GraphModule:
        """Record, again if a written storage turns out to be shared by several inputs."""
        bindings: list[Tensor] = []
        grouped: set[int] = set()
        for _ in range(ATTEMPTS):
            try:
                recorder, results, out_spec = self.record(bindings, grouped)
                more = self.shared_writes(recorder) - grouped
            except Regroup as again:
                recorder, more = again.recorder, again.roots
            arguments = {id(t) for t in self.leaves if isinstance(t, Tensor)}
            bindings = [t for t in dict.fromkeys(recorder.lifted) if id(t) not in arguments]
            if not more:
                return self.finish(recorder, results, out_spec)
            grouped |= more
        raise TraceError(f"{self.name}: which inputs share memory changes with every recording")

    def shared_writes(self, recorder: Recorder) -> set[int]:
        """Roots that were written and are shared by inputs, or overlap themselves."""
        found = set()
        for _, storage in recorder.inputs:
            if not storage.written or storage.source is None:
                continue
            root = id(root_of(memory(storage.source[0])))
            if len({id(t) for t in recorder.roots[root]}) > 1 or overlapping(storage.families[0], ()):
                found.add(root)
        return found

    def record(self, bindings: list[Tensor], grouped: set[int]) -> tuple[Recorder, list[Any], TreeSpec]:
        """Call the function once with symbols."""
        recorder = Recorder(Graph(self.name), self.name_of, self.specialize)
        self.recorders.append(recorder)
        for root in modules_around(self.fn):
            for path, module in root.named_modules():
                recorder.module_paths.setdefault(id(module), path)
        declared: list[tuple[Tensor, str, bool, TensorType | None]] = []
        for i, leaf in enumerate(self.leaves):
            if isinstance(leaf, Tensor):
                declared.append((leaf, self.names[i], False, self.types.get(i)))
        declared += [(t, self.name_of(t), True, None) for t in bindings]
        recorder.declare(declared, grouped)
        if self.specialize:
            for value, storage in recorder.inputs:
                self.remember_example(recorder, value, storage)
            recorder.on_input = lambda value, storage: self.remember_example(recorder, value, storage)
        symbols = [recorder.symbols[id(t)] if isinstance(t, Tensor) else t for t in self.leaves]
        args, kwargs = tree_unflatten(symbols, self.in_spec)
        state = ModuleState(self.fn)
        try:
            with recorder.recording():
                result = self.fn(*args, **kwargs)
                state.restore()
                leaves, out_spec = tree_flatten(result)
                results = [recorder.lift(t) if isinstance(t, Tensor) else t for t in leaves]
        finally:
            state.put_back()
        return recorder, results, out_spec

    @staticmethod
    def remember_example(recorder: Recorder, value: Value, storage: Storage) -> None:
        source = storage.source
        assert source is not None
        t = source[0]
        entered = base_of(t) if source[1] else t
        recorder.examples[value] = np.array(memory(entered))

    def finish(self, recorder: Recorder, results: list[Any], out_spec: TreeSpec) -> GraphModule:
        """Choose the graph's outputs and describe how they become results."""
        plan = Outputs(recorder)
        with recorder.recording():
            specs = [plan.result(r) for r in results]
            writes = plan.write_backs()
            specs = [plan.aliased(s, r) for s, r in zip(specs, results, strict=True)]
        recorder.builder.output(*plan.values)
        dce(recorder.graph)
        arguments = {id(t): i for i, t in reversed(list(enumerate(self.leaves))) if isinstance(t, Tensor)}
        inputs: list[InputSpec] = []
        for value, storage in recorder.inputs:
            assert storage.source is not None
            t, whole = storage.source
            leaf = arguments.get(id(t))
            path = None if leaf is not None else recorder.graph.bindings.get(value, self.name_of(t))
            inputs.append(InputSpec(value, leaf, path, whole, storage.reordered))
        order = {id(v): k for k, v in enumerate(recorder.graph.inputs)}
        assert [order[id(v)] for v, _ in recorder.inputs] == list(range(len(recorder.inputs))), "inputs are recorded in the graph's order"
        constants = {i: v for i, v in enumerate(self.leaves) if not isinstance(v, Tensor)}
        watched, bound = self.watched(recorder, arguments)
        signature = signature_of([find(w, self.leaves, bound) for w in watched])
        layout = Layout(
            self.in_spec, constants, tuple(inputs), tuple(specs), out_spec, tuple(writes), tuple(watched), signature, self.positional
        )
        return GraphModule(recorder.graph, layout, bound, self.name, tuple(dict.fromkeys(recorder.specialized)))

    def watched(self, recorder: Recorder, arguments: dict[int, int]) -> tuple[list[Watched], dict[str, Tensor]]:
        """The tensors a call is checked for: every argument and closed-over tensor, also those that entered through a base they share; the
        latter by path.
        """
        found = [Watched(i, None, self.names[i], self.types.get(i, t._type)) for i, t in enumerate(self.leaves) if isinstance(t, Tensor)]
        bound = {self.name_of(t): t for t in recorder.lifted if id(t) not in arguments}
        return found + [Watched(None, path, path, t._type) for path, t in bound.items()], bound


class Outputs:
    """The graph's outputs in the making: the returned values first, then written inputs, then bases of returned views that share memory."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.values: list[Any] = []
        self.numbers: dict[Storage, int] = {s: k for k, (_, s) in enumerate(recorder.inputs)}
        self.returned: dict[Storage, int] = {}

    def add(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def result(self, r: Any) -> Result:
        """The logical value of one returned leaf."""
        if not isinstance(r, Symbol):
            return Result(None, r)
        storage = r._family.storage
        self.returned[storage] = self.returned.get(storage, 0) + 1
        return Result(self.add(self.recorder.read(r)))

    def write_backs(self) -> list[WriteBack]:
        """The new values of written inputs."""
        found = []
        for k, (_, storage) in enumerate(self.recorder.inputs):
            if storage.written:
                found.append(WriteBack(k, self.add(storage.families[0].value), storage.gradwrite))
        return found

    def aliased(self, spec: Result, r: Any) -> Result:
        """The result with its sharing of memory, where something else sees it."""
        if not isinstance(r, Symbol):
            return spec
        family = r._family
        storage = family.storage
        number = self.numbers.get(storage)
        if number is None and self.returned[storage] == 1 and len(storage.families) == 1:
            return spec
        top = storage.families[0]
        base = None if number is not None else self.index_of(top.value)
        history = None if family is top else self.index_of(family.value)
        return Result(spec.output, None, Alias(number, base, r._chain, family.root_chain, history, r._nograd))

    def index_of(self, value: Value) -> int:
        for k, v in enumerate(self.values):
            if v is value:
                return k
        return self.add(value)
