"""Losses of classification: negative log-likelihood and cross-entropy for class indices."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType
from twofold.ops.loss import check_reduction
from twofold.ops.record import define, helper, refused
from twofold.ops.reduction import require_float
from twofold.ops.summation import chunks
from twofold.support.errors import DTypeError, IndexOutOfRange, ShapeError, ValueRangeError


def check_classes(name: str, input: TensorType, target: TensorType, weight: TensorType | None, reduction: str) -> tuple[Any, ...]:
    """(N, C, …) scores with (N, …) classes, or (C,) with (); returns the shape of the losses."""
    check_reduction(name, reduction)
    require_float(name, input.dtype)
    if target.dtype not in (dtypes.int64, dtypes.int32, dtypes.uint8):
        raise DTypeError(f"{name}: target holds class indices and must be int64, not {target.dtype.name}; convert with .to(twofold.int64)")
    if input.ndim == 0:
        raise ShapeError(f"{name}: input needs a dimension of classes, its shape is ()")
    expected = () if input.ndim == 1 else (input.shape[0], *input.shape[2:])
    if target.shape != expected:
        raise ShapeError(
            f"{name}: for input of shape {input.shape} (batch, classes, …) the target must have shape {expected}, not {target.shape}"
        )
    classes = input.shape[0 if input.ndim == 1 else 1]
    if weight is not None and weight.shape != (classes,):
        raise ShapeError(f"{name}: weight has shape {weight.shape}, there are {classes} classes")
    return target.shape if reduction == "none" else ()


class Classes:
    """Scores as rows of classes: `x` (rows, C), targets `t` (rows,) with ignored ones as 0.

    live: which rows count, None if all;  w: the weight of each row (0 where ignored), None if all are 1;  shape: that of the scores.
    """

    __slots__ = ("live", "shape", "t", "w", "x")

    def __init__(self, name: str, input: Any, target: Any, weight: Any, ignore_index: int) -> None:
        self.shape = input.shape
        axis = 0 if input.ndim == 1 else 1
        c = input.shape[axis]
        self.x = (np.moveaxis(input, axis, -1) if input.ndim > 2 else input).reshape(target.size, c)
        t = np.asarray(target).reshape(-1)
        live = t != ignore_index
        if not live.all():
            t = np.where(live, t, 0)
        else:
            live = None
        if t.size and (t.min() < 0 or t.max() >= c) and (live is None or live.any()):
            bad = t[(t < 0) | (t >= c)][0]
            raise IndexOutOfRange(f"{name}: target {bad} is out of range for {c} classes (ignore_index={ignore_index})")
        self.t, self.live = t, live
        w = None if weight is None else weight[t] if c else np.zeros(t.size, input.dtype)
        if live is not None:
            w = live.astype(input.dtype) if w is None else np.where(live, w, 0)
        self.w = w

    def picked(self, rows: Any) -> Any:
        """rows[i, t[i]]"""
        return rows[np.arange(self.t.size), self.t] if rows.shape[1] else np.zeros(self.t.size, rows.dtype)

    def reduce(self, loss: Any, reduction: str, target_shape: tuple[int, ...]) -> Any:
        if reduction == "none":
            return loss.reshape(target_shape)
        total = np.add.reduce(loss)
        return total if reduction == "sum" else divided(total, self.denominator())

    def denominator(self) -> Any:
        """The sum of the weights of rows: what a mean divides by."""
        return np.float64(self.t.size) if self.w is None else np.add.reduce(self.w)

    def scale(self, grad: Any, reduction: str) -> Any:
        """What each row's gradient is multiplied by (its weight left out)."""
        g = np.asarray(grad).reshape(-1) if reduction == "none" else grad if reduction == "sum" else divided(grad, self.denominator())
        return np.broadcast_to(np.asarray(g, self.x.dtype), self.t.shape)

    def close(self, rows: Any) -> Any:
        """Rows of classes in the shape of the input."""
        if len(self.shape) <= 2:
            return rows.reshape(self.shape)
        n, c, *rest = self.shape
        return np.ascontiguousarray(np.moveaxis(rows.reshape(n, *rest, c), -1, 1))


