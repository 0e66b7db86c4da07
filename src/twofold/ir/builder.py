"""Writes nodes into a graph: canonical attributes, inferred types, names, and the order of effects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from twofold.ir import dims
from twofold.ir.constant import ArrayAttr, constant
from twofold.ir.effects import token
from twofold.ir.graph import Graph, Node, Region, Source, Value, tensor_symbols
from twofold.ir.op import Op
from twofold.ir.types import TensorType, Type, scalar_type
from twofold.support.errors import ArgumentError, GraphError, TwofoldError

NUMBERS = (bool, int, float)


class Builder:
    """Appends to one graph. `region` is where nodes go: the graph, or the body opened by `inside`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.region: Region = graph
        self._sink: list[Node] = graph.nodes
        self.source: Source | None = None
        self._paths: dict[str, Value] = {}

    # --- inputs and outputs

    def input(self, type: Type, name: str = "input") -> Value:
        """A new input of the current region."""
        if isinstance(type, TensorType) and not type.is_static:
            self.graph.declare_symbols(type)
        value = Value(type, self.graph.unique_name(name), region=self.region)
        self.region.inputs.append(value)
        return value

    def binding(self, type: Type, path: str) -> Value:
        """An input of the graph that stands for the closed-over tensor `path`; the same path gives the same value."""
        bindings = self.graph.bindings
        if len(self._paths) != len(bindings):
            self._paths = {known: v for v, known in bindings.items()}
        found = self._paths.get(path)
        if found is not None and bindings.get(found) == path:
            return found
        value = Value(type, self.graph.unique_name(path.replace(".", "_")), region=self.graph)
        if isinstance(type, TensorType) and not type.is_static:
            self.graph.declare_symbols(type)
        self.graph.inputs.append(value)
        bindings[value], self._paths[path] = path, value
        return value

    def output(self, *values: Any) -> None:
        """Set the outputs of the current region: Values, Python numbers or None."""
        for v in values:
            if type(v) is Value:
                self._check(v, "output")
            elif v is not None and type(v) not in NUMBERS:
                raise GraphError(f"graph {self.graph.name}: an output must be a value, a Python number or None, not {type(v).__name__}")
        self.region.outputs = list(values)

    def constant(self, array: Any, name: str = "constant", source: Source | None = None) -> Value:
        """A node that holds a copy of an array."""
        return self.call(constant, (), {"value": ArrayAttr(np.asarray(array))}, source, name=name)

    # --- nodes

    def call(
        self,
        op: Op,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any] | None = None,
        source: Source | None = None,
        regions: Sequence[Region] = (),
        name: str = "",
    ) -> Any:
        """Append an application of `op`; its output Value, or a tuple of them where the record has several.

        inputs: one for each tensor parameter (Value, Python number, None, or a sequence of Values for ``Tensor[]``). Raises ArgumentError,
        ShapeError and the like from the record, and GraphError for values of another graph or not visible here.
        """
        node, types, several = self.prepare(op, inputs, attributes or {}, source, regions)
        node.outputs = tuple(
            Value(self._settled(t), self.graph.unique_name(base), node, i)
            for i, (t, base) in enumerate(zip(types, output_names(op, len(types), name), strict=True))
        )
        node.region = self.region
        self._sink.append(node)
        return node.outputs if several else node.outputs[0]

    def prepare(
        self, op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any], source: Source | None, regions: Sequence[Region] = ()
    ) -> tuple[Node, tuple[Any, ...], bool]:
        """A node without outputs, its inferred output types, and whether the operation returns a tuple. Nothing is appended."""
        if len(inputs) != len(op.inputs):
            if len(inputs) > len(op.inputs) or not all(p.optional for p in op.inputs[len(inputs) :]):
                raise ArgumentError(f"{op.name}() takes {len(op.inputs)} tensor operands, {len(inputs)} were given")
            inputs = (*inputs, *(None,) * (len(op.inputs) - len(inputs)))
        types: list[Any] = []
        operands: list[Any] = []
        for p, x in zip(op.inputs, inputs, strict=True):
            kind = type(x)
            if kind is Value and not p.many:
                self._check(x, op.name)
                types.append(x.type)
            else:
                x, t = self._operand(op, p, x)
                types.append(t)
            operands.append(x)
        in_types = tuple(types)
        canonical = op.canonical(in_types, dict(attributes)) if op.attributes or attributes else {}
        result = infer_types(op, in_types, canonical, tuple(regions))
        several = type(result) is tuple
        if source is None:
            source = self.source
        return Node(op, tuple(operands), canonical, tuple(regions), source), (result if several else (result,)), several

    def _operand(self, op: Op, p: Any, x: Any) -> tuple[Any, Any]:
        if p.many:
            if not isinstance(x, (list, tuple)):
                raise ArgumentError(f"{op.name}(): {p.name} must be a sequence of tensors, not {type(x).__name__}")
            for v in x:
                if type(v) is not Value:
                    raise ArgumentError(f"{op.name}(): {p.name} must hold tensors only, not {type(v).__name__}")
                self._check(v, op.name)
            return tuple(x), tuple(v.type for v in x)
        if x is None:
            if not p.optional:
                raise ArgumentError(f"{op.name}(): {p.name} must be a tensor, not None")
            return None, None
        if type(x) in NUMBERS:
            return x, scalar_type(type(x))
        raise ArgumentError(f"{op.name}(): {p.name} must be a value of the graph or a Python number, not {type(x).__name__}")

    def _check(self, v: Value, where: str) -> None:
        """Is `v` defined in the current region or one around it?"""
        home = v.region
        region: Region | None = self.region
        if home is region:
            return
        while region is not None:
            if home is region:
                return
            region = region.parent
        other = v.graph
        if other is None:
            raise GraphError(f"{where}: {v.name} belongs to no graph (its node was erased, or never appended)")
        if other is not self.graph:
            raise GraphError(
                f"{where}: {v.name} is a value of graph {other.name!r} ({v.type}), but the node is written into graph {self.graph.name!r}; "
                "values of two graphs do not mix: pass it in as an input"
            )
        raise GraphError(
            f"{where}: {v.name} is defined inside a body of graph {other.name!r} and not visible outside it; return it from the body"
        )

    def _settled(self, t: Any) -> Any:
        """A type whose data-dependent symbols have names of this graph."""
        if type(t) is not TensorType or t.is_static:
            return t
        env: dict[str, Any] = {}
        for s in tensor_symbols(t):
            if s.is_unnamed and s.name not in env:
                n = len(env) + sum(k.is_fresh for k in self.graph.symbols().values())
                while f"u{n}" in self.graph.symbols():
                    n += 1
                env[s.name] = dims.renamed(s, f"u{n}")
        if env:
            t = t.with_shape(tuple(n if type(n) is int else n.substitute(env) for n in t.shape))
        self.graph.declare_symbols(t)
        return t

    # --- effects

    def effect(self, op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any] | None = None, source: Source | None = None) -> Any:
        """Append an operation with an effect: the current token goes in before `inputs`, and its last output becomes the token.

        Returns what the operation returns besides the token: None, a Value or a tuple.
        """
        result = self.call(op, (self.current_token(source), *inputs), attributes, source)
        values = result if type(result) is tuple else (result,)
        self.region.token = values[-1]
        rest = values[:-1]
        return None if not rest else rest[0] if len(rest) == 1 else rest

    def current_token(self, source: Source | None = None) -> Value:
        """The last effect of the current region; begins a chain where there is none."""
        if self.region.token is None:
            self.region.token = self.call(token, (), {}, source)
        return self.region.token

    # --- where nodes go

    @contextmanager
    def inside(self, region: Region) -> Iterator[Region]:
        """Write into a body meanwhile."""
        before = self.region, self._sink
        self.region, self._sink = region, region.nodes
        try:
            yield region
        finally:
            self.region, self._sink = before

    @contextmanager
    def into(self, region: Region, sink: list[Node]) -> Iterator[None]:
        """Collect new nodes of `region` in a list of the caller's, who puts them in place."""
        before = self.region, self._sink
        self.region, self._sink = region, sink
        try:
            yield
        finally:
            self.region, self._sink = before

    @contextmanager
    def before(self, node: Node) -> Iterator[None]:
        """Write before `node`, in its region."""
        region = node.region
        if region is None or region.graph is not self.graph:
            raise GraphError(f"{node.name} is not a node of graph {self.graph.name}")
        sink: list[Node] = []
        with self.into(region, sink):
            yield
        index = region.nodes.index(node)
        region.nodes[index:index] = sink

    def body(self, types: Sequence[Type], names: Sequence[str], build: Callable[..., Any]) -> Region:
        """A region of the given input types, filled by `build(*inputs)`, which returns the outputs (a Value or a sequence)."""
        region = Region(self.region)
        with self.inside(region):
            inputs = [self.input(t, n) for t, n in zip(types, names, strict=True)]
            result = build(*inputs)
            self.output(*(result if isinstance(result, (list, tuple)) else (result,)))
        return region


def infer_types(op: Op, types: tuple[Any, ...], attributes: dict[str, Any], regions: tuple[Region, ...]) -> Any:
    """`op.infer`, with the regions handed to the type rule as `regions` where the record has some. Faults of a rule become GraphError."""
    if op.regions:
        attributes = {**attributes, "regions": regions}
    elif regions:
        raise GraphError(f"{op.name} has no regions")
    try:
        return op.infer(types, attributes)
    except TwofoldError:
        raise
    except Exception as e:
        raise GraphError(f"the type rule of {op.name} failed: {type(e).__name__}: {e}") from e


def output_names(op: Op, count: int, name: str = "") -> list[str]:
    """Base names of the outputs: the operation's name, with the output's own name (or number) where there are several."""
    base = name or op.name
    named = op.signature.outputs
    if count == 1 and not op.signature.variable_outputs:
        return [base]
    if op.signature.variable_outputs or len(named) != count:
        return [f"{base}_{i}" for i in range(count)]
    return [f"{base}_{o.name}" if o.name else base for o in named]
