"""Passes with a log, and a rewrite engine for local rules.

A *pass* is any function that changes a graph; `run_pass` times it, counts nodes, verifies when asked, and leaves a `PassRecord`. A *rule*
is a function ``(node, rewriter) -> None | False | True | replacement`` registered for operations by name in a `Rules` table; `apply_rules`
tries rules on every node, again on all that a rewrite touched, until none matches. Every applied rewrite leaves a `Rewrite` record: the
rule and where it is written, the nodes before and after, the time it took.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from twofold.ir.builder import Builder
from twofold.ir.graph import Graph, Node, Region, Source, Value, has_effect
from twofold.ir.op import Op
from twofold.ir.printer import format_node
from twofold.ir.verifier import verify as verify_graph
from twofold.support.errors import GraphError


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One applied rule. `before` and `after` are lines of graph text; `location` is file:line of the rule."""

    pass_name: str
    rule: str
    before: str
    after: str
    location: str
    seconds: float

    def __str__(self) -> str:
        return f"[{self.pass_name}] {self.rule} ({self.location})\n  - {_indented(self.before)}\n  + {_indented(self.after)}"


@dataclass(frozen=True, slots=True)
class PassRecord:
    """One pass: numbers of nodes before and after (bodies included), changes made, seconds."""

    name: str
    before: int
    after: int
    changes: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after} nodes, {self.changes} change(s), {self.seconds * 1e3:.2f} ms"


@dataclass(slots=True)
class PassLog:
    """What passes did to a graph, in order.

    For finding faults, `after(name of the pass, graph)` is called after each pass, and a rule is applied only where `allows(its name)`.
    """

    passes: list[PassRecord] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    after: Callable[[str, Graph], None] | None = field(default=None, repr=False)
    allows: Callable[[str], bool] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.passes, *self.rewrites)))


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def run_pass(name: str, graph: Graph, fn: Callable[[Graph], Any], log: PassLog | None = None, verify: bool = False) -> PassRecord:
    """Run ``fn(graph)``, which changes the graph and may return the number of changes, and record it.

    With `verify` the graph is checked afterwards: a GraphError then names the pass.
    """
    before = graph.count()
    begin = time.perf_counter()
    changes = fn(graph)
    seconds = time.perf_counter() - begin
    record = PassRecord(name, before, graph.count(), changes if isinstance(changes, int) else 0, seconds)
    if log is not None:
        log.passes.append(record)
    if verify:
        try:
            verify_graph(graph)
        except GraphError as e:
            raise GraphError(f"the pass {name!r} left a malformed graph: {e.message}") from e
    if log is not None and log.after is not None:
        log.after(name, graph)
    return record


Rule = Callable[[Node, "Rewriter"], Any]


class Rules:
    """A table of rules by operation name, tried in the order of registration."""

    def __init__(self) -> None:
        self.table: dict[str, list[Rule]] = {}

    def rule(self, *names: str) -> Callable[[Rule], Rule]:
        """Decorator: register a rule for these operations."""

        def put(fn: Rule) -> Rule:
            for name in names:
                self.table.setdefault(name, []).append(fn)
            return fn

        return put


class Uses:
    """Who uses a value, kept up to date: nodes, and regions that return it."""

    def __init__(self, graph: Graph) -> None:
        self.nodes: dict[Value, dict[Node, None]] = {}
        self.regions: dict[Value, dict[Region, None]] = {}
        for region in graph.regions():
            self.add_region(region)

    def add_region(self, region: Region) -> None:
        """Count the nodes and outputs of a region (not of those nested in it)."""
        for node in region.nodes:
            self.add(node)
        for v in region.output_values():
            self.regions.setdefault(v, {})[region] = None

    def add(self, node: Node) -> None:
        for v in node.operands():
            self.nodes.setdefault(v, {})[node] = None

    def remove(self, node: Node) -> None:
        """The node (and the nodes of its bodies) is gone."""
        for v in node.operands():
            self.nodes.get(v, {}).pop(node, None)
        for region in node.regions:
            for v in region.output_values():
                self.regions.get(v, {}).pop(region, None)
            for inner in region.nodes:
                self.remove(inner)

    def any(self, v: Value) -> bool:
        """Is the value used at all?"""
        return bool(self.nodes.get(v)) or bool(self.regions.get(v))

    def replace(self, old: Value, new: Value) -> list[Node]:
        """Put `new` where `old` is used; returns the nodes changed."""

        def change(v: Value) -> Value:
            return new if v is old else v

        users = list(self.nodes.pop(old, ()))
        for node in users:
            node.map_operands(change)
            self.nodes.setdefault(new, {})[node] = None
        for region in self.regions.pop(old, {}):
            region.outputs = [new if x is old else x for x in region.outputs]
            if region.token is old:
                region.token = new
            self.regions.setdefault(new, {})[region] = None
        return users


