"""The thread pool: every chunk runs once, on any number of threads, through forks, signals, exits and changes of its size."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import twofold
from tests.runtime.launches import Launcher, os_threads
from tests.test_architecture import PACKAGE, environment
from twofold.compiler.pipeline import compile_graph
from twofold.errors import ArgumentError, ValueRangeError
from twofold.runtime.pool import pool

ROOT = PACKAGE.parent.parent


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = twofold.get_num_threads()
    yield
    twofold.set_num_threads(before)


def run(script: str, threads: int | str = 2, timeout: float = 60.0, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a new process and session (so that SIGINT is not ignored there)."""
    text = "from tests.runtime.launches import *\nimport os, signal, sys, threading, time, twofold\n" + textwrap.dedent(script)
    given = environment() | {"PYTHONPATH": f"{PACKAGE.parent}:{ROOT}", "TWOFOLD_NUM_THREADS": str(threads)} | variables
    command = [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", "-c", text]
    return subprocess.run(command, capture_output=True, text=True, env=given, timeout=timeout, start_new_session=True)


def lines(script: str, threads: int | str = 2, **variables: str) -> list[str]:
    """What a script prints that ends well and says nothing on standard error."""
    result = run(script, threads, **variables)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


# --- launches


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_chunk_runs_once(threads: int) -> None:
    twofold.set_num_threads(threads)
    launcher = Launcher(300)
    expected = np.zeros(300, np.int64)
    for chunks in (0, 1, 2, 3, 5, 7, 8, 9, 64, 300):
        for _ in range(20):
            launcher.launch("count", chunks)
        expected[:chunks] += 20
        np.testing.assert_array_equal(launcher.out, expected)


def test_native_loops_of_launches() -> None:
    """Jobs follow one another faster than workers leave the last."""
    twofold.set_num_threads(4)
    launcher = Launcher(9)
    for chunks in (2, 3, 4, 9):
        launcher.repeat(5000, "count", chunks)
    assert launcher.out.tolist() == [20000, 20000, 15000, 10000, 5000, 5000, 5000, 5000, 5000]


def test_several_threads_take_part() -> None:
    twofold.set_num_threads(3)
    launcher = Launcher(60)
    launcher.launch("who", 60)
    assert len(set(launcher.out.tolist())) == 3
    assert int(pool().count_workers()) == 2


def test_results_of_programs_do_not_depend_on_threads() -> None:
    x = twofold.tensor(np.random.default_rng(0).standard_normal((300, 1500)).astype(np.float32))

    def f(x: Any) -> Any:
        y = twofold.tanh(x * 1.5).softmax(1)
        return y, y.sum(0), (x * y).sum(), x.softmax(0).var()

    program, _ = compile_graph(twofold.trace(f, (x,), check=False).graph)
    results = []
    for threads in (1, 2, 4, 7):
        twofold.set_num_threads(threads)
        results.append([r.tobytes() for r in program.run(x.numpy())])
    assert all(r == results[0] for r in results)


def test_workers_use_the_callers_rounding_and_denormals() -> None:
    """Where the calling thread flushes denormals to zero, all chunks do; and again none, when it does not."""
    before, flushing = ctypes.c_uint32(), ctypes.c_uint32()
    twofold.set_num_threads(2)
    launcher = Launcher(64, np.float64)
    get, set_ = (ctypes.CFUNCTYPE(None, ctypes.c_void_p)(launcher.code.address(name)) for name in ("get_modes", "set_modes"))
    get(ctypes.byref(before))
    for flags, zeros in ((0x8040, True), (0, False), (0x8040, True)):  # FTZ and DAZ
        flushing.value = before.value | flags
        set_(ctypes.byref(flushing))
        try:
            launcher.repeat(50, "denormal", 64)
        finally:
            set_(ctypes.byref(before))
        seen = launcher.out.view(np.int64)[:8]  # compared as bits
        assert (seen == 0).all() == zeros


def test_many_python_threads_at_once() -> None:
    twofold.set_num_threads(2)
    launchers = [Launcher(16) for _ in range(32)]
    start = threading.Barrier(32)

    def work(launcher: Launcher) -> None:
        start.wait()
        for _ in range(10):
            launcher.repeat(50, "count", 16)

    users = [threading.Thread(target=work, args=(launcher,)) for launcher in launchers]
    for t in users:
        t.start()
    for t in users:
        t.join()
    assert all((launcher.out == 500).all() for launcher in launchers)


# --- the number of threads


def test_changes_while_others_run() -> None:
    stop = threading.Event()
    launchers = [Launcher(12) for _ in range(3)]
    rounds = [0, 0, 0]

    def work(i: int) -> None:
        while not stop.is_set():
            launchers[i].repeat(20, "count", 12)
            rounds[i] += 20

    twofold.set_num_threads(2)
    users = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for t in users:
        t.start()
    for i in range(200):
        twofold.set_num_threads(1 + i * 7 % 5)
    stop.set()
    for t in users:
        t.join()
    assert [launcher.out.tolist() for launcher in launchers] == [[r] * 12 for r in rounds]


def test_threads_do_not_pile_up() -> None:
    twofold.set_num_threads(1)
    launcher = Launcher(8)
    time.sleep(0.05)  # until workers of the test before are no longer listed
    base = os_threads()
    for i in range(200):
        twofold.set_num_threads(1 + i % 4)
        launcher.launch("count", 8)
        assert os_threads(base + i % 4) == base + i % 4
    twofold.set_num_threads(1)
    assert os_threads(base) == base
    assert (launcher.out == 200).all()


def test_workers_start_when_there_is_work_for_them() -> None:
    script = """
        launcher = Launcher(4)
        base = os_threads()
        launcher.launch("count", 1)
        print(os_threads() - base)
        launcher.launch("count", 2)
        print(os_threads() - base)
    """
    assert lines(script, threads=4) == ["0", "3"]


@pytest.mark.parametrize("number", [0, -1, 1025, 1 << 40])
def test_numbers_out_of_range(number: int) -> None:
    with pytest.raises(ValueRangeError, match="1 to 1024"):
        twofold.set_num_threads(number)


@pytest.mark.parametrize("number", [2.0, "2", None, True])
def test_what_is_no_number(number: Any) -> None:
    with pytest.raises(ArgumentError, match="is an int"):
        twofold.set_num_threads(number)


def test_the_system_refuses_threads() -> None:
    """With no memory for stacks, a launch warns once and runs on the threads that there are."""
    script = """
        import resource, warnings
        launcher = Launcher(600)
        launcher.launch("count", 600)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (20 << 20), resource.RLIM_INFINITY))
        twofold.set_num_threads(300)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            launcher.launch("count", 600)
            launcher.launch("count", 600)
        print(len(caught), "pthread_create" in str(caught[0].message), 2 <= twofold.get_num_threads() < 300)
        twofold.set_num_threads(301)
        try:
            launcher.launch("count", 600)
        except RuntimeWarning:
            print("raised")
        launcher.launch("count", 600)
        print((launcher.out == 4).all())
    """
    assert lines(script) == ["1", "True", "True", "raised", "True"]


# --- signals


INTERRUPT = """
    launcher = Launcher(30000)
    launcher.launch("count", 2)
    def strike():
        while launcher.out[100] == 0:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=strike).start()
    try:
        {call}
        print("finished")
    except KeyboardInterrupt:
        print("interrupted", launcher.out[100:].max(), (launcher.out == 0).any())
    launcher.out[:] = 0
    launcher.launch("count", 30000)
    print((launcher.out == 1).all())
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_within_a_launch(threads: int) -> None:
    script = INTERRUPT.format(call="launcher.launch('slow', 30000)")
    assert lines(script, threads) == ["interrupted", "1", "True", "True"]


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_between_launches(threads: int) -> None:
    script = INTERRUPT.format(call="launcher.repeat(1 << 60, 'count', 101)")
    interrupted, most, _, works_after = lines(script, threads)
    assert (interrupted, int(most) > 1, works_after) == ("interrupted", True, "True")


def test_handlers_that_do_not_raise_let_launches_go_on() -> None:
    script = """
        launcher, inner = Launcher(100), Launcher(50)
        seen = []
        def handler(number, frame):
            inner.launch("count", 50)  # a launch inside a launch
            twofold.set_num_threads(1)
            seen.append(number)
        signal.signal(signal.SIGUSR1, handler)
        def strike():
            while launcher.out[10] == 0:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGUSR1)
        threading.Thread(target=strike).start()
        launcher.launch("slow", 100)
        inner.launch("count", 50)  # ends the worker, which the handler could not
        print(seen == [signal.SIGUSR1], (launcher.out == 1).all(), (inner.out == 2).all(), os_threads(1))
    """
    assert lines(script) == ["True", "True", "True", "1"]


def test_ctrl_c_in_a_host_step_is_not_lost() -> None:
    """The callback of ctypes drops what is raised before its first line; the program ends with KeyboardInterrupt all the same."""
    script = """
        import ctypes
        from twofold.runtime.pool import Context
        calls = []
        def callback(context, step):
            calls.append(step)
            return {answer}
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(callback)
        context = Context(ctypes.cast(function, ctypes.c_void_p).value)
        step = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(pool().code.address("host_step"))
        print(step(context.address, 3), calls)
        try:
            context.raise_stopped(1)
        except KeyboardInterrupt:
            print("interrupted")
    """
    assert lines(script.format(answer=1)) == ["0", "[3]", "interrupted"]
    assert lines(script.format(answer=0)) == ["1", "[3]", "interrupted"]


def test_workers_take_no_signals() -> None:
    script = """
        launcher = Launcher(20)
        launcher.launch("slow", 20)
        for task in Path("/proc/self/task").iterdir():
            if int(task.name) != os.getpid():
                status = (task / "status").read_text()
                blocked = int(status.split("SigBlk:")[1].split()[0], 16)
                print(*(blocked >> s - 1 & 1 for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGSEGV)))
    """
    assert lines(script) == ["1", "1", "1", "1", "0"]


# --- forks


def test_a_child_starts_workers_of_its_own() -> None:
    script = """
        launcher = Launcher(40)
        launcher.launch("slow", 40)
        if os.fork() == 0:
            alone = os_threads()
            launcher.launch("slow", 40)
            who = Launcher(40)
            who.launch("who", 40)
            os._exit(0 if (launcher.out == 2).all() and (alone, os_threads(), len(set(who.out))) == (1, 3, 3) else 1)
        print(os.wait()[1])
        launcher.launch("slow", 40)
        print((launcher.out == 2).all(), os_threads())
    """
    assert lines(script, threads=3) == ["0", "True", "3"]


def test_forks_during_another_threads_launch() -> None:
    script = """
        launcher, mine = Launcher(8), Launcher(8)
        stop = threading.Event()
        def work():
            while not stop.is_set():
                launcher.repeat(100, "count", 8)
        thread = threading.Thread(target=work)
        thread.start()
        bad = 0
        for i in range(30):
            child = os.fork()
            if child == 0:
                twofold.set_num_threads(2 + i % 2)
                mine.launch("count", 8)
                mine.launch("count", 8)
                os._exit(0 if (mine.out == 2).all() and os_threads() == 2 + i % 2 else 1)
            bad += os.waitpid(child, 0)[1] != 0
        stop.set()
        thread.join()
        print(bad, len(set(launcher.out.tolist())))
    """
    assert lines(script) == ["0", "1"]


def test_a_fork_in_a_signal_handler_inside_a_launch() -> None:
    """The parent's launch goes on; the child, which lacks the threads that hold its chunks, is told so."""
    script = """
        from twofold.errors import UnsupportedError
        launcher = Launcher(100)
        children = []
        signal.signal(signal.SIGUSR1, lambda *_: children.append(os.fork()))
        def strike():
            while launcher.out[10] == 0:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGUSR1)
        threading.Thread(target=strike).start()
        try:
            launcher.launch("slow", 100)
        except UnsupportedError:
            launcher.out[:] = 0
            launcher.launch("slow", 100)
            os._exit(7 if children == [0] and (launcher.out == 1).all() else 8)
        print(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]), (launcher.out == 1).all())
    """
    assert lines(script) == ["7", "True"]


