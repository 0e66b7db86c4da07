"""Nested values as JSON, and back.

JSON's own values stand for themselves: null, booleans, whole numbers, finite floats, strings, lists. Everything else is an object of one
entry, its kind: {"tuple": [...]}, {"dict": [[key, value], ...]}, {"tensor": 3}. Tensors are numbered; the table of tensors says of each
which storage it views, and how.
"""

from __future__ import annotations

import base64
import ctypes
import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import DType
from twofold.serialization.source import Source, strided
from twofold.support.errors import DeviceError, TraceError, TwofoldError, UnsupportedError, ValueRangeError
from twofold.tensors.alias import keep_layout
from twofold.tensors.core import Size, Symbol, Tensor, memory, wrap
from twofold.tensors.device import device
from twofold.tensors.nodes import new_leaf
from twofold.tensors.random import Generator

MAX_DEPTH = 100
MAX_DIMS = 64
MAX_INT_BITS = 4096
KEYS = (str, int, float, bool, bytes, type(None))


# ---- writing -----------------------------------------------------------------------------------------------------------------------------


class Encoder:
    """Encodes values; `tensors` is the table of tensors, `storages()` their memory by name."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}
        self._arrays: list[np.ndarray] = []
        self._kept: list[Any] = []  # objects must live as long as their id is a key

    def encode(self, value: Any, where: str = "the value", depth: int = 0) -> Any:
        """The JSON form of a value; raises UnsupportedError for types that are not kept, saying where the object stands."""
        if depth > MAX_DEPTH:
            raise ValueRangeError(f"save: containers are nested more than {MAX_DEPTH} deep (or hold themselves) at {where[:200]}")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value if kind is not str else _checked_text(value, where)
        if kind is int:
            if value.bit_length() > MAX_INT_BITS:
                raise ValueRangeError(f"save: an integer of more than {MAX_INT_BITS} bits at {where}")
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self.encode(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
        if kind in (tuple, Size, set):
            name = kind.__name__.lower()
            items = sorted(value, key=repr) if kind is set else value
            return {name: [self.encode(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(items)]}
        if kind in (dict, defaultdict, OrderedDict, Counter):
            name = {OrderedDict: "ordered_dict", Counter: "counter"}.get(kind, "dict")
            return {name: [[self._key(k, where), self.encode(v, f"{where}[{k!r}]", depth + 1)] for k, v in value.items()]}
        return self._encode_object(value, where)

    def _key(self, key: Any, where: str) -> Any:
        if type(key) not in KEYS:
            raise UnsupportedError(f"save: a key of type {type(key).__name__} in the dict at {where}; keys are strings, numbers or None")
        return self.encode(key, f"a key of {where}")

    def _encode_object(self, value: Any, where: str) -> Any:
        if isinstance(value, Symbol):
            raise TraceError(f"save: {where} is a symbol while a graph is recorded: it has no value")
        if isinstance(value, Tensor):
            return {"tensor": self._tensor(value, where)}
        if isinstance(value, (bytes, bytearray)):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, DType):
            return {"dtype": value.name}
        if isinstance(value, device):
            return {"device": str(value)}
        if isinstance(value, Generator):
            return {"generator": memory(value.get_state()).tolist()}
        if isinstance(value, (np.ndarray, np.generic)):
            return self._numpy(value, where)
        advice = "; save its state_dict()" if callable(getattr(value, "state_dict", None)) else ""
        raise UnsupportedError(f"save: {where} is a {type(value).__name__}, which is not kept{advice}. {SUPPORTED}")

    def _numpy(self, value: Any, where: str) -> Any:
        try:
            dtypes.from_numpy(value.dtype)
        except TwofoldError as error:
            raise UnsupportedError(f"save: {where} is a NumPy {type(value).__name__}: {error.message}") from None
        if isinstance(value, np.generic):
            return {"scalar": [dtypes.from_numpy(value.dtype).name, value.tobytes().hex()]}
        return {"array": self._number(value, np.ascontiguousarray(value).reshape(value.shape), {})}

    def _tensor(self, t: Tensor, where: str) -> int:
        if t._array is None:
            raise DeviceError(f"save: {where} is on the meta device: it has no data")
        flags = {name: True for name, on in (("requires_grad", t._node is not None), ("parameter", t._is_param)) if on}
        return self._number(t, memory(t), flags)

    def _number(self, owner: Any, array: np.ndarray, flags: dict[str, bool]) -> int:
        """The number of a tensor in the table; the same object has the same number."""
        number = self._numbers.get(id(owner))
        if number is None:
            number = self._numbers[id(owner)] = len(self.tensors)
            self.tensors.append({"dtype": dtypes.from_numpy(array.dtype).name, "shape": list(array.shape), **flags})
            self._arrays.append(array)
            self._kept.append(owner)
        return number

    def storages(self) -> dict[str, np.ndarray]:
        """The memory of all tensors, each byte once: 1-d arrays by name. Fills the table's storage, offset and stride.

        Tensors whose extents overlap share one storage, from the first byte of all to the last; so their sharing and layout are kept.
        """
        found: dict[str, np.ndarray] = {}
        for group in _overlapping(self._arrays):
            arrays = [self._arrays[i] for i in group]
            low, high = min(_bounds(a)[0] for a in arrays), max(_bounds(a)[1] for a in arrays)
            name = str(len(found))
            if arrays[0].size == 0 or (len(arrays) == 1 and high - low > arrays[0].nbytes):  # it has gaps: nobody sees them
                arrays = [np.ascontiguousarray(arrays[0])]
                found[name] = arrays[0].reshape(-1)
                low = arrays[0].ctypes.data
            else:
                found[name] = _span(low, high, {a.dtype for a in arrays})
            for i, a in zip(group, arrays, strict=True):
                offset, rest = divmod(a.ctypes.data - low, a.itemsize)
                if rest or any(s % a.itemsize for s in a.strides):
                    raise UnsupportedError("save: tensors of different dtypes overlap within an element")
                self.tensors[i].update({"storage": name, "offset": offset, "stride": [s // a.itemsize for s in a.strides]})
        return found


def _bounds(a: np.ndarray) -> tuple[int, int]:
    """The addresses of the array's first byte and behind its last."""
    low, high = np.lib.array_utils.byte_bounds(a)
    return low, (low if a.size == 0 else high)


