"""Indexing and assignment: against torch on random indices, and the cases that have to be just so."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import twofold as tf
from twofold.support.errors import (
    ArgumentError,
    DeviceError,
    DTypeError,
    IndexOutOfRange,
    InplaceError,
    ShapeError,
    TwofoldError,
    UnsupportedError,
    ValueRangeError,
)
from twofold.tensors.functions import FUNCTIONS, INPLACE
from twofold.tensors.indexing import FUNCTIONAL

# ---- random indices against torch --------------------------------------------------------------------------------------------------


class Index:
    """A random index of a shape; tensors in it are made by the library under test."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
        self.items: list[tuple[str, Any]] = []
        common = [(2,), (3, 1), (1, 2)][rng.integers(3)]
        dim, ellipsis, mask = 0, False, False
        while dim < len(shape) and rng.random() < 0.9:
            n, kind = shape[dim], int(rng.integers(9))
            if kind == 0 and n:
                self.add("plain", int(rng.integers(-n, n)))
            elif kind <= 2:
                start, stop = (None if rng.random() < 0.4 else int(rng.integers(-n - 1, n + 2)) for _ in range(2))
                self.add("plain", slice(start, stop, None if rng.random() < 0.6 else int(rng.integers(1, 3))))
            elif kind == 3:
                self.add("plain", None)
                dim -= 1
            elif kind == 4 and not ellipsis:
                ellipsis = True
                self.add("plain", ...)
                dim += int(rng.integers(0, len(shape) - dim + 1)) - 1
            elif kind == 5 and n:
                self.add("tensor", rng.integers(-n, n, common))
            elif kind == 6 and n and common != (1, 2):
                self.add("plain", rng.integers(-n, n, 2).tolist())
            elif kind == 7 and n:
                self.add("tensor", np.array(rng.integers(-n, n)))
            elif kind == 8 and not mask and not any(k == "tensor" or isinstance(v, list) for k, v in self.items):
                mask = True
                wide = int(rng.integers(1, min(2, len(shape) - dim) + 1))
                self.add("tensor", rng.random(shape[dim : dim + wide]) < 0.5)
                dim += wide - 1
            else:
                continue
            dim += 1

    def add(self, kind: str, value: Any) -> None:
        self.items.append((kind, value))

    def made(self, tensor: Any) -> Any:
        parts = tuple(tensor(v) if kind == "tensor" else v for kind, v in self.items)
        return parts[0] if len(parts) == 1 and not isinstance(parts[0], list) else parts


def run(library: Any, a: np.ndarray, index: Index, mode: str, seed: int) -> tuple[np.ndarray, list[np.ndarray | None]]:
    """(values, gradients) of a read or a write."""
    rng = np.random.default_rng(seed)
    x = library.tensor(a, requires_grad=True)
    wanted = [x]
    if mode == "read":
        y = x[index.made(library.tensor)]
    else:
        y = x * 1.0
        place = index.made(library.tensor)
        if mode == "number":
            y[place] = 2.5
        else:
            shape = tuple(1 if rng.random() < 0.2 else n for n in y[place].shape)
            value = library.tensor(rng.standard_normal(shape), requires_grad=True)
            wanted.append(value)
            y[place] = value
    (y * library.tensor(rng.standard_normal(tuple(y.shape)))).sum().backward()
    return y.detach().numpy(), [None if t.grad is None else t.grad.numpy() for t in wanted]


@pytest.mark.parametrize("seed", range(60))
def test_random_indices_against_torch(seed: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    for k in range(10):
        shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 5, rng.integers(1, 4)))
        index, a = Index(rng, shape), rng.standard_normal(shape)
        mode = ("read", "number", "tensor")[k % 3]
        try:
            values, gradients = run(torch, a, index, mode, k)
        except (IndexError, RuntimeError):
            with pytest.raises((IndexError, RuntimeError)) as caught:
                run(tf, a, index, mode, k)
            assert isinstance(caught.value, TwofoldError)
            continue
        ours, our_gradients = run(tf, a, index, mode, k)
        assert ours.shape == values.shape, index.items
        np.testing.assert_array_equal(ours, values, str(index.items))
        for mine, theirs in zip(our_gradients, gradients, strict=True):
            assert (mine is None) == (theirs is None)
            if theirs is not None:
                np.testing.assert_allclose(mine, theirs, rtol=1e-12, err_msg=str(index.items))


# ---- reading -------------------------------------------------------------------------------------------------------------------------

