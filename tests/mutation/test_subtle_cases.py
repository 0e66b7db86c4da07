"""The cases where views, in-place writes and gradients meet: what is right, what is refused (before anything is written), eagerly and
recorded.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import twofold as tf
from twofold import nn
from twofold.autograd import grad
from twofold.support.errors import (
    AutogradError,
    DTypeError,
    GraphError,
    GuardError,
    InplaceError,
    ShapeError,
    TraceError,
    TwofoldError,
    UnsupportedError,
)
from twofold.tape.versions import STAMPS
from twofold.tensors.alias import base_of


def leaf(value: Any = (1.0, 2.0, 3.0, 4.0)) -> tf.Tensor:
    return tf.tensor(np.array(value, np.float64), requires_grad=True)


def const(value: Any) -> tf.Tensor:
    return tf.tensor(np.array(value, np.float64))


def count(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


def holds(t: Any, expected: Any) -> None:
    assert t is not None
    np.testing.assert_allclose(t.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


def refuses(kind: str, action: Any, *words: str) -> str:
    """The action raises InplaceError of this kind; returns the message, which names the caller's line."""
    with pytest.raises(InplaceError) as caught:
        action()
    assert caught.value.kind == kind, caught.value
    message = str(caught.value)
    for word in (*words, "test_subtle_cases.py"):
        assert word in message, message
    return message


def eager(fn: Any, *inputs: Any) -> Any:
    return fn(*inputs)


def recorded(fn: Any, *inputs: Any) -> Any:
    return tf.trace(fn, inputs, check=False)(*inputs)


both = pytest.mark.parametrize("run", [eager, recorded])
"""The case holds for the function itself and for its recorded graph."""

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


# ---- hooks, retained gradients, higher derivatives -------------------------------------------------------------------------------------


def test_retain_grad_and_hooks_follow_the_tensor() -> None:
    x = leaf()
    b = x * 2.0
    b.retain_grad()
    b.mul_(x.detach())
    b.sum().backward()
    holds(b.grad, np.ones(4))
    holds(x.grad, 2 * count((4,)))
    assert b.retains_grad


def test_hook_before_and_after_a_write(torch: Any) -> None:
    def gradients(module: Any, x: Any) -> tuple[list[Any], Any]:
        seen: list[Any] = []
        b = x * 2.0
        b.register_hook(lambda g: seen.append(np.array(g.detach().numpy())))
        b.mul_(3.0)
        b.register_hook(lambda g: seen.append(np.array(g.detach().numpy())))
        (b * b).sum().backward()
        return seen, x.grad

    ours, mine = gradients(tf, leaf())
    theirs, reference = gradients(torch, torch.tensor(count((4,)), requires_grad=True))
    assert len(ours) == len(theirs) == 2
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b)
    holds(mine, reference.numpy())


def test_hook_on_a_view_that_was_written() -> None:
    x = leaf()
    b = x * 1.0
    v = b[:2]
    v.mul_(3.0)
    seen = []
    v.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    v.sum().backward()
    assert seen == [[1, 1]]
    holds(x.grad, [30, 30, 0, 0])


def test_saved_tensors_hooks_see_the_written_result() -> None:
    packed = []

    def pack(t: Any) -> Any:
        packed.append(t.tolist())
        return t.clone()

    x = leaf([0.5, 1.0])
    b = x * 1.0
    with tf.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        b.tanh_()
    assert packed == [np.tanh([0.5, 1.0]).tolist()]
    b.add_(1.0)  # what was packed is a copy
    b.sum().backward()
    holds(x.grad, 1 - np.tanh([0.5, 1.0]) ** 2)


