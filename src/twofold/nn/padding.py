"""Padding layers."""

from __future__ import annotations

from typing import Any

from twofold.nn import functional as F
from twofold.nn.create import repeated
from twofold.nn.module import Module
from twofold.support.errors import ShapeError
from twofold.tensors.core import Tensor


class _Pad(Module):
    """Padding of the last `spatial` dimensions: one number, or (before, after) of the last dimension, of the one before it, …"""

    spatial = 0
    mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = repeated(padding, 2 * self.spatial, "padding")

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, mode=self.mode)

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPad(_Pad):
    """Padding with a number."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, mode="constant", value=self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Padding of the last dimension with a number."""

    spatial = 1


class ConstantPad2d(_ConstantPad):
    """Padding of the last 2 dimensions with a number."""

    spatial = 2


class ConstantPad3d(_ConstantPad):
    """Padding of the last 3 dimensions with a number."""

    spatial = 3


class _ZeroPad(_ConstantPad):
    """Padding with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad1d(_ZeroPad):
    """Padding of the last dimension with zeros."""

    spatial = 1


class ZeroPad2d(_ZeroPad):
    """Padding of the last 2 dimensions with zeros."""

    spatial = 2


class ZeroPad3d(_ZeroPad):
    """Padding of the last 3 dimensions with zeros."""

    spatial = 3


class ReflectionPad1d(_Pad):
    """Padding of the last dimension by reflection at its ends."""

    spatial, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Padding of the last 2 dimensions by reflection at their ends."""

    spatial, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Padding of the last 3 dimensions by reflection at their ends."""

    spatial, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Padding of the last dimension with the values at its ends."""

    spatial, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Padding of the last 2 dimensions with the values at their ends."""

    spatial, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Padding of the last 3 dimensions with the values at their ends."""

    spatial, mode = 3, "replicate"


class _CircularPad(_Pad):
    """Padding from the other end."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """The padded input, which has one or two more dimensions than are padded."""
        if input._type.ndim not in (self.spatial + 1, self.spatial + 2):
            raise ShapeError(
                f"{self._get_name()}: expects an input of {self.spatial + 1} or {self.spatial + 2} dimensions, "
                f"this one has shape {tuple(input._type.shape)}"
            )
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """Padding of the last dimension from its other end."""

    spatial = 1


class CircularPad2d(_CircularPad):
    """Padding of the last 2 dimensions from their other ends."""

    spatial = 2


class CircularPad3d(_CircularPad):
    """Padding of the last 3 dimensions from their other ends."""

    spatial = 3
