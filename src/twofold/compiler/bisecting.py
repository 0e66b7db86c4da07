"""Where a fault of the compiler is: the first pass that changes what a graph computes, with its rule and rewrite; or the first node whose
compiled form differs from the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.compiler.faults import Fault, fault_of
from twofold.compiler.kernel_info import lines_of
from twofold.compiler.options import CompileOptions
from twofold.compiler.pipeline import prepare
from twofold.compiler.subgraphs import ValueRecorder, array_of, live_outputs, needed, reachable, subgraph
from twofold.compiler.verifying import first_difference
from twofold.ir.graph import Graph, Node, has_effect
from twofold.ir.rewrite import PassLog, Rewrite
from twofold.support.errors import TwofoldError

Differs = Callable[[Graph, "Sequence[Any]"], "Fault | None"]
"""Whether the compiled form of a graph is wrong for these arrays, and how."""


@dataclass(frozen=True)
class Finding:
    """Where a fault is.

    fault:    what goes wrong
    pass_name, rule, rewrite: the pass, its rule, and the rewrite (as graph text, before and after), where a pass is at fault
    nodes:    the fewest nodes found that show it: the last one is the first whose compiled form differs; alone, if it needs no others
    lines:    the user's lines of these nodes
    """

    fault: Fault
    pass_name: str = ""
    rule: str = ""
    rewrite: Rewrite | None = None
    nodes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [self.fault.text]
        if self.pass_name:
            parts.append(f"pass: {self.pass_name}" + (f", rule {self.rule}" if self.rule else ""))
        if self.rewrite is not None:
            parts.append(str(self.rewrite))
        if self.nodes:
            others = f" (with {', '.join(self.nodes[:-1])})" if self.nodes[:-1] else ""
            parts.append(f"first node that differs: {self.nodes[-1]}{others}")
        return "\n".join([*parts, *self.lines])


def bisect_graph(graph: Graph, arrays: Sequence[Any], differs: Differs | None = None, **options: Any) -> Finding | None:
    """Find the fault of a graph's compiled form for these inputs; None if there is none.

    `differs(graph, arrays)` says whether a graph has the fault (default: `faults.fault_of`, which compiles and verifies).
    """
    check: Differs = differs or (lambda g, x: fault_of(g, x, **options))
    fault = check(graph, arrays)
    if fault is None:
        return None
    found = find_pass(graph, arrays, CompileOptions.of(options))
    pass_name, rule, rewrite = found if found is not None else ("", "", None)
    nodes = first_nodes(graph, arrays, lambda g, x: _same(fault, check(g, x)))
    if nodes is None and rewrite is None:
        prepared = _prepared(graph, options)
        nodes = first_nodes(prepared, arrays, lambda g, x: _same(fault, check(g, x))) if prepared is not None else None
    chosen = nodes or []
    return Finding(fault, pass_name, rule, rewrite, tuple(n.name for n in chosen), lines_of(chosen))


def _same(fault: Fault, other: Fault | None) -> Fault | None:
    return other if other is not None and other.kind == fault.kind else None


def _prepared(graph: Graph, options: dict[str, Any]) -> Graph | None:
    try:
        return prepare(graph, CompileOptions.of(options)).graph
    except TwofoldError:
        return None


# --- passes


class _Found(Exception):
    """Ends a preparation at the first pass that changed the graph's results."""


def find_pass(graph: Graph, arrays: Sequence[Any], options: CompileOptions) -> tuple[str, str, Rewrite | None] | None:
    """The first pass after which the graph computes something else (or cannot be evaluated, or that fails itself), the rule and the rewrite
    that did it where rules make the pass; None if no pass does."""
    log = PassLog()
    number = _first_bad_pass(graph, arrays, options, log)
    if number is None:
        return None
    if number == len(log.passes):  # it raised and left no record
        return f"the pass after {log.passes[-1].name}" if log.passes else "the first pass", "", None
    name = log.passes[number].name
    rules = list(dict.fromkeys(r.rule for r in log.rewrites if r.pass_name == name))
    for rule in rules:
        if _bad_with(graph, arrays, options, number, rule, 0):
            continue
        count = sum(r.rule == rule for r in log.rewrites)
        low, high = 0, count  # good with `low` applications of the rule, bad with `high`
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _bad_with(graph, arrays, options, number, rule, middle) else (middle, high)
        return name, rule, [r for r in log.rewrites if r.rule == rule][high - 1]
    return name, "", None


