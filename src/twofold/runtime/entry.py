"""Frames: the memory of one run of a program, and the call into its native code."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from twofold.runtime import counters
from twofold.runtime.codegen import NativeCode
from twofold.runtime.pool import CALLBACK_DONE, Context
from twofold.runtime.target import Target
from twofold.support.errors import OutOfMemory

_RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_HOST = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)
ALIGN = 64


def aligned_bytes(count: int) -> np.ndarray:
    """Uninitialised bytes that begin at a multiple of 64; OutOfMemory if there are not so many."""
    try:
        raw = np.empty(count + 2 * ALIGN, np.uint8)
    except MemoryError:
        raise OutOfMemory(f"the {count} bytes that a run of this program needs for its temporaries cannot be had") from None
    start = -raw.ctypes.data % ALIGN
    return raw[start : start + count + ALIGN]


def _host_step(frame: weakref.ref[Frame], context: int, number: int) -> int:
    """Called by native code while the frame runs, which whoever made the call holds."""
    running = frame()
    assert running is not None
    return running._step(number)


class Frame:
    """The pointer table and the arena of one run at a time.

    code:   the program; its function `run` is called
    slots:  entries of the table; entry 0 points to the error word
    arena:  slot → offset of a temporary in the arena of `arena_bytes`
    fixed:  slot → address of a constant, kept alive by the caller
    host:   called with the number of a host step; what it raises ends the run and is raised by `call`
    """

    def __init__(
        self, code: NativeCode, target: Target, slots: int, arena_bytes: int, arena: Mapping[int, int], fixed: Mapping[int, int],
        host: Callable[[int, Any], None] | None,
    ) -> None:  # fmt: skip
        self._code = code
        self._run = _RUN(code.address("run"))
        self.table = np.zeros(slots, np.uint64)
        self._error = np.zeros(1, np.int64)
        self._arena = aligned_bytes(arena_bytes)
        base = self._arena.ctypes.data
        self.table[0] = self._error.ctypes.data
        for slot, offset in arena.items():
            self.table[slot] = base + offset
        for slot, address in fixed.items():
            self.table[slot] = address
        self._raised: BaseException | None = None
        # through a weak reference: with a bound method frame and callback would be a cycle, kept until the collector runs
        self._host = _HOST(partial(_host_step, weakref.ref(self))) if host is not None else None
        self._function = host
        callback = ctypes.cast(self._host, ctypes.c_void_p).value if self._host is not None else None
        self._context = Context(callback or 0)
        self.addresses = (self.table.ctypes.data, self._context.address, self._error.ctypes.data)
        """Where table, context and error word are: builtin functions (`runtime.builtin`) make the call themselves."""

    def _step(self, number: int) -> int:
        try:
            assert self._function is not None
            self._function(number, self.table)
        except BaseException as e:
            self._raised = e
            return CALLBACK_DONE + 1
        return CALLBACK_DONE

    def call(self, pointers: Mapping[int, int]) -> int:
        """Run with these addresses in the table; returns the error word (0: no fault). The GIL is released meanwhile."""
        table = self.table
        for slot, address in pointers.items():
            table[slot] = address
        self._error[0] = 0
        counters.NATIVE_CALLS.add()
        status = self._run(*self.addresses[:2])
        if status:
            self.raise_stopped(status)
        return self.error

    @property
    def error(self) -> int:
        """The error word of the last run: 0, or the number of the site in the program that found a fault."""
        return int(self._error[0])

    def raise_stopped(self, status: int) -> None:
        """Raises what ended the run with this status: what a host step raised, or a signal handler (KeyboardInterrupt)."""
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        self._context.raise_stopped(status)
