"""Fused elementwise arithmetic: bound by memory where it is large, by the cost of a call where it is small."""

from __future__ import annotations

from typing import Any

import numpy as np

from cases.case import Arrays, Case, normal, wide

A, B = 1.3, 0.2


def pointwise(lib: Any, x: Any) -> Any:
    return lib.relu(x * A + B) * lib.tanh(x) + lib.exp(-x * x)


def pointwise_jax(jax: Any, x: Any) -> Any:
    return jax.nn.relu(x * A + B) * jax.numpy.tanh(x) + jax.numpy.exp(-x * x)


def pointwise_reference(x: np.ndarray) -> Arrays:
    (x,) = wide(x)
    return (np.maximum(x * A + B, 0.0) * np.tanh(x) + np.exp(-x * x),)


def _pointwise(name: str, size: int) -> Case:
    summary = f"relu(x*{A} + {B}) * tanh(x) + exp(-x*x), {size} float32"
    return Case(name, summary, lambda rng: (normal(rng, size),), pointwise_reference, pointwise, pointwise_jax)


CASES = [_pointwise("pointwise_4m", 4 * 1024 * 1024), _pointwise("pointwise_1k", 1024)]
