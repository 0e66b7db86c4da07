"""Reductions along rows and columns, and the loss over a large vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np

from cases.case import Arrays, Case, normal, wide

TOKENS, VOCABULARY = 2048, 32000


def softmax_reference(x: np.ndarray) -> Arrays:
    (x,) = wide(x)
    e = np.exp(x - x.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True),)


def cross_entropy_jax(jax: Any, logits: Any, target: Any) -> Any:
    chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), target[:, None], 1)
    return -chosen.mean()


def cross_entropy_reference(logits: np.ndarray, target: np.ndarray) -> Arrays:
    """The mean loss, and its gradient: (softmax - one-hot) / rows."""
    (logits,) = wide(logits)
    rows = np.arange(len(target))
    shifted = logits - logits.max(-1, keepdims=True)
    gradient = np.exp(shifted)
    total = gradient.sum(-1, keepdims=True)
    loss = (np.log(total[:, 0]) - shifted[rows, target]).mean()
    gradient /= total
    gradient[rows, target] -= 1
    gradient /= len(target)
    return np.asarray(loss), gradient


CASES = [
    Case(
        "softmax",
        "softmax along the last dimension, 4096 × 1024",
        lambda rng: (normal(rng, 4096, 1024),),
        softmax_reference,
        lambda lib, x: lib.softmax(x, -1),
        lambda jax, x: jax.nn.softmax(x),
    ),
    Case(
        "cross_entropy",
        f"cross_entropy and the gradient of the logits, {TOKENS} × {VOCABULARY}",
        lambda rng: (normal(rng, TOKENS, VOCABULARY), rng.integers(0, VOCABULARY, TOKENS)),
        cross_entropy_reference,
        lambda lib, logits, target: lib.nn.functional.cross_entropy(logits, target),
        cross_entropy_jax,
        gradients=(0,),
    ),
    Case(
        "column_sum",
        "sum along the first dimension, 4096 × 1024",
        lambda rng: (normal(rng, 4096, 1024),),
        lambda x: (x.astype(np.float64).sum(0),),
        lambda lib, x: x.sum(0),
        lambda jax, x: x.sum(0),
    ),
]
