"""Normalisations, forward and backward, with what stands before or after them in networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cases.case import Arrays, Case, normal, wide

ROWS, COLUMNS = 2048, 768
EPS = 1e-5
HEADS, HEAD = 12, 64
_erf = np.frompyfunc(math.erf, 1, 1)


def _affine(rng: np.random.Generator, size: int) -> Arrays:
    """A weight around 1 and a bias around 0."""
    return 1 + 0.1 * normal(rng, size), 0.1 * normal(rng, size)


def _rows(rng: np.random.Generator) -> Arrays:
    return (normal(rng, ROWS, COLUMNS), *_affine(rng, COLUMNS))


# --- gelu, layer norm


def gelu_layer_norm(lib: Any, x: Any, weight: Any, bias: Any, approximate: str) -> Any:
    F = lib.nn.functional
    return F.layer_norm(F.gelu(x, approximate=approximate), (x.shape[-1],), weight, bias, EPS)


def layer_norm_jax(jax: Any, x: Any, weight: Any, bias: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + EPS) * weight + bias


def layer_norm_reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPS) * weight + bias


def gelu_reference(x: np.ndarray, approximate: str) -> np.ndarray:
    """Hendrycks and Gimpel, 2016: with the error function, or its approximation by tanh."""
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)).astype(np.float64))


def _gelu_layer_norm(name: str, approximate: str) -> Case:
    def reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> Arrays:
        x, weight, bias = wide(x, weight, bias)
        return (layer_norm_reference(gelu_reference(x, approximate), weight, bias),)

    return Case(
        name,
        f"layer_norm(gelu(x, {approximate!r}), weight, bias), {ROWS} × {COLUMNS}",
        _rows,
        reference,
        lambda lib, x, weight, bias: gelu_layer_norm(lib, x, weight, bias, approximate),
        lambda jax, x, weight, bias: layer_norm_jax(jax, jax.nn.gelu(x, approximate=approximate == "tanh"), weight, bias),
    )


# --- layer norm, forward and backward


def layer_norm(lib: Any, x: Any, weight: Any, bias: Any) -> Any:
    return lib.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, EPS)


def layer_norm_backward_reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray) -> Arrays:
    """Ba et al., 2016, differentiated by hand."""
    x, weight, bias, g = wide(x, weight, bias, g)
    scale = 1 / np.sqrt(x.var(-1, keepdims=True) + EPS)
    normalized = (x - x.mean(-1, keepdims=True)) * scale
    inner = g * weight
    dx = scale * (inner - inner.mean(-1, keepdims=True) - normalized * (inner * normalized).mean(-1, keepdims=True))
    return normalized * weight + bias, dx, (g * normalized).sum(0), g.sum(0)


# --- rms norm and rotary embedding


def rms_norm_rope(lib: Any, x: Any, weight: Any, cos: Any, sin: Any) -> Any:
    y = x * lib.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * weight
    y = y.reshape(x.shape[0], HEADS, HEAD)
    rotated = lib.cat((-y[..., HEAD // 2 :], y[..., : HEAD // 2]), -1)
    return y * cos + rotated * sin


def rms_norm_rope_jax(jax: Any, x: Any, weight: Any, cos: Any, sin: Any) -> Any:
    y = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + EPS) * weight
    y = y.reshape(x.shape[0], HEADS, HEAD)
    rotated = jax.numpy.concatenate((-y[..., HEAD // 2 :], y[..., : HEAD // 2]), -1)
    return y * cos + rotated * sin


def rms_norm_rope_reference(x: np.ndarray, weight: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> Arrays:
    x, weight, cos, sin = wide(x, weight, cos, sin)
    y = (x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * weight).reshape(len(x), HEADS, HEAD)
    return (y * cos + np.concatenate((-y[..., HEAD // 2 :], y[..., : HEAD // 2]), -1) * sin,)


def _rope_inputs(rng: np.random.Generator) -> Arrays:
    """Rows are positions; the angles are those of Su et al., 2021, base 10000."""
    frequencies = 10000.0 ** (-np.arange(0, HEAD, 2) / HEAD)
    angles = np.outer(np.arange(ROWS), np.concatenate((frequencies, frequencies)))[:, None, :]
    x, weight, _ = _rows(rng)
    return x, weight, np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


# --- batch norm with the statistics of the batch


def batch_norm(lib: Any, x: Any, weight: Any, bias: Any) -> Any:
    return lib.nn.functional.batch_norm(x, None, None, weight, bias, training=True, eps=EPS)


def batch_norm_jax(jax: Any, x: Any, weight: Any, bias: Any) -> Any:
    mean = x.mean((0, 2, 3), keepdims=True)
    variance = x.var((0, 2, 3), keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + EPS) * weight[:, None, None] + bias[:, None, None]


def batch_norm_reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> Arrays:
    x, weight, bias = wide(x, weight, bias)
    mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return ((x - mean) / np.sqrt(variance + EPS) * weight[:, None, None] + bias[:, None, None],)


CASES = [
    _gelu_layer_norm("gelu_erf_layer_norm", "none"),
    _gelu_layer_norm("gelu_tanh_layer_norm", "tanh"),
    Case(
        "layer_norm_backward",
        f"layer_norm and the gradients of x, weight and bias, {ROWS} × {COLUMNS}",
        lambda rng: (*_rows(rng), normal(rng, ROWS, COLUMNS)),
        layer_norm_backward_reference,
        layer_norm,
        layer_norm_jax,
        gradients=(0, 1, 2),
        tangent=3,
    ),
    Case(
        "rms_norm_rope",
        f"rms norm, then rotary embedding of {HEADS} heads of {HEAD}, {ROWS} positions",
        _rope_inputs,
        rms_norm_rope_reference,
        rms_norm_rope,
        rms_norm_rope_jax,
    ),
    Case(
        "batch_norm_train",
        "batch_norm with the statistics of the batch, forward, 32 × 64 × 56 × 56, NCHW",
        lambda rng: (normal(rng, 32, 64, 56, 56), *_affine(rng, 64)),
        batch_norm_reference,
        batch_norm,
        batch_norm_jax,
    ),
]