def divided(a: Any, b: Any) -> Any:
    """a / b in a's dtype, NaN or infinity for b = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return a / a.dtype.type(b)


def _nll(input: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100) -> Any:
    rows = Classes("nll_loss", input, target, weight, ignore_index)
    loss = -rows.picked(rows.x)
    if rows.live is not None:
        loss = np.where(rows.live, loss, loss.dtype.type(0))
    return rows.reduce(loss if rows.w is None else loss * rows.w, reduction, np.shape(target))


def _nll_backward(grad: Any, target: Any, weight: Any, size: tuple[int, ...], reduction: str = "mean", ignore_index: int = -100) -> Any:
    rows = Classes("nll_loss", np.broadcast_to(grad.dtype.type(0), size), target, weight, ignore_index)
    out = np.zeros(rows.x.shape, grad.dtype)
    if out.size:
        scale = -rows.scale(grad, reduction)
        scale = scale if rows.w is None else scale * rows.w
        if rows.live is not None:  # where all are ignored a mean's scale is infinite
            scale = np.where(rows.live, scale, scale.dtype.type(0))
        out[np.arange(rows.t.size), rows.t] = scale
    return rows.close(out)


define(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', int ignore_index=-100) -> Tensor",
    type_rule=lambda input, target, weight, reduction, ignore_index: input.with_shape(
        check_classes("nll_loss", input, target, weight, reduction)
    ),
    reference=_nll, cost="gather", method=False,
    gradient=(
        lambda g, target, weight, input_shape, reduction, ignore_index: nll_loss_backward(
            g, target, input_shape, reduction, ignore_index, weight
        ),
        NOT_DIFFERENTIABLE, refused("the gradient of nll_loss with respect to weight is not computed (nor is it in PyTorch)"),
    ),
    decomposition=lambda input, target, weight, reduction, ignore_index: nll_parts(input, target, weight, reduction, ignore_index),
    doc="""-weight[target] input[target] for log-probabilities (N, C, …) and class indices (N, …); also (C,) and ().

    Rows whose target is `ignore_index` count 0. "mean" divides by the sum of the weights of the rows that count.""",
)  # fmt: skip
define(
    """nll_loss_backward(Tensor grad, Tensor target, Shape size, str reduction='mean', int ignore_index=-100, Tensor? weight=None)
    -> Tensor""",
    type_rule=lambda grad, target, weight, size, reduction, ignore_index: grad.with_shape(size),
    reference=_nll_backward, cost="scatter", method=False,
    gradient=(
        lambda g, target, weight, reduction, ignore_index: nll_loss(g, target, weight, reduction, ignore_index),
        NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE,
    ),
    decomposition=lambda grad, target, weight, size, reduction, ignore_index: nll_backward_parts(
        grad, target, weight, size, reduction, ignore_index
    ),
    doc="The gradient of nll_loss, which is linear: its adjoint is nll_loss again.",
)  # fmt: skip


def _row_losses(rows: Classes, weight: Any, label_smoothing: float) -> Any:
    """The loss of each row; zeros where ignored."""
    x, c = rows.x, rows.x.shape[1]
    top = np.maximum.reduce(x, axis=1) if c else np.zeros(len(x), x.dtype)
    total = np.empty(len(x), x.dtype)
    for part in chunks(*x.shape):
        e = x[part] - top[part, None]
        total[part] = np.add.reduce(np.exp(e, out=e), axis=1)
    normalizer = np.log(total) + top
    loss = normalizer - rows.picked(x)
    if rows.w is not None:
        loss = loss * rows.w
    if label_smoothing:
        if weight is None:
            smooth = c * normalizer - np.add.reduce(x, axis=1)
        else:
            smooth = np.add.reduce(weight) * normalizer - x @ weight.astype(x.dtype, copy=False)
        loss = (1.0 - label_smoothing) * loss + (label_smoothing / max(c, 1)) * smooth
    return loss if rows.live is None else np.where(rows.live, loss, loss.dtype.type(0))


def _cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100, label_smoothing: float = 0.0
) -> Any:
    rows = Classes("cross_entropy", input, target, weight, ignore_index)
    return rows.reduce(_row_losses(rows, weight, label_smoothing), reduction, np.shape(target))


def _mass(rows: Classes, weight: Any, label_smoothing: float) -> Any:
    """The sum of the target weights of each row (0 where ignored), or None where all are 1."""
    if rows.w is None and not label_smoothing:
        return None
    mass = np.ones(rows.t.size, rows.x.dtype) if rows.w is None else rows.w.astype(rows.x.dtype, copy=False)
    if label_smoothing:
        whole = 1.0 if weight is None else np.add.reduce(weight) / max(weight.size, 1)
        mass = (1.0 - label_smoothing) * mass + label_smoothing * whole
        if rows.live is not None:
            mass = np.where(rows.live, mass, 0)
    return mass.astype(rows.x.dtype, copy=False)


def _cross_entropy_backward(
    grad: Any, input: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100, label_smoothing: float = 0.0
) -> Any:
    rows = Classes("cross_entropy", input, target, weight, ignore_index)
    x, c = rows.x, rows.x.shape[1]
    out = np.empty(x.shape, x.dtype)
    if not out.size:
        return out.reshape(input.shape)
    scale = rows.scale(grad, reduction)
    if rows.live is not None:
        scale = np.where(rows.live, scale, scale.dtype.type(0))
    mass = _mass(rows, weight, label_smoothing)
    factor = scale if mass is None else scale * mass
    for part in chunks(*x.shape):
        e = np.subtract(x[part], np.maximum.reduce(x[part], axis=1, keepdims=True), out=out[part])
        np.exp(e, out=e)
        e *= (factor[part] / np.add.reduce(e, axis=1))[:, None]
    hit = scale if rows.w is None else scale * rows.w
    out[np.arange(rows.t.size), rows.t] -= hit * x.dtype.type(1.0 - label_smoothing)
    if label_smoothing:
        even = scale * x.dtype.type(label_smoothing / c)
        out -= even[:, None] if weight is None else even[:, None] * weight
    return rows.close(out)


def _factor(
    grad: Any, input: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100, label_smoothing: float = 0.0
) -> Any:
    rows = Classes("cross_entropy", input, target, weight, ignore_index)
    scale, mass = rows.scale(grad, reduction), _mass(rows, weight, label_smoothing)
    if mass is not None:
        scale = scale * mass
    return np.array(scale).reshape(np.shape(target))


@helper
def class_dim(shape: Any) -> int:
    return 0 if len(shape) == 1 else 1


@helper
def cross_entropy_unit(input: Any, target: Any, weight: Any, reduction: str, ignore_index: int, label_smoothing: float, dtype: Any) -> Any:
    """The gradient for a gradient of ones."""
    ones = full(target.shape if reduction == "none" else (), 1.0, dtype=dtype)
    return cross_entropy_backward(ones, input, target, weight, reduction, ignore_index, label_smoothing)


@helper
def cross_entropy_double(
    h: Any, g: Any, input: Any, target: Any, weight: Any, reduction: str, ignore_index: int, label_smoothing: float
) -> Any:
    """The scores' part: each row's factor times the derivative of softmax."""
    dim = class_dim(input.shape)
    factor = unsqueeze(cross_entropy_factor(g, input, target, weight, reduction, ignore_index, label_smoothing), dim)
    return factor * softmax_backward(h, softmax(input, dim), dim)


define(
    """cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', int ignore_index=-100,
    float label_smoothing=0.0) -> Tensor""",
    type_rule=lambda input, target, weight, reduction, ignore_index, label_smoothing: input.with_shape(
        check_cross_entropy(input, target, weight, reduction, label_smoothing)
    ),
    reference=_cross_entropy, cost="reduction", method=False, node_name="CrossEntropyLossBackward0",
    gradient=(
        lambda g, input, target, weight, reduction, ignore_index, label_smoothing: cross_entropy_backward(
            g, input, target, weight, reduction, ignore_index, label_smoothing
        ),
        NOT_DIFFERENTIABLE, refused("the gradient of cross_entropy with respect to weight is not computed (nor is it in PyTorch)"),
    ),
    decomposition=lambda input, target, weight, reduction, ignore_index, label_smoothing: cross_entropy_parts(
        input, target, weight, reduction, ignore_index, label_smoothing
    ),
    doc="""The cross-entropy between scores (N, C, …) and class indices (N, …), also (C,) and (): nll_loss of log_softmax in one operation.

    weight: one a class. Rows whose target is `ignore_index` count 0; "mean" divides by the sum of the weights of rows that count.
    label_smoothing: how much of each target is spread evenly over all classes. `twofold.cross_entropy` also takes probabilities as targets.
    PyTorch's two nodes (NllLossBackward0 after LogSoftmaxBackward0) are one here.""",
)  # fmt: skip


