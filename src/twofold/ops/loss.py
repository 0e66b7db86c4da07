"""Loss functions. `reduction` is "mean", "sum" or "none"."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.types import TensorType, common_device, result_type, tensor_type
from twofold.ops.record import define, helper, refused
from twofold.ops.reduction import require_float
from twofold.ops.summation import add_reduce
from twofold.ops.typing import broadcast_shapes
from twofold.support.errors import ShapeError, ValueRangeError

# ---- reductions of losses ------------------------------------------------------------------------------------------------------------


def check_reduction(name: str, reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ValueRangeError(f"{name}: reduction must be 'mean', 'sum' or 'none', not {reduction!r}")


def reduce_loss(loss: Any, reduction: str) -> Any:
    """The loss of each element reduced."""
    if reduction == "none":
        return loss
    total = add_reduce(loss, None)
    if reduction == "sum":
        return total
    return total / loss.size if loss.size else total * np.nan


def elementwise_loss(name: str) -> Any:
    """The type rule of losses of elements: operands broadcast and promote."""

    def rule(input: TensorType, target: TensorType, *weights: Any, reduction: str, **attributes: Any) -> TensorType:
        check_reduction(name, reduction)
        dtype = result_type(input, target)
        require_float(name, dtype)
        operands = (input, target, *(w for w in weights if w is not None))
        shape = broadcast_shapes(name, *(t.shape for t in operands)) if reduction == "none" else _checked_scalar(name, operands)
        return tensor_type(dtype, shape, common_device(operands, name))

    return rule


def _checked_scalar(name: str, operands: tuple[TensorType, ...]) -> tuple[Any, ...]:
    broadcast_shapes(name, *(t.shape for t in operands))
    return ()


@helper
def loss_gradient(g: Any, like: Any, reduction: str) -> Any:
    """The gradient that each element of the loss gets; `like` has the loss's shape before reduction."""
    return divide_by_count(g, like.shape) if reduction == "mean" else g


@helper
def fitted(r: Any, like: Any, shape: Any, dtype: Any, other_dtype: Any) -> Any:
    """The gradient of an operand that was broadcast (or converted to the other's dtype) brought back to its type.

    `like` is the full difference of the operands: its shape is the broadcast one.
    """
    if r.shape != like.shape:
        r = expand(r, like.shape)
    if r.shape != shape:
        r = sum_to_size(r, shape)
    return r if dtype is other_dtype else to(r, dtype)


# ---- differences ----------------------------------------------------------------------------------------------------------------------


def _mse(input: Any, target: Any, reduction: str = "mean") -> Any:
    d = input - target
    if reduction == "none":
        return d * d
    flat = d.reshape(-1)
    total = add_reduce(flat * flat, None)
    return total if reduction == "sum" else total / flat.size if flat.size else total * np.nan


@helper
def mse_gradient(g: Any, input: Any, target: Any, reduction: str, shape: Any, dtype: Any, other_dtype: Any) -> Any:
    d = input - target
    return fitted(d * (loss_gradient(g, d, reduction) * 2.0), d, shape, dtype, other_dtype)


define(
    "mse_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor",
    type_rule=elementwise_loss("mse_loss"), reference=_mse, cost="reduction", method=False,
    gradient=(
        lambda g, input, target, reduction, input_shape, input_dtype, target_dtype: mse_gradient(
            g, input, target, reduction, input_shape, input_dtype, target_dtype
        ),
        lambda g, input, target, reduction, target_shape, input_dtype, target_dtype: -mse_gradient(
            g, input, target, reduction, target_shape, target_dtype, input_dtype
        ),
    ),
    decomposition=lambda input, target, reduction: reduced(squared(input - target), reduction),
    doc="(input - target)².",
)  # fmt: skip


@helper
def reduced(loss: Any, reduction: str) -> Any:
    return mean(loss) if reduction == "mean" else sum(loss) if reduction == "sum" else loss


@helper
def l1_gradient(g: Any, input: Any, target: Any, reduction: str, shape: Any, dtype: Any, other_dtype: Any) -> Any:
    d = input - target
    return fitted(sign(d) * loss_gradient(g, d, reduction), d, shape, dtype, other_dtype)