PROGRAMS: dict[str, Any] = {
    "mul_ of itself": lambda t: t.mul_(t.clone()),
    "tanh_": lambda t: t.tanh_(),
    "a view": lambda t: (t[1:3].mul_(t[0:2].clone()), t)[1],
    "a view, own result": lambda t: (t.view(2, 2)[0].tanh_(), t)[1],
    "two views": lambda t: (t[1:].mul_(t[:-1].clone()), t.view(2, 2).t()[1].sin_(), t)[2],
    "zero_ and copy_": lambda t: (t[:1].zero_(), t[1:2].copy_(t[2:3].clone() ** 2), t)[2],
    "index_put_": lambda t: (t.__setitem__([0, 2], t[1:3].clone() ** 2), t)[1],
    "masked_fill_": lambda t: (t.masked_fill_(t.detach() > 2.5, 0.5), t * t)[1],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_double_backward_like_torch(name: str, torch: Any) -> None:
    fn = PROGRAMS[name]

    def second(module: Any, x: Any, weight: Any) -> tuple[Any, Any]:
        b = x * x
        out = fn(b)
        (first,) = module.autograd.grad((out * out * weight).sum(), x, create_graph=True)
        (twice,) = module.autograd.grad((first * weight).sum(), x)
        return first.detach().numpy(), twice.numpy()

    values, weight = np.array([0.3, 1.7, 2.9, 4.1]), np.array([1.0, -2.0, 0.5, 3.0])
    ours = second(tf, tf.tensor(values, requires_grad=True), tf.tensor(weight))
    theirs = second(torch, torch.tensor(values, requires_grad=True), torch.tensor(weight))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_double_backward_of_the_graph(name: str) -> None:
    fn = PROGRAMS[name]

    def whole(x: Any) -> Any:
        out = fn(x * x)
        return (out * out).sum()

    x = leaf([0.3, 1.7, 2.9, 4.1])
    results = []
    for f in (whole, tf.trace(whole, (x,))):
        (first,) = grad(f(x), x, create_graph=True)
        (twice,) = grad((first * first).sum(), x)
        results.append((first.detach().numpy(), twice.numpy()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-10)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-10)


def test_backward_twice_through_a_write_needs_retain_graph() -> None:
    x = leaf()
    b = x * 1.0
    b[:2].mul_(b[2:])
    b.sum().backward(retain_graph=True)
    b.sum().backward(retain_graph=True)
    holds(x.grad, [6, 8, 4, 6])
    b.sum().backward()
    with pytest.raises(AutogradError, match="second time"):
        b.sum().backward()


# ---- nothing is left behind --------------------------------------------------------------------------------------------------------


def test_dead_views_and_stamps_leave_nothing() -> None:
    x = leaf() * 1.0
    for _ in range(1000):
        x[0]
    assert len(x._alias.views) <= 8
    gc.collect()
    gc.disable()
    try:
        before = len(STAMPS)
        t = tf.ones(3)
        t.add_(1.0)
        assert len(STAMPS) == before + 1
        del t
        assert len(STAMPS) == before
        b = leaf() * 1.0
        v = b[:2]
        v.mul_(2.0)
        refs = [weakref.ref(b.grad_fn), weakref.ref(v), weakref.ref(b), weakref.ref(v.grad_fn)]
        del b, v
        assert [r() for r in refs] == [None] * 4
        assert len(STAMPS) == before
    finally:
        gc.enable()


# ---- recorded ----------------------------------------------------------------------------------------------------------------------


def test_graph_is_functional_and_outputs_share_memory() -> None:
    def fn(x: Any) -> Any:
        b = x * 2.0
        v = b[1:3]
        v.mul_(v)
        return b, v

    module = tf.trace(fn, (leaf(),))
    names = [n.op.name for n in module.graph.nodes]
    assert names[0] == "mul"
    assert "view_scatter" in names
    b, v = module(leaf())
    assert np.shares_memory(b.detach().numpy(), v.detach().numpy())
    assert base_of(v) is b
    v.mul_(10.0)
    holds(b, [2, 160, 360, 8])


def test_output_that_is_an_input() -> None:
    x = const([1.0, 2.0])
    out, view = tf.trace(lambda t: (t, t[1:]), (x,))(x)
    assert out is x
    assert base_of(view) is x
    b = const([5.0, 6.0])
    kept = tf.trace(lambda t: t.add_(1.0), (b,), check=False)(b)
    assert kept is b
    holds(b, [6, 7])


def test_output_layout_is_logical() -> None:
    def fn(b: Any) -> Any:
        y = b * 1.0
        w, v = y[0:1], y.view(4, 3)
        y.copy_(w)
        return y, v

    y, v = tf.trace(fn, (const(count((3, 4))),))(const(count((3, 4))))
    assert np.shares_memory(y.numpy(), v.numpy())
    np.testing.assert_allclose(v.numpy().reshape(-1), np.tile(np.arange(1.0, 5.0), 3))

    def turned(x: Any) -> Any:
        y = x * 1.0  # eagerly column by column, as its operand
        return y, y[0:1], y.view(2, 6)

    x = const(count((3, 4))).t()
    y, part, flat = tf.trace(turned, (x,), check=False)(x)
    y.zero_()
    holds(part, np.zeros((1, 3)))
    holds(flat, np.zeros((2, 6)))


@both
def test_view_of_a_result_that_eager_keeps_in_another_order(run: Any) -> None:
    turned = const(count((3, 4))).t()
    holds(run(lambda x: (x + x).view(2, 6), turned), (2 * count((3, 4)).T).reshape(2, 6))
    refuses("view", lambda: run(lambda x: x.view(2, 6), turned))

    def through_a_view(x: Any) -> Any:
        y = x.clone()
        flat = y.permute(0, 1).reshape(3, 4)
        return flat.tanh_()

    holds(recorded(through_a_view, turned), np.tanh(count((3, 4)).T.reshape(3, 4)))


def test_order_in_memory_is_not_changed_behind_an_alias() -> None:
    def make() -> Any:
        return const(count((3, 4))).t() * 1.0  # column by column in memory

    b = make()
    alias = b.detach()
    refuses("view", lambda: b.view(12))
    refuses("view", lambda: alias.view(12))
    b.zero_()
    holds(alias, np.zeros((4, 3)))
    b = make()
    flat = b.view(12)  # nobody else knows the memory: it is put into C order
    flat.zero_()
    holds(b, np.zeros((4, 3)))


def test_inputs_that_share_memory() -> None:
    def fn(x: Any, y: Any) -> Any:
        x[0:2].add_(10.0)
        return y * 1.0

    b = const([0.0, 1.0, 2.0, 3.0])
    v = b.view(2, 2)
    module = tf.trace(fn, (b, v))
    holds(b, [0, 1, 2, 3])
    out = module(b, v)
    holds(out, [[10, 11], [2, 3]])
    holds(b, [10, 11, 2, 3])
    with pytest.raises(GuardError, match="shares memory"):
        module(const(np.zeros(4)), const(np.zeros((2, 2))))
    refuses("input_alias", lambda: tf.trace(fn, (b, b.detach().view(2, 2))))
    same = tf.trace(lambda x, y: x + y, (b, b.detach()))  # nothing is written: nothing to refuse
    holds(same(b, b.detach()), [20, 22, 4, 6])
    holds(same(b, const(np.ones(4))), [11, 12, 3, 4])
    twice = tf.trace(lambda x, y: x - y, (b, b))
    with pytest.raises(GuardError, match="shares memory"):
        twice(b, const(np.ones(4)))


def test_inputs_that_began_to_share_memory_are_guarded() -> None:
    def fn(x: Any, y: Any) -> Any:
        x.add_(1.0)
        return y * 1.0

    module = tf.trace(fn, (const([1.0, 2.0]), const([3.0, 4.0])))
    a = const([1.0, 2.0])
    for second in (a, a[:], a.detach()):
        with pytest.raises(GuardError):
            module(a, second)
    holds(a, [1, 2])


def test_guard_on_overlapping_inputs() -> None:
    base = const([1.0, 2.0, 3.0])
    module = tf.trace(lambda x: x * 2.0, (base[0:1].expand(2),))
    holds(module(base[0:1].expand(2)), [2, 2])
    with pytest.raises(GuardError, match="share memory"):
        module(base[1:2].expand(2))
    with pytest.raises(GuardError, match="base"):
        module(const([1.0, 2.0])[0:1].expand(2))


def test_guard_on_gradients() -> None:
    module = tf.trace(lambda x: x * 2.0, (leaf(),))
    with pytest.raises(GuardError, match="requires_grad"):
        module(const(count((4,))))
    with pytest.raises(GuardError, match="leaf"):
        module(leaf() * 1.0)
    holds(module(leaf()), 2 * count((4,)))


def test_arguments_that_are_views_or_have_history() -> None:
    def fn(x: Any) -> Any:
        x.mul_(3.0)
        return x.sum()

    x = leaf(count((3, 4)))
    results = []
    for f in (fn, None):
        b = x * 2.0
        row = b[1]
        f = f or tf.trace(fn, (row,))
        out = f(row)
        assert b.grad_fn.name() == "CopySlices"
        (b.sum() + out).backward()
        results.append((b.detach().numpy().copy(), x.grad.numpy().copy()))
        x.grad = None
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b)
    expected = np.full((3, 4), 2.0)
    expected[1] = 12.0
    np.testing.assert_allclose(results[0][1], expected)