X = np.arange(24.0).reshape(2, 3, 4)
PLACES: dict[str, Any] = {
    "an integer": 1,
    "from the end": -1,
    "all integers": (1, 2, 3),
    "slices": (slice(None), slice(1, None), slice(None, None, 2)),
    "a new dimension": (None, 0, None),
    "ellipsis": (..., 2),
    "everything": ...,
    "nothing": (),
    "a list": [1, 0, 1],
    "nested lists": [[0, 1], [1, 1]],
    "an empty list": [],
    "a range": range(2),
    "an array": np.array([[0, 1], [1, 0]]),
    "an int32 array": np.array([1, 0], np.int32),
    "bools": [True, False],
    "a NumPy integer": np.int16(1),
    "True": True,
    "False": False,
    "a mask": X > 5,
    "a mask of leading dimensions": X[:, :, 0] > 5,
    "tensors next to one another": (slice(None), np.array([0, 2]), np.array([[1], [3]])),
    "tensors apart": (np.array([0, 1]), slice(None), np.array([[1], [3]])),
}
"""Places that mean in NumPy what they mean here."""


@pytest.mark.parametrize("name", PLACES)
def test_reading_is_numpys(name: str) -> None:
    x = tf.tensor(X)
    out = x[PLACES[name]]
    np.testing.assert_array_equal(out.numpy(), X[PLACES[name]])
    assert out.is_contiguous() or out._base is not None


@pytest.mark.parametrize("name", PLACES)
def test_writing_is_numpys(name: str) -> None:
    x, a = tf.tensor(X), X.copy()
    x[PLACES[name]] = -1
    a[PLACES[name]] = -1
    np.testing.assert_array_equal(x.numpy(), a)


def test_an_integer_beside_a_tensor_is_applied_first() -> None:
    """Unlike NumPy, where it counts as an index array: PyTorch's meaning."""
    x = tf.tensor(X)
    assert x[0, :, tf.tensor([0, 1])].shape == (3, 2)
    np.testing.assert_array_equal(x[0, :, tf.tensor([0, 1])].numpy(), X[0][:, [0, 1]])


def test_basic_indices_are_views_and_others_copies() -> None:
    x = tf.tensor(X)
    for place in (0, slice(1, 2), None, ..., (0, 1, 2), tf.tensor(1), (slice(None), 2)):
        view = x[place]
        assert view._base is x
        assert np.shares_memory(view.numpy(), x.numpy())
    for place in ([0], tf.tensor([0]), True, x > 3):
        assert x[place]._base is None


def test_a_scalar_view_writes_through() -> None:
    x = tf.tensor([1.0, 2.0])
    x[1].mul_(5.0)
    assert x.tolist() == [1.0, 10.0]


def test_node_names() -> None:
    x = tf.ones(2, 3, requires_grad=True)
    names = {
        "SelectBackward0": x[0], "SliceBackward0": x[:1], "UnsqueezeBackward0": x[None], "AliasBackward0": x[...],
        "IndexBackward0": x[[0, 1]],
    }  # fmt: skip
    for name, t in names.items():
        assert t.grad_fn.name() == name
    assert x[:, 0].grad_fn.next_functions[0][0].name() == "AccumulateGrad", "a full slice among several parts leaves no node"
    y = x * 1.0
    y[0] = 0.0
    assert y.grad_fn.name() == "CopySlices"


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (2, IndexOutOfRange, "index 2 is out of range for dimension 0 of size 2"),
    (-3, IndexOutOfRange, "index -3 is out of range for dimension 0 of size 2"),
    ((0, 3), IndexOutOfRange, "index 3 is out of range for dimension 0 of size 3"),
    ((slice(None), 3), IndexOutOfRange, "index 3 is out of range for dimension 1 of size 3"),
    ((0, 0, 0, 0), IndexOutOfRange, "too many indices: 4 for a tensor of 3 dimension(s)"),
    ((..., 0, ...), IndexOutOfRange, "only one ellipsis"),
    (1.0, IndexOutOfRange, "float"),
    ("a", IndexOutOfRange, "str"),
    ([0, 2], IndexOutOfRange, "index 2 is out of range for dimension 0 of size 2"),
    ([0.5], IndexOutOfRange, "integers or bool"),
    (np.array([0.5]), IndexOutOfRange, "integers or bool"),
    (np.array([1], np.uint8), IndexOutOfRange, "ambiguous"),
    ([0, slice(None)], IndexOutOfRange, "tuple"),
    (slice(None, None, -1), ValueRangeError, "greater than zero"),
    (slice(None, None, 0), ValueRangeError, "greater than zero"),
    (slice(0.5, None), IndexOutOfRange, "slice bounds"),
    (np.array([True]), IndexOutOfRange, "mask of shape (1,)"),
    (([0, 1], [0, 1, 2]), IndexOutOfRange, "do not broadcast"),
]


