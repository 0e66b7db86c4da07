"""Convolution layers over one, two or three spatial dimensions."""

from __future__ import annotations

import math
from typing import Any

from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.create import new_parameter, repeated
from twofold.nn.module import Module
from twofold.support.errors import ArgumentError, ValueRangeError
from twofold.tensors.core import Tensor

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share: checks, parameters, repr."""

    spatial = 0
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        n = self.spatial
        if groups <= 0:
            raise ValueRangeError(f"groups must be a positive integer, not {groups}")
        for what, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueRangeError(f"{what} must be divisible by groups: {channels} does not divide into {groups}")
        if padding_mode not in PADDING_MODES:
            raise ValueRangeError(f"padding_mode must be one of {', '.join(PADDING_MODES)}, not {padding_mode!r}")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = repeated(kernel_size, n, "kernel_size")
        self.stride = repeated(stride, n, "stride")
        self.dilation = repeated(dilation, n, "dilation")
        self.padding = self._padding(padding)
        self.output_padding = repeated(output_padding, n, "output_padding")
        self.groups = groups
        self.padding_mode = padding_mode
        self._pad = self._explicit_pad()
        inside = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = new_parameter((*inside, *self.kernel_size), device, dtype)
        self.register_parameter("bias", new_parameter((out_channels,), device, dtype) if bias else None)
        self.reset_parameters()

    def _padding(self, padding: Any) -> Any:
        if not isinstance(padding, str):
            return repeated(padding, self.spatial, "padding")
        if padding not in ("same", "valid"):
            raise ValueRangeError(f"padding must be numbers, 'same' or 'valid', not {padding!r}")
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueRangeError("padding='same' is not supported for strided convolutions")
        return padding

    def _explicit_pad(self) -> tuple[int, ...]:
        """The pads of every dimension, last first, as `F.pad` takes them: for the padding modes other than zeros."""
        pads: list[int] = []
        for i in reversed(range(self.spatial)):
            if self.padding == "same":
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                pads += [total // 2, total - total // 2]
            else:
                pads += [0, 0] if self.padding == "valid" else [self.padding[i]] * 2
        return tuple(pads)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew: uniform in ±1/sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.fans(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        n = self.spatial
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        if self.padding != (0,) * n:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * n:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * n:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Conv(_ConvNd):
    """A plain convolution."""

    function = ""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of (N, C, *spatial) or (C, *spatial)."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._pad, mode=self.padding_mode)
            padding = (0,) * self.spatial
        convolve = getattr(F, self.function)
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """Convolution of (N, in_channels, L) with weight (out_channels, in_channels / groups, k)."""

    spatial, function = 1, "conv1d"


class Conv2d(_Conv):
    """Convolution of (N, in_channels, H, W) with weight (out_channels, in_channels / groups, kh, kw)."""

    spatial, function = 2, "conv2d"


class Conv3d(_Conv):
    """Convolution of (N, in_channels, D, H, W) with weight (out_channels, in_channels / groups, kd, kh, kw)."""

    spatial, function = 3, "conv3d"


class _ConvTranspose(_ConvNd):
    """A transposed convolution."""

    transposed = True
    function = ""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueRangeError(f"transposed convolutions pad with zeros only, not {padding_mode!r}")
        if isinstance(padding, str):
            raise ArgumentError(f"transposed convolutions take numbers for padding, not {padding!r}")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device, dtype
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """The transposed convolution; `output_size` (the spatial sizes, or all) chooses among the sizes that a stride makes possible."""
        extra = self.output_padding if output_size is None else self._extra(input, tuple(output_size))
        convolve = getattr(F, self.function)
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _extra(self, input: Tensor, output_size: tuple[int, ...]) -> tuple[int, ...]:
        """The output_padding that gives `output_size`."""
        n, lead = self.spatial, input._type.ndim - self.spatial
        if len(output_size) == lead + n:
            output_size = output_size[lead:]
        if len(output_size) != n:
            raise ValueRangeError(
                f"output_size must have {n} or {n + lead} numbers for an input of shape {tuple(input._type.shape)}, not {output_size}"
            )
        extra = []
        for i, wanted in enumerate(output_size):
            least = (
                (input._type.shape[lead + i] - 1) * self.stride[i] - 2 * self.padding[i] + self.dilation[i] * (self.kernel_size[i] - 1) + 1
            )
            if not least <= wanted < least + self.stride[i]:
                raise ValueRangeError(
                    f"output_size {output_size}: dimension {i} must be between {least} and {least + self.stride[i] - 1} "
                    f"for an input of shape {tuple(input._type.shape)}"
                )
            extra.append(wanted - least)
        return tuple(extra)


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution of (N, in_channels, L) with weight (in_channels, out_channels / groups, k)."""

    spatial, function = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution of (N, in_channels, H, W) with weight (in_channels, out_channels / groups, kh, kw)."""

    spatial, function = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution of (N, in_channels, D, H, W) with weight (in_channels, out_channels / groups, kd, kh, kw)."""

    spatial, function = 3, "conv_transpose3d"
