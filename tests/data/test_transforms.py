"""Image transforms against NumPy and torch; random ones against what their settings promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.data import transforms as T
from twofold.support.errors import TwofoldError

IMAGE = np.random.default_rng(0).integers(0, 256, (3, 7, 9), np.uint8)


def image(kind: str = "float") -> Any:
    return twofold.from_numpy(IMAGE.astype(np.float32) / np.float32(255) if kind == "float" else IMAGE.copy())


def array(t: Any) -> Any:
    return t.numpy()


@pytest.fixture(autouse=True)
def seeded() -> None:
    twofold.manual_seed(0)


def test_to_tensor() -> None:
    np.testing.assert_array_equal(array(T.ToTensor()(IMAGE.transpose(1, 2, 0))), IMAGE.astype(np.float32) / np.float32(255))
    assert T.ToTensor()(np.zeros((4, 5), np.uint8)).shape == (1, 4, 5)
    wide = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(array(T.ToTensor()(wide)), wide[None])
    x = image()
    assert T.ToTensor()(x) is x
    assert T.ToTensor()(image("bytes")).dtype is twofold.float32


def test_to_dtype_keeps_black_and_white() -> None:
    ends = twofold.tensor([[[0, 255]]], dtype=twofold.uint8)
    as_float = T.ToDtype(twofold.float32, scale=True)(ends)
    assert as_float.tolist() == [[[0.0, 1.0]]]
    assert T.ConvertImageDtype(twofold.uint8)(as_float).tolist() == [[[0, 255]]]
    every = twofold.arange(256).to(twofold.uint8).reshape(1, 16, 16)
    back = T.ConvertImageDtype(twofold.uint8)(T.ConvertImageDtype(twofold.float32)(every))
    np.testing.assert_array_equal(array(back), array(every))
    assert T.ToDtype(twofold.float32)(ends).tolist() == [[[0.0, 255.0]]]


def test_normalize() -> None:
    x, mean, std = image(), (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)
    expected = (array(x) - np.float32(mean)[:, None, None]) / np.float32(std)[:, None, None]
    np.testing.assert_allclose(array(T.Normalize(mean, std)(x)), expected, rtol=1e-6)
    y = x.clone()
    assert T.Normalize(mean, std, inplace=True)(y) is y
    np.testing.assert_allclose(array(y), expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("kind", ["float", "bytes"])
def test_pad(mode: str, kind: str) -> None:
    x = image(kind)
    for padding, around in ((2, ((2, 2), (2, 2))), ((1, 3), ((3, 3), (1, 1))), ((1, 2, 3, 0), ((2, 0), (1, 3)))):
        out = T.Pad(padding, padding_mode=mode)(x)
        np.testing.assert_array_equal(array(out), np.pad(array(x), ((0, 0), *around), mode))  # type: ignore[call-overload]
        assert out.dtype is x.dtype


def test_crops() -> None:
    x = image()
    np.testing.assert_array_equal(array(T.CenterCrop((3, 5))(x)), array(x)[:, 2:5, 2:7])
    assert T.CenterCrop(11)(x).shape == (3, 11, 11)
    padded = np.pad(array(x), ((0, 0), (2, 2), (2, 2)))
    parts = {padded[:, i : i + 5, j : j + 6].tobytes() for i in range(7) for j in range(8)}
    seen = {array(T.RandomCrop((5, 6), padding=2)(x)).tobytes() for _ in range(60)}
    assert seen <= parts
    assert len(seen) > 20
    assert T.RandomCrop(20, pad_if_needed=True)(x).shape == (3, 20, 20)
    for _ in range(30):
        assert T.RandomResizedCrop((4, 6))(x).shape == (3, 4, 6)
    wide = twofold.zeros(3, 4, 400)
    assert T.RandomResizedCrop(8, scale=(1.0, 1.0), ratio=(1.0, 1.0))(wide).shape == (3, 8, 8)


def test_flips() -> None:
    x = image()
    for cls, axis in ((T.RandomHorizontalFlip, 2), (T.RandomVerticalFlip, 1)):
        np.testing.assert_array_equal(array(cls(1.0)(x)), np.flip(array(x), axis))
        assert cls(0.0)(x) is x
        turned = sum(cls(0.25)(x) is not x for _ in range(400))
        assert 60 < turned < 140


def test_resize() -> None:
    torch = pytest.importorskip("torch")
    F = torch.nn.functional
    x = image()
    for size, given in (((5, 4), (5, 4)), ((7, 18), (7, 18)), ((5, 6), 5)):
        expected = F.interpolate(torch.from_numpy(array(x))[None], size, mode="bilinear", antialias=True)[0].numpy()
        np.testing.assert_allclose(array(T.Resize(given)(x)), expected, atol=1e-5)
    low = F.interpolate(torch.from_numpy(IMAGE)[None].float(), (4, 5), mode="bicubic", antialias=True)[0].round().clamp(0, 255)
    mine = T.Resize((4, 5), "bicubic")(image("bytes"))
    assert mine.dtype is twofold.uint8
    assert abs(array(mine).astype(int) - low.numpy().astype(int)).max() <= 1
    assert T.Resize(10, max_size=11)(x).shape == (3, 9, 11)
    assert T.Resize((7, 9))(x) is x
    assert T.Resize(4)(twofold.zeros(2, 5, 3, 7, 9)).shape == (2, 5, 3, 4, 5)


def test_colours() -> None:
    x = image()
    gray = 0.299 * array(x)[0] + 0.587 * array(x)[1] + 0.114 * array(x)[2]
    np.testing.assert_allclose(array(T.Grayscale(3)(x)), np.stack([gray] * 3), rtol=1e-5)
    assert T.Grayscale()(image("bytes")).dtype is twofold.uint8
    darker = T.ColorJitter(brightness=(0.5, 0.5))(x)
    np.testing.assert_allclose(array(darker), array(x) * 0.5, rtol=1e-6)
    faded = T.ColorJitter(saturation=(0.0, 0.0))(x)
    np.testing.assert_allclose(array(faded), np.stack([gray] * 3), rtol=1e-5)
    flat = T.ColorJitter(contrast=(0.0, 0.0))(x)
    np.testing.assert_allclose(array(flat), np.full_like(array(x), gray.mean()), rtol=1e-5)
    for kind in ("float", "bytes"):
        y = image(kind)
        out = T.ColorJitter(0.4, 0.4, 0.4)(y)
        assert out.dtype is y.dtype
        assert out.min().item() >= 0
        assert out.max().item() <= T.greatest(y)
    assert T.ColorJitter()(x) is x


def test_erasing() -> None:
    x = twofold.ones(3, 20, 20)
    for value in (0, (0.1, 0.2, 0.3), "random"):
        out = T.RandomErasing(1.0, value=value)(x)
        changed = array(out)[0] != 1
        rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
        assert changed.sum() == len(rows) * len(columns) > 0, "a rectangle"
        assert (array(x) == 1).all()
    assert T.RandomErasing(0.0)(x) is x
    y = x.clone()
    assert T.RandomErasing(1.0, inplace=True)(y) is y
    assert (array(y) == 0).any()


def test_putting_together() -> None:
    x = image()
    both = T.Compose(
        [T.Lambda(lambda i: i * 2), T.RandomApply([T.Lambda(lambda i: i + 1)], p=1.0), T.RandomChoice([T.Lambda(lambda i: i - 1)])]
    )
    np.testing.assert_allclose(array(both(x)), array(x) * 2, rtol=1e-6)
    assert T.RandomApply([T.Lambda(lambda i: i + 1)], p=0.0)(x) is x
    assert repr(T.Compose([T.RandomHorizontalFlip(), T.Pad(2)])) == (
        "Compose(\n    RandomHorizontalFlip(p=0.5)\n    Pad(padding=(2, 2, 2, 2), fill=0, padding_mode='constant')\n)"
    )


def test_the_seed_fixes_random_transforms() -> None:
    train = T.Compose([T.RandomCrop(6, padding=1), T.RandomHorizontalFlip(), T.ColorJitter(0.3), T.RandomErasing()])

    def run() -> Any:
        twofold.manual_seed(7)
        return [array(train(image())) for _ in range(5)]

    for a, b in zip(run(), run(), strict=True):
        np.testing.assert_array_equal(a, b)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: T.RandomHorizontalFlip(1.5), ValueError, r"p must lie in \[0, 1\]"),
    (lambda: T.Normalize((0.5,), (0.0,)), ValueError, "std must not be zero"),
    (lambda: T.Normalize((0.5,), (1.0,))(image("bytes")), TypeError, "needs a float image"),
    (lambda: T.Normalize((0.5, 0.5), (1.0, 1.0))(image()), ValueError, "the image 3 channels"),
    (lambda: T.RandomCrop(20)(image()), ValueError, "pad_if_needed"),
    (lambda: T.CenterCrop(3)(IMAGE), TypeError, "ToTensor"),
    (lambda: T.CenterCrop(3)(twofold.zeros(4)), ValueError, "needs an image"),
    (lambda: T.Grayscale(2), ValueError, "1 or 3"),
    (lambda: T.Grayscale()(twofold.zeros(2, 4, 4)), ValueError, "1 or 3 channels"),
    (lambda: T.ColorJitter(-1), ValueError, "brightness"),
    (lambda: T.ColorJitter(contrast=(2, 1)), ValueError, "contrast"),
    (lambda: T.Pad((1, 2, 3)), ValueError, "padding is"),
    (lambda: T.Pad(1, padding_mode="wrap"), ValueError, "padding_mode"),
    (lambda: T.RandomErasing(value="noise"), ValueError, '"random"'),
    (lambda: T.RandomResizedCrop(4, scale=(0, 1)), ValueError, "scale and ratio"),
    (lambda: T.RandomChoice([]), ValueError, "at least one"),
    (lambda: T.Lambda(3), TypeError, "function"),  # type: ignore[arg-type]
    (lambda: T.ToTensor()("cat.png"), TypeError, "ToTensor needs"),
    (lambda: T.Resize((3, 4), max_size=5), ValueError, "max_size"),
]


@pytest.mark.parametrize("call, kind, text", BAD, ids=[f"{i}-{t}" for i, (_, _, t) in enumerate(BAD)])
def test_bad_input(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, TwofoldError)
