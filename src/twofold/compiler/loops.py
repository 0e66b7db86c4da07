"""Kernels as loop nests of scalar code, which LLVM vectorises: the schedule of a spec, and its LLVM text.

A spec becomes one nest: *outer* loops over the dimensions that reductions keep (cut into chunks for threads), inside them one *pass* for
level of dependent reductions, then the stores. Where the contiguous dimension is a kept one, the innermost outer loop runs in blocks
of `BLOCK` elements whose accumulators are stack arrays, so that the vectors run along it. Reductions over the outer dimensions themselves
("carried", such as the gradient of a weight beside that of its input) are accumulated in memory by a single chunk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from twofold.compiler.affine import Affine
from twofold.compiler.contiguity import vector_dim
from twofold.compiler.emit_values import Values, convert_from_memory, convert_to_memory
from twofold.compiler.expr import Expr, Guard
from twofold.compiler.llvm import MEMORY, REGISTERS, Function, Module, Operand, Val, number
from twofold.compiler.spec import Buffer, KernelSpec, Reduce, Store
from twofold.ir.dtypes import float64
from twofold.runtime.target import Target

BLOCK = 64
"""Elements of the contiguous dimension whose accumulators are alive together in a column kernel."""
CHUNK_NS = 20_000.0
"""A chunk does at least this much estimated work: waking a thread costs a tenth of it."""
MAX_CHUNKS = 64
ATTRIBUTES = 'nounwind "no-trapping-math"="true"'


@dataclass
class Schedule:
    """How a spec runs. `outer`: dimensions of the outer loops, the first cut into `chunks`; `inner`: dimensions of the passes; `block`: the
    outer dimension that runs in blocks, if any; `passes`: stages by level; `carried`: reductions over outer dimensions; `last`: stores that
    need those."""

    spec: KernelSpec
    target: Target
    strict: bool
    outer: list[str]
    inner: list[str]
    block: str | None
    passes: list[list[Reduce | Store]]
    carried: list[Reduce]
    last: list[Store]
    chunks: int
    per_chunk: int

    def __str__(self) -> str:
        lines = [f"outer {' '.join(self.outer) or '-'}, inner {' '.join(self.inner) or '-'}, {self.chunks} chunk(s) of {self.per_chunk}"]
        if self.block:
            lines.append(f"  blocks of {BLOCK} along {self.block}")
        for i, stages in enumerate(self.passes):
            lines.append(f"  pass {i}: {', '.join(s.name if isinstance(s, Reduce) else s.buffer for s in stages)}")
        if self.carried:
            lines.append(f"  carried: {', '.join(r.name for r in self.carried)}; then {', '.join(s.buffer for s in self.last)}")
        return "\n".join(lines)


@dataclass
class KernelCode:
    """The code of a kernel: launches (symbol, chunks) made one after another, and memory it needs besides its buffers."""

    launches: tuple[tuple[str, int], ...]
    scratch: tuple[Buffer, ...] = field(default=())


def schedule(spec: KernelSpec, target: Target, *, strict: bool = False) -> Schedule:
    """The loop nest of a spec."""
    reductions = [s for s in spec.stages if isinstance(s, Reduce)]
    inner = _inner(spec, reductions)
    carried = [r for r in reductions if frozenset(r.over) != inner]
    names = {r.name for r in carried}
    last = [s for s in spec.stages if isinstance(s, Store) and s.value.accs & names]
    passes = _passes([s for s in spec.stages if s not in last])
    along = vector_dim(spec)
    stride = _strides(spec)
    outer = sorted((d for d in spec.sizes if d not in inner), key=lambda d: -stride[d])
    order = sorted((d for d in spec.sizes if d in inner), key=lambda d: (d == along, -stride[d]))
    block = along if reductions and along in outer and not carried else None
    if along in outer:
        outer = [d for d in outer if d != along] + [along]
    updates = any(s.mode != "set" or s.index for s in spec.stores)
    if updates:  # positions may collide: one element after the other, in C order
        outer, block = [d for s in spec.stores for d in s.dims], None
    first = spec.sizes[outer[0]] if outer else 1
    unit = BLOCK if block is not None and outer == [block] else 1
    chunks = 1
    if outer and not carried and not updates:
        cost = sum(s.value.cost * math.prod(spec.sizes[d] for d in s.dims) for s in spec.stages) + 0.1 * spec.elements
        chunks = max(1, min(int(cost / CHUNK_NS), MAX_CHUNKS, math.ceil(first / unit)))
    units = math.ceil(first / unit)
    per_chunk = max(1, math.ceil(units / chunks) * unit)
    chunks = max(1, math.ceil(first / per_chunk))
    return Schedule(spec, target, strict, outer, order, block, passes, carried, last, chunks, per_chunk)


def _inner(spec: KernelSpec, reductions: list[Reduce]) -> frozenset[str]:
    """The dimensions that passes run over: those of reductions used inside, else of all reductions."""
    used = set()
    by_name = {r.name: r for r in reductions}
    for s in spec.stages:
        for a in s.value.accs:
            if isinstance(s, Reduce) or not set(s.dims) <= set(by_name[a].kept):
                used.add(frozenset(by_name[a].over))
    if used:
        return next(iter(used))
    return frozenset(reductions[0].over) if reductions else frozenset()


def _passes(stages: list[Reduce | Store]) -> list[list[Reduce | Store]]:
    """Stages by level: one more than the reductions they read."""
    level: dict[str, int] = {}
    result: list[list[Reduce | Store]] = []
    for s in stages:
        k = max((level[a] + 1 for a in s.value.accs if a in level), default=0)
        if isinstance(s, Store):
            for e in s.index:
                k = max([k, *(level[a] + 1 for a in e.accs if a in level)])
        else:
            level[s.name] = k
        while len(result) <= k:
            result.append([])
        result[k].append(s)
    return result


def _strides(spec: KernelSpec) -> dict[str, int]:
    """For each dimension the largest step it makes in any access."""
    result = dict.fromkeys(spec.sizes, 0)
    forms = [e.attr[1] for e in spec.loads()] + [s.offset for s in spec.stores]
    for form in forms:
        for d, c in form.terms:
            result[d] = max(result[d], abs(c))
    return result


def emit_kernel(how: Schedule, module: Module, name: str) -> KernelCode:
    """Write the kernel's function into a module."""
    f = module.function(name, [("ptr", "args"), ("i64", "chunk")], attributes=ATTRIBUTES + _width(how.target))
    emitter = _Emitter(how, f)
    emitter.kernel()
    return KernelCode(((name, how.chunks),), tuple(emitter.scratch))


