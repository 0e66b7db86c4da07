"""Tensors made with given strides, and tensors changed in place in shape, strides or element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold as tf
from twofold.errors import AutogradError, DeviceError, InplaceError, ShapeError, UnsupportedError, ValueRangeError

CHANGES: list[tuple[str, Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]] = [
    ("t_", lambda t: t.t_(), lambda a: a.T),
    ("transpose_", lambda t: t.transpose_(0, -1), lambda a: a.T),
    ("swapaxes_", lambda t: t.swapaxes_(1, 0), lambda a: a.T),
    ("swapdims_", lambda t: t.swapdims_(1, 0), lambda a: a.T),
    ("unsqueeze_", lambda t: t.unsqueeze_(1), lambda a: a[:, None]),
    ("as_strided_", lambda t: t.as_strided_((2, 2), (1, 2)), lambda a: np.array([[a.flat[0], a.flat[2]], [a.flat[1], a.flat[3]]])),
    ("squeeze_", lambda t: t.unsqueeze_(0).squeeze_(), lambda a: a),
]
names = pytest.mark.parametrize("name,change,oracle", [pytest.param(*c, id=c[0]) for c in CHANGES])


@names
def test_a_tensor_becomes_a_view_of_itself(name: str, change: Any, oracle: Any) -> None:
    a = np.arange(6.0).reshape(2, 3)
    t = tf.tensor(a)
    assert change(t) is t
    np.testing.assert_array_equal(t.numpy(), oracle(a))


@names
def test_gradients_pass_the_change(name: str, change: Any, oracle: Any) -> None:
    a = np.arange(6.0).reshape(2, 3)
    x = tf.tensor(a, requires_grad=True)
    y = x * 1.0
    change(y)
    weights = np.cos(np.arange(y.numel())).reshape(y.shape)
    (y * tf.tensor(weights)).sum().backward()
    positions = oracle(np.arange(6).reshape(2, 3))
    want = np.zeros(6)
    np.add.at(want, positions.reshape(-1), weights.reshape(-1))
    np.testing.assert_allclose(x.grad.numpy().reshape(-1), want)


@names
def test_refused_changes(name: str, change: Any, oracle: Any) -> None:
    leaf = tf.ones(2, 3, requires_grad=True)
    with pytest.raises(InplaceError, match="leaf"):
        change(leaf)
    with pytest.raises(UnsupportedError, match="in place"):
        tf.trace(lambda t: change(t * 1), (tf.ones(2, 3),))


def test_a_view_that_is_transposed_still_writes_to_its_base() -> None:
    base = tf.zeros(2, 3)
    view = base.view(3, 2)
    view.t_()
    view[0, 1] = 5.0
    assert base[0, 2] == 5.0


@pytest.mark.parametrize("size", [(6,), (2, 2), (3, 3), (0,), ()])
def test_resize(size: tuple[int, ...]) -> None:
    a = np.arange(6.0).reshape(2, 3)
    t = tf.tensor(a)
    assert t.resize_(size) is t
    count = int(np.prod(size))
    want = np.concatenate([a.reshape(-1), np.zeros(9)])[:count].reshape(size)
    np.testing.assert_array_equal(t.numpy(), want)
    other = tf.zeros(1)
    tf.resize_as_(other, t)
    assert other.shape == t.shape


def test_views_of_what_a_tensor_was_stay() -> None:
    base = tf.zeros(2, 3)
    row = base[0]
    base.t_()
    base[2, 0] = 4.0
    assert row[2] == 4.0


def test_resize_is_refused() -> None:
    with pytest.raises(AutogradError, match="resize_"):
        tf.ones(2, requires_grad=True).resize_(3)
    base = tf.ones(4)
    with pytest.raises(InplaceError, match="view"):
        base[:2].resize_(1)
    with pytest.raises(InplaceError, match="shared"):
        tf.from_numpy(np.ones(2)).resize_(5)
    with pytest.raises(ValueRangeError, match="negative"):
        tf.ones(2).resize_(-1)


def test_strides_are_as_asked_for() -> None:
    t = tf.empty_strided((2, 3), (1, 2), dtype=tf.float64)
    assert t.stride() == (1, 2)
    assert t.shape == (2, 3)
    assert t.dtype is tf.float64
    assert tf.ones(1, dtype=tf.int32).new_empty_strided((2,), (3,)).dtype is tf.int32
    p = tf.empty_permuted((2, 3, 4), (2, 0, 1))
    assert p.shape == (2, 3, 4)
    assert p.stride() == (3, 1, 6)
    assert p.dim_order() == (2, 0, 1)
    with pytest.raises(ShapeError, match="strides"):
        tf.empty_strided((2, 3), (1,))
    with pytest.raises(ShapeError, match="physical_layout"):
        tf.empty_permuted((2, 3), (0, 0))
    with pytest.raises(ValueRangeError, match="negative"):
        tf.empty_strided((2,), (-1,))


def test_frombuffer_shares_memory() -> None:
    raw = bytearray(np.arange(6, dtype=np.float32).tobytes())
    t = tf.frombuffer(raw, dtype=tf.float32, count=2, offset=4)
    np.testing.assert_array_equal(t.numpy(), [1.0, 2.0])
    raw[4:8] = np.float32(9).tobytes()
    assert t[0] == 9.0
    for wrong in ({"offset": 24}, {"count": 7}, {"offset": 2}, {"count": 0}):
        with pytest.raises(ValueRangeError, match="frombuffer"):
            tf.frombuffer(raw, dtype=tf.float32, **wrong)  # type: ignore[arg-type]


def test_python_functions_of_elements() -> None:
    t = tf.tensor([1.0, 2.0, 3.0])
    assert t.apply_(lambda x: x * x) is t
    t.map_(tf.tensor([1.0]), lambda x, y: x + y)
    t.map2_(tf.tensor(2.0), tf.tensor([0.0, 1.0, 2.0]), lambda x, y, z: x * y - z)
    np.testing.assert_array_equal(t.numpy(), [4.0, 9.0, 18.0])
    with pytest.raises(AutogradError, match="apply_"):
        tf.ones(2, requires_grad=True).apply_(abs)
    with pytest.raises(DeviceError, match="meta"):
        tf.ones(2, device="meta").apply_(abs)


@pytest.mark.parametrize("shape,wrap", [((3, 4), False), ((7, 3), True), ((7, 3), False), ((3, 3, 3), False)])
def test_fill_diagonal(shape: tuple[int, ...], wrap: bool) -> None:
    x = tf.ones(*shape, requires_grad=True)
    y = x * 2
    y.fill_diagonal_(5.0, wrap)
    want = np.full(shape, 2.0, np.float32)
    np.fill_diagonal(want, 5.0, wrap)
    np.testing.assert_array_equal(y.detach().numpy(), want)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.where(want == 5.0, 0.0, 2.0))


def test_set_and_questions() -> None:
    a, b = tf.zeros(2), tf.ones(3)
    a.set_(b)
    assert a.is_set_to(b)
    assert a.shape == (3,)
    b[0] = 7.0
    assert a[0] == 7.0
    assert tf.is_same_size(a, b)
    assert not a.is_pinned()
    assert a.layout is tf.strided
    assert a.is_cpu
    assert tf.ones(2, 2).trace() == 2.0
    assert tf.trace(tf.ones(2, 2)) == 2.0
    with pytest.raises(ShapeError, match="matrix"):
        tf.ones(2).trace()


def test_product_of_zeros() -> None:
    """The gradient of a product for one of several zeros is 0, for the only zero the product of the others."""
    x = tf.tensor([0.0, 2.0], dtype=tf.float64, requires_grad=True)
    source = tf.tensor([3.0, 0.0, 4.0, 5.0], dtype=tf.float64, requires_grad=True)
    tf.index_reduce(x, 0, tf.tensor([0, 1, 1, 0]), source, "prod").sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [15.0, 0.0])
    np.testing.assert_array_equal(source.grad.numpy(), [0.0, 8.0, 0.0, 0.0])


def test_sizes_that_depend_on_values_are_not_recorded() -> None:
    for function in (tf.unique, tf.unique_consecutive, lambda t: tf.bincount(t.long())):
        with pytest.raises(UnsupportedError, match="size of the result"):
            tf.trace(function, (tf.ones(3),))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_windows_on_memory_in_any_order(order: tuple[int, ...], dtype: str) -> None:
    """The array that owns the memory may hold its dimensions in any order; a write through the window is a write to it."""
    shape = (4, 3, 5)
    owner = np.empty([shape[d] for d in order], getattr(tf, dtype).numpy).transpose(np.argsort(order)).copy(order="K")
    assert owner.base is None
    owner[...] = np.arange(60).reshape(shape)
    t = tf.from_numpy(owner)
    for dim, n in enumerate(shape):
        window = t.unfold(dim, 2, 1)
        expected = np.lib.stride_tricks.sliding_window_view(owner.astype(np.float64), 2, axis=dim)
        np.testing.assert_array_equal(window.numpy().astype(np.float64), expected)
        window.select(dim, n - 2)[..., 1].fill_(-1.0)
        assert (owner.astype(np.float64).take(n - 1, axis=dim) == -1).all()
        owner[...] = np.arange(60).reshape(shape)


def test_windows_on_gaps_of_foreign_memory_are_refused() -> None:
    """What came by DLPack owns no memory that NumPy could lend."""
    with pytest.raises(InplaceError, match="contiguous"):
        tf.from_dlpack(np.arange(24.0).reshape(4, 6)[:, ::2]).unfold(0, 2, 1)
    assert tf.from_dlpack(np.arange(24.0).reshape(4, 6)[:, ::2]).contiguous().unfold(0, 2, 1).shape == (3, 3, 2)
