"""Files of torch.save, read without PyTorch: the zip form and the older one, as far as they hold tensors, numbers, strings and containers.

A zip form's tensors share the mapped file, copy-on-write, and share memory with each other where they did when they were saved. Everything
is put on the CPU.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import DType
from twofold.serialization import archive
from twofold.serialization.source import Source, strided
from twofold.serialization.torch_stream import KEYS, Bare, Function, Reader
from twofold.support.errors import UnsupportedError
from twofold.tensors.alias import keep_layout
from twofold.tensors.core import Size, Tensor, wrap
from twofold.tensors.nodes import new_leaf

OLD_MAGIC = 0x1950A86A20F9469CFC6C
OLD_VERSION = 1001
MAX_STREAM = 512_000_000
"""Bytes of the object stream (without the tensors)."""
MAX_EXPANDED = 1 << 30
"""Bytes of a tensor that repeats its elements (expanded dimensions)."""
MAX_DIMS = 64
STORAGES: dict[str, DType] = {
    "BoolStorage": dtypes.bool_, "ByteStorage": dtypes.uint8, "CharStorage": dtypes.int8, "ShortStorage": dtypes.int16,
    "IntStorage": dtypes.int32, "LongStorage": dtypes.int64, "HalfStorage": dtypes.float16, "BFloat16Storage": dtypes.bfloat16,
    "FloatStorage": dtypes.float32, "DoubleStorage": dtypes.float64,
}  # fmt: skip


class StorageKind(Bare):
    """A class of storages: the dtype of its elements, or None for plain bytes."""

    __slots__ = ("dtype",)

    def __init__(self, text: str, dtype: DType | None) -> None:
        super().__init__(text)
        self.dtype = dtype


class Storage(Bare):
    """Memory that tensors are views of: a 1-d array of `dtype` (None: bytes)."""

    __slots__ = ("array", "dtype", "tensors")

    def __init__(self, array: np.ndarray, dtype: DType | None) -> None:
        super().__init__("a storage")
        self.array, self.dtype = array, dtype
        self.tensors: list[Tensor] = []


def looks_like(source: Source) -> bool:
    """True if the file begins as one of torch.save does."""
    return archive.looks_like(source) or (source.size > 14 and source.bytes(0, 2) == b"\x80\x02" and source.bytes(2, 2) == b"\x8a\x0a")


def read(source: Source) -> Any:
    """What was saved; raises DataError."""
    if archive.looks_like(source):
        return _read_zip(source, archive.members(source))
    return _read_old(source)


def _read_zip(source: Source, members: dict[str, archive.Member]) -> Any:
    streams = [name for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(streams) != 1:
        raise source.fault("it is a zip archive, but none of torch.save")
    folder = streams[0].partition("/")[0]
    order = members.get(f"{folder}/byteorder")
    if order is not None and source.bytes(order.start, min(order.size, 16)) != b"little":
        raise source.fault("its numbers are big-endian, which is not read; save it again on the usual kind of machine")
    if f"{folder}/constants.pkl" in members:
        raise source.fault("it is a TorchScript program, not a file of torch.save; save its state dict instead")
    stream = members[streams[0]]
    if stream.size > MAX_STREAM:
        raise source.fault(f"its object stream has {stream.size} bytes; at most {MAX_STREAM} are allowed")
    storages: dict[str, Storage] = {}

    def stored(identifier: Any) -> Storage:
        kind, key, _ = _identifier(source, identifier)
        found = storages.get(key)
        member = members.get(f"{folder}/data/{key}")
        if member is None:
            raise source.fault(f"it has no data for the storage {key!r}")
        item = kind.dtype or dtypes.uint8
        if member.size % item.itemsize:
            raise source.fault(f"the data of storage {key!r} is no whole number of {item.name} elements")
        if found is None:
            found = storages[key] = Storage(source.array(item, member.size // item.itemsize, member.start), kind.dtype)
        elif found.dtype is not kind.dtype:
            raise source.fault(f"the storage {key!r} is used with two dtypes")
        return found

    data = memoryview(source.buffer)[stream.start : stream.start + stream.size]
    return Reader(data, 0, Builder(source).names(), stored, source.fault).read()


def _read_old(source: Source) -> Any:
    """The form before version 1.6: five streams, then each storage's length and bytes."""
    if source.size > MAX_STREAM:
        raise source.fault(f"it is of PyTorch's old form and larger than {MAX_STREAM} bytes; save it again with a newer PyTorch")
    storages: dict[str, Storage] = {}
    room = [source.size]

    def stored(identifier: Any) -> Storage:
        kind, key, count = _identifier(source, identifier)
        if kind.dtype is None:
            raise source.fault("an untyped storage in a file of the old form")
        if key not in storages:
            room[0] -= count * kind.dtype.itemsize
            if room[0] < 0:
                raise source.fault("its storages claim more bytes than it has")
            storages[key] = Storage(np.zeros(count, kind.dtype.numpy), kind.dtype)
        found = storages[key]
        if found.dtype is not kind.dtype or len(found.array) != count:
            raise source.fault(f"the storage {key!r} is used in two ways")
        return found

    reader = Reader(memoryview(source.buffer), 0, Builder(source).names(), stored, source.fault)
    magic, version, system = reader.read(), reader.read(), reader.read()
    if magic != OLD_MAGIC or version != OLD_VERSION or not isinstance(system, dict):
        raise source.fault("it is no file of torch.save")
    if system.get("little_endian") is not True:
        raise source.fault("its numbers are big-endian, which is not read")
    value, keys = reader.read(), reader.read()
    if not isinstance(keys, list) or not all(isinstance(k, str) for k in keys) or sorted(keys) != sorted(storages):
        raise source.fault("its list of storages does not fit its tensors")
    at = reader.at
    for key in keys:
        array = storages[key].array
        if int.from_bytes(source.bytes(at, 8), "little") != len(array):
            raise source.fault(f"the storage {key!r} has another length than its tensors say")
        array.view(np.uint8)[:] = np.frombuffer(source.bytes(at + 8, array.nbytes), np.uint8)
        at += 8 + array.nbytes
    return value


