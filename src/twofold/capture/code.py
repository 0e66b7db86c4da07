"""A graph as Python text: what `GraphModule.code` shows."""

from __future__ import annotations

from typing import Any

from twofold.ir.graph import Graph, Node, Region, Value
from twofold.ir.types import TensorType

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "matmul": "@",
    "pow": "**",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}


def graph_code(graph: Graph) -> str:
    """A function `forward(self, …)` over the public operations; bindings are read from `self.bindings`."""
    arguments = [v.name for v in graph.inputs if v not in graph.bindings]
    lines = [f"def forward(self{''.join(', ' + a for a in arguments)}):"]
    lines += [f"    {v.name} = self.bindings[{path!r}]{_comment(v)}" for v, path in graph.bindings.items()]
    lines += _body(graph, 1)
    return "\n".join(lines) + "\n"


def _comment(v: Value) -> str:
    return f"  # {v.type}" if isinstance(v.type, TensorType) else ""


def _body(region: Region, depth: int) -> list[str]:
    pad = "    " * depth
    lines: list[str] = []
    for node in region.nodes:
        for k, body in enumerate(node.regions):
            lines.append(
                f"{pad}def {node.outputs[0].name if node.outputs else node.op.name}_body_{k}({', '.join(v.name for v in body.inputs)}):"
            )
            lines += _body(body, depth + 1)
        lines.append(pad + _statement(node))
    outs = ", ".join(_operand(x) for x in region.outputs)
    lines.append(f"{pad}return ({outs}{',' if len(region.outputs) == 1 else ''})")
    return lines


def _statement(node: Node) -> str:
    names = ", ".join(v.name for v in node.outputs)
    source = node.source
    place = f"  # {source.location}" if source is not None and source.location else ""
    return f"{names} = {_call(node)}{place}" if names else _call(node) + place


def _call(node: Node) -> str:
    operands = [_operand(x) for x in node.inputs]
    if node.op.name in INFIX and len(operands) == 2:
        return f"{operands[0]} {INFIX[node.op.name]} {operands[1]}"
    if node.regions:
        name = node.outputs[0].name if node.outputs else node.op.name
        operands += [f"{name}_body_{k}" for k in range(len(node.regions))]
    by_name = {p.name: x for p, x in zip(node.op.inputs, operands, strict=False)}
    parts = [x for p, x in by_name.items() if x != "None"] if not node.regions else operands
    for p in node.op.attributes:
        value = node.attributes.get(p.name)
        if value != p.default:
            parts.append(f"{p.name}={_attribute(value)}")
    return f"twofold.{node.op.name}({', '.join(parts)})"


def _operand(x: Any) -> str:
    if isinstance(x, Value):
        return x.name
    if isinstance(x, tuple):
        return f"[{', '.join(v.name for v in x)}]"
    return repr(x)


def _attribute(value: Any) -> str:
    return repr(value)
