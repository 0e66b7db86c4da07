"""Builtin functions around native programs: one call from Python, checked and run by native code.

Such a function takes arrays (or tensors, if a `TensorClass` is given) of exactly the expected types, enters their memory into the pointer
table of a free frame, and calls the program. Whatever it does not expect (another type, shape or layout, something that requires grad,
wrong arguments) it hands, unchanged, to the Python function `careful`, which serves the call or raises the right error.

The native side is the same for all programs (`builtin_text`), so it is compiled once and then found in the object cache.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.runtime import counters
from twofold.runtime.builtin_functions import CALL, INTO
from twofold.runtime.builtin_layout import (
    Buffer,
    Copy,
    Entry,
    FrameRecord,
    Frames,
    Leaf,
    Pointer,
    PythonLayout,
    TensorClass,
    Watched,
    Word,
    expand,
    python_layout,
)  # fmt: skip
from twofold.runtime.builtin_text import TEXT
from twofold.runtime.codegen import NativeCode, build
from twofold.runtime.entry import Frame
from twofold.runtime.target import named_target
from twofold.support.logs import artifact_log

__all__ = ["ARGUMENT", "BOUND", "CONSTANT", "BufferSpec", "LeafSpec", "Native", "Signature", "TensorClass", "make_call", "make_into"]

ARGUMENT, BOUND, CONSTANT = 0, 1, 2
"""Kinds of leaves."""
PLAIN, LEAF, EITHER = 0, 1, 2
"""What a tensor must be: without history; a leaf that requires grad; either."""
RESULT_FIXED, RESULT_ONE, RESULT_TUPLE = 0, 1, 2

C_ORDER, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""NumPy's NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE."""
METH_FASTCALL, METH_KEYWORDS = 0x80, 0x2
LOG = artifact_log("code")


@dataclass(frozen=True)
class BufferSpec:
    """An array as the program needs it: dense, in C order. `slot`: its entry in the pointer table, None if it is only checked. `type`: what
    tensors around it have as `_type`."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    slot: int | None
    type: object = None
    written: bool = False

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


@dataclass(frozen=True)
class LeafSpec:
    """One leaf of a call.

    ARGUMENT: the argument `position`, an array or a tensor that fits `buffer`;  BOUND: the tensor `object`, whose array fits `buffer`;
    CONSTANT: the argument `position`, which is the object `object`.  gradient: PLAIN, LEAF or EITHER.
    """

    kind: int
    position: int = 0
    object: Any = None
    gradient: int = PLAIN
    buffer: BufferSpec | None = None


class Native:
    """A program as its builtin functions, which share its frames, need it.

    code:          what is run;  new_frame: makes the memory of one run
    arrays:        the most arrays of one call, inputs and outputs together
    explain:       called with the frame of a run that failed and the status that `run` returned: raises what happened
    is_long:       whether the GIL is given up for a run: worth it from some microseconds on
    """

    def __init__(
        self, name: str, code: NativeCode, new_frame: Callable[[], Frame], arrays: int, explain: Callable[[Frame, int], None], is_long: bool
    ) -> None:
        self.name, self.code, self.arrays, self.explain, self.is_long = name, code, arrays, explain, is_long
        self._made: list[tuple[Frame, FrameRecord, Any]] = []
        made = self._made

        def new_record() -> int:
            """Called by native code when no frame is free: the address of a new frame's record. The frame is kept."""
            frame = new_frame()
            held = (Pointer * max(arrays, 1))()
            table, context, error = frame.addresses
            record = FrameRecord(None, table, context, error, id(frame), ctypes.addressof(held))
            made.append((frame, record, held))
            return ctypes.addressof(record)

        self._new_record = new_record
        self.frames = Frames(None, id(new_record))

    @property
    def frame_count(self) -> int:
        """How many frames there are: as many as calls were under way at once."""
        return len(self._made)


@functools.cache
def _layout(tensors: TensorClass | None) -> tuple[PythonLayout, tuple[object, ...]] | None:
    found = python_layout(tensors)
    if isinstance(found, str):
        if LOG.enabled:
            LOG.info(f"programs have no builtin functions and are called through ctypes: {found}")
        return None
    return found


@functools.cache
def _native_side() -> NativeCode:
    """One for programs of all targets."""
    return build(expand(TEXT + CALL + INTO), named_target("x86-64"), "the entry of programs", level=0)


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("function", Pointer), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


_new_function = ctypes.PYFUNCTYPE(ctypes.py_object, Pointer, ctypes.py_object, Pointer)(("PyCFunction_NewEx", ctypes.pythonapi))


