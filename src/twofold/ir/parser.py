"""Reads graph text (see `ir.printer`) from anybody: every fault ends in a ParseError with line and column, and nothing is evaluated.

Types are inferred anew and compared with the written ones, so a graph that parses also verifies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from twofold.ir import control, dims
from twofold.ir.builder import NUMBERS, Builder
from twofold.ir.graph import Graph, Region, Source, Value
from twofold.ir.lexer import Lexer, Token
from twofold.ir.literals import Literals
from twofold.ir.op import get_op
from twofold.ir.types import TOKEN, Type
from twofold.ir.verifier import agree
from twofold.support.errors import ArgumentError, ParseError

CONTROL = control.cond, control.while_loop
"""Named here so that their records are in the vocabulary whenever text is read."""
RESERVED = frozenset(("return", "None", "True", "False", "inf", "nan"))
_TEXT = r'"(?:[^"\\]|\\.)*"'
_SOURCE = re.compile(
    rf"(\?|[\w./+@<>-]+:(?:\d+|None)|{_TEXT})(?: in ([\w.]+|{_TEXT}))?(?: as (function|method|operator) ([\w.]+|{_TEXT}))?"
)


def parse_graph(text: str, blobs: Mapping[str, np.ndarray] | None = None) -> Graph:
    """The graph of a text made by `print_graph`; `blobs` are the arrays that were stored beside it, by content hash.

    Raises ParseError (with line and column) for text that is malformed, names unknown operations or attributes, uses a value before its
    definition, or states a type that its operation does not give.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"graph text must be a str, not {type(text).__name__}")
    parser = _Parser(text, blobs)
    try:
        return parser.graph()
    except (RecursionError, MemoryError) as e:
        raise ParseError(f"graph text that needs too much {'depth' if isinstance(e, RecursionError) else 'memory'} to read") from e


