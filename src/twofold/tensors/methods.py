"""The methods of `Tensor`, attached here and nowhere else."""

from __future__ import annotations

from typing import Any

from twofold.support.errors import ArgumentError
from twofold.tape.node import owner_of
from twofold.tensors import backward as _backward
from twofold.tensors.core import Size, Symbol, Tensor, memory
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.nodes import new_leaf


def attach(name: str) -> Any:
    """Decorator: make the function a method of Tensor."""

    def put(function: Any) -> Any:
        setattr(Tensor, name, function)
        return function

    return put


for _name, _function in FUNCTIONS.items():
    setattr(Tensor, _name, _function)
Tensor.__add__ = Tensor.__radd__ = FUNCTIONS["add"]
Tensor.__mul__ = Tensor.__rmul__ = FUNCTIONS["mul"]
Tensor.shape = property(lambda self: Size(self._type.shape))
Tensor.grad_fn = property(lambda self: None if self._node is None or self._node.is_accumulate else owner_of(self._node)[0])
Tensor.requires_grad = property(lambda self: self._node is not None)
Tensor.grad = property(lambda self: self._node.grad if self._node is not None and self._node.is_accumulate else None)
Tensor.backward = lambda self, *a, **k: _backward.backward(self, *a, **k)
Tensor.numpy = lambda self: memory(self)
Tensor.__sub__ = FUNCTIONS["sub"]
Tensor.__rsub__ = lambda self, other: FUNCTIONS["sub"](other, self)
Tensor.__neg__ = FUNCTIONS["neg"]
Tensor.__truediv__ = FUNCTIONS["div"]
