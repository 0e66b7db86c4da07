"""Jacobians with all vectors at once: what `vectorize=True` of `autograd.functional` means."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from twofold.tape.namespaces import TENSOR
from twofold.tensors.backward import grad
from twofold.tensors.core import Tensor

Tensors = Sequence[Tensor]
Table = list[list[Tensor]]
"""A Jacobian for each output and input."""


def bounds(tensors: Tensors) -> list[tuple[int, int]]:
    """Where each tensor's elements lie among those of all."""
    return list(itertools.pairwise(itertools.accumulate((int(t._type.numel) for t in tensors), initial=0)))


def units(tensors: Tensors) -> list[Tensor]:
    """For each tensor a batch with an entry for every element of all of them: 1 at that element, 0 elsewhere."""
    places = bounds(tensors)
    total = places[-1][1]
    result = []
    for t, (a, b) in zip(tensors, places, strict=True):
        result.append(TENSOR["eye"](total, dtype=t._type.dtype).narrow(1, a, b - a).reshape((total, *t._type.shape)))
    return result


def products(outputs: Tensors, inputs: Tensors, gradients: Tensors, create_graph: bool) -> list[Any]:
    """Many vector-Jacobian products; None for an input that no output depends on."""
    pairs = [(t, g) for t, g in zip(outputs, gradients, strict=True) if t._node is not None]
    if not pairs or not gradients[0]._type.shape[0]:
        return [None] * len(inputs)
    outs, given = [t for t, _ in pairs], [g for _, g in pairs]
    return list(grad(outs, inputs, given, retain_graph=True, create_graph=create_graph, allow_unused=True, is_grads_batched=True))


def zeros(shape: tuple[Any, ...], like: Tensor) -> Tensor:
    return TENSOR["zeros"](shape, dtype=like._type.dtype)


def by_rows(outputs: Tensors, inputs: Tensors, create_graph: bool) -> Table:
    """The Jacobians by reverse mode: a product for each element of the outputs."""
    found = products(outputs, inputs, units(outputs), create_graph)
    table: Table = []
    for out, (a, b) in zip(outputs, bounds(outputs), strict=True):
        shapes = [(*out._type.shape, *t._type.shape) for t in inputs]
        table.append(
            [zeros(s, t) if g is None else g.narrow(0, a, b - a).reshape(s) for g, s, t in zip(found, shapes, inputs, strict=True)]
        )
    return table


def by_columns(outputs: Tensors, inputs: Tensors, create_graph: bool) -> Table:
    """The Jacobians by forward mode (reverse mode twice): a product for each element of the inputs."""
    seeds = [TENSOR["zeros"](t._type.shape, dtype=t._type.dtype).requires_grad_() for t in outputs]
    live = [(t, u) for t, u in zip(outputs, seeds, strict=True) if t._node is not None]
    pulled: list[Any] = [None] * len(inputs)
    if live:
        pulled = list(grad([t for t, _ in live], inputs, [u for _, u in live], create_graph=True, allow_unused=True))
    used = [(g, v) for g, v in zip(pulled, units(inputs), strict=True) if g is not None]
    found = products([g for g, _ in used], seeds, [v for _, v in used], create_graph) if used else [None] * len(seeds)
    table: Table = []
    for out, column in zip(outputs, found, strict=True):
        row = []
        for t, (a, b) in zip(inputs, bounds(inputs), strict=True):
            shape = (*out._type.shape, *t._type.shape)
            part = None if column is None else TENSOR["movedim"](column.narrow(0, a, b - a), 0, -1)
            row.append(zeros(shape, out) if part is None else part.reshape(shape))
        table.append(row)
    return table
