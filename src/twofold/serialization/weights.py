"""`load_weights` and `save_weights`: named tensors in files, without pickle and without PyTorch.

Read are safetensors files, sharded ones (an index and its shards in one folder) and the tensors of PyTorch's own files; which of them a
file is, its content says. Written are safetensors files.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, overload

import numpy as np

from twofold.serialization import safetensors_file, torch_file
from twofold.serialization.atomic import make_folder, remove, replacing
from twofold.serialization.safetensors_file import bounded_json, read_array, read_header
from twofold.serialization.source import Source, open_source, path_of
from twofold.support.errors import (
    ArgumentError,
    DeviceError,
    MissingFile,
    StateDictError,
    TraceError,
    ValueRangeError,
)
from twofold.tensors.core import Symbol, Tensor, memory, wrap

SAFE_NAME, TORCH_NAME = "model.safetensors", "pytorch_model.bin"
INDEX = ".index.json"
MAX_INDEX = 64_000_000
"""Bytes of an index."""
Rename = Callable[[str], str | None] | Mapping[str, str | None]


# ---- reading -----------------------------------------------------------------------------------------------------------------------------


@overload
def load_weights(
    path: Any, module: None = None, *, prefix: str = "", rename: Rename | None = None, memory_map: bool = True
) -> dict[str, Tensor]: ...
@overload
def load_weights(
    path: Any,
    module: Any,
    *,
    strict: bool = True,
    prefix: str = "",
    rename: Rename | None = None,
    assign: bool = False,
    memory_map: bool = True,
) -> Any: ...
def load_weights(
    path: Any,
    module: Any = None,
    *,
    strict: bool = True,
    prefix: str = "",
    rename: Rename | None = None,
    assign: bool = False,
    memory_map: bool = True,
) -> Any:
    """The tensors of a weights file by name; or, with a module, load them into it and return what `load_state_dict` does.

    path: a safetensors file, an index (`model.safetensors.index.json`) whose shards lie in the same folder, a folder that holds
    `model.safetensors`, its index, or `pytorch_model.bin` or its index, or a file of torch.save that holds a dict of tensors.
    prefix: only names that begin with it count, and they lose it.
    rename: a function from a name to the name wanted (None: leave it out), or a mapping for the names that change.
    strict, assign: as for `Module.load_state_dict`. A name that is missing is forgiven where the module has the same tensor under
    another name as well (tied weights). With `assign` the module takes the file's tensors, with their dtypes; tied ones stay tied.
    memory_map: the tensors share the file's pages, copy-on-write: nothing is read before it is used, and writes do not reach the file.
    Without it the file is read whole.

    Tensors that were one when they were saved by `save_weights` are one again. Nothing in a file is executed. Raises FileError,
    DataError (a malformed file; what is wrong with it), StateDictError (tensors that do not fit the module).
    """
    found = dict(_tensors_at(path, memory_map))
    found = _renamed(found, prefix, rename)
    if module is None:
        return found
    return _load_into(module, found, strict, assign)


def _renamed(tensors: dict[str, Tensor], prefix: str, rename: Rename | None) -> dict[str, Tensor]:
    result: dict[str, Tensor] = {}
    for name, t in tensors.items():
        if not name.startswith(prefix):
            continue
        new: Any = name[len(prefix) :]
        if rename is not None:
            new = rename(new) if callable(rename) else rename.get(new, new)
            if new is None:
                continue
        if new in result:
            raise ValueRangeError(f"load_weights: two tensors would get the name {new!r}; one of them is {name!r} in the file")
        result[new] = t
    return result


def _load_into(module: Any, found: dict[str, Tensor], strict: bool, assign: bool) -> Any:
    own = module.state_dict(keep_vars=True)
    groups: dict[int, list[str]] = {}
    for name, t in own.items():
        groups.setdefault(id(t), []).append(name)
    for names in groups.values():
        given = [n for n in names if n in found]
        if given:
            for name in names:
                found.setdefault(name, found[given[0]])
    result = module.load_state_dict(found, strict=strict, assign=assign)
    if assign:
        for first, *others in groups.values():
            for name in others:
                _put(module, name, _get(module, first))
    return result


def _owner(module: Any, name: str) -> tuple[dict[str, Any], str]:
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    return (owner._parameters if last in owner._parameters else owner._buffers), last


def _get(module: Any, name: str) -> Any:
    table, last = _owner(module, name)
    return table[last]


def _put(module: Any, name: str, value: Any) -> None:
    table, last = _owner(module, name)
    table[last] = value


def _tensors_at(path: Any, memory_map: bool) -> Iterator[tuple[str, Tensor]]:
    path = path_of(path, "load_weights")
    if os.path.isdir(path):
        path = _file_in(path)
    source = open_source(path, memory_map)
    if is_index(source):
        return _sharded(source, os.path.dirname(path), memory_map)
    return iter(tensors_of(source).items())


def _file_in(folder: str) -> str:
    """The weights file of a folder."""
    names = [SAFE_NAME, SAFE_NAME + INDEX, TORCH_NAME, TORCH_NAME + INDEX]
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise MissingFile(f"{folder!r} holds none of {', '.join(names)}; name the file itself")


def is_index(source: Source) -> bool:
    """True if the file is JSON, not a safetensors file."""
    return source.size > 0 and source.bytes(0, 1) == b"{" and not safetensors_file.looks_like(source)


def tensors_of(source: Source) -> dict[str, Tensor]:
    """The tensors of one file; raises DataError where it is neither of safetensors nor of torch.save, or holds other things."""
    if torch_file.looks_like(source):
        return _flat(source, torch_file.read(source))
    if safetensors_file.looks_like(source):
        return safe_tensors(source)
    raise source.fault("it is neither a safetensors file nor one of torch.save")


def safe_tensors(source: Source) -> dict[str, Tensor]:
    """The tensors of a safetensors file. Its metadata may name tensors that are others' second names."""
    header = read_header(source)
    result = {name: wrap(read_array(source, header, entry)) for name, entry in header.entries.items()}
    for name, kept in header.metadata.items():
        if name != "format" and name not in result and kept in header.entries:
            result[name] = result[kept]
    return result


