"""A graph as a table with the columns torch.fx users know: opcode, name, target, args, kwargs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from twofold.ir.constant import ArrayAttr
from twofold.ir.node import GraphBase, Node, Region, Value
from twofold.ir.printer import shown_attributes

HEADER = ("opcode", "name", "target", "args", "kwargs")
Row = tuple[str, str, str, str, str]


def print_tabular(graph: GraphBase) -> None:
    """Print the graph as a table."""
    sys.stdout.write(format_tabular(graph) + "\n")


def format_tabular(graph: GraphBase) -> str:
    """The graph as a table.

    Inputs are `placeholder`s, bindings `get_attr`; a node whose source says the user called a method is a `call_method`, all others are a
    `call_function` (a name for operators too: `add`). Attributes with their default value are left out. Bodies of control flow follow in
    tables of their own.
    """
    parts = [_table(_rows(graph, graph.bindings))]
    for node in graph.walk():
        for i, region in enumerate(node.regions):
            parts.append(f"body {i} of {node.name} ({node.op.name}):\n" + _table(_rows(region, {})))
    return "\n\n".join(parts)


def _rows(region: Region, bindings: dict[Value, str]) -> Iterable[Row]:
    for v in region.inputs:
        if v in bindings:
            yield "get_attr", v.name, bindings[v], "()", "{}"
        else:
            yield "placeholder", v.name, v.name, "()", "{}"
    for node in region.nodes:
        yield _row(node)
    outputs = tuple(map(_shown, region.outputs))
    result = outputs[0] if len(outputs) == 1 else _tuple(outputs)
    yield "output", "output", "output", f"({result},)", "{}"


def _row(node: Node) -> Row:
    s = node.source
    method = s is not None and s.spelling == "method"
    target = (s.name if s is not None else "") or node.op.name
    args = list(map(_shown, node.inputs))
    kwargs = ", ".join(f"{k!r}: {_attribute(v)}" for k, v in shown_attributes(node).items())
    name = ", ".join(v.name for v in node.outputs)
    return "call_method" if method else "call_function", name, target, _tuple(args), f"{{{kwargs}}}"


def _shown(x: Any) -> str:
    if type(x) is Value:
        return x.name
    return f"[{', '.join(v.name for v in x)}]" if type(x) is tuple else repr(x)


def _attribute(x: Any) -> str:
    if type(x) is ArrayAttr:
        return f"<{x.type}>"
    return _tuple(list(map(_attribute, x))) if type(x) is tuple else repr(x)


def _tuple(parts: Any) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _table(rows: Iterable[Row]) -> str:
    table = [HEADER, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)
