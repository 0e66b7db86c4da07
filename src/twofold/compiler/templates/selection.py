"""The first few elements of a row in order, without sorting it: one walk that keeps the best words found so far.

Most elements are compared with the last of these and passed over, a vector at a time.
"""

from __future__ import annotations

from twofold.compiler.llvm import Operand, Val, number, vector
from twofold.compiler.templates.base import Kernel
from twofold.compiler.templates.ordering import Ordering

MOST_KEPT, LEAST_RATIO = 64, 8
"""At most so many are kept, of rows at least so many times longer: else sorting is faster."""


def selects(size: int, wanted: int) -> bool:
    """Whether selecting `wanted` of `size` elements is the better way."""
    return 0 < wanted <= MOST_KEPT and size >= LEAST_RATIO * wanted


class Best:
    """The `wanted` least words so far, in ascending order. Memory: a zero, the words, and greatest words to fill up the last vector."""

    def __init__(self, k: Kernel, ordering: Ordering, memory: Val, wanted: int) -> None:
        self.k, self.w, self.memory, self.wanted = k, ordering, memory, wanted
        self.lanes = lanes_of(k.target.vector_bytes, ordering)
        self.words = k.f.gep(memory, 1, ordering.word_type)
        self.worst = k.f.variable(ordering.key_type, -1)

    def clear(self) -> None:
        """Begin a row."""
        f, w = self.k.f, self.w
        w.store_word(self.k, number(w.word_type, 0), self.memory, 0)
        with f.loop(1, kept_words(self.k.target.vector_bytes, w, self.wanted)) as i:
            w.store_word(self.k, number(w.word_type, -1), self.memory, i)

    def insert(self, word: Val) -> None:
        """Put a word in its place; the last one falls out. With the places in ascending order, the word at each becomes the greater of the
        one before it and the lesser of the new word and the one that is there."""
        k, f, w = self.k, self.k.f, self.w
        type = vector(w.word_type, self.lanes)
        blocks = -(-self.wanted // self.lanes)
        new = f.splat(word, self.lanes)
        with f.loop(0, blocks) as t:
            at = f.mul(f.sub(blocks - 1, t), self.lanes)
            here = f.load(type, f.gep(self.words, at, w.word_type), 8)
            before = f.load(type, f.gep(self.memory, at, w.word_type), 8)
            kept = f.intrinsic("llvm.umax", type, before, f.intrinsic("llvm.umin", type, new, here))
            f.store(kept, f.gep(self.words, at, w.word_type), 8)
        f.set(self.worst, w.key_of(k, w.load_word(k, self.words, self.wanted - 1)))

    def consider(self, key: Val, index: Val) -> None:
        """Insert a later element if it comes before the last kept one. One with an equal key comes after it."""
        f = self.k.f
        with f.when(f.icmp("ult", key, f.get(self.worst, self.w.key_type))):
            self.insert(self.w.word(self.k, key, index))


def lanes_of(vector_bytes: int, w: Ordering) -> int:
    """Words that are moved at once."""
    return vector_bytes // 8 if w.word_bytes == 8 else 1


def kept_words(vector_bytes: int, w: Ordering, wanted: int) -> int:
    """Words of memory that `Best` needs."""
    lanes = lanes_of(vector_bytes, w)
    return 1 + -(-wanted // lanes) * lanes


def select_row(k: Kernel, w: Ordering, best: Best, source: Val, base: Val, stride: int, size: int) -> Val:
    """The least words of a row in order."""
    f = k.f
    best.clear()

    def at(i: Operand) -> Val:
        return f.add(base, f.mul(f.of(i, "i64"), stride))

    with f.loop(0, best.wanted) as i:
        best.insert(w.word(k, w.load_key(k, source, at(i)), i))
    begin = best.wanted
    if stride == 1:
        lanes = k.target.vector_bytes // w.dtype.itemsize
        end = begin + (size - begin) // lanes * lanes
        with f.loop(begin, end, lanes) as i:
            keys = w.load_key(k, source, at(i), lanes)
            worst = f.splat(f.get(best.worst, w.key_type), lanes)
            found = f.icmp("ult", keys, worst)
            some = f.icmp("ne", f.let(f"i{lanes}", f"bitcast {found.type} {found} to i{lanes}"), 0)
            with f.when(some), f.loop(i, f.add(i, lanes)) as j:
                best.consider(w.load_key(k, source, at(j)), j)
        begin = end
    with f.loop(begin, size) as i:
        best.consider(w.load_key(k, source, at(i)), i)
    return best.words
