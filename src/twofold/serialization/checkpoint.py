"""`save` and `load`: nested containers with tensors in them, as a file.

The file is a zip archive of `twofold.json` (the structure: what kind of file, its version, the containers and plain values) and
`tensors.safetensors` (the memory of the tensors). It holds no code and no pickle, and reading it builds only the types named here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from twofold.serialization import archive, safetensors_file, torch_file
from twofold.serialization.atomic import output
from twofold.serialization.safetensors_file import bounded_json
from twofold.serialization.source import Source, open_source, path_of
from twofold.serialization.structure import Decoder, Encoder
from twofold.serialization.weights import safe_tensors
from twofold.support.errors import ArgumentError, UnsupportedError

FORMAT, VERSION, CHECKPOINT = "twofold", 1, "checkpoint"
STRUCTURE, TENSORS = "twofold.json", "tensors.safetensors"
MAX_STRUCTURE = 256_000_000
"""Bytes of the structure's JSON."""


def save(obj: Any, f: Any) -> None:
    """Write nested containers of tensors and plain values to a path or an open binary file.

    Kept exactly: dict (its order, and keys that are str, int, float, bool, bytes, None), OrderedDict, defaultdict (as dict), Counter,
    list, tuple, set, Size, None, bool, int, float, str, bytes, NumPy scalars and arrays of the tensors' dtypes, dtypes, Generators
    (their state) and tensors: dtype, shape, memory layout, requires_grad, whether they are parameters; tensors that share memory share
    it again, and one that stands in several places is one again. Gradients and history are not kept.

    Modules and optimisers are kept as their state dicts: `save({"model": model.state_dict(), ...}, path)`. Other objects raise
    UnsupportedError, which says where they stand. A path is written under a temporary name, flushed to the disk and renamed, so that a
    crash leaves the old file.
    """
    if not callable(getattr(f, "write", None)):
        f = path_of(f, "save")
    encoder = Encoder()
    value, storages = encoder.encode(obj), encoder.storages()
    head = {"format": FORMAT, "version": VERSION, "kind": CHECKPOINT, "value": value, "tensors": encoder.tensors}
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
    with output(f) as file:
        archive.write(file, ((STRUCTURE, [text]), (TENSORS, safetensors_file.pieces(storages))))


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, mmap: bool = True) -> Any:
    """Read what `save` wrote; also a safetensors file (a dict of tensors), or a file of torch.save as far as it holds tensors, numbers,
    strings and containers.

    f: a path or an open binary file.  map_location: None or the CPU.  mmap: tensors share the file's pages, copy-on-write.
    Nothing in the file is executed, so `weights_only=False` raises UnsupportedError. Raises FileError, DataError (what is wrong with
    the file).
    """
    if weights_only is not True and weights_only is not None:
        raise UnsupportedError("load: weights_only=False is not supported: objects of other classes are never built from a file")
    if map_location is not None and str(map_location).partition(":")[0] != "cpu":
        raise ArgumentError(f"load: map_location can only be None or 'cpu', not {map_location!r}")
    source = open_source(f, mmap)
    if archive.looks_like(source):
        members = archive.members(source)
        if STRUCTURE in members:
            return _read(source, members)
    if torch_file.looks_like(source):
        return torch_file.read(source)
    if safetensors_file.looks_like(source):
        return safe_tensors(source)
    raise source.fault("it is neither of twofold.save, nor of torch.save, nor a safetensors file")


def head_of(source: Source, members: dict[str, archive.Member], kind: str) -> dict[str, Any]:
    """The parsed structure of an archive of this kind; raises DataError."""
    member = members[STRUCTURE]
    if member.size > MAX_STRUCTURE:
        raise source.fault(f"its structure has {member.size} bytes; at most {MAX_STRUCTURE} are allowed")
    head = bounded_json(source, source.bytes(member.start, member.size), "its structure")
    if not isinstance(head, dict) or head.get("format") != FORMAT or type(head.get("version")) is not int:
        raise source.fault("its structure is not of the form that twofold.save writes")
    if head["version"] > VERSION:
        raise source.fault(f"it is of version {head['version']}; this Twofold reads those up to {VERSION}: install a newer one")
    if head.get("kind") != kind:
        raise source.fault(f"it is a {head.get('kind')!r}, not a {kind!r}")
    return head


def _read(source: Source, members: dict[str, archive.Member]) -> Any:
    head = head_of(source, members, CHECKPOINT)
    if TENSORS not in members:
        raise source.fault(f"it has no member {TENSORS!r}")
    decoder = Decoder(source, head.get("tensors"), storages_of(source, members[TENSORS]))
    return decoder.decode(head.get("value"))


def storages_of(source: Source, member: archive.Member) -> dict[str, np.ndarray]:
    """The arrays of a safetensors member, over the file's memory."""
    part = Source(memoryview(source.buffer)[member.start : member.start + member.size], member.size, source.name)
    header = safetensors_file.read_header(part)
    return dict(_arrays(part, header))


def _arrays(part: Source, header: safetensors_file.Header) -> Iterator[tuple[str, np.ndarray]]:
    for name, entry in header.entries.items():
        yield name, safetensors_file.read_array(part, header, entry)
