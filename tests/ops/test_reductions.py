"""What the rows of samples do not say of reductions, normalisations and losses: overloads, ties, running statistics, long sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold.tensors.methods  # fills the table of functions
from twofold.ops.summation import add_reduce
from twofold.support.errors import ArgumentError
from twofold.tensors.backward import grad
from twofold.tensors.core import Tensor, memory, wrap
from twofold.tensors.functions import FUNCTIONS, GENERATED
from twofold.tensors.nodes import new_leaf


def leaf(values: Any) -> Tensor:
    t = wrap(np.asarray(values, np.float64))
    new_leaf(t)
    return t


def gradient(output: Tensor, *inputs: Tensor) -> list[np.ndarray]:
    return [memory(g) for g in grad(output, inputs)]


def test_max_and_min_choose_by_their_arguments() -> None:
    a, b = wrap(np.array([[1.0, 5.0], [7.0, 2.0]])), wrap(np.array([[4.0, 4.0], [4.0, 4.0]]))
    assert FUNCTIONS["max"](a)._array == 7.0
    assert memory(FUNCTIONS["max"](a, b)).tolist() == [[4.0, 5.0], [7.0, 4.0]]
    assert memory(FUNCTIONS["min"](a, other=b)).tolist() == [[1.0, 4.0], [4.0, 2.0]]
    values, indices = FUNCTIONS["max"](a, 1)
    assert (memory(values).tolist(), memory(indices).tolist()) == ([5.0, 7.0], [1, 0])
    assert memory(FUNCTIONS["min"](a, dim=-1, keepdim=True).indices).tolist() == [[0], [1]]
    with pytest.raises(ArgumentError, match="second tensor"):
        FUNCTIONS["max"](a, dim=0, other=b)


def test_results_have_names() -> None:
    a = wrap(np.array([3.0, 1.0, 2.0]))
    for name, args in (("sort", ()), ("topk", (2,)), ("kthvalue", (1,)), ("cummax", (0,)), ("cummin", (0,)), ("median", (0,))):
        result = FUNCTIONS[name](a, *args)
        assert result.values is result[0], name
        assert result.indices is result[1], name
        assert repr(result).startswith(f"twofold.return_types.{name}(\nvalues="), name


def test_ties_share_a_gradient_or_the_first_takes_it() -> None:
    x = leaf([2.0, 5.0, 5.0, 1.0])
    for name in ("max", "amax"):
        assert gradient(FUNCTIONS[name](x), x)[0].tolist() == [0.0, 0.5, 0.5, 0.0], name
    assert gradient(FUNCTIONS["max"](x, 0).values, x)[0].tolist() == [0.0, 1.0, 0.0, 0.0]
    y = leaf([1.0, 1.0, 3.0])
    assert gradient(FUNCTIONS["median"](y), y)[0].tolist() == [0.5, 0.5, 0.0]


def test_gradients_at_zero() -> None:
    zeros = leaf(np.zeros(3))
    for order in (2, 1, 3, 0, 1.5):
        assert gradient(FUNCTIONS["linalg_vector_norm"](zeros, order), zeros)[0].tolist() == [0.0] * 3, order
    assert gradient(FUNCTIONS["std"](zeros), zeros)[0].tolist() == [0.0] * 3
    x = leaf([2.0, 0.0, 3.0])
    assert gradient(FUNCTIONS["prod"](x), x)[0].tolist() == [0.0, 6.0, 0.0]


def test_unbiased_is_the_older_spelling_of_correction() -> None:
    a = np.arange(6.0).reshape(2, 3)
    assert FUNCTIONS["var"](wrap(a), False)._array == np.var(a)
    np.testing.assert_allclose(memory(FUNCTIONS["std"](wrap(a), 1, True)), np.std(a, 1, ddof=1))
    with pytest.raises(ArgumentError, match="twice"):
        FUNCTIONS["var"](wrap(a), True, False)


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_running_statistics_move_in_training_only(name: str) -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((4, 3, 5)) * 2.0 + 1.0
    x, mean, var = leaf(a), wrap(np.zeros(3)), wrap(np.ones(3))
    flag = {"training": True} if name == "batch_norm" else {}
    output = FUNCTIONS[name](x, mean, var, momentum=0.25, **flag)
    spread = a.var((0, 2), ddof=1) if name == "batch_norm" else a.var(2, ddof=1).mean(0)
    np.testing.assert_allclose(memory(mean), 0.25 * a.mean((0, 2)))
    np.testing.assert_allclose(memory(var), 0.75 + 0.25 * spread)
    assert mean._node is None
    gradient(FUNCTIONS["sum"](output * output), x)  # the update does not disturb what backward needs
    before = memory(mean).copy()
    FUNCTIONS[name](x, mean, var, **({} if name == "batch_norm" else {"use_input_stats": False}))
    np.testing.assert_array_equal(memory(mean), before)


def test_batch_norm_keeps_channels_last_memory() -> None:
    a = np.moveaxis(np.ascontiguousarray(np.random.default_rng(0).standard_normal((2, 4, 4, 3)).astype(np.float32)), -1, 1)
    out = GENERATED["native_batch_norm"](wrap(a), training=True)[0]
    assert memory(out).strides == a.strides


def test_a_row_of_ignored_targets_has_no_gradient() -> None:
    x = leaf(np.ones((2, 3)))
    for name in ("nll_loss", "cross_entropy"):
        loss = FUNCTIONS[name](x, wrap(np.array([-100, -100])))
        assert np.isnan(loss._array), name
        assert gradient(loss, x)[0].tolist() == np.zeros((2, 3)).tolist(), name


@pytest.mark.parametrize("axes", [(0,), (0, 2), (1,), (0, 1, 2), (2,)])
@pytest.mark.parametrize("turned", [False, True])
def test_long_float32_sums_are_accurate(axes: tuple[int, ...], turned: bool) -> None:
    """Positive numbers, so that a sequential sum would show its error: (n - 1) eps in the worst case, here 60 times the limit."""
    a = np.random.default_rng(0).random((4000, 7, 9), np.float32) + np.float32(0.5)
    a = np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, 2)), 2, 0) if turned else a
    exact = a.astype(np.float64).sum(axis=axes)
    for keepdims in (False, True):
        got = add_reduce(a, axes, keepdims)
        assert got.shape == a.sum(axis=axes, keepdims=keepdims).shape
        np.testing.assert_allclose(got.reshape(exact.shape), exact, rtol=1e-6)


def test_long_float32_running_sums_are_accurate() -> None:
    x = np.full((2, 100_000), 0.1, np.float32)
    for name, reference in (("cumsum", np.cumsum), ("logcumsumexp", np.logaddexp.accumulate)):
        exact = reference(x.astype(np.float64), axis=1)
        found = FUNCTIONS[name](twofold.from_numpy(x), 1)
        assert found.dtype is twofold.float32
        np.testing.assert_allclose(found.numpy(), exact, rtol=2e-7)


def test_sums_of_expanded_dimensions_are_accurate() -> None:
    x = twofold.tensor([0.1, 0.2]).expand(100_000, 2)
    np.testing.assert_allclose(x.sum(0).numpy(), [1e4, 2e4], rtol=3e-6)
    bias = twofold.zeros(2, requires_grad=True)
    (twofold.nn.functional.linear(twofold.ones(100_000, 2), twofold.ones(2, 2), bias).sum() * 0.1).backward()
    np.testing.assert_allclose(bias.grad.numpy(), 1e4, rtol=3e-6)
