"""ResNet against its twin in torch, MLP, ConvNet; all of them recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import models, nn
from twofold.errors import ValueRangeError

SIZES = {"resnet18": (11_689_512, 122), "resnet34": (21_797_672, 218), "resnet50": (25_557_032, 320), "resnet101": (44_549_160, 626)}
"""Parameters and entries of the state dict, as torchvision's."""


def images(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from tests.models.torch_resnet import TorchResNet

    monkeypatch.setattr(nn.init, "kaiming_normal_", lambda t, **_: t)  # drawing 44 million numbers takes seconds
    monkeypatch.setattr(nn.init, "kaiming_uniform_", lambda t, **_: t)
    model = getattr(models, name)()
    parameters, entries = SIZES[name]
    assert sum(p.numel() for p in model.parameters()) == parameters
    assert len(model.state_dict()) == entries
    layers = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3), "resnet50": (3, 4, 6, 3), "resnet101": (3, 4, 23, 3)}[name]
    with torch.device("meta"):
        twin = TorchResNet(name in ("resnet50", "resnet101"), layers)
    shapes = {n: tuple(t.shape) for n, t in twin.state_dict().items()}
    assert {n: tuple(t.shape) for n, t in model.state_dict().items()} == shapes
    assert list(model.state_dict())[:7] == [
        "conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var", "bn1.num_batches_tracked", "layer1.0.conv1.weight",
    ]  # fmt: skip


def test_initial_values() -> None:
    twofold.manual_seed(1)
    model = models.resnet18(num_classes=10)
    for name, p in model.named_parameters():
        a = p.detach().numpy()
        if a.ndim == 4:
            deviation = np.sqrt(2.0 / (a.shape[0] * a.shape[2] * a.shape[3]))
            assert abs(a.std() / deviation - 1) < 0.05, name
            assert abs(a.mean()) < 5 * deviation / np.sqrt(a.size), name
        elif name.startswith("fc"):
            assert np.abs(a).max() <= 1 / np.sqrt(512)
        else:
            assert (a == (1 if name.endswith("weight") else 0)).all(), name
    model = models.resnet18(zero_init_residual=True)
    assert model.layer1[0].bn2.weight.sum().item() == 0
    assert model.layer1[0].bn1.weight.sum().item() == 64
    with pytest.raises(ValueRangeError, match="stem"):
        models.resnet18(stem="other")


@pytest.mark.parametrize("train", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("deep, stem, size", [(False, "imagenet", 64), (True, "cifar", 16)])
def test_against_torch(deep: bool, stem: str, size: int, train: bool) -> None:
    pytest.importorskip("torch")
    from tests.models.compare import assert_same
    from tests.models.torch_resnet import TorchResNet

    twofold.manual_seed(2)
    model = models.ResNet(models.Bottleneck if deep else models.BasicBlock, (1, 2, 1, 1), 10, stem, width=8)
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.normal_(0.0, 0.1)
            m.running_var.uniform_(0.5, 2.0)
            m.weight.data.uniform_(0.5, 1.5)
            m.bias.data.normal_(0.0, 0.1)
    model.train(train)
    twin = TorchResNet(deep, (1, 2, 1, 1), 10, stem == "cifar", 8)
    twin.train(train)
    assert_same(model, twin, (images(4, 3, size, size),), lambda y: (y * y).mean())


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda: models.MLP((6, 8, 4), dropout=0.5), (3, 6)),
        (lambda: models.MLP((6, 8, 8, 4), activation=nn.Tanh, bias=False), (2, 3, 6)),
        (lambda: models.ConvNet(1, 10, (4, 8)), (2, 1, 8, 8)),
        (lambda: models.DigitsNet(), (2, 1, 8, 8)),
        (lambda: models.ResNet(models.BasicBlock, (1, 1, 1, 1), 10, "cifar", width=4), (2, 3, 8, 8)),
    ],
)
def test_recorded(make: Any, shape: tuple[int, ...], tmp_path: Path) -> None:
    """The graph computes what the model does, in training and in evaluation; weights go through a file."""
    twofold.manual_seed(0)
    model, other = make(), make()
    x = twofold.from_numpy(images(*shape).astype(np.float32))
    for train in (False, True):
        model.train(train)
        graph = twofold.trace(model, (x,))
        twofold.manual_seed(5)
        wanted = model(x)
        twofold.manual_seed(5)
        if not train:
            assert graph(x).tolist() == wanted.tolist()
        else:
            assert graph(x).shape == wanted.shape
    twofold.save_weights(model, tmp_path)
    twofold.load_weights(tmp_path, other)
    assert other.eval()(x).tolist() == model.eval()(x).tolist()


def test_ahead_of_time_gradients() -> None:
    twofold.manual_seed(0)
    model = models.ConvNet(1, 4, (4, 8)).eval()
    x = twofold.from_numpy(images(2, 1, 8, 8).astype(np.float32))

    def loss(x: Any) -> Any:
        return model(x).square().sum()

    value = loss(x)
    value.backward()
    joint = twofold.aot(loss, x)
    out, gradients = joint(x)
    assert out.item() == pytest.approx(value.item(), rel=1e-6)
    found = {name.rpartition("model.")[2]: g for name, g in gradients.items()}
    for name, p in model.named_parameters():
        assert np.allclose(found[name].numpy(), p.grad.numpy(), rtol=1e-4, atol=1e-6), name


def test_sizes_of_an_mlp() -> None:
    assert [tuple(p.shape) for p in models.MLP((3, 5, 2)).parameters()] == [(5, 3), (5,), (2, 5), (2,)]
    with pytest.raises(ValueRangeError, match="output width"):
        models.MLP((3,))
