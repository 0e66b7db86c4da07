"""Programs by the thousand, too large for memory, in many threads at once, and after a fork."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.compiler import pipeline
from twofold.errors import OutOfMemory
from twofold.runtime import memory_size as memory_size_module
from twofold.runtime.loader import NativeCode
from twofold.support import options

FULL = os.environ.get("TWOFOLD_TESTS") == "full"


def values(*shape: int, seed: int = 0) -> Any:
    return twofold.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


# --- many programs

MANY = """
import gc, sys
import twofold
from twofold.runtime.loader import NativeCode

def state():
    gc.collect()
    resident = int(open("/proc/self/statm").read().split()[1]) * 4
    objects = gc.get_objects()
    return resident, len(open("/proc/self/maps").readlines()), len(objects), sum(type(x) is NativeCode for x in objects)

count, x = int(sys.argv[1]), twofold.ones(16)
for i in range(count):
    program = twofold.trace(lambda x: (x * float(i) + 1.0).tanh().sum(), (x,), check=False).compile()
    program(x)
    if i == count // 4:
        before = state()
after = state()
print(*(b - a for a, b in zip(before, after)), after[3])
"""


@pytest.mark.slow
@pytest.mark.parametrize("cached", [False, True], ids=["compiled", "cached"])
def test_programs_made_and_dropped(tmp_path: Any, cached: bool) -> None:
    """Memory stays flat: no mapping and no object is left of a program that is gone. LLVM keeps about 2 KB for each module compiled."""
    count = 10_000 if FULL else 160
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TWOFOLD_CACHE_DIR": str(tmp_path),
        "TWOFOLD_CACHE": str(int(cached)),
    }
    for _ in range(1 + cached):
        done = subprocess.run([sys.executable, "-c", MANY, str(count)], capture_output=True, text=True, env=environment, timeout=3000)
        assert done.returncode == 0, done.stderr
    kilobytes, mappings, objects, codes = map(int, done.stdout.split()[:4])
    assert kilobytes < 4000 + 3 * count
    assert mappings < 20
    assert objects < 500
    assert codes <= 0


def test_native_code_goes_with_its_program() -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(x) is NativeCode for x in gc.get_objects())

    x = values(7)
    twofold.trace(lambda x: x * 3.25, (x,)).compile()(x)  # what every program shares is loaded
    before = alive()
    program = twofold.trace(lambda x: x * 4.125 - 1, (x,)).compile()
    program(x)
    assert alive() == before + 1
    del program
    assert alive() == before


CALL_KEPT = """
import gc
import numpy as np
import twofold
x = twofold.arange(100.0)
program = twofold.trace(lambda x: (x * 2 + 1).sum(), (x,)).compile()
call, into = program.__call__, program.run_into
del program
gc.collect()
others = [twofold.trace(lambda x: x * float(i) + 7, (x,)).compile() for i in range(8)]  # would take its place in memory
out = np.zeros((), np.float32)
into([out], x)
print(call(x).item(), out)
"""


def test_a_bound_call_keeps_the_code() -> None:
    """In a process of its own, since code that is gone would crash it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CALL_KEPT], capture_output=True, text=True, env=environment, timeout=120)
    assert (done.returncode, done.stdout) == (0, "10000.0 10000.0\n"), done.stderr


# --- too large


def outer_product(a: Any, b: Any) -> Any:
    return a[:, None] * b[None, :]


