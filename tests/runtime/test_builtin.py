"""Builtin functions around native programs, made from a small program in LLVM text: what they serve, and what they hand on."""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest

from twofold.runtime import builtin, counters
from twofold.runtime.builtin import ARGUMENT, RESULT_FIXED, RESULT_ONE, RESULT_TUPLE, BufferSpec, LeafSpec, Native, Signature
from twofold.runtime.builtin_layout import STRUCTURES, expand, python_layout
from twofold.runtime.codegen import build
from twofold.runtime.entry import Frame
from twofold.runtime.target import host_target
from twofold.support.logs import logs_set

PROGRAM = """
define i32 @run(ptr %table, ptr %context) {
entry:
  %a.at = getelementptr ptr, ptr %table, i64 1
  %b.at = getelementptr ptr, ptr %table, i64 2
  %sum.at = getelementptr ptr, ptr %table, i64 3
  %product.at = getelementptr ptr, ptr %table, i64 4
  %a = load ptr, ptr %a.at
  %b = load ptr, ptr %b.at
  %sum = load ptr, ptr %sum.at
  %product = load ptr, ptr %product.at
  %error = load ptr, ptr %table
  %first = load float, ptr %a
  %bad.data = fcmp oeq float %first, 1.0e6
  br i1 %bad.data, label %fault, label %check
fault:
  store i64 7, ptr %error
  ret i32 0
check:
  %stopped = fcmp oeq float %first, 2.0e6
  br i1 %stopped, label %stop, label %next
stop:
  ret i32 3
next:
  %i = phi i64 [ 0, %check ], [ %j, %next ]
  %x.at = getelementptr float, ptr %a, i64 %i
  %y.at = getelementptr float, ptr %b, i64 %i
  %s.at = getelementptr float, ptr %sum, i64 %i
  %p.at = getelementptr float, ptr %product, i64 %i
  %x = load float, ptr %x.at, align 4
  %y = load float, ptr %y.at, align 4
  %s = fadd float %x, %y
  %p = fmul float %x, %y
  store float %s, ptr %s.at, align 4
  store float %p, ptr %p.at, align 4
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, 6
  br i1 %more, label %next, label %done
done:
  ret i32 0
}
"""
"""sum = a + b, product = a · b for six floats. It reports fault 7 if the first is 1e6, and stops with status 3 if it is 2e6."""

F32 = np.dtype(np.float32)
SHAPE = (2, 3)


class Stopped(Exception):
    """What `explain` raises here."""


class Harness:
    """The two functions of one program, and what they called back."""

    def __init__(self, is_long: bool = False, result: int = RESULT_TUPLE, stale: object = None) -> None:
        self.careful_calls: list[Any] = []
        self.new_frame_error: Exception | None = None
        target = host_target()
        code = build(PROGRAM, target, "a test", level=1)

        def new_frame() -> Frame:
            if self.new_frame_error is not None:
                raise self.new_frame_error
            return Frame(code, target, 5, 0, {}, {}, None)

        def explain(frame: Frame, status: int) -> None:
            raise Stopped(frame.error, status)

        def careful(*args: Any, **kwargs: Any) -> str:
            self.careful_calls.append((args, kwargs))
            return "careful"

        self.native = native = Native("product", code, new_frame, 4, explain, is_long)
        leaves = [LeafSpec(ARGUMENT, k, buffer=BufferSpec(F32, SHAPE, 1 + k)) for k in range(2)]
        outputs = [BufferSpec(F32, SHAPE, 3 + k, written=True) for k in range(2)]
        signature = Signature(leaves, outputs, 2)
        call = builtin.make_call(native, signature, careful, result=result, stale=stale)
        into = builtin.make_into(native, signature, careful, "into", "into(outputs, a, b)\n--\n\nText.")
        assert call is not None, python_layout(None)
        assert into is not None
        self.call, self.into, self.code = call, into, weakref.ref(code)


def array(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SHAPE).astype(F32)


def check(a: Any, b: Any, results: Any) -> None:
    np.testing.assert_array_equal(results[0], a + b)
    np.testing.assert_array_equal(results[1], a * b)


def test_text() -> None:
    text = expand(builtin.TEXT + builtin.CALL + builtin.INTO)
    assert " get " not in text.replace("; ", "")
    assert " put " not in text
    for name in STRUCTURES:
        assert f"%{name} = type {{" in text


