"""Verified runs: after each step, what it wrote is compared with a reference computed from what it read.

Each kernel is checked twice on the same inputs, so that errors do not add up: against its spec (is the code right?) and against the
graph's nodes (is the spec right?), both in float64. Host steps and templates are compared with their operation, copies with their
source, all other live buffers with what they were. At the end the whole graph as it was given is compared with the prepared one (are the
passes right?), both in float64.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from twofold.compiler.assemble import Copy, HostCall, Launch
from twofold.compiler.compare import Comparison, SpecReference, compare, relative_tolerance
from twofold.compiler.executable import Executable, root_of
from twofold.compiler.instrument import ProbedRun, View
from twofold.compiler.kernel_info import lines_of
from twofold.compiler.nodes import WideInterpreter, cone, evaluate_nodes, narrow_call, precision, rounded_call, terms, wide_call
from twofold.compiler.spec import Buffer, KernelSpec
from twofold.ir.dtypes import FLOAT, DType, float64
from twofold.ir.graph import Graph, Node, Value, has_effect
from twofold.ir.types import TensorType
from twofold.support.errors import IndexOutOfRange, VerificationError

CODE = "its code computes something else than its spec"
SPEC = "its spec is something else than its nodes"
OPERATION = "its result is not the operation's"
COPY = "the copy differs from its source"
STRAY = "it changed memory that is not its own"
PASSES = "the passes changed what the graph computes"
WIDE_TOLERANCE = 1e-11
"""Relative, between two float64 evaluations of one kernel; what is farther apart is looked at more closely."""
PASS_TOLERANCE = 1e-6
"""Relative, between float64 evaluations of a graph before and after the passes; constants that a pass folded were rounded to float32."""


@dataclass(frozen=True)
class Divergence:
    """A step whose result is wrong. `kind` says which comparison failed; `comparison` has the worst element and how many there are; `node`
    is the first of the step's nodes that is wrong when compiled alone ("" if none is: then they are wrong together only)."""

    step: str
    kind: str
    nodes: tuple[str, ...]
    lines: tuple[str, ...]
    buffer: str
    type: TensorType | None = None
    comparison: Comparison = field(default_factory=lambda: Comparison(0))
    node: str = ""
    line: str = ""

    @property
    def index(self) -> tuple[int, ...]:
        """The position of the worst element."""
        shape = self.type.shape if self.type is not None else ()
        return tuple(int(i) for i in np.unravel_index(self.comparison.index, shape)) if shape else ()

    def __str__(self) -> str:
        c = self.comparison
        lines = [f"{self.step} ({', '.join(self.nodes)}): {self.kind}"]
        if c.count:
            lines.append(
                f"  {self.buffer}: {self.type}: {c.count} of {c.total} elements; the worst, at {list(self.index)}, is {c.got!r} and should "
                f"be {c.expected!r}"
            )
        else:
            lines.append(f"  memory of {self.buffer}")
        if self.node:
            lines.append(f"  first wrong node: {self.node}" + (f" ({self.line})" if self.line else ""))
        return "\n".join([*lines, *(f"  {line}" for line in self.lines)])


@dataclass(frozen=True)
class Check:
    """One step that was compared: its name, nodes, the comparisons of all it wrote, how many times it was compared (twice a kernel's run:
    with its spec and with its nodes)."""

    step: str
    nodes: tuple[str, ...]
    comparison: Comparison
    times: int = 1


@dataclass
class VerificationReport:
    """What a verified run compared. `ok`: nothing diverged."""

    name: str
    steps: dict[str, Check] = field(default_factory=dict)
    divergences: list[Divergence] = field(default_factory=list)
    """The first of each step, kind and buffer."""

    @property
    def ok(self) -> bool:
        return not self.divergences

    @property
    def checks(self) -> tuple[Check, ...]:
        """The steps that were compared, in the order in which they first ran."""
        return tuple(self.steps.values())

    def add(self, step: str, nodes: tuple[str, ...], comparison: Comparison) -> None:
        """Count a comparison of a step."""
        known = self.steps.get(step, Check(step, nodes, Comparison(0), 0))
        self.steps[step] = Check(step, known.nodes, known.comparison + comparison, known.times + 1)

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.checks)} steps compared, {len(self.divergences)} diverge"]
        for c in self.checks:
            x = c.comparison
            state = f"{x.total} elements agree, the farthest at {x.error:.2g} of the tolerance"
            if x.count:
                state = f"{x.count} of {x.total} elements diverge"
            lines.append(f"  {c.step} ({', '.join(c.nodes)}): {c.times} comparisons, {state}")
        return "\n".join([*lines, *map(str, self.divergences)])

    def raise_first(self) -> None:
        """Raise VerificationError for the first divergence, if there is one."""
        if self.divergences:
            first = self.divergences[0]
            error = VerificationError(f"{self.name}: {first}")
            error.divergence = first
            raise error


