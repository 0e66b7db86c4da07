"""Gradient modes: as context managers, decorators with and without parentheses, on generators and coroutines, in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import twofold
from tests.autograd.libs import Ours, both
from twofold.support.errors import ArgumentError

lib = Ours()
MODES = {"no_grad": False, "enable_grad": True, "inference_mode": False}


def state() -> tuple[bool, bool]:
    return twofold.is_grad_enabled(), twofold.is_inference_mode_enabled()


@pytest.mark.parametrize("name", MODES)
def test_contexts(name: str) -> None:
    context = getattr(twofold, name)
    x = lib.make([1.0])
    for before in (True, False):
        with twofold.set_grad_enabled(before):
            with context():
                assert twofold.is_grad_enabled() is MODES[name]
                assert (x * 2).requires_grad is MODES[name]
            assert twofold.is_grad_enabled() is before
            with pytest.raises(ZeroDivisionError), context():
                1 / 0
            assert twofold.is_grad_enabled() is before
    assert state() == (True, False)


@pytest.mark.parametrize("name", MODES)
def test_decorators(name: str) -> None:
    context = getattr(twofold, name)

    def plain(a: int, *, b: int = 2) -> tuple[bool, int]:
        """Documented."""
        return twofold.is_grad_enabled(), a + b

    for decorated in (context(plain), context()(plain)):
        with twofold.set_grad_enabled(not MODES[name]):
            assert decorated(1, b=4) == (MODES[name], 5)
            assert twofold.is_grad_enabled() is not MODES[name]
        assert decorated.__doc__ == "Documented."
        assert decorated.__name__ == "plain"


def test_a_context_may_be_used_again_inside_itself() -> None:
    for context in (twofold.no_grad(), twofold.inference_mode()):
        with context:
            with twofold.enable_grad(), context:
                assert not twofold.is_grad_enabled()
            assert not twofold.is_grad_enabled()
        assert state() == (True, False)
        with context:
            assert not twofold.is_grad_enabled()
    assert state() == (True, False)


@pytest.mark.parametrize("make", [lambda: twofold.no_grad, lambda: twofold.no_grad(), lambda: twofold.set_grad_enabled(False)])
def test_generators_keep_the_mode_to_themselves(make: Callable[[], Any]) -> None:
    log: list[Any] = []

    @make()
    def count(n: int) -> Any:
        try:
            for i in range(n):
                try:
                    log.append(("got", (yield i, twofold.is_grad_enabled())))
                except KeyError as e:
                    log.append(("caught", str(e), twofold.is_grad_enabled()))
            return twofold.is_grad_enabled()
        finally:
            log.append(("closed", twofold.is_grad_enabled()))

    assert twofold.is_grad_enabled()
    g = count(3)
    assert next(g) == (0, False)
    assert twofold.is_grad_enabled()
    assert g.send("hello") == (1, False)
    assert g.throw(KeyError("k")) == (2, False)
    assert twofold.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value is False
    assert log == [("got", "hello"), ("caught", "'k'", False), ("got", None), ("closed", False)]
    log.clear()
    g = count(2)
    next(g)
    g.close()
    assert log == [("closed", False)]
    assert twofold.is_grad_enabled()
    assert list(count(2)) == [(0, False), (1, False)]


def test_coroutines() -> None:
    @twofold.no_grad()
    async def inner() -> bool:
        before = twofold.is_grad_enabled()
        await asyncio.sleep(0)
        return before or twofold.is_grad_enabled()

    @twofold.no_grad
    async def stream() -> Any:
        for _ in range(2):
            yield twofold.is_grad_enabled()
            await asyncio.sleep(0)

    async def outer() -> list[bool]:
        async def other() -> bool:
            await asyncio.sleep(0)
            return twofold.is_grad_enabled()

        found = list(await asyncio.gather(inner(), other()))
        async for value in stream():
            found += [value, twofold.is_grad_enabled()]
        return found

    assert asyncio.run(outer()) == [False, True, False, True, False, True]


def test_set_grad_enabled_as_function_context_and_decorator() -> None:
    twofold.set_grad_enabled(False)
    try:
        assert not twofold.is_grad_enabled()
        with twofold.set_grad_enabled(True):
            assert twofold.is_grad_enabled()
        assert not twofold.is_grad_enabled()
        decorated = twofold.set_grad_enabled(True)(twofold.is_grad_enabled)
        assert not twofold.is_grad_enabled()
        assert decorated()
        assert not twofold.is_grad_enabled()
    finally:
        twofold.set_grad_enabled(True)


def test_inference_mode() -> None:
    x = lib.make([1.0, 2.0])
    with twofold.inference_mode():
        y = x * 2
        assert state() == (False, True)
        with twofold.inference_mode(False):
            assert state() == (True, False)
        assert state() == (False, True)
    assert not y.requires_grad
    (x * y).sum().backward()  # PyTorch refuses to save y
    assert x.grad.tolist() == [2.0, 4.0]
    with twofold.inference_mode(mode=False):
        assert (x * 2).requires_grad


def test_the_mode_belongs_to_the_thread() -> None:
    seen = []
    with twofold.no_grad():
        thread = threading.Thread(target=lambda: seen.append(twofold.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_classes_are_refused() -> None:
    for bad in (type("C", (), {}), 3, "f"):
        with pytest.raises(ArgumentError, match="functions"):
            twofold.no_grad()(bad)
    with pytest.raises(ArgumentError, match="functions"):
        twofold.no_grad(3)


def test_like_torch() -> None:
    def program(lib: Any) -> Any:
        x = lib.make([1.0, 2.0])
        with lib.no_grad():
            y = x * 2
            with lib.enable_grad():
                z = x * 3
            z.mul_(2)
            leaf = lib.make([1.0])
            leaf.mul_(5)
        return y.requires_grad, z.requires_grad, z.is_leaf, leaf, leaf.requires_grad, x.requires_grad

    both(program)


def test_in_place_through_a_view_made_under_no_grad() -> None:
    def program(lib: Any) -> Any:
        base = lib.make([1.0, 2.0]) * 1
        with lib.no_grad():
            view = base[:1]
        view.mul_(lib.make([2.0]))

    assert both(program) == "raised RuntimeError"
