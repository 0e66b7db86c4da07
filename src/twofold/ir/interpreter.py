"""Runs a graph over NumPy arrays, node by node: the reference for every other way to run it.

Subclass `Interpreter` and override a method a node kind to run a graph over something else, or to look at values on the way: `input`,
`call_op`, `constant`, `cond`, `while_loop`, `output`. Values are dropped after their last use. An error raised inside gets a note that
names the node, its operation and the user's line. Long graphs need no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from twofold.ir.dims import Dim
from twofold.ir.graph import Graph, Node, Region, Value, attribute_key, free_values, input_types, tensor_symbols
from twofold.ir.run import make_kernel
from twofold.ir.types import TensorType, scalar_type, type_of
from twofold.support.errors import ArgumentError, DeviceError, GuardError, ShapeError, UnsupportedError

PLAIN, MIXED = 0, 1
RunRegion = Callable[[Region, "list[Any]"], "list[Any]"]


class _Step:
    """What is known of a node before it runs."""

    __slots__ = ("binds", "dead", "kind", "node", "symbolic")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.kind = PLAIN if all(type(x) is Value for x in node.inputs) else MIXED
        self.symbolic = any(map(_has_dim, node.attributes.values()))
        self.binds = any(type(v.type) is TensorType and not v.type.is_static for v in node.outputs)
        self.dead: tuple[Value, ...] = ()


def _has_dim(value: Any) -> bool:
    return type(value) is Dim or (type(value) is tuple and any(map(_has_dim, value)))


def _evaluated(value: Any, env: Mapping[str, int]) -> Any:
    """An attribute with its symbolic dimensions replaced by their values."""
    if type(value) is Dim:
        return value.evaluate(env)
    return tuple(_evaluated(v, env) for v in value) if type(value) is tuple else value


class Interpreter:
    """Runs `graph`. One interpreter may run many times, also in several threads at once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._steps: dict[Region, list[_Step]] = {}
        self._unused: dict[Region, tuple[Value, ...]] = {}
        self._kernels: dict[Node, Callable[..., Any]] = {}
        self._shared: dict[Any, Callable[..., Any]] = {}
        self._arguments = [v for v in graph.inputs if v not in graph.bindings]
        for region in graph.regions():
            self._plan(region)

    def _plan(self, region: Region) -> None:
        """Steps with the values that are dead after each (of this region: those of enclosing ones may be used again)."""
        steps = [_Step(node) for node in region.nodes]
        mine = set(region.inputs)
        for node in region.nodes:
            mine.update(node.outputs)
        seen = set(region.output_values())
        for step in reversed(steps):
            used = list(step.node.operands())
            for r in step.node.regions:
                used += free_values(r)
            dead = []
            for v in (*used, *step.node.outputs):
                if v not in seen:
                    seen.add(v)
                    if v in mine:
                        dead.append(v)
            step.dead = tuple(dead)
        self._steps[region] = steps
        self._unused[region] = tuple(v for v in region.inputs if v not in seen)

    # --- running

    def run(self, *arrays: Any, bindings: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """The outputs for these inputs, a tuple.

        arrays:   one for each input that is not a binding; or, with no `bindings`, one for every input in the graph's order
        bindings: the arrays of bindings by path. Raises GuardError or ShapeError for arrays that do not fit the input types.
        """
        with np.errstate(all="ignore"):
            return self._run(arrays, bindings)

    def _run(self, arrays: tuple[Any, ...], bindings: Mapping[str, Any] | None) -> tuple[Any, ...]:
        graph = self.graph
        given = dict(zip(self._inputs(arrays, bindings), arrays, strict=True))
        if bindings is not None:
            for v, path in graph.bindings.items():
                if path not in bindings:
                    raise ArgumentError(f"graph {graph.name}: no array for the binding {path!r}")
                given[v] = bindings[path]
        converted = [self.input(v, given[v]) for v in graph.inputs]
        symbols = solve_symbols(graph, converted)
        values: dict[Value, Any] = {}

        def run_region(region: Region, inputs: list[Any]) -> list[Any]:
            return self._run_region(region, inputs, values, symbols, run_region)

        return self.output(tuple(run_region(graph, converted)))

    def _inputs(self, arrays: tuple[Any, ...], bindings: Mapping[str, Any] | None) -> list[Value]:
        expected = self._arguments if bindings is not None else self.graph.inputs
        if len(arrays) != len(expected):
            names = ", ".join(v.name for v in expected) or "none"
            extra = f" (bindings by path: {', '.join(self.graph.bindings.values())})" if self.graph.bindings else ""
            raise ArgumentError(f"graph {self.graph.name} takes {len(expected)} inputs ({names}), {len(arrays)} were given{extra}")
        return expected

    def _run_region(
        self, region: Region, inputs: list[Any], values: dict[Value, Any], symbols: dict[str, int], run_region: RunRegion
    ) -> list[Any]:
        values.update(zip(region.inputs, inputs, strict=True))
        del inputs
        for v in self._unused[region]:
            del values[v]
        for step in self._steps[region]:
            node = step.node
            if step.kind == PLAIN:
                operands = [values[v] for v in node.inputs]
            else:
                operands = [values[x] if type(x) is Value else [values[v] for v in x] if type(x) is tuple else x for x in node.inputs]
            try:
                result = self._one(step, operands, symbols, run_region)
                if len(node.outputs) != 1 or type(result) is tuple or type(result) is list:
                    if len(result) != len(node.outputs):
                        raise ShapeError(f"{node.op.name} returned {len(result)} results, its node has {len(node.outputs)} outputs")
                    for v, r in zip(node.outputs, result, strict=True):
                        values[v] = r
                else:
                    values[node.outputs[0]] = result
                if step.binds:
                    bind_results(node, [values[v] for v in node.outputs], symbols)
            except Exception as e:
                e.add_note(describe(node))
                raise
            del operands, result
            for v in step.dead:
                del values[v]
        result = [values[x] if type(x) is Value else x for x in region.outputs]
        if region is not self.graph:
            for v in set(region.output_values()):
                if v.region is region:
                    del values[v]
        return result

    def _one(self, step: _Step, operands: list[Any], symbols: dict[str, int], run_region: RunRegion) -> Any:
        node = step.node
        name = node.op.name
        if name == "constant":
            return self.constant(node)
        if node.op.regions:
            method = getattr(self, name, None)
            if method is None:
                raise UnsupportedError(f"the interpreter does not know how to run {name}: give it a method of that name")
            return method(node, operands, run_region)
        attributes = node.attributes
        if step.symbolic:
            attributes = {k: _evaluated(v, symbols) for k, v in attributes.items()}
        return self.call_op(node, operands, attributes)

    # --- one method a node kind

    def input(self, value: Value, array: Any) -> Any:
        """What stands for an input: here the array itself, checked; a Python number is made an array."""
        t = value.type
        if type(t) is not TensorType:
            return array
        if t.device == "meta":
            raise DeviceError(f"input {value.name} is on device 'meta' (shapes without data): the graph cannot be run")
        if not hasattr(array, "dtype"):
            array = np.asarray(array, dtype=t.dtype.numpy)
        got = type_of(array)
        if got.dtype is not t.dtype:
            raise GuardError(f"input {value.name}: the graph was made for {t.dtype.name}, the array is {got.dtype.name}")
        return array

    def call_op(self, node: Node, inputs: list[Any], attributes: dict[str, Any]) -> Any:
        """Run an operation. `inputs` has an entry for each tensor parameter (a list for ``Tensor[]``); sizes in `attributes` are ints."""
        kernel = self._kernels.get(node)
        if kernel is None or attributes is not node.attributes:
            kernel = self._kernel(node, attributes)
        return kernel(*inputs)

    def _kernel(self, node: Node, attributes: dict[str, Any]) -> Callable[..., Any]:
        """A kernel for the node, shared by nodes of the same operation, types and attributes."""
        types = tuple(v.type for v in node.outputs)
        in_types = input_types(node.inputs, scalar_type)
        key: Any = None
        try:
            key = (node.op, in_types, types, tuple(map(attribute_key, attributes.values())))
            kernel = self._shared.get(key)
        except TypeError:  # an attribute of kind `any` that is not hashable
            kernel = None
        if kernel is None:
            kernel = make_kernel(node.op, in_types, types if node.op.several else types[0], attributes)
            if key is not None and attributes is node.attributes:
                self._shared[key] = kernel
        if attributes is node.attributes:
            self._kernels[node] = kernel
        return kernel

    def constant(self, node: Node) -> Any:
        """The array of a constant node (read-only)."""
        return node.attributes["value"].array

    def cond(self, node: Node, inputs: list[Any], run_region: RunRegion) -> list[Any]:
        """Run the one body the predicate picks. `inputs` is [predicate, [operands]]."""
        predicate, operands = inputs
        return run_region(node.regions[0 if bool(predicate) else 1], operands)

    def while_loop(self, node: Node, inputs: list[Any], run_region: RunRegion) -> list[Any]:
        """Run the second body while the first one says so. `inputs` is [[operands]]."""
        carried = list(inputs[0])
        test, body = node.regions
        while bool(run_region(test, list(carried))[0]):
            carried = run_region(body, carried)
        return carried

    def output(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The graph's results."""
        return values


def describe(node: Node) -> str:
    """The note on an error: node, operation, types and the user's line."""
    operands = ", ".join(f"{v.name}: {v.type}" for v in node.operands())
    text = f"in node {node.name} = {node.op.name}({operands})"
    if node.source is not None and (place := node.source.full_location):
        line = node.source.text
        text += f", from {place}" + (f": {line}" if line else "") + (f" (module {node.source.module})" if node.source.module else "")
    return text


def solve_symbols(graph: Graph, arrays: list[Any]) -> dict[str, int]:
    """The values of symbolic dimensions for actual inputs, and a check of all shapes.

    An input dimension that is a bare symbol gives its value; the others must agree. Raises ShapeError (another number of dimensions, a size
    that differs) and GuardError (a size outside the symbol's bounds), naming input and dimension.
    """
    symbols: dict[str, int] = {}
    later = []
    for v, array in zip(graph.inputs, arrays, strict=True):
        t = v.type
        if type(t) is not TensorType:
            continue
        shape = array.shape
        if shape == t.shape:
            continue
        if len(shape) != t.ndim:
            raise ShapeError(f"input {v.name}: the graph takes {t}, the array has {len(shape)} dimension(s): {tuple(shape)}")
        for i, (want, got) in enumerate(zip(t.shape, shape, strict=True)):
            if type(want) is int:
                if want != got:
                    raise ShapeError(f"input {v.name}, dimension {i}: the graph takes {want}, the array has {got} (shape {tuple(shape)})")
            elif want.is_symbol:
                _bind(symbols, want, int(got), f"input {v.name}, dimension {i}")
            else:
                later.append((v, i, want, int(got)))
    for v, i, want, got in later:
        if any(s.name not in symbols for s in want.symbols()):
            raise GuardError(
                f"input {v.name}, dimension {i}: {want} cannot be solved: no input has its symbols as a dimension of their own"
            )
        if (value := want.evaluate(symbols)) != got:
            raise ShapeError(f"input {v.name}, dimension {i}: {want} is {value} for {symbols}, the array has {got}")
    return symbols


def _bind(symbols: dict[str, int], dim: Dim, value: int, where: str) -> None:
    known = symbols.setdefault(dim.name, value)
    if known != value:
        raise ShapeError(f"{where}: {dim} is {value} here and {known} in another input: they must be equal")
    lo, hi = dim.bounds
    if (lo is not None and value < lo) or (hi is not None and value > hi):
        raise GuardError(f"{where}: {value} is outside the bounds of {dim} ({'-∞' if lo is None else lo} to {'∞' if hi is None else hi})")


def bind_results(node: Node, results: list[Any], symbols: dict[str, int]) -> None:
    """Give data-dependent sizes their values once the operation that decides them has run."""
    for v, array in zip(node.outputs, results, strict=True):
        for i, s in enumerate(v.type.shape if type(v.type) is TensorType else ()):
            if type(s) is Dim and s.is_fresh:
                if _defines(node, s):
                    symbols.pop(s.name, None)
                _bind(symbols, s, int(array.shape[i]), f"{node.name}, dimension {i}")


def _defines(node: Node, s: Dim) -> bool:
    """True if the size first appears in this node's outputs (a loop runs it again with another size)."""
    return not any(s == t for v in node.operands() for t in tensor_symbols(v.type))
