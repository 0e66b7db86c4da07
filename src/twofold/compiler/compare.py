"""When a result is right: near a reference, or no further from it than roundings explain.

A result is compared with a float64 reference. An element that is not near is compared with the reference in the program's own types (which
overflows where the program does), and then with the spread of a few float64 evaluations with random roundings put in: sums that cancel,
comparisons decided by the last bit. What lies outside that spread is a divergence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twofold.compiler.evaluate import Evaluation
from twofold.compiler.expr import Expr, dtype_of, is_float, walk
from twofold.compiler.nodes import precision, shaken, widened
from twofold.compiler.schedule_forms import with_fast_gelu
from twofold.compiler.spec import KernelSpec, Reduce, roots_of
from twofold.ir.dtypes import BY_SHORT, FLOAT, DType

SAMPLES = 8
"""Evaluations with random roundings; made only where an element is not near."""
UNITS = 16.0
"""Units of the last place that may lie between a result without sums and its reference: a chain of functions of a few units each."""
WINDOW_ELEMENTS = 1 << 24
"""Elements of all expressions together that one evaluation of a spec may hold at a time, where it can be cut."""
EXACT = frozenset(("const", "iota", "acc", "load", "where", "neg", "abs", "cast", "maximum", "minimum", "check_index", "within"))
"""Expressions without a rounding of their own."""
SUMS_INSIDE = frozenset(("logaddexp", "logaddexp2", "hypot", "fmod", "remainder", "mod", "pow", "atan2", "sin", "cos", "tan"))
"""Functions whose result can be far smaller than what they compute with."""

Reference = Callable[[], Any]
"""Makes the expected values of one result."""


@dataclass(frozen=True)
class Comparison:
    """One result beside its reference. `count` elements of `total` diverge; `index` is the worst one (flat); `error` the largest distance
    between result and reference among those that are near, in units of the tolerance."""

    total: int
    count: int = 0
    index: int = 0
    got: Any = None
    expected: Any = None
    error: float = 0.0

    def __add__(self, other: Comparison) -> Comparison:
        worse = self if self.count or not other.count else other
        return Comparison(
            self.total + other.total, self.count + other.count, worse.index, worse.got, worse.expected, max(self.error, other.error)
        )


def relative_tolerance(stored: DType, eps: float, length: int) -> float:
    """The relative tolerance of a result stored as `stored`, computed with precision `eps`, from sums of `length` terms (whose random
    errors grow with the square root)."""
    last_place = {"bf16": 2.0**-8, "f16": 2.0**-11}.get(stored.short, 0.0)
    return 2.0 * last_place + eps * (UNITS + 4.0 * math.sqrt(length))


def compare(
    got: Any, stored: DType, tolerance: float, references: Sequence[Reference], rounded: Callable[[np.random.Generator], Any]
) -> Comparison:
    """Compare a flat array with references, the float64 one first; `rounded` makes one more with random roundings."""
    total = int(got.size)
    if not total:
        return Comparison(0)
    with np.errstate(all="ignore"):
        expected = _stored(references[0](), stored)
        distance = _distances(got, expected, tolerance, stored)
        bad = ~(distance <= 1.0)
        for make in references[1:]:
            if bad.any():
                bad &= ~(_distances(got, _stored(make(), stored), tolerance, stored) <= 1.0)
        if bad.any():
            bad &= ~_explained(got, bad, stored, tolerance, expected, rounded)
        error = float(distance[distance <= 1.0].max(initial=0.0))
        if not bad.any():
            return Comparison(total, error=error)
        score = np.where(bad, np.where(np.isnan(distance), np.inf, distance), -1.0)
        index = int(score.argmax())
        return Comparison(total, int(bad.sum()), index, got[index].item(), expected[index].item(), error)


def _stored(x: Any, dtype: DType) -> Any:
    """Reference values as float64 after storing; beyond the dtype's range they are infinite, integers and bools stay as they are."""
    x = np.asarray(x).reshape(-1)
    if dtype.category != FLOAT:
        return x.astype(dtype.numpy)
    limit = {"f32": 2.0**128 * (1 - 2.0**-25), "f16": 65520.0, "bf16": 2.0**128 * (1 - 2.0**-9)}.get(dtype.short, math.inf)
    wide = x.astype(np.float64)
    return np.where(np.abs(wide) >= limit, np.copysign(np.inf, wide), wide) if limit < math.inf else wide


def _distances(got: Any, expected: Any, tolerance: float, stored: DType) -> Any:
    """The distance of each element from the reference in units of its tolerance: 0 where both are equal or NaN, NaN where one is."""
    if stored.category != FLOAT:
        return np.where(got == expected, 0.0, np.inf)
    x = got.astype(np.float64)
    least = {"f64": 2.0**-1022, "f16": 2.0**-24}.get(stored.short, 2.0**-126)
    same = (x == expected) | (np.isnan(x) & np.isnan(expected))
    scale = tolerance * np.abs(expected) + least
    return np.where(same, 0.0, np.where(np.isfinite(scale), np.abs(x - expected) / scale, np.inf))


def _explained(got: Any, bad: Any, stored: DType, tolerance: float, expected: Any, rounded: Callable[[np.random.Generator], Any]) -> Any:
    """Whether roundings explain a result: it lies in the spread of evaluations with random roundings, widened by as much again."""
    random = np.random.default_rng(0)
    samples = [expected[bad].astype(np.float64)]
    samples += [_stored(rounded(random), stored)[bad].astype(np.float64) for _ in range(SAMPLES)]
    table = np.stack(samples)
    low, high = np.fmin.reduce(table), np.fmax.reduce(table)
    x = got[bad].astype(np.float64)
    margin = (high - low) + (tolerance * np.maximum(np.abs(low), np.abs(high)) if stored.category == FLOAT else 0.0)
    margin = np.where(np.isnan(margin), 0.0, margin)
    inside = (x >= low - margin) & (x <= high + margin) & ((high > low) | (stored.category == FLOAT))
    result = np.zeros(bad.shape, bool)
    result[bad] = inside | (np.isnan(x) & np.isnan(table).any(0))
    return result


