"""The plan of a graph: which values are stored, and which kernel, host step or control step computes each.

Two decisions make the plan: the set of *materialised* values (at first the outputs and what host steps read), and which of them share a
kernel. Everything else is pulled into the kernels that need it. The rules are written in docs/compiler.md; `log` keeps every decision with
its reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from twofold.compiler import (  # noqa: F401  (they fill the table of rules)
    rules_creation,
    rules_indexing,
    rules_joining,
    rules_padding,
    rules_pooling,
    rules_reduce,
    rules_resampling,
    rules_views,
)
from twofold.compiler.contiguity import vector_dim
from twofold.compiler.expr import Expr, walk
from twofold.compiler.kernel_builder import (
    MAX_EXPRESSIONS,
    Environment,
    KernelBuilder,
    Materialise,
    Mismatch,
    PullRule,
    reduction_domain,
    scalar_constant,
    shape_of,
)
from twofold.compiler.rules import rule_for
from twofold.compiler.spec import Reduce
from twofold.ir.graph import Graph, Node, Region, Value, free_values
from twofold.ir.types import TensorType
from twofold.support.errors import UnsupportedError

MAX_CONE, MAX_DEPTH = 160, 48
"""Nodes, and levels of nodes, that one pull may walk; beyond them an operand is stored. Bounds compile time and recursion."""
RECOMPUTE_NS = 0.42
"""A pointwise value dearer than this an element is stored rather than computed in two kernels: a store and a load cost as much."""
MAX_ROOTS, MAX_CANDIDATES, MAX_ROUNDS = 16, 6, 6
MAX_LEVELS = 3
"""Dependent reductions in one kernel that a further root may bring: softmax has two, cross-entropy three."""
COPY_ELEMENTS = 4096
"""A transposed operand of a reduction with more elements is copied densely first (by shuffled tiles)."""
RESHAPES = frozenset(("view", "reshape_copy", "unsqueeze", "squeeze", "alias", "detach"))
"""Operations whose result has the elements of its operand in the same order: a stored one shares its memory."""


@dataclass(eq=False)
class KernelStep:
    """One kernel of the loop compiler."""

    builder: KernelBuilder


@dataclass(eq=False)
class TemplateStep:
    """A kernel that is no loop spec (a sort, a scan)."""

    node: Node
    template: Any


@dataclass(eq=False)
class UpdateStep:
    """A scatter: the buffer is filled (by a kernel of its own), then updated."""

    node: Node
    update: Any


@dataclass(eq=False)
class HostStep:
    """An operation without a native kernel: NumPy runs it, after the views in `views` of its operands."""

    node: Node
    views: list[Node]
    reason: str


@dataclass(eq=False)
class ControlStep:
    """`cond` or `while_loop`: the node and the plans of its bodies."""

    node: Node
    bodies: list[Plan]


Step = KernelStep | TemplateStep | UpdateStep | HostStep | ControlStep


@dataclass(frozen=True)
class Decision:
    """One decision of the planner: "store", "join", "refuse" or "host", about a value, with its reason."""

    kind: str
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind} {self.value}: {self.reason}"


@dataclass
class Plan:
    """Steps in order. `aliases`: stored values that share another's memory."""

    region: Region
    steps: list[Step]
    aliases: dict[Value, Value]
    constants: list[Value]
    log: list[Decision] = field(default_factory=list)