@pytest.mark.parametrize("place,error,text", REFUSED)
def test_refused(place: Any, error: type[Exception], text: str) -> None:
    x = tf.tensor(X)
    with pytest.raises(error, match=re.escape(text)):
        x[place]
    with pytest.raises(error):
        x[place] = 0.0
    np.testing.assert_array_equal(x.numpy(), X, "a refused write changed something")


def test_of_a_0d_tensor() -> None:
    x = tf.tensor(3.0)
    assert x[...].item() == 3.0
    assert x[None].shape == (1,)
    assert x[True].shape == (1,)
    with pytest.raises(IndexOutOfRange, match="too many"):
        x[0]
    with pytest.raises(IndexOutOfRange):
        x[:]


def test_errors_name_the_users_line() -> None:
    x = tf.zeros(2)
    with pytest.raises(IndexOutOfRange, match=r"test_indexing\.py"):
        x[5]


def test_on_the_meta_device() -> None:
    x = tf.zeros(2, 3, device="meta")
    assert x[0].shape == (3,)
    assert x[:, 1:].shape == (2, 2)
    assert x[tf.tensor([0, 1, 0]).to("meta")].shape == (3, 3)
    with pytest.raises(DeviceError):
        x[x > 0]
    with pytest.raises(DeviceError, match="different devices"):
        x[tf.tensor([0, 1])]


# ---- writing -------------------------------------------------------------------------------------------------------------------------


def test_values_are_broadcast_and_converted() -> None:
    x = tf.zeros(2, 3, dtype=tf.int64)
    x[0] = tf.tensor([1.9, -1.9, 2.0])
    x[1] = np.float32(7.0)
    assert x.tolist() == [[1, -1, 2], [7, 7, 7]]
    x[:, :2] = tf.tensor([[[[5]]]])
    x[[1], [2]] = True
    assert x.tolist() == [[5, 5, 2], [5, 5, 1]]
    y = tf.zeros(2, 2)
    y[0] = np.array([1.0, 2.0])
    y[tf.tensor([1])] = tf.tensor([3, 4])
    assert y.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_values_that_do_not_fit() -> None:
    x = tf.zeros(2, 3)
    for place in (0, [0]):
        with pytest.raises(ShapeError):
            x[place] = tf.ones(2)
    with pytest.raises(ArgumentError, match="list"):
        x[0] = [1.0, 2.0, 3.0]
    with pytest.raises(ValueRangeError):
        tf.zeros(2, dtype=tf.int8)[0] = 300
    assert x.tolist() == [[0.0] * 3] * 2


def test_overlapping_source_is_read_before_it_is_written() -> None:
    for place in (slice(1, None), [1, 2, 3], np.array([False, True, True, True])):
        x = tf.arange(4.0)
        x[place] = x[:-1]
        assert x.tolist() == [0.0, 0.0, 1.0, 2.0]
    x = tf.arange(4.0)
    x[x > 0] = x[:3]
    assert x.tolist() == [0.0, 0.0, 1.0, 2.0]


def test_writes_through_several_views() -> None:
    x = tf.zeros(4, 4, requires_grad=True)
    y = x * 1.0
    y[1:][:, 0][1] = 5.0
    y.t()[3] = tf.ones(4)
    expected = np.zeros((4, 4))
    expected[2, 0], expected[:, 3] = 5.0, 1.0
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), expected == 0)


@pytest.mark.parametrize("split", ["unbind", "split", "chunk", "tensor_split", "split_with_sizes"])
def test_outputs_of_several_views_can_be_written(split: str) -> None:
    argument = {"unbind": 0, "split": 1, "chunk": 3, "tensor_split": 3, "split_with_sizes": (1, 1, 1)}[split]
    x = tf.ones(3, 2, requires_grad=True)
    y = x * 2.0
    parts = getattr(y, split)(argument)
    w = tf.tensor(3.0, requires_grad=True)
    parts[1].mul_(w)
    assert y.tolist() == [[2.0, 2.0], [6.0, 6.0], [2.0, 2.0]]
    (y.sum() + parts[1].sum()).backward()
    assert x.grad.tolist() == [[2.0, 2.0], [12.0, 12.0], [2.0, 2.0]]
    assert w.grad.item() == 8.0


def test_leaves_and_expanded_tensors_are_refused() -> None:
    leaf = tf.ones(3, requires_grad=True)
    with pytest.raises(InplaceError, match="leaf"):
        leaf[0] = 1.0
    wide = tf.ones(1).expand(3)
    with pytest.raises(InplaceError, match="share memory"):
        wide[0:2] = 1.0
    assert leaf.tolist() == [1.0] * 3


