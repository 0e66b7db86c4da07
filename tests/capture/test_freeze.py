"""`GraphModule.freeze`: bindings become constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold as tf
from twofold import nn
from twofold.ir.verifier import verify
from twofold.support.errors import GuardError, UnsupportedError


def small() -> nn.Module:
    tf.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5), nn.Flatten(), nn.Linear(16, 2))


def test_parameters_and_buffers_become_constants() -> None:
    model, x = small().eval(), tf.randn(2, 3, 4, 4)
    traced = tf.trace(model, x)
    before = str(traced.graph)
    frozen = traced.freeze()
    verify(frozen.graph)
    assert frozen.bindings == {}
    assert frozen.state_dict() == {}
    assert [v.name for v in frozen.graph.inputs] == [traced.graph.inputs[0].name]
    assert sum(n.op.name == "constant" for n in frozen.graph.nodes) == len(traced.bindings) == 8
    expected = model(x).detach().numpy()
    np.testing.assert_array_equal(frozen(x).numpy(), expected)
    assert not frozen(x).requires_grad
    with tf.no_grad():
        next(iter(model.parameters())).add_(1.0)
    np.testing.assert_array_equal(frozen(x).numpy(), expected)
    assert str(traced.graph) == before
    assert not np.array_equal(traced(x).detach().numpy(), expected)


def test_arguments_stay_guarded_and_named() -> None:
    frozen = tf.trace(small().eval(), tf.randn(2, 3, 4, 4)).freeze()
    assert frozen(input=tf.zeros(2, 3, 4, 4)).shape == (2, 2)
    with pytest.raises(GuardError, match="dimension 0"):
        frozen(tf.zeros(1, 3, 4, 4))


def test_views_of_arguments_still_share_their_memory() -> None:
    w = tf.ones(3)
    frozen = tf.trace(lambda x, y: (x.t(), y * w), ((tf.zeros(2, 3), tf.ones(3)))).freeze()
    x = tf.zeros(2, 3)
    shown, product = frozen(x, tf.full((3,), 2.0))
    shown[0, 1] = 5.0
    assert x[1, 0].item() == 5.0
    np.testing.assert_array_equal(product.numpy(), [2.0, 2.0, 2.0])


def test_an_argument_that_is_written() -> None:
    w = tf.ones(3)

    def add(x: Any) -> Any:
        x += w
        return x * 2.0

    frozen = tf.trace(add, tf.zeros(3)).freeze()
    x = tf.zeros(3)
    np.testing.assert_array_equal(frozen(x).numpy(), [2.0] * 3)
    np.testing.assert_array_equal(x.numpy(), [1.0] * 3)


def test_a_view_as_binding() -> None:
    base = tf.arange(6.0).reshape(2, 3)
    w = base.t()
    frozen = tf.trace(lambda x: x @ w, tf.ones(1, 3)).freeze()
    np.testing.assert_array_equal(frozen(tf.ones(1, 3)).numpy(), [[3.0, 12.0]])


def test_a_frozen_graph_is_frozen_already() -> None:
    frozen = tf.trace(small().eval(), tf.randn(2, 3, 4, 4)).freeze()
    again = frozen.freeze()
    x = tf.randn(2, 3, 4, 4)
    np.testing.assert_array_equal(again(x).numpy(), frozen(x).numpy())


def test_what_cannot_be_frozen() -> None:
    x = tf.randn(2, 3, 4, 4)
    with pytest.raises(UnsupportedError, match=r"writes .*1\.running_mean.*\.eval\(\)"):
        tf.trace(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).train(), x).freeze()
    with pytest.raises(UnsupportedError, match=r"random numbers.*\.eval\(\)"):
        tf.trace(nn.Dropout(0.5).train(), x).freeze()
    w = tf.ones(2, 3)
    with pytest.raises(UnsupportedError, match="result 0 shares memory"):
        tf.trace(lambda a: (w.t(), a * 2.0), tf.ones(2)).freeze()
    base = tf.zeros(4)
    with pytest.raises(UnsupportedError, match="shares memory with argument"):
        part = base[1:]
        tf.trace(lambda a: a[1:] + part, base).freeze()
