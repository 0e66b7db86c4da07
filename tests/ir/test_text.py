"""Printer and parser: what is printed reads back equal; what is malformed is refused with line and column."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from tests.ir.records import GRAPHS, controlled, simple, symbolic
from twofold.ir.dims import Dim, symbol
from twofold.ir.graph import Graph, difference, same_graph
from twofold.ir.literals import parse_dim
from twofold.ir.parser import parse_graph
from twofold.ir.printer import print_graph
from twofold.ir.verifier import verify
from twofold.support.errors import ArgumentError, ParseError, TwofoldError


@pytest.mark.parametrize("make", GRAPHS)
def test_round_trip(make: Callable[[], Graph]) -> None:
    g = make()
    verify(g)
    text = print_graph(g)
    h = parse_graph(text)
    verify(h)
    assert difference(g, h) == ""
    assert print_graph(h) == text
    assert same_graph(parse_graph(print_graph(g, full_paths=True)), g)
    copied = g.copy()
    verify(copied)
    assert difference(g, copied) == ""
    without = parse_graph(print_graph(g, sources=False))
    assert same_graph(g, without, sources=False)
    assert all(n.source is None for n in without.walk())


@pytest.mark.parametrize("make", GRAPHS)
def test_blobs(make: Callable[[], Graph]) -> None:
    g = make()
    blobs: dict[str, np.ndarray] = {}
    text = print_graph(g, blobs)
    assert "base64" not in text.replace('{base64 "AQDAfwAAwP8="}', "")  # the small one with a NaN that carries a payload
    assert same_graph(parse_graph(text, blobs), g)
    if blobs:
        with pytest.raises(ParseError, match="there is no blob"):
            parse_graph(text)
        key = next(iter(blobs))
        with pytest.raises(ParseError, match="the blob"):
            parse_graph(text, {**blobs, key: blobs[key] + np.ones((), blobs[key].dtype) if blobs[key].dtype != bool else ~blobs[key]})


def test_text() -> None:
    text = print_graph(simple())
    lines = text.splitlines()
    assert lines[0] == 'graph forward(x: f32[2, 3], fc_weight: f32[3] = binding "fc.weight") {'
    assert lines[1].startswith("  t_mul: f32[2, 3] = t_mul(x, fc_weight)  # records.py:")
    assert lines[1].endswith(' in fc as operator "*"')
    assert lines[2:] == [
        "  t_sum: f32[2] = t_sum(t_mul, dim=(1,))  # model.py:12 as method t_sum",
        "  t_max_values: f32[2, 1], t_max_indices: i64[2, 1] = t_max(t_mul, dim=1, keepdim=True)",
        "  t_bias: f32[2, 1] = t_bias(t_max_values, None)",
        "  t_split_0: f32[1, 3], t_split_1: f32[1, 3] = t_split(x, size=1)",
        "  t_cat: f32[2, 3] = t_cat([t_split_0, t_split_1])",
        "  return (t_sum, t_max_indices, t_bias, t_cat, None, 2.0)",
        "}",
    ]
    assert print_graph(symbolic()).splitlines()[0] == (
        "graph sizes[s0 in 2..64 like 8, s1 in 1.., fresh u0](x: f32[s0, 4], y: f32[s0*2 + s1, 4], z: f32[s1]) {"
    )


HEAD = "graph g(x: f32[2, 3]) {\n  "
MALFORMED = [
    ("", "line 1, column 1: the text ends where 'graph'"),
    ("graph", "the graph's name"),
    (HEAD + "y: f32[2, 3] = t_mull(x, 2)\n return (y,)\n}", "line 2, column 18: there is no operation 't_mull'; did you mean t_mul"),
    (HEAD + "y: f32[2, 3] = t_sum(x, dims=1)\n return (y,)\n}", "column 27: t_sum has no attribute 'dims'; it has dim, keepdim"),
    (HEAD + "y: f32[2, 3] = t_sum(x, dim=1, dim=1)\n return (y,)\n}", "given twice"),
    (HEAD + "y: f32[2, 3] = t_sum(x, dim=5)\n return (y,)\n}", "line 2, column 18: t_sum: dimension 5 is out of range"),
    (HEAD + "y: f32[2, 3] = t_sum(x, dim=True*2)\n return (y,)\n}", "'\\*' joins integers"),
    (HEAD + "y: f32[2, 4] = t_mul(x, 2)\n return (y,)\n}", "line 2, column 3: y is declared as f32\\[2, 4\\]; t_mul gives f32\\[2, 3\\]"),
    (HEAD + "y: f99[2, 4] = t_mul(x, 2)\n return (y,)\n}", "'f99' is no dtype"),
    (HEAD + "y: f32[2, -4] = t_mul(x, 2)\n return (y,)\n}", "cannot be negative"),
    (HEAD + "y: f32[99999999999, 99999999999] = t_mul(x, 2)\n return (y,)\n}", "a shape of more than"),
    (HEAD + f"y: f32[{'1, ' * 70}1] = t_mul(x, 2)\n return (y,)\n}}", "a shape of more than"),
    (HEAD + f"y: f32[{'9' * 30}] = t_mul(x, 2)\n return (y,)\n}}", "beyond 64 bits"),
    (HEAD + "y: f32[q] = t_mul(x, 2)\n return (y,)\n}", "'q' is neither a declared symbolic dimension"),
    (HEAD + "y: f32[2.0] = t_mul(x, 2)\n return (y,)\n}", "a dimension is an integer"),
    (HEAD + "y: f32[2, 3]@cuda = t_mul(x, 2)\n return (y,)\n}", "device 'cuda' does not exist"),
    (HEAD + "y: f32[2, 3] = t_mul(x)\n return (y,)\n}", "takes 2 tensor operands"),
    (HEAD + "y: f32[2, 3] = t_mul(x, None)\n return (y,)\n}", "must be a tensor, not None"),
    (HEAD + "y: f32[2, 3] = t_mul(x, [x])\n return (y,)\n}", "must be a value of the graph"),
    (HEAD + 'y: f32[2, 3] = t_mul(x, "2")\n return (y,)\n}', "an operand is a value"),
    (HEAD + "y: f32[2, 3] = t_mul(x, z)\n return (y,)\n}", "line 2, column 27: the name z is not defined"),
    (HEAD + "y: f32[2, 3] = t_mul(x, y)\n return (y,)\n}", "defined .* by this very line"),
    (HEAD + "y: f32[2, 3] = t_mul(x, z)\n  z: f32[2, 3] = t_mul(y, x)\n return (y,)\n}", "z is used before it is defined \\(line 3\\)"),
    (HEAD + "x: f32[2, 3] = t_mul(x, 2)\n return (x,)\n}", "the name x is defined twice"),
    (HEAD + "inf: f32[2, 3] = t_mul(x, 2)\n return (inf,)\n}", "cannot name a value"),
    (HEAD + "y: f32[2, 3], z: f32[2, 3] = t_mul(x, 2)\n return (y,)\n}", "t_mul has 1 output"),
    (HEAD + "y: f32[2, 3] = t_mul(x, 2)\n return (y,)\n", "the text ends where '}'"),
    (HEAD + "y: f32[2, 3] = t_mul(x, 2)\n return (y z)\n}", "expected ',' or '\\)'"),
    (HEAD + "y: f32[2, 3] = t_mul(x, 2)\n return (y,)\n} more", "the end of the text"),
    (HEAD + 'y: f32[2, 3] = t_any(x, what="abc)\n return (y,)\n}', "line 2, column 32: unterminated text"),
    (HEAD + 'y: f32[2, 3] = t_any(x, what="\\q")\n return (y,)\n}', "malformed text"),
    (HEAD + f"y: f32[2, 3] = t_any(x, what={'(' * 5000}\n return (y,)\n}}", "nested more than 100"),
    (HEAD + f"y: f32[2, 3] = t_any(x, what={'-' * 5000}1)\n return (y,)\n}}", "nested more than 100"),
    (HEAD + "y: f32[2, 3] = t_any(x, what=1 // 0)\n return (y,)\n}", "by zero"),
    (HEAD + "y: f32[2, 3] = t_any(x, what=__import__)\n return (y,)\n}", "neither a declared"),
    (HEAD + "c: i8[1] = constant(value=i8[1]{300})\n return (c,)\n}", "300 is no element of a constant of int8"),
    (HEAD + "c: i8[2] = constant(value=i8[2]{3})\n return (c,)\n}", "has 2 elements, 1 are given"),
    (HEAD + 'c: i8[2] = constant(value=i8[2]{base64 "!!"})\n return (c,)\n}', "malformed base64"),
    (HEAD + 'c: i8[2] = constant(value=i8[2]{base64 "AA=="})\n return (c,)\n}', "has 2 bytes, 1 are given"),
    (HEAD + 'c: bool[1] = constant(value=bool[1]{base64 "Ag=="})\n return (c,)\n}', "other than 0 and 1"),
    (HEAD + 'c: f32[1000000000000] = constant(value=f32[1000000000000]{base64 ""})\n return (c,)\n}', "0 are given"),
    (HEAD + "c: f32[2] = constant(value=3)\n return (c,)\n}", "must be an ArrayAttr"),
    (HEAD + "c: f32[2, 3] = cond(x, [x])\n return (c,)\n}", "has two bodies"),
    ("graph g(x: f32[2], x: f32[2]) {\n return ()\n}", "defined twice"),
    ('graph g(x: f32[2] = binding "a", y: f32[2] = binding "a") {\n return ()\n}', "appears twice"),
    ("graph g[s, s](x: f32[s]) {\n return ()\n}", "declared twice"),
    ("graph g[s in 5..2](x: f32[s]) {\n return ()\n}", "no value lies between"),
    ("graph g[float32](x: f32[2]) {\n return ()\n}", "cannot name a symbolic dimension"),
    ("graph g[_u1](x: f32[2]) {\n return ()\n}", "cannot name a symbolic dimension"),
    ("graph g(x: f32[2]) {\n return (x,) after x\n}", "is no effect"),
    ("graph g(x: f32[2]) {\n return (x,) \x00\n}", "unexpected character"),
]


@pytest.mark.parametrize("text, message", MALFORMED)
def test_malformed(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message) as e:
        parse_graph(text)
    assert "line " in str(e.value)
    assert "column " in str(e.value)


def test_nested_bodies_have_a_limit() -> None:
    line = "(a{0}: f32[]) {{ c{0}: f32[] = cond(p, [x]) "
    text = "graph g(p: bool[], x: f32[]) {\n c: f32[] = cond(p, [x]) " + "".join(line.format(i) for i in range(300))
    with pytest.raises(ParseError, match="nested more than 100"):
        parse_graph(text)


def test_other_inputs() -> None:
    with pytest.raises(ArgumentError):
        parse_graph(b"graph")  # type: ignore[arg-type]
    assert same_graph(parse_graph("graph g ( ) { return ( ) }"), Graph("g"))
    g = parse_graph("# a remark\ngraph g(x: f32[2]) {  # another\n  y: f32[2] = t_mul(x, 2)  # no place\n  return (y)\n}")
    assert g.nodes[0].source is None


def test_mutated_text_never_raises_anything_else() -> None:
    rng = random.Random(7)
    texts = [print_graph(make()) for make in GRAPHS]
    pieces = list("(){}[]=:,.#\"\\-+*/%@ \n019aefx") + [
        "f32", "t_mul", "None", "nan", "..", "return", "binding", "cond", "token", "99999999999999999999",
        "min(", "s0", "after", "base64", "x",
    ]  # fmt: skip
    refused = 0
    for _ in range(3000):
        text = rng.choice(texts)
        begin = rng.randrange(len(text))
        text = text if len(text) < 1500 else text[:200] + text[200:][begin : begin + 1200]
        for _ in range(rng.randint(1, 4)):
            i = rng.randrange(len(text))
            j = min(len(text), i + rng.choice((0, 1, 1, 3, 30)))
            insert = rng.choice((rng.choice(pieces), "", text[(k := rng.randrange(len(text))) : k + rng.randint(1, 40)]))
            text = text[:i] + insert + text[j:] or " "
        try:
            parse_graph(text)
        except TwofoldError:
            refused += 1
    assert refused > 1500


def test_dim_text() -> None:
    s, t = symbol("s0", 2, 64), symbol("t")
    table = {"s0": s, "t": t}
    cases: list[int | Dim] = [
        s * 2 + 1, s // 2, s % 3, -(s // 2), -s, 5 - s, s * t, s * s - t, (s + t) % 7 * 2 - s // t, s // 2 * t,
        -(s % 2) * 3 + (t // 4) * (t % 4), s - s,
    ]  # fmt: skip
    for d in cases:
        assert parse_dim(str(d), table) == d
    assert str(s * 2 + 1) == "s0*2 + 1"
    assert str(s // 2) == "s0//2"
    for bad in ("s0 +", "s0 + q", "1.5", "s0 s0", "(", "s0 + None", ""):
        with pytest.raises(ParseError):
            parse_dim(bad, table)


def test_controlled_text_is_nested() -> None:
    text = print_graph(controlled())
    assert "\n      " in text
    assert text.count("return") == 5
    assert " after " in text
