from __future__ import annotations

import pytest

from twofold.support import logs
from twofold.support.errors import ArgumentError
from twofold.support.logs import LogRecord, artifact_log, enabled_logs, logs_set, set_logs


def test_off_by_default() -> None:
    seen: list[LogRecord] = []
    assert enabled_logs() == []
    artifact_log("graph").info(lambda: seen.append(LogRecord("called", "")) or "never")  # type: ignore[func-returns-value]
    assert seen == []


def test_only_the_named_artifacts_are_written() -> None:
    seen: list[LogRecord] = []
    set_logs("passes", to=seen.append)
    artifact_log("graph").info("not wanted")
    artifact_log("passes").info("%s took %d rewrites", "fold", 3)
    artifact_log("passes").info("100 %")
    artifact_log("passes").info(lambda: "made when asked")
    assert seen == [LogRecord("passes", text) for text in ("fold took 3 rewrites", "100 %", "made when asked")]
    set_logs()
    artifact_log("passes").info("off again")
    assert len(seen) == 3


def test_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    set_logs("graph")
    artifact_log("graph").info("two\nlines")
    assert capsys.readouterr().err == "[graph] two\n[graph] lines\n"


def test_scoped() -> None:
    outer: list[LogRecord] = []
    inner: list[LogRecord] = []
    set_logs("graph", to=outer.append)
    with pytest.raises(KeyError), logs_set("passes", to=inner.append):
        assert enabled_logs() == ["passes"]
        artifact_log("passes").info("x")
        raise KeyError
    assert enabled_logs() == ["graph"]
    artifact_log("graph").info("y")
    assert (inner, outer) == ([LogRecord("passes", "x")], [LogRecord("graph", "y")])


@pytest.mark.parametrize("text, names", [("graph, passes", ["graph", "passes"]), ("", []), (",", []), ("all", list(logs.ARTIFACTS))])
def test_environment(monkeypatch: pytest.MonkeyPatch, text: str, names: list[str]) -> None:
    monkeypatch.setenv(logs.ENV, text)
    logs.reset()
    assert enabled_logs() == names
    monkeypatch.delenv(logs.ENV)
    logs.reset()
    assert enabled_logs() == []


def test_unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    set_logs("graph")
    known = ", ".join(logs.ARTIFACTS)
    with pytest.raises(ArgumentError, match=f"no log artifact is named 'grpah'; known: {known}"):
        artifact_log("grpah")
    with pytest.raises(ArgumentError, match="'nothing'"):
        set_logs("passes", "nothing")
    monkeypatch.setenv(logs.ENV, "graph,bad")
    with pytest.raises(ArgumentError, match=r"'bad' \(in the environment variable TWOFOLD_LOGS\); known"):
        logs.reset()
    assert enabled_logs() == ["graph"]
