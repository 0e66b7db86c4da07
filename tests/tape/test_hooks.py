"""Hooks on tensors, nodes and leaves, and retained gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tape.tools import const, leaf, sin, total, values
from twofold.support.errors import AutogradError
from twofold.tensors.backward import backward, grad


def test_tensor_hooks_run_in_order_and_replace() -> None:
    x = leaf([1.0, 2.0])
    h = x * 3.0
    seen: list[Any] = []
    h.register_hook(lambda g: seen.append(("first", values(g).tolist())))
    h.register_hook(lambda g: g * 10.0)
    h.register_hook(lambda g: seen.append(("third", values(g).tolist())))
    backward(total(h))
    assert seen == [("first", [1.0, 1.0]), ("third", [10.0, 10.0])]
    np.testing.assert_array_equal(values(x.grad), [30.0, 30.0])


def test_leaf_hook_sees_the_sum_and_changes_what_is_accumulated() -> None:
    x = leaf(2.0)
    seen: list[float] = []

    def hook(g: Any) -> Any:
        seen.append(float(values(g)))
        return g * 2.0

    handle = x.register_hook(hook)
    backward(x * x + x)
    assert seen == [5.0]
    assert float(values(x.grad)) == 10.0
    handle.remove()
    handle.remove()
    backward(x * 1.0)
    assert float(values(x.grad)) == 11.0


def test_hook_of_a_captured_input() -> None:
    """`grad` returns what the input's hooks made of it."""
    x = leaf(2.0)
    x.register_hook(lambda g: g * 5.0)
    (g,) = grad(x * 3.0, x)
    assert float(values(g)) == 15.0


def test_hook_cannot_change_others_gradients() -> None:
    """A hook's replacement goes to its own tensor only, though both operands of a sum get the same array."""
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    a = x * 1.0
    a.register_hook(lambda g: g * 7.0)
    backward(total(a + y))
    np.testing.assert_array_equal(values(x.grad), [7.0, 7.0])
    np.testing.assert_array_equal(values(y.grad), [1.0, 1.0])


def test_hook_on_a_constant_is_refused() -> None:
    with pytest.raises(AutogradError, match="require"):
        const(1.0).register_hook(lambda g: None)


def test_hook_handle_is_a_context_manager() -> None:
    x = leaf(1.0)
    with x.register_hook(lambda g: g * 3.0):
        backward(x * 1.0)
    backward(x * 1.0)
    assert float(values(x.grad)) == 4.0


def test_node_hooks() -> None:
    x = leaf(0.5)
    y = sin(x) * 2.0
    node = y.grad_fn
    seen: list[Any] = []
    node.register_prehook(lambda gs: (gs[0] * 10.0,))

    def post(grad_inputs: Any, grad_outputs: Any) -> Any:
        seen.append((len(grad_inputs), float(values(grad_outputs[0]))))
        return tuple(None if g is None else g * 100.0 for g in grad_inputs)

    handle = node.register_hook(post)
    backward(y, retain_graph=True)
    assert seen == [(2, 10.0)]
    assert float(values(x.grad)) == pytest.approx(2 * 10 * 100 * np.cos(0.5))
    handle.remove()
    x.grad = None
    backward(y)
    assert float(values(x.grad)) == pytest.approx(2 * 10 * np.cos(0.5))


def test_metadata_is_no_hook() -> None:
    x = leaf(0.5)
    y = sin(x)
    y.grad_fn.metadata["note"] = 3
    assert y.grad_fn.metadata == {"note": 3}
    backward(y)
    assert float(values(x.grad)) == pytest.approx(np.cos(0.5))


def test_retain_grad() -> None:
    x = leaf([0.1, 0.2])
    h = sin(x)
    h.retain_grad()
    h.retain_grad()
    assert h.retains_grad
    assert h.grad is None
    backward(total(h * h))
    np.testing.assert_allclose(values(h.grad), 2 * np.sin([0.1, 0.2]))
    assert not x.retains_grad
    with pytest.raises(AutogradError, match="require"):
        const(1.0).retain_grad()


def test_retained_gradient_comes_after_the_hooks() -> None:
    """As in PyTorch: the retained gradient is what the tensor's hooks made of it, whatever was registered first."""
    x = leaf(1.0)
    h = x * 2.0
    h.retain_grad()
    h.register_hook(lambda g: g * 4.0)
    backward(h * 1.0)
    assert float(values(h.grad)) == 4.0
    assert float(values(x.grad)) == 8.0


def test_reading_grad_of_an_inner_tensor_warns() -> None:
    h = leaf(1.0) * 2.0
    with pytest.warns(UserWarning, match="retain_grad"):
        assert h.grad is None


def test_post_accumulate_hook_runs_as_soon_as_the_leaf_is_complete() -> None:
    """The last layer's weight is complete while earlier layers have not run."""
    order: list[str] = []
    x, early, late = leaf(0.5), leaf(2.0), leaf(3.0)
    h = sin(x * early)
    h.register_hook(lambda g: order.append("inner"))

    def done(name: str) -> Any:
        def hook(t: Any) -> None:
            assert t.grad is not None
            order.append(name)
            t.grad = None

        return hook

    late.register_post_accumulate_grad_hook(done("late"))
    early.register_post_accumulate_grad_hook(done("early"))
    backward(h * late)
    assert order == ["late", "inner", "early"]
    assert late.grad is None
    assert early.grad is None


def test_post_accumulate_hook_waits_for_all_uses() -> None:
    seen: list[float] = []
    w = leaf(2.0)
    w.register_post_accumulate_grad_hook(lambda t: seen.append(float(values(t.grad))))
    y = w * 3.0
    for _ in range(3):
        y = y * w
    backward(y)
    assert seen == [pytest.approx(4 * 3 * 2.0**3)]


def test_post_accumulate_hook_only_on_leaves() -> None:
    with pytest.raises(AutogradError, match="leaf"):
        (leaf(1.0) * 2.0).register_post_accumulate_grad_hook(lambda t: None)


def test_hooks_see_a_graph_under_create_graph() -> None:
    x = leaf(0.5)
    h = sin(x)
    kinds: list[bool] = []
    h.register_hook(lambda g: kinds.append(g.requires_grad))
    backward(h * h, create_graph=True)
    x.grad = None
    backward(sin(x) * 2.0)
    assert kinds == [True]
