"""The thread pool of compiled programs, as Python sees it: its size, and the contexts through which programs reach it.

The pool itself is native code (`pool_code`). Its threads are started by the first launch that has work for them; Python's interpreter does
not know them. There is one pool in a process, for programs of all targets.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, NoReturn

import numpy as np

from twofold.runtime import threads
from twofold.runtime.codegen import build
from twofold.runtime.context_code import CALLBACK_DONE, CONTEXT_DUE, CONTEXT_RAISED, CONTEXT_WORDS, FORKED
from twofold.runtime.pool_code import MAX_THREADS, POOL
from twofold.runtime.target import named_target
from twofold.support.errors import ArgumentError, UnsupportedError, ValueRangeError

SPIN_NS = 100_000
"""How long a thread spins for the next job (or the launcher for the last chunk) before it sleeps: waking takes about 50 µs."""


class Pool:
    """The native pool, loaded. Made once, and never unloaded: its threads are in this code until the process ends."""

    def __init__(self) -> None:
        self.code = build(POOL, named_target("x86-64"), "the thread pool", level=0)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.code))
        self.set_threads = self._function("set_threads", None, ctypes.c_int32, ctypes.c_int64)
        self.count_threads = self._function("count_threads", ctypes.c_int32)
        self.count_workers = self._function("count_workers", ctypes.c_int64)
        self.after_fork = self._function("after_fork", None, ctypes.c_int64)
        self._function("set_main_thread", None, ctypes.c_int64)(threading.main_thread().ident)

    def _function(self, name: str, *types: Any) -> Any:
        return ctypes.CFUNCTYPE(*types)(self.code.address(name))


_pool: Pool | None = None
_threads: int | None = None
"""What `set_num_threads` was given, or what was found when first asked."""
_lock = threading.RLock()
"""Re-entrant: a signal handler may run a program or set the number while this thread does."""


def pool() -> Pool:
    """The pool, loaded when it is first asked for."""
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                loaded = Pool()
                _resize(loaded, _wanted())
                _pool = _pool or loaded
    return _pool


def _wanted() -> int:
    global _threads
    if _threads is None:
        _threads = threads.default_threads()
    return _threads


def _resize(pool: Pool, number: int) -> None:
    pool.set_threads(number, SPIN_NS if number <= threads.usable_cpus() else 0)


def set_num_threads(number: int) -> None:
    """How many threads compiled programs use from now on, the calling one among them; more than there are CPUs is allowed.

    Results do not depend on it. Launches that are running go on as they are. NumPy's own products (eager mode, host steps) have threads of
    their own: OPENBLAS_NUM_THREADS. Raises ArgumentError if `number` is no integer, ValueRangeError if it is not from 1 to 1024.
    """
    global _threads
    if type(number) is not int:
        raise ArgumentError(f"a number of threads is an int, not the {type(number).__name__} {number!r}")
    if not 1 <= number <= MAX_THREADS:
        raise ValueRangeError(f"the number of threads is from 1 to {MAX_THREADS}, not {number}")
    with _lock:
        _threads = number
        if _pool is not None:
            _resize(_pool, number)


def get_num_threads() -> int:
    """How many threads compiled programs use: what `set_num_threads` was given, else the environment variable TWOFOLD_NUM_THREADS, else
    the first number in OMP_NUM_THREADS, else the number of CPUs that this process may keep busy (its affinity and its cgroup's quota).

    Raises ValueRangeError if TWOFOLD_NUM_THREADS is no number from 1 to 1024.
    """
    return _wanted() if _pool is None else int(_pool.count_threads())


class Context:
    """What a run of a program is given besides its pointer table: the runtime's functions, and the state of one run at a time.

    callback: address of the function for host steps, `int32 (void *context, int64 step)`; it returns `CALLBACK_DONE`, or anything else to
              end the run. 0 for a program that has none.
    """

    __slots__ = ("_words", "address")

    def __init__(self, callback: int = 0) -> None:
        code = pool().code
        self._words = np.zeros(CONTEXT_WORDS, np.uint64)
        self._words[:CONTEXT_DUE] = code.address("launch"), code.address("host_step"), code.address("poll"), callback
        self.address: int = self._words.ctypes.data

    def raise_stopped(self, status: int) -> NoReturn:
        """Raises what ended a run with this nonzero status, unless the callback's own exception did: what a signal handler raised."""
        if status == FORKED:
            raise UnsupportedError(
                "a signal handler forked this process while a program ran on several threads; the child does not have them"
            )
        kept = [int(word) for word in self._words[CONTEXT_RAISED:]]
        self._words[CONTEXT_RAISED:] = 0
        if kept[0]:
            ctypes.pythonapi.PyErr_Restore(*map(ctypes.c_void_p, kept))  # ctypes raises it
        raise KeyboardInterrupt  # raised in a host step's callback before its first line, where ctypes drops it


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.RLock()  # another thread of the parent may have held it
    if _pool is not None:
        _pool.after_fork(threading.get_ident())


os.register_at_fork(after_in_child=_after_fork_in_child)

__all__ = ["CALLBACK_DONE", "Context", "Pool", "get_num_threads", "pool", "set_num_threads"]
