"""Making tensors from data: dtypes as torch infers them, sharing memory, refusals; gradients of copies and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold as tf
from twofold.support.errors import (
    ArgumentError,
    DeviceError,
    DTypeError,
    InplaceError,
    ShapeError,
    TraceError,
    TwofoldError,
    UnsupportedError,
    ValueRangeError,
)  # fmt: skip

DATA: dict[str, Any] = {
    "an int": 3,
    "a float": 3.5,
    "a bool": True,
    "an empty list": [],
    "empty rows": [[], []],
    "ints": [1, 2],
    "ints and bools": [1, True],
    "ints and floats": [1, 2.5],
    "bools and floats": [True, 1.5],
    "nested": [[1.0, 2.0], [3.0, 4.0]],
    "tuples in lists": [(1, 2), [3, 4]],
    "a range": range(3),
    "float64 scalars": [np.float64(1), 2],
    "a float64 scalar": np.float64(1),
    "float32 scalars": [np.float32(1), 2.0],
    "a bool scalar": [np.bool_(True)],
    "float16 scalars and ints": [np.float16(3), 1],
    "int64 scalars and floats": [np.int64(3), 1.5],
    "arrays": [np.array([1, 2]), np.array([3, 4])],
    "an array": np.array([[1.5, 2.5]]),
    "an int8 array": np.array([1, 2], np.int8),
}


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy")  # torch's
@pytest.mark.parametrize("name", DATA)
def test_tensor_is_torchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = tf.tensor(DATA[name]), torch.tensor(DATA[name])
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_tensors_in_lists() -> None:
    x = tf.tensor([tf.tensor(1), tf.tensor(2.5)])
    assert (x.dtype, x.tolist()) == (tf.float32, [1.0, 2.5])
    assert tf.tensor([tf.tensor(1.0, dtype=tf.float64), 1]).dtype is tf.float64
    assert tf.tensor([tf.tensor([1, 2]), tf.tensor([3, 4])]).tolist() == [[1, 2], [3, 4]]


def test_an_int_beside_a_narrower_scalar_follows_the_scalar() -> None:
    """torch gives int64 here; a Python int has no width of its own."""
    assert tf.tensor([np.int32(1), 2]).dtype is tf.int32


@pytest.mark.parametrize(
    "data,error,text",
    [
        ([[1, 2], [3]], ShapeError, "different lengths"),
        ([[1], 2], ShapeError, "some are numbers"),
        ([1, [2]], ShapeError, "some are numbers"),
        ([[[1, 2]], [[3]]], ShapeError, "depth 2"),
        ("a", DTypeError, "str"),
        (["a"], DTypeError, "str"),
        ([b"a"], DTypeError, "bytes"),
        (None, DTypeError, "NoneType"),
        ([None], DTypeError, "NoneType"),
        ({1: 2}, DTypeError, "dict"),
        (1j, UnsupportedError, "complex"),
        ([1.0, 2j], UnsupportedError, "complex"),
        (np.array([1j]), UnsupportedError, "complex"),
        (np.array(["a"]), DTypeError, "no tensor dtype"),
        ([2**63], ValueRangeError, "does not fit"),
        (2**70, ValueRangeError, "outside the range"),
    ],
)
def test_refused_data(data: Any, error: type[TwofoldError], text: str) -> None:
    with pytest.raises(error, match=text):
        tf.tensor(data)


def test_settings() -> None:
    assert tf.tensor([1.7], dtype=tf.int32).tolist() == [1]
    assert tf.tensor([300], dtype=tf.float16).dtype is tf.float16
    assert tf.tensor(2**70, dtype=tf.float64).item() == 2.0**70
    assert tf.tensor([1.0], requires_grad=True).is_leaf
    meta = tf.tensor([[1, 2]], device="meta")
    assert (meta.shape, meta.dtype, meta.is_meta) == ((1, 2), tf.int64, True)
    for call in (lambda: tf.tensor([1], requires_grad=True), lambda: tf.zeros(2, dtype=tf.int64, requires_grad=True)):
        with pytest.raises(DTypeError, match="floating-point"):
            call()
    for call in (lambda: tf.tensor([300], dtype=tf.int8), lambda: tf.tensor([float("nan")], dtype=tf.int64)):
        with pytest.raises(ValueRangeError):
            call()
    for device in ("cuda", "cuda:1", "mps"):
        with pytest.raises(DeviceError, match="not available"):
            tf.zeros(2, device=device)
    assert tf.ones(2, device="cpu:0").device == tf.device("cpu")


def test_default_dtype() -> None:
    try:
        tf.set_default_dtype(tf.float64)
        assert tf.tensor([1.0]).dtype is tf.zeros(2).dtype is tf.arange(2.0).dtype is tf.linspace(0, 1, 2).dtype is tf.float64
    finally:
        tf.set_default_dtype(tf.float32)
    assert tf.tensor([1.0]).dtype is tf.zeros(2).dtype is tf.full((1,), 1.5).dtype is tf.float32


def test_tensor_copies_and_from_numpy_shares() -> None:
    a = np.arange(3.0)
    copy, shared, other = tf.tensor(a), tf.from_numpy(a), tf.as_tensor(a)
    shared[0] = 5.0
    a[1] = 7.0
    assert (copy.tolist(), other.tolist(), shared.tolist()) == ([0.0, 1.0, 2.0], [5.0, 7.0, 2.0], [5.0, 7.0, 2.0])
    assert not np.shares_memory(tf.as_tensor(a, dtype=tf.float32).numpy(), a)
    assert tf.as_tensor(copy) is copy
    assert not np.shares_memory(tf.asarray(a, copy=True).numpy(), a)
    with pytest.raises(ValueRangeError, match="copy"):
        tf.asarray([1.0], copy=False)
    with pytest.raises(ValueRangeError, match="copy"):
        tf.asarray(a, dtype=tf.float32, copy=False)


def test_from_numpy_refuses_what_cannot_be_shared() -> None:
    for data in ([1], np.float32(1)):
        with pytest.raises(ArgumentError, match="NumPy array"):
            tf.from_numpy(data)
    with pytest.raises(ValueRangeError, match="negative strides"):
        tf.from_numpy(np.arange(3)[::-1])
    unaligned = np.zeros(9, np.uint8)[1:].view(np.float64)
    with pytest.raises(ValueRangeError, match="unaligned"):
        tf.from_numpy(unaligned)
    with pytest.raises(DTypeError, match="byte order"):
        tf.from_numpy(np.zeros(2, ">f4"))


def test_a_read_only_array_cannot_be_written() -> None:
    a = np.arange(3.0)
    a.flags.writeable = False
    x = tf.from_numpy(a)
    assert (x * 2).tolist() == [0.0, 2.0, 4.0]
    for write in (lambda: x.add_(1.0), lambda: x.__setitem__(0, 1.0), lambda: x[1:].zero_(), lambda: x.expand(2, 3)[0].zero_()):
        with pytest.raises(InplaceError, match="read-only"):
            write()
    assert a.tolist() == [0.0, 1.0, 2.0]


def test_a_copy_of_a_tensor_has_no_history() -> None:
    x = tf.ones(2, requires_grad=True)
    y = tf.tensor(x)
    assert not y.requires_grad
    assert not np.shares_memory(y.numpy(), x.detach().numpy())
    assert tf.tensor(x, dtype=tf.int64, requires_grad=False).dtype is tf.int64


def test_new_tensors_take_dtype_and_device_along() -> None:
    x = tf.zeros(1, dtype=tf.float16)
    for made in (x.new_zeros(2), x.new_ones((2,)), x.new_empty(2), x.new_full((2,), 3), x.new_tensor([1, 2])):
        assert (made.dtype, made.shape) == (tf.float16, (2,))
    assert x.to("meta").new_zeros(2).is_meta
    assert x.new_zeros(2, dtype=tf.int64).dtype is tf.int64


def test_gradients_of_copies_and_conversions() -> None:
    x = tf.ones(2, 3, requires_grad=True)
    y = x.double()
    assert y.grad_fn.name() == "ToCopyBackward0"
    (y * tf.tensor(3.0, dtype=tf.float64)).sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (tf.float32, [[3.0] * 3] * 2)
    target = tf.zeros(2, 3, dtype=tf.float64)
    source = tf.ones(3, requires_grad=True)
    target.copy_(source)
    target.sum().backward()
    assert (source.grad.dtype, source.grad.tolist()) == (tf.float32, [2.0] * 3)


def test_clone_keeps_the_layout_and_contiguous_changes_it() -> None:
    x = tf.tensor(np.arange(6.0).reshape(2, 3)).t()
    assert x.clone().stride() == (1, 3)
    assert x.contiguous().stride() == (2, 1)
    assert x.contiguous().contiguous() is not x
    y = tf.zeros(1, 2, 3, 4)
    assert y.contiguous() is y
    assert y.contiguous(memory_format="channels_last").stride() == (24, 1, 8, 2)
    assert y.clone(memory_format="channels_last").shape == y.shape


def test_detach_shares_memory_and_stops_gradients() -> None:
    x = tf.ones(2, requires_grad=True)
    y = (x * 2.0).detach()
    assert not y.requires_grad
    assert y.grad_fn is None
    z = x * 1.0
    z.detach()[0] = 5.0
    assert z.tolist() == [5.0, 1.0]
    z.detach_()
    assert z.is_leaf
    with pytest.raises(InplaceError, match="view"):
        (x * 1.0)[0].detach_()


def test_viewing_as_another_dtype() -> None:
    x = tf.ones(2)
    y = x.view(tf.int32)
    assert y.tolist() == [0x3F800000] * 2
    y[0] = 0
    assert x.tolist() == [0.0, 1.0]
    with pytest.raises(DTypeError, match="4 bytes"):
        x.view(tf.float64)


def test_data_while_recording() -> None:
    def f(x: Any) -> Any:
        return x + tf.tensor([1.0, 2.0]) * tf.ones(2) + tf.arange(2) + x[[1, 0]]

    graph = tf.trace(f, (tf.zeros(2),))
    assert graph(tf.tensor([1.0, 5.0])).tolist() == [7.0, 9.0]
    with pytest.raises(TraceError, match="stack"):
        tf.trace(lambda x: tf.tensor([x[0], x[1]]), (tf.zeros(2),))
    with pytest.raises(TraceError, match="requires_grad"):
        tf.trace(lambda x: x + tf.zeros(2, requires_grad=True), (tf.zeros(2),))
