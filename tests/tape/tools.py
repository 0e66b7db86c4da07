"""Small things the engine's tests share."""

from __future__ import annotations

from typing import Any

import numpy as np

import twofold.tensors.methods  # noqa: F401  (fills the vocabulary and the public functions)
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.nodes import new_leaf

sin, cos, tanh, log = (FUNCTIONS[name] for name in ("sin", "cos", "tanh", "log"))


def leaf(value: Any, dtype: Any = np.float64) -> Tensor:
    """A leaf that requires grad."""
    t = wrap(np.array(value, dtype))
    new_leaf(t)
    return t


def const(value: Any, dtype: Any = np.float64) -> Tensor:
    """A tensor that does not require grad."""
    return wrap(np.array(value, dtype))


def values(t: Any) -> np.ndarray:
    """A tensor's data; fails on None."""
    assert t is not None
    return np.asarray(t._array)


def total(t: Tensor) -> Tensor:
    """The sum of all elements."""
    return FUNCTIONS["sum"](t)  # type: ignore[no-any-return]
