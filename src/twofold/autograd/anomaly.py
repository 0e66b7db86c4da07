"""Anomaly mode: nodes remember their Python stack, and backward stops at the first node that makes a NaN."""

from __future__ import annotations

import traceback

from twofold.ir.mode import ANOMALY, add_special
from twofold.support.errors import user_frame


class Anomaly:
    """What is in force: whether gradients are tested for NaN."""

    __slots__ = ("check_nan",)

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def stack(self) -> str:
        """The user's Python stack, as text."""
        return "".join(traceback.format_stack(user_frame(1)))


def _put(value: Anomaly | None) -> Anomaly | None:
    """Set the mode of this thread or task; returns the former one."""
    before: Anomaly | None = ANOMALY.get()
    ANOMALY.set(value)
    add_special((value is not None) - (before is not None))
    return before


class detect_anomaly:  # noqa: N801  (PyTorch's name)
    """Context manager: operations inside remember the stack of their call, and a backward inside that meets an error shows it.

    check_nan: raise AutogradError at the first node that returns NaN, naming the forward call.
    Meant for looking for a fault: everything runs slower.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = bool(check_nan)
        self._before: list[Anomaly | None] = []

    def __enter__(self) -> None:
        self._before.append(_put(Anomaly(self.check_nan)))

    def __exit__(self, *exc: object) -> None:
        _put(self._before.pop())


class set_detect_anomaly:  # noqa: N801  (PyTorch's name)
    """Anomaly mode on or off, at once; as a context manager until the block ends. See `detect_anomaly`."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _put(Anomaly(bool(check_nan)) if mode else None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _put(self._before)


def is_anomaly_enabled() -> bool:
    """True while anomaly mode is on here."""
    return ANOMALY.get() is not None


def is_anomaly_check_nan_enabled() -> bool:
    """True while gradients are tested for NaN here."""
    mode: Anomaly | None = ANOMALY.get()
    return mode is not None and mode.check_nan
