"""NumPy's names `axis` and `keepdims` in place of `dim` and `keepdim`, as PyTorch accepts them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold
from twofold.support.errors import ArgumentError
from twofold.tensors.functions import FUNCTIONS, METHODS, WITH_AXIS

REDUCTIONS = (
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumprod", "cumsum", "log_softmax", "logcumsumexp",
    "logsumexp", "mean", "nansum", "prod", "softmax", "sum",
)  # fmt: skip
MORE: dict[str, tuple[Any, ...]] = {"kthvalue": (1,), "topk": (1,), "quantile": (0.5,), "nanquantile": (0.5,), "norm": (2,)}
LISTS = ("cat", "concat", "concatenate", "stack")
KEEP = {"all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "mean", "prod", "sum", "std", "var", "norm", "max", "median"}
X = twofold.tensor(np.random.default_rng(0).standard_normal((1, 3, 4)))


def plain(value: Any) -> Any:
    """Results as arrays."""
    return [t.numpy() for t in (value if isinstance(value, tuple) else (value,))]


def same(a: Any, b: Any) -> None:
    for x, y in zip(plain(a), plain(b), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", sorted({*REDUCTIONS, *WITH_AXIS}))
def test_axis_means_dim(name: str) -> None:
    function, given = FUNCTIONS[name], MORE.get(name, ())
    operand: Any = [X, X] if name in LISTS else X
    for dim in (0, -1):
        same(function(operand, *given, axis=dim), function(operand, *given, dim=dim))
        if hasattr(X, name) and name not in LISTS:
            same(getattr(X, name)(*given, axis=dim), function(operand, *given, dim=dim))
    if name in KEEP:
        same(function(X, *given, axis=1, keepdims=True), function(X, *given, dim=1, keepdim=True))


def test_nothing_else_changes() -> None:
    assert X.sum(axis=(0, 2)).shape == (3,)
    assert twofold.max(X, twofold.zeros(4)).shape == X.shape
    traced = twofold.trace(lambda x: x.sum(axis=1).softmax(axis=0), (X,))
    same(traced(X), X.sum(1).softmax(0))
    for call in (lambda: X.cumsum(), lambda: twofold.softmax(X)):
        with pytest.raises(ArgumentError, match="missing the argument 'dim'"):
            call()
    with pytest.raises(TypeError):
        X.max(dim=1, axis=1)
    assert set(WITH_AXIS) <= {*FUNCTIONS, *METHODS}
