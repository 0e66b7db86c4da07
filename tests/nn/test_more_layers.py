"""Layers whose inputs are not one float tensor, beside torch's: bags, maxima put back, bilinear maps, many classes; grids; lazy layers."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
import pytest

import twofold
from tests.nn.pairs import close, copy_state, ours, theirs, to_array
from twofold import nn
from twofold.autograd.finite_differences import gradcheck, gradgradcheck
from twofold.nn import functional as F
from twofold.support.errors import ShapeError, TwofoldError, UnsupportedError, ValueRangeError
from twofold.tensors.random import manual_seed

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(11)


def real(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def same_arguments(mine: Any, other: Any) -> None:
    """repr, keys, and the names and defaults of the constructor's arguments."""
    assert repr(mine) == repr(other)
    assert list(mine.state_dict()) == list(other.state_dict())
    expected = inspect.signature(type(other).__init__).parameters
    found = inspect.signature(type(mine).__init__).parameters
    assert list(found) == list(expected)
    for name, parameter in found.items():
        assert parameter.default == expected[name].default, name


# ---- bags --------------------------------------------------------------------------------------------------------------------------------

BAGS: list[tuple[dict[str, Any], Any, Any, bool]] = [
    *[({"mode": m}, np.array([1, 2, 4, 4, 3]), np.array([0, 2, 2]), False) for m in ("sum", "mean", "max")],
    *[({"mode": m, "padding_idx": 2}, np.array([[1, 2, 4], [2, 2, 2]]), None, False) for m in ("sum", "mean", "max")],
    ({"mode": "sum", "include_last_offset": True}, np.array([1, 2, 4, 4, 3]), np.array([0, 3, 5]), True),
    # torch divides by the counts of other rows unless each index comes equally often
    ({"mode": "sum", "scale_grad_by_freq": True}, np.array([[1, 2], [2, 1]]), None, True),
    ({"mode": "mean", "max_norm": 1.0, "norm_type": 1.0}, np.array([[1, 2], [2, 3]]), None, False),
]