Blame = Callable[[Sequence[Node], Mapping[Value, Any]], "Node | None"]
"""(nodes in order, values of what they read from elsewhere) → the first node that is wrong when compiled alone."""


class Verifier:
    """Verified runs of one executable.

    source: the graph as it was given to the compiler, before its passes
    blame:  finds the first wrong one of a step's nodes (`faults.first_wrong_node`); it is asked only where a step of several nodes diverges
    """

    def __init__(self, executable: Executable, source: Graph, blame: Blame | None = None) -> None:
        self.executable, self.assembly, self.source, self.blame = executable, executable.assembly, source, blame
        a = executable.assembly
        self.values = {v.name: v for r in a.graph.regions() for v in (*r.inputs, *(o for n in r.nodes for o in n.outputs))}
        self.blocks = {b.name: b for b in a.memory.blocks}
        self.unfinished = {x for x, following in pairwise(a.launches) if _updates(following) and x.written == following.written}
        self.run = ProbedRun(executable, self._before, self._after)
        self.lock = threading.Lock()
        self.memory: dict[str, np.ndarray] = {}
        self.group: dict[str, np.ndarray] = {}
        self.wide: dict[str, np.ndarray] = {}

    def __call__(
        self, arrays: Sequence[Any], stop: bool, outputs: Sequence[np.ndarray] | None = None
    ) -> tuple[Sequence[np.ndarray], VerificationReport]:
        """Run once, into `outputs` if given: the outputs and the report. `stop`: raise VerificationError at the first divergence."""
        with self.lock:
            self.report, self.stop = VerificationReport(self.executable.name), stop
            before = [_checksum(x) for x in arrays]
            results = self.run(arrays, outputs)
            for b, x, was in zip(self.executable.inputs, arrays, before, strict=True):
                if _checksum(x) != was:
                    self._diverged(Divergence("run", STRAY, (b.name,), (), b.name))
            self._check_passes(arrays)
            return results, self.report

    # --- probes

    def _before(self, a: Any, view: View) -> None:
        names = a.buffers if isinstance(a, Launch) else a.reads if isinstance(a, HostCall) else [a.source]
        self.memory = {n: view.array(n).copy() for n in dict.fromkeys(names)}
        self.sums = self._checksums(a, view)

    def _after(self, a: Any, view: View) -> None:
        if view.error:
            return  # the run ends with that error
        if isinstance(a, Launch):
            self._check_launch(a, view)
        elif isinstance(a, HostCall):
            order = [*a.views, a.node]
            self._check_nodes(_NodeCheck(step_name(a), OPERATION, order, a.node.outputs, self.memory, host=True), view)
        else:
            self._check_copy(a, view)
        now = self._checksums(a, view)
        for name, was in self.sums.items():
            if now[name] != was:
                nodes = self._nodes_of(a)
                self._diverged(Divergence(step_name(a), STRAY, tuple(n.name for n in nodes), lines_of(nodes), name))

    def _checksums(self, a: Any, view: View) -> dict[str, int]:
        """Checksums of temporaries and outputs that are needed after the step and not written by it."""
        written = a.written if isinstance(a, Launch) else a.writes if isinstance(a, HostCall) else [a.target]
        result = {}
        for name, info in self.assembly.buffers.items():
            block = self.blocks.get(name)
            needed = info.kind == "output" or (block is not None and block.first <= a.step < block.last)
            if needed and info.nbytes and name not in written:
                result[name] = _checksum(view.array(name))
        return result

    # --- checks

    def _check_launch(self, a: Launch, view: View) -> None:
        self.wide = {}
        if a.spec is not None:
            self._check_spec(a, a.spec, view)
        self.group.update({n: x for n, x in self.memory.items() if n not in a.written and n not in self.group})
        if a in self.unfinished:
            return
        targets = self._targets(a)
        reads, self.group = self.group, {}
        order = self._cone(a)
        self._check_nodes(_NodeCheck(a.name, OPERATION if a.spec is None else SPEC, order, targets, reads), view)

    def _check_spec(self, a: Launch, spec: KernelSpec, view: View) -> None:
        """A kernel beside its spec."""
        memory = {b: self.memory[n] for b, n in zip(spec.buffers, a.buffers, strict=True)}
        reference = SpecReference(spec, memory, self.executable.options.strict_math)
        total = Comparison(0)
        for b, name in zip(spec.buffers.values(), a.buffers, strict=True):
            if b.role == "in":
                continue
            try:
                c = _compare_with_spec(reference, b, view.array(name))
                self.wide[b.name] = reference.output(b.name, True)
            except IndexOutOfRange as e:
                raise VerificationError(f"{a.name} ({', '.join(a.nodes)}): {e.message}, and the kernel did not report it") from e
            total += c
            if c.count:
                order = self._cone(a)
                self._differs(a.name, CODE, order, self.values[b.name], c, self._known(order, self.memory, view))
        self.report.add(a.name, a.nodes, total)

    def _check_nodes(self, check: _NodeCheck, view: View) -> None:
        """What a step wrote beside its nodes, evaluated on what it read."""
        known = self._known(check.order, check.reads, view)
        results = {call: cache(partial(evaluate_nodes, check.order, known, call)) for call in (narrow_call, wide_call)}
        total = Comparison(0)
        for v in check.targets:
            if not isinstance(v.type, TensorType) or has_effect(check.order[-1]):
                continue
            references = [partial(_result, results[call], v) for call in (wide_call, narrow_call)]
            if check.host:
                references.reverse()
            if v.name in self.wide and not check.host and _agree(self.wide[v.name], results[wide_call]()[v]):
                total += Comparison(v.type.numel)  # the spec, which the kernel was compared with, and its nodes are one in float64
                continue
            tolerance = nodes_tolerance(check.order, v.type.dtype)
            rounded = partial(_rounded_nodes, check.order, known, v)
            c = compare(view.array(root_of(self.assembly, v).name), v.type.dtype, tolerance, references, rounded)
            total += c
            if c.count:
                self._differs(check.step, check.kind, check.order, v, c, known)
        self.report.add(check.step, tuple(n.name for n in check.order), total)

    def _check_copy(self, a: Copy, view: View) -> None:
        got, source = view.array(a.target), self.memory[a.source]
        if not got.size:
            return
        bad = np.flatnonzero((got.view(np.uint8) != source.view(np.uint8)).reshape(got.size, -1).any(1))
        if bad.size:
            at = int(bad[0])
            c = Comparison(got.size, int(bad.size), at, got[at].item(), source[at].item())
            self._differs(step_name(a), COPY, (), self.values[a.target], c, {})

    def _check_passes(self, arrays: Sequence[Any]) -> None:
        """The graph as it was given beside the prepared one."""
        found = first_difference(self.source, self.assembly.graph, arrays)
        if found is not None:
            v, c = found
            self._differs("passes", PASSES, [v.node] if v.node is not None else [], v, c, {})

    # --- looking things up

    def _nodes_of(self, a: Any) -> list[Node]:
        if isinstance(a, HostCall):
            return [*a.views, a.node]
        names = a.nodes if isinstance(a, Launch) else ()
        return [n for n in (self.values[x].node for x in names if x in self.values) if n is not None]

    def _cone(self, a: Launch) -> list[Node]:
        """The nodes that a launch computes, with what it does not read from memory (the operands of shapes among it)."""
        own = set(self._nodes_of(a))

        def is_read(v: Value) -> bool:
            name = root_of(self.assembly, v).name
            if v.node is None or v.node.op.regions:
                return True
            return name in self.assembly.buffers and name not in a.written and (v.node not in own or name in a.buffers)

        return cone(self._targets(a), is_read)

    def _targets(self, a: Launch) -> list[Value]:
        """The values a launch computes."""
        if a.spec is None:
            return list(a.template.outputs)
        names = [b.name for b in a.spec.buffers.values() if b.role != "in"]
        return [self.values[n] for n in names if self.values[n].node is not None]

    def _known(self, order: Sequence[Node], reads: Mapping[str, np.ndarray], view: View) -> dict[Value, Any]:
        """The values that nodes read from elsewhere."""
        own = {v for n in order for v in n.outputs}
        read = dict.fromkeys(v for n in order for v in n.operands() if v not in own and isinstance(v.type, TensorType))
        return {v: self._array_of(v, reads, view) for v in read}

    def _first_wrong(self, order: Sequence[Node], known: Mapping[Value, Any]) -> Node | None:
        if len(order) == 1:
            return order[0]
        return self.blame(order, known) if self.blame is not None else None

    def _array_of(self, v: Value, reads: Mapping[str, np.ndarray], view: View) -> Any:
        assert isinstance(v.type, TensorType)
        name = root_of(self.assembly, v).name
        return (reads[name] if name in reads else view.array(name).copy()).reshape(v.type.shape)

    def _differs(self, step: str, kind: str, order: Sequence[Node], v: Value, c: Comparison, known: Mapping[Value, Any]) -> None:
        """A value that diverges; `known` are the values that its nodes read."""
        if not any((d.step, d.kind, d.buffer) == (step, kind, v.name) for d in self.report.divergences):
            wrong = self._first_wrong(order, known) if order else None
            place = next(iter(lines_of([wrong])), "") if wrong is not None else ""
            assert isinstance(v.type, TensorType)
            names, name = tuple(n.name for n in order), wrong.name if wrong is not None else ""
            self._diverged(Divergence(step, kind, names, lines_of(order), v.name, v.type, c, name, place))

    def _diverged(self, d: Divergence) -> None:
        self.report.divergences.append(d)
        if self.stop:
            self.report.raise_first()


