"""What the data sets of labelled images share: images and labels in memory, transforms, batches at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from twofold.data.dataset import Dataset
from twofold.support.errors import UnsupportedError
from twofold.tensors.core import Tensor, wrap


def in_unit(bytes_: Any) -> Any:
    """An array of bytes 0 ... 255 as float32 in [0, 1]."""
    return bytes_.astype(np.float32) / np.float32(255)


class LabelledImages(Dataset[tuple[Any, Any]]):
    """Samples are (image, label): the image a float32 tensor (C, H, W) in [0, 1], the label an int.

    data: all images as they are stored, uint8 (N, C, H, W);  targets: all labels, int64 (N,).
    transform, target_transform: functions applied to a sample's image and label.
    """

    classes: ClassVar[tuple[str, ...]] = ()
    data: Tensor
    targets: Tensor

    def __init__(
        self,
        images: Any,
        labels: Any,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        self.data, self.targets = wrap(np.ascontiguousarray(images)), wrap(np.asarray(labels, np.int64))
        self.transform, self.target_transform = transform, target_transform

    def __len__(self) -> int:
        return int(self.data._type.shape[0])

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image: Any = wrap(in_unit(self.data._array[index]))
        label: Any = int(self.targets._array[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label

    def _collated(self, indices: list[int]) -> Any:
        if self.transform is not None or self.target_transform is not None or "__getitem__" in type(self).__dict__:
            return super()._collated(indices)
        return [wrap(in_unit(self.data._array[indices])), wrap(self.targets._array[indices])]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} images of {' x '.join(map(str, self.data._type.shape[1:]))})"


def refuse_download(download: bool, name: str, where: str) -> None:
    """Nothing is fetched from the net."""
    if download:
        raise UnsupportedError(f"{name}: nothing is downloaded here; {where}")
