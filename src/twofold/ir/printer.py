"""Graph text: readable, and read back equal by `ir.parser`.

    graph forward[s0 in 2..64 like 8](x: f32[s0, 3], w: f32[3] = binding "fc.weight") {
      mul: f32[s0, 3] = mul(x, w)  # model.py:12
      sum_1: f32[s0] = sum(mul, dim=(1,))
      max_dim_values: f32[s0], max_dim_indices: i64[s0] = max_dim(mul, dim=1)
      constant: f32[2] = constant(value=f32[2]{1.0, 0.5})
      cond_0: f32[s0] = cond(p, [sum_1]) (a: f32[s0]) {
        return (a,)
      } (b: f32[s0]) {
        return (b,)
      }
      return (sum_1, None, 2.0)
    }

Attributes that have their default value are left out. A comment says where a node comes from: file and line, then `in` its module path,
then `as` how the user spelled it where that is not simply the operation's name. `return (…) after t` names the graph's last effect.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import MutableMapping
from typing import Any

import numpy as np

from twofold.ir import dims
from twofold.ir.constant import ArrayAttr
from twofold.ir.dtypes import DType
from twofold.ir.node import GraphBase, Node, Region, Source, Value, input_types, same_attribute
from twofold.ir.op import REQUIRED
from twofold.ir.types import TensorType, scalar_type
from twofold.support.errors import TwofoldError, UnsupportedError

INLINE_ELEMENTS = 64
INDENT = "  "
_PLAIN_PLACE = re.compile(r"[\w./+@<>-]+:(\d+|None)")
_PLAIN_WORD = re.compile(r"[\w.]+")


def print_graph(
    graph: GraphBase, blobs: MutableMapping[str, np.ndarray] | None = None, sources: bool = True, full_paths: bool = False
) -> str:
    """The text of a graph.

    blobs:      receives constants of more than 64 elements by content hash, to be stored beside the text; without it they stand in the text
    sources:    whether nodes end in a comment with the user's line; `full_paths` shows folders too
    """
    return "\n".join(_Printer(blobs, sources, full_paths).graph(graph)) + "\n"


def format_node(node: Node) -> str:
    """One node as a line of graph text; bodies are shown as `{…}`."""
    return _Printer(None, True, False).line(node) + " {…}" * len(node.regions)


class _Printer:
    def __init__(self, blobs: MutableMapping[str, np.ndarray] | None, sources: bool, full_paths: bool) -> None:
        self.blobs, self.sources, self.full_paths = blobs, sources, full_paths

    def graph(self, graph: GraphBase) -> list[str]:
        symbols = ", ".join(map(dims.declaration, graph.symbols().values()))
        inputs = ", ".join(self._input(v, graph.bindings) for v in graph.inputs)
        lines = [f"graph {_word(graph.name)}{f'[{symbols}]' if symbols else ''}({inputs}) {{"]
        self._body(graph, INDENT, lines)
        lines.append("}")
        return lines

    def _input(self, v: Value, bindings: dict[Value, str]) -> str:
        return f"{v.name}: {v.type}" + (f" = binding {json.dumps(bindings[v])}" if v in bindings else "")

    def _body(self, region: Region, indent: str, lines: list[str]) -> None:
        for node in region.nodes:
            text = indent + self.line(node, comment=not node.regions)
            for r in node.regions:
                text += f" ({', '.join(self._input(v, {}) for v in r.inputs)}) {{"
                lines.append(text)
                self._body(r, indent + INDENT, lines)
                text = indent + "}"
            if node.regions:
                text += self._comment(node)
            lines.append(text)
        after = f" after {region.token.name}" if region.token is not None else ""
        lines.append(f"{indent}return {sequence([operand(x) for x in region.outputs])}{after}")

    def line(self, node: Node, comment: bool = True) -> str:
        """The node's line without its bodies."""
        outputs = ", ".join(f"{v.name}: {v.type}" for v in node.outputs)
        arguments = [operand(x) for x in node.inputs]
        arguments += [f"{k}={self.attribute(v)}" for k, v in shown_attributes(node).items()]
        text = f"{outputs}{' ' if outputs else ''}= {node.op.name}({', '.join(arguments)})"
        return text + self._comment(node) if comment else text

    def _comment(self, node: Node) -> str:
        s = node.source
        return "" if s is None or not self.sources else "  # " + comment(s, node.op.name, self.full_paths)

    def attribute(self, value: Any) -> str:
        if type(value) is ArrayAttr:
            return self._array(value)
        if type(value) is tuple:
            return sequence([self.attribute(v) for v in value])
        return literal(value)

    def _array(self, attr: ArrayAttr) -> str:
        array = attr.array
        if array.size <= INLINE_ELEMENTS and (text := elements(array)) is not None:
            return f"{attr.type}{{{text}}}"
        if self.blobs is not None:
            self.blobs[attr.digest] = array
            return f'{attr.type}{{blob "{attr.digest}"}}'
        return f'{attr.type}{{base64 "{base64.b64encode(little_endian(array)).decode()}"}}'


