"""The loss of connectionist temporal classification: A. Graves et al., ICML 2006, section 4, in logarithms."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import common_device
from twofold.ops.record import define, refused
from twofold.ops.typing import tensor_operand
from twofold.support.errors import DTypeError, IndexOutOfRange, ShapeError, ValueRangeError

Array = Any

# ---- the lattice -----------------------------------------------------------------------------------------------------------------------


def padded_targets(targets: Array, lengths: Array, blank: int) -> np.ndarray:
    """(N, 2 S + 1) labels with blanks between and around, blanks where a target is shorter; `targets` is (N, S) or all in one row."""
    n, longest = len(lengths), int(lengths.max(initial=0))
    labels = np.full((n, longest), blank, np.int64)
    if targets.ndim == 2:
        for i, count in enumerate(lengths):
            labels[i, :count] = targets[i, :count]
    else:
        start = 0
        for i, count in enumerate(lengths):
            labels[i, :count] = targets[start : start + count]
            start += int(count)
    extended = np.full((n, 2 * longest + 1), blank, np.int64)
    extended[:, 1::2] = labels
    return extended


def check_values(name: str, log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int) -> None:
    steps = log_probs.shape[0]
    if input_lengths.size and (input_lengths.min() < 0 or input_lengths.max() > steps):
        raise ValueRangeError(f"{name}: input lengths must be between 0 and the {steps} steps, not {input_lengths.tolist()}")
    if target_lengths.size and target_lengths.min() < 0:
        raise ValueRangeError(f"{name}: target lengths must not be negative: {target_lengths.tolist()}")
    needed = int(target_lengths.max(initial=0)) if targets.ndim == 2 else int(target_lengths.sum())
    if targets.shape[-1] < needed or (targets.ndim == 1 and targets.shape[0] != needed):
        raise ValueRangeError(f"{name}: targets of shape {targets.shape} do not hold target lengths {target_lengths.tolist()}")
    labels, classes = padded_targets(targets, target_lengths, blank), log_probs.shape[2]
    wrong = labels[(labels < 0) | (labels >= classes)]
    if wrong.size:
        raise IndexOutOfRange(f"{name}: targets must be classes, 0 to {classes - 1}, not {wrong[0]}")


def forward_variables(log_probs: Array, labels: np.ndarray, input_lengths: Array, target_lengths: Array, blank: int) -> np.ndarray:
    """log alpha (T, N, 2 S + 1): the probability of all beginnings that end in a state, steps and states beyond the lengths included.

    Scores enter at each step; a state is reached from itself, the one before, and the second before where that is another label."""
    steps, n, _ = log_probs.shape
    states = labels.shape[1]
    scores = np.take_along_axis(log_probs, np.broadcast_to(labels, (steps, n, states)), 2)
    skip = np.zeros((n, states), np.bool_)
    skip[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    alpha = np.full((steps, n, states), -np.inf, log_probs.dtype)
    if steps:
        alpha[0, :, 0] = scores[0, :, 0]
        if states > 1:
            has = target_lengths > 0
            alpha[0, has, 1] = scores[0, has, 1]
    for t in range(1, steps):
        before = alpha[t - 1]
        total = before.copy()
        np.logaddexp(total[:, 1:], before[:, :-1], out=total[:, 1:])
        if states > 2:
            np.logaddexp(total[:, 2:], before[:, :-2], out=total[:, 2:], where=skip[:, 2:])
        alpha[t] = total + scores[t]
    return alpha


def ending(alpha: np.ndarray, input_lengths: Array, target_lengths: Array) -> np.ndarray:
    """log of the probability of each target: the two last states at each last step."""
    _, n, _ = alpha.shape
    rows = np.arange(n)
    result = np.full(n, -np.inf, alpha.dtype)
    some = input_lengths > 0
    at, states = input_lengths[some] - 1, 2 * target_lengths[some]
    last = alpha[at, rows[some], states]
    before = np.where(states > 0, alpha[at, rows[some], np.maximum(states - 1, 0)], -np.inf)
    result[some] = np.logaddexp(last, before)
    result[~some] = np.where(target_lengths[~some] == 0, 0.0, -np.inf)
    return result


def _ctc(
    log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int = 0, zero_infinity: bool = False
) -> Array:
    check_values("ctc_loss", log_probs, targets, input_lengths, target_lengths, blank)
    labels = padded_targets(targets, target_lengths, blank)
    with np.errstate(invalid="ignore"):
        alpha = forward_variables(log_probs, labels, input_lengths, target_lengths, blank)
        losses = -ending(alpha, input_lengths, target_lengths)
    return losses + losses.dtype.type(0.0)


def backward_variables(log_probs: Array, labels: np.ndarray, input_lengths: Array, target_lengths: Array, blank: int) -> np.ndarray:
    """log beta (T, N, 2 S + 1), the step's own score included: each sample's lattice is turned round, run forward, and turned back."""
    steps, n, _ = log_probs.shape
    states = labels.shape[1]
    t = np.arange(steps)[:, None]
    turned = np.where(t < input_lengths, input_lengths - 1 - t, t)
    s = np.arange(states)
    ends = (2 * target_lengths)[:, None]
    mirrored = np.where(s <= ends, ends - s, s)
    rows = np.arange(n)
    beta = forward_variables(log_probs[turned, rows], np.take_along_axis(labels, mirrored, 1), input_lengths, target_lengths, blank)
    return beta[turned[:, :, None], rows[None, :, None], mirrored[None]]


def _ctc_backward(
    grad: Array, log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, losses: Array,
    blank: int = 0, zero_infinity: bool = False,
) -> Array:  # fmt: skip
    labels = padded_targets(targets, target_lengths, blank)
    steps, n, classes = log_probs.shape
    with np.errstate(invalid="ignore", over="ignore"):
        log_alpha = forward_variables(log_probs, labels, input_lengths, target_lengths, blank)
        beta = backward_variables(log_probs, labels, input_lengths, target_lengths, blank)
        scores = np.take_along_axis(log_probs, np.broadcast_to(labels, beta.shape), 2)
        share = np.exp(log_alpha + beta - scores + losses[:, None])
        share = np.where(np.isneginf(log_alpha) | np.isneginf(beta), 0.0, share)
        share[:, np.arange(labels.shape[1]) > (2 * target_lengths)[:, None]] = 0.0
        result = np.exp(log_probs)
        at = np.broadcast_to(labels, share.shape)
        flat = (np.arange(steps * n)[:, None] * classes + at.reshape(steps * n, -1)).reshape(-1)
        occupied = np.bincount(flat, weights=share.reshape(-1), minlength=steps * n * classes)
        result -= occupied.reshape(result.shape).astype(result.dtype)
        result *= grad[:, None]
    result[np.arange(steps)[:, None] >= input_lengths] = 0.0
    if zero_infinity:
        result[:, np.isinf(losses)] = 0.0
    else:
        result[:, np.isinf(losses)] = np.nan
        result[np.arange(steps)[:, None] >= input_lengths] = 0.0
    return result


# ---- records -----------------------------------------------------------------------------------------------------------------------------


def _ctc_type(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int, zero_infinity: bool) -> Any:
    x, y = tensor_operand("ctc_loss", log_probs, "log_probs"), tensor_operand("ctc_loss", targets, "targets")
    lengths = (tensor_operand("ctc_loss", input_lengths, "input_lengths"), tensor_operand("ctc_loss", target_lengths, "target_lengths"))
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise DTypeError(f"ctc_loss takes float32 and float64, not {x.dtype.name}")
    if y.dtype not in (dtypes.int32, dtypes.int64) or any(t.dtype not in (dtypes.int32, dtypes.int64) for t in lengths):
        names = ", ".join(t.dtype.name for t in (y, *lengths))
        raise DTypeError(f"ctc_loss: targets and lengths must be int32 or int64, not {names}")
    if x.ndim != 3 or y.ndim not in (1, 2):
        raise ShapeError(f"ctc_loss: expects log_probs (T, N, C) and targets (N, S) or (sum,), not {tuple(x.shape)} and {tuple(y.shape)}")
    n, classes = x.shape[1], x.shape[2]
    if (y.ndim == 2 and y.shape[0] != n) or any(t.shape != (n,) for t in lengths):
        shapes = ", ".join(str(tuple(t.shape)) for t in (y, *lengths))
        raise ShapeError(f"ctc_loss: targets and lengths of shapes {shapes} do not fit a batch of {n}")
    if blank < 0 or (type(classes) is int and blank >= classes):
        raise ValueRangeError(f"ctc_loss: blank must be a class, 0 to {classes} - 1, not {blank}")
    common_device((x, y), "ctc_loss")
    return x.with_shape((n,))


define(
    """ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, bool zero_infinity=False)
       -> Tensor""",
    type_rule=_ctc_type, reference=_ctc, cost="scan", method=False, function=False, node_name="CtcLossBackward0",
    gradient=(
        lambda g, log_probs, targets, input_lengths, target_lengths, result, blank, zero_infinity: ctc_loss_backward(
            g, log_probs, targets, input_lengths, target_lengths, result, blank, zero_infinity
        ),
        NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE,
    ),
    doc="""-log of the probability of each target: log_probs (T, N, C), targets (N, S) or all in one row, lengths (N,); result (N,).

The gradient takes for granted that `log_probs` came from log_softmax, as PyTorch's does. Infinite where no path fits.""",
)  # fmt: skip
define(
    """ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, Tensor losses,
       int blank, bool zero_infinity) -> Tensor""",
    type_rule=lambda grad, log_probs, targets, input_lengths, target_lengths, losses, blank, zero_infinity: log_probs,
    reference=_ctc_backward, cost="scan", method=False, function=False,
    gradient=(
        lambda g, grad, log_probs, targets, input_lengths, target_lengths, losses, blank, zero_infinity: sum(
            g * ctc_loss_backward(
                ones_like(grad), log_probs, targets, input_lengths, target_lengths, losses, blank, zero_infinity
            ), (0, 2)
        ),
        refused("ctc_loss has no second derivative (as in PyTorch); use create_graph=False"),
        NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE, NOT_DIFFERENTIABLE,
    ),
    doc="The gradient of ctc_loss: exp(log_probs) minus the share of paths through each class, times `grad`.",
)  # fmt: skip
