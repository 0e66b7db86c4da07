"""Pooling with PyTorch's signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twofold.support.errors import ArgumentError, ShapeError
from twofold.tensors.contraction import call
from twofold.tensors.convolution import Size, numbers
from twofold.tensors.core import Tensor


def _steps(name: str, stride: Any, kernel: tuple[int, ...], n: int) -> tuple[Any, ...]:
    """The stride; by default the kernel's size."""
    return kernel if stride is None or stride in ((), []) else numbers(name, "stride", stride, n)


def _space(t: Tensor, n: int) -> tuple[Any, ...]:
    return tuple(t._type.shape[t._type.ndim - n :])


def _lifted(name: str, input: Tensor, n: int) -> Tensor:
    """One-dimensional pooling is two-dimensional with a first dimension of size 1."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"{name}(): input must be a tensor, not {type(input).__name__}")
    if input._type.ndim not in (n + 1, n + 2):
        raise ShapeError(f"{name}: the input must have {n + 1} or {n + 2} dimensions, not shape {tuple(input._type.shape)}")
    return call("unsqueeze", input, dim=-2)


def _max_pool(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    dilation: Size,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    kernel = numbers(name, "kernel_size", kernel_size, n)
    steps, edges, holes = _steps(name, stride, kernel, n), numbers(name, "padding", padding, n), numbers(name, "dilation", dilation, n)
    values = call(name, input, kernel_size=kernel, stride=steps, padding=edges, dilation=holes, ceil_mode=ceil_mode)
    if not return_indices:
        return values
    where = {"kernel_size": kernel, "stride": steps, "padding": edges, "dilation": holes, "size": _space(values, n)}
    return values, call("max_pool_indices", input, **where)


def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window over the last dimension of (N, C, L) or (C, L); with `return_indices` also its position. See
    `max_pool2d`."""
    kernel = numbers("max_pool1d", "kernel_size", kernel_size, 1)
    steps, edges = _steps("max_pool1d", stride, kernel, 1), numbers("max_pool1d", "padding", padding, 1)
    holes = numbers("max_pool1d", "dilation", dilation, 1)
    lifted = _lifted("max_pool1d", input, 1)
    result = _max_pool("max_pool2d", 2, lifted, (1, *kernel), (1, *steps), (0, *edges), (1, *holes), ceil_mode, return_indices)
    if return_indices:
        return call("squeeze", result[0], dim=(-2,)), call("squeeze", result[1], dim=(-2,))
    return call("squeeze", result, dim=(-2,))


def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window over the last two dimensions of (N, C, H, W) or (C, H, W).

    stride: by default the kernel's size. padding: at most half the kernel; padded places never win. ceil_mode: sizes are rounded up.
    return_indices: also the flat position of each maximum in its plane. The first of equal maxima counts, and takes the gradient.
    """
    return _max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window over the last three dimensions of (N, C, D, H, W) or (C, D, H, W). See `max_pool2d`."""
    return _max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _avg_pool(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    kernel = numbers(name, "kernel_size", kernel_size, n)
    return call(
        name,
        input,
        kernel_size=kernel,
        stride=_steps(name, stride, kernel, n),
        padding=numbers(name, "padding", padding, n),
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


def avg_pool1d(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window over the last dimension of (N, C, L) or (C, L). See `avg_pool2d`."""
    kernel = numbers("avg_pool1d", "kernel_size", kernel_size, 1)
    steps, edges = _steps("avg_pool1d", stride, kernel, 1), numbers("avg_pool1d", "padding", padding, 1)
    lifted = _lifted("avg_pool1d", input, 1)
    result = _avg_pool("avg_pool2d", 2, lifted, (1, *kernel), (1, *steps), (0, *edges), ceil_mode, count_include_pad, None)
    return call("squeeze", result, dim=(-2,))


def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window over the last two dimensions of (N, C, H, W) or (C, H, W).

    count_include_pad: padding counts as zeros (default), or does not count. divisor_override: divide by this instead.
    """
    return _avg_pool("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window over the last three dimensions of (N, C, D, H, W) or (C, D, H, W). See `avg_pool2d`."""
    return _avg_pool("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _output_size(name: str, input: Tensor, output_size: Any, n: int) -> tuple[Any, ...]:
    """Sizes with None meaning the input's."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"{name}(): input must be a tensor, not {type(input).__name__}")
    given = numbers(name, "output_size", output_size, n)
    return tuple(size if k is None else k for k, size in zip(given, _space(input, n), strict=True)) if input._type.ndim >= n else given


def _adaptive_avg(name: str, n: int, input: Tensor, output_size: Any) -> Tensor:
    size = _output_size(name, input, output_size, n)
    if size == (1,) * n and input._type.ndim in (n + 1, n + 2) and input._type.dtype.is_floating_point and input._type.numel != 0:
        return call("mean", input, dim=tuple(range(-n, 0)), keepdim=True)  # the one node PyTorch records too
    return call(name, input, output_size=size)


def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Means over the last dimension so that it has `output_size`: output i sees inputs floor(i * L / out) to ceil((i + 1) * L / out)."""
    size = _output_size("adaptive_avg_pool1d", input, output_size, 1)
    return call("squeeze", call("adaptive_avg_pool2d", _lifted("adaptive_avg_pool1d", input, 1), output_size=(1, *size)), dim=(-2,))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over the last two dimensions so that they have `output_size` (one int, or two, None keeping a size)."""
    return _adaptive_avg("adaptive_avg_pool2d", 2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over the last three dimensions so that they have `output_size` (one int, or three, None keeping a size)."""
    return _adaptive_avg("adaptive_avg_pool3d", 3, input, output_size)


def _adaptive_max(name: str, n: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    values, indices = call(name, input, output_size=_output_size(name, input, output_size, n))
    return (values, indices) if return_indices else values


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over the last dimension so that it has `output_size`; with `return_indices` also their positions."""
    size = _output_size("adaptive_max_pool1d", input, output_size, 1)
    values, indices = call("adaptive_max_pool2d", _lifted("adaptive_max_pool1d", input, 1), output_size=(1, *size))
    values = call("squeeze", values, dim=(-2,))
    return (values, call("squeeze", indices, dim=(-2,))) if return_indices else values


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over the last two dimensions so that they have `output_size`; with `return_indices` also their flat positions."""
    return _adaptive_max("adaptive_max_pool2d", 2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over the last three dimensions so that they have `output_size`; with `return_indices` also their flat positions."""
    return _adaptive_max("adaptive_max_pool3d", 3, input, output_size, return_indices)


FUNCTIONS = {
    "max_pool1d": max_pool1d, "max_pool2d": max_pool2d, "max_pool3d": max_pool3d,
    "avg_pool1d": avg_pool1d, "avg_pool2d": avg_pool2d, "avg_pool3d": avg_pool3d,
    "adaptive_avg_pool1d": adaptive_avg_pool1d, "adaptive_avg_pool2d": adaptive_avg_pool2d, "adaptive_avg_pool3d": adaptive_avg_pool3d,
    "adaptive_max_pool1d": adaptive_max_pool1d, "adaptive_max_pool2d": adaptive_max_pool2d, "adaptive_max_pool3d": adaptive_max_pool3d,
}  # fmt: skip
