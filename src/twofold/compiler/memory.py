"""The memory plan: every temporary gets an offset in one arena, by when it is alive.

Blocks are placed in the order in which they begin; a block that ends frees its bytes for later ones (best fit, neighbours merged), so the
plan takes n log n steps and the peak is known before anything runs.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

ALIGN = 64
"""Every block begins at a multiple: a vector never straddles two blocks' cache lines."""


@dataclass(frozen=True, slots=True)
class Block:
    """A temporary: alive from step `first` to step `last`, both included. `reuses`: a block that ends where this one begins and that the
    step may overwrite in place."""

    name: str
    nbytes: int
    first: int
    last: int
    reuses: str | None = None


@dataclass(frozen=True)
class MemoryPlan:
    """Offsets of the blocks, the arena's size (the peak), and what no sharing at all would take."""

    offsets: Mapping[str, int]
    peak: int
    unshared: int
    blocks: tuple[Block, ...]
    in_place: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"arena: {self.peak} bytes ({self.unshared} without sharing), {len(self.blocks)} temporaries, {len(self.in_place)} in place"
        ]
        for b in sorted(self.blocks, key=lambda b: (b.first, b.name)):
            at = self.offsets[b.name]
            lines.append(
                f"  {b.name}: bytes {at} to {at + rounded(b.nbytes)}, steps {b.first} to {b.last}"
                + (f", in place of {b.reuses}" if b.name in self.in_place else "")
            )
        return "\n".join(lines)


def rounded(nbytes: int) -> int:
    """The bytes a block takes in the arena."""
    return max(ALIGN, -(-nbytes // ALIGN) * ALIGN)


class _Free:
    """Free ranges below the top of the arena: by offset, and by size for the best fit."""

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []  # (size, offset), sorted
        self.begins: dict[int, int] = {}  # offset -> size
        self.ends: dict[int, int] = {}  # end -> offset
        self.top = 0

    def _remove(self, offset: int, size: int) -> None:
        del self.begins[offset]
        del self.ends[offset + size]
        at = bisect_left(self.sizes, (size, offset))
        del self.sizes[at]

    def _insert(self, offset: int, size: int) -> None:
        self.begins[offset] = size
        self.ends[offset + size] = offset
        insort(self.sizes, (size, offset))

    def take(self, size: int) -> int:
        at = bisect_left(self.sizes, (size, -1))
        if at < len(self.sizes):
            have, offset = self.sizes[at]
            self._remove(offset, have)
            if have > size:
                self._insert(offset + size, have - size)
            return offset
        if self.top in self.ends:  # the range at the top grows
            offset = self.ends[self.top]
            self._remove(offset, self.top - offset)
            self.top = offset + size
            return offset
        offset, self.top = self.top, self.top + size
        return offset

    def give(self, offset: int, size: int) -> None:
        if offset in self.ends:
            before = self.ends[offset]
            self._remove(before, offset - before)
            offset, size = before, size + offset - before
        if offset + size in self.begins:
            after = self.begins[offset + size]
            self._remove(offset + size, after)
            size += after
        self._insert(offset, size)


def plan_memory(blocks: Iterable[Block]) -> MemoryPlan:
    """Offsets for blocks in one arena."""
    ordered = sorted(blocks, key=lambda b: (b.first, -b.nbytes, b.name))
    free, in_place = _Free(), []
    offsets: dict[str, int] = {}
    size_of = {b.name: rounded(b.nbytes) for b in ordered}
    ending = sorted(ordered, key=lambda b: b.last)
    done, peak = 0, 0
    held = set()
    for b in ordered:
        while done < len(ending) and ending[done].last < b.first:
            old = ending[done]
            done += 1
            if old.name not in held:
                free.give(offsets[old.name], size_of[old.name])
        if b.reuses is not None and b.reuses not in held and size_of.get(b.reuses) == size_of[b.name]:
            offsets[b.name] = offsets[b.reuses]
            held.add(b.reuses)
            in_place.append(b.name)
        else:
            offsets[b.name] = free.take(size_of[b.name])
        peak = max(peak, free.top)
    return MemoryPlan(offsets, peak, sum(size_of.values()), tuple(ordered), tuple(in_place))
