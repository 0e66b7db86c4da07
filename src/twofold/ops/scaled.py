"""Sums with a factor: `add` and `sub` with `alpha`, `addcmul`, `addcdiv`, `lerp`."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT, dtype_of_scalar
from twofold.ir.types import TensorType
from twofold.ops.record import define
from twofold.ops.typing import check_dtype, elementwise
from twofold.support.errors import DTypeError


def check_factor(name: str, argument: str, dtype: Any, value: Any) -> None:
    """A factor must not be of a higher category than the result."""
    if type(value) is bool and dtype is not dtypes.bool_:
        raise DTypeError(f"{name}: {argument}={value} is a bool, which only a bool result takes; write {int(value)}")
    if type(value) is float and dtype.category != FLOAT:
        raise DTypeError(f"{name}: {argument}={value} must be an integer where the result is {dtype.name}")


def _scaled_type(name: str, argument: str, accepts: str = "") -> Any:
    rule = elementwise(name, accepts=accepts)

    def checked(*operands: Any, **attributes: Any) -> TensorType:
        out: TensorType = rule(*operands)
        if name == "sub":
            for t in operands:
                if (t.dtype if type(t) is TensorType else dtype_of_scalar(t.kind)) is dtypes.bool_:
                    raise DTypeError("sub: a bool operand cannot be subtracted; use ^ or logical_xor for a difference of masks")
        check_factor(name, argument, out.dtype, attributes[argument])
        return out

    return checked


def factor(value: Any, like: Any) -> Any:
    """The factor in the dtype of integer operands, wrapping; beside floats a Python number stays one."""
    return np.array(value).astype(like.dtype) if like.dtype.kind in "iu" else value


def _lerp_type(input: Any, end: Any, weight: Any) -> TensorType:
    if type(input) is TensorType:
        check_dtype("lerp", input.dtype, "float")
    for argument, t in (("end", end), ("weight", weight)):
        if type(t) is TensorType and t.dtype is not input.dtype:
            raise DTypeError(f"lerp: {argument} has dtype {t.dtype.name}, input {input.dtype.name}; they must be equal")
    return elementwise("lerp", accepts="float")(input, end, weight)


define(
    "add_alpha(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor",
    type_rule=_scaled_type("add", "alpha"), promotion="default", body="input + alpha * other", inplace=True,
    reference=lambda input, other, alpha=1: input + factor(alpha, other) * other, method=False, function=False,
    node_name="AddBackward0",
    gradient=(lambda g: g, lambda g, alpha: g * alpha),
    doc="input + alpha * other: `add` with a factor.",
)  # fmt: skip
define(
    "sub_alpha(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor",
    type_rule=_scaled_type("sub", "alpha"), promotion="default", body="input - alpha * other", inplace=True,
    reference=lambda input, other, alpha=1: input - factor(alpha, other) * other, method=False, function=False,
    node_name="SubBackward0",
    gradient=(lambda g: g, lambda g, alpha: g * -alpha),
    doc="input - alpha * other: `sub` with a factor.",
)  # fmt: skip
define(
    "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    type_rule=_scaled_type("addcmul", "value", "number"), promotion="default", body="input + value * tensor1 * tensor2", inplace=True,
    reference=lambda input, tensor1, tensor2, value=1: input + factor(value, input) * tensor1 * tensor2,
    gradient=(lambda g: g, lambda g, tensor2, value: g * (tensor2 * value), lambda g, tensor1, value: g * (tensor1 * value)),
    doc="input + value * tensor1 * tensor2. For integers `value` must be an integer.",
)  # fmt: skip
define(
    "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    type_rule=_scaled_type("addcdiv", "value", "float"), promotion="default", body="input + value * tensor1 / tensor2", inplace=True,
    gradient=(
        lambda g: g,
        lambda g, tensor2, value: g * (value / tensor2),
        lambda g, tensor1, tensor2, value: g * (tensor1 * -value / (tensor2 * tensor2)),
    ),
    doc="input + value * tensor1 / tensor2, for floating-point dtypes.",
)  # fmt: skip
define(
    "lerp(Tensor input, Tensor end, Tensor weight) -> Tensor",
    type_rule=_lerp_type, promotion="default", inplace=True,
    body="where(abs(weight) < 0.5, input + weight * (end - input), end - (end - input) * (1.0 - weight))",
    reference=lambda input, end, weight: np.where(abs(weight) < 0.5, input + weight * (end - input), end - (end - input) * (1.0 - weight)),
    gradient=(lambda g, weight: g * (1.0 - weight), lambda g, weight: g * weight, lambda g, input, end: g * (end - input)),
    doc="input + weight * (end - input), exact at both ends; all of one dtype. The node is that of a number as weight, `LerpBackward0`.",
)  # fmt: skip
