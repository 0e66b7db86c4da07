"""Errors of the mathematical functions in units in the last place, against wider arithmetic; the limits are those of docs/accuracy.md.

float32 is swept over all exponents (every 2^15-th bit pattern), float64 sampled over its exponents, both with special values and the places
where a function changes its way of computing. References are NumPy's float64 for float32, long double for float64.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.compiler.function_kernels import Case, Kernel, case, kernels
from twofold.compiler.emit_functions import ELEMENTARY, ROUNDED_TWICE
from twofold.compiler.llvm import Module
from twofold.ops import special
from twofold.runtime.codegen import build
from twofold.runtime.target import named_target

LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288")
DTYPE = {"f32": np.float32, "f64": np.float64}
TWO_OPERANDS = ("pow", "atan2", "hypot", "logaddexp", "logaddexp2", "xlogy", "xlog1py")
ABSOLUTE = ("logaddexp", "logaddexp2")
"""Sums that cancel: their errors are counted in units of the largest operand if that is larger than the result."""
EXACT = ("sqrt", "floor", "ceil", "trunc", "rint")
"""Correctly rounded: tested in test_emit_functions.py."""
NAMES = sorted((ELEMENTARY | ROUNDED_TWICE) - set(EXACT))
LANES = {"native": {"f32": 16, "f64": 16}, "haswell": {"f32": 8, "f64": 4}, "x86-64-v2": {"f32": 4, "f64": 2}}
"""16 lanes of float64 take two registers, as in kernels that mix the formats."""

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(np.finfo(LONG).nmant < 63, reason="long double is no wider than float64 here, so there is no reference"),
]


class Limits(NamedTuple):
    """The largest errors that docs/accuracy.md states."""

    f32: float
    f64: float
    strict_f32: float
    strict_f64: float


@functools.cache
def limits() -> dict[str, Limits]:
    """The rows `| name | four numbers | …` of the document's tables."""
    text = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", text, re.MULTILINE)
    return {name: Limits(*map(float, numbers)) for name, *numbers in rows}


# --- references


@functools.cache
def _libm() -> dict[str, Any]:
    """erf and erfc of the C library's long doubles, which NumPy does not have, over arrays."""
    module = Module()
    for name in ("erfl", "erfcl"):
        module.declare(name, "x86_fp80", ["x86_fp80"])
        f = module.function("over_" + name, [("ptr", "x"), ("ptr", "out"), ("i64", "count")])
        with f.loop(0, f.parameters[2]) as i:
            at = f.mul(i, LONG(0).itemsize)
            y = f.call(name, "x86_fp80", f.load("x86_fp80", f.gep(f.parameters[0], at, "i8"), 16))
            f.store(y, f.gep(f.parameters[1], at, "i8"), 16)
        f.ret()
    code = build(str(module), named_target("x86-64-v2"), level=1)

    def over(name: str) -> Any:
        native = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address("over_" + name))

        def run(x: np.ndarray) -> np.ndarray:
            out = np.empty_like(x)
            native(x.ctypes.data, out.ctypes.data, x.size)
            assert code.size  # the code is kept while it runs
            return out

        return run

    return {name: over(name) for name in ("erfl", "erfcl")}


def _sinc(x: Any) -> Any:
    whole = np.rint(x)
    sine = np.sin(PI * (x - whole)) * np.where(np.fmod(whole, 2) == 0, 1, -1)
    return np.where(x == 0, 1, sine / (PI * x))


REFERENCES: dict[str, Any] = {
    **{n: getattr(np, n) for n in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{n: getattr(np, "arc" + n[1:]) for n in ("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh")},
    **{n: getattr(np, n) for n in ("hypot", "logaddexp", "logaddexp2")},
    "erf": lambda x: _libm()["erfl"](x) if x.dtype == LONG else special.erf(x),
    "erfc": lambda x: _libm()["erfcl"](x) if x.dtype == LONG else special.erfc(x),
    "pow": np.power,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(x.dtype.type(0), x),
    "sinc": _sinc,
    "xlogy": lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)),
    "xlog1py": lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log1p(y)),
}


# --- arguments