def little_endian(array: np.ndarray) -> bytes:
    """The bytes of an array as files hold them."""
    return array.astype(array.dtype.newbyteorder("<")).tobytes() if array.dtype.kind in "iuf" else array.tobytes()


def elements(array: np.ndarray) -> str | None:
    """The elements as text that gives exactly the same bits back, or None if there is none (a NaN with a payload)."""
    flat = array.reshape(-1)
    if array.dtype.kind == "b":
        return ", ".join(str(bool(x)) for x in flat)
    if array.dtype.kind in "iu":
        return ", ".join(str(int(x)) for x in flat)
    texts = []
    for x in flat:
        for text in (_float_text(str(x)), repr(float(x))):
            if np.array(float(text)).astype(array.dtype).tobytes() == x.tobytes():
                texts.append(text)
                break
        else:
            return None
    return ", ".join(texts)


def _float_text(text: str) -> str:
    return text if any(c in text for c in ".en") else text + ".0"


def sequence(parts: list[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def operand(x: Any) -> str:
    """A node's operand or a region's output."""
    if type(x) is Value:
        return x.name
    if type(x) is tuple:
        return f"[{', '.join(v.name for v in x)}]"
    return literal(x)


def literal(value: Any) -> str:
    """An attribute value as text; UnsupportedError for what the text form has no notation for."""
    if value is None or type(value) is bool or type(value) is int or type(value) is float:
        return repr(value)
    if type(value) is str:
        return json.dumps(value)
    if type(value) is DType:
        return value.name
    if type(value) is dims.Dim:
        return str(value)
    if type(value) is TensorType:
        return f"type {value}"
    if type(value) is tuple:
        return sequence([literal(v) for v in value])
    if type(value) is slice:
        return f"slice({literal(value.start)}, {literal(value.stop)}, {literal(value.step)})"
    if value is Ellipsis:
        return "..."
    raise UnsupportedError(f"an attribute of type {type(value).__name__} ({value!r:.60}) has no text form")


def _word(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else json.dumps(name)


def shown_attributes(node: Node) -> dict[str, Any]:
    """The attributes that differ from their defaults, or have none."""
    if not node.attributes:
        return {}
    defaults: dict[str, Any] = {}
    required = {p.name: node.attributes[p.name] for p in node.op.attributes if p.default is REQUIRED and p.name in node.attributes}
    if len(required) < len(node.attributes):
        try:
            defaults = node.op.canonical(input_types(node.inputs, scalar_type), required)
        except TwofoldError:  # a malformed node is printed with all it has (the verifier shows such nodes)
            return node.attributes
    return {k: v for k, v in node.attributes.items() if k in required or k not in defaults or not same_attribute(v, defaults[k])}


def comment(s: Source, op_name: str, full_paths: bool = False) -> str:
    """What stands behind the `#`."""
    place = (s.full_location if full_paths else s.location) or "?"
    text = place if _PLAIN_PLACE.fullmatch(place) or place == "?" else json.dumps(place)
    if s.module:
        text += f" in {s.module if _PLAIN_WORD.fullmatch(s.module) else json.dumps(s.module)}"
    name = s.name or op_name
    if s.spelling != "function" or name != op_name:
        text += f" as {s.spelling} {name if _PLAIN_WORD.fullmatch(name) else json.dumps(name)}"
    return text
