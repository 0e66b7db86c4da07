"""Parametrizations, weight and spectral normalisation, folded batch norms, skipped initialisation, beside torch's; module features."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tests.nn.pairs import close, copy_state, ours, theirs, to_array
from twofold import nn
from twofold.nn import utils
from twofold.nn.utils import parametrizations, parametrize
from twofold.support.errors import ModuleError, ShapeError, StateDictError, UnsupportedError, ValueRangeError

RNG = np.random.default_rng(5)


def real(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


class Symmetric(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).transpose(0, 1)

    def right_inverse(self, x: Any) -> Any:
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 2.0


MAKERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("Linear", (3, 4), {}, (2, 3)),
    ("Conv2d", (3, 4, 2), {}, (2, 3, 4, 4)),
    ("ConvTranspose2d", (3, 4, 2), {}, (2, 3, 4, 4)),
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("how", ["parametrizations.weight_norm", "parametrizations.spectral_norm", "weight_norm", "spectral_norm"])
@pytest.mark.parametrize("name,args,kwargs,shape", MAKERS, ids=lambda v: v if isinstance(v, str) else "")
def test_norms_of_weights(how: str, name: str, args: Any, kwargs: Any, shape: Any) -> None:
    torch = pytest.importorskip("torch")

    def made(package: Any) -> Any:
        place = package.nn.utils if package is torch else utils
        for part in how.split("."):
            place = getattr(place, part)
        return place(getattr(package.nn if package is torch else nn, name)(*args))

    mine, other = made(nn), made(torch)
    assert repr(mine) == repr(other)
    assert list(mine.state_dict()) == list(other.state_dict())
    copy_state(mine, other, torch.from_numpy)
    x = real(*shape)
    for _ in range(2):
        out, expected = mine(ours(x)), other(theirs(torch, x))
        close(out, expected, rtol=1e-4, atol=1e-5)
    out.square().sum().backward()
    expected.square().sum().backward()
    for p, q in zip(mine.parameters(), other.parameters(), strict=True):
        close(p.grad, q.grad, rtol=1e-3, atol=1e-4)
    for p, q in zip(mine.buffers(), other.buffers(), strict=True):
        close(p, q, rtol=1e-4, atol=1e-5)
    mine.eval()
    close(mine(ours(x)), other.eval()(theirs(torch, x)), rtol=1e-4, atol=1e-5)


def test_older_norms_are_removed() -> None:
    x = ours(real(2, 3))
    for put, take in ((utils.weight_norm, utils.remove_weight_norm), (utils.spectral_norm, utils.remove_spectral_norm)):
        layer = put(nn.Linear(3, 4)).eval()
        before = layer(x)
        with pytest.raises(ModuleError, match="already"):
            put(layer)
        take(layer)
        assert list(layer.state_dict()) == ["bias", "weight"]
        assert isinstance(layer.weight, nn.Parameter)
        close(layer(x), ours(to_array(before)))
        with pytest.raises(ValueRangeError, match="not found"):
            take(layer)


def test_register_parametrization() -> None:
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    weight = to_array(layer.weight)
    np.testing.assert_array_equal(weight, weight.T)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    wanted = np.array([[1, 2, 3], [2, 5, 6], [3, 6, 9]], np.float32)
    layer.weight = ours(wanted)
    close(layer.weight, ours(wanted))
    layer.weight.sum().backward()
    close(layer.parametrizations.weight.original.grad, ours(np.triu(np.full((3, 3), 2.0, np.float32)) - np.eye(3, dtype=np.float32)))
    twin = copy.deepcopy(layer)
    twin.weight = ours(wanted * 2)
    close(layer.weight, ours(wanted))
    close(twin.weight, ours(wanted * 2))
    parametrize.register_parametrization(layer, "weight", Doubled())
    close(layer.weight, ours(wanted * 2))
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    other = parametrize.transfer_parametrizations_and_params(layer, nn.Linear(3, 3))
    close(other.weight, ours(wanted * 2))
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    close(layer.weight, ours(wanted * 2))
    assert isinstance(layer.weight, nn.Parameter)


def test_parametrizations_refuse() -> None:
    layer = nn.Linear(3, 3)
    with pytest.raises(ValueRangeError, match="no parameter or buffer 'weights'"):
        parametrize.register_parametrization(layer, "weights", Symmetric())
    with pytest.raises(ShapeError, match="unsafe"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))
    assert isinstance(layer.weight, nn.Parameter)
    parametrize.register_parametrization(layer, "weight", Doubled())
    with pytest.raises(ModuleError, match="right_inverse"):
        layer.weight = ours(real(3, 3))
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrizations.weight_norm(layer)
    with pytest.raises(ValueRangeError, match="several"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    with pytest.raises(ValueRangeError):
        parametrize.remove_parametrizations(layer, "bias")


@pytest.mark.parametrize("name,args,kwargs,shape", MAKERS, ids=lambda v: v if isinstance(v, str) else "")
def test_folded_batch_norms(name: str, args: Any, kwargs: Any, shape: Any) -> None:
    layer = getattr(nn, name)(*args, bias=name != "Conv2d")
    norm: Any = nn.BatchNorm1d(4) if name == "Linear" else nn.BatchNorm2d(4)
    for t in (norm.weight, norm.bias, norm.running_mean):
        t.detach().copy_(ours(real(4)))
    norm.running_var.copy_(ours(np.abs(real(4)) + 0.5))
    with pytest.raises(ModuleError, match="evaluation mode"):
        utils.fuse_conv_bn_eval(layer, norm)
    layer.eval(), norm.eval()
    x = ours(real(*shape))
    fused = utils.fuse_linear_bn_eval(layer, norm) if name == "Linear" else utils.fuse_conv_bn_eval(layer, norm, "Transpose" in name)
    close(fused(x), ours(to_array(norm(layer(x)))), rtol=1e-4, atol=1e-5)
    assert isinstance(fused.weight, nn.Parameter)


def test_skipped_initialisation() -> None:
    layer = utils.skip_init(nn.Linear, 3, 4, bias=False)
    assert (tuple(layer.weight.shape), layer.weight.device, layer.weight.requires_grad) == ((4, 3), nn.Linear(1, 1).weight.device, True)
    with pytest.raises(TypeError, match="subclass of Module"):
        utils.skip_init(lambda: None)


class WithExtra(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(1, 1)
        self.seen = 0

    def get_extra_state(self) -> Any:
        return {"seen": self.seen}

    def set_extra_state(self, state: Any) -> None:
        self.seen = state["seen"]


def test_extra_state() -> None:
    one, two = nn.Sequential(WithExtra()), nn.Sequential(WithExtra())
    one[0].seen = 7
    state = one.state_dict()
    assert list(state) == ["0._extra_state", "0.inner.weight", "0.inner.bias"]
    two.load_state_dict(state)
    assert two[0].seen == 7
    del state["0._extra_state"]
    with pytest.raises(StateDictError, match=r'Missing key\(s\) in state_dict: "0\._extra_state"'):
        two.load_state_dict(state)
    with pytest.raises(ModuleError, match="no extra state"):
        nn.Linear(1, 1).get_extra_state()


def test_hooks_before_state_dicts() -> None:
    net = nn.Sequential(nn.Linear(1, 1))
    seen: list[Any] = []
    net[0].register_state_dict_pre_hook(lambda m, prefix, keep_vars: seen.append((m, prefix, keep_vars)))
    net.state_dict(keep_vars=True)
    assert seen == [(net[0], "0.", True)]
    net.register_load_state_dict_post_hook(lambda m, keys: seen.append(keys.missing_keys))
    net.load_state_dict({}, strict=False)
    assert seen[1] == ["0.weight", "0.bias"]


def test_submodules_are_set_by_path() -> None:
    net = nn.Sequential(nn.Sequential(nn.Linear(1, 1)))
    new = nn.ReLU()
    net.set_submodule("0.0", new)
    assert net[0][0] is new
    with pytest.raises(ModuleError):
        net.set_submodule("1.0", new)
    with pytest.raises(ModuleError, match="no submodule"):
        net.set_submodule("0.extra", new, strict=True)
    with pytest.raises(ValueRangeError):
        net.set_submodule("", new)


def test_memory_and_dtypes_of_whole_modules() -> None:
    net = nn.Sequential(nn.Linear(2, 3, device="meta"), nn.BatchNorm1d(3, device="meta")).to_empty(device="cpu")
    assert all(str(t.device) == "cpu" for t in (*net.parameters(), *net.buffers()))
    assert all(p.requires_grad for p in net.parameters())
    assert str(nn.Linear(1, 1).type("float64").weight.dtype) == "twofold.float64"
    with pytest.raises(UnsupportedError, match="register_full_backward_hook"):
        net.register_backward_hook(lambda *a: None)
