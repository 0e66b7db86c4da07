"""The sessions in README.md and docs/architecture.md are run: what they show is what the code does. Made pages are fresh."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/architecture.md", "docs/files.md", "docs/compiler.md", "docs/calls.md"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("page", PAGES)
def test_sessions(page):
    path = ROOT / page
    failed, tried = doctest.testfile(str(path), module_relative=False, optionflags=FLAGS)
    assert tried > 5
    assert failed == 0


@pytest.mark.parametrize("tool", ["generate.py", "stubs.py", "vocabulary.py"])
def test_generated_files_are_fresh(tool):
    done = subprocess.run([sys.executable, str(ROOT / "tools" / tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