def _overlapping(arrays: list[np.ndarray]) -> list[list[int]]:
    """The arrays' numbers in groups whose extents in memory overlap; in the order of the groups' first numbers."""
    groups: list[list[int]] = [[i] for i, a in enumerate(arrays) if a.size == 0]
    end = -1
    for (low, high), i in sorted((_bounds(a), i) for i, a in enumerate(arrays) if a.size):
        if low < end:
            groups[-1].append(i)
        else:
            groups.append([i])
        end = max(end, high)
    return sorted(sorted(g) for g in groups)


def _span(low: int, high: int, kinds: set[np.dtype]) -> np.ndarray:
    """The memory between two addresses, which arrays cover without a gap: of their dtype, or as bytes if they have several."""
    raw = np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low))
    return raw.view(kinds.pop()) if len(kinds) == 1 else raw


SUPPORTED = "Kept are dicts, lists, tuples, sets, numbers, strings, bytes, None, tensors, NumPy arrays and scalars, dtypes and Generators"


def _checked_text(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueRangeError(f"save: {where} is a string with surrogates, which is no text") from None
    return text


# ---- reading -----------------------------------------------------------------------------------------------------------------------------


class Decoder:
    """Decodes values. `table` is the table of tensors, `storages` their memory by name; everything is checked, and a fault raises
    DataError."""

    def __init__(self, source: Source, table: Any, storages: dict[str, np.ndarray]) -> None:
        if not isinstance(table, list):
            raise source.fault("its table of tensors is no list")
        self._source, self._table, self._storages = source, table, storages
        self._made: dict[int, Any] = {}
        self._users = Counter(row.get("storage") for row in table if isinstance(row, dict) and isinstance(row.get("storage"), str))

    def decode(self, value: Any, depth: int = 0) -> Any:
        """The value of its JSON form."""
        if depth > MAX_DEPTH:
            raise self._source.fault(f"its containers are nested more than {MAX_DEPTH} deep")
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [self.decode(v, depth + 1) for v in value]
        if isinstance(value, dict) and len(value) == 1:
            ((kind, inside),) = value.items()
            if kind in SEQUENCES and isinstance(inside, list):
                return self._sequence(kind, [self.decode(v, depth + 1) for v in inside])
            if kind in MAPPINGS and isinstance(inside, list):
                return MAPPINGS[kind](self._pair(pair, depth) for pair in inside)
            if kind in LEAVES:
                return self._leaf(kind, inside)
        raise self._source.fault("its structure has an element of an unknown kind")

    def _sequence(self, kind: str, items: list[Any]) -> Any:
        try:
            return SEQUENCES[kind](items)
        except TypeError:
            raise self._source.fault("it has a set of things that no set can hold") from None

    def _pair(self, pair: Any, depth: int) -> tuple[Any, Any]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise self._source.fault("a dict is no list of pairs")
        key = self.decode(pair[0], depth + 1)
        if type(key) not in KEYS:
            raise self._source.fault(f"a dict has a key of type {type(key).__name__}")
        return key, self.decode(pair[1], depth + 1)

    def _leaf(self, kind: str, inside: Any) -> Any:
        try:
            return LEAVES[kind](self, inside)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, TwofoldError) as error:
            raise self._source.fault(f"a malformed {kind}: {error.message if isinstance(error, TwofoldError) else error}") from None

    def tensor(self, number: Any) -> Tensor:
        """The tensor of this number."""
        array, row = self._view(number)
        if number not in self._made:
            t = self._made[number] = wrap(array)
            if row.get("parameter") is True:
                t._is_param = True
            if self._users[row["storage"]] > 1:
                keep_layout(t)
            if row.get("requires_grad") is True:
                if not t._type.dtype.is_floating_point:
                    raise ValueError(f"a tensor of {t._type.dtype.name} cannot require grad")
                new_leaf(t)
        return self._made[number]

    def array(self, number: Any) -> np.ndarray:
        """The NumPy array of this number."""
        if number not in self._made:
            self._made[number] = self._view(number)[0]
        return self._made[number]

    def _view(self, number: Any) -> tuple[np.ndarray, dict[str, Any]]:
        if type(number) is not int or not 0 <= number < len(self._table):
            raise ValueError(f"there is no number {number!r}")
        row = self._table[number]
        shape, stride, offset, dtype = row["shape"], row["stride"], row["offset"], dtypes.BY_NAME[row["dtype"]]
        flat = self._storages[row["storage"]]
        numbers = [*shape, *stride, offset]
        if len(shape) != len(stride) or len(shape) > MAX_DIMS or not all(type(n) is int and abs(n) < 1 << 62 for n in numbers):
            raise ValueError("its shape, stride and offset do not go together")
        if min([*shape, offset, 0]) < 0 or math.prod(n for n in shape if n) * dtype.itemsize >= 1 << 62:
            raise ValueError(f"its shape {shape} or offset {offset} is out of range")
        flat = flat if flat.dtype == dtype.numpy else _as_dtype(flat, dtype)
        count = math.prod(shape)
        if count:
            reach = [(n - 1) * s for n, s in zip(shape, stride, strict=True)]
            low, high = offset + sum(r for r in reach if r < 0), offset + sum(r for r in reach if r > 0)
            if low < 0 or high >= len(flat):
                raise ValueError(f"it reaches from {low} to {high} in a storage of {len(flat)} elements")
            if count > len(flat) and count * dtype.itemsize > MAX_EXPANDED:
                raise ValueError(f"it repeats its storage beyond {MAX_EXPANDED} bytes")
        return strided(flat, tuple(shape), tuple(stride), offset), row


