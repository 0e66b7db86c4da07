"""What writes under no_grad become in a functional graph."""

from __future__ import annotations

from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType
from twofold.ops.record import define
from twofold.support.errors import ShapeError


def _set_data_type(input: TensorType, data: TensorType) -> TensorType:
    if input is not data:
        raise ShapeError(f"set_data: the new data must have the type of the old, {input}, not {data}")
    return input


define(
    "set_data(Tensor input, Tensor data) -> Tensor",
    type_rule=_set_data_type, reference=lambda input, data: data.copy(), any_dtype=True, cost="copy", method=False, function=False,
    gradient=(lambda g: g, NOT_DIFFERENTIABLE),
    doc="The values of `data` with the history of `input`: what is left of a write under no_grad when a program is recorded.",
)  # fmt: skip
