"""Transforms together with the other modes: autocast, anomaly mode, saved-tensor hooks, inference mode, threads, symbolic sizes."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import func, nn


def test_autocast() -> None:
    linear, x = nn.Linear(3, 4), twofold.randn(5, 3)

    def f(a: Any) -> Any:
        return twofold.softmax(linear(a), -1) * linear(a)

    with twofold.amp.autocast("cpu", dtype=twofold.bfloat16):
        found = func.vmap(f)(x)
        single = twofold.stack([f(a) for a in x])
    assert found.dtype is single.dtype
    np.testing.assert_allclose(found.detach().float().numpy(), single.detach().float().numpy(), rtol=2e-2, atol=1e-2)


def test_anomaly_and_saved_tensors() -> None:
    x = twofold.rand(4, 3)
    third = lambda a: (a**3).sum()
    with twofold.autograd.detect_anomaly():
        g = func.vmap(func.grad(third))(x)
    np.testing.assert_allclose(g.numpy(), 3 * x.numpy() ** 2, rtol=1e-5)
    seen: list[Any] = []

    def pack(t: Any) -> Any:
        seen.append(t)
        return t.clone()

    with twofold.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        h = func.vmap(func.hessian(third))(x)
    assert seen
    np.testing.assert_allclose(h.numpy(), np.stack([np.diag(6 * a) for a in x.numpy()]), rtol=1e-5)


def test_inference_mode() -> None:
    x = twofold.rand(3)
    with twofold.inference_mode():
        g = func.grad(lambda a: (a**2).sum())(x)
    assert not g.requires_grad
    np.testing.assert_allclose(g.numpy(), 2 * x.numpy())


def test_threads() -> None:
    found: dict[int, Any] = {}

    def work(i: int) -> None:
        found[i] = func.vmap(func.grad(lambda a: (a**3).sum()))(twofold.full((4, 3), float(i)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, g in found.items():
        np.testing.assert_allclose(g.numpy(), 3.0 * i * i)


def test_symbolic_batch() -> None:
    n = twofold.Dim("n")
    f = lambda x: func.vmap(func.grad(lambda a: twofold.tanh(a).sum()))(x)
    module = twofold.trace(f, (twofold.randn(4, 3),), dynamic_shapes={"x": {0: n}})
    x = twofold.randn(7, 3)
    np.testing.assert_allclose(module(x).numpy(), f(x).numpy(), rtol=1e-5, atol=1e-6)


def test_nothing_is_kept_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        x = twofold.rand(10)
        gone = weakref.ref(x)
        func.hessian(lambda a: (a**3).sum())(x)
        func.jvp(lambda a: a**2, (x,), (x,))
        func.vmap(func.grad(lambda a: (a * a).sum()))(twofold.rand(3, 10))
        del x
        assert gone() is None
    finally:
        gc.enable()


def test_hooks_and_gradients_of_examples() -> None:
    """A hook inside a mapped function sees gradients of one example, and `.grad` is that of one."""
    shapes: list[Any] = []

    def f(a: Any) -> Any:
        b = a * 2
        b.retain_grad()
        b.register_hook(lambda g: (shapes.append(g.shape), g * 10)[1])  # type: ignore[func-returns-value]
        return (b**2).sum()

    x = twofold.rand(4, 3, dtype=twofold.float64, requires_grad=True)
    func.vmap(f)(x).sum().backward()
    assert shapes == [(3,)]
    np.testing.assert_allclose(x.grad.numpy(), 80 * x.detach().numpy())


def test_programs_that_were_recorded() -> None:
    x = twofold.rand(4, 3)
    module = twofold.trace(lambda a: twofold.tanh(a).sum() * 2, (x[0],))
    np.testing.assert_allclose(func.vmap(module)(x).numpy(), 2 * np.tanh(x.numpy()).sum(1), rtol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_orders(order: int) -> None:
    f: Any = lambda a: (a**5).sum()
    for _ in range(order - 1):
        f = (lambda g: lambda a: func.grad(g)(a).sum())(f)
    x = twofold.rand(3, dtype=twofold.float64)
    factor = {1: 5, 2: 20, 3: 60}[order]
    np.testing.assert_allclose(func.grad(f)(x).numpy(), factor * x.numpy() ** (5 - order), rtol=1e-12)
