"""`interpolate` and its older names."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from twofold.ir import dtypes
from twofold.ops.resampling import scaled_size
from twofold.support.errors import ArgumentError, UnsupportedError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

RECORDS = {
    (3, "nearest"): "upsample_nearest1d", (4, "nearest"): "upsample_nearest2d", (5, "nearest"): "upsample_nearest3d",
    (3, "nearest-exact"): "upsample_nearest_exact1d", (4, "nearest-exact"): "upsample_nearest_exact2d",
    (5, "nearest-exact"): "upsample_nearest_exact3d", (3, "linear"): "upsample_linear1d", (4, "bilinear"): "upsample_bilinear2d",
    (5, "trilinear"): "upsample_trilinear3d", (4, "bicubic"): "upsample_bicubic2d", (4, "bilinear_aa"): "upsample_bilinear2d_aa",
    (4, "bicubic_aa"): "upsample_bicubic2d_aa", (4, "lanczos_aa"): "upsample_lanczos2d_aa",
}  # fmt: skip
"""The record of (number of dimensions, mode)."""
AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
MODES = ("nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact", "lanczos")
WITHOUT_CORNERS = ("nearest", "area", "nearest-exact")


def _listed(what: str, value: Any, space: tuple[Any, ...]) -> tuple[Any, ...]:
    """One entry for each dimension of space."""
    if not isinstance(value, (tuple, list)):
        return (value,) * len(space)
    if len(value) != len(space):
        raise ValueRangeError(f"interpolate: {what}={tuple(value)} does not fit an input whose spatial sizes are {tuple(space)}")
    return tuple(value)


def _whole(n: Any) -> Any:
    if hasattr(n, "is_symbolic_dim"):
        return n
    try:
        return operator.index(n)
    except TypeError:
        raise ArgumentError(f"interpolate: size must be one or more ints, not {type(n).__name__}") from None


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resample the space of (N, C, *space), 1 to 3 dimensions, to `size`, or to floor(size * scale_factor).

    mode: "nearest", "nearest-exact" (from pixel centres), "linear" (3-d input), "bilinear", "bicubic" (4-d), "trilinear" (5-d), "area"
    (means over what an output covers), "lanczos" (4-d, with antialias only).
    align_corners: corner pixels' centres meet, instead of their outer edges; for the linear and cubic modes.
    recompute_scale_factor: coordinates follow from the sizes, not from `scale_factor`.
    antialias: the kernel widens where sizes shrink; bilinear, bicubic and lanczos.
    Raises ValueRangeError for arguments that exclude one another, UnsupportedError for a mode that the number of dimensions has not.
    """
    if not isinstance(input, Tensor):
        raise ArgumentError(f"interpolate(): input must be a tensor, not {type(input).__name__}")
    if mode in WITHOUT_CORNERS and align_corners is not None:
        raise ValueRangeError("interpolate: align_corners can only be set with the modes linear, bilinear, bicubic and trilinear")
    rank = input._type.ndim
    space = tuple(input._type.shape[2:])
    if (size is None) == (scale_factor is None):
        raise ValueRangeError("interpolate: exactly one of size and scale_factor must be given")
    scales: tuple[float, ...] | None = None
    if size is not None:
        if recompute_scale_factor:
            raise ValueRangeError("interpolate: recompute_scale_factor has no meaning with an explicit size")
        sizes = tuple(_whole(n) for n in _listed("size", size, space))
    else:
        factors = tuple(float(f) for f in _listed("scale_factor", scale_factor, space))
        sizes = scaled_size("interpolate", space, factors)
        scales = None if recompute_scale_factor or mode == "area" else factors
    if antialias:
        if mode not in ("bilinear", "bicubic", "lanczos") or rank != 4:
            raise ValueRangeError("interpolate: antialias is for the modes bilinear, bicubic and lanczos and inputs of 4 dimensions")
        mode += "_aa"
    if mode == "area" and rank in AREA:
        return AREA[rank](input, sizes)
    name = RECORDS.get((rank, mode))
    if name is None:
        raise UnsupportedError(
            f"interpolate: mode {mode!r} does not take inputs of {rank} dimensions; modes are {', '.join(MODES)}: linear for 3 dimensions, "
            "bilinear, bicubic and lanczos (with antialias) for 4, trilinear for 5, the others for 3 to 5"
        )
    return _run(name, input, {"size": sizes, "mode": mode, "align_corners": bool(align_corners), "scales": scales})


def _run(name: str, input: Any, attributes: dict[str, Any]) -> Tensor:
    """The record; weighted sums of uint8 are computed in float32, rounded and cut off, of images first along rows, then along columns."""
    if input._type.dtype is not dtypes.uint8 or attributes["mode"] in WITHOUT_CORNERS:
        return call(name, input, **attributes)
    size, scales = attributes["size"], attributes["scales"]
    height = input._type.shape[-2]
    if len(size) == 2 and height != size[0]:
        input = _run(name, input, attributes | {"size": (height, size[1]), "scales": None if scales is None else (1.0, scales[1])})
        attributes = attributes | {"scales": None if scales is None else (scales[0], 1.0)}
    exact = call(name, call("to", input, dtype=dtypes.float32), **attributes)
    limited = call("clamp", call("floor", call("add", exact, 0.5)), 0.0, 255.0)
    return call("to", limited, dtype=dtypes.uint8)


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate` under its older name."""
    warnings.warn("nn.functional.upsample is outdated; use interpolate", UserWarning, stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """`interpolate` with mode "nearest"."""
    warnings.warn("nn.functional.upsample_nearest is outdated; use interpolate", UserWarning, stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """`interpolate` with mode "bilinear" and `align_corners=True`."""
    warnings.warn("nn.functional.upsample_bilinear is outdated; use interpolate", UserWarning, stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "interpolate": interpolate, "upsample": upsample, "upsample_nearest": upsample_nearest, "upsample_bilinear": upsample_bilinear,
}  # fmt: skip
