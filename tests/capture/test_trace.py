"""`trace`: what is recorded, what is refused, and that the graph does what the function does."""

from __future__ import annotations

import dataclasses
from collections import namedtuple

import numpy as np
import pytest

import twofold
from twofold import nn
from twofold.errors import ArgumentError, GraphError, GuardError, InplaceError, TraceError, UnsupportedError


def names(graph_module):
    return [node.op.name for node in graph_module.graph.nodes]


def same(a, b):
    assert twofold.equal(a, b), (a, b)


# ---- values and structure ------------------------------------------------------------------------------------------------------


def test_a_function_and_its_graph_agree_and_gradients_flow():
    w = twofold.randn(3, requires_grad=True)

    def f(x):
        return (x * w).tanh().sum()

    x = twofold.randn(2, 3)
    graph = twofold.trace(f, x)
    same(graph(x), f(x))
    (a,) = twofold.autograd.grad(graph(x), w)
    (b,) = twofold.autograd.grad(f(x), w)
    same(a, b)
    assert list(graph.bindings) == ["w"]


def test_bindings_are_by_reference():
    w = twofold.ones(3)
    graph = twofold.trace(lambda x: x * w, (twofold.ones(3),))
    w.fill_(5.0)
    same(graph(twofold.ones(3)), twofold.full((3,), 5.0))


Pair = namedtuple("Pair", "first second")


@dataclasses.dataclass
class Both:
    left: twofold.Tensor
    right: object


@pytest.mark.parametrize(
    "make, read",
    [
        (lambda y: {"y": y, "n": None, "k": 3}, lambda r: r["y"]),
        (lambda y: (y, [y + 1, None]), lambda r: r[0]),
        (lambda y: Pair(y, 2), lambda r: r.first),
        (lambda y: Both(y, "text"), lambda r: r.left),
        (lambda y: [y], lambda r: r[0]),
        (lambda y: y, lambda r: r),
    ],
)
def test_results_keep_their_structure(make, read):
    x = twofold.randn(3)
    graph = twofold.trace(lambda x: make(x * 2), (x,))
    result = graph(x)
    assert type(result) is type(make(x))
    same(read(result), x * 2)


def test_arguments_may_be_nested_and_named():
    def f(batch, scale=2.0, *, extra=None):
        return batch["a"] * scale + batch["b"][0] + (0 if extra is None else extra)

    x, y, z = twofold.randn(3), twofold.randn(3), twofold.randn(3)
    graph = twofold.trace(f, ({"a": x, "b": [y]}, 3.0))
    same(graph({"a": x, "b": [y]}, 3.0), f({"a": x, "b": [y]}, 3.0))
    with pytest.raises(GuardError, match="argument leaf"):
        graph({"a": x, "b": [y]}, 4.0)
    with pytest.raises(GuardError, match="recorded for arguments"):
        graph({"a": x}, 3.0)
    keyword = twofold.trace(f, {"batch": {"a": x, "b": [y]}, "extra": z})
    same(keyword(batch={"a": x, "b": [y]}, extra=z), f({"a": x, "b": [y]}, extra=z))


def test_nodes_carry_the_users_line_and_module():
    class Inner(nn.Module):
        def forward(self, x):
            return x.exp()  # the line

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)

    (node,) = twofold.trace(Outer(), (twofold.ones(2),)).graph.nodes
    assert node.source.text == "return x.exp()  # the line"
    assert node.source.module == "inner"
    assert node.source.spelling == "method"


def test_the_table_names_things_as_fx_does(capsys):
    def f(a, b):
        x = a / (twofold.abs(a) + 1)
        return b.sum() < 0, x

    twofold.trace(f, (twofold.ones(3), twofold.ones(3))).print_tabular()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [r[:3] for r in rows] == [
        ["placeholder", "a", "a"],
        ["placeholder", "b", "b"],
        ["call_function", "abs_1", "abs"],
        ["call_function", "add", "add"],
        ["call_function", "div", "div"],
        ["call_method", "sum_1", "sum"],
        ["call_function", "lt", "lt"],
        ["output", "output", "output"],
    ]