# --- exits


EXITS = {
    "asleep": ("time.sleep(0.05)", 0),
    "spinning": ("launcher.launch('count', 2)", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "os._exit": ("os._exit(4)", 4),
    "a thread exits": ("t = threading.Thread(target=lambda: (launcher.launch('count', 2), sys.exit(5))); t.start(); t.join()", 0),
    "a daemon runs": ("threading.Thread(target=other.repeat, args=(1 << 60, 'count', 2), daemon=True).start(); time.sleep(0.02)", 0),
    "a daemon runs slowly": ("threading.Thread(target=other.launch, args=('nap', 1 << 40), daemon=True).start(); time.sleep(0.02)", 0),
    "a daemon runs host steps": (
        "step = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(lambda c, n: 1);"
        "context = Context(ctypes.cast(step, ctypes.c_void_p).value);"
        "threading.Thread(target=steps, args=(context, 1 << 60), daemon=True).start(); time.sleep(0.02)", 0,
    ),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "at exit": ("import atexit; atexit.register(launcher.repeat, 1000, 'count', 2)", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", EXITS)
def test_processes_end_cleanly(name: str) -> None:
    how, code = EXITS[name]
    script = f"""
        launcher = Launcher(2)
        other = Launcher(2)
        launcher.repeat(100, "count", 2)
        {how}
    """
    result = run(script)
    assert (result.returncode, result.stdout, result.stderr) == (code, "", "")


def test_ctrl_c_ends_a_program() -> None:
    """Loops that would not end, one of them with an operation that has no kernel (NumPy runs it)."""
    script = """
        from twofold.compiler.pipeline import compile_graph
        x = twofold.ones(3, 3)
        for step in (lambda x: x * 0.5, lambda x: twofold.linalg.inv(x + twofold.eye(3))):
            def f(i, x):
                return twofold.while_loop(lambda i, x: i < 1 << 60, lambda i, x: (i + 1, step(x)), (i, x))
            executable, _ = compile_graph(twofold.trace(f, (twofold.tensor(0), x), check=False).graph)
            try:
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                executable.run(np.array(0), x.numpy())
            except KeyboardInterrupt:
                print("interrupted")
    """
    assert lines(script) == ["interrupted", "interrupted"]
