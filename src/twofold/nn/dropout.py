"""Dropout layers: in training some elements become zero; in evaluation nothing happens."""

from __future__ import annotations

import numpy as np

from twofold.nn import functional as F
from twofold.nn.module import Module
from twofold.support.errors import ValueRangeError
from twofold.tensors.core import Tensor


class _Dropout(Module):
    """A probability `p` and whether the input is written."""

    function = ""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not isinstance(p, (int, float, np.number)) or not 0 <= p <= 1:
            raise ValueRangeError(f"{self._get_name()}: the probability p must be a number within [0, 1], not {p!r}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The input with some elements zero (in training)."""
        return getattr(F, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Each element becomes 0 with probability p; the others are divided by 1 - p."""

    function = "dropout"


class Dropout1d(_Dropout):
    """Whole channels of (N, C, L) or (C, L) become 0 with probability p."""

    function = "dropout1d"


class Dropout2d(_Dropout):
    """Whole channels of (N, C, H, W) become 0 with probability p."""

    function = "dropout2d"


class Dropout3d(_Dropout):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) become 0 with probability p."""

    function = "dropout3d"


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance of normalised inputs (Klambauer et al., arXiv:1706.02515); for use with SELU."""

    function = "alpha_dropout"


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels."""

    function = "feature_alpha_dropout"
