"""Convolutions with PyTorch's signatures, over the one record `convolution`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twofold.ir.op import get_op
from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch

_convolution = get_op("convolution")
Size = int | Sequence[int]


def numbers(name: str, what: str, value: Any, n: int) -> tuple[Any, ...]:
    """One number for all dimensions, or a number for each."""
    if isinstance(value, (tuple, list)):
        given = tuple(value)
        if len(given) == 1:
            given = given * n
        if len(given) != n:
            raise ValueRangeError(f"{name}: {what} must be an int or {n} ints, not {value!r}")
        return given
    return (value,) * n


def _paddings(
    name: str, padding: Any, n: int, stride: tuple[int, ...], dilation: tuple[int, ...], kernel: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Padding as the record takes it; "same" keeps the size, with the odd element of an even kernel's padding at the end."""
    if not isinstance(padding, str):
        return numbers(name, "padding", padding, n)
    if padding == "valid":
        return (0,) * n
    if padding != "same":
        raise ValueRangeError(f"{name}: padding must be 'valid', 'same' or numbers, not {padding!r}")
    if any(s != 1 for s in stride):
        raise ValueRangeError(f"{name}: padding='same' needs stride 1, not {stride}")
    total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    low = tuple(t // 2 for t in total)
    high = tuple(t - a for t, a in zip(total, low, strict=True))
    return low if low == high else low + high


def _check_operands(name: str, n: int, input: Any, weight: Any) -> bool:
    """True if the input has no batch dimension."""
    for what, t in (("input", input), ("weight", weight)):
        if not isinstance(t, Tensor):
            raise ArgumentError(f"{name}(): {what} must be a tensor, not {type(t).__name__}")
    if input._type.ndim not in (n + 1, n + 2) or weight._type.ndim != n + 2:
        raise ShapeError(
            f"{name}: the input must have {n + 1} or {n + 2} dimensions and the weight {n + 2}; "
            f"their shapes are {tuple(input._type.shape)} and {tuple(weight._type.shape)}"
        )
    return bool(input._type.ndim == n + 1)


def _run(input: Tensor, weight: Tensor, bias: Tensor | None, single: bool, attributes: dict[str, Any]) -> Tensor:
    if single:
        input = call("unsqueeze", input, dim=0)
    result = dispatch(_convolution, (input, weight, bias), attributes)
    return call("squeeze", result, dim=(0,)) if single else result


def _conv(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Size, padding: Size | str, dilation: Size, groups: int
) -> Tensor:
    single = _check_operands(name, n, input, weight)
    steps, holes = numbers(name, "stride", stride, n), numbers(name, "dilation", dilation, n)
    edges = _paddings(name, padding, n, steps, holes, weight._type.shape[2:])
    attributes = {
        "stride": steps, "padding": edges, "dilation": holes, "transposed": False, "output_padding": (0,) * n, "groups": groups,
    }  # fmt: skip
    return _run(input, weight, bias, single, attributes)


def _conv_transpose(
    name: str,
    n: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Size,
    output_padding: Size,
    groups: int,
    dilation: Size,
) -> Tensor:
    single = _check_operands(name, n, input, weight)
    steps, holes = numbers(name, "stride", stride, n), numbers(name, "dilation", dilation, n)
    extra = numbers(name, "output_padding", output_padding, n)
    for e, s, d in zip(extra, steps, holes, strict=True):
        if e >= max(s, d):
            raise ValueRangeError(f"{name}: output_padding {extra} must be smaller than stride {steps} or dilation {holes}")
    edges = numbers(name, "padding", padding, n)
    beyond = (0,) * n
    if any(e >= s for e, s in zip(extra, steps, strict=True)):
        # The record takes less than a stride (so that its gradient is a convolution): the rest is less padding at the end, and then zeros.
        beyond = tuple(max(0, e - p) for e, p in zip(extra, edges, strict=True))
        edges = (*edges, *(max(0, p - e) for e, p in zip(extra, edges, strict=True)))
        extra = (0,) * n
    attributes = {
        "stride": steps, "padding": edges, "dilation": holes, "transposed": True, "output_padding": extra, "groups": groups,
    }  # fmt: skip
    if not any(beyond):
        return _run(input, weight, bias, single, attributes)
    result = _run(input, weight, None, single, attributes)
    result = call("constant_pad_nd", result, pad=tuple(v for b in reversed(beyond) for v in (0, b)), value=0)
    return result if bias is None else call("add", result, call("reshape_copy", bias, size=(bias._type.shape[0], *(1,) * n)))


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over one dimension: input (N, C, L) or (C, L), weight (O, C / groups, K), bias (O,); the result is (N, O, L_out).

    padding: numbers, "valid" (none) or "same" (the output has the input's size; stride 1 only). Raises ShapeError where sizes do not fit.
    """
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over two dimensions: input (N, C, H, W) or (C, H, W), weight (O, C / groups, KH, KW), bias (O,); see `conv1d`."""
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over three dimensions: input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, KD, KH, KW); see `conv1d`."""
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transposed convolution (the gradient of `conv1d` with respect to its input): input (N, C, L), weight (C, O / groups, K).

    The output's size is (L - 1) * stride - 2 * padding + dilation * (K - 1) + output_padding + 1.
    """
    return _conv_transpose("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transposed convolution over two dimensions: input (N, C, H, W), weight (C, O / groups, KH, KW); see `conv_transpose1d`."""
    return _conv_transpose("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transposed convolution over three dimensions: input (N, C, D, H, W), weight (C, O / groups, KD, KH, KW); see
    `conv_transpose1d`."""
    return _conv_transpose("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


FUNCTIONS = {
    "conv1d": conv1d, "conv2d": conv2d, "conv3d": conv3d,
    "conv_transpose1d": conv_transpose1d, "conv_transpose2d": conv_transpose2d, "conv_transpose3d": conv_transpose3d,
}  # fmt: skip
