"""Golden sources, and a mark for tests that need Graphviz."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable

import pytest

GOLDEN = pathlib.Path(__file__).parent / "golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with its golden file; with --update-golden, write it."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden", default=False):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; if that is meant, run pytest with --update-golden"

    return check


@pytest.fixture
def graphviz() -> str:
    """The path of `dot`; skips the test where Graphviz is not installed."""
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz's dot is not installed")
    return program
