"""The gamma function's logarithm, its derivatives, the Hurwitz zeta function, the incomplete gamma functions.

The scalar functions are in `ops/numeric/gamma.py`, which says how they are computed.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import math
from typing import Any

from twofold.ir.types import TensorType
from twofold.ops.numeric import gamma as numeric
from twofold.ops.record import define, helper, refused
from twofold.ops.typing import elementwise
from twofold.support.errors import ValueRangeError

define(
    "lgamma(Tensor input) -> Tensor",
    type_rule=elementwise("lgamma", "float"), promotion="float", body="lgamma(input)", inplace=True,
    gradient=(lambda g, input: g * digamma(input),),
    doc="The logarithm of the absolute value of the gamma function; infinity at 0, -1, -2 and so on.",
)  # fmt: skip
define(
    "digamma(Tensor input) -> Tensor",
    type_rule=elementwise("digamma", "float"), promotion="float", body="digamma(input)", inplace=True,
    gradient=(lambda g, input: g * polygamma(1, input),),
    doc="The derivative of `lgamma`; -inf at 0 (inf at -0.0), NaN at -1, -2 and so on.",
)  # fmt: skip


def _polygamma_type(input: Any, n: int) -> TensorType:
    if n < 0:
        raise ValueRangeError(f"polygamma: the order n must not be negative, got {n}")
    out: TensorType = elementwise("polygamma", "float")(input)
    return out


define(
    "polygamma(int n, Tensor input) -> Tensor",
    type_rule=_polygamma_type, promotion="float", reference=lambda input, n: numeric.polygamma(n, input), body="polygamma(n, input)",
    gradient=(lambda g, input, n: g * polygamma(n + 1, input),),
    doc="""The derivative of order `n` of `digamma`: (-1)**(n+1) n! zeta(n+1, x) for n > 0. Infinite at 0, -1, -2 and so on.

Raises ValueRangeError for a negative order.""",
)  # fmt: skip


def _mvlgamma_type(input: Any, p: int) -> TensorType:
    if p < 1:
        raise ValueRangeError(f"mvlgamma: the dimension p has to be greater than or equal to 1, got {p}")
    out: TensorType = elementwise("mvlgamma", "float")(input)
    return out


def _mvlgamma(input: Any, p: int) -> Any:
    total = numeric.lgamma(input) + input.dtype.type(p * (p - 1) / 4.0 * math.log(math.pi))
    for i in range(1, p):
        total = total + numeric.lgamma(input - input.dtype.type(0.5 * i))
    return total


@helper
def mvlgamma_terms(input: Any, p: Any) -> Any:
    """The sum over the dimensions."""
    total = lgamma(input) + p * (p - 1) * 0.28618247146235004
    for i in range(1, p):
        total = total + lgamma(input - 0.5 * i)
    return total


@helper
def mvlgamma_slope(input: Any, p: Any) -> Any:
    """Its derivative."""
    total = digamma(input)
    for i in range(1, p):
        total = total + digamma(input - 0.5 * i)
    return total


define(
    "mvlgamma(Tensor input, int p) -> Tensor",
    type_rule=_mvlgamma_type, promotion="float", reference=_mvlgamma, inplace=True,
    decomposition=lambda input, p: mvlgamma_terms(input, p),
    gradient=(lambda g, input, p: g * mvlgamma_slope(input, p),),
    doc="""The logarithm of the multivariate gamma function of dimension `p`: the sum of lgamma(x - i/2), i < p, plus p (p-1) log(pi) / 4.

Raises ValueRangeError for p < 1.""",
)  # fmt: skip
define(
    "special_zeta(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("zeta", "float"), promotion="float", body="zeta(input, other)", method=False,
    gradient=(refused("the gradient of special.zeta with respect to its first operand is not computed (nor is it in PyTorch)"),
        lambda g, input, other: -g * (input * special_zeta(input + 1.0, other))),
    doc="""The Hurwitz zeta function: the sum of (k + other)**-input, k = 0, 1, …; infinity at input = 1 and at other = 0, -1 and so on.

NaN for input < 1, and for other < 0 where input is no whole number. Differentiable in `other` only.""",
)  # fmt: skip
define(
    "igamma(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("igamma", accepts="float"), promotion="default", body="igamma(input, other)", inplace=True,
    gradient=(refused("the gradient of igamma with respect to its first operand is not computed (nor is it in PyTorch)"),
        lambda g, input, other: g * exp((input - 1.0) * log(other) - other - lgamma(input))),
    doc="""The regularised lower incomplete gamma function P(input, other); NaN for negative operands.

Differentiable in `other` only.""",
)  # fmt: skip
define(
    "igammac(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("igammac", accepts="float"), promotion="default", body="igammac(input, other)", inplace=True,
    gradient=(refused("the gradient of igammac with respect to its first operand is not computed (nor is it in PyTorch)"),
        lambda g, input, other: -g * exp((input - 1.0) * log(other) - other - lgamma(input))),
    doc="""The regularised upper incomplete gamma function Q(input, other) = 1 - P(input, other); NaN for negative operands.

Differentiable in `other` only.""",
)  # fmt: skip
