"""`vmap`: structures, dimensions, views and writes, randomness, chunks, errors."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.func import grad, vmap
from twofold.support.errors import InplaceError, UnsupportedError, VmapError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 3))
W = RNG.standard_normal((5, 3))


def t(a: Any, **kwargs: Any) -> Any:
    return twofold.tensor(a, **kwargs)


def equal(a: Any, b: Any) -> None:
    np.testing.assert_allclose(np.asarray(a.detach()), np.asarray(b.detach() if hasattr(b, "detach") else b), rtol=1e-12, atol=1e-12)


# ---- arguments and results -------------------------------------------------------------------------------------------------------


def test_in_dims_and_out_dims() -> None:
    equal(vmap(lambda a: a * 2, in_dims=1, out_dims=1)(t(X)), X * 2)
    equal(vmap(lambda a: a * 2, in_dims=-1, out_dims=0)(t(X)), X.T * 2)
    equal(vmap(lambda a, w: w @ a, in_dims=(0, None))(t(X), t(W)), X @ W.T)
    equal(vmap(lambda a, w: w @ a, in_dims=(0, None), out_dims=-1)(t(X), t(W)), W @ X.T)
    first, second = vmap(lambda a: (a, a.sum()), out_dims=(1, 0))(t(X))
    equal(first, X.T)
    equal(second, X.sum(1))


def test_structures() -> None:
    def f(d: Any, pair: Any) -> Any:
        return OrderedDict(s=d["a"] + pair[0], t=[pair[1] * 2])

    given = {"a": t(X)}
    out = vmap(f, in_dims=({"a": 0}, (None, 0)))(given, (t(X[0]), t(X)))
    assert type(out) is OrderedDict
    equal(out["s"], X + X[0])
    equal(out["t"][0], X * 2)
    out = vmap(f)(given, (t(X), t(X)))
    equal(out["s"], X + X)


def test_keywords_are_the_same_in_all_examples() -> None:
    equal(vmap(lambda a, scale: a.sum() * scale.sum())(t(X), scale=t(X)), X.sum(1) * X.sum())


def test_what_no_argument_takes_part_in() -> None:
    equal(vmap(lambda a: twofold.ones(2))(t(X)), np.ones((4, 2)))
    assert vmap(lambda a: (a, 7), out_dims=(0, None))(t(X))[1] == 7
    assert vmap(lambda a: (a, twofold.ones(2)), out_dims=(0, None))(t(X))[1].shape == (2,)


def test_nested() -> None:
    outer = vmap(lambda a: vmap(lambda w: (a * w).sum())(t(W)))(t(X))
    equal(outer, X @ W.T)
    equal(vmap(vmap(lambda a: a.exp(), in_dims=0), in_dims=1)(t(X)), np.exp(X.T))


def test_no_examples() -> None:
    assert vmap(lambda a: a.sum())(twofold.zeros(0, 3)).shape == (0,)


def test_chunks() -> None:
    big = RNG.standard_normal((10, 3))
    for size in (1, 3, 10, 99):
        equal(vmap(lambda a: a.softmax(-1), chunk_size=size)(t(big)), vmap(lambda a: a.softmax(-1))(t(big)))
        equal(vmap(lambda a: a * 2, in_dims=1, out_dims=1, chunk_size=size)(t(big)), big * 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: vmap(lambda a: a, in_dims=None)(t(X)),
        lambda: vmap(lambda a: a, in_dims="0")(t(X)),
        lambda: vmap(lambda a: a, in_dims=2)(t(X)),
        lambda: vmap(lambda a: a, in_dims=-3)(t(X)),
        lambda: vmap(lambda a: a, in_dims=(0, 0))(t(X)),
        lambda: vmap(lambda a: a)(3),
        lambda: vmap(lambda: t(X))(),
        lambda: vmap(lambda a, b: a)(t(X), t(W)),
        lambda: vmap(lambda a: 1)(t(X)),
        lambda: vmap(lambda a: a, out_dims=None)(t(X)),
        lambda: vmap(lambda a: a, out_dims=(0, 0))(t(X)),
        lambda: vmap(lambda a: a, out_dims=3)(t(X)),
        lambda: vmap(lambda a: a, chunk_size=0),
        lambda: vmap(lambda a: a, randomness="some"),
    ],
)
def test_wrong_use(call: Any) -> None:
    with pytest.raises(VmapError) as e:
        call()
    assert isinstance(e.value, ValueError)
    assert isinstance(e.value, RuntimeError)


# ---- what needs values -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name,function",
    [
        ("item", lambda a: a[0].item()),
        ("bool", lambda a: a if a.sum() > 0 else -a),
        ("float", lambda a: a * float(a[0])),
        ("int", lambda a: range(int(a[0]))),
        ("tolist", lambda a: a.tolist()),
        ("numpy", lambda a: a.numpy()),
        ("tensor", lambda a: twofold.tensor([a[0], 1.0])),
        ("nonzero", lambda a: a.nonzero()),
        ("masked_select", lambda a: a.masked_select(a > 0)),
        ("mask", lambda a: a[a > 0]),
        ("unique", lambda a: a.unique()),
        ("repeat_interleave", lambda a: twofold.arange(3).repeat_interleave(a.long())),
        ("backward", lambda a: a.sum().backward()),
    ],
)
def test_values_are_refused(name: str, function: Any) -> None:
    with pytest.raises(VmapError) as e:
        vmap(function)(t(X, requires_grad=name == "backward"))
    assert isinstance(e.value, RuntimeError)


def test_printing_inside() -> None:
    seen = []

    def f(a: Any) -> Any:
        seen.append(repr(a))
        return a

    vmap(f)(t(X))
    assert "BatchedTensor" in seen[0]
    assert "batch=4" in seen[0]


# ---- shapes, views, writes --------------------------------------------------------------------------------------------------------


def test_looks_like_one_example() -> None:
    def f(a: Any) -> Any:
        assert a.shape == (3,)
        assert a.ndim == a.dim() == 1
        assert a.numel() == len(a) == 3
        assert a.dtype is twofold.float64
        assert a.stride() == (1,)
        assert a.is_contiguous()
        assert not a.requires_grad
        return sum(a)  # iterates

    equal(vmap(f)(t(X)), X.sum(1))


def test_writes_go_through_views() -> None:
    def f(a: Any) -> Any:
        b = a.clone()
        b[0] = a[1]
        b[1:] *= 2
        view = b.view(3)[2:]
        view.add_(a[:1])
        b[b > 1] = 1.0
        return b

    def single(a: Any) -> Any:
        b = a.copy()
        b[0] = a[1]
        b[1:] *= 2
        b[2:] += a[:1]
        b[b > 1] = 1.0
        return b

    equal(vmap(f)(t(X)), np.stack([single(a) for a in X]))


def test_gradients_of_writes() -> None:
    def f(a: Any) -> Any:
        b = a * 1
        b[0] = a[1] ** 2
        b.mul_(a)
        b.exp_()
        return b.sum()

    x = t(X, requires_grad=True)
    vmap(f)(x).sum().backward()
    y = t(X, requires_grad=True)
    sum(f(y[i]) for i in range(4)).backward()
    equal(x.grad, y.grad)


def test_a_mapped_argument_is_written() -> None:
    x = t(X)
    vmap(lambda a: a.add_(1))(x)
    equal(x, X + 1)


def test_writes_to_what_is_shared_are_refused() -> None:
    shared = twofold.zeros(3, dtype=twofold.float64)
    with pytest.raises(InplaceError, match="all examples share"):
        vmap(lambda a: shared.add_(a))(t(X))
    with pytest.raises(InplaceError):
        vmap(lambda a: shared.__setitem__(0, a[0]))(t(X))
    equal(shared, np.zeros(3))
    equal(vmap(lambda a: a.new_zeros(3).add_(a))(t(X)), X)
    equal(vmap(lambda a: twofold.zeros_like(a).add_(a))(t(X)), X)


def test_indexing_by_tensors() -> None:
    index = np.array([[0, 2], [1, 1], [2, 0], [0, 0]])
    equal(vmap(lambda a, i: a[i])(t(X), t(index)), np.take_along_axis(X, index, 1))
    equal(vmap(lambda i: t(W)[i])(t(index)), W[index])
    equal(vmap(lambda a, i: a[i[0]])(t(X), t(index)), X[np.arange(4), index[:, 0]])
    cube = RNG.standard_normal((4, 2, 3, 5))
    ours = vmap(lambda a, i: a[:, i, 1])(t(cube), t(index))
    equal(ours, np.stack([c[:, i, 1] for c, i in zip(cube, index, strict=True)]))
    ours = vmap(lambda a, i: a[i % 2, :, i])(t(cube), t(index))
    equal(ours, np.stack([c[i % 2, :, i] for c, i in zip(cube, index, strict=True)]))


def test_promotion_of_one_number_an_example() -> None:
    """A 0-d tensor does not widen a vector of its own kind, though a batch of them would."""
    scale = t([1.0, 2.0, 3.0, 4.0], dtype=twofold.float64)
    x = t(X, dtype=twofold.float32)
    assert vmap(lambda a, s: a * s)(x, scale).dtype is twofold.float32
    assert vmap(lambda s: t([1, 2], dtype=twofold.int32) + s)(t([1, 2, 3])).dtype is twofold.int32
    assert vmap(lambda s: s * 2.5)(t([1, 2, 3])).dtype is twofold.float32


# ---- random numbers -----------------------------------------------------------------------------------------------------------------

DRAWS = {
    "rand": lambda a: twofold.rand(3),
    "randn": lambda a: twofold.randn(2, 2),
    "randint": lambda a: twofold.randint(0, 1000, (4,)),
    "randperm": lambda a: twofold.randperm(20),
    "rand_like": lambda a: twofold.rand_like(a),
    "normal": lambda a: twofold.normal(a, 1.0) - a,
    "dropout": lambda a: twofold.nn.functional.dropout(twofold.ones(20)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_randomness(name: str) -> None:
    draw = DRAWS[name]
    with pytest.raises(VmapError, match="randomness"):
        vmap(draw)(t(X))
    same = vmap(draw, randomness="same")(t(X)).numpy()
    assert all(np.array_equal(np.round(same[0], 9), np.round(s, 9)) for s in same)
    different = vmap(draw, randomness="different")(t(X)).numpy()
    assert len({different[i].tobytes() for i in range(4)}) == 4


def test_randomness_of_batched_operands() -> None:
    x = twofold.ones(4, 200)
    dropped = vmap(lambda a: twofold.nn.functional.dropout(a), randomness="different")(x).numpy()
    assert set(np.unique(dropped)) == {0.0, 2.0}
    assert len({d.tobytes() for d in dropped}) == 4
    same = vmap(lambda a: twofold.nn.functional.dropout(a), randomness="same")(x).numpy()
    assert set(np.unique(same)) == {0.0, 2.0}
    assert len({d.tobytes() for d in same}) == 1
    p = twofold.full((4, 50), 0.5)
    assert vmap(twofold.bernoulli, randomness="different")(p).shape == (4, 50)
    assert vmap(lambda a: twofold.multinomial(a, 2), randomness="different")(p).shape == (4, 2)
    assert vmap(lambda a: twofold.multinomial(a, 2), randomness="different")(p.reshape(2, 2, 50)).shape == (2, 2, 2)
    with pytest.raises(UnsupportedError):
        vmap(twofold.bernoulli, randomness="same")(p)


def test_dropout_in_evaluation_draws_nothing() -> None:
    equal(vmap(twofold.nn.Dropout().eval())(t(X)), X)


def test_nested_randomness() -> None:
    def inner(a: Any) -> Any:
        return vmap(lambda b: twofold.rand(2), randomness="different")(a)

    found = vmap(inner, randomness="same")(t(X)).numpy()
    assert found.shape == (4, 3, 2)
    assert all(np.array_equal(found[0], f) for f in found)
    assert len({f.tobytes() for f in found[0]}) == 3


def test_writing_draws_into_what_is_shared() -> None:
    shared = twofold.zeros(3)
    with pytest.raises(InplaceError):
        vmap(lambda a: shared.normal_(), randomness="different")(t(X))
    drawn = vmap(lambda a: twofold.zeros_like(a).uniform_(), randomness="different")(t(X)).numpy()
    assert len({d.tobytes() for d in drawn}) == 4


# ---- with the rest --------------------------------------------------------------------------------------------------------------------


def test_gradients_flow_through() -> None:
    x, w = t(X, requires_grad=True), t(W, requires_grad=True)
    vmap(lambda a: (w @ a).tanh().sum())(x).sum().backward()
    x2, w2 = t(X, requires_grad=True), t(W, requires_grad=True)
    (x2 @ w2.T).tanh().sum().backward()
    equal(x.grad, x2.grad)
    equal(w.grad, w2.grad)


def test_autograd_grad_inside() -> None:
    """Gradients of mapped leaves work; of what all examples share they would be sums, and are refused."""

    def f(a: Any) -> Any:
        b = a.detach().requires_grad_()
        return twofold.autograd.grad((b**3).sum(), b)[0]

    equal(vmap(f)(t(X)), 3 * X**2)
    w = t(W[0], requires_grad=True)
    with pytest.raises(UnsupportedError, match="sum"):
        vmap(lambda a: twofold.autograd.grad((a * w).sum(), w)[0])(t(X))


def test_batch_norm_updates_are_refused() -> None:
    x = twofold.randn(4, 8, 3)
    with pytest.raises(InplaceError):
        vmap(twofold.nn.BatchNorm1d(3))(x)
    free = twofold.nn.BatchNorm1d(3, track_running_stats=False)
    found = vmap(free)(x)
    np.testing.assert_allclose(found.detach().numpy(), np.stack([free(a).detach().numpy() for a in x]), rtol=1e-5, atol=1e-6)


def test_grad_of_what_is_not_batched_inside() -> None:
    equal(vmap(grad(lambda w, a: (w * a).sum() ** 2), in_dims=(None, 0))(t(W[0]), t(X)), 2 * (X @ W[0])[:, None] * X)
