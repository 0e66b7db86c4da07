"""Losses of `torch.nn.functional` over margins and over sequences, written with records; reduction is "mean", "sum" or "none"."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.types import tensor_type
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor, wrap, wrap_typed
from twofold.tensors.shapes import reshape


def chosen(name: str, size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction, checked; the two outdated arguments, which PyTorch still takes, mean one too."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warnings.warn(f"{name}: size_average and reduce are outdated: use reduction={reduction!r}", UserWarning, stacklevel=3)
    if reduction not in ("mean", "sum", "none"):
        raise ValueRangeError(f"{name}: reduction must be 'mean', 'sum' or 'none', not {reduction!r}")
    return reduction


def reduced(loss: Any, reduction: str) -> Tensor:
    """The losses, their sum or their mean."""
    return loss if reduction == "none" else call(reduction, loss)


def _rows(name: str, input: Any) -> tuple[Any, tuple[Any, ...]]:
    """The input as (N, C), and the shape of the losses: (N,), or () for (C,) and numbers."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"{name}(): input must be a tensor, not {type(input).__name__}")
    t = input._type
    if not t.dtype.is_floating_point:
        raise DTypeError(f"{name} takes floating-point inputs, not {t.dtype.name}")
    if t.ndim > 2 or (t.ndim and t.shape[-1] == 0):
        raise ShapeError(f"{name}: the input must have the shape (N, C) or (C,) with C above 0, not {tuple(t.shape)}")
    return (input, (t.shape[0],)) if t.ndim == 2 else (reshape(input, (1, -1)), ())


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over the other classes of max(0, margin - x[target] + x[i])^p / C, times weight[target]: input (N, C), target (N,), or without
    N.

    p is 1 or 2. Raises ValueRangeError, ShapeError, DTypeError; IndexOutOfRange for a target that is no class.
    """
    name = "multi_margin_loss"
    reduction = chosen(name, size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueRangeError(f"{name}: p must be 1 or 2, not {p}")
    if weight is not None and weight._type.ndim != 1:
        raise ValueRangeError(f"{name}: the weight must have one dimension, not the shape {tuple(weight._type.shape)}")
    x, shape = _rows(name, input)
    n, classes = x._type.shape
    given = target._type
    if given.dtype is not dtypes.int64:
        raise DTypeError(f"{name}: the target must be int64, not {given.dtype.name}")
    if given.ndim > 1 or (given.ndim == 1 and given.shape[0] != n) or (given.ndim == 0 and shape):
        raise ShapeError(f"{name}: {n} rows need a target of shape ({n},), not {tuple(given.shape)}")
    if weight is not None and weight._type.shape[0] != classes:
        raise ShapeError(f"{name}: the weight has {weight._type.shape[0]} elements for {classes} classes")
    index = reshape(target, (n, 1))
    gap = call("clamp", (x - call("gather", x, index, dim=1)) + margin, 0.0, None)
    if p == 2:
        gap = gap * gap
    if weight is not None:
        gap = gap * reshape(call("index_select", weight, reshape(target, (n,)), dim=0), (n, 1))
    own = call("eq", wrap(np.arange(classes)), index)
    loss = call("sum", call("where", own, 0.0, gap), dim=(1,)) / float(classes)
    return reduced(reshape(loss, shape) if reduction == "none" else loss, reduction)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """Sum over targets j and other classes i of max(0, 1 - (x[j] - x[i])) / C: input and target (N, C) or (C,).

    A row of targets ends at its first negative number. Raises ShapeError, DTypeError, ValueRangeError.
    """
    name = "multilabel_margin_loss"
    reduction = chosen(name, size_average, reduce, reduction)
    x, shape = _rows(name, input)
    n, classes = x._type.shape
    if tuple(target._type.shape) != tuple(input._type.shape):
        raise ShapeError(f"{name}: the target has shape {tuple(target._type.shape)}, the input {tuple(input._type.shape)}; they must agree")
    if target._type.dtype is not dtypes.int64:
        raise DTypeError(f"{name}: the target must be int64, not {target._type.dtype.name}")
    labels = reshape(target, (n, classes))
    ended = call("gt", call("cumsum", call("to", call("lt", labels, 0), dtype=dtypes.int64), dim=1), 0)
    index = call("clamp", labels, 0, None)
    scores = call("gather", x, index, dim=1)
    ours = call(
        "logical_and",
        call("eq", reshape(index, (n, classes, 1)), wrap(np.arange(classes))),
        reshape(call("logical_not", ended), (n, classes, 1)),
    )
    is_target = call("any", ours, dim=(1,))
    gaps = call("clamp", 1.0 - (reshape(scores, (n, classes, 1)) - reshape(x, (n, 1, classes))), 0.0, None)
    counts = call(
        "logical_and", reshape(call("logical_not", ended), (n, classes, 1)), reshape(call("logical_not", is_target), (n, 1, classes))
    )
    loss = call("sum", call("where", counts, gaps, 0.0), dim=(1, 2)) / float(classes)
    return reduced(reshape(loss, shape) if reduction == "none" else loss, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(y log(sigmoid(x)) + (1 - y) log(sigmoid(-x))), times `weight`, its mean over the last dimension."""
    reduction = chosen("multilabel_soft_margin_loss", size_average, reduce, reduction)
    x, y = input, target
    loss: Any = -(call("mul", y, call("logsigmoid", x)) + call("mul", call("sub", 1, y), call("logsigmoid", call("neg", x))))
    if weight is not None:
        loss = loss * weight
    return reduced(call("mean", loss, dim=(-1,)), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with any distance; by default the Euclidean one (eps 1e-6).

    swap: the smaller of d(anchor, negative) and d(positive, negative) counts.
    """
    name = "triplet_margin_with_distance_loss"
    reduction = chosen(name, None, None, reduction)
    if margin <= 0:
        raise ValueRangeError(f"{name}: margin must be above 0, not {margin}")
    ranks = tuple(t._type.ndim for t in (anchor, positive, negative))
    if len(set(ranks)) > 1:
        raise ShapeError(f"{name}: anchor, positive and negative must have equally many dimensions, not {ranks}")
    distance = _euclidean if distance_function is None else distance_function
    near: Any = distance(anchor, positive)
    far: Any = distance(anchor, negative)
    if swap:
        far = call("minimum", far, distance(positive, negative))
    return reduced(call("clamp", near - far + margin, 0.0, None), reduction)


def _euclidean(x: Any, y: Any) -> Any:
    return call("linalg_vector_norm", x - y + 1e-6, ord=2.0, dim=(-1,), keepdim=False)


# ---- sequences ---------------------------------------------------------------------------------------------------------------------------


def _lengths(name: str, value: Any, batch: Any, device: str) -> Tensor:
    """Lengths as a tensor (N,)."""
    if isinstance(value, Tensor):
        return reshape(value, (batch,)) if value._type.ndim == 0 else value
    if not isinstance(value, Sequence):
        raise ArgumentError(f"ctc_loss(): {name} must be a tensor or ints, not {type(value).__name__}")
    array = np.array(value, np.int64)
    return wrap(array) if device == "cpu" else wrap_typed(None, tensor_type(dtypes.int64, array.shape, device))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification (A. Graves et al., ICML 2006): log_probs (T, N, C) or (T, C), from log_softmax.

    targets: (N, S), or all in one row (sum of target_lengths); lengths: tensors or ints. reduction "mean" divides each loss by its target
    length and takes the mean. zero_infinity: impossible targets count 0 and have no gradient. Like PyTorch's, the gradient takes for
    granted that `log_probs` came from log_softmax; there is no second derivative (UnsupportedError).
    """
    reduction = chosen("ctc_loss", None, None, reduction) if isinstance(reduction, str) else ("none", "mean", "sum")[reduction]
    alone = isinstance(log_probs, Tensor) and log_probs._type.ndim == 2
    x = call("unsqueeze", log_probs, dim=1) if alone else log_probs
    if alone and targets._type.ndim == 1:
        targets = reshape(targets, (1, targets._type.shape[0]))
    batch = x._type.shape[1] if x._type.ndim == 3 else 1
    lengths = (
        _lengths("input_lengths", input_lengths, batch, x._type.device),
        _lengths("target_lengths", target_lengths, batch, x._type.device),
    )
    losses = call("ctc_loss", x, targets, *lengths, blank=blank, zero_infinity=zero_infinity)
    if zero_infinity:
        losses = call("where", call("isinf", losses), 0.0, losses)
    if reduction == "mean":
        return call("mean", losses / call("to", call("clamp", lengths[1], 1, None), dtype=losses._type.dtype))
    if reduction == "sum":
        return call("sum", losses)
    return reshape(losses, ()) if alone else losses


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "multi_margin_loss": multi_margin_loss, "multilabel_margin_loss": multilabel_margin_loss,
    "multilabel_soft_margin_loss": multilabel_soft_margin_loss, "triplet_margin_with_distance_loss": triplet_margin_with_distance_loss,
    "ctc_loss": ctc_loss,
}  # fmt: skip
