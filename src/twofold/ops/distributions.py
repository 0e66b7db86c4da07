"""Draws whose distribution is given by tensors of parameters: Poisson and binomial. See `ops/random.py` for the state they take.

Each value is a function of its parameters and of one uniform float64 number (two words), so every way of running draws the same.
"""

# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, common_device, tensor_type
from twofold.ops import philox
from twofold.ops.numeric.error import ndtri
from twofold.ops.numeric.gamma import igammac, lgamma
from twofold.ops.random import random_state, state_parts
from twofold.ops.record import define
from twofold.ops.typing import broadcast_shapes, tensor_operand
from twofold.support.errors import DTypeError, ValueRangeError

Array = Any


def poisson_quantile(rate: Array, u: Array) -> Array:
    """The smallest k with P(X <= k) > u: from the Cornish-Fisher approximation by steps of one. 1-d float64 arrays."""
    z = np.clip(ndtri(u), -9.0, 9.0)
    k = np.maximum(np.floor(rate + np.sqrt(rate) * z + (z * z - 1.0) / 6.0 + 0.5), 0.0)
    active = np.flatnonzero((rate > 0.0) & (rate < 2.0**50))  # above, neighbours are no longer told apart
    k[rate == 0.0] = 0.0
    up = active
    while up.size:
        up = up[igammac(k[up] + 1.0, rate[up]) <= u[up]]
        k[up] += 1.0
    down = active
    while down.size:
        down = down[(k[down] > 0.0) & (igammac(np.maximum(k[down], 1.0), rate[down]) > u[down])]
        k[down] -= 1.0
    return k


def _poisson_type(input: Any, state: Any) -> TensorType:
    random_state("poisson", state)
    t = tensor_operand("poisson", input, "input")
    if not t.dtype.is_floating_point:
        raise DTypeError(f"poisson: rates must be floating-point, not {t.dtype.name}")
    return t


def _poisson(input: Array, state: Array) -> Array:
    rate = np.asarray(input, np.float64).ravel()
    if not (np.isfinite(rate) & (rate >= 0.0)).all():
        raise ValueRangeError("poisson: invalid Poisson rate, expected rate to be non-negative and finite")
    u = philox.uniform_f64(*state_parts(state), rate.shape)
    return poisson_quantile(rate, u).reshape(np.shape(input)).astype(input.dtype)[()]


define(
    "poisson(Tensor input, Tensor state) -> Tensor",
    type_rule=_poisson_type, reference=_poisson, cost="random", method=False,
    gradient=(lambda g: g * 0.0, NOT_DIFFERENTIABLE),
    doc="""Whole numbers from the Poisson distribution with the rate that the input holds at each place.

By the inverse distribution function: consumes two words a value. The gradient is zero, as in PyTorch.
Raises ValueRangeError for a negative or infinite rate.""",
)  # fmt: skip


def binomial_draw(count: Array, p: Array, u: Array) -> Array:
    """The probabilities of m, m + 1, m - 1, m + 2, … (m: the mode) are taken from u until it is used up. 1-d float64 arrays, p <= 1/2."""
    mode = np.minimum(np.floor((count + 1.0) * p), count)
    result = mode.copy()
    active = np.flatnonzero((p > 0.0) & (count > 0.0))
    n, q, m = count[active], p[active], mode[active]
    log = lgamma(n + 1.0) - lgamma(m + 1.0) - lgamma(n - m + 1.0) + m * np.log(q) + (n - m) * np.log1p(-q)
    high = low = np.exp(log)
    left = u[active] - high
    odds = q / (1.0 - q)
    step = 0.0
    while True:
        keep = (left >= 0.0) & ((m + step <= n) | (m - step >= 0.0))
        active, n, m, high, low, left, odds = (x[keep] for x in (active, n, m, high, low, left, odds))
        if not active.size:
            return result
        step += 1.0
        high = high * np.maximum(n - m - step + 1.0, 0.0) / (m + step) * odds
        done = left < high
        result[active[done]] = (m + step)[done]
        left = left - high
        low = low * np.maximum(m - step + 1.0, 0.0) / (n - m + step) / odds
        done = (left >= 0.0) & (left < low)
        result[active[done]] = (m - step)[done]
        left = np.where(left >= 0.0, left - low, left)


def _binomial_type(count: Any, prob: Any, state: Any) -> TensorType:
    random_state("binomial", state)
    n, p = tensor_operand("binomial", count, "count"), tensor_operand("binomial", prob, "prob")
    for name, t in (("count", n), ("prob", p)):
        if not t.dtype.is_floating_point:
            raise ValueRangeError(f"binomial only supports floating-point dtypes for {name}, got: {t.dtype.name}")
    if n.dtype is not p.dtype:
        raise DTypeError(f"binomial: count and prob have different dtypes ({n.dtype.name} and {p.dtype.name}); convert one with .to(dtype)")
    return tensor_type(n.dtype, broadcast_shapes("binomial", n.shape, p.shape), common_device((n, p), "binomial"))


def _binomial(count: Array, prob: Array, state: Array) -> Array:
    n, p = np.broadcast_arrays(np.asarray(count, np.float64), np.asarray(prob, np.float64))
    shape = n.shape
    n, p = np.floor(n.ravel()), p.ravel()
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueRangeError("binomial: probabilities must be within [0, 1]")
    if not np.isfinite(n).all():
        raise ValueRangeError("binomial: counts must be finite")
    u = philox.uniform_f64(*state_parts(state), n.shape)
    n, flipped = np.maximum(n, 0.0), p > 0.5
    k = binomial_draw(n, np.where(flipped, 1.0 - p, p), u)
    return np.where(flipped, n - k, k).reshape(shape).astype(count.dtype)[()]


define(
    "binomial(Tensor count, Tensor prob, Tensor state) -> Tensor",
    type_rule=_binomial_type, reference=_binomial, cost="random", method=False,
    gradient=(
        lambda g, count_shape: shrink(g * 0.0, count_shape), lambda g, prob_shape: shrink(g * 0.0, prob_shape), NOT_DIFFERENTIABLE,
    ),
    doc="""How often an event of probability `prob` happens in `count` trials (0 for a negative count), drawn from the mode outwards.

Consumes two words a value. The gradients are zero, as in PyTorch. Raises ValueRangeError for probabilities outside [0, 1].""",
)  # fmt: skip
