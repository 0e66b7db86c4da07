"""Drawings of static graphs.

`edges`: boxes are operations and arrows are values (what TensorFlow's paper calls a graph). `bipartite`: values are boxes between round
operations, as in the usual picture of Z = ReLU(XY). Nested regions (the branches of `cond`, the parts of `while_loop`) are frames.
"""

from __future__ import annotations

from typing import Any

from twofold.ir.node import GraphBase, Node, Region, Source, Value
from twofold.ir.types import TOKEN
from twofold.support.digraph import Digraph, Statements
from twofold.support.errors import ArgumentError, GraphError

Pending = tuple[Region, Statements, str | None, tuple[Value, ...]]
"""A region still to be drawn: where its statements go, the dot name of the operation that owns it (None for the graph), and the operands
that become its inputs."""
STYLES = ("edges", "bipartite")
INPUT, BINDING, OUTPUT, VALUE, OPERATION, CONTROL = "lightyellow", "lightblue", "darkolivegreen1", "white", "lightgrey", "plum1"
ATTRIBUTE_CHARS, CIRCLE_CHARS = 40, 8
REGION_TITLES = {"cond": ("if true", "if false"), "while_loop": ("while", "do")}


def graph_to_dot(graph: GraphBase, style: str = "edges", title: str | None = None) -> Digraph:
    """Draw an `ir.Graph` as a `Digraph`, to be rendered, saved or shown in a notebook. Equal graphs give equal text.

    `style` "edges": operations are boxes, and each arrow carries the value's name and type; "bipartite": values are boxes (name and type)
    between round operations. Inputs are yellow, bindings (closed-over tensors, under their path) blue, outputs green, operations with
    regions violet, each region in a frame. Operands that are Python numbers and attributes other than the defaults stand in the
    operation. `title` (default: none) stands above. Raises ArgumentError for another style.
    """
    if style not in STYLES:
        raise ArgumentError(f"style must be 'edges' or 'bipartite', not {style!r}")
    return _Drawing(graph, style == "bipartite", title).draw()


def _short(value: Any) -> str:
    text = str(value).replace("\n", " ") if not isinstance(value, str) else repr(value)
    return text if len(text) <= ATTRIBUTE_CHARS else text[: ATTRIBUTE_CHARS - 3] + "..."


def _details(node: Node) -> list[str]:
    """Lines for operands that are no values, and for attributes that are not at their default."""
    defaults = {p.name: p.default for p in node.op.attributes}
    lines = [f"{p.name}={_short(o)}" for p, o in zip(node.op.inputs, node.inputs, strict=False) if isinstance(o, (bool, int, float))]
    for name, value in node.attributes.items():
        default = defaults.get(name)
        if type(value) is not type(default) or value != default:
            lines.append(f"{name}={_short(value)}")
    return lines


def _handed_on(node: Node) -> tuple[Value, ...]:
    """The list operand that a control flow operation hands to its regions as their inputs, or ()."""
    last = node.inputs[-1] if node.inputs else ()
    if node.regions and type(last) is tuple and all(len(r.inputs) == len(last) for r in node.regions):
        return last
    return ()


