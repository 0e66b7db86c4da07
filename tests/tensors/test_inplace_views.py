"""Changing a tensor's shape in place: values, gradients, and what its older views see."""

from __future__ import annotations

import numpy as np
import pytest

import twofold
from twofold.support.errors import InplaceError, UnsupportedError

FORMS = [
    ("squeeze_", (2, 1, 3), ()),
    ("squeeze_", (2, 1, 3), (1,)),
    ("unsqueeze_", (2, 3), (0,)),
    ("unsqueeze_", (), (0,)),
    ("transpose_", (2, 3), (0, 1)),
    ("swapaxes_", (2, 3, 4), (0, -1)),
    ("swapdims_", (2, 3, 4), (1, 2)),
    ("t_", (2, 3), ()),
    ("as_strided_", (6,), ((2, 2), (2, 1), 1)),
]


def numbers(shape):
    return twofold.tensor(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape))


@pytest.mark.parametrize("name, shape, arguments", FORMS)
def test_form_equals_the_function(name, shape, arguments):
    expected = getattr(numbers(shape), name.removesuffix("_"))(*arguments)
    t = numbers(shape)
    assert getattr(t, name)(*arguments) is t
    assert t.shape == expected.shape
    assert twofold.equal(t, expected)


@pytest.mark.parametrize("name, shape, arguments", FORMS)
def test_gradient_equals_the_function(name, shape, arguments):
    def gradient(call):
        x = numbers(shape).requires_grad_()
        y = call(x * 2.0)
        (y * numbers(tuple(y.shape))).sum().backward()
        return x.grad

    expected = gradient(lambda y: getattr(y, name.removesuffix("_"))(*arguments))
    assert twofold.equal(gradient(lambda y: getattr(y, name)(*arguments)), expected)


def test_memory_stays_shared_with_older_and_younger_views():
    t = numbers((2, 3))
    older = t[0]
    t.t_()
    younger = t[2]
    t.mul_(10.0)
    assert older.tolist() == [10.0, 20.0, 30.0]
    assert younger.tolist() == [30.0, 60.0]
    older.zero_()
    assert t.tolist() == [[0.0, 40.0], [0.0, 50.0], [0.0, 60.0]]


def test_writes_keep_the_gradients_of_all_views():
    x = numbers((2, 3)).requires_grad_()
    y = x * 1.0
    row = y[0]
    y.t_()
    y.mul_(3.0)
    (row.sum() + y[0, 1]).backward()
    assert x.grad.tolist() == [[3.0, 3.0, 3.0], [3.0, 0.0, 0.0]]


def test_a_view_changes_and_its_base_does_not():
    base = numbers((2, 3))
    view = base[:, :2]
    view.t_()
    view[0].zero_()
    assert base.tolist() == [[0.0, 2.0, 3.0], [0.0, 5.0, 6.0]]


def test_refused():
    with pytest.raises(InplaceError, match="leaf"):
        numbers((2, 3)).requires_grad_().t_()
    with twofold.no_grad(), pytest.raises(UnsupportedError, match="gradient"):
        numbers((2, 3)).requires_grad_().t_()
    with pytest.raises(UnsupportedError, match="recorded graph"):
        twofold.trace(lambda x: (x + 1.0).t_(), (numbers((2, 3)),))


@pytest.mark.parametrize(
    "name, shapes", [("addmv", ((2,), (2, 3), (3,))), ("addr", ((2, 3), (2,), (3,))), ("addbmm", ((2, 2), (4, 2, 3), (4, 3, 2)))]
)
def test_products_in_place(name, shapes):
    first, *rest = (numbers(s) for s in shapes)
    expected = getattr(first, name)(*rest, beta=2, alpha=3)
    assert getattr(first, name + "_")(*rest, beta=2, alpha=3) is first
    assert twofold.equal(first, expected)