@pytest.mark.parametrize("is_long", [False, True])
def test_call(is_long: bool) -> None:
    h = Harness(is_long)
    a, b = array(0), array(1)
    before = counters.NATIVE_CALLS.value
    for _ in range(5):
        results = h.call(a, b)
        assert type(results) is tuple
        assert all(type(r) is np.ndarray and r.flags.owndata and r.flags.writeable for r in results)
        check(a, b, results)
    assert counters.NATIVE_CALLS.value == before + 5
    assert h.native.frame_count == 1
    assert not h.careful_calls


def test_other_results() -> None:
    a, b = array(0), array(1)
    np.testing.assert_array_equal(Harness(result=RESULT_ONE).call(a, b), a + b)
    assert Harness(result=RESULT_FIXED).call(a, b) is None


def test_into() -> None:
    h = Harness()
    a, b = array(0), array(1)
    for outputs in ([np.empty(SHAPE, F32), np.empty(SHAPE, F32)], (np.empty(SHAPE, F32), np.empty(SHAPE, F32))):
        assert h.into(outputs, a, b) is None
        check(a, b, outputs)
    assert not h.careful_calls
    assert (h.into.__name__, h.call.__name__) == ("into", "product")
    assert h.into.__doc__ == "Text."
    assert h.into.__text_signature__ == "(outputs, a, b)"  # type: ignore[attr-defined]
    assert type(h.into) is BuiltinFunctionType


class Subclass(np.ndarray):
    pass


def misaligned() -> np.ndarray:
    return np.frombuffer(bytearray(25), np.uint8)[1:].view(F32).reshape(SHAPE)


