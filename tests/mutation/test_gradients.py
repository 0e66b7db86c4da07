"""Hooks, retained gradients and higher derivatives through in-place writes; what is left behind when tensors die."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import twofold as tf
from tests.mutation.cases import count, holds, leaf
from twofold.autograd import grad
from twofold.support.errors import (
    AutogradError,
)
from twofold.tape.versions import STAMPS

# ---- hooks, retained gradients, higher derivatives -------------------------------------------------------------------------------------


def test_retain_grad_and_hooks_follow_the_tensor() -> None:
    x = leaf()
    b = x * 2.0
    b.retain_grad()
    b.mul_(x.detach())
    b.sum().backward()
    holds(b.grad, np.ones(4))
    holds(x.grad, 2 * count((4,)))
    assert b.retains_grad


def test_hook_before_and_after_a_write(torch: Any) -> None:
    def gradients(module: Any, x: Any) -> tuple[list[Any], Any]:
        seen: list[Any] = []
        b = x * 2.0
        b.register_hook(lambda g: seen.append(np.array(g.detach().numpy())))
        b.mul_(3.0)
        b.register_hook(lambda g: seen.append(np.array(g.detach().numpy())))
        (b * b).sum().backward()
        return seen, x.grad

    ours, mine = gradients(tf, leaf())
    theirs, reference = gradients(torch, torch.tensor(count((4,)), requires_grad=True))
    assert len(ours) == len(theirs) == 2
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b)
    holds(mine, reference.numpy())


def test_hook_on_a_view_that_was_written() -> None:
    x = leaf()
    b = x * 1.0
    v = b[:2]
    v.mul_(3.0)
    seen = []
    v.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    v.sum().backward()
    assert seen == [[1, 1]]
    holds(x.grad, [30, 30, 0, 0])


def test_saved_tensors_hooks_see_the_written_result() -> None:
    packed = []

    def pack(t: Any) -> Any:
        packed.append(t.tolist())
        return t.clone()

    x = leaf([0.5, 1.0])
    b = x * 1.0
    with tf.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        b.tanh_()
    assert packed == [np.tanh([0.5, 1.0]).tolist()]
    b.add_(1.0)  # what was packed is a copy
    b.sum().backward()
    holds(x.grad, 1 - np.tanh([0.5, 1.0]) ** 2)


PROGRAMS: dict[str, Any] = {
    "mul_ of itself": lambda t: t.mul_(t.clone()),
    "tanh_": lambda t: t.tanh_(),
    "a view": lambda t: (t[1:3].mul_(t[0:2].clone()), t)[1],
    "a view, own result": lambda t: (t.view(2, 2)[0].tanh_(), t)[1],
    "two views": lambda t: (t[1:].mul_(t[:-1].clone()), t.view(2, 2).t()[1].sin_(), t)[2],
    "zero_ and copy_": lambda t: (t[:1].zero_(), t[1:2].copy_(t[2:3].clone() ** 2), t)[2],
    "index_put_": lambda t: (t.__setitem__([0, 2], t[1:3].clone() ** 2), t)[1],
    "masked_fill_": lambda t: (t.masked_fill_(t.detach() > 2.5, 0.5), t * t)[1],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_double_backward_like_torch(name: str, torch: Any) -> None:
    fn = PROGRAMS[name]

    def second(module: Any, x: Any, weight: Any) -> tuple[Any, Any]:
        b = x * x
        out = fn(b)
        (first,) = module.autograd.grad((out * out * weight).sum(), x, create_graph=True)
        (twice,) = module.autograd.grad((first * weight).sum(), x)
        return first.detach().numpy(), twice.numpy()

    values, weight = np.array([0.3, 1.7, 2.9, 4.1]), np.array([1.0, -2.0, 0.5, 3.0])
    ours = second(tf, tf.tensor(values, requires_grad=True), tf.tensor(weight))
    theirs = second(torch, torch.tensor(values, requires_grad=True), torch.tensor(weight))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_double_backward_of_the_graph(name: str) -> None:
    fn = PROGRAMS[name]

    def whole(x: Any) -> Any:
        out = fn(x * x)
        return (out * out).sum()

    x = leaf([0.3, 1.7, 2.9, 4.1])
    results = []
    for f in (whole, tf.trace(whole, (x,))):
        (first,) = grad(f(x), x, create_graph=True)
        (twice,) = grad((first * first).sum(), x)
        results.append((first.detach().numpy(), twice.numpy()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-10)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-10)


def test_backward_twice_through_a_write_needs_retain_graph() -> None:
    x = leaf()
    b = x * 1.0
    b[:2].mul_(b[2:])
    b.sum().backward(retain_graph=True)
    b.sum().backward(retain_graph=True)
    holds(x.grad, [6, 8, 4, 6])
    b.sum().backward()
    with pytest.raises(AutogradError, match="second time"):
        b.sum().backward()


# ---- nothing is left behind --------------------------------------------------------------------------------------------------------


def test_dead_views_and_stamps_leave_nothing() -> None:
    x = leaf() * 1.0
    for _ in range(1000):
        x[0]
    assert len(x._alias.views) <= 8
    gc.collect()
    gc.disable()
    try:
        before = len(STAMPS)
        t = tf.ones(3)
        t.add_(1.0)
        assert len(STAMPS) == before + 1
        del t
        assert len(STAMPS) == before
        b = leaf() * 1.0
        v = b[:2]
        v.mul_(2.0)
        refs = [weakref.ref(b.grad_fn), weakref.ref(v), weakref.ref(b), weakref.ref(v.grad_fn)]
        del b, v
        assert [r() for r in refs] == [None] * 4
        assert len(STAMPS) == before
    finally:
        gc.enable()
