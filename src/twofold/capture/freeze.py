"""Freezing: the tensors a graph closes over become constants of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twofold.ir.constant import ArrayAttr, constant
from twofold.ir.graph import Graph, Node, Value
from twofold.support.errors import GuardError, UnsupportedError

GENERATOR = "generator.state"


def with_constants(graph: Graph, arrays: Mapping[Value, Any]) -> Graph:
    """A copy of the graph in which the inputs in `arrays` are constant nodes that hold read-only copies of the arrays.

    Raises GuardError for an array that has not the type of its input.
    """
    values: dict[Value, Value] = {}
    result = graph.copy(values)
    assert isinstance(result, Graph)
    nodes = []
    for v, array in arrays.items():
        attribute = ArrayAttr(array)
        if attribute.type is not v.type:
            path = graph.bindings.get(v, v.name)
            raise GuardError(f"freeze: binding {path} was recorded as {v.type} and is {attribute.type} now; trace again")
        made = values[v]
        node = Node(constant, (), {"value": attribute}, (), None)
        made.node, made.index, node.outputs, node.region = node, 0, (made,), result
        nodes.append(node)
        result.bindings.pop(made, None)
    gone = {values[v] for v in arrays}
    result.inputs[:] = [v for v in result.inputs if v not in gone]
    result.nodes[:0] = nodes
    return result


def refuse_unfreezable(name: str, layout: Any) -> None:
    """Raise UnsupportedError for a graph whose bindings cannot be constants: they are written, drawn from, or returned."""
    inputs = layout.inputs
    if any(i.path == GENERATOR for i in inputs):
        raise UnsupportedError(
            f"{name}: a graph that draws random numbers cannot be frozen, since its generator's state is no constant; "
            "trace the module after .eval(), which turns dropout off"
        )
    written = [inputs[w.input].path for w in layout.write_backs if inputs[w.input].path is not None]
    if written:
        raise UnsupportedError(
            f"{name}: the graph writes {', '.join(written)}, which therefore cannot be frozen; "
            "trace the module after .eval(), which keeps running statistics as they are"
        )
    for k, r in enumerate(layout.results):
        if r.alias is not None and r.alias.input is not None and (path := inputs[r.alias.input].path) is not None:
            raise UnsupportedError(f"{name}: result {k} shares memory with {path}, so it cannot be frozen; return a clone() of it")
    arguments = sum(w.path is None for w in layout.watched)
    for w, signature in zip(layout.watched[arguments:], layout.signature[arguments:], strict=True):
        if signature[4] < arguments:  # the first tensor with the same memory
            shared = layout.watched[signature[4]].name
            raise UnsupportedError(f"{name}: {w.path} shares memory with argument {shared}, and therefore cannot be frozen")
