"""Examples of the second document: Z = ReLU(XY), log(x*y) drawn, and a branch that gives two different backward graphs."""

from __future__ import annotations

import shutil

import pytest

import twofold
from twofold.viz import make_dot, show_graph

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's dot is not installed")


def test_relu_of_a_product_as_a_static_graph():
    def f(X, Y):
        Z = twofold.relu(X @ Y)
        return Z

    graph = twofold.trace(f, (twofold.ones(2, 3), twofold.ones(3, 2))).graph

    assert [node.op.name for node in graph.nodes] == ["mm", "relu"]
    source = graph.to_dot(style="bipartite").source
    for label in ("X", "Y", "mm", "relu"):
        assert label in source
    assert graph.to_dot(style="edges").source != source


class MyModel(twofold.nn.Module):
    def forward(self, x, y):
        return twofold.log(x * y)


@needs_dot
@pytest.mark.parametrize("format, magic", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_log_of_a_product_drawn(tmp_path, monkeypatch, format, magic):
    monkeypatch.chdir(tmp_path)
    model = MyModel()
    x = twofold.rand(5, requires_grad=True)
    y = twofold.rand(5, requires_grad=True)
    w = model(x, y)

    dot = make_dot(w, params=dict(model.named_parameters()), show_attrs=True)
    dot.render("mymodel", format=format)

    assert (tmp_path / f"mymodel.{format}").read_bytes().startswith(magic)
    assert "LogBackward0" in dot.source
    assert "MulBackward0" in dot.source


class MyCondModel(twofold.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = twofold.nn.Linear(10, 20)
        self.fc2 = twofold.nn.Linear(20, 20)
        self.relu = twofold.nn.ReLU()

    def forward(self, x):
        print(x.mean())
        if x.mean() > 0:
            return self.relu(self.fc1(x))
        else:
            return self.relu(self.fc2(self.fc1(x)))


def backward_names(node, capsys):
    show_graph(node)
    return [line.split("<")[1].split()[0] for line in capsys.readouterr().out.splitlines()]


def test_a_branch_outside_the_graph_gives_two_backward_graphs(capsys):
    model = MyCondModel()
    x1 = twofold.ones([2, 10])
    x2 = -1 * twofold.ones([2, 10])

    y1, y2 = model(x1), model(x2)
    assert capsys.readouterr().out == "tensor(1.)\ntensor(-1.)\n"

    one, two = backward_names(y1.grad_fn, capsys), backward_names(y2.grad_fn, capsys)
    assert one.count("AddmmBackward0") == 1
    assert two.count("AddmmBackward0") == 2
    assert one[0] == two[0] == "ReluBackward0"
    assert make_dot(y1, params=dict(model.named_parameters())).source != make_dot(y2, params=dict(model.named_parameters())).source


def test_trace_refuses_the_branch_and_says_where(capsys):
    with pytest.raises(twofold.errors.TraceError, match=r"bool\(\) needs the value") as caught:
        twofold.trace(MyCondModel(), (twofold.ones([2, 10]),))
    assert "test_graphs_explored.py" in str(caught.value)
    assert "if x.mean() > 0" in str(caught.value)
    assert "specialize=True" in str(caught.value)


def test_trace_with_specialize_records_one_branch_and_says_so(capsys):
    model = MyCondModel()
    with pytest.warns(UserWarning, match="was taken from the example inputs"):
        traced = twofold.trace(model, (twofold.ones([2, 10]),), specialize=True)

    assert "tensor(1.)" in capsys.readouterr().out
    names = [node.op.name for node in traced.graph.nodes]
    assert names.count("linear") == 1
    assert "relu" in names
    x1 = twofold.ones([2, 10])
    assert twofold.equal(traced(x1), model(x1))


def test_cond_holds_both_branches():
    model = MyCondModel()

    def forward(x):
        positive = lambda x: model.relu(model.fc1(x))
        negative = lambda x: model.relu(model.fc2(model.fc1(x)))
        return twofold.cond(x.mean() > 0, positive, negative, (x,))

    graph = twofold.trace(forward, (twofold.ones([2, 10]),))
    for x in (twofold.ones([2, 10]), -1 * twofold.ones([2, 10])):
        expected = model(x)
        assert twofold.allclose(graph(x), expected)
    (node,) = [n for n in graph.graph.nodes if n.op.name == "cond"]
    assert len(node.regions) == 2
