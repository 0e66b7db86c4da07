"""Samples of losses of classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, IndexOutOfRange, ShapeError, ValueRangeError


def rows_of(a: Any) -> Any:
    """Scores as rows of classes."""
    return a[None] if a.ndim == 1 else np.moveaxis(a, 1, -1).reshape(-1, a.shape[1])


def row_weights(t: Any, weight: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """(targets with ignored ones as 0, the weight of each row)"""
    live = t != ignore_index
    t = np.where(live, t, 0)
    return t, np.where(live, np.ones(t.size) if weight is None else weight[t], 0.0)


def closed(loss: Any, w: Any, target: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss.reshape(np.shape(target))
    return loss.sum() if reduction == "sum" else loss.sum() / w.sum()


def nll(a: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100) -> Any:
    x = rows_of(a)
    t, w = row_weights(np.reshape(target, -1), weight, x.shape[1], ignore_index)
    return closed(-x[np.arange(len(x)), t] * w, w, target, reduction)


def log_softmax(x: Any) -> Any:
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def soft_targets(t: Any, w: Any, weight: Any, classes: int, label_smoothing: float) -> Any:
    """What each row's -log p is multiplied by, class by class."""
    hot = np.zeros((t.size, classes))
    hot[np.arange(t.size), t] = (1.0 - label_smoothing) * w
    even = np.ones(classes) if weight is None else weight
    return hot + np.where(w[:, None] != 0, label_smoothing / classes * even, 0.0)


def cross_entropy(
    a: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100, label_smoothing: float = 0.0
) -> Any:
    if np.asarray(target).dtype.kind == "f":
        classes = a.shape[0 if a.ndim == 1 else 1]
        t = rows_of(target) * (1.0 - label_smoothing) + label_smoothing / classes
        loss = -(log_softmax(rows_of(a)) * t * (1.0 if weight is None else weight)).sum(axis=1)
        shape = () if a.ndim == 1 else (a.shape[0], *a.shape[2:])
        return loss.reshape(shape) if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()
    x = rows_of(a)
    t, w = row_weights(np.reshape(target, -1), weight, x.shape[1], ignore_index)
    loss = -(log_softmax(x) * soft_targets(t, w, weight, x.shape[1], label_smoothing)).sum(axis=1)
    return closed(loss, w, target, reduction)


def scale_of(grad: Any, w: Any, reduction: str) -> Any:
    return np.reshape(grad, -1) if reduction == "none" else np.full(w.size, grad if reduction == "sum" else grad / w.sum())


def put_back(rows: Any, shape: tuple[int, ...]) -> Any:
    if len(shape) <= 2:
        return rows.reshape(shape)
    return np.moveaxis(rows.reshape(shape[0], *shape[2:], shape[1]), -1, 1)


def nll_backward(grad: Any, target: Any, size: Any, reduction: str = "mean", ignore_index: int = -100, weight: Any = None) -> Any:
    classes = size[0 if len(size) == 1 else 1]
    t, w = row_weights(np.reshape(target, -1), weight, classes, ignore_index)
    out = np.zeros((t.size, classes))
    out[np.arange(t.size), t] = -scale_of(grad, w, reduction) * w
    return put_back(out, tuple(size))


def backward_parts(grad: Any, a: Any, target: Any, weight: Any, reduction: str, ignore_index: int, label_smoothing: float) -> Any:
    """(the targets' multipliers, each row's scale)"""
    x = rows_of(a)
    t, w = row_weights(np.reshape(target, -1), weight, x.shape[1], ignore_index)
    return soft_targets(t, w, weight, x.shape[1], label_smoothing), scale_of(grad, w, reduction)


def cross_entropy_backward(
    grad: Any, a: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100, label_smoothing: float = 0.0
) -> Any:
    soft, scale = backward_parts(grad, a, target, weight, reduction, ignore_index, label_smoothing)
    p = np.exp(log_softmax(rows_of(a)))
    return put_back((p * soft.sum(axis=1, keepdims=True) - soft) * scale[:, None], a.shape)


