"""The backward engine against PyTorch: accumulation, restriction to inputs, hooks and their order, higher derivatives, refusals."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from tests.autograd.libs import Ours, both
from twofold.support.errors import ArgumentError, AutogradError, DTypeError, InplaceError, ShapeError

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Enter a program into the table of those that are run under both libraries."""
    PROGRAMS[function.__name__] = function
    return function


@program
def accumulates_over_passes(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    for _ in range(3):
        (x * x).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return x.grad, first is x.grad


@program
def accumulates_over_shared_paths(lib: Any) -> Any:
    x = lib.make([1.0, 2.0, 3.0])
    y = x * 2
    z = y * y + y.sin() + y
    (z * y).sum().backward()
    return x.grad


@program
def several_roots(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    lib.autograd.backward([x * w, w.sin(), (x * x).sum()], [lib.make([1.0, 10.0], False), lib.make([2.0, 0.5], False), None])
    return x.grad, w.grad


@program
def a_root_twice(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * x
    return lib.autograd.grad([y, y, y.sum()], [x], [lib.make([1.0, 2.0], False), lib.make([3.0, 4.0], False), None])


@program
def a_leaf_as_root(lib: Any) -> Any:
    x = lib.make(2.0)
    x.backward()
    x.backward(lib.make(3.0, False))
    return x.grad, lib.autograd.grad(x, x)


@program
def backward_with_inputs(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    y = x * w
    z = (y * y).sum()
    z.backward(inputs=[w], retain_graph=True)
    first = (x.grad is None, w.grad)
    z.backward(inputs=[x, y])
    return first, x.grad, w.grad, y.grad


@program
def backward_with_an_inner_input_twice(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * x
    y.sin().sum().backward(inputs=[y], retain_graph=True)
    y.sum().backward(inputs=[y])
    return y.grad, x.grad is None


@program
def grad_of_inner_tensors(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x.sin()
    z = y * y
    return lib.autograd.grad(z.sum(), [z, y, x]), x.grad is None


@program
def grad_leaves_other_paths(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    a, b = x * x, w * w
    first = lib.autograd.grad((a + b).sum(), [x])
    return first, lib.autograd.grad(b.sum(), [w])


@program
def grad_unused(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([[3.0]])
    y = (x * x).sum()
    given = lib.autograd.grad(y, [x, w], allow_unused=True, retain_graph=True)
    zeros = lib.autograd.grad(y, [x, w], materialize_grads=True)
    return given[0], given[1] is None, zeros


@program
def grad_unused_raises(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0])
    return lib.autograd.grad((x * x).sum(), [x, w])


@program
def second_backward_raises(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    y.backward()


@program
def second_backward_without_saved_values(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = (x + x).sum()
    y.backward()
    y.backward()
    return x.grad


@program
def retain_graph(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@program
def non_scalar_raises(lib: Any) -> Any:
    (lib.make([1.0, 2.0]) * 2).backward()


@program
def one_element_is_scalar_enough(lib: Any) -> Any:
    x = lib.make([[2.0]])
    (x * x).backward()
    return x.grad


@program
def nothing_to_differentiate_raises(lib: Any) -> Any:
    (lib.make([1.0], False) * 2).backward()


@program
def wrong_gradient_shape_raises(lib: Any) -> Any:
    (lib.make([1.0, 2.0]) * 2).backward(lib.make([1.0, 2.0, 3.0], False))


@program
def third_derivative(lib: Any) -> Any:
    x = lib.make([0.5, 1.5])
    result, y = [], (x.sin() * x * x).exp().sum()
    for _ in range(3):
        (g,) = lib.autograd.grad(y, x, create_graph=True)
        result.append(g)
        y = (g * g).sum()
    y.backward()
    return result, x.grad


@program
def gradient_penalty(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([0.3, -0.7])
    y = (x * w).tanh().sum()
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    (y + (g * g).sum()).backward()
    return x.grad, w.grad


@program
def create_graph_through_backward(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    (x * x * x).sum().backward(create_graph=True)
    g = x.grad
    (second,) = lib.autograd.grad((g * g).sum(), x)
    return g, second, g.requires_grad


@program
def broadcasting_and_dtypes(lib: Any) -> Any:
    a, b, c = lib.make([[1.0], [2.0]]), lib.make([1.0, 2.0, 3.0], dtype=np.float32), lib.make(2.0)
    ((a * b + c) * a).sum().backward()
    return a.grad, b.grad, str(b.grad.dtype).rpartition(".")[2], c.grad


@program
def several_outputs(lib: Any) -> Any:
    x = lib.make([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]])
    a, b, c = x.unbind(1)
    (a * b).sum().backward(retain_graph=True)
    first = x.grad.clone()
    (c * c).sum().backward()
    return first, x.grad, a.grad_fn is b.grad_fn, (a.output_nr, b.output_nr)


@program
def values_and_indices(lib: Any) -> Any:
    x = lib.make([[1.0, 5.0], [7.0, 3.0]])
    values, indices = x.max(1)
    (values * values).sum().backward()
    return x.grad, indices, indices.requires_grad


# ---- hooks ---------------------------------------------------------------------------------------------------------------------------


@program
def tensor_hooks_in_order(lib: Any) -> Any:
    seen: list[Any] = []
    x = lib.make([1.0, 2.0])
    y = x * x
    y.register_hook(lambda g: seen.append(("y", g.clone())))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(("y again", g.clone())))
    x.register_hook(lambda g: seen.append(("x", g.clone())))
    x.register_hook(lambda g: g + 1)
    y.sin().sum().backward()
    return seen, x.grad


@program
def node_hooks_in_order(lib: Any) -> Any:
    seen: list[Any] = []
    x = lib.make([1.0, 2.0])
    y = x * x
    y.grad_fn.register_prehook(lambda out: seen.append(("pre", [g.clone() for g in out])))
    y.grad_fn.register_prehook(lambda out: (out[0] * 2,))
    y.grad_fn.register_hook(lambda inn, out: seen.append(("post", [g.clone() for g in inn], [g.clone() for g in out])))
    y.grad_fn.register_hook(lambda inn, out: (inn[0] * 0, inn[1] * 3))
    y.register_hook(lambda g: seen.append(("tensor", g.clone())))
    y.retain_grad()
    y.sum().backward()
    return seen, x.grad, y.grad


@program
def hooks_of_a_leafs_node(lib: Any) -> Any:
    seen: list[Any] = []
    x = lib.make([1.0, 2.0])
    node = (x * x).grad_fn.next_functions[0][0]
    node.register_prehook(lambda out: (out[0] * 2,))
    node.register_hook(lambda inn, out: seen.append(("post", len(inn), out[0].clone(), x.grad.clone())))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("accumulated", t.grad.clone(), t is x)))
    x.register_hook(lambda g: seen.append(("tensor", g.clone())))
    (x * x).sum().backward()
    return seen, x.grad


@program
def hooks_are_removed(lib: Any) -> Any:
    x = lib.make([1.0])
    y = x * 3
    handles = [
        x.register_hook(lambda g: g * 2),
        y.register_hook(lambda g: g * 5),
        y.grad_fn.register_hook(lambda inn, out: (inn[0] * 7, None)),
    ]
    y.backward(retain_graph=True)
    for h in handles:
        h.remove()
        h.remove()
    y.backward()
    return x.grad


@program
def hooks_when_grad_captures(lib: Any) -> Any:
    seen: list[str] = []
    x = lib.make([1.0, 2.0])
    y = x * x
    y.register_hook(lambda g: [seen.append("y"), g * 10][1])
    y.grad_fn.register_prehook(lambda out: seen.append("y pre"))
    y.grad_fn.register_hook(lambda inn, out: seen.append("y post"))
    x.register_hook(lambda g: [seen.append("x"), g * 100][1])
    x.register_post_accumulate_grad_hook(lambda t: seen.append("x accumulated"))
    z = y.sin().sum()
    first = lib.autograd.grad(z, y, retain_graph=True)
    after_first = list(seen)
    second = lib.autograd.grad(z, x)
    return first, after_first, second, seen, x.grad is None


@program
def a_hook_that_raises_disturbs_nothing(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * x
    handle = y.register_hook(lambda g: 1 / 0)
    try:
        y.sum().backward(retain_graph=True)
    except ZeroDivisionError:
        handle.remove()
    y.sum().backward()
    return x.grad


@program
def hooks_with_create_graph(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(g.sum(), x)
    return g, second


@program
def a_hook_of_wrong_shape_raises(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    (x * 2).sum().backward()
    x.register_hook(lambda g: g.sum())
    (x * 2).sum().backward()


@program
def retained_gradients_accumulate(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * x
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad.clone()
    y.sin().sum().backward(retain_graph=True)
    second = y.grad.clone()
    y.grad = None
    y.sum().backward()
    return first, second, y.grad, y.retains_grad, x.retains_grad


@program
def retain_grad_follows_an_in_place_write(lib: Any) -> Any:
    seen: list[Any] = []
    x = lib.make([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g.clone()))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(g.clone()))
    y.sin().sum().backward()
    return y.grad, seen, x.grad


@program
def post_accumulate_hook_may_step(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])

    def step(t: Any) -> None:
        with lib.no_grad():
            t.sub_(t.grad * 0.1)
        t.grad = None

    for t in (x, w):
        t.register_post_accumulate_grad_hook(step)
    (x * 2 + w * 3).sum().backward()
    return x, w, x.grad is None


@program
def multi_grad_hooks(lib: Any) -> Any:
    seen: list[Any] = []
    x, w, v = lib.make([1.0, 2.0]), lib.make([3.0, 4.0]), lib.make([5.0, 6.0])
    y = x * w
    handle = lib.autograd.graph.register_multi_grad_hook([x, y, v], lambda gs: seen.append(["all"] + [g is not None for g in gs]))
    lib.autograd.graph.register_multi_grad_hook([x, v], lambda g: seen.append(["any"]), mode="any")
    y.sum().backward(retain_graph=True)
    (y.sum() + v.sum()).backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return seen


# ---- in-place --------------------------------------------------------------------------------------------------------------------------


@program
def overwritten_saved_value_raises(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * 2
    z = y * y
    y.add_(1)
    z.sum().backward()


@program
def overwritten_accumulated_gradient_raises(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    (x * x).sum().backward()
    z = (x.grad * w).sum()
    (x * 5).sum().backward()
    z.backward()


@program
def increment_version_raises_later(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x.detach()
    z = x * lib.make([1.0, 1.0]) * y
    lib.autograd.graph.increment_version(y)
    z.sum().backward()


@program
def a_leaf_is_not_written(lib: Any) -> Any:
    lib.make([1.0, 2.0]).add_(1)


@program
def a_leaf_is_written_under_no_grad(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    with lib.no_grad():
        x.add_(1)
    (x * x).sum().backward()
    return x, x.grad


@program
def edges_in_place_of_tensors(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * x
    edges = [lib.autograd.graph.get_gradient_edge(t) for t in (x, y)]
    z = y.sin().sum()
    first = lib.autograd.grad(z, edges, retain_graph=True)
    z.backward(inputs=[edges[0]])
    return first, x.grad, edges[1].node.name(), edges[1].output_nr


@program
def setting_grad(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    x.grad = lib.make([5.0, 5.0], False)
    (x * x).sum().backward()
    return x.grad


@program
def requires_grad_switches(lib: Any) -> Any:
    x = lib.make([1.0, 2.0])
    y = x * 2
    with lib.no_grad():
        z = y * 2
    x.requires_grad_(False)
    w = x * 3
    return y.requires_grad, z.requires_grad, w.requires_grad, y.is_leaf, z.is_leaf, x.is_leaf, z.grad_fn is None


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_torch(name: str) -> None:
    result = both(PROGRAMS[name])
    assert isinstance(result, str) == (name.endswith(("raises", "raises_later")) or name == "a_leaf_is_not_written")


# ---- our own promises ----------------------------------------------------------------------------------------------------------------

lib = Ours()


def test_an_overwritten_value_names_both_lines() -> None:
    x = lib.make([1.0, 2.0])
    y = x * 2
    z = y * y  # saves
    y.add_(1)  # overwrites
    with pytest.raises(InplaceError) as caught:
        z.sum().backward()
    text = str(caught.value)
    assert "MulBackward0" in text
    assert "z = y * y  # saves" in text
    assert "y.add_(1)  # overwrites" in text
    assert caught.value.kind == "version"


REFUSED: tuple[tuple[Callable[[Any, Any, Any], Any], type[Exception]], ...] = (
    (lambda x, y, w: twofold.autograd.grad(y, []), ArgumentError),
    (lambda x, y, w: twofold.autograd.grad(y, ["x"]), ArgumentError),
    (lambda x, y, w: twofold.autograd.grad([y, y], x, [None]), ArgumentError),
    (lambda x, y, w: twofold.autograd.grad(y, x.detach()), AutogradError),
    (lambda x, y, w: twofold.autograd.grad(y, w), AutogradError),
    (lambda x, y, w: y.backward(inputs=[]), AutogradError),
    (lambda x, y, w: y.backward("x"), ArgumentError),
    (lambda x, y, w: y.backward(lib.make([1.0], False)), ShapeError),
    (lambda x, y, w: y.backward(lib.make(1, False, np.int64)), DTypeError),
    (lambda x, y, w: x.detach().register_hook(print), AutogradError),
    (lambda x, y, w: y.register_post_accumulate_grad_hook(print), AutogradError),
    (lambda x, y, w: x.detach().retain_grad(), AutogradError),
    (lambda x, y, w: setattr(x, "grad", lib.make([1.0], False)), ShapeError),
)


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals_change_nothing(number: int) -> None:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0])
    y = (x * x).sum()
    call, error = REFUSED[number]
    with pytest.raises(error):
        call(x, y, w)
    assert x.grad is None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "hook, error",
    [(lambda g: 3, ArgumentError), (lambda g: g.float(), DTypeError), (lambda g: g.sum(), ShapeError)],
)
def test_what_hooks_may_return(hook: Any, error: type[Exception]) -> None:
    for place in ("tensor", "pre", "post"):
        x = lib.make([1.0, 2.0])
        y = x * x
        if place == "tensor":
            y.register_hook(hook)
        elif place == "pre":
            y.grad_fn.register_prehook(lambda out: (hook(out[0]),))
        else:
            y.grad_fn.register_hook(lambda inn, out: (hook(inn[0]), inn[1]))
        with pytest.raises(error, match="hook"):
            y.sum().backward()
    y = x * x
    y.grad_fn.register_hook(lambda inn, out: inn[:1])
    with pytest.raises(AutogradError, match="1 gradients in place of 2"):
        y.sum().backward()


def test_what_hooks_keep_is_theirs() -> None:
    """A gradient that a hook keeps is not the array a leaf goes on adding to."""
    kept = []
    x = lib.make([1.0, 2.0])
    y = x * 2
    y.grad_fn.register_hook(lambda inn, out: kept.extend(inn))
    x.register_hook(lambda g: kept.append(g))
    y.sum().backward()
    before = [k.tolist() for k in kept if k is not None]
    (x * 100).sum().backward()
    assert [k.tolist() for k in kept[:-1] if k is not None] == before[: len(kept) - 1]


def test_gradients_of_leaves_share_no_memory() -> None:
    x, w, v = (lib.make([1.0, 2.0]) for _ in range(3))
    g = lib.make([1.0, 1.0], False)
    (x + w + v.reshape(1, 2)).backward(g.reshape(1, 2))
    arrays = [t.grad.numpy() for t in (x, w, v)] + [g.numpy()]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_the_graph_can_be_walked_after_backward() -> None:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    z = (x * w).sin().sum()
    z.backward()
    names, node = [], z.grad_fn
    while node is not None:
        names.append(node.name())
        following = node.next_functions
        node = following[0][0] if following else None
    assert names == ["SumBackward0", "SinBackward0", "MulBackward0", "AccumulateGrad"]
    mul = z.grad_fn.next_functions[0][0].next_functions[0][0]
    assert [n.variable is t for (n, _), t in zip(mul.next_functions, (x, w), strict=True)] == [True, True]
    assert isinstance(mul, twofold.autograd.graph.Node)
    assert isinstance(mul.next_functions[0][0], twofold.autograd.graph.Node)
    assert repr(mul).startswith("<MulBackward0 object at 0x")
    with pytest.raises(AutogradError, match="second time"):
        mul._saved_self


def test_saved_values_before_backward() -> None:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    node = (x * w).grad_fn
    assert node._saved_self.tolist() == [1.0, 2.0]
    assert node._saved_other.tolist() == [3.0, 4.0]
    assert x.sin().exp().grad_fn._saved_result.grad_fn.name() == "ExpBackward0"
    assert x.sum(0).grad_fn._saved_dim in (0, (0,))
    with pytest.raises(AttributeError, match="_saved_nothing"):
        node._saved_nothing
    node.metadata["mine"] = 1
    assert node.metadata == {"mine": 1}


def test_concurrent_backward() -> None:
    """Twenty threads differentiate graphs over the same leaves; no addition is lost."""
    w = lib.make(np.ones(20_000))
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                (w * 2).sum().backward()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    assert (w.grad.numpy() == 400.0).all()


def test_one_graph_in_several_threads() -> None:
    x = lib.make(np.linspace(0, 1, 1000))
    y = (x.sin() * x).sum()
    threads = [threading.Thread(target=lambda: y.backward(retain_graph=True)) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    a = np.linspace(0, 1, 1000)
    np.testing.assert_allclose(x.grad.numpy(), 8 * (np.sin(a) + a * np.cos(a)))


def test_backward_inside_backward() -> None:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    y = x * x

    def inner(g: Any) -> Any:
        with twofold.enable_grad():
            (w * w).sum().backward()
        return g

    y.register_hook(inner)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert w.grad.tolist() == [6.0, 8.0]


def test_graphs_go_at_once() -> None:
    gc.collect()
    gc.disable()
    try:
        watched = []
        for step in range(5):
            x = lib.make([1.0, 2.0])
            y = (x * x).sin()
            y.retain_grad()
            y.register_hook(lambda g: g * 2)
            watched += [weakref.ref(y.grad_fn), weakref.ref(x), weakref.ref(y)]
            if step:
                y.sum().backward(create_graph=step == 2)
            if step == 2:
                x.grad = y.grad = None
            del x, y
        assert [w() for w in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_a_long_chain_needs_no_recursion() -> None:
    x = lib.make([1.0])
    y = x
    for _ in range(20_000):
        y = y * 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]
    z = x
    for _ in range(2_000):
        z = z * 1.0
    (g,) = twofold.autograd.grad(z, x, create_graph=True)
    assert g.tolist() == [1.0]


def test_the_documents_first_example(capsys: pytest.CaptureFixture[str]) -> None:
    x1, x2 = lib.make(2.0, dtype=np.float32), lib.make(3.0, dtype=np.float32)
    a = x1 * x2
    y1, y2 = twofold.log(a), twofold.sin(x2)
    w = y1 * y2
    for t in (a, y1, y2, w):
        t.retain_grad()
    w.backward()
    found = [w.item(), *(t.grad.item() for t in (w, y1, y2, a, x1, x2))]
    assert found == [
        0.2528530955314636, 1.0, 0.14112000167369843, 1.7917594909667969, 0.023520000278949738, 0.07056000083684921, -1.7267885208129883,
    ]  # fmt: skip
    twofold.show_graph(w.grad_fn)
    lines = capsys.readouterr().out.splitlines()
    assert [(len(line) - len(line.lstrip()), line.split()[0].removeprefix("<")) for line in lines] == [
        (1, "MulBackward0"), (3, "LogBackward0"), (5, "MulBackward0"), (7, "AccumulateGrad"), (7, "AccumulateGrad"), (3, "SinBackward0"),
        (5, "AccumulateGrad"),
    ]  # fmt: skip


def test_hooks_of_a_captured_tensor_change_what_is_captured() -> None:
    """PyTorch shows the hook's result only if the node itself need not run; here always."""
    x = lib.make([1.0, 2.0])
    y = x * x
    y.register_hook(lambda g: g * 10)
    assert twofold.autograd.grad(y.sum(), [x, y])[1].tolist() == [10.0, 10.0]
