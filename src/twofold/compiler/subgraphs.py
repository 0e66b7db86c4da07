"""Parts of graphs as graphs of their own, for finding faults: cut out, with inputs where they were cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from twofold.ir.builder import Builder
from twofold.ir.graph import Graph, Node, Region, Value, copy_region, free_values
from twofold.ir.interpreter import Interpreter
from twofold.ir.types import TensorType


def needed(node: Node) -> Iterator[Value]:
    """The values a node reads, those its bodies read from outside included."""
    yield from node.operands()
    for r in node.regions:
        yield from free_values(r)


def subgraph(nodes: Iterable[Node], outputs: Sequence[Value], name: str = "part") -> tuple[Graph, list[Value]]:
    """A graph of copies of `nodes` (of one region, in order) that returns `outputs`; what they read from elsewhere are its inputs.

    Returns the graph and the values that its inputs stand for. Names, types and sources stay.
    """
    nodes = list(nodes)
    own = {v for n in nodes for v in n.outputs}
    outside = list(dict.fromkeys([v for n in nodes for v in needed(n) if v not in own] + [v for v in outputs if v not in own]))
    part = Region()
    part.nodes, part.outputs = nodes, list(outputs)
    result = Graph(name)
    values: dict[Value, Value] = {}
    for v in outside:
        result.claim_name(v.name)
        values[v] = Value(v.type, v.name, region=result)
        result.inputs.append(values[v])
    copy_region(part, result, values)
    for region in result.regions():
        for v in (*region.inputs, *(o for n in region.nodes for o in n.outputs)):
            result.claim_name(v.name)
    return result, outside


def live_outputs(nodes: Sequence[Node], region: Region) -> list[Value]:
    """The values of `nodes` that the region returns; if it returns none of them, those that none of them reads."""
    own = {v: None for n in nodes for v in n.outputs if isinstance(v.type, TensorType)}
    returned = [v for v in dict.fromkeys(region.output_values()) if v in own]
    if returned:
        return returned
    read = {v for n in nodes for v in needed(n)}
    return [v for v in own if v not in read]


def reachable(nodes: Iterable[Node], outputs: Iterable[Value]) -> list[Node]:
    """Those of `nodes` that `outputs` depend on, in order."""
    ordered = list(nodes)
    wanted = set(outputs)
    kept = []
    for n in reversed(ordered):
        if any(v in wanted for v in n.outputs):
            kept.append(n)
            wanted.update(needed(n))
    return kept[::-1]


class ValueRecorder(Interpreter):
    """An interpreter that keeps the value of every node of the graph itself (not of bodies): `values`."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.values: dict[Value, Any] = {}

    def record(self, arrays: Sequence[Any]) -> dict[Value, Any]:
        """All values for these inputs."""
        self.values = dict(zip(self.graph.inputs, arrays, strict=True))
        self.run(*arrays)
        return self.values

    def _one(self, step: Any, operands: list[Any], symbols: dict[str, int], run_region: Any) -> Any:
        result = super()._one(step, operands, symbols, run_region)
        node = step.node
        if node.region is self.graph:
            many = len(node.outputs) != 1 or type(result) in (tuple, list)
            self.values.update(zip(node.outputs, result if many else (result,), strict=True))
        return result


def array_of(value: Any) -> np.ndarray:
    """A recorded value as an array of its own."""
    return np.array(value, order="C")


def resized(graph: Graph, arrays: Sequence[Any], old: int, new: int) -> tuple[Graph, list[Any]] | None:
    """The graph with every dimension of `old` elements, and every such size among the attributes, made `new`; arrays are cut.

    None where an operation does not take its operands then, or where nothing changes. Constants are cut like inputs; graphs with control
    flow are left alone.
    """
    if any(n.op.regions for n in graph.nodes) or new >= old:
        return None
    builder = Builder(Graph(graph.name))
    values: dict[Value, Any] = {}
    cut = []
    for v, x in zip(graph.inputs, arrays, strict=True):
        x = _cut(x, old, new)
        cut.append(x)
        t = v.type.with_shape(x.shape) if isinstance(v.type, TensorType) else v.type
        values[v] = builder.input(t, v.name)
    if all(a.shape == np.shape(b) for a, b in zip(cut, arrays, strict=True)):
        return None
    try:
        for node in graph.nodes:
            made = _rebuilt(builder, node, values, old, new)
            values.update(zip(node.outputs, made if isinstance(made, tuple) else (made,), strict=True))
    except Exception:  # whatever an operation's type rule says of sizes that do not fit
        return None
    builder.output(*(values[v] if type(v) is Value else v for v in graph.outputs))
    return builder.graph, cut


def _rebuilt(builder: Builder, node: Node, values: Mapping[Value, Any], old: int, new: int) -> Any:
    if node.op.name == "constant":
        return builder.constant(_cut(node.attributes["value"].array, old, new), node.name, node.source)
    inputs = [values[x] if type(x) is Value else tuple(values[v] for v in x) if type(x) is tuple else x for x in node.inputs]
    sizes = {k: a for k, a in node.attributes.items() if type(a) is tuple}
    attributes = node.attributes | {k: tuple(new if s == old and type(s) is int else s for s in a) for k, a in sizes.items()}
    return builder.call(node.op, inputs, attributes, node.source, name=node.name if len(node.outputs) == 1 else "")


def _cut(x: Any, old: int, new: int) -> Any:
    return np.array(np.asarray(x)[tuple(slice(new if n == old else None) for n in np.shape(x))], order="C")
