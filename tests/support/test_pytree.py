from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.support import pytree
from twofold.support.errors import ArgumentError, TwofoldError, ValueRangeError
from twofold.support.pytree import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten

Point = namedtuple("Point", "x y")  # the old form must work as well


class Pair(NamedTuple):
    left: Any
    right: Any = 7


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any = None

    def __post_init__(self) -> None:
        if self.a == "refused":
            raise AssertionError("rebuilding must not call __post_init__")


@dataclass(slots=True)
class Slotted:
    a: Any
    made: Any = field(init=False)

    def __post_init__(self) -> None:
        self.made = [self.a, self.a]


class Plain:
    def __init__(self, children: list[Any], tag: str) -> None:
        self.children, self.tag = children, tag

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and (self.children, self.tag) == (other.children, other.tag)

    __hash__ = None  # type: ignore[assignment]


def flatten_plain(value: Plain) -> tuple[list[Any], str]:
    return value.children, value.tag


TREES: list[tuple[str, Any, list[Any], str, list[str]]] = [  # name, tree, leaves, printed spec, paths
    ("leaf", 5, [5], "*", [""]),
    ("none", None, [], "None", []),
    ("empty", [(), {}, []], [], "[(), {}, []]", []),
    ("list", [1, [2, 3]], [1, 2, 3], "[*, [*, *]]", ["[0]", "[1][0]", "[1][1]"]),
    ("tuple", (1,), [1], "(*,)", ["[0]"]),
    ("dict", {"b": 1, "a": {3: 2}}, [1, 2], "{'b': *, 'a': {3: *}}", ["['b']", "['a'][3]"]),
    ("ordered", OrderedDict([("b", 1), ("a", 2)]), [1, 2], "OrderedDict(['b']=*, ['a']=*)", ["['b']", "['a']"]),
    ("default", defaultdict(list, {"k": 1}), [1], "defaultdict(['k']=*)", ["['k']"]),
    ("namedtuple", Point(1, [2]), [1, 2], "Point(x=*, y=[*])", [".x", ".y[0]"]),
    ("typed namedtuple", Pair(None), [7], "Pair(left=None, right=*)", [".right"]),
    ("dataclass", Frozen([1], 2), [1, 2], "Frozen(a=[*], b=*)", [".a[0]", ".b"]),
    ("slots", Slotted(1), [1, 1, 1], "Slotted(a=*, made=[*, *])", [".a", ".made[0]", ".made[1]"]),
    ("subclasses are leaves", [Counter(a=1)], [Counter(a=1)], "[*]", ["[0]"]),
    ("strings are leaves", ["ab"], ["ab"], "[*]", ["[0]"]),
]
trees = pytest.mark.parametrize("tree, leaves, text, paths", [t[1:] for t in TREES], ids=[t[0] for t in TREES])


@trees
def test_flatten_and_back(tree: Any, leaves: list[Any], text: str, paths: list[str]) -> None:
    found, spec = tree_flatten(tree)
    assert found == leaves
    assert tree_leaves(tree) == leaves
    assert str(spec) == text
    assert repr(spec) == f"TreeSpec({text})"
    assert spec.paths() == paths
    assert spec.num_leaves == len(leaves)
    assert spec.is_leaf == (text == "*")
    rebuilt = tree_unflatten(leaves, spec)
    assert rebuilt == tree
    assert type(rebuilt) is type(tree)
    assert spec.flatten_up_to(tree) == leaves
    assert tree_structure(rebuilt) == spec
    assert hash(tree_structure(rebuilt)) == hash(spec)


def test_all_specs_differ() -> None:
    specs = [tree_structure(t[1]) for t in TREES]
    same = {"subclasses are leaves", "strings are leaves"}
    for i, a in enumerate(specs):
        for j, b in enumerate(specs):
            assert (a == b) == (i == j or {TREES[i][0], TREES[j][0]} == same)


def test_spec_compares_context() -> None:
    assert tree_structure({"a": 1}) != tree_structure({"b": 1})
    assert tree_structure(defaultdict(int, a=1)) != tree_structure(defaultdict(list, a=1))
    assert tree_structure({"a": 1, "b": (2,)}) != tree_structure({"a": (1,), "b": 2})
    assert tree_structure([1]) != [1]


def test_order_of_keys() -> None:
    one, other = {"a": 1, "b": [2, 3]}, {"b": [20, 30], "a": 10}
    leaves, spec = tree_flatten(one)
    other_leaves, other_spec = tree_flatten(other)
    assert spec == other_spec
    assert hash(spec) == hash(other_spec)
    assert leaves == [1, 2, 3]
    assert other_leaves == [20, 30, 10]
    assert spec.flatten_up_to(other) == [10, 20, 30]
    assert tree_map(lambda x, y: x + y, one, other) == {"a": 11, "b": [22, 33]}
    assert list(other_spec.unflatten([1, 2, 3])) == ["b", "a"]


