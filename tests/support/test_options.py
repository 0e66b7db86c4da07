from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from twofold.support import options
from twofold.support.errors import ArgumentError, TwofoldError, ValueRangeError


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Four options, gone after the test."""
    monkeypatch.setattr(options, "_options", {})
    for name in ("TWOFOLD_A_FLAG", "TWOFOLD_A_COUNT", "TWOFOLD_A_SCALE", "OTHER_NAME"):
        monkeypatch.delenv(name, raising=False)
    options.register("a.flag", bool, False, "a switch")
    options.register("a.count", int, 3, "a number")
    options.register("a.scale", float, 0.5, "a factor")
    options.register("a.mode", str, "fast", "a choice", env="OTHER_NAME", choices=("fast", "exact"))
    yield
    options.reset()


def test_defaults_and_listing() -> None:
    assert [o.name for o in options.list_options()] == ["a.count", "a.flag", "a.mode", "a.scale"]
    assert [o.value for o in options.list_options()] == [3, False, "fast", 0.5]
    count = options.find("a.count")
    assert repr(count) == "Option('a.count', int, default=3, env='TWOFOLD_A_COUNT')"
    assert count.doc == "a number"


def test_set_and_reset() -> None:
    options.set("a.count", 5)
    options.set("a.flag", True)
    options.set("a.scale", 2)
    assert (options.get("a.count"), options.get("a.flag"), options.get("a.scale")) == (5, True, 2.0)
    assert type(options.get("a.scale")) is float
    options.reset("a.count")
    assert (options.get("a.count"), options.get("a.flag")) == (3, True)
    options.reset()
    assert options.get("a.flag") is False


def test_override_is_scoped_and_nests() -> None:
    with options.override({"a.count": 4, "a.flag": True}):
        assert options.get("a.count") == 4
        with options.override({"a.count": 5}):
            assert (options.get("a.count"), options.get("a.flag")) == (5, True)
            options.set("a.count", 9)
            assert options.get("a.count") == 5
        assert options.get("a.count") == 4
    assert options.get("a.count") == 9


def test_override_ends_with_an_exception() -> None:
    with pytest.raises(KeyError), options.override({"a.count": 4}):
        raise KeyError
    assert options.get("a.count") == 3


def test_override_holds_in_its_thread_only() -> None:
    seen: list[int] = []
    with options.override({"a.count": 4}):
        thread = threading.Thread(target=lambda: seen.append(options.get("a.count")))
        thread.start()
        thread.join()
    assert seen == [3]


def test_override_by_keyword() -> None:
    options.register("plain", int, 1, "a name without a dot")
    with options.override(plain=2):
        assert options.get("plain") == 2


@pytest.mark.parametrize(
    "name, variable, text, value",
    [
        ("a.flag", "TWOFOLD_A_FLAG", "1", True),
        ("a.flag", "TWOFOLD_A_FLAG", "Off", False),
        ("a.count", "TWOFOLD_A_COUNT", " 12 ", 12),
        ("a.count", "TWOFOLD_A_COUNT", "", 3),
        ("a.scale", "TWOFOLD_A_SCALE", "1e-3", 1e-3),
        ("a.mode", "OTHER_NAME", "exact", "exact"),
    ],
)
def test_environment(monkeypatch: pytest.MonkeyPatch, name: str, variable: str, text: str, value: object) -> None:
    monkeypatch.setenv(variable, text)
    assert options.get(name) == value
    monkeypatch.delenv(variable)
    assert options.get(name) == value
    options.reset(name)
    assert options.get(name) == options.find(name).default


BAD: list[tuple[Callable[[], Any], type[TwofoldError], str]] = [
    (lambda: options.get("a.cuont"), ArgumentError, "no option is named 'a.cuont'; known: a.count"),
    (lambda: options.set("zzz", 1), ArgumentError, "known: a.count, a.flag, a.mode, a.scale"),
    (lambda: options.set("a.count", True), ArgumentError, "is a int, set.. gave the bool True"),
    (lambda: options.set("a.flag", 1), ArgumentError, "is a bool"),
    (lambda: options.set("a.count", None), ArgumentError, "NoneType"),
    (lambda: options.set("a.mode", "slow"), ValueRangeError, "one of 'fast', 'exact'; set.. gave 'slow'"),
    (lambda: options.override({"a.count": "4"}).__enter__(), ArgumentError, "override.. gave the str '4'"),
    (lambda: options.register("a.count", int, 1, ""), ValueRangeError, "registered already"),
    (lambda: options.register("b", int, "x", ""), ArgumentError, "the default gave the str"),  # type: ignore[arg-type]
    (lambda: options.reset("zzz"), ArgumentError, "no option"),
]


@pytest.mark.parametrize("call, error, message", BAD)
def test_bad_input_changes_nothing(call: Callable[[], Any], error: type[TwofoldError], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
    assert [o.value for o in options.list_options()] == [3, False, "fast", 0.5]


@pytest.mark.parametrize("name, variable, text", [("a.flag", "TWOFOLD_A_FLAG", "maybe"), ("a.count", "TWOFOLD_A_COUNT", "1.5")])
def test_bad_environment(monkeypatch: pytest.MonkeyPatch, name: str, variable: str, text: str) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(ValueRangeError, match=f"{variable}='{text}' is not a valid"):
        options.get(name)


def test_bad_choice_in_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_NAME", "slow")
    with pytest.raises(ValueRangeError, match="the environment variable OTHER_NAME gave 'slow'"):
        options.get("a.mode")
