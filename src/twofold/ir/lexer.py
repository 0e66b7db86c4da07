"""Tokens of graph text, read one at a time, and errors with line and column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from twofold.support.errors import ParseError, TwofoldError

MAX_TEXT = 256 << 20
MAX_DEPTH = 100
MAX_DIGITS = 20

_SKIP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_TOKEN = re.compile(
    r"""(?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
      | (?P<int>\d+)
      | (?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*")
      | (?P<sign>//|\.\.\.|\.\.|[-+*%=:,(){}\[\]@])""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"[ \t]*#([^\n]*)")


class Token(NamedTuple):
    kind: str
    text: str
    start: int


class Lexer:
    """A text and a position in it; `depth` counts open nestings."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.depth = 0
        self._ahead: Token | None = None
        if len(text) > MAX_TEXT:
            raise ParseError(f"graph text of {len(text)} characters is longer than the limit of {MAX_TEXT}")

    def peek(self) -> Token:
        """The next token, left in place; kind "end" at the end."""
        if self._ahead is None:
            start = _SKIP.match(self.text, self.pos).end()  # type: ignore[union-attr]
            m = _TOKEN.match(self.text, start)
            if m is not None:
                self._ahead = Token(m.lastgroup or "", m[0], start)
            elif start == len(self.text):
                self._ahead = Token("end", "", start)
            else:
                c = self.text[start]
                self.fail("unterminated text in quotes" if c == '"' else f"unexpected character {c!r}", start)
        return self._ahead

    def next(self) -> Token:
        """The next token, consumed."""
        token = self._ahead or self.peek()
        self.pos = token.start + len(token.text)
        self._ahead = None
        return token

    def at(self, text: str) -> bool:
        """Is the next token this sign or word?"""
        token = self._ahead or self.peek()
        return token.text == text and token.kind in ("sign", "name")

    def follows(self, text: str) -> bool:
        """Does this text stand right behind the next token (spaces aside)?"""
        token = self._ahead or self.peek()
        start = _SKIP.match(self.text, token.start + len(token.text)).end()  # type: ignore[union-attr]
        return self.text.startswith(text, start)

    def accept(self, text: str) -> bool:
        """Consume the next token if it is this sign or word."""
        if self.at(text):
            self.next()
            return True
        return False

    def expect(self, text: str) -> Token:
        """Consume this sign or word; ParseError for another token."""
        if not self.at(text):
            self.unexpected(repr(text))
        return self.next()

    def take(self, kind: str, what: str) -> Token:
        """Consume a token of a kind; ParseError naming `what` for another one."""
        if self.peek().kind != kind:
            self.unexpected(what)
        return self.next()

    def comment(self) -> str | None:
        """The comment that follows on the same line, consumed. Only valid directly after `next`."""
        m = _COMMENT.match(self.text, self.pos)
        if m is None:
            return None
        self.pos = m.end()
        return m[1].strip()

    def unexpected(self, wanted: str) -> NoReturn:
        token = self.peek()
        if token.kind == "end":
            self.fail(f"the text ends where {wanted} was expected", token.start)
        self.fail(f"expected {wanted}, found {token.text[:40]!r}", token.start)

    def fail(self, message: str, start: int, cause: BaseException | None = None) -> NoReturn:
        """Raise ParseError at an offset."""
        line = self.text.count("\n", 0, start) + 1
        begin = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", start)
        shown = self.text[begin : len(self.text) if end < 0 else end]
        column = start - begin + 1
        excerpt = f"\n  {shown}\n  {' ' * (column - 1)}^" if len(shown) <= 200 else ""
        raise ParseError(f"line {line}, column {column}: {message}{excerpt}") from cause

    @contextmanager
    def errors_at(self, start: int) -> Iterator[None]:
        """Errors of records and types inside get this line and column."""
        try:
            yield
        except ParseError:
            raise
        except TwofoldError as e:
            self.fail(e.message, start, e)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One level deeper; ParseError beyond the limit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} levels deep", self.peek().start)
        try:
            yield
        finally:
            self.depth -= 1
