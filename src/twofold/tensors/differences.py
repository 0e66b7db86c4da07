"""Differences, numerical derivatives and integrals along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT
from twofold.ir.op import get_op, wrap_dim
from twofold.support.errors import ArgumentError, DimensionError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.joining import cat
from twofold.tensors.shapes import reshape
from twofold.tensors.typing import Number


def run(name: str, *inputs: Any, **attributes: Any) -> Any:
    """A record on tensors, so that the user's own line is the one remembered."""
    return dispatch(get_op(name), inputs, attributes)


def part(t: Tensor, dim: int, start: int | None, end: int | None) -> Tensor:
    """The elements from `start` to `end` of a dimension."""
    return run("slice", t, dim=dim, start=start, end=end, step=1)


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """The n-th differences of neighbours along `dim` (exclusive or for bool), of the tensor with `prepend` and `append` joined to it."""
    rank = input._type.ndim
    if rank == 0:
        raise ShapeError("diff: a tensor of at least 1 dimension is needed")
    if n < 0:
        raise ValueRangeError(f"diff: the order must not be negative, not {n}")
    d = wrap_dim(dim, rank, "diff")
    for name, t in (("prepend", prepend), ("append", append)):
        if t is not None and t._type.ndim != rank:
            raise ShapeError(f"diff: {name} of shape {tuple(t._type.shape)} must have as many dimensions as the input ({rank})")
    if n == 0:
        return run("clone", input)
    if prepend is not None or append is not None:
        input = cat([t for t in (prepend, input, append) if t is not None], d)
    size = input._type.shape[d]
    for _ in range(n if type(size) is not int else min(n, size)):
        later, earlier = part(input, d, 1, None), part(input, d, 0, -1)
        input = run("logical_xor" if input._type.dtype is dtypes.bool_ else "sub", later, earlier)
    return part(input, d, 0, 0) if size == 0 else input


# ---- numerical derivatives -------------------------------------------------------------------------------------------------------------


def _gradient_dims(rank: int, dim: Any, spacing: Any) -> tuple[int, ...]:
    if dim is None:
        several = isinstance(spacing, (list, tuple))
        dims = tuple(range(rank))
        if several and len(spacing) != rank:
            raise ShapeError(f"gradient: {len(spacing)} spacings for a tensor of {rank} dimension(s); name the dimensions with dim=")
        return dims
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    dims = tuple(wrap_dim(d, rank, "gradient") for d in given)
    if len(set(dims)) != len(dims):
        raise DimensionError(f"gradient: a dimension is given twice in dim={dim}")
    return dims


