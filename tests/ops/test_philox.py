"""Philox 4x32-10 against published answers, and what is drawn from it against the distributions it claims."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.ops import philox
from twofold.support.errors import ArgumentError, DTypeError, TwofoldError, ValueRangeError

F = 0xFFFFFFFF
KNOWN_ANSWERS = [  # the lines `philox4x32 10` of kat_vectors in Random123 1.14: counter, key, block
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((F, F, F, F), (F, F), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]
DRAWS: list[tuple[str, int, Callable[[int, int, int], np.ndarray]]] = [  # name, words a value, draw(seed, offset, count)
    ("u32", 1, philox.philox_u32),
    ("u64", 2, philox.philox_u64),
    ("uniform_f32", 1, philox.uniform_f32),
    ("uniform_f64", 2, philox.uniform_f64),
    ("uniform_f16", 1, lambda s, o, n: philox.uniform(s, o, n, np.float16)),
    ("uniform_bf16", 1, lambda s, o, n: philox.uniform(s, o, n, ml_dtypes.bfloat16)),
    ("normal_f32", 1, philox.normal_f32),
    ("normal_f64", 2, philox.normal_f64),
    ("randint", 2, lambda s, o, n: philox.randint(s, o, -5, 1000, n)),
    ("randint_wide", 2, lambda s, o, n: philox.randint(s, o, -(2**50), 2**60, n)),
    ("bernoulli", 1, lambda s, o, n: philox.bernoulli(s, o, 0.3, n)),
]
draws = pytest.mark.parametrize("name, words, draw", DRAWS, ids=[d[0] for d in DRAWS])


@pytest.mark.parametrize("counter, key, block", KNOWN_ANSWERS)
def test_known_answers(counter: tuple[int, int, int, int], key: tuple[int, int], block: tuple[int, ...]) -> None:
    assert philox.philox_block(counter, key) == block
    even, odd = (np.array([[counter[i]] * 3, [counter[i + 2]] * 3], np.uint64) for i in (0, 1))
    out = np.empty((3, 4), np.uint32)
    philox._encrypt(even, odd, philox._key_rows(key[0] | key[1] << 32), out)
    assert out.tolist() == [list(block)] * 3


def test_seed_and_offset_are_key_and_counter() -> None:
    seed, offset = 0x299F31D0A4093822, 0x85A308D3243F6A88
    expected = philox.philox_block((0x243F6A88, 0x85A308D3, 0, 0), (0xA4093822, 0x299F31D0))
    assert philox.philox_u32(seed, offset, 4).tolist() == list(expected)
    assert philox.philox_u32(seed + 2**64, offset - 2**64, 4).tolist() == list(expected)
    assert philox.philox_u32(-1, -1, 400)[4:].tolist() == philox.philox_u32(2**64 - 1, 0, 396).tolist()


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(1, 100))
def test_array_form_equals_plain_form(seed: int, offset: int, blocks: int) -> None:
    np.testing.assert_array_equal(philox._many(philox._key_rows(seed), offset, blocks), philox._few(seed, offset, blocks))


@draws
@pytest.mark.parametrize("total, cut", [(9, 4), (44, 40), (100_003, 32), (100_003, 4 * philox.CHUNK_BLOCKS), (70_000, 65_000)])
def test_pieces_equal_the_whole(name: str, words: int, draw: Callable[[int, int, int], np.ndarray], total: int, cut: int) -> None:
    whole = draw(7, 11, total)
    first, second = draw(7, 11, cut), draw(7, 11 + philox.blocks_needed(cut, words), total - cut)
    np.testing.assert_array_equal(np.concatenate([first, second]), whole)
    np.testing.assert_array_equal(draw(7, 11, total), whole)
    assert not np.array_equal(draw(8, 11, total), whole)
    assert not np.array_equal(draw(7, 12, total), whole)


@draws
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 5)])
def test_shapes(name: str, words: int, draw: Callable[..., np.ndarray], shape: tuple[int, ...]) -> None:
    result = draw(1, 2, shape)
    assert result.shape == shape
    np.testing.assert_array_equal(result.reshape(-1), draw(1, 2, math.prod(shape)))


@pytest.mark.parametrize("count, words, blocks", [(0, 1, 0), (1, 1, 1), (4, 1, 1), (5, 1, 2), (2, 2, 1), (3, 2, 2)])
def test_blocks_needed(count: int, words: int, blocks: int) -> None:
    assert philox.blocks_needed(count, words) == blocks


def test_fixed_numbers() -> None:
    """Numbers that must never change: users' seeds depend on them."""
    assert philox.philox_u32(0, 0, 3).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C]
    assert [x.hex() for x in philox.uniform_f32(0, 0, 2).tolist()] == [(0x6627E8 / 2**24).hex(), (0xE169C5 / 2**24).hex()]
    assert philox.uniform_f64(0, 0, 1).tolist() == [(0xE169C58D6627E8D5 >> 11) / 2**53]
    assert philox.randint(0, 0, 10, 110, 1).tolist() == [10 + (0xE169C58D6627E8D5 * 100 >> 64)]
    assert philox.normal_f32(42, 0, 4).tobytes().hex() == NORMAL_F32
    assert philox.normal_f64(42, 0, 2).tobytes().hex() == NORMAL_F64
    assert philox.permutation(42, 0, 10).tolist() == PERMUTATION


