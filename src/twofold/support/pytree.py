"""Pytrees: nested containers taken apart into leaves and a description (`TreeSpec`) that puts them together again.

Containers are dict, OrderedDict, defaultdict, list, tuple, named tuples, dataclasses, `None` (no children), and classes given to
`register_pytree_node`. Everything else is a leaf, among it subclasses of these types: nobody knows what else they hold.

Children of a dict come in the order of its insertion. Two specs whose dicts have the same keys in another order are equal, as the dicts
are; so where leaves are matched by position, take them with `spec.flatten_up_to(tree)`, which follows the order of the spec.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from twofold.support.errors import ArgumentError, ValueRangeError

MAX_DEPTH = 200
"""Deeper nesting is refused: it is a mistake, and would exhaust Python's stack."""

Flatten = Callable[[Any], tuple[Iterable[Any], Any]]
Unflatten = Callable[[Sequence[Any], Any], Any]


@dataclass(frozen=True, slots=True)
class Container:
    """How one class is taken apart: `flatten(object) -> (children, context)`, `unflatten(children, context) -> object`.

    `labels(context, count)` names the children as one writes them in Python (`['a']`, `[0]`, `.x`). For a `mapping` the context is
    (anything, keys), and the order of the keys does not matter when specs are compared.
    """

    flatten: Flatten
    unflatten: Unflatten
    labels: Callable[[Any, int], list[str]]
    mapping: bool = False


class TreeSpec:
    """The shape of a pytree: the class of the container (None for a leaf), what else is needed to build it, and the children's specs.

    Hashable, compares equal by structure, prints like the tree with `*` for a leaf.
    """

    __slots__ = ("_hash", "children", "context", "kind", "num_leaves")

    def __init__(self, kind: type | None, context: Any, children: tuple[TreeSpec, ...]) -> None:
        self.kind, self.context, self.children = kind, context, children
        self.num_leaves: int = sum([child.num_leaves for child in children]) if kind is not None else 1
        self._hash: int | None = None

    @property
    def is_leaf(self) -> bool:
        return self.kind is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this shape with these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of `tree` that stand where this spec has leaves, in the spec's order.

        Raises ValueRangeError, saying where, if `tree` has another structure."""
        parts: list[Any] = []
        _match(self, tree, "", parts)
        return parts

    def paths(self) -> list[str]:
        """For each leaf where it stands, as an expression to append to the tree's name: `['a'][0].x`."""
        return list(_paths(self, ""))

    def _key(self) -> Hashable:
        if self.kind is not None and _container(self.kind, self.kind).mapping:
            return self.context[0], frozenset(zip(self.context[1], self.children, strict=True))
        return self.context, self.children

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        same_size = self.kind is other.kind and self.num_leaves == other.num_leaves and len(self.children) == len(other.children)
        return same_size and hash(self) == hash(other) and self._key() == other._key()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.kind, self._key()))
        return self._hash

    def __repr__(self) -> str:
        return f"TreeSpec({self})"

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        if self.kind is type(None):
            return "None"
        inner = [str(child) for child in self.children]
        if self.kind is list:
            return f"[{', '.join(inner)}]"
        if self.kind is tuple:
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        labels = _container(self.kind, self.kind).labels(self.context, len(inner))
        if self.kind is dict:
            return "{" + ", ".join(f"{label[1:-1]}: {text}" for label, text in zip(labels, inner, strict=True)) + "}"
        pairs = (f"{label.removeprefix('.')}={text}" for label, text in zip(labels, inner, strict=True))
        return f"{self.kind.__qualname__}({', '.join(pairs)})"


LEAF = TreeSpec(None, None, ())


# ---------------------------------------------------------------------------------------------------------------- containers


def _positions(context: Any, count: int) -> list[str]:
    return [f"[{i}]" for i in range(count)]


def _keys(context: Any, count: int) -> list[str]:
    return [f"[{key!r}]" for key in context[1]]