def _identifier(source: Source, identifier: Any) -> tuple[StorageKind, str, int]:
    """(class, key, elements) of a storage that the stream refers to."""
    if not isinstance(identifier, tuple) or len(identifier) not in (5, 6) or identifier[0] != "storage":
        raise source.fault("it refers to something that is no storage")
    kind, key, count = identifier[1], identifier[2], identifier[4]
    if not isinstance(kind, StorageKind) or not isinstance(key, str) or type(count) is not int or not 0 <= count < 1 << 62:
        raise source.fault("it refers to a storage of an unknown class, name or size")
    if len(identifier) == 6 and identifier[5] is not None:
        raise source.fault("it has views of storages, a form older than PyTorch 0.4; save it again with a newer PyTorch")
    return kind, key, count


# ---- what streams may name ---------------------------------------------------------------------------------------------------------------


class Builder:
    """The functions that a stream may call, each of which checks its arguments."""

    def __init__(self, source: Source) -> None:
        self.source, self.fault = source, source.fault

    def names(self) -> dict[tuple[str, str], Any]:
        """All names that a stream may use."""
        functions: dict[tuple[str, str], Callable[..., Any]] = {
            ("torch._utils", "_rebuild_tensor"): self.tensor,
            ("torch._utils", "_rebuild_tensor_v2"): self.tensor,
            ("torch._utils", "_rebuild_tensor_v3"): self.tensor_of_bytes,
            ("torch._utils", "_rebuild_parameter"): self.parameter,
            ("collections", "OrderedDict"): self.ordered_dict,
            ("torch", "Size"): self.size,
            ("torch", "device"): self.device,
            ("_codecs", "encode"): self.encode,
        }
        table: dict[tuple[str, str], Any] = {key: Function(".".join(key), f) for key, f in functions.items()}
        table |= {("torch", name): StorageKind(f"torch.{name}", dtype) for name, dtype in STORAGES.items()}
        table["torch.storage", "UntypedStorage"] = StorageKind("torch.storage.UntypedStorage", None)
        return table | {("torch", name): d for name, d in dtypes.BY_NAME.items()}

    def tensor(
        self, storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any = False, hooks: Any = None, metadata: Any = None
    ) -> Tensor:
        """A tensor over a typed storage."""
        if not isinstance(storage, Storage) or storage.dtype is None:
            raise self.fault("a tensor that is made of something else than a typed storage")
        return _view(self.source, storage, storage.array, storage.dtype, offset, size, stride, requires_grad)

    def tensor_of_bytes(
        self, storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any, metadata: Any = None
    ) -> Tensor:
        """A tensor over a storage of bytes, with its dtype given."""
        if not isinstance(storage, Storage) or storage.dtype is not None or not isinstance(dtype, DType):
            raise self.fault("a tensor that is made of something else than a storage of bytes and a dtype")
        whole = storage.array[: len(storage.array) // dtype.itemsize * dtype.itemsize].view(dtype.numpy)
        return _view(self.source, storage, whole, dtype, offset, size, stride, requires_grad)

    def parameter(self, data: Any, requires_grad: Any = True, hooks: Any = None) -> Tensor:
        """The tensor as a parameter."""
        if not isinstance(data, Tensor) or type(requires_grad) is not bool:
            raise self.fault("a parameter that is made of something else than a tensor")
        data._is_param = True
        if requires_grad and data._node is None:
            _begin_history(self.source, data)
        return data

    def ordered_dict(self, *arguments: Any) -> OrderedDict[Any, Any]:
        """An OrderedDict, empty or of pairs."""
        made: OrderedDict[Any, Any] = OrderedDict()
        pairs = arguments[0] if arguments else []
        if len(arguments) > 1 or not isinstance(pairs, list) or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in pairs):
            raise self.fault("an OrderedDict of something else than pairs")
        for key, value in pairs:
            if not isinstance(key, KEYS):
                raise self.fault(f"a dict with a key of type {type(key).__name__}")
            made[key] = value
        return made

    def size(self, *arguments: Any) -> Size:
        """A shape."""
        if len(arguments) != 1 or not _is_sizes(arguments[0]):
            raise self.fault("a torch.Size of something else than numbers")
        return Size(arguments[0])

    def encode(self, *arguments: Any) -> bytes:
        """How protocol 2 writes bytes: as text of one character for each."""
        if len(arguments) != 2 or arguments[1] != "latin1" or not isinstance(arguments[0], str):
            raise self.fault("bytes that are made of something else than text")
        return arguments[0].encode("latin-1")

    def device(self, *arguments: Any) -> str:
        """There is one device."""
        return "cpu"


