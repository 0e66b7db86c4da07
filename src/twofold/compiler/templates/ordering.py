"""The order of elements as unsigned integers, and pairs of key and index as words that sort stably with any algorithm.

A key is as wide as its element. Keys of floats are monotonic: the sign bit is flipped, negative numbers are complemented; both zeros have
one key, and all NaN the greatest. A descending order complements keys: NaN comes first there, and equal elements still keep their order.

A word holds the key above the element's index in its row: 64 bits for keys of up to 32 bits, else 128. Words of a row are all different.
"""

from __future__ import annotations

from dataclasses import dataclass

from twofold.compiler.llvm import Operand, Val, lanes_constant, number, vector, with_element
from twofold.compiler.templates.base import Kernel
from twofold.ir.dtypes import FLOAT, DType

MOST_ELEMENTS = 1 << 31
"""A row must be shorter: indices take 32 bits of a word."""
INFINITY = {"f64": 0x7FF0000000000000, "f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}


@dataclass(frozen=True)
class Ordering:
    """An order of the elements of a dtype."""

    dtype: DType
    descending: bool = False

    @property
    def key_bits(self) -> int:
        return 8 * self.dtype.itemsize

    @property
    def key_type(self) -> str:
        """LLVM's type of keys, and of elements as they are loaded here."""
        return f"i{self.key_bits}"

    @property
    def index_bits(self) -> int:
        """Low bits of a word that hold the index."""
        return 64 if self.key_bits == 64 else 32

    @property
    def word_type(self) -> str:
        return f"i{2 * self.index_bits}"

    @property
    def word_bytes(self) -> int:
        return self.index_bits // 4

    @property
    def is_float(self) -> bool:
        return self.dtype.category == FLOAT

    # --- keys

    def key(self, k: Kernel, bits: Val) -> Val:
        """The keys of elements, given as integers of the same width."""
        f, n = k.f, self.key_bits
        sign = -(1 << (n - 1))
        if self.is_float:
            size = f.binary("and", bits, (1 << (n - 1)) - 1)
            nonzero = f.select(f.icmp("eq", size, 0), 0, bits)
            flipped = f.binary("xor", nonzero, f.binary("or", f.binary("ashr", nonzero, n - 1), sign))
            key = f.select(f.icmp("ugt", size, INFINITY[self.dtype.short]), f.of(-1, bits.type), flipped)
        elif self.dtype.short[0] == "i":
            key = f.binary("xor", bits, sign)
        else:
            key = bits
        return f.binary("xor", key, -1) if self.descending else key

    def load_key(self, k: Kernel, pointer: Val, at: Operand, lanes: int = 1) -> Val:
        """The keys of neighbouring elements."""
        f = k.f
        return self.key(k, f.load(vector(self.key_type, lanes), f.gep(pointer, at, self.key_type), self.dtype.itemsize))

    def is_nan(self, k: Kernel, key: Val) -> Val:
        """Whether a key is that of NaN."""
        return k.f.icmp("eq", key, 0 if self.descending else -1) if self.is_float else number("i1", False)

    # --- words

    def word(self, k: Kernel, key: Val, index: Val) -> Val:
        """The words of keys and i64 indices."""
        f = k.f
        type = with_element(key.type, self.word_type)
        wide = f.let(type, f"zext {key.type} {key} to {type}")
        low = index if index.type == type else f.let(type, f"zext {index.type} {index} to {type}")
        return f.binary("or", f.binary("shl", wide, self.index_bits), low)

    def index_of(self, k: Kernel, word: Val) -> Val:
        """The index in a word, as an i64."""
        f = k.f
        return f.convert("trunc", word, "i64") if self.index_bits == 64 else f.binary("and", word, (1 << 32) - 1)

    def key_of(self, k: Kernel, word: Val) -> Val:
        """The key in a word."""
        f = k.f
        return f.convert("trunc", f.binary("lshr", word, self.index_bits), self.key_type)

    def load_word(self, k: Kernel, words: Val, at: Operand) -> Val:
        return k.f.load(self.word_type, k.f.gep(words, at, self.word_type), 8)

    def store_word(self, k: Kernel, word: Val, words: Val, at: Operand) -> None:
        k.f.store(word, k.f.gep(words, at, word.element), 8)

    def fill(self, k: Kernel, source: Val, base: Operand, stride: int, words: Val, low: Operand, high: Operand) -> None:
        """Words of the elements low … high of a row that begins at `base`, to the same places of `words`."""
        f, lanes = k.f, k.target.vector_bytes // 8
        begin: Operand = low
        if stride == 1 and self.word_bytes == 8:
            whole = f.sub(high, f.binary("srem", f.sub(high, low), lanes))
            with f.loop(low, whole, lanes) as i:
                indices = f.binary("add", f.splat(i, lanes), lanes_constant(vector("i64", lanes), list(range(lanes))))
                words_here = self.word(k, self.load_key(k, source, f.add(base, i), lanes), indices)
                self.store_word(k, words_here, words, i)
            begin = whole
        with f.loop(begin, high) as i:
            key = self.load_key(k, source, f.add(base, f.mul(i, stride)))
            self.store_word(k, self.word(k, key, i), words, i)
