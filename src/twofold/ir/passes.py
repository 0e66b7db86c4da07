"""The passes every graph can take: constant folding, common subexpressions, dead code. Each is linear and returns its `PassRecord`."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.constant import ArrayAttr, constant
from twofold.ir.graph import Graph, Node, Region, Value, attribute_key, has_effect, input_types
from twofold.ir.rewrite import PassLog, PassRecord, run_pass
from twofold.ir.run import run_record
from twofold.ir.types import TensorType, scalar_type, type_of
from twofold.support.errors import GraphError, TwofoldError

FOLD_ELEMENTS = 1 << 16
STATE = "state"
"""The parameter through which a random operation takes its state. One without it is never merged with another."""


def dce(graph: Graph, log: PassLog | None = None, verify: bool = False) -> PassRecord:
    """Remove nodes whose outputs nothing uses. Effects (print, assert, assign) stay with all they need; inputs stay."""
    return run_pass("dce", graph, _dce, log, verify)


def _dce(graph: Graph) -> int:
    live: set[Node] = set()
    stack: list[Node] = []

    def need(node: Node | None) -> None:
        if node is not None and node not in live:
            live.add(node)
            stack.append(node)

    def roots(region: Region) -> None:
        for v in region.output_values():
            need(v.node)
        for node in region.nodes:
            if has_effect(node):
                need(node)

    roots(graph)
    while stack:
        node = stack.pop()
        for v in node.operands():
            need(v.node)
        for region in node.regions:
            roots(region)
    removed = 0
    work: list[Region] = [graph]
    while work:
        region = work.pop()
        kept = [node for node in region.nodes if node in live]
        removed += len(region.nodes) - len(kept)
        for node in region.nodes:
            if node not in live:
                node.region = None
        region.nodes[:] = kept
        work += [r for node in kept for r in node.regions]
    return removed


def cse(graph: Graph, log: PassLog | None = None, verify: bool = False) -> PassRecord:
    """Compute equal things once: same operation, operands and attributes, at the first place. Effects and control flow are left alone;
    random operations are merged only where they draw from the same state."""
    return run_pass("cse", graph, _cse, log, verify)


def _cse(graph: Graph) -> int:
    replaced: dict[Value, Value] = {}
    _cse_region(graph, {}, replaced)
    graph.replace_all_uses(replaced)
    gone = {v.node for v in replaced}
    for region in graph.regions():
        region.nodes[:] = [node for node in region.nodes if node not in gone]
    for node in gone:
        if node is not None:
            node.region = None
    return len(gone)


def _cse_region(region: Region, known: dict[Any, Node], replaced: dict[Value, Value]) -> None:
    """One region; `known` holds the nodes visible from outside, and is as before afterwards."""
    added = []
    for node in region.nodes:
        for r in node.regions:
            _cse_region(r, known, replaced)
        if not _mergeable(node):
            continue
        key = _key(node, replaced)
        if key is None:
            continue
        first = known.setdefault(key, node)
        if first is node:
            added.append(key)
        elif tuple(v.type for v in first.outputs) == tuple(v.type for v in node.outputs):
            replaced.update(zip(node.outputs, first.outputs, strict=True))
    for key in added:
        del known[key]


def _mergeable(node: Node) -> bool:
    op = node.op
    if op.effect == "random":
        return any(p.name == STATE for p in op.inputs)
    return not op.effect and not op.regions and op.name != "token"


def _key(node: Node, replaced: dict[Value, Value]) -> Any:
    def one(x: Any) -> Any:
        if type(x) is Value:
            return replaced.get(x, x)
        return tuple(replaced.get(v, v) for v in x) if type(x) is tuple else attribute_key(x)

    key = node.op, tuple(map(one, node.inputs)), tuple(map(attribute_key, node.attributes.values()))
    try:
        hash(key)
    except TypeError:  # an attribute of kind `any` that is not hashable: never equal to another
        return None
    return key


def fold(graph: Graph, log: PassLog | None = None, verify: bool = False, max_elements: int = FOLD_ELEMENTS) -> PassRecord:
    """Compute nodes whose operands are all constants or Python numbers, where the results have at most `max_elements` elements.

    Left alone: operations without operands (creation), with an effect or randomness, with bodies, and those that fail on these operands
    (they fail when the graph runs, with their line).
    """
    return run_pass("fold", graph, lambda g: _fold(g, max_elements), log, verify)


def _fold(graph: Graph, max_elements: int) -> int:
    folded = 0
    for region in list(graph.regions()):
        result: list[Node] = []
        for node in region.nodes:
            arrays = _evaluate(node, max_elements)
            if arrays is None:
                result.append(node)
                continue
            folded += 1
            for v, array in zip(node.outputs, arrays, strict=True):
                if type_of(array) != v.type:
                    raise GraphError(f"{v.name}: the reference of {node.op.name} gives {type_of(array)}, its type rule {v.type}")
                new = Node(constant, (), {"value": ArrayAttr(array)}, (), node.source)
                v.node, v.index, new.outputs, new.region = new, 0, (v,), region
                result.append(new)
            node.outputs, node.region = (), None
        region.nodes[:] = result
    return folded


def _evaluate(node: Node, max_elements: int) -> tuple[Any, ...] | None:
    op = node.op
    if not node.inputs or op.effect or op.regions:
        return None
    arrays = tuple(map(_constant, node.inputs))
    if any(a is NotImplemented for a in arrays):
        return None
    types = tuple(v.type for v in node.outputs)
    if not all(type(t) is TensorType and t.is_static and t.device == "cpu" and t.numel <= max_elements for t in types):
        return None
    try:
        with np.errstate(all="ignore"):
            out = run_record(op, arrays, input_types(node.inputs, scalar_type), types if op.several else types[0], node.attributes)
    except (TwofoldError, ArithmeticError, ValueError, IndexError):
        return None
    return tuple(map(np.asarray, out)) if op.several else (np.asarray(out),)


def _constant(x: Any) -> Any:
    """The array of an operand; NotImplemented if it is not known."""
    if type(x) is tuple:
        parts = tuple(map(_constant, x))
        return NotImplemented if any(p is NotImplemented for p in parts) else parts
    if type(x) is not Value:
        return x
    if x.node is None or x.node.op is not constant:
        return NotImplemented
    return x.node.attributes["value"].array