@dataclass(frozen=True)
class _NodeCheck:
    """A step beside its nodes: `order` computes `targets` from `reads`."""

    step: str
    kind: str
    order: Sequence[Node]
    targets: Sequence[Value]
    reads: Mapping[str, np.ndarray]
    host: bool = False


class VerifiedExecutable(Executable):
    """An executable whose every run is verified; the first divergence raises VerificationError."""

    def __init__(self, executable: Executable, source: Graph, blame: Blame | None = None) -> None:
        super().__init__(executable.assembly, executable.code, executable.target, executable.options)
        self.verifier = Verifier(executable, source, blame)

    def call(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        self.verifier(inputs, True, outputs)


# --- graphs


def first_difference(a: Graph, b: Graph, arrays: Sequence[Any]) -> tuple[Value, Comparison] | None:
    """The first output in which two graphs differ for these inputs, both in float64: the value of `a`, and how."""
    expected, got = WideInterpreter(a).run(*arrays), WideInterpreter(b).run(*arrays)
    for k, (v, x, y) in enumerate(zip(a.outputs, got, expected, strict=True)):
        if type(v) is not Value or not isinstance(v.type, TensorType):
            continue
        dtype = float64 if v.type.dtype.category == FLOAT else v.type.dtype
        c = compare(np.ravel(x), dtype, PASS_TOLERANCE, [partial(np.asarray, y)], partial(rounded_output, a, arrays, k))
        if c.count:
            return v, c
    return None


def nodes_tolerance(nodes: Sequence[Node], stored: DType) -> float:
    """The relative tolerance of what nodes give, stored in a dtype."""
    if stored.category != FLOAT:
        return 0.0
    floats = [t for n in nodes for v in (*n.operands(), *n.outputs) if (t := _float_of(v)) is not None] or [stored]
    eps, length = max(map(precision, floats)), max(map(terms, nodes))
    return max(relative_tolerance(t, eps, length) for t in (stored, *floats))


def _float_of(v: Value) -> DType | None:
    return v.type.dtype if isinstance(v.type, TensorType) and v.type.dtype.category == FLOAT else None


def _rounded_nodes(order: Sequence[Node], known: Mapping[Value, Any], v: Value, random: np.random.Generator) -> Any:
    return evaluate_nodes(order, known, rounded_call(random))[v]


def rounded_output(graph: Graph, arrays: Sequence[Any], number: int, random: np.random.Generator) -> Any:
    """Output `number` of a graph, evaluated in float64 with random roundings."""
    return WideInterpreter(graph, rounded_call(random)).run(*arrays)[number]


def _result(results: Callable[[], Mapping[Value, Any]], v: Value) -> Any:
    return results()[v]


def _compare_with_spec(reference: SpecReference, b: Buffer, got: Any) -> Comparison:
    return compare(
        got, b.dtype, reference.tolerance(b.dtype), [lambda: reference.output(b.name, True), lambda: reference.output(b.name, False)],
        lambda random: reference.rounded(b.name, random),
    )  # fmt: skip


def _agree(a: Any, b: Any) -> bool:
    """Whether two float64 evaluations agree but for their own roundings (integers and bools: exactly)."""
    a, b = np.ravel(a), np.ravel(b)
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    return np.allclose(a, b, rtol=WIDE_TOLERANCE, atol=0.0, equal_nan=True)


def _updates(a: Launch) -> bool:
    return a.spec is not None and any(b.role == "inout" for b in a.spec.buffers.values())


def step_name(a: Any) -> str:
    """What reports call a step."""
    return a.name if isinstance(a, Launch) else f"host step {a.number}" if isinstance(a, HostCall) else f"copy of {a.source} to {a.target}"


def _checksum(array: Any) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
