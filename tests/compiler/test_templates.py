"""Kernel templates (scans, sorts, searches, counts) beside the interpreter, chunk by chunk in both orders."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import twofold.tensors.methods
from tests.compiler.test_native_ops import one_node
from tests.ops.calls import FULL
from twofold.compiler.llvm import Module
from twofold.compiler.pipeline import compile_graph
from twofold.compiler.templates.row_sorts import network
from twofold.compiler.templates.table import TEMPLATES
from twofold.ir.builder import Builder
from twofold.ir.graph import Graph, Node
from twofold.ir.interpreter import Interpreter
from twofold.ir.op import VOCABULARY
from twofold.ir.types import type_of
from twofold.runtime.codegen import build
from twofold.runtime.target import Target, named_target

TARGETS = ("x86-64-v2", "native")
GARBAGE = 0xA5
SHARE = 3
"""Of the dtypes of a case each shape takes every third, neighbouring shapes different ones (TWOFOLD_TESTS=full: all)."""


def apart(a: np.ndarray) -> np.ndarray:
    """A copy that is aligned to its elements and to nothing more."""
    room = np.full(a.nbytes + 128, GARBAGE, np.uint8)
    start = -room.ctypes.data % 64 + a.dtype.itemsize
    result = room[start : start + a.nbytes].view(a.dtype).reshape(a.shape)
    result[...] = a
    return result


def run_template(node: Node, arrays: list[np.ndarray], target: Target, order: Callable[[range], Iterable[int]]) -> list[np.ndarray]:
    """The template of a node, compiled and run; the chunks of each launch in the given order. Results and scratch begin as garbage."""
    template = TEMPLATES[node.op.name](node)
    assert template is not None
    module = Module()
    code = template.emit(module, "kernel", target)
    outputs = [apart(np.zeros(v.type.shape, v.type.dtype.numpy)) for v in template.outputs]
    for a in outputs:
        a.reshape(-1).view(np.uint8)[...] = GARBAGE
    if not code.launches:
        return outputs
    native = build(str(module), target, level=1)
    scratch = [np.full(b.nbytes + 64, GARBAGE, np.uint8) for b in code.scratch]
    error = np.zeros(1, np.int64)
    buffers = [error, *map(apart, arrays), *outputs]
    addresses = [b.ctypes.data for b in buffers] + [b.ctypes.data + -b.ctypes.data % 64 for b in scratch]
    arguments = (ctypes.c_void_p * len(addresses))(*addresses)
    for symbol, chunks in code.launches:
        kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(native.address(symbol))
        for chunk in order(range(chunks)):
            kernel(ctypes.addressof(arguments), chunk)
    assert error[0] == 0
    return outputs


def launches(node: Node) -> tuple[tuple[str, int], ...]:
    template = TEMPLATES[node.op.name](node)
    assert template is not None
    return template.emit(Module(), "kernel", named_target("native")).launches


@dataclass(frozen=True)
class Case:
    """An operation, the shapes and dimensions to try it on, dtypes, attributes (some may depend on the size of the dimension)."""

    op: str
    dtypes: tuple[str, ...]
    where: tuple[tuple[tuple[int, ...], int], ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    sized: dict[str, Callable[[int], Any]] = field(default_factory=dict)
    operands: int = 1

    def __str__(self) -> str:
        return "-".join([self.op, *(f"{k}={v}" for k, v in self.attributes.items())])


FLOATS = ("float32", "float64", "bfloat16", "float16")
ALL = (*FLOATS, "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
SOME = ("float32", "float64", "bfloat16", "int64", "uint8", "bool")
SMALL = (((), 0), ((1,), 0), ((3, 1), 1), ((2, 5), 1), ((7, 3), 0), ((2, 17, 3), 1), ((33, 40), 1), ((5, 19, 77), 1))
EMPTY = (((0,), 0), ((3, 0), 1), ((0, 4), 1))
CUT = (((200_003,), 0), ((2, 33_001), 1))
"""Rows that scans cut into segments."""
PARTED = (((65_536 + 77,), 0), ((2, 70_001), 1))
"""Rows that sorts cut into parts."""
SORTED_SIZES = (((9, 40), 1), ((3, 100, 2), 1), ((2, 300), 1), ((40, 1000), 1))
"""Networks, merges, and radix in one chunk and in several."""

CASES = (
    Case("cumsum", ALL[:-1], (*SMALL, *EMPTY), {"dtype": None}),
    Case("cumsum", ("bool", "float32"), CUT, {"dtype": None}),
    Case("cumsum", ("float64", "int8"), SMALL[3:], {"dtype": twofold.float32}),
    Case("cumsum", ("float32", "uint8"), SMALL[3:], {"dtype": twofold.int16}),
    Case("cumprod", SOME, (*SMALL, *EMPTY), {"dtype": None}),
    Case("cumprod", ("int32",), CUT, {"dtype": None}),
    Case("cummax", SOME, (*SMALL, *EMPTY, CUT[1])),
    Case("cummin", SOME, (*SMALL, *EMPTY, CUT[0])),
    Case("logcumsumexp", FLOATS, (*SMALL, *EMPTY)),
    Case("logcumsumexp", ("float32", "float64"), CUT),
    Case("linear_recurrence", FLOATS, (*SMALL[1:], *EMPTY), {"reverse": False}, operands=2),
    Case("linear_recurrence", ("float32", "float64"), (*SMALL[1:], CUT[0]), {"reverse": True}, operands=2),
    Case("sort", ALL, (*SMALL, *EMPTY), {"descending": False, "stable": False}),
    Case("sort", SOME, SORTED_SIZES, {"descending": True, "stable": True}),
    Case("sort", ("float64", "int16"), PARTED, {"descending": False, "stable": True}),
    Case("argsort", ALL, (*SORTED_SIZES[:3], SMALL[0]), {"descending": False, "stable": False}),
    Case("argsort", ("float32", "int8"), PARTED[1:], {"descending": True, "stable": False}),
    Case("topk", ALL, (SMALL[-1], *SORTED_SIZES), {"largest": True, "sorted": True}, {"k": lambda n: min(n, 5)}),
    Case("topk", SOME, (*SORTED_SIZES, PARTED[0]), {"largest": False, "sorted": False}, {"k": lambda n: 1}),
    Case("topk", ("float32", "float64"), SORTED_SIZES, {"largest": True, "sorted": True}, {"k": lambda n: n // 2}),
    Case("topk", ("float32",), (SMALL[0], SMALL[3]), {"largest": True, "sorted": True, "k": 0}),
    Case("kthvalue", SOME, (*SMALL, *SORTED_SIZES), {"keepdim": True}, {"k": lambda n: n // 3 + 1}),
    Case("kthvalue", SOME, SORTED_SIZES, {"keepdim": False, "k": 3}),
    Case("kthvalue", ("float32", "int64"), PARTED, {"keepdim": False}, {"k": lambda n: n}),
    Case("median_dim", SOME[:-1], (*SMALL, *SORTED_SIZES), {"keepdim": False}),
    Case("nanmedian_dim", SOME[:-1], (*SMALL, *SORTED_SIZES, PARTED[1]), {"keepdim": True}),
    Case("mode", SOME, (*SMALL, *SORTED_SIZES, PARTED[1]), {"keepdim": False}),
)


def data(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Small numbers with many ties; of floats zeros of both signs, and NaN in every other row or so."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape), np.bool_)
    if dtype[0] in "iu":
        return np.asarray(rng.integers(0 if dtype[0] == "u" else -50, 50, shape)).astype(dtype)
    x = np.atleast_1d(np.round(rng.standard_normal(shape) * 4) / 4)
    x[rng.random(x.shape) < 0.1] = -0.0
    if x.size > 8:
        x.reshape(-1)[rng.integers(0, x.size // 2, 3)] = np.nan
    return x.reshape(shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def near(got: np.ndarray, want: Any) -> None:
    """Equal but for the rounding of sums in another order."""
    want = np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    tolerance = {2: 2e-2, 4: 2e-6, 8: 1e-13}[want.dtype.itemsize]
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), tolerance, tolerance)


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c}-{i}") for i, c in enumerate(CASES)])
def test_templates(case: Case) -> None:
    """Both targets, each with its chunks in both orders, give one result bit for bit: the interpreter's."""
    for number, (shape, dim) in enumerate(case.where):
        for dtype in case.dtypes if FULL or len(case.dtypes) < SHARE else case.dtypes[number % SHARE :: SHARE]:
            size = shape[dim] if shape else 1
            attributes = {"dim": dim, **case.attributes, **{k: f(size) for k, f in case.sized.items()}}
            inputs = tuple(data(shape, dtype, number + i) for i in range(case.operands))
            if case.operands == 2:
                inputs = (np.clip(np.nan_to_num(inputs[0]), -1, 1).astype(inputs[0].dtype), inputs[1])
            graph, arrays = one_node(VOCABULARY[case.op], inputs, attributes)
            check(graph, arrays, f"{case.op} {shape} {dim} {dtype}")


