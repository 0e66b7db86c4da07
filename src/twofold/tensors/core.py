"""The tensor class: its slots only. Operations and methods are attached in `tensors.methods`, in one place.

_array:  a NumPy array, or for 0-d results a NumPy scalar (faster); None on the meta device and for symbols
_type:   the interned TensorType
_node:   None, or the backward node it came from: `AccumulateGrad` for a leaf that requires grad, `Out` for one of several outputs
_alias:  unset until the tensor is viewed or is a view, see `tensors.alias`
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twofold.ir.types import TensorType, type_of
from twofold.support.errors import DeviceError

if TYPE_CHECKING:
    from twofold.tape.node import Node
    from twofold.tensors.members import TensorMembers
else:
    TensorMembers = object  # `tensors.methods` attaches the members


class Tensor(TensorMembers):
    """A multi-dimensional array of one dtype that can carry gradients; make one with `twofold.tensor`, `zeros`, `from_numpy`, …"""

    __slots__ = ("__dict__", "__weakref__", "_alias", "_array", "_node", "_type")
    __array_priority__ = 1000
    _is_param = False

    _array: Any
    _type: TensorType
    _node: Node | None
    _alias: Any


class Symbol(Tensor):
    """A tensor whose value is not known yet: operations on it are written into a static graph (see `tensors.recorder`).

    _recorder: who writes;  _family: the part of a storage it belongs to;  _chain: the views from the family's base;  _nograd: seen under
    no_grad;
    _seen: (version, ir.Value) of the last read.
    """

    __slots__ = ("_chain", "_family", "_nograd", "_recorder", "_seen")

    _recorder: Any
    _family: Any
    _chain: tuple[Any, ...]
    _nograd: bool
    _seen: Any


class Size(tuple):
    """A shape: a tuple of ints (or symbolic dimensions) that prints as PyTorch's."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"twofold.Size([{', '.join(map(repr, self))}])"


def wrap(array: Any, node: Node | None = None) -> Tensor:
    """A tensor around an array (or NumPy scalar), sharing its memory."""
    t = Tensor()
    t._array, t._type, t._node = array, type_of(array), node
    return t


def wrap_typed(array: Any, type: TensorType, node: Node | None = None) -> Tensor:
    """A tensor around an array whose type is known (the array is None on the meta device)."""
    t = Tensor()
    t._array, t._type, t._node = array, type, node
    return t


def memory(t: Tensor) -> Any:
    """The tensor's data as an array that can be viewed and written: 0-d results are NumPy scalars until then."""
    array = t._array
    if type(array) is not np.ndarray:
        if array is None:
            raise DeviceError(
                "a tensor on the meta device has a shape and a dtype but no data" if t._type.device == "meta" else "a symbol has no data"
            )
        array = t._array = np.array(array)
    return array
