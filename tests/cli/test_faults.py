"""`twofold bisect` and `twofold minify`, for graphs as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.compiler import broken
from twofold.cli.main import app

TEXT = """graph g(x: f32[4], i: i64[2]) {
  a: f32[4] = exp(x)
  b: f32[4] = tanh(a)
  c: f32[2] = index_select(b, i, dim=0)
  return (c,)
}
"""


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "graph.txt"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture
def break_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.break_spec(lambda owner, name, value: monkeypatch.setitem(owner, name, value))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def test_no_fault(graph: str, tmp_path: Path) -> None:
    for command in (("bisect", graph), ("minify", graph, "-o", str(tmp_path / "r.py")), ("bisect", graph, "--isolate", "--strict-math")):
        done = run(*command)
        assert done.exit_code == 0, done.output
        assert "no fault" in done.output
    assert not (tmp_path / "r.py").exists()


def test_a_fault(graph: str, tmp_path: Path, break_spec: None) -> None:
    done = run("bisect", graph)
    assert done.exit_code == 1
    assert "first node that differs: b" in done.output
    script = tmp_path / "r.py"
    done = run("minify", graph, "-o", str(script))
    assert done.exit_code == 1
    assert str(script) in done.output.replace("\n", "")
    assert "tanh" in script.read_text()
    assert "exp" not in script.read_text().split("GRAPH")[1]


def test_inputs_from_a_file(graph: str, tmp_path: Path, break_spec: None) -> None:
    path = tmp_path / "inputs.npz"
    np.savez(path, x=np.full(4, -200.0, np.float32), i=np.array([0, 1]))  # exp gives 0, where sine and tanh agree
    assert run("bisect", graph, "--inputs", str(path)).exit_code == 0
    np.savez(path, x=np.ones(4, np.float32))
    done = run("bisect", graph, "--inputs", str(path))
    assert done.exit_code == 2
    assert "no array for i" in done.output
    path.write_bytes(b"nothing")
    assert run("minify", graph, "--inputs", str(path)).exit_code == 2


def test_malformed_text(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("graph g(")
    done = run("bisect", str(path))
    assert done.exit_code == 2
    assert "line" in done.output
    assert run("bisect", str(tmp_path / "missing.txt")).exit_code == 2