def _as_dtype(flat: np.ndarray, dtype: DType) -> np.ndarray:
    raw = flat.view(np.uint8)
    return raw[: len(raw) // dtype.itemsize * dtype.itemsize].view(dtype.numpy)


def _float(_: Decoder, text: Any) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"{text!r} is no such float")
    return float(text)


def _scalar(_: Decoder, parts: Any) -> Any:
    name, text = parts
    dtype = dtypes.BY_NAME[name]
    raw = bytes.fromhex(text)
    if len(raw) != dtype.itemsize:
        raise ValueError("a scalar of another size")
    return np.frombuffer(raw, dtype.numpy)[0]


def _generator(_: Decoder, state: Any) -> Generator:
    seed, offset = state
    made = Generator()
    made.set_state(wrap(np.array([seed, offset], np.uint64)))
    return made


def _bytes(_: Decoder, text: Any) -> bytes:
    return base64.b64decode(text, validate=True)


MAX_EXPANDED = 1 << 30
"""Bytes of a tensor that repeats its elements (expanded dimensions)."""
SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "size": Size, "set": set}
MAPPINGS: dict[str, Callable[[Any], Any]] = {"dict": dict, "ordered_dict": OrderedDict, "counter": lambda pairs: Counter(dict(pairs))}
LEAVES: dict[str, Callable[[Decoder, Any], Any]] = {
    "float": _float, "bytes": _bytes, "scalar": _scalar, "generator": _generator, "tensor": Decoder.tensor, "array": Decoder.array,
    "dtype": lambda _, name: dtypes.BY_NAME[name], "device": lambda _, name: device(name),
}  # fmt: skip
