"""Verified runs: what is right passes, and each fault put into the compiler is found and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn.functional as F
from tests.compiler import broken
from twofold.compiler.compare import Comparison, compare, relative_tolerance, windows
from twofold.compiler.evaluate import Evaluation, evaluate
from twofold.compiler.nodes import WideInterpreter, precision, shaken
from twofold.compiler.verifying import CODE, OPERATION, PASSES, SPEC, STRAY, first_difference
from twofold.errors import IndexOutOfRange, VerificationError
from twofold.ir.dtypes import BY_SHORT
from twofold.ir.parser import parse_graph


def values(*shape: int, seed: int = 0) -> Any:
    return twofold.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def compiled(function: Any, *args: Any, **options: Any) -> Any:
    return twofold.trace(function, args, check=False).compile(**options)


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> broken.Put:
    def put(owner: Any, name: str, value: Any) -> None:
        (monkeypatch.setitem if isinstance(owner, dict) else monkeypatch.setattr)(owner, name, value)

    return put


def chain(x: Any) -> Any:
    y = x * 2.0 + 0.5
    y = twofold.tanh(y)
    return (y * 3.0).softmax(1), y.sum(0)


def looped(x: Any) -> Any:
    y = twofold.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, twofold.tanh(y) * 1.5 + i), (twofold.tensor(0), x))[1]
    return twofold.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, (y,))


def triangular(a: Any, b: Any) -> Any:
    return twofold.linalg.solve_triangular(a, b, upper=True)


RIGHT: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a chain": (chain, (values(6, 7),)),
    "control flow": (looped, (values(5, 4),)),
    "a host step": (lambda x: twofold.linalg.inv(x).softmax(1), (values(6, 6),)),
    "a scatter": (lambda x, i: x.scatter_add(0, i, x * 2), (values(4, 3), twofold.tensor([[0, 1, 1], [0, 0, 0]]))),
    "a sum that cancels": (lambda x: (x - x.flip(0)).sum() * 1e6, (values(1000),)),
    "overflow on the way": (lambda x: twofold.exp(x * 1000) / twofold.exp(x * 999), (values(20),)),
    "infinities and NaN": (lambda x: twofold.log(x) * 0 + 1 / (x * 0), (values(20),)),
    "a position of nearly equal numbers": (lambda x: (x.softmax(1) * 0 + x.mean(1, keepdim=True)).argmax(1), (values(8, 9),)),
    "half precision": (lambda x: F.layer_norm(x.to(twofold.bfloat16), (9,)).sum(0), (values(8, 9),)),
    "double precision": (lambda x: F.gelu(x.to(twofold.float64)).std(0), (values(8, 9),)),
    "integers": (lambda x: (x * 10).to(twofold.int32) // 3 % 2, (values(8, 9),)),
    "gelu far out, by erf": (lambda x: F.gelu(x * 4), (values(400),)),
    "the dtype's own epsilon": (lambda x: F.rms_norm(x * 1e-3, (7,)), (values(6, 7),)),
    "rounded to 16 bits or not": (lambda x: (twofold.sqrt(x.to(twofold.bfloat16).abs()) - 0.5).to(twofold.float32).std(1), (values(9, 8),)),
    "several chunks": (chain, (values(256, 600),)),
    "no elements": (lambda x: (x.sum(0), x * 2), (values(0, 4),)),
    "in place": (lambda x: twofold.exp(((x @ x) + 1) @ x) @ x, (values(4, 4) * 0.1,)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_pass(name: str) -> None:
    function, args = RIGHT[name]
    program = compiled(function, *args)
    report = program.verify(*args)
    assert report.ok, str(report)
    names = {k.name for k in program.kernels}
    assert {c.step for c in report.checks} & names or not names
    verified = compiled(function, *args, verify=True)
    expected, got = program(*args), verified(*args)
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, expected)), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_strict_programs_pass() -> None:
    x = values(40, 50) * 4
    for function in (F.gelu, lambda x: F.layer_norm(x, (50,)), lambda x: x.logsumexp(1)):
        report = compiled(function, x, strict_math=True).verify(x)
        assert report.ok, str(report)


FAULTS: dict[str, tuple[Callable[[broken.Put], None], Any, str, str]] = {
    "a wrong pull rule": (broken.break_spec, chain, SPEC, "y = twofold.tanh(y)"),
    "wrong code": (broken.break_code, chain, CODE, "y = twofold.tanh(y)"),
    "wrong code in a loop": (broken.break_code, looped, CODE, "twofold.tanh(y) * 1.5"),
    "an element that is not stored": (broken.break_store, chain, CODE, "twofold.tanh"),
    "a wrong host step": (broken.break_host, lambda x: twofold.linalg.inv(x) * 2, OPERATION, "twofold.linalg.inv"),
    "temporaries in one place": (broken.break_memory, lambda x: triangular(x, x) * triangular(x, x * 2), STRAY, "twofold.linalg.solve"),
    "a wrong rule of a pass": (broken.break_pass, lambda x: twofold.sin(x * 2.0) + 1, PASSES, "twofold.sin"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str, put: broken.Put) -> None:
    breaks, function, kind, line = FAULTS[name]
    x = values(5, 5)
    breaks(put)
    program = compiled(function, x, verify=True)
    with pytest.raises(VerificationError) as caught:
        program(x)
    d: Any = caught.value.divergence
    assert d.kind == kind
    assert any("test_verify.py" in text and line in text for text in d.lines), d.lines
    message = str(caught.value)
    assert d.step in message
    assert all(n in message for n in d.nodes)
    if name in ("a wrong pull rule", "wrong code", "wrong code in a loop"):
        assert d.node.startswith("tanh")
        assert "twofold.tanh" in d.line
        assert f"first wrong node: {d.node}" in message
    if kind != STRAY:
        assert d.comparison.count > 0
        assert repr(d.comparison.got) in message
        assert repr(d.comparison.expected) in message
        assert str(list(d.index)) in message
    with pytest.raises(VerificationError):
        program.run_into([np.empty(b.type.shape, b.type.dtype.numpy) for b in program.executable.outputs], x)
    report = compiled(function, x).verify(x)
    assert not report.ok
    with pytest.raises(VerificationError):
        report.raise_first()


def test_worst_element(put: broken.Put) -> None:
    broken.break_store(put)
    x = values(5, 5).abs() + 1
    report = compiled(lambda x: x * 2.0, x).verify(x)
    (d,) = {d.index: d for d in report.divergences}.values()
    assert d.index == (4, 4)
    assert d.comparison.count == 1
    assert d.comparison.expected == pytest.approx(float(x[4, 4]) * 2)


def test_joint_programs_are_verified(put: broken.Put) -> None:
    x = values(4, 5).requires_grad_()
    joint = twofold.aot(lambda x: (twofold.tanh(x) ** 2).sum(), x)
    joint.compile(verify=True)(x)
    broken.break_code(put)
    with pytest.raises(VerificationError):
        joint.compile(verify=True)(x)


def test_errors_of_the_program_stay() -> None:
    program = compiled(lambda table, rows: table[rows] * 2, values(4, 3), twofold.tensor([0, 1]), verify=True)
    with pytest.raises(IndexOutOfRange):
        program(values(4, 3), twofold.tensor([0, 4]))
    program(values(4, 3), twofold.tensor([0, -1]))


def test_arguments_are_not_written() -> None:
    def step(x: Any) -> Any:
        x.add_(1.0)
        return x * 2

    x = values(3, 4)
    program = compiled(step, x.clone(), verify=True)
    before = x.numpy().copy()
    compiled(step, x.clone()).verify(x)
    np.testing.assert_array_equal(x.numpy(), before)
    program(x)
    np.testing.assert_array_equal(x.numpy(), before + 1)


# --- comparing


def near(got: Any, expected: Any, short: str = "f32", rounded: Any = None) -> Comparison:
    stored = BY_SHORT[short]
    array = np.asarray(got).astype(stored.numpy)
    tolerance = relative_tolerance(stored, precision(stored), 1) if stored.is_floating_point else 0.0
    wide = np.asarray(expected)
    return compare(array, stored, tolerance, [lambda: wide], rounded or (lambda random: wide))


@pytest.mark.parametrize("got,expected,short,count", [
    ([1.0, 2.0], [1.0, 2.0 + 1e-7], "f32", 0),
    ([1.0, 2.0], [1.0, 2.0 + 1e-4], "f32", 1),
    ([1.0, 2.0], [1.0, 2.0 + 1e-12], "f64", 1),
    ([np.nan, np.inf], [np.nan, np.inf], "f32", 0),
    ([np.inf], [1e39], "f32", 0),  # beyond the range
    ([3e38], [1e39], "f32", 1),
    ([np.nan], [1.0], "f32", 1),
    ([1.0], [np.nan], "f32", 1),
    ([np.inf], [-np.inf], "f32", 1),
    ([1e-45], [0.0], "f32", 0),
    ([1.0], [1.003], "bf16", 0),
    ([1.0], [1.1], "bf16", 1),
    ([1, 2], [1, 3], "i64", 1),
    ([2**60], [2**60 + 1], "i64", 1),
    ([True], [False], "bool", 1),
    ([], [], "f32", 0),
])  # fmt: skip
def test_compare(got: Any, expected: Any, short: str, count: int) -> None:
    assert near(got, np.array(expected, np.int64 if short == "i64" else None), short).count == count


def test_roundings_explain_a_difference() -> None:
    def rounded(random: np.random.Generator) -> Any:
        return 1.0 + 1e-3 * random.uniform(-1, 1, 1)

    assert near([1.0005], [1.0], rounded=rounded).count == 0
    assert near([1.5], [1.0], rounded=rounded).count == 1
    assert near([np.nan], [1.0], rounded=rounded).count == 1


def test_comparisons_add_up() -> None:
    total = near([1.0], [1.0]) + near([1.0, 5.0], [1.0, 2.0])
    assert (total.total, total.count, total.got, total.index) == (3, 1, 5.0, 1)


def test_roundings_are_small_and_random() -> None:
    random = np.random.default_rng(0)
    x = np.ones(1000)
    moved = shaken(x, 1e-6, random) - 1
    assert 0 < np.abs(moved).max() <= 4e-6
    assert shaken(np.arange(3), 1e-6, random).tolist() == [0, 1, 2]


# --- evaluating


def test_specs_are_evaluated_piece_by_piece() -> None:
    x = values(12, 8)
    spec: Any = compiled(lambda x: x.softmax(1), x).executable.assembly.launches[0].spec
    name_in, name_out = list(spec.buffers)
    whole = {name_in: x.numpy().reshape(-1), name_out: np.zeros(96, np.float32)}
    evaluate(spec, whole)
    parts = {name_in: x.numpy().reshape(-1), name_out: np.zeros(96, np.float32)}
    (dim,) = [d for d, n in spec.sizes.items() if n == 12]
    for low in range(0, 12, 5):
        Evaluation(spec, parts, False, {dim: range(low, min(low + 5, 12))}).run()
    np.testing.assert_array_equal(whole[name_out], parts[name_out])


def test_windows_cover_the_domain() -> None:
    spec: Any = compiled(lambda x: (x * 2).sum(1), values(4, 4)).executable.assembly.launches[0].spec
    assert windows(spec) == [{}]
    kept, over = next(iter(spec.reductions.values())).kept[0], next(iter(spec.reductions.values())).over[0]
    spec.sizes = {kept: 1000, over: 100_000}
    found = windows(spec)
    assert len(found) > 1
    assert [r for w in found for r in w[kept]] == list(range(1000))
    assert all(over not in w for w in found)


def test_wide_interpretation() -> None:
    graph = parse_graph("graph g(x: f32[2]) {\n  y: f32[2] = exp(x)\n  z: bf16[2] = to(y, dtype=bfloat16)\n  return (z, y)\n}")
    z, y = WideInterpreter(graph).run(np.array([1.0, 90.0], np.float32))
    assert z.dtype == y.dtype == np.float64
    np.testing.assert_allclose(z, np.exp([1.0, 90.0]), rtol=1e-15)


def test_first_difference_of_graphs() -> None:
    text = "graph g(x: f32[2]) {\n  y: f32[2] = exp(x)\n  z: f32[2] = %s(y)\n  return (y, z)\n}"
    a, b = parse_graph(text % "sin"), parse_graph(text % "cos")
    x = [np.array([1.0, 2.0], np.float32)]
    assert first_difference(a, a, x) is None
    found = first_difference(a, b, x)
    assert found is not None
    assert found[0].name == "z"
    assert found[1].count == 2
