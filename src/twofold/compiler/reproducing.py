"""Stand-alone scripts that show a fault: the graph as text, the inputs, the options; they exit with 1 while the fault is there."""

from __future__ import annotations

import base64
import io
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twofold.compiler.faults import Fault, fault_of
from twofold.ir.dtypes import BY_SHORT
from twofold.ir.graph import Graph
from twofold.ir.parser import parse_graph
from twofold.ir.printer import elements, print_graph
from twofold.ir.types import TensorType, type_of
from twofold.runtime.target import Target
from twofold.support.errors import ArgumentError, FileError, ParseError

SHORT = 64
"""Arrays of at most so many elements are written as numbers, others as compressed bytes."""
MAX_BYTES = 1 << 30

TEMPLATE = '''"""{title}

Run it: it exits with 1 while the fault is there, with 0 once it is mended.
"""

import sys

from twofold.compiler.reproducing import run_script
{predicate}{preamble}
GRAPH = r"""
{graph}"""
INPUTS = [
{inputs}
]
OPTIONS = {options}
KIND = {kind!r}

if __name__ == "__main__":
    sys.exit(run_script(GRAPH, INPUTS, OPTIONS, KIND{argument}))
'''


def write_script(
    path: str | os.PathLike[str], graph: Graph, arrays: Sequence[Any], fault: Fault, options: Mapping[str, Any], preamble: str = "",
    predicate: tuple[str, str] | None = None,
) -> Path:  # fmt: skip
    """Write a script that shows `fault`.

    preamble:  Python that runs first
    predicate: module and name of a function that says whether the fault is there; without it the graph is compiled and verified
    Raises FileError if the file cannot be written.
    """
    if '"""' in (text := print_graph(graph)):
        raise ArgumentError('the text of the graph holds """, which a script cannot')
    title = fault.text.split("\n")[0].replace('"""', "'''").replace("\\", "/")
    inputs = "\n".join(f"    {encoded(a)!r},  # {v.name}" for v, a in zip(graph.inputs, arrays, strict=True))
    first = f"\n{preamble.strip()}\n" if preamble else ""
    imported = f"from {predicate[0]} import {predicate[1]} as fails\n" if predicate else ""
    shown = {k: v.name if isinstance(v, Target) else v for k, v in options.items()}
    script = TEMPLATE.format(
        title=title, predicate=imported, preamble=first, graph=text, inputs=inputs, options=shown, kind=fault.kind,
        argument=", fails" if predicate else "",
    )  # fmt: skip
    try:
        Path(path).write_text(script, encoding="utf-8")
    except OSError as e:
        raise FileError(f"the script cannot be written to {os.fspath(path)}: {e.strerror}") from e
    return Path(path)


def encoded(array: Any) -> str:
    """An array as text: `f32[2]{1.0, 2.0}`, or `f32[100] base64 …` (zlib)."""
    array = np.array(array, order="C")
    t = type_of(array)
    text = elements(array) if array.size <= SHORT else None
    if text is not None:
        return f"{t}{{{text}}}"
    return f"{t} base64 {base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()}"


def decoded(text: str) -> np.ndarray:
    """The array of such a text; ParseError if it is malformed."""
    head, numbers, data = text.partition("{")
    if not numbers:
        head, _, data = text.partition(" base64 ")
    short, _, sizes = head.partition("[")
    try:
        dtype = BY_SHORT[short].numpy
        shape = tuple(int(n) for n in sizes.rstrip("]").split(",") if n.strip())
        if numbers:
            words = [w.strip() for w in data.rstrip("}").split(",") if w.strip()]
            flat = np.array([_number(w, dtype) for w in words]).astype(dtype)
        else:
            count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            if count > MAX_BYTES:
                raise ValueError("too large")
            flat = np.frombuffer(zlib.decompressobj().decompress(base64.b64decode(data), count), dtype).copy()
        return flat.reshape(shape)
    except (KeyError, ValueError, zlib.error) as e:
        raise ParseError(f"{text[:60]!r} is not an array as text: {e}") from e


def _number(word: str, dtype: np.dtype) -> Any:
    if dtype.kind == "b":
        return word == "True"
    return int(word) if dtype.kind in "iu" else float(word)


def run_script(
    graph: str, inputs: Sequence[str], options: Mapping[str, Any], kind: str, fails: Callable[[Graph, Sequence[Any]], bool] | None = None
) -> int:
    """What a script does: 1, and the fault on standard output, if the graph has a fault; 0 if it has none."""
    parsed, arrays = parse_graph(graph.strip()), [decoded(text) for text in inputs]
    if fails is None:
        fault = fault_of(parsed, arrays, **options)
    else:
        fault = Fault(kind, f"{fails.__name__} is true") if fails(parsed, arrays) else None
    if fault is None:
        print("no fault: compiled and interpreted agree" if fails is None else f"no fault: {fails.__name__} is false")
        return 0
    other = "" if fault.kind == kind else f" (another one than when this was written: {kind})"
    print(f"fault{other}: {fault.text}")
    return 1


def load_inputs(path: str | os.PathLike[str], graph: Graph) -> list[np.ndarray]:
    """The arrays of an .npz file for a graph's inputs, by name. FileError or ArgumentError where they do not fit."""
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError) as e:
        raise FileError(f"{os.fspath(path)} cannot be read as an .npz file: {e}") from e
    missing = [v.name for v in graph.inputs if v.name not in arrays]
    if missing:
        raise ArgumentError(f"{os.fspath(path)} has no array for {', '.join(missing)}")
    result = []
    for v in graph.inputs:
        assert isinstance(v.type, TensorType)
        result.append(arrays[v.name].astype(v.type.dtype.numpy))
    return result


__all__ = ["decoded", "encoded", "load_inputs", "run_script", "write_script"]