EDGES = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 10.0, 1e-3, 1 / 3, 2 / 3, 4 / 3]
TURNING_POINTS = {
    "exp": {
        "f32": [88.722831, 88.72284, 89.0, -87.33, -103.97, -104.0],
        "f64": [709.782712893384, 709.79, -708.4, -745.13, -745.14, -746.0],
    },
    "exp2": {
        "f32": [127.99999, 128.0, -126.0, -149.0, -149.5, -150.0, -151.0],
        "f64": [1023.9999999, 1024.0, -1022.0, -1074.0, -1075.0, -1076.0],
    },
    "expm1": {"f32": [88.722831, 88.72284, -17.3, -60.0], "f64": [709.782712893384, 709.79, -37.5, -60.0]},
    "sinh": {"f32": [88.7, 89.415986, 89.41599, 2.0**-12], "f64": [709.7, 710.4758600739439, 710.48, 2.0**-26]},
    "tanh": {"f32": [9.0109, 9.02, 9.1], "f64": [19.06, 20.0]},
    "erf": {"f32": [3.919, 3.925, 4.0], "f64": [5.92, 5.93, 6.0]},
    "erfc": {"f32": [0.44, 0.5, 10.05, 10.06, 10.2], "f64": [0.44, 0.5, 26.54, 27.22, 27.3]},
    "sin": {"f32": [1e5, 99999.99, 100000.01, 3.1415927, 6.2831855], "f64": [1e6, 1000000.0000001, math.pi, 2 * math.pi, 1e22]},
    "acosh": {"f32": [1.0000001, 2.0**30, 2.0**31], "f64": [1 + 2.0**-52, 2.0**60, 2.0**61]},
}
TURNING_POINTS |= {
    "cosh": TURNING_POINTS["sinh"],
    "cos": TURNING_POINTS["sin"],
    "tan": TURNING_POINTS["sin"],
    "asinh": TURNING_POINTS["acosh"],
}
SPANS = {"f32": (1.2, 3.0, 11.0, 95.0), "f64": (1.2, 3.0, 11.0, 120.0, 800.0)}


def one_operand(name: str, type: str) -> np.ndarray:
    """Arguments over all exponents, over the spans in which functions have their shape, and at their edges."""
    dtype, rng = DTYPE[type], np.random.default_rng(7)
    info = np.finfo(dtype)
    if type == "f32":
        swept = (
            (np.arange(0, 1 << 32, 1 << 15, dtype=np.uint64) + rng.integers(0, 1 << 15, 1 << 17, np.uint64)).astype(np.uint32).view(dtype)
        )
    else:
        swept = np.concatenate([
            rng.integers(0, 1 << 64, 10_000, np.uint64).view(dtype),
            np.ldexp(rng.uniform(1, 2, 10_000), rng.integers(-40, 40, 10_000)) * rng.choice([-1.0, 1.0], 10_000),
        ])  # fmt: skip
    spans = [rng.uniform(-a, a, 4_000).astype(dtype) for a in SPANS[type]]
    ends = [info.tiny, info.tiny / 2, info.smallest_subnormal, info.max, info.eps, 1 - info.epsneg, 1 + info.eps]
    points = np.array([*EDGES, *ends, *(-e for e in ends), *TURNING_POINTS.get(name, {"f32": [], "f64": []})[type]], dtype)
    return np.concatenate([points, *spans, swept])


def two_operands(name: str, type: str) -> tuple[np.ndarray, np.ndarray]:
    dtype, rng = DTYPE[type], np.random.default_rng(8)
    info = np.finfo(dtype)
    points = np.array([*EDGES, info.max, -info.max, info.tiny / 4, 1 + info.eps], dtype)
    a, b = (g.ravel() for g in np.meshgrid(points, points))
    swept = one_operand(name, type)[: 1 << 16]
    x, y = rng.uniform(-3, 3, (2, 8_000)).astype(dtype)
    pairs = [(a, b), (swept, rng.permutation(swept)), (x, y)]
    if name == "pow":
        base = np.exp(rng.uniform(-40, 40, 30_000)).astype(dtype)
        exponent = (rng.uniform(-1.05, 1.05, 30_000) * math.log(info.max) / np.log(base.astype(np.float64))).astype(dtype)
        whole = rng.integers(-20, 20, (2, 2_000)).astype(dtype)
        pairs += [
            (base, exponent),
            (rng.uniform(0.9, 1.1, 8_000).astype(dtype), rng.uniform(-700, 700, 8_000).astype(dtype)),
            (whole[0], whole[1]),
        ]
    return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])


@functools.cache
def arguments(name: str, type: str) -> tuple[np.ndarray, ...]:
    return two_operands(name, type) if name in TWO_OPERANDS else (one_operand(name, type),)


@functools.cache
def reference(name: str, type: str) -> np.ndarray:
    wide = LONG if type == "f64" else np.float64
    return np.asarray(REFERENCES[name](*(a.astype(wide) for a in arguments(name, type))))


