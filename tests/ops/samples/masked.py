"""Samples of `twofold.masked`: the oracle works on the elements that each row's mask lets through, one row after another."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold import masked
from twofold.support.errors import ArgumentError, DimensionError, ShapeError, TwofoldError, ValueRangeError


def rows(function: Callable[[np.ndarray, np.ndarray], Any]) -> Callable[..., Any]:
    """The oracle of a reduction: `function(elements, their mask)` for each group of elements reduced to one."""

    def oracle(a: Any, dim: Any = None, *, keepdim: bool = False, mask: Any = None, **rest: Any) -> Any:
        m = np.ones(a.shape, np.bool_) if mask is None else np.broadcast_to(mask, a.shape)
        axes = tuple(range(a.ndim)) if dim is None else tuple(d % a.ndim for d in ((dim,) if isinstance(dim, int) else dim))
        kept = [d for d in range(a.ndim) if d not in axes]
        flat, fm = (np.transpose(v, (*kept, *axes)).reshape(*(a.shape[d] for d in kept), -1) for v in (a, m))
        out = np.empty(flat.shape[:-1])
        for place in np.ndindex(out.shape):
            out[place] = function(flat[place], fm[place], **rest)
        return np.expand_dims(out, axes) if keepdim else out

    return oracle


def spread(a: Any, m: Any, unbiased: Any = None, correction: Any = None, root: bool = False) -> Any:
    taken = correction if correction is not None else 1 if unbiased is None else int(unbiased)
    n = m.sum()
    total = ((a[m] - a[m].mean()) ** 2).sum() if n else 0.0
    value = total / max(n - taken, 0.0) if n - taken > 0 else math.nan if total == 0 else math.inf
    return math.sqrt(value) if root else value


def norm(a: Any, m: Any, ord: float) -> Any:
    size = np.abs(a[m])
    if math.isinf(ord):
        return (size.max() if ord > 0 else size.min()) if len(size) else (0.0 if ord > 0 else math.inf)
    return float((size**ord).sum() ** (1 / ord))


def with_order(a: Any, ord: float = 2.0, dim: Any = None, **rest: Any) -> Any:
    return rows(lambda v, m: norm(v, m, ord))(a, dim, **rest)


def running(ufunc: Any, fill: float) -> Callable[..., Any]:
    return lambda a, dim, *, mask=None: ufunc.accumulate(a if mask is None else np.where(mask, a, fill), axis=dim)


def softmax(sign: int, log: bool) -> Callable[..., Any]:
    def oracle(a: Any, dim: int, *, mask: Any = None) -> Any:
        x = sign * a if mask is None else np.where(mask, sign * a, -np.inf)
        x = x - x.max(dim, keepdims=True)
        total = np.exp(x).sum(dim, keepdims=True)
        return x - np.log(total) if log else np.exp(x) / total

    return oracle


def normalized(a: Any, ord: float, dim: int, *, eps: float = 1e-12, mask: Any = None) -> Any:
    shown = a if mask is None else np.where(mask, a, 0.0)
    return shown / np.maximum(with_order(a, ord, dim, keepdim=True, mask=mask), eps)


def lower_median(a: Any, m: Any) -> Any:
    there = np.sort(a[m & ~np.isnan(a)])
    return there[(len(there) - 1) // 2] if len(there) else math.nan


def reductions(g: Gen, *before: Any, full: bool = False) -> list[S]:
    """Samples of a reduction; `full`: every group keeps an element."""
    mask = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
    blank = mask.copy()
    blank[1] = False
    found = [
        S(g.distinct(3, 4), *before, mask=mask),
        S(g.distinct(3, 4), *before, dim=1, mask=mask),
        S(g.distinct(3, 4), *before, dim=0, keepdim=True),
        S(g.distinct(2, 3, 4), *before, dim=(0, 2), mask=mask),
        S(g.noncontiguous(g.distinct(3, 4)), *before, dim=-1, keepdim=True, mask=mask),
    ]
    return found if full else [*found, S(g.distinct(3, 4), *before, dim=1, mask=blank).but(grad=False)]


def along(g: Gen, *before: Any) -> list[S]:
    mask = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
    return [
        S(g.distinct(3, 4), *before, 1, mask=mask),
        S(g.distinct(3, 4), *before, 0, mask=mask),
        S(g.distinct(3, 4), *before, -1),
        S(g.distinct(2, 3, 4), *before, 1, mask=mask),
        S(g.noncontiguous(g.distinct(3, 4)), *before, 0, mask=mask),
    ]


def refused(name: str, *before: Any) -> Callable[[Gen], list[E]]:
    """Masks that do not fit."""
    given = {"dim": 0} if name in ("cumsum", "cumprod", "softmax", "softmin", "log_softmax") else {}
    place = (0,) if name == "normalize" else ()

    def errors(g: Gen) -> list[E]:
        cases: list[tuple[Any, type[TwofoldError], str]] = [
            (g.bools(2), ShapeError, "mask"),
            (g.bools(2, 3, 3), DimensionError, "mask"),
            (True, ArgumentError, "mask"),
        ]
        return [E((g.real(3, 3), *before, *place), {"mask": m, **given}, error, text) for m, error, text in cases]

    return errors


def row(name: str, samples: Callable[[Gen], list[S]], oracle: Callable[..., Any], *before: Any, **settings: Any) -> Row:
    settings.setdefault("errors", refused(name, *before))
    return Row(
        f"masked.{name}", samples, oracle,
        torch=lambda torch, *args, **kwargs: getattr(__import__("torch.masked").masked, name)(*args, **kwargs),
        dtypes=("float64", "float32"), call=getattr(masked, name), **settings,
    )  # fmt: skip


ROWS = [
    row("sum", reductions, rows(lambda a, m: a[m].sum())),
    row("prod", reductions, rows(lambda a, m: a[m].prod())),
    row("cumsum", along, running(np.add, 0.0)),
    row("cumprod", along, running(np.multiply, 1.0)),
    row("amax", reductions, rows(lambda a, m: a[m].max(initial=-math.inf))),
    row("amin", reductions, rows(lambda a, m: a[m].min(initial=math.inf))),
    row(
        "argmax",
        lambda g: [S(g.distinct(3, 4), 1, mask=g.bools(3, 4)), S(g.distinct(3, 4))],
        rows(lambda a, m: np.argmax(np.where(m, a, -np.inf))),
        grad=False,
    ),
    row(
        "argmin",
        lambda g: [S(g.distinct(3, 4), 1, mask=g.bools(3, 4)), S(g.distinct(3, 4))],
        rows(lambda a, m: np.argmin(np.where(m, a, np.inf))),
        grad=False,
    ),
    row(
        "mean",
        reductions,
        rows(lambda a, m: a[m].sum() / m.sum() if m.any() else math.nan),
        errors=lambda g: [*refused("mean")(g), E((np.array([1, 2]),), {}, ValueRangeError, "floating")],
    ),
    row(
        "median",
        lambda g: [
            S(g.distinct(3, 5), mask=g.bools(3, 5)),
            S(g.distinct(3, 5), 0, keepdim=True),
            S(g.distinct(2, 5), 1, mask=np.array([[True], [False]])).but(grad=False),
        ],
        lambda a, dim=-1, **rest: rows(lower_median)(a, dim, **rest),
    ),
    row(
        "var",
        lambda g: [*reductions(g, full=True), S(g.real(3, 4), 1, correction=0), S(g.real(3, 4), 1, False)],
        lambda a, dim=None, unbiased=None, **r: rows(spread)(a, dim, unbiased=unbiased, **r),
    ),
    row(
        "std",
        lambda g: [*reductions(g, full=True), S(g.real(3, 4), 1, correction=2)],
        lambda a, dim=None, unbiased=None, **r: rows(lambda v, m, **k: spread(v, m, root=True, **k))(a, dim, unbiased=unbiased, **r),
        tolerance=2,
    ),
    row("norm", lambda g: [s for p in (2.0, 1.0, 3.0, math.inf, -math.inf) for s in reductions(g, p)], with_order, 2.0),
    row("normalize", lambda g: along(g, 2.0) + along(g, 1.0)[:1], normalized, 2.0),
    row("logsumexp", reductions, rows(lambda a, m: np.log(np.exp(a[m]).sum()) if m.any() else -math.inf)),
    row("softmax", along, softmax(1, False)),
    row("softmin", along, softmax(-1, False)),
    row("log_softmax", lambda g: [s.but(grad="mask" not in s.kwargs) for s in along(g)], softmax(1, True)),
    row(
        "logaddexp",
        lambda g: [
            S(g.real(3, 4), g.real(3, 4), input_mask=g.bools(3, 4)),
            S(g.real(3, 4), g.real(4), other_mask=np.array([True, True, True, True])),
        ],
        lambda a, b, *, input_mask=True, other_mask=True: np.logaddexp(np.where(input_mask, a, -np.inf), np.where(other_mask, b, -np.inf)),
        errors=lambda g: [E((g.real(3), g.real(3)), {"other_mask": g.bools(2)}, ShapeError, "mask")],
    ),
]
