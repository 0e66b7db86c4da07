"""Reductions in elementary operations: helpers of the decompositions in `ops.reduction` and `ops.classification`."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

from twofold.ops.record import helper


@helper
def summed_to(input: Any, size: Any) -> Any:
    """`input` summed over the dimensions that `size` lacks, or has as 1."""
    lead = len(input.shape) - len(size)
    summed = [i for i, n in enumerate(input.shape) if i < lead or (size[i - lead] == 1 and n != 1)]
    if not summed:
        return reshape(clone(input), size)
    if len(summed) == lead:
        return sum(input, tuple(summed), False)
    return reshape(sum(input, tuple(summed), True), size)


@helper
def positions_along(sizes: Any, dim: int) -> Any:
    """0, 1, … along one dimension; broadcasts to `sizes`."""
    return reshape(arange(0, sizes[dim]), tuple([n if i == dim else 1 for i, n in enumerate(sizes)]))


@helper
def placed_at(grad: Any, dim: int, indices: Any, sizes: Any, keepdim: bool) -> Any:
    """Zeros of shape `sizes` with `grad` at the positions `indices` along `dim`."""
    if not sizes:
        return clone(grad)
    dim = dim % len(sizes)
    if not keepdim:
        grad, indices = unsqueeze(grad, dim), unsqueeze(indices, dim)
    if indices.shape[dim] != 1:  # of a sort or a selection of several
        return scatter_add(new_zeros(grad, sizes), dim, indices, grad)
    return where(eq(positions_along(sizes, dim), indices), grad, 0)


@helper
def logsumexp_parts(input: Any, dim: Any, keepdim: bool) -> Any:
    """log(sum(exp(input - max))) + max, where an infinite maximum counts as 0; of no elements log(0)."""
    if 0 in reduced_sizes(input.shape, dim):
        return log(sum(exp(input), dim, keepdim))
    top = amax(input, dim, True)
    top = where(isinf(top), 0, top)
    total = log(sum(exp(input - top), dim, keepdim))
    return total + reshape(top, total.shape)


@helper
def norm_parts(x: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    """A vector norm in elementary operations."""
    if ord == 2:
        return sqrt(sum(x * x, dim, keepdim))
    if ord == 0:
        return sum(ne(x, 0.0), dim, keepdim, dtype=x.dtype)
    if ord == 1:
        return sum(abs(x), dim, keepdim)
    if ord == float("inf"):
        return amax(abs(x), dim, keepdim)
    if ord == float("-inf"):
        return amin(abs(x), dim, keepdim)
    return pow(sum(pow(abs(x), float(ord)), dim, keepdim), 1.0 / ord)