class _Parser:
    def __init__(self, text: str, blobs: Mapping[str, np.ndarray] | None) -> None:
        self.lexer = Lexer(text)
        self.result = Graph()
        self.builder = Builder(self.result)
        self.literals = Literals(self.lexer, self.result.symbols(), blobs)
        self.scope: dict[str, Value] = {}

    def graph(self) -> Graph:
        lexer, result = self.lexer, self.result
        lexer.expect("graph")
        result.name = self.literals.string("a name") if lexer.peek().kind == "string" else lexer.take("name", "the graph's name").text
        if lexer.accept("["):
            while not lexer.at("]"):
                if result.symbols():
                    lexer.expect(",")
                self._symbol()
            lexer.expect("]")
        self._inputs(result, True)
        self._body(result)
        if lexer.peek().kind != "end":
            lexer.unexpected("the end of the text")
        return result

    def _symbol(self) -> None:
        lexer = self.lexer
        is_fresh = lexer.accept("fresh")
        token = lexer.take("name", "the name of a symbolic dimension")
        lo: int | None = 0
        hi = hint = None
        if lexer.accept("in"):
            lo = None if lexer.at("..") else self.literals.integer("the least size")
            lexer.expect("..")
            if lexer.peek().kind == "int" or lexer.at("-"):
                hi = self.literals.integer("the greatest size")
        if lexer.accept("like"):
            hint = self.literals.integer("an example size")
        if token.text.startswith("_"):
            lexer.fail(f"{token.text!r} cannot name a symbolic dimension: names that begin with '_' are kept for type rules", token.start)
        if token.text in self.result.symbols():
            lexer.fail(f"the symbolic dimension {token.text} is declared twice", token.start)
        with lexer.errors_at(token.start):
            s = dims.symbol(token.text, lo, hi, hint)
            self.result.declare_symbol(dims.as_fresh(s) if is_fresh else s)

    # --- names

    def _define(self, token: Token) -> None:
        if token.text in RESERVED:
            self.lexer.fail(f"{token.text!r} cannot name a value", token.start)
        if not self.result.claim_name(token.text):
            self.lexer.fail(f"the name {token.text} is defined twice", token.start)

    def _use(self, token: Token) -> Value:
        found = self.scope.get(token.text)
        if found is not None:
            return found
        rest = self.lexer.text
        later = re.compile(rf"^[^\n#(]*\b{re.escape(token.text)}[ \t]*:[^\n]*", re.MULTILINE).search(rest, token.start)
        if token.text not in RESERVED and later is not None:
            line = rest.count("\n", 0, later.start()) + 1
            self.lexer.fail(f"{token.text} is used before it is defined (line {line}): a graph has no cycles", token.start)
        if not self.result.claim_name(token.text):
            self.lexer.fail(f"{token.text} is defined inside a body that ended, or by this very line: it is not visible here", token.start)
        self.lexer.fail(f"the name {token.text} is not defined", token.start)

    # --- regions

    def _inputs(self, region: Region, bindings: bool) -> None:
        lexer = self.lexer
        lexer.expect("(")
        while not lexer.at(")"):
            if region.inputs:
                lexer.expect(",")
            token = lexer.take("name", "the name of an input")
            self._define(token)
            lexer.expect(":")
            value = Value(self.literals.type(), token.text, region=region)
            region.inputs.append(value)
            self.scope[token.text] = value
            if bindings and lexer.accept("="):
                lexer.expect("binding")
                start = lexer.peek().start
                path = self.literals.string("the path of the binding in quotes")
                if path in self.result.bindings.values():
                    lexer.fail(f"the binding {path!r} appears twice", start)
                self.result.bindings[value] = path
        lexer.expect(")")

    def _body(self, region: Region) -> None:
        """Nodes up to the ``return`` and the closing brace. Names defined here leave the scope at the end."""
        lexer = self.lexer
        lexer.expect("{")
        with lexer.nested(), self.builder.inside(region):
            while not lexer.at("return"):
                self._node(region)
            self._return(region)
        lexer.expect("}")
        for v in region.inputs:
            del self.scope[v.name]
        for node in region.nodes:
            for v in node.outputs:
                del self.scope[v.name]

    def _return(self, region: Region) -> None:
        lexer = self.lexer
        lexer.expect("return")
        lexer.expect("(")
        outputs: list[Any] = []
        comma = True
        while not lexer.at(")"):
            if not comma:
                lexer.unexpected("',' or ')'")
            start = lexer.peek().start
            x = self._operand()
            if x is not None and type(x) is not Value and type(x) not in NUMBERS:
                lexer.fail("an output is a value, a number or None", start)
            outputs.append(x)
            comma = lexer.accept(",")
        lexer.expect(")")
        region.outputs = outputs
        if lexer.accept("after"):
            token = lexer.take("name", "the last effect")
            region.token = self._use(token)
            if region.token.type is not TOKEN:
                lexer.fail(f"{token.text} is no effect: its type is {region.token.type}", token.start)
            if region is not self.result:
                lexer.fail("a body returns its last effect as an output", token.start)

    # --- nodes

    def _node(self, region: Region) -> None:
        lexer = self.lexer
        outputs: list[tuple[Token, Type]] = []
        while not lexer.at("="):
            if outputs:
                lexer.expect(",")
            token = lexer.take("name", "the name of a value, or 'return'")
            self._define(token)
            lexer.expect(":")
            outputs.append((token, self.literals.type()))
        lexer.expect("=")
        op_token = lexer.take("name", "the name of an operation")
        with lexer.errors_at(op_token.start):
            op = get_op(op_token.text)
        inputs, attributes = self._arguments(op_token, {p.name for p in op.attributes})
        regions = []
        while op.regions and lexer.at("("):
            inner = Region(region)
            with lexer.nested():
                self._inputs(inner, False)
                self._body(inner)
            regions.append(inner)
        source = _source(lexer.comment() if not op.regions or regions else None)
        with lexer.errors_at(op_token.start):
            node, types, several = self.builder.prepare(op, inputs, attributes, source, regions)
        if several != op.several:
            lexer.fail(f"the type rule of {op.name} contradicts its signature", op_token.start)
        if len(types) != len(outputs):
            lexer.fail(f"{op.name} has {len(types)} output(s) here, the text names {len(outputs)}", op_token.start)
        for (token, declared), inferred in zip(outputs, types, strict=True):
            if not agree(declared, inferred):
                lexer.fail(f"{token.text} is declared as {declared}; {op.name} gives {inferred} for these operands", token.start)
        node.outputs = tuple(Value(t, token.text, node, i) for i, (token, t) in enumerate(outputs))
        self.scope.update((v.name, v) for v in node.outputs)
        region.append(node)

    def _arguments(self, op: Token, known: set[str]) -> tuple[list[Any], dict[str, Any]]:
        lexer = self.lexer
        lexer.expect("(")
        inputs: list[Any] = []
        attributes: dict[str, Any] = {}
        first = True
        while not lexer.at(")"):
            if not first:
                lexer.expect(",")
            first = False
            token = lexer.peek()
            x = self._operand(attribute=True)
            if type(x) is Token:
                if x.text not in known:
                    lexer.fail(f"{op.text} has no attribute {x.text!r}; it has {', '.join(sorted(known)) or 'none'}", x.start)
                if x.text in attributes:
                    lexer.fail(f"the attribute {x.text} is given twice", x.start)
                lexer.expect("=")
                attributes[x.text] = self.literals.value()
            elif attributes:
                lexer.fail("operands stand before attributes", token.start)
            else:
                inputs.append(x)
        # not `expect`: a comment may follow, and must not be skipped over
        lexer.next()
        return inputs, attributes

    def _operand(self, attribute: bool = False) -> Any:
        """A Value, number, None, or tuple of Values; with `attribute`, the Token of a name that ``=`` follows."""
        lexer = self.lexer
        token = lexer.peek()
        if token.kind == "name" and (token.text not in RESERVED or (attribute and lexer.follows("="))):
            lexer.next()
            if attribute and lexer.at("="):
                return token
            return self._use(token)
        if lexer.accept("["):
            values: list[Value] = []
            while not lexer.at("]"):
                if values:
                    lexer.expect(",")
                values.append(self._use(lexer.take("name", "the name of a value")))
            lexer.expect("]")
            return tuple(values)
        x = self.literals.value()
        if x is not None and type(x) not in NUMBERS:
            lexer.fail("an operand is a value, a list of values, a number or None", token.start)
        return x


def _source(text: str | None) -> Source | None:
    """The source a comment states; None for any other comment."""
    if text is None or (m := _SOURCE.fullmatch(text)) is None:
        return None
    try:
        place, module, name = (json.loads(t) if t and t[0] == '"' else t or "" for t in (m[1], m[2], m[4]))
    except ValueError:
        return None
    return Source(place="" if place == "?" else place, module=module, spelling=m[3] or "function", name=name)
