"""Transforms of images, with the names of `torchvision.transforms`, for tensors (..., C, H, W).

Random ones draw from Twofold's default generator, so `twofold.manual_seed` (and the seed a DataLoader gives its workers) fixes them. Images
are float tensors in [0, 1] or uint8 tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.data.images import in_unit
from twofold.ir.dtypes import DType, as_dtype, float32
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.functions import FUNCTIONS

Transform = Callable[[Any], Any]
GRAY = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the luma of ITU-R BT.601."""


# ---- what the transforms share -----------------------------------------------------------------------------------------------------------


def draw(low: float = 0.0, high: float = 1.0) -> float:
    """One uniform number of [low, high)."""
    return low + (high - low) * float(FUNCTIONS["rand"](()).item())


def draw_int(n: int) -> int:
    """One of 0 ... n - 1."""
    return int(FUNCTIONS["randint"](0, n, ()).item())


def check_image(image: Any, name: str) -> tuple[int, int]:
    """(height, width) of an image tensor."""
    if not isinstance(image, Tensor):
        raise ArgumentError(f"{name} needs an image as a tensor (C, H, W), not {type(image).__name__}; ToTensor() makes one")
    if image.dim() < 2:
        raise ShapeError(f"{name} needs an image (..., H, W), not the shape {tuple(image.shape)}")
    return int(image.shape[-2]), int(image.shape[-1])


def pair(value: Any, name: str) -> tuple[int, int]:
    """A size as (height, width)."""
    if isinstance(value, int):
        return value, value
    if len(value) == 1:
        return value[0], value[0]
    if len(value) != 2:
        raise ValueRangeError(f"{name}: a size is one number or (height, width), not {value!r}")
    return value[0], value[1]


def four(padding: Any, name: str) -> tuple[int, int, int, int]:
    """Padding as (left, top, right, bottom)."""
    if isinstance(padding, int):
        return (padding,) * 4
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    if len(padding) == 4:
        return tuple(padding)
    raise ValueRangeError(f"{name}: padding is one number, (left and right, top and bottom) or (left, top, right, bottom), not {padding!r}")


def probability(p: float, name: str) -> float:
    """A number of [0, 1]."""
    if not 0 <= p <= 1:
        raise ValueRangeError(f"{name}: p must lie in [0, 1], not {p!r}")
    return float(p)


