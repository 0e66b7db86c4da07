"""The backward engine: order, size, failures, what is kept and freed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.tape.tools import const, cos, leaf, log, sin, tanh, total, values
from twofold.support.errors import ArgumentError, AutogradError, InplaceError, ShapeError, TwofoldError
from twofold.tensors.backward import backward, grad

CHAIN = 100_000


def test_long_chain_needs_no_recursion() -> None:
    limit = sys.getrecursionlimit()
    x = leaf([1.0, -2.0])
    y = x
    for _ in range(CHAIN):
        y = y + 0.0 if y is not x else y * 2.0
    sys.setrecursionlimit(150)
    try:
        backward(total(y))
        del y
    finally:
        sys.setrecursionlimit(limit)
    np.testing.assert_array_equal(values(x.grad), [2.0, 2.0])


@pytest.mark.parametrize("create_graph", [False, True])
def test_long_chain_to_chosen_inputs(create_graph: bool) -> None:
    """The search for paths to `inputs` is no recursion either."""
    x = leaf(1.0)
    y = x
    for _ in range(CHAIN // 5):
        y = y + 1.0
    (g,) = grad(y, x, create_graph=create_graph)
    assert float(values(g)) == 1.0


def test_wide_and_deep_graph_runs_each_node_once() -> None:
    """Two edges to the same node at every level: 2^60 paths, 60 nodes."""
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    backward(y)
    assert float(values(x.grad)) == 2.0**60


def test_gradients_of_shared_values_add_up() -> None:
    x = leaf([0.5, 1.5, 2.0])
    h = sin(x)
    backward(total(h * x + h * h + x))
    a = np.array([0.5, 1.5, 2.0])
    np.testing.assert_allclose(values(x.grad), np.cos(a) * a + np.sin(a) + 2 * np.sin(a) * np.cos(a) + 1, rtol=1e-14)


def test_gradients_accumulate_over_passes() -> None:
    x = leaf([1.0, 2.0])
    for _ in range(3):
        backward(total(x * x))
    np.testing.assert_array_equal(values(x.grad), [6.0, 12.0])


def test_accumulated_gradient_is_the_leafs_own() -> None:
    """What is put into `.grad` is neither shared with another leaf's nor with the gradient the user gave."""
    x, y, g = leaf([1.0, 2.0]), leaf([3.0, 4.0]), const([1.0, 1.0])
    backward(x + y, g)
    assert not np.shares_memory(values(x.grad), values(y.grad))
    assert not np.shares_memory(values(x.grad), values(g))
    backward(x + y, g)
    np.testing.assert_array_equal(values(g), [1.0, 1.0])
    np.testing.assert_array_equal(values(x.grad), [2.0, 2.0])


def test_accumulation_does_not_change_a_gradient_read_before() -> None:
    """`grad` results and `.grad` of earlier passes: PyTorch adds to `.grad` in place, but never to what `grad` returned."""
    x = leaf([1.0, 2.0])
    (g,) = grad(total(x * 3.0), x)
    backward(total(x * 3.0))
    backward(total(x * 3.0))
    np.testing.assert_array_equal(values(g), [3.0, 3.0])
    np.testing.assert_array_equal(values(x.grad), [6.0, 6.0])


# ---- a second pass ------------------------------------------------------------------------------------------------------------------


def test_second_backward_needs_retain_graph() -> None:
    x = leaf(0.5)
    y = sin(x) * x
    backward(y, retain_graph=True)
    backward(y)
    assert float(values(x.grad)) == pytest.approx(2 * (np.cos(0.5) * 0.5 + np.sin(0.5)))
    with pytest.raises(AutogradError, match="a second time") as caught:
        backward(y)
    assert "retain_graph=True" in str(caught.value)
    assert "MulBackward0" in str(caught.value)


def test_second_backward_is_fine_where_nothing_was_saved() -> None:
    x = leaf(0.5)
    y = x + 2.0
    backward(y)
    backward(y)
    assert float(values(x.grad)) == 2.0