@pytest.mark.parametrize("kwargs,index,offsets,weighted", BAGS)
def test_embedding_bag(kwargs: Any, index: Any, offsets: Any, weighted: bool) -> None:
    mine, other = nn.EmbeddingBag(5, 3, **kwargs), torch.nn.EmbeddingBag(5, 3, **kwargs)
    same_arguments(mine, other)
    copy_state(mine, other, torch.from_numpy)
    factors = real(*index.shape) if weighted else None
    a, b = (None, None) if factors is None else (ours(factors, True), theirs(torch, factors, True))
    out = mine(ours(index), None if offsets is None else ours(offsets), a)
    expected = other(torch.from_numpy(index), None if offsets is None else torch.from_numpy(offsets), b)
    close(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    close(mine.weight.grad, other.weight.grad)
    close(mine.weight, other.weight)
    if a is not None:
        close(a.grad, b.grad)


def test_embedding_bag_refuses() -> None:
    weight = ours(real(5, 3))
    row = ours(np.array([1, 2]))
    for args, kwargs, error in (
        ((row, weight), {}, ValueRangeError),
        ((row, weight, ours(np.array([1]))), {}, ValueRangeError),
        ((row, weight, ours(np.array([0]))), {"mode": "median"}, ValueRangeError),
        ((row, weight, ours(np.array([0]))), {"per_sample_weights": ours(real(2))}, UnsupportedError),
        ((row, weight, ours(np.array([0]))), {"sparse": True}, UnsupportedError),
        ((row, ours(real(5)), ours(np.array([0]))), {}, ValueRangeError),
    ):
        with pytest.raises(error, match="embedding_bag"):
            F.embedding_bag(*args, **kwargs)


def test_embedding_with_a_largest_norm() -> None:
    mine, other = nn.Embedding(5, 3, max_norm=0.5), torch.nn.Embedding(5, 3, max_norm=0.5)
    assert repr(mine) == repr(other)
    copy_state(mine, other, torch.from_numpy)
    index = np.array([[0, 2, 2], [4, 0, 2]])
    out, expected = mine(ours(index)), other(torch.from_numpy(index))
    close(out, expected)
    close(mine.weight, other.weight)
    out.square().sum().backward()
    expected.square().sum().backward()
    close(mine.weight.grad, other.weight.grad)


# ---- maxima put back, fractional pooling -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n,shape", [(1, (2, 3, 8)), (2, (2, 3, 6, 4)), (3, (1, 2, 4, 4, 4))])
def test_max_unpool(n: int, shape: tuple[int, ...]) -> None:
    mine, other = getattr(nn, f"MaxUnpool{n}d")(2), getattr(torch.nn, f"MaxUnpool{n}d")(2)
    same_arguments(mine, other)
    x = real(*shape)
    values, indices = getattr(F, f"max_pool{n}d")(ours(x), 2, return_indices=True)
    a, b = ours(to_array(values), True), theirs(torch, to_array(values), True)
    out, expected = mine(a, indices), other(b, torch.from_numpy(to_array(indices)))
    close(out, expected)
    seed = real(*shape)
    (out * ours(seed)).sum().backward()
    (expected * torch.from_numpy(seed)).sum().backward()
    close(a.grad, b.grad)


@pytest.mark.parametrize("n", [2, 3])
def test_fractional_pooling(n: int) -> None:
    x, u = real(2, 3, *(7,) * n), RNG.random((2, 3, n)).astype(np.float32)
    name = f"FractionalMaxPool{n}d"
    mine = getattr(nn, name)(2, output_ratio=0.5, return_indices=True, _random_samples=ours(u))
    other = getattr(torch.nn, name)(2, output_ratio=0.5, return_indices=True, _random_samples=torch.from_numpy(u))
    same_arguments(mine, other)
    for a, b in zip(mine(ours(x)), other(torch.from_numpy(x)), strict=True):
        close(a, b)
    manual_seed(3)
    one, two = (to_array(getattr(nn, name)(2, 4)(ours(x))) for _ in range(2))
    manual_seed(3)
    np.testing.assert_array_equal(to_array(getattr(nn, name)(2, 4)(ours(x))), one)
    assert not np.array_equal(one, two)


# ---- bilinear maps, random slopes, noise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
def test_bilinear(bias: bool) -> None:
    mine, other = nn.Bilinear(3, 4, 2, bias=bias), torch.nn.Bilinear(3, 4, 2, bias=bias)
    same_arguments(mine, other)
    copy_state(mine, other, torch.from_numpy)
    arrays = real(5, 2, 3), real(5, 2, 4)
    a, b = [ours(x, True) for x in arrays], [theirs(torch, x, True) for x in arrays]
    out, expected = mine(*a), other(*b)
    close(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    for x, y in zip((*a, mine.weight), (*b, other.weight), strict=True):
        close(x.grad, y.grad, rtol=1e-4, atol=1e-5)


def test_rrelu() -> None:
    mine, other = nn.RReLU(0.1, 0.3), torch.nn.RReLU(0.1, 0.3)
    same_arguments(mine, other)
    x = ours(real(1000), True)
    out = mine(x)
    ratio = to_array(out) / to_array(x)
    below = to_array(x) < 0
    assert (ratio[~below] == 1).all()
    assert ((ratio[below] >= 0.0999) & (ratio[below] < 0.3001)).all()
    assert ratio[below].std() > 0.03
    out.sum().backward()
    close(x.grad, ours(ratio), rtol=1e-5)
    close(mine.eval()(x), other.eval()(torch.from_numpy(to_array(x))))


def test_gumbel_softmax() -> None:
    manual_seed(0)
    logits = ours(np.log(np.array([[0.7, 0.2, 0.1]] * 4000, np.float32)), True)
    hard = F.gumbel_softmax(logits, tau=0.5, hard=True)
    np.testing.assert_allclose(to_array(hard).mean(0), [0.7, 0.2, 0.1], atol=0.03)
    assert set(np.unique(np.round(to_array(hard), 5))) == {0.0, 1.0}
    manual_seed(0)
    soft = F.gumbel_softmax(logits, tau=0.5)
    seed = ours(real(4000, 3))
    (hard * seed).sum().backward()
    first, logits.grad = logits.grad, None
    (soft * seed).sum().backward()
    close(first, logits.grad)


# ---- many classes ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head_bias", [False, True])
def test_adaptive_softmax(head_bias: bool) -> None:
    settings = {"cutoffs": [3, 6], "div_value": 2.0, "head_bias": head_bias}
    mine, other = nn.AdaptiveLogSoftmaxWithLoss(8, 10, **settings), torch.nn.AdaptiveLogSoftmaxWithLoss(8, 10, **settings)
    same_arguments(mine, other)
    copy_state(mine, other, torch.from_numpy)
    x, t = real(12, 8), np.array([0, 9, 3, 2, 5, 6, 7, 1, 4, 8, 0, 3])
    a, b = ours(x, True), theirs(torch, x, True)
    out, expected = mine(a, ours(t)), other(b, torch.from_numpy(t))
    close(out.output, expected.output)
    close(out.loss, expected.loss)
    out.loss.backward()
    expected.loss.backward()
    close(a.grad, b.grad)
    for p, q in zip(mine.parameters(), other.parameters(), strict=True):
        close(p.grad, q.grad)
    close(mine.log_prob(a), other.log_prob(b))
    np.testing.assert_array_equal(to_array(mine.predict(a)), other.predict(b).numpy())
    close(mine(ours(x[0]), ours(t[0])).output, other(torch.from_numpy(x[0]), torch.tensor(0)).output)
    with pytest.raises(ValueRangeError, match="cutoffs"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 10, [6, 3])
    with pytest.raises(ValueRangeError, match="targets"):
        mine(a, ours(t + 1))


def test_linear_cross_entropy() -> None:
    theirs_class = getattr(torch.nn, "LinearCrossEntropyLoss", None)
    if theirs_class is None:
        pytest.skip("this torch has no LinearCrossEntropyLoss")
    mine, other = nn.LinearCrossEntropyLoss(5, 3, bias=True), theirs_class(5, 3, bias=True)
    same_arguments(mine, other)
    copy_state(mine, other, torch.from_numpy)
    x, t = real(4, 5), np.array([0, 2, 1, 1])
    close(mine(ours(x), ours(t)), other(torch.from_numpy(x), torch.from_numpy(t)))


def test_ctc_module() -> None:
    mine, other = nn.CTCLoss(blank=1), torch.nn.CTCLoss(blank=1)
    same_arguments(mine, other)
    x, t = real(6, 2, 4), np.array([[2, 3], [0, 2]])
    lengths = np.array([6, 5]), np.array([2, 1])
    close(
        mine(F.log_softmax(ours(x), 2), ours(t), *map(ours, lengths)),
        other(torch.log_softmax(torch.from_numpy(x), 2), torch.from_numpy(t), *map(torch.from_numpy, lengths)),
    )


# ---- grids -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode,n", [("bilinear", 2), ("nearest", 2), ("bicubic", 2), ("bilinear", 3), ("nearest", 3)])
def test_grid_sample(mode: str, n: int, padding: str, align: bool) -> None:
    x, grid = RNG.standard_normal((2, 2, *(4, 3, 3)[:n])), RNG.uniform(-1.6, 1.6, (2, *(2, 3, 2)[:n], n))
    a, b = ([ours(t, True) for t in (x, grid)], [theirs(torch, t, True) for t in (x, grid)])
    out = F.grid_sample(*a, mode, padding, align)
    expected = torch.nn.functional.grid_sample(*b, mode, padding, align)
    close(out, expected, rtol=1e-9, atol=1e-9)
    seed = RNG.standard_normal(tuple(out.shape))
    (out * ours(seed)).sum().backward()
    (expected * torch.from_numpy(seed)).sum().backward()
    close(a[0].grad, b[0].grad, rtol=1e-9, atol=1e-9)
    if mode != "nearest":
        close(a[1].grad, b[1].grad, rtol=1e-8, atol=1e-8)
        if n == 2 and padding == "zeros":
            function = lambda *t: F.grid_sample(*t, mode, padding, align)
            assert gradcheck(function, tuple(a), fast_mode=True)
            assert gradgradcheck(function, tuple(a), fast_mode=True)


def test_grid_sample_far_away() -> None:
    x = ours(np.ones((1, 1, 2, 2)))
    grid = ours(np.array([[[[np.nan, 0.0], [np.inf, 0.0], [-1e30, 5.0]]]]))
    assert (to_array(F.grid_sample(x, grid, align_corners=False)) == 0).all()
    assert (to_array(F.grid_sample(x, grid, padding_mode="border", align_corners=False)) == 1).all()


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 3, 1, 2), (2, 1, 2, 3, 4)])
@pytest.mark.filterwarnings("ignore:Since version 1.3.0")  # torch's, where a dimension has one pixel
def test_affine_grid(size: tuple[int, ...], align: bool) -> None:
    n = len(size) - 2
    theta = real(2, n, n + 1)
    a, b = ours(theta, True), theirs(torch, theta, True)
    out, expected = F.affine_grid(a, size, align), torch.nn.functional.affine_grid(b, size, align)
    close(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    close(a.grad, b.grad, rtol=1e-4)


def test_grids_refuse() -> None:
    x, grid = ours(real(1, 1, 2, 2)), ours(real(1, 2, 2, 2))
    for call, error in (
        (lambda: F.grid_sample(x, grid, "cubic", align_corners=False), ValueRangeError),
        (lambda: F.grid_sample(x, grid, padding_mode="wrap", align_corners=False), ValueRangeError),
        (lambda: F.grid_sample(x, ours(real(2, 2, 2, 2)), align_corners=False), ShapeError),
        (lambda: F.affine_grid(ours(real(1, 2, 2)), (1, 1, 2, 2), False), ValueRangeError),
        (lambda: F.affine_grid(ours(real(1, 2, 3)), (1, 1, 2), False), UnsupportedError),
    ):
        with pytest.raises(error):
            call()
    with pytest.warns(UserWarning, match="align_corners"):
        F.grid_sample(x, grid)


# ---- lazy layers -------------------------------------------------------------------------------------------------------------------------

LAZY: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("LazyLinear", (3,), {}, (2, 5)),
    *[(f"LazyConv{n}d", (4, 2), {"groups": 2}, (2, 6, *(4,) * n)) for n in (1, 2, 3)],
    *[(f"LazyConvTranspose{n}d", (4, 2), {"bias": False}, (2, 6, *(3,) * n)) for n in (1, 2, 3)],
    *[(f"LazyBatchNorm{n}d", (), {}, (3, 4, *(2,) * n)) for n in (1, 2, 3)],
    *[(f"LazyInstanceNorm{n}d", (), {"affine": False}, (3, 4, *(3,) * n)) for n in (1, 2, 3)],
]


