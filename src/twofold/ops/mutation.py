"""Operations that users do not call: what recording makes of writes under no_grad and of symbolic sizes; a refused gradient."""

from __future__ import annotations

import numpy as np

from twofold.ir.dtypes import int64
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, tensor_type
from twofold.ops.record import define
from twofold.support.errors import ShapeError, UnsupportedError


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
define(
    "sym_size(int value) -> Tensor",
    type_rule=lambda value: tensor_type(int64, ()), reference=lambda value: np.int64(value), any_dtype=True, cost="copy", method=False,
    function=False, gradient=NOT_DIFFERENTIABLE,
    doc="A size, symbolic where the shape is, as a 0-d int64 tensor: what `x.shape[0]` becomes where it is an operand.",
)  # fmt: skip


def _refuse(g: object, reason: str) -> TensorType:
    raise UnsupportedError(reason)


define(
    "refuse_gradient(Tensor g, str reason) -> Tensor",
    type_rule=_refuse, reference=_refuse, cost="copy", method=False, function=False, gradient=NOT_DIFFERENTIABLE,
    doc="Always raises UnsupportedError with the reason: the rule of a gradient that is not computed (see `ops.record.refused`).",
)  # fmt: skip