# ---- refusals ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "what, function",
    [
        ("bool()", lambda x: x if x.sum() > 0 else -x),
        ("int()", lambda x: x * int(x.sum())),
        ("float()", lambda x: x * float(x.sum())),
        ("item()", lambda x: x * x.sum().item()),
        ("tolist()", lambda x: x.tolist()),
        ("numpy()", lambda x: x.numpy().sum()),
        ("an index", lambda x: [1, 2, 3][x.sum().to(twofold.int64)]),
        ("bool()", lambda x: 1.0 in x),
    ],
)
def test_python_that_needs_a_value_is_refused(what, function):
    x = twofold.ones(3)
    with pytest.raises(TraceError) as caught:
        twofold.trace(function, (x,))
    message = str(caught.value)
    assert message.startswith(what)
    assert "test_trace.py" in message
    assert "twofold.cond" in message
    assert isinstance(caught.value, twofold.errors.TwofoldError)
    same(x, twofold.ones(3))


def test_boolean_masks_are_refused_with_a_way_out():
    with pytest.raises((TraceError, UnsupportedError), match=r"where|masked_fill"):
        twofold.trace(lambda x: x[x > 0], (twofold.ones(3),))


def test_specialize_takes_the_examples_value_and_says_so(capsys):
    def f(x):
        print(x.sum())
        return x * 2 if x.sum() > 0 else x

    x = twofold.ones(3)
    with pytest.warns(UserWarning, match="bool\\(\\) of gt"):
        graph = twofold.trace(f, (x,), specialize=True)
    assert "tensor(3.)" in capsys.readouterr().out
    assert names(graph) == ["mul"]


def test_repr_of_a_symbol_never_raises():
    seen = []

    def f(x):
        y = x * 2
        seen.append((repr(y), str(y), f"{y}"))
        return y

    twofold.trace(f, (twofold.ones(3),), check=False)
    for text in seen[0]:
        assert "mul" in text
        assert "f32[3]" in text


def test_check_finds_what_the_graph_does_not_hold():
    calls = []

    def f(x):
        calls.append(1)
        return x * len(calls)

    with pytest.raises(TraceError, match="output 0 of the graph differs"):
        twofold.trace(f, (twofold.ones(3),))
    assert twofold.trace(f, (twofold.ones(3),), check=False) is not None


def test_check_restores_every_state():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", twofold.zeros(()))

        def forward(self, x):
            self.n += 1
            return x + twofold.randn(3) * self.n

    model, x = Counter(), twofold.ones(3)
    twofold.manual_seed(3)
    before = twofold.get_rng_state()
    twofold.trace(model, (x,))
    assert model.n.item() == 0
    assert twofold.equal(before, twofold.get_rng_state())
    same(x, twofold.ones(3))


@pytest.mark.parametrize("bad", [3, "text", None])
def test_only_callables_are_traced(bad):
    with pytest.raises(ArgumentError):
        twofold.trace(bad, (twofold.ones(3),))


def test_symbols_of_two_graphs_do_not_mix():
    kept = []
    twofold.trace(lambda x: kept.append(x) or x, (twofold.ones(3),), check=False)
    with pytest.raises(GraphError, match="belongs to graph"):
        twofold.trace(lambda x: x + kept[0], (twofold.ones(3),))


def test_trace_inside_trace_is_refused():
    def f(x):
        return twofold.trace(lambda y: y, (twofold.ones(1),))(x)

    with pytest.raises(TraceError, match="trace inside"):
        twofold.trace(f, (twofold.ones(3),))


# ---- guards --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argument, text",
    [
        (lambda: twofold.ones(4), "dimension 0 was 3"),
        (lambda: twofold.ones(3, 1), "dimension"),
        (lambda: twofold.ones(3, dtype=twofold.float64), "f64"),
        (lambda: twofold.ones(3, requires_grad=True), "requires_grad"),
    ],
)
def test_other_arguments_than_recorded_are_refused(argument, text):
    graph = twofold.trace(lambda x: x * 2, (twofold.ones(3),))
    with pytest.raises(GuardError, match=text):
        graph(argument())


def test_inputs_that_share_memory_otherwise_are_refused():
    def f(x, y):
        x.add_(1)
        return y * 2

    graph = twofold.trace(f, (twofold.ones(3), twofold.ones(3)))
    t = twofold.ones(3)
    with pytest.raises(GuardError, match="shares memory"):
        graph(t, t)


