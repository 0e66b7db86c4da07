"""Scans along one dimension: cumsum, cumprod, cummax, cummin, logcumsumexp, linear_recurrence.

Rows are independent, a row is sequential. Where the dimension is not the last one, vectors run across rows; where it is, several rows are
walked side by side, so that one addition need not wait for the one before. Few long rows are cut into segments, in four launches: the
state of each segment, the states combined from left to right, the segments again, each from the state before it, and what is left at the
end. Where a row is cut depends on its length alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twofold.compiler.emit import KernelCode
from twofold.compiler.expr import register_type
from twofold.compiler.llvm import REGISTERS, Module, Operand, Val, vector
from twofold.compiler.templates.base import (
    Chunks,
    Kernel,
    Maker,
    Operands,
    Rows,
    Template,
    operands_of,
    plain_types,
    scratch_buffer,
    tensor_of,
)
from twofold.compiler.templates.scan_operations import Extremum, Recurrence, Running, ScanOperation, SplittableOperation, State
from twofold.ir.dtypes import BY_SHORT, DType, bool_, int64
from twofold.ir.graph import Node
from twofold.runtime.target import Target

ABREAST = 4
"""Rows that are walked side by side: an addition takes four cycles."""
BLOCKS = 4
"""Vectors of neighbouring rows that are walked side by side: whole cache lines of a strided walk."""
SEGMENT, MOST_SEGMENTS = 4096, 512
"""Least elements of a segment, and most segments of a row."""
MANY_ROWS, LONG_ROW = 32, 8 * SEGMENT
"""Fewer rows than MANY_ROWS of at least LONG_ROW elements are cut."""
DOUBLE_FROM = 16
"""A float32 row of at least so many elements is added up in float64, as the interpreter does."""


@dataclass(frozen=True)
class Lanes:
    """Rows that one state walks, a lane each. `bases`: positions of their first elements; one base for several lanes: they are neighbours.
    `origin`: the place in its row at which the walk begins."""

    count: int
    bases: tuple[Val, ...]
    origin: Operand = 0


@dataclass(frozen=True)
class Scan(Operands):
    """A scan of `rows`. `read`, `written`: dtypes of operands and results; `through`: a register type that operands are cast to before
    they are cast to the operation's; `reverse`: from the end."""

    operation: ScanOperation
    rows: Rows
    read: tuple[DType, ...]
    written: tuple[DType, ...]
    through: str
    reverse: bool = False

    def emit(self, module: Module, name: str, target: Target) -> KernelCode:
        """Write the kernels."""
        rows, op, width = self.rows, self.operation, target.vector_bytes // 4
        if rows.numel == 0:
            return KernelCode(())
        emitter = _Emitter(self, module, name, target)
        if rows.inner >= width:
            return emitter.columns(width)
        if not isinstance(op, Recurrence) and op.is_splittable and rows.inner == 1 and rows.outer < MANY_ROWS and rows.size >= LONG_ROW:
            return emitter.segments(op)
        return emitter.rows()

    def __str__(self) -> str:
        r = self.rows
        return f"scan {self.operation}, {r.outer} x {r.size} x {r.inner} along the middle{', from the end' if self.reverse else ''}"


