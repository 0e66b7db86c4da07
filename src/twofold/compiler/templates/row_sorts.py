"""Sorting one row of words: by sorting networks and merges where it is short, by radix where it is long.

Both take two arrays of words and say in which of them the sorted row ends.
"""

from __future__ import annotations

from twofold.compiler.llvm import Val, number, vector
from twofold.compiler.templates.base import Kernel
from twofold.compiler.templates.ordering import Ordering

NETWORK = 8
"""Words that a sorting network sorts in registers."""
LONGEST_MERGED = {8: 32, 16: 64, 32: 128, 64: 256}
"""The longest row that is sorted by merges, by the width of its keys: a longer one has more elements than radix has counters to handle."""
RADIX = 256
"""Buckets of a pass: one for each value of a byte of the key."""


def padded_size(ordering: Ordering, size: int) -> int:
    """Words that each of the two arrays must hold."""
    if size > LONGEST_MERGED[ordering.key_bits]:
        return size
    result = NETWORK
    while result < size:
        result *= 2
    return result


def sort_row(k: Kernel, ordering: Ordering, words: Val, other: Val, size: int) -> Val:
    """Sort `size` words at `words`; the array where they are then."""
    if size <= 1:
        return words
    if size > LONGEST_MERGED[ordering.key_bits]:
        return _radix(k, ordering, words, other, size)
    return _merges(k, ordering, words, other, size)


# --- merges


def network(size: int) -> list[tuple[int, int]]:
    """Pairs of places to compare and exchange, in order: Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2 M), for
    a power of two."""
    pairs = []
    p = top = size // 2
    while p:
        q, r, d = top, 0, p
        while True:
            pairs += [(i, i + d) for i in range(size - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2
    return pairs


def _merges(k: Kernel, ordering: Ordering, words: Val, other: Val, size: int) -> Val:
    f, w = k.f, ordering
    padded = padded_size(w, size)
    with f.loop(size, padded) as filler:
        w.store_word(k, number(w.word_type, -1), words, filler)
    with f.loop(0, padded, NETWORK) as base:
        values = [w.load_word(k, words, f.add(base, i)) for i in range(NETWORK)]
        for i, j in network(NETWORK):
            a, b = values[i], values[j]
            less = f.icmp("ult", a, b)
            values[i], values[j] = f.select(less, a, b), f.select(less, b, a)
        for i, x in enumerate(values):
            w.store_word(k, x, words, f.add(base, i))
    length = NETWORK
    while length < padded:
        with f.loop(0, padded, 2 * length) as base:
            _merge(k, w, words, other, base, length)
        words, other = other, words
        length *= 2
    return words


def _merge(k: Kernel, w: Ordering, words: Val, other: Val, base: Val, length: int) -> None:
    """Two neighbouring runs of `length` words into one. The lesser half is taken from the front and the greater one from the back: neither
    walk can leave its run, and they do not wait for each other."""
    f = k.f
    front = f.variable("i64", base), f.variable("i64", f.add(base, length))
    back = f.variable("i64", f.add(base, length - 1)), f.variable("i64", f.add(base, 2 * length - 1))
    with f.loop(0, length) as t:
        i, j = (f.get(s, "i64") for s in front)
        a, b = w.load_word(k, words, i), w.load_word(k, words, j)
        left = f.icmp("ult", a, b)
        w.store_word(k, f.select(left, a, b), other, f.add(base, t))
        taken = f.convert("zext", left, "i64")
        f.set(front[0], f.add(i, taken))
        f.set(front[1], f.add(j, f.sub(1, taken)))
        i, j = (f.get(s, "i64") for s in back)
        a, b = w.load_word(k, words, i), w.load_word(k, words, j)
        left = f.icmp("ugt", a, b)
        w.store_word(k, f.select(left, a, b), other, f.sub(f.add(base, 2 * length - 1), t))
        taken = f.convert("zext", left, "i64")
        f.set(back[0], f.sub(i, taken))
        f.set(back[1], f.sub(j, f.sub(1, taken)))


# --- radix


def digit_of(k: Kernel, w: Ordering, words: Val, at: Val, digit: Val) -> Val:
    """Byte `digit` of the key of a word in memory (bytes are in ascending order there), as an i64."""
    f = k.f
    place = f.add(f.mul(at, w.word_bytes), f.add(digit, w.index_bits // 8))
    return f.convert("zext", f.load("i8", f.gep(words, place, "i8"), 1), "i64")


def clear_counters(k: Kernel, counters: Val, count: int) -> None:
    """Zero `count` (a multiple of 256) i32 counters."""
    lanes = k.target.vector_bytes // 4
    with k.f.loop(0, count, lanes) as i:
        k.f.store(number(vector("i32", lanes), 0), k.f.gep(counters, i, "i32"), 4)


def increment(k: Kernel, counters: Val, at: Val) -> Val:
    """Add 1 to an i32 counter; what it was."""
    f = k.f
    place = f.gep(counters, at, "i32")
    old = f.load("i32", place, 4)
    f.store(f.add(old, number("i32", 1)), place, 4)
    return old


def scatter(k: Kernel, w: Ordering, source: Val, target: Val, low: Val, high: Val, counters: Val, digit: Val) -> None:
    """Words low … high of `source` to where their digits' counters point, which move on."""
    f = k.f
    with f.loop(low, high) as i:
        place = increment(k, counters, digit_of(k, w, source, i, digit))
        w.store_word(k, w.load_word(k, source, i), target, f.convert("zext", place, "i64"))


def _radix(k: Kernel, w: Ordering, words: Val, other: Val, size: int) -> Val:
    """Least digit first. All digits are counted in one walk; a digit that all words share needs no pass."""
    f, digits = k.f, w.key_bits // 8
    counters = f.scratch(4 * RADIX * digits)
    clear_counters(k, counters, RADIX * digits)
    with f.loop(0, size) as i:
        key = w.key_of(k, w.load_word(k, words, i))
        for d in range(digits):
            byte = f.binary("and", f.binary("lshr", key, 8 * d), 255) if digits > 1 else key
            at = byte if byte.type == "i64" else f.convert("zext", byte, "i64")
            increment(k, counters, f.add(at, RADIX * d))
    source, target = f.variable("ptr", words), f.variable("ptr", other)
    with f.loop(0, digits) as digit:
        here = f.gep(counters, f.mul(digit, RADIX), "i32")
        a, b = f.get(source, "ptr"), f.get(target, "ptr")
        first = digit_of(k, w, a, number("i64", 0), digit)
        with f.when(f.icmp("ne", f.load("i32", f.gep(here, first, "i32"), 4), size)):
            total = f.variable("i32", 0)
            with f.loop(0, RADIX) as i:
                place = f.gep(here, i, "i32")
                count, before = f.load("i32", place, 4), f.get(total, "i32")
                f.store(before, place, 4)
                f.set(total, f.add(before, count))
            scatter(k, w, a, b, number("i64", 0), number("i64", size), here, digit)
            f.set(source, b)
            f.set(target, a)
    return f.get(source, "ptr")