TOO_LARGE: dict[str, Callable[[Any, Any], Any]] = {
    "an output": outer_product,
    "a temporary": lambda a, b: outer_product(a, b).cumsum(0).sum(),
    "a temporary of a host step": lambda a, b: (outer_product(a, b) @ b).sum(),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_large_for_memory(name: str) -> None:
    """It is said before anything runs, with what takes the memory: 36 TB here."""
    a, b = twofold.ones(3_000_000), twofold.ones(3_000_000)
    graph = twofold.trace(TOO_LARGE[name], (a, b), check=False)
    with pytest.raises(
        OutOfMemory, match=r"a run takes \d{14,} bytes .* this machine has \d+; the largest: \w+ \(\d{14,} bytes\)"
    ) as caught:
        graph.compile()
    assert isinstance(caught.value, MemoryError)
    assert graph.compile(target="aarch64").kernels, "it can be written for another machine"


def test_what_is_fused_needs_no_memory() -> None:
    """The same product, summed where it is made: nothing of it is stored, so it compiles. (It would run for hours.)"""
    a = twofold.ones(3_000_000)
    assert twofold.trace(lambda a, b: outer_product(a, b).sum(), (a, a), check=False).compile().memory.peak < 1 << 20


def test_the_limit_is_this_machine_s(monkeypatch: pytest.MonkeyPatch) -> None:
    x = values(100, 100)
    graph = twofold.trace(lambda x: (x * 2).sort(1).values.sum(), (x,))
    need = graph.compile().memory.peak
    assert need >= 40_000
    for size, fits in ((need + 100, True), (need - 1, False)):
        monkeypatch.setattr(pipeline, "memory_size", lambda size=size: size)
        if fits:
            graph.compile()
        else:
            with pytest.raises(OutOfMemory, match=f"this machine has {size}"):
                graph.compile()


NO_MEMORY_LEFT = """
import resource
import twofold
x = twofold.ones(2000, 1000)
program = twofold.trace(lambda x: (x * 2).sort(1).values.cumsum(0).sum(), (x,), check=False).compile()
before = resource.getrlimit(resource.RLIMIT_AS)
used = int(open("/proc/self/statm").read().split()[0]) * 4096
for limits in ((used + (1 << 23), before[1]), before):
    resource.setrlimit(resource.RLIMIT_AS, limits)
    try:
        print(program(x).item())
    except twofold.errors.OutOfMemory as error:
        print(str(error).splitlines()[0])
"""


def test_the_system_gives_no_memory() -> None:
    """A run that gets no memory raises, and the program works again when there is some."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", NO_MEMORY_LEFT], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("the ")
    assert first.endswith(" bytes that a run of this program needs for its temporaries cannot be had")
    assert float(second) == pytest.approx(2000 * 2001 * 1000, rel=1e-5)


def test_memory_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """A control group's limit counts where it is lower than the machine's memory."""
    measure = memory_size_module.memory_size.__wrapped__
    missing, unlimited, limited = (str(tmp_path / name) for name in ("missing", "unlimited", "limited"))
    (tmp_path / "unlimited").write_text("max\n")
    (tmp_path / "limited").write_text("67108864\n")
    monkeypatch.setattr(memory_size_module, "CONTROL_GROUP_FILES", (missing, unlimited))
    assert measure() >= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr(memory_size_module, "CONTROL_GROUP_FILES", (unlimited, limited))
    assert measure() == 1 << 26


# --- threads


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Runs `work(0)`, …, `work(count - 1)` at once; raises the first error of any."""
    start, errors = threading.Barrier(count), []

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_one_program_in_32_threads() -> None:
    """Each call has memory of its own: temporaries of one never show in another's result."""

    def function(x: Any, i: Any) -> Any:
        return (x * 2).sort(1).values.cumsum(1)[i] + x.softmax(1)[i]

    index = twofold.tensor([3, 1, 4])
    inputs = [values(8, 50, seed=seed) for seed in range(32)]
    graph = twofold.trace(function, (inputs[0], index))
    program = graph.compile()
    wanted = [program(x, index).numpy().copy() for x in inputs]
    np.testing.assert_allclose(wanted[5], graph(inputs[5], index).numpy(), rtol=1e-4, atol=1e-5)

    def work(number: int) -> None:
        for _ in range(25):
            np.testing.assert_array_equal(program(inputs[number], index).numpy(), wanted[number])

    in_threads(32, work)


def test_32_threads_compile_at_once() -> None:
    """Half of them the same graph, the others each its own."""
    x = values(6, 20)
    shared = twofold.trace(lambda x: x.softmax(1) * 2, (x,))
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        with options.override(cache=False):
            graph = shared if number % 2 else twofold.trace(lambda x: (x * float(number)).tanh().sum(1), (x,))
            results[number] = graph.compile()(x).numpy()

    in_threads(32, work)
    for number, result in results.items():
        wanted = shared(x).numpy() if number % 2 else np.tanh(x.numpy() * np.float32(number)).sum(1)
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    assert len(results) == 32


def test_threads_make_call_and_drop_programs() -> None:
    """Code is unmapped in one thread while others run theirs."""
    x = values(30)

    def work(number: int) -> None:
        for i in range(4):
            factor = float(10 * number + i)
            program = twofold.trace(lambda x, factor=factor: x * factor + 1, (x,), check=False).compile()
            for _ in range(20):
                np.testing.assert_allclose(program(x).numpy(), x.numpy() * np.float32(factor) + 1, rtol=1e-5, atol=1e-5)

    in_threads(8, work)


# --- forks


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


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_after_compiling() -> None:
    """The child runs the program (large enough for several threads), and compiles another; so does the parent afterwards."""
    x = values(300, 700)
    program = twofold.trace(lambda x: x.softmax(1), (x,)).compile()
    wanted = program(x).numpy().copy()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            same = np.array_equal(program(x).numpy(), wanted)
            other = twofold.trace(lambda x: x * 3.5, (x,), check=False).compile()(x)
            status = 0 if same and np.array_equal(other.numpy(), x.numpy() * np.float32(3.5)) else 2
        finally:
            os._exit(status)
    assert ended(child) == 0
    np.testing.assert_array_equal(program(x).numpy(), wanted)


def test_programs_with_host_steps_die_without_the_collector() -> None:
    x = twofold.ones(4, 4)
    gc.collect()
    gc.disable()
    try:
        program = twofold.trace(lambda x: (x @ x).relu(), (x,)).compile()
        program(x)
        assert program.executable.assembly.hosts
        gone = weakref.ref(program.executable)
        del program
        assert gone() is None
    finally:
        gc.enable()
