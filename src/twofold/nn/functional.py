"""The functions of `torch.nn.functional`, with its signatures.

Most are the package's functions of the same name. Defined here are those whose signature differs from the function's (an `inplace`
argument, a dimension that may be left out) and those written with others.
"""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from twofold.nn.attention_forward import ATTENTION
from twofold.nn.composites import COMPOSITES
from twofold.support.errors import UnknownNameError, UnsupportedError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS, INPLACE

if TYPE_CHECKING:
    from twofold.nn.shared import *  # noqa: F403  # what `__getattr__` finds

SHARED = (
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "alpha_dropout", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cross_entropy", "ctc_loss", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout", "fold",
    "gelu", "glu", "grid_sample", "group_norm", "gumbel_softmax", "hardshrink", "huber_loss", "instance_norm", "interpolate", "kl_div",
    "l1_loss", "layer_norm", "linear", "local_response_norm", "logsigmoid", "lp_pool1d", "lp_pool2d", "max_pool1d", "max_pool2d",
    "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d", "mse_loss", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "nll_loss", "normalize", "pdist", "one_hot", "pad", "prelu", "rms_norm", "scaled_dot_product_attention",
    "sigmoid", "smooth_l1_loss", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "upsample",
    "upsample_bilinear", "upsample_nearest", "affine_grid", "lp_pool3d", "triplet_margin_with_distance_loss",
    "native_channel_shuffle", "fractional_max_pool2d", "fractional_max_pool3d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices", "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d_with_indices",
    "embedding_bag",
)  # fmt: skip
"""Names that are the package's function itself, where it exists."""
LAYERS_ONLY = ("flatten", "squeeze", "unflatten", "unsqueeze")
"""Functions the layers use that `torch.nn.functional` does not list."""

plain_relu = FUNCTIONS["relu"]
relu_, leaky_relu_, elu_, celu_, selu_ = (INPLACE[n] for n in ("relu_", "leaky_relu_", "elu_", "celu_", "selu_"))
hardtanh_, threshold_ = INPLACE["hardtanh_"], INPLACE["threshold_"]


def __getattr__(name: str) -> Any:
    found = COMPOSITES.get(name) or ATTENTION.get(name)
    if found is None and (name in SHARED or name in LAYERS_ONLY):
        found = FUNCTIONS.get(name)
    if found is not None:
        globals()[name] = found
        return found
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    close = get_close_matches(name, __dir__(), 3)
    raise UnknownNameError(f"nn.functional has no function {name!r}" + (f"; similar: {', '.join(close)}" if close else ""))


def __dir__() -> list[str]:
    own = {n for n, v in globals().items() if callable(v) and not n.startswith("_") and n[0].islower() and n not in NOT_PUBLIC}
    return sorted(own | set(COMPOSITES) | set(ATTENTION) | {n for n in SHARED if n in FUNCTIONS})


NOT_PUBLIC = ("plain_relu", "get_close_matches", *LAYERS_ONLY)


def _either(name: str, input: Tensor, inplace: bool, *settings: Any) -> Any:
    """The function, or its in-place form."""
    return INPLACE[name + "_"](input, *settings) if inplace else FUNCTIONS[name](input, *settings)


# ---- activations -----------------------------------------------------------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)."""
    return _either("relu", input, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x limited to [0, 6]."""
    return INPLACE["hardtanh_"](input, 0.0, 6.0) if inplace else FUNCTIONS["relu6"](input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, negative_slope * x elsewhere."""
    return _either("leaky_relu", input, inplace, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    return _either("elu", input, inplace, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    return _either("celu", input, inplace, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising unit of Klambauer et al., arXiv:1706.02515."""
    return _either("selu", input, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _either("silu", input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _either("mish", input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * min(max(x + 3, 0), 6) / 6."""
    return _either("hardswish", input, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x + 3, 0), 6) / 6."""
    return _either("hardsigmoid", input, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x limited to [min_val, max_val]."""
    return _either("hardtanh", input, inplace, min_val, max_val)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above `threshold`, `value` elsewhere."""
    return _either("threshold", input, inplace, threshold, value)


# ---- softmax and its kin -----------------------------------------------------------------------------------------------------------------


def _implicit_dim(name: str, input: Tensor, dim: int | None) -> int:
    """PyTorch's choice where no dimension is given, with its warning."""
    if dim is not None:
        return dim
    warnings.warn(f"{name}: the choice of a dimension is outdated; give dim", UserWarning, stacklevel=3)
    return 0 if input._type.ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
    return FUNCTIONS["softmax"](input, _implicit_dim("softmax", input, dim), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x)) along `dim`."""
    return FUNCTIONS["log_softmax"](input, _implicit_dim("log_softmax", input, dim), dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x) along `dim`."""
    return FUNCTIONS["softmax"](-input, _implicit_dim("softmin", input, dim), dtype=dtype)


# ---- embedding ---------------------------------------------------------------------------------------------------------------------------


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` (N, D) by integer index: (*) to (*, D). The row `padding_idx` gets no gradient.

    max_norm: the rows used are first scaled to at most this norm (of order `norm_type`), in place. Sparse gradients do not exist here:
    UnsupportedError.
    """
    if sparse:
        raise UnsupportedError("embedding: sparse gradients are not supported")
    row = -1
    if padding_idx is not None:
        rows = weight._type.shape[0] if weight._type.ndim else 0
        if not -rows <= padding_idx < rows:
            raise ValueRangeError(f"embedding: padding_idx ({padding_idx}) must be within the {rows} rows of the weight")
        row = padding_idx % rows
    if max_norm is not None:
        FUNCTIONS["embedding_renorm_"](weight, input, max_norm, norm_type)
    return FUNCTIONS["embedding"](weight, input, row, scale_grad_by_freq)


# ---- written with others -----------------------------------------------------------------------------------------------------------------


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel, L) with L blocks, row by row. `fold` is the adjoint.

    Raises ShapeError where no block fits.
    """
    return FUNCTIONS["im2col"](input, kernel_size, dilation, padding, stride)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """x where it is positive, a * x elsewhere: in training each a is drawn from [lower, upper), otherwise it is their mean.

    Raises ValueRangeError for lower > upper. B. Xu et al., arXiv:1505.00853.
    """
    if not lower <= upper:
        raise ValueRangeError(f"rrelu: lower ({lower}) must not be above upper ({upper})")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = FUNCTIONS["rand_like"](input) * (upper - lower) + lower
    factor = FUNCTIONS["where"](input.detach() > 0, 1.0, slopes)
    return INPLACE["mul_"](input, factor) if inplace else FUNCTIONS["mul"](input, factor)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """`rrelu` written into the operand."""
    return rrelu(input, lower, upper, training, True)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """softmax((logits + noise) / tau) with noise of Gumbel's distribution; `hard`: one-hot vectors with the gradient of the soft ones.

    E. Jang et al., arXiv:1611.01144; C. Maddison et al., arXiv:1611.00712. `eps` has no effect.
    """
    if eps != 1e-10:
        warnings.warn("gumbel_softmax: eps has no effect", UserWarning, stacklevel=2)
    uniform = INPLACE["exponential_"](FUNCTIONS["empty_like"](logits.detach()))
    soft = FUNCTIONS["softmax"]((logits - FUNCTIONS["log"](uniform)) / tau, dim)
    if not hard:
        return soft
    index = FUNCTIONS["argmax"](soft.detach(), dim, True)
    zeros = FUNCTIONS["zeros_like"](logits.detach())
    chosen = FUNCTIONS["scatter"](zeros, dim, index, FUNCTIONS["ones_like"](soft.detach()))
    return chosen - soft.detach() + soft