@pytest.mark.parametrize("name,args,kwargs,shape", LAZY, ids=lambda v: v if isinstance(v, str) else "")
def test_lazy_layers(name: str, args: Any, kwargs: Any, shape: tuple[int, ...]) -> None:
    mine, other = getattr(nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
    same_arguments(mine, other)
    waiting = [isinstance(p, nn.UninitializedParameter) for p in mine.parameters()]
    assert waiting == [isinstance(p, torch.nn.UninitializedParameter) for p in other.parameters()]
    x = real(*shape)
    twin = copy.deepcopy(mine)
    mine(ours(x)), other(torch.from_numpy(x))
    assert type(mine).__name__ == type(other).__name__ == name.removeprefix("Lazy")
    assert repr(mine) == repr(other)
    assert not any(isinstance(p, nn.UninitializedParameter) for p in mine.parameters())
    copy_state(mine, other, torch.from_numpy)
    out, expected = mine(ours(x)), other(torch.from_numpy(x))
    close(out, expected)
    for p, q in zip(mine.parameters(), other.parameters(), strict=True):
        assert (p.requires_grad, tuple(p.shape)) == (q.requires_grad, tuple(q.shape))
    if waiting:
        twin.load_state_dict(mine.state_dict())  # gives the shapes too
        mine.eval(), twin.eval()
        close(twin(ours(x)), to_tensor(mine(ours(x))))


def to_tensor(t: Any) -> Any:
    return ours(to_array(t))


def test_lazy_layers_refuse() -> None:
    with pytest.raises(TwofoldError):
        nn.LazyConv2d(4, 2)(ours(real(3, 4)))


def test_averaging_batch_norm_and_gaussian_loss_while_recorded() -> None:
    x = twofold.tensor(np.random.default_rng(0).standard_normal((4, 3)), dtype=twofold.float32)
    eager, recorded = nn.BatchNorm1d(3, momentum=None), nn.BatchNorm1d(3, momentum=None)
    graph = twofold.trace(recorded, (x,))
    recorded.load_state_dict(eager.state_dict())
    for i in range(3):
        expected, found = eager(x * (i + 1)), graph(x * (i + 1))
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
    assert recorded.num_batches_tracked.item() == 3
    np.testing.assert_allclose(recorded.running_var.numpy(), x.var(0).numpy() * (1 + 4 + 9) / 3, rtol=1e-5)
    np.testing.assert_allclose(recorded.running_mean.numpy(), eager.running_mean.numpy(), rtol=1e-6)
    loss = nn.GaussianNLLLoss()
    np.testing.assert_allclose(twofold.trace(loss, (x, x * 2, x * x))(x, x * 2, x * x).item(), loss(x, x * 2, x * x).item(), rtol=1e-6)