def test_inputs_that_share_memory_through_detach_and_are_written():
    t = twofold.ones(3)
    with pytest.raises(InplaceError) as caught:
        twofold.trace(lambda x, y: x.add_(1) + y, (t, t.detach()))
    assert caught.value.kind == "input_alias"


# ---- dynamic shapes ------------------------------------------------------------------------------------------------------------


def test_dynamic_batch():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))
    graph = twofold.trace(model, (twofold.randn(2, 4),), dynamic_shapes={"input": {0: "batch"}})
    for n in (0, 1, 2, 7):
        x = twofold.randn(n, 4)
        assert twofold.allclose(graph(x), model(x))


def test_dynamic_dimensions_are_checked():
    batch = twofold.Dim("batch", min=2, max=8)
    graph = twofold.trace(lambda x, y: x + y, (twofold.ones(3), twofold.ones(3)), dynamic_shapes=({0: batch}, {0: batch}))
    same(graph(twofold.ones(5), twofold.ones(5)), twofold.full((5,), 2.0))
    with pytest.raises(GuardError, match="bounds"):
        graph(twofold.ones(1), twofold.ones(1))
    with pytest.raises(GuardError, match="batch"):
        graph(twofold.ones(4), twofold.ones(5))
    with pytest.raises(ArgumentError, match="no tensor argument"):
        twofold.trace(lambda x: x, (twofold.ones(3),), dynamic_shapes={"z": {0: "n"}})


def test_a_branch_on_a_dynamic_size_is_refused():
    with pytest.raises(TraceError, match="batch"):
        twofold.trace(lambda x: x * 2 if x.shape[0] > 3 else x, (twofold.ones(3),), dynamic_shapes={"x": {0: "batch"}})


def test_shapes_computed_from_dynamic_sizes():
    def f(x):
        n, c, h, w = x.shape
        return x.reshape(n, c * h * w).mean(1) * n

    graph = twofold.trace(f, (twofold.randn(2, 3, 4, 4),), dynamic_shapes={"x": {0: "n", 2: "h"}})
    for n, h in ((2, 4), (1, 1), (5, 6)):
        x = twofold.randn(n, 3, h, 4)
        assert twofold.allclose(graph(x), f(x), rtol=1e-5)


@pytest.mark.parametrize(
    "view",
    [lambda x: x.flatten(), lambda x: x.narrow(0, 0, x.shape[0] - 1), lambda x: x[x.shape[0] - 1], lambda x: x.view(x.shape[0] * 2)],
)
def test_returned_views_of_inputs_have_the_calls_sizes(view):
    graph = twofold.trace(view, (twofold.randn(3, 2),), dynamic_shapes={"x": {0: "n"}})
    for n in (3, 5):
        x = twofold.randn(n, 2)
        y = graph(x)
        same(y, view(x))
        y.fill_(0)
        assert (view(x) == 0).all()


def test_squeeze_of_a_dimension_that_may_be_one_is_refused():
    dynamic = {"a": {0: "n"}}
    with pytest.raises(twofold.errors.ShapeError, match="symbolic dimension 0"):
        twofold.trace(lambda a: a.squeeze(), (twofold.ones(4, 3),), dynamic_shapes=dynamic)
    graph = twofold.trace(lambda a: a.squeeze(1), (twofold.ones(4, 1),), dynamic_shapes=dynamic)
    assert graph(twofold.ones(1, 1)).shape == (1,)


@pytest.mark.parametrize(
    "f", [lambda n, a: n * a, lambda n, a: n + a, lambda n, a: n - a, lambda n, a: a / n, lambda n, a: n / a, lambda n, a: a * n**2]
)
def test_symbolic_sizes_on_either_side(f):
    graph = twofold.trace(lambda a: f(a.shape[0], a), (twofold.ones(3) * 2,), dynamic_shapes={"a": {0: "n"}})
    x = twofold.ones(5) * 2
    same(graph(x), f(5, x))


# ---- state, randomness, control flow ---------------------------------------------------------------------------------------------


def test_batch_norm_updates_its_buffers_through_the_graph():
    eager, traced = nn.BatchNorm2d(3), nn.BatchNorm2d(3)
    x = twofold.randn(4, 3, 5, 5)
    graph = twofold.trace(traced, (x,))
    for _ in range(3):
        assert twofold.allclose(graph(x), eager(x), atol=1e-6)
    for key, value in eager.state_dict().items():
        assert twofold.allclose(traced.state_dict()[key].to(twofold.float32), value.to(twofold.float32), atol=1e-6), key


