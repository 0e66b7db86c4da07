"""Symbolic dimensions as text: ``s0*2 + 1``, ``s0//2``, ``s0 % 2``, ``min(s0, 4)``. Reads the canonical form of `ir.dims`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Size = Any
Monomial = frozenset[Any]


def remainders(size: Any) -> list[tuple[Any, int, int]]:
    """The (x, b, m) of terms m*b*(x//b) which, with terms -m*x that stand beside them, are remainders ``x % b``."""
    found = []
    for monomial, k in size._terms.items():
        if len(monomial) == 1:
            ((atom, power),) = monomial
            if power == 1 and atom.kind == "floordiv" and type(atom.args[1]) is int and k % atom.args[1] == 0:
                x, b = atom.args
                m = k // b
                if all(size._terms.get(n) == -m * j for n, j in x._terms.items() if n):
                    found.append((x, b, m))
    return found


def print_dim(size: Size) -> str:
    if type(size) is int:
        return str(size)
    parts: list[tuple[str, int]] = []
    rest: Size = size
    for x, b, m in remainders(size):  # shown as the remainders they are
        if type(rest) is not int and all(rest._terms.get(n) == -m * j for n, j in x._terms.items() if n):
            rest = rest - m * b * (x // b) + m * x
            parts.append((f"{_wrapped(x)} % {b}", -m))
    constant = 0
    for monomial, k in _terms_of(rest).items():
        if monomial:
            text, k = _monomial_text(monomial, k)
            parts.append((text, k))
        else:
            constant = k
    parts.sort(key=lambda p: (p[1] < 0, p[0]))
    text = ""
    for factor, k in parts:
        shown = factor if abs(k) == 1 else f"{_group(factor)}*{abs(k)}"
        sign = ("-" if k < 0 else "") if not text else (" - " if k < 0 else " + ")
        text += sign + (_group(shown) if k < 0 and abs(k) == 1 and not text else shown)
    if constant or not text:
        text += (f" - {-constant}" if constant < 0 else f" + {constant}") if text else str(constant)
    return text


def _group(text: str) -> str:
    return f"({text})" if any(c in text for c in "/%") and not text.startswith("(min") else text


def _wrapped(size: Size) -> str:
    text = print_dim(size)
    return f"({text})" if (type(size) is not int and (not size.is_symbol)) or text.startswith("-") else text


def _monomial_text(monomial: Monomial, k: int) -> tuple[str, int]:
    factors = []
    for atom, power in monomial:
        text, sign = _atom_text(atom)
        k *= sign**power
        several = len(monomial) > 1 or power > 1
        factors += [_group(text) if several else text] * power
    return "*".join(sorted(factors)), k


def _atom_text(atom: Any) -> tuple[str, int]:
    """The text of an atom and the sign that stands before it (a minimum of negated sizes is shown as a maximum)."""
    if atom.kind == "symbol":
        return str(atom.args[0]), 1
    if atom.kind == "floordiv":
        return f"{_wrapped(atom.args[0])}//{_wrapped(atom.args[1])}", 1
    negative = sum(all(k < 0 for m, k in p._terms.items() if m) for p in atom.args if type(p) is not int)
    if negative * 2 > sum(type(p) is not int for p in atom.args):
        return f"max({_list([-p for p in atom.args])})", -1
    return f"min({_list(atom.args)})", 1


def _list(sizes: Iterable[Size]) -> str:
    return ", ".join(print_dim(p) for p in sorted(sizes, key=lambda p: (type(p) is int, print_dim(p))))


def _terms_of(size: Size) -> dict[Monomial, int]:
    return {frozenset(): size} if type(size) is int else size._terms
