"""A set that keeps the order in which its elements were added."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, MutableSet, Set
from typing import Any, TypeVar

T = TypeVar("T", bound=Hashable)


class OrderedSet(MutableSet[T]):
    """Elements in the order of their first addition; an element that is removed and added again comes last.

    Equal to any set with the same elements. The operators `| & - ^` keep the left operand's order.
    """

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: dict[T, None] = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __reversed__(self) -> Iterator[T]:
        return reversed(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: T) -> None:
        self._items[value] = None

    def discard(self, value: T) -> None:
        self._items.pop(value, None)

    def update(self, *others: Iterable[T]) -> None:
        """Adds the elements of each iterable in turn."""
        for other in others:
            self._items.update(dict.fromkeys(other))

    def pop(self) -> T:
        """Removes and returns the element added last; KeyError when empty."""
        return self._items.popitem()[0]

    def popfirst(self) -> T:
        """Removes and returns the element added first; KeyError when empty."""
        if not self._items:
            raise KeyError("popfirst from an empty OrderedSet")
        first = next(iter(self._items))
        del self._items[first]
        return first

    def clear(self) -> None:
        self._items.clear()

    def copy(self) -> OrderedSet[T]:
        return OrderedSet(self._items)

    def __and__(self, other: Iterable[Any]) -> OrderedSet[T]:
        other = other if isinstance(other, Set) else set(other)
        return OrderedSet(item for item in self._items if item in other)

    def __repr__(self) -> str:
        return f"OrderedSet({list(self._items)!r})" if self._items else "OrderedSet()"