def _flat(source: Source, value: Any) -> dict[str, Tensor]:
    """A dict of tensors, without history."""
    if not isinstance(value, dict):
        raise source.fault(f"it holds a {type(value).__name__}, not a dict of tensors; open it with twofold.load")
    other = [str(k) for k, v in value.items() if not isinstance(k, str) or not isinstance(v, Tensor)]
    if other:
        names = ", ".join(other[:8]) + (", ..." if len(other) > 8 else "")
        raise source.fault(f"not all its entries are tensors with names ({names}); open it with twofold.load and take the part wanted")
    return {name: t.detach() for name, t in value.items()}


def _sharded(index: Source, folder: str, memory_map: bool) -> Iterator[tuple[str, Tensor]]:
    """The tensors of an index's shards, each where the index says it is."""
    if index.size > MAX_INDEX:
        raise index.fault(f"an index of {index.size} bytes; at most {MAX_INDEX} are allowed")
    table = bounded_json(index, index.bytes(0, index.size), "the index")
    places = table.get("weight_map") if isinstance(table, dict) else None
    if not isinstance(places, dict) or not all(isinstance(v, str) for v in places.values()):
        raise index.fault('an index needs a table "weight_map" from names to files')
    for shard in dict.fromkeys(places.values()):
        tensors = tensors_of(open_source(_inside(index, folder, shard), memory_map))
        wanted = [name for name, place in places.items() if place == shard]
        lost = [name for name in wanted if name not in tensors]
        if lost:
            raise index.fault(f"{shard!r} does not hold {', '.join(map(repr, lost[:8]))}")
        extra = [name for name in tensors if name not in places]
        yield from ((name, tensors[name]) for name in [*wanted, *extra])


def _inside(index: Source, folder: str, shard: str) -> str:
    """The path of a shard, which must lie in the index's folder, links followed; or in the blobs of Hugging Face's cache."""
    path = os.path.join(folder, shard)
    if shard != os.path.basename(shard) or shard in ("", ".", "..") or "\0" in shard:
        raise index.fault(f"the shard {shard!r} is no plain file name; shards lie in the index's folder")
    home = os.path.realpath(folder or ".")
    homes = [home]
    if os.path.basename(os.path.dirname(home)) == "snapshots":  # Hugging Face's cache: snapshots/REVISION/NAME is a link to blobs/HASH
        homes.append(os.path.join(os.path.dirname(os.path.dirname(home)), "blobs"))
    if os.path.dirname(os.path.realpath(path)) not in homes:
        raise index.fault(f"the shard {shard!r} is a link that leads out of the folder; put the file itself there")
    return path


# ---- writing -----------------------------------------------------------------------------------------------------------------------------


