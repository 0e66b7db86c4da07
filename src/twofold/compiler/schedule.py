"""From a KernelSpec to its schedule: which launches there are, what each computes, how it is cut into chunks.

A launch has *outer* dimensions, walked once, and *inner* ones, which its passes walk again and again: those of reductions that are used
inside. Its reductions are over exactly the inner dimensions, or *carried*: over outer dimensions, accumulated in memory, one part for each
chunk. Whatever does not fit is left for the next launch, which loads what earlier ones left in scratch memory; so any spec has a schedule.
A carried reduction is finished by a later launch that reduces over the chunks: an ordinary reduction over one more dimension.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from twofold.compiler.affine import ZERO, Affine, affine
from twofold.compiler.contiguity import vector_dim
from twofold.compiler.expr import ARITHMETIC, COSTS, FREE, Expr, acc, dtype_of, load, walk
from twofold.compiler.schedule_forms import Rewriting, is_ordered, normal_form, with_fast_gelu, with_reciprocals
from twofold.compiler.schedule_kinds import build_tree, crossing_loads
from twofold.compiler.schedule_rows import keep_rows
from twofold.compiler.schedule_tree import CHUNK, Launch, Schedule
from twofold.compiler.spec import Buffer, KernelSpec, Reduce, Stage, Store, roots_of
from twofold.runtime.target import Target

CHUNK_NS = 17_000.0
"""A chunk does at least this much estimated work: waking a thread costs a tenth of it."""
MAX_CHUNKS = 64
CARRIED_CHUNKS = 16
"""Each chunk of a launch with carried reductions writes a part of its own, which is read again."""
CARRIED_BYTES = 1 << 18
"""The parts of a carried reduction must stay in the second-level cache while rows go by."""
FEW_ROWS = 16
"""Reductions over fewer rows keep their accumulators in registers, column by column."""


def schedule(spec: KernelSpec, target: Target, *, strict: bool = False) -> Schedule:
    """How `spec` runs on a target. `strict`: float32 sums accumulate in float64, float64 sums are compensated, division is division."""
    result = Schedule(spec, target, strict)
    sizes, stages = normal_form(spec.sizes, spec.stages, strict)
    if not strict:
        stages = with_fast_gelu(stages)
    maker = _Maker(result, sizes)
    while stages:
        stages = maker.next(stages)
    return result


def own_cost(e: Expr) -> float:
    """ns an element of one expression without its operands."""
    return (0.0 if e.op in FREE else COSTS.get(e.op, ARITHMETIC)) * (2.0 if e.type == "f64" else 1.0)


def accs_of(s: Stage) -> frozenset[str]:
    """The reductions a stage reads."""
    return frozenset().union(*(e.accs for e in roots_of(s)))


def estimated_ns(stages: Sequence[Stage], sizes: dict[str, int]) -> float:
    """Estimated work of stages in ns on one core."""
    total = sum(0.1 * math.prod(sizes[d] for d in s.dims) for s in stages)
    for e in walk(*(e for s in stages for e in roots_of(s))):
        total += own_cost(e) * math.prod(sizes[d] for d in e.dims if d in sizes)
    return total


def lanes_of(stages: Sequence[Stage], target: Target) -> int:
    """Elements of a vector: those of the widest common type; 64-bit values beside 32-bit ones take several registers."""
    types = {e.type for e in walk(*(e for s in stages for e in roots_of(s))) if e.op not in ("iota", "const")}
    types |= {s.dtype.short for s in stages if isinstance(s, Store)}
    if types & {"f32", "i32", "u32", "bf16", "f16"}:
        return target.vector_bytes // 4
    return target.vector_bytes // 8 if types & {"f64", "i64", "u64"} else target.vector_bytes // 2


def conflict(earlier: Stage, later: Stage) -> bool:
    """Whether two stages must run in order because of memory: one writes what the other reads or writes."""
    written = {s.buffer for s in (earlier, later) if isinstance(s, Store)}
    if not written:
        return False
    a, b = _touched(earlier), _touched(later)
    return bool(written & a & b)


def _touched(s: Stage) -> set[str]:
    names = {e.attr[0] for e in walk(*roots_of(s)) if e.op == "load"}
    return names | {s.buffer} if isinstance(s, Store) else names


def in_place(earlier: Stage, later: Stage) -> bool:
    """Whether the later store writes only what the earlier one read at the same position."""
    if not (isinstance(earlier, Store) and isinstance(later, Store)) or earlier.buffer == later.buffer:
        return False
    if any(e.op == "load" and e.attr[0] == earlier.buffer for e in walk(*roots_of(later))):
        return False
    loads = [e for e in walk(*roots_of(earlier)) if e.op == "load" and e.attr[0] == later.buffer]
    return all(e.attr[1] == later.offset and not e.args for e in loads)


class _Maker:
    """Makes launches until no stage is left."""

    def __init__(self, result: Schedule, sizes: dict[str, int]) -> None:
        self.result, self.sizes, self.target = result, sizes, result.target

    def next(self, stages: list[Stage]) -> list[Stage]:
        """Make one launch of some of the stages; those that remain."""
        first = stages[0]
        if is_ordered(first, self.sizes):
            self._ordered(first)
            return stages[1:]
        lead = self._lead(stages)
        if lead is None:
            launch = self._launch("pointwise", (), first.dims, stages, first.dims)
            taken, rest = self._take(launch, stages, split=False)
            launch.stages = taken
            self._finish(launch)
            return rest
        return self._reduction(lead, stages)

    # --- what a launch computes

    def _lead(self, stages: list[Stage]) -> Reduce | None:
        """The reduction that shapes the next launch: the first that is used inside, else the first; none if only stores are ready."""
        names = {s.name for s in stages if isinstance(s, Reduce)}
        ready = [
            s for k, s in enumerate(stages)
            if isinstance(s, Reduce) and not accs_of(s) & names and not any(conflict(t, s) for t in stages[:k])
        ]  # fmt: skip
        inside = self._used_inside(stages)
        return next((s for s in ready if s.name in inside), ready[0] if ready else None)

    @staticmethod
    def _used_inside(stages: list[Stage]) -> set[str]:
        kept = {s.name: set(s.kept) for s in stages if isinstance(s, Reduce)}
        return {a for s in stages for a in accs_of(s) if a in kept and (isinstance(s, Reduce) or not set(s.dims) <= kept[a])}

    def _launch(self, kind: str, inner: Iterable[str], outer: Iterable[str], stages: Sequence[Stage], dims: Sequence[str]) -> Launch:
        """An empty launch over some dimensions, with its vector dimension."""
        sizes = {d: self.sizes[d] for d in self.sizes if d in dims}
        fitting = [s for s in stages if set(s.dims) <= set(dims)]
        buffers = self._buffers()
        along = vector_dim(KernelSpec("", sizes, buffers, list(fitting))) if sizes else None
        return Launch(kind, sizes, [], list(outer), list(inner), along)

    def _buffers(self) -> dict[str, Buffer]:
        return self.result.spec.buffers | {b.name: b for b in self.result.scratch}

    def _reduction(self, lead: Reduce, stages: list[Stage]) -> list[Stage]:
        launch = self._launch("rows", lead.over, lead.kept, stages, lead.dims)
        inside = lead.name in self._used_inside(stages)
        candidates = [s for s in stages if set(s.dims) <= set(lead.dims)]
        wanted = min(MAX_CHUNKS, int(estimated_ns(candidates, self.sizes) / CHUNK_NS))
        along, over = launch.vector, set(lead.over)
        lanes = lanes_of(candidates, self.target)
        there = max([self.sizes[d] // (4 * lanes if d == along else 1) for d in lead.kept], default=1)
        serial = there < (4 if inside else 8) and wanted >= 2 * max(there, 1)
        split = False
        if along in over:
            split = serial
        elif serial or (not inside and self._carries(lead)):
            launch.kind = "carried"
            launch.outer, launch.inner = list(lead.over), list(lead.kept)
        else:
            launch.kind = "columns"
        if split:
            launch.kind = "split"
        launch.stages, rest = self._take(launch, stages, split)
        return self._complete(launch, rest)

    def _carries(self, r: Reduce) -> bool:
        """Whether accumulating a whole row in memory, row after row, is better than a column in registers."""
        strides = self._strides([r])
        outermost = max(r.dims, key=lambda d: strides[d])
        kept = math.prod(self.sizes[d] for d in r.kept) * dtype_of(r.value.type).itemsize
        return math.prod(self.sizes[d] for d in r.over) >= FEW_ROWS and outermost in r.over and kept <= CARRIED_BYTES

    def _take(self, launch: Launch, stages: list[Stage], split: bool) -> tuple[list[Stage], list[Stage]]:
        """The stages that fit into a launch, and the others, both in order."""
        names = {s.name for s in stages if isinstance(s, Reduce)}
        final: set[str] = set()
        taken: list[Stage] = []
        rest: list[Stage] = []
        pointwise = not launch.inner
        for s in stages:
            free = not any(conflict(t, s) for t in rest)
            free = free and not any(conflict(t, s) and not (pointwise and in_place(t, s)) for t in taken)
            if free and accs_of(s) & names <= final and self._fits(launch, s, split):
                taken.append(s)
                if isinstance(s, Reduce) and not self._is_carried(launch, s):
                    final.add(s.name)
            else:
                rest.append(s)
        return taken, rest

    @staticmethod
    def _is_carried(launch: Launch, r: Reduce) -> bool:
        return set(r.over) != set(launch.inner)

    def _fits(self, launch: Launch, s: Stage, split: bool) -> bool:
        dims, outer, inner = set(s.dims), set(launch.outer), set(launch.inner)
        if not outer <= dims or not dims <= outer | inner:
            return False
        if isinstance(s, Store):
            return not is_ordered(s, self.sizes) and not split
        over, along = set(s.over), launch.vector
        if over == inner and set(s.kept) == outer:
            return not split or not s.value.accs
        if split or not over <= outer or not inner:
            return False
        if not (dims & inner):  # one value for each row
            return along in inner
        return inner <= set(s.kept) and along not in over

    def _ordered(self, s: Stage) -> None:
        """A store whose positions may collide, alone: in C order, except along dimensions that cannot collide."""
        assert isinstance(s, Store)
        safe = [d for d in s.dims if disjoint(s, d, self.sizes)]
        along = next((d for d in reversed(safe) if s.offset.coefficient(d) == 1), safe[-1] if safe else None)
        launch = self._launch("ordered", (), s.dims, [s], s.dims)
        launch.vector = along
        launch.stages = [s]
        self._finish(launch, safe)

    # --- what passes from launch to launch

    def _complete(self, launch: Launch, rest: list[Stage]) -> list[Stage]:
        """Results that later launches need go to scratch memory; they load them."""
        needed = frozenset().union(*(accs_of(s) for s in rest)) if rest else frozenset()
        carried = [s for s in launch.stages if isinstance(s, Reduce) and (launch.kind == "split" or self._is_carried(launch, s))]
        if carried:
            self._cut(launch, MAX_CHUNKS if launch.kind == "split" else CARRIED_CHUNKS)
        values: dict[str, Expr] = {}
        later: list[Stage] = []
        stages: list[Stage] = []
        for s in launch.stages:
            if not isinstance(s, Reduce) or s.name not in needed:
                stages.append(s)
                continue
            place, count = self._layout(launch, s)
            if s in carried:
                stages += self._partial(launch, s, place, count, values, later)
            else:
                buffer = self._scratch(s.value.type, count)
                stages += [s, Store(buffer.name, buffer.dtype, place, s.kept, acc(s.name, s.kept, s.value.type))]
                values[s.name] = load(buffer.name, buffer.dtype, place)
        launch.stages = [s for s in stages if s not in carried or launch.kind == "split"]
        change = Rewriting(self.sizes, accs=values)
        remaining = [new for s in rest if (new := change.stage(s)) is not None]
        self._finish(launch)
        return [*later, *remaining]

    def _partial(self, launch: Launch, r: Reduce, place: Affine, count: int, values: dict[str, Expr], later: list[Stage]) -> list[Stage]:
        """The stages of a carried (or split) reduction; what is to be done with the chunks' parts is added to `values` or `later`."""
        buffer = self._scratch(r.value.type, count * launch.chunks)
        here = place.plus(affine(0, [(CHUNK, count)])) if launch.chunks > 1 else place
        if launch.chunks > 1:
            part = f"%part{len(self.result.launches)}"
            self.sizes[part] = launch.chunks
            value = load(buffer.name, buffer.dtype, place.plus(affine(0, [(part, count)])))
            later.append(Reduce(r.name, r.op, (part,), r.kept, value))
        else:
            values[r.name] = load(buffer.name, buffer.dtype, place)
        if launch.kind == "split":
            return [r, Store(buffer.name, buffer.dtype, here, r.kept, acc(r.name, r.kept, r.value.type))]
        launch.fills.append((buffer.name, Affine(0, tuple(t for t in here.terms if t[0] == CHUNK)), count, r))
        return [Store(buffer.name, buffer.dtype, here, r.dims, r.value, r.op)]

    def _layout(self, launch: Launch, r: Reduce) -> tuple[Affine, int]:
        """Where a reduction's results lie, dense, the vector dimension last; and how many there are."""
        order = sorted(r.kept, key=lambda d: d == launch.vector)
        place, stride = ZERO, 1
        for d in reversed(order):
            place = place.plus(affine(0, [(d, stride)]))
            stride *= self.sizes[d]
        return place, stride

    def _scratch(self, type: str, count: int) -> Buffer:
        buffer = Buffer(f"%{len(self.result.scratch)}", dtype_of(type), count, "inout")
        self.result.scratch.append(buffer)
        return buffer

    # --- how a launch walks

    def _strides(self, stages: Sequence[Stage]) -> dict[str, int]:
        """For each dimension the largest step it makes in any access."""
        result = dict.fromkeys(self.sizes, 0)
        forms = [e.attr[1] for e in walk(*(e for s in stages for e in roots_of(s))) if e.op == "load"]
        for form in forms + [s.offset for s in stages if isinstance(s, Store)]:
            for d, c in form.terms:
                if d in result:
                    result[d] = max(result[d], abs(c))
        return result

    def _cut(self, launch: Launch, most: int, allowed: Sequence[str] | None = None) -> None:
        """Choose the dimension that chunks are cut along, and the chunks."""
        if launch.chunked is not None:
            return
        strides = self._strides(launch.stages)
        if launch.kind == "pointwise":
            launch.across = self._across(launch)
        own = launch.inner if launch.kind == "split" else launch.outer
        dims = sorted((d for d in own if allowed is None or d in allowed), key=lambda d: (d == launch.vector, -strides[d]))
        lanes = lanes_of(launch.stages, self.target)
        wanted = max(1, min(most, int(estimated_ns(launch.stages, self.sizes) / CHUNK_NS)))
        unit = {d: 4 * lanes if d == launch.vector else lanes if d == launch.across else 1 for d in dims}
        count = {d: -(-self.sizes[d] // unit[d]) for d in dims}
        chosen = next((d for d in dims if count[d] >= wanted), max(dims, key=lambda d: count[d], default=None))
        if chosen is None or wanted == 1:
            launch.chunked, launch.per_chunk, launch.chunks = (dims[0] if dims else None), (self.sizes[dims[0]] if dims else 1), 1
            return
        wanted = min(wanted, count[chosen])
        launch.per_chunk = -(-count[chosen] // wanted) * unit[chosen]
        launch.chunked, launch.chunks = chosen, -(-self.sizes[chosen] // launch.per_chunk)

    def _across(self, launch: Launch) -> str | None:
        """The dimension that the most loads cross the vectors along, if squares fit."""
        d, lanes = launch.vector, lanes_of(launch.stages, self.target)
        if d is None or self.sizes[d] < lanes or any(s.guards or s.index for s in launch.stages if isinstance(s, Store)):
            return None
        wide = [a for a in launch.outer if a != d and self.sizes[a] >= lanes]
        count = {a: len(crossing_loads(launch.stages, d, a)) for a in wide}
        best = max(wide, key=lambda a: count[a], default=None)
        return best if best is not None and count[best] else None

    def _finish(self, launch: Launch, allowed: Sequence[str] | None = None) -> None:
        """Order the dimensions, cut chunks, build the tree."""
        self._cut(launch, MAX_CHUNKS, allowed)
        strides = self._strides(launch.stages)
        if launch.kind != "ordered":
            launch.outer.sort(key=lambda d: (d == launch.vector, -strides[d]))
            if launch.chunked in launch.outer and launch.chunked != launch.vector:
                launch.outer.sort(key=lambda d: d != launch.chunked)
        launch.inner.sort(key=lambda d: (d == launch.vector, -strides[d]))
        launch.lanes = lanes_of(launch.stages, self.target) if launch.vector is not None else 1
        launch.strict = self.result.strict
        launch.may_mask = self.target.vector_bytes == 64
        if not self.result.strict:
            launch.stages = with_reciprocals(self.sizes, launch.stages, set(launch.inner))
        keep_rows(launch)
        build_tree(launch)
        self.result.launches.append(launch)


def disjoint(s: Store, d: str, sizes: dict[str, int]) -> bool:
    """Whether positions that differ along `d` never meet: every other step is a multiple of the whole extent of `d`, or all of them
    together are smaller than one step of `d`."""
    step = abs(s.offset.coefficient(d))
    if step == 0 or any(d in e.dims for e in s.index):
        return False
    small = 0
    for other, c in s.offset.terms:
        if other != d and c % (step * sizes[d]):
            small += abs(c) * (sizes[other] - 1)
    return small < step and all(stride % (step * sizes[d]) == 0 for stride in s.strides)
