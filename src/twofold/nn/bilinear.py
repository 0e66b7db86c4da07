"""Bilinear maps and the randomised leaky rectifier."""

from __future__ import annotations

import math
from typing import Any

from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.create import new_parameter
from twofold.nn.module import Module
from twofold.support.errors import ValueRangeError
from twofold.tensors.core import Tensor


class Bilinear(Module):
    """y = x1ᵀ W x2 + b: inputs (*, in1_features) and (*, in2_features), output (*, out_features).

    weight (out_features, in1_features, in2_features) and bias begin uniform in ±1/sqrt(in1_features).
    """

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueRangeError(f"Bilinear: in1_features must be above 0, not {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = new_parameter((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", new_parameter((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """The bilinear map."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class RReLU(Module):
    """x where it is positive, a * x elsewhere: in training each a is drawn from [lower, upper), otherwise it is their mean."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The rectified input."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")
