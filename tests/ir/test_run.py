"""Running records on arrays, and whole graphs in the interpreter."""

from __future__ import annotations

import gc
import io
import math
import threading
import weakref
from contextlib import redirect_stdout
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.ir.records import (
    ABS,
    ADD,
    BIAS,
    CAT,
    EXP,
    FULL,
    LT,
    MAX,
    MUL,
    NOISE,
    NONZERO,
    SEEN,
    SPLIT,
    SUM,
    WHERE,
    controlled,
    f32,
    i64,
    put,
    simple,
    symbolic,
)  # fmt: skip
from twofold.ir import dims
from twofold.ir import dtypes as D
from twofold.ir.builder import Builder
from twofold.ir.control import build_cond, build_while
from twofold.ir.effects import PRINT_HOOK, assert_true, print_values, printing_to, token
from twofold.ir.graph import Graph, Source
from twofold.ir.interpreter import Interpreter
from twofold.ir.op import Op
from twofold.ir.run import make_kernel, run_record, scalar_array
from twofold.ir.types import result_type, scalar_type, tensor_type, type_of
from twofold.support.errors import (
    ArgumentError,
    AssertionFailed,
    DeviceError,
    DTypeError,
    GuardError,
    ShapeError,
    TwofoldError,
    UnsupportedError,
    ValueRangeError,
)  # fmt: skip


def apply(op: Op, *operands: Any, **attributes: Any) -> Any:
    types = tuple(
        None
        if x is None
        else scalar_type(type(x))
        if type(x) in (bool, int, float)
        else tuple(map(type_of, x))
        if type(x) is tuple
        else type_of(x)
        for x in operands
    )
    canonical = op.canonical(types, attributes)
    with np.errstate(all="ignore"):
        return run_record(op, operands, types, op.infer(types, canonical), canonical)


@pytest.mark.parametrize("a", D.DTYPES)
@pytest.mark.parametrize("b", D.DTYPES)
def test_promotion(a: D.DType, b: D.DType) -> None:
    x, y = np.array([1, 0, 1]).astype(a.numpy), np.array([1, 1, 0]).astype(b.numpy)
    try:
        expected = D.promote_types(a, b)
    except DTypeError:
        with pytest.raises(DTypeError):
            apply(ADD, x, y)
        return
    result = apply(ADD, x, y)
    assert result.dtype == expected.numpy
    assert result.tolist() == ([True, True, True] if expected is D.bool_ else [2, 1, 1])
    assert apply(LT, x, y).dtype == bool
    assert apply(LT, x, y).tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", D.DTYPES)
@pytest.mark.parametrize("scalar", [True, 2, 0, 0.0, -0.0, 2.5, math.inf, math.nan])
def test_python_numbers(dtype: D.DType, scalar: Any) -> None:
    x = np.array([1, 0]).astype(dtype.numpy)
    for _ in range(2):  # the second time from the cache
        result = apply(MUL, x, scalar)
        want = result_type(type_of(x), scalar_type(type(scalar)))
        assert result.dtype == want.numpy
        with np.errstate(all="ignore"):
            wide = x.astype(np.float64) * scalar
            np.testing.assert_array_equal(result.astype(np.float64), wide)
            if want.is_floating_point:
                np.testing.assert_array_equal(np.signbit(result.astype(np.float64)), np.signbit(wide))
    assert apply(MUL, scalar, x).dtype == result.dtype


def test_signed_zeros_do_not_share_a_cache_entry() -> None:
    t = f32()
    kernel = make_kernel(MUL, (t, scalar_type(float)), t, {})
    x = np.float32(1)
    assert [str(kernel(x, v)) for v in (0.0, -0.0, 0.0)] == ["0.0", "-0.0", "0.0"]


def test_integers_wrap_and_huge_ones_are_refused() -> None:
    assert apply(ADD, np.array([1], np.uint8), 300).tolist() == [45]
    assert apply(ADD, np.array([1], np.uint8), -1).tolist() == [0]
    assert scalar_array(2**64 - 1, D.uint64) == 2**64 - 1
    assert scalar_array(2**70, D.float32) == np.float32(2**70)
    assert scalar_array(1e300, D.float32) == np.inf
    assert scalar_array(10**400, D.float32) == np.inf
    with pytest.raises(ValueRangeError):
        apply(ADD, np.array([1]), 2**64)
    with pytest.raises(DTypeError):
        scalar_array(1.5, D.int64)


