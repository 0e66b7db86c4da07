"""Softmax over very many classes in a tree of clusters: E. Grave et al., arXiv:1609.04309."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from twofold.nn import functional as F
from twofold.nn.containers import ModuleList, Sequential
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.support.errors import ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS


class ASMoutput(NamedTuple):
    """What the module returns: the log-probability of each target, and the mean loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Frequent classes in a head, rarer ones in clusters `cutoffs`, whose vectors are shorter by `div_value` from one to the next.

    Input (N, in_features) or (in_features,), target (N,) or (): classes in order of falling frequency. Raises ValueRangeError for cutoffs
    that are not increasing within 1 … n_classes-1.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if (
            not cutoffs
            or cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueRangeError(
                f"cutoffs must be different, increasing integers between 1 and n_classes-1 = {n_classes - 1}, not {cutoffs}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (first, last) in enumerate(pairwise(self.cutoffs)):
            hidden = int(in_features // (div_value ** (i + 1)))
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, False, device, dtype), Linear(hidden, last - first, False, device, dtype)
                )
            )  # fmt: skip

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for projection in self.tail:
            for layer in projection:
                layer.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> ASMoutput:
        """(log-probability of each target, mean of their negatives)."""
        alone = target._type.ndim == 0
        if (
            target._type.ndim > 1
            or input._type.ndim != target._type.ndim + 1
            or (not alone and input._type.shape[0] != target._type.shape[0])
        ):
            shapes = f"{tuple(input._type.shape)} and {tuple(target._type.shape)}"
            raise ShapeError(f"AdaptiveLogSoftmaxWithLoss: expects input (N, in_features) and target (N,), or without N, not {shapes}")
        x: Any = F.unsqueeze(input, 0) if alone else input
        y: Any = F.unsqueeze(target, 0) if alone else target
        low, high = int(y.min()), int(y.max())
        if low < 0 or high >= self.n_classes:
            raise ValueRangeError(f"targets must be in [0, {self.n_classes - 1}], but are in [{low}, {high}]")
        head = F.log_softmax(self.head(x), dim=1)
        place = y
        output: Any = None
        for i, (first, last) in enumerate(pairwise(self.cutoffs)):
            rows = FUNCTIONS["nonzero"](FUNCTIONS["logical_and"](y >= first, y < last)).reshape(-1)
            if rows.numel() == 0:
                continue
            scores = F.log_softmax(self.tail[i](x.index_select(0, rows)), dim=1)
            own = scores.gather(1, (y.index_select(0, rows) - first).unsqueeze(1)).squeeze(1)
            spread = FUNCTIONS["zeros"]((y._type.shape[0],), dtype=own._type.dtype).index_add(0, rows, own)
            output = spread if output is None else output + spread
            place = FUNCTIONS["where"](FUNCTIONS["logical_and"](y >= first, y < last), self.shortlist_size + i, place)
        chosen = head.gather(1, place.unsqueeze(1)).squeeze(1)
        output = chosen if output is None else output + chosen
        loss = -(output.mean())
        return ASMoutput(F.squeeze(output, 0) if alone else output, loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, in_features) to (N, n_classes)."""
        head: Any = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            scores = F.log_softmax(self.tail[i](input), dim=1)
            parts.append(scores + head[:, self.shortlist_size + i].unsqueeze(1))
        result: Tensor = FUNCTIONS["cat"](parts, 1)
        return result

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row; clusters are computed only for rows whose head chooses one."""
        best: Any = FUNCTIONS["argmax"](self.head(input), 1)
        rows = FUNCTIONS["nonzero"](best >= self.shortlist_size).reshape(-1)
        if rows.numel() == 0:
            return best
        return best.index_copy(0, rows, FUNCTIONS["argmax"](self.log_prob(input.index_select(0, rows)), 1))
