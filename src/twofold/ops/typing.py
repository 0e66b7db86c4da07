"""Type rules shared by many records. Each takes the input types first and attributes by keyword, and raises an error that names the
operands."""

from __future__ import annotations

from typing import Any

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT, DType
from twofold.ir.types import ScalarType, TensorType, Type, common_device, result_type, tensor_type
from twofold.support.errors import DTypeError, ShapeError

Shape = tuple[Any, ...]


def broadcast_shapes(name: str, *shapes: Shape) -> Shape:
    """NumPy's broadcasting of shapes; raises ShapeError naming the operation and all shapes."""
    rank = max((len(s) for s in shapes), default=0)
    result: list[Any] = [1] * rank
    for s in shapes:
        for i, n in enumerate(s, rank - len(s)):
            if n != 1 and n != result[i]:
                if result[i] != 1:
                    shown = " and ".join(str(tuple(s)) for s in shapes)
                    raise ShapeError(f"{name}: shapes {shown} do not broadcast: dimension {i} is {result[i]} in one and {n} in another")
                result[i] = n
    return tuple(result)


def operand_shapes(operands: tuple[Type | None, ...]) -> list[Shape]:
    return [t.shape for t in operands if type(t) is TensorType]


def compute_dtype(operands: tuple[Type, ...], promotion: str) -> DType:
    """The dtype elementwise operands are converted to: "default" is PyTorch's result type, "float" turns integers to the default float."""
    dtype = result_type(*operands)
    return dtypes.get_default_dtype() if promotion == "float" and dtype.category != FLOAT else dtype


def elementwise(name: str, promotion: str = "default", result: DType | None = None, accepts: str = "") -> Any:
    """The type rule of a broadcasting elementwise operation.

    `result`: a fixed output dtype (bool for comparisons). `accepts`: "float", "integral" or "number" (not bool) restricts the dtypes taken.
    """

    def rule(*operands: Type, **attributes: Any) -> TensorType:
        present = tuple(t for t in operands if t is not None)
        dtype = compute_dtype(present, promotion)
        check_dtype(name, dtype, accepts)
        shape = broadcast_shapes(name, *operand_shapes(present))
        return tensor_type(result or dtype, shape, common_device(present, name))

    return rule


def check_dtype(name: str, dtype: DType, accepts: str) -> None:
    """Raise DTypeError if an operation that takes only some dtypes gets another."""
    good = {"": True, "float": dtype.category == FLOAT, "integral": dtype.category < FLOAT, "number": dtype is not dtypes.bool_}[accepts]
    if not good:
        wanted = {"float": "floating-point", "integral": "integer or bool", "number": "number (not bool)"}[accepts]
        raise DTypeError(f"{name} takes {wanted} tensors, not {dtype.name}; convert with .to(dtype)")


def unary(name: str, promotion: str = "default", result: DType | None = None, accepts: str = "") -> Any:
    """The type rule of an elementwise operation on one tensor."""
    return elementwise(name, promotion, result, accepts)


def same(input: TensorType, *others: Any, **attributes: Any) -> TensorType:
    """The output has the type of the first input."""
    return input


def reduced_shape(shape: Shape, dim: tuple[int, ...] | None, keepdim: bool) -> Shape:
    """The shape after reducing `dim` (canonical; None: all dimensions)."""
    if dim is None or dim == ():
        dim = tuple(range(len(shape)))
    if keepdim:
        return tuple(1 if i in dim else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dim)


def tensor_operand(name: str, t: Any, argument: str) -> TensorType:
    """Refuse Python scalars and None where a tensor is needed."""
    if type(t) is not TensorType:
        shown = "a Python number" if isinstance(t, ScalarType) else "None" if t is None else type(t).__name__
        raise DTypeError(f"{name}: argument {argument!r} must be a tensor, not {shown}")
    return t
