"""Options: named, typed settings. Each has a default and an environment variable, and can be set or overridden for a block.

The value is the first that exists of: the innermost `override` of this thread or task, what `set` was given, the environment variable
(read when the option is first asked for), the default. A part of the package registers its options where it uses them; every option
that exists is in `list_options()`.
"""

from __future__ import annotations

import difflib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar, cast

from twofold.support.errors import ArgumentError, ValueRangeError

T = TypeVar("T")
"""bool, int, float or str."""

_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Option(Generic[T]):
    """One setting. `choices`, where given, are the only values allowed. Read it with `.value`; make one with `register`."""

    __slots__ = ("choices", "default", "doc", "env", "name", "type")

    def __init__(self, name: str, kind: type[T], default: T, doc: str, env: str, choices: tuple[T, ...]) -> None:
        self.name, self.doc, self.env = name, doc, env
        self.type: type[T] = kind
        self.default: T = default
        self.choices: tuple[T, ...] = choices

    @property
    def value(self) -> T:
        """The value now, here."""
        overrides = _overrides.get()
        if self.name in overrides:
            return cast(T, overrides[self.name])
        found = _values.get(self.name)
        return cast(T, found) if found is not None else self._from_environment()

    def _from_environment(self) -> T:
        text = os.environ.get(self.env, "").strip()
        value = self.check(self._parse(text), f"the environment variable {self.env}") if text else self.default
        with _lock:
            return cast(T, _values.setdefault(self.name, value))

    def _parse(self, text: str) -> object:
        try:
            return _WORDS[text.lower()] if self.type is bool else cast(Any, self.type)(text)
        except (KeyError, ValueError):
            raise ValueRangeError(f"the environment variable {self.env}={text!r} is not a valid {self.type.__name__}") from None

    def check(self, value: object, where: str) -> T:
        """`value` as the option's type; ArgumentError if it has another type, ValueRangeError if it is none of the choices. `where` names
        its source in the message."""
        if self.type is float and type(value) is int:
            value = float(value)
        if type(value) is not self.type:
            raise ArgumentError(f"option {self.name!r} is a {self.type.__name__}, {where} gave the {type(value).__name__} {value!r}")
        if self.choices and value not in self.choices:
            raise ValueRangeError(f"option {self.name!r} is one of {', '.join(map(repr, self.choices))}; {where} gave {value!r}")
        return value

    def __repr__(self) -> str:
        return f"Option({self.name!r}, {self.type.__name__}, default={self.default!r}, env={self.env!r})"


_lock = threading.Lock()
_options: dict[str, Option[Any]] = {}
_values: dict[str, object] = {}
"""What `set` was given, and what was read from the environment (or the default) when first asked."""
_overrides: ContextVar[Mapping[str, object]] = ContextVar("twofold_options", default={})  # noqa: B039 (never mutated)


def register(name: str, kind: type[T], default: T, doc: str, env: str | None = None, choices: tuple[T, ...] = ()) -> Option[T]:
    """A new option. `env` is `TWOFOLD_` and the name in capitals, dots as underscores, unless given. Raises ValueRangeError if the name
    is taken."""
    option = Option(name, kind, default, doc, env or "TWOFOLD_" + name.upper().replace(".", "_"), choices)
    option.check(default, "the default")
    with _lock:
        if name in _options:
            raise ValueRangeError(f"option {name!r} is registered already")
        _options[name] = option
    return option


def find(name: str) -> Option[Any]:
    """The option of that name; ArgumentError naming similar ones if there is none."""
    option = _options.get(name)
    if option is None:
        close = difflib.get_close_matches(name, _options) or sorted(_options)
        raise ArgumentError(f"no option is named {name!r}; known: {', '.join(close) or 'none'}")
    return option


def get(name: str) -> Any:
    """The option's value now, here."""
    return find(name).value


def set(name: str, value: object) -> None:
    """Sets an option for the whole process, until `reset`."""
    option = find(name)
    checked = option.check(value, "set()")
    with _lock:
        _values[name] = checked


@contextmanager
def override(values: Mapping[str, object] | None = None, /, **named: object) -> Iterator[None]:
    """Sets options for the block, in this thread and task only: `override({"a.b": 1})` or `override(a=1)`."""
    new = {name: find(name).check(value, "override()") for name, value in {**(values or {}), **named}.items()}
    token = _overrides.set({**_overrides.get(), **new})
    try:
        yield
    finally:
        _overrides.reset(token)


def list_options() -> list[Option[Any]]:
    """Every registered option, by name."""
    return [_options[name] for name in sorted(_options)]


def reset(name: str | None = None) -> None:
    """Forgets what `set` was given for one option, or for all; the environment is read again."""
    with _lock:
        if name is None:
            _values.clear()
        else:
            _values.pop(find(name).name, None)