@pytest.mark.parametrize("dtype", [D.float16, D.bfloat16])
def test_sixteen_bit_floats_are_computed_in_float32_and_rounded_once(dtype: D.DType) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(50).astype(dtype.numpy) for _ in range(2))
    for op, form in ((MUL, np.multiply), (ADD, np.add)):
        expected = form(x.astype(np.float32), y.astype(np.float32)).astype(dtype.numpy)
        result = apply(op, x, y)
        assert result.dtype == dtype.numpy
        np.testing.assert_array_equal(result.view(np.uint16), expected.view(np.uint16))
    assert apply(SEEN, x).dtype == dtype.numpy
    assert apply(SEEN, x * 0).tolist() == [4.0] * 50
    assert apply(SUM, np.ones(3000, dtype.numpy)) == 3000  # a 16-bit sum would have stopped at 256 or 2048
    values, indices = apply(MAX, x, dim=0)
    assert values.dtype == dtype.numpy
    assert indices.dtype == np.int64
    assert apply(CAT, (x, y)).dtype == dtype.numpy
    assert np.shares_memory(apply(SPLIT, x, size=20)[0], x)  # views stay views


def test_numbers_beside_sixteen_bit_floats() -> None:
    x = np.array([1e-3], np.float16)
    assert float(apply(MUL, x, 65536.0)[0]) == pytest.approx(65.5, rel=1e-3)  # the factor alone overflows float16
    assert float(apply(MUL, x, np.float32(65536.0))[0]) == pytest.approx(65.5, rel=1e-3)
    tenth = np.array([0.1], ml_dtypes.bfloat16)
    assert apply(LT, tenth, 0.1).tolist() == [False]  # compared after rounding: equal
    assert apply(ADD, np.array([257]), np.array([1], ml_dtypes.bfloat16)).tolist() == [257 // 2 * 2]


def test_float_promotion_and_default_dtype() -> None:
    assert apply(EXP, np.array([0, 1])).dtype == np.float32
    assert apply(EXP, np.array([True])).dtype == np.float32
    assert apply(EXP, np.array([0.0])).dtype == np.float64
    t = i64(2)
    out = EXP.infer((t,), {})
    kernel = make_kernel(EXP, (t,), out, {})
    try:
        D.set_default_dtype(D.float64)
        again = make_kernel(EXP, (t,), out, {})
        assert again(np.array([0, 1])).dtype == np.float32  # the recorded type decides
        assert apply(EXP, np.array([0, 1])).dtype == np.float64
    finally:
        D.set_default_dtype(D.float32)
    assert kernel(np.array([0, 1])).dtype == np.float32


def test_a_condition_stays_bool() -> None:
    c = np.array([True, False])
    assert apply(WHERE, c, np.array([1.5, 2.5], np.float32), 3).tolist() == [1.5, 3.0]
    assert apply(WHERE, c, np.array([1, 2], np.int8), np.array([3, 4], ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


def test_kernels_do_no_needless_work() -> None:
    assert make_kernel(token, (), (token.infer((), {})), {}) is token.reference
    x = np.ones(3, np.float32)
    t = type_of(x)
    seen: list[Any] = []

    def form(a: Any, b: Any) -> Any:
        seen.append((a, b))
        return a + b

    result = make_kernel(ADD, (t, t), t, {}, form)(x, x)
    assert seen[0][0] is x
    assert seen[0][1] is x
    assert result.tolist() == [2, 2, 2]
    assert apply(BIAS, x, None) is x
    full = apply(FULL, shape=(2,), value=3, dtype="int8")
    assert full.dtype == np.int8


# --- the interpreter


def test_simple_graph() -> None:
    g = simple()
    x, w = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, -1, 2], np.float32)
    i = Interpreter(g)
    for outputs in (i.run(x, w), i.run(x, bindings={"fc.weight": w, "unused": 1})):
        s, indices, z, c, none, two = outputs
        np.testing.assert_array_equal(s, (x * w).sum(1))
        np.testing.assert_array_equal(indices, (x * w).argmax(1, keepdims=True))
        np.testing.assert_array_equal(z, (x * w).max(1, keepdims=True))
        np.testing.assert_array_equal(c, x)
        assert none is None
        assert two == 2.0
    for arrays, bindings, error, match in (
        ((x,), None, ArgumentError, "takes 2 inputs .x, fc_weight., 1 were given"),
        ((x, w), {"fc.weight": w}, ArgumentError, "takes 1 inputs .x., 2 were given"),
        ((x,), {}, ArgumentError, "no array for the binding 'fc.weight'"),
        ((x, w.astype(np.float64)), None, GuardError, "input fc_weight: the graph was made for float32, the array is float64"),
        ((x, w[:2]), None, ShapeError, "input fc_weight, dimension 0: the graph takes 3, the array has 2"),
        ((x[0], w), None, ShapeError, "1 dimension"),
    ):
        with pytest.raises(error, match=match):
            i.run(*arrays, bindings=bindings)


def test_symbolic_sizes() -> None:
    i = Interpreter(symbolic())
    for s, t in ((2, 1), (5, 3), (64, 2)):
        x, y, z = np.ones((s, 4), np.float32), np.zeros((s * 2 + t, 4), np.float32), np.zeros(t, np.float32)
        r, c, f, m, _ = i.run(x, y, z)
        assert r.shape == (s * 4,)
        assert c.shape == (3 * s + t, 4)
        assert f.shape == (t, s // 2)
        assert f.dtype == np.int64
        np.testing.assert_array_equal(m, np.argwhere(c) * 2)
    for shapes, error, match in (
        (((65, 4), (131, 4), (1,)), GuardError, "input x, dimension 0: 65 is outside the bounds of s0 .2 to 64"),
        (((3, 4), (8, 4), (1,)), ShapeError, r"input y, dimension 0: s0\*2 \+ s1 is 7 for"),
        (((3, 5), (7, 4), (1,)), ShapeError, "input x, dimension 1"),
    ):
        with pytest.raises(error, match=match):
            i.run(*(np.zeros(shape, np.float32) for shape in shapes))
    g = Graph()
    b = Builder(g)
    s0 = dims.symbol("s0")
    b.input(f32(s0), "x")
    b.input(f32(s0), "y")
    with pytest.raises(ShapeError, match="input y, dimension 0: s0 is 3 here and 2"):
        Interpreter(g).run(np.zeros(2, np.float32), np.zeros(3, np.float32))
    h = Graph()
    Builder(h).input(f32(s0 * 2), "x")
    with pytest.raises(GuardError, match="cannot be solved"):
        Interpreter(h).run(np.zeros(2, np.float32))


def reference(x: float, n: int) -> tuple[float, int, str]:
    i, v, text = 0, x, f"x = {x}\n"
    while i < n:
        if v < 10:
            text += f"small {v};"
            v *= x
        else:
            v += 1
        i += 1
    return v, i, text


@pytest.mark.parametrize("x, n", [(2.0, 0), (2.0, 3), (2.0, 9), (20.0, 2)])
def test_control_flow_and_effects_in_order(x: float, n: int) -> None:
    out: list[str] = []
    with printing_to(out.append):
        v, i = Interpreter(controlled()).run(np.float32(x), np.int64(n))
    assert (float(v), int(i), "".join(out)) == reference(x, n)
    assert PRINT_HOOK.get() is None


def test_printing_goes_to_standard_output() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        Interpreter(controlled()).run(np.float32(20), np.int64(0))
    assert out.getvalue() == "x = 20.0\n"


def test_assertions() -> None:
    with pytest.raises(AssertionFailed, match="too large") as e, printing_to(lambda text: None):
        Interpreter(controlled()).run(np.float32(1e7), np.int64(0))
    assert isinstance(e.value, AssertionError)
    assert "assert_true" in e.value.__notes__[0]
    g = Graph()
    b = Builder(g)
    x = b.input(tensor_type(D.bool_, (3,)), "x")
    b.effect(assert_true, (x,))
    with pytest.raises(AssertionFailed, match=r"assertion failed \(2 of 3 elements are false\)"):
        Interpreter(g).run(np.array([True, False, False]))
    for call in (
        lambda: b.call(assert_true, (x, x)),
        lambda: b.call(print_values, (x, ()), {"parts": ("",)}),
        lambda: b.effect(print_values, ((x,),), {"parts": ("",)}),
        lambda: b.effect(assert_true, (2.0,)),
        lambda: build_while(b, (x,), lambda v: b.effect(assert_true, (v,)) or x, lambda v: v),
    ):
        with pytest.raises(TwofoldError):
            call()


def test_errors_name_node_and_line() -> None:
    g = Graph()
    b = Builder(g)
    p, x = b.input(tensor_type(D.bool_, ()), "p"), b.input(f32(2), "x")

    def bad(v: Any) -> Any:
        v = b.call(ABS, (v,), source=Source(bad.__code__, 0, "block.0"))
        v.node.op = NOISE_THAT_FAILS
        return v

    (y,) = build_cond(b, p, (x,), bad, lambda v: v)
    b.output(y)
    i = Interpreter(g)
    np.testing.assert_array_equal(i.run(np.array(False), np.ones(2, np.float32))[0], [1, 1])
    with pytest.raises(ZeroDivisionError) as e:
        i.run(np.array(True), np.ones(2, np.float32))
    first, second = e.value.__notes__
    assert first.startswith("in node t_abs = t_noise(x_1: f32[2]), from ")
    assert "test_run.py:" in first
    assert "(module block.0)" in first
    assert second.startswith("in node cond_0 = cond(")


def _fail(a: Any) -> Any:
    raise ZeroDivisionError("deliberate")


NOISE_THAT_FAILS = Op(NOISE.signature, NOISE.type_rule, _fail, NOISE.gradient, "test")


def test_dead_values_are_freed() -> None:
    class Watched(np.ndarray):
        pass

    alive: list[weakref.ref[Any]] = []

    class Watching(Interpreter):
        most = 0

        def call_op(self, node: Any, inputs: list[Any], attributes: dict[str, Any]) -> Any:
            result = np.asarray(super().call_op(node, inputs, attributes)).view(Watched)
            alive.append(weakref.ref(result))
            self.most = max(self.most, sum(r() is not None for r in alive))
            return result

    g = Graph()
    b = Builder(g)
    v = b.input(f32(4), "x")
    first = v
    for _ in range(50):
        v = b.call(ADD, (v, 1.0))
    b.call(MUL, (first, 3.0))
    b.output(v, first)
    gc.disable()
    try:
        i = Watching(g)
        result = i.run(np.zeros(4, np.float32))
    finally:
        gc.enable()
    assert result[0].tolist() == [50] * 4
    assert i.most <= 2
    assert sum(r() is not None for r in alive) == 1


def test_overriding_a_method_a_kind() -> None:
    class Counting(Interpreter):
        def __init__(self, graph: Graph) -> None:
            super().__init__(graph)
            self.log: list[str] = []

        def input(self, value: Any, array: Any) -> Any:
            self.log.append(f"input {value.name}")
            return super().input(value, array)

        def constant(self, node: Any) -> Any:
            self.log.append("constant")
            return super().constant(node)

        def cond(self, node: Any, inputs: list[Any], run_region: Any) -> Any:
            self.log.append("cond")
            return super().cond(node, inputs, run_region)

        def while_loop(self, node: Any, inputs: list[Any], run_region: Any) -> Any:
            self.log.append("while")
            return super().while_loop(node, inputs, run_region)

        def output(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
            return (*values, "end")

    i = Counting(controlled())
    with printing_to(lambda text: None):
        assert i.run(np.float32(2), np.int64(2))[-1] == "end"
    assert i.log == ["input x", "input n", "constant", "while", "cond", "cond"]


def test_inputs_that_cannot_run() -> None:
    g = Graph()
    Builder(g).input(tensor_type(D.float32, (2,), "meta"), "x")
    with pytest.raises(DeviceError, match="meta"):
        Interpreter(g).run(np.zeros(2, np.float32))
    h = Graph()
    b = Builder(h)
    b.output(b.call(MUL, (b.input(f32(), "x"), 2)))
    assert Interpreter(h).run(3)[0] == 6  # a Python number is made an array
    with pytest.raises(UnsupportedError):
        controlled().nodes[0].op.regions or next(n for n in controlled().walk() if n.op.regions).op.reference()


def test_one_interpreter_in_several_threads() -> None:
    i = Interpreter(symbolic())
    failures: list[Exception] = []

    def work(s: int) -> None:
        try:
            for _ in range(30):
                r, *_ = i.run(np.full((s, 4), s, np.float32), np.zeros((s * 2 + 1, 4), np.float32), np.zeros(1, np.float32))
                assert r.shape == (4 * s,)
                assert (r == s).all()
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(2, 8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_data_dependent_sizes_inside_a_loop() -> None:
    g = Graph()
    b = Builder(g)
    x = b.input(i64(4), "x")

    def body(v: Any) -> Any:
        return b.call(ADD, (v, b.call(SUM, (b.call(NONZERO, (v,)),), {"dim": (0, 1)})))

    (y,) = build_while(b, (x,), lambda v: b.call(LT, (b.call(SUM, (v,)), 40)), body)
    b.output(y)
    expected = np.array([0, 1, 0, 0])
    while expected.sum() < 40:
        expected = expected + np.argwhere(expected).sum()
    np.testing.assert_array_equal(Interpreter(put(g, y)).run(np.array([0, 1, 0, 0]))[0], expected)
