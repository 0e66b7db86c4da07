"""Where views, in-place writes and gradients meet: the right answers, eagerly and recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

import twofold as tf
from tests.mutation.cases import both, const, count, holds, leaf, recorded, refuses

# ---- the right answers ---------------------------------------------------------------------------------------------------------


@both
def test_writing_with_itself_as_operand(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        return b.mul_(b)

    x = leaf()
    run(fn, x).sum().backward()
    holds(x.grad, 2 * count((4,)))


@both
def test_writing_with_a_source_that_overlaps(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b[1:].mul_(b[:-1])
        return b

    x = leaf()
    out = run(fn, x)
    holds(out, [1, 2, 6, 12])
    out.sum().backward()
    holds(x.grad, [1 + 2, 1 + 3, 2 + 4, 3])


@both
def test_copying_between_overlapping_windows(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b[1:].copy_(b[:-1])
        b[:2].copy_(b[2:])
        return b

    holds(run(fn, leaf()), [2, 3, 2, 3])


@both
def test_mask_assignment_from_the_same_memory(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b[np.array([False, True, False, True])] = b[:2]
        return b

    x = leaf([0.0, 1.0, 2.0, 3.0])
    out = run(fn, x)
    holds(out, [0, 0, 2, 1])
    (out * const([1, 10, 100, 1000])).sum().backward()
    holds(x.grad, [1 + 10, 1000, 100, 0])


@both
def test_positions_assigned_from_the_same_memory(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b[[1, 2, 3]] = b[:3]
        return b

    holds(run(fn, leaf()), [1, 1, 2, 3])


def test_saved_scalar_survives_a_write() -> None:
    x = leaf(2.0)
    b = x * 1.0
    y = b.sin()  # saves the 0-d value, which is immutable
    b.add_(1.0)
    (y + b).backward()
    holds(x.grad, np.cos(2.0) + 1)


def test_zero_dimensional_tensors_are_written_in_place() -> None:
    x = leaf(2.0)
    b = x * 3.0
    held = b
    b += 1.0
    b.mul_(b)
    assert b is held
    holds(b, 49.0)
    b.backward()
    holds(x.grad, 2 * 7 * 3)
    counter = tf.zeros(())
    alias = counter.detach()
    counter += 1
    assert alias.item() == 1.0
    assert counter._version == alias._version == 1


def test_view_of_a_scalar_sees_its_writes() -> None:
    x = leaf(2.0)
    b = x * 1.0
    v = b.view(1)
    b.mul_(5.0)
    holds(v, [10.0])
    v.sum().backward()
    holds(x.grad, 5.0)


@both
def test_writes_that_end_the_old_value_keep_requires_grad(run: Any) -> None:
    def fn(x: Any) -> Any:
        b, c = x * 1.0, x * 2.0
        b.zero_()
        c.copy_(const(np.ones(4)))
        return b, c

    x = leaf()
    b, c = run(fn, x)
    assert b.requires_grad
    assert c.requires_grad
    (b + c).sum().backward()
    holds(x.grad, np.zeros(4))


@both
def test_own_result_is_saved_by_the_write(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b[:2].tanh_()
        return b

    x = leaf()
    run(fn, x).sum().backward()
    holds(x.grad, [*(1 - np.tanh([1.0, 2.0]) ** 2), 1, 1])


def test_own_result_overwritten() -> None:
    b = leaf() * 1.0
    b.tanh_()
    b.add_(1.0)
    refuses("version", lambda: b.sum().backward(), "TanhBackward0", "add_")


def test_the_error_names_the_line_that_saved_and_the_line_that_wrote() -> None:
    b = leaf() * 1.0
    y = b.sin()  # SAVES
    b.detach()[0:2].add_(1.0)  # WRITES, through a view of a detached alias
    message = refuses("version", lambda: y.sum().backward(), "SinBackward0", "add_", "SAVES", "WRITES", "version 1")
    assert message.index("SAVES") < message.index("WRITES")


def test_writes_through_numpy_slices_and_views_count() -> None:
    for write in (
        lambda b: b[1:].zero_(),
        lambda b: b.view(2, 2).fill_(0.0),
        lambda b: b.__setitem__(slice(0, 1), 7.0),
        lambda b: b.clamp_(0, 1),
    ):
        b = leaf() * 1.0
        y = b.exp().log() + b.sin()
        write(b)
        refuses("version", lambda y=y: y.sum().backward())


def test_version_errors_vanish_in_a_graph() -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        y = b.sin()
        b.add_(1.0)
        return y + b

    x = leaf()
    recorded(fn, x).sum().backward()
    holds(x.grad, np.cos(count((4,))) + 1)


def test_numpy_shares_memory_both_ways() -> None:
    b = tf.zeros(4, dtype=tf.float64)
    a = b.numpy()
    b[1:3].fill_(2.0)
    assert a.tolist() == [0, 2, 2, 0]
    a[0] = 9.0
    assert b.tolist() == [9, 2, 2, 0]
    base = np.zeros(4)
    t = tf.from_numpy(base)
    t.add_(1.0)
    assert base.tolist() == [1, 1, 1, 1]


def test_write_through_numpys_memory_is_found() -> None:
    base = np.arange(4.0)
    t, u = tf.from_numpy(base), tf.from_numpy(base[1:])
    x = leaf()
    y = x * t
    u.zero_()
    refuses("version", lambda: y.sum().backward(), "zero_")


# ---- views that became stale ---------------------------------------------------------------------------------------------------------


def test_view_taken_before_its_base_got_history() -> None:
    b = tf.zeros(4, dtype=tf.float64)
    v = b[0:2]
    x = leaf()
    b.add_(x)
    assert v.requires_grad
    assert not v.is_leaf
    assert v.grad_fn is not None
    v.sum().backward()
    holds(x.grad, [1, 1, 0, 0])


def test_view_written_gives_its_base_history() -> None:
    b = tf.zeros(4, dtype=tf.float64)
    v, w = b[0:2], b[1:3]
    x = leaf([5.0, 6.0])
    v.mul_(0.0)
    v.add_(x)
    assert b.requires_grad
    assert w.requires_grad
    assert b.grad_fn.name() == "CopySlices"
    (b.sum() + w.sum()).backward()
    holds(x.grad, [1, 2])


def test_requires_grad_after_views() -> None:
    b = const(np.ones(4))
    v = b[0:2]
    b.requires_grad_()
    v.sum().backward()  # PyTorch loses this gradient
    holds(b.grad, [1, 1, 0, 0])
    refuses("leaf", lambda: v.add_(1.0))


def test_view_made_under_no_grad_is_a_constant_window() -> None:
    x = leaf()
    b = x * 1.0
    with tf.no_grad():
        v = b[0:2]
        w = v[0:1]
    assert not v.requires_grad
    refuses("nograd_view", lambda: v.mul_(2.0), "under no_grad")
    refuses("nograd_view", lambda: w.mul_(2.0), "under no_grad")
    refuses("nograd_view", lambda: v[0:1].mul_(2.0), "under no_grad")
    b.mul_(3.0)
    holds(v, [3, 6])
    assert not v.requires_grad
    with tf.no_grad():
        v.add_(1.0)
    (b.sum() + v.sum()).backward()
    holds(b, [4, 7, 9, 12])
    holds(x.grad, [3, 3, 3, 3])


@both
def test_write_under_no_grad_leaves_history_alone(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 3.0
        v = b[0:2]
        with tf.no_grad():
            b.mul_(10.0)
            v.add_(1.0)
        return b, v

    x = leaf()
    b, v = run(fn, x)
    holds(b, [31, 61, 90, 120])
    holds(v, [31, 61])
    (b.sum() + v.sum()).backward()
    holds(x.grad, [6, 6, 3, 3])


@both
def test_detach_shares_memory_under_a_history_of_its_own(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 2.0
        d = b.detach()
        d[0:2].mul_(x[2:])
        return b, d

    x = leaf()
    b, d = run(fn, x)
    holds(b, [2 * 3, 4 * 4, 6, 8])
    holds(d, [6, 16, 6, 8])
    assert d.requires_grad
    (b * const([1, 2, 3, 4])).sum().backward(retain_graph=True)
    holds(x.grad, [2, 4, 6, 8])
    x.grad = None
    d.sum().backward()
    holds(x.grad, [0, 0, 2, 4])
    with tf.no_grad():
        d.zero_()
    holds(b, np.zeros(4))


def test_split_and_unbind_results_are_written_like_slices() -> None:
    for cut in (
        lambda b: b.unbind(0),
        lambda b: b.split(1, 0),
        lambda b: [p.squeeze(0) for p in b.chunk(2)],
        lambda b: tf.tensor_split(b, 2),
    ):
        x = leaf(count((2, 3)))
        b = x * 1.0
        first, second = cut(b)
        second.mul_(10.0)
        holds(b, [[1, 2, 3], [40, 50, 60]])
        (b.sum() + first.sum()).backward()
        holds(x.grad, [[2, 2, 2], [10, 10, 10]])


def test_several_views_at_once() -> None:
    x = leaf(count((3, 4)))
    b = x * 1.0
    rows, diagonal, turned = b[1], b.diagonal(), b.t()
    rows.mul_(2.0)
    diagonal.add_(100.0)
    turned[0].mul_(3.0)
    expected = count((3, 4))
    expected[1] *= 2
    expected[[0, 1, 2], [0, 1, 2]] += 100
    expected[:, 0] *= 3
    holds(b, expected)
    holds(turned, expected.T)
    holds(diagonal, np.diag(expected))
    (diagonal.sum() + rows.sum() + turned.sum()).backward()
    slope = np.ones((3, 4))
    slope[1] *= 2
    slope[:, 0] *= 3
    weight = np.ones((3, 4))
    weight[[0, 1, 2], [0, 1, 2]] += 1
    weight[1] += 1
    holds(x.grad, slope * weight)


@both
def test_chain_of_views(run: Any) -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b.view(2, 6).t()[1:3].unsqueeze(0)[..., 1].mul_(5.0)
        return b

    x = leaf(count((3, 4)))
    out = run(fn, x)
    expected = count((3, 4)).reshape(-1)
    expected[[7, 8]] *= 5
    holds(out, expected.reshape(3, 4))
    out.sum().backward()
    slope = np.ones(12)
    slope[[7, 8]] = 5
    holds(x.grad, slope.reshape(3, 4))


def test_base_in_fortran_order() -> None:
    x = leaf(count((2, 3)))
    b = tf.from_numpy(np.asfortranarray(count((2, 3)))) * x.t().contiguous().t()
    assert not b.is_contiguous()
    v = b.t().view(6)
    v[:3].mul_(5.0)
    slope = np.array([[5.0, 5, 1], [5, 1, 1]])
    holds(b, slope * count((2, 3)) ** 2)
    b.sum().backward()
    holds(x.grad, slope * count((2, 3)))
