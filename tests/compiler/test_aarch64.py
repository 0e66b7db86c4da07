"""Programs for AArch64 run in an emulated CPU: they compute what the interpreter does. Needs the package `unicorn`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold
from tests.compiler.test_targets import PROGRAMS

pytest.importorskip("unicorn", reason="the emulator is not installed: pip install unicorn")

from tests.compiler import emulator

TOLERANCE = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-14}


def emulated(graph: Any, inputs: tuple[Any, ...]) -> tuple[int, list[np.ndarray]]:
    return emulator.run(graph.compile(target="aarch64").executable, [x.numpy() for x in inputs])


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str) -> None:
    function, inputs = PROGRAMS[name]
    graph = twofold.trace(function, inputs, check=False)
    wanted = graph(*inputs)
    error, outputs = emulated(graph, inputs)
    assert error == 0
    for got, want in zip(outputs, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        tolerance = TOLERANCE.get(want.dtype.name, 0.0)
        np.testing.assert_allclose(got.astype(np.float64), want.to(twofold.float64).numpy(), rtol=tolerance, atol=tolerance)


def test_an_index_out_of_range() -> None:
    """The kernel reports the site; the host would raise IndexOutOfRange from it."""
    x, index = twofold.ones(6, 8), twofold.tensor([1, 6, 3])
    graph = twofold.trace(lambda x, i: x[i] * 2, (x, index % 6))
    assert emulated(graph, (x, index % 6))[0] == 0
    assert emulated(graph, (x, index))[0] >= 1
