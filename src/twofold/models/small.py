"""Small networks of linear and convolution layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from twofold.nn.activation import ReLU
from twofold.nn.containers import Sequential
from twofold.nn.conv import Conv2d
from twofold.nn.dropout import Dropout
from twofold.nn.flatten import Flatten
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.nn.normalization import BatchNorm2d
from twofold.nn.pooling import AdaptiveAvgPool2d, MaxPool2d
from twofold.support.errors import ValueRangeError
from twofold.tensors.core import Tensor


class MLP(Module):
    """Linear layers with an activation (and dropout) between them: (*, sizes[0]) to (*, sizes[-1]).

    sizes: the widths, input and output included. `layers` is the Sequential of all.
    """

    def __init__(self, sizes: Sequence[int], activation: Callable[[], Module] = ReLU, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if len(sizes) < 2:
            raise ValueRangeError(f"MLP: needs at least an input and an output width, got {list(sizes)}")
        layers: list[Module] = []
        for i, (wide, narrow) in enumerate(pairwise(sizes)):
            if i:
                layers.append(activation())
                if dropout:
                    layers.append(Dropout(dropout))
            layers.append(Linear(wide, narrow, bias=bias))
        self.layers = Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """The output of the last layer."""
        return self.layers(x)


class ConvNet(Module):
    """3×3 convolutions, each with batch norm, ReLU and 2×2 maximum pooling, then the mean over the image and a linear layer.

    Images (N, in_channels, H, W), H and W at least 2**len(widths), to scores (N, num_classes).
    """

    def __init__(self, in_channels: int = 3, num_classes: int = 10, widths: Sequence[int] = (32, 64, 128), dropout: float = 0.0) -> None:
        super().__init__()
        layers: list[Module] = []
        channels = in_channels
        for width in widths:
            layers += [Conv2d(channels, width, 3, padding=1, bias=False), BatchNorm2d(width), ReLU(), MaxPool2d(2)]
            channels = width
        self.features = Sequential(*layers)
        self.pool = AdaptiveAvgPool2d(1)
        self.flatten = Flatten()
        self.dropout = Dropout(dropout)
        self.fc = Linear(channels, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the classes."""
        return self.fc(self.dropout(self.flatten(self.pool(self.features(x)))))