def _is_sizes(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) <= MAX_DIMS and all(type(n) is int and 0 <= n < 1 << 62 for n in value)


def _view(
    source: Source, storage: Storage, array: np.ndarray, dtype: DType, offset: Any, size: Any, stride: Any, requires_grad: Any
) -> Tensor:
    """A tensor over a storage, every number checked against the storage's length."""
    if not _is_sizes(size) or not _is_sizes(stride) or len(size) != len(stride) or not _is_sizes((offset,)):
        raise source.fault("a tensor whose sizes, strides or offset are no numbers from 0 on")
    if type(requires_grad) is not bool:
        raise source.fault("a tensor with a requires_grad that is no bool")
    count = math.prod(size)
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if count else offset - 1
    if last >= len(array) or offset > len(array):
        raise source.fault(f"a tensor of shape {tuple(size)} reaches element {last} of a storage that has {len(array)}")
    if count > len(array) and count * dtype.itemsize > MAX_EXPANDED:
        raise source.fault(f"a tensor of shape {tuple(size)} repeats the {len(array)} elements of its storage beyond {MAX_EXPANDED} bytes")
    if math.prod(n for n in size if n) * dtype.itemsize >= 1 << 62:
        raise source.fault(f"the shape {tuple(size)} is too large")
    t = wrap(strided(array, tuple(size), tuple(stride), offset))
    storage.tensors.append(t)
    if len(storage.tensors) > 1:
        for shared in storage.tensors[-2:]:
            keep_layout(shared)
    if requires_grad:
        _begin_history(source, t)
    return t


def _begin_history(source: Source, t: Tensor) -> None:
    if not t._type.dtype.is_floating_point:
        raise UnsupportedError(f"{source.name}: a tensor of {t._type.dtype.name} that requires grad")
    new_leaf(t)
