"""The families of records. `load_vocabulary` imports them all."""

from __future__ import annotations

import importlib

FAMILIES = (
    "elementwise", "unary", "comparison", "scaled", "activation", "reduction", "scan", "sorting", "softmax", "normalization", "loss",
    "classification", "views", "slicing", "joining", "padding", "indexing", "lookup", "creation", "mutation", "matrix", "linear",
    "convolution", "pooling", "random",
)  # fmt: skip
"""The modules that define records, in the order their operations are listed."""


def load_vocabulary() -> None:
    """Fill the vocabulary (once; cheap afterwards)."""
    for family in FAMILIES:
        importlib.import_module(f"twofold.ops.{family}")
