"""Samples of losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError


def reduced(loss: Any, reduction: str) -> Any:
    if reduction == "batchmean":
        return loss.sum() / loss.shape[0]
    return (
        loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.sum() / loss.size if loss.size else np.float64(np.nan)
    )


def pairs(g: Gen, first: Any, second: Any, **more: Any) -> list[S]:
    """Both reductions and none, broadcasting (where torch warns), 0-d, other layouts, no elements."""
    return [
        S(first(3, 4), second(3, 4), **more),
        S(first(3, 4), second(3, 4), reduction="sum", **more),
        S(first(2, 3, 4), second(2, 3, 4), reduction="none", **more),
        S(first(3, 4), second(4), **more).but(torch=False),
        S(first(3, 1), second(1, 4), reduction="none", **more).but(torch=False),
        S(g.noncontiguous(first(3, 4)), second(3, 4), **more),
        S(first(), second(), **more),
        S(first(0, 3), second(0, 3), reduction="sum", **more),
    ]


def same(g: Gen, first: Any, second: Any, **more: Any) -> list[S]:
    """Those whose shapes agree."""
    return [s for s in pairs(g, first, second, **more) if s.torch]


def huber(a: Any, b: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    d = np.abs(a - b)
    return reduced(np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def smooth_l1(a: Any, b: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    return reduced(np.abs(a - b), reduction) if beta == 0 else huber(a, b, reduction, beta) / beta


def bce(p: Any, t: Any, weight: Any = None, reduction: str = "mean") -> Any:
    loss = -(t * np.maximum(np.log(p), -100) + (1 - t) * np.maximum(np.log1p(-p), -100))
    return reduced(loss if weight is None else loss * weight, reduction)


def bce_with_logits(x: Any, t: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean") -> Any:
    ones, zeros = np.logaddexp(0.0, -x), np.logaddexp(0.0, x)
    loss = t * ones * (1.0 if pos_weight is None else pos_weight) + (1 - t) * zeros
    return reduced(loss if weight is None else loss * weight, reduction)


def kl_div(x: Any, t: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    loss = np.exp(t) * (t - x) if log_target else np.where(t > 0, t * np.log(np.where(t > 0, t, 1.0)), 0.0) - t * x
    return reduced(loss, reduction)


def refused(name: str) -> Any:
    return lambda g: [
        E((g.real(3), g.real(3)), {"reduction": "avg"}, ValueRangeError, name),
        E((np.arange(3), np.arange(3)), {}, DTypeError, name),
        E((g.real(3), g.real(4)), {}, ShapeError, name),
    ]


ROWS = [
    Row(
        "mse_loss",
        lambda g: pairs(g, g.real, g.real),
        lambda a, b, reduction="mean": reduced((a - b) ** 2, reduction),
        errors=refused("mse_loss"),
    ),
    Row(
        "l1_loss",
        lambda g: pairs(g, g.nonzero, lambda *s: g.between(-0.1, 0.1, *s)),
        lambda a, b, reduction="mean": reduced(np.abs(a - b), reduction),
        errors=refused("l1_loss"),
    ),
    Row(
        "smooth_l1_loss",
        lambda g: [
            *pairs(g, g.real, g.real),
            *pairs(g, g.real, g.real, beta=0.3)[:2],
            S(g.nonzero(3, 4), np.zeros((3, 4)), beta=0.0).but(grad=False),
        ],
        smooth_l1,
        errors=lambda g: [*refused("smooth_l1_loss")(g), E((g.real(2), g.real(2)), {"beta": -1.0}, ValueRangeError, "beta")],
    ),
    Row(
        "huber_loss",
        lambda g: [*pairs(g, g.real, g.real), *pairs(g, g.real, g.real, delta=0.4)[:2]],
        huber,
        errors=lambda g: [*refused("huber_loss")(g), E((g.real(2), g.real(2)), {"delta": 0.0}, ValueRangeError, "delta")],
    ),
    Row(
        "binary_cross_entropy",
        lambda g: [
            *same(g, g.unit, g.unit),
            S(g.unit(3, 4), g.unit(3, 4), g.positive(4)),
            S(np.array([0.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.0])).but(grad=False),
        ],
        bce,
        grad=(0, 1),
        errors=lambda g: [E((g.unit(3), g.unit(4)), {}, ShapeError, "binary_cross_entropy")],
    ),
    Row(
        "binary_cross_entropy_with_logits",
        lambda g: [
            *same(g, g.real, g.unit),
            S(g.real(3, 4), g.unit(3, 4), g.positive(4), g.positive(4)),
            S(g.real(3, 4), g.unit(3, 4), pos_weight=g.positive(4), reduction="none"),
            S(np.array([90.0, -90.0, 0.0]), np.array([0.0, 1.0, 1.0])).but(grad=False, dtypes=("float32", "float64")),
        ],
        bce_with_logits,
        grad=(0, 1),
        errors=lambda g: [E((g.real(3), g.unit(4)), {}, ShapeError, "with_logits")],
        torch=lambda torch, x, t, weight=None, pos_weight=None, reduction="mean": torch.nn.functional.binary_cross_entropy_with_logits(
            x, t, weight, pos_weight=pos_weight, reduction=reduction
        ),
    ),
    Row(
        "kl_div",
        lambda g: [
            *[s.but(torch=s.kwargs.get("reduction") is not None) for s in same(g, g.real, g.unit)],  # torch warns of "mean"
            *[s.but(torch=s.kwargs.get("reduction") is not None) for s in same(g, g.real, g.real, log_target=True)[:3]],
            S(g.real(3), np.array([0.0, 0.5, 1.0]), reduction="sum").but(grad=False),
        ],
        kl_div,
        torch=lambda torch, *a, **k: torch.nn.functional.kl_div(*a, **k),
        errors=lambda g: [E((g.real(3), g.real(3)), {"reduction": "avg"}, ValueRangeError, "kl_div")],
    ),
]
