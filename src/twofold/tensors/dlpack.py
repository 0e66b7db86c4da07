"""DLPack, both ways without copying: `from_dlpack`, `to_dlpack` and the protocol's two methods.

NumPy makes and reads the capsules, so lifetimes are in its hands. What it has no DLPack form for is bfloat16: those arrays travel as
16-bit unsigned
integers, and the dtype field of the capsule is rewritten (exports) or read and rewritten (imports).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, DeviceError, DTypeError, ExportError, TraceError
from twofold.tape.versions import mark_escaped
from twofold.tensors.batched import BatchedTensor, refuse_value
from twofold.tensors.core import Symbol, Tensor, memory, wrap

CPU = (1, 0)
"""kDLCPU and the device's number."""
UNSIGNED, BFLOAT = 1, 4
"""Type codes of the standard: kDLUInt, kDLBfloat."""


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("dtype",
        _DLDataType),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned; in the older DLManagedTensor the DLTensor comes first."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p), ("flags",
        ctypes.c_uint64),
        ("tensor", _DLTensor),
    )  # fmt: skip


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def _tensor_in(capsule: Any) -> tuple[_DLTensor, bool]:
    """The DLTensor a fresh capsule describes, and whether the capsule is of the older kind; valid while the capsule is not consumed."""
    if _is_valid(capsule, b"dltensor_versioned"):
        return _Versioned.from_address(_pointer(capsule, b"dltensor_versioned")).tensor, False
    if _is_valid(capsule, b"dltensor"):
        return _DLTensor.from_address(_pointer(capsule, b"dltensor")), True
    raise ArgumentError("from_dlpack() got something that is no fresh DLPack capsule: each capsule can be used once")


def __dlpack__(  # noqa: N807
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The tensor's memory as a DLPack capsule (of the newer, versioned kind if `max_version` is (1, 0) or later).

    Raises ExportError (a BufferError) for a tensor that requires grad, a symbol, the meta device, another `dl_device`, or read-only
    memory that
    the older kind of capsule cannot mark as such.
    """
    if isinstance(self, Symbol):
        raise TraceError("a symbol has no memory to export")
    if type(self) is BatchedTensor:
        refuse_value("DLPack")
    if self._node is not None:
        raise ExportError("a tensor that requires grad cannot be exported: use tensor.detach()")
    if stream is not None:
        raise ExportError("stream must be None: the memory is on the CPU")
    if dl_device is not None and tuple(dl_device) != CPU:
        raise ExportError(f"the memory is on the CPU {CPU} and cannot be exported to device {tuple(dl_device)}")
    if self._array is None:
        raise ExportError("a tensor on the meta device has no memory to export")
    array = memory(self)
    if copy:
        array = np.array(array)
    else:
        mark_escaped(array)
    low = self._type.dtype is dtypes.bfloat16
    capsule = _capsule_of(array.view(np.uint16) if low else array, max_version)
    if low:
        _tensor_in(capsule)[0].dtype.code = BFLOAT
    return capsule


def _capsule_of(array: np.ndarray, max_version: tuple[int, int] | None) -> Any:
    try:
        return array.__dlpack__() if max_version is None else array.__dlpack__(max_version=max_version)
    except TypeError:  # NumPy 2.0 knows the older kind only
        return array.__dlpack__()
    except BufferError as e:
        raise ExportError(f"the memory cannot be exported: {e}") from None


def __dlpack_device__(self: Tensor) -> tuple[int, int]:  # noqa: N807
    """(kDLCPU, 0)."""
    if self._array is None:
        raise ExportError(f"a {'symbol' if isinstance(self, Symbol) else 'tensor on the meta device'} has no memory to export")
    return CPU


class _Once:
    """Hands a capsule to NumPy."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of any object with `__dlpack__` (a NumPy array, a torch tensor, …) or of a DLPack capsule.

    copy: True copies, False and None share. Memory that the exporter marks read-only gives a read-only tensor: writing to it raises. Raises
    DeviceError for memory that is not on the CPU, DTypeError for dtypes that do not exist here.
    """
    if device is not None and str(device) not in ("cpu", "cpu:0"):
        raise DeviceError(f"from_dlpack: device {device!r} does not exist here")
    if type(ext_tensor).__name__ == "PyCapsule":
        capsule = ext_tensor
    elif not hasattr(ext_tensor, "__dlpack__") or not hasattr(ext_tensor, "__dlpack_device__"):
        raise ArgumentError(
            f"from_dlpack() takes an object with __dlpack__ and __dlpack_device__, or a capsule, not {type(ext_tensor).__name__}"
        )
    else:
        place = tuple(ext_tensor.__dlpack_device__())
        if int(place[0]) != CPU[0]:
            raise DeviceError(f"from_dlpack: the memory is on device {place}; only CPU memory {CPU} can be shared")
        try:
            capsule = ext_tensor.__dlpack__(max_version=(1, 0))
        except TypeError:  # written before the protocol had versions
            capsule = ext_tensor.__dlpack__()
    array = _array_of(capsule)
    if copy:
        array = np.array(array)
    else:
        mark_escaped(array)
    return wrap(array)


def _array_of(capsule: Any) -> np.ndarray:
    """NumPy's view of a capsule's memory; consumes the capsule."""
    described, older = _tensor_in(capsule)
    if described.device_type != CPU[0]:
        raise DeviceError(
            f"from_dlpack: the memory is on device ({described.device_type}, {described.device_id}); only CPU memory {CPU} can be shared"
        )
    kind = described.dtype
    if kind.lanes != 1 or (kind.code == BFLOAT and kind.bits != 16):
        raise DTypeError(f"from_dlpack: elements of code {kind.code}, {kind.bits} bits and {kind.lanes} lanes have no dtype here")
    low = kind.code == BFLOAT
    if low:
        kind.code = UNSIGNED
    try:
        array = np.from_dlpack(_Once(capsule))
    except (BufferError, RuntimeError) as e:
        raise DTypeError(f"from_dlpack: elements of code {kind.code} and {kind.bits} bits have no dtype here ({e})") from None
    if older and not array.flags.writeable:
        array = _writable(array)
    return array.view(dtypes.bfloat16.numpy) if low else array


def _writable(array: np.ndarray) -> np.ndarray:
    """The same memory, writable: the older kind of capsule cannot say read-only, and PyTorch takes it as writable."""
    if array.size == 0:
        return np.empty(array.shape, array.dtype)
    first, after = np.lib.array_utils.byte_bounds(array)
    address = array.ctypes.data
    buffer: Any = (ctypes.c_char * (after - first)).from_address(first)
    buffer._exporter = array  # keeps the exporter's memory alive
    flat = np.frombuffer(buffer, np.uint8)
    return np.ndarray(array.shape, array.dtype, flat, address - first, array.strides)


def to_dlpack(tensor: Tensor) -> Any:
    """The tensor as a DLPack capsule of the older kind, for consumers that take capsules; newer ones take the tensor itself."""
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"to_dlpack() takes a tensor, not {type(tensor).__name__}")
    return __dlpack__(tensor)


METHODS: dict[str, Callable[..., Any]] = {"__dlpack__": __dlpack__, "__dlpack_device__": __dlpack_device__}
