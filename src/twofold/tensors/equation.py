"""The notation of `einsum`: an equation of letters, or lists of numbers, to a label for every dimension of every operand.

A label is an int: letters are numbered from 0, the dimensions an ellipsis stands for from -1 downwards, counted from the right.
"""

from __future__ import annotations

import string
from functools import lru_cache
from typing import Any

from twofold.support.errors import ShapeError, ValueRangeError

LETTERS = string.ascii_uppercase + string.ascii_lowercase
Labels = tuple[int, ...]
ELLIPSIS = object()


@lru_cache(maxsize=1024)
def parse_equation(equation: str, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand (of these ranks) and of the output."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise ValueRangeError(f"einsum: the equation {equation!r} is for {len(parts)} operand(s), {len(ranks)} were given")
    inputs = [_symbols(part, equation) for part in parts]
    output = _symbols(right, equation) if arrow else None
    return _expand(inputs, output, ranks, f"einsum: the equation {equation!r}")


def _symbols(text: str, equation: str) -> list[Any]:
    result: list[Any] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c in LETTERS:
            result.append(LETTERS.index(c))
        elif text.startswith("...", i):
            if ELLIPSIS in result:
                raise ValueRangeError(f"einsum: an operand of {equation!r} has two ellipses")
            result.append(ELLIPSIS)
            i += 2
        elif not c.isspace():
            raise ValueRangeError(f"einsum: {c!r} in {equation!r} is no letter, comma, arrow or ellipsis")
        i += 1
    return result


def parse_sublists(args: tuple[Any, ...], ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The same for the form `operand, [labels], operand, [labels], …, [output labels]`."""
    lists = [args[i] for i in range(1, len(args), 2)]
    output = args[-1] if len(args) % 2 else None
    what = "einsum: the list of labels"
    return _expand([_numbers(x) for x in lists], None if output is None else _numbers(output), ranks, what)


def _numbers(labels: Any) -> list[Any]:
    if not isinstance(labels, (list, tuple)):
        raise ValueRangeError(f"einsum: each operand is followed by a list of labels, not by {type(labels).__name__}")
    result = []
    for x in labels:
        if x is not Ellipsis and (not isinstance(x, int) or not 0 <= x < 52):
            raise ValueRangeError(f"einsum: a label must be an int from 0 to 51 or Ellipsis, not {x!r}")
        result.append(ELLIPSIS if x is Ellipsis else int(x))
    return result


def _expand(inputs: list[list[Any]], output: list[Any] | None, ranks: tuple[int, ...], what: str) -> tuple[tuple[Labels, ...], Labels]:
    """Put labels in the places of ellipses, and make the output where it is implied."""
    expanded = []
    widest = 0
    for i, (labels, rank) in enumerate(zip(inputs, ranks, strict=True)):
        named = len(labels) - (ELLIPSIS in labels)
        if named > rank or (named < rank and ELLIPSIS not in labels):
            raise ShapeError(f"{what} names {named} dimension(s) of operand {i}, which has {rank}")
        expanded.append(_fill(labels, rank - named))
        if ELLIPSIS in labels:
            widest = max(widest, rank - named)
    if output is None:
        flat = [x for labels in expanded for x in labels]
        once = sorted(x for x in set(flat) if x >= 0 and flat.count(x) == 1)
        return tuple(expanded), (*range(-widest, 0), *once)
    result = _fill(output, widest)
    for x in result:
        if result.count(x) > 1:
            raise ValueRangeError(f"{what} has a label twice in the output")
        if not any(x in labels for labels in expanded):
            raise ValueRangeError(f"{what} has a label in the output that no operand has")
    return tuple(expanded), result


def _fill(labels: list[Any], count: int) -> Labels:
    result: list[int] = []
    for x in labels:
        result.extend(range(-count, 0) if x is ELLIPSIS else (x,))
    return tuple(result)
