"""In-place writes that are refused, before anything is written, eagerly and recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold as tf
from tests.mutation.cases import both, const, count, holds, leaf, refuses
from twofold.support.errors import (
    DTypeError,
    InplaceError,
    ShapeError,
    TwofoldError,
)

# ---- refusals ------------------------------------------------------------------------------------------------------------------


@both
def test_leaf_and_its_views_are_refused(run: Any) -> None:
    x = leaf()
    before = x.detach().numpy().copy()
    refuses("leaf", lambda: run(lambda t: t.add_(1.0), x), "add_", "no_grad")
    refuses("leaf", lambda: run(lambda t: t[1:].mul_(2.0), x))
    refuses("leaf", lambda: run(lambda t: t.__setitem__(0, 5.0), x))
    holds(x, before)
    assert x._version == 0
    assert x.is_leaf


@both
@pytest.mark.parametrize(
    "write",
    [
        lambda v: v.add_(1.0),
        lambda v: v.zero_(),
        lambda v: v.fill_(1.0),
        lambda v: v.copy_(tf.ones(2, 3)),
        lambda v: v.masked_fill_(v > 0, 1.0),
        lambda v: v.index_put_((tf.tensor([0]),), tf.ones(3, dtype=tf.float64)),
        lambda v: v.__setitem__((slice(None), 1), 1.0),
        lambda v: v.clamp_(0, 1),
    ],
)
def test_tensors_that_overlap_themselves_are_refused(run: Any, write: Any) -> None:
    base = const([1.0, 2.0, 3.0])
    refuses("overlap", lambda: run(lambda b: write(b.expand(2, 3)), base), "clone()")
    holds(base, [1, 2, 3])
    assert base._version == 0


@both
def test_overlapping_windows_are_refused(run: Any) -> None:
    base = const(count((6,)))
    refuses("overlap", lambda: run(lambda b: b.unfold(0, 3, 2).add_(1.0), base))
    out = run(lambda b: (b * 1.0).unfold(0, 3, 3).add_(1.0), base)
    holds(out, count((2, 3)) + 1)


def test_strides_that_interleave_but_do_not_meet() -> None:
    base = tf.zeros(9, dtype=tf.float64)
    tf.as_strided(base, (3, 2), (2, 3)).add_(1.0)  # offsets 0 3 2 5 4 7
    holds(base, [1, 0, 1, 1, 1, 1, 0, 1, 0])
    refuses("overlap", lambda: tf.as_strided(base, (3, 2), (2, 4)).add_(1.0))  # offset 4 twice


@both
def test_parts_of_an_expanded_tensor_that_do_not_overlap_can_be_written(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b.expand(3, 4)[0].mul_(2.0)
        return b

    x = leaf()
    out = run(fn, x)
    holds(out, 2 * count((4,)))
    out.sum().backward()
    holds(x.grad, [2, 2, 2, 2])


@both
def test_detached_expand(run: Any) -> None:
    def tracked(b: Any, x: Any) -> Any:
        return b.expand(2, 3).detach()[0].mul_(x)

    def plain(b: Any, x: Any) -> Any:
        d = b.expand(2, 3).detach()
        d[0].mul_(2.0)
        return d

    base, x = const([1.0, 2.0, 3.0]), leaf([1.0, 1.0, 1.0])
    refuses("overlap", lambda: run(tracked, base, x), "detached expand")
    holds(base, [1, 2, 3])
    holds(run(plain, base, x), [[2, 4, 6], [2, 4, 6]])
    holds(base, [2, 4, 6])


@both
def test_results_that_do_not_fit_are_refused(run: Any) -> None:
    x = leaf()

    def fn(t: Any) -> Any:
        b = t * 1.0
        with pytest.raises(ShapeError, match="add_"):
            b.add_(const(np.ones((2, 4))))
        with pytest.raises(TwofoldError):
            b[1:3] = const(np.ones(3))
        return b

    out = run(fn, x)
    holds(out, count((4,)))
    out.sum().backward()
    holds(x.grad, np.ones(4))


def test_refused_write_changes_nothing() -> None:
    b = leaf() * 1.0
    view = b[:2]
    node, view_node, values = b.grad_fn, view.grad_fn, b.detach().numpy().copy()
    for attempt in (
        lambda: b.add_(const(np.ones((2, 4)))),
        lambda: view.copy_(const(np.ones(3))),
        lambda: b.masked_fill_(const([1, 0, 1, 0]) > 0, const([1.0, 2.0])),
        lambda: b.index_put_((tf.tensor([9]),), const(1.0)),
        lambda: tf.zeros(3, dtype=tf.int64).add_(1.5),
    ):
        with pytest.raises(TwofoldError):
            attempt()
    assert b.grad_fn is node
    assert view.grad_fn is view_node
    assert b._version == 0
    holds(b, values)


@both
def test_dtype_is_kept_or_refused(run: Any) -> None:
    ints = tf.zeros(3, dtype=tf.int64)
    with pytest.raises(DTypeError, match="int64"):
        run(lambda t: t.add_(1.5), ints)
    assert ints.tolist() == [0, 0, 0]
    narrow = tf.ones(3, dtype=tf.float32)
    out = run(lambda t: (t * 1.0).add_(const([1.0, 2.0, 3.0])), narrow)
    assert out.dtype is tf.float32
    assert out.tolist() == [2, 3, 4]
    assert run(lambda t: t.copy_(const([1.9, -1.9, 0.0])), ints).tolist() == [1, -1, 0]


def test_detach_in_place() -> None:
    b = leaf() * 1.0
    v = b[:2]
    with pytest.raises(InplaceError, match="view"):
        v.detach_()
    b.detach_()
    assert not b.requires_grad
    assert not v.requires_grad
