"""Below symbolic dimensions: products of powers of atoms (monomials), and arithmetic with bounds, which are integers or infinite."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

INF = math.inf
Bound = float | int
Monomial = frozenset[Any]
"""Pairs (atom, power)."""


def mul_bounds(a: Bound, b: Bound) -> Bound:
    if a == 0 or b == 0:
        return 0
    if a in (INF, -INF) or b in (INF, -INF):
        return INF if (a > 0) == (b > 0) else -INF
    return a * b


def add_bounds(a: Bound, b: Bound) -> Bound:
    return a if a in (INF, -INF) else b if b in (INF, -INF) else a + b


def div_bounds(a: Bound, b: Bound) -> Bound:
    """floor(a / b) for positive b, either possibly infinite."""
    if a in (INF, -INF):
        return a
    return (0 if a >= 0 else -1) if b == INF else a // b


def power_bounds(lo: Bound, hi: Bound, power: int) -> tuple[Bound, Bound]:
    low, high = lo, hi
    for _ in range(power - 1):
        ends = mul_bounds(low, lo), mul_bounds(low, hi), mul_bounds(high, lo), mul_bounds(high, hi)
        low, high = min(ends), max(ends)
    return (max(low, 0), high) if power % 2 == 0 else (low, high)


def bounds_of_terms(terms: Mapping[Monomial, int]) -> tuple[Bound, Bound]:
    lo: Bound = 0
    hi: Bound = 0
    for monomial, k in terms.items():
        low: Bound = k
        high: Bound = k
        for atom, power in monomial:
            a, b = power_bounds(atom.lo, atom.hi, power)
            ends = mul_bounds(low, a), mul_bounds(low, b), mul_bounds(high, a), mul_bounds(high, b)
            low, high = min(ends), max(ends)
        lo, hi = add_bounds(lo, low), add_bounds(hi, high)
    return lo, hi


def monomial_product(m: Monomial, n: Monomial) -> Monomial:
    if not m or not n:
        return m or n
    powers = dict(m)
    for atom, power in n:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset(powers.items())


def monomial_quotient(m: Monomial, n: Monomial) -> Monomial | None:
    powers = dict(m)
    for atom, power in n:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        if left:
            powers[atom] = left
        else:
            del powers[atom]
    return frozenset(powers.items())
