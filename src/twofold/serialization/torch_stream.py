"""An interpreter of the part of Python's object streams that PyTorch's files consist of.

It knows containers, numbers, strings and the few names below, builds only those, and runs nothing: any other name raises DataError with
that name. Formats: the binary opcodes, of protocol 1 to 5, as the standard library's pickletools describes them.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from twofold.support.errors import DataError, TwofoldError

MAX_OPERATIONS = 5_000_000
MAX_DEPTH = 200
"""Containers within containers."""
MAX_INT_BYTES = 1024
KEYS = (str, int, float, bool, bytes, type(None))
Global = tuple[str, str]


class Bare:
    """What a stream works with and what is no value of its own. `text` names it in messages."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Function(Bare):
    """A function that the stream may call."""

    __slots__ = ("call",)

    def __init__(self, text: str, call: Callable[..., Any]) -> None:
        super().__init__(text)
        self.call = call


MARK = Bare("a mark")
"""Where the arguments of an opcode begin on the stack."""


class Reader:
    """Reads one object after another from `data`, beginning at `at`.

    names: what a (module, name) pair stands for: a value, or a `Bare`.  stored: the object for a persistent identifier.
    """

    def __init__(
        self, data: Any, at: int, names: Mapping[Global, Any], stored: Callable[[Any], Any], fault: Callable[[str], DataError]
    ) -> None:
        self.data, self.at, self.names, self.stored, self.fault = data, at, names, stored, fault
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.operations = 0
        self.text_made = 0

    def read(self) -> Any:
        """The next object; raises DataError."""
        self.stack, self.memo = [], {}
        try:
            while True:
                self.operations += 1
                if self.operations > MAX_OPERATIONS:
                    raise self.fault(f"more than {MAX_OPERATIONS} operations")
                code = self.take(1)
                if code == b".":
                    break
                action = ACTIONS.get(code)
                if action is None:
                    raise self.fault(f"the opcode {code!r} at offset {self.at - 1} is not one that tensors and containers need")
                action(self)
            if len(self.stack) != 1:
                raise self.fault("the stream does not end with one object")
            result = self.stack.pop()
        except TwofoldError:
            raise
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
            raise self.fault(f"its object stream is damaged at offset {self.at} ({type(error).__name__}: {error})") from None
        return plain(result, self.fault)

    # ---- what the actions use --------------------------------------------------------------------------------------------------------

    def take(self, count: int) -> bytes:
        """The next bytes."""
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise self.fault("its object stream is cut off")
        part = bytes(self.data[self.at : end])
        self.at = end
        return part

    def number(self, form: str) -> Any:
        """The next number of a `struct` format."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self) -> str:
        """The text up to the end of the line."""
        end = self.at
        limit = min(len(self.data), self.at + 4096)
        while end < limit and self.data[end] != 10:
            end += 1
        if end == limit:
            raise self.fault("its object stream is cut off in a line of text")
        text = self.take(end - self.at).decode("utf-8")
        self.at += 1
        return text

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def marked(self) -> list[Any]:
        """What lies above the last mark, which is taken away with it."""
        for i in range(len(self.stack) - 1, -1, -1):
            if self.stack[i] is MARK:
                found = self.stack[i + 1 :]
                del self.stack[i:]
                return found
        raise self.fault("its object stream misses a mark")

    def pop(self) -> Any:
        value = self.stack.pop()
        if value is MARK:
            raise self.fault("its object stream has a mark where an object belongs")
        return value

    def top(self, kind: type) -> Any:
        """The uppermost object, which must be a container of this kind."""
        value = self.stack[-1]
        if not isinstance(value, kind):
            raise self.fault(f"its object stream fills a {type(value).__name__} as if it were a {kind.__name__}")
        return value

    def name(self, module: Any, name: Any) -> Any:
        """What a name stands for."""
        if not isinstance(module, str) or not isinstance(name, str):  # the hash of nested tuples could take for ever
            raise self.fault("its object stream names something by what is no text")
        found = self.names.get((module, name))
        if found is None:
            raise self.fault(
                f"it needs {f'{module}.{name}'[:300]}, which is neither a tensor nor a container. Only tensors, numbers, "
                f"strings and containers are read; objects of other classes never are: save a state dict instead"
            )
        return found

    def fill(self, table: dict[Any, Any], pairs: list[Any]) -> None:
        """Set keys of a dict."""
        if len(pairs) % 2:
            raise self.fault("a dict with a key that has no value")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            if not isinstance(key, KEYS):
                raise self.fault(f"a dict with a key of type {type(key).__name__}")
            table[key] = value

    def build(self, state: Any) -> None:
        """Attributes of the uppermost object: an OrderedDict may have some (a state dict's `_metadata`), which are left out."""
        self.top(OrderedDict)
        if not isinstance(state, dict):
            raise self.fault("its object stream sets the state of an object")

    def charge(self, arguments: tuple[Any, ...]) -> None:
        """Bound what calls make of arguments that the stream holds once and names often."""
        for given in arguments:
            if isinstance(given, list):
                self.operations += len(given)
            elif isinstance(given, str):
                self.text_made += len(given)
        if self.operations > MAX_OPERATIONS or self.text_made > len(self.data):
            raise self.fault("its object stream repeats its contents too often")

    def remember(self, index: int) -> None:
        value = self.stack[-1]
        if value is MARK:
            raise self.fault("its object stream remembers a mark")
        self.memo[index] = value


def plain(value: Any, fault: Callable[[str], DataError]) -> Any:
    """The value, if no container holds itself or is nested too deeply and nothing bare is among the contents."""
    depth: dict[int, int] = {}
    path: set[int] = set()
    stack: list[tuple[Any, bool]] = [(value, False)]
    while stack:
        item, done = stack.pop()
        inside = children(item)
        if done:
            path.discard(id(item))
            depth[id(item)] = 1 + max((depth.get(id(c), 0) for c in inside), default=0)
            if depth[id(item)] > MAX_DEPTH:
                raise fault(f"containers are nested more than {MAX_DEPTH} deep")
            continue
        if id(item) in depth or not isinstance(item, (dict, list, tuple, set)):
            continue
        if id(item) in path:
            raise fault("a container holds itself")
        path.add(id(item))
        stack.append((item, True))
        for child in inside:
            if isinstance(child, Bare):
                raise fault(f"{child.text} stands where a value belongs")
            if isinstance(child, (dict, list, tuple, set)):
                stack.append((child, False))
    if isinstance(value, Bare):
        raise fault(f"it holds {value.text}, no value")
    return value


def children(item: Any) -> list[Any]:
    """The contents of a container."""
    if isinstance(item, dict):
        return list(item.values())
    return list(item) if isinstance(item, (list, tuple, set)) else []


# ---- the opcodes -------------------------------------------------------------------------------------------------------------------------


def _constant(value: Any) -> Callable[[Reader], None]:
    return lambda r: r.push(value)


def _number(form: str) -> Callable[[Reader], None]:
    return lambda r: r.push(r.number(form))


def _sized(form: str, decode: Callable[[bytes], Any]) -> Callable[[Reader], None]:
    """A string or an integer with its length before it."""
    return lambda r: r.push(decode(r.take(r.number(form))))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _old_text(data: bytes) -> str:
    """A string of Python 2."""
    return data.decode("latin-1")


def _long(data: bytes) -> int:
    if len(data) > MAX_INT_BYTES:
        raise ValueError("an integer of more than 1024 bytes")
    return int.from_bytes(data, "little", signed=True)


def _line_int(r: Reader) -> None:
    text = r.line()
    if len(text) > MAX_INT_BYTES:
        raise ValueError("an integer of more than 1024 digits")
    r.push(text == "01" if text in ("00", "01") else int(text.rstrip("L")))


def _tuple(count: int) -> Callable[[Reader], None]:
    def make(r: Reader) -> None:
        r.push(tuple(reversed([r.pop() for _ in range(count)])))

    return make


def _append(r: Reader) -> None:
    value = r.pop()
    r.top(list).append(value)


def _appends(r: Reader) -> None:
    values = r.marked()
    r.top(list).extend(values)


def _set_item(r: Reader) -> None:
    value, key = r.pop(), r.pop()
    r.fill(r.top(dict), [key, value])


def _set_items(r: Reader) -> None:
    pairs = r.marked()
    r.fill(r.top(dict), pairs)


def _dict(r: Reader) -> None:
    table: dict[Any, Any] = {}
    r.fill(table, r.marked())
    r.push(table)


def _global(r: Reader) -> None:
    module = r.line()
    r.push(r.name(module, r.line()))


def _stack_global(r: Reader) -> None:
    name, module = r.pop(), r.pop()
    r.push(r.name(module, name))


def _reduce(r: Reader) -> None:
    arguments, what = r.pop(), r.pop()
    if not isinstance(what, Function) or type(arguments) is not tuple:
        raise r.fault(f"its object stream calls {what.text if isinstance(what, Bare) else type(what).__name__}")
    r.charge(arguments)
    r.push(what.call(*arguments))


def _build(r: Reader) -> None:
    r.build(r.pop())


def _persistent(r: Reader) -> None:
    r.push(r.stored(r.pop()))


def _protocol(r: Reader) -> None:
    version = r.number("<B")
    if version > 5:
        raise r.fault(f"its object stream is of protocol {version}; known are those up to 5")


def _get(form: str) -> Callable[[Reader], None]:
    return lambda r: r.push(r.memo[r.number(form)])


def _put(form: str) -> Callable[[Reader], None]:
    return lambda r: r.remember(r.number(form))


def _drop(r: Reader) -> None:
    r.stack.pop()


def _drop_marked(r: Reader) -> None:
    r.marked()


def _frame(r: Reader) -> None:
    r.take(8)


ACTIONS: dict[bytes, Callable[[Reader], None]] = {
    b"(": _constant(MARK), b"N": _constant(None), b"\x88": _constant(True), b"\x89": _constant(False),
    b"}": lambda r: r.push({}), b"]": lambda r: r.push([]), b")": _constant(()),
    b"K": _number("<B"), b"M": _number("<H"), b"J": _number("<i"), b"G": _number(">d"),
    b"I": _line_int, b"L": _line_int,
    b"\x8a": _sized("<B", _long), b"\x8b": _sized("<I", _long),
    b"X": _sized("<I", _text), b"\x8c": _sized("<B", _text), b"\x8d": _sized("<Q", _text),
    b"U": _sized("<B", _old_text), b"T": _sized("<i", _old_text),
    b"C": _sized("<B", bytes), b"B": _sized("<I", bytes), b"\x8e": _sized("<Q", bytes),
    b"t": lambda r: r.push(tuple(r.marked())), b"\x85": _tuple(1), b"\x86": _tuple(2), b"\x87": _tuple(3),
    b"l": lambda r: r.push(r.marked()), b"d": _dict, b"a": _append, b"e": _appends, b"s": _set_item, b"u": _set_items,
    b"c": _global, b"\x93": _stack_global, b"R": _reduce, b"b": _build, b"Q": _persistent,
    b"q": _put("<B"), b"r": _put("<I"), b"h": _get("<B"), b"j": _get("<I"),
    b"\x94": lambda r: r.remember(len(r.memo)),
    b"\x80": _protocol, b"\x95": _frame, b"0": _drop, b"2": lambda r: r.push(r.stack[-1]),
    b"1": _drop_marked,
}  # fmt: skip
