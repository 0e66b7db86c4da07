"""Loss modules over margins, sequences and many classes. `reduction` is "mean", "sum" or "none"."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from twofold.nn import functional as F
from twofold.nn.distance import PairwiseDistance
from twofold.nn.linear import Linear
from twofold.nn.loss import NLLLoss, _Loss, _WeightedLoss
from twofold.support.errors import ShapeError, ValueRangeError
from twofold.tensors.core import Tensor


class MultiMarginLoss(_WeightedLoss):
    """Sum over the other classes of max(0, margin - x[target] + x[i])^p / C; p is 1 or 2."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueRangeError(f"MultiMarginLoss: p must be 1 or 2, not {p}")
        if weight is not None and weight._type.ndim != 1:
            raise ValueRangeError(f"MultiMarginLoss: the weight must have one dimension, not the shape {tuple(weight._type.shape)}")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Sum over targets j and other classes i of max(0, 1 - (x[j] - x[i])) / C; a row of targets ends at its first negative number."""

    function = "multilabel_margin_loss"


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """-(y log(sigmoid(x)) + (1 - y) log(sigmoid(-x))), its mean over the classes."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with any distance d, by default PairwiseDistance()."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueRangeError(f"TripletMarginWithDistanceLoss: margin must be above 0, not {margin}")
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        """The loss."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification (A. Graves et al., ICML 2006); see `nn.functional.ctc_loss`."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:  # type: ignore[override]
        """The loss of log_probs (T, N, C) and targets (N, S)."""
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)


class NLLLoss2d(NLLLoss):
    """`NLLLoss` under its older name."""


@dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch cuts `linear_cross_entropy` into pieces to save memory. Here it is computed whole: the options change nothing."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyLoss(_WeightedLoss):
    """`CrossEntropyLoss` of a `Linear` layer's output; `out_features` makes scores (N, num_classes, *out_features)."""

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        if weight is not None and tuple(weight._type.shape) != (num_classes,):
            raise ShapeError(f"LinearCrossEntropyLoss: the weight must have the shape {(num_classes,)}, not {tuple(weight._type.shape)}")
        if not 0.0 <= label_smoothing <= 1.0:
            raise ValueRangeError(f"LinearCrossEntropyLoss: label_smoothing must be between 0 and 1, not {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of input (N, in_features) or (in_features,)."""
        lead = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*lead, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(lead),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