def _fields(context: Any, count: int) -> list[str]:
    return [f".{name}" for name in context]


def _build_dataclass(cls: type) -> Unflatten:
    def build(children: Sequence[Any], names: tuple[str, ...]) -> Any:
        # Not by calling the class: its __init__ may compute, check or refuse what stands in for its values.
        result: Any = object.__new__(cls)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(result, name, child)
        return result

    return build


def _take_dataclass(value: Any) -> tuple[list[Any], tuple[str, ...]]:
    names = tuple(field.name for field in dataclasses.fields(value) if hasattr(value, field.name))
    return [getattr(value, name) for name in names], names


_BUILT_IN: dict[type, Container] = {
    type(None): Container(lambda value: ((), None), lambda children, context: None, _positions),
    list: Container(lambda value: (value, None), lambda children, context: list(children), _positions),
    tuple: Container(lambda value: (value, None), lambda children, context: tuple(children), _positions),
    dict: Container(
        lambda value: (value.values(), (None, tuple(value))),
        lambda children, context: dict(zip(context[1], children, strict=True)),
        _keys,
        mapping=True,
    ),
    OrderedDict: Container(
        lambda value: (value.values(), (None, tuple(value))),
        lambda children, context: OrderedDict(zip(context[1], children, strict=True)),
        _keys,
        mapping=True,
    ),
    defaultdict: Container(
        lambda value: (value.values(), (value.default_factory, tuple(value))),
        lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
        _keys,
        mapping=True,
    ),
}
_lock = threading.Lock()
_containers: dict[type, Container] = dict(_BUILT_IN)


def register_pytree_node(cls: type, flatten: Flatten, unflatten: Unflatten) -> None:
    """Makes instances of exactly `cls` containers.

    `flatten(object)` gives (children, context), the context hashable; `unflatten(children, context)` builds an object from a list of
    children. Raises ValueRangeError if the class is a container already.
    """
    if not isinstance(cls, type):
        raise ArgumentError(f"register_pytree_node: expects a class, got {cls!r}")
    with _lock:
        if cls in _containers:
            raise ValueRangeError(f"register_pytree_node: {cls.__qualname__} is a pytree container already")
        _containers[cls] = Container(flatten, unflatten, _positions)


def unregister_pytree_node(cls: type) -> None:
    """Takes a registration back. Raises ValueRangeError if there is none."""
    with _lock:
        if cls in _BUILT_IN or _containers.pop(cls, None) is None:
            raise ValueRangeError(f"unregister_pytree_node: {cls!r} was not registered")


@contextmanager
def registered_pytree_node(cls: type, flatten: Flatten, unflatten: Unflatten) -> Iterator[None]:
    """`register_pytree_node` for the block, in the whole process."""
    register_pytree_node(cls, flatten, unflatten)
    try:
        yield
    finally:
        unregister_pytree_node(cls)


def reset() -> None:
    """Forgets all registered classes."""
    with _lock:
        _containers.clear()
        _containers.update(_BUILT_IN)


def _find(cls: type) -> Container | None:
    """The container of a class: registered, or a named tuple, or a class that is itself decorated as a dataclass."""
    found = _containers.get(cls)
    if found is not None:
        return found
    if issubclass(cls, tuple) and isinstance(names := getattr(cls, "_fields", None), tuple):
        return Container(lambda value: (value, names), lambda children, context: cls.__new__(cls, *children), _fields)
    if "__dataclass_fields__" in cls.__dict__:
        return Container(_take_dataclass, _build_dataclass(cls), _fields)
    return None


def _container(cls: type, kind: object) -> Container:
    found = _find(cls)
    if found is None:
        raise ValueRangeError(f"pytree: {kind!r} is no longer registered as a container")
    return found


# ----------------------------------------------------------------------------------------------------------------- functions


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of `tree`, in order, and its spec. `is_leaf`, asked of each part first, may declare a container to be a leaf.

    Raises ValueRangeError for a tree that contains itself, or that is nested deeper than `MAX_DEPTH`.
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf, [])