UNUSUAL: dict[str, Any] = {
    "other dtype": lambda: array().astype(np.float64),
    "same size, other kind": lambda: array().astype(np.int32),
    "other byte order": lambda: array().astype(">f4"),
    "dtype with metadata": lambda: array().astype(np.dtype(F32, metadata={"unit": "m"})),
    "other shape": lambda: array().reshape(3, 2),
    "other rank": lambda: array().reshape(-1),
    "no dimensions": lambda: np.float32(1),
    "empty": lambda: np.empty((0, 3), F32),
    "columns": lambda: np.asfortranarray(array()),
    "strided": lambda: np.zeros((2, 6), F32)[:, ::2],
    "backwards": lambda: array()[::-1],
    "misaligned": misaligned,
    "subclass": lambda: array().view(Subclass),
    "list": lambda: array().tolist(),
    "None": lambda: None,
    "number": lambda: 1.0,
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("position", [0, 1])
def test_unusual_arguments_are_handed_on(name: str, position: int) -> None:
    h = Harness()
    args = [array(0), array(1)]
    args[position] = UNUSUAL[name]()
    counts = [sys.getrefcount(x) for x in args if x is not None]
    assert h.call(*args) == "careful"
    assert h.into([array(), array()], *args) == "careful"
    assert [x is y for x, y in zip(h.careful_calls[0][0], args, strict=True)] == [True, True]
    h.careful_calls.clear()
    assert [sys.getrefcount(x) for x in args if x is not None] == counts
    check(*(x := (array(2), array(3))), h.call(*x))  # the frame was given back
    assert h.native.frame_count == 1


def overlapping() -> list[Any]:
    whole = np.zeros((3, 3), F32)
    return [whole[:2], whole[1:]]


def read_only() -> np.ndarray:
    a = array()
    a.flags.writeable = False
    return a


OUTPUTS: dict[str, Any] = {
    **{name: lambda f=make: [array(), f()] for name, make in UNUSUAL.items()},
    "read-only": lambda: [array(), read_only()],
    "overlap": overlapping,
    "twice the same": lambda: [array()] * 2,
    "too few": lambda: [array()],
    "too many": lambda: [array(), array(), array()],
    "none": list,
    "no list": lambda: iter([array(), array()]),
    "an array": lambda: np.zeros((2, *SHAPE), F32),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_unusual_outputs_are_handed_on(name: str) -> None:
    h = Harness()
    assert h.into(OUTPUTS[name](), array(), array()) == "careful"


def test_outputs_that_share_memory_with_an_input() -> None:
    h = Harness()
    a, b = array(), array()
    whole = np.zeros((4, 3), F32)
    assert h.into([a, array()], a, b) == "careful"
    assert h.into([array(), b], a, b) == "careful"
    assert h.into([whole[1:3], array()], whole[:2], b) == "careful"
    h.careful_calls.clear()
    assert h.into([whole[2:], array()], whole[:2], b) is None
    assert not h.careful_calls


@pytest.mark.parametrize("args,kwargs", [((), {}), ((1,), {}), ((1, 2, 3), {}), ((1,), {"b": 2}), ((1, 2), {"b": 2})])
def test_other_signatures_are_handed_on(args: Any, kwargs: Any) -> None:
    h = Harness()
    assert h.call(*args, **kwargs) == "careful"
    assert h.into(*args, **kwargs) == "careful"
    assert h.careful_calls == [(args, kwargs)] * 2


@pytest.mark.parametrize("first,expected", [(1e6, (7, 0)), (2e6, (0, 3))])
@pytest.mark.parametrize("is_long", [False, True])
def test_failing_runs(first: float, expected: tuple[int, int], is_long: bool) -> None:
    h = Harness(is_long)
    a, b, outputs = array(), array(), [array(), array()]
    bad = a.copy()
    bad[0, 0] = first
    counts = [sys.getrefcount(x) for x in (bad, b, *outputs)]
    for _ in range(3):
        with pytest.raises(Stopped) as caught:
            h.call(bad, b)
        assert caught.value.args == expected
        with pytest.raises(Stopped) as caught:
            h.into(outputs, bad, b)
        assert caught.value.args == expected
        check(a, b, h.call(a, b))
    del caught
    assert h.native.frame_count == 1
    assert [sys.getrefcount(x) for x in (bad, b, *outputs)] == counts


def test_a_frame_that_cannot_be_made() -> None:
    h = Harness()
    h.new_frame_error = MemoryError("no room")
    with pytest.raises(MemoryError, match="no room"):
        h.call(array(), array())
    with pytest.raises(MemoryError, match="no room"):
        h.into([array(), array()], array(), array())
    h.new_frame_error = None
    check(*(x := (array(2), array(3))), h.call(*x))


def test_memory_stays_flat() -> None:
    h = Harness()
    a, b, outputs = array(), array(), [array(), array()]
    bad = np.full(SHAPE, 1e6, F32)

    def many(n: int) -> None:
        for _ in range(n):
            h.call(a, b)
            h.into(outputs, a, b)
            with contextlib.suppress(Stopped):
                h.call(bad, b)

    many(100)
    gc.collect()
    before = sys.getallocatedblocks()
    counts = [sys.getrefcount(x) for x in (a, b, *outputs, F32)]
    many(5000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 100
    after = [sys.getrefcount(x) for x in (a, b, *outputs, F32)]
    assert all(abs(x - y) < 100 for x, y in zip(counts, after, strict=True))


def test_arrays_that_nobody_has_are_written_again() -> None:
    h = Harness(stale=object())
    places = {tuple(x.ctypes.data for x in h.call(array(k), array(k + 1))) for k in range(5)}
    assert len(places) == 1
    kept = [h.call(array(k), array(k + 1)) for k in range(4)]
    for k, results in enumerate(kept):
        check(array(k), array(k + 1), results)
    first = h.call(array(0), array(1))
    view = first[1][1:]
    expected = view.copy()
    del first, kept
    check(array(2), array(3), h.call(array(2), array(3)))
    np.testing.assert_array_equal(view, expected)
    x = array(0)
    for _ in range(3):  # a result as the next argument
        y = x + array(1)
        x = h.call(x, array(1))[0]
        np.testing.assert_array_equal(x, y)


def test_threads() -> None:
    h = Harness(is_long=True)
    pairs = [(array(2 * k), array(2 * k + 1)) for k in range(16)]

    def run(pair: Any) -> None:
        for _ in range(300):
            check(*pair, h.call(*pair))
            outputs = [np.empty(SHAPE, F32) for _ in range(2)]
            h.into(outputs, *pair)
            check(*pair, outputs)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, pairs))
    assert not h.careful_calls
    assert h.native.frame_count <= 4


def test_the_function_keeps_what_it_needs() -> None:
    h = Harness()
    call, code = h.call, h.code
    del h
    gc.collect()
    check(*(x := (array(2), array(3))), call(*x))
    assert code() is not None
    del call
    gc.collect()
    assert code() is None


def test_without_builtin_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(builtin, "python_layout", lambda tensors: "arrays have other fields")
    builtin._layout.cache_clear()
    try:
        with logs_set("code", to=lambda record: lines.append(record.text)):
            assert builtin._layout(None) is None
            with pytest.raises(AssertionError):
                Harness()
    finally:
        builtin._layout.cache_clear()
    assert "arrays have other fields" in lines[0]
