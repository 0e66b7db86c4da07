"""Multi-head attention as a function, and the loss of a linear classifier: functions of `torch.nn.functional` written with others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from twofold.ir import dtypes
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS

NAME = "multi_head_attention_forward"


def _f(name: str, *args: Any, **kwargs: Any) -> Any:
    return FUNCTIONS[name](*args, **kwargs)


def _shape(t: Any) -> tuple[Any, ...]:
    return tuple(t._type.shape)


# ---- masks -----------------------------------------------------------------------------------------------------------------------------


def check_mask(mask: Any, name: str) -> None:
    """Masks are bool (true: left out) or floating-point (added to the scores)."""
    if mask is not None and mask._type.dtype is not dtypes.bool_ and not mask._type.dtype.is_floating_point:
        raise DTypeError(f"{name} must be bool or floating-point, not {mask._type.dtype.name}")


def is_bool(mask: Any) -> bool:
    return bool(mask._type.dtype is dtypes.bool_)


def as_float(mask: Any, dtype: Any) -> Any:
    """A bool mask as numbers to add: -inf where it is true."""
    if not is_bool(mask):
        return mask
    return _f("where", mask, -math.inf, _f("zeros", (), dtype=dtype))


def merged(attn_mask: Any, padding: Any, dtype: Any) -> Any:
    """Both masks in one (either may be None): bool if all are."""
    if attn_mask is None or padding is None:
        return padding if attn_mask is None else attn_mask
    if is_bool(attn_mask) and is_bool(padding):
        return _f("logical_or", attn_mask, padding)
    return as_float(attn_mask, dtype) + as_float(padding, dtype)


def _widened(mask: Any) -> Any:
    """One more key, which no mask leaves out."""
    if mask is None:
        return None
    column = _f("zeros", (*_shape(mask)[:-1], 1), dtype=mask._type.dtype)
    return _f("cat", (mask, column), -1)


# ---- the parts of multi-head attention -----------------------------------------------------------------------------------------------


def _check_shapes(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """True for a batch, False for single sequences."""
    n = query._type.ndim
    shapes = ", ".join(str(_shape(t)) for t in (query, key, value))
    if n not in (2, 3) or key._type.ndim != n or value._type.ndim != n:
        raise ShapeError(f"{NAME}: query, key and value must all have 3 dimensions (a batch) or all 2, their shapes are {shapes}")
    if key_padding_mask is not None and key_padding_mask._type.ndim != n - 1:
        raise ShapeError(
            f"{NAME}: key_padding_mask must have {n - 1} dimension(s) beside {n}-d inputs, its shape is {_shape(key_padding_mask)}"
        )
    if attn_mask is not None:
        if attn_mask._type.ndim not in (2, 3):
            raise ShapeError(f"{NAME}: attn_mask must have 2 or 3 dimensions, its shape is {_shape(attn_mask)}")
        if n == 2 and attn_mask._type.ndim == 3 and _shape(attn_mask) != (num_heads, _shape(query)[0], _shape(key)[0]):
            expected = (num_heads, _shape(query)[0], _shape(key)[0])
            raise ShapeError(f"{NAME}: a 3-d attn_mask must have the shape {expected}, it has {_shape(attn_mask)}")
    return bool(n == 3)


def _project(query: Any, key: Any, value: Any, weights: tuple[Any, Any, Any] | None, packed: Any, bias: Any, width: int) -> list[Any]:
    """The three input projections, in as few products as possible."""
    if weights is not None:
        biases = (None,) * 3 if bias is None else _f("split", bias, width, 0)
        return [_f("linear", x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]
    if packed is None:
        raise ValueRangeError(f"{NAME}: in_proj_weight is None and use_separate_proj_weight is False")
    if key is value and query is key:
        return list(_f("split", _f("linear", query, packed, bias), width, -1))
    first, rest = _f("split_with_sizes", packed, (width, 2 * width), 0)
    b_first, b_rest = (None, None) if bias is None else _f("split_with_sizes", bias, (width, 2 * width), 0)
    if key is value:
        return [_f("linear", query, first, b_first), *_f("split", _f("linear", key, rest, b_rest), width, -1)]
    parts = _f("split", packed, width, 0)
    biases = (None,) * 3 if bias is None else _f("split", bias, width, 0)
    return [_f("linear", x, w, b) for x, w, b in zip((query, key, value), parts, biases, strict=True)]


def _sized_mask(attn_mask: Any, batch: int, heads: int, target: int, source: int) -> Any:
    """The mask as (1 or B, 1 or H, L, S)."""
    if attn_mask is None:
        return None
    shape = _shape(attn_mask)
    if len(shape) == 2:
        if shape != (target, source):
            raise ShapeError(f"{NAME}: a 2-d attn_mask must have the shape {(target, source)}, it has {shape}")
        return _f("reshape", attn_mask, (1, 1, target, source))
    if shape != (batch * heads, target, source):
        raise ShapeError(f"{NAME}: a 3-d attn_mask must have the shape {(batch * heads, target, source)}, it has {shape}")
    return _f("reshape", attn_mask, (batch, heads, target, source))


def _heads(x: Any, static: Any, batch: int, heads: int, width: int, name: str) -> Any:
    """(S, B, E) as (B, H, S, E / H); a static one (B H, S, E / H) takes its place."""
    if static is None:
        return _f("permute", _f("reshape", x, (_shape(x)[0], batch, heads, width)), (1, 2, 0, 3))
    if _shape(static)[0] != batch * heads or _shape(static)[2] != width:
        raise ShapeError(f"{NAME}: {name} must have the shape ({batch * heads}, S, {width}), it has {_shape(static)}")
    return _f("reshape", static, (batch, heads, _shape(static)[1], width))


def _weighted(q: Any, k: Any, v: Any, mask: Any, dropout_p: float) -> tuple[Any, Any]:
    """(output, weights) with the weights in full."""
    scores = _f("matmul", q * (_shape(q)[-1] ** -0.5), _f("transpose", k, 2, 3))
    if mask is not None:
        scores = scores + as_float(mask, q._type.dtype)
    weights = _f("softmax", scores, -1)
    if dropout_p > 0.0:
        weights = _f("dropout", weights, dropout_p, True)
    return _f("matmul", weights, v), weights


def _attend(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, need_weights: bool, average: bool, is_causal: bool) -> tuple[Any, Any]:
    """(output (B, H, L, E / H), weights or None)."""
    if need_weights:
        out, weights = _weighted(q, k, v, mask, dropout_p)
        return out, _f("mean", weights, 1) if average else weights
    if mask is not None and is_bool(mask):
        mask = _f("logical_not", mask)
    return _f("scaled_dot_product_attention", q, k, v, mask, dropout_p, is_causal), None


def _padding_mask(padding: Any, batch: int, source: int) -> Any:
    if padding is None:
        return None
    if _shape(padding) != (batch, source):
        raise ShapeError(f"{NAME}: key_padding_mask must have the shape {(batch, source)}, it has {_shape(padding)}")
    return _f("reshape", padding, (batch, 1, 1, source))


def _check_widths(
    query: Any, key: Any, value: Any, embed_dim: int, num_heads: int, separate: bool, static: bool, bias_k: Any, bias_v: Any
) -> None:
    width = _shape(query)[2]
    if width != embed_dim:
        raise ShapeError(f"{NAME}: the features of query are {width}, expected {embed_dim}")
    if width % num_heads:
        raise ShapeError(f"{NAME}: {width} features do not divide into {num_heads} heads")
    if _shape(key)[:2] != _shape(value)[:2] or (not separate and _shape(key) != _shape(value)):
        raise ShapeError(f"{NAME}: key of shape {_shape(key)} and value of shape {_shape(value)} do not match")
    if (bias_k is None) != (bias_v is None):
        raise ValueRangeError(f"{NAME}: bias_k and bias_v must be given together")
    if bias_k is not None and static:
        raise ValueRangeError(f"{NAME}: bias_k and bias_v cannot be added to static keys and values")


def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any, bias_k: Any,
    bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any, training: bool = True,
    key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None, use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention of `num_heads` heads between projections: query (L, B, E), key (S, B, Ek), value (S, B, Ev), or without B; output
    (L, B, E) and, with need_weights, the weights (B, L, S) averaged over heads or (B, H, L, S).

    Masks: bool (true: left out) or added to the scores; key_padding_mask (B, S), attn_mask (L, S) or (B H, L, S). is_causal: a hint that
    attn_mask is causal. bias_k, bias_v (1, 1, E): one more key and value. A. Vaswani et al., arXiv:1706.03762.
    """
    is_batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    check_mask(key_padding_mask, "key_padding_mask")
    check_mask(attn_mask, "attn_mask")
    if is_causal and attn_mask is None:
        raise ValueRangeError(f"{NAME}: is_causal is a hint about attn_mask, which must be given")
    if not is_batched:
        same = query is key, key is value
        query = _f("unsqueeze", query, 1)
        key = query if same[0] else _f("unsqueeze", key, 1)
        value = key if same[1] else _f("unsqueeze", value, 1)
        key_padding_mask = None if key_padding_mask is None else _f("unsqueeze", key_padding_mask, 0)
    is_causal = is_causal and key_padding_mask is None and not need_weights
    target, batch, width = _shape(query)
    static = static_k is not None or static_v is not None
    _check_widths(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight, static, bias_k, bias_v)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _project(query, key, value, separate, in_proj_weight, in_proj_bias, width)
    mask = None if is_causal else _sized_mask(attn_mask, batch, num_heads, target, _shape(key)[0])
    if bias_k is not None:
        k = _f("cat", (k, _f("repeat", bias_k, (1, batch, 1))), 0)
        v = _f("cat", (v, _f("repeat", bias_v, (1, batch, 1))), 0)
        mask, key_padding_mask = _widened(mask), _widened(key_padding_mask)
    head = width // num_heads
    q = _heads(q, None, batch, num_heads, head, "q")
    k = _heads(k, static_k, batch, num_heads, head, "static_k")
    v = _heads(v, static_v, batch, num_heads, head, "static_v")
    if add_zero_attn:
        zero = _f("zeros", (batch, num_heads, 1, head), dtype=k._type.dtype, device=k._type.device)
        k, v = _f("cat", (k, zero), 2), _f("cat", (v, zero), 2)
        mask, key_padding_mask = _widened(mask), _widened(key_padding_mask)
    mask = merged(mask, _padding_mask(key_padding_mask, batch, _shape(k)[2]), q._type.dtype)
    out, weights = _attend(q, k, v, mask, dropout_p if training else 0.0, need_weights, average_attn_weights, is_causal)
    out = _f("reshape", _f("permute", out, (2, 0, 1, 3)), (target, batch, width))
    out = _f("linear", out, out_proj_weight, out_proj_bias)
    if not is_batched:
        return _f("squeeze", out, 1), None if weights is None else _f("squeeze", weights, 0)
    return out, weights