# --- kernel specs


class SpecReference:
    """What a spec leaves in its buffers, given what is in them before.

    memory: flat arrays by the spec's names of buffers
    strict: whether the kernel was made with strict_math. Otherwise gelu is computed by erf, whose rounding errors are those of 1
    """

    def __init__(self, spec: KernelSpec, memory: Mapping[str, Any], strict: bool = False) -> None:
        self.spec, self.memory = spec, memory
        self.computed = spec if strict else replace(spec, stages=with_fast_gelu(spec.stages))
        self._results: dict[bool, dict[str, Any]] = {}

    def output(self, name: str, wide: bool) -> Any:
        """A buffer after the spec, in its own types or in float64; IndexOutOfRange where the data hold a bad index."""
        if wide not in self._results:
            self._results[wide] = self._run(lambda memory, window: Evaluation(self.spec, memory, wide, window), wide)
        return self._results[wide][name]

    def rounded(self, name: str, random: np.random.Generator) -> Any:
        """A buffer after an evaluation in float64 with random roundings."""
        return self._run(lambda memory, window: _Rounded(self.computed, memory, window, random), True)[name]

    def _run(self, make: Callable[[dict[str, Any], dict[str, range]], Evaluation], wide: bool) -> dict[str, Any]:
        outputs = {b.name for b in self.spec.buffers.values() if b.role != "in"}
        memory = {n: ((widened(x) if wide else x).copy() if n in outputs else x) for n, x in self.memory.items()}
        for window in windows(self.spec):
            make(memory, window).run()
        return {n: memory[n] for n in outputs}

    @property
    def tolerance(self) -> Callable[[DType], float]:
        """The relative tolerance of what is stored in a dtype."""
        eps, length = spec_precision(self.spec), longest_sum(self.spec)
        return lambda stored: relative_tolerance(stored, eps, length)


class _Rounded(Evaluation):
    """An evaluation in float64 in which each operation's result, and each term of a sum, is moved by a random rounding."""

    def __init__(self, spec: KernelSpec, memory: Mapping[str, Any], window: Mapping[str, range], random: np.random.Generator) -> None:
        super().__init__(spec, memory, True, window)
        self.random = random

    def one(self, e: Expr, args: list[Any], active: Any) -> Any:
        if e.op in SUMS_INSIDE:
            args = [shaken(x, precision(dtype_of(e.type)), self.random) for x in args]
        result = super().one(e, args, active)
        if e.op in ("round_bf16", "round_f16"):
            return shaken(result, {"round_bf16": 2.0**-9, "round_f16": 2.0**-12}[e.op] / 4, self.random)
        rounds = is_float(e.type) and (e.op not in EXACT or (e.op == "cast" and not is_float(e.args[0].type)))
        return shaken(result, precision(dtype_of(e.type)), self.random) if rounds else result

    def term(self, s: Reduce) -> Any:
        value = super().term(s)
        rounds = s.op in ("sum", "prod") and is_float(s.value.type)
        return shaken(value, 2.0 * precision(dtype_of(s.value.type)), self.random) if rounds else value


def windows(spec: KernelSpec) -> list[dict[str, range]]:
    """Parts of the domain that can be evaluated one after another: along a dimension that every stage has and no reduction runs over."""
    expressions = sum(1 for _ in walk(*(e for s in spec.stages for e in roots_of(s))))
    if spec.elements * expressions <= WINDOW_ELEMENTS:
        return [{}]
    over = {d for s in spec.stages if isinstance(s, Reduce) for d in s.over}
    stores = spec.stores
    if any(s.mode != "set" or s.index for s in stores):  # in C order
        candidates = {s.dims[0] for s in stores if s.dims} if len(stores) == 1 else set()
    else:
        candidates = set(spec.sizes)
    usable = [d for d in spec.sizes if d in candidates and d not in over and all(d in s.dims for s in spec.stages)]
    if not usable:
        return [{}]
    dim = max(usable, key=lambda d: spec.sizes[d])
    size = spec.sizes[dim]
    step = max(1, WINDOW_ELEMENTS * size // (spec.elements * expressions))
    return [{dim: range(low, min(low + step, size))} for low in range(0, size, step)]


def spec_precision(spec: KernelSpec) -> float:
    """The coarsest precision of an expression of the spec, an explicit rounding to 16 bits included."""
    result = precision(BY_SHORT["f64"])
    for e in walk(*(e for s in spec.stages for e in roots_of(s))):
        if e.op in ("round_bf16", "round_f16"):
            result = max(result, {"round_bf16": 2.0**-9, "round_f16": 2.0**-12}[e.op])
        elif is_float(e.type):
            result = max(result, precision(dtype_of(e.type)))
    return result


def longest_sum(spec: KernelSpec) -> int:
    """The most terms of a reduction (or of an update, whose positions may all be one)."""
    counts = [math.prod(spec.sizes[d] for d in s.over) for s in spec.stages if isinstance(s, Reduce)]
    counts += [math.prod(spec.sizes[d] for d in s.dims) for s in spec.stores if s.mode != "set"]
    return max(counts, default=1)
