"""A small convolutional net for 8×8 digits."""

from __future__ import annotations

from twofold.nn.activation import ReLU
from twofold.nn.conv import Conv2d
from twofold.nn.flatten import Flatten
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.nn.pooling import MaxPool2d
from twofold.tensors.core import Tensor


class DigitsNet(Module):
    """Two 3×3 convolutions, one 2×2 maximum pooling, one linear layer: images (N, 1, 8, 8) to scores (N, 10)."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = Conv2d(1, 16, 3, padding=1)
        self.conv2 = Conv2d(16, 32, 3, padding=1)
        self.relu = ReLU()
        self.pool = MaxPool2d(2)
        self.flatten = Flatten()
        self.fc = Linear(32 * 4 * 4, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the classes."""
        x = self.relu(self.conv1(x))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc(self.flatten(x))
