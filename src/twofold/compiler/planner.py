"""The plan of a graph: which values are stored, and which kernel, host step or control step computes each.

Two decisions make the plan: the set of *materialised* values (at first the outputs and what host steps read), and which of them share a
kernel. Everything else is pulled into the kernels that need it. The rules are written in docs/compiler.md; `log` keeps every decision with
its reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import islice
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
from twofold.compiler.expr import Expr
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
from twofold.compiler.steps import (
    ControlStep,
    Decision,
    HostStep,
    KernelStep,
    Plan,
    PlanOptions,
    TemplateStep,
    UpdateStep,
)
from twofold.ir.graph import Graph, Node, Region, Value, free_values
from twofold.ir.types import TensorType
from twofold.support.errors import UnsupportedError

MAX_CONE, MAX_DEPTH = 160, 48
"""Nodes, and levels of nodes, that one pull may walk; beyond them an operand is stored. Bounds compile time and recursion."""
RECOMPUTE_NS = 0.42
"""A pointwise value dearer than this an element is stored rather than computed in two kernels: a store and a load cost as much."""
LITTLE = 16
"""Kernels are joined if what both read is at least one part in so many of what the larger reads."""
MAX_ROOTS, MAX_CANDIDATES, MAX_ROUNDS = 16, 6, 6
NEAREST = 4
"""Of the kernels that read a value only so many, the last ones, are candidates for another reader."""
MAX_LEVELS = 3
"""Dependent reductions in one kernel that a further root may bring: softmax has two, cross-entropy three."""
COPY_ELEMENTS = 4096
"""A transposed operand of a reduction with more elements is copied densely first (by shuffled tiles)."""
RESHAPES = frozenset(("view", "reshape_copy", "unsqueeze", "squeeze", "alias", "detach"))
"""Operations whose result has the elements of its operand in the same order: a stored one shares its memory."""


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
        self.readers: dict[Value, dict[KernelBuilder, None]] = {}
        self.alone_built: dict[Value, KernelBuilder] = {}
        self.apart: list[Value] = []
        self.together: set[Value] = set()
        """Values that were not joined with a kernel because it shares little; those of them that may be, since nothing joined them."""
        self.bodies: dict[Node, list[Plan]] = {}
        self.dear: dict[Expr, bool] = {}
        self.templates, self.updates = options.templates, options.updates

    # --- Environment

    def root(self, v: Value) -> Value:
        """The value whose memory a stored one shares."""
        while v in self.aliases:
            v = self.aliases[v]
        return v

    def stored(self, value: Value, builder: KernelBuilder) -> bool:
        if value in builder.roots:
            return False
        answer = builder.asked[value] = self._in_memory(value)
        if answer is None:
            raise Materialise(value, self.required[value])
        return answer

    def _in_memory(self, value: Value) -> bool | None:
        """Can a kernel that is built now load the value? None: it will be stored, but is not yet."""
        if value in self.given or value in self.aliases or value in self.owner:
            return True
        return None if value in self.required else value.region is not self.region

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
            self.apart = []
            self._place_all()
            if not self._revise() and not self._rejoin():
                break
        self.log.extend(self.decisions)
        constants = [v for v in self.given if v.node is not None and v.node.op.name == "constant"]
        return Plan(self.region, self._ordered(), dict(self.aliases), sorted(constants, key=self.order), self.log)

    def _classify(self) -> None:
        """What runs where, and the first set of materialised values; one sweep."""
        cones: dict[Value, tuple[frozenset[Node], int]] = {}
        uses = Counter(v for node in self.region.nodes for v in node.operands())
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
            for v in node.operands():  # a cone is kept while it is needed: all of them together would be many
                uses[v] -= 1
                if not uses[v]:
                    cones.pop(v, None)

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
            if node not in self.bodies:  # they depend on nothing that a round decides
                self.bodies[node] = [Planner(r, self.sites, self.positions, self.log, self.options).plan() for r in node.regions]
            self.steps.append(ControlStep(node, self.bodies[node]))
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
        own = self._kernel_for(v)
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
            self.readers.setdefault(u, {})[own] = None

    def _kernel_for(self, v: Value) -> KernelBuilder:
        """A kernel of `v` alone; that of the round before if whatever it asked of the plan has the same answer now."""
        known = self.alone_built.get(v)
        if known is None or any(self._in_memory(u) is not answer for u, answer in known.asked.items()):
            known = self.alone_built[v] = KernelBuilder(self).build([v])
        return known

    def _candidates(self, own: KernelBuilder, v: Value) -> list[KernelBuilder]:
        """Kernels that read what `v` reads and come after the producers of all of it, the latest first."""
        earliest = self._earliest(own)
        found: dict[KernelBuilder, None] = {}
        for u in own.uses:
            for k in islice(reversed(self.readers.get(u, {})), NEAREST):
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

    def _earliest(self, kernel: KernelBuilder) -> int:
        """The position of the last step whose result a kernel reads, -1 for none."""
        last = -1
        for u in kernel.uses:
            root = self.root(u)
            producer = self.owner.get(root)
            last = max(last, self.produced.get(root, -1), -1 if producer is None else producer.position)
        return last

    def _join(self, k: KernelBuilder, v: Value) -> KernelBuilder | None:
        """The kernel with `v` as one more root, or None."""
        try:
            trial = k.extended(v)
            why = self._refused(k, trial, v)
            if not why:
                return trial
        except Mismatch as mismatch:
            why = str(mismatch)
        except Materialise as need:
            why = f"{need.value.name}: {need.reason}"
        self._note("refuse", v.name, f"not with {', '.join(r.name for r in k.roots)}: {why}")
        return None

    def _refused(self, k: KernelBuilder, trial: KernelBuilder, v: Value) -> str:
        if not trial.reads_any(trial.stages[-1], k.loads()) and not k.pulls(v):
            return "no common elements"
        if v not in self.together and not k.pulls(v) and self._shares_little(k, v):
            self.apart.append(v)
            return "what both read is little beside what one reads"
        full = any(not isinstance(s, Reduce) and len(s.dims) == len(k.sizes) for s in k.stages)
        if trial.sizes and set(trial.sizes) != set(k.sizes) and full:
            return "it would add dimensions to a kernel that stores its whole domain"
        if levels(trial.stages) > MAX_LEVELS and levels(trial.stages) > levels(k.stages):
            return "every pass would compute again what the passes before it did"
        if len(trial.expressions()) > MAX_EXPRESSIONS:
            return "the kernel would grow too large"
        if v not in trial.uses and any(self.root(u) in trial.roots for u in trial.uses):
            return "it would read what it stores"
        if trial.splits != k.splits and self._earliest(trial) > k.position:  # built anew, it may read what has been stored since
            return "it would read what a later kernel stores"
        return ""

    def _shares_little(self, k: KernelBuilder, v: Value) -> bool:
        """Joined kernels wait for each other's operands: not worth it, at first, for a small array that both happen to read."""
        own = self._kernel_for(v)

        def nbytes(values: Iterable[Value]) -> int:
            return sum(u.type.nbytes for u in values)  # type: ignore[attr-defined]

        shared = (u for u in own.uses if u in k.uses or u in k.roots)
        return LITTLE * nbytes(shared) < max(nbytes(own.uses), nbytes(k.uses))

    def _rejoin(self) -> bool:
        """Values that were kept apart and that nothing was joined with: joining them hinders nothing."""
        single = {v for v in self.apart if v in self.owner and self.owner[v].roots == [v]}
        self.together |= single
        return bool(single)

    def _replace(self, old: KernelBuilder, new: KernelBuilder) -> None:
        step = self.steps[old.position]
        step.builder = new
        for r in new.roots:
            self.owner[r] = new
        for u in old.uses:
            self.readers[u].pop(old, None)
        for u in new.uses:
            self.readers.setdefault(u, {})[new] = None

    def _revise(self) -> bool:
        """Reductions computed in two kernels, dear pointwise values recomputed in two, and transposed operands of reductions become
        materialised. Of a chain of such values only the last is."""
        where: dict[Value, set[KernelBuilder]] = {}
        strided: dict[Value, str] = {}
        kernels = [step.builder for step in self.steps if isinstance(step, KernelStep)]
        for k in kernels:
            for value in self._recomputed(k):
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

    def _recomputed(self, k: KernelBuilder) -> set[Value]:
        """Reductions and dear pointwise values that a kernel computes."""
        found = {key if isinstance(key, Value) else key[0] for key in k.reduced}
        for (value, _, _), e in k.memo.items():
            if e.cost > RECOMPUTE_NS and value not in found and self._is_dear(e) and reduction_domain(value)[0] == ():
                found.add(value)
        return found

    def _is_dear(self, e: Expr) -> bool:
        """Does computing it take longer than storing and loading it? Shared parts count once."""
        known = self.dear.get(e)
        if known is None:
            cost, todo, seen = 0.0, [e], {e}
            while todo and cost <= RECOMPUTE_NS:
                x = todo.pop()
                if x.op != "load":
                    cost += x.cost - sum(a.cost for a in x.args)
                new = [a for a in x.args if a not in seen]
                seen.update(new)
                todo += new
            known = self.dear[e] = cost > RECOMPUTE_NS
        return known

    def _strided(self, k: KernelBuilder) -> dict[Value, str]:
        along = k.vector_dim()
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