def test_attributes_assigned_in_forward_become_writes():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", twofold.zeros(()))

        def forward(self, x):
            self.n = self.n + 1
            return x * self.n

    model, x = Counter(), twofold.ones(2)
    graph = twofold.trace(model, (x,))
    assert isinstance(model.n, twofold.Tensor)
    same(graph(x), x)
    same(graph(x), x * 2)
    assert model.n.item() == 2


def test_random_numbers_are_drawn_anew_and_are_those_of_eager():
    def f(x):
        return x + twofold.randn(3) + nn.functional.dropout(x, 0.5, training=True)

    x = twofold.ones(3)
    graph = twofold.trace(f, (x,))
    twofold.manual_seed(11)
    expected = [f(x) for _ in range(3)]
    twofold.manual_seed(11)
    got = [graph(x) for _ in range(3)]
    for a, b in zip(expected, got, strict=True):
        same(a, b)
    assert not twofold.equal(got[0], got[1])
    assert "generator.state" in graph.bindings


def test_creation_inside_is_a_node():
    graph = twofold.trace(lambda x: x + twofold.ones(3) * twofold.tensor([1.0, 2.0, 3.0]), (twofold.ones(3),))
    same(graph(twofold.zeros(3)), twofold.tensor([1.0, 2.0, 3.0]))
    assert not graph.bindings


def test_cond_and_while_loop():
    def f(x):
        y = twofold.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
        (z, _i) = twofold.while_loop(lambda z, i: i < 3, lambda z, i: (z * 1.5, i + 1), (y, twofold.zeros((), dtype=twofold.int64)))
        return z

    x = twofold.ones(3, requires_grad=True)
    graph = twofold.trace(f, (x,))
    assert {"cond", "while_loop"} <= set(names(graph))
    for value in (1.0, -1.0):
        t = twofold.full((3,), value, requires_grad=True)
        same(graph(t), f(t))
        (a,) = twofold.autograd.grad(graph(t).sum(), t)
        (b,) = twofold.autograd.grad(f(t).sum(), t)
        same(a, b)


def test_writes_inside_a_body_are_refused():
    def f(x):
        y = x * 1
        return twofold.cond(x.sum() > 0, lambda x: y.add_(1), lambda x: y, (x,))

    with pytest.raises(UnsupportedError, match="written inside"):
        twofold.trace(f, (twofold.ones(3),))


def test_a_graph_called_while_recording_is_written_out():
    inner = twofold.trace(lambda x: x.exp() * 2, (twofold.ones(3),))
    outer = twofold.trace(lambda x: inner(x) + 1, (twofold.ones(3),))
    assert names(outer) == ["exp", "mul", "add"]
    same(outer(twofold.zeros(3)), twofold.full((3,), 3.0))


def test_state_dict_and_train_of_a_graph_module():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    graph = twofold.trace(model, (twofold.randn(4, 2),))
    assert set(graph.state_dict()) <= set(model.state_dict())
    assert "0.weight" in graph.state_dict()
    assert [id(p) for p in graph.parameters()] == [id(p) for p in model.parameters()]


def test_ten_thousand_nodes_trace_and_run():
    def f(x):
        for _ in range(5000):
            x = x * 1.0 + 0.0
        return x

    graph = twofold.trace(f, (twofold.ones(2),), check=False)
    assert len(graph.graph.nodes) == 10000
    same(graph(twofold.ones(2)), twofold.ones(2))


def test_graph_text_reads_back_equal():
    from twofold.ir.graph import same_graph
    from twofold.ir.parser import parse_graph

    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3), nn.LogSoftmax(1))
    graph = twofold.trace(model, (twofold.randn(2, 1, 8, 8),)).graph
    assert same_graph(parse_graph(str(graph)), graph)


def test_numpy_interpreter_gives_the_same():
    from twofold.ir.interpreter import Interpreter

    model = nn.Linear(3, 2)
    x = twofold.randn(4, 3)
    graph = twofold.trace(model, (x,))
    bindings = {path: t.detach().numpy() for path, t in graph.bindings.items()}
    (out,) = Interpreter(graph.graph).run(x.numpy(), bindings=bindings)
    np.testing.assert_array_equal(out, model(x).detach().numpy())


