"""Checkpointing: same gradients, less kept, one second run, differences named."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import twofold
from tests.autograd.libs import Ours, both
from twofold.autograd import checkpoint
from twofold.ir.mode import MODE
from twofold.support.errors import ArgumentError, AutogradError, InplaceError, UnsupportedError

lib = Ours()
W = (0.5, -0.6, 0.7)


def leaves() -> tuple[Any, Any]:
    return lib.make([1.0, 2.0, 3.0]), lib.make(W)


def part(x: Any, w: Any) -> Any:
    return ((x * w).sin() * x).exp() / (1 + w * w)


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_gradients_are_the_same(inner: bool, early_stop: bool) -> None:
    found = []
    for wrap in (lambda f, *a: f(*a), lambda f, *a: checkpoint(f, *a, early_stop=early_stop)):
        x, w = leaves()
        y = wrap(part, x * 2 if inner else x, w)
        (y * y).sum().backward()
        found.append((x.grad.tolist(), w.grad.tolist()))
    assert found[0] == found[1]
    assert MODE.special == 0


def test_like_torch() -> None:
    def program(lib: Any) -> Any:
        run = checkpoint if lib.name == "twofold" else lib.utils.checkpoint.checkpoint
        x, w = lib.make([1.0, 2.0, 3.0]), lib.make(W)
        calls = [0]

        def counted(a: Any, k: float, *, w: Any) -> Any:
            calls[0] += 1
            return (a * w * k).tanh(), a.sum(), None

        y, s, none = run(counted, x * 1, 2.0, w=w, use_reentrant=False)
        (y * s).sum().backward(retain_graph=True)
        first = calls[0]
        (y * s).sum().backward()
        (g,) = lib.autograd.grad(run(counted, x * 1, 2.0, w=w, use_reentrant=False)[0].sum(), x, create_graph=True)
        return x.grad, w.grad, first, calls[0], none is None, g, lib.autograd.grad(g.sum(), w)

    both(program)


def test_what_is_saved_is_gone_until_backward() -> None:
    arrays: list[Any] = []

    def f(x: Any) -> Any:
        y = x.exp()
        arrays.append(weakref.ref(y._array))
        return y.sin()

    gc.disable()
    try:
        x = lib.make(np.linspace(0, 1, 50))
        z = checkpoint(f, x)
        assert arrays[0]() is None
        z.sum().backward(retain_graph=True)
        assert len(arrays) == 2
        assert arrays[1]() is None
        z.sum().backward()
        assert arrays[2]() is None
        node = weakref.ref(z.grad_fn)
        del z
        assert node() is None
    finally:
        gc.enable()


def test_one_second_run_for_a_pass() -> None:
    calls = [0]

    def f(x: Any) -> Any:
        calls[0] += 1
        for _ in range(4):
            x = x.sin() * x
        return x

    x = lib.make([1.0, 2.0])
    y = checkpoint(f, x)
    y.sum().backward()
    assert calls == [2]
    with pytest.raises(AutogradError, match="second time"):
        y.sum().backward()


def test_nested() -> None:
    calls = {"outer": 0, "inner": 0}

    def inner(x: Any, w: Any) -> Any:
        calls["inner"] += 1
        return part(x, w).sin()

    def outer(x: Any, w: Any) -> Any:
        calls["outer"] += 1
        return checkpoint(inner, x * 2, w) * x

    found = []
    for f in (lambda x, w: inner(x * 2, w) * x, lambda x, w: checkpoint(outer, x, w)):
        x, w = leaves()
        f(x, w).sum().backward()
        found.append((x.grad.tolist(), w.grad.tolist()))
    assert found[0] == found[1]
    assert calls["outer"] == 2


def test_random_numbers_are_drawn_again() -> None:
    drawn: list[Any] = []

    def f(x: Any) -> Any:
        noise = twofold.randn(3, dtype=twofold.float64)
        drawn.append(noise.tolist())
        return (x * noise).sin()

    x = lib.make([1.0, 2.0, 3.0])
    twofold.manual_seed(3)
    y = checkpoint(f, x)
    after = twofold.randn(2).tolist()
    y.sum().backward()
    follows = twofold.randn(2).tolist()
    assert drawn[0] == drawn[1]
    twofold.manual_seed(3)
    twofold.randn(3, dtype=twofold.float64)
    assert (twofold.randn(2).tolist(), twofold.randn(2).tolist()) == (after, follows)
    noise = np.array(drawn[0])
    np.testing.assert_allclose(x.grad.numpy(), noise * np.cos(np.array([1.0, 2.0, 3.0]) * noise))
    drawn.clear()
    checkpoint(f, x, preserve_rng_state=False).sum().backward()
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("case", ["operation", "shape", "more", "fewer"])
def test_a_second_run_that_differs_is_named(case: str) -> None:
    calls = [0]

    def f(x: Any) -> Any:
        calls[0] += 1
        again = calls[0] > 1
        if case == "operation":
            return x.exp() if again else x.sin()
        if case == "shape":
            return x[:1].sin().sum() if again else x.sin().sum()
        y = x.sin()
        for _ in range(1 + (again if case == "more" else not again)):
            y = y.sin()
        return y

    x = lib.make([1.0, 2.0])
    y = checkpoint(f, x, early_stop=False)
    with pytest.raises(AutogradError) as caught:
        y.sum().backward()
    text = str(caught.value)
    expected = {
        "operation": ("SinBackward0's 'self', f64[2]", "ExpBackward0's 'result'", "return x.exp() if again else x.sin()"),
        "shape": ("f64[2]", "f64[1]"),
        "more": ("a tensor more", "SinBackward0"),
        "fewer": ("saved 2 tensors, the first run 3",),
    }[case]
    for words in (*expected, "running f again"):
        assert words in text
    if case == "operation":
        calls[0] = 0
        checkpoint(f, x, determinism_check="none").sum().backward()  # wrong gradients, as asked for
        calls[0] = 0
        with pytest.raises(AutogradError, match=r"(?s)first run:.*0: SinBackward0.*second run:.*0: ExpBackward0"):
            checkpoint(f, x, debug=True).sum().backward()


def test_an_argument_that_was_overwritten() -> None:
    x = lib.make([1.0, 2.0])
    a = x * 2
    y = checkpoint(lambda t: t.sin() * t, a)
    a.add_(1)
    with pytest.raises(InplaceError, match=r"(?s)argument 0.*a\.add_\(1\)"):
        y.sum().backward()


def test_an_exception_in_the_function_is_the_users() -> None:
    def f(x: Any) -> Any:
        try:
            return x.sin().exp()
        except Exception:
            raise AssertionError("the early stop must not be seen") from None

    x = lib.make([1.0])
    checkpoint(f, x).backward()
    with pytest.raises(ZeroDivisionError):
        checkpoint(lambda t: 1 / 0, x)
    assert MODE.special == 0


def test_custom_functions_inside() -> None:
    class Exp(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y, None)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x = lib.make([1.0, 2.0])
    checkpoint(lambda t: Exp.apply(t).sin(), x).sum().backward()
    e = np.exp([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), np.cos(e) * e)


def test_without_gradients_it_only_runs() -> None:
    x = lib.make([1.0, 2.0])
    with twofold.no_grad():
        assert not checkpoint(lambda t: t * 2, x).requires_grad
    assert not checkpoint(lambda t: t * 2, x.detach()).requires_grad


def test_refusals() -> None:
    x = lib.make([1.0])
    with pytest.raises(UnsupportedError, match="use_reentrant"):
        checkpoint(lambda t: t, x, use_reentrant=True)
    with pytest.raises(UnsupportedError, match="context_fn"):
        checkpoint(lambda t: t, x, context_fn=lambda: None)
    with pytest.raises(ArgumentError, match="determinism_check"):
        checkpoint(lambda t: t, x, determinism_check="sometimes")
