"""Process state of dispatch: what an operation must ask before it may take its fast path.

`MODE.special` counts the active contexts, over all threads, in which an operation needs the generic path (recording into a graph,
anomaly mode, saved-tensor hooks, autocast, …). It is a hint: while it is zero no thread is in such a context; when it is not, the
generic path asks the context variables, which are exact for each thread and task. Gradient mode is a context variable of its own,
read only after an operand turned out to have a graph behind it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_lock = threading.Lock()


class Mode:
    """The one process-wide flag of the fast path; see the module's text."""

    __slots__ = ("special",)

    def __init__(self) -> None:
        self.special = 0


MODE = Mode()
GRAD: ContextVar[bool] = ContextVar("twofold_grad", default=True)
INFERENCE: ContextVar[bool] = ContextVar("twofold_inference", default=False)
RECORDER: ContextVar[Any] = ContextVar("twofold_recorder", default=None)
"""The recorder that symbols are written to, or None: an object with the methods of `tensor.recorder.Recorder`."""
ANOMALY: ContextVar[Any] = ContextVar("twofold_anomaly", default=None)
"""None, or an object with a bool `check_nan`: nodes then remember their whole Python stack."""
SAVED_HOOKS: ContextVar[Any] = ContextVar("twofold_saved_hooks", default=None)
"""None, or a (pack, unpack) pair applied to every tensor saved for backward."""
AUTOCAST: ContextVar[Any] = ContextVar("twofold_autocast", default=None)
"""None, or an object whose `cast(op, inputs)` gives the operands in the dtypes autocast wants them in."""

grad_enabled = GRAD.get


def add_special(step: int) -> None:
    """Count one context more (1) or less (-1) that needs the generic path; see `Mode`."""
    with _lock:
        MODE.special += step


@contextmanager
def special(variable: ContextVar[Any], value: Any) -> Iterator[Any]:
    """Set a context variable for the block and send operations of all threads down the generic path meanwhile."""
    token = variable.set(value)
    add_special(1)
    try:
        yield value
    finally:
        add_special(-1)
        variable.reset(token)


@contextmanager
def grad_mode(enabled: bool) -> Iterator[None]:
    """Gradient recording on or off for the block."""
    token = GRAD.set(enabled)
    try:
        yield
    finally:
        GRAD.reset(token)
