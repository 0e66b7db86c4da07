"""Draws from distributions that are made of other draws (Cauchy, geometric) or that tensors of parameters give (Poisson, binomial)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from twofold.ir import dtypes
from twofold.ir.op import get_op
from twofold.ops.typing import broadcast_shapes
from twofold.support.errors import ArgumentError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.inplace import inplace
from twofold.tensors.random import Generator, draw, drawn_like


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from the Cauchy distribution: median + sigma tan(pi (u - 1/2)), u uniform. Floating-point dtypes only."""
    if not sigma > 0.0:
        raise ValueRangeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    wide = dtypes.float64 if self._type.dtype is dtypes.float64 else dtypes.float32
    if not self._type.dtype.is_floating_point:
        raise ArgumentError(f"cauchy_ fills floating-point tensors, not {self._type.dtype.name}")
    u = drawn_like("uniform", self, generator, {"low": 0.0, "high": 1.0}, 0, wide)
    tangent = call("tan", call("mul", call("sub", u, 0.5), math.pi))
    return inplace("copy", self, call("add", call("mul", tangent, float(sigma)), float(median)))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of trials up to the first success of probability `p`: 1 + floor(e / -log(1 - p)), e exponential in float64."""
    if not 0.0 < p < 1.0:
        raise ValueRangeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    e = drawn_like("exponential", self, generator, {"lambd": 1.0}, 2, dtypes.float64)
    return inplace("copy", self, call("add", call("floor", call("div", e, -math.log1p(-p))), 1.0))


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Whole numbers from the Poisson distribution with the rate that the input holds at each place, in the input's (floating) dtype."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"poisson(): input must be a tensor, not {type(input).__name__}")
    return draw(get_op("poisson"), generator, (input,), {}, input._type.numel, 2)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How often events of probability `prob` happen in `count` trials; the tensors broadcast and have one floating-point dtype."""
    for name, t in (("count", count), ("prob", prob)):
        if not isinstance(t, Tensor):
            raise ArgumentError(f"binomial(): argument {name!r} must be a tensor, not {type(t).__name__}")
    numel: Any = 1
    for n in broadcast_shapes("binomial", count._type.shape, prob._type.shape):
        numel = numel * n
    return draw(get_op("binomial"), generator, (count, prob), {}, numel, 2)


FUNCTIONS: dict[str, Callable[..., Any]] = {"poisson": poisson, "binomial": binomial}
INPLACE: dict[str, Callable[..., Any]] = {"cauchy_": cauchy_, "geometric_": geometric_}