def _first_bad_pass(graph: Graph, arrays: Sequence[Any], options: CompileOptions, log: PassLog) -> int | None:
    """The index in the log of the first pass after which results differ. A pass that raises counts as one more."""
    bad: list[int] = []

    def after(name: str, changed: Graph) -> None:
        if log.passes[-1].changes == 0 and len(log.passes) > 1:
            return
        try:
            different = first_difference(graph, changed, arrays) is not None
        except Exception:
            different = True
        if different:
            bad.append(len(log.passes) - 1)
            raise _Found

    log.after = after
    try:
        prepare(graph, options, log)
    except _Found:
        return bad[0]
    except Exception:
        return len(log.passes)
    return None


def _bad_with(graph: Graph, arrays: Sequence[Any], options: CompileOptions, last: int, rule: str, times: int) -> bool:
    """Whether results differ after pass number `last` or before if a rule may be applied `times` times at most."""
    log = PassLog()
    log.allows = lambda name: name != rule or sum(r.rule == rule for r in log.rewrites) < times
    number = _first_bad_pass(graph, arrays, options, log)
    return number is not None and number <= last


# --- nodes


def first_nodes(graph: Graph, arrays: Sequence[Any], differs: Differs) -> list[Node] | None:
    """The fewest nodes found that show a fault: one alone, fed with what the interpreter gives it; else the shortest beginning of the graph
    whose last node shows it, without the nodes it does not need. None if no part shows it.

    `differs` is asked about graphs that are parts of `graph`.
    """
    values = ValueRecorder(graph).record(arrays)
    nodes = [n for n in graph.nodes if n.op.name not in ("constant", "token") and not has_effect(n)]

    def shows(part: Sequence[Node], outputs: Sequence[Any]) -> bool:
        constants = _constants_of(part)
        made, outside = subgraph([*constants, *part], outputs, graph.name)
        return differs(made, [array_of(values[v]) for v in outside]) is not None

    for n in nodes:
        if shows([n], n.outputs):
            return [n]
    low, high = 0, len(nodes)
    if not nodes or not shows(nodes, live_outputs(nodes, graph)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(nodes[:middle], _at_cut(nodes, middle, graph)) else (middle, high)
    part = reachable(nodes[:high], nodes[high - 1].outputs)
    if not shows(part, nodes[high - 1].outputs):
        return nodes[:high]
    return _without_needless(part, shows)


def _constants_of(part: Sequence[Node]) -> list[Node]:
    """Nodes that make constants of what the part reads: a constant matters to passes."""
    inside = set(part)
    read = dict.fromkeys(v.node for n in part for v in needed(n) if v.node is not None and v.node not in inside)
    return [n for n in read if n.op.name == "constant" and n.region is part[0].region]


def _at_cut(nodes: Sequence[Node], end: int, graph: Graph) -> list[Any]:
    """The values that nodes before `end` hand to those after it, or that are returned."""
    own = {v for n in nodes[:end] for v in n.outputs}
    later = {v for n in nodes[end:] for v in needed(n)} | set(graph.output_values())
    return [v for v in dict.fromkeys(v for n in nodes[:end] for v in n.outputs) if v in own & later]


def _without_needless(part: list[Node], shows: Callable[[Sequence[Node], Sequence[Any]], bool]) -> list[Node]:
    """Take nodes away from the beginning, one by one, while the last one still shows the fault."""
    last, kept = part[-1], list(part)
    for n in part[:-1]:
        fewer = reachable([m for m in kept if m is not n], last.outputs)
        if shows(fewer, last.outputs):
            kept = fewer
    return kept


def default_arrays(graph: Graph, seed: int = 0) -> list[np.ndarray]:
    """Arrays for the inputs of a graph: standard normal floats, integers 0 and 1, random bools."""
    random = np.random.default_rng(seed)
    result = []
    for v in graph.inputs:
        t: Any = v.type
        if t.dtype.is_floating_point:
            result.append(random.standard_normal(t.shape).astype(t.dtype.numpy))
        else:
            result.append(random.integers(0, 2, t.shape).astype(t.dtype.numpy))
    return result
