"""From plans to one native module: launches in order, their buffers, the memory plan, and the function `run` that makes them.

`run(table, context)` is the program: table[0] is the error word, table[slot] each buffer; context holds the runtime's functions (parallel
launch, host step, poll). It returns 0, or the first status that is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from twofold.compiler.emit import KernelCode, Schedule, emit_kernel, schedule
from twofold.compiler.expr import Expr, walk
from twofold.compiler.llvm import Function, Module, Val, number
from twofold.compiler.memory import Block, MemoryPlan, plan_memory
from twofold.compiler.planner import ControlStep, HostStep, KernelStep, Plan, TemplateStep, UpdateStep
from twofold.compiler.spec import KernelSpec, Reduce, Store
from twofold.ir.graph import Graph, Node, Value
from twofold.ir.types import TensorType
from twofold.runtime.target import Target


@dataclass(eq=False)
class Launch:
    """One kernel launch: what it computes (`spec` or `template`), its buffers in the order of its arguments, and how (`code`)."""

    name: str
    spec: KernelSpec | None
    template: Any
    buffers: list[str]
    nodes: tuple[str, ...]
    written: tuple[str, ...]
    schedule: Schedule | None = None
    code: KernelCode | None = None
    step: int = 0

    @property
    def scratch(self) -> list[str]:
        """Names of the memory the kernel needs besides its buffers."""
        return [f"{self.name}.scratch{i}" for i in range(len(self.code.scratch))] if self.code is not None else []


@dataclass(eq=False)
class HostCall:
    """One host step: NumPy runs `node` after the views `views`. `reads` and `writes` are buffers."""

    number: int
    node: Node
    views: list[Node]
    reads: list[str]
    writes: list[str]
    reason: str
    step: int = 0


@dataclass(eq=False)
class Copy:
    """`nbytes` from one buffer to another."""

    source: str
    target: str
    nbytes: int
    step: int = 0


@dataclass(eq=False)
class Branch:
    """cond: one of two bodies."""

    predicate: str
    true: list[Any]
    false: list[Any]
    step: int = 0


@dataclass(eq=False)
class Loop:
    """while_loop: the test's launches, the flag they leave, the body."""

    test: list[Any]
    flag: str
    body: list[Any]
    step: int = 0
    last: int = 0


@dataclass
class BufferInfo:
    """A buffer of the program. `kind`: "input", "output", "constant", "temporary"."""

    name: str
    type: TensorType
    kind: str
    slot: int = 0
    array: Any = None

    @property
    def nbytes(self) -> int:
        return self.type.nbytes


@dataclass
class Assembly:
    """Everything that is known before code is made: the launches, the buffers and their slots, the memory plan, the LLVM text."""

    graph: Graph
    plan: Plan
    actions: list[Any]
    buffers: dict[str, BufferInfo]
    memory: MemoryPlan
    text: str
    hosts: list[HostCall]
    sites: dict[int, tuple[Node, str]]
    root: dict[Value, Value]
    slots: int
    scratch_slots: dict[str, int] = field(default_factory=dict)

    @property
    def launches(self) -> list[Launch]:
        return [a for a in walk_actions(self.actions) if isinstance(a, Launch)]


def walk_actions(actions: Sequence[Any]) -> Iterator[Any]:
    """All actions, nested ones included, in program order."""
    for a in actions:
        yield a
        if isinstance(a, Branch):
            yield from walk_actions(a.true)
            yield from walk_actions(a.false)
        elif isinstance(a, Loop):
            yield from walk_actions(a.test)
            yield from walk_actions(a.body)