def check(graph: Graph, arrays: list[np.ndarray], what: str) -> None:
    node = graph.nodes[0]
    with np.errstate(all="ignore"):
        wanted = Interpreter(graph).run(*arrays)
    for name in TARGETS:
        forwards = run_template(node, arrays, named_target(name), list)
        backwards = run_template(node, arrays, named_target(name), reversed)
        for got, other, want in zip(forwards, backwards, wanted, strict=True):
            assert got.tobytes() == other.tobytes(), what
            near(got, want)


@pytest.mark.parametrize("op", ["median", "nanmedian"])
def test_medians_of_all(op: str) -> None:
    for shape in ((), (1,), (4, 5), (300, 400)):
        for dtype in ("float32", "int16"):
            check(*one_node(VOCABULARY[op], (data(shape, dtype, 1),), {}), f"{op} {shape} {dtype}")


SEARCHED = (
    ("float32", "float32"),
    ("float64", "float32"),
    ("int32", "float64"),
    ("bfloat16", "bfloat16"),
    ("uint8", "int64"),
    ("bool", "bool"),
)


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(right: bool) -> None:
    for sequence, wanted in SEARCHED:
        for n in (0, 1, 2, 7, 5000):
            for shape in ((), (0,), (3, 700)):
                inputs = (
                    np.sort(data((n,), sequence, n).astype(np.float64)).astype(data((), sequence, 0).dtype),
                    data(shape, wanted, 3),
                    None,
                )
                check(
                    *one_node(VOCABULARY["searchsorted"], inputs, {"out_int32": not right, "right": right}),
                    f"{sequence}[{n}] {wanted}{shape}",
                )
    inputs = np.sort(data((2, 3, 40), "float32", 1), -1), data((2, 3, 9), "float32", 2), None
    check(*one_node(VOCABULARY["searchsorted"], inputs, {"out_int32": False, "right": right}), "a sequence for each row")


