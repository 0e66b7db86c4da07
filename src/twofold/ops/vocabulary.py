"""The families of records. `load_vocabulary` imports them all."""

from __future__ import annotations

import importlib

FAMILIES = (
    "elementwise", "unary", "comparison", "scaled", "activation", "reduction", "scan", "sorting", "statistics", "softmax",
    "normalization", "loss", "classification", "views", "slicing", "joining", "padding", "indexing", "lookup", "counting", "creation",
    "mutation", "matrix", "decomposition", "factorization", "solve", "determinant", "distance", "linear", "gamma", "erf_family",
    "bessel", "orthogonal", "numbers", "convolution", "pooling", "resampling", "folding", "ctc", "random", "distributions",
    "attention", "recurrent",
)  # fmt: skip
"""The modules that define records, in the order their operations are listed."""


def load_vocabulary() -> None:
    """Fill the vocabulary (once; cheap afterwards)."""
    for family in FAMILIES:
        importlib.import_module(f"twofold.ops.{family}")
