"""Graphs go without the garbage collector: no reference cycles among tensors, nodes and saved values."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.tape.tools import const, leaf, sin, tanh, total, values
from twofold.tensors.backward import backward, grad
from twofold.tensors.core import Tensor

GRAPHS, SIZE = 50, 20_000
BYTES = SIZE * 8


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.disable()
    gc.freeze()  # `gc.get_objects` then lists what is made from here on
    try:
        yield
    finally:
        gc.unfreeze()
        gc.enable()


def forward(x: Tensor) -> Tensor:
    return total(tanh(sin(x) * x + x * 2.0))


def finished(x: Tensor) -> None:
    backward(forward(x))


def abandoned(x: Tensor) -> None:
    forward(x)


def failed(x: Tensor) -> None:
    h = sin(x)
    h.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        backward(total(h * h))


def with_hooks(x: Tensor) -> None:
    h = sin(x)
    h.retain_grad()
    h.register_hook(lambda g: g * 2.0)
    y = h * x
    y.grad_fn.register_hook(lambda gi, go: None)
    backward(total(y))


def with_views_and_writes(x: Tensor) -> None:
    h = x * 2.0
    h.view((2, SIZE // 2)).mul_(3.0)
    backward(total(sin(h)))


def second_order(x: Tensor) -> None:
    (g,) = grad(forward(x), x, create_graph=True)
    grad(total(g * g), x)


WAYS = [finished, abandoned, failed, with_hooks, with_views_and_writes, second_order]


@pytest.mark.parametrize("way", WAYS, ids=lambda f: f.__name__)
def test_memory_of_finished_graphs_returns_at_once(way: Callable[[Tensor], None]) -> None:
    x = leaf(np.linspace(-1, 1, SIZE))
    x.grad = const(np.zeros(SIZE))
    way(x)  # plans, rules and tables are made here
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(GRAPHS):
            way(x)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 2 * BYTES, f"{(after - before) / BYTES:.1f} arrays were kept by {GRAPHS} graphs"


@pytest.mark.parametrize("way", WAYS, ids=lambda f: f.__name__)
def test_no_node_survives(way: Callable[[Tensor], None]) -> None:
    """Every node a call makes is gone when it returns."""
    from twofold.tape.node import AccumulateGrad, Node

    x = leaf(np.linspace(-1, 1, SIZE))
    way(x)
    x.grad = None
    way(x)
    x.grad = None
    assert [o for o in gc.get_objects() if issubclass(type(o), Node) and not issubclass(type(o), AccumulateGrad)] == []


def test_a_tensor_goes_with_its_last_reference() -> None:
    x = leaf([1.0, 2.0])
    h = sin(x)
    y = total(h * h)
    tensor, node = weakref.ref(h), weakref.ref(y.grad_fn)
    del h
    assert tensor() is None, "the graph keeps a tensor alive"
    assert node() is not None
    del y
    assert node() is None


def test_backward_frees_saved_values_at_once() -> None:
    x = leaf(np.zeros(10))
    h = x * 2.0
    array = weakref.ref(h._array)
    y = total(sin(h))
    del h
    assert array() is not None
    backward(y)
    assert array() is None, "a saved array outlives the pass although the graph is not retained"


def test_a_leaf_is_not_kept_by_its_node() -> None:
    x = leaf([1.0, 2.0])
    y = sin(x)
    ref = weakref.ref(x)
    del x
    assert ref() is None
    variable = y.grad_fn.next_functions[0][0].variable
    np.testing.assert_array_equal(values(variable), [1.0, 2.0])
    backward(y, const([1.0, 1.0]))
    np.testing.assert_allclose(values(variable.grad), np.cos([1.0, 2.0]))


def test_long_chains_are_freed_without_recursion() -> None:
    y: Any = leaf(1.0)
    for _ in range(200_000):
        y = y + 1.0
    node = weakref.ref(y.grad_fn)
    del y
    assert node() is None
