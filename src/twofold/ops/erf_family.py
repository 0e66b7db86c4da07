"""Inverses and relatives of the error function, the normal distribution, and functions of entropy.

The scalar functions are in `ops/numeric/error.py`.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

from twofold.ops.record import define, helper
from twofold.ops.typing import elementwise


def _special(name: str, body: str, rule: Any, doc: str, **fields: Any) -> None:
    define(
        f"special_{name}(Tensor input) -> Tensor",
        type_rule=elementwise(name, "float"), promotion="float", body=body, method=False, gradient=(rule,), doc=doc, **fields,
    )  # fmt: skip


define(
    "erfinv(Tensor input) -> Tensor",
    type_rule=elementwise("erfinv", "float"), promotion="float", body="erfinv(input)", inplace=True,
    gradient=(lambda g, result: g * (exp(result * result) * 0.8862269254527579),),
    doc="The inverse of `erf`: infinities at -1 and 1, NaN outside.",
)  # fmt: skip
_special(
    "erfcx",
    "erfcx(input)",
    lambda g, input, result: g * (2.0 * input * result - 1.1283791670955126),
    "exp(x * x) erfc(x), without overflow.",
)
_special(
    "ndtr",
    "ndtr(input)",
    lambda g, input: g * (exp(input * input * -0.5) * 0.3989422804014327),
    "The standard normal distribution function.",
)
_special(
    "log_ndtr",
    "log_ndtr(input)",
    lambda g, input: g * (0.7978845608028654 / special_erfcx(input * -0.7071067811865476)),
    "The logarithm of `ndtr`, accurate in both tails.",
)
_special(
    "ndtri",
    "ndtri(input)",
    lambda g, result: g * (exp(result * result * 0.5) * 2.5066282746310002),
    "The inverse of `ndtr`: infinities at 0 and 1, NaN outside.",
)
_special(
    "entr",
    "where(input > 0.0, -input * log(input), where(input == 0.0, 0.0, where(isnan(input), input, -1e400)))",
    lambda g, input: g * (-1.0 - log(input)),
    "-x log(x); 0 at 0, -inf below.",
)


@helper
def log1p_of(x: Any) -> Any:
    """log(1 + x) of an operand, which may be a Python number."""
    import math

    if type(x) in (float, int, bool):
        return math.log1p(x) if x > -1 else -math.inf if x == -1 else math.nan
    return log1p(x)


define(
    "special_xlog1py(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("xlog1py", "float"), promotion="float", method=False, node_name="SpecialXlog1PyBackward0",
    body="xlog1py(input, other)",
    gradient=(
        lambda g, input, other: where(logical_and(input == 0.0, other <= -1.0), 0.0, g * log1p_of(other)),
        lambda g, input, other: g * (input / (other + 1.0)),
    ),
    doc="input * log(1 + other), and 0 where input is 0 (unless other is NaN).",
)  # fmt: skip


@helper
def sinc_slope(input: Any, result: Any) -> Any:
    """(cos(pi x) - sinc(x)) / x; near 0, where that cancels, its series."""
    square = input * input * 9.869604401089358
    near = input * -3.289868133696453 * (1.0 - square * 0.1 * (1.0 - square / 28.0 * (1.0 - square / 54.0)))
    safe = where(square < 0.04, 1.0, input)
    return where(square < 0.04, near, (cos(input * 3.141592653589793) - result) / safe)


define(
    "sinc(Tensor input) -> Tensor",
    type_rule=elementwise("sinc", "float"), promotion="float", body="sinc(input)", inplace=True,
    gradient=(lambda g, input, result: g * sinc_slope(input, result),),
    doc="sin(pi x) / (pi x), 1 at 0.",
)  # fmt: skip
