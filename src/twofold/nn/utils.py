"""Gradients limited, and parameters as one vector."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, AutogradError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS, INPLACE


def _listed(tensors: Any, what: str) -> list[Tensor]:
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
    return [p.grad for p in _listed(parameters, what) if p.grad is not None]


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """The norm of all elements of all tensors together (0-d). `error_if_nonfinite`: raise AutogradError for NaN or infinity.

    `foreach` has no effect.
    """
    listed = _listed(tensors, "get_total_norm")
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
    listed = _listed(parameters, "clip_grad_norm_")
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


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters, one after the other, 1-d; gradients flow back."""
    return FUNCTIONS["cat"]([FUNCTIONS["reshape"](p, (-1,)) for p in _listed(parameters, "parameters_to_vector")])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """The inverse of `parameters_to_vector`: each parameter's data becomes its stretch of the vector (shared memory, as in PyTorch).

    Raises ShapeError where the vector's length is not the parameters', before anything is changed.
    """
    if not isinstance(vec, Tensor):
        raise ArgumentError(f"vector_to_parameters: needs a tensor, not {type(vec).__name__}")
    listed = _listed(parameters, "vector_to_parameters")
    total = sum(p._type.numel for p in listed)
    if tuple(vec._type.shape) != (total,):
        raise ShapeError(f"vector_to_parameters: the parameters have {total} elements, the vector has shape {tuple(vec._type.shape)}")
    start = 0
    for p in listed:
        if not vec._type.dtype.is_floating_point and p._type.dtype.is_floating_point:
            raise DTypeError(f"vector_to_parameters: a vector of {vec._type.dtype.name} for parameters of {p._type.dtype.name}")
    for p in listed:
        count = p._type.numel
        part = vec.detach()[start : start + count]
        p.data = FUNCTIONS["reshape"](part, p._type.shape).detach()
        start += count
