"""Comparisons whose answer is a Python bool, and second names of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.support.errors import ArgumentError, DTypeError
from twofold.tensors.core import Tensor
from twofold.tensors.generated import comparison as _comparison
from twofold.tensors.generated import reduction as _reduction


def _answer(t: Tensor) -> bool:
    """True if every element is; for a symbol `bool` raises, since the value is not known."""
    return bool(_reduction.all(t))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """True if |input - other| <= atol + rtol * |other| for all elements (see `isclose`); the shapes broadcast, the dtypes must be equal."""
    return _answer(_comparison.isclose(input, other, rtol, atol, equal_nan))


def equal(input: Tensor, other: Tensor) -> bool:
    """True if both tensors have the same shape and equal elements (NaN equals nothing). The dtypes must be equal (DTypeError)."""
    for name, t in (("input", input), ("other", other)):
        if not isinstance(t, Tensor):
            raise ArgumentError(f"equal(): argument {name!r} must be a tensor, not {type(t).__name__}")
    if input._type.dtype is not other._type.dtype:
        raise DTypeError(f"equal: the dtypes differ ({input._type.dtype.name} and {other._type.dtype.name}); convert one with .to(dtype)")
    return input._type.shape == other._type.shape and _answer(_comparison.eq(input, other))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "allclose": allclose, "equal": equal, "greater": _comparison.gt, "greater_equal": _comparison.ge, "less": _comparison.lt,
    "less_equal": _comparison.le, "not_equal": _comparison.ne,
}  # fmt: skip
INPLACE: dict[str, Callable[..., Any]] = {
    "greater_": _comparison.gt_, "greater_equal_": _comparison.ge_, "less_": _comparison.lt_, "less_equal_": _comparison.le_,
    "not_equal_": _comparison.ne_,
}  # fmt: skip