# ---- a linear classifier's loss ----------------------------------------------------------------------------------------------------------


def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target): input (N, in) or (in,), linear_weight (C, in) or (C, d1, …, in).

    target: class indices (N, d1, …), or probabilities (N, C, d1, …), beside which ignore_index must stay None. options: PyTorch's settings
    for computing in chunks, which save memory and change no value; they are without effect here.
    """
    rank, shape = input._type.ndim, _shape(linear_weight)
    if rank not in (1, 2) or len(shape) < 2:
        raise ShapeError(
            f"linear_cross_entropy: input must have 1 or 2 dimensions and linear_weight at least 2, not {_shape(input)}, {shape}"
        )
    classes, *more = shape[:-1]
    if more and rank != 2:
        raise ShapeError(f"linear_cross_entropy: a linear_weight of shape {shape} needs a batch of inputs (N, {shape[-1]})")
    if _shape(input)[-1] != shape[-1]:
        raise ShapeError(f"linear_cross_entropy: input has {_shape(input)[-1]} features, linear_weight of shape {shape} {shape[-1]}")
    if linear_bias is not None and _shape(linear_bias) != shape[:-1]:
        raise ShapeError(f"linear_cross_entropy: linear_bias must have the shape {shape[:-1]}, it has {_shape(linear_bias)}")
    if target._type.dtype.is_floating_point and ignore_index is not None:
        raise ValueRangeError("linear_cross_entropy: ignore_index cannot be given where target holds probabilities")
    if more:
        linear_weight = _f("reshape", linear_weight, (math.prod(shape[:-1]), shape[-1]))
        linear_bias = None if linear_bias is None else _f("reshape", linear_bias, (math.prod(shape[:-1]),))
    logits = _f("linear", input, linear_weight, linear_bias)
    if more:
        logits = _f("reshape", logits, (_shape(input)[0], classes, *more))
    return _f(
        "cross_entropy", logits, target, weight=weight, reduction=reduction, ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )  # fmt: skip


def warn_of_mixed_masks(mask: Any, name: str, other: Any, other_name: str) -> None:
    """PyTorch's warning for two masks of different dtypes."""
    if mask is not None and other is not None and mask._type.dtype is not other._type.dtype:
        warnings.warn(f"{name} and {other_name} have different dtypes; use one for both", UserWarning, stacklevel=3)


ATTENTION: dict[str, Callable[..., Any]] = {f.__name__: f for f in (multi_head_attention_forward, linear_cross_entropy)}
