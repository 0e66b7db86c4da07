"""Operators, composed functions and conversions as native code, against NumPy: all types, edge values, scalars and vectors."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.compiler.function_kernels import Case, case, kernels
from twofold.compiler import evaluate
from twofold.compiler.emit_functions import (
    ELEMENTARY,
    ROUNDED_TWICE,
    UNSUPPORTED_FUNCTIONS,
    Functions,
    bf16_bits,
    bf16_value,
    f16_bits,
    f16_value,
)
from twofold.compiler.llvm import REGISTERS, Module, vector
from twofold.ir.dtypes import BY_SHORT
from twofold.ops.scalar import SCALAR_FUNCTIONS
from twofold.runtime.codegen import build
from twofold.runtime.target import named_target

INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
FLOATS = ("f32", "f64")
EVERY = (*FLOATS, *INTEGERS, "bool")
CPUS = ("native", "haswell", "x86-64-v2")

UNARY = {
    "neg": FLOATS + INTEGERS, "abs": EVERY, "square": EVERY, "sign": FLOATS + INTEGERS, "not": (*INTEGERS, "bool"),
    "logical_not": ("bool",),
    "reciprocal": FLOATS, "isnan": FLOATS, "isinf": FLOATS, "isfinite": FLOATS, "signbit": FLOATS, "floor": FLOATS, "ceil": FLOATS,
    "trunc": FLOATS, "rint": FLOATS, "sqrt": FLOATS, "round_bf16": ("f32",), "round_f16": ("f32",),
}  # fmt: skip
BINARY = {
    "add": EVERY, "mul": EVERY, "sub": FLOATS + INTEGERS, "div": FLOATS, "divide": FLOATS, "maximum": EVERY, "minimum": EVERY,
    "fmax": EVERY, "fmin": EVERY, "lt": FLOATS + INTEGERS, "le": FLOATS + INTEGERS, "gt": FLOATS + INTEGERS, "ge": FLOATS + INTEGERS,
    "eq": EVERY, "ne": EVERY,
    "and": (*INTEGERS, "bool"), "or": (*INTEGERS, "bool"), "xor": (*INTEGERS, "bool"), "logical_and": ("bool",), "logical_or": ("bool",),
    "logical_xor": ("bool",), "copysign": FLOATS, "heaviside": FLOATS, "fmod": FLOATS + INTEGERS, "mod": FLOATS + INTEGERS,
    "remainder": FLOATS + INTEGERS, "floordiv": FLOATS + INTEGERS, "floor_divide": FLOATS + INTEGERS, "trunc_divide": FLOATS + INTEGERS,
    "left_shift": INTEGERS, "right_shift": INTEGERS, "pow": INTEGERS,
}  # fmt: skip
EXACT = [case(op, t, 1, 1) for op, types in UNARY.items() for t in types] + [
    case(op, t, 2, 1) for op, types in BINARY.items() for t in types
]
EXACT += [case("where", t, 3, 1) for t in EVERY]
LANES = {"native": (1, 16), "haswell": (8,), "x86-64-v2": (4,)}


def edges(type: str) -> np.ndarray:
    """Values at which functions change, and a few ordinary ones."""
    dtype = BY_SHORT[type].numpy
    rng = np.random.default_rng(3)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        info = np.finfo(dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -7.0, 1e6, 1e9, -3e10, 1e-3, 2.0**-25]
        return np.concatenate([
            np.array([*special, info.tiny, -info.tiny / 4, info.smallest_subnormal, info.max, -info.max, info.eps, 65519.0, 65520.0],
                     dtype),
            (rng.standard_normal(20) * 10.0 ** rng.integers(-8, 8, 20)).astype(dtype),
        ])  # fmt: skip
    info = np.iinfo(dtype)
    some = rng.integers(info.min, info.max, 12, dtype, endpoint=True)
    return np.unique(np.concatenate([np.array([info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2, 3, 7, 8, 31, 63, 64], dtype), some,
                                     np.array([-1, -2, -8] if info.min else [5, 6], dtype)]))  # fmt: skip


def operands(types: tuple[str, ...]) -> list[np.ndarray]:
    """All combinations of the operands' edges."""
    grids = np.meshgrid(*[edges(t) for t in types], indexing="ij")
    return [g.ravel() for g in grids]


