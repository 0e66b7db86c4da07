"""What the cases of views, in-place writes and gradients share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold as tf
from twofold.support.errors import InplaceError


def leaf(value: Any = (1.0, 2.0, 3.0, 4.0)) -> tf.Tensor:
    return tf.tensor(np.array(value, np.float64), requires_grad=True)


def const(value: Any) -> tf.Tensor:
    return tf.tensor(np.array(value, np.float64))


def count(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


def holds(t: Any, expected: Any) -> None:
    assert t is not None
    np.testing.assert_allclose(t.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


def refuses(kind: str, action: Any, *words: str) -> str:
    """The action raises InplaceError of this kind; returns the message, which names the caller's line."""
    with pytest.raises(InplaceError) as caught:
        action()
    assert caught.value.kind == kind, caught.value
    message = str(caught.value)
    for word in (*words, "tests/mutation/test_"):
        assert word in message, message
    return message


def eager(fn: Any, *inputs: Any) -> Any:
    return fn(*inputs)


def recorded(fn: Any, *inputs: Any) -> Any:
    return tf.trace(fn, inputs, check=False)(*inputs)


both = pytest.mark.parametrize("run", [eager, recorded])
"""The case holds for the function itself and for its recorded graph."""
