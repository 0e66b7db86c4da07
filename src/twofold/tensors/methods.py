"""The methods of `Tensor`, attached here and nowhere else: operators, records and plain functions whose first parameter is a tensor,
attributes, conversions, printing."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.op import VOCABULARY
from twofold.tensors import attributes, convert, dlpack, printing
from twofold.tensors.arithmetic import OPERATORS
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS, INPLACE, METHODS
from twofold.tensors.quiet import hush

MORE_OPERATORS = {"__matmul__": "matmul", "__getitem__": "getitem", "__setitem__": "setitem"}


def takes_tensor_first(name: str, function: Any) -> bool:
    """True if the function reads naturally as a method."""
    op = VOCABULARY.get(name)
    if op is not None:
        return op.method and bool(op.signature.params) and op.signature.params[0].is_tensor and not op.signature.params[0].many
    code = getattr(function, "__wrapped__", function).__code__
    return code.co_varnames[:1] in (("input",), ("self",)) and code.co_argcount > 0


def compared(function: Any) -> Any:
    """`==` and `!=`: NotImplemented for what no tensor can be compared with (None, strings, …), so that Python compares identities."""

    def operator(self: Tensor, other: Any) -> Tensor:
        return function(self, other) if isinstance(other, COMPARABLE) else NotImplemented

    return operator


COMPARABLE = (Tensor, bool, int, float, np.generic)


def matmul_reflected(self: Tensor, other: Any) -> Tensor:
    """`other @ self` for an `other` that is no tensor."""
    return FUNCTIONS["matmul"](other, self)


def attach_all() -> None:
    """Put every member on the class."""
    for name, function in {**FUNCTIONS, **INPLACE}.items():
        if takes_tensor_first(name, function):
            setattr(Tensor, name, function)
    for name, function in METHODS.items():
        setattr(Tensor, name, function)
    for name, function in OPERATORS.items():
        setattr(Tensor, name, function)
    for name, target in MORE_OPERATORS.items():
        setattr(Tensor, name, FUNCTIONS[target])
    special = {
        "__rmatmul__": matmul_reflected,
        "__eq__": compared(OPERATORS["__eq__"]),
        "__ne__": compared(OPERATORS["__ne__"]),
        "__hash__": object.__hash__,
    }
    for table in (attributes.METHODS, convert.METHODS, dlpack.METHODS, printing.METHODS, attributes.PROPERTIES, special):
        for name, member in table.items():
            setattr(Tensor, name, member)


attach_all()
hush()
