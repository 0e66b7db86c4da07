"""Fixtures of the operations' tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _floating_point_silence() -> Iterator[None]:
    """log(0), overflow and the like are part of the samples; NumPy's warnings about them are not what is tested here."""
    with np.errstate(all="ignore"):
        yield
