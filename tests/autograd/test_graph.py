"""Hooks on saved tensors, and anomaly mode."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import twofold
from tests.autograd.libs import Ours, both
from twofold.autograd import graph
from twofold.ir.mode import MODE
from twofold.support.errors import AutogradError

lib = Ours()


def test_saved_tensors_hooks_like_torch() -> None:
    def program(lib: Any) -> Any:
        seen: list[Any] = []

        def pack(t: Any) -> Any:
            seen.append(("pack", t.detach().clone()))
            return [t.detach().clone()]

        def unpack(packed: Any) -> Any:
            seen.append("unpack")
            return packed[0] * 2

        x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
        with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = x * w
            with lib.autograd.graph.saved_tensors_hooks(lambda t: 3.0, lambda v: lib.make([v, v], False)):
                z = y.exp()
            u = y + y
        (z + u).sum().backward()
        return seen.count("unpack"), len([s for s in seen if s != "unpack"]), x.grad, w.grad

    both(program)


def test_second_derivative_through_hooks() -> None:
    def program(lib: Any) -> Any:
        x, w = lib.make([0.5, 2.0]), lib.make([3.0, 4.0])
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            y = (x * w).sin() * x
        (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
        (g * g).sum().backward()
        return g, x.grad, w.grad

    both(program)


def test_list_operands_and_broadcasting_under_hooks() -> None:
    def program(lib: Any) -> Any:
        x, w = lib.make([[0.5], [2.0]]), lib.make([3.0, 4.0, 1.0])
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy(), lambda a: lib.from_numpy(a)):
            y = lib.cat([x * w, (x / w).sigmoid(), lib.softmax(w * x, 1)], 0)
        (y * y).sum().backward()
        return x.grad, w.grad

    both(program)


def test_hooks_are_not_recorded_and_not_nested_in_themselves() -> None:
    calls = []

    def pack(t: Any) -> Any:
        calls.append(twofold.is_grad_enabled())
        w = lib.make([1.0, 1.0])
        return (w * w).sin() * 0 + t  # saves nothing of its own

    x = lib.make([1.0, 2.0])
    with graph.saved_tensors_hooks(pack, lambda t: t):
        y = x.exp()
    assert calls == [False]
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]))


def test_saved_attributes_go_through_unpack() -> None:
    x = lib.make([1.0, 2.0])
    with graph.saved_tensors_hooks(lambda t: 5.0, lambda v: lib.make([v, v], False)):
        node = x.sin().grad_fn
    assert node._saved_self.tolist() == [5.0, 5.0]


def test_a_wrong_unpack_hook_is_named() -> None:
    x = lib.make([1.0, 2.0])
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(AutogradError, match="unpack hook"):
        y.sum().backward()


def test_disabled_hooks() -> None:
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(AutogradError, match="not here"), hooks:
        pass
    with hooks, pytest.raises(AutogradError, match="nor here"), graph.disable_saved_tensors_hooks("nor here"):
        pass
    assert MODE.special == 0


def test_hooks_belong_to_the_thread() -> None:
    seen: list[str] = []
    with graph.saved_tensors_hooks(lambda t: seen.append("packed") or t, lambda t: t):
        thread = threading.Thread(target=lambda: lib.make([1.0]).exp())
        thread.start()
        thread.join()
    assert seen == []


# ---- anomaly mode -----------------------------------------------------------------------------------------------------------------------


def nan_maker(x: Any) -> Any:
    return (x * 0).sqrt()  # the gradient of sqrt at 0 is inf, times 0


@pytest.mark.parametrize("create_graph", [False, True])
def test_nan_is_reported_with_the_forward_stack(create_graph: bool) -> None:
    x = lib.make([1.0, 2.0])
    with twofold.autograd.detect_anomaly():
        y = nan_maker(x) * 0.0
        with pytest.raises(AutogradError) as caught:
            y.sum().backward(create_graph=create_graph)
    text = str(caught.value)
    assert "SqrtBackward0" in text
    assert "return (x * 0).sqrt()" in text
    assert "in nan_maker" in text
    assert "in test_nan_is_reported_with_the_forward_stack" in text
    assert x.grad is None
    assert MODE.special == 0


def test_nan_without_the_forward_stack_and_unchecked() -> None:
    x = lib.make([1.0, 2.0])
    y = nan_maker(x) * 0.0
    with twofold.autograd.detect_anomaly(), pytest.raises(AutogradError, match=r"NaN.*\n?.*sqrt"):
        y.sum().backward(retain_graph=True)
    with twofold.autograd.detect_anomaly(check_nan=False):
        y.sum().backward()
    assert np.isnan(x.grad.numpy()).all()


def test_nan_in_a_custom_function() -> None:
    class Bad(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * float("nan")

    x = lib.make([1.0])
    for create_graph in (False, True):
        with twofold.autograd.detect_anomaly():
            y = Bad.apply(x)
            with pytest.raises(AutogradError, match=r"(?s)BadBackward.*y = Bad\.apply"):
                y.backward(create_graph=create_graph)


def test_anomaly_on_and_off() -> None:
    assert not twofold.autograd.is_anomaly_enabled()
    twofold.autograd.set_detect_anomaly(True, check_nan=False)
    try:
        assert twofold.autograd.is_anomaly_enabled()
        assert not twofold.autograd.is_anomaly_check_nan_enabled()
        with twofold.autograd.set_detect_anomaly(False):
            assert not twofold.autograd.is_anomaly_enabled()
            assert MODE.special == 0
        assert twofold.autograd.is_anomaly_enabled()
        with twofold.autograd.detect_anomaly():
            assert twofold.autograd.is_anomaly_check_nan_enabled()
        assert MODE.special == 1
    finally:
        twofold.autograd.set_detect_anomaly(False)
    assert MODE.special == 0