def crop(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """A part of an image (a view)."""
    return image[..., top : top + height, left : left + width]


def pad(image: Tensor, padding: tuple[int, int, int, int], fill: float, mode: str) -> Tensor:
    """An image with a border; `mode` is "constant", "edge", "reflect" or "symmetric"."""
    left, top, right, bottom = padding
    if mode == "constant":
        return FUNCTIONS["pad"](image, (left, right, top, bottom), "constant", fill)
    height, width = int(image.shape[-2]), int(image.shape[-1])
    rows, columns = (wrap(np.pad(np.arange(n), around, mode)) for n, around in ((height, (top, bottom)), (width, (left, right))))  # type: ignore[call-overload]
    return image.index_select(-2, rows).index_select(-1, columns)


def resize(image: Tensor, size: tuple[int, int], interpolation: str, antialias: bool) -> Tensor:
    """An image of another size; bytes are computed in float32 and rounded."""
    if tuple(image.shape[-2:]) == size:
        return image
    kind = image.dtype
    batch = image if kind.is_floating_point else image.to(float32)
    lead = tuple(batch.shape[:-3])
    flat = batch.reshape(math.prod(lead), *batch.shape[-3:]) if batch.dim() != 4 else batch
    smooth = interpolation in ("bilinear", "bicubic")
    out = FUNCTIONS["interpolate"](flat, size=size, mode=interpolation, antialias=antialias and smooth)
    out = out.reshape(*lead, *out.shape[-3:])
    return out if kind.is_floating_point else out.round().clamp(0, 255).to(kind)


def greatest(image: Tensor) -> float:
    """White: 1 for floats, the largest value for integers."""
    dtype = image.dtype
    return 1.0 if dtype.is_floating_point else float(np.iinfo(dtype.numpy).max)


def blend(a: Tensor, b: Any, ratio: float) -> Tensor:
    """ratio a + (1 - ratio) b, within black and white, in a's dtype."""
    mixed = (a.to(float32) if not a.dtype.is_floating_point else a) * ratio + b * (1 - ratio)
    mixed = mixed.clamp(0, greatest(a))
    return mixed if a.dtype.is_floating_point else mixed.to(a.dtype)


def luma(image: Tensor) -> Tensor:
    """The gray image (..., 1, H, W) of a colour image, float."""
    if image.dim() < 3 or image.shape[-3] not in (1, 3):
        raise ShapeError(f"an image of 1 or 3 channels is needed, not the shape {tuple(image.shape)}")
    values = image if image.dtype.is_floating_point else image.to(float32)
    if image.shape[-3] == 1:
        return values
    parts = [values[..., i : i + 1, :, :] * weight for i, weight in enumerate(GRAY)]
    return parts[0] + parts[1] + parts[2]


class _Shown:
    """The repr: the class's name and its settings."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items() if not k.startswith('_'))})"


# ---- putting transforms together ---------------------------------------------------------------------------------------------------------


class Compose:
    """Several transforms, one after the other."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = list(transforms)

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image

    def __repr__(self) -> str:
        return "Compose(\n" + "".join(f"    {t}\n" for t in self.transforms) + ")"


class Lambda(_Shown):
    """A function of yours."""

    def __init__(self, lambd: Transform) -> None:
        if not callable(lambd):
            raise ArgumentError(f"Lambda needs a function, not {type(lambd).__name__}")
        self.lambd = lambd

    def __call__(self, image: Any) -> Any:
        return self.lambd(image)


class RandomApply(_Shown):
    """All the transforms with probability p, else none."""

    def __init__(self, transforms: Sequence[Transform], p: float = 0.5) -> None:
        self.transforms, self.p = list(transforms), probability(p, "RandomApply")

    def __call__(self, image: Any) -> Any:
        return Compose(self.transforms)(image) if draw() < self.p else image


class RandomChoice(_Shown):
    """One of the transforms, each as likely as another."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        if not transforms:
            raise ValueRangeError("RandomChoice needs at least one transform")
        self.transforms = list(transforms)

    def __call__(self, image: Any) -> Any:
        return self.transforms[draw_int(len(self.transforms))](image)


# ---- dtypes and values -------------------------------------------------------------------------------------------------------------------


class ToTensor(_Shown):
    """A NumPy array (H, W) or (H, W, C), or a PIL image, as a tensor (C, H, W): bytes become float32 in [0, 1], other dtypes stay.

    A tensor is taken as it is, but for uint8, which becomes float32 in [0, 1].
    """

    def __call__(self, image: Any) -> Tensor:
        if isinstance(image, Tensor):
            return ToDtype(float32, scale=True)(image) if image.dtype.name == "uint8" else image
        array = np.asarray(image)
        if array.ndim not in (2, 3) or array.dtype.kind not in "uifb":
            raise ArgumentError(f"ToTensor needs an image (H, W) or (H, W, C), not {type(image).__name__} of shape {array.shape}")
        array = np.array(array[None] if array.ndim == 2 else array.transpose(2, 0, 1), order="C")
        return wrap(in_unit(array) if array.dtype == np.uint8 else array)


class ToDtype(_Shown):
    """Another dtype; with `scale` black stays black and white stays white (integers have 0 ... their largest value, floats 0 ... 1)."""

    def __init__(self, dtype: DType, scale: bool = False) -> None:
        self.dtype, self.scale = as_dtype(dtype), scale

    def __call__(self, image: Tensor) -> Tensor:
        check_image(image, "ToDtype")
        if image.dtype is self.dtype or not self.scale:
            return image.to(self.dtype)
        if self.dtype.is_floating_point:
            return image.to(self.dtype) if image.dtype.is_floating_point else image.to(self.dtype) / greatest(image)
        top = float(np.iinfo(self.dtype.numpy).max)
        if image.dtype.is_floating_point:
            return (image * (top + 1.0 - 1e-3)).to(self.dtype)
        return (image.to(float32) * (top / greatest(image))).to(self.dtype)


class ConvertImageDtype(ToDtype):
    """`ToDtype` that scales."""

    def __init__(self, dtype: DType) -> None:
        super().__init__(dtype, scale=True)


class Normalize(_Shown):
    """(image - mean) / std for each channel, floats only."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean, self.std, self.inplace = mean, std, inplace
        values = [np.asarray(v._array if isinstance(v, Tensor) else v, np.float64).reshape(-1) for v in (mean, std)]
        if (values[1] == 0).any():
            raise ValueRangeError(f"Normalize: std must not be zero, got {std!r}")
        self._values = values

    def __call__(self, image: Tensor) -> Tensor:
        check_image(image, "Normalize")
        if not image.dtype.is_floating_point:
            raise DTypeError(f"Normalize needs a float image, not {image.dtype.name}; ToTensor() or ToDtype(float32, scale=True) makes one")
        channels = image.shape[-3] if image.dim() > 2 else 1
        if any(v.size not in (1, channels) for v in self._values):
            raise ShapeError(f"Normalize has {self._values[0].size} means and {self._values[1].size} stds, the image {channels} channels")
        mean, std = (wrap(v.astype(image.dtype.numpy).reshape(-1, 1, 1)) for v in self._values)
        return image.sub_(mean).div_(std) if self.inplace else (image - mean) / std


class Grayscale(_Shown):
    """The gray image, in 1 or 3 equal channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels not in (1, 3):
            raise ValueRangeError(f"Grayscale: num_output_channels must be 1 or 3, not {num_output_channels!r}")
        self.num_output_channels = num_output_channels

    def __call__(self, image: Tensor) -> Tensor:
        check_image(image, "Grayscale")
        gray = luma(image).to(image.dtype)
        return gray if self.num_output_channels == 1 else FUNCTIONS["cat"]([gray] * 3, -3)


class ColorJitter(_Shown):
    """Brightness, contrast and saturation changed by random factors, in random order.

    Each is a number x, for factors of [max(0, 1 - x), 1 + x], or (low, high); 0 leaves it as it is.
    """

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0) -> None:
        self.brightness, self.contrast, self.saturation = (
            self._range(v, name) for v, name in ((brightness, "brightness"), (contrast, "contrast"), (saturation, "saturation"))
        )

    @staticmethod
    def _range(value: Any, name: str) -> tuple[float, float] | None:
        low, high = (max(0.0, 1.0 - value), 1.0 + value) if isinstance(value, (int, float)) else tuple(value)
        if low > high or low < 0 or (isinstance(value, (int, float)) and value < 0):
            raise ValueRangeError(f"ColorJitter: {name} must be a number of at least 0 or (low, high), not {value!r}")
        return None if low == high == 1.0 else (low, high)

    def __call__(self, image: Tensor) -> Tensor:
        check_image(image, "ColorJitter")
        order = FUNCTIONS["randperm"](3).tolist()
        factors = [None if r is None else draw(*r) for r in (self.brightness, self.contrast, self.saturation)]
        for which in order:
            factor = factors[which]
            if factor is None:
                continue
            if which == 0:
                image = blend(image, 0.0, factor)
            elif which == 1:
                gray = luma(image)
                image = blend(image, (gray if image.dtype.is_floating_point else gray.floor()).mean((-3, -2, -1), keepdim=True), factor)
            else:
                gray = luma(image)
                image = blend(image, gray if image.dtype.is_floating_point else gray.floor(), factor)
        return image


# ---- shapes ------------------------------------------------------------------------------------------------------------------------------


class Resize(_Shown):
    """Another size: (height, width), or one number for the shorter side, the other in proportion.

    interpolation: "nearest", "nearest-exact", "bilinear" or "bicubic".
    """

    def __init__(self, size: Any, interpolation: str = "bilinear", max_size: int | None = None, antialias: bool = True) -> None:
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias
        if max_size is not None and not isinstance(size, int):
            raise ValueRangeError("Resize: max_size needs a size of one number")

    def __call__(self, image: Tensor) -> Tensor:
        height, width = check_image(image, "Resize")
        if not isinstance(self.size, int) and len(self.size) == 2:
            return resize(image, (self.size[0], self.size[1]), self.interpolation, self.antialias)
        short = self.size if isinstance(self.size, int) else self.size[0]
        long = int(short * max(height, width) / min(height, width))
        if self.max_size is not None and long > self.max_size:
            short, long = int(self.max_size * short / long), self.max_size
        return resize(image, (short, long) if height <= width else (long, short), self.interpolation, self.antialias)


class Pad(_Shown):
    """A border of one width, (left and right, top and bottom) or (left, top, right, bottom)."""

    def __init__(self, padding: Any, fill: float = 0, padding_mode: str = "constant") -> None:
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueRangeError(f"padding_mode must be constant, edge, reflect or symmetric, not {padding_mode!r}")
        self.padding, self.fill, self.padding_mode = four(padding, "Pad"), fill, padding_mode

    def __call__(self, image: Tensor) -> Tensor:
        check_image(image, "Pad")
        return pad(image, self.padding, self.fill, self.padding_mode)


class CenterCrop(_Shown):
    """The middle part of this size; a smaller image gets a black border."""

    def __init__(self, size: Any) -> None:
        self.size = pair(size, "CenterCrop")

    def __call__(self, image: Tensor) -> Tensor:
        height, width = check_image(image, "CenterCrop")
        tall, wide = self.size
        if tall > height or wide > width:
            missing_y, missing_x = max(tall - height, 0), max(wide - width, 0)
            image = pad(image, (missing_x // 2, missing_y // 2, (missing_x + 1) // 2, (missing_y + 1) // 2), 0, "constant")
            height, width = check_image(image, "CenterCrop")
        return crop(image, round((height - tall) / 2.0), round((width - wide) / 2.0), tall, wide)


class RandomCrop(_Shown):
    """A part of this size at a random place, after padding as by `Pad`; pad_if_needed: smaller images are padded."""

    def __init__(
        self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: float = 0, padding_mode: str = "constant"
    ) -> None:
        self.size = pair(size, "RandomCrop")
        self.padding = None if padding is None else Pad(padding, fill, padding_mode)
        self.pad_if_needed, self.fill, self.padding_mode = pad_if_needed, fill, padding_mode

    def __call__(self, image: Tensor) -> Tensor:
        height, width = check_image(image, "RandomCrop")
        if self.padding is not None:
            image = self.padding(image)
        tall, wide = self.size
        height, width = check_image(image, "RandomCrop")
        if self.pad_if_needed and (height < tall or width < wide):
            x, y = max(wide - width, 0), max(tall - height, 0)
            image = pad(image, (x, y, x, y), self.fill, self.padding_mode)
            height, width = check_image(image, "RandomCrop")
        if height < tall or width < wide:
            raise ShapeError(
                f"RandomCrop: an image of {height} x {width} has no part of {tall} x {wide}; pass padding or pad_if_needed=True"
            )
        return crop(image, draw_int(height - tall + 1), draw_int(width - wide + 1), tall, wide)


class RandomResizedCrop(_Shown):
    """A part of random area (`scale`, parts of the whole) and shape (`ratio`, width to height), resized to `size`."""

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        antialias: bool = True,
    ) -> None:
        self.size, self.scale, self.ratio = pair(size, "RandomResizedCrop"), scale, ratio
        self.interpolation, self.antialias = interpolation, antialias
        if not 0 < scale[0] <= scale[1] or not 0 < ratio[0] <= ratio[1]:
            raise ValueRangeError(f"RandomResizedCrop: scale and ratio are (low, high) above 0, not {scale!r} and {ratio!r}")

    def _part(self, height: int, width: int) -> tuple[int, int, int, int]:
        """(top, left, height, width); after ten that do not fit, the largest middle part of an allowed shape."""
        for _ in range(10):
            area = height * width * draw(*self.scale)
            shape = math.exp(draw(math.log(self.ratio[0]), math.log(self.ratio[1])))
            wide, tall = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if 0 < wide <= width and 0 < tall <= height:
                return draw_int(height - tall + 1), draw_int(width - wide + 1), tall, wide
        shape = min(max(width / height, self.ratio[0]), self.ratio[1])
        wide, tall = min(width, max(round(height * shape), 1)), min(height, max(round(width / shape), 1))
        return (height - tall) // 2, (width - wide) // 2, tall, wide

    def __call__(self, image: Tensor) -> Tensor:
        part = self._part(*check_image(image, "RandomResizedCrop"))
        return resize(crop(image, *part), self.size, self.interpolation, self.antialias)


class RandomHorizontalFlip(_Shown):
    """Left and right exchanged with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = probability(p, "RandomHorizontalFlip")

    def __call__(self, image: Tensor) -> Tensor:
        check_image(image, "RandomHorizontalFlip")
        return image.flip(-1) if draw() < self.p else image


class RandomVerticalFlip(_Shown):
    """Top and bottom exchanged with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = probability(p, "RandomVerticalFlip")

    def __call__(self, image: Tensor) -> Tensor:
        check_image(image, "RandomVerticalFlip")
        return image.flip(-2) if draw() < self.p else image


class RandomErasing(_Shown):
    """A random rectangle filled with `value` (a number, one a channel, or "random" for noise) with probability p (arXiv:1708.04896)."""

    def __init__(
        self,
        p: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
    ) -> None:
        self.p, self.scale, self.ratio, self.value, self.inplace = probability(p, "RandomErasing"), scale, ratio, value, inplace
        if not 0 <= scale[0] <= scale[1] <= 1 or not 0 < ratio[0] <= ratio[1]:
            raise ValueRangeError(f"RandomErasing: scale lies in [0, 1] and ratio above 0, (low, high), not {scale!r} and {ratio!r}")
        if isinstance(value, str) and value != "random":
            raise ValueRangeError(f'RandomErasing: value is a number, one a channel, or "random", not {value!r}')

    def __call__(self, image: Tensor) -> Tensor:
        height, width = check_image(image, "RandomErasing")
        if draw() >= self.p:
            return image
        for _ in range(10):
            area = height * width * draw(*self.scale)
            shape = math.exp(draw(math.log(self.ratio[0]), math.log(self.ratio[1])))
            tall, wide = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if tall < height and wide < width:
                top, left = draw_int(height - tall + 1), draw_int(width - wide + 1)
                image = image if self.inplace else image.clone()
                part = crop(image, top, left, tall, wide)
                if self.value == "random":
                    part.copy_(FUNCTIONS["randn"](tuple(part.shape)).to(part.dtype))
                else:
                    part.copy_(wrap(np.asarray(self.value, image.dtype.numpy).reshape(-1, 1, 1)))
                break
        return image
