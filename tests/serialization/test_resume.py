"""Save, kill, resume: the losses are those of the run that was not interrupted, bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SPEC = find_spec("twofold")
assert SPEC is not None
assert SPEC.origin is not None
SCRIPT = Path(__file__).with_name("training.py")


def run(rule: str, first: int, last: int, checkpoint: Path) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(SPEC.origin).parent.parent), "OPENBLAS_NUM_THREADS": "1"}  # type: ignore[union-attr, arg-type]
    command = [sys.executable, str(SCRIPT), rule, str(first), str(last), str(checkpoint)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert result.returncode == -signal.SIGKILL, result.stderr
    return result.stdout.split()


@pytest.mark.parametrize("rule", ["sgd", "adam", "adamw"])
def test_a_killed_run_goes_on_bit_for_bit(rule: str, tmp_path: Path) -> None:
    whole = run(rule, 0, 4, tmp_path / "whole")
    first = run(rule, 0, 2, tmp_path / "part")
    second = run(rule, 2, 4, tmp_path / "part")
    assert len(whole) == 32
    assert len(set(whole)) == 32
    assert first + second == whole
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()
