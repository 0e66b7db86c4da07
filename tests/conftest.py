"""Settings that every test shares: process state is put back before each test, and random programs are the same in every run."""

from __future__ import annotations

import os

# Read by torch when it is imported, here and in child processes: its kernels for AVX2 and AVX-512 differ at the edges (gradients at NaN).
os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")

import pytest
from hypothesis import settings

from twofold.support import logs, options, pytree
from twofold.tensors import printing, random, views

settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=100)
settings.register_profile("long", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

RESETS = (options.reset, logs.reset, pytree.reset, printing.reset, random.reset, views.reset)
"""The `reset` of every holder of process state."""


@pytest.fixture(autouse=True)
def _fresh_state() -> None:
    for reset in RESETS:
        reset()