def test_graph_stays_walkable_after_backward() -> None:
    x = leaf(0.5)
    y = sin(x * x)
    node = y.grad_fn
    backward(y)
    assert node.name() == "SinBackward0"
    inner = node.next_functions[0][0]
    assert inner.name() == "MulBackward0"
    assert [n.name() for n, _ in inner.next_functions] == ["AccumulateGrad", "AccumulateGrad"]
    with pytest.raises(AutogradError, match="freed"):
        _ = node._saved_self


def test_grad_frees_only_what_is_on_the_path() -> None:
    x, w = leaf(0.5), leaf(2.0)
    h = sin(x)
    y = h * w
    grad(y, w)
    with pytest.raises(AutogradError, match="a second time"):
        backward(y)
    backward(h)  # h's node was off the path
    assert float(values(x.grad)) == pytest.approx(np.cos(0.5))


# ---- grad ------------------------------------------------------------------------------------------------------------------------------


def test_grad_returns_and_accumulates_nothing() -> None:
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = grad(x * y, [x, y])
    assert (float(values(gx)), float(values(gy))) == (3.0, 2.0)
    assert x.grad is None
    assert y.grad is None


def test_grad_of_inner_values() -> None:
    x = leaf(0.3)
    h = sin(x)
    y = h * h
    gh, gx = grad(y, [h, x])
    assert float(values(gh)) == pytest.approx(2 * np.sin(0.3))
    assert float(values(gx)) == pytest.approx(2 * np.sin(0.3) * np.cos(0.3))


def test_grad_of_several_outputs_adds() -> None:
    x = leaf(0.3)
    (g,) = grad([sin(x), x * 2.0], x, [const(3.0), const(1.0)])
    assert float(values(g)) == pytest.approx(3 * np.cos(0.3) + 2)


def test_grad_of_an_output_by_itself() -> None:
    x = leaf(0.3)
    y = sin(x)
    (g,) = grad(y, y)
    assert float(values(g)) == 1.0


def test_unused_inputs() -> None:
    x, other = leaf([1.0, 2.0]), leaf([[3.0]])
    y = total(x * 2.0)
    with pytest.raises(AutogradError, match="allow_unused"):
        grad(y, [x, other], retain_graph=True)
    gx, none = grad(y, [x, other], allow_unused=True, retain_graph=True)
    assert none is None
    np.testing.assert_array_equal(values(gx), [2.0, 2.0])
    _, zeros = grad(y, [x, other], materialize_grads=True)
    np.testing.assert_array_equal(values(zeros), [[0.0]])
    with pytest.raises(TwofoldError, match="materialize_grads"):
        grad(y, [x, other], allow_unused=False, materialize_grads=True)


@pytest.mark.parametrize(
    "call,error,text",
    [
        (lambda x, c: backward(c), AutogradError, "does not require grad"),
        (lambda x, c: backward(x * 2.0), AutogradError, "gradient"),
        (lambda x, c: backward(x * 2.0, const([1.0, 1.0, 1.0])), ShapeError, "(3,)"),
        (lambda x, c: backward(x * 2.0, const([1, 1], np.int64)), TwofoldError, "int64"),
        (lambda x, c: backward([x * 2.0, x], [const([1.0, 1.0])]), ArgumentError, "2 tensors but 1"),
        (lambda x, c: backward(total(x), inputs=[]), AutogradError, "inputs"),
        (lambda x, c: backward(total(x), inputs=[c]), AutogradError, "require grad"),
        (lambda x, c: grad(total(x), c), AutogradError, "require grad"),
        (lambda x, c: grad(total(x), []), TwofoldError, "inputs"),
        (lambda x, c: grad(total(x), [3.0]), ArgumentError, "float"),
    ],
)
def test_misuse_is_refused_and_changes_nothing(call, error: type, text: str) -> None:
    x, c = leaf([1.0, 2.0]), const([1.0, 2.0])
    with pytest.raises(error) as caught:
        call(x, c)
    assert isinstance(caught.value, TwofoldError)
    assert text in str(caught.value)
    assert "test_engine.py" in str(caught.value), "the user's line is missing"
    assert x.grad is None