class _Flattener:
    """Plans → actions over named buffers."""

    def __init__(self) -> None:
        self.root: dict[Value, Value] = {}
        self.types: dict[str, TensorType] = {}
        self.hosts: list[HostCall] = []
        self.count = 0

    def resolve(self, v: Value) -> Value:
        while v in self.root:
            v = self.root[v]
        return v

    def name(self, v: Value) -> str:
        r = self.resolve(v)
        assert isinstance(r.type, TensorType)
        self.types.setdefault(r.name, r.type)
        return r.name

    def flatten(self, plan: Plan) -> list[Any]:
        self.root.update(plan.aliases)
        actions: list[Any] = []
        for step in plan.steps:
            actions += self._step(step)
        return actions

    def _step(self, step: Any) -> list[Any]:
        if isinstance(step, KernelStep):
            b = step.builder
            self.count += 1
            spec = b.spec(f"k{self.count}")
            values = {v.name: v for v in (*b.uses, *b.roots)}
            names = [self.name(values[n]) for n in spec.buffers]
            return [Launch(spec.name, spec, None, names, spec.nodes, tuple(self.name(r) for r in b.roots))]
        if isinstance(step, UpdateStep):
            return self._update(step)
        if isinstance(step, TemplateStep):
            self.count += 1
            t = step.template
            names = [self.name(v) for v in (*t.inputs, *t.outputs)]
            return [Launch(f"k{self.count}", None, t, names, (step.node.name,), tuple(self.name(v) for v in t.outputs))]
        if isinstance(step, HostStep):
            return [self._host(step)]
        return self._control(step)

    def _update(self, step: UpdateStep) -> list[Any]:
        result = []
        target = self.name(step.node.outputs[0])
        for b in step.update.builders:
            self.count += 1
            spec = b.spec(f"k{self.count}")
            values = {v.name: v for v in (*b.uses, *b.roots, step.node.outputs[0])}
            names = [self.name(values[n]) for n in spec.buffers]
            result.append(Launch(spec.name, spec, None, names, spec.nodes or (step.node.name,), (target,)))
        return result

    def _host(self, step: HostStep) -> HostCall:
        own = {v for n in step.views for v in n.outputs}
        reads = [v for n in (*step.views, step.node) for v in n.operands() if v not in own and isinstance(v.type, TensorType)]
        call = HostCall(
            len(self.hosts), step.node, step.views, list(dict.fromkeys(map(self.name, reads))),
            [self.name(v) for v in step.node.outputs if isinstance(v.type, TensorType)], step.reason,
        )  # fmt: skip
        self.hosts.append(call)
        return call

    def _control(self, step: ControlStep) -> list[Any]:
        node = step.node
        if node.op.name == "cond":
            predicate, operands = node.inputs
            bodies = []
            for plan in step.bodies:
                self.root.update(zip(plan.region.inputs, operands, strict=True))
                bodies.append(self.flatten(plan) + self._copies(plan.region.outputs, node.outputs))
            return [Branch(self.name(predicate), bodies[0], bodies[1])]
        carried = node.outputs
        test, body = step.bodies
        start = self._copies(node.inputs[0], carried)
        for plan in (test, body):
            self.root.update(zip(plan.region.inputs, carried, strict=True))
        tested = self.flatten(test)
        flag = self.name(test.region.outputs[0])
        return [*start, Loop(tested, flag, self.flatten(body) + self._copies(body.region.outputs, carried))]

    def _copies(self, sources: Sequence[Value], targets: Sequence[Value]) -> list[Any]:
        pairs = [
            (self.name(s), self.name(t), t.type.nbytes) for s, t in zip(sources, targets, strict=True) if isinstance(t.type, TensorType)
        ]
        return [Copy(s, t, n) for s, t, n in pairs if s != t]


def spec_key(spec: KernelSpec) -> Any:
    """What two specs that need the same code agree in: everything but names of buffers and nodes."""
    position = {name: i for i, name in enumerate(spec.buffers)}
    numbers: dict[Expr, int] = {}
    parts: list[Any] = []
    for s in spec.stages:
        roots = (s.value, *s.index) if isinstance(s, Store) else (s.value,)
        for e in walk(*roots):
            if e not in numbers:
                attr = (position[e.attr[0]], *e.attr[1:]) if e.op == "load" else repr(e.attr) if e.op == "const" else e.attr
                parts.append((e.op, tuple(numbers[a] for a in e.args), attr, e.type, e.strides))
                numbers[e] = len(numbers)
        if isinstance(s, Reduce):
            parts.append((s.name, s.op, s.over, s.kept, numbers[s.value]))
        else:
            parts.append(
                (position[s.buffer], s.offset, s.dims, numbers[s.value], s.mode, tuple(numbers[e] for e in s.index), s.strides, s.guards)
            )
    buffers = tuple((b.dtype, b.numel, b.role) for b in spec.buffers.values())
    return tuple(spec.sizes.items()), buffers, tuple(parts)


