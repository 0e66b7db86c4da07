"""show_graph and make_dot on graphs made by hand."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest

from tests.viz.fakes import FakeAccumulate, FakeNode, FakeTensor, chain, document_graph, ladder
from twofold.support.errors import ArgumentError, AutogradError
from twofold.viz import make_dot, show_graph


def printed(*args, **options) -> str:
    out = io.StringIO()
    show_graph(*args, file=out, **options)
    return out.getvalue()


def reference_show_graph(fn, out, indent: int = 0) -> None:
    """The third document's function, as it stands there."""
    if fn is None:
        return
    print("  " * indent, fn, file=out)
    for next_fn, _ in fn.next_functions:
        reference_show_graph(next_fn, out, indent + 1)


@pytest.mark.parametrize(
    "node",
    [
        document_graph()[0].grad_fn, chain(20).grad_fn, ladder(5).grad_fn, FakeNode("XBackward0", None, FakeAccumulate(None), None),
        FakeNode("Empty"), None,
    ],
)  # fmt: skip
def test_same_text_as_the_documents_function(node) -> None:
    out = io.StringIO()
    reference_show_graph(node, out)
    assert printed(node) == out.getvalue()


def test_goes_to_standard_output_and_takes_a_tensor(capsys: pytest.CaptureFixture[str]) -> None:
    w, *_ = document_graph()
    show_graph(w)
    assert capsys.readouterr().out == printed(w.grad_fn)
    show_graph(FakeTensor())
    assert capsys.readouterr().out == ""


def test_long_graphs_stop_with_one_line() -> None:
    text = printed(ladder(60).grad_fn, limit=100).splitlines()
    assert len(text) == 101
    assert text[100].startswith("... the tree goes on: 100 lines printed")
    assert len(printed(chain(100_000).grad_fn).splitlines()) == 1001
    assert len(printed(ladder(7).grad_fn, limit=255).splitlines()) == 255
    assert len(printed(ladder(7).grad_fn, limit=None).splitlines()) == 255


def test_show_graph_of_something_else() -> None:
    with pytest.raises(ArgumentError, match="takes a tensor's grad_fn, not int"):
        show_graph(3)


@pytest.mark.parametrize("attrs, saved", [(False, False), (True, False), (False, True), (True, True)])
def test_document_graph(attrs: bool, saved: bool, golden) -> None:
    w, x1, x2 = document_graph()
    dot = make_dot(w, params={"x1": x1, "x2": x2}, show_attrs=attrs, show_saved=saved)
    golden(f"document{'_attrs' * attrs}{'_saved' * saved}.dot", dot.source)
    again, y1, y2 = document_graph()
    assert make_dot(again, params={"x1": y1, "x2": y2}, show_attrs=attrs, show_saved=saved).source == dot.source


def test_colours_and_direction() -> None:
    x = FakeTensor((2, 3))
    node = FakeNode("ReluBackward0", FakeAccumulate(x), result=FakeTensor((2, 3)))
    source = make_dot(FakeTensor((2, 3), node), {"x": x}, show_saved=True).source
    for line in (
        'n0 [label="(2, 3)" fillcolor=darkolivegreen1]', "n1 -> n0", "n1 [label=ReluBackward0]", "n1 -> n2 [dir=none]",
        'n2 [label="result\\n(2, 3)" fillcolor=orange]', "n3 -> n1", 'n4 [label="x\\n(2, 3)" fillcolor=lightblue]', "n4 -> n3",
    ):  # fmt: skip
        assert f"  {line}\n" in source


def test_attributes_are_listed_and_cut() -> None:
    node = FakeNode(
        "SumBackward1", parts=(FakeTensor((1,)), FakeTensor((2,))), attributes={"dim": (0, 1), "keepdim": True, "note": "x" * 80}
    )
    source = make_dot(FakeTensor((), node), show_attrs=True).source
    assert r"dim    : (0, 1)\lkeepdim: True\l" in source
    assert "note   : " + "x" * 47 + r"...\l" in source
    assert r"parts  : [saved tensors] (1), (2)\l" in source
    assert "note   : " + "x" * 7 + r"...\l" in make_dot(FakeTensor((), node), show_attrs=True, max_attr_chars=10).source
    assert "keepdim" not in make_dot(FakeTensor((), node)).source


