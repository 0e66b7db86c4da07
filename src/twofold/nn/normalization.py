"""Normalisation layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from twofold.ir.mode import grad_mode
from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.create import counter, new_parameter, new_tensor
from twofold.nn.module import Module
from twofold.support.errors import ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS


class _RunningNorm(Module):
    """Batch and instance normalisation: affine parameters and running statistics of channels."""

    dims: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: Any,
        dtype: Any,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        n = (num_features,)
        self.register_parameter("weight", new_parameter(n, device, dtype) if affine else None)
        self.register_parameter("bias", new_parameter(n, device, dtype) if affine and bias else None)
        self.register_buffer("running_mean", new_tensor(n, 0.0, device, dtype) if track_running_stats else None)
        self.register_buffer("running_var", new_tensor(n, 1.0, device, dtype) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", counter(device) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batch seen."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, running statistics as at the beginning."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check(self, input: Tensor) -> None:
        if input._type.ndim not in self.dims:
            wanted = " or ".join(f"{d}" for d in self.dims)
            raise ShapeError(f"{self._get_name()}: expects an input of {wanted} dimensions, this one has shape {tuple(input._type.shape)}")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_RunningNorm):
    """Batch normalisation."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each channel over the batch (in evaluation mode by the running statistics, where they are kept).

        In training the running statistics move by `momentum`; with momentum None they are the plain average of all batches.
        """
        self._check(input)
        counts = self.training and self.track_running_stats and self.num_batches_tracked is not None
        if counts:
            self.num_batches_tracked.add_(1)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        keep = not self.training or self.track_running_stats
        kept: list[Any] = [self.running_mean, self.running_var] if keep else [None, None]
        average = counts and self.momentum is None
        # for the average, batch_norm writes the statistics of this batch alone into tensors of their own
        mean, var = (FUNCTIONS["zeros_like"](t) if average and t is not None else t for t in kept)
        factor = 1.0 if average else 0.0 if self.momentum is None else self.momentum
        out = F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, factor, self.eps)
        if average:
            with grad_mode(False):
                for t, new in zip(kept, (mean, var), strict=True):
                    if t is not None:
                        t.add_((new - t) / self.num_batches_tracked)
        return out


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    dims = (5,)


class _InstanceNorm(_RunningNorm):
    """Instance normalisation."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each channel of each sample. An input without the batch dimension is taken as one sample."""
        self._check(input)
        channel = input._type.ndim - self.dims[-1] + 1
        if input._type.shape[channel] != self.num_features:
            raise ShapeError(
                f"{self._get_name()}: expects {self.num_features} channels in dimension {channel}, "
                f"the input has shape {tuple(input._type.shape)}"
            )
        alone = input._type.ndim == self.dims[0]
        result = F.instance_norm(
            F.unsqueeze(input, 0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return F.squeeze(result, 0) if alone else result


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L)."""

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W)."""

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W)."""

    dims = (4, 5)


def _sizes(normalized_shape: Any) -> tuple[int, ...]:
    return tuple(normalized_shape) if isinstance(normalized_shape, Iterable) else (normalized_shape,)


class LayerNorm(Module):
    """Normalisation over the last dimensions, which are `normalized_shape`; weight and bias of that shape."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", new_parameter(shape, device, dtype) if elementwise_affine else None)
        self.register_parameter("bias", new_parameter(shape, device, dtype) if elementwise_affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class RMSNorm(Module):
    """Division by the root mean square over the last dimensions, which are `normalized_shape`. eps None: the dtype's machine epsilon."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", new_parameter(self.normalized_shape, device, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalisation of each of `num_groups` groups of channels of each sample; weight and bias of one element a channel."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueRangeError(f"GroupNorm: num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.register_parameter("weight", new_parameter((num_channels,), device, dtype) if affine else None)
        self.register_parameter("bias", new_parameter((num_channels,), device, dtype) if affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