class _Drawing:
    """One call of `graph_to_dot`. Dot names: o<k> operations, v<k> values (region inputs, and all in the bipartite style), r<k> results."""

    def __init__(self, graph: GraphBase, bipartite: bool, title: str | None) -> None:
        self.graph, self.bipartite = graph, bipartite
        self.dot = Digraph(
            graph_attr={"label": title, "labelloc": "t", "rankdir": "TB", "fontname": "sans-serif"},
            node_attr={"fontname": "sans-serif", "fontsize": 10, "style": "filled", "shape": "box", "height": 0.25},
            edge_attr={"fontname": "sans-serif", "fontsize": 9},
        )
        self.names: dict[Value, str] = {}
        self.types: dict[Any, str] = {}
        self.places: dict[Any, str] = {}
        self.counts = {"o": 0, "v": 0, "r": 0, "cluster_": 0}

    def new(self, prefix: str) -> str:
        self.counts[prefix] += 1
        return f"{prefix}{self.counts[prefix] - 1}"

    def type(self, value: Value) -> str:
        """The text of a value's type: many values share one type."""
        text = self.types.get(value.type)
        if text is None:
            text = self.types[value.type] = str(value.type)
        return text

    def draw(self) -> Digraph:
        results = self.results()
        waiting: list[Pending] = [(self.graph, self.dot, None, ())]
        while waiting:
            region, part, owner, operands = waiting.pop()
            self.inputs(region, part, results)
            for value, entry in zip(operands, region.inputs, strict=bool(operands)):
                self.edge(value, self.names[entry])
            inner: list[Pending] = []
            for node in region.nodes:
                inner.extend(self.node(node, part, results))
            self.outputs(region, part, owner)
            waiting.extend(reversed(inner))
        return self.dot

    def results(self) -> dict[int, str]:
        """For each value that is an output of the graph, the line that says which ("" where there is only one output)."""
        places: dict[int, list[str]] = {}
        for i, value in enumerate(self.graph.outputs):
            if isinstance(value, Value):
                places.setdefault(id(value), []).append(str(i))
        if len(self.graph.outputs) == 1:
            return dict.fromkeys(places, "")
        return {k: f"\noutput {', '.join(which)}" for k, which in places.items()}

    def inputs(self, region: Region, part: Statements, results: dict[int, str]) -> None:
        bindings = region.bindings if isinstance(region, GraphBase) else {}
        for value in region.inputs:
            name = self.names[value] = self.new("v")
            path = bindings.get(value)
            color = BINDING if path is not None else INPUT if region is self.graph else VALUE
            shown = path if path is not None else value.name
            is_result = self.bipartite and id(value) in results
            outline = {"color": "darkgreen", "penwidth": 2} if is_result else {}
            part.node(name, f"{shown}\n{self.type(value)}{results[id(value)] if is_result else ''}", fillcolor=color, **outline)

    def node(self, node: Node, part: Statements, results: dict[int, str]) -> list[Pending]:
        """Draw an operation; returns its regions, to be drawn later, each in a frame within one frame that names the operation."""
        name = self.new("o")
        if node.regions:
            part = self.frame(part, node.name, "rounded", 11)
        lines = _details(node)
        circle = self.bipartite and not lines and len(node.op.name) <= CIRCLE_CHARS
        part.node(
            name,
            "\n".join((node.op.name, *lines)),
            shape="circle" if circle else "ellipse" if self.bipartite else None,
            margin=0.02 if circle else None,
            fillcolor=CONTROL if node.regions else OPERATION,
            tooltip=self.tooltip(node),
        )
        handed = _handed_on(node)
        for operand in node.inputs[:-1] if handed else node.inputs:
            for value in operand if type(operand) is tuple else (operand,):
                if type(value) is Value:
                    self.edge(value, name)
        for value in node.outputs:
            self.names[value] = name
            if self.bipartite and value.type is not TOKEN:
                box = self.names[value] = self.new("v")
                which = results.get(id(value))
                part.node(box, f"{value.name}\n{self.type(value)}{which or ''}", fillcolor=VALUE if which is None else OUTPUT)
                part.edge(name, box)
        titles = REGION_TITLES.get(node.op.name, ())
        return [
            (region, self.frame(part, titles[i] if i < len(titles) else f"region {i}", "rounded,dashed", 10), name, handed)
            for i, region in enumerate(node.regions)
        ]

    def frame(self, part: Statements, title: str, style: str, size: int) -> Statements:
        return part.subgraph(self.new("cluster_"), graph_attr={"label": title, "style": style, "fontsize": size})

    def edge(self, value: Value, head: str, style: str | None = None) -> None:
        """An arrow for a value; dotted for a token, which only orders effects."""
        tail = self.names.get(value)
        if tail is None:
            raise GraphError(f"the graph uses {value.name!r} before it is made; the verifier says more")
        is_token = value.type is TOKEN
        label = None if self.bipartite or is_token else f"{value.name}: {self.type(value)}"
        self.dot.edge(tail, head, label, style="dotted" if is_token else style)

    def outputs(self, region: Region, part: Statements, owner: str | None) -> None:
        """Results of the graph: green boxes (in the bipartite style only for what is no value). Of a region: arrows to its operation."""
        several = len(region.outputs) > 1
        for i, value in enumerate(region.outputs):
            if owner is not None:
                self.region_output(region, value, part, owner)
            elif not (self.bipartite and isinstance(value, Value)):
                box = self.new("r")
                title = f"output {i}" if several else "output"
                part.node(box, title if isinstance(value, Value) else f"{title}\n{_short(value)}", fillcolor=OUTPUT)
                if isinstance(value, Value):
                    self.edge(value, box)

    def region_output(self, region: Region, value: Any, part: Statements, owner: str) -> None:
        """A dashed arrow from a result of a region to its operation; what was not made in the region passes through a box inside it."""
        if isinstance(value, Value) and value.region is region:
            self.edge(value, owner, "dashed")
            return
        box = self.new("r")
        part.node(box, value.name if isinstance(value, Value) else _short(value), fillcolor=VALUE)
        if isinstance(value, Value):
            self.edge(value, box)
        self.dot.edge(box, owner, None, style="dashed")

    def tooltip(self, node: Node) -> str:
        """What the node makes, and the user's line."""
        made = ", ".join([f"{v.name}: {self.type(v)}" for v in node.outputs])
        text = f"{made} = {node.op.name}" if made else node.op.name
        place = self.place(node.source) if node.source is not None else ""
        return f"{text}\n{place}" if place else text

    def place(self, source: Source) -> str:
        """`file.py:12: text of the line (module path)`; found once for all nodes of a line."""
        key = (source.code, source.instruction, source.place, source.module)
        found = self.places.get(key)
        if found is None:
            text = source.text
            module = f" (in {source.module})" if source.module else ""
            found = self.places[key] = source.location + (f": {text}" if text else "") + module
        return found


__all__ = ["STYLES", "graph_to_dot"]
