"""`Graph`: a whole static graph, with the forms it can be looked at in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.ir.dot import graph_to_dot
from twofold.ir.node import (
    GraphBase,
    Node,
    Operand,
    Region,
    Source,
    Value,
    attribute_key,
    copy_region,
    difference,
    free_values,
    has_effect,
    input_types,
    same_attribute,
    same_graph,
    tensor_symbols,
)
from twofold.ir.printer import print_graph
from twofold.ir.tabular import print_tabular

if TYPE_CHECKING:
    from twofold.support.digraph import Digraph


class Graph(GraphBase):
    """A static graph. `str(graph)` is its text form, which `ir.parser.parse_graph` reads back equal."""

    __slots__ = ()

    def __str__(self) -> str:
        return print_graph(self)

    def print_tabular(self) -> None:
        """Print a table: opcode, name, target, args, kwargs."""
        print_tabular(self)

    def to_dot(self, style: str = "edges", title: str | None = None) -> Digraph:
        """A drawing for Graphviz: tensors as labelled edges ("edges"), or as boxes between operations ("bipartite")."""
        return graph_to_dot(self, style, title)


__all__ = [
    "Graph", "Node", "Operand", "Region", "Source", "Value", "attribute_key", "copy_region", "difference", "free_values", "has_effect",
    "input_types", "same_attribute", "same_graph", "tensor_symbols",
]  # fmt: skip
