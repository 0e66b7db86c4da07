"""The safetensors format, read and written: a length of 8 bytes, a JSON header, the tensors' bytes.

The header maps a name to dtype, shape and the [begin, end) of its bytes behind the header; "__metadata__" maps strings to strings. The
format's rules are all checked before anything is allocated: no holes, no overlaps, sizes that match the shape, one entry for each name.
https://huggingface.co/docs/safetensors
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import DType
from twofold.serialization.source import Source
from twofold.support.errors import UnsupportedError

MAX_HEADER = 100_000_000
"""Bytes of the header, as in the reference implementation."""
MAX_TENSORS = 200_000
MAX_MARKS = 4_000_000
"""Commas and brackets in a header: they bound what its parsed form takes."""
MAX_DIMS = 64
NAMES: dict[str, DType] = {
    "BOOL": dtypes.bool_, "U8": dtypes.uint8, "I8": dtypes.int8, "U16": dtypes.uint16, "I16": dtypes.int16, "U32": dtypes.uint32,
    "I32": dtypes.int32, "U64": dtypes.uint64, "I64": dtypes.int64, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "F32": dtypes.float32,
    "F64": dtypes.float64,
}  # fmt: skip
OF_DTYPE = {d: name for name, d in NAMES.items()}


class Entry(NamedTuple):
    """Where one tensor lies: `begin` counts from the start of the data."""

    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """A file's tensors in the order of its header, its metadata, and the offset of the data in the file."""

    entries: dict[str, Entry]
    metadata: dict[str, str]
    start: int


# ---- reading -----------------------------------------------------------------------------------------------------------------------------


def looks_like(source: Source) -> bool:
    """True if the file begins as a safetensors file does."""
    return source.size >= 10 and 2 <= _header_size(source) <= source.size - 8 and source.bytes(8, 1) == b"{"


def _header_size(source: Source) -> int:
    return int.from_bytes(source.bytes(0, 8), "little")


def bounded_json(source: Source, text: bytes, what: str) -> Any:
    """Parsed JSON whose names are each given once and whose size in memory is bounded; raises DataError."""
    if sum(text.count(mark) for mark in (b",", b"[", b"{")) > MAX_MARKS:
        raise source.fault(f"{what} has more than {MAX_MARKS} elements")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            raise ValueError("a name is given twice")
        return table

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise source.fault(f"{what} is no JSON as it should be: {error}") from None


def read_header(source: Source) -> Header:
    """The checked header of a safetensors file; raises DataError."""
    if source.size < 8:
        raise source.fault(f"it has {source.size} bytes, too few for a safetensors file")
    size = _header_size(source)
    if size > MAX_HEADER:
        raise source.fault(f"its header would be {size} bytes long; at most {MAX_HEADER} are allowed")
    table = bounded_json(source, source.bytes(8, size), "its header")
    if not isinstance(table, dict):
        raise source.fault("its header is no table of tensors")
    metadata = table.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise source.fault("its metadata is no table of strings")
    if len(table) > MAX_TENSORS:
        raise source.fault(f"it has {len(table)} tensors; at most {MAX_TENSORS} are allowed")
    entries = {name: _entry(source, name, given) for name, given in table.items()}
    expected = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1][2:]):
        if entry.begin != expected:
            raise source.fault(f"the bytes of {name!r} begin at {entry.begin}, not at {expected} where the tensor before ends")
        expected = entry.end
    if expected != source.size - 8 - size:
        raise source.fault(f"its tensors take {expected} bytes, but {source.size - 8 - size} follow the header")
    return Header(entries, metadata, 8 + size)


def _entry(source: Source, name: str, given: Any) -> Entry:
    try:
        name.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: JSON can spell it, no text can hold it
        raise source.fault(f"the name {name!r} is no text") from None
    if not isinstance(given, dict) or set(given) != {"dtype", "shape", "data_offsets"}:
        raise source.fault(f"the entry of {name!r} must have dtype, shape and data_offsets")
    shape, offsets = given["shape"], given["data_offsets"]
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(n) is int and 0 <= n < 1 << 62 for n in numbers):
            raise source.fault(f"shape and data_offsets of {name!r} must be lists of numbers from 0 on")
    if len(shape) > MAX_DIMS or len(offsets) != 2:
        raise source.fault(f"{name!r} has {len(shape)} dimensions and {len(offsets)} offsets; at most {MAX_DIMS} and just 2 are allowed")
    if not isinstance(given["dtype"], str):
        raise source.fault(f"the dtype of {name!r} is no string")
    dtype = NAMES.get(given["dtype"])
    if dtype is None:
        raise UnsupportedError(f"{source.name}: {name!r} has dtype {given['dtype']!r}; supported are {', '.join(NAMES)}")
    if math.prod(n for n in shape if n) * dtype.itemsize >= 1 << 63:
        raise source.fault(f"the shape {tuple(shape)} of {name!r} is too large")
    begin, end = offsets
    if end - begin != math.prod(shape) * dtype.itemsize:
        raise source.fault(f"{name!r} has {end - begin} bytes, its shape {tuple(shape)} of {dtype.name} needs another number")
    return Entry(dtype, tuple(shape), begin, end)


def read_array(source: Source, header: Header, entry: Entry) -> np.ndarray:
    """One tensor's array, over the file's memory."""
    count = (entry.end - entry.begin) // entry.dtype.itemsize
    return source.array(entry.dtype, count, header.start + entry.begin).reshape(entry.shape)


# ---- writing -----------------------------------------------------------------------------------------------------------------------------


def layout(tensors: Mapping[str, tuple[DType, tuple[int, ...]]], metadata: Mapping[str, str] | None) -> tuple[bytes, list[str]]:
    """The length and header of a file of these tensors, and the order in which their bytes follow: wide elements first, so that every
    tensor is aligned. The header keeps the order given."""
    order = sorted(tensors, key=lambda name: -tensors[name][0].itemsize)
    offsets, begin = {}, 0
    for name in order:
        dtype, shape = tensors[name]
        end = begin + math.prod(shape) * dtype.itemsize
        offsets[name] = [begin, end]
        begin = end
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    for name, (dtype, shape) in tensors.items():
        header[name] = {"dtype": OF_DTYPE[dtype], "shape": list(shape), "data_offsets": offsets[name]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, order


def raw_bytes(array: np.ndarray) -> memoryview:
    """An array's elements in C order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def pieces(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> Iterator[bytes | memoryview]:
    """The bytes of a safetensors file, in pieces to be written one after the other."""
    head, order = layout({name: (dtypes.from_numpy(a.dtype), a.shape) for name, a in arrays.items()}, metadata)
    yield head
    for name in order:
        if arrays[name].size:
            yield raw_bytes(arrays[name])


def split(sizes: Mapping[str, int], limit: int) -> Sequence[list[str]]:
    """Names in order, in groups of at most `limit` bytes (a larger tensor is alone)."""
    groups: list[list[str]] = [[]]
    filled = 0
    for name, size in sizes.items():
        if groups[-1] and filled + size > limit:
            groups.append([])
            filled = 0
        groups[-1].append(name)
        filled += size
    return groups
