"""Arrays as attributes, and the `constant` record that makes one a value of a graph."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from twofold.ir.op import NOT_DIFFERENTIABLE, Op, Signature, register
from twofold.ir.types import TensorType, type_of
from twofold.support.errors import ArgumentError


class ArrayAttr:
    """A read-only, C-contiguous copy of an array, hashable: equal to another of the same dtype, shape and bytes."""

    __slots__ = ("_digest", "array", "type")

    def __init__(self, array: Any) -> None:
        copied = np.array(array, order="C", copy=True)
        self.type: TensorType = type_of(copied)
        copied.flags.writeable = False
        self.array: np.ndarray = copied
        self._digest = ""

    @property
    def digest(self) -> str:
        """SHA-256 of dtype, shape and content, in hexadecimal."""
        if not self._digest:
            h = hashlib.sha256(f"{self.type.dtype.name}{self.type.shape}".encode())
            h.update(self.array.tobytes())
            self._digest = h.hexdigest()
        return self._digest

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(other) is ArrayAttr and self.type == other.type and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"ArrayAttr({self.type}, {self.digest[:8]})"

    def __reduce__(self) -> tuple[object, ...]:
        return ArrayAttr, (self.array,)

    def __deepcopy__(self, memo: object) -> ArrayAttr:
        return self


def _type(value: Any) -> TensorType:
    if type(value) is not ArrayAttr:
        raise ArgumentError(f"constant: value must be an ArrayAttr, not {type(value).__name__}")
    return value.type


def _reference(value: ArrayAttr) -> np.ndarray:
    return value.array


constant = register(
    Op(
        Signature.parse("constant(any value) -> Tensor"),
        _type,
        _reference,
        NOT_DIFFERENTIABLE,
        "control",
        doc="A fixed array (read-only).",
        any_dtype=True,
        method=False,
        function=False,
        cost="free",
    )
)