# ----------------------------------------------------------------------------------------------------------- distributions


def distance(sample: np.ndarray, distribution: np.ndarray) -> float:
    """Kolmogorov's statistic times sqrt(n): below 1.95 in 99.9 % of samples from the distribution."""
    order = np.argsort(sample)
    n = len(sample)
    steps = np.arange(n + 1) / n
    return math.sqrt(n) * float(max(np.max(steps[1:] - distribution[order]), np.max(distribution[order] - steps[:-1])))


def normal_distribution(x: np.ndarray) -> np.ndarray:
    return np.array([0.5 * math.erfc(-v / math.sqrt(2.0)) for v in x.tolist()])


@pytest.mark.parametrize("seed", [0, 1, 2**63])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uniform(seed: int, dtype: Any) -> None:
    x = philox.uniform(seed, 5, 100_000, dtype).astype(np.float64)
    assert x.min() >= 0.0
    assert x.max() < 1.0
    assert distance(x, x) < 1.95
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 4 / math.sqrt(len(x))


@pytest.mark.parametrize("seed", [0, 1, 2**63])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal(seed: int, dtype: Any) -> None:
    x = philox.normal(seed, 5, 100_000, dtype).astype(np.float64)
    assert distance(x, normal_distribution(x)) < 1.95
    n = len(x)
    # the mean of x^k, and that mean's standard deviation
    for power, expected, deviation in ((1, 0, 1), (2, 1, 2**0.5), (3, 0, 15**0.5), (4, 3, 96**0.5)):
        assert abs(np.mean(x**power) - expected) < 4 * deviation / math.sqrt(n)
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 4 / math.sqrt(n)


@pytest.mark.parametrize("dtype, bits", [(np.float16, 11), (ml_dtypes.bfloat16, 8)])
def test_uniform_in_16_bits_never_reaches_one(dtype: Any, bits: int) -> None:
    x = philox.uniform(3, 0, 20_000, dtype).astype(np.float64)
    assert set(x.tolist()) <= {k / 2**bits for k in range(2**bits)}
    assert x.max() == 1.0 - 2.0**-bits
    assert abs(x.mean() - 0.5) < 0.01


def test_normal_in_16_bits_is_float32_rounded() -> None:
    exact = philox.normal_f32(3, 0, 1000)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        np.testing.assert_array_equal(philox.normal(3, 0, 1000, dtype), exact.astype(dtype))


def test_mantissas_of_the_coefficients() -> None:
    """The sums that Wichura's paper gives against slips in copying."""

    def total(*names: str) -> Fraction:
        coefficients = [c for name in names for c in getattr(philox, name) if c != 1.0]
        return sum((Fraction(repr(c)) / Fraction(10) ** math.floor(math.log10(c)) for c in coefficients), Fraction(0))

    assert math.isclose(total("PPND7_A", "PPND7_B"), 32.3184577772, abs_tol=1e-9)
    assert math.isclose(total("PPND7_C", "PPND7_D"), 15.7614929821, abs_tol=1e-9)
    assert math.isclose(total("PPND16_A", "PPND16_B"), 55.8831928806149014439, abs_tol=1e-13)
    assert math.isclose(total("PPND16_C", "PPND16_D"), 49.33206503301610289036, abs_tol=1e-13)
    assert math.isclose(total("PPND16_E", "PPND16_F"), 47.52583317549289671629, abs_tol=1e-13)


def edge_bits(width: int) -> np.ndarray:
    """Words at the median, the tails and the borders of the three ranges of the approximation."""
    top = 1 << (width - 1)
    centre, tail = int(0.425 * 2 * top), int((0.5 - math.exp(-25)) * 2 * top)
    near = [0, 1, 2, 3, 1000, centre - 2, centre - 1, centre, centre + 1, top // 2, tail - 1, tail, tail + 1, top - 3, top - 2, top - 1]
    words = [k for k in near if 0 <= k < top]
    return np.array(words + [k - top for k in words], np.dtype(f"int{width}"))


@pytest.mark.parametrize("width, dtype, tolerance", [(32, np.float32, 1e-6), (64, np.float64, 4e-15)])
def test_normal_is_the_inverse_distribution_function(width: int, dtype: Any, tolerance: float) -> None:
    """The distribution function of a deviate is the area it was made from, up to a relative error of the deviate of `tolerance`."""
    words = np.concatenate(
        [edge_bits(width), philox.philox_u64(1, 0, 20_000).astype(np.dtype(f"uint{width}")).view(np.dtype(f"int{width}"))]
    )
    half = 1 << (width - 1)
    for word, deviate in zip(words.tolist(), philox._normal(words, width, dtype).tolist(), strict=True):
        z, k = abs(deviate), word & (half - 1)
        assert (deviate < 0) == (word < 0)
        allowed = tolerance * z * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        inner = 0.5 * math.erf(z / math.sqrt(2)) - (k + 0.5) / (2 * half)
        outer = 0.5 * math.erfc(z / math.sqrt(2)) - (half - 1 - k + 0.5) / (2 * half)
        assert abs(inner if z < 0.7 else outer) <= allowed, word


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 3e-7), (np.float64, 4e-16)])
def test_log(dtype: Any, tolerance: float) -> None:
    x = np.concatenate([philox.uniform_f64(1, 0, 20_000) * 0.5 + 1e-300, 2.0 ** -np.arange(1, 70)]).astype(dtype)
    x = x[x >= np.finfo(dtype).tiny]
    np.testing.assert_allclose(philox._log(x), np.log(x.astype(np.float64)), rtol=tolerance)