def check_cross_entropy(input: TensorType, target: TensorType, weight: Any, reduction: str, label_smoothing: float) -> tuple[Any, ...]:
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueRangeError(f"cross_entropy: label_smoothing must be between 0 and 1, not {label_smoothing}")
    return check_classes("cross_entropy", input, target, weight, reduction)


@helper
def class_targets(target: Any, ignore_index: int) -> Any:
    """(which targets count, int64 or int32 classes with 0 for the others)."""
    if target.dtype.itemsize == 1:  # beside uint8 an ignore_index below 0 would wrap
        target = target + full(target.shape, 0)
    live = ne(target, ignore_index)
    return live, where(live, target, 0)


@helper
def class_checked(target: Any, classes: int) -> Any:
    """The classes; IndexOutOfRange where one is not in 0 … classes - 1. For rules that only compare them."""
    if not classes:
        return target
    return reshape(gather(arange(0, classes), 0, reshape(target, (count_of(target.shape),))), target.shape)


@helper
def class_weights(weight: Any, live: Any, target: Any) -> Any:
    """The weight of each target's class, 0 for those that do not count; None where all classes weigh the same."""
    return None if weight is None else where(live, take(weight, target), 0.0)


@helper
def class_picked(input: Any, target: Any) -> Any:
    """input[i, target[i]]"""
    dim = class_dim(input.shape)
    return squeeze(gather(input, dim, unsqueeze(target, dim)), (dim,))