def test_arguments_by_name_and_in_another_order():
    graph = twofold.trace(lambda a, b: a - b, (twofold.ones(2), twofold.zeros(2)))
    same(graph(b=twofold.ones(2), a=twofold.zeros(2)), twofold.full((2,), -1.0))
    nested = twofold.trace(lambda d: d["x"] - d["y"], ({"x": twofold.ones(2), "y": twofold.zeros(2)},))
    same(nested({"y": twofold.ones(2), "x": twofold.zeros(2)}), twofold.full((2,), -1.0))


def test_a_symbol_kept_after_the_recording_writes_nothing():
    kept = []
    graph = twofold.trace(lambda x: kept.append(x) or x * 2, (twofold.ones(2),), check=False)
    before = str(graph.graph)
    with pytest.raises(GraphError, match="has ended"):
        kept[0] + 1
    assert str(graph.graph) == before


def test_copies_and_pickles():
    import copy
    import pickle

    w = twofold.ones(2)
    graph = twofold.trace(lambda x: x * w, (twofold.ones(2),))
    copied = copy.deepcopy(graph)
    w.fill_(3.0)
    same(copied(twofold.ones(2)), twofold.ones(2))
    same(graph(twofold.ones(2)), twofold.full((2,), 3.0))
    with pytest.raises(UnsupportedError, match="pickled"):
        pickle.dumps(graph)


def test_arrays_are_no_examples():
    with pytest.raises(ArgumentError, match="from_numpy"):
        twofold.trace(lambda x: x * 2, (np.ones(2),))
    with pytest.raises(ArgumentError, match="dynamic_shapes"):
        twofold.trace(lambda x: x * 2, (twofold.ones(2),), dynamic_shapes=3)


RUNNABLE = {
    "a net": (
        lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3)).eval(),
        lambda: (twofold.randn(2, 1, 8, 8),),
    ),
    "views and writes": (lambda: _writes, lambda: (twofold.randn(4, 3),)),
    "constants, infinities, dtypes": (
        lambda: lambda x: (twofold.nan_to_num(x / 0, posinf=float("inf")) + twofold.tensor([1.0, 2.0])).to(twofold.float64),
        lambda: (twofold.randn(2),),
    ),
    "lists and several outputs": (lambda: lambda x: twofold.cat([*x.split(2), x.max(0)[0][None]]), lambda: (twofold.randn(5, 3),)),
    "control flow": (
        lambda: (
            lambda x: twofold.while_loop(
                lambda y: y.sum() < 100, lambda y: (twofold.cond(y.sum() > 10, lambda z: z * 2, lambda z: z + 1, (y,)),), (x.abs(),)
            )[0]
        ),
        lambda: (twofold.ones(3),),
    ),
    "random numbers": (lambda: lambda x: nn.functional.dropout(x, 0.5, training=True) + twofold.randn(3), lambda: (twofold.ones(3),)),
}


def _writes(x):
    y = x * 2
    y[1:, 0] = 5.0
    y.t()[2].mul_(y[:, 1])
    return y


@pytest.mark.parametrize("name", RUNNABLE)
def test_the_code_of_a_graph_runs(name):
    make, examples = RUNNABLE[name]
    x = examples()
    graph = twofold.trace(make(), x)
    space = {"twofold": twofold}
    exec(graph.code, space)
    state = twofold.get_rng_state()
    outputs = space["forward"](graph, *x)
    twofold.set_rng_state(state)
    same(outputs[0], graph(*x))


def test_the_code_of_a_graph_with_symbolic_sizes_runs():
    graph = twofold.trace(lambda x: x.reshape(x.shape[0] * 2).sum(), (twofold.ones(3, 2),), dynamic_shapes={"x": {0: "n"}})
    space = {"twofold": twofold}
    exec(graph.code, space)
    same(space["forward"](graph, twofold.ones(5, 2))[0], twofold.tensor(10.0))