class Rewriter:
    """What a rule works with: it writes new nodes before the matched one and inspects uses. A rule changes the graph through it only."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.uses = Uses(graph)
        self._builder = Builder(graph)
        self._node: Node | None = None
        self._sink: list[Node] = []
        self._before: str | None = None
        self._pending: dict[Node, list[Node]] = {}
        self._dead: set[Node] = set()
        self._touched: list[Node] = []

    # --- for rules

    def call(self, op: Op, inputs: Sequence[Any], attributes: Mapping[str, Any] | None = None) -> Any:
        """A new node before the matched one, with its source; its output Value or a tuple of them."""
        return self._builder.call(op, inputs, attributes, self._node.source if self._node is not None else None)

    def constant(self, array: Any) -> Value:
        """A new constant before the matched node."""
        return self._builder.constant(array, source=self._node.source if self._node is not None else None)

    def users(self, v: Value) -> list[Node]:
        """The nodes that use a value."""
        return list(self.uses.nodes.get(v, ()))

    def is_output(self, v: Value) -> bool:
        """Does a region return the value?"""
        return bool(self.uses.regions.get(v))

    def set_inputs(self, node: Node, inputs: tuple[Any, ...]) -> None:
        """Change a node's operands in place (its types must stay; the rule then returns True)."""
        self._note(node)
        for v in node.operands():
            self.uses.nodes.get(v, {}).pop(node, None)
        node.inputs = inputs
        self.uses.add(node)
        self._touched.append(node)

    def set_attributes(self, node: Node, **attributes: Any) -> None:
        """Change attributes in place (its types must stay; the rule then returns True)."""
        self._note(node)
        node.attributes = {**node.attributes, **attributes}
        self._touched.append(node)

    def replace(self, node: Node, replacement: Any) -> None:
        """Use `replacement` (a Value, or one for each output) instead of the node's outputs; the node goes if nothing needs it."""
        new = tuple(replacement) if isinstance(replacement, (tuple, list)) else (replacement,)
        if len(new) != len(node.outputs) or not all(type(v) is Value for v in new):
            raise GraphError(f"{node.name} has {len(node.outputs)} outputs; the replacement is {replacement!r}")
        for old, v in zip(node.outputs, new, strict=True):
            if old.type != v.type:
                raise GraphError(f"{old.name} is {old.type}; its replacement {v.name} is {v.type}")
        self._note(node)
        for old, v in zip(node.outputs, new, strict=True):
            self._touched += self.uses.replace(old, v)
        self._drop(node)

    # --- for the engine

    def _note(self, node: Node) -> None:
        if self._before is None:
            self._before = format_node(node)

    def _drop(self, node: Node) -> None:
        """Remove a node nothing uses any more, and then those it alone used."""
        stack = [node]
        while stack:
            n = stack.pop()
            if n in self._dead or has_effect(n) or any(map(self.uses.any, n.outputs)):
                continue
            self._dead.add(n)
            producers = [v.node for v in n.operands()]
            self.uses.remove(n)
            stack += [p for p in producers if p is not None]

    @contextmanager
    def at(self, node: Node) -> Iterator[None]:
        assert node.region is not None
        self._node, self._before, self._touched = node, None, []
        self._sink = []
        with self._builder.into(node.region, self._sink):
            yield

    def take_new(self, node: Node) -> list[Node]:
        """The nodes the rule made, now counted as users."""
        new = [n for n in self._sink if n not in self._dead]
        for n in new:
            self.uses.add(n)
        if new:
            self._pending.setdefault(node, []).extend(new)
        self._sink = []
        return new

    def flush(self) -> None:
        """Put new nodes in place and take removed ones out: one sweep."""
        again = True
        while again:
            for region in list(self.graph.regions()):
                self._settle(region)
            again = bool(self._pending)  # in bodies of nodes that were themselves only now put in place

    def _settle(self, region: Region) -> None:
        result: list[Node] = []
        stack = list(reversed(region.nodes))
        while stack:
            node = stack.pop()
            if (before := self._pending.pop(node, None)) is not None:
                stack.append(node)
                stack += reversed(before)
            elif node in self._dead:
                node.region = None
            else:
                result.append(node)
        region.nodes[:] = result