def shifted(op: str, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """What shifting bit by bit would give; NumPy leaves shifts by the width or more to C for some types."""
    bits = x.dtype.itemsize * 8
    outside = (n < 0) | (n.astype(np.uint64) >= bits)
    near = np.where(outside, 0, n).astype(x.dtype)
    if op == "left_shift":
        return np.where(outside, 0, np.left_shift(x, near)).astype(x.dtype)
    return np.where(outside, -(x < 0).astype(x.dtype), np.right_shift(x, near))


def powers(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Whole powers modulo 2^bits; negative exponents give the integer part."""
    bits = x.dtype.itemsize * 8
    values = []
    for a, k in zip(x.tolist(), n.tolist(), strict=True):
        y = pow(a, k, 1 << bits) if k >= 0 else (a if k % 2 else 1) if abs(a) == 1 else 0
        values.append((y + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)) if x.dtype.kind == "i" else y)
    return np.array(values, x.dtype)


def expected(c: Case, args: list[np.ndarray]) -> np.ndarray:
    if c.op in ("left_shift", "right_shift"):
        return shifted(c.op, *args)
    if c.op == "pow":
        return powers(*args)
    function: Any = evaluate.OPERATORS.get(c.op) or SCALAR_FUNCTIONS[c.op]
    return np.asarray(function(*args)).astype(BY_SHORT[c.result].numpy)


def same(got: np.ndarray, want: np.ndarray, c: Case, args: list[np.ndarray]) -> None:
    """Bit for bit; one NaN is as good as another, and fmax and fmin may choose either zero."""
    equal = (got == want) | ((got != got) & (want != want))
    if got.dtype.kind == "f" and c.op not in ("fmax", "fmin", "maximum", "minimum", "copysign", "where", "abs", "neg"):
        equal &= (np.signbit(got) == np.signbit(want)) | (got != got)
    bad = np.flatnonzero(~equal)
    assert not bad.size, (c, [a[bad[0]] for a in args], got[bad[0]], want[bad[0]], bad.size)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exact_functions(cpu: str) -> None:
    compiled = kernels([c._replace(lanes=n) for c in EXACT for n in LANES[cpu]], cpu)
    for c, kernel in compiled.items():
        args = operands(c.types)
        same(kernel(*args), expected(c, args), c, args)


def test_every_supported_function_is_tested() -> None:
    """Here, or in test_vector_math.py."""
    assert set(SCALAR_FUNCTIONS) - UNSUPPORTED_FUNCTIONS <= {c.op for c in EXACT} | ELEMENTARY | ROUNDED_TWICE


@pytest.mark.parametrize("op, of_bools", [("sum", "or"), ("prod", "and"), ("max", "or"), ("min", "and"), ("any", "or"), ("all", "and")])
def test_combining_two_elements(op: str, of_bools: str) -> None:
    """Reductions in terms of functions: of numbers and of bools."""
    for type, function in (
        ("f32", {"sum": "fadd", "prod": "fmul", "max": "llvm.maximum", "min": "llvm.minimum"}.get(op)),
        ("bool", of_bools),
    ):
        if function is None:
            continue
        register = REGISTERS[type]
        f = Module().function("one", [(register, "x"), (register, "y")])
        Functions(f, named_target("native"), False).combine(op, *f.parameters, type)
        assert function in f.lines[-1]


# --- conversions

CASTS = [Case("cast", (a,), b, 1) for a in EVERY for b in EVERY if a != b]


def whole(v: float, new: str) -> int:
    """The integer that a float becomes: C's for those in range; else of a saturated i32 (types up to 16 bits, i32) or i64, its low bits."""
    if v != v:
        return 0
    bits = 32 if new in ("i8", "i16", "i32", "u8", "u16") else 64
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    if new == "u64" and v >= 2.0**63:
        return min(int(v), (1 << 64) - 1) if v != np.inf else (1 << 64) - 1
    wide = high if v >= high else low if v <= low else int(v)
    info = np.iinfo(BY_SHORT[new].numpy)
    return (wide - int(info.min)) % (1 << info.bits) + int(info.min)


def converted(x: np.ndarray, new: str) -> np.ndarray:
    """NumPy's astype, but for floats that become integers, where NumPy leaves what is out of range to the processor."""
    dtype = BY_SHORT[new].numpy
    if x.dtype.kind == "f" and dtype.kind in "iu":
        return np.array([whole(v, new) for v in x.tolist()], dtype)
    return x != 0 if new == "bool" else x.astype(dtype)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_casts(cpu: str) -> None:
    compiled = kernels([c._replace(lanes=n) for c in CASTS for n in LANES[cpu]], cpu)
    for c, kernel in compiled.items():
        x = edges(c.types[0])
        if x.dtype.kind == "f":
            whole_numbers = np.array(
                [127, 128, -129, 255, 256, 32767, 65536, 2.0**31, -(2.0**31), 2.0**32, 2.0**63, 2.0**64, 1e20], x.dtype
            )
            x = np.concatenate([x, whole_numbers, np.nextafter(whole_numbers, x.dtype.type(0))])
        same(kernel(x), converted(x, c.result), c, [x])


def test_casts_agree_with_numpy_where_it_is_defined() -> None:
    """The reference of the test above: values that the integer type holds."""
    x = np.array([0.0, -0.0, 0.9, -0.9, 1.5, 100.7, -100.7, 126.99])
    for new in INTEGERS:
        some = x if new[0] == "i" else x[x > -1]
        np.testing.assert_array_equal(converted(some, new), some.astype(BY_SHORT[new].numpy))


SIXTEEN_BITS = np.arange(1 << 16, dtype=np.uint16)


def _conversions(cpu: str, lanes: int) -> dict[str, Any]:
    """The four conversions of 16-bit floats as functions over arrays of 65536 elements."""
    target, module = named_target(cpu), Module()
    from_bits = {"bf16": bf16_value, "f16": lambda f, x: f16_value(f, x, target)}
    to_bits = {"bf16": bf16_bits, "f16": lambda f, x: f16_bits(f, x, target)}
    for name, functions, old in (("value", from_bits, "i16"), ("bits", to_bits, "float")):
        for short, convert in functions.items():
            f = module.function(f"{short}_{name}", [("ptr", "a"), ("ptr", "out")])
            with f.loop(0, 1 << 16, lanes) as i:
                y = convert(f, f.load(vector(old, lanes), f.gep(f.parameters[0], i, old), 1))
                f.store(y, f.gep(f.parameters[1], i, y.element), 1)
            f.ret()
    code = build(str(module), target, level=1)

    def caller(name: str) -> Any:
        native = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address(name))

        def run(x: np.ndarray) -> np.ndarray:
            out = np.empty(x.size, np.float32 if name.endswith("value") else np.uint16)
            native(x.ctypes.data, out.ctypes.data)
            assert code.size  # the code is kept while it runs
            return out

        return run

    return {f"{short}_{name}": caller(f"{short}_{name}") for short in ("bf16", "f16") for name in ("value", "bits")}


def _near_16_bits(dtype: Any) -> np.ndarray:
    """Float32 numbers at, just beside and half way between the numbers of a 16-bit format: 65536 of them a row."""
    exact = SIXTEEN_BITS.view(dtype).astype(np.float32)
    exact = exact[np.isfinite(exact)]
    with np.errstate(over="ignore", invalid="ignore"):
        between = (exact[:-1].astype(np.float64) + exact[1:].astype(np.float64)).astype(np.float32) / 2
        beside = [np.nextafter(v, np.float32(d)) for v in (exact, between) for d in (np.inf, -np.inf)]
    special = np.array(
        [np.inf, -np.inf, np.nan, 65504.0, 65519.99, 65520.0, -65520.0, 3.4e38, -3.4e38, 1e-45, 2.0**-25, 2.0**-24], np.float32
    )
    values = np.concatenate([exact, between, *beside, special])
    return np.resize(values, -(-values.size // (1 << 16)) << 16).reshape(-1, 1 << 16)


@pytest.mark.parametrize("cpu, lanes", [(cpu, n) for cpu in CPUS for n in LANES[cpu]])
@pytest.mark.parametrize("short", ["bf16", "f16"])
def test_16_bit_floats(short: str, cpu: str, lanes: int) -> None:
    functions, dtype = _conversions(cpu, lanes), ml_dtypes.bfloat16 if short == "bf16" else np.float16
    values = functions[f"{short}_value"](SIXTEEN_BITS)
    want = SIXTEEN_BITS.view(dtype).astype(np.float32)
    nan = np.isnan(want)
    assert (np.isnan(values) == nan).all()
    np.testing.assert_array_equal(values[~nan].view(np.uint32), want[~nan].view(np.uint32))
    for row in _near_16_bits(dtype):
        got = functions[f"{short}_bits"](row).view(dtype)
        with np.errstate(over="ignore"):
            rounded = row.astype(dtype)
        nan = np.isnan(row)
        assert (np.isnan(got) == nan).all()
        np.testing.assert_array_equal(got[~nan].view(np.uint16), rounded[~nan].view(np.uint16))
