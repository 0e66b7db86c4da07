"""Gradients limited."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, AutogradError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS, INPLACE


def listed_tensors(tensors: Any, what: str) -> list[Tensor]:
    """The tensors of an iterable, or the one tensor given."""
    if isinstance(tensors, Tensor):
        return [tensors]
    if not isinstance(tensors, Iterable):
        raise ArgumentError(f"{what}: needs a tensor or several, not {type(tensors).__name__}")
    listed = list(tensors)
    for t in listed:
        if not isinstance(t, Tensor):
            raise ArgumentError(f"{what}: needs tensors, not {type(t).__name__}")
    return listed


def _gradients(parameters: Any, what: str) -> list[Any]:
    return [p.grad for p in listed_tensors(parameters, what) if p.grad is not None]


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """The norm of all elements of all tensors together (0-d). `error_if_nonfinite`: raise AutogradError for NaN or infinity.

    `foreach` has no effect.
    """
    listed = listed_tensors(tensors, "get_total_norm")
    if not listed:
        return FUNCTIONS["zeros"](())
    norm = FUNCTIONS["linalg_vector_norm"]
    with grad_mode(False):
        norms = [norm(t, float(norm_type)) for t in listed]
        total = norm(FUNCTIONS["stack"](norms), float(norm_type)) if len(norms) > 1 else norms[0]
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise AutogradError(f"the norm of order {norm_type} of the gradients is {float(total)}, so they cannot be limited by it")
    return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scale the gradients by min(1, max_norm / (total_norm + 1e-6)), in place. `foreach` has no effect."""
    if not isinstance(max_norm, (int, float, np.number, Tensor)):
        raise ArgumentError(f"the greatest norm must be a number, not {max_norm!r}")
    with grad_mode(False):
        factor = FUNCTIONS["clamp"](float(max_norm) / (total_norm + 1e-6), None, 1.0)
        for g in _gradients(parameters, "clip_grads_with_norm_"):
            INPLACE["mul_"](g, factor)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Scale the gradients, in place, so that the norm of all together is at most `max_norm`; returns the norm they had (0-d).

    `error_if_nonfinite`: raise AutogradError, before anything is changed, where that norm is NaN or infinite.
    """
    listed = listed_tensors(parameters, "clip_grad_norm_")
    total = get_total_norm(_gradients(listed, "clip_grad_norm_"), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(listed, max_norm, total, foreach)
    return total


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of the gradients to ±clip_value, in place."""
    limit = float(clip_value)
    if limit < 0:
        raise ValueRangeError(f"clip_grad_value_: clip_value must not be negative, it is {clip_value}")
    with grad_mode(False):
        for g in _gradients(parameters, "clip_grad_value_"):
            INPLACE["clamp_"](g, -limit, limit)
