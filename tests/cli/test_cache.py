"""`twofold cache`: compiled code on disk, looked at and removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import twofold
from twofold.cli.main import app
from twofold.support import options


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["cache", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_info_and_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_CACHE_DIR", str(tmp_path / "cache"))
    options.reset()
    assert run("info") == f"{tmp_path / 'cache'}: 0 entries, 0.0 MiB of at most 512\n"
    x = twofold.arange(9.0)
    program = twofold.trace(lambda x: x * 2.75 - 11, (x,)).compile()
    wanted = program(x).tolist()
    entries = twofold.cache_info().entries
    assert entries >= 1
    assert f": {entries} entries, 0." in run("info")
    assert run("clear") == f"{entries} entries removed\n"
    assert twofold.cache_info().entries == 0
    assert twofold.clear_cache() == 0
    assert program(x).tolist() == wanted, "what is in memory goes on"


def test_not_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_CACHE", "0")
    options.reset()
    assert run("info") == "not in use: it is switched off, or there is no home folder\n"
    assert run("clear") == "0 entries removed\n"
