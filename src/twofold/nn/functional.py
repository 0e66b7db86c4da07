"""The functions of `torch.nn.functional`, with its signatures.

Most are the package's functions of the same name. Defined here are those whose signature differs from the function's (an `inplace` argument, a
dimension that may be left out) and those written with others.
"""

from __future__ import annotations

import math
import warnings
from difflib import get_close_matches
from typing import Any

from twofold.support.errors import ShapeError, UnknownNameError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS, INPLACE

SHARED = (
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "bilinear",
    "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "ctc_loss", "embedding", "fold", "gaussian_nll_loss", "gelu", "glu", "grid_sample", "group_norm",
    "gumbel_softmax", "hardshrink", "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm",
    "linear", "local_response_norm", "logsigmoid", "lp_pool1d", "lp_pool2d", "margin_ranking_loss", "max_pool1d", "max_pool2d", "max_pool3d",
    "max_unpool1d", "max_unpool2d", "max_unpool3d", "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu", "rms_norm",
    "scaled_dot_product_attention", "sigmoid", "smooth_l1_loss", "soft_margin_loss", "softplus", "softshrink", "softsign", "tanh", "tanhshrink",
    "triplet_margin_loss", "unfold", "upsample",
)  # fmt: skip
"""Names that are the package's function itself, where it exists."""
LAYERS_ONLY = ("flatten", "squeeze", "unflatten", "unsqueeze")
"""Functions the layers use that `torch.nn.functional` does not list."""

plain_relu = FUNCTIONS["relu"]
relu_, leaky_relu_, elu_, celu_, selu_ = (INPLACE[n] for n in ("relu_", "leaky_relu_", "elu_", "celu_", "selu_"))
hardtanh_, threshold_ = INPLACE["hardtanh_"], INPLACE["threshold_"]


def __getattr__(name: str) -> Any:
    if (name in SHARED or name in LAYERS_ONLY) and name in FUNCTIONS:
        found = globals()[name] = FUNCTIONS[name]
        return found
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    close = get_close_matches(name, __dir__(), 3)
    raise UnknownNameError(f"nn.functional has no function {name!r}" + (f"; similar: {', '.join(close)}" if close else ""))


def __dir__() -> list[str]:
    own = {n for n, v in globals().items() if callable(v) and not n.startswith("_") and n[0].islower() and n not in NOT_PUBLIC}
    return sorted(own | {n for n in SHARED if n in FUNCTIONS})


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
    return FUNCTIONS["softmax"](-input, _implicit_dim("softmin", input, dim), dtype=dtype)  # type: ignore[operator]


# ---- dropout -----------------------------------------------------------------------------------------------------------------------------


def _probability(name: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueRangeError(f"{name}: the probability p must be within [0, 1], not {p}")


def _scale(input: Tensor, mask: Tensor, inplace: bool) -> Tensor:
    return INPLACE["mul_"](input, mask) if inplace else FUNCTIONS["mul"](input, mask)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training each element becomes 0 with probability p, the others are divided by 1 - p."""
    _probability("dropout", p)
    if not inplace:
        return FUNCTIONS["dropout"](input, p, training)
    if not training or p == 0:
        return input
    return _scale(input, FUNCTIONS["dropout"](FUNCTIONS["ones_like"](input), p, True), True)


def _channels_kept(input: Tensor, batched: bool, p: float) -> Tensor:
    """1 / (1 - p) or 0 for each channel, in a shape that broadcasts to the input."""
    shape = input._type.shape
    head = 2 if batched else 1
    ones = FUNCTIONS["ones"]((*shape[:head], *(1,) * (len(shape) - head)), dtype=input._type.dtype, device=input._type.device)
    return FUNCTIONS["dropout"](ones, p, True)


def _feature_dropout(name: str, input: Tensor, p: float, training: bool, inplace: bool, dims: tuple[int, ...], batched: bool) -> Tensor:
    _probability(name, p)
    if input._type.ndim not in dims:
        raise ShapeError(
            f"{name}: expects an input of {' or '.join(map(str, dims))} dimensions, this one has shape {tuple(input._type.shape)}"
        )
    if not training or p == 0:
        return input
    return _scale(input, _channels_kept(input, batched, p), inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training whole channels of (N, C, L) or (C, L) become 0 with probability p, the others are divided by 1 - p."""
    return _feature_dropout("dropout1d", input, p, training, inplace, (2, 3), input._type.ndim == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training whole channels of (N, C, H, W) or (N, C, L) become 0 with probability p, the others are divided by 1 - p.

    As in PyTorch an input of 3 dimensions is taken as (N, C, L), not as (C, H, W).
    """
    return _feature_dropout("dropout2d", input, p, training, inplace, (3, 4), True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training whole channels of (N, C, D, H, W) or (C, D, H, W) become 0 with probability p, the others are divided by 1 - p."""
    return _feature_dropout("dropout3d", input, p, training, inplace, (4, 5), input._type.ndim == 5)


ALPHA = 1.6732632423543772 * 1.0507009873554805
"""The limit of selu for large negative numbers, with its sign turned: alpha * scale."""


def _alpha_dropout(input: Tensor, kept: Tensor, p: float, inplace: bool) -> Tensor:
    """a (x kept - ALPHA (1 - kept)) + b with a, b such that mean 0 and variance 1 stay; `kept` is 1 / (1 - p) or 0."""
    if p == 1:
        return _scale(input, kept, inplace)
    a = 1.0 / math.sqrt((1.0 - p) * (1.0 + p * ALPHA * ALPHA))
    kept = kept * (1.0 - p)  # type: ignore[operator]
    shift = (kept - 1.0) * (ALPHA * a) + ALPHA * a * p  # type: ignore[operator]
    scaled = _scale(input, kept * a, inplace)  # type: ignore[operator]
    return INPLACE["add_"](scaled, shift) if inplace else FUNCTIONS["add"](scaled, shift)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """In training each element becomes selu's lower limit with probability p; mean 0 and variance 1 are kept (arXiv:1706.02515)."""
    _probability("alpha_dropout", p)
    if not training or p == 0:
        return input
    return _alpha_dropout(input, FUNCTIONS["dropout"](FUNCTIONS["ones_like"](input), p, True), p, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels (dimension 1)."""
    _probability("feature_alpha_dropout", p)
    if not training or p == 0:
        return input
    if input._type.ndim < 2:
        raise ShapeError(f"feature_alpha_dropout: expects at least 2 dimensions (N, C, …), the input has shape {tuple(input._type.shape)}")
    return _alpha_dropout(input, _channels_kept(input, True, p), p, inplace)
