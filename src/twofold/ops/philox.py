"""Counter-based random numbers: Philox 4x32-10, and what is drawn from it.

A stream is (seed, offset): the seed is the 64-bit key, the offset a 64-bit counter of blocks. One block is 128 bits, four 32-bit words;
block `k` of a stream is the cipher applied to the counter `offset + k` (its upper 64 bits are zero). Values are taken from the words in
order, so a value depends on the seed, the offset and its own position, and on nothing else: drawing in pieces that begin at a block
gives the numbers of one whole drawing, in any order and on any number of threads. Counter and seed are taken modulo 2**64.

Each function says how many words one value takes; it consumes `blocks_needed(count, words)` blocks, the last one perhaps in part, and the
caller moves its offset by that.

Floating-point results are defined bit by bit. They are made of conversions from integers, `+ - * /`, square roots and shifts of the
exponent only, each rounded once as IEEE 754 says and in the order written here, without a mathematical library and without contraction
to fused multiply-add. Compiled code that keeps to this order draws the same bits.

Source of the generator: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from twofold.support.errors import ArgumentError, DTypeError, ValueRangeError

WORDS_PER_BLOCK = 4
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
"""Fractions of the golden ratio and of sqrt(3), added to the two halves of the key after each round."""
MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

CHUNK_BLOCKS = 8192
"""Blocks worked on at a time, so that the intermediate arrays stay in the processor's second-level cache."""
FEW_BLOCKS = 12
"""Up to here Python's integers are faster than arrays."""

_MULTIPLIER_ROWS = np.array(MULTIPLIERS, np.uint64)[:, None]
_SHIFT32 = np.uint64(32)
_LOW32 = np.uint64(MASK32)

Shape = int | Iterable[int]
Array = np.ndarray[Any, Any]