@helper
def class_total(live: Any, w: Any) -> Any:
    """What a mean divides by: the weights of the targets that count, or their number."""
    return sum(live if w is None else w)


@helper
def class_reduced(loss: Any, live: Any, w: Any, reduction: str) -> Any:
    """The losses of targets (already weighted by `w`) reduced, where `live`."""
    loss = where(live, loss, 0.0)
    if reduction == "none":
        return loss
    return sum(loss) / class_total(live, w) if reduction == "mean" else sum(loss)


@helper
def class_scale(grad: Any, live: Any, w: Any, reduction: str) -> Any:
    """What the gradient of each target's loss is multiplied by (its weight left out), 0 for targets that do not count."""
    return where(live, grad / class_total(live, w) if reduction == "mean" else grad, 0.0)


@helper
def class_values(weight: Any, shape: Any) -> Any:
    """A value a class, so that it broadcasts to the scores."""
    dim = class_dim(shape)
    return reshape(weight, tuple([n if i == dim else 1 for i, n in enumerate(shape)]))


@helper
def nll_parts(input: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    live, target = class_targets(target, ignore_index)
    w = class_weights(weight, live, target)
    return class_reduced(weighted(-class_picked(input, target), w), live, w, reduction)


@helper
def nll_backward_parts(grad: Any, target: Any, weight: Any, size: Any, reduction: str, ignore_index: int) -> Any:
    live, target = class_targets(target, ignore_index)
    w = class_weights(weight, live, target)
    dim = class_dim(size)
    hit = eq(positions_along(size, dim), unsqueeze(class_checked(target, size[dim]), dim))
    return where(hit, unsqueeze(-weighted(class_scale(grad, live, w, reduction), w), dim), 0.0)


@helper
def cross_entropy_parts(input: Any, target: Any, weight: Any, reduction: str, ignore_index: int, label_smoothing: float) -> Any:
    """With m the greatest score: log(sum(exp(x - m))) - (x[target] - m), and as much for every class where targets are smoothed."""
    dim = class_dim(input.shape)
    live, target = class_targets(target, ignore_index)
    w = class_weights(weight, live, target)
    if input.shape[dim] == 0:
        return class_reduced(class_picked(input, target), live, w, reduction)
    top = amax(input, (dim,), True)
    shifted = input - top
    total = log(sum(exp(shifted), (dim,), False))
    loss = weighted(total - (class_picked(input, target) - squeeze(top, (dim,))), w)
    if label_smoothing:
        if weight is None:
            smooth = total * float(input.shape[dim]) - sum(shifted, (dim,), False)
        else:
            smooth = total * sum(weight) - sum(shifted * class_values(weight, input.shape), (dim,), False)
        loss = loss * (1.0 - label_smoothing) + smooth * (label_smoothing / input.shape[dim])
    return class_reduced(loss, live, w, reduction)


@helper
def class_mass(weight: Any, w: Any, label_smoothing: float) -> Any:
    """The sum of the target weights of each target; None where it is 1."""
    return w if w is None or not label_smoothing else w * (1.0 - label_smoothing) + mean(weight) * label_smoothing


@helper
def cross_entropy_backward_parts(
    grad: Any, input: Any, target: Any, weight: Any, reduction: str, ignore_index: int, label_smoothing: float
) -> Any:
    """softmax times the targets' mass, less the targets."""
    dim = class_dim(input.shape)
    if input.shape[dim] == 0:
        return clone(input)
    live, target = class_targets(target, ignore_index)
    w = class_weights(weight, live, target)
    scale = class_scale(grad, live, w, reduction)
    e = exp(input - amax(input, (dim,), True))
    result = e * (unsqueeze(weighted(scale, class_mass(weight, w, label_smoothing)), dim) / sum(e, (dim,), True))
    hit = eq(positions_along(input.shape, dim), unsqueeze(class_checked(target, input.shape[dim]), dim))
    result = result - where(hit, unsqueeze(weighted(scale, w) * (1.0 - label_smoothing), dim), 0.0)
    if label_smoothing:
        even = unsqueeze(scale, dim) * (label_smoothing / input.shape[dim])
        result = result - (even if weight is None else even * class_values(weight, input.shape))
    return result


@helper
def cross_entropy_factor_parts(grad: Any, target: Any, weight: Any, reduction: str, ignore_index: int, label_smoothing: float) -> Any:
    live, target = class_targets(target, ignore_index)
    w = class_weights(weight, live, target)
    return weighted(class_scale(grad, live, w, reduction), class_mass(weight, w, label_smoothing))


define(
    """cross_entropy_backward(Tensor grad, Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', int ignore_index=-100,
    float label_smoothing=0.0) -> Tensor""",
    type_rule=lambda grad, input, target, weight, reduction, ignore_index, label_smoothing: input,
    reference=_cross_entropy_backward, cost="reduction", method=False,
    gradient=(
        lambda g, input, target, weight, reduction, ignore_index, label_smoothing, grad_dtype: class_sum(
            g * cross_entropy_unit(input, target, weight, reduction, ignore_index, label_smoothing, grad_dtype), reduction
        ),
        lambda g, grad, input, target, weight, reduction, ignore_index, label_smoothing: cross_entropy_double(
            g, grad, input, target, weight, reduction, ignore_index, label_smoothing
        ),
        NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE,
    ),
    decomposition=lambda grad, input, target, weight, reduction, ignore_index, label_smoothing: cross_entropy_backward_parts(
        grad, input, target, weight, reduction, ignore_index, label_smoothing
    ),
    doc="The gradient of cross_entropy: softmax less the targets, scaled row by row. The softmax is computed anew.",
)  # fmt: skip


@helper
def class_sum(a: Any, reduction: str) -> Any:
    return sum(a, (class_dim(a.shape),), False) if reduction == "none" else sum(a)


define(
    """cross_entropy_factor(Tensor grad, Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', int ignore_index=-100,
    float label_smoothing=0.0) -> Tensor""",
    type_rule=lambda grad, input, target, weight, reduction, ignore_index, label_smoothing: input.with_shape(target.shape),
    reference=_factor, cost="gather", method=False,
    gradient=(
        lambda g, input, target, weight, reduction, ignore_index, label_smoothing, grad_dtype: factor_gradient(
            g, input, target, weight, reduction, ignore_index, label_smoothing, grad_dtype
        ),
        NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE,
    ),
    decomposition=lambda grad, input, target, weight, reduction, ignore_index, label_smoothing: cross_entropy_factor_parts(
        grad, target, weight, reduction, ignore_index, label_smoothing
    ),
    doc="For each row the gradient of its loss times the sum of its target weights; linear in grad, of `input` only the shape matters.",
)  # fmt: skip


@helper
def factor_gradient(
    h: Any, input: Any, target: Any, weight: Any, reduction: str, ignore_index: int, label_smoothing: float, dtype: Any
) -> Any:
    if reduction == "none":
        return cross_entropy_factor(h, input, target, weight, reduction, ignore_index, label_smoothing)
    return sum(h * cross_entropy_factor(full((), 1.0, dtype=dtype), input, target, weight, reduction, ignore_index, label_smoothing))
