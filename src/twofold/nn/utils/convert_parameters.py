"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from twofold.nn.utils.clip_grad import listed_tensors
from twofold.support.errors import ArgumentError, DTypeError, ShapeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters, one after the other, 1-d; gradients flow back."""
    return FUNCTIONS["cat"]([FUNCTIONS["reshape"](p, (-1,)) for p in listed_tensors(parameters, "parameters_to_vector")])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """The inverse of `parameters_to_vector`: each parameter's data becomes its stretch of the vector (shared memory, as in PyTorch).

    Raises ShapeError where the vector's length is not the parameters', before anything is changed.
    """
    if not isinstance(vec, Tensor):
        raise ArgumentError(f"vector_to_parameters: needs a tensor, not {type(vec).__name__}")
    listed = listed_tensors(parameters, "vector_to_parameters")
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