def _width(target: Target) -> str:
    return f' "prefer-vector-width"="{8 * target.vector_bytes}"'


class _Emitter:
    def __init__(self, how: Schedule, f: Function) -> None:
        self.how, self.spec, self.f = how, how.spec, f
        self.args, self.chunk = f.parameters
        self.env: dict[str, Val] = {}
        self.accs: dict[str, Val] = {}
        self.in_block: Val | None = None
        self.scratch: list[Buffer] = []
        self.values = Values(f, how.target, how.strict, self)
        self.pointers: dict[str, Val] = {}

    # --- what Values asks

    def index(self, form: Affine) -> Val:
        """The value of an affine form here."""
        f = self.f
        total: Operand = form.constant
        for d, c in form.terms:
            total = f.add(total, f.mul(self.env[d], c))
        return f.of(total, "i64")

    def accumulator(self, name: str) -> Val:
        """The value of a finished reduction here."""
        r = self.spec.reductions[name]
        type = self._type(r)
        x = self.f.load(type, self._place(r), self._align(type))
        return self._from_accumulator(r, x)

    def error(self) -> Val:
        return self.f.load("ptr", self.args, 8)

    # --- accumulators

    def _type(self, r: Reduce) -> str:
        if r.value.type == "bool":
            return "i8"
        if self.how.strict and r.op == "sum" and r.value.type == "f32":
            return "double"
        return REGISTERS[r.value.type]

    def _from_accumulator(self, r: Reduce, x: Val) -> Val:
        if r.value.type == "bool":
            return self.f.icmp("ne", x, 0)
        wanted = REGISTERS[r.value.type]
        return self.f.convert("fptrunc", x, wanted) if x.type == "double" and wanted == "float" else x

    @staticmethod
    def _align(type: str) -> int:
        return {"i8": 1, "i16": 2, "float": 4, "i32": 4}.get(type, 8)

    def _place(self, r: Reduce) -> Val:
        """The address of the accumulator for the current position."""
        base = self.accs[r.name]
        if r in self.how.carried:
            offset, stride = Affine(0, ()), 1
            for d in reversed(r.kept):
                offset = offset.plus(Affine(0, ((d, stride),)))
                stride *= self.spec.sizes[d]
            return self.f.gep(base, self.index(offset), self._type(r))
        return base if self.in_block is None else self.f.gep(base, self.in_block, self._type(r))

    def _start(self, r: Reduce) -> Val:
        type = self._type(r)
        if r.op in ("sum", "any"):
            return number(type, 0)
        if r.op in ("prod", "all"):
            return number(type, 1)
        if type in ("float", "double"):
            return number(type, float("-inf") if r.op == "max" else float("inf"))
        bits = int(type[1:])
        signed = r.value.type[0] == "i"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if r.value.type == "bool":
            low, high = 0, 1
        return number(type, low if r.op == "max" else high)

    def _combine(self, r: Reduce) -> None:
        """One element into the accumulator of the current position."""
        f, type = self.f, self._type(r)
        x = self.values.of(r.value)
        if r.value.type == "bool":
            x = f.convert("zext", x, "i8")
        elif x.type != type:
            x = f.convert("fpext", x, type)
        place = self._place(r)
        old = f.load(type, place, self._align(type))
        if r.op == "sum":
            new = f.fadd(old, x, "reassoc contract") if type in ("float", "double") else f.add(old, x)
        elif r.op == "prod":
            new = f.fmul(old, x, "reassoc contract") if type in ("float", "double") else f.mul(old, x)
        elif r.op in ("any", "all"):
            new = f.binary("or" if r.op == "any" else "and", old, x)
        else:
            new = self.values.extremum(r.op, old, x, r.value.type)
        f.store(new, place, self._align(type))

    # --- the nest

    def kernel(self) -> None:
        how, f = self.how, self.f
        if any(n == 0 for n in self.spec.sizes.values()) and not self.spec.reductions:
            f.ret()
            return
        for i, b in enumerate(self.spec.buffers.values()):
            self.pointers[b.name] = f.load("ptr", f.gep(self.args, i + 1, "ptr"), 8)
        for r in self.spec.stages:
            if isinstance(r, Reduce):
                self._declare(r)
        with ExitStack() as loops:
            for d in how.outer:
                self._open(loops, d)
            self._body()
        for s in how.last:
            with ExitStack() as loops:
                for d in s.dims:
                    self.env[d] = loops.enter_context(f.loop(0, self.spec.sizes[d]))
                self.values.forget()
                self._store(s)
        f.ret()

    def _open(self, loops: ExitStack, d: str) -> None:
        """Enter the loop of an outer dimension: of this chunk for the first; by blocks for the block dimension."""
        how, f, size = self.how, self.f, self.spec.sizes[d]
        low, high = number("i64", 0), number("i64", size)
        if d == how.outer[0] and how.chunks > 1:
            low = f.mul(self.chunk, how.per_chunk)
            high = f.intrinsic("llvm.smin", "i64", f.add(low, how.per_chunk), number("i64", size))
        if d == how.block:
            self.block_low = loops.enter_context(f.loop(low, high, BLOCK))
            self.block_high = f.intrinsic("llvm.smin", "i64", f.add(self.block_low, BLOCK), high)
        else:
            self.env[d] = loops.enter_context(f.loop(low, high))

    def _declare(self, r: Reduce) -> None:
        type = self._type(r)
        if r in self.how.carried:
            count = max(1, math.prod(self.spec.sizes[d] for d in r.kept))
            position = 1 + len(self.spec.buffers) + len(self.scratch)
            self.scratch.append(Buffer(f"carried.{r.name}", float64, count))
            self.accs[r.name] = self.f.load("ptr", self.f.gep(self.args, position, "ptr"), 8)
            with self.f.loop(0, count) as i:
                self.f.store(self._start(r), self.f.gep(self.accs[r.name], i, type), self._align(type))
        else:
            self.accs[r.name] = self.f.scratch((BLOCK if self.how.block else 1) * self._align(type))

    def _body(self) -> None:
        """All passes at one position (or block of positions) of the outer dimensions."""
        how = self.how
        carried = set(how.carried)
        for stages in how.passes:
            for r in stages:
                if isinstance(r, Reduce) and r not in carried:
                    self._in_block(partial(self._begin, r))
            full = [s for s in stages if set(s.dims) & set(how.inner)]
            flat = [s for s in stages if s not in full]
            if full:
                with ExitStack() as loops:
                    for d in how.inner:
                        self.env[d] = loops.enter_context(self.f.loop(0, self.spec.sizes[d]))
                    self._in_block(partial(self._stages, full))
            if flat:
                self._in_block(partial(self._stages, flat))

    def _begin(self, r: Reduce) -> None:
        self.f.store(self._start(r), self._place(r), self._align(self._type(r)))

    def _in_block(self, action: Callable[[], None]) -> None:
        """Run for each position of the block (for the one position where there is none)."""
        if self.how.block is None:
            self.values.forget()
            action()
            return
        with self.f.loop(self.block_low, self.block_high) as i:
            self.env[self.how.block] = i
            self.in_block = self.f.sub(i, self.block_low)
            self.values.forget()
            action()
        self.in_block = None

    def _stages(self, stages: list[Reduce | Store]) -> None:
        for s in stages:
            if isinstance(s, Reduce):
                self._combine(s)
            else:
                self._store(s)

    # --- memory

    def load(self, e: Expr) -> Val:
        """A load, guarded: outside its guards it reads element 0 and the value is not used."""
        f = self.f
        buffer, offset, guards, stored = e.attr
        at = self.index(offset)
        for index, stride in zip(e.args, e.strides, strict=True):
            at = f.add(at, f.mul(self.values.of(index), stride))
        if self.spec.buffers[buffer].numel == 0:
            return number(REGISTERS[e.type], 0)
        ok = self._guarded(guards)
        if ok is not None:
            at = f.select(ok, at, 0)
        element = MEMORY[stored.short]
        x = f.load(element, f.gep(self.pointers[buffer], at, element), stored.itemsize)
        return convert_from_memory(f, x, stored)

    def _guarded(self, guards: Sequence[Guard]) -> Val | None:
        result: Val | None = None
        for form, low, high in guards:
            first, last = form.bounds(self.spec.sizes)
            if low <= first and last < high:
                continue
            at = self.index(form)
            ok = self.f.binary("and", self.f.icmp("sge", at, low), self.f.icmp("slt", at, high))
            result = ok if result is None else self.f.binary("and", result, ok)
        return result

    def _store(self, s: Store) -> None:
        f = self.f
        ok = self._guarded(s.guards)
        with ExitStack() as inside:
            if ok is not None:
                inside.enter_context(f.when(ok))
                self.values.forget()
            at = self.index(s.offset)
            for x, stride in zip(s.index, s.strides, strict=True):
                at = f.add(at, f.mul(self.values.of(x), stride))
            element = MEMORY[s.dtype.short]
            place = f.gep(self.pointers[s.buffer], at, element)
            value = self.values.of(s.value)
            if s.mode != "set":
                old = convert_from_memory(f, f.load(element, place, s.dtype.itemsize), s.dtype)
                value = self.values.update(s.mode, old, value, s.value.type)
            f.store(convert_to_memory(f, value, s.dtype), place, s.dtype.itemsize)
            if ok is not None:
                self.values.forget()


__all__ = ["KernelCode", "Schedule", "emit_kernel", "schedule"]