def _emit_kernels(actions: list[Any], module: Module, target: Target, strict: bool) -> None:
    """Code for every launch; equal specs share theirs."""
    made: dict[Any, tuple[Schedule | None, KernelCode]] = {}
    for a in walk_actions(actions):
        if not isinstance(a, Launch):
            continue
        key = spec_key(a.spec) if a.spec is not None else a.template
        found = made.get(key)
        if found is None:
            name = f"kernel{len(made)}"
            if a.spec is not None:
                how = schedule(a.spec, target, strict=strict)
                found = how, emit_kernel(how, module, name)
            else:
                found = None, a.template.emit(module, name, target)
            made[key] = found
        a.schedule, a.code = found


def _number_steps(actions: list[Any], start: int = 0) -> int:
    for a in actions:
        a.step = start
        start += 1
        if isinstance(a, Branch):
            start = _number_steps(a.false, _number_steps(a.true, start))
        elif isinstance(a, Loop):
            start = _number_steps(a.body, _number_steps(a.test, start))
            a.last = start - 1
    return start


def _touched(a: Any) -> list[str]:
    if isinstance(a, Launch):
        return a.buffers
    if isinstance(a, HostCall):
        return a.reads + a.writes
    if isinstance(a, Copy):
        return [a.source, a.target]
    return [a.predicate] if isinstance(a, Branch) else [a.flag]


