"""One program under two libraries: what Twofold and PyTorch do must be equal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.tensors.core import wrap


class Ours:
    """Twofold, with a constructor of the tests' own."""

    name = "twofold"
    errors: Any = RuntimeError

    def __getattr__(self, name: str) -> Any:
        return getattr(twofold, name)

    def make(self, values: Any, requires_grad: bool = True, dtype: Any = np.float64) -> Any:
        t = wrap(np.array(values, dtype))
        return t.requires_grad_() if requires_grad else t


class Theirs:
    """PyTorch."""

    name = "torch"

    def __init__(self) -> None:
        self.torch = pytest.importorskip("torch")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.torch, name)

    def make(self, values: Any, requires_grad: bool = True, dtype: Any = np.float64) -> Any:
        t = self.torch.from_numpy(np.array(values, dtype))
        return t.requires_grad_() if requires_grad else t


def plain(value: Any) -> Any:
    """Tensors as nested lists, node names as text; other things as they are."""
    if hasattr(value, "detach"):
        return np.asarray(value.detach().numpy(), np.float64).tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def assert_equal(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, list):
        assert isinstance(ours, list)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_equal(a, b)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12, nan_ok=True)
    else:
        assert ours == theirs


BUILTIN = (IndexError, TypeError, ValueError, RuntimeError)


def both(program: Callable[[Any], Any]) -> Any:
    """Run `program(library)` under both; returns what ours gave, or "raised <class>": where PyTorch raises, ours raises an error of that
    class too."""
    results: list[Any] = []
    for library in (Theirs(), Ours()):
        try:
            with warnings.catch_warnings():
                if library.name == "torch":
                    warnings.simplefilter("ignore")
                results.append(plain(program(library)))
        except BUILTIN as e:
            results.append(e)
    theirs, ours = results
    if isinstance(theirs, Exception):
        kind = next(k for k in BUILTIN if isinstance(theirs, k))
        assert isinstance(ours, kind), (ours, theirs)
        assert isinstance(ours, twofold.errors.TwofoldError), ours
        return f"raised {kind.__name__}"
    if isinstance(ours, Exception):
        raise ours
    assert_equal(ours, theirs)
    return ours
