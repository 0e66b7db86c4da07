"""Reads attribute values, types and symbolic dimensions from graph text. What it makes is plain data: nothing is evaluated."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from twofold.ir import dims
from twofold.ir.constant import ArrayAttr
from twofold.ir.dims import Dim
from twofold.ir.dtypes import BOOL, BY_SHORT, DTYPES, FLOAT, DType
from twofold.ir.lexer import MAX_DIGITS, Lexer, Token
from twofold.ir.types import TOKEN, TensorType, Type, tensor_type
from twofold.support.errors import DeviceError, ParseError

MAX_RANK = 64
MAX_NUMEL = 1 << 62
_NAMED: dict[str, Any] = {"None": None, "True": True, "False": False, "inf": math.inf, "nan": math.nan}
_DTYPES = {d.name: d for d in DTYPES}


class Literals:
    """Reads values at the position of a lexer. `symbols` are the declared dimensions, `blobs` the arrays kept beside the text."""

    def __init__(self, lexer: Lexer, symbols: Mapping[str, Dim], blobs: Mapping[str, np.ndarray] | None = None) -> None:
        self.lexer, self.symbols, self.blobs = lexer, symbols, blobs

    # --- values and integer expressions (+ - binds weaker than * // %)

    def value(self) -> Any:
        """An attribute value."""
        with self.lexer.nested():
            result = self._product()
            while self.lexer.at("+") or self.lexer.at("-"):
                sign = self.lexer.next()
                result = self._combine(sign, result, self._product())
            return result

    def _product(self) -> Any:
        result = self._unary()
        while self.lexer.at("*") or self.lexer.at("//") or self.lexer.at("%"):
            sign = self.lexer.next()
            result = self._combine(sign, result, self._unary())
        return result

    def _combine(self, sign: Token, a: Any, b: Any) -> Any:
        for x in (a, b):
            if type(x) is not int and type(x) is not Dim:
                self.lexer.fail(f"{sign.text!r} joins integers and symbolic dimensions, not {_kind(x)}", sign.start)
        with self.lexer.errors_at(sign.start):
            if sign.text == "+":
                result = a + b
            elif sign.text == "-":
                result = a - b
            elif sign.text == "*":
                result = a * b
            else:
                quotient = dims.floordiv(a, b)
                result = quotient if sign.text == "//" else a - b * quotient
        if type(result) is int and abs(result) >= 1 << 64:
            self.lexer.fail("an integer beyond 64 bits", sign.start)
        return result

    def _unary(self) -> Any:
        if not self.lexer.at("-"):
            return self._primary()
        sign = self.lexer.next()
        with self.lexer.nested():
            x = self._unary()
        if type(x) not in (int, float, Dim):
            self.lexer.fail(f"'-' stands before a number, not {_kind(x)}", sign.start)
        return -x

    def _primary(self) -> Any:
        token = self.lexer.next()
        if token.kind == "int":
            return self._integer(token)
        if token.kind == "float":
            return self._float(token)
        if token.kind == "string":
            return self._string(token)
        if token.kind == "name":
            return self._name(token)
        if token.text == "(":
            return self._tuple()
        if token.text == "...":
            return Ellipsis
        self.lexer.fail("expected a value" + (f", found {token.text!r}" if token.text else ", the text ends"), token.start)

    def _integer(self, token: Token) -> int:
        if len(token.text) > MAX_DIGITS or int(token.text) >= 1 << 64:
            self.lexer.fail("an integer beyond 64 bits", token.start)
        return int(token.text)

    def _float(self, token: Token) -> float:
        if len(token.text) > 400:
            self.lexer.fail("a number of more than 400 characters", token.start)
        return float(token.text)

    def _string(self, token: Token) -> str:
        try:
            return str(json.loads(token.text, strict=False))
        except ValueError as e:
            self.lexer.fail(f"a malformed text in quotes: {e}", token.start, e)

    def string(self, what: str) -> str:
        """A text in quotes."""
        return self._string(self.lexer.take("string", what))

    def integer(self, what: str) -> int:
        """An integer, perhaps negative."""
        negative = self.lexer.accept("-")
        n = self._integer(self.lexer.take("int", what))
        return -n if negative else n

    def _tuple(self) -> Any:
        """After the ``(``: a tuple, or an expression in parentheses."""
        items: list[Any] = []
        comma = False
        while not self.lexer.at(")"):
            if items and not comma:
                self.lexer.unexpected("',' or ')'")
            items.append(self.value())
            comma = self.lexer.accept(",")
        self.lexer.expect(")")
        return items[0] if len(items) == 1 and not comma else tuple(items)

    def _name(self, token: Token) -> Any:
        name = token.text
        if name in _NAMED:
            return _NAMED[name]
        if name in ("min", "max", "slice") and self.lexer.at("("):
            return self._call(token)
        if name == "type":
            return self.type()
        if name in self.symbols:
            return self.symbols[name]
        if name in BY_SHORT and self.lexer.at("["):
            return self._array(self._tensor_type(token), token)
        if name in _DTYPES:
            return _DTYPES[name]
        self.lexer.fail(f"{name!r} is neither a declared symbolic dimension nor a dtype", token.start)

    def _call(self, token: Token) -> Any:
        self.lexer.expect("(")
        with self.lexer.nested():
            parts = self._tuple()
        parts = parts if type(parts) is tuple else (parts,)
        if token.text == "slice":
            if len(parts) != 3:
                self.lexer.fail(f"slice(…) has three parts, not {len(parts)}", token.start)
            if any(p is not None and type(p) is not int and type(p) is not Dim for p in parts):
                self.lexer.fail("the parts of a slice(…) are integers, symbolic dimensions or None", token.start)
            return slice(*parts)
        if not parts or any(type(p) is not int and type(p) is not Dim for p in parts):
            self.lexer.fail(f"{token.text}(…) takes integers and symbolic dimensions", token.start)
        with self.lexer.errors_at(token.start):
            return dims.minimum(*parts) if token.text == "min" else dims.maximum(*parts)

    # --- types

    def type(self) -> Type:
        """A type: ``token``, or dtype, shape and device as in ``f32[2, s0]@meta``."""
        token = self.lexer.take("name", "a type such as f32[2, 3]")
        if token.text == "token":
            return TOKEN
        return self._tensor_type(token)

    def _tensor_type(self, token: Token) -> TensorType:
        dtype = BY_SHORT.get(token.text)
        if dtype is None:
            self.lexer.fail(f"{token.text!r} is no dtype; the dtypes are {', '.join(BY_SHORT)}", token.start)
        self.lexer.expect("[")
        shape: list[Any] = []
        numel = 1
        while not self.lexer.at("]"):
            if shape:
                self.lexer.expect(",")
            start = self.lexer.peek().start
            n = self.value()
            if type(n) is not int and type(n) is not Dim:
                self.lexer.fail(f"a dimension is an integer or a symbolic dimension, not {_kind(n)}", start)
            if type(n) is int:
                if n < 0:
                    self.lexer.fail(f"a dimension cannot be negative ({n})", start)
                numel *= max(n, 1)
            shape.append(n)
            if len(shape) > MAX_RANK or numel > MAX_NUMEL:
                self.lexer.fail(f"a shape of more than {MAX_RANK} dimensions or {MAX_NUMEL} elements", start)
        self.lexer.expect("]")
        device = "cpu"
        if self.lexer.accept("@"):
            device = self.lexer.take("name", "a device").text
        try:
            return tensor_type(dtype, tuple(shape), device)
        except DeviceError as e:
            self.lexer.fail(e.message, token.start, e)

    # --- arrays

    def _array(self, t: TensorType, token: Token) -> ArrayAttr:
        self.lexer.expect("{")
        if t.device != "cpu" or not t.is_static:
            self.lexer.fail(f"a constant cannot have the type {t}: its sizes are integers and its device is cpu", token.start)
        if self.lexer.accept("base64"):
            array = self._encoded(t, token)
        elif self.lexer.accept("blob"):
            array = self._blob(t, token)
        else:
            array = self._elements(t, token)
        self.lexer.expect("}")
        return ArrayAttr(array)

    def _elements(self, t: TensorType, token: Token) -> np.ndarray:
        values: list[Any] = []
        while not self.lexer.at("}"):
            if values:
                self.lexer.expect(",")
            start = self.lexer.peek().start
            x = self._unary()
            if not _fits(x, t.dtype):
                self.lexer.fail(f"{x!r} is no element of a constant of {t.dtype.name}", start)
            values.append(x)
        if len(values) != t.numel:
            self.lexer.fail(f"a constant {t} has {t.numel} elements, {len(values)} are given", token.start)
        with np.errstate(all="ignore"):
            if t.dtype.category == FLOAT:
                return np.array([float(x) for x in values], np.float64).astype(t.dtype.numpy).reshape(t.shape)
            return np.array(values, t.dtype.numpy).reshape(t.shape)

    def _encoded(self, t: TensorType, token: Token) -> np.ndarray:
        text = self.lexer.take("string", "base64 text in quotes").text[1:-1]
        if (len(text) // 4) * 3 > t.nbytes + 3:
            self.lexer.fail(f"a constant {t} has {t.nbytes} bytes, more are given", token.start)
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as e:
            self.lexer.fail(f"malformed base64: {e}", token.start, e)
        if len(data) != t.nbytes:
            self.lexer.fail(f"a constant {t} has {t.nbytes} bytes, {len(data)} are given", token.start)
        stored = t.dtype.numpy.newbyteorder("<") if t.dtype.numpy.kind in "iuf" else t.dtype.numpy
        if t.dtype.category == BOOL and np.frombuffer(data, np.uint8).max(initial=0) > 1:
            self.lexer.fail("a bool constant holds bytes other than 0 and 1", token.start)
        return np.frombuffer(data, stored).astype(t.dtype.numpy).reshape(t.shape)

    def _blob(self, t: TensorType, token: Token) -> np.ndarray:
        digest = self.string("the content hash in quotes")
        array = (self.blobs or {}).get(digest)
        if array is None:
            self.lexer.fail(f"there is no blob {digest[:80]!r} beside this text ({len(self.blobs or {})} were given)", token.start)
        attr = ArrayAttr(array)
        if attr.type != t or attr.digest != digest:
            self.lexer.fail(f"the blob {digest[:16]}… is {attr.type} with hash {attr.digest[:16]}…, the text says {t}", token.start)
        return attr.array


def _fits(x: Any, dtype: DType) -> bool:
    if dtype.category == BOOL:
        return type(x) is bool
    if dtype.category == FLOAT:
        return type(x) is float or type(x) is int
    info = np.iinfo(dtype.numpy)
    return type(x) is int and info.min <= x <= info.max


def _kind(x: Any) -> str:
    return "None" if x is None else f"{type(x).__name__} {x!r:.40}"


def parse_dim(text: str, symbols: Mapping[str, Dim]) -> int | Dim:
    """A symbolic dimension from its text (``s0*2 + 1``), over the given symbols; raises ParseError."""
    lexer = Lexer(text)
    result = Literals(lexer, symbols).value()
    if lexer.peek().kind != "end":
        lexer.unexpected("the end of the expression")
    if type(result) is not int and type(result) is not Dim:
        raise ParseError(f"{text!r} is not an integer expression")
    return result
