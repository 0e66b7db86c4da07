"""Images sampled at the points of a grid, and grids of affine maps (M. Jaderberg et al., "Spatial transformer networks", arXiv:1506.02025).

Written with other operations, so that input and grid are differentiable as often as wanted.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.creation import arange
from twofold.tensors.shapes import reshape

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75
"""The parameter of R. Keys's kernel."""


def _where(condition: Any, a: Any, b: Any) -> Any:
    return call("where", condition, a, b)


def _corners_default(name: str, align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(f"{name}: align_corners is False unless given", UserWarning, stacklevel=3)
        return False
    return bool(align_corners)


# ---- coordinates -------------------------------------------------------------------------------------------------------------------------


def pixel_coordinate(x: Any, size: Any, align_corners: bool) -> Any:
    """From [-1, 1] to places in a dimension of pixels; -1 and 1 are the outer centres (`align_corners`) or the outer edges."""
    return (x + 1.0) * ((size - 1) / 2) if align_corners else ((x + 1.0) * size - 1.0) * 0.5


def clipped(x: Any, size: Any) -> Any:
    """Limited to the pixels; no gradient from the border on, NaN becomes 0."""
    inside = call("logical_and", call("gt", x, 0.0), call("lt", x, float(size - 1)))
    return _where(inside, x, call("nan_to_num", call("clamp", x.detach(), 0.0, float(size - 1)), nan=0.0))


def reflected(x: Any, size: Any, align_corners: bool) -> Any:
    """Reflected at the outer centres or edges until inside, then clipped."""
    low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
    if span == 0.0:
        return x * 0.0
    distance = call("abs", x - low)
    rest = call("fmod", distance, span)
    odd = call("eq", call("fmod", call("floor", distance.detach() / span), 2.0), 1.0)
    return clipped(_where(odd, span - rest, rest) + low, size)


def padded(x: Any, size: Any, padding_mode: str, align_corners: bool) -> Any:
    """The coordinate after padding; with zeros it stays, and what is no number is far outside."""
    if padding_mode == "border":
        return clipped(x, size)
    if padding_mode == "reflection":
        return reflected(x, size, align_corners)
    return _where(call("lt", call("abs", x), 1e9), x, -100.0)


def taps(x: Any, size: Any, mode: str, padding_mode: str, align_corners: bool) -> list[tuple[Any, Any, Any]]:
    """(place as whole floats, weight or None for 1, place inside or None for always) of every input that counts along one dimension."""
    if mode == "bicubic":
        x = _where(call("lt", call("abs", x), 1e9), x, -100.0)
        low = call("floor", x.detach())
        t = x - low
        found = []
        for k, weight in enumerate((_far(t + 1.0), _near(t), _near(1.0 - t), _far(2.0 - t))):
            place = low + float(k - 1)
            if padding_mode != "zeros":
                place = call("round", padded(place, size, padding_mode, align_corners))
            found.append((place, weight))
    else:
        x = padded(x, size, padding_mode, align_corners)
        if mode == "nearest":
            found = [(call("round", x.detach()), None)]
        else:
            low = call("floor", x.detach())
            t = x - low
            found = [(low, 1.0 - t), (low + 1.0, t)]
    result = []
    for place, weight in found:
        inside = None
        if padding_mode == "zeros":
            inside = call("logical_and", call("ge", place, 0.0), call("le", place, float(size - 1)))
        result.append((call("clamp", place, 0.0, float(size - 1)), weight, inside))
    return result


def _near(t: Any) -> Any:
    return ((CUBIC + 2.0) * t - (CUBIC + 3.0)) * t * t + 1.0


def _far(t: Any) -> Any:
    return ((CUBIC * t - 5.0 * CUBIC) * t + 8.0 * CUBIC) * t - 4.0 * CUBIC


# ---- sampling ----------------------------------------------------------------------------------------------------------------------------


def _check_operands(input: Any, grid: Any, mode: str) -> int:
    """The number of spatial dimensions."""
    for what, t in (("input", input), ("grid", grid)):
        if not isinstance(t, Tensor):
            raise ArgumentError(f"grid_sample(): {what} must be a tensor, not {type(t).__name__}")
    shape, points = tuple(input._type.shape), tuple(grid._type.shape)
    n = len(shape) - 2
    if n not in (2, 3) or len(points) != len(shape) or points[0] != shape[0] or points[-1] != n:
        raise ShapeError(
            f"grid_sample: expects an input (N, C, H, W) and a grid (N, H, W, 2), or (N, C, D, H, W) and (N, D, H, W, 3), not {shape} "
            f"and {points}"
        )
    if not input._type.dtype.is_floating_point or input._type.dtype is not grid._type.dtype:
        names = f"{input._type.dtype.name} and {grid._type.dtype.name}"
        raise DTypeError(f"grid_sample: input and grid must have one floating-point dtype, not {names}")
    if any(type(k) is int and k == 0 for k in shape[2:]):
        raise ShapeError(f"grid_sample: the input of shape {shape} has an empty spatial dimension")
    if mode == "bicubic" and n != 2:
        raise UnsupportedError("grid_sample: bicubic takes inputs of 4 dimensions only (PyTorch's limit)")
    return n


def _sample(input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool) -> Tensor:
    n = _check_operands(input, grid, mode)
    batch, channels, *space = input._type.shape
    out = tuple(grid._type.shape[1:-1])
    count = math.prod(out) if all(type(k) is int for k in out) else -1
    flat = reshape(input, (batch, channels, math.prod(space) if all(type(k) is int for k in space) else -1))
    along = []
    for d, size in enumerate(space):
        x = pixel_coordinate(reshape(call("select", grid, dim=-1, index=n - 1 - d), (batch, 1, count)), size, align_corners)
        along.append(taps(x, size, mode, padding_mode, align_corners))
    result: Any = None
    for corner in itertools.product(*along):
        place: Any = 0.0
        weight: Any = None
        inside: Any = None
        for (at, w, valid), size in zip(corner, space, strict=True):
            place = place * float(size) + call("to", at, dtype=dtypes.float64)
            weight = w if weight is None or w is None else weight * w
            inside = valid if inside is None or valid is None else call("logical_and", inside, valid)
        index = call("expand", call("to", place, dtype=dtypes.int64), size=(batch, channels, place._type.shape[2]))
        value = call("gather", flat, index, dim=2)
        if inside is not None:
            value = _where(inside, value, 0.0)
        part = value if weight is None else value * weight
        result = part if result is None else result + part
    return reshape(result, (batch, channels, *out))


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """`input` (N, C, H, W) at the points (x, y) of `grid` (N, H', W', 2), or (N, C, D, H, W) at (x, y, z) of (N, D', H', W', 3).

    Points are in [-1, 1]: the outer pixels' centres with `align_corners`, their outer edges without. mode: "bilinear", "nearest", or
    "bicubic" (4-d only). padding_mode: outside are "zeros", the "border", or the image's "reflection".
    Raises ValueRangeError, ShapeError, DTypeError.
    """
    if mode not in MODES:
        raise ValueRangeError(f"grid_sample: mode must be one of {', '.join(MODES)}, not {mode!r}")
    if padding_mode not in PADDINGS:
        raise ValueRangeError(f"grid_sample: padding_mode must be one of {', '.join(PADDINGS)}, not {padding_mode!r}")
    return _sample(input, grid, mode, padding_mode, _corners_default("grid_sample", align_corners))


def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` with numbers: modes 0 bilinear, 1 nearest, 2 bicubic; padding 0 zeros, 1 border, 2 reflection."""
    if interpolation_mode not in range(3) or padding_mode not in range(3):
        raise ValueRangeError(f"grid_sampler: modes are 0, 1 and 2, not {interpolation_mode} and {padding_mode}")
    return _sample(input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], bool(align_corners))


def _ranked(name: str, rank: int) -> Callable[..., Any]:
    def sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
        if isinstance(input, Tensor) and input._type.ndim != rank:
            raise ShapeError(f"{name}: the input must have {rank} dimensions, not the shape {tuple(input._type.shape)}")
        return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)

    sampler.__name__ = sampler.__qualname__ = name
    sampler.__doc__ = f"`grid_sampler` for inputs of {rank} dimensions."
    return sampler


# ---- grids of affine maps ----------------------------------------------------------------------------------------------------------------


def _axis(n: int, dtype: Any, align_corners: bool) -> Any:
    """Coordinates of n pixels between -1 and 1."""
    steps = arange(n, dtype=dtype)
    if align_corners:
        return steps * (2.0 / (n - 1)) - 1.0 if n > 1 else steps
    return (steps * 2.0 + 1.0) / n - 1.0


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` of affine maps `theta`: (N, 2, 3) and size (N, C, H, W) to (N, H, W, 2), or (N, 3, 4) and (N, C, D, H, W)
    to (N, D, H, W, 3).

    Raises ValueRangeError for other shapes or empty sizes, UnsupportedError for sizes of other lengths.
    """
    corners = _corners_default("affine_grid", align_corners)
    if not isinstance(theta, Tensor):
        raise ArgumentError(f"affine_grid(): theta must be a tensor, not {type(theta).__name__}")
    if not theta._type.dtype.is_floating_point:
        raise ValueRangeError(f"affine_grid: theta must be floating-point, not {theta._type.dtype.name}")
    n = len(size) - 2
    if n not in (2, 3):
        raise UnsupportedError(f"affine_grid: the size must have 4 or 5 entries, not {tuple(size)}")
    if tuple(theta._type.shape[1:]) != (n, n + 1):
        raise ValueRangeError(f"affine_grid: expects maps of shape (N, {n}, {n + 1}), not {tuple(theta._type.shape)}")
    if min(size) <= 0:
        raise ValueRangeError(f"affine_grid: sizes must be positive, not {tuple(size)}")
    if theta._type.shape[0] != size[0]:
        raise ShapeError(f"affine_grid: {theta._type.shape[0]} maps for a batch of {size[0]}")
    space = tuple(size[2:])
    parts = []
    for d in reversed(range(n)):
        line = reshape(_axis(space[d], theta._type.dtype, corners), tuple(space[d] if i == d else 1 for i in range(n)))
        parts.append(call("expand", line, size=space))
    ones = parts[0] * 0.0 + 1.0
    base = reshape(call("stack", (*parts, ones), dim=-1), (1, math.prod(space), n + 1))
    base = call("expand", base, size=(size[0], math.prod(space), n + 1))
    return reshape(call("bmm", base, call("transpose", theta, dim0=1, dim1=2)), (size[0], *space, n))


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`affine_grid` with `align_corners` required."""
    return affine_grid(theta, size, align_corners)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "grid_sample": grid_sample, "grid_sampler": grid_sampler, "grid_sampler_2d": _ranked("grid_sampler_2d", 4),
    "grid_sampler_3d": _ranked("grid_sampler_3d", 5), "affine_grid": affine_grid, "affine_grid_generator": affine_grid_generator,
}  # fmt: skip
