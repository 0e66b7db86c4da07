"""Values, nodes, regions, the builder and the verifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ir.records import ABS, ADD, BIAS, CAT, GRAPHS, LT, MUL, NONZERO, SPLIT, SUM, controlled, f32, i64, put, simple
from twofold.ir import dims
from twofold.ir import dtypes as D
from twofold.ir.builder import Builder
from twofold.ir.constant import ArrayAttr, constant
from twofold.ir.control import build_cond, captures, cond, while_loop, with_explicit_operands
from twofold.ir.graph import Graph, Node, Region, Source, Value, difference, free_values, same_attribute, same_graph
from twofold.ir.interpreter import Interpreter
from twofold.ir.tabular import format_tabular, print_tabular
from twofold.ir.types import tensor_type
from twofold.ir.verifier import verify
from twofold.support.errors import ArgumentError, AutogradError, DimensionError, GraphError, ShapeError


def test_names_are_those_of_fx() -> None:
    g = Graph()
    names = [
        g.unique_name(n)
        for n in ("add", "add", "add", "abs", "abs", "sum", "lt", "add_1", "input", "2x", "a.b", "class", "add_7", "add_7", "")
    ]
    assert names == [
        "add", "add_1", "add_2", "abs_1", "abs_2", "sum_1", "lt", "add_3", "input_1", "_2x", "a_b", "class_1", "add_7", "add_8", "value",
    ]  # fmt: skip
    assert not g.claim_name("add")
    assert g.claim_name("fresh_name")


def test_builder_canonicalises_and_infers() -> None:
    g = simple()
    y, s, m = g.nodes[:3]
    assert s.attributes == {"dim": (1,), "keepdim": False}
    assert s.output.type is f32(2)
    assert m.attributes == {"dim": 1, "keepdim": True}
    assert [v.name for v in m.outputs] == ["t_max_values", "t_max_indices"]
    assert y.inputs[1].name == "fc_weight"
    assert g.bindings[y.inputs[1]] == "fc.weight"
    assert g.nodes[3].inputs == (m.outputs[0], None)
    assert list(g.nodes[5].operands()) == list(g.nodes[4].outputs)
    assert g.users()[g.inputs[0]] == [y, g.nodes[4]]
    b = Builder(g)
    assert b.binding(f32(3), "fc.weight") is g.inputs[1]
    with pytest.raises(GraphError, match="2 outputs"):
        m.output


def refuse(call: Callable[[Builder, Value], Any], error: type[Exception], match: str) -> None:
    g = Graph("mine")
    b = Builder(g)
    x = b.input(f32(2, 3), "x")
    with pytest.raises(error, match=match):
        call(b, x)
    assert g.nodes == []


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda b, x: b.call(MUL, (x,)), ArgumentError, "takes 2 tensor operands, 1"),
        (lambda b, x: b.call(MUL, (x, x, x)), ArgumentError, "takes 2 tensor operands, 3"),
        (lambda b, x: b.call(MUL, (x, None)), ArgumentError, "must be a tensor, not None"),
        (lambda b, x: b.call(MUL, (x, "a")), ArgumentError, "must be a value"),
        (lambda b, x: b.call(MUL, (x, np.float32(2))), ArgumentError, "must be a value"),
        (lambda b, x: b.call(CAT, (x,)), ArgumentError, "must be a sequence"),
        (lambda b, x: b.call(CAT, ([x, 2],)), ArgumentError, "tensors only"),
        (lambda b, x: b.call(SUM, (x,), {"dim": 7}), DimensionError, "out of range"),
        (lambda b, x: b.call(SUM, (x,), {"axis": 0}), ArgumentError, "no attribute 'axis'"),
        (lambda b, x: b.call(SPLIT, (x,)), ArgumentError, "missing the argument 'size'"),
        (
            lambda b, x: b.call(MUL, (x, Builder(Graph("other")).input(f32(3), "y"))),
            GraphError,
            "y is a value of graph 'other'.*graph 'mine'",
        ),
        (lambda b, x: b.call(MUL, (x, Value(f32(3), "loose"))), GraphError, "belongs to no graph"),
        (lambda b, x: b.call(ADD, (x, b.input(f32(4), "z"))), ShapeError, r"\(2, 3\) and \(4,\)"),
        (lambda b, x: b.output("x"), GraphError, "an output must be"),
        (lambda b, x: b.call(SUM, (x,), regions=(Region(),)), GraphError, "has no regions"),
        (lambda b, x: b.effect(MUL, ()), ArgumentError, "takes 2"),
    ],
)
def test_builder_refuses(call: Any, error: type[Exception], match: str) -> None:
    if "effect" in str(call.__code__.co_names):
        g = Graph("mine")
        with pytest.raises(error, match=match):
            call(Builder(g), None)
        return
    refuse(call, error, match)


def test_values_of_a_body_are_not_visible_outside() -> None:
    g = Graph()
    b = Builder(g)
    p, x = b.input(tensor_type(D.bool_, ()), "p"), b.input(f32(), "x")
    inner: list[Value] = []

    def true(v: Value) -> Value:
        inner.append(b.call(MUL, (v, x)))
        return inner[0]

    build_cond(b, p, (x,), true, lambda v: v)
    with pytest.raises(GraphError, match="not visible outside"):
        b.call(ABS, (inner[0],))


def test_insertion_points() -> None:
    g = simple()
    b = Builder(g)
    with b.before(g.nodes[2]):
        v = b.call(ABS, (g.inputs[0],))
        w = b.call(ABS, (v,))
    assert [n.name for n in g.nodes][1:5] == ["t_sum", v.name, w.name, "t_max_values"]
    verify(g)
    with pytest.raises(GraphError, match="not a node of graph"), Builder(Graph()).before(g.nodes[0]):
        pass


def test_fresh_sizes_get_names_of_the_graph() -> None:
    g = Graph()
    b = Builder(g)
    x = b.input(f32(3), "x")
    first, second = b.call(NONZERO, (x,)), b.call(NONZERO, (x,))
    assert str(first.type) == "i64[u0, 1]"
    assert str(second.type) == "i64[u1, 1]"
    b.output(first, second)
    verify(g)
    with pytest.raises(GraphError, match="two sets of bounds"):
        b.input(f32(dims.symbol("u0", 5)), "y")


def test_erase_and_replace() -> None:
    g = simple()
    before = g.copy()
    with pytest.raises(GraphError, match="t_mul cannot be erased: t_sum"):
        g.erase([g.nodes[0]])
    with pytest.raises(GraphError, match="t_cat cannot be erased: it is an output"):
        g.erase([g.nodes[5]])
    assert same_graph(g, before)
    cat, x = g.nodes[5].output, g.inputs[0]
    g.replace_all_uses({cat: x})
    g.erase([g.nodes[5], g.nodes[4]])
    assert g.outputs[3] is x
    assert g.count() == 4
    verify(g)
    with pytest.raises(GraphError, match="cycle"):
        g.replace_all_uses({x: cat, cat: x})


def test_differences_are_found() -> None:
    g = simple()
    for change in (
        lambda h: setattr(h, "name", "other"),
        lambda h: setattr(h.inputs[0], "name", "y"),
        lambda h: h.nodes[1].attributes.update(keepdim=True),
        lambda h: h.nodes[1].attributes.update(keepdim=0),
        lambda h: h.outputs.pop(),
        lambda h: h.outputs.__setitem__(5, 2),
        lambda h: h.nodes.pop(),
        lambda h: setattr(h.nodes[0], "inputs", h.nodes[0].inputs[::-1]),
        lambda h: setattr(h.nodes[0], "source", None),
        lambda h: h.bindings.update({h.inputs[1]: "w"}),
        lambda h: setattr(h.nodes[0], "op", ADD),
        lambda h: setattr(h.inputs[0], "type", f32(3, 2)),
    ):
        h = g.copy()
        change(h)
        assert difference(g, h), change
    assert same_graph(g, g.copy())
    h = g.copy()
    h.inputs[0].name = "other"
    assert same_graph(g, h, names=False)
    assert not same_graph(g, h)
    assert not same_attribute(1, 1.0)
    assert not same_attribute(0.0, -0.0)
    assert same_attribute((float("nan"),), (float("nan"),))


def test_array_attributes() -> None:
    a = np.arange(6.0).reshape(2, 3)
    p, q = ArrayAttr(a.T), ArrayAttr(np.ascontiguousarray(a.T))
    assert p == q
    assert hash(p) == hash(q)
    assert p.array.flags.c_contiguous
    assert not p.array.flags.writeable
    assert p != ArrayAttr(a.T.astype(np.float32))
    assert p != ArrayAttr(a.T.reshape(2, 3))
    assert p != 3
    a[:] = 0
    assert p.array[2, 1] == 5


def fault(change: Callable[[Graph], Any], match: str, make: Callable[[], Graph] = simple) -> None:
    g = make()
    change(g)
    with pytest.raises(GraphError, match=match) as e:
        verify(g)
    assert "graph " in e.value.message


FAULTS: list[tuple[Callable[[Graph], Any], str]] = [
    (lambda g: g.nodes.insert(0, g.nodes.pop(1)), "t_mul is used before it is defined"),
    (lambda g: setattr(g.nodes[0], "inputs", (g.nodes[0].output, 2.0)), "used before it is defined .a graph has no cycles"),
    (lambda g: setattr(g.nodes[0], "inputs", (simple().inputs[0], 2.0)), "belongs to another graph"),
    (lambda g: setattr(g.nodes[0], "inputs", (Value(f32(2, 3), "q"), 2.0)), "q is not defined in this graph"),
    (lambda g: setattr(g.nodes[0], "inputs", (g.inputs[0],)), "takes 2 tensor operands, the node has 1"),
    (lambda g: setattr(g.nodes[0], "inputs", (g.inputs[0], None)), "operand b of t_mul .t_mul. is None"),
    (lambda g: setattr(g.nodes[0], "inputs", (g.inputs[0], "a")), "must be a value or a Python number"),
    (lambda g: setattr(g.nodes[0], "inputs", (g.inputs[0], (g.inputs[1],))), "must be a value or a Python number"),
    (lambda g: setattr(g.nodes[5], "inputs", (g.inputs[0],)), "must be a tuple of values"),
    (lambda g: setattr(g.nodes[1].output, "name", "t_mul"), "the name t_mul is defined twice"),
    (lambda g: setattr(g.nodes[1].output, "type", f32(3)), r"t_sum is declared as f32\[3\]; t_sum gives f32\[2\]"),
    (lambda g: setattr(g.nodes[1].output, "type", None), "t_sum is declared as None"),
    (lambda g: setattr(g.inputs[0], "type", None), "x has no type"),
    (lambda g: setattr(g.nodes[1].output, "index", 1), "not linked to the place"),
    (lambda g: setattr(g.nodes[1], "outputs", ()), "t_sum is declared as ; t_sum gives"),
    (lambda g: g.nodes[1].attributes.pop("dim"), "lacks the attribute 'dim'"),
    (lambda g: g.nodes[1].attributes.update(dim=(-1,)), "is not canonical"),
    (lambda g: g.nodes[1].attributes.update(axis=1), "has no attribute 'axis'"),
    (lambda g: g.nodes[1].attributes.update(dim=(4,)), "out of range"),
    (lambda g: g.nodes[1].attributes.update(keepdim="x"), "must be bool"),
    (lambda g: g.nodes[2].attributes.update(dim=0), "t_max gives f32"),
    (lambda g: setattr(g.nodes[1], "region", Graph()), "not linked to its region"),
    (lambda g: setattr(g.nodes[1], "regions", (Region(g),)), "has no bodies"),
    (lambda g: g.outputs.append(simple().inputs[0]), "belongs to another graph"),
    (lambda g: g.outputs.append("x"), "an output must be a value"),
    (lambda g: g.nodes.append(g.nodes[0]), "is defined twice"),
    (lambda g: g.inputs.append(g.inputs[0]), "the name x is defined twice"),
    (lambda g: g.inputs.pop(), "is not an input"),
    (lambda g: setattr(g, "token", g.inputs[0]), "the last effect x is no token"),
    (lambda g: g.bindings.update({g.inputs[0]: "fc.weight"}), "two bindings have the same path"),
]


@pytest.mark.parametrize("change, match", FAULTS)
def test_verifier_finds(change: Callable[[Graph], Any], match: str) -> None:
    fault(change, match)


def test_verifier_shows_the_place() -> None:
    g = simple()
    g.nodes[1].output.type = f32(3)
    with pytest.raises(GraphError) as e:
        verify(g)
    lines = e.value.message.splitlines()
    assert lines[2].startswith("--> t_sum: f32[3] = t_sum(t_mul, dim=(1,))")
    assert lines[1].startswith("    t_mul: f32[2, 3]")
    assert lines[-1] == "  written at model.py:12"


def loop(g: Graph) -> Node:
    return next(n for n in g.nodes if n.op is while_loop)


def branch(g: Graph) -> Node:
    return next(n for n in g.walk() if n.op is cond)


BODY_FAULTS: list[tuple[Callable[[Graph], Any], str]] = [
    (lambda g: loop(g).regions[1].outputs.pop(), "the body must return the types it takes"),
    (lambda g: loop(g).regions[0].outputs.append(loop(g).regions[0].outputs[0]), "the test must return one value"),
    (lambda g: loop(g).regions[0].outputs.__setitem__(0, g.inputs[0]), "what the test returns must be a bool tensor"),
    (lambda g: loop(g).regions[1].inputs.pop(), "used before|not defined|the body takes"),
    (lambda g: setattr(loop(g), "regions", loop(g).regions[:1]), "has two bodies"),
    (lambda g: branch(g).regions[0].outputs.__setitem__(0, 3.0), "a body must return values of the graph"),
    (lambda g: branch(g).regions[0].outputs.__setitem__(0, g.inputs[1]), "the bodies must return the same types"),
    (lambda g: setattr(branch(g), "inputs", (g.inputs[0], branch(g).inputs[1])), "the predicate must be a bool tensor"),
    (lambda g: g.outputs.append(branch(g).outputs[0]), "is defined inside a body and not visible"),
    (lambda g: setattr(branch(g).regions[0], "owner", None), "a body of .* is not linked"),
    (lambda g: setattr(branch(g).regions[0], "token", branch(g).regions[0].inputs[1]), "keeps its last effect"),
]


@pytest.mark.parametrize("change, match", BODY_FAULTS)
def test_verifier_checks_bodies(change: Callable[[Graph], Any], match: str) -> None:
    fault(change, match, controlled)


def test_captures_become_operands() -> None:
    g = controlled()
    text = [Interpreter(g).run(np.float32(x), np.int64(4)) for x in (1.5, 12)]
    node = loop(g)
    assert [v.name for v in captures(node)] == ["n", "x"]
    assert free_values(node.regions[1]) == [g.inputs[0]]
    for inner in (branch(g), node):
        with_explicit_operands(inner, g.unique_name)
        assert captures(inner) == []
    verify(g)
    assert [Interpreter(g).run(np.float32(x), np.int64(4)) for x in (1.5, 12)] == text
    with pytest.raises(AutogradError, match="no gradient rule"):
        cond.rule(0)


def test_verify_accepts_all(capsys: pytest.CaptureFixture[str]) -> None:
    for make in GRAPHS:
        verify(make())
    print_tabular(put(Graph()))
    assert capsys.readouterr().out.splitlines()[0].split() == ["opcode", "name", "target", "args", "kwargs"]


def test_tabular() -> None:
    g = Graph()
    b = Builder(g)
    x = b.input(f32(2), "x")
    w = b.binding(f32(2), "fc.weight")
    a = b.call(ABS, (x,), source=Source(name="abs"), name="abs")
    c = b.call(ADD, (a, 1), source=Source(spelling="operator", name="add"), name="add")
    d = b.call(MUL, (c, w), name="mul")
    e = b.call(SUM, (d,), {"dim": 0}, source=Source(spelling="method", name="sum"), name="sum")
    f = b.call(LT, (e, 0.5), name="lt")
    b.output(f)
    assert format_tabular(g).splitlines()[:4] == [
        "opcode         name       target     args              kwargs",
        "-------------  ---------  ---------  ----------------  -------------",
        "placeholder    x          x          ()                {}",
        "get_attr       fc_weight  fc.weight  ()                {}",
    ]
    rows = [line.split(None, 3) for line in format_tabular(g).splitlines()]
    assert [r[0] for r in rows[2:]] == [
        "placeholder", "get_attr", "call_function", "call_function", "call_function", "call_method", "call_function", "output",
    ]  # fmt: skip
    assert [r[1] for r in rows[2:]] == ["x", "fc_weight", "abs_1", "add", "mul", "sum_1", "lt", "output"]
    assert [r[2] for r in rows[2:]] == ["x", "fc.weight", "abs", "add", "t_mul", "sum", "t_lt", "output"]
    assert [" ".join(r[3].split()) for r in rows[2:]] == [
        "() {}", "() {}", "(x,) {}", "(abs_1, 1) {}", "(add, fc_weight) {}", "(mul,) {'dim': (0,)}", "(sum_1, 0.5) {}", "(lt,) {}",
    ]  # fmt: skip
    text = format_tabular(controlled())
    assert "body 1 of while_loop_0 (while_loop):" in text
    assert "((t_split" not in text
    assert "([t_split_0, t_split_1],)" in format_tabular(simple())
    assert "(t_max_values, None)" in format_tabular(simple())
    assert "((t_sum, t_max_indices, t_bias, t_cat, None, 2.0),)" in format_tabular(simple())


def test_source() -> None:
    code = test_source.__code__
    s = Source(code, 10, "layer1.0", "method", "sum")
    assert s.file == __file__
    assert s.line is not None
    assert s.location.startswith("test_graph.py:")
    assert s.full_location.startswith(__file__)
    assert s.text
    assert s.column is not None
    t = Source(place="model.py:7")
    assert (t.file, t.line, t.column, t.text, t.location) == ("model.py", 7, None, "", "model.py:7")
    assert Source().location == ""
    assert Source().line is None


def test_long_graphs_are_linear() -> None:
    g = Graph()
    b = Builder(g)
    v = b.input(f32(), "x")
    for _ in range(20_000):
        v = b.call(ADD, (v, 1.0))
    b.output(v)
    verify(g)
    assert len(g.users()) == 20_000
    assert same_graph(g, g.copy())
    assert Interpreter(g).run(np.float32(0)) == (np.float32(20_000),)


def test_constant_needs_an_array() -> None:
    g = Graph()
    with pytest.raises(ArgumentError, match="must be an ArrayAttr"):
        Builder(g).call(constant, (), {"value": np.ones(2)})
    with pytest.raises(ArgumentError):
        Builder(g).call(BIAS, (2.0, "x"))
    assert g.nodes == []
    assert i64() is i64()