class _Emitter:
    def __init__(self, scan: Scan, module: Module, name: str, target: Target) -> None:
        self.scan, self.op, self.shape = scan, scan.operation, scan.rows
        self.module, self.name, self.target = module, name, target
        self.abreast = target.vector_bytes // 8 if self.op.is_dear else ABREAST
        self.states: list[Val] = []

    def _kernel(self, stem: str) -> Kernel:
        k = Kernel(self.module, f"{self.name}.{stem}", self.target)
        operands, results = len(self.scan.read), len(self.scan.written)
        self.reads = [k.argument(1 + i) for i in range(operands)]
        self.writes = [k.argument(1 + operands + i) for i in range(results)]
        self.states = [k.argument(1 + operands + results + i) for i in range(len(self.op.types))] if stem in SEGMENT_KERNELS else []
        return k

    # --- three ways through a tensor

    def columns(self, width: int) -> KernelCode:
        """Blocks of vectors of neighbouring rows. The last block of a line is moved back so that it ends with the line."""
        shape, inner = self.shape, self.shape.inner
        vectors = min(BLOCKS, inner // width)
        block = vectors * width
        per_line = math.ceil(inner / block)
        chunks = Chunks.of(shape.outer * per_line, self.op.cost * shape.size * block / 4)
        k = self._kernel("columns")
        f = k.f
        with k.items(chunks) as item:
            line = f.binary("sdiv", item, per_line)
            column = k.smin(f.mul(f.binary("srem", item, per_line), block), inner - block)
            base = f.add(f.mul(line, shape.size * inner), column)
            self._walk(k, [Lanes(width, (f.add(base, u * width),)) for u in range(vectors)], shape.size, None, True)
        f.ret()
        return KernelCode(((k.name, chunks.count),))

    def rows(self) -> KernelCode:
        """Rows side by side."""
        shape = self.shape
        chunks = Chunks.of(shape.count, self.op.cost * shape.size / 2, self.abreast)
        k = self._kernel("rows")
        f = k.f

        def base(row: Val) -> Val:
            if shape.inner == 1:
                return f.mul(row, shape.size)
            outer = f.binary("sdiv", row, shape.inner)
            return f.add(f.mul(outer, shape.size * shape.inner), f.binary("srem", row, shape.inner))

        def walk(group: list[Val]) -> None:
            self._walk(k, self._lanes([base(row) for row in group], [0] * len(group)), shape.size, None, True)

        self._groups(k, chunks, walk)
        f.ret()
        return KernelCode(((k.name, chunks.count),))

    def segments(self, op: SplittableOperation) -> KernelCode:
        """Rows in segments, each of which begins with the state of all before it, and a tail of fewer elements than there are segments.
        States of a row: neutral, then after each segment."""
        shape = self.shape
        count = min(shape.size // SEGMENT, MOST_SEGMENTS)
        length = shape.size // count
        chunks = Chunks.of(shape.outer * count, op.cost * length / 2, self.abreast)
        totals = self._totals_kernel(op, chunks, length, count) if isinstance(op, Running) else None
        launches = [
            (totals or self._segment_kernel("totals", chunks, length, count, False), chunks.count),
            (self._carry_kernel(op, count), 1),
            (self._segment_kernel("segments", chunks, length, count, True), chunks.count),
        ]
        if count * length < shape.size:
            launches.append((self._tail_kernel(length, count), 1))
        return KernelCode(
            tuple(launches), tuple(scratch_buffer(f"state{i}", shape.outer * (count + 1), int64) for i in range(len(op.types)))
        )

    def _segment_kernel(self, stem: str, chunks: Chunks, length: int, count: int, final: bool) -> str:
        """The walk over segments: for their states alone, or (`final`) for the results."""
        k = self._kernel(stem)
        f = k.f

        def walk(group: list[Val]) -> None:
            rows = [f.binary("sdiv", q, count) for q in group]
            origins = [f.mul(f.binary("srem", q, count), length) for q in group]
            lanes = self._lanes([f.add(f.mul(r, self.shape.size), o) for r, o in zip(rows, origins, strict=True)], origins)
            places = [f.add(q, r) for q, r in zip(group, rows, strict=True)]  # a row has one state more than segments
            starts = self._states_at(k, lanes, places) if final else None
            ends = self._walk(k, lanes, length, starts, final)
            if not final:
                self._keep_states(k, ends, [f.add(p, 1) for p in places])

        self._groups(k, chunks, walk)
        f.ret()
        return k.name

    def _totals_kernel(self, op: Running, chunks: Chunks, length: int, count: int) -> str:
        """The states of segments by vectors: sums and products may be formed in any order."""
        k = self._kernel("totals")
        f, width = k.f, self.target.vector_bytes // 8
        block = BLOCKS * width
        whole = length - length % block
        with k.items(chunks) as q:
            row = f.binary("sdiv", q, count)
            base = f.add(f.mul(row, self.shape.size), f.mul(f.binary("srem", q, count), length))
            slots = [f.variable(x.type, x) for x in op.neutral(width) * BLOCKS]
            with f.loop(0, whole, block) as t:
                for i, slot in enumerate(slots):
                    x = self._elements(k, Lanes(width, (f.add(base, i * width),)), t)
                    f.set(slot, op.combine(k, (f.get(slot, x[0].type),), x)[0])
            parts = [f.get(slot, vector(REGISTERS[op.type], width)) for slot in slots]
            while len(parts) > 1:
                parts = [op.combine(k, (a,), (b,))[0] for a, b in zip(parts[::2], parts[1::2], strict=True)]
            total = f.variable(REGISTERS[op.type], op.neutral(1)[0])
            for part in k.parted(parts[0]):
                f.set(total, op.combine(k, (f.get(total, part.type),), (part,))[0])
            with f.loop(whole, length) as t:
                x = self._elements(k, Lanes(1, (base,)), t)
                f.set(total, op.combine(k, (f.get(total, x[0].type),), x)[0])
            self._keep_states(k, [(f.get(total, REGISTERS[op.type]),)], [f.add(f.add(q, row), 1)])
        f.ret()
        return k.name

    def _carry_kernel(self, op: SplittableOperation, count: int) -> str:
        """The state of each segment → the state of all segments up to it."""
        k = self._kernel("carry")
        f = k.f
        with f.loop(0, self.shape.outer) as row:
            first = f.mul(row, count + 1)
            slots = [f.variable(x.type, x) for x in op.neutral(1)]
            self._keep_states(k, [op.neutral(1)], [first])
            with f.loop(1, count + 1) as i:
                at = f.add(first, i)
                one = [Lanes(1, (at,))]
                before = tuple(f.get(s, REGISTERS[t]) for s, t in zip(slots, op.types, strict=True))
                state = op.combine(k, before, self._states_at(k, one, [at])[0])
                self._keep_states(k, [state], [at])
                for slot, x in zip(slots, state, strict=True):
                    f.set(slot, x)
        f.ret()
        return k.name

    def _tail_kernel(self, length: int, count: int) -> str:
        """What is left of each row after the last whole segment."""
        k = self._kernel("tail")
        f = k.f
        with f.loop(0, self.shape.outer) as row:
            lanes = self._lanes([f.add(f.mul(row, self.shape.size), count * length)], [count * length])
            starts = self._states_at(k, lanes, [f.add(f.mul(row, count + 1), count)])
            self._walk(k, lanes, self.shape.size - count * length, starts, True)
        f.ret()
        return k.name

    # --- groups of rows

    def _groups(self, k: Kernel, chunks: Chunks, walk: Callable[[list[Val]], None]) -> None:
        """Call `walk` for groups of `abreast` rows (or segments) of this chunk, then for single ones."""
        f, n = k.f, self.abreast
        low, high = k.range_of(chunks)
        middle: Operand = low
        if chunks.each >= n:
            middle = f.add(low, f.mul(f.binary("sdiv", f.sub(high, low), n), n))
            with f.loop(low, middle, n) as q:
                walk([f.add(q, i) for i in range(n)])
        if chunks.items % n:
            with f.loop(middle, high) as q:
                walk([q])

    def _lanes(self, bases: Sequence[Val], origins: Sequence[Operand]) -> list[Lanes]:
        """Rows as lanes of one vector where a step is dear, else as scalars."""
        if self.op.is_dear and len(bases) > 1:
            return [Lanes(len(bases), tuple(bases))]
        return [Lanes(1, (b,), o) for b, o in zip(bases, origins, strict=True)]

    def _walk(self, k: Kernel, lanes: list[Lanes], size: int, starts: list[State] | None, stored: bool) -> list[State]:
        """Walk `size` elements of each lane from the states `starts` (None: the beginning of a row); store what each step leaves."""
        f, op = k.f, self.op
        begin = 0
        if starts is None:
            starts = []
            for lane in lanes:
                if isinstance(op, Recurrence):
                    begin = 1
                    starts.append((self._elements(k, lane, self._place(k, 0))[1],))
                    self._store(k, lane, self._place(k, 0), starts[-1])
                else:
                    starts.append(op.neutral(lane.count))
        slots = [[f.variable(x.type, x) for x in state] for state in starts]
        types = [[x.type for x in state] for state in starts]

        def states() -> list[State]:
            return [tuple(map(f.get, s, t)) for s, t in zip(slots, types, strict=True)]

        with f.loop(begin, size) as t:
            place = self._place(k, t)
            elements = [self._elements(k, lane, place) for lane in lanes]
            after = [op.step(k, s, x, f.add(lane.origin, place)) for s, x, lane in zip(states(), elements, lanes, strict=True)]
            for slot, state, lane in zip(slots, after, lanes, strict=True):
                for s, x in zip(slot, state, strict=True):
                    f.set(s, x)
                if stored:
                    self._store(k, lane, place, state)
        return states()

    def _place(self, k: Kernel, t: Operand) -> Operand:
        """The place in its row of the element that comes after t others."""
        return k.f.sub(self.shape.size - 1, k.f.of(t, "i64")) if self.scan.reverse else t

    # --- elements and states

    def _elements(self, k: Kernel, lanes: Lanes, place: Operand) -> tuple[Val, ...]:
        """The elements of each operand at a place of the rows, in the operation's types."""
        offset = k.f.mul(k.f.of(place, "i64"), self.shape.inner)
        result = []
        for pointer, dtype, wanted in zip(self.reads, self.scan.read, self.op.operands, strict=True):
            if len(lanes.bases) == 1:
                x = k.load(pointer, k.f.add(lanes.bases[0], offset), dtype, lanes.count)
            else:
                x = k.value_of(k.joined([k.bits_at(pointer, k.f.add(b, offset), dtype) for b in lanes.bases]), dtype)
            through = self.scan.through
            result.append(k.cast(k.cast(x, register_type(dtype), through), through, wanted))
        return tuple(result)

    def _store(self, k: Kernel, lanes: Lanes, place: Operand, state: State) -> None:
        offset = k.f.mul(k.f.of(place, "i64"), self.shape.inner)
        for x, type, pointer, dtype in zip(state, self.op.types, self.writes, self.scan.written, strict=True):
            y = k.cast(x, type, register_type(dtype))
            if len(lanes.bases) == 1:
                k.store(y, pointer, k.f.add(lanes.bases[0], offset), dtype)
            else:
                for b, bits in zip(lanes.bases, k.parted(k.bits_of(y, dtype)), strict=True):
                    k.store_bits(bits, pointer, k.f.add(b, offset), dtype)

    def _states_at(self, k: Kernel, lanes: list[Lanes], places: Sequence[Val]) -> list[State]:
        """Kept states, as the lanes need them."""
        kept = [
            tuple(
                k.load(pointer, k.f.mul(at, 8 // BY_SHORT[t].itemsize), BY_SHORT[t])
                for pointer, t in zip(self.states, self.op.types, strict=True)
            )
            for at in places
        ]
        if len(lanes) == len(places):
            return kept
        return [tuple(k.joined(list(xs)) for xs in zip(*kept, strict=True))]

    def _keep_states(self, k: Kernel, states: Sequence[State], places: Sequence[Val]) -> None:
        """States to places of the kernel's own memory, 8 bytes for each value."""
        if len(states) < len(places):
            states = list(zip(*(k.parted(x) for x in states[0]), strict=True))
        for state, at in zip(states, places, strict=True):
            for pointer, x, t in zip(self.states, state, self.op.types, strict=True):
                k.store(x, pointer, k.f.mul(at, 8 // BY_SHORT[t].itemsize), BY_SHORT[t])


SEGMENT_KERNELS = ("totals", "carry", "segments", "tail")


# --- from nodes


def _accumulator(type: str, size: int) -> str:
    """The register type in which a row is added up."""
    return "f64" if type == "f32" and size >= DOUBLE_FROM else type


def _rows_of(node: Node) -> Rows:
    return Rows.of(tensor_of(node.outputs[0]).shape, node.attributes["dim"])


def _running(combine_with: str) -> Maker:
    def make(node: Node) -> Template | None:
        if not plain_types(node):
            return None
        read, written, rows = tensor_of(node.inputs[0]).dtype, tensor_of(node.outputs[0]).dtype, _rows_of(node)
        if written is bool_:
            return None
        through = register_type(written)
        operation = Running(combine_with, _accumulator(through, rows.size))
        return Scan(*operands_of(node), operation, rows, (read,), (written,), through)

    return make


def _extremum(which: str) -> Maker:
    def make(node: Node) -> Template | None:
        if not plain_types(node):
            return None
        dtype = tensor_of(node.inputs[0]).dtype
        type = register_type(dtype)
        return Scan(*operands_of(node), Extremum(which, type), _rows_of(node), (dtype,), (dtype, int64), type)

    return make


def linear_recurrence(node: Node) -> Template | None:
    """The template of linear_recurrence; None for operands of two dtypes."""
    dtypes = tuple(tensor_of(v).dtype for v in node.operands())
    if not plain_types(node) or dtypes[0] is not dtypes[1]:
        return None
    type = register_type(dtypes[0])
    return Scan(*operands_of(node), Recurrence(type), _rows_of(node), dtypes, dtypes[:1], type, node.attributes["reverse"])


SCANS: dict[str, Maker] = {
    "cumsum": _running("add"),
    "cumprod": _running("mul"),
    "logcumsumexp": _running("logaddexp"),
    "cummax": _extremum("max"),
    "cummin": _extremum("min"),
    "linear_recurrence": linear_recurrence,
}