def test_freed_values_are_said_to_be_freed() -> None:
    w, *_ = document_graph()
    w.grad_fn.free()
    source = make_dot(w, show_attrs=True, show_saved=True).source
    assert r"self : [freed]\lother: [freed]\l" in source
    assert source.count("orange") == 4  # of the 6 saved tensors, the 2 of the freed node are gone


def test_values_packed_by_a_hook_stay_packed() -> None:
    packed = SimpleNamespace(is_packed=True)
    node = FakeNode("ExpBackward0", result=packed)
    source = make_dot(FakeTensor((), node), show_attrs=True, show_saved=True).source
    assert r"result: [saved tensor] [packed by a hook]\l" in source
    assert 'label="result\\n[packed by a hook]" fillcolor=orange' in source


def test_custom_functions_show_what_they_saved() -> None:
    class Custom(FakeNode):
        freed, is_custom = False, True

        @property
        def saved_tensors(self):
            if self.freed:
                raise AutogradError("freed")
            return (FakeTensor((7,)), None)

    node = Custom("MineBackward")
    for show_saved in (False, True):
        assert make_dot(FakeTensor((), node), show_saved=show_saved).source.count("(7)") == 1
    node.freed = True
    assert "(7)" not in make_dot(FakeTensor((), node)).source


def test_views_show_their_base() -> None:
    leaf = FakeAccumulate(FakeTensor((6,)))
    base = FakeTensor((6,), FakeNode("MulBackward0", leaf))
    view = FakeTensor((2, 3), FakeNode("ViewBackward0", base.grad_fn), base)
    source = make_dot(view).source
    base_box = re.search(r'(n\d+) \[label="\(6\)" fillcolor=darkolivegreen3\]', source)
    assert base_box
    assert f"{base_box[1]} -> n0 [style=dotted]" in source
    assert source.count("MulBackward0") == 1


def test_several_outputs() -> None:
    w, x1, _ = document_graph()
    other = FakeTensor((4,), FakeNode("ExpBackward0", w.grad_fn))
    source = make_dot({"loss": w, "more": [other, (w, None, 3)], "leaf": x1}).source
    assert source.count("darkolivegreen1") == 3
    assert source.count("label=ExpBackward0") == 1
    assert 'label="loss\\n()" fillcolor=darkolivegreen1' in source
    assert 'label="more\\n(4)"' in source
    loop: list = [w]
    loop.append(loop)
    assert make_dot(loop).source == make_dot(w).source


def test_a_leaf_alone_and_an_output_that_is_a_leaf_of_another() -> None:
    assert make_dot(FakeTensor((2,))).node_count == 1
    x = FakeTensor((2,))
    y = FakeTensor((2,), FakeNode("ExpBackward0", FakeAccumulate(x)))
    source = make_dot((x, y)).source
    assert "lightblue" not in source
    assert "n0 -> n3" in source


@pytest.mark.parametrize(
    "args, words",
    [
        ((3,), "takes a tensor or a tuple, list or dict of tensors, not int"), (([],), "not list"), ((None,), "not NoneType"),
        ((FakeTensor(), {"w": 3}), r"params\['w'\] must be a tensor, not int"), ((FakeTensor(), [FakeTensor()]), "params must be a dict"),
        ((FakeTensor(), None, True, True, 2), "max_attr_chars"),
    ],
)  # fmt: skip
def test_bad_arguments(args, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make_dot(*args)


def test_a_shared_part_is_drawn_once() -> None:
    dot = make_dot(ladder(60))
    assert dot.node_count == 60 + 3  # the nodes, AccumulateGrad, its leaf, the output


def test_large_graphs_are_drawn_without_recursion() -> None:
    dot = make_dot(chain(50_000))
    assert dot.node_count == 50_002
    assert dot.source.count("\n") > 100_000
