"""Drawings of static graphs."""

from __future__ import annotations

import pytest

from tests.viz.graphs import MUL, RELU, branches, enter, f32, long_chain, mixture, put, relu_of_product
from twofold.ir.graph import Graph, Source, Value, same_graph
from twofold.support.errors import ArgumentError, GraphError
from twofold.viz import graph_to_dot


@pytest.mark.parametrize("style", ["edges", "bipartite"])
@pytest.mark.parametrize("make", [relu_of_product, branches, mixture])
def test_golden(make, style: str, golden) -> None:
    text = graph_to_dot(make(), style, title=make.__name__).source
    golden(f"{make.__name__}_{style}.dot", text)
    assert graph_to_dot(make(), style, title=make.__name__).source == text


@pytest.mark.parametrize("style", ["edges", "bipartite"])
@pytest.mark.parametrize("make", [relu_of_product, branches, mixture])
def test_graphviz_draws_it(make, style: str, graphviz: str) -> None:
    assert graph_to_dot(make(), style).pipe("png").startswith(b"\x89PNG")


def test_the_documents_picture_of_relu_of_a_product() -> None:
    """Boxes for data, circles for operations."""
    source = graph_to_dot(relu_of_product(), style="bipartite").source
    assert "node [" in source
    assert "shape=box" in source
    circles = [line.split("label=")[1].split()[0] for line in source.splitlines() if "shape=circle" in line]
    assert circles == ["matmul", "relu"]
    assert [line.strip() for line in source.splitlines() if "->" in line] == ["v0 -> o0", "v1 -> o0", "o0 -> v2", "v2 -> o1", "o1 -> v3"]


def test_inputs_bindings_and_outputs_differ() -> None:
    for style in ("edges", "bipartite"):
        source = graph_to_dot(relu_of_product(), style).source
        assert 'v0 [label="x\\nf32[2, 3]" fillcolor=lightyellow]' in source
        assert 'v1 [label="layer.weight\\nf32[3, 4]" fillcolor=lightblue]' in source
        assert source.count("darkolivegreen1") == 1


def test_numbers_and_attributes_stand_in_the_operation() -> None:
    g = Graph()
    y = put(g, MUL, (enter(g, "x", 4), 2.5), ("mul", f32(4)))
    signature = "op(Tensor input, *, int a=1, float b=1.0, str c='x', bool d=False, any e=None) -> Tensor"
    put(g, signature, (y,), ("op", f32(4)), a=1, b=1, c='q"', d=False, e="y" * 60)
    source = graph_to_dot(g).source
    assert 'label="mul\\nother=2.5"' in source
    assert "label=\"op\\nb=1\\nc='q\\\"'\\ne='" + "y" * 36 + '..."' in source  # `a` and `d` are at their defaults


def test_the_users_line_is_in_the_tooltip() -> None:
    assert 'tooltip="relu: f32[2, 4] = relu\\nmodel.py:7 (in layer)"' in graph_to_dot(relu_of_product()).source
    g = Graph()
    code = test_the_users_line_is_in_the_tooltip.__code__
    put(g, RELU, (enter(g, "x", 4),), ("relu", f32(4)), source=Source(code, 0))
    assert f"test_static.py:{code.co_firstlineno}: def test_the_users_line" in graph_to_dot(g).source


def test_bad_style_and_malformed_graph() -> None:
    with pytest.raises(ArgumentError, match="'edges' or 'bipartite', not 'boxes'"):
        graph_to_dot(relu_of_product(), "boxes")
    g = Graph()
    put(g, RELU, (Value(f32(2), "nowhere"),), ("relu", f32(2)))
    with pytest.raises(GraphError, match="'nowhere' before it is made"):
        graph_to_dot(g)


def test_drawing_changes_nothing() -> None:
    g = mixture()
    before = g.copy()
    graph_to_dot(g)
    graph_to_dot(g, "bipartite")
    assert same_graph(g, before)


@pytest.mark.parametrize("style", ["edges", "bipartite"])
def test_large_graphs_are_drawn_without_recursion(style: str) -> None:
    assert graph_to_dot(long_chain(50_000), style).source.count("->") >= 50_000
