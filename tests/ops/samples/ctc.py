"""Samples of connectionist temporal classification. The oracle adds up the probabilities of all paths that spell the target."""

from __future__ import annotations

import itertools

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors.functions import FUNCTIONS


def spelled(path, blank):
    return [c for c, before in zip(path, (None, *path[:-1]), strict=True) if c not in (blank, before)]


def oracle(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    losses, start = [], 0
    classes = log_probs.shape[2]
    for i, (steps, count) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        wanted = targets[i, :count] if targets.ndim == 2 else targets[start : start + count]
        start += count
        total = 0.0
        for path in itertools.product(range(classes), repeat=steps):
            if spelled(path, blank) == list(wanted):
                total += np.exp(sum(log_probs[t, i, c] for t, c in enumerate(path)))
        with np.errstate(divide="ignore"):
            losses.append(-np.log(total))
    losses = np.array(losses)
    if zero_infinity:
        losses = np.where(np.isinf(losses), 0.0, losses)
    if reduction == "mean":
        return (losses / np.maximum(target_lengths, 1)).mean()
    return losses.sum() if reduction == "sum" else losses


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def samples(g):
    x = log_softmax(g.real(4, 2, 3))
    both = np.array([[1, 2], [2, 2]]), [4, 3], [2, 2]
    row = np.array([1, 1, 2]), [4, 4], [1, 2]
    found = [
        S(x, *both, reduction="none"),
        S(x, *both),
        S(x, *both, reduction="sum"),
        S(x, *row, reduction="none"),
        S(x, np.array([[0, 1], [1, 0]]), [4, 4], [2, 1], 2, "none"),
        S(x, np.array([[1, 2], [1, 1]]), [4, 2], [0, 2], 0, "none"),  # an empty target; one that no path of two steps spells
        S(x, np.array([[1, 2], [1, 1]]), [4, 2], [1, 2], 0, "mean", True),
        S(log_softmax(g.real(1, 1, 2)), np.array([[1]]), [1], [1]),
    ]
    # The gradient takes for granted that log_softmax came before: tests/ops/test_ctc.py checks it with that.
    return [s.but(grad=False) for s in found]


def errors(g):
    x = g.real(4, 2, 3)
    y = np.ones((2, 2), np.int64)
    return [
        E((x, y, [4, 4], [2, 2]), {"blank": 3}, ValueRangeError, "blank"),
        E((x, y, [5, 4], [2, 2]), {}, ValueRangeError, "input lengths"),
        E((x, y, [4, 4], [2, 3]), {}, ValueRangeError, "target lengths"),
        E((x, y, [4], [2, 2]), {}, ShapeError, "batch of 2"),
        E((x, y.astype(np.float64), [4, 4], [2, 2]), {}, DTypeError, "int32 or int64"),
        E((x, y, [4, 4], [2, 2]), {"reduction": "max"}, ValueRangeError, "reduction"),
    ]


ROWS = [
    Row(
        "ctc_loss, public",
        samples,
        oracle,
        lambda torch, *args, **kwargs: torch.nn.functional.ctc_loss(*args, **kwargs),
        dtypes=("float64", "float32"),
        errors=errors,
        call=lambda *args, **kwargs: FUNCTIONS["ctc_loss"](*args, **kwargs),
        covers=("ctc_loss", "ctc_loss_backward", "refuse_gradient"),
    ),
]