@pytest.mark.parametrize(
    "function",
    [
        lambda q: twofold.cond(q.sum() > 0, lambda b: (b.mul_(3), b * 1)[1], lambda b: b * 1, (q,)),
        lambda q: twofold.while_loop(lambda b: b.sum() < 10, lambda b: (b.mul_(3) + 0,), (q,))[0],
    ],
)
def test_writing_the_operand_of_a_body_is_refused(function):
    with pytest.raises(UnsupportedError, match="written inside"):
        twofold.trace(lambda x: function(x * 2), (twofold.ones(2),), check=False)


def test_a_symbol_of_a_failed_trace_writes_nothing():
    kept = []
    with pytest.raises(ZeroDivisionError):
        twofold.trace(lambda x: kept.append(x) or 1 / 0, (twofold.ones(2),))
    with pytest.raises(GraphError, match="has ended"):
        twofold.ones(2) + kept[0]


def test_slices_with_symbolic_bounds_of_either_sign() -> None:
    """Lengths of `-k:` and its like hold for every size, 0 included."""

    def f(x, y):
        n = y.shape[0]
        return x[:, -n:], x[:, :-n], x[:, n:], x[:, :n], x[:, 1:-n], x[:, -n - 1 :]

    graph_module = twofold.trace(f, (twofold.ones(4, 6), twofold.ones(2)), dynamic_shapes={"x": {1: "m"}, "y": {0: "n"}})
    lengths = [v.type.shape[1] for v in graph_module.graph.outputs]
    for m in (0, 1, 2, 6, 7):
        for n in (0, 1, 2, 6, 9):
            expected = [t.shape[1] for t in f(twofold.ones(4, m), twofold.ones(n))]
            assert [d if type(d) is int else d.evaluate({"m": m, "n": n}) for d in lengths] == expected, (m, n)
            assert [t.shape[1] for t in graph_module(twofold.ones(4, m), twofold.ones(n))] == expected, (m, n)


@pytest.mark.parametrize("bits", [np.array([0x7D01, 0x7BFF], np.uint16), np.array([0x7F800001, 0x7F7FFFFF], np.uint32)])
def test_the_check_is_silent_about_signalling_nan_and_large_values(bits) -> None:
    """Warnings are errors in these tests: converting a signalling NaN, and perturbing the largest number, must give none."""
    x = twofold.from_numpy(bits.view(f"f{bits.itemsize}"))
    graph_module = twofold.trace(lambda x: (x * 1, twofold.nan_to_num(x)), (x,))
    assert bool(twofold.isnan(graph_module(x)[0][0]))
    narrow = twofold.tensor(np.array([0x7F81, 0x7F7F], np.uint16)).view(twofold.bfloat16)
    assert bool(twofold.isnan(twofold.trace(lambda x: x * 1, (narrow,))(narrow)[0]))


CONTIGUOUS = {
    "transposed": lambda x: x.transpose(0, 1).contiguous().view(-1),
    "heads": lambda x: x.reshape(4, 2, 4).transpose(1, 2).contiguous().view(2, 16),
    "narrowed": lambda x: x.narrow(1, 2, 6).contiguous().view(6, 4),
    "expanded": lambda x: x[:1].expand(4, 8).contiguous().view(-1),
    "whether it is": lambda x: x * (1.0 if x.is_contiguous() else 2.0) + (1.0 if x.t().is_contiguous() else 4.0),
    "written afterwards": lambda x: (x.t().contiguous().mul_(3.0), x * 1),
    "already so, and written": lambda x: ((y := x * 1).contiguous().mul_(3.0), y),
    "a row, and written": lambda x: ((y := x * 1)[1:3].contiguous().mul_(3.0), y),
}


ANY_SIZE = ("transposed", "whether it is", "written afterwards", "already so, and written")


@pytest.mark.parametrize("name,dynamic", [*((name, False) for name in CONTIGUOUS), *((name, True) for name in ANY_SIZE)])
def test_contiguous_copies_where_it_does_eagerly(name, dynamic) -> None:
    f = CONTIGUOUS[name]
    graph_module = twofold.trace(f, (twofold.ones(4, 8),), dynamic_shapes={"x": {0: "n"}} if dynamic else None)
    for n in (4, 6) if dynamic else (4,):
        x, y = (twofold.arange(8.0 * n).reshape(n, 8) for _ in range(2))
        got, expected = graph_module(x), f(y)
        for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, expected)), strict=True):
            same(a, b)
        same(x, y)
