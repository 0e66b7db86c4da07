"""Residual networks: K. He et al., arXiv:1512.03385. Names of parameters and initial values are torchvision's, so that its weights load."""

from __future__ import annotations

from collections.abc import Sequence

from twofold.nn import init
from twofold.nn.activation import ReLU
from twofold.nn.containers import Sequential
from twofold.nn.conv import Conv2d
from twofold.nn.linear import Identity, Linear
from twofold.nn.module import Module
from twofold.nn.normalization import BatchNorm2d, GroupNorm
from twofold.nn.pooling import AdaptiveAvgPool2d, MaxPool2d
from twofold.support.errors import ValueRangeError
from twofold.tensors.core import Tensor


def conv3x3(in_planes: int, out_planes: int, stride: int = 1) -> Conv2d:
    """A 3×3 convolution that keeps the size (at stride 1), without bias."""
    return Conv2d(in_planes, out_planes, 3, stride, padding=1, bias=False)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> Conv2d:
    """A 1×1 convolution without bias."""
    return Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(Module):
    """Two 3×3 convolutions beside a shortcut: (N, inplanes, H, W) to (N, planes, H / stride, W / stride)."""

    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: Module | None = None) -> None:
        super().__init__()
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = BatchNorm2d(planes)
        self.relu = ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = BatchNorm2d(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """The block of `x`."""
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + shortcut)


class Bottleneck(Module):
    """1×1, 3×3 and 1×1 convolutions beside a shortcut: (N, inplanes, H, W) to (N, 4 planes, H / stride, W / stride).

    The stride is at the 3×3 convolution, as in torchvision.
    """

    expansion = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: Module | None = None) -> None:
        super().__init__()
        self.conv1 = conv1x1(inplanes, planes)
        self.bn1 = BatchNorm2d(planes)
        self.conv2 = conv3x3(planes, planes, stride)
        self.bn2 = BatchNorm2d(planes)
        self.conv3 = conv1x1(planes, planes * self.expansion)
        self.bn3 = BatchNorm2d(planes * self.expansion)
        self.relu = ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """The block of `x`."""
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + shortcut)


class ResNet(Module):
    """Images (N, in_channels, H, W) to scores (N, num_classes).

    layers: blocks in each of the four stages.
    stem: "imagenet", a 7×7 convolution of stride 2 and a 3×3 maximum pooling of stride 2; "cifar", a 3×3 convolution, for small images.
    zero_init_residual: each block begins as its shortcut alone (its last batch norm's weight is 0).
    width: channels of the stem and the first stage; each further stage has twice as many.
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        stem: str = "imagenet",
        zero_init_residual: bool = False,
        in_channels: int = 3,
        width: int = 64,
    ) -> None:
        super().__init__()
        if stem not in ("imagenet", "cifar"):
            raise ValueRangeError(f'ResNet: stem must be "imagenet" or "cifar", not {stem!r}')
        large = stem == "imagenet"
        self.inplanes = width
        self.conv1 = Conv2d(in_channels, width, 7, stride=2, padding=3, bias=False) if large else conv3x3(in_channels, width)
        self.bn1 = BatchNorm2d(width)
        self.relu = ReLU(inplace=True)
        self.maxpool = MaxPool2d(3, stride=2, padding=1) if large else Identity()
        self.layer1 = self._stage(block, width, layers[0], 1)
        self.layer2 = self._stage(block, 2 * width, layers[1], 2)
        self.layer3 = self._stage(block, 4 * width, layers[2], 2)
        self.layer4 = self._stage(block, 8 * width, layers[3], 2)
        self.avgpool = AdaptiveAvgPool2d((1, 1))
        self.fc = Linear(8 * width * block.expansion, num_classes)
        self._initialise(zero_init_residual)

    def _stage(self, block: type[BasicBlock] | type[Bottleneck], planes: int, blocks: int, stride: int) -> Sequential:
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = Sequential(conv1x1(self.inplanes, planes * block.expansion, stride), BatchNorm2d(planes * block.expansion))
        made: list[Module] = [block(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes * block.expansion
        made += [block(self.inplanes, planes) for _ in range(1, blocks)]
        return Sequential(*made)

    def _initialise(self, zero_init_residual: bool) -> None:
        for module in self.modules():
            if isinstance(module, Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (BatchNorm2d, GroupNorm)):
                init.ones_(module.weight)
                init.zeros_(module.bias)
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, BasicBlock):
                    init.zeros_(module.bn2.weight)
                elif isinstance(module, Bottleneck):
                    init.zeros_(module.bn3.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the classes."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(num_classes: int = 1000, stem: str = "imagenet", zero_init_residual: bool = False, in_channels: int = 3) -> ResNet:
    """ResNet-18: 11.7 million parameters."""
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes, stem, zero_init_residual, in_channels)


def resnet34(num_classes: int = 1000, stem: str = "imagenet", zero_init_residual: bool = False, in_channels: int = 3) -> ResNet:
    """ResNet-34: 21.8 million parameters."""
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes, stem, zero_init_residual, in_channels)


def resnet50(num_classes: int = 1000, stem: str = "imagenet", zero_init_residual: bool = False, in_channels: int = 3) -> ResNet:
    """ResNet-50: 25.6 million parameters."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, stem, zero_init_residual, in_channels)


def resnet101(num_classes: int = 1000, stem: str = "imagenet", zero_init_residual: bool = False, in_channels: int = 3) -> ResNet:
    """ResNet-101: 44.5 million parameters."""
    return ResNet(Bottleneck, (3, 4, 23, 3), num_classes, stem, zero_init_residual, in_channels)