def test_index_put_accumulates_and_keeps_none() -> None:
    x = tf.zeros(2, 3)
    INPLACE["index_put_"](x, (None, tf.tensor([0, 0, 2])), tf.tensor(1.0), accumulate=True)
    assert x.tolist() == [[2.0, 0.0, 1.0]] * 2
    out = FUNCTIONS["index_put"](x, (tf.tensor([1]),), tf.zeros(3))
    assert out.tolist() == [[2.0, 0.0, 1.0], [0.0] * 3]
    with pytest.raises(DTypeError):
        INPLACE["index_put_"](x, (tf.tensor([0]),), tf.tensor([1]))
    with pytest.raises(IndexOutOfRange):
        FUNCTIONS["index_put"](x, (tf.tensor([0]), None, tf.tensor([0])), 1.0)


# ---- functions ---------------------------------------------------------------------------------------------------------------------------


def test_nonzero_as_tuple() -> None:
    x = tf.tensor([[0, 1], [2, 0]])
    assert [t.tolist() for t in FUNCTIONS["nonzero"](x, as_tuple=True)] == [[0, 1], [1, 0]]
    assert x[FUNCTIONS["nonzero"](x, as_tuple=True)].tolist() == [1, 2]


def test_index_fill_by_a_tensor_has_its_gradient() -> None:
    value = tf.tensor(2.0, requires_grad=True)
    x = FUNCTIONS["index_fill"](tf.zeros(3, 2), -1, tf.tensor([1]), value)
    assert x.tolist() == [[0.0, 2.0]] * 3
    x.sum().backward()
    assert value.grad.item() == 3.0
    y = tf.zeros(2)
    INPLACE["fill_"](y, tf.tensor(1.5))
    assert y.tolist() == [1.5, 1.5]


def test_one_hot_counts_the_classes() -> None:
    assert FUNCTIONAL["one_hot"](tf.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(ValueRangeError):
        FUNCTIONAL["one_hot"](tf.zeros(0, dtype=tf.int64))


@pytest.mark.parametrize(
    "settings", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True}, {"padding_idx": 2, "scale_grad_by_freq": True}]
)
def test_embedding_gradients_are_those_of_torch(settings: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    table, rows, weights = rng.standard_normal((4, 3)), np.array([[1, 2, 1], [3, 1, 2]]), rng.standard_normal((2, 3, 3))
    found = []
    for library, function in ((torch, torch.nn.functional.embedding), (tf, FUNCTIONAL["embedding"])):
        w = library.tensor(table, requires_grad=True)
        v = library.tensor(weights, requires_grad=True)
        out = function(library.tensor(rows), w, **settings)
        (g,) = library.autograd.grad((out * v).sum(), (w,), create_graph=True)
        (g * g).sum().backward()
        found.append([t.detach().numpy() for t in (out, g, v.grad)])
    if "scale_grad_by_freq" in settings:  # torch leaves the scale out of the second derivative
        found[0][2] = found[0][2] / counts(rows)
    for ours, theirs in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def counts(rows: np.ndarray) -> np.ndarray:
    """How often each entry occurs, with a last dimension of size 1."""
    return np.bincount(rows.reshape(-1))[rows][..., None]


def test_embedding_renormalises_the_rows_it_uses() -> None:
    torch = pytest.importorskip("torch")
    table, rows = np.array([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], np.float32), [0, 1, 0]
    ours, theirs = tf.tensor(table, requires_grad=True), torch.tensor(table, requires_grad=True)
    out = FUNCTIONAL["embedding"](tf.tensor(rows), ours, max_norm=1.0)
    want = torch.nn.functional.embedding(torch.tensor(rows), theirs, max_norm=1.0)
    np.testing.assert_allclose(out.detach().numpy(), want.detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6)
    with pytest.raises(UnsupportedError, match="sparse"):
        FUNCTIONAL["embedding"](tf.tensor(rows), ours, sparse=True)
    with pytest.raises(IndexOutOfRange, match="padding_idx"):
        FUNCTIONAL["embedding"](tf.tensor(rows), ours, padding_idx=3)


def test_where_and_repeat_interleave_with_one_operand() -> None:
    mask = tf.tensor([[True, False], [False, True]])
    assert [t.tolist() for t in tf.where(mask)] == [[0, 1], [0, 1]]
    assert tf.repeat_interleave(tf.tensor([1, 0, 2])).tolist() == [0, 2, 2]