class Planner(Environment):
    """Plans one region; `outer` is the planner of the region around it."""

    def __init__(
        self, region: Region, sites: dict[int, tuple[Node, str]], order: dict[Value, int], log: list[Decision], options: Any
    ) -> None:
        self.region, self.sites, self.positions, self.log, self.options = region, sites, order, log, options
        self.rules: dict[Node, PullRule | None] = {}
        self.required: dict[Value, str] = {}
        self.alone: set[Value] = set()
        self.aliases: dict[Value, Value] = {}
        self.owner: dict[Value, KernelBuilder] = {}
        self.given: set[Value] = set()
        self.steps: list[Any] = []
        self.produced: dict[Value, int] = {}
        self.decisions: list[Decision] = []
        self.readers: dict[Value, list[KernelBuilder]] = {}
        self.templates, self.updates = options.templates, options.updates

    # --- Environment

    def root(self, v: Value) -> Value:
        """The value whose memory a stored one shares."""
        while v in self.aliases:
            v = self.aliases[v]
        return v

    def stored(self, value: Value, builder: KernelBuilder) -> bool:
        if value in self.given or value in self.aliases:
            return True
        owner = self.owner.get(value)
        if owner is not None:
            return owner is not builder
        if value in self.required and value not in builder.roots:
            raise Materialise(value, self.required[value])
        return value.region is not self.region

    def rule(self, node: Node) -> PullRule | None:
        return self.rules[node] if node in self.rules else rule_for(node)

    def site(self, node: Node, what: str) -> int:
        for number, (n, text) in reversed(self.sites.items()):
            if n is node and text == what:
                return number
            if len(self.sites) - number > 8:
                break
        self.sites[len(self.sites) + 1] = node, what
        return len(self.sites)

    def order(self, value: Value) -> int:
        return self.positions.get(value, -1)

    # --- planning

    def plan(self) -> Plan:
        self._classify()
        for _ in range(MAX_ROUNDS):
            self._place_all()
            if not self._revise():
                break
        self.log.extend(self.decisions)
        constants = [v for v in self.given if v.node is not None and v.node.op.name == "constant"]
        return Plan(self.region, self._ordered(), dict(self.aliases), sorted(constants, key=self.order), self.log)

    def _classify(self) -> None:
        """What runs where, and the first set of materialised values; one sweep."""
        cones: dict[Value, tuple[frozenset[Node], int]] = {}
        for v in self.region.output_values():
            self.required.setdefault(v, "an output")
        for node in self.region.nodes:
            name = node.op.name
            if name == "constant" and scalar_constant(node) is None:
                continue
            if name == "constant" or name == "token":
                continue
            found = None if node.op.regions else rule_for(node)
            self.rules[node] = found
            if found is None:
                self._require_operands(node)
                continue
            self._bound_cone(node, cones)

    def _require_operands(self, node: Node) -> None:
        values: Iterable[Value] = node.operands()
        if node.op.regions:
            values = [*values, *(v for r in node.regions for v in free_values(r))]
            for v in values:
                self._require(v, f"{node.op.name} reads it")
            return
        for v in values:
            base = v
            while (
                base.node is not None
                and base.region is self.region
                and base.node.op.is_view
                and not base.node.op.several
                and self._plain_host(node)
            ):
                base = next(base.node.operands())
            self._require(base, f"{node.op.name} reads it")

    def _plain_host(self, node: Node) -> bool:
        return node.op.name not in self.templates and node.op.name not in self.updates

    def _require(self, v: Value, reason: str) -> None:
        if v.region is self.region and isinstance(v.type, TensorType):
            self.required.setdefault(v, reason)

    def _bound_cone(self, node: Node, cones: dict[Value, tuple[frozenset[Node], int]]) -> None:
        nodes: frozenset[Node] = frozenset((node,))
        depth = 0
        operands = [v for v in node.operands() if v in cones and v not in self.required]
        for v in operands:
            inner, levels = cones[v]
            nodes = nodes | inner
            depth = max(depth, levels)
        if len(nodes) > MAX_CONE or depth >= MAX_DEPTH:
            for v in operands:
                if len(cones[v][0]) > 1:
                    self._require(v, "the expression would grow too large")
            nodes, depth = frozenset((node,)), 0
        for v in node.outputs:
            cones[v] = nodes, depth + 1

    def _place_all(self) -> None:
        self.owner, self.steps, self.readers, self.aliases, self.produced = {}, [], {}, {}, {}
        self.given = set(self.region.inputs)
        self.decisions = [d for d in self.decisions if d.kind == "store"]
        for node in self.region.nodes:
            if node.op.name == "constant":
                if scalar_constant(node) is None or node.outputs[0] in self.required:
                    self.given.add(node.outputs[0])
                continue
            if node.op.name == "token":
                continue
            if self.rules[node] is None:
                self._place_other(node)
            else:
                for v in node.outputs:
                    if v in self.required:
                        self._place(v)

    def _place_other(self, node: Node) -> None:
        """A host, template, update or control step."""
        for v in self._reads(node):
            self._place(v)
        if node.op.regions:
            self.steps.append(
                ControlStep(node, [Planner(r, self.sites, self.positions, self.log, self.options).plan() for r in node.regions])
            )
        elif (make := self.templates.get(node.op.name)) is not None and (template := make(node)) is not None:
            self.steps.append(TemplateStep(node, template))
        elif (update := self._update(node)) is not None:
            self.steps.append(UpdateStep(node, update))
        else:
            views = self._host_views(node)
            reason = "random" if node.op.effect == "random" else f"{node.op.name} has no native kernel here"
            self.steps.append(HostStep(node, views, reason))
            self._note("host", node.name, reason)
        for v in node.outputs:
            self.given.add(v)
            self.produced[v] = len(self.steps) - 1

    def _update(self, node: Node) -> Any:
        """The kernels of a scatter, once what they read at computed positions is stored; None where there are none."""
        make = self.updates.get(node.op.name)
        tried: set[Value] = set()
        while make is not None:
            try:
                return make(self, node)
            except Materialise as need:
                if need.value in tried:
                    return None
                tried.add(need.value)
                self.required.setdefault(need.value, need.reason)
                self._place(need.value)
            except Mismatch:
                return None
        return None

    def _reads(self, node: Node) -> list[Value]:
        """The values a step of its own reads from memory."""
        values = list(node.operands())
        for r in node.regions:
            values += free_values(r)
        result = []
        for v in values:
            while v.region is self.region and v not in self.given and v not in self.required and v.node is not None and v.node.op.is_view:
                v = next(v.node.operands())
            if v.region is self.region and v not in self.given and isinstance(v.type, TensorType):
                result.append(v)
        return result

    def _host_views(self, node: Node) -> list[Node]:
        """Views of stored values that NumPy takes itself."""
        found: dict[Node, None] = {}
        for v in node.operands():
            chain = []
            while v not in self.given and v not in self.owner and v not in self.aliases and v.region is self.region and v.node is not None:
                chain.append(v.node)
                v = next(v.node.operands())
            for n in reversed(chain):
                found[n] = None
        return list(found)

    def _alias_of(self, v: Value) -> Value | None:
        """The value whose memory a reshape shares: not for outputs, which are fresh."""
        node = v.node
        if node is None or node.op.name not in RESHAPES or self.required.get(v) == "an output":
            return None
        operand = next(node.operands())
        return operand if operand.type.dtype is v.type.dtype else None  # type: ignore[attr-defined]

    def _place(self, v: Value) -> None:
        """Store `v`, and first whatever it needs stored."""
        stack = [v]
        while stack:
            top = stack[-1]
            if top in self.owner or top in self.given or top in self.aliases or top.region is not self.region:
                stack.pop()
                continue
            base = self._alias_of(top)
            if base is not None:
                if base in self.owner or base in self.given or base in self.aliases or base.region is not self.region:
                    self.aliases[top] = base
                    stack.pop()
                else:
                    self.required.setdefault(base, f"{top.name} shares its memory")
                    stack.append(base)
                continue
            try:
                self._build(top)
                stack.pop()
            except Materialise as need:
                if need.value in stack or need.value is top:
                    raise UnsupportedError(
                        f"the compiler cannot store {need.value.name} ({need.reason}); please report this graph"
                    ) from None
                if need.value not in self.required:
                    self.required[need.value] = need.reason
                    self._note("store", need.value.name, f"{need.reason} (for {top.name})")
                stack.append(need.value)

    def _note(self, kind: str, value: str, reason: str) -> None:
        self.decisions.append(Decision(kind, value, reason))

    def _build(self, v: Value) -> None:
        """A kernel of its own for `v`, or a place in one that reads the same elements."""
        own = KernelBuilder(self).build([v])
        if v not in self.alone:
            for k in self._candidates(own, v):
                joined = self._join(k, v)
                if joined is not None:
                    self._replace(k, joined)
                    self._note("join", v.name, f"with {', '.join(r.name for r in k.roots)}: they read the same elements")
                    return
        own.position = len(self.steps)
        self.steps.append(KernelStep(own))
        self.owner[v] = own
        for u in own.uses:
            self.readers.setdefault(u, []).append(own)

    def _candidates(self, own: KernelBuilder, v: Value) -> list[KernelBuilder]:
        """Kernels that read what `v` reads and come after the producers of all of it, the latest first."""
        earliest = -1
        for u in own.uses:
            producer = self.owner.get(self.root(u))
            if producer is not None:
                earliest = max(earliest, producer.position)
        earliest = max(earliest, self._last_other(own))
        found: dict[KernelBuilder, None] = {}
        for u in own.uses:
            for k in self.readers.get(u, ())[-4:]:
                if k.position >= earliest and len(k.roots) < MAX_ROOTS and not self.alone & set(k.roots):
                    found[k] = None
            producer = self.owner.get(u)
            if (
                producer is not None
                and producer.position >= earliest
                and len(producer.roots) < MAX_ROOTS
                and not self.alone & set(producer.roots)
            ):
                found[producer] = None
        return sorted(found, key=lambda k: -k.position)[:MAX_CANDIDATES]

    def _last_other(self, own: KernelBuilder) -> int:
        """The position of the last host, control or template step whose result `own` reads."""
        last = -1
        for u in own.uses:
            last = max(last, self.produced.get(self.root(u), -1))
        return last

    def _join(self, k: KernelBuilder, v: Value) -> KernelBuilder | None:
        """The kernel with `v` as one more root, or None."""
        trial = KernelBuilder(self, k.splits)
        trial.position = k.position
        for r in k.roots:
            self.owner[r] = trial
        self.owner[v] = trial
        why = ""
        try:
            trial.build([*k.roots, v])
        except Mismatch as mismatch:
            why = str(mismatch)
        except Materialise as need:
            why = f"{need.value.name}: {need.reason}"
        if not why:
            why = self._refused(k, trial, v)
        if not why:
            return trial
        for r in k.roots:
            self.owner[r] = k
        del self.owner[v]
        self._note("refuse", v.name, f"not with {', '.join(r.name for r in k.roots)}: {why}")
        return None

    def _refused(self, k: KernelBuilder, trial: KernelBuilder, v: Value) -> str:
        if not trial.feeds(trial.stages[-1]) & k.loads() and v not in self._pulled_in(k):
            return "no common elements"
        full = any(not isinstance(s, Reduce) and len(s.dims) == len(k.sizes) for s in k.stages)
        if trial.sizes and set(trial.sizes) != set(k.sizes) and full:
            return "it would add dimensions to a kernel that stores its whole domain"
        if levels(trial.stages) > MAX_LEVELS and levels(trial.stages) > levels(k.stages):
            return "every pass would compute again what the passes before it did"
        if sum(1 for _ in walk(*(s.value for s in trial.stages))) > MAX_EXPRESSIONS:
            return "the kernel would grow too large"
        if v not in trial.uses and any(self.root(u) in trial.roots for u in trial.uses):
            return "it would read what it stores"
        return ""

    @staticmethod
    def _pulled_in(k: KernelBuilder) -> set[Value]:
        return {key[0] for key in k.memo}

    def _replace(self, old: KernelBuilder, new: KernelBuilder) -> None:
        step = self.steps[old.position]
        step.builder = new
        for r in new.roots:
            self.owner[r] = new
        for u in old.uses:
            readers = self.readers[u]
            if old in readers:
                readers.remove(old)
        for u in new.uses:
            self.readers.setdefault(u, []).append(new)

    def _revise(self) -> bool:
        """Reductions computed in two kernels, dear pointwise values recomputed in two, and transposed operands of reductions become
        materialised. Of a chain of such values only the last is."""
        where: dict[Value, set[KernelBuilder]] = {}
        strided: dict[Value, str] = {}
        for step in self.steps:
            if not isinstance(step, KernelStep):
                continue
            k = step.builder
            for key in k.reduced:
                value = key if isinstance(key, Value) else key[0]
                where.setdefault(value, set()).add(k)
            for (value, _, _), e in k.memo.items():
                if k not in where.get(value, ()) and reduction_domain(value)[0] == () and self._dear(e):
                    where.setdefault(value, set()).add(k)
            if k.reduced and k.transposed:
                strided |= self._strided(k)
        twice = {v: ks for v, ks in where.items() if len(ks) > 1 and v not in self.required}
        users = self._users(twice)
        changed = False
        for v, ks in sorted(twice.items(), key=lambda item: self.order(item[0])):
            if not any(twice.get(u) == ks for u in users.get(v, ())):
                self.required[v] = f"{len(ks)} kernels need it"
                self._note("store", v.name, self.required[v])
                changed = True
        for v, reason in strided.items():
            if v not in self.required:
                self.required[v] = reason
                self.alone.add(v)
                self._note("store", v.name, reason)
                changed = True
        return changed

    @staticmethod
    def _dear(e: Expr) -> bool:
        if e.cost <= RECOMPUTE_NS:
            return False
        return sum(x.cost - sum(a.cost for a in x.args) for x in walk(e) if x.op != "load") > RECOMPUTE_NS

    def _strided(self, k: KernelBuilder) -> dict[Value, str]:
        along = vector_dim(k.spec(""))
        found = {}
        for e, v in k.transposed.items():
            if along is not None and e.stride(along) > 1 and math.prod(k.sizes[d] for d in e.dims if d in k.sizes) > COPY_ELEMENTS:
                found[v] = "a reduction would walk it with a stride"
        return found

    def _users(self, values: Iterable[Value]) -> dict[Value, list[Value]]:
        wanted = set(values)
        result: dict[Value, list[Value]] = {}
        for node in self.region.nodes:
            for v in node.operands():
                if v in wanted:
                    result.setdefault(v, []).extend(node.outputs)
        return result

    def _ordered(self) -> list[Any]:
        """The steps; stores that nothing reads any more are dropped."""
        used = {self.root(v) for v in self.region.output_values()}
        for step in self.steps:
            if isinstance(step, KernelStep):
                used |= {self.root(u) for u in step.builder.uses}
            elif isinstance(step, UpdateStep):
                used |= {self.root(u) for b in step.update.builders for u in b.uses}
            else:
                node = step.node
                views = set(step.views) if isinstance(step, HostStep) else set()
                values = list(node.operands()) + [v for n in views for v in n.operands()]
                values += [v for r in node.regions for v in free_values(r)]
                used |= {self.root(v) for v in values}
        for step in self.steps:
            if isinstance(step, KernelStep):
                b = step.builder
                kept = [r for r in b.roots if r in used]
                if len(kept) < len(b.roots):
                    gone = {r.name for r in b.roots} - {r.name for r in kept}
                    b.stages = [s for s in b.stages if isinstance(s, Reduce) or s.buffer not in gone]
                    b.roots = kept
        return [s for s in self.steps if not isinstance(s, KernelStep) or s.builder.roots]


