"""The views on real tensors: the documents' examples, before and after backward, and that drawing runs nothing."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

import twofold
from twofold.viz import make_dot, show_graph

pytestmark = pytest.mark.skipif(not hasattr(twofold, "tensor"), reason="twofold.tensor does not exist yet")

TREE = """\
 <MulBackward0 object at 0x…>
   <LogBackward0 object at 0x…>
     <MulBackward0 object at 0x…>
       <AccumulateGrad object at 0x…>
       <AccumulateGrad object at 0x…>
   <SinBackward0 object at 0x…>
     <AccumulateGrad object at 0x…>
"""


def document() -> tuple[Any, Any, Any]:
    x1 = twofold.tensor(2.0, requires_grad=True)
    x2 = twofold.tensor(3.0, requires_grad=True)
    return (x1 * x2).log() * x2.sin(), x1, x2


def tree(node: Any) -> str:
    out = io.StringIO()
    show_graph(node, file=out)
    return re.sub("0x[0-9a-f]+", "0x…", out.getvalue())


@pytest.mark.parametrize("attrs, saved", [(False, False), (True, False), (False, True), (True, True)])
def test_the_third_documents_graph(attrs: bool, saved: bool, golden) -> None:
    """The same text as from the nodes made by hand in test_backward."""
    w, x1, x2 = document()
    assert tree(w.grad_fn) == TREE
    dot = make_dot(w, params={"x1": x1, "x2": x2}, show_attrs=attrs, show_saved=saved)
    golden(f"document{'_attrs' * attrs}{'_saved' * saved}.dot", dot.source)


def test_after_backward_values_are_freed_and_the_graph_is_whole() -> None:
    w, x1, x2 = document()
    plain = make_dot(w).source
    w.backward()
    assert tree(w.grad_fn) == TREE
    assert make_dot(w).source == plain
    source = make_dot(w, {"x1": x1, "x2": x2}, show_attrs=True, show_saved=True).source
    assert source.count("[freed]") == 6
    assert "orange" not in source


def test_drawing_changes_nothing() -> None:
    w, x1, _ = document()
    make_dot(w, show_attrs=True, show_saved=True)
    assert x1.grad is None
    w.backward()
    first = x1.grad.item()
    make_dot(w, show_attrs=True, show_saved=True)
    assert x1.grad.item() == first == pytest.approx(0.0705600, rel=1e-6)


def test_attributes_of_a_reduction() -> None:
    a = twofold.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    source = make_dot(a.sum(dim=1, keepdim=True), {"a": a}, show_attrs=True).source
    assert "dim    : (1,)" in source
    assert "keepdim: True" in source
    assert 'label="a\\n(1, 3)" fillcolor=lightblue' in source


def test_a_leaf_nobody_holds_is_still_drawn() -> None:
    a = twofold.tensor([1.0, 2.0], requires_grad=True)
    b = a * a
    del a
    dot = make_dot(b)
    assert dot.source.count("AccumulateGrad") == 1
    assert 'label="(2)" fillcolor=lightblue' in dot.source


def test_a_graph_of_100_000_nodes() -> None:
    a = b = twofold.tensor([1.0], requires_grad=True)
    for _ in range(100_000):
        b = b + a
    assert make_dot(b).node_count == 100_003
