"""Checks that a graph is well formed: order of definitions, names, operands, attributes, types, bodies.

Every type is inferred anew and compared. A failure raises GraphError with the nodes around the fault, an arrow at it, and the user's line.
"""

from __future__ import annotations

from typing import Any

from twofold.ir.builder import NUMBERS, infer_types
from twofold.ir.dims import Dim
from twofold.ir.graph import Graph, Node, Region, Value, input_types, same_attribute
from twofold.ir.op import VOCABULARY, Param
from twofold.ir.printer import format_node, operand
from twofold.ir.types import TOKEN, TensorType, Type, scalar_type
from twofold.support.errors import GraphError, TwofoldError

AROUND = 2


def verify(graph: Graph) -> None:
    """Raise GraphError unless `graph` is well formed. Linear in its size."""
    _Verifier(graph).run()


def agree(declared: Any, inferred: Any) -> bool:
    """Are the types equal, a data-dependent size made anew by a type rule standing for any such size with its bounds?"""
    if declared == inferred:
        return True
    if type(declared) is not TensorType or type(inferred) is not TensorType or declared.ndim != inferred.ndim:
        return False
    if declared.dtype is not inferred.dtype or declared.device != inferred.device:
        return False
    return all(a == b or _stands_for(a, b) for a, b in zip(declared.shape, inferred.shape, strict=True))


def _stands_for(declared: Any, inferred: Any) -> bool:
    return (
        type(inferred) is Dim and type(declared) is Dim and inferred.is_unnamed and declared.is_fresh and declared.bounds == inferred.bounds
    )


