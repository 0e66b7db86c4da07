"""Modules as functions of their parameters, and gradients of single examples of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold
from twofold import func, nn
from twofold.support.errors import ArgumentError, StateDictError, ValueRangeError


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(3, 3, bias=False)
        self.b = nn.Linear(3, 3, bias=False)
        self.b.weight = self.a.weight
        self.register_buffer("shift", twofold.ones(3))

    def forward(self, x: Any) -> Any:
        return self.b(self.a(x)) + self.shift


def test_other_parameters() -> None:
    m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x = twofold.randn(5, 3)
    before = m(x)
    zeros = {k: twofold.zeros_like(p) for k, p in m.named_parameters()}
    assert not func.functional_call(m, zeros, (x,)).any()
    np.testing.assert_array_equal(m(x).detach().numpy(), before.detach().numpy())
    only = {"2.bias": twofold.full((2,), 7.0)}
    np.testing.assert_allclose((func.functional_call(m, only, x) - before + m[2].bias).detach().numpy(), 7.0, rtol=1e-5)
    with pytest.raises(StateDictError):
        func.functional_call(m, {"3.bias": twofold.ones(1)}, x)
    with pytest.raises(StateDictError, match=r"0\.weight"):
        func.functional_call(m, only, x, strict=True)
    with pytest.raises(ArgumentError):
        func.functional_call(m, 3, x)  # type: ignore[arg-type]
    with pytest.raises(ValueRangeError):
        func.functional_call(m, (only, only), x)
    with pytest.raises(twofold.errors.ShapeError):
        func.functional_call(m, {"0.weight": twofold.ones(9, 9)}, x)
    np.testing.assert_array_equal(m(x).detach().numpy(), before.detach().numpy())  # put back after an error


def test_tied_weights_and_buffers() -> None:
    m, x = Tied(), twofold.ones(3)
    w = twofold.eye(3) * 2
    np.testing.assert_array_equal(func.functional_call(m, {"a.weight": w}, x).numpy(), [5, 5, 5])
    np.testing.assert_array_equal(func.functional_call(m, {"b.weight": w, "shift": twofold.zeros(3)}, x).numpy(), [4, 4, 4])
    loose = func.functional_call(m, {"a.weight": w}, x, tie_weights=False)
    np.testing.assert_allclose(loose.detach().numpy(), (m.b(2 * x) + 1).detach().numpy())
    with pytest.raises(ValueRangeError):
        func.functional_call(m, {"a.weight": w, "b.weight": twofold.eye(3)}, x)


def per_sample(module: Any, loss: Any, xs: Any, ts: Any) -> dict[str, Any]:
    params = {k: p.detach() for k, p in module.named_parameters()}

    def one(p: Any, x: Any, t: Any) -> Any:
        return loss(func.functional_call(module, p, (x.unsqueeze(0),)), t.unsqueeze(0))

    return func.vmap(func.grad(one), in_dims=(None, 0, 0), randomness="different")(params, xs, ts)


def one_by_one(module: Any, loss: Any, xs: Any, ts: Any) -> dict[str, Any]:
    rows: dict[str, list[Any]] = {}
    for x, t in zip(xs, ts, strict=True):
        module.zero_grad()
        loss(module(x.unsqueeze(0)), t.unsqueeze(0)).backward()
        for k, p in module.named_parameters():
            rows.setdefault(k, []).append(p.grad.numpy().copy())
    return {k: np.stack(v) for k, v in rows.items()}


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 8, padding_idx=0)
        self.norm = nn.LayerNorm(8)
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
        self.out = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        h = self.norm(self.embed(x))
        shape = (*x.shape, 2, 4)
        q, k, v = (p(h).view(shape).transpose(1, 2) for p in (self.q, self.k, self.v))
        h = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(h.transpose(1, 2).reshape(*x.shape, 8).mean(1))


NETWORKS: dict[str, Any] = {
    "mlp": lambda: (nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 5)), (6,)),
    "convolutions": lambda: (
        nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5),
        ),
        (2, 8, 8),
    ),
    "transposed": lambda: (
        nn.Sequential(
            nn.ConvTranspose2d(2, 4, 3, stride=2), nn.BatchNorm2d(4).eval(), nn.AvgPool2d(3), nn.Flatten(), nn.Linear(100, 5)
        ),
        (2, 8, 8),
    ),
    "attention": lambda: (Attention(), None),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_single_examples(name: str) -> None:
    module, shape = NETWORKS[name]()
    module = module.double()
    xs = twofold.randint(0, 11, (4, 7)) if shape is None else twofold.randn(4, *shape, dtype=twofold.float64)
    ts = twofold.tensor([0, 4, 2, 2])
    found = per_sample(module, nn.functional.cross_entropy, xs, ts)
    expected = one_by_one(module, nn.functional.cross_entropy, xs, ts)
    assert set(found) == set(expected)
    for k, g in found.items():
        np.testing.assert_allclose(g.numpy(), expected[k], rtol=1e-8, atol=1e-12, err_msg=k)


def test_gradients_of_single_examples_in_a_graph() -> None:
    module, shape = NETWORKS["mlp"]()
    xs, ts = twofold.randn(4, *shape), twofold.tensor([0, 4, 2, 2])
    graph = twofold.trace(lambda xs: per_sample(module, nn.functional.cross_entropy, xs, ts), (xs,), check=False)
    expected = per_sample(module, nn.functional.cross_entropy, xs, ts)
    for k, g in graph(xs).items():
        np.testing.assert_allclose(g.detach().numpy(), expected[k].numpy(), rtol=1e-4, atol=1e-6)


def test_ensembles() -> None:
    models = [nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).eval() for _ in range(3)]
    params, buffers = func.stack_module_state(models)
    assert params["0.weight"].shape == (3, 4, 3)
    assert params["0.weight"].requires_grad
    assert buffers["1.running_mean"].shape == (3, 4)
    x = twofold.randn(5, 3)
    found = func.vmap(lambda p, b: func.functional_call(models[0], (p, b), (x,)))(params, buffers)
    np.testing.assert_allclose(found.detach().numpy(), np.stack([m(x).detach().numpy() for m in models]), rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError):
        func.stack_module_state([])
    with pytest.raises(ArgumentError):
        func.stack_module_state([models[0], models[1].train()])


@pytest.mark.parametrize("transposed", [False, True])
def test_a_convolution_whose_groups_have_one_weight(transposed: bool) -> None:
    """What the convolution of single examples becomes: computed as one convolution, with the result of many."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 6, 7, 5)), rng.standard_normal((2 if transposed else 4, 3 if transposed else 2, 3, 3))
    b = rng.standard_normal(9 if transposed else 12)
    f = nn.functional.conv_transpose2d if transposed else nn.functional.conv2d
    found = f(twofold.tensor(x), twofold.tensor(np.tile(w, (3, 1, 1, 1))), twofold.tensor(b), stride=2, padding=1, groups=3)
    parts = [f(twofold.tensor(p), twofold.tensor(w), stride=2, padding=1).numpy() for p in np.split(x, 3, 1)]
    np.testing.assert_allclose(found.numpy(), np.concatenate(parts, 1) + b[:, None, None], rtol=1e-12, atol=1e-12)
