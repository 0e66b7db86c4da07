"""Functions of `torch.nn.functional` written with others: distances and the less common losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from twofold.support.errors import DimensionError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS


def _f(name: str, *args: Any, **kwargs: Any) -> Any:
    return FUNCTIONS[name](*args, **kwargs)


def _reduced(name: str, loss: Any, reduction: str) -> Tensor:
    if reduction == "mean":
        return _f("mean", loss)
    if reduction == "sum":
        return _f("sum", loss)
    if reduction == "none":
        return loss
    raise ValueRangeError(f"{name}: reduction must be 'mean', 'sum' or 'none', not {reduction!r}")


# ---- distances ---------------------------------------------------------------------------------------------------------------------------


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`; the operands broadcast."""
    x1, x2 = _f("broadcast_tensors", x1, x2)
    lengths = [_f("clamp", _f("linalg_vector_norm", x, 2, dim, True), eps) for x in (x1, x2)]
    return _f("sum", (x1 / lengths[0]) * (x2 / lengths[1]), dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    difference: Any = _f("add", _f("sub", x1, x2), eps)
    if difference._type.ndim == 0:
        raise DimensionError("pairwise_distance: needs tensors of at least one dimension")
    return _f("linalg_vector_norm", difference, p, -1, keepdim)


# ---- losses ------------------------------------------------------------------------------------------------------------------------------


def soft_margin_loss(input: Any, target: Any, size_average: None = None, reduce: None = None, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input)), targets 1 and -1."""
    return _reduced("soft_margin_loss", _f("softplus", -target * input, 1.0, math.inf), reduction)


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: None = None, reduce: None = None, reduction: str = "mean"
) -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    far = _f("clamp", margin - input, 0)
    loss = _f("where", _f("eq", target, 1), input, _f("where", _f("eq", target, -1), far, input + far))
    return _reduced("hinge_embedding_loss", loss, reduction)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: None = None, reduce: None = None, reduction: str = "mean"
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin), targets 1 and -1."""
    return _reduced("margin_ranking_loss", _f("clamp", -target * (input1 - input2) + margin, 0), reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: None = None, reduce: None = None, reduction: str = "mean"
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1: input1, input2 (N, D) and target (N,), or (D,), (D,) and ().

    The cosine's lengths are sqrt(|x|² + 1e-12), as in PyTorch.
    """
    if input1._type.shape != input2._type.shape or input1._type.ndim not in (1, 2) or target._type.ndim != input1._type.ndim - 1:
        shapes = ", ".join(str(tuple(t._type.shape)) for t in (input1, input2, target))
        raise ShapeError(f"cosine_embedding_loss: expects shapes (N, D), (N, D), (N,) or (D,), (D,), (), not {shapes}")
    products = _f("sum", input1 * input2, -1)
    lengths = [_f("sum", x * x, -1) + 1e-12 for x in (input1, input2)]
    cosine = products / _f("sqrt", lengths[0] * lengths[1])
    near = _f("where", _f("eq", target, 1), 1 - cosine, 0.0)
    loss = near + _f("where", _f("eq", target, -1), _f("clamp", cosine - margin, 0), 0.0)
    return _reduced("cosine_embedding_loss", loss, reduction)


def gaussian_nll_loss(input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """(log(var) + (input - target)² / var) / 2, var at least eps (its gradient sees no limit); `full` adds log(2 pi) / 2.

    var: a number, or a tensor of the input's shape, or with a last dimension of 1, or without it. Negative ones raise ValueRangeError.
    """
    if not isinstance(var, Tensor):
        var = _f("full_like", input, float(var))
    shape, given = tuple(input._type.shape), tuple(var._type.shape)
    if given != shape:
        if given == shape[:-1]:
            var = _f("unsqueeze", var, -1)
        elif given != (*shape[:-1], 1):
            raise ShapeError(f"gaussian_nll_loss: var has shape {given}, which does not fit the input's {shape}")
    if type(var) is Tensor and var._array is not None and bool(_f("any", _f("lt", var, 0))):
        raise ValueRangeError("gaussian_nll_loss: var has negative elements")
    limited = _f("clamp", var.detach(), eps)
    var = var + (limited - var.detach())
    loss = (_f("log", var) + _f("square", input - target) / var) * 0.5
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced("gaussian_nll_loss", loss, reduction)


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: None = None,
    eps: float = 1e-8,
    reduce: None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(input) - target * input, or without `log_input` input - target * log(input + eps).

    `full` adds Stirling's approximation target log(target) - target + log(2 pi target) / 2 where target is above 1.
    """
    loss = _f("exp", input) - target * input if log_input else input - target * _f("log", input + eps)
    if full:
        large = _f("gt", target, 1)
        safe = _f("where", large, target, 1.0)
        stirling = safe * _f("log", safe) - safe + 0.5 * _f("log", safe * (2 * math.pi))
        loss = loss + _f("where", large, stirling, 0.0)
    return _reduced("poisson_nll_loss", loss, reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the `pairwise_distance`.

    swap: the smaller of d(anchor, negative) and d(positive, negative) counts.
    """
    if margin <= 0:
        raise ValueRangeError(f"triplet_margin_loss: margin must be above 0, not {margin}")
    near: Any = pairwise_distance(anchor, positive, p, eps)
    far: Any = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = _f("minimum", far, pairwise_distance(positive, negative, p, eps))
    return _reduced("triplet_margin_loss", _f("clamp", near - far + margin, 0), reduction)


# ---- rearranged channels -----------------------------------------------------------------------------------------------------------------


def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """(*, C r², H, W) to (*, C, H r, W r): W. Shi et al., arXiv:1609.05158."""
    r = upscale_factor
    shape = tuple(input._type.shape)
    if len(shape) < 3 or r <= 0 or shape[-3] % (r * r):
        raise ShapeError(f"pixel_shuffle: {shape} has no channels (dimension -3) that divide by {r}²")
    *lead, c, h, w = shape
    n = len(lead)
    apart = _f("reshape", input, (*lead, c // (r * r), r, r, h, w))
    mixed = _f("permute", apart, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return _f("reshape", mixed, (*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """(*, C, H r, W r) to (*, C r², H, W): the inverse of `pixel_shuffle`."""
    r = downscale_factor
    shape = tuple(input._type.shape)
    if len(shape) < 3 or r <= 0 or shape[-1] % r or shape[-2] % r:
        raise ShapeError(f"pixel_unshuffle: the last two dimensions of {shape} do not divide by {r}")
    *lead, c, h, w = shape
    n = len(lead)
    apart = _f("reshape", input, (*lead, c, h // r, r, w // r, r))
    mixed = _f("permute", apart, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return _f("reshape", mixed, (*lead, c * r * r, h // r, w // r))


COMPOSITES: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        cosine_similarity, pairwise_distance, soft_margin_loss, hinge_embedding_loss, margin_ranking_loss, cosine_embedding_loss,
        gaussian_nll_loss, poisson_nll_loss, triplet_margin_loss, pixel_shuffle, pixel_unshuffle,
    )
}  # fmt: skip