# --- errors


def errors(got: np.ndarray, want: np.ndarray, least: np.ndarray | float = 0.0) -> np.ndarray:
    """|got - want| in units in the last place of the result (or of `least`, if that is larger); infinite where one of the two is NaN, or an
    infinity or the sign of a zero is wrong. A result that rounds to infinity may be the largest number, and the other way round."""
    info = np.finfo(got.dtype)
    rounded = want.astype(got.dtype)
    size = np.maximum(np.abs(rounded), np.maximum(info.tiny, np.where(np.isfinite(least), least, 0)).astype(got.dtype))
    unit = np.spacing(np.minimum(size, info.max)).astype(want.dtype)
    error = np.abs(got.astype(want.dtype) - want) / unit
    same = (got == rounded) | ((got != got) & (want != want))
    border = np.isfinite(want) & (np.abs(want) > info.max * (1 - 4 * info.eps)) & (np.abs(want) < info.max * (1 + 4 * info.eps))
    unequal = ~np.isfinite(got) | ~np.isfinite(rounded)
    error = np.where(unequal, np.where(same, 0, np.where(border & (np.sign(got) == np.sign(want)), 1, np.inf)), error)
    return np.where((want == 0) & (np.signbit(got) != np.signbit(want)), np.inf, error).astype(np.float64)


def check(name: str, type: str, kernel: Kernel, limit: float, step: int = 1) -> None:
    args, want = tuple(a[::step] for a in arguments(name, type)), reference(name, type)[::step]
    least: Any = np.max([np.abs(a) for a in args], axis=0) if name in ABSOLUTE else 0.0
    error = errors(kernel(*args), want, least)
    if name in ABSOLUTE:
        error = np.where(want == 0, 0, error)  # the sign of a sum that cancels to 0
    worst = int(np.argmax(error))
    assert error[worst] <= limit, (name, type, [a[worst] for a in args], kernel(*args)[worst], want[worst], error[worst])


def compiled(cpu: str, lanes: dict[str, int], strict: bool) -> dict[Case, Kernel]:
    return kernels([case(n, t, 2 if n in TWO_OPERANDS else 1, lanes[t]) for n in NAMES for t in DTYPE], cpu, strict)


def test_every_function_is_documented() -> None:
    assert set(limits()) == set(NAMES)


@pytest.mark.parametrize("cpu", LANES)
def test_errors(cpu: str) -> None:
    for c, kernel in compiled(cpu, LANES[cpu], strict=False).items():
        check(c.op, c.result, kernel, getattr(limits()[c.op], c.result))


def test_documented_limits() -> None:
    """At most 4 units, at most 1 in strict mode but for compositions in float64."""
    for name, of in limits().items():
        assert max(of.f32, of.f64) <= 4, name
        assert of.strict_f32 <= 1, name
        assert of.strict_f64 <= 1 or name in ROUNDED_TWICE, name


@pytest.mark.parametrize("cpu", ["native", "x86-64-v2"])
def test_strict_errors(cpu: str) -> None:
    for c, kernel in compiled(cpu, LANES[cpu], strict=True).items():
        check(c.op, c.result, kernel, getattr(limits()[c.op], "strict_" + c.result), step=4)


@pytest.mark.parametrize("strict", [False, True])
def test_scalars_and_vectors_agree_bit_for_bit(strict: bool) -> None:
    """What is left over after the last whole vector is computed one by one."""
    one, many = compiled("native", {"f32": 1, "f64": 1}, strict), compiled("native", {"f32": 8, "f64": 8}, strict)
    for (c, scalar), vector in zip(one.items(), many.values(), strict=True):
        args = tuple(a[::16] for a in arguments(c.op, c.result))
        a, b = scalar(*args), vector(*args)
        equal = (a == b) & (np.signbit(a) == np.signbit(b)) | (a != a) & (b != b)
        bad = np.flatnonzero(~equal)
        assert not bad.size, (c, [v[bad[0]] for v in args], a[bad[0]], b[bad[0]])


@pytest.mark.parametrize("name", ["tanh", "erf"])
def test_bounded_and_rising(name: str) -> None:
    """Never beyond ±1, and 1 from some argument on."""
    kernel = kernels([case(name, "f32", 1, 16)])[case(name, "f32", 1, 16)]
    y = kernel(np.linspace(2, 12, 300_001, dtype=np.float32))
    assert y.max() == 1.0
    assert y[-1] == 1.0
    assert (np.diff(y) >= -2 * np.finfo(np.float32).eps).all()