def test_counts() -> None:
    for dtype in FLOATS:
        for shape in ((), (0,), (100,), (70_000,)):
            check(*one_node(VOCABULARY["histc"], (data(shape, dtype, 1),), {"bins": 7, "min": -1.3, "max": 2}), f"histc {dtype}{shape}")
    for dtype in SOME:
        for size in (0, 3, 100_000):
            x = data((30, 4, 500), dtype, 1)
            check(*one_node(VOCABULARY["nonzero_static"], (x,), {"size": size, "fill_value": -7}), f"nonzero {dtype} {size}")


def test_several_chunks_and_launches_are_used() -> None:
    """The large shapes above do reach the code for rows that are cut, for rows of several chunks, and for selection."""
    for op, shape, dim, attributes, count in [
        ("cumsum", *CUT[0], {"dtype": None}, 4),
        ("linear_recurrence", *CUT[0], {"reverse": False}, 1),
        ("sort", *PARTED[0], {"descending": False, "stable": True}, 2 + 4 * 4),
        ("sort", (40, 1000), 1, {"descending": False, "stable": True}, 1),
    ]:
        x = np.zeros(shape, np.float32)
        graph, _ = one_node(VOCABULARY[op], (x, x) if op == "linear_recurrence" else (x,), {"dim": dim, **attributes})
        found = launches(graph.nodes[0])
        assert len(found) == count
        assert max(chunks for _, chunks in found) > 1 or count == 1


