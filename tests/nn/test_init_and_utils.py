"""Initial values by their distributions, default initialisation of layers, gradient limits, vectors of parameters, dropout."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.nn.pairs import close, ours, theirs, to_array
from twofold import nn
from twofold.nn import functional as F
from twofold.nn import init, utils
from twofold.support.errors import TwofoldError
from twofold.tensors.core import Tensor
from twofold.tensors.random import Generator, manual_seed


@pytest.fixture(autouse=True)
def _seeded() -> None:
    manual_seed(0)


def empty(*shape: int, grad: bool = False) -> Tensor:
    return ours(np.full(shape, 99, np.float32), grad)


# ---- init --------------------------------------------------------------------------------------------------------------------------------

UNIFORM: list[tuple[Callable[[Any], Any], float, float]] = [
    (lambda t: init.uniform_(t, -2, 3), -2, 3),
    (lambda t: init.xavier_uniform_(t, gain=2.0), -2 * math.sqrt(6 / 300), 2 * math.sqrt(6 / 300)),
    (lambda t: init.kaiming_uniform_(t), -math.sqrt(6 / 100), math.sqrt(6 / 100)),
    (lambda t: init.kaiming_uniform_(t, a=1.0, mode="fan_out"), -math.sqrt(3 / 200), math.sqrt(3 / 200)),
    (lambda t: init.kaiming_uniform_(t, nonlinearity="tanh"), -5 / 3 * math.sqrt(3 / 100), 5 / 3 * math.sqrt(3 / 100)),
]
NORMAL: list[tuple[Callable[[Any], Any], float, float]] = [
    (lambda t: init.normal_(t, 1.0, 0.5), 1.0, 0.5),
    (lambda t: init.xavier_normal_(t, gain=3.0), 0.0, 3 * math.sqrt(2 / 300)),
    (lambda t: init.kaiming_normal_(t, nonlinearity="relu"), 0.0, math.sqrt(2 / 100)),
    (lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="linear"), 0.0, math.sqrt(1 / 200)),
]


@pytest.mark.parametrize("fill,low,high", UNIFORM)
def test_uniform(fill: Any, low: float, high: float) -> None:
    t = empty(200, 100, grad=True)
    assert fill(t) is t
    assert t.is_leaf
    a = (to_array(t) - low) / (high - low)
    assert a.min() >= 0
    assert a.max() <= 1
    np.testing.assert_allclose(np.quantile(a, [0.1, 0.25, 0.5, 0.75, 0.9]), [0.1, 0.25, 0.5, 0.75, 0.9], atol=0.015)


@pytest.mark.parametrize("fill,mean,std", NORMAL)
def test_normal(fill: Any, mean: float, std: float) -> None:
    t = empty(200, 100, grad=True)
    assert fill(t) is t
    a = (to_array(t).astype(np.float64) - mean) / std
    assert abs(a.mean()) < 0.03
    assert abs(a.std() - 1) < 0.02
    assert abs((a**4).mean() - 3) < 0.2


def test_fans_of_kernels() -> None:
    assert init.fans(empty(6, 4, 3, 5)) == (60, 90)
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        init.fans(empty(3))


def test_truncated_normal() -> None:
    t = init.trunc_normal_(empty(300, 100), mean=1.0, std=2.0, a=0.0, b=3.0)
    a = to_array(t).astype(np.float64)
    assert a.min() >= 0
    assert a.max() <= 3
    # the distribution function between the limits, from erf
    phi = lambda x: 0.5 * (1 + math.erf((x - 1) / 2 / math.sqrt(2)))
    for x in (0.5, 1.0, 2.0, 2.9):
        assert abs((a < x).mean() - (phi(x) - phi(0)) / (phi(3) - phi(0))) < 0.01
    for bad in ({"a": 2.0, "b": 1.0}, {"a": 50.0, "b": 60.0}):
        with pytest.raises(ValueError, match="holds almost nothing"):
            init.trunc_normal_(empty(2, 2), **bad)


def test_constants() -> None:
    for fill, value in ((lambda t: init.constant_(t, 0.3), np.float32(0.3)), (init.zeros_, 0), (init.ones_, 1)):
        t = empty(2, 3, grad=True)
        assert fill(t) is t
        assert (to_array(t) == value).all()
    np.testing.assert_array_equal(to_array(init.eye_(empty(2, 3))), np.eye(2, 3))
    torch = pytest.importorskip("torch")
    for shape, groups in (((3, 2, 3), 1), ((4, 2, 3, 2), 2), ((2, 3, 1, 2, 3), 1)):
        np.testing.assert_array_equal(
            to_array(init.dirac_(empty(*shape), groups)), torch.nn.init.dirac_(torch.empty(*shape), groups).numpy()
        )


def test_orthogonal() -> None:
    for shape in ((4, 4), (3, 5), (6, 2, 2)):
        a = to_array(init.orthogonal_(empty(*shape), gain=2.0)).reshape(shape[0], -1)
        product = a @ a.T if a.shape[0] <= a.shape[1] else a.T @ a
        np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_gain_against_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, param in (
        ("linear", None),
        ("conv2d", None),
        ("sigmoid", None),
        ("tanh", None),
        ("relu", None),
        ("leaky_relu", 0.2),
        ("selu", None),
    ):
        assert init.calculate_gain(name, param) == torch.nn.init.calculate_gain(name, param)


def test_generators_are_used() -> None:
    first = [to_array(f(empty(3, 4), generator=Generator().manual_seed(7))) for f in (init.uniform_, init.normal_, init.orthogonal_)]
    second = [to_array(f(empty(3, 4), generator=Generator().manual_seed(7))) for f in (init.uniform_, init.normal_, init.orthogonal_)]
    np.testing.assert_array_equal(first, second)
    manual_seed(5)
    a = to_array(nn.Linear(3, 4).weight)
    manual_seed(5)
    np.testing.assert_array_equal(to_array(nn.Linear(3, 4).weight), a)
    assert not np.array_equal(to_array(nn.Linear(3, 4).weight), a)


LAYERS: list[tuple[Callable[[], Any], float]] = [
    (lambda: nn.Linear(100, 200), 0.1),
    (lambda: nn.Conv2d(10, 60, 3), 1 / math.sqrt(90)),
    (lambda: nn.Conv2d(20, 60, 3, groups=2), 1 / math.sqrt(90)),
    (lambda: nn.ConvTranspose2d(20, 30, 3), 1 / math.sqrt(270)),
]


@pytest.mark.parametrize("make,bound", LAYERS)
def test_layers_begin_uniform(make: Any, bound: float) -> None:
    layer = make()
    for p in (layer.weight, layer.bias):
        a = to_array(p)
        assert np.abs(a).max() <= bound
        assert np.abs(a).max() > 0.9 * bound
        assert abs(a.astype(np.float64).std() - bound / math.sqrt(3)) < 0.2 * bound
    before = to_array(layer.weight)
    layer.reset_parameters()
    assert not np.array_equal(to_array(layer.weight), before)


def test_embedding_begins_normal() -> None:
    a = to_array(nn.Embedding(300, 40).weight)
    assert abs(a.mean()) < 0.04
    assert abs(a.std() - 1) < 0.03


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: init.uniform_(3), TypeError, "needs a tensor"),
    (lambda: init.eye_(empty(3)), ValueError, "2 dimensions"),
    (lambda: init.dirac_(empty(3, 2)), ValueError, "3, 4 or 5"),
    (lambda: init.dirac_(empty(3, 2, 1), 2), ValueError, "2 groups"),
    (lambda: init.orthogonal_(empty(3)), ValueError, "at least 2"),
    (lambda: init.kaiming_uniform_(empty(3, 3), mode="fan"), ValueError, "fan_in"),
    (lambda: init.calculate_gain("relu7"), ValueError, "unknown nonlinearity"),
    (lambda: init.calculate_gain("leaky_relu", True), ValueError, "must be a number"),
    (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible"),
    (lambda: nn.Conv2d(4, 3, 3, groups=2), ValueError, "out_channels must be divisible"),
    (lambda: nn.Conv2d(4, 4, 3, groups=0), ValueError, "positive"),
    (lambda: nn.Conv2d(4, 4, 3, padding="full"), ValueError, "'same' or 'valid'"),
    (lambda: nn.Conv2d(4, 4, 3, padding="same", stride=2), ValueError, "strided"),
    (lambda: nn.Conv2d(4, 4, 3, padding_mode="none"), ValueError, "padding_mode"),
    (lambda: nn.Conv2d(4, 4, (3, 3, 3)), TypeError, "2 numbers"),
    (lambda: nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect"), ValueError, "zeros only"),
    (lambda: nn.ConvTranspose2d(4, 4, 3, stride=2)(empty(1, 4, 2, 2), output_size=(9, 9)), ValueError, "between 5 and 6"),
    (lambda: nn.BatchNorm2d(3)(empty(2, 3, 4)), ValueError, "4 dimensions"),
    (lambda: nn.BatchNorm1d(3)(empty(3)), ValueError, "2 or 3 dimensions"),
    (lambda: nn.BatchNorm1d(3)(empty(2, 4)), ValueError, "4"),
    (lambda: nn.InstanceNorm2d(3)(empty(2, 4, 2, 2)), ValueError, "3 channels"),
    (lambda: nn.GroupNorm(3, 4), ValueError, "divisible"),
    (lambda: nn.LayerNorm(3)(empty(2, 4)), ValueError, r"\(3,\)"),
    (lambda: nn.Dropout(1.5), ValueError, "within"),
    (lambda: nn.Embedding(3, 2, padding_idx=3), ValueError, "padding_idx"),
    (lambda: nn.Embedding(3, 2, sparse=True), NotImplementedError, "sparse"),
    (lambda: nn.Embedding.from_pretrained(empty(3)), ValueError, "matrix"),
    (lambda: nn.Embedding(3, 2)(ours(np.array([3]))), IndexError, "3"),
    (lambda: nn.Hardtanh(1.0, 0.0), ValueError, "max_val"),
    (lambda: nn.Unflatten("a", (1,)), TypeError, "dim"),
    (lambda: nn.Unflatten(1, 3), TypeError, "tuple"),
    (lambda: nn.CrossEntropyLoss(label_smoothing=2.0), ValueError, "label_smoothing"),
    (lambda: nn.TripletMarginLoss(margin=0.0), ValueError, "margin"),
    (lambda: nn.MSELoss(reduction="max")(empty(2), empty(2)), ValueError, "reduction"),
    (lambda: nn.GaussianNLLLoss()(empty(2), empty(2), -1.0), ValueError, "negative"),
    (lambda: nn.PixelShuffle(2)(empty(1, 3, 2, 2)), ValueError, "pixel_shuffle"),
    (lambda: F.embedding(ours(np.array([0])), empty(3, 2), padding_idx=5), ValueError, "padding_idx"),
]


@pytest.mark.parametrize("call,kind,text", BAD, ids=range(len(BAD)))
def test_errors(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, TwofoldError)


def test_from_pretrained() -> None:
    weight = ours(np.arange(6, dtype=np.float32).reshape(3, 2))
    frozen = nn.Embedding.from_pretrained(weight)
    assert not frozen.weight.requires_grad
    assert nn.Embedding.from_pretrained(weight, freeze=False).weight.requires_grad
    np.testing.assert_array_equal(to_array(frozen(ours(np.array([2, 0])))), [[4, 5], [0, 1]])


# ---- dropout -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name,shape,axes",
    [
        ("Dropout", (40, 50), ()),
        ("Dropout1d", (40, 50, 3), (2,)),
        ("Dropout1d", (500, 3), (1,)),
        ("Dropout2d", (40, 50, 3, 2), (2, 3)),
        ("Dropout3d", (40, 50, 3, 2, 2), (2, 3, 4)),
    ],
)
def test_dropout(name: str, shape: Any, axes: Any) -> None:
    layer = getattr(nn, name)(0.3)
    x = ours(np.ones(shape, np.float32), True)
    out = layer(x)
    a = to_array(out)
    whole = a if not axes else a.mean(axis=axes)
    kept = whole != 0
    np.testing.assert_allclose(whole[kept], 1 / 0.7, rtol=1e-5)
    assert abs(kept.mean() - 0.7) < 0.06
    out.sum().backward()
    np.testing.assert_allclose(to_array(x.grad), a, rtol=1e-6)
    assert not np.array_equal(to_array(layer(x)), a)
    np.testing.assert_array_equal(to_array(layer.eval()(x)), np.ones(shape))
    assert not to_array(getattr(nn, name)(1.0)(x)).any()
    y = x.detach() * 1
    assert getattr(nn, name)(0.3, inplace=True)(y) is y
    assert 0 < (to_array(y) == 0).mean() < 0.6


@pytest.mark.parametrize("name,shape", [("AlphaDropout", (400, 300)), ("FeatureAlphaDropout", (400, 300, 2))])
def test_alpha_dropout_keeps_mean_and_variance(name: str, shape: Any) -> None:
    x = ours(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    layer = getattr(nn, name)(0.2)
    a = to_array(layer(x)).astype(np.float64)
    assert abs(a.mean()) < 0.02
    assert abs(a.std() - 1) < 0.02
    np.testing.assert_array_equal(to_array(layer.eval()(x)), to_array(x))


# ---- utils -------------------------------------------------------------------------------------------------------------------------------


def with_gradients() -> list[Any]:
    arrays = [np.random.default_rng(i).standard_normal(s).astype(np.float32) for i, s in enumerate(((3, 4), (5,), ()))]
    return [np.asarray(a) for a in arrays]


@pytest.mark.parametrize("norm_type", [2.0, 1.0, 3.0, math.inf])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clip_grad_norm(norm_type: float, max_norm: float) -> None:
    torch = pytest.importorskip("torch")
    arrays = with_gradients()
    a, b = [ours(x, True) for x in arrays], [theirs(torch, x, True) for x in arrays]
    for p, q, x in zip(a, b, arrays, strict=True):
        p.grad, q.grad = ours(x * 2), torch.from_numpy(np.asarray(x * 2))
    extra = ours(np.ones(2, np.float32), True)  # has no gradient
    held = a[0].grad
    close(utils.clip_grad_norm_([*a, extra], max_norm, norm_type), torch.nn.utils.clip_grad_norm_(b, max_norm, norm_type))
    assert a[0].grad is held
    for p, q in zip(a, b, strict=True):
        close(p.grad, q.grad)


def test_norm_of_nothing_one_and_nonfinite() -> None:
    assert float(utils.clip_grad_norm_([], 1.0)) == 0
    p = ours(np.ones(2, np.float32), True)
    assert float(utils.get_total_norm(p.detach())) == pytest.approx(math.sqrt(2))
    p.grad = ours(np.array([np.nan, 1], np.float32))
    with pytest.raises(RuntimeError, match="norm of order"):
        utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    np.testing.assert_array_equal(to_array(p.grad), [np.nan, 1])


def test_clip_grad_value() -> None:
    p = ours(np.ones(3, np.float32), True)
    p.grad = ours(np.array([-3, 0.2, 5], np.float32))
    utils.clip_grad_value_(p, 0.5)
    np.testing.assert_array_equal(to_array(p.grad), np.array([-0.5, 0.2, 0.5], np.float32))
    with pytest.raises(ValueError, match="must not be negative"):
        utils.clip_grad_value_(p, -1)


def test_parameters_as_a_vector() -> None:
    net = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(net.parameters())
    np.testing.assert_array_equal(to_array(vector), np.concatenate([to_array(net.weight).ravel(), to_array(net.bias)]))
    (vector * vector).sum().backward()
    np.testing.assert_allclose(to_array(net.weight.grad), 2 * to_array(net.weight))
    weight = net.weight
    utils.vector_to_parameters(ours(np.arange(9, dtype=np.float32)), net.parameters())
    assert net.weight is weight
    np.testing.assert_array_equal(to_array(net.weight), np.arange(6).reshape(3, 2))
    np.testing.assert_array_equal(to_array(net.bias), [6, 7, 8])
    for bad in (ours(np.zeros(8, np.float32)), 3):
        with pytest.raises(TwofoldError, match="vector_to_parameters"):
            utils.vector_to_parameters(bad, net.parameters())


def test_softmax_without_a_dimension_warns() -> None:
    x = ours(np.zeros((2, 3), np.float32))
    with pytest.warns(UserWarning, match="give dim"):
        out = nn.Softmax()(x)
    np.testing.assert_allclose(to_array(out).sum(1), [1, 1], rtol=1e-6)
