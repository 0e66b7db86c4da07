"""Bessel functions of order 0 and 1, modified Bessel functions, the Airy function.

The scalar functions are in `ops/numeric/bessel.py`. As in PyTorch only `i0`, `i0e`, `i1` and `i1e` have gradients.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

from twofold.ops.record import define, helper, refused
from twofold.ops.typing import elementwise


@helper
def i1_slope(input: Any, result: Any) -> Any:
    """I1' = I0 - I1 / x, 1/2 at 0."""
    return where(input == 0.0, 0.5, i0(input) - result / where(input == 0.0, 1.0, input))


@helper
def i1e_slope(input: Any, result: Any) -> Any:
    """The derivative of exp(-|x|) I1(x), 1/2 at 0."""
    return where(input == 0.0, 0.5, special_i0e(input) - result * (sign(input) + 1.0 / where(input == 0.0, 1.0, input)))


define(
    "i0(Tensor input) -> Tensor",
    type_rule=elementwise("i0", "float"), promotion="float", body="i0(input)", inplace=True,
    gradient=(lambda g, input: g * special_i1(input),),
    doc="The modified Bessel function of the first kind of order 0.",
)  # fmt: skip
define(
    "special_i0e(Tensor input) -> Tensor",
    type_rule=elementwise("i0e", "float"), promotion="float", body="i0e(input)", method=False, node_name="SpecialI0EBackward0",
    gradient=(lambda g, input, result: g * (special_i1e(input) - sign(input) * result),),
    doc="exp(-|x|) times the modified Bessel function of the first kind of order 0.",
)  # fmt: skip
define(
    "special_i1(Tensor input) -> Tensor",
    type_rule=elementwise("i1", "float"), promotion="float", body="i1(input)", method=False,
    gradient=(lambda g, input, result: g * i1_slope(input, result),),
    doc="The modified Bessel function of the first kind of order 1.",
)  # fmt: skip
define(
    "special_i1e(Tensor input) -> Tensor",
    type_rule=elementwise("i1e", "float"), promotion="float", body="i1e(input)", method=False, node_name="SpecialI1EBackward0",
    gradient=(lambda g, input, result: g * i1e_slope(input, result),),
    doc="exp(-|x|) times the modified Bessel function of the first kind of order 1.",
)  # fmt: skip


def _without_gradient(name: str, body: str, doc: str) -> None:
    define(
        f"special_{name}(Tensor input) -> Tensor",
        type_rule=elementwise(name, "float"), promotion="float", body=f"{body}(input)", method=False, doc=doc,
        gradient=(refused(f"the gradient of special.{name} is not computed (nor is it in PyTorch)"),),
    )  # fmt: skip


_without_gradient("bessel_j0", "bessel_j0", "The Bessel function of the first kind of order 0.")
_without_gradient("bessel_j1", "bessel_j1", "The Bessel function of the first kind of order 1.")
_without_gradient("bessel_y0", "bessel_y0", "The Bessel function of the second kind of order 0; -inf at 0, NaN below.")
_without_gradient("bessel_y1", "bessel_y1", "The Bessel function of the second kind of order 1; -inf at 0, NaN below.")
_without_gradient("modified_bessel_i0", "i0", "The modified Bessel function of the first kind of order 0. No gradient (see `i0`).")
_without_gradient("modified_bessel_i1", "i1", "The modified Bessel function of the first kind of order 1. No gradient (see `i1`).")
_SECOND = "the modified Bessel function of the second kind of order"
_without_gradient("modified_bessel_k0", "modified_bessel_k0", f"T{_SECOND[1:]} 0; infinity at 0, NaN below.")
_without_gradient("modified_bessel_k1", "modified_bessel_k1", f"T{_SECOND[1:]} 1; infinity at 0, NaN below.")
_without_gradient("scaled_modified_bessel_k0", "scaled_modified_bessel_k0", f"exp(x) times {_SECOND} 0.")
_without_gradient("scaled_modified_bessel_k1", "scaled_modified_bessel_k1", f"exp(x) times {_SECOND} 1.")
_without_gradient("spherical_bessel_j0", "spherical_bessel_j0", "The spherical Bessel function of order 0, sin(x) / x.")
_without_gradient("airy_ai", "airy_ai", "The Airy function Ai.")