def apply_rules(
    name: str, graph: Graph, rules: Rules, log: PassLog | None = None, limit: int | None = None, verify: bool = False
) -> PassRecord:
    """Apply rules until none matches.

    `limit` caps the number of rewrites (default: 20 a node and 1000 more): beyond it GraphError names the busiest rules, which seem to undo
    one another.
    """
    log = log if log is not None else PassLog()
    return run_pass(name, graph, lambda g: _fixpoint(name, g, rules, log, limit), log, verify)


def _fixpoint(name: str, graph: Graph, rules: Rules, log: PassLog, limit: int | None) -> int:
    rewriter = Rewriter(graph)
    work = deque(node for node in graph.walk() if node.op.name in rules.table)
    queued = set(work)
    cap = limit if limit is not None else 20 * graph.count() + 1000
    applied: Counter[str] = Counter()
    try:
        while work:
            node = work.popleft()
            queued.discard(node)
            if node in rewriter._dead:
                continue
            changed = _try_rules(name, node, rules.table[node.op.name], rewriter, log)
            if changed is None:
                continue
            applied[log.rewrites[-1].rule] += 1
            if applied.total() > cap:
                busiest = ", ".join(f"{r} ({n} times)" for r, n in applied.most_common(3))
                raise GraphError(f"the pass {name!r} made more than {cap} rewrites without coming to an end; busiest rules: {busiest}")
            for n in changed:
                if n.op.name in rules.table and n not in queued and n not in rewriter._dead:
                    queued.add(n)
                    work.append(n)
    finally:
        rewriter.flush()
    return applied.total()


def _try_rules(name: str, node: Node, candidates: list[Rule], rewriter: Rewriter, log: PassLog) -> list[Node] | None:
    """Apply the first rule that matches; the nodes to look at again, or None."""
    for fn in candidates:
        if log.allows is not None and not log.allows(fn.__name__):
            continue
        begin = time.perf_counter()
        with rewriter.at(node):
            result = fn(node, rewriter)
            if result is None or result is False:
                if rewriter._before is not None:
                    raise GraphError(f"the rule {fn.__name__} changed the graph and then said that it did not match")
                continue
            new = rewriter.take_new(node)
            if result is not True:
                rewriter.replace(node, result)
        after = "\n".join(format_node(n) for n in (*new, *([node] if result is True and node not in rewriter._dead else [])))
        if not after:
            values = result if isinstance(result, (tuple, list)) else (result,)
            after = ", ".join(v.name for v in values if type(v) is Value) or "(removed)"
        code = fn.__code__
        location = Source(code=code, place="").file.rpartition("/")[2] + f":{code.co_firstlineno}"
        before = rewriter._before if rewriter._before is not None else format_node(node)
        log.rewrites.append(Rewrite(name, fn.__name__, before, after, location, time.perf_counter() - begin))
        producers = [v.node for n in (node, *new) for v in n.operands() if v.node is not None]
        return [node, *new, *rewriter._touched, *producers]
    return None
