"""Object code from LLVM text: levels, messages, sharing."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.runtime.objects import ADD, BASE, GIVEN, VARIETY, function
from twofold.errors import ArgumentError, CompileError, MissingDependency, UnsupportedError
from twofold.runtime import codegen, elf
from twofold.runtime.codegen import assemble, assembly, build, compile_count, optimised
from twofold.runtime.target import named_target
from twofold.support import options

SUM = """
define float @sum(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %p = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %p, align 4
  %t = fadd fast float %s, %v
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret float %t
}
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_CACHE_DIR", str(tmp_path))
    options.reset()


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_levels(level: int) -> None:
    code = build(SUM, BASE, level=level)
    numbers = (ctypes.c_float * 100)(*range(100))
    sum_ = function(code, "sum", ctypes.c_float, ctypes.c_void_p, ctypes.c_int64)
    assert sum_(ctypes.addressof(numbers), 100) == 4950.0
    assert ("x float>" in optimised(SUM, BASE, level=level)) == (level >= 2), "loops are vectorised from level 2"


@pytest.mark.parametrize("level", [-1, 4, 1.0, True, "3"])
def test_no_such_level(level: object) -> None:
    with pytest.raises(ArgumentError, match="the level of optimisation is 0, 1, 2 or 3"):
        assemble(ADD, BASE, level=level)  # type: ignore[arg-type]


MALFORMED = {
    "syntax": ("define i64 @f(i64 %a) {\n  %s = add i64 %a, %b\n  ret i64 %s\n}", r"line 2: .*%b.*", "> +2 | +%s = add i64 %a, %b"),
    "no text": ("this is no module", "line 1: ", "> +1 | this is no module"),
    "types": ("define i64 @f(i32 %a) {\n  ret i64 %a\n}", "line 2: ", "> +2 | +ret i64 %a"),
    "verifier": (
        "define i64 @f(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\na:\n  %x = add i64 1, 2\n  br label %b\nb:\n  ret i64 %x\n}",
        "does not dominate",
        "> +[0-9]+ | +ret i64 %x",
    ),
    "a zero byte": (ADD + "\0", "zero byte", ""),
    "a surrogate": ("; \ud800" + ADD, "surrogate", ""),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_text(name: str) -> None:
    text, message, line = MALFORMED[name]
    before = compile_count()
    with pytest.raises(CompileError, match=message) as caught:
        assemble(text, BASE, name="softmax")
    assert "softmax" in str(caught.value)
    if line:
        assert re.search(line, str(caught.value)), str(caught.value)
    assert compile_count() == before
    assert assemble(ADD, BASE, level=1), "the next compilation is not disturbed"


def test_objects_say_what_they_are() -> None:
    assert elf.parse_object(assemble(ADD, BASE)).machine == elf.EM_X86_64
    assert elf.MACHINES[elf.parse_object(assemble(ADD, named_target("aarch64"))).machine] == "AArch64"


def test_assembly_text() -> None:
    assert "leaq" in assembly(ADD, BASE) or "addq" in assembly(ADD, BASE)
    assert "add\tx0, x" in assembly(ADD, named_target("aarch64"))
    wide = assembly(SUM, named_target("x86-64-v4"), level=3)
    assert "ymm" in wide or "zmm" in wide
    assert "ymm" not in assembly(SUM, BASE, level=3)


def test_code_is_the_same_each_time() -> None:
    assert assemble(VARIETY, BASE) == assemble(VARIETY, BASE)


def test_equal_texts_share_code() -> None:
    one, two = build(ADD, BASE, level=1), build(ADD, BASE, level=1)
    assert one is two
    assert build(ADD, BASE, level=3) is not one
    assert build(ADD, named_target("x86-64"), level=1) is not one
    del one, two
    gc.collect()
    before = compile_count()
    assert function(build(ADD, BASE, level=1), "add", *[ctypes.c_int64] * 3)(1, 2) == 3
    assert compile_count() == before, "it came from the cache"


def test_code_with_variables_is_not_shared() -> None:
    one, two = build(VARIETY, BASE, level=1, symbols=GIVEN), build(VARIETY, BASE, level=1, symbols=GIVEN)
    assert one is not two
    assert function(one, "count", ctypes.c_int64)() == function(two, "count", ctypes.c_int64)() == 5


def test_code_depends_on_the_symbols_given() -> None:
    text = "declare i64 @given(i64)\ndefine i64 @f(i64 %x) {\n %r = call i64 @given(i64 %x)\n ret i64 %r\n}"
    other = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: x + 1)
    one = build(text, BASE, level=1, symbols=GIVEN)
    two = build(text, BASE, level=1, symbols={"given": ctypes.cast(other, ctypes.c_void_p).value or 0})
    results = [function(code, "f", ctypes.c_int64, ctypes.c_int64)(10) for code in (one, two)]
    assert results == [30, 11]


def test_a_target_that_does_not_run_here() -> None:
    with pytest.raises(UnsupportedError, match=r"aarch64 \(aarch64-unknown-linux-gnu\) does not run on this machine"):
        build(ADD, named_target("aarch64"))


def test_no_llvmlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the cache still runs; what is not says how to get the compiler."""
    code = build(ADD + "; in the cache", BASE, level=1)
    del code
    codegen._binding.cache_clear()
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    try:
        assert build(ADD + "; in the cache", BASE, level=1).address("add")
        with pytest.raises(MissingDependency, match="pip install llvmlite"):
            build(ADD + "; not in the cache", BASE, level=1)
    finally:
        codegen._binding.cache_clear()


def test_threads_compile_a_text_once() -> None:
    text = ADD + "; for threads"
    before = compile_count()
    start = threading.Barrier(16)
    found = []

    def work() -> None:
        with options.override(cache=False):
            start.wait()
            found.append(build(text, BASE, level=1))

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(code) for code in found}) == 1
    assert compile_count() == before + 1


def ended(child: int, seconds: float = 60.0) -> int:
    """How a child process ended; one that hangs is killed."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def test_a_fork_while_another_thread_compiles() -> None:
    """The child can compile: the fork waited until nobody did."""
    stop = threading.Event()

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            assemble(VARIETY + f"; {number}", BASE, level=3)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(4):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    add = function(build(ADD + "; of a child", BASE, level=1), "add", *[ctypes.c_int64] * 3)
                    status = 0 if add(20, 22) == 42 else 2
                finally:
                    os._exit(status)
            assert ended(child) == 0
    finally:
        stop.set()
        thread.join()
