"""`aot`: the joint forward-and-backward graph against eager backward."""

from __future__ import annotations

import pytest

import twofold
from twofold import nn
from twofold.errors import ArgumentError, AutogradError, GuardError, UnsupportedError
from twofold.ir.verifier import verify


def against_eager(f, *examples, tolerance=1e-6):
    """The joint graph's outputs and gradients equal those of eager backward; returns the joint module."""
    joint = twofold.aot(f, *examples)
    verify(joint.graph)
    loss, gradients = joint(*examples)
    forward = joint.forward_module
    wanted = {}
    for k in joint._gradients_of:
        spec = forward.layout.inputs[k]
        t = forward.bindings[spec.path] if spec.path is not None else examples[spec.leaf]
        wanted[spec.path or spec.value.name] = t
    expected = f(*examples)
    grads = twofold.autograd.grad(expected, list(wanted.values()), allow_unused=True, materialize_grads=True)
    assert twofold.allclose(loss, expected.detach(), rtol=tolerance, atol=tolerance)
    assert list(gradients) == list(wanted)
    for name, g in zip(wanted, grads, strict=True):
        scale = max(g.abs().max().item(), 1e-3) if g.numel() else 1.0
        assert ((gradients[name] - g).abs() <= tolerance * scale).all(), name
    return joint


def leaf(*shape):
    return twofold.randn(*shape, dtype=twofold.float64, requires_grad=True)


CASES = {
    "scalars and broadcasting": (lambda x, y: ((x * y + 2.0) / (x * x + 1.0)).sum(), lambda: (leaf(3, 4), leaf(4))),
    "views and writes": (lambda x, y: _written(x, y), lambda: (leaf(3, 4), leaf(4))),
    "several outputs": (lambda x: sum(p.tanh().sum() * (i + 1) for i, p in enumerate(x.split(2))), lambda: (leaf(5, 3),)),
    "maximum with indices": (lambda x: (x.max(1)[0] ** 2).sum(), lambda: (leaf(4, 5),)),
    "lists": (lambda x, y: twofold.cat([x, y, x * 2], 0).pow(2).sum(), lambda: (leaf(2, 3), leaf(1, 3))),
    "matrix products": (lambda x, y: (x @ y).softmax(-1).log().mean(), lambda: (leaf(3, 4), leaf(4, 5))),
    "indexing": (lambda x: (x[[0, 2, 2]] * x[1:].sum()).sum(), lambda: (leaf(4, 3),)),
    "an unused input": (lambda x, y: (x * 2).sum(), lambda: (leaf(3), leaf(2))),
    "cond": (lambda x: twofold.cond(x.sum() > 0, lambda x: (x * x).sum(), lambda x: x.exp().sum(), (x,)), lambda: (leaf(3),)),
    "cond, other branch": (
        lambda x: twofold.cond(x.sum() > 1e9, lambda x: (x * x).sum(), lambda x: x.exp().sum(), (x,)),
        lambda: (leaf(3),),
    ),
    "a no_grad region": (lambda x: _partly_detached(x), lambda: (leaf(3),)),
}


def _written(x, y):
    z = x * 1.0
    z[1:].mul_(y)
    z[0, :2] = y[2:]
    return (z * z).sum()


def _partly_detached(x):
    with twofold.no_grad():
        scale = x.exp()
    return (x * scale).sum()


@pytest.mark.parametrize("name", CASES)
def test_joint_graph_against_eager(name):
    twofold.manual_seed(0)
    f, make = CASES[name]
    against_eager(f, *make())


def test_a_convolutional_net():
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.GELU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(8), nn.Linear(8, 3),
    ).double().eval()  # fmt: skip
    x, y = twofold.randn(2, 1, 8, 8, dtype=twofold.float64), twofold.tensor([0, 2])
    joint = against_eager(lambda x, y: nn.functional.cross_entropy(model(x), y), x, y)
    assert "model.0.weight" in joint.gradients_of


def test_nodes_of_the_backward_part_keep_the_forward_line():
    def f(x):
        return x.sin().sum()  # forward

    joint = twofold.aot(f, leaf(3))
    assert {node.source.text for node in joint.graph.nodes} == {"return x.sin().sum()  # forward"}


def test_tangents():
    x = leaf(3)
    joint = twofold.aot(lambda x: x * x, x)
    with pytest.raises(ArgumentError, match="tangents"):
        joint(x)
    v = twofold.randn(3, dtype=twofold.float64)
    _, gradients = joint(x, tangents=v)
    assert twofold.allclose(gradients["x"], 2 * x.detach() * v)


def test_refusals():
    with pytest.raises(AutogradError, match="requires grad"):
        twofold.aot(lambda x: x.sum(), twofold.ones(3))
    with pytest.raises(AutogradError, match="depends"):
        twofold.aot(lambda x: (x > 0).sum(), leaf(3))
    with pytest.raises(UnsupportedError, match="while_loop"):
        twofold.aot(lambda x: twofold.while_loop(lambda y: y.sum() < 10, lambda y: (y * 2,), (x.exp(),))[0].sum(), leaf(3))
    joint = twofold.aot(lambda x: x.sum(), leaf(3))
    with pytest.raises(GuardError):
        joint(leaf(4))
