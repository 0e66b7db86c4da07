"""ResNet as torchvision builds it, written with torch: the twin that ours is compared with."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def conv(i: int, o: int, k: int, stride: int = 1, padding: int = 0) -> Any:
    return nn.Conv2d(i, o, k, stride, padding, bias=False)


class Block(nn.Module):
    def __init__(self, i: int, planes: int, stride: int, deep: bool) -> None:
        super().__init__()
        o = planes * (4 if deep else 1)
        sizes = [(i, planes, 1, 1), (planes, planes, 3, stride), (planes, o, 1, 1)] if deep else [(i, planes, 3, stride), (planes, o, 3, 1)]
        for n, (a, b, k, s) in enumerate(sizes, 1):
            setattr(self, f"conv{n}", conv(a, b, k, s, k // 2))
            setattr(self, f"bn{n}", nn.BatchNorm2d(b))
        self.count = len(sizes)
        self.downsample = nn.Sequential(conv(i, o, 1, stride), nn.BatchNorm2d(o)) if stride != 1 or i != o else None

    def forward(self, x: Any) -> Any:
        y = x
        for n in range(1, self.count + 1):
            y = getattr(self, f"bn{n}")(getattr(self, f"conv{n}")(y))
            y = torch.relu(y) if n < self.count else y
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


class TorchResNet(nn.Module):
    def __init__(self, deep: bool, layers: tuple[int, ...], classes: int = 1000, small: bool = False, width: int = 64) -> None:
        super().__init__()
        self.conv1 = conv(3, width, 3, 1, 1) if small else conv(3, width, 7, 2, 3)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
        i = width
        for n, (blocks, planes) in enumerate(zip(layers, (1, 2, 4, 8), strict=True), 1):
            planes *= width
            made = []
            for b in range(blocks):
                made.append(Block(i, planes, 2 if n > 1 and b == 0 else 1, deep))
                i = planes * (4 if deep else 1)
            setattr(self, f"layer{n}", nn.Sequential(*made))
        self.fc = nn.Linear(i, classes)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        for n in range(1, 5):
            x = getattr(self, f"layer{n}")(x)
        return self.fc(x.mean((2, 3)))