define(
    "l1_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor",
    type_rule=elementwise_loss("l1_loss"), cost="reduction", method=False,
    reference=lambda input, target, reduction="mean": reduce_loss(np.abs(input - target), reduction),
    gradient=(
        lambda g, input, target, reduction, input_shape, input_dtype, target_dtype: l1_gradient(
            g, input, target, reduction, input_shape, input_dtype, target_dtype
        ),
        lambda g, input, target, reduction, target_shape, input_dtype, target_dtype: -l1_gradient(
            g, input, target, reduction, target_shape, target_dtype, input_dtype
        ),
    ),
    decomposition=lambda input, target, reduction: reduced(abs(input - target), reduction),
    doc="|input - target|.",
)  # fmt: skip


def _huber(input: Any, target: Any, reduction: str, delta: float) -> Any:
    d = np.abs(input - target)
    return reduce_loss(np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def _smooth_l1(input: Any, target: Any, reduction: str, beta: float) -> Any:
    d = np.abs(input - target)
    return reduce_loss(d if beta == 0 else np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)


def _positive(name: str, parameter: str, zero: bool) -> Any:
    inner = elementwise_loss(name)

    def rule(input: TensorType, target: TensorType, reduction: str, **attributes: Any) -> TensorType:
        value = attributes[parameter]
        if not (value > 0 or (zero and value == 0)):
            raise ValueRangeError(f"{name}: {parameter} must be {'at least' if zero else 'greater than'} 0, not {value}")
        result: TensorType = inner(input, target, reduction=reduction)
        return result

    return rule


@helper
def huber_gradient(
    g: Any, input: Any, target: Any, reduction: str, limit: float, slope: float, shape: Any, dtype: Any, other_dtype: Any
) -> Any:
    """slope * d within ±limit, slope * limit * sign(d) outside; limit 0 means sign(d)."""
    d = input - target
    part = sign(d) if limit == 0 else where(lt(abs(d), limit), d * slope, sign(d) * (limit * slope))
    return fitted(part * loss_gradient(g, d, reduction), d, shape, dtype, other_dtype)


@helper
def huber_terms(d: Any, delta: float) -> Any:
    """d²/2 where d < delta, delta (d - delta/2) elsewhere."""
    return where(lt(d, delta), d * d * 0.5, (d - 0.5 * delta) * delta)


@helper
def smooth_l1_terms(d: Any, beta: float) -> Any:
    """d²/(2 beta) where d < beta, d - beta/2 elsewhere; d for beta = 0."""
    return d if beta == 0 else where(lt(d, beta), d * d * (0.5 / beta), d - 0.5 * beta)


define(
    "smooth_l1_loss(Tensor input, Tensor target, str reduction='mean', float beta=1.0) -> Tensor",
    type_rule=_positive("smooth_l1_loss", "beta", True), cost="reduction", method=False, node_name="SmoothL1LossBackward0",
    reference=lambda input, target, reduction="mean", beta=1.0: _smooth_l1(input, target, reduction, beta),
    gradient=(
        lambda g, input, target, reduction, beta, input_shape, input_dtype, target_dtype: huber_gradient(
            g, input, target, reduction, beta, 1.0 / beta if beta else 0.0, input_shape, input_dtype, target_dtype
        ),
        lambda g, input, target, reduction, beta, target_shape, input_dtype, target_dtype: -huber_gradient(
            g, input, target, reduction, beta, 1.0 / beta if beta else 0.0, target_shape, target_dtype, input_dtype
        ),
    ),
    decomposition=lambda input, target, reduction, beta: reduced(smooth_l1_terms(abs(input - target), beta), reduction),
    doc="With d = |input - target|: d²/(2 beta) where d < beta, d - beta/2 elsewhere.",
)  # fmt: skip
define(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0) -> Tensor",
    type_rule=_positive("huber_loss", "delta", False), cost="reduction", method=False,
    reference=lambda input, target, reduction="mean", delta=1.0: _huber(input, target, reduction, delta),
    gradient=(
        lambda g, input, target, reduction, delta, input_shape, input_dtype, target_dtype: huber_gradient(
            g, input, target, reduction, delta, 1.0, input_shape, input_dtype, target_dtype
        ),
        lambda g, input, target, reduction, delta, target_shape, input_dtype, target_dtype: -huber_gradient(
            g, input, target, reduction, delta, 1.0, target_shape, target_dtype, input_dtype
        ),
    ),
    decomposition=lambda input, target, reduction, delta: reduced(huber_terms(abs(input - target), delta), reduction),
    doc="With d = |input - target|: d²/2 where d < delta, delta (d - delta/2) elsewhere. P. J. Huber, Ann. Math. Stat. 35 (1964).",
)  # fmt: skip

