"""Logs by artifact: say which things you want to see, and each is written when it is made.

    TWOFOLD_LOGS=graph,passes python program.py
    twofold.support.logs.set_logs("graph", "passes")

A part of the package writes with `LOG = artifact_log("graph")` and `if LOG.enabled: LOG.info(...)`: an attribute test when off.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from twofold.support.errors import ArgumentError

ARTIFACTS = {
    "graph": "each static graph, once it is recorded",
    "passes": "each pass that changes a graph: its rule, before and after",
    "trace": "each operation while it is recorded, with the user's line",
    "backward": "each run of the backward engine",
    "fusion": "each decision of the compiler's planner: what is stored, joined, refused, left to the host, and why",
    "kernels": "each kernel of a compiled program: what it computes, with the user's lines, and its schedule",
    "memory": "the memory plan of each compiled program",
    "code": "the LLVM text of each compiled program",
}
"""The artifacts there are. Who writes a new kind of log adds a row here."""

ENV = "TWOFOLD_LOGS"


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One message of one artifact."""

    artifact: str
    text: str

    def __str__(self) -> str:
        return "\n".join(f"[{self.artifact}] {line}" for line in self.text.split("\n"))


Sink = Callable[[LogRecord], None]


def to_stderr(record: LogRecord) -> None:
    """The sink used unless another is given: standard error, the artifact's name before each line."""
    print(record, file=sys.stderr, flush=True)


class ArtifactLog:
    """The log of one artifact. `enabled` says whether anybody reads it."""

    __slots__ = ("enabled", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.enabled = False

    def info(self, text: str | Callable[[], str], *arguments: object) -> None:
        """Writes `text % arguments` if the log is enabled; a function is called for its text only then."""
        if self.enabled:
            filled = text() if callable(text) else text
            _state.sink(LogRecord(self.name, filled % arguments if arguments else filled))


class _State:
    """Where messages go. Which logs are enabled stands in the logs themselves."""

    __slots__ = ("lock", "sink")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.sink: Sink = to_stderr


_state = _State()
_logs = {name: ArtifactLog(name) for name in ARTIFACTS}


def artifact_log(name: str) -> ArtifactLog:
    """The log of an artifact; ArgumentError naming the known ones if there is no such artifact."""
    return _logs[_known(name)]


def _known(name: str, where: str = "") -> str:
    if name not in _logs:
        raise ArgumentError(f"no log artifact is named {name!r}{where}; known: {', '.join(_logs)}")
    return name


def enabled_logs() -> list[str]:
    """The artifacts that are written now."""
    return [name for name, log in _logs.items() if log.enabled]


def set_logs(*names: str, to: Sink | None = None) -> None:
    """Writes exactly these artifacts from now on, in the whole process, to the function `to` (standard error unless given). No names: off.
    Raises ArgumentError, changing nothing, if a name is unknown."""
    _enable([_known(name) for name in names], to or to_stderr)


def _enable(names: list[str], sink: Sink) -> None:
    with _state.lock:
        _state.sink = sink
        for name, log in _logs.items():
            log.enabled = name in names


@contextmanager
def logs_set(*names: str, to: Sink | None = None) -> Iterator[None]:
    """`set_logs` for the block, in the whole process."""
    before, sink = enabled_logs(), _state.sink
    set_logs(*names, to=to)
    try:
        yield
    finally:
        _enable(before, sink)


def reset() -> None:
    """Back to what the environment variable TWOFOLD_LOGS says: artifacts separated by commas, or `all`."""
    wanted = [word for part in os.environ.get(ENV, "").split(",") if (word := part.strip())]
    names = list(_logs) if wanted == ["all"] else [_known(name, f" (in the environment variable {ENV})") for name in wanted]
    _enable(names, to_stderr)


reset()