# ------------------------------------------------------------------------------------------- integers, events, permutations


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**64 - 1))
def test_scaled_is_the_upper_half_of_the_product(x: int, span: int) -> None:
    assert int(philox._scaled(np.array([x], np.uint64), span)[0]) == x * span >> 64


@pytest.mark.parametrize(
    "low, high, dtype",
    [
        (0, 1, np.int64),
        (-3, 7, np.int8),
        (0, 256, np.uint8),
        (-(2**63), 2**63, np.int64),
        (-(2**63), 2**63 - 1, np.int64),
        (2**63, 2**64, np.uint64),
        (0, 2**64, np.uint64),
        (2**33, 2**40, np.int64),
        (-(2**31), 2**31, np.int32),
    ],
)
def test_randint_range(low: int, high: int, dtype: Any) -> None:
    x = philox.randint(3, 0, low, high, 5000, dtype)
    values = [int(v) for v in x]
    assert x.dtype == dtype
    assert low <= min(values)
    assert max(values) < high
    span = high - low
    expected = [low + (int(w) * span >> 64) for w in philox.philox_u64(3, 0, 5000)]
    assert values == expected
    if span > 1:
        mean = sum(Fraction(v - low, span) for v in values) / len(values)
        assert abs(float(mean) - (span - 1) / span / 2) < 0.02


def test_randint_counts() -> None:
    counts = np.bincount(philox.randint(9, 0, 0, 10, 100_000), minlength=10)
    chi_square = float(np.sum((counts - 10_000) ** 2) / 10_000)
    assert 1.15 < chi_square < 27.9  # 9 degrees of freedom: 0.1 % outside on either side


@pytest.mark.parametrize("p", [0.0, 2.0**-24, 0.1, 0.5, 1 - 1e-9, 1.0, np.float32(0.1)])
def test_bernoulli_is_uniform_below_p(p: Any) -> None:
    u = philox.uniform_f32(4, 1, 50_000).astype(np.float64)
    expected = u < float(p)
    np.testing.assert_array_equal(philox.bernoulli(4, 1, p, 50_000), expected)
    np.testing.assert_array_equal(philox.bernoulli(4, 1, np.full(50_000, p), 50_000), expected)
    assert abs(expected.mean() - float(p)) < 0.01


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_permutation(n: int) -> None:
    order = philox.permutation(5, 0, n)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(n))


def test_permutations_are_equally_likely() -> None:
    counts: dict[tuple[int, ...], int] = {}
    for i in range(2400):
        order = tuple(philox.permutation(6, i * philox.blocks_needed(4, 2), 4).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    assert 7.5 < sum((c - 100) ** 2 / 100 for c in counts.values()) < 49.8  # 23 degrees of freedom: 0.1 % outside on either side


BAD: list[tuple[Callable[[], Any], type[TwofoldError]]] = [
    (lambda: philox.uniform_f32(0, 0, (2, -1)), ValueRangeError),
    (lambda: philox.uniform(0, 0, 3, np.int32), DTypeError),
    (lambda: philox.normal(0, 0, 3, np.complex64), DTypeError),
    (lambda: philox.randint(0, 0, 5, 5, 3), ValueRangeError),
    (lambda: philox.randint(0, 0, 0, 300, 3, np.uint8), ValueRangeError),
    (lambda: philox.randint(0, 0, -1, 3, 3, np.uint64), ValueRangeError),
    (lambda: philox.randint(0, 0, 0, 3, 3, np.float32), DTypeError),
    (lambda: philox.bernoulli(0, 0, 1.5, 3), ValueRangeError),
    (lambda: philox.bernoulli(0, 0, float("nan"), 3), ValueRangeError),
    (lambda: philox.bernoulli(0, 0, np.array([0.5, -0.1]), 2), ValueRangeError),
    (lambda: philox.permutation(0, 0, -1), ValueRangeError),
    (lambda: philox.permutation(0, 0, 2.5), ArgumentError),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("call, error", BAD)
def test_bad_arguments(call: Callable[[], Any], error: type[TwofoldError]) -> None:
    with pytest.raises(error):
        call()


NORMAL_F32 = "27f792be0d22ee3fde093d3e437d7f3f"
NORMAL_F64 = "4e3f7e8f41c4fd3f6a23ed52a8efef3f"
PERMUTATION = [9, 2, 1, 7, 3, 0, 4, 6, 5, 8]
