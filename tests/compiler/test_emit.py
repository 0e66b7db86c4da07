"""Emitted kernels against the meaning of their specs in float64: every kind of launch, on three instruction sets, chunks in any order."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn.functional as F
from twofold.compiler.emit import emit_kernel
from twofold.compiler.evaluate import evaluate
from twofold.compiler.llvm import Module
from twofold.compiler.pipeline import assemble, plan, prepare
from twofold.compiler.schedule import schedule
from twofold.compiler.schedule_tree import Schedule
from twofold.compiler.spec import KernelSpec
from twofold.runtime.codegen import build
from twofold.runtime.target import named_target

TARGETS = ("x86-64-v2", "haswell", "native")
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)


def specs_of(function: Callable[..., Any], *arrays: np.ndarray) -> list[KernelSpec]:
    """The kernels of a function, and that they need no host step."""
    graph = twofold.trace(function, tuple(twofold.tensor(a) for a in arrays), check=False).graph
    assembly = assemble(plan(prepare(graph))).assembly
    assert assembly is not None
    assert not assembly.hosts
    return [launch.spec for launch in assembly.launches if launch.spec is not None]


def memory_for(spec: KernelSpec, seed: int) -> dict[str, np.ndarray]:
    """Arrays for a spec's buffers: floats around 1, small integers."""
    rng = np.random.default_rng(seed)
    memory = {}
    for b in spec.buffers.values():
        if b.dtype.is_floating_point:
            memory[b.name] = (rng.standard_normal(b.numel) + 0.5).astype(b.dtype.numpy)
        else:
            memory[b.name] = rng.integers(0, 3, b.numel).astype(b.dtype.numpy)
    return memory


def run(spec: KernelSpec, memory: dict[str, np.ndarray], target: str, *, strict: bool = False, backwards: bool = False) -> Schedule:
    """Runs a kernel natively, chunk by chunk."""
    how = schedule(spec, named_target(target), strict=strict)
    module = Module()
    code = emit_kernel(how, module, "kernel")
    native = build(str(module), named_target(target), level=1)
    error = np.zeros(1, np.int64)
    scratch = [np.full(max(b.nbytes, 1), 0xFF, np.uint8) for b in code.scratch]
    buffers = [error, *(memory[n] for n in spec.buffers), *scratch]
    table = np.array([a.ctypes.data for a in buffers], np.uint64)
    for symbol, chunks in code.launches:
        function = KERNEL(native.address(symbol))
        for k in reversed(range(chunks)) if backwards else range(chunks):
            function(table.ctypes.data, k)
    assert error[0] == 0
    return how


def compare(spec: KernelSpec, target: str, strict: bool = False, tolerance: float = 4e-6) -> list[str]:
    """Asserts that a kernel computes what its spec says, in any order of chunks; the kinds of its launches."""
    memory = memory_for(spec, 0)
    native, backwards = ({n: a.copy() for n, a in memory.items()} for _ in range(2))
    wide = {n: a.astype(np.float64) if a.dtype.kind == "f" else a.copy() for n, a in memory.items()}
    evaluate(spec, wide, wide=True)
    how = run(spec, native, target, strict=strict)
    run(spec, backwards, target, strict=strict, backwards=True)
    for b in spec.buffers.values():
        np.testing.assert_array_equal(native[b.name], backwards[b.name], b.name)
        if b.role == "in":
            np.testing.assert_array_equal(native[b.name], memory[b.name], b.name)
        elif b.dtype.is_floating_point:
            want = wide[b.name]
            size = float(np.max(np.abs(want), initial=1e-30))
            np.testing.assert_allclose(native[b.name].astype(np.float64), want, rtol=tolerance, atol=tolerance * size, err_msg=b.name)
        else:
            np.testing.assert_array_equal(native[b.name], wide[b.name], b.name)
    return [launch.kind for launch in how.launches]


