"""Writes, views and sharing of memory in recorded graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold as tf
from tests.mutation.cases import both, const, count, holds, leaf, recorded, refuses
from twofold import nn
from twofold.support.errors import (
    GraphError,
    GuardError,
    TraceError,
    TwofoldError,
    UnsupportedError,
)
from twofold.tensors.alias import base_of

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
