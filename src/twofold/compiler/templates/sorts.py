"""Sorts along one dimension, and what is read off a sorted row: sort, argsort, topk, kthvalue, medians, mode.

Rows are sorted one by one, each by one chunk; where only a few of many elements are wanted, they are selected. Few long rows are sorted by
all chunks together, digit by digit: each part of a row counts its digits, the counts become places, each part moves its words there. A
stable sort has one result only, so it does not matter how a row is cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from twofold.compiler.emit import KernelCode
from twofold.compiler.llvm import Module, Operand, Val, number
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
from twofold.compiler.templates.ordering import MOST_ELEMENTS, Ordering
from twofold.compiler.templates.row_sorts import RADIX, clear_counters, digit_of, increment, padded_size, scatter, sort_row
from twofold.compiler.templates.selection import Best, kept_words, select_row, selects
from twofold.compiler.templates.sorted_rows import First, Mode, Ranked, Reading
from twofold.ir.dtypes import int32, int64
from twofold.ir.graph import Node
from twofold.runtime.target import Target

PART, MOST_PARTS = 16384, 32
"""Least elements of a part of a row that is cut."""
MANY_ROWS = 16
"""Rows from which on none is cut."""
MOST_SCRATCH = 1 << 24
"""Bytes of words that chunks may take together where each has one row at a time."""


@dataclass(frozen=True)
class Sort(Operands):
    """Sorts `rows` and writes what `reading` takes from a sorted row. `values`, `indices`: positions of the results; None: not wanted."""

    rows: Rows
    ordering: Ordering
    reading: Reading
    values: int | None
    indices: int | None

    def emit(self, module: Module, name: str, target: Target) -> KernelCode:
        """Write the kernels."""
        if self.rows.count * self.reading.results == 0:
            return KernelCode(())
        emitter = _Emitter(self, module, name, target)
        if self.reading.needed is not None and selects(self.rows.size, self.reading.needed):
            return emitter.by_selection(self.reading.needed)
        if self.rows.count < MANY_ROWS and self.rows.size >= 4 * PART:
            return emitter.in_parts()
        return emitter.by_rows()

    def __str__(self) -> str:
        r = self.rows
        return f"sort {self.ordering}, {r.outer} x {r.size} x {r.inner} along the middle, {self.reading}"


class _Emitter:
    def __init__(self, sort: Sort, module: Module, name: str, target: Target) -> None:
        self.sort, self.shape, self.w = sort, sort.rows, sort.ordering
        self.module, self.name, self.target = module, name, target
        self.launches: list[tuple[str, int]] = []

    def _kernel(self, stem: str) -> Kernel:
        k = Kernel(self.module, f"{self.name}.{stem}", self.target)
        self.source = k.argument(1)
        self.results = [k.argument(2 + i) for i in range(len(self.sort.outputs))]
        self.scratch = 2 + len(self.sort.outputs)
        return k

    def _base(self, k: Kernel, row: Val, size: int) -> Val:
        """The position of a row's first element in a tensor whose rows have `size` elements."""
        f, inner = k.f, self.shape.inner
        if inner == 1:
            return f.mul(row, size)
        return f.add(f.mul(f.binary("sdiv", row, inner), size * inner), f.binary("srem", row, inner))

    def _write(self, k: Kernel, row: Val, base: Val, place: Operand, word: Val) -> None:
        """Result `place` of a row: the element of a word."""
        f, s, inner = k.f, self.sort, self.shape.inner
        at = f.add(self._base(k, row, s.reading.results), f.mul(f.of(place, "i64"), inner))
        index = self.w.index_of(k, word)
        if s.indices is not None:
            k.store(index, self.results[s.indices], at, int64)
        if s.values is not None:
            dtype = self.w.dtype
            k.store_bits(k.bits_at(self.source, f.add(base, f.mul(index, inner)), dtype), self.results[s.values], at, dtype)

    # --- a row at a time

    def by_rows(self) -> KernelCode:
        """Each chunk sorts its rows one after the other, in words of its own."""
        shape, w = self.shape, self.w
        padded = padded_size(w, shape.size)
        most = max(8, MOST_SCRATCH // (2 * padded * w.word_bytes))
        chunks = Chunks.of(shape.count, 12.0 * shape.size, max(1, math.ceil(shape.count / most)))
        k = self._kernel("rows")
        f = k.f
        words = f.gep(k.argument(self.scratch), f.mul(k.chunk, 2 * padded), w.word_type)
        other = f.gep(words, padded, w.word_type)
        with k.items(chunks) as row:
            base = self._base(k, row, shape.size)
            w.fill(k, self.source, base, shape.inner, words, number("i64", 0), number("i64", shape.size))
            ordered = sort_row(k, w, words, other, shape.size)
            self._read(k, row, base, ordered, number("i64", 0), number("i64", self.sort.reading.results))
        f.ret()
        return KernelCode(((k.name, chunks.count),), (scratch_buffer("words", chunks.count * 2 * padded * w.word_bytes // 8, int64),))

    def _read(self, k: Kernel, row: Val, base: Val, ordered: Val, low: Val, high: Val) -> None:
        """Results low … high of a sorted row."""
        reading = self.sort.reading
        if isinstance(reading, First):
            with k.f.loop(low, high) as i:
                self._write(k, row, base, i, self.w.load_word(k, ordered, i))
        else:
            place = reading.place(k, self.w, ordered, self.shape.size)
            self._write(k, row, base, 0, self.w.load_word(k, ordered, place))

    def by_selection(self, wanted: int) -> KernelCode:
        """The first few elements of each row, unsorted rows staying as they are."""
        shape, w = self.shape, self.w
        kept = kept_words(self.target.vector_bytes, w, wanted)
        chunks = Chunks.of(shape.count, 0.5 * shape.size + 20.0 * wanted)
        k = self._kernel("select")
        best = Best(k, w, k.f.gep(k.argument(self.scratch), k.f.mul(k.chunk, kept), w.word_type), wanted)
        with k.items(chunks) as row:
            base = self._base(k, row, shape.size)
            ordered = select_row(k, w, best, self.source, base, shape.inner, shape.size)
            self._read(k, row, base, ordered, number("i64", 0), number("i64", self.sort.reading.results))
        k.f.ret()
        return KernelCode(((k.name, chunks.count),), (scratch_buffer("best", chunks.count * kept * w.word_bytes // 8, int64),))

    # --- long rows by all chunks together

    def in_parts(self) -> KernelCode:
        """Each row in parts. Scratch: two arrays of words a row; counters of each part; the state."""
        shape, w = self.shape, self.w
        parts = min(MOST_PARTS, shape.size // PART)
        each = math.ceil(shape.size / parts)
        self.parts = Chunks(math.ceil(shape.size / each), each, shape.size)
        count = shape.count * self.parts.count
        self._fill_kernel(count)
        passes: list[tuple[str, int]] = []
        self.launches, first = passes, self.launches
        self._count_kernel(count)
        self._place_kernel()
        self._move_kernel(count)
        self._advance_kernel()
        self.launches = first + passes * (w.key_bits // 8)
        self._read_kernel(count)
        words = scratch_buffer("words", 2 * shape.count * shape.size * w.word_bytes // 8, int64)
        counters = scratch_buffer("counters", count * RADIX, int32)
        return KernelCode(tuple(self.launches), (words, counters, scratch_buffer("state", 1 + 2 * shape.count, int64)))

    def _finish(self, k: Kernel, chunks: int) -> None:
        k.f.ret()
        self.launches.append((k.name, chunks))

    def _part(self, k: Kernel) -> tuple[Val, Val, Val]:
        """(row, first, end) of this chunk."""
        f = k.f
        row, part = f.binary("sdiv", k.chunk, self.parts.count), f.binary("srem", k.chunk, self.parts.count)
        low = f.mul(part, self.parts.each)
        return row, low, k.smin(f.add(low, self.parts.each), self.shape.size)

    def _state(self, k: Kernel, at: Operand) -> Val:
        """The address of an i64 of the state: 0 is the digit; then for each row where its words are (0 or 1), and whether all share the
        digit."""
        return k.f.gep(k.argument(self.scratch + 2), at, "i64")

    def _digit(self, k: Kernel) -> Val:
        return k.f.load("i64", self._state(k, 0), 8)

    def _arrays(self, k: Kernel, row: Val) -> tuple[Val, Val]:
        """(the row's words, the other array)."""
        f, size = k.f, self.shape.size
        which = f.load("i64", self._state(k, f.add(f.mul(row, 2), 1)), 8)
        words = f.gep(k.argument(self.scratch), f.mul(row, 2 * size), self.w.word_type)
        return f.gep(words, f.mul(which, size), self.w.word_type), f.gep(words, f.mul(f.sub(1, which), size), self.w.word_type)

    def _counters(self, k: Kernel, part: Val) -> Val:
        return k.f.gep(k.argument(self.scratch + 1), k.f.mul(part, RADIX), "i32")

    def _fill_kernel(self, chunks: int) -> None:
        """The words of each part; chunk 0 sets the state."""
        k = self._kernel("fill")
        f = k.f
        row, low, high = self._part(k)
        words = f.gep(k.argument(self.scratch), f.mul(row, 2 * self.shape.size), self.w.word_type)
        self.w.fill(k, self.source, self._base(k, row, self.shape.size), self.shape.inner, words, low, high)
        with f.when(f.icmp("eq", k.chunk, 0)), f.loop(0, 1 + 2 * self.shape.count) as i:
            f.store(number("i64", 0), self._state(k, i), 8)
        self._finish(k, chunks)

    def _count_kernel(self, chunks: int) -> None:
        """How often each value of the digit occurs in each part."""
        k = self._kernel("count")
        row, low, high = self._part(k)
        words, _ = self._arrays(k, row)
        counters, digit = self._counters(k, k.chunk), self._digit(k)
        clear_counters(k, counters, RADIX)
        with k.f.loop(low, high) as i:
            increment(k, counters, digit_of(k, self.w, words, i, digit))
        self._finish(k, chunks)

    def _place_kernel(self) -> None:
        """Counts → places: of all lesser digits, and of the same digit in the parts before."""
        k = self._kernel("place")
        f, parts = k.f, self.parts.count
        with f.loop(0, self.shape.count) as row:
            total, shared = f.variable("i64", 0), f.variable("i64", 0)
            with f.loop(0, RADIX) as digit:
                before = f.get(total, "i64")
                with f.loop(0, parts) as part:
                    place = f.gep(self._counters(k, f.add(f.mul(row, parts), part)), digit, "i32")
                    count, here = f.load("i32", place, 4), f.get(total, "i64")
                    f.store(f.convert("trunc", here, "i32"), place, 4)
                    f.set(total, f.add(here, f.convert("zext", count, "i64")))
                whole = f.icmp("eq", f.sub(f.get(total, "i64"), before), self.shape.size)
                f.set(shared, f.binary("or", f.get(shared, "i64"), f.convert("zext", whole, "i64")))
            f.store(f.get(shared, "i64"), self._state(k, f.add(f.mul(row, 2), 2)), 8)
        self._finish(k, 1)

    def _move_kernel(self, chunks: int) -> None:
        """The words of each part to their places, unless all share the digit."""
        k = self._kernel("move")
        f = k.f
        row, low, high = self._part(k)
        words, other = self._arrays(k, row)
        with f.when(f.icmp("eq", f.load("i64", self._state(k, f.add(f.mul(row, 2), 2)), 8), 0)):
            scatter(k, self.w, words, other, low, high, self._counters(k, k.chunk), self._digit(k))
        self._finish(k, chunks)

    def _advance_kernel(self) -> None:
        """On to the next digit."""
        k = self._kernel("advance")
        f = k.f
        f.store(f.add(self._digit(k), 1), self._state(k, 0), 8)
        with f.loop(0, self.shape.count) as row:
            which, shared = self._state(k, f.add(f.mul(row, 2), 1)), self._state(k, f.add(f.mul(row, 2), 2))
            moved = f.sub(1, f.load("i64", shared, 8))
            f.store(f.binary("xor", f.load("i64", which, 8), moved), which, 8)
        self._finish(k, 1)

    def _read_kernel(self, chunks: int) -> None:
        """The results: of each part if there is one for each element, else of whole rows."""
        k = self._kernel("read")
        results = self.sort.reading.results
        if results == self.shape.size:
            row, low, high = self._part(k)
        else:
            row, low, high, chunks = k.chunk, number("i64", 0), number("i64", results), self.shape.count
        words, _ = self._arrays(k, row)
        self._read(k, row, self._base(k, row, self.shape.size), words, low, high)
        self._finish(k, chunks)


# --- from nodes


def _template(node: Node, reading: Reading, descending: bool = False, rows: Rows | None = None) -> Template | None:
    """The template of a sort-like node; None for rows of no or too many elements."""
    x = tensor_of(node.inputs[0])
    rows = rows or Rows.of(x.shape, node.attributes["dim"])
    if not plain_types(node) or rows.size >= MOST_ELEMENTS or (rows.size == 0 and not isinstance(reading, First)):
        return None
    values, indices = (0, 1) if len(node.outputs) == 2 else (None, 0) if node.op.name == "argsort" else (0, None)
    return Sort(*operands_of(node), rows, Ordering(x.dtype, descending), reading, values, indices)


def sort(node: Node) -> Template | None:
    """sort and argsort."""
    shape = tensor_of(node.inputs[0]).shape
    return _template(node, First(Rows.of(shape, node.attributes["dim"]).size), node.attributes["descending"])


def topk(node: Node) -> Template | None:
    """topk; a 0-d tensor has one element whatever k is."""
    k = node.attributes["k"] if tensor_of(node.inputs[0]).shape else 1
    return _template(node, First(k), node.attributes["largest"])


def kthvalue(node: Node) -> Template | None:
    """kthvalue; k counts from 1."""
    return _template(node, Ranked("fixed", node.attributes["k"] - 1 if tensor_of(node.inputs[0]).shape else 0))


def _median(kind: str) -> Maker:
    def make(node: Node) -> Template | None:
        whole = Rows(1, tensor_of(node.inputs[0]).numel, 1) if "dim" not in node.attributes else None
        return _template(node, Ranked(kind), rows=whole)

    return make


def mode(node: Node) -> Template | None:
    """mode."""
    return _template(node, Mode())


SORTS: dict[str, Maker] = {
    "sort": sort,
    "argsort": sort,
    "topk": topk,
    "kthvalue": kthvalue,
    "median": _median("median"),
    "median_dim": _median("median"),
    "nanmedian": _median("nanmedian"),
    "nanmedian_dim": _median("nanmedian"),
    "mode": mode,
}
