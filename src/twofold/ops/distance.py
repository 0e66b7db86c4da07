"""Distances between all rows of two matrices, and the cross product."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir.types import TensorType, common_device
from twofold.ops.decomposition import real_operand
from twofold.ops.matrix import factors
from twofold.ops.record import define, helper
from twofold.ops.typing import broadcast_shapes
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

# ---- cross product -----------------------------------------------------------------------------------------------------------------------


def _cross_type(input: TensorType, other: TensorType, dim: int) -> TensorType:
    a, b = factors("linalg.cross", input=input, other=other)
    if a.ndim != b.ndim:
        raise ShapeError(
            f"linalg.cross: inputs must have the same number of dimensions, their shapes are {tuple(a.shape)} and {tuple(b.shape)}"
        )
    if a.ndim == 0 or a.shape[dim] != 3 or b.shape[dim] != 3:
        raise ShapeError(f"linalg.cross: inputs dimension {dim} must have length 3, the shapes are {tuple(a.shape)} and {tuple(b.shape)}")
    return a.with_shape(broadcast_shapes("linalg.cross", a.shape, b.shape))


def _cross(input: Any, other: Any, dim: int = -1) -> Any:
    a, b = np.moveaxis(np.asarray(input), dim, 0), np.moveaxis(np.asarray(other), dim, 0)
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return np.stack(parts, dim % np.ndim(input))


define(
    "linalg_cross(Tensor input, Tensor other, *, Dim dim=-1) -> Tensor",
    type_rule=_cross_type, reference=_cross, cost="library", method=False,
    gradient=(
        lambda g, other, input_shape, dim: unbroadcast(linalg_cross(other, g, dim=dim), input_shape),
        lambda g, input, other_shape, dim: unbroadcast(linalg_cross(g, input, dim=dim), other_shape),
    ),
    doc="The cross products of vectors of three elements along `dim`; the other dimensions broadcast.",
)  # fmt: skip

# ---- distances ---------------------------------------------------------------------------------------------------------------------------


def _cdist_type(x1: TensorType, x2: TensorType, p: float, compute_mode: int) -> TensorType:
    a, b = real_operand("cdist", x1, "x1"), real_operand("cdist", x2, "x2")
    for name, t in (("X1", a), ("X2", b)):
        if t.ndim < 2:
            raise ShapeError(f"cdist: {name} should be at least 2D tensor, its shape is {tuple(t.shape)}")
    if a.dtype is not b.dtype:
        raise DTypeError(f"cdist: X1 and X2 must have one dtype, not {a.dtype.name} and {b.dtype.name}")
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"cdist: X1 and X2 must have the same number of columns, the shapes are {tuple(a.shape)} and {tuple(b.shape)}")
    if not p >= 0:
        raise ValueRangeError(f"cdist only supports non-negative p values, not {p}")
    common_device((a, b), "cdist")
    return a.with_shape((*broadcast_shapes("cdist", a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-2]))


def _row_norms(difference: Any, p: float) -> Any:
    """The p-norms over the last dimension."""
    if p == 2:
        return np.sqrt(np.einsum("...i,...i->...", difference, difference))
    if p == 0:
        return (difference != 0).sum(-1).astype(difference.dtype)
    size = np.abs(difference)
    if p == 1:
        return size.sum(-1)
    return size.max(-1, initial=0.0) if p == math.inf else (size**p).sum(-1) ** (1 / p)


MANY_ROWS, ELEMENTS = 25, 1 << 20
"""From how many rows on a product of matrices gives the distances; how many elements of differences are held at a time."""


def _cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: int = 0) -> Any:
    rows, others = x1.shape[-2], x2.shape[-2]
    large = rows > MANY_ROWS or others > MANY_ROWS
    if p == 2 and others and x1.shape[-1] and (compute_mode == 1 or (compute_mode == 0 and large)):
        center = x2.mean(-2, keepdims=True)  # less is cancelled near the origin
        a, b = x1 - center, x2 - center
        squares = (a * a).sum(-1)[..., None] + (b * b).sum(-1)[..., None, :] - 2 * (a @ np.swapaxes(b, -1, -2))
        return np.sqrt(np.maximum(squares, 0))
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    result = np.empty((*batch, rows, others), x1.dtype)
    each = max(math.prod(batch) * others * x1.shape[-1], 1)
    step = max(ELEMENTS // each, 1)
    for first in range(0, rows, step):
        part = x1[..., first : first + step, None, :] - x2[..., None, :, :]
        result[..., first : first + step, :] = _row_norms(part, p)
    return result


@helper
def cdist_backward(g: Any, x1: Any, x2: Any, result: Any, p: Any, dtype: Any) -> Any:
    """The gradient of x1; 0 where a distance is 0. For p = 2 it is a product of matrices."""
    shape = (*result.shape[:-1], x1.shape[-1])
    if p == 2:
        weights = where(eq(result, 0.0), 0.0, g / where(eq(result, 0.0), 1.0, result))
        rank = len(result.shape)
        return unbroadcast(sum(weights, (rank - 1,), True) * x1 - matmul(weights, x2), x1.shape)
    rank = len(result.shape) + 1
    difference = unsqueeze(x1, len(x1.shape) - 1) - unsqueeze(x2, len(x2.shape) - 2)
    each = norm_gradient(unsqueeze(g, rank - 1), difference, unsqueeze(result, rank - 1), p, (rank - 1,), dtype)
    return unbroadcast(reshape(sum(each, (rank - 2,)), shape), x1.shape)


define(
    "cdist_forward(Tensor x1, Tensor x2, float p=2.0, int compute_mode=0) -> Tensor",
    type_rule=_cdist_type, reference=_cdist, cost="library", function=False, method=False, node_name="CdistBackward0",
    gradient=(
        lambda g, x1, x2, result, x1_dtype, p: cdist_backward(g, x1, x2, result, p, x1_dtype),
        lambda g, x1, x2, result, x2_dtype, p: cdist_backward(swapped(g), x2, x1, swapped(result), p, x2_dtype),
    ),
    doc="""The p-norms of the differences between all rows of x1 (..., n, d) and x2 (..., m, d): (..., n, m); the batches broadcast.

    compute_mode: 1 gives Euclidean distances by a product of matrices, 2 never does, 0 does for more than 25 rows (faster, and less exact
    for near points). The gradient where a distance is 0 is taken as 0.""",
)  # fmt: skip
