"""How many kernels norms, softmaxes and cross-entropy take, forward alone and with their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn.functional as F

ROWS, COLUMNS = (64, 200), (200,)
IMAGE, CHANNELS = (8, 16, 10, 10), (16,)
CASES: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...], int, int]] = {
    "softmax": (lambda x: x.softmax(1), (ROWS,), 1, 1),
    "softmax over rows": (lambda x: x.softmax(0), (ROWS,), 1, 1),
    "log_softmax": (lambda x: x.log_softmax(1), (ROWS,), 1, 1),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, COLUMNS, w, b), (ROWS, COLUMNS, COLUMNS), 1, 1),
    "rms_norm": (lambda x, w: F.rms_norm(x, COLUMNS, w), (ROWS, COLUMNS), 1, 1),
    "gelu, layer_norm": (lambda x, w, b: F.layer_norm(F.gelu(x), COLUMNS, w, b), (ROWS, COLUMNS, COLUMNS), 1, 1),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (IMAGE, CHANNELS, CHANNELS), 1, 1),
    "batch_norm of rows": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (ROWS, COLUMNS, COLUMNS), 1, 1),
    "instance_norm": (lambda x: F.instance_norm(x), (IMAGE,), 1, 1),
    # the weights' gradients are sums over other dimensions than the groups'
    "group_norm": (lambda x, w, b: F.group_norm(x, 4, w, b), (IMAGE, CHANNELS, CHANNELS), 1, 3),
    "cross_entropy of each": (lambda x: F.cross_entropy(x, TARGETS, reduction="none"), (ROWS,), 1, 1),
    # the number of rows that count is needed before any gradient
    "cross_entropy": (lambda x: F.cross_entropy(x, TARGETS), (ROWS,), 1, 2),
}  # fmt: skip
TARGETS = twofold.tensor(np.arange(ROWS[0]) % ROWS[1])


@pytest.mark.parametrize("name", CASES)
def test_kernels(name: str) -> None:
    function, shapes, forward, joint = CASES[name]
    rng = np.random.default_rng(0)
    inputs = [twofold.from_numpy(rng.standard_normal(s, dtype=np.float32)) for s in shapes]
    program = twofold.trace(function, tuple(inputs)).compile()
    both = twofold.aot(function, *(x.clone().requires_grad_() for x in inputs)).compile()
    for compiled, count in ((program, forward), (both, joint)):
        assembly = compiled.executable.assembly
        assert (len(assembly.launches), len(assembly.hosts)) == (count, 0), compiled.report()