class _Verifier:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names: dict[str, Value] = {}
        self.everything: set[Value] | None = None

    def run(self) -> None:
        graph = self.graph
        inputs = set(graph.inputs)
        for v in graph.bindings:
            if v not in inputs:
                raise GraphError(f"graph {graph.name}: the binding {graph.bindings[v]!r} ({v.name}) is not an input")
        paths = list(graph.bindings.values())
        if len(set(paths)) != len(paths):
            raise GraphError(f"graph {graph.name}: two bindings have the same path: {', '.join(sorted(paths))}")
        self.region(graph, set())

    def fail(self, region: Region, index: int, message: str, cause: Exception | None = None) -> None:
        """Raise with the lines around node `index` (len(nodes) is the return line)."""
        lines = []
        nodes = region.nodes
        for i in range(max(0, index - AROUND), min(len(nodes), index + AROUND + 1)):
            lines.append(("--> " if i == index else "    ") + _line(nodes[i]))
        if index >= len(nodes):
            lines.append(f"--> return ({', '.join(map(_shown, region.outputs))})")
        place = ""
        if index < len(nodes) and (s := nodes[index].source) is not None and s.full_location:
            place = f"\n  written at {s.full_location}" + (f": {s.text}" if s.text else "")
        raise GraphError(f"graph {self.graph.name}: {message}\n" + "\n".join(lines) + place) from cause

    def region(self, region: Region, outer: set[Value]) -> None:
        """Check a region. `outer` holds the values visible from outside; those defined here are taken out of it again at the end."""
        mine: list[Value] = []
        for v in region.inputs:
            self.define(region, -1, v, None, 0, mine, outer)
        for index, node in enumerate(region.nodes):
            self.node(region, index, node, outer)
            for i, v in enumerate(node.outputs):
                self.define(region, index, v, node, i, mine, outer)
        end = len(region.nodes)
        for x in region.outputs:
            if type(x) is Value:
                if x not in outer:
                    self.fail(region, end, f"the output {x.name} {self.why(x)}")
            elif x is not None and type(x) not in NUMBERS:
                self.fail(region, end, f"an output must be a value, a Python number or None, not {x!r}")
        if region.token is not None and (region.token not in outer or region.token.type is not TOKEN):
            self.fail(region, end, f"the last effect {region.token.name} is no token defined here")
        outer.difference_update(mine)

    def define(self, region: Region, index: int, v: Value, node: Node | None, i: int, mine: list[Value], visible: set[Value]) -> None:
        if type(v) is not Value or v.node is not node or (node is not None and v.index != i) or v.region is not region:
            self.fail(region, index, f"{_shown(v)} is not linked to the place that defines it")
        if not _is_type(v.type):
            self.fail(region, index, f"{v.name} has no type")
        if self.names.setdefault(v.name, v) is not v or v in visible:
            self.fail(region, index, f"the name {v.name} is defined twice")
        visible.add(v)
        mine.append(v)

    def why(self, v: Value) -> str:
        """Why a value is not usable at this place."""
        if self.everything is None:
            self.everything = set()
            for r in self.graph.regions():
                self.everything.update(r.inputs)
                for node in r.nodes:
                    self.everything.update(node.outputs)
        if v in self.everything:
            if v in self.names.values():
                return "is defined inside a body and not visible outside it"
            return "is used before it is defined (a graph has no cycles)"
        other = v.graph
        if other is not None and other is not self.graph:
            return f"belongs to another graph, {other.name!r}"
        return "is not defined in this graph"

    def node(self, region: Region, index: int, node: Node, visible: set[Value]) -> None:
        op = node.op
        if node.region is not region:
            self.fail(region, index, f"{node.name} is not linked to its region")
        if VOCABULARY.get(op.name) is not op:
            self.fail(region, index, f"{op.name} is not an operation of the vocabulary")
        if len(node.inputs) != len(op.inputs):
            self.fail(region, index, f"{op.name} takes {len(op.inputs)} tensor operands, the node has {len(node.inputs)}")
        for p, x in zip(op.inputs, node.inputs, strict=True):
            self.operand(region, index, node, p, x, visible)
        types = input_types(node.inputs, scalar_type)
        self.attributes(region, index, node, types)
        if bool(node.regions) != op.regions:
            self.fail(region, index, f"{op.name} {'needs' if op.regions else 'has no'} bodies")
        for r in node.regions:
            if r.owner is not node:
                self.fail(region, index, f"a body of {node.name} is not linked to it")
            if r.token is not None:
                self.fail(region, index, f"a body of {node.name} keeps its last effect instead of returning it")
            self.region(r, visible)
        try:
            inferred = infer_types(op, types, node.attributes, node.regions)
        except TwofoldError as e:
            self.fail(region, index, e.message, e)
        if (type(inferred) is tuple) != op.several:
            self.fail(region, index, f"the type rule of {op.name} gives {inferred}, against its signature {op.signature.text}")
        inferred = inferred if type(inferred) is tuple else (inferred,)
        declared = tuple(v.type for v in node.outputs)
        if len(inferred) != len(declared) or not all(map(agree, declared, inferred)):
            shown = ", ".join(map(str, inferred))
            self.fail(
                region, index, f"{node.name} is declared as {', '.join(map(str, declared))}; {op.name} gives {shown} for these operands"
            )

    def operand(self, region: Region, index: int, node: Node, p: Param, x: Any, visible: set[Value]) -> None:
        where = f"operand {p.name} of {node.name} ({node.op.name})"
        if p.many:
            if type(x) is not tuple or not all(type(v) is Value for v in x):
                self.fail(region, index, f"{where} must be a tuple of values, not {_shown(x)}")
        elif x is None:
            if not p.optional:
                self.fail(region, index, f"{where} is None")
            return
        elif type(x) is not Value:
            if type(x) not in NUMBERS:
                self.fail(region, index, f"{where} must be a value or a Python number, not {_shown(x)}")
            return
        for v in x if type(x) is tuple else (x,):
            if v not in visible:
                self.fail(region, index, f"{where}: {v.name} {self.why(v)}")

    def attributes(self, region: Region, index: int, node: Node, types: tuple[Any, ...]) -> None:
        op = node.op
        if not op.attributes and not node.attributes:
            return
        try:
            canonical = op.canonical(types, node.attributes)
        except TwofoldError as e:
            self.fail(region, index, e.message, e)
        for name, value in canonical.items():
            if name not in node.attributes:
                self.fail(region, index, f"{node.name} ({op.name}) lacks the attribute {name!r}")
            if not same_attribute(value, node.attributes[name]):
                self.fail(
                    region, index, f"{node.name} ({op.name}): the attribute {name}={node.attributes[name]!r} is not canonical ({value!r})"
                )


def _is_type(t: Any) -> bool:
    return isinstance(t, Type)


def _line(node: Node) -> str:
    try:
        return format_node(node)
    except (TwofoldError, AttributeError, TypeError, ValueError) as e:  # the node may be malformed in any way
        return f"{node.name} = {node.op.name}(…)  (cannot be shown: {e})"


def _shown(x: Any) -> str:
    try:
        return operand(x)
    except (TwofoldError, AttributeError, TypeError):
        return repr(x)
