from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.support.ordered import OrderedSet


def test_order_is_that_of_first_addition() -> None:
    s = OrderedSet("banana")
    assert list(s) == ["b", "a", "n"]
    s.add("b")
    assert list(s) == ["b", "a", "n"]
    s.discard("b")
    s.discard("not there")
    s.add("b")
    assert list(s) == ["a", "n", "b"]
    assert list(reversed(s)) == ["b", "n", "a"]
    s.update("xa", "y")
    assert list(s) == ["a", "n", "b", "x", "y"]
    assert s.pop() == "y"
    assert s.popfirst() == "a"
    assert repr(s) == "OrderedSet(['n', 'b', 'x'])"
    copy = s.copy()
    s.clear()
    assert not s
    assert repr(s) == "OrderedSet()"
    assert list(copy) == ["n", "b", "x"]


@pytest.mark.parametrize("method", ["pop", "popfirst"])
def test_empty(method: str) -> None:
    with pytest.raises(KeyError):
        getattr(OrderedSet(), method)()
    with pytest.raises(KeyError):
        OrderedSet([1]).remove(2)


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_set_algebra(a: list[int], b: list[int]) -> None:
    x, y = OrderedSet(a), OrderedSet(b)
    assert x == set(a)
    assert len(x) == len(set(a))
    assert (x == y) == (set(a) == set(b))
    assert x | y == set(a) | set(b)
    assert x & y == set(a) & set(b)
    assert x - y == set(a) - set(b)
    assert x ^ y == set(a) ^ set(b)
    assert (x <= y) == (set(a) <= set(b))
    assert list(x | y) == list(dict.fromkeys(a + b))
    assert list(x - y) == [v for v in dict.fromkeys(a) if v not in b]
    assert list(x & y) == [v for v in dict.fromkeys(a) if v in b]