def test_backward_to_chosen_inputs_only() -> None:
    x, w = leaf(0.5), leaf(2.0)
    h = x * 3.0
    y = h * w
    backward(y, inputs=[w, h])
    assert x.grad is None
    assert float(values(w.grad)) == 1.5
    assert float(values(h.grad)) == 2.0


# ---- higher orders ------------------------------------------------------------------------------------------------------------------


def test_third_order() -> None:
    x = leaf([0.3, -0.7])
    (g1,) = grad(total(sin(x) * x), x, create_graph=True)
    (g2,) = grad(total(g1), x, create_graph=True)
    (g3,) = grad(total(g2), x)
    a = np.array([0.3, -0.7])
    np.testing.assert_allclose(values(g1), np.cos(a) * a + np.sin(a))
    np.testing.assert_allclose(values(g2), -np.sin(a) * a + 2 * np.cos(a))
    np.testing.assert_allclose(values(g3), -np.cos(a) * a - 3 * np.sin(a))
    assert g3.grad_fn is None


def test_create_graph_accumulates_gradients_with_a_graph() -> None:
    x = leaf(0.4)
    backward(tanh(x), create_graph=True)
    first = x.grad
    assert first.grad_fn is not None
    x.grad = None
    backward(first)
    t = np.tanh(0.4)
    assert float(values(x.grad)) == pytest.approx(-2 * t * (1 - t * t))


def test_second_derivative_through_broadcasting() -> None:
    x, w = leaf([[0.3, 0.5]]), leaf([[2.0], [3.0], [4.0]])
    (g,) = grad(total(x * x * w), x, create_graph=True)
    assert g._type.shape == (1, 2)
    (gg,) = grad(total(g * g), w)
    a, b = np.array([[0.3, 0.5]]), np.array([[2.0], [3.0], [4.0]])
    slope = 2 * a * b.sum()
    np.testing.assert_allclose(values(gg), np.full((3, 1), (2 * slope * 2 * a).sum()))


# ---- failures --------------------------------------------------------------------------------------------------------------------------


def test_a_failing_run_leaves_later_runs_right() -> None:
    x = leaf([0.2, 0.4])
    h = sin(x)
    y = total(cos(h) * h)
    fail = [True]

    def hook(g):
        if fail[0]:
            raise KeyError("a fault in a hook")

    handle = h.register_hook(hook)
    with pytest.raises(KeyError, match="a fault in a hook"):
        backward(y, retain_graph=True)
    assert x.grad is None
    fail[0] = False
    backward(y)
    handle.remove()
    s = np.sin([0.2, 0.4])
    np.testing.assert_allclose(values(x.grad), (-np.sin(s) * s + np.cos(s)) * np.cos([0.2, 0.4]))


def test_gradient_mode_is_restored_after_a_failure() -> None:
    x = leaf(1.0)
    y = sin(x)
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        backward(y)
    assert (x * 2.0).grad_fn is not None


def test_an_overwritten_value_is_refused_with_both_lines() -> None:
    x = leaf([1.0, 2.0])
    h = x * 2.0
    y = sin(h)
    h.add_(1.0)
    with pytest.raises(InplaceError) as caught:
        backward(total(y))
    message = str(caught.value)
    assert caught.value.kind == "version"
    assert "SinBackward0" in message
    assert "add_" in message
    assert message.count("test_engine.py") >= 2
    assert "y = sin(h)" in message
    assert "h.add_(1.0)" in message
    assert x.grad is None


def test_gradients_have_the_dtype_of_their_operands() -> None:
    x = leaf([1.0, 2.0], np.float32)
    w = leaf([[3.0], [4.0]], np.float64)
    backward(total(log(x) * w))
    assert values(x.grad).dtype == np.float32
    assert values(w.grad).dtype == np.float64
    assert values(w.grad).shape == (2, 1)