def cross_entropy_factor(
    grad: Any, a: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100, label_smoothing: float = 0.0
) -> Any:
    soft, scale = backward_parts(grad, a, target, weight, reduction, ignore_index, label_smoothing)
    return (soft.sum(axis=1) * scale).reshape(np.shape(target))


def target_samples(g: Gen, **more: Any) -> list[S]:
    ignored = np.array([1, -100, 3, -100, 0])
    return [
        S(g.real(5, 4), g.index(5, 4), **more),
        S(g.real(5, 4), g.index(5, 4), g.positive(4), **more),
        S(g.real(5, 4), ignored, reduction="sum", **more),
        S(g.real(5, 4), ignored, g.positive(4), **more),
        S(g.real(2, 4, 3), g.index((2, 3), 4), reduction="none", **more),
        S(g.real(2, 3, 2, 2), g.index((2, 2, 2), 3), g.positive(3), ignore_index=1, **more),
        S(g.noncontiguous(g.real(5, 4)), g.index(5, 4), reduction="none", **more),
        S(g.real(4), np.array(2), **more),
        S(g.real(0, 4), np.zeros(0, np.int64), reduction="sum", **more),
    ]


def gradient_samples(g: Gen) -> list[S]:
    """(grad, input, target, …) for both kinds of backward."""
    ignored = np.array([1, -100, 3])
    return [
        S(g.real(), g.real(3, 4), g.index(3, 4)),
        S(g.real(), g.real(3, 4), ignored, g.positive(4), "sum"),
        S(g.real(3), g.real(3, 4), ignored, None, "none", -100, 0.2),
        S(g.real(), g.real(3, 4), ignored, g.positive(4), "mean", -100, 0.2),
        S(g.real(2, 3), g.real(2, 4, 3), g.index((2, 3), 4), g.positive(4), "none"),
    ]


def refused(name: str) -> Any:
    return lambda g: [
        E((g.real(3, 4), np.array([0, 4, 1])), {}, IndexOutOfRange, "4"),
        E((g.real(3, 4), np.array([0, -1, 1])), {}, IndexOutOfRange, "-1"),
        E((g.real(3, 4), np.array([0, 1])), {}, ShapeError, name),
        E((g.real(3, 4), np.array([0, 1, 2]), g.real(3)), {}, ShapeError, "weight"),
        E((g.real(3, 4), np.array([True, False, True])), {}, DTypeError, name),
        E((g.real(3, 4), np.array([0, 1, 2])), {"reduction": "avg"}, ValueRangeError, "reduction"),
    ]


ROWS = [
    Row("nll_loss", target_samples, nll, errors=refused("nll_loss")),
    Row(
        "nll_loss_backward",
        lambda g: [
            S(g.real(), g.index(3, 4), (3, 4)),
            S(g.real(), np.array([1, -100, 3]), (3, 4), weight=g.positive(4)),
            S(g.real(2, 3), g.index((2, 3), 4), (2, 4, 3), "none"),
            S(g.real(), np.array(1), (4,), "sum"),
        ],
        nll_backward,
        torch=None,
    ),
    Row(
        "cross_entropy",
        lambda g: [
            *target_samples(g),
            *target_samples(g, label_smoothing=0.2),
            S(g.real(40, 1000), g.index(40, 1000)).but(dtypes=("float32", "float64")),
            S(g.real(3, 4) * 100.0, g.index(3, 4)).but(dtypes=("float32", "float64")),
        ],
        cross_entropy,
        torch=lambda torch, a, t, weight=None, **k: torch.nn.functional.cross_entropy(a, t, weight, **k),
        errors=lambda g: [
            *refused("cross_entropy")(g),
            E((g.real(3, 4), np.array([0, 1, 2])), {"label_smoothing": 2.0}, ValueRangeError, "label_smoothing"),
            E((g.real(3, 4), g.unit(3, 3)), {}, ShapeError, "probabilities"),
        ],
    ),
    Row("cross_entropy_backward", gradient_samples, cross_entropy_backward, torch=None),
    Row("cross_entropy_factor", gradient_samples, cross_entropy_factor, torch=None, grad=(0,)),
]
