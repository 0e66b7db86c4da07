"""The methods of `Tensor`, attached here and nowhere else: operators, records and plain functions whose first parameter is a tensor, attributes,
conversions, printing."""

from __future__ import annotations

from typing import Any

from twofold.ir.op import VOCABULARY
from twofold.tensors import attributes, convert, dlpack, printing
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS, INPLACE, METHODS
from twofold.tensors.quiet import hush

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div", "__neg__": "neg",
    "__matmul__": "matmul", "__pow__": "pow", "__mod__": "remainder", "__floordiv__": "floor_divide", "__abs__": "abs",
    "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__invert__": "bitwise_not",
    "__and__": "bitwise_and", "__rand__": "bitwise_and", "__or__": "bitwise_or", "__ror__": "bitwise_or", "__xor__": "bitwise_xor",
    "__rxor__": "bitwise_xor", "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift",
    "__getitem__": "getitem", "__setitem__": "setitem",
}  # fmt: skip
REFLECTED = {
    "__rsub__": "sub", "__rtruediv__": "div", "__rpow__": "pow", "__rmod__": "remainder", "__rfloordiv__": "floor_divide",
    "__rmatmul__": "matmul", "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift",
}  # fmt: skip
INPLACE_OPERATORS = {
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_", "__imod__": "remainder_",
    "__ifloordiv__": "floor_divide_", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_",
    "__ilshift__": "bitwise_left_shift_", "__irshift__": "bitwise_right_shift_",
}  # fmt: skip


def takes_tensor_first(name: str, function: Any) -> bool:
    """True if the function reads naturally as a method."""
    op = VOCABULARY.get(name)
    if op is not None:
        return op.method and bool(op.signature.params) and op.signature.params[0].is_tensor and not op.signature.params[0].many
    return function.__code__.co_varnames[:1] in (("input",), ("self",)) and function.__code__.co_argcount > 0


def reflected(function: Any) -> Any:
    """The operator with its operands exchanged."""

    def operator(self: Tensor, other: Any) -> Tensor:
        return function(other, self)  # type: ignore[no-any-return]

    return operator


def attach_all() -> None:
    """Put every member on the class."""
    for name, function in {**FUNCTIONS, **INPLACE}.items():
        if takes_tensor_first(name, function):
            setattr(Tensor, name, function)
    for name, function in METHODS.items():
        setattr(Tensor, name, function)
    every = {**FUNCTIONS, **INPLACE}
    for name, target in {**OPERATORS, **INPLACE_OPERATORS}.items():
        if target in every:
            setattr(Tensor, name, every[target])
    for name, target in REFLECTED.items():
        if target in every:
            setattr(Tensor, name, reflected(every[target]))
    for table in (attributes.METHODS, convert.METHODS, dlpack.METHODS, printing.METHODS, attributes.PROPERTIES):
        for name, member in table.items():
            setattr(Tensor, name, member)
    Tensor.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]


attach_all()
hush()
