"""Pooling layers."""

from __future__ import annotations

from typing import Any

from twofold.nn import functional as F
from twofold.nn.create import repeated
from twofold.nn.module import Module
from twofold.tensors.core import Tensor


class _MaxPool(Module):
    """Maxima over windows."""

    function = ""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The maxima; with `return_indices` (maxima, their flat positions in each plane)."""
        pool = getattr(F, self.function)
        return pool(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode, return_indices=self.return_indices
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """Maxima over windows of (N, C, L) or (C, L)."""

    function = "max_pool1d"


class MaxPool2d(_MaxPool):
    """Maxima over windows of (N, C, H, W) or (C, H, W)."""

    function = "max_pool2d"


class MaxPool3d(_MaxPool):
    """Maxima over windows of (N, C, D, H, W) or (C, D, H, W)."""

    function = "max_pool3d"


class AvgPool1d(Module):
    """Means over windows of (N, C, L) or (C, L)."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, 1, "kernel_size")
        self.stride = self.kernel_size if stride is None else repeated(stride, 1, "stride")
        self.padding = repeated(padding, 1, "padding")
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    """Means over windows."""

    function = ""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        pool = getattr(F, self.function)
        return pool(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """Means over windows of (N, C, H, W) or (C, H, W)."""

    function = "avg_pool2d"


class AvgPool3d(_AvgPool):
    """Means over windows of (N, C, D, H, W) or (C, D, H, W)."""

    function = "avg_pool3d"


class _Adaptive(Module):
    """Pooling to an output size; None keeps a dimension."""

    function = ""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        """The pooled input."""
        return getattr(F, self.function)(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Means of (N, C, L) or (C, L) to a length."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_Adaptive):
    """Means of (N, C, H, W) or (C, H, W) to a size."""

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_Adaptive):
    """Means of (N, C, D, H, W) or (C, D, H, W) to a size."""

    function = "adaptive_avg_pool3d"


class _AdaptiveMax(_Adaptive):
    """Maxima, perhaps with their positions."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The maxima; with `return_indices` (maxima, their flat positions in each plane)."""
        return getattr(F, self.function)(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Maxima of (N, C, L) or (C, L) to a length."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima of (N, C, H, W) or (C, H, W) to a size."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Maxima of (N, C, D, H, W) or (C, D, H, W) to a size."""

    function = "adaptive_max_pool3d"