def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Derivatives along each of `dim` (all by default) estimated from neighbours: second-order accurate inside, of `edge_order` (1 or 2)
    at both ends. spacing: the distance of neighbours, one number or one for each dimension, or 1-d tensors of coordinates.

    The formulas are those of numpy.gradient.
    """
    spacing = 1 if spacing is None else spacing
    if edge_order not in (1, 2):
        raise ValueRangeError(f"gradient: edge_order must be 1 or 2, not {edge_order}")
    dims = _gradient_dims(input._type.ndim, dim, spacing)
    steps = tuple(spacing) if isinstance(spacing, (list, tuple)) else (spacing,) * len(dims)
    if isinstance(spacing, Tensor):
        raise ArgumentError("gradient(): coordinates are given as a list of tensors, one for each dimension")
    if len(steps) != len(dims):
        raise ShapeError(f"gradient: {len(steps)} spacings for {len(dims)} dimension(s)")
    for d in dims:
        n = input._type.shape[d]
        if type(n) is int and n <= edge_order:
            raise ShapeError(f"gradient: dimension {d} of size {n} is too short: edge_order={edge_order} needs at least {edge_order + 1}")
    for d, h in zip(dims, steps, strict=True):
        if isinstance(h, Tensor) and (h._type.ndim != 1 or h._type.shape[0] != input._type.shape[d]):
            raise ShapeError(
                f"gradient: coordinates of shape {tuple(h._type.shape)} for dimension {d} of size {input._type.shape[d]}: "
                "a 1-d tensor of that size is needed"
            )
    if input._type.dtype.category != FLOAT:
        input = run("to", input, dtype=dtypes.get_default_dtype())
    return tuple(
        _by_coordinates(input, d, h, edge_order) if isinstance(h, Tensor) else _by_distance(input, d, h, edge_order)
        for d, h in zip(dims, steps, strict=True)
    )


def _by_distance(x: Tensor, d: int, h: Any, edge_order: int) -> Tensor:
    first = [part(x, d, i, i + 1) for i in range(edge_order + 1)]
    last = [part(x, d, -i - 1, -i if i else None) for i in range(edge_order + 1)]
    inner = (part(x, d, 2, None) - part(x, d, 0, -2)) / (2 * h)
    if edge_order == 1:
        return cat([(first[1] - first[0]) / h, inner, (last[0] - last[1]) / h], d)
    begin = (first[0] * -1.5 + first[1] * 2 - first[2] * 0.5) / h
    end = (last[0] * 1.5 - last[1] * 2 + last[2] * 0.5) / h
    return cat([begin, inner, end], d)


def _by_coordinates(x: Tensor, d: int, places: Tensor, edge_order: int) -> Tensor:
    gaps = reshape(diff(places), (-1, *(1,) * (x._type.ndim - 1 - d)))
    if gaps._type.dtype.category != FLOAT:
        gaps = run("to", gaps, dtype=x._type.dtype)
    lower, upper = part(gaps, 0, 0, -1), part(gaps, 0, 1, None)
    both = lower + upper
    inner = (
        part(x, d, 0, -2) * (-upper / (lower * both))
        + part(x, d, 1, -1) * ((upper - lower) / (lower * upper))
        + part(x, d, 2, None) * (lower / (upper * both))
    )
    first = [part(x, d, i, i + 1) for i in range(edge_order + 1)]
    last = [part(x, d, -i - 1, -i if i else None) for i in range(edge_order + 1)]
    a, z = part(gaps, 0, 0, 1), part(gaps, 0, -1, None)
    if edge_order == 1:
        return cat([(first[1] - first[0]) / a, inner, (last[0] - last[1]) / z], d)
    b, y = part(gaps, 0, 1, 2), part(gaps, 0, -2, -1)
    begin = first[0] * (-(a * 2 + b) / (a * (a + b))) + first[1] * ((a + b) / (a * b)) - first[2] * (a / (b * (a + b)))
    end = last[2] * (z / (y * (y + z))) - last[1] * ((y + z) / (y * z)) + last[0] * ((z * 2 + y) / (z * (y + z)))
    return cat([begin, inner, end], d)


# ---- integrals -------------------------------------------------------------------------------------------------------------------------


def _areas(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int) -> tuple[Tensor, int]:
    """The trapezoids between neighbours along `dim`, and `dim` counted from the front."""
    d = wrap_dim(dim, y._type.ndim, name)
    if x is None:
        return (part(y, d, 1, None) + part(y, d, 0, -1)) * (dx / 2.0), d
    if x._type.ndim == 1:
        if x._type.shape[0] != y._type.shape[d]:
            raise ShapeError(f"{name}: {x._type.shape[0]} places x for dimension {d} of size {y._type.shape[d]} of y")
        gaps = reshape(diff(x), (-1, *(1,) * (y._type.ndim - 1 - d)))
    else:
        rank = max(x._type.ndim, y._type.ndim)
        wide = reshape(x, (1,) * (rank - x._type.ndim) + tuple(x._type.shape))
        gaps = diff(wide, 1, d + rank - y._type.ndim)
    return (part(y, d, 1, None) + part(y, d, 0, -1)) * gaps / 2.0, d


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1) -> Tensor:
    """The integral of `y` along `dim` by the trapezoidal rule, over places `x` or equal steps `dx` (1)."""
    return _trapezoid("trapezoid", y, x, dx, dim)


def _trapezoid(name: str, y: Tensor, x: Tensor | None, dx: Number | None, dim: int) -> Tensor:
    dx = _step(name, x, dx)
    d = wrap_dim(dim, y._type.ndim, name)
    if y._type.ndim == 0 or y._type.shape[d] == 0:
        shape = tuple(n for i, n in enumerate(y._type.shape) if i != d)
        return run("new_zeros", y, size=shape)
    areas, d = _areas(name, y, x, dx, d)
    return run("sum", areas, dim=d - y._type.ndim)


def _step(name: str, x: Tensor | None, dx: Number | None) -> Number:
    if x is not None and dx is not None:
        raise ArgumentError(f"{name}(): give the places x or the step dx, not both")
    if dx is not None and not isinstance(dx, (bool, int, float)):
        raise ArgumentError(f"{name}(): dx must be a number, not {type(dx).__name__}; places are given as x")
    return 1 if dx is None else dx


def trapz(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1) -> Tensor:
    """`trapezoid` under its former name."""
    return _trapezoid("trapz", y, x, dx, dim)


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1) -> Tensor:
    """The running integrals of `y` along `dim` by the trapezoidal rule, see `trapezoid`; one element fewer along `dim`."""
    dx = _step("cumulative_trapezoid", x, dx)
    areas, d = _areas("cumulative_trapezoid", y, x, dx, dim)
    return run("cumsum", areas, dim=d - y._type.ndim)


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (diff, gradient, trapezoid, trapz, cumulative_trapezoid)}
METHODS: dict[str, Callable[..., Any]] = {"diff": diff}