def test_map() -> None:
    assert tree_map(lambda x: x + 1, (1, [2, None])) == (2, [3, None])
    assert tree_map(lambda x, y: (x, y), [1, 2], [(3, 4), None]) == [(1, (3, 4)), (2, None)]
    assert tree_map(str, [(1, 2), 3], is_leaf=lambda part: isinstance(part, tuple)) == ["(1, 2)", "3"]


def test_rebuilding_does_not_run_checks() -> None:
    assert tree_map(lambda leaf: "refused", Frozen(1, 2)).a == "refused"


def test_subclass_of_a_dataclass_is_a_leaf() -> None:
    class Child(Frozen):
        extra = 1

    child = Child(1)
    assert tree_leaves([child]) == [child]


def test_registered_class() -> None:
    value = Plain([1, [2]], "t")
    assert tree_leaves(value) == [value]
    with pytree.registered_pytree_node(Plain, flatten_plain, lambda children, tag: Plain(list(children), tag)):
        leaves, spec = tree_flatten({"p": value})
        assert leaves == [1, 2]
        assert str(spec) == "{'p': Plain([0]=*, [1]=[*])}"
        assert spec.unflatten([3, 4]) == {"p": Plain([3, [4]], "t")}
        assert spec != tree_structure({"p": Plain([1, [2]], "other")})
        with pytest.raises(ValueRangeError, match="with 't', got 'other'"):
            spec.flatten_up_to({"p": Plain([1, [2]], "other")})
        with pytest.raises(ValueRangeError, match="already"):
            pytree.register_pytree_node(Plain, flatten_plain, lambda children, tag: None)
    assert tree_leaves(value) == [value]
    with pytest.raises(ValueRangeError, match="no longer registered"):
        spec.unflatten([3, 4])


def test_reset_forgets_registrations() -> None:
    pytree.register_pytree_node(Plain, flatten_plain, lambda children, tag: None)
    pytree.reset()
    assert len(tree_leaves([Plain([1, 2], "")])) == 1
    assert tree_leaves([[1], None]) == [1]


def nested(depth: int) -> Any:
    tree: Any = 1
    for _ in range(depth):
        tree = [tree]
    return tree


def cyclic() -> Any:
    inner: dict[str, Any] = {}
    inner["self"] = [1, (inner,)]
    return inner


BAD: list[tuple[str, Callable[[], Any], type[TwofoldError], str]] = [
    ("cycle", lambda: tree_flatten(cyclic()), ValueRangeError, "contains itself"),
    ("too deep", lambda: tree_flatten(nested(pytree.MAX_DEPTH + 1)), ValueRangeError, "deeper than"),
    ("too few leaves", lambda: tree_unflatten([1], tree_structure([1, 2])), ValueRangeError, "2 leaves, got 1"),
    ("too many leaves", lambda: tree_unflatten([1, 2], tree_structure([1])), ValueRangeError, "1 leaves, got 2"),
    ("length", lambda: tree_map(max, [1, 2], [1]), ValueRangeError, "at the root expected 2 children, got 1"),
    ("kind", lambda: tree_map(max, {"a": [1]}, {"a": (1,)}), ValueRangeError, r"at \['a'\] expected a list, got a tuple"),
    ("keys", lambda: tree_map(max, [{"a": 1}], [{"b": 1}]), ValueRangeError, r"at \[0\] differ: the dict misses 'a' and has unknown 'b'"),
    ("factory", lambda: tree_map(max, defaultdict(int, a=1), defaultdict(list, a=1)), ValueRangeError, "default factories"),
    ("no class", lambda: pytree.register_pytree_node(3, flatten_plain, lambda c, t: None), ArgumentError, "expects a class"),  # type: ignore
    ("built in", lambda: pytree.register_pytree_node(list, flatten_plain, lambda c, t: None), ValueRangeError, "list is a pytree"),
    ("unregister", lambda: pytree.unregister_pytree_node(Plain), ValueRangeError, "was not registered"),
    ("unregister built in", lambda: pytree.unregister_pytree_node(list), ValueRangeError, "was not registered"),
]


@pytest.mark.parametrize("call, error, message", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input(call: Callable[[], Any], error: type[TwofoldError], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_greatest_depth() -> None:
    leaves, spec = tree_flatten(nested(pytree.MAX_DEPTH))
    assert leaves == [1]
    assert spec.unflatten([1]) == nested(pytree.MAX_DEPTH)
    assert hash(spec) == hash(tree_structure(nested(pytree.MAX_DEPTH)))


def test_the_same_object_twice_is_no_cycle() -> None:
    shared = [1]
    assert tree_leaves([shared, shared, {"a": shared}]) == [1, 1, 1]


anything = st.recursive(
    st.integers() | st.none() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=4)
        | st.tuples(inner, inner).map(lambda pair: Pair(*pair))
        | st.tuples(inner, inner).map(lambda pair: Frozen(*pair))
    ),
    max_leaves=30,
)


@given(anything)
def test_round_trip_of_random_trees(tree: Any) -> None:
    leaves, spec = tree_flatten(tree)
    assert spec.unflatten(leaves) == tree
    assert spec == tree_structure(tree_map(lambda leaf: 0, tree))
    assert [eval("tree" + path, {"tree": tree}) for path in spec.paths()] == leaves
