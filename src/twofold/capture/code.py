"""A graph as Python text: what `GraphModule.code` shows. It runs: `exec(code, {"twofold": twofold})`, then `forward(module, *inputs)`."""

from __future__ import annotations

import math
import sys
from typing import Any

from twofold.ir.dims import Dim
from twofold.ir.graph import Graph, Node, Region, Value
from twofold.ir.op import get_op
from twofold.ir.types import TensorType
from twofold.tensors.functions import GENERATED

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mm": "@", "pow": "**",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


def graph_code(graph: Graph) -> str:
    """A function `forward(self, …)` that returns the graph's outputs as a tuple.

    Bindings are read from `self.bindings`; operations that are no public functions are found by `self.operation(name)`, constants by
    `self.constant(name)`.
    """
    arguments = [v.name for v in graph.inputs if v not in graph.bindings]
    lines = [f"def forward(self{''.join(', ' + a for a in arguments)}):"]
    lines += [f"    {v.name} = self.bindings[{path!r}]{_comment(v)}" for v, path in graph.bindings.items()]
    lines += _sizes(graph)
    lines += _body(graph, 1, whole=True)
    return "\n".join(lines) + "\n"


def _comment(v: Value) -> str:
    return f"  # {v.type}" if isinstance(v.type, TensorType) else ""


def _sizes(graph: Graph) -> list[str]:
    """Symbolic dimensions, taken from the inputs' shapes."""
    known: dict[str, str] = {}
    for v in graph.inputs:
        if isinstance(v.type, TensorType):
            for i, n in enumerate(v.type.shape):
                if isinstance(n, Dim) and n.is_symbol:
                    known.setdefault(n.name, f"    {n.name} = {v.name}.shape[{i}]")
    return list(known.values())


def _body(region: Region, depth: int, whole: bool = False, one: bool = False) -> list[str]:
    """Statements of a region; `one`: it returns its only output bare (the test of a loop)."""
    pad = "    " * depth
    lines: list[str] = []
    for node in region.nodes:
        for k, body in enumerate(node.regions):
            lines.append(f"{pad}def {_body_name(node, k)}({', '.join(v.name for v in body.inputs)}):")
            lines += _body(body, depth + 1, one=node.op.name == "while_loop" and k == 0)
        lines.append(pad + _statement(node))
    outs = [_operand(x) for x in region.outputs]
    lines.append(f"{pad}return {outs[0]}" if one else f"{pad}return ({', '.join(outs)}{',' if len(outs) == 1 else ''})")
    return lines


def _body_name(node: Node, k: int) -> str:
    return f"{node.outputs[0].name if node.outputs else node.op.name}_body_{k}"


def _statement(node: Node) -> str:
    names = [v.name for v in node.outputs]
    place = f"  # {node.source.location}" if node.source is not None and node.source.location else ""
    if not names:
        return _call(node) + place
    several = node.op.several or bool(node.regions)
    target = f"({', '.join(names)}{',' if len(names) == 1 else ''})" if several else names[0]
    return f"{target} = {_call(node)}{place}"


def _call(node: Node) -> str:
    name = node.op.name
    operands = [_operand(x) for x in node.inputs]
    if name == "constant":
        return f"self.constant({node.outputs[0].name!r})"
    if node.regions:
        bodies = ", ".join(_body_name(node, k) for k in range(len(node.regions)))
        carried = f"({', '.join(v.name for v in node.inputs[-1])},)"
        return f"twofold.cond({operands[0]}, {bodies}, {carried})" if name == "cond" else f"twofold.while_loop({bodies}, {carried})"
    if name in INFIX and len(operands) == 2:
        return f"{operands[0]} {INFIX[name]} {operands[1]}"
    parts, by_name = [], False
    given = dict(zip((p.name for p in node.op.inputs), operands, strict=False))
    for p in node.op.signature.params:
        if p.is_tensor:
            text = given.get(p.name, "None")
            if text == "None":
                by_name = True
                continue
            parts.append(f"{p.name}={text}" if by_name else text)
        else:
            by_name = True
            value = node.attributes.get(p.name)
            if value != p.default:
                parts.append(f"{p.name}={attribute_text(value)}")
    return f"{_function(name)}({', '.join(parts)})"


def _function(name: str) -> str:
    """How the operation is called: under its public name where that is the operation itself, or a function with the same parameters."""
    public = getattr(sys.modules["twofold"], name, None)
    if public is None or name not in GENERATED:
        return f"self.operation({name!r})"
    same = public is GENERATED[name] or _parameters(public) == [p.name for p in get_op(name).signature.params]
    return f"twofold.{name}" if same else f"self.operation({name!r})"


def _parameters(function: Any) -> list[str]:
    code = getattr(function, "__code__", None)
    return [] if code is None else list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _operand(x: Any) -> str:
    if isinstance(x, Value):
        return x.name
    if isinstance(x, tuple):
        return f"[{', '.join(v.name for v in x)}]"
    return attribute_text(x)


def attribute_text(value: Any) -> str:
    """An attribute as a Python expression."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, tuple):
        return f"({', '.join(map(attribute_text, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
