"""Tensors made from nothing but attributes, copies and conversions."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import DType
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, tensor_type
from twofold.ops.record import define
from twofold.ops.typing import same
from twofold.support.errors import ShapeError


def sized(name: str, size: tuple[Any, ...], dtype: DType | None, device: str | None) -> TensorType:
    """The type of a new tensor; the default dtype is the default floating-point one."""
    for n in size:
        if type(n) is int and n < 0:
            raise ShapeError(f"{name}: negative size in {size}")
    return tensor_type(dtype or dtypes.get_default_dtype(), tuple(size), device or "cpu")


define(
    "zeros(Shape size, *, dtype? dtype=None, device? device=None) -> Tensor",
    type_rule=lambda size, dtype, device: sized("zeros", size, dtype, device),
    reference=lambda size, dtype=None, device=None: np.zeros(size, (dtype or dtypes.get_default_dtype()).numpy),
    gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="copy", method=False, onnx="ConstantOfShape@9",
    doc="A tensor of zeros.",
)  # fmt: skip
define(
    "to(Tensor input, dtype dtype) -> Tensor",
    type_rule=lambda input, dtype: input.with_dtype(dtype),
    reference=lambda input, dtype: input.astype(dtype.numpy), any_dtype=True, cost="copy", node_name="ToCopyBackward0", method=False, onnx="Cast@13",
    gradient=(lambda g, input_dtype: to(g, input_dtype),),
    doc="The elements converted to another dtype.",
)  # fmt: skip
define(
    "clone(Tensor input) -> Tensor",
    type_rule=same, reference=lambda input: np.array(input), any_dtype=True, cost="copy", onnx="Identity@14",
    gradient=(lambda g: g,),
    doc="A copy with its own memory, in the same memory layout.",
)  # fmt: skip
