"""Schedules as LLVM text: each launch one function, its loop tree written node by node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from twofold.compiler.affine import Affine
from twofold.compiler.emit_functions import ELEMENTARY
from twofold.compiler.emit_positions import Positions, Tiling
from twofold.compiler.emit_values import STORED, Values
from twofold.compiler.evaluate import identity
from twofold.compiler.expr import COSTS, Expr, dtype_of, is_float, walk
from twofold.compiler.llvm import REGISTERS, Function, Module, Operand, Val, number, vector
from twofold.compiler.schedule import schedule
from twofold.compiler.schedule_tree import CHUNK, Finish, Flush, Init, Launch, Limit, Loop, Node, Rows, Schedule, Step, Tile, Transpose
from twofold.compiler.spec import Buffer, Reduce, Stage, Store, roots_of
from twofold.runtime.target import Target

MANY_USES = 12
SHORT_NS = 0.2
"""A function that is used more often than MANY_USES in a launch and takes longer is called."""
ATTRIBUTES = 'nounwind "no-trapping-math"="true" "probe-stack"="inline-asm"'
"""Row buffers are large: their pages are touched in order, so that a thread whose stack is too small stops at its guard page."""


@dataclass
class KernelCode:
    """The code of a kernel: launches (symbol, chunks) made one after another, and memory it needs besides its buffers."""

    launches: tuple[tuple[str, int], ...]
    scratch: tuple[Buffer, ...] = field(default=())


def emit_kernel(how: Schedule, module: Module, name: str) -> KernelCode:
    """Write a kernel's functions into a module: `name`, `name.1`, …"""
    buffers = how.spec.buffers | {b.name: b for b in how.scratch}
    launches = []
    for k, launch in enumerate(how.launches):
        symbol = f"{name}.{k}" if k else name
        width = f' "prefer-vector-width"="{8 * how.target.vector_bytes}"'
        f = module.function(symbol, [("ptr", "args"), ("i64", "chunk")], attributes=ATTRIBUTES + width)
        _LaunchWriter(f, launch, how.target, how.strict, buffers).write()
        launches.append((symbol, launch.chunks))
    return KernelCode(tuple(launches), tuple(how.scratch))


class _Accumulators:
    """Those of one reduction: for each level and block a variable; one more a level for elements that are computed in scalars."""

    def __init__(self, f: Function, r: Reduce, init: Init, lanes: int, compensated: bool) -> None:
        element = REGISTERS[r.value.type]
        self.type, self.element, self.levels = vector(element, lanes), element, init.levels
        start = identity(r.op, dtype_of(r.value.type).numpy).item()
        self.start = start
        self.blocks = [[f.variable(self.type, start) for _ in range(init.blocks)] for _ in range(init.levels)]
        self.scalar = [f.variable(element, start) for _ in range(init.levels)] if init.scalar else []
        # what rounding took from the sum so far, by the variable that holds the sum
        variables = [(v, self.type) for v in self.blocks[0]] + [(v, element) for v in self.scalar[:1]]
        self.lost = {v: f.variable(type, 0.0) for v, type in variables} if compensated else {}


