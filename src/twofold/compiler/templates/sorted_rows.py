"""What is read off a sorted row: its first elements, or the one at a place that may depend on the row."""

from __future__ import annotations

from dataclasses import dataclass

from twofold.compiler.llvm import Val, number
from twofold.compiler.templates.base import Kernel
from twofold.compiler.templates.ordering import Ordering


@dataclass(frozen=True)
class First:
    """The first `results` elements."""

    results: int

    @property
    def needed(self) -> int | None:
        """How many of the first elements must be known; None: all elements."""
        return self.results


@dataclass(frozen=True)
class Ranked:
    """One element by its rank: "fixed": at `rank`; "median": the lower median, or the first NaN if there is one; "nanmedian": the lower
    median of what is not NaN (the first NaN of none)."""

    kind: str
    rank: int = 0
    results: int = 1

    @property
    def needed(self) -> int | None:
        return self.rank + 1 if self.kind == "fixed" else None

    def place(self, k: Kernel, w: Ordering, ordered: Val, size: int) -> Val:
        """The place in the sorted row."""
        f = k.f
        middle = (size - 1) // 2
        if self.kind == "fixed" or not w.is_float:
            return number("i64", self.rank if self.kind == "fixed" else middle)
        numbers = count_of_numbers(k, w, ordered, size)
        if self.kind == "median":
            return f.select(f.icmp("eq", numbers, size), f.of(middle, "i64"), numbers)
        last = f.intrinsic("llvm.smax", "i64", f.sub(numbers, 1), number("i64", 0))
        return f.binary("lshr", last, 1)


def count_of_numbers(k: Kernel, w: Ordering, ordered: Val, size: int) -> Val:
    """How many elements of a sorted row of floats are not NaN: by bisection."""
    f = k.f
    low, count = f.variable("i64", 0), f.variable("i64", size)
    with f.loop(0, size.bit_length()):
        begin, n = f.get(low, "i64"), f.get(count, "i64")
        half = f.binary("lshr", n, 1)
        inside = f.icmp("ne", n, 0)
        middle = f.add(begin, half)
        key = w.key_of(k, w.load_word(k, ordered, k.smin(middle, size - 1)))
        right = f.binary("and", inside, f.binary("xor", w.is_nan(k, key), number("i1", True)))
        f.set(low, f.select(right, f.add(middle, 1), begin))
        f.set(count, f.select(right, f.sub(f.sub(n, half), 1), half))
    return f.get(low, "i64")


@dataclass(frozen=True)
class Mode:
    """The last of the longest run of equal elements, of several the first; each NaN is a run of its own."""

    results: int = 1
    needed = None

    def place(self, k: Kernel, w: Ordering, ordered: Val, size: int) -> Val:
        """The place in the sorted row."""
        f = k.f
        best, longest, length = f.variable("i64", 0), f.variable("i64", 0), f.variable("i64", 0)
        before = f.variable(w.key_type, w.key_of(k, w.load_word(k, ordered, 0)))
        with f.loop(1, size) as i:
            key = w.key_of(k, w.load_word(k, ordered, i))
            same = f.icmp("eq", key, f.get(before, w.key_type))
            if w.is_float:
                same = f.binary("and", same, f.binary("xor", w.is_nan(k, key), number("i1", True)))
            now = f.select(same, f.add(f.get(length, "i64"), 1), 0)
            longer = f.icmp("sgt", now, f.get(longest, "i64"))
            f.set(best, f.select(longer, i, f.get(best, "i64")))
            f.set(longest, f.select(longer, now, f.get(longest, "i64")))
            f.set(length, now)
            f.set(before, key)
        return f.get(best, "i64")


Reading = First | Ranked | Mode
