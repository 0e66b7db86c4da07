"""Affine index forms: constant + Σ coefficient · dimension, over the named dimensions of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Affine(NamedTuple):
    """`constant + Σ coefficient · dimension`; `terms` is sorted and has no zero coefficients, so equal forms are equal tuples."""

    constant: int
    terms: tuple[tuple[str, int], ...]

    def plus(self, other: Affine) -> Affine:
        if not self.terms or not other.terms:
            return Affine(self.constant + other.constant, self.terms or other.terms)
        return affine(self.constant + other.constant, (*self.terms, *other.terms))

    def shifted(self, constant: int) -> Affine:
        return Affine(self.constant + constant, self.terms) if constant else self

    def times(self, factor: int) -> Affine:
        if factor == 1:
            return self
        return Affine(self.constant * factor, tuple((d, c * factor) for d, c in self.terms) if factor else ())

    def coefficient(self, dim: str) -> int:
        for d, c in self.terms:
            if d == dim:
                return c
        return 0

    def without(self, dim: str) -> Affine:
        return Affine(self.constant, tuple(t for t in self.terms if t[0] != dim))

    def bounds(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """The least and the greatest value where every dimension runs from 0 to its size - 1."""
        low = high = self.constant
        for d, c in self.terms:
            last = c * (sizes[d] - 1)
            if last < 0:
                low += last
            else:
                high += last
        return low, high

    def __str__(self) -> str:
        parts = [d if c == 1 else f"{c}*{d}" for d, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return "+".join(parts).replace("+-", "-")


ZERO = Affine(0, ())


def affine(constant: int, terms: Iterable[tuple[str, int]] = ()) -> Affine:
    """The canonical form of a sum; a dimension may occur several times among `terms`."""
    total: dict[str, int] = {}
    for d, c in terms:
        total[d] = total.get(d, 0) + c
    return Affine(constant, tuple(sorted((d, c) for d, c in total.items() if c)))


def dim(name: str) -> Affine:
    """The form that is one dimension."""
    return Affine(0, ((name, 1),))


def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """C-order strides in elements."""
    result = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        result[i] = result[i + 1] * shape[i + 1]
    return tuple(result)


def flat_index(index: Iterable[Affine], shape: tuple[int, ...]) -> Affine:
    """The C-order position of an element of a dense array."""
    constant, terms = 0, []
    for form, stride in zip(index, strides_of(shape), strict=True):
        constant += form.constant * stride
        terms += [(d, c * stride) for d, c in form.terms]
    return affine(constant, terms)
