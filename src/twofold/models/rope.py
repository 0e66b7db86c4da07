"""Rotary position embeddings: J. Su et al., arXiv:2104.09864, in the halves layout of Llama; with Llama 3's scaling of frequencies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.support.errors import DataError, UnsupportedError
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.joining import cat


def frequencies(head_dim: int, theta: float, scaling: dict[str, Any] | None) -> Tensor:
    """The angle of each pair of features per position: theta^(-2i/d), (head_dim / 2,) float32.

    scaling: {"rope_type": "linear", "factor"}, or "llama3" with factor, low_freq_factor, high_freq_factor and
    original_max_position_embeddings; raises UnsupportedError for other types.
    """
    exponents = np.arange(0, head_dim, 2, dtype=np.int64).astype(np.float32) / np.float32(head_dim)
    inverse = (np.float32(1.0) / np.power(np.float32(theta), exponents)).astype(np.float32)
    kind = "default" if scaling is None else scaling.get("rope_type", scaling.get("type", "default"))
    if scaling is None or kind == "default":
        return wrap(inverse)
    if kind == "linear":
        return wrap(inverse / np.float32(_number(scaling, "factor")))
    if kind == "llama3":
        return wrap(llama3_scaled(inverse, scaling))
    raise UnsupportedError(f"rotary embeddings of the type {kind!r} are not supported; default, linear and llama3 are")


def llama3_scaled(inverse: np.ndarray, scaling: dict[str, Any]) -> np.ndarray:
    """Low frequencies divided by the factor, high ones kept, those between mixed (Llama 3.1's rule)."""
    factor = _number(scaling, "factor")
    low, high = _number(scaling, "low_freq_factor"), _number(scaling, "high_freq_factor")
    context = _number(scaling, "original_max_position_embeddings")
    if not high > low:
        raise DataError(f"the configuration's rope_scaling needs a high_freq_factor above the low_freq_factor, not {high} and {low}")
    wavelength = 2 * math.pi / inverse
    mix = (context / wavelength - low) / (high - low)
    between = (1 - mix) * inverse / factor + mix * inverse
    scaled = np.where(wavelength > context / low, inverse / factor, np.where(wavelength < context / high, inverse, between))
    return scaled.astype(np.float32)


def _number(scaling: dict[str, Any], name: str) -> float:
    value: Any = scaling.get(name)
    if type(value) not in (int, float) or not 0 < value < 1e9:
        raise DataError(f"the configuration's rope_scaling needs a positive number {name}, not {value!r}")
    return float(value)


def rotations(inverse: Tensor, position_ids: Tensor, dtype: Any) -> tuple[Tensor, Tensor]:
    """Cosines and sines (batch, 1, length, head_dim) of positions (batch, length); computed in float32."""
    angles: Any = position_ids.unsqueeze(-1).float() * inverse.float()
    angles = cat((angles, angles), -1).unsqueeze(1)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Features i and i + d/2 of (batch, heads, length, d) turned by their angles."""
    half = x.shape[-1] // 2
    turned = cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin
