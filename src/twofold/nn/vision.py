"""Layers for images and their like: resampling, blocks, the less common kinds of pooling, and normalisation across channels."""

from __future__ import annotations

from typing import Any

from twofold.nn import functional as F
from twofold.nn.create import repeated
from twofold.nn.module import Module
from twofold.support.errors import ValueRangeError
from twofold.tensors.core import Tensor

# ---- resampling --------------------------------------------------------------------------------------------------------------------------


class Upsample(Module):
    """Resampling of (N, C, *space) to `size`, or by `scale_factor`; see `nn.functional.interpolate`."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(f) for f in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The resampled input."""
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)

    def extra_repr(self) -> str:
        chosen = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{chosen}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resampling of (N, C, H, W), each output the nearest input."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Bilinear resampling of (N, C, H, W), the corner pixels' centres aligned."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


# ---- blocks ------------------------------------------------------------------------------------------------------------------------------


class Unfold(Module):
    """The blocks of (N, C, H, W) or (C, H, W) as columns (N, C * kernel, L)."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """Columns (N, C * kernel, L) added up at their blocks' places in (N, C, *output_size)."""

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The sum of the blocks."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


# ---- pooling -----------------------------------------------------------------------------------------------------------------------------


class _LPPool(Module):
    """(sum of x^p)^(1/p) over windows."""

    function = ""

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The pooled input."""
        pooled: Tensor = getattr(F, self.function)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        return pooled

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPool):
    """Power-average pooling of (N, C, L) or (C, L)."""

    function = "lp_pool1d"


class LPPool2d(_LPPool):
    """Power-average pooling of (N, C, H, W) or (C, H, W)."""

    function = "lp_pool2d"


class LPPool3d(_LPPool):
    """Power-average pooling of (N, C, D, H, W) or (C, D, H, W)."""

    function = "lp_pool3d"


class _MaxUnpool(Module):
    """Maxima put back where max pooling found them."""

    spatial = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self.spatial, "kernel_size")
        self.stride = repeated(kernel_size if stride is None else stride, self.spatial, "stride")
        self.padding = repeated(padding, self.spatial, "padding")

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The maxima at their places, zeros elsewhere; `output_size` chooses among the sizes that pool to the input's."""
        unpool = getattr(F, f"max_unpool{self.spatial}d")
        result: Tensor = unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)
        return result

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The inverse in part of MaxPool1d."""

    spatial = 1


class MaxUnpool2d(_MaxUnpool):
    """The inverse in part of MaxPool2d."""

    spatial = 2


class MaxUnpool3d(_MaxUnpool):
    """The inverse in part of MaxPool3d."""

    spatial = 3


class _FractionalMaxPool(Module):
    """Maxima of windows at places drawn at random."""

    spatial = 0

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        n, name = self.spatial, type(self).__name__
        self.kernel_size = repeated(kernel_size, n, "kernel_size")
        if min(self.kernel_size) <= 0:
            raise ValueRangeError(f"{name}: kernel_size must be above 0, not {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else repeated(output_size, n, "output_size")
        self.output_ratio = None if output_ratio is None else repeated(output_ratio, n, "output_ratio")
        if (output_size is None) == (output_ratio is None):
            raise ValueRangeError(f"{name}: exactly one of output_size and output_ratio must be given")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueRangeError(f"{name}: output_ratio must be between 0 and 1, not {output_ratio}")

    def forward(self, input: Tensor) -> Any:
        """The maxima; with `return_indices` (maxima, their flat positions in each plane)."""
        pool = getattr(F, f"fractional_max_pool{self.spatial}d")
        samples = self._random_samples
        return pool(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, _random_samples=samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling of (N, C, H, W) or (C, H, W): B. Graham, arXiv:1412.6071."""

    spatial = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling of (N, C, D, H, W) or (C, D, H, W): B. Graham, arXiv:1412.6071."""

    spatial = 3


# ---- channels ----------------------------------------------------------------------------------------------------------------------------


class LocalResponseNorm(Module):
    """x / (k + alpha * mean of x² over `size` neighbouring channels)^beta of (N, C, *)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class ChannelShuffle(Module):
    """The channels of (N, C, *) in `groups` rows, read column by column."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The input with its channels in the new order."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