def test_writes_that_the_write_back_must_not_destroy() -> None:
    b = const([1.0, 2.0])
    x = leaf([3.0, 4.0])

    def fn(x: Any) -> Any:
        y = (x * b).sum()  # saves b
        b.add_(10.0)
        return y

    module = tf.trace(fn, (x,))
    y = module(x)
    holds(b, [11, 12])
    y.backward()
    holds(x.grad, [1, 2])


class Averaging(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", tf.zeros(3, dtype=tf.float64))
        self.register_buffer("count", tf.zeros((), dtype=tf.int64))
        self.weight = nn.Parameter(tf.ones(3, dtype=tf.float64))

    def forward(self, x: Any) -> Any:
        with tf.no_grad():
            self.mean.mul_(0.5).add_(0.5 * x)
        self.count = self.count + 1
        return ((x + self.mean) * self.weight).sum()


def test_buffers_of_a_module_are_written_by_reference() -> None:
    model = Averaging()
    mean, counter, storage = model.mean, model.count, model.mean.numpy()
    x = const([0.0, 1.0, 2.0])
    module = tf.trace(model, (x,))
    assert model.mean is mean
    assert model.count is counter
    assert counter.item() == 0
    holds(mean, np.zeros(3))
    module(x)
    module(x)
    assert counter.item() == 2
    assert model.count is counter
    assert np.shares_memory(mean.numpy(), storage)
    assert not mean.requires_grad
    holds(mean, np.arange(3) * 0.75)
    mean.zero_()
    out = module(x)
    out.backward()
    holds(out, np.arange(3).sum() * 1.5)
    holds(model.weight.grad, np.arange(3) * 1.5)
    assert list(module.state_dict()) == ["weight", "mean", "count"]


def test_attribute_assigned_twice_and_read_in_between() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", tf.zeros(()))

        def forward(self, x: Any) -> Any:
            self.n = self.n + 1
            y = x * self.n
            self.n = self.n * 10
            return y

    model = Counter()
    module = tf.trace(model, (tf.ones(2),))
    assert module(tf.ones(2)).tolist() == [1, 1]
    assert model.n.item() == 10
    assert module(tf.ones(2)).tolist() == [11, 11]
    assert model.n.item() == 110


def test_failing_recording_puts_the_module_back() -> None:
    class Fails(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", tf.zeros(()))

        def forward(self, x: Any) -> Any:
            self.n = self.n + 1
            self.n.add_(1.0)
            raise ValueError("no")

    model = Fails()
    held = model.n
    with pytest.raises(ValueError, match="no"):
        tf.trace(model, (tf.ones(2),))
    assert model.n is held
    assert held.item() == 0


def test_optimizer_step_in_the_graph() -> None:
    p = leaf()

    def fn(x: Any) -> Any:
        y = (p * x).sum()
        with tf.no_grad():
            p.add_(x, alpha=-0.1)
        return y, (p * p).sum()

    x = const(np.ones(4))
    module = tf.trace(fn, (x,))
    holds(p, count((4,)))
    y, z = module(x)
    assert p.is_leaf
    holds(p, count((4,)) - 0.1)
    z.backward()
    holds(p.grad, 2 * (count((4,)) - 0.1))
    p.grad = None
    y.backward()
    holds(p.grad, np.ones(4))


def test_whole_training_step_in_a_graph() -> None:
    w, g = leaf([1.0, 2.0]), const([0.5, 0.25])
    momentum = tf.zeros(2, dtype=tf.float64)

    def step(gradient: Any) -> None:
        with tf.no_grad():
            momentum.mul_(0.9).add_(gradient)
            w.sub_(momentum * 0.1)

    module = tf.trace(step, (g,))
    expected, m = np.array([1.0, 2.0]), np.zeros(2)
    for _ in range(3):
        assert module(g) is None
        m = 0.9 * m + g.numpy()
        expected = expected - 0.1 * m
    holds(w, expected)
    holds(momentum, m)


def test_masks_in_a_graph() -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        b[b > 2.5] = 0.0
        b.masked_fill_(x < 1.5, 7.0)
        return b

    x = leaf()
    out = recorded(fn, x)
    holds(out, [7, 2, 0, 0])
    out.sum().backward()
    holds(x.grad, [0, 1, 0, 0])
    with pytest.raises(UnsupportedError, match="masked_fill"):
        tf.trace(lambda t: (t * 1.0).__setitem__(t > 2.5, const([1.0, 2.0])), (x,))


# ---- bodies of cond and while_loop -----------------------------------------------------------------------------------------------------


def test_writes_inside_a_body() -> None:
    def inside(x: Any) -> Any:
        b = x * 1.0
        b[0:2].mul_(10.0)
        return b

    def fn(x: Any) -> Any:
        return tf.cond(x.sum() > 0, inside, lambda t: t * 2.0, (x,))

    x = leaf()
    module = tf.trace(fn, (x,))
    out = module(x)
    holds(out, [10, 20, 3, 4])
    out.sum().backward()
    holds(x.grad, [10, 10, 1, 1])
    holds(module(leaf(-count((4,)))), -2 * count((4,)))


def test_writing_to_the_outside_of_a_body_is_refused() -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        return tf.cond(x.sum() > 0, lambda t: b.add_(t), lambda t: t, (x,))

    with pytest.raises(UnsupportedError, match=r"add_.*outside"):
        tf.trace(fn, (const(count((4,))),))

    state = tf.zeros(4, dtype=tf.float64)

    def closed_over(x: Any) -> Any:
        return tf.cond(x.sum() > 0, lambda t: t + state.add_(1.0), lambda t: t, (x,))

    with pytest.raises(UnsupportedError, match=r"add_.*outside"):
        tf.trace(closed_over, (const(count((4,))),))
    holds(state, np.zeros(4))


def test_value_read_in_a_body_is_not_reused_outside() -> None:
    def fn(x: Any) -> Any:
        b = x * 1.0
        v = b[0:2]
        b.mul_(2.0)  # v is stale: its next read replays the chain, first inside a body
        y = tf.cond(x.sum() > 0, lambda t: v * t[0], lambda t: v + t[0], (x,))
        z = tf.cond(x.sum() > 0, lambda t: v.detach() + t[1], lambda t: v - t[1], (x,))
        return y + v, z

    x = leaf()
    module = tf.trace(fn, (x,))
    for values in (count((4,)), -count((4,))):
        a, b = leaf(values), leaf(values)
        outs, wanted = module(a), fn(b)
        for o, w in zip(outs, wanted, strict=True):
            holds(o, w.detach().numpy())
        sum(o.sum() for o in outs).backward()
        sum(o.sum() for o in wanted).backward()
        holds(a.grad, b.grad.numpy())


def test_while_body_reads_a_written_buffer() -> None:
    state = const([1.0, 1.0])

    def fn(x: Any) -> Any:
        state.mul_(2.0)
        _, total = tf.while_loop(lambda n, t: n < 3, lambda n, t: (n + 1, t + state[0:1].sum()), (tf.tensor(0), x.sum()))
        state.add_(1.0)
        return total

    x = const([1.0, 2.0])
    module = tf.trace(fn, (x,))
    holds(state, [1, 1])
    holds(module(x), 3 + 3 * 2)
    holds(state, [3, 3])
    holds(module(x), 3 + 3 * 6)


# ---- misuse ------------------------------------------------------------------------------------------------------------------------------


def test_symbols_of_two_graphs_do_not_mix() -> None:
    leaked = []
    tf.trace(lambda x: leaked.append(x * 2.0) or x, (const([1.0, 2.0]),), check=False)
    (symbol,) = leaked
    for use in (lambda x: x + symbol, lambda x: (x * 1.0).add_(symbol), lambda x: (x * 1.0).__setitem__(0, symbol[0]), lambda x: symbol):
        with pytest.raises(GraphError, match="belongs to graph"):
            tf.trace(use, (const([1.0, 2.0]),), check=False)
    with pytest.raises(TraceError, match="symbol"):
        tf.trace(lambda x: x, (symbol,))


def test_concrete_tensor_written_with_a_symbol_outside_recording() -> None:
    leaked = []
    tf.trace(lambda x: leaked.append(x * 2.0) or x, (const([1.0, 2.0]),), check=False)
    t = const([1.0, 2.0])
    with pytest.raises(TwofoldError):
        t.add_(leaked[0]).tolist()
    holds(t, [1, 2])


def test_recording_does_not_write_anything() -> None:
    b, x = const([1.0, 2.0]), leaf([3.0, 4.0])
    inner = x * 1.0
    view = inner[:1]

    def fn(t: Any) -> Any:
        b.add_(t)
        inner.mul_(2.0)
        view.add_(5.0)
        return t * 1.0

    nodes = inner.grad_fn, view.grad_fn, b.grad_fn
    tf.trace(fn, (const([1.0, 1.0]),))  # the check runs both ways, then puts everything back
    holds(b, [1, 2])
    holds(inner, [3, 4])
    assert (inner.grad_fn, view.grad_fn, b.grad_fn) == nodes


def test_graph_module_called_while_recording() -> None:
    state = const([1.0, 2.0])

    def inner(x: Any) -> Any:
        y = x * state
        state.add_(1.0)
        x[0:1].mul_(10.0)
        return y, x[1:]

    base = const([1.0, 1.0])
    module = tf.trace(inner, (base,))

    def outer(x: Any) -> Any:
        b = x * 1.0
        y, v = module(b)
        z = state * 2.0
        b.add_(100.0)
        return y, v, z, b

    results = []
    for f in (tf.trace(lambda x: outer_plain(x, inner, state), (base,)), tf.trace(outer, (base,))):
        results.append([t.numpy().copy() for t in f(const([1.0, 1.0]))])
        results.append(state.numpy().copy())
        with tf.no_grad():
            state.copy_(const([1.0, 2.0]))
    for a, b in zip(results[0], results[2], strict=True):
        np.testing.assert_allclose(a, b)
    np.testing.assert_allclose(results[1], results[3])


def outer_plain(x: Any, inner: Any, state: Any) -> Any:
    b = x * 1.0
    y, v = inner(b)
    z = state * 2.0
    b.add_(100.0)
    return y, v, z, b