def levels(stages: Iterable[Any]) -> int:
    """The longest chain of reductions that read each other."""
    level: dict[str, int] = {}
    for s in stages:
        if isinstance(s, Reduce):
            level[s.name] = 1 + max((level[a] for a in s.value.accs if a in level), default=0)
    return max(level.values(), default=0)


@dataclass(frozen=True)
class PlanOptions:
    """What the planner may use besides loop kernels."""

    templates: dict[str, Any] = field(default_factory=dict)
    updates: dict[str, Any] = field(default_factory=dict)


def plan_graph(graph: Graph, options: PlanOptions | None = None) -> tuple[Plan, dict[int, tuple[Node, str]]]:
    """The plan of a decomposed graph, and the fault sites its kernels may report (number → node and what can go wrong)."""
    order: dict[Value, int] = {v: i for i, v in enumerate(graph.inputs)}
    for node in graph.walk():
        for v in node.outputs:
            order[v] = len(order)
    for region in graph.regions():
        for v in region.inputs:
            order.setdefault(v, -1)
    sites: dict[int, tuple[Node, str]] = {}
    return Planner(graph, sites, order, [], options or PlanOptions()).plan(), sites


__all__ = [
    "ControlStep",
    "Decision",
    "HostStep",
    "KernelStep",
    "Plan",
    "PlanOptions",
    "Planner",
    "TemplateStep",
    "UpdateStep",
    "plan_graph",
    "shape_of",
]