def f(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.ones(shape, dtype)


CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...], set[str]]] = {
    "pointwise": (lambda x, y: twofold.tanh(x) * y + 1, (f(70, 33), f(33)), {"pointwise"}),
    "pointwise, one element": (lambda x: x * 2, (f(1),), {"pointwise"}),
    "pointwise, chunks": (lambda x: x.exp() * x.sin(), (f(513, 1031),), {"pointwise"}),
    "short rows in registers": (lambda x, w: x * w.sigmoid(), (f(900, 5), f(5)), {"pointwise"}),
    "flipped": (lambda x: x.flip(1) + x, (f(9, 37),), {"pointwise"}),
    "flipped slice": (lambda x: x.flip(0)[3:50:2] * 2, (f(64),), {"pointwise"}),
    "transposed": (lambda x: (x.T + 1).contiguous(), (f(33, 65),), {"pointwise"}),
    "transposed, in squares": (lambda x, b: x.T * 2 + b, (f(48, 64), f(48)), {"pointwise"}),
    "transposed, bytes": (lambda x: x.T.contiguous(), (f(150, 130, dtype="uint8"),), {"pointwise"}),
    "channels last": (lambda x, b: (x + b[:, None, None]).permute(0, 2, 3, 1).contiguous(), (f(3, 40, 9, 11), f(40)), {"pointwise"}),
    "channels last, chunks": (lambda x: x.permute(0, 2, 1).tanh().contiguous(), (f(2, 300, 1001),), {"pointwise"}),
    "two transposed": (lambda x, y: (x.T + y.T).contiguous(), (f(70, 50), f(70, 50)), {"pointwise"}),
    "every third": (lambda x: x[:, ::3] - 1, (f(8, 100),), {"pointwise"}),
    "padded": (lambda x: F.pad(x, (3, 5, 1, 2), value=2.5), (f(7, 29),), {"pointwise"}),
    "joined": (lambda x, y: twofold.cat([x, y * 2], 1), (f(6, 19), f(6, 30)), {"pointwise"}),
    "sum of all": (lambda x: x.sum(), (f(40, 41),), {"rows"}),
    "sum of all, split": (lambda x: (x * x).sum(), (f(1_000_003),), {"split", "rows"}),
    "row sums": (lambda x: x.sum(1), (f(50, 77),), {"rows"}),
    "row sums, long": (lambda x: x.sum(1), (f(3, 5000),), {"rows"}),
    "row sums, short": (lambda x: x.sum(1), (f(1000, 3),), {"rows"}),
    "column sums": (lambda x: x.sum(0), (f(700, 65),), {"carried"}),
    "column sums, few rows": (lambda x: x.amax(0), (f(7, 300),), {"columns"}),
    "column sums, chunks": (lambda x: x.sum(0), (f(5000, 130),), {"carried"}),
    "middle": (lambda x: x.sum(1), (f(9, 70, 21),), {"columns"}),
    "outer and inner": (lambda x: x.sum((0, 2)), (f(30, 11, 40),), {"rows"}),
    "extrema": (lambda x: (x.amax(1), x.amin(1)), (f(20, 50),), {"rows"}),
    "any, all": (lambda x: ((x > 0.5).any(1), (x > -9.0).all(1)), (f(20, 50),), {"rows"}),
    "product": (lambda x: (x * 0.1 + 1).prod(1), (f(20, 50),), {"rows"}),
    "integer sums": (lambda x: x.sum(0), (f(100, 7, dtype="int32"),), {"carried"}),
    "float64": (lambda x: x.softmax(1), (f(20, 50, dtype="float64"),), {"rows"}),
    "float16": (lambda x: (x * 2).amax(1), (f(20, 50, dtype="float16"),), {"rows"}),
    "softmax": (lambda x: x.softmax(1), (f(40, 1000),), {"rows"}),
    "softmax, registers": (lambda x: x.softmax(1), (f(40, 30),), {"rows"}),
    "softmax, columns": (lambda x: x.softmax(0), (f(40, 70),), {"columns"}),
    "layer norm": (lambda x, w: F.layer_norm(F.gelu(x), (300,), w, w), (f(20, 300), f(300)), {"rows"}),
    "cross entropy": (lambda x, t: F.cross_entropy(x, t), (f(30, 500), np.arange(30) % 7), {"rows"}),
    "gathered": (lambda x, i: x[i] * 2, (f(30, 9), np.arange(12) % 3), {"pointwise"}),
    "scattered": (lambda x, i: twofold.zeros(5, 40).index_add(0, i, x), (f(12, 40), np.arange(12) % 3), {"pointwise", "ordered"}),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_kernels_compute_their_specs(name: str, target: str) -> None:
    function, arrays, kinds = CASES[name]
    half = any(a.dtype == np.float16 for a in arrays)
    found = set()
    for spec in specs_of(function, *arrays):
        tolerance = 1e-3 if half else 1e-13 if arrays[0].dtype == np.float64 else 4e-6
        found |= set(compare(spec, target, tolerance=tolerance))
    assert kinds <= found


@pytest.mark.parametrize("name", ["sum of all, split", "column sums", "row sums, long", "softmax", "layer norm", "float64"])
def test_strict(name: str) -> None:
    function, arrays, _ = CASES[name]
    for spec in specs_of(function, *arrays):
        compare(spec, "native", strict=True, tolerance=1e-15 if arrays[0].dtype == np.float64 else 2.5e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape, dim",
    [
        ((300_007,), (0,)),
        ((20_011, 24), (0,)),
        ((24, 20_011), (1,)),
        ((200, 200, 7), (0, 2)),
        ((60, 17, 61), (0, 1)),
        ((200_003, 3), (0,)),
    ],
)
def test_errors_of_sums_are_at_most_those_of_numpy(shape: tuple[int, ...], dim: tuple[int, ...], dtype: str) -> None:
    """strict_math's promise; sums of the default are within a few roundings."""
    x = (np.random.default_rng(1).random(shape) + 0.5).astype(dtype)
    (spec,) = specs_of(lambda t: t.sum(dim), x)
    exact = np.sum(x.astype(np.longdouble), axis=dim).ravel()
    name = next(b.name for b in spec.buffers.values() if b.role == "in")
    out = next(b.name for b in spec.buffers.values() if b.role != "in")

    def worst(y: np.ndarray) -> float:
        return float(np.max(np.abs(y.ravel() - exact) / exact))

    errors = []
    for strict in (False, True):
        memory = {name: x.ravel().copy(), out: np.zeros(exact.size, dtype)}
        run(spec, memory, "native", strict=strict)
        errors.append(worst(memory[out]))
    eps = float(np.finfo(dtype).eps)
    assert errors[1] <= max(worst(np.sum(x, axis=dim)), eps / 2)
    assert errors[0] <= 8 * eps


def test_row_buffers_keep_what_is_dear() -> None:
    """gelu runs once although three passes of the norm need it; the exponential of a softmax once."""
    for name, count in (("layer norm", 1), ("softmax", 1), ("softmax, registers", 0)):
        function, arrays, _ = CASES[name]
        (spec,) = specs_of(function, *arrays)
        how = schedule(spec, named_target("native"))
        assert [len(launch.stack) for launch in how.launches] == [count], str(how)
        assert ("row buffer" in str(how)) == (count > 0)


def test_infinite_sums_in_strict_math_stay_infinite() -> None:
    (spec,) = specs_of(lambda t: t.sum(1), f(3, 70, dtype="float64"))
    name, out = spec.buffers
    name, out = (name, out) if spec.buffers[name].role == "in" else (out, name)
    x = np.ones((3, 70))
    x[0, 5], x[1, 7], x[2, 1:3] = np.inf, -np.inf, (np.inf, -np.inf)
    memory = {name: x.ravel(), out: np.zeros(3)}
    run(spec, memory, "native", strict=True)
    np.testing.assert_array_equal(memory[out], [np.inf, -np.inf, np.nan])