# ---- binary cross-entropy ---------------------------------------------------------------------------------------------------------------


def _bce(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    if input.size and (input.min() < 0.0 or input.max() > 1.0):
        raise ValueRangeError(
            f"binary_cross_entropy: inputs must be probabilities in [0, 1], not {input.min():.6g} to {input.max():.6g}; "
            "binary_cross_entropy_with_logits takes any number"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        ones, zeros = np.maximum(np.log(input), -100.0), np.maximum(np.log1p(-input), -100.0)
    loss = (target - 1.0) * zeros - target * ones
    return reduce_loss(loss if weight is None else loss * weight, reduction)


def _bce_type(input: TensorType, target: TensorType, weight: Any, reduction: str) -> TensorType:
    if input.shape != target.shape:
        raise ShapeError(f"binary_cross_entropy: input has shape {input.shape}, target {target.shape}; they must agree")
    result: TensorType = elementwise_loss("binary_cross_entropy")(input, target, weight, reduction=reduction)
    return result


@helper
def weighted(loss: Any, weight: Any) -> Any:
    return loss if weight is None else loss * weight


@helper
def bce_gradient(g: Any, input: Any, target: Any, weight: Any, reduction: str) -> Any:
    part = (input - target) / clamp((1.0 - input) * input, 1e-12)
    return weighted(part * loss_gradient(g, part, reduction), weight)


@helper
def bce_target_gradient(g: Any, input: Any, weight: Any, reduction: str) -> Any:
    part = clamp(log1p(-input), -100.0) - clamp(log(input), -100.0)
    return weighted(part * loss_gradient(g, part, reduction), weight)


@helper
def bce_terms(input: Any, target: Any) -> Any:
    """Each element's loss; NaN for inputs outside [0, 1], which the record refuses."""
    ones, zeros = maximum(log(input), -100.0), maximum(log1p(-input), -100.0)
    return (target - 1.0) * zeros - target * ones


define(
    "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor",
    type_rule=_bce_type, reference=_bce, cost="reduction", method=False,
    gradient=(
        lambda g, input, target, weight, reduction: bce_gradient(g, input, target, weight, reduction),
        lambda g, input, weight, reduction: bce_target_gradient(g, input, weight, reduction),
        refused("the gradient of binary_cross_entropy with respect to weight is not computed (nor is it in PyTorch)"),
    ),
    decomposition=lambda input, target, weight, reduction: reduced(weighted(bce_terms(input, target), weight), reduction),
    doc="-(target log(input) + (1 - target) log(1 - input)) for probabilities in [0, 1], logarithms cut off at -100. `weight` broadcasts.",
)  # fmt: skip


def _bce_with_logits(input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean") -> Any:
    soft = np.log1p(np.exp(-np.abs(input))) + np.maximum(-input, 0.0)  # -log(sigmoid(input))
    loss = (1.0 - target) * input + (soft if pos_weight is None else soft * (1.0 + (pos_weight - 1.0) * target))
    return reduce_loss(loss if weight is None else loss * weight, reduction)


def _bce_with_logits_type(input: TensorType, target: TensorType, weight: Any, pos_weight: Any, reduction: str) -> TensorType:
    name = "binary_cross_entropy_with_logits"
    if input.shape != target.shape:
        raise ShapeError(f"{name}: input has shape {input.shape}, target {target.shape}; they must agree")
    result: TensorType = elementwise_loss(name)(input, target, weight, pos_weight, reduction=reduction)
    return result


@helper
def bce_logits_gradient(g: Any, input: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    p = sigmoid(input)
    part = p - target if pos_weight is None else (1.0 - target) - (1.0 + (pos_weight - 1.0) * target) * (1.0 - p)
    return weighted(part * loss_gradient(g, part, reduction), weight)


@helper
def bce_logits_target_gradient(g: Any, input: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    part = -input if pos_weight is None else (pos_weight - 1.0) * softplus(-input) - input
    return weighted(part * loss_gradient(g, part, reduction), weight)


@helper
def bce_logits_terms(input: Any, target: Any, pos_weight: Any) -> Any:
    """Each element's loss; log1p(exp(-|x|)) + max(-x, 0) is -log(sigmoid(x))."""
    soft = log1p(exp(-abs(input))) + maximum(-input, 0.0)
    return (1.0 - target) * input + (soft if pos_weight is None else soft * ((pos_weight - 1.0) * target + 1.0))


define(
    """binary_cross_entropy_with_logits(
    Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, str reduction='mean') -> Tensor""",
    type_rule=_bce_with_logits_type, reference=_bce_with_logits, cost="reduction", method=False,
    gradient=(
        lambda g, input, target, weight, pos_weight, reduction: bce_logits_gradient(g, input, target, weight, pos_weight, reduction),
        lambda g, input, weight, pos_weight, reduction: bce_logits_target_gradient(g, input, weight, pos_weight, reduction),
        refused("the gradient of binary_cross_entropy_with_logits with respect to weight is not computed (nor is it in PyTorch)"),
        refused("the gradient of binary_cross_entropy_with_logits with respect to pos_weight is not computed (nor is it in PyTorch)"),
    ),
    decomposition=lambda input, target, weight, pos_weight, reduction: reduced(
        weighted(bce_logits_terms(input, target, pos_weight), weight), reduction
    ),
    doc="""binary_cross_entropy of sigmoid(input), computed without overflow; `pos_weight` multiplies the terms of positive targets.

    `weight` and `pos_weight` broadcast to the input.""",
)  # fmt: skip

# ---- Kullback-Leibler divergence -------------------------------------------------------------------------------------------------------


def _kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    if log_target:
        loss = np.exp(target) * (target - input)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(target == 0, target, target * np.log(target)) - target * input
    return reduce_loss(loss, reduction)


@helper
def kl_gradient(g: Any, input: Any, target: Any, reduction: str, log_target: bool, shape: Any, dtype: Any, other_dtype: Any) -> Any:
    d = input - target
    part = -(exp(target) if log_target else target)
    return fitted(part * loss_gradient(g, d, reduction), d, shape, dtype, other_dtype)


@helper
def kl_target_gradient(g: Any, input: Any, target: Any, reduction: str, log_target: bool, shape: Any, dtype: Any, other_dtype: Any) -> Any:
    d = target - input
    part = exp(target) * (d + 1.0) if log_target else where(gt(target, 0.0), log(where(gt(target, 0.0), target, 1.0)) + 1.0, 0.0) - input
    return fitted(part * loss_gradient(g, d, reduction), d, shape, dtype, other_dtype)


@helper
def kl_terms(input: Any, target: Any, log_target: bool) -> Any:
    """Each element's term; target log(target) is 0 for a target of 0."""
    if log_target:
        return exp(target) * (target - input)
    none = eq(target, 0.0)
    return where(none, 0.0, target * log(where(none, 1.0, target))) - target * input


define(
    "kl_div(Tensor input, Tensor target, str reduction='mean', bool log_target=False) -> Tensor",
    type_rule=elementwise_loss("kl_div"), reference=_kl_div, cost="reduction", method=False,
    gradient=(
        lambda g, input, target, reduction, log_target, input_shape, input_dtype, target_dtype: kl_gradient(
            g, input, target, reduction, log_target, input_shape, input_dtype, target_dtype
        ),
        lambda g, input, target, reduction, log_target, target_shape, input_dtype, target_dtype: kl_target_gradient(
            g, input, target, reduction, log_target, target_shape, target_dtype, input_dtype
        ),
    ),
    decomposition=lambda input, target, reduction, log_target: reduced(kl_terms(input, target, log_target), reduction),
    doc="target (log(target) - input) for log-probabilities `input`; with `log_target` the target is a log-probability too.",
)  # fmt: skip