def save_weights(tensors: Any, path: Any, *, max_shard_size: int | str | None = None, metadata: Mapping[str, str] | None = None) -> None:
    """Write a module's state dict, or a mapping of names to tensors, as safetensors.

    path: a name that ends in `.safetensors`, or a folder (made if it is not there), in which the file is `model.safetensors`.
    max_shard_size: bytes, or text such as "5GB" or "200MB" (powers of ten); more than that is spread over files
    `model-00001-of-00003.safetensors`, ... and the index `model.safetensors.index.json`. Shards that an earlier call left are removed.
    metadata: strings by name, kept in the file. {"format": "pt"}, which other readers want, is added.

    A tensor that stands there under several names is written once; the metadata maps each further name to the first (as the
    `safetensors` package does), and `load_weights` gives one tensor under all of them. Tensors that overlap in another way are written
    each.
    Each file is written under a temporary name, flushed to the disk and renamed. Raises FileError.
    """
    named = tensors.state_dict(keep_vars=True) if callable(getattr(tensors, "state_dict", None)) else tensors
    if not isinstance(named, Mapping):
        raise ArgumentError(f"save_weights: needs a module or a mapping of names to tensors, not {type(tensors).__name__}")
    arrays, aliases = _apart(named)
    extra = _checked_metadata(metadata, arrays)
    folder, stem = _target(path_of(path, "save_weights"))
    limit = None if max_shard_size is None else bytes_of(max_shard_size)
    groups = [list(arrays)] if limit is None else safetensors_file.split({n: a.nbytes for n, a in arrays.items()}, limit)
    if len(groups) == 1:
        files = [f"{stem}.safetensors"]
    else:
        files = [f"{stem}-{i:05d}-of-{len(groups):05d}.safetensors" for i in range(1, len(groups) + 1)]
    with replacing() as new:
        for file, names in zip(files, groups, strict=True):
            inside = set(names)
            shared = {alias: kept for alias, kept in aliases.items() if kept in inside}
            with new.file(os.path.join(folder, file)) as out:
                for piece in safetensors_file.pieces({n: arrays[n] for n in names}, {**extra, **shared}):
                    out.write(piece)
        if len(groups) > 1:
            home = {name: file for file, names in zip(files, groups, strict=True) for name in names}
            places = home | {alias: home[kept] for alias, kept in aliases.items()}
            index = {"metadata": {"total_size": sum(a.nbytes for a in arrays.values())}, "weight_map": places}
            with new.file(os.path.join(folder, f"{stem}.safetensors{INDEX}")) as out:
                out.write(json.dumps(index, indent=2).encode())
    _remove_earlier(folder, stem, {*files, f"{stem}.safetensors{INDEX}"} if len(groups) > 1 else set(files))


def bytes_of(size: int | str) -> int:
    """A number of bytes from "5GB" and the like; raises ValueRangeError."""
    if type(size) is int and size > 0:
        return size
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(i?)B", size, re.IGNORECASE) if isinstance(size, str) else None
    if match is None or float(match[1]) <= 0:
        raise ValueRangeError(f'max_shard_size must be a positive number of bytes or text such as "5GB" or "512MiB", not {size!r}')
    unit = (1024 if match[3] else 1000) ** " KMGT".index(match[2].upper() or " ")
    return max(1, int(float(match[1]) * unit))


def _target(path: str) -> tuple[str, str]:
    """(folder, file name without .safetensors)."""
    folder, name = os.path.split(path)
    if name.endswith(".safetensors") and not os.path.isdir(path):
        return folder, name.removesuffix(".safetensors")
    if not os.path.isdir(path):
        if "." in name:
            raise ValueRangeError(f"save_weights: the path must end in .safetensors or be a folder, not {path!r}")
        make_folder(path)
    return path, "model"


def array_to_write(name: str, t: Any) -> np.ndarray:
    """The tensor's array; raises a TwofoldError where it has none."""
    if not isinstance(t, Tensor):
        raise StateDictError(f"save_weights: {name!r} is {type(t).__name__}, not a tensor")
    if isinstance(t, Symbol):
        raise TraceError(f"{name!r} is a symbol while a graph is recorded: it has no value to be saved")
    if t._array is None:
        raise DeviceError(f"{name!r} is on the meta device: it has no data to be saved")
    return memory(t)


def _apart(named: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays to write by name, and the further names of arrays that have several."""
    arrays: dict[str, np.ndarray] = {}
    aliases: dict[str, str] = {}
    first: dict[tuple[Any, ...], str] = {}
    for name, t in named.items():
        if not isinstance(name, str) or name == "__metadata__" or not _is_text(name):
            raise StateDictError(f"save_weights: {name!r} cannot be the name of a tensor")
        array = array_to_write(name, t)
        key = (array.ctypes.data, array.shape, array.strides, array.dtype)
        if array.size and key in first:
            aliases[name] = first[key]
        else:
            arrays[name] = array
            first[key] = name
    return arrays, aliases


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _checked_metadata(metadata: Mapping[str, str] | None, arrays: Mapping[str, Any]) -> dict[str, str]:
    given = {} if metadata is None else dict(metadata)
    for key, value in given.items():
        if not (isinstance(key, str) and isinstance(value, str) and _is_text(key) and _is_text(value)):
            raise ArgumentError(f"save_weights: metadata maps strings to strings, not {key!r} to {value!r}")
        if value in arrays:
            raise ValueRangeError(
                f"save_weights: the metadata {key!r} must not be the name of a tensor ({value!r}): it would mean an alias"
            )
    return {"format": "pt", **given}


def _remove_earlier(folder: str, stem: str, kept: set[str]) -> None:
    """Remove the files that an earlier call wrote under this name and that are no part of the present weights."""
    mine = re.compile(re.escape(stem) + r"(-\d{5}-of-\d{5})?\.safetensors(\.index\.json)?")
    for name in os.listdir(folder or "."):
        if mine.fullmatch(name) and name not in kept:
            remove(os.path.join(folder, name))