def test_equal_templates_share_code() -> None:
    """Templates of nodes that differ only in their operands are equal; another size or order is another template."""
    builder = Builder(Graph("two"))
    x, y = (builder.input(type_of(np.zeros((4, 6), np.float32))) for _ in range(2))
    sorts = [
        builder.call(VOCABULARY["sort"], (v,), {"dim": d, "descending": r})
        for v, d, r in [(x, 1, False), (y, 1, False), (x, 1, True), (x, 0, False)]
    ]
    first, same, reverse, other = (TEMPLATES["sort"](values[0].node) for values in sorts)
    assert first == same
    assert hash(first) == hash(same)
    assert first not in (reverse, other)


def test_running_sums_of_long_rows_are_no_less_exact() -> None:
    """Sums of segments add up to no more error than NumPy's sum of one element after the other."""
    x = np.random.default_rng(5).random(300_001)
    exact = np.cumsum(x.astype(np.longdouble))
    graph, arrays = one_node(VOCABULARY["cumsum"], (x,), {"dim": 0, "dtype": None})
    (got,) = run_template(graph.nodes[0], arrays, named_target("native"), list)
    assert np.abs(got - exact).max() <= np.abs(np.cumsum(x) - exact).max()


def test_extremes_are_kept() -> None:
    """Infinities, negative zeros and the latest index of equal maxima, across the borders of segments."""
    x = np.full(40_000, -np.inf)
    x[[5, 17_000, 39_999]] = 1.0
    for op in ("cummax", "logcumsumexp"):
        check(*one_node(VOCABULARY[op], (x,), {"dim": 0}), op)
    zeros = np.full((3, 5), -0.0, np.float32)
    graph, arrays = one_node(VOCABULARY["cumsum"], (zeros,), {"dim": 1, "dtype": None})
    (got,) = run_template(graph.nodes[0], arrays, named_target("native"), list)
    assert np.signbit(got).all()


@pytest.mark.parametrize("size", [2, 4, 8])
def test_network_sorts(size: int) -> None:
    """By the 0-1 principle it sorts everything if it sorts all zeros and ones (Knuth, 5.3.4 Z)."""
    for bits in range(1 << size):
        values = [bits >> i & 1 for i in range(size)]
        for i, j in network(size):
            values[i], values[j] = min(values[i], values[j]), max(values[i], values[j])
        assert values == sorted(values)


def test_programs_use_templates() -> None:
    """In a program: between loop kernels, of a view, with an unused result, twice with the same code."""
    builder = Builder(Graph("program"))
    x = builder.input(type_of(np.zeros((50, 30), np.float32)))

    def call(name: str, *inputs: Any, **attributes: Any) -> Any:
        return builder.call(VOCABULARY[name], inputs, attributes)

    turned = call("transpose", call("relu", x), dim0=0, dim1=1)
    values, _ = call("sort", turned, dim=1, descending=True)
    total = call("cumsum", call("neg", values), dim=1)
    again = call("cumsum", total, dim=1)
    builder.output(call("exp", call("neg", again)), call("topk", turned, k=4, dim=0)[1])
    executable, compilation = compile_graph(builder.graph, verify=True)
    assert compilation.assembly is not None
    assert compilation.assembly.hosts == []
    array = np.random.default_rng(1).standard_normal((50, 30)).astype(np.float32)
    for got, want in zip(executable.run(array), Interpreter(builder.graph).run(array), strict=True):
        near(got, want)