def _flatten(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None, above: list[int]) -> TreeSpec:
    cls = type(tree)
    container = _find(cls)
    if container is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LEAF
    if len(above) >= MAX_DEPTH:
        if id(tree) in above:
            raise ValueRangeError(f"pytree: a {cls.__name__} contains itself; only trees can be flattened")
        raise ValueRangeError(f"pytree: nested deeper than {MAX_DEPTH} containers")
    above.append(id(tree))
    children, context = container.flatten(tree)
    specs = tuple([_flatten(child, leaves, is_leaf, above) for child in children])
    above.pop()
    return TreeSpec(cls, context, specs)


def tree_unflatten(leaves: Iterable[Any], spec: TreeSpec) -> Any:
    """The tree of shape `spec` with these leaves. Raises ValueRangeError if their number does not fit."""
    values = list(leaves)
    if len(values) != spec.num_leaves:
        raise ValueRangeError(f"tree_unflatten: the spec {spec} has {spec.num_leaves} leaves, got {len(values)}")
    return _unflatten(spec, iter(values))


def _unflatten(spec: TreeSpec, values: Iterator[Any]) -> Any:
    if spec.kind is None:
        return next(values)
    children = [_unflatten(child, values) for child in spec.children]
    return _container(spec.kind, spec.kind).unflatten(children, spec.context)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of `tree`, in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The spec of `tree`."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(function: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """A tree shaped as `tree`, whose leaves are `function(leaf, ...)` with the parts of the other trees that stand in the same place.

    Raises ValueRangeError, saying where, if another tree does not have the structure of the first.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(other) for other in rest]
    return _unflatten(spec, iter([function(*parts) for parts in zip(leaves, *others, strict=True)]))


def _match(spec: TreeSpec, tree: Any, path: str, parts: list[Any]) -> None:
    if spec.kind is None:
        parts.append(tree)
        return
    place = path or "the root"
    if type(tree) is not spec.kind:
        raise ValueRangeError(f"pytree: at {place} expected a {spec.kind.__qualname__}, got a {type(tree).__qualname__}")
    container = _container(spec.kind, spec.kind)
    taken, context = container.flatten(tree)
    children = list(taken)
    if container.mapping:
        children = _match_keys(spec, tree, context, place)
    elif len(children) != len(spec.children):
        raise ValueRangeError(f"pytree: at {place} expected {len(spec.children)} children, got {len(children)}")
    elif context != spec.context:
        raise ValueRangeError(f"pytree: at {place} expected a {spec.kind.__qualname__} with {spec.context!r}, got {context!r}")
    for child_spec, child, label in zip(spec.children, children, container.labels(spec.context, len(children)), strict=True):
        _match(child_spec, child, path + label, parts)


def _match_keys(spec: TreeSpec, tree: Any, context: Any, place: str) -> list[Any]:
    """The values of the dict `tree` in the order of the spec's keys."""
    factory, keys = spec.context
    wanted, given = set(keys), set(context[1])
    if wanted != given:
        differences = (("misses", wanted - given), ("has unknown", given - wanted))
        problems = [f"{word} {', '.join(sorted(map(repr, some)))}" for word, some in differences if some]
        raise ValueRangeError(f"pytree: the keys at {place} differ: the {type(tree).__qualname__} {' and '.join(problems)}")
    if context[0] != factory:
        raise ValueRangeError(f"pytree: the default factories at {place} differ: {factory!r} and {context[0]!r}")
    return [tree[key] for key in keys]


def _paths(spec: TreeSpec, path: str) -> Iterator[str]:
    if spec.kind is None:
        yield path
        return
    labels = _container(spec.kind, spec.kind).labels(spec.context, len(spec.children))
    for child, label in zip(spec.children, labels, strict=True):
        yield from _paths(child, path + label)
