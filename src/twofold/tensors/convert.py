"""Conversions: to Python numbers, NumPy, other dtypes and devices; copying and pickling. Each function here becomes a method of
`Tensor`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import DType, as_dtype
from twofold.ir.op import get_op
from twofold.ir.types import tensor_type
from twofold.support.errors import ArgumentError, AutogradError, DeviceError, DTypeError, TraceError, ValueRangeError, VmapError
from twofold.tape.versions import mark_escaped
from twofold.tensors.batched import BatchedTensor, refuse_value
from twofold.tensors.core import Symbol, Tensor, memory, wrap, wrap_typed
from twofold.tensors.device import device as device_class
from twofold.tensors.device import usable_device
from twofold.tensors.dispatch import dispatch
from twofold.tensors.nodes import new_leaf

_to, _clone = get_op("to"), get_op("clone")


def value_of(self: Tensor, what: str) -> Any:
    """The array of a tensor whose value Python asks for; a symbol raises (or gives the example's value, if its recorder specialises)."""
    if isinstance(self, Symbol):
        return self._recorder.concrete(self, what)
    if type(self) is BatchedTensor:
        refuse_value(what)
    if self._array is None:
        raise DeviceError(f"{what} needs a value, but the tensor is on the meta device, which has none")
    return self._array


def item(self: Tensor) -> Any:
    """The only element, as a Python number; raises for any other element count."""
    array = value_of(self, "item()")
    if array.size != 1:
        raise ValueRangeError(f"item() needs a tensor with one element, this one has shape {tuple(self._type.shape)}")
    return np.asarray(array).reshape(()).item() if self._type.dtype is not dtypes.bfloat16 else float(np.asarray(array).reshape(()))


def tolist(self: Tensor) -> Any:
    """Nested lists of Python numbers (one number for a 0-d tensor)."""
    array = np.asarray(value_of(self, "tolist()"))
    return array.astype(np.float64).tolist() if self._type.dtype is dtypes.bfloat16 else array.tolist()


def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The data as a NumPy array that shares memory. A tensor that requires grad must be detached first (or `force=True`)."""
    if isinstance(self, Symbol):
        return self._recorder.concrete(self, "numpy()")
    if type(self) is BatchedTensor:
        refuse_value("numpy()")
    if self._node is not None and not force:
        raise AutogradError("numpy() on a tensor that requires grad: use tensor.detach().numpy(), or numpy(force=True)")
    array = memory(self)
    mark_escaped(array)
    return array


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:  # noqa: N807
    array = numpy(self)
    if dtype is not None and np.dtype(dtype) != array.dtype:
        if copy is False:
            raise ValueRangeError(f"an array of {dtype} cannot share memory with a tensor of {self._type.dtype.name}")
        return array.astype(dtype)
    return array.copy() if copy else array


def __bool__(self: Tensor) -> bool:  # noqa: N807
    array = value_of(self, "bool()")
    if array.size != 1:
        raise ValueRangeError(f"the truth value of a tensor of shape {tuple(self._type.shape)} is ambiguous: use .any() or .all()")
    return bool(np.asarray(array).reshape(()))


def __int__(self: Tensor) -> int:  # noqa: N807
    return int(_scalar(self, "int()"))


def __float__(self: Tensor) -> float:  # noqa: N807
    return float(_scalar(self, "float()"))


def __index__(self: Tensor) -> int:  # noqa: N807
    if self._type.dtype.category == dtypes.FLOAT:
        raise DTypeError(f"only integer tensors of one element can be an index, not {self._type.dtype.name}")
    return int(_scalar(self, "an index"))


def __complex__(self: Tensor) -> complex:  # noqa: N807
    return complex(float(_scalar(self, "complex()")))


def _scalar(self: Tensor, what: str) -> Any:
    array = value_of(self, what)
    if array.size != 1:
        raise ValueRangeError(f"{what} needs a tensor with one element, this one has shape {tuple(self._type.shape)}")
    return np.asarray(array).reshape(())[()]


def __len__(self: Tensor) -> int:  # noqa: N807
    if not self._type.shape:
        raise ArgumentError("len() of a 0-d tensor")
    n = self._type.shape[0]
    return n if type(n) is int else n.__index__()


def __iter__(self: Tensor) -> Iterator[Tensor]:  # noqa: N807
    if not self._type.shape:
        raise ArgumentError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def __contains__(self: Tensor, value: Any) -> bool:  # noqa: N807
    if not isinstance(value, (Tensor, bool, int, float, np.generic)):
        raise ArgumentError(f"`in` looks for a number or a tensor in a tensor, not for {type(value).__name__}")
    return bool((self == value).any())


# ---- dtype and device ------------------------------------------------------------------------------------------------------------


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Convert: `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`; `copy=True` forces a copy. Returns itself if nothing changes.

    Devices: `cpu`, and `meta` (drops the data); others raise DeviceError.
    """
    dtype, target, force = parse_to(args, kwargs)
    result = self
    if target is not None and target != self._type.device:
        if target == "cpu":
            raise DeviceError("a tensor on the meta device has no data to move; make one with twofold.empty_like(t, device='cpu')")
        if isinstance(self, Symbol):
            raise DeviceError("a symbol cannot change its device while a graph is recorded")
        result = wrap_typed(None, tensor_type(self._type.dtype, self._type.shape, "meta"))
    if dtype is not None and dtype is not result._type.dtype:
        return dispatch(_to, (result,), {"dtype": dtype})
    if force and result is self:
        return dispatch(_clone, (self,), {})
    return result


def parse_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[DType | None, str | None, bool]:
    """(dtype, device, copy) of the arguments of `to`."""
    names = {"dtype", "device", "copy", "non_blocking", "memory_format", "other"}
    for k in kwargs:
        if k not in names:
            raise ArgumentError(f"to() has no argument {k!r}")
    dtype, target = kwargs.get("dtype"), kwargs.get("device")
    flags = []
    for a in args:
        if isinstance(a, Tensor):
            dtype, target = a._type.dtype, a._type.device
        elif isinstance(a, bool):
            flags.append(a)  # non_blocking, copy
        elif a is None:
            continue
        elif isinstance(a, device_class) or (isinstance(a, str) and a not in dtypes.BY_NAME):
            target = a
        else:
            dtype = a
    if isinstance(kwargs.get("other"), Tensor):
        dtype, target = kwargs["other"]._type.dtype, kwargs["other"]._type.device
    force = bool(kwargs.get("copy", flags[1] if len(flags) > 1 else False))
    return None if dtype is None else as_dtype(dtype), None if target is None else usable_device(target), force


def type_(self: Tensor, dtype: Any = None) -> Any:
    """Without an argument the type's name (`twofold.FloatTensor`); with one, a conversion."""
    if dtype is None:
        names = {
            "float32": "Float",
            "float64": "Double",
            "float16": "Half",
            "bfloat16": "BFloat16",
            "int64": "Long",
            "int32": "Int",
            "int16": "Short",
        }
        names |= {"int8": "Char", "uint8": "Byte", "bool": "Bool", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64"}
        return f"twofold.{names[self._type.dtype.name]}Tensor"
    return to(self, as_dtype(dtype))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor converted to the dtype of the other."""
    return to(self, other._type.dtype)


def cpu(self: Tensor) -> Tensor:
    """The tensor on the CPU (itself)."""
    return to(self, "cpu")


def _converter(dtype: DType) -> Callable[..., Tensor]:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return to(self, dtype, memory_format=memory_format)

    convert.__doc__ = f"The tensor converted to {dtype.name}."
    return convert


# ---- copies ------------------------------------------------------------------------------------------------------------------------


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:  # noqa: N807
    if id(self) in memo:
        return memo[id(self)]
    if isinstance(self, Symbol):
        raise TraceError("a symbol cannot be deep-copied while a graph is recorded; use clone()")
    if self._node is not None and not self._node.is_accumulate:
        raise AutogradError("only leaf tensors can be deep-copied: detach() or clone() a tensor that was computed")
    if type(self) is BatchedTensor:
        raise VmapError("vmap: a tensor of a mapped function cannot be deep-copied; use clone()")
    array = self._array
    result = wrap_typed(None if array is None else np.array(array), self._type)
    memo[id(self)] = result
    if self.__dict__:
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    if self._node is not None:
        new_leaf(result)
        if self._node.grad is not None:  # type: ignore[attr-defined]
            result._node.grad = copy.deepcopy(self._node.grad, memo)  # type: ignore[union-attr, attr-defined]
    return result


def __reduce_ex__(self: Tensor, protocol: Any) -> tuple[Any, ...]:  # noqa: N807
    if isinstance(self, Symbol):
        raise TraceError("a symbol cannot be pickled")
    if type(self) is BatchedTensor:
        raise VmapError("vmap: a tensor of a mapped function cannot be pickled; return it first")
    if self._array is None:
        raise DeviceError("a tensor on the meta device has no data to pickle")
    array = np.ascontiguousarray(self._array)
    raw = array.view(np.uint16) if self._type.dtype is dtypes.bfloat16 else array
    return rebuild, (raw.reshape(self._type.shape), self._type.dtype.name, self._node is not None, dict(self.__dict__))


def rebuild(raw: np.ndarray, dtype: str, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    """A tensor from its pickled parts."""
    array = raw.view(dtypes.bfloat16.numpy) if dtype == "bfloat16" else raw
    t = wrap(array)
    t.__dict__.update(attributes)
    if requires_grad:
        new_leaf(t)
    return t


METHODS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        item, tolist, numpy, __array__, __bool__, __int__, __float__, __index__, __complex__, __len__, __iter__, __contains__, to, cpu,
        __deepcopy__, __reduce_ex__,
    )
} | {"type": type_, "type_as": type_as}  # fmt: skip
METHODS |= {
    name: _converter(d)
    for name, d in {
        "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "int": dtypes.int32,
        "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
    }.items()
}  # fmt: skip
