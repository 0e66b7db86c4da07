"""PyTorch for the tests that compare with it."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def torch() -> Any:
    module = pytest.importorskip("torch")
    module.set_num_threads(1)
    return module
