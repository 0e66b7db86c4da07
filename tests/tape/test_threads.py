"""Backward in several threads at once, and backward inside backward."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.tape.tools import leaf, sin, total, values
from twofold.tensors.backward import backward, grad
from twofold.tensors.core import Tensor

THREADS, PASSES = 6, 60


def in_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Run `work(i)` in threads that start together; a failure in one fails the test."""
    barrier, failures = threading.Barrier(count), []

    def run(i: int) -> None:
        try:
            barrier.wait(30)
            work(i)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    if failures:
        raise failures[0]


def net(x: Tensor, w: Tensor) -> Tensor:
    h = x
    for _ in range(8):
        h = sin(h * w) + h
    return total(h)


def test_grad_over_one_shared_graph() -> None:
    """Accumulators belong to a run, so passes over the same nodes do not disturb each other."""
    x, w = leaf(np.linspace(-1, 1, 7)), leaf(0.7)
    y = net(x, w)
    want = [values(g).copy() for g in grad(y, [x, w], retain_graph=True)]

    def work(i: int) -> None:
        for _ in range(PASSES):
            for g, expected in zip(grad(y, [x, w], retain_graph=True), want, strict=True):
                np.testing.assert_array_equal(values(g), expected)

    in_threads(work)


def test_recorded_grad_over_one_shared_graph() -> None:
    x = leaf(np.linspace(-1, 1, 5))
    y = total(sin(x * x))
    (first,) = grad(y, x, create_graph=True)
    want = values(grad(total(first), x, retain_graph=True)[0]).copy()

    def work(i: int) -> None:
        for _ in range(PASSES // 4):
            (g,) = grad(y, x, create_graph=True)
            np.testing.assert_array_equal(values(grad(total(g), x, retain_graph=True)[0]), want)

    in_threads(work)


def test_threads_with_their_own_graphs_over_one_weight() -> None:
    """Each thread builds its graph and takes gradients; whole numbers, so that the sum does not depend on the order."""
    w = leaf([2.0, 3.0])

    def work(i: int) -> None:
        for _ in range(PASSES):
            (g,) = grad(total(w * float(i + 1)), w)
            np.testing.assert_array_equal(values(g), [i + 1.0, i + 1.0])

    in_threads(work)


def test_accumulation_from_several_threads_loses_nothing() -> None:
    w = leaf(np.zeros(1000))

    def work(i: int) -> None:
        for _ in range(PASSES):
            backward(total(w * 1.0))

    in_threads(work)
    np.testing.assert_array_equal(values(w.grad), np.full(1000, float(THREADS * PASSES)))


def test_gradient_mode_belongs_to_the_thread() -> None:
    """A backward in one thread (which records nothing) does not stop another from recording."""
    x = leaf(1.0)
    inside, checked = threading.Event(), threading.Event()
    y = sin(x)

    def hold(g: Any) -> None:
        inside.set()
        assert checked.wait(30)

    y.register_hook(hold)
    thread = threading.Thread(target=lambda: backward(y))
    thread.start()
    assert inside.wait(30)
    recorded = (x * 2.0).grad_fn is not None
    checked.set()
    thread.join(30)
    assert recorded
    assert float(values(x.grad)) == pytest.approx(np.cos(1.0))


# ---- backward inside backward --------------------------------------------------------------------------------------------------------


def test_backward_inside_a_hook() -> None:
    x, z = leaf(0.5), leaf(2.0)
    inner = z * z
    y = sin(x)
    y.register_hook(lambda g: backward(inner, retain_graph=True))
    backward(y * 3.0)
    assert float(values(z.grad)) == 4.0
    assert float(values(x.grad)) == pytest.approx(3 * np.cos(0.5))


def test_backward_of_the_same_graph_inside_its_own_hook() -> None:
    x = leaf(0.5)
    y = sin(x) * 3.0
    depth = [0]

    def again(g: Any) -> None:
        if depth[0] < 3:
            depth[0] += 1
            backward(y, retain_graph=True)

    y.register_hook(again)
    backward(y)
    assert depth[0] == 3
    assert float(values(x.grad)) == pytest.approx(4 * 3 * np.cos(0.5))


def test_backward_inside_a_hook_that_fails_does_not_disturb_the_outer_one() -> None:
    x, z = leaf(0.5), leaf(2.0)
    bad = z * z
    bad.register_hook(lambda g: 1 / 0)
    y = sin(x)
    caught: list[type] = []

    def hook(g: Any) -> None:
        try:
            backward(bad)
        except ZeroDivisionError as e:
            caught.append(type(e))

    y.register_hook(hook)
    backward(y)
    assert caught == [ZeroDivisionError]
    assert z.grad is None
    assert float(values(x.grad)) == pytest.approx(np.cos(0.5))