def _blocks(actions: list[Any], temporaries: dict[str, BufferInfo]) -> list[Block]:
    """Lifetimes. What a loop reads from outside lives to the loop's end; what it carries is touched before and after it anyway."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}

    def visit(items: list[Any], loops: list[Loop]) -> None:
        for a in items:
            for name in _touched(a):
                if name not in temporaries:
                    continue
                first.setdefault(name, a.step)
                end = a.step
                for loop in loops:
                    if first[name] < loop.step:
                        end = max(end, loop.last)
                last[name] = max(last.get(name, 0), end)
            if isinstance(a, Branch):
                visit(a.true, loops)
                visit(a.false, loops)
            elif isinstance(a, Loop):
                if a.flag in temporaries:
                    first.setdefault(a.flag, a.step)
                    last[a.flag] = a.last
                visit(a.test, [*loops, a])
                visit(a.body, [*loops, a])

    visit(actions, [])
    pairs = _in_place_pairs(actions, first, last, temporaries)
    blocks = [Block(n, temporaries[n].nbytes, first[n], last[n], pairs.get(n)) for n in first]
    for a in walk_actions(actions):
        if isinstance(a, Launch) and a.code is not None:
            blocks += [Block(n, b.nbytes, a.step, a.step) for n, b in zip(a.scratch, a.code.scratch, strict=True)]
    return blocks


def _in_place_pairs(actions: list[Any], first: dict[str, int], last: dict[str, int], temporaries: dict[str, BufferInfo]) -> dict[str, str]:
    """Temporary → one that dies in the elementwise kernel that makes it, element for element."""
    pairs: dict[str, str] = {}
    for a in actions:
        if not isinstance(a, Launch) or a.spec is None or len(a.spec.stages) != 1:
            continue
        s = a.spec.stages[0]
        if (
            not isinstance(s, Store)
            or s.mode != "set"
            or s.index
            or s.guards
            or math.prod(a.spec.sizes.values()) != a.spec.buffers[s.buffer].numel
        ):
            continue
        real = dict(zip(a.spec.buffers, a.buffers, strict=True))
        out = real[s.buffer]
        loads = [e for e in walk(s.value) if e.op == "load"]
        for name in dict.fromkeys(real.values()):
            info = temporaries.get(name)
            if info is None or out not in temporaries or name == out or last.get(name) != a.step or first.get(out) != a.step:
                continue
            mine = [e for e in loads if real[e.attr[0]] == name]  # under all its names: a view of it is another buffer of the spec
            if info.nbytes == temporaries[out].nbytes and all(e.attr[1] == s.offset and not e.args and not e.attr[2] for e in mine):
                pairs[out] = name
                break
    return pairs


def assemble_program(graph: Graph, plan: Plan, sites: dict[int, tuple[Node, str]], target: Target, strict: bool = False) -> Assembly:
    """The module of a planned graph for a target."""
    flattener = _Flattener()
    actions = flattener.flatten(plan)
    module = Module()
    _emit_kernels(actions, module, target, strict)
    _number_steps(actions)
    buffers = _buffers(graph, flattener)
    temporaries = {n: b for n, b in buffers.items() if b.kind == "temporary"}
    memory = plan_memory(_blocks(actions, temporaries))
    slot = 1
    for info in buffers.values():
        info.slot = slot
        slot += 1
    scratch_slots = {}
    for a in walk_actions(actions):
        if isinstance(a, Launch):
            for n in a.scratch:
                scratch_slots[n] = slot
                slot += 1
    PartedRunWriter(module, buffers, scratch_slots).write(actions)
    return Assembly(graph, plan, actions, buffers, memory, str(module), flattener.hosts, sites, flattener.root, slot, scratch_slots)


def _buffers(graph: Graph, flattener: _Flattener) -> dict[str, BufferInfo]:
    """All buffers: inputs first, then outputs, constants and temporaries."""
    buffers: dict[str, BufferInfo] = {}
    for v in graph.inputs:
        if isinstance(v.type, TensorType):
            buffers[v.name] = BufferInfo(v.name, v.type, "input")
    for v in graph.outputs:
        if type(v) is Value and isinstance(v.type, TensorType):
            name = flattener.name(v)
            if name not in buffers:
                buffers[name] = BufferInfo(name, v.type, "output")
    constants = {n.outputs[0].name: n for n in graph.walk() if n.op.name == "constant"}
    for name, t in flattener.types.items():
        if name not in buffers:
            if name in constants:
                buffers[name] = BufferInfo(name, t, "constant", array=constants[name].attributes["value"].array)
            else:
                buffers[name] = BufferInfo(name, t, "temporary")
    return buffers


class RunWriter:
    """Writes `run`. `instrument.py` overrides `action`."""

    def __init__(self, module: Module, buffers: dict[str, BufferInfo], scratch: dict[str, int]) -> None:
        self.module, self.buffers, self.scratch = module, buffers, scratch
        self.f: Function = module.function("run", [("ptr", "table"), ("ptr", "context")], "i32", "nounwind")
        self.table, self.context = self.f.parameters

    def write(self, actions: list[Any]) -> None:
        """The whole body of the function `f`."""
        f = self.f
        most = max((len(a.buffers) + len(a.scratch) for a in walk_actions(actions) if isinstance(a, Launch)), default=0)
        self.arguments = f.scratch(8 * (most + 1), 8)
        self.can_fail = False
        error = self._pointer(0)
        f.store(error, self.arguments, 8)
        self.status = f.variable("i32", 0)
        self._actions(actions)
        f.ret(number("i32", 0))
        if self.can_fail:
            f.label("failed")
            f.ret(f.get(self.status, "i32"))

    def _pointer(self, slot: int) -> Val:
        return self.f.load("ptr", self.f.gep(self.table, slot, "ptr"), 8)

    def _slot(self, name: str) -> int:
        return self.scratch[name] if name in self.scratch else self.buffers[name].slot

    def _function(self, index: int) -> Val:
        return self.f.load("ptr", self.f.gep(self.context, index, "ptr"), 8)

    def _check(self, status: Val) -> None:
        """Leave the function with a status that is not 0."""
        f = self.f
        self.can_fail = True
        f.set(self.status, status)
        ok = f.fresh("ok")
        f.branch_if(f.icmp("eq", status, 0), ok, "failed")
        f.label(ok)

    def _actions(self, actions: list[Any]) -> None:
        for a in actions:
            self.action(a)

    def action(self, a: Any) -> None:
        """The code of one action, nested ones included."""
        if isinstance(a, Launch):
            self._launch(a)
        elif isinstance(a, HostCall):
            self.host_step(a.number)
        elif isinstance(a, Copy):
            self._copy(a)
        elif isinstance(a, Branch):
            self._branch(a)
        else:
            self._loop(a)

    def host_step(self, number: int) -> None:
        """A call of the frame's host function."""
        self._check(self.f.let("i32", f"call i32 {self._function(1)}(ptr {self.context}, i64 {number})"))

    def _launch(self, a: Launch) -> None:
        f = self.f
        for i, name in enumerate([*a.buffers, *a.scratch]):
            f.store(self._pointer(self._slot(name)), f.gep(self.arguments, i + 1, "ptr"), 8)
        assert a.code is not None
        for symbol, chunks in a.code.launches:
            if chunks == 1:
                f.emit(f"call void @{symbol}(ptr {self.arguments}, i64 0)")
            elif chunks > 1:
                call = f"call i32 {self._function(0)}(ptr {self.context}, ptr @{symbol}, ptr {self.arguments}, i64 {chunks})"
                self._check(f.let("i32", call))

    def _copy(self, a: Copy) -> None:
        if a.nbytes:
            self.module.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
            source, target = self._pointer(self._slot(a.source)), self._pointer(self._slot(a.target))
            self.f.emit(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {a.nbytes}, i1 false)")

    def _flag(self, name: str) -> Val:
        return self.f.icmp("ne", self.f.load("i8", self._pointer(self._slot(name)), 1), 0)

    def _branch(self, a: Branch) -> None:
        f = self.f
        yes, no, after = f.fresh("true"), f.fresh("false"), f.fresh("joined")
        f.branch_if(self._flag(a.predicate), yes, no)
        for label, body in ((yes, a.true), (no, a.false)):
            f.label(label)
            self._actions(body)
            f.branch(after)
        f.label(after)

    def _loop(self, a: Loop) -> None:
        f = self.f
        test, body, after = f.fresh("test"), f.fresh("body"), f.fresh("done")
        f.branch(test)
        f.label(test)
        self._check(f.let("i32", f"call i32 {self._function(2)}(ptr {self.context})"))
        self._actions(a.test)
        f.branch_if(self._flag(a.flag), body, after)
        f.label(body)
        self._actions(a.body)
        f.branch(test)
        f.label(after)


PART_ACTIONS = 128
"""Longest sequence of actions in one function: LLVM takes more than linear time for long functions."""


class PartedRunWriter(RunWriter):
    """`run` as a function that calls parts of at most PART_ACTIONS actions each; so are bodies of branches and loops that are longer."""

    parts = 0

    def _actions(self, actions: list[Any]) -> None:
        if len(actions) <= PART_ACTIONS:
            super()._actions(actions)
            return
        for begin in range(0, len(actions), PART_ACTIONS):
            self._part(actions[begin : begin + PART_ACTIONS])

    def _part(self, actions: list[Any]) -> None:
        """A function for these actions, and its call."""
        self.parts += 1
        name = f"part{self.parts}"
        around = self.f, self.table, self.context, self.arguments, self.status, self.can_fail
        self.f = self.module.function(name, [("ptr", "table"), ("ptr", "context")], "i32", "noinline nounwind", internal=True)
        self.write(actions)
        self.f, self.table, self.context, self.arguments, self.status, self.can_fail = around
        self._check(self.f.call(name, "i32", self.table, self.context))