def blocks_needed(count: int, words: int = 1) -> int:
    """Blocks that `count` values of `words` words each take: how far a draw moves the offset."""
    return -(-count * words // WORDS_PER_BLOCK)


def _key_rows(seed: int) -> Array:
    """The round keys as (ROUNDS, 2, 1): row 0 is xored into word 0, row 1 into word 2."""
    halves = (seed & MASK32, seed >> 32 & MASK32)
    keys = [[(half + r * step) & MASK32 for half, step in zip(halves, KEY_STEPS, strict=True)] for r in range(ROUNDS)]
    return np.array(keys, np.uint64)[:, :, None]


def _encrypt(even: Array, odd: Array, keys: Array, out: Array) -> None:
    """The cipher on n counters. `even` holds words 0 and 2, `odd` words 1 and 3, each (2, n) uint64 with values below 2**32; both are
    overwritten. `out` is (n, 4) uint32. A round is: product of each even word with its multiplier; the high half of the *other* product,
    xored with the odd word and the key, becomes the even word; its low half becomes the odd word."""
    product = np.empty_like(even)
    crossed = product[::-1]
    for key in keys:
        np.multiply(even, _MULTIPLIER_ROWS, out=product)
        np.right_shift(crossed, _SHIFT32, out=even)
        np.bitwise_xor(even, odd, out=even)
        np.bitwise_xor(even, key, out=even)
        np.bitwise_and(crossed, _LOW32, out=odd)
    pairs = out.reshape(-1, 2, 2)
    np.copyto(pairs[:, :, 0].T, even, casting="unsafe")
    np.copyto(pairs[:, :, 1].T, odd, casting="unsafe")


def philox_block(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """One block of the cipher for a whole 128-bit counter and 64-bit key, each as 32-bit words, lowest first: plain Python, the reference
    of `_encrypt`, and faster for a few blocks."""
    a, b, c, d = counter
    k, m = key
    for _ in range(ROUNDS):
        first, second = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b, c, d = second >> 32 ^ b ^ k, second & MASK32, first >> 32 ^ d ^ m, first & MASK32
        k, m = (k + KEY_STEPS[0]) & MASK32, (m + KEY_STEPS[1]) & MASK32
    return a, b, c, d


def _few(seed: int, offset: int, blocks: int) -> Array:
    """`blocks` blocks from the counter `offset` on, as a flat uint32 array, one at a time."""
    key = (seed & MASK32, seed >> 32 & MASK32)
    counters = ((offset + i) & MASK64 for i in range(blocks))
    return np.array([philox_block((n & MASK32, n >> 32, 0, 0), key) for n in counters], np.uint32).reshape(-1)


def _many(keys: Array, offset: int, blocks: int) -> Array:
    """`blocks` blocks from the counter `offset` on, as a flat uint32 array, all at once."""
    counters = np.arange(blocks, dtype=np.uint64)
    counters += np.uint64(offset & MASK64)
    even, odd = np.zeros((2, blocks), np.uint64), np.zeros((2, blocks), np.uint64)
    np.bitwise_and(counters, _LOW32, out=even[0])
    np.right_shift(counters, _SHIFT32, out=odd[0])
    out = np.empty((blocks, WORDS_PER_BLOCK), np.uint32)
    _encrypt(even, odd, keys, out)
    return out.reshape(-1)


def _shape(shape: Shape) -> tuple[int, ...]:
    if isinstance(shape, int | np.integer):
        shape = (int(shape),)
    result = tuple(operator.index(n) for n in shape)
    if any(n < 0 for n in result):
        raise ValueRangeError(f"random numbers: a dimension of the shape {result} is negative")
    return result


def _draw(seed: int, offset: int, shape: Shape, dtype: Any, words: int, convert: Callable[[Array, Array], None]) -> Array:
    """An array of random values: `convert(words, out)` turns the uint32 words of some values into these values."""
    out = np.empty(_shape(shape), dtype)
    flat = out.reshape(-1)
    if (blocks := blocks_needed(flat.size, words)) <= FEW_BLOCKS:
        if blocks:
            convert(_few(seed, offset, blocks)[: flat.size * words], flat)
        return out
    keys = _key_rows(seed)
    values_per_chunk = CHUNK_BLOCKS * WORDS_PER_BLOCK // words
    for start in range(0, flat.size, values_per_chunk):
        part = flat[start : start + values_per_chunk]
        first = start * words // WORDS_PER_BLOCK
        convert(_many(keys, offset + first, blocks_needed(part.size, words))[: part.size * words], part)
    return out


def _wide(words: Array) -> Array:
    """Pairs of words as uint64, the first the lower half."""
    return words.astype("<u4", copy=False).view("<u8").astype(np.uint64, copy=False)


def philox_u32(seed: int, offset: int, count: int) -> Array:
    """`count` words of the stream, uint32. One word a value."""
    return _draw(seed, offset, count, np.uint32, 1, lambda words, out: np.copyto(out, words))


def philox_u64(seed: int, offset: int, count: int) -> Array:
    """`count` uint64, the first word the lower half. Two words a value."""
    return _draw(seed, offset, count, np.uint64, 2, lambda words, out: np.copyto(out, _wide(words)))


# ---------------------------------------------------------------------------------------------------------------- uniform


def uniform_f32(seed: int, offset: int, shape: Shape) -> Array:
    """float32 in [0, 1): the upper 24 bits of a word times 2**-24. One word a value."""

    def convert(words: Array, out: Array) -> None:
        np.multiply((words >> np.uint32(8)).view(np.int32), np.float32(2.0**-24), out=out, dtype=np.float32, casting="unsafe")

    return _draw(seed, offset, shape, np.float32, 1, convert)


def uniform_f64(seed: int, offset: int, shape: Shape) -> Array:
    """float64 in [0, 1): the upper 53 of 64 bits times 2**-53. Two words a value."""

    def convert(words: Array, out: Array) -> None:
        np.multiply((_wide(words) >> np.uint64(11)).view(np.int64), 2.0**-53, out=out)

    return _draw(seed, offset, shape, np.float64, 2, convert)


def uniform_16(seed: int, offset: int, shape: Shape, dtype: Any, bits: int) -> Array:
    """A 16-bit float in [0, 1): the upper `bits` bits (the dtype's precision, so that 1 is never reached) times 2**-bits. One word a
    value."""

    def convert(words: Array, out: Array) -> None:
        np.copyto(out, (words >> np.uint32(32 - bits)).astype(np.float32) * np.float32(2.0**-bits), casting="unsafe")

    return _draw(seed, offset, shape, dtype, 1, convert)


PRECISION_16 = {"float16": 11, "bfloat16": 8}


def uniform(seed: int, offset: int, shape: Shape, dtype: Any) -> Array:
    """Uniform in [0, 1) in a floating dtype (float64, float32, float16, bfloat16). Takes `words_per_float(dtype)` words a value."""
    dtype = _float_dtype(dtype)
    if dtype == np.float32:
        return uniform_f32(seed, offset, shape)
    if dtype == np.float64:
        return uniform_f64(seed, offset, shape)
    return uniform_16(seed, offset, shape, dtype, PRECISION_16[dtype.name])


def words_per_float(dtype: Any) -> int:
    """Words that a value of `uniform` or `normal` takes: 2 for float64, otherwise 1."""
    return 2 if _float_dtype(dtype) == np.float64 else 1


def _float_dtype(dtype: Any) -> np.dtype[Any]:
    result: np.dtype[Any] = np.dtype(dtype)
    if result.name not in ("float32", "float64", *PRECISION_16):
        raise DTypeError(f"random numbers of dtype {result} cannot be drawn: use float64, float32, float16 or bfloat16")
    return result


# ----------------------------------------------------------------------------------------------------------------- normal
# The inverse of the normal distribution function by the rational approximations of M. J. Wichura, "Algorithm AS 241: the percentage
# points of the normal distribution", Applied Statistics 37 (1988), 477-484: PPND7 in float32, PPND16 in float64. Coefficients from the
# highest power down. The sums of their mantissas, given in the paper against slips, are checked in the tests.

SPLIT_CENTRE, CENTRE, SPLIT_TAIL, TAIL = 0.425, 0.180625, 5.0, 1.6

PPND7_A = (5.9109374720e1, 1.5929113202e2, 5.0434271938e1, 3.3871327179e0)
PPND7_B = (6.7187563600e1, 7.8757757664e1, 1.7895169469e1, 1.0)
PPND7_C = (1.7023821103e-1, 1.3067284816e0, 2.7568153900e0, 1.4234372777e0)
PPND7_D = (1.2021132975e-1, 7.3700164250e-1, 1.0)

PPND16_A = (
    2.5090809287301226727e3,
    3.3430575583588128105e4,
    6.7265770927008700853e4,
    4.5921953931549871457e4,
    1.3731693765509461125e4,
    1.9715909503065514427e3,
    1.3314166789178437745e2,
    3.3871328727963666080e0,
)
PPND16_B = (
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
)
PPND16_C = (
    7.74545014278341407640e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
)
PPND16_D = (
    1.05075007164441684324e-9,
    5.47593808499534494600e-4,
    1.51986665636164571966e-2,
    1.48103976427480074590e-1,
    6.89767334985100004550e-1,
    1.67638483018380384940e0,
    2.05319162663775882187e0,
    1.0,
)
PPND16_E = (
    2.01033439929228813265e-7,
    2.71155556874348757815e-5,
    1.24266094738807843860e-3,
    2.65321895265761230930e-2,
    2.96560571828504891230e-1,
    1.78482653991729133580e0,
    5.46378491116411436990e0,
    6.65790464350110377720e0,
)
PPND16_F = (
    2.04426310338993978564e-15,
    1.42151175831644588870e-7,
    1.84631831751005468180e-5,
    7.86869131145613259100e-4,
    1.48753612908506148525e-2,
    1.36929880922735805310e-1,
    5.99832206555887937690e-1,
    1.0,
)

LOG_TERMS = {np.dtype(np.float32): 5, np.dtype(np.float64): 11}
"""Terms of log(m) = 2 artanh(s) = 2 s (1 + s^2/3 + s^4/5 + ...), s = (m - 1) / (m + 1), for m in [sqrt(1/2), sqrt(2)): s^2 < 0.0295, so
the first term left out is below 2e-9 (float32) and 1e-18 (float64) of the sum."""


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Horner's scheme in the dtype of `x`: one rounding a product and one a sum."""
    kind = x.dtype.type
    result = x * kind(coefficients[0])
    for c in coefficients[1:-1]:
        result += kind(c)
        result *= x
    result += kind(coefficients[-1])
    return result


def _log(x: Array) -> Array:
    """The natural logarithm of positive normal numbers, by the steps above: exact ones on the exponent, a fixed polynomial on the rest."""
    kind = x.dtype.type
    mantissa, exponent = np.frexp(x)
    below = mantissa < kind(math.sqrt(0.5))
    mantissa = np.where(below, mantissa + mantissa, mantissa)
    exponent = exponent - below
    s = (mantissa - kind(1.0)) / (mantissa + kind(1.0))
    series = _polynomial(s * s, tuple(1.0 / (2 * k + 1) for k in reversed(range(LOG_TERMS[x.dtype]))))
    return exponent.astype(x.dtype) * kind(math.log(2.0)) + (s + s) * series


def _quantile(inner: Array, outer: Array) -> Array:
    """The size of the normal deviate of which `outer` (in (0, 1/2)) is the tail's area, and `inner` = 1/2 - outer. Both are given because
    each is exact where the other has lost digits."""
    kind = inner.dtype.type
    single = inner.dtype == np.float32
    r = kind(CENTRE) - inner * inner
    result = inner * (_polynomial(r, PPND7_A if single else PPND16_A) / _polynomial(r, PPND7_B if single else PPND16_B))
    tail = np.flatnonzero(inner > kind(SPLIT_CENTRE))
    if not tail.size:
        return result
    r = np.sqrt(-_log(outer[tail]))
    t = r - kind(TAIL)
    deviate = _polynomial(t, PPND7_C if single else PPND16_C) / _polynomial(t, PPND7_D if single else PPND16_D)
    if not single:
        # In float32 the smallest area is 2**-33, where r = 4.8: PPND7's far tail is never reached.
        far = np.flatnonzero(r > SPLIT_TAIL)
        t = r[far] - SPLIT_TAIL
        deviate[far] = _polynomial(t, PPND16_E) / _polynomial(t, PPND16_F)
    result[tail] = deviate
    return result


def _normal(bits: Array, width: int, dtype: Any) -> Array:
    """Deviates from signed integers of `width` bits, taken as multiples of 2**-width: the sign bit gives the sign, the other bits k give
    the distance from the median (k + 1/2) * 2**-width."""
    kind = np.dtype(dtype).type
    last = bits.dtype.type((1 << (width - 1)) - 1)
    low = bits & last
    scale, half = kind(2.0**-width), kind(0.5)
    inner = (low.astype(dtype) + half) * scale
    outer = ((last - low).astype(dtype) + half) * scale
    return np.copysign(_quantile(inner, outer), np.where(bits < 0, kind(-1.0), kind(1.0)))


def normal_f32(seed: int, offset: int, shape: Shape) -> Array:
    """float32 from the standard normal distribution: the inverse distribution function (PPND7 in float32, relative error below 1e-6) of
    a 32-bit word; the largest deviate is 6.34. One word a value."""

    def convert(words: Array, out: Array) -> None:
        np.copyto(out, _normal(words.view(np.int32), 32, np.float32))

    return _draw(seed, offset, shape, np.float32, 1, convert)


def normal_f64(seed: int, offset: int, shape: Shape) -> Array:
    """float64 from the standard normal distribution: the inverse distribution function (PPND16 in float64, relative error below 2e-15)
    of 64 bits; the largest deviate is 9.15. Two words a value."""

    def convert(words: Array, out: Array) -> None:
        np.copyto(out, _normal(_wide(words).view(np.int64), 64, np.float64))

    return _draw(seed, offset, shape, np.float64, 2, convert)


def normal(seed: int, offset: int, shape: Shape, dtype: Any) -> Array:
    """Standard normal in a floating dtype; 16-bit floats are the float32 numbers rounded. Takes `words_per_float(dtype)` words a value."""
    dtype = _float_dtype(dtype)
    if dtype == np.float64:
        return normal_f64(seed, offset, shape)
    return normal_f32(seed, offset, shape).astype(dtype, copy=False)


def exponential(seed: int, offset: int, shape: Shape, dtype: Any) -> Array:
    """Exponentially distributed with rate 1, float32 or float64: -log(1 - u), u = `uniform`, 1 - u being exact and the logarithm the one
    above. Takes `words_per_float(dtype)` words a value."""
    u = uniform(seed, offset, shape, dtype)
    return np.negative(_log(u.dtype.type(1.0) - u))


# --------------------------------------------------------------------------------------------- integers, events, permutations


def _scaled(x: Array, span: int) -> Array:
    """floor(x * span / 2**64) for uint64 `x` and 0 < span < 2**64: the upper half of the 128-bit product, from 32-bit halves."""
    low, high = x & _LOW32, x >> _SHIFT32
    span_low, span_high = np.uint64(span & MASK32), np.uint64(span >> 32)
    middle = high * span_low + (low * span_low >> _SHIFT32)
    if span_high == 0:
        return middle >> _SHIFT32
    other = low * span_high + (middle & _LOW32)
    return high * span_high + (middle >> _SHIFT32) + (other >> _SHIFT32)


def randint(seed: int, offset: int, low: int, high: int, shape: Shape, dtype: Any = np.int64) -> Array:
    """Integers in [low, high): low + floor(x * (high - low) / 2**64) for 64 random bits x. Two words a value.

    Each value's probability is within 2**-64 of 1 / (high - low): a relative difference below 1e-9 for ranges up to 2**32. Raises
    ValueRangeError if high <= low or the range does not fit the integer dtype, DTypeError for another dtype.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        raise DTypeError(f"randint: draws integers, not {dtype}")
    low, high, limits = operator.index(low), operator.index(high), np.iinfo(dtype)
    if high <= low:
        raise ValueRangeError(f"randint: expects low < high, got low={low} and high={high}")
    if low < limits.min or high > int(limits.max) + 1:
        raise ValueRangeError(f"randint: the range [{low}, {high}) does not fit {dtype}")
    span, base = high - low, np.uint64(low & MASK64)

    def convert(words: Array, out: Array) -> None:
        x = _wide(words)
        np.copyto(out, (x if span > MASK64 else _scaled(x, span)) + base, casting="unsafe")

    return _draw(seed, offset, shape, dtype, 2, convert)


def bernoulli(seed: int, offset: int, p: Any, shape: Shape) -> Array:
    """bool, True with probability `p`: exactly `uniform_f32 < p`, compared as real numbers. `p` is a number, or an array that broadcasts to
    `shape`. One word a value. Raises ValueRangeError unless 0 <= p <= 1 everywhere."""
    valid = np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1))
    if not valid:
        raise ValueRangeError(f"bernoulli: probabilities must be within [0, 1], got {p}")
    if np.ndim(p) > 0:
        return np.less(uniform_f32(seed, offset, shape), np.asarray(p).astype(np.float64))
    # u = k * 2**-24 < p  if and only if  k < ceil(p * 2**24): an integer comparison, the product being exact.
    threshold = np.uint32(math.ceil(float(p) * 2.0**24))
    return _draw(seed, offset, shape, np.bool_, 1, lambda words, out: np.less(words >> np.uint32(8), threshold, out=out))


def permutation(seed: int, offset: int, n: int) -> Array:
    """A random order of 0 ... n-1, int64: the stable sort of n 64-bit keys. Two words a value.

    Raises ArgumentError if `n` is no integer, ValueRangeError if it is negative."""
    try:
        count = operator.index(n)
    except TypeError:
        raise ArgumentError(f"permutation: expects a number of elements, got {type(n).__name__}") from None
    if count < 0:
        raise ValueRangeError(f"permutation: expects a number of elements of at least 0, got {n}")
    return np.argsort(philox_u64(seed, offset, count), kind="stable").astype(np.int64, copy=False)