class _LaunchWriter:
    """Writes the function of one launch."""

    def __init__(self, f: Function, launch: Launch, target: Target, strict: bool, buffers: dict[str, Buffer]) -> None:
        self.f, self.launch, self.buffers = f, launch, buffers
        self.args, self.chunk = f.parameters
        self.at = Positions(f, launch.sizes | {CHUNK: launch.chunks})
        error = f.load("ptr", self.args, 8)
        self.values = Values(self.at, target, strict, {**buffers, **launch.stack}, error)
        self.values.outlined = _frequent(launch.stages)
        self.accumulators: dict[str, _Accumulators] = {}
        self.rows: Rows | None = None
        self.row_scopes: list[dict] = []

    def write(self) -> None:
        launch, f = self.launch, self.f
        used = self._used()
        for i, name in enumerate(self.buffers):
            if name in used:
                self.values.pointers[name] = f.load("ptr", f.gep(self.args, i + 1, "ptr"), 8)
        for name, b in launch.stack.items():
            self.values.pointers[name] = f.scratch(b.numel * b.dtype.itemsize)
        self.at.env[CHUNK] = self.chunk
        if launch.chunked is not None and launch.chunks > 1:
            self.low = f.mul(self.chunk, launch.per_chunk)
            self.high = f.intrinsic("llvm.smin", "i64", f.add(self.low, launch.per_chunk), number("i64", launch.sizes[launch.chunked]))
        for buffer, offset, count, r in launch.fills:
            self._fill(buffer, offset, count, r)
        self._nodes(launch.tree)
        f.ret()

    def _used(self) -> set[str]:
        """Names of the buffers that are touched."""
        names = {name for name, *_ in self.launch.fills}
        for s in self.launch.stages:
            names |= {e.attr[0] for e in walk(*roots_of(s)) if e.op == "load"}
            if isinstance(s, Store):
                names.add(s.buffer)
        return names

    def _fill(self, buffer: str, offset: Affine, count: int, r: Reduce) -> None:
        f, dtype = self.f, self.buffers[buffer].dtype
        start = number(STORED[dtype.short], identity(r.op, dtype_of(r.value.type).numpy).item())
        base = f.gep(self.values.pointers[buffer], self.at.index(offset), start.type)
        with f.loop(0, count) as i:
            f.store(start, f.gep(base, i, start.type), dtype.itemsize)

    # --- loops

    def _nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self._loop(node)
            elif isinstance(node, Tile):
                self._tile(node)
            elif isinstance(node, Rows):
                self._grouped(node)
            elif isinstance(node, Transpose):
                self._transpose(node)
            elif isinstance(node, Step):
                self._step(node.stages)
            elif isinstance(node, Init):
                self._init(node)
            elif isinstance(node, Flush):
                self._flush(node)
            else:
                assert isinstance(node, Finish)
                self._finish(node)

    def _limit(self, limit: Limit) -> Operand:
        if isinstance(limit, int):
            return limit
        if limit.end == "low":
            return self.low
        if limit.multiple == 1:
            return self.high
        f = self.f
        extent = f.sub(self.high, self.low)
        return f.add(self.low, f.sub(extent, f.binary("urem", extent, limit.multiple)))

    def _loop(self, node: Loop) -> None:
        at, f, d = self.at, self.f, node.dim
        self._hoist(node)
        low, high = (at.env[d] if node.within else self._limit(node.low)), self._limit(node.high)
        if node.within:
            high = f.intrinsic("llvm.smin", "i64", f.add(at.env[d], node.within), f.of(high, "i64"))
        outside = at.env.get(d)
        with f.loop(low, high, node.step) as i, at.scope():
            at.env[d] = i
            self._nodes(node.body)
            del at.env[d]
        if outside is not None:
            at.env[d] = outside

    def _tile(self, node: Tile) -> None:
        at, f, d = self.at, self.f, self.launch.vector
        assert d is not None
        assert at.tile is None
        with ExitStack() as stack:
            stack.enter_context(at.scope())
            if whole := d not in at.env:
                at.env[d] = number("i64", 0)
            at.tile = Tiling(d, node.blocks, node.lanes)
            if node.mask is not None:
                at.tile = at.tile._replace(mask=at.first_lanes(node.mask))
            elif node.dynamic:
                at.tile = at.tile._replace(mask=at.first_lanes(f.sub(self.high, at.env[d])))
            self._nodes(node.body)
            at.tile = None
            if whole:
                del at.env[d]

    def _grouped(self, node: Rows) -> None:
        """Rows: the body with all rows at each position."""
        at, first = self.at, self.at.env[node.dim]
        self.row_scopes = []
        self.rows = node
        for k in range(node.count):
            at.env[node.dim] = self.f.add(first, k)
            with at.scope() as own:
                self._hoist(node)
            self.row_scopes.append(own)
        at.env[node.dim] = first
        self._nodes(node.body)
        self.rows = None

    def _transpose(self, node: Transpose) -> None:
        """Squares through stack memory: loaded along `dim`, transposed, then read row by row."""
        at, f, values, tile = self.at, self.f, self.values, self.at.tile
        assert tile is not None
        lanes, first = tile.lanes, at.env[node.dim]
        places = {}
        for e in node.loads:
            buffer, offset, _, stored = e.attr
            element, step = STORED[stored.short], offset.coefficient(tile.dim)
            start = f.gep(values.pointers[buffer], at.index(offset), element)
            size = stored.itemsize
            rows = [f.load(vector(element, lanes), f.gep(start, k * step, element), size) for k in range(lanes)]
            places[e] = f.scratch(lanes * lanes * size)
            for j, column in enumerate(f.transposed(rows)):
                f.store(column, f.gep(places[e], j * lanes, element), size)
        with f.loop(0, lanes) as k, at.scope():
            at.env[node.dim] = f.add(first, k)
            for e, place in places.items():
                stored = e.attr[3]
                element = STORED[stored.short]
                row = f.load(vector(element, lanes), f.gep(place, f.mul(k, lanes), element), stored.itemsize)
                at.keep((e, 0), values.from_memory(row, stored))
            self._nodes(node.body)
        at.env[node.dim] = first

    def _hoist(self, node: Node) -> None:
        """Compute here what the body of a loop needs and does not change in it."""
        inside = {n.dim for n in node.walk() if isinstance(n, Loop | Transpose)}
        if any(isinstance(n, Tile) for n in node.walk()) and self.launch.vector is not None:
            inside.add(self.launch.vector)
        for n in node.walk():
            if isinstance(n, Step):
                for s in n.stages:
                    self._hoist_stage(s, inside)

    def _hoist_stage(self, s: Stage, inside: set[str]) -> None:
        at = self.at
        if isinstance(s, Store):
            at._sum(tuple(t for t in s.offset.terms if t[0] not in inside))
        fixed = []
        uses: set[Expr] = set()
        for e in walk(*roots_of(s)):
            if e.op == "load":
                at._sum(tuple(t for t in e.attr[1].terms if t[0] not in inside))
            checked = e.op == "check_index" or any(a in uses for a in e.args)
            if checked:
                uses.add(e)
            elif not e.dims & inside and e.op not in ("const", "acc") and all(a in self.values.results for a in e.accs):
                fixed.append(e)
        covered = {a for e in fixed for a in e.args}
        self.values.each(e for e in fixed if e not in covered)

    # --- stages

    def _step(self, stages: Sequence[Stage]) -> None:
        if self.rows is not None:
            for s in stages:
                assert isinstance(s, Store)
                self._accumulate_rows(s)
            return
        plain = [s for s in stages if not (isinstance(s, Store) and s.guards)]
        self.values.each(e for s in plain for e in roots_of(s))
        for s in stages:
            if isinstance(s, Reduce):
                self._reduce(s)
            else:
                self._store(s)

    def _blocks(self, s: Stage) -> Sequence[int]:
        return self.at.blocks(frozenset(s.dims))

    def _reduce(self, r: Reduce) -> None:
        """One position (for each block) into the accumulators."""
        f, at, acc = self.f, self.at, self.accumulators[r.name]
        for b in self._blocks(r):
            lanes = at.tile.lanes if at.tile is not None and b >= 0 else 1
            in_scalars = lanes == 1 and acc.type[0] == "<"
            place = acc.scalar[0] if in_scalars else acc.blocks[0][max(b, 0)]
            x = f.splat(self.values.of(r.value, b), lanes)
            old = f.get(place, x.type)
            mask = at.tile.mask_of(b) if at.tile is not None and b >= 0 else None
            if place in acc.lost:
                x = x if mask is None else f.select(mask, x, acc.start)
                self._add_exactly(acc, place, old, x)
                continue
            new = self.values.functions.combine(r.op, old, x, r.value.type)
            f.set(place, new if mask is None else f.select(mask, new, old))

    def _add_exactly(self, acc: _Accumulators, place: Val, old: Val, x: Val) -> None:
        """Knuth's two-sum: the sum, and exactly what rounding took from it."""
        f, lost = self.f, acc.lost[place]
        total = f.fadd(old, x, "")
        part = f.fsub(total, old, "")
        error = f.fadd(f.fsub(old, f.fsub(total, part, ""), ""), f.fsub(x, part, ""), "")
        f.set(lost, f.fadd(f.get(lost, x.type), error, ""))
        f.set(place, total)

    def _store(self, s: Store) -> None:
        values, at = self.values, self.at
        if not s.guards:
            for b in self._blocks(s):
                self._store_block(s, b, None)
            return
        for b in self._blocks(s):
            uniform, mask = values.guarded(s.guards, b)
            with at.when(uniform), at.scope():
                values.active = {b: mask}
                self._store_block(s, b, mask)
                values.active = {}

    def _store_block(self, s: Store, block: int, mask: Val | None) -> None:
        at, values, f = self.at, self.values, self.f
        tile = at.tile if block >= 0 else None
        if tile is not None:
            mask = values.both(mask, tile.mask_of(block))
            if mask is not None:
                values.active = {block: mask}
        lanes = tile.lanes if tile is not None else 1
        values.each((*s.index, s.value))
        x = f.splat(values.of(s.value, block), lanes)
        moved: Val | None = None
        for e, stride in zip(s.index, s.strides, strict=True):
            step = f.mul(values.of(e, block), stride) if stride != 1 else values.of(e, block)
            if moved is not None and moved.lanes != step.lanes:
                moved, step = f.splat(moved, lanes), f.splat(step, lanes)
            moved = step if moved is None else f.binary("add", moved, step)
        values.active = {}
        self._write(s, block, x, mask, moved)

    def _write(self, s: Store, block: int, x: Val, mask: Val | None, moved: Val | None) -> None:
        """Store (or combine with what is there) the lanes of one block."""
        at, values, f = self.at, self.values, self.f
        element, size = STORED[s.dtype.short], s.dtype.itemsize
        pointer = values.pointers[s.buffer]
        if not x.is_vector:
            assert mask is None or not mask.is_vector
            place = f.gep(pointer, f.add(at.index(s.offset, block), moved if moved is not None else 0), element)
            new = x if s.mode == "set" else self._combined(s, f.load(element, place, size), x)
            f.store(values.to_memory(new, s.dtype), place, size)
            return
        type = vector(element, x.lanes)
        assert at.tile is not None
        step = s.offset.coefficient(at.tile.dim)
        if (moved is None or not moved.is_vector) and step in (1, -1) and (step == 1 or mask is None):
            base = at.index(s.offset, block)
            if moved is not None:
                base = f.add(base, moved)
            place = f.gep(pointer, base if step == 1 else f.add(base, 1 - x.lanes), element)
            back = list(reversed(range(x.lanes)))
            if s.mode != "set":
                old = f.load(type, place, size) if mask is None else f.masked_load(type, place, mask, size)
                x = self._combined(s, old if step == 1 else f.shuffle(old, None, back), x)
            stored = values.to_memory(x, s.dtype)
            stored = stored if step == 1 else f.shuffle(stored, None, back)
            if mask is None:
                f.store(stored, place, size)
            else:
                f.masked_store(stored, place, mask, size)
            return
        pointers, full = values.lane_pointers(s.buffer, s.offset, element, block, moved), values.full(mask)
        if s.mode != "set":
            x = self._combined(s, f.gather(type, pointers, full, size), x)
        f.scatter(values.to_memory(x, s.dtype), pointers, full, size)

    def _combined(self, s: Store, old: Val, x: Val) -> Val:
        return self.values.functions.combine(s.mode, self.values.from_memory(old, s.dtype), x, s.value.type)

    def _accumulate_rows(self, s: Store) -> None:
        """Combine all rows with what is in memory, which is read and written once."""
        at, values, f, rows = self.at, self.values, self.f, self.rows
        assert rows is not None
        dim, first, outer = rows.dim, at.env[rows.dim], at.scopes
        fixed = [{k: v for k, v in scope.items() if not _varies(k, dim)} for scope in outer]
        parts: dict[int, list[Val]] = {b: [] for b in self._blocks(s)}
        for k, own in enumerate(self.row_scopes):
            at.env[dim] = f.add(first, k) if k else first
            at.scopes = [*fixed, own, {}]
            values.each([s.value])
            for b in parts:
                lanes = at.tile.lanes if at.tile is not None and b >= 0 else 1
                parts[b].append(f.splat(values.of(s.value, b), lanes))
        at.env[dim], at.scopes = first, outer
        element, size = STORED[s.dtype.short], s.dtype.itemsize
        for b, terms in parts.items():
            mask = at.tile.mask_of(b) if at.tile is not None and b >= 0 else None
            step = s.offset.coefficient(at.tile.dim) if at.tile is not None else 0
            assert step == 1 or not terms[0].is_vector
            place = f.gep(values.pointers[s.buffer], at.index(s.offset, b), element)
            type = vector(element, terms[0].lanes)
            old = values.from_memory(f.load(type, place, size) if mask is None else f.masked_load(type, place, mask, size), s.dtype)
            new = values.functions.combine(s.mode, old, self._tree(s.mode, terms, s.value.type), s.value.type)
            stored = values.to_memory(new, s.dtype)
            if mask is None:
                f.store(stored, place, size)
            else:
                f.masked_store(stored, place, mask, size)

    # --- reductions

    def _init(self, node: Init) -> None:
        tile = self.at.tile
        for r in node.reductions:
            lanes = tile.lanes if tile is not None else self.launch.lanes if self.launch.vector in r.over else 1
            self.accumulators[r.name] = _Accumulators(self.f, r, node, lanes, self.launch.compensated(r))
            acc = self.accumulators[r.name]
            for level in acc.blocks:
                for place in level:
                    self._reset(acc, place, acc.type)
            for place in acc.scalar:
                self._reset(acc, place, acc.element)

    def _reset(self, acc: _Accumulators, place: Val, type: str) -> None:
        self.f.set(place, number(type, acc.start))
        if place in acc.lost:
            self.f.set(acc.lost[place], number(type, 0.0))

    def _flush(self, node: Flush) -> None:
        f = self.f
        for r in node.reductions:
            acc = self.accumulators[r.name]
            pairs = [(a, b, acc.type) for a, b in zip(acc.blocks[node.level], acc.blocks[node.level + 1], strict=True)]
            if acc.scalar:
                pairs.append((acc.scalar[node.level], acc.scalar[node.level + 1], acc.element))
            for low, high, type in pairs:
                f.set(high, self.values.functions.combine(r.op, f.get(high, type), f.get(low, type), r.value.type))
                f.set(low, number(type, acc.start))

    def _finish(self, node: Finish) -> None:
        for r in node.reductions:
            acc = self.accumulators.pop(r.name)
            blocks = [self._settled(r, acc, [level[b] for level in acc.blocks], acc.type) for b in range(len(acc.blocks[0]))]
            if not node.across:
                self.values.results[r.name] = blocks
                continue
            total = self._tree(r.op, blocks, r.value.type)
            if total.is_vector:
                total = self._across(r, total)
            if acc.scalar:
                rest = self._settled(r, acc, acc.scalar, acc.element)
                total = self.values.functions.combine(r.op, total, rest, r.value.type)
            self.values.results[r.name] = total

    def _settled(self, r: Reduce, acc: _Accumulators, levels: Sequence[Val], type: str) -> Val:
        """All levels of one accumulator, with what rounding took."""
        f = self.f
        parts = [f.get(v, type) for v in levels]
        total = self._tree(r.op, parts, r.value.type)
        if levels[0] in acc.lost:
            better = f.fadd(total, f.get(acc.lost[levels[0]], type), "")
            total = f.select(f.fcmp("ord", better, better), better, total)  # an infinite sum stays infinite
        return total

    def _tree(self, op: str, parts: Sequence[Val], type: str) -> Val:
        """Parts combined pairwise."""
        while len(parts) > 1:
            pairs = [self.values.functions.combine(op, a, b, type) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = [*pairs, parts[-1]] if len(parts) % 2 else pairs
        return parts[0]

    def _across(self, r: Reduce, x: Val) -> Val:
        """All lanes combined, halves first."""
        f = self.f
        while x.lanes > 2:
            half = x.lanes // 2
            low, high = f.shuffle(x, None, list(range(half))), f.shuffle(x, None, list(range(half, 2 * half)))
            x = self.values.functions.combine(r.op, low, high, r.value.type)
        low, high = (f.let(x.element, f"extractelement {x.type} {x}, i64 {k}") for k in (0, 1))
        return self.values.functions.combine(r.op, low, high, r.value.type)


def _frequent(stages: Sequence[Stage]) -> frozenset[tuple[str, str]]:
    """Functions of floats that are used more than MANY_USES times."""
    roots = [e for s in stages for e in roots_of(s)]
    uses = Counter((e.op, e.args[-1].type) for e in walk(*roots) if e.op in ELEMENTARY and is_float(e.args[-1].type))
    return frozenset(key for key, count in uses.items() if count > MANY_USES and COSTS.get(key[0], 0.0) > SHORT_NS)


def _varies(key: object, dim: str) -> bool:
    """Whether what is known under a key varies along a dimension (index forms name counters, which are new for each row)."""
    return isinstance(key, tuple) and isinstance(key[0], Expr) and dim in key[0].dims


__all__ = ["KernelCode", "Schedule", "emit_kernel", "schedule"]
