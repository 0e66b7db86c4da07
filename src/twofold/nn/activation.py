"""Activations as modules."""

from __future__ import annotations

from typing import Any

from twofold.nn import functional as F
from twofold.nn import init
from twofold.nn.create import new_parameter
from twofold.nn.module import Module
from twofold.support.errors import ShapeError, ValueRangeError
from twofold.tensors.core import Tensor


class _Plain(Module):
    """An activation without settings; takes no notice of arguments, as in PyTorch."""

    function = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return getattr(F, self.function)(input)


class Sigmoid(_Plain):
    """1 / (1 + exp(-x))."""

    function = "sigmoid"


class Tanh(_Plain):
    """The hyperbolic tangent."""

    function = "tanh"


class LogSigmoid(_Plain):
    """log(sigmoid(x))."""

    function = "logsigmoid"


class Softsign(_Plain):
    """x / (1 + |x|)."""

    function = "softsign"


class Tanhshrink(_Plain):
    """x - tanh(x)."""

    function = "tanhshrink"


class _MayWrite(Module):
    """An activation whose only setting is `inplace`."""

    function = ""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element, written into the input with `inplace`."""
        return getattr(F, self.function)(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_MayWrite):
    """max(x, 0)."""

    def forward(self, input: Tensor) -> Tensor:
        """max(x, 0) of every element."""
        return F.relu_(input) if self.inplace else F.plain_relu(input)


class SiLU(_MayWrite):
    """x * sigmoid(x)."""

    function = "silu"


class Mish(_MayWrite):
    """x * tanh(softplus(x))."""

    function = "mish"


class SELU(_MayWrite):
    """The self-normalising unit of Klambauer et al., arXiv:1706.02515."""

    function = "selu"


class Hardswish(_MayWrite):
    """x * min(max(x + 3, 0), 6) / 6."""

    function = "hardswish"

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_MayWrite):
    """min(max(x + 3, 0), 6) / 6."""

    function = "hardsigmoid"

    def extra_repr(self) -> str:
        return ""


class Hardtanh(Module):
    """x limited to [min_val, max_val]."""

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise ValueRangeError(f"{self._get_name()}: max_val ({self.max_val}) must be above min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """The input, limited."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """x limited to [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    """x where it is positive, negative_slope * x elsewhere."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class _Alpha(Module):
    """ELU and CELU: a scale `alpha`."""

    function = ""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return getattr(F, self.function)(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class ELU(_Alpha):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""

    function = "elu"


class CELU(_Alpha):
    """x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere."""

    function = "celu"


class Threshold(Module):
    """x where it is above `threshold`, `value` elsewhere."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class GELU(Module):
    """x * Phi(x), Phi the normal distribution function; approximate: 'none' or 'tanh'."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """a * sigmoid(b), a and b the halves of the input along `dim`."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The gated half."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _Shrink(Module):
    """Hardshrink and Softshrink: a limit `lambd`."""

    function = ""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return getattr(F, self.function)(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, 0 elsewhere."""

    function = "hardshrink"


class Softshrink(_Shrink):
    """x moved towards 0 by lambd, 0 between."""

    function = "softshrink"


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above `threshold`."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class PReLU(Module):
    """x where it is positive, weight * x elsewhere; weight (num_parameters,): one slope, or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = new_parameter((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """All slopes `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """The function of every element."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _OverDim(Module):
    """Softmax and its kin: a dimension."""

    function = ""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The function along `dim`."""
        return getattr(F, self.function)(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_OverDim):
    """exp(x) / sum(exp(x)) along `dim`."""

    function = "softmax"


class LogSoftmax(_OverDim):
    """log(softmax(x)) along `dim`."""

    function = "log_softmax"


class Softmin(_OverDim):
    """softmax(-x) along `dim`."""

    function = "softmin"


class Softmax2d(_Plain):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """The function along dimension -3."""
        if input._type.ndim not in (3, 4):
            raise ShapeError(f"Softmax2d: expects an input of 3 or 4 dimensions, this one has shape {tuple(input._type.shape)}")
        return F.softmax(input, -3)