class _Structures:
    """Fills structures, and keeps alive all that they point to."""

    def __init__(self) -> None:
        self.kept: list[object] = []

    def address(self, structure: Any) -> int:
        self.kept.append(structure)
        return ctypes.addressof(structure)

    def object(self, x: Any) -> int:
        self.kept.append(x)
        return id(x)

    def buffer(self, spec: BufferSpec) -> Buffer:
        shape = (Word * max(len(spec.shape), 1))(*spec.shape)
        flags = C_ORDER | ALIGNED | (WRITEABLE if spec.written else 0)
        slot = -1 if spec.slot is None else spec.slot
        return Buffer(self.object(spec.dtype), self.address(shape), len(spec.shape), flags, slot, self.object(spec.type))

    def leaf(self, spec: LeafSpec) -> Leaf:
        buffer = None if spec.buffer is None else self.address(self.buffer(spec.buffer))
        return Leaf(spec.kind, spec.position, self.object(spec.object), spec.gradient, buffer)

    def array_of(self, structure: Any, items: Sequence[Any]) -> int:
        return self.address((structure * max(len(items), 1))(*items))


@dataclass(frozen=True)
class Signature:
    """What is given by a call with so many positional `arguments`, checked leaf by leaf, and what results are; `tensors`: None if only
    arrays are known."""

    leaves: Sequence[LeafSpec]
    outputs: Sequence[BufferSpec]
    arguments: int
    tensors: TensorClass | None = None


def _make(
    function: str, native: Native, signature: Signature, careful: Callable[..., Any], name: str, doc: str, *, result: int = RESULT_FIXED,
    copies: Sequence[tuple[int, int, int]] = (), stale: object = None, fixed: object = None, watched: Sequence[np.ndarray] = (),
) -> Callable[..., Any] | None:  # fmt: skip
    layout = _layout(signature.tensors)
    if layout is None:
        return None
    code = _native_side()
    fill = _Structures()
    leaves, outputs = signature.leaves, signature.outputs
    buffers = [leaf.buffer for leaf in leaves if leaf.buffer is not None]
    assert len(buffers) + len(outputs) <= native.arrays
    entry = Entry(
        python=fill.address(layout[0]),
        run=native.code.address("run"),
        frames=ctypes.addressof(native.frames),
        careful=fill.object(careful),
        explain=fill.object(native.explain),
        counter=counters.NATIVE_CALLS.address,
        leaves=fill.array_of(Leaf, [fill.leaf(x) for x in leaves]),
        outputs=fill.array_of(Buffer, [fill.buffer(x) for x in outputs]),
        copies=fill.array_of(Copy, [Copy(*c) for c in copies]),
        sizes=fill.array_of(Word, [x.nbytes for x in (*buffers, *outputs)]),
        kept=None if stale is None else fill.object([None] * (2 * len(outputs))),
        stale=fill.object(stale),
        watched=fill.array_of(Watched, [Watched(a, Word.from_address(a).value) for a in map(id, watched)]),
        fixed=fill.object(fixed),
        leaf_count=len(leaves),
        array_count=len(buffers),
        argument_count=signature.arguments,
        output_count=len(outputs),
        copy_count=len(copies),
        watched_count=len(watched),
        result=result,
        releases_gil=native.is_long,
    )
    state = np.frombuffer(bytearray(entry), np.uint8)
    definition = _MethodDef(name.encode(), code.address(function), METH_FASTCALL | METH_KEYWORDS, doc.encode())
    owner = (state, definition, native, code, tuple(fill.kept), layout)
    return _new_function(ctypes.addressof(definition), owner, None)


def make_call(
    native: Native, signature: Signature, careful: Callable[..., Any], *, result: int, copies: Sequence[tuple[int, int, int]] = (),
    stale: object = None, fixed: object = None, watched: Sequence[np.ndarray] = (),
) -> Callable[..., Any] | None:  # fmt: skip
    """`f(*leaves)`: returns arrays; tensors around them unless all tensors among the arguments were given as arrays.

    result:  RESULT_ONE, RESULT_TUPLE, or RESULT_FIXED: the object `fixed`, whatever the outputs
    copies:  (slot, slot of a written leaf, bytes): copied after the run
    stale:   if given, the arrays of the last call are written again, except those that something else looks at. A tensor of the last call
             that somebody still has gets `stale` in place of its array
    watched: arrays that the program writes, in the caller's keeping: once they have more references than now, calls go to `careful`
    The result is None where this process allows no builtin functions (a log of the artifact "code" says why).
    """
    return _make(
        "call", native, signature, careful, native.name, "", result=result, copies=copies, stale=stale, fixed=fixed, watched=watched
    )


def make_into(
    native: Native, signature: Signature, careful: Callable[..., Any], name: str = "run_into", doc: str = ""
) -> Callable[..., Any] | None:
    """`f(outputs, *leaves)`: writes into the arrays (or tensors) of the list or tuple `outputs`, which share memory with nothing else.
    `doc` begins with the signature of `name` and a line `--`, as CPython has it."""
    return _make("into", native, signature, careful, name, doc)
