"""Structures that native code shares with Python: those of a program's builtin functions, and those of CPython and NumPy objects.

Objects of CPython and NumPy are read at fixed offsets, which `python_layout` verifies against objects it makes. Where something differs
(another interpreter, a build without GIL, another NumPy) there are no builtin functions: calls go the longer way, through `ctypes`.
"""

from __future__ import annotations

import ctypes
import platform
import re
import sys
import sysconfig
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

Pointer, Word, Int = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
LLVM_TYPES: dict[Any, str] = {Pointer: "ptr", Word: "i64", Int: "i32"}


class Object(ctypes.Structure):
    """PyObject of CPython with the GIL."""

    _fields_ = (("references", Word), ("type", Pointer))


class Array(ctypes.Structure):
    """PyArrayObject of NumPy: `flags` holds C_CONTIGUOUS, ALIGNED, WRITEABLE, …"""

    _fields_ = (
        ("references", Word), ("type", Pointer), ("data", Pointer), ("ndim", Int), ("shape", Pointer), ("strides", Pointer),
        ("base", Pointer), ("descr", Pointer), ("flags", Int),
    )  # fmt: skip


class PythonLayout(ctypes.Structure):
    """Objects, functions and offsets that do not depend on the program.

    new_array:   PyArray_NewFromDescr;  new_tensor: tp_new of the class `tensor`;  empty: an empty tuple
    *_slot:      offsets of slots of a tensor (`base_slot`: of its alias record)
    alias:       the class of alias records;  leaf_node: that of backward nodes of leaves
    grad_mode:   a context variable, False where no gradients are wanted
    mode:        where a slot is that holds the object `zero` unless calls need care (a recording, …)
    """

    _fields_ = (
        ("ndarray", Pointer), ("list", Pointer), ("tuple", Pointer), ("none", Pointer), ("false", Pointer), ("empty", Pointer),
        ("new_array", Pointer), ("tensor", Pointer), ("new_tensor", Pointer), ("alias", Pointer), ("leaf_node", Pointer),
        ("grad_mode", Pointer), ("mode", Pointer), ("zero", Pointer),
        ("array_slot", Word), ("type_slot", Word), ("node_slot", Word), ("alias_slot", Word), ("base_slot", Word),
    )  # fmt: skip


class Buffer(ctypes.Structure):
    """What the array of a buffer must be, its entry in the table (-1: none), and the tensor type to wrap it with."""

    _fields_ = (("descr", Pointer), ("shape", Pointer), ("ndim", Int), ("flags", Int), ("slot", Word), ("type", Pointer))


class Leaf(ctypes.Structure):
    """One leaf of a call. kind: 0 argument `position`, 1 the bound tensor `object`, 2 argument `position` which must be `object`.
    gradient: 0 must not require grad, 1 must be a leaf that does, 2 either."""

    _fields_ = (("kind", Word), ("position", Word), ("object", Pointer), ("gradient", Word), ("buffer", Pointer))


class Copy(ctypes.Structure):
    """`size` bytes copied after the run, from the memory in table entry `source` to that in `target`."""

    _fields_ = (("source", Word), ("target", Word), ("size", Word))


class FrameRecord(ctypes.Structure):
    """A `runtime.entry.Frame` as native code sees it. held: arrays kept alive during a call; `object` is the Frame."""

    _fields_ = (
        ("next", Pointer), ("table", Pointer), ("context", Pointer), ("error", Pointer), ("object", Pointer), ("held", Pointer),
        ("held_count", Word), ("seen_arrays", Word), ("seen_tensors", Word), ("seen_gradients", Word),
    )  # fmt: skip


class Frames(ctypes.Structure):
    """The free frames of a program, a stack; `new_frame` is a Python function that makes one more and returns the address of its record."""

    _fields_ = (("top", Pointer), ("new_frame", Pointer))


class Watched(ctypes.Structure):
    """An array, and how many references there are to it while nothing new looks at its memory."""

    _fields_ = (("array", Pointer), ("references", Word))


class Entry(ctypes.Structure):
    """A program and how it is called.

    result:       0 the object `fixed`, 1 the only output, 2 a tuple of all
    array_count:  leaves that are arrays;  sizes: of these and of the outputs in bytes
    careful, explain: Python functions;  counter: where calls are counted
    kept:         where outputs are reused, a list of those of the last call;  stale: what a tensor then gets in place of its array
    watched:      arrays that only a careful call may write once something new looks at them
    """

    _fields_ = (
        ("python", Pointer), ("run", Pointer), ("frames", Pointer), ("careful", Pointer), ("explain", Pointer), ("counter", Pointer),
        ("leaves", Pointer), ("outputs", Pointer), ("copies", Pointer), ("sizes", Pointer), ("kept", Pointer), ("stale", Pointer),
        ("watched", Pointer), ("fixed", Pointer), ("leaf_count", Word), ("array_count", Word), ("argument_count", Word),
        ("output_count", Word), ("copy_count", Word), ("watched_count", Word), ("result", Word), ("releases_gil", Word),
    )  # fmt: skip


STRUCTURES: dict[str, Any] = {
    "Object": Object, "Array": Array, "Python": PythonLayout, "Buffer": Buffer, "Leaf": Leaf, "Copy": Copy, "Frame": FrameRecord,
    "Frames": Frames, "Watched": Watched, "Entry": Entry,
}  # fmt: skip
"""By their names in the native text."""

_GET = re.compile(r"^( *)(%[\w.]+) = get (\w+)\.(\w+) of (%[\w.]+)$", re.MULTILINE)
_PUT = re.compile(r"^( *)put (\w+)\.(\w+) of (%[\w.]+), (\S+)$", re.MULTILINE)


def _field(structure: str, name: str) -> tuple[int, str]:
    fields = STRUCTURES[structure]._fields_
    number = next(i for i, (n, _) in enumerate(fields) if n == name)
    return number, LLVM_TYPES[fields[number][1]]


def expand(text: str) -> str:
    """The LLVM text of `builtin_text`, with the types of the structures and with `get` and `put` written out."""

    def get(found: re.Match[str]) -> str:
        indent, result, structure, name, pointer = found.groups()
        number, kind = _field(structure, name)
        place = f"{indent}{result}.at_ = getelementptr inbounds %{structure}, ptr {pointer}, i64 0, i32 {number}"
        return f"{place}\n{indent}{result} = load {kind}, ptr {result}.at_"

    places = iter(range(len(text)))

    def put(found: re.Match[str]) -> str:
        indent, structure, name, pointer, value = found.groups()
        number, kind = _field(structure, name)
        place = f"%put{next(places)}"
        return (
            f"{indent}{place} = getelementptr inbounds %{structure}, ptr {pointer}, i64 0, i32 {number}\n"
            f"{indent}store {kind} {value}, ptr {place}"
        )

    types = (f"%{n} = type {{ {', '.join(LLVM_TYPES[t] for _, t in s._fields_)} }}" for n, s in STRUCTURES.items())
    return "\n".join((*types, _PUT.sub(put, _GET.sub(get, text))))


@dataclass(frozen=True)
class TensorClass:
    """The class of tensors, as native code needs to know it: its slots are `_array`, `_type`, `_node` and `_alias`, of which the last holds
    nothing, None, or an object of `alias` with the slot `base`. The slot `special` of the object `mode` is 0 unless calls need care."""

    tensor: type
    alias: type
    leaf_node: type
    grad_mode: ContextVar[bool]
    mode: object


class _Unlike(Exception):
    """Something is not laid out as native code takes it to be."""


def slot_offset(cls: type, name: str) -> int:
    """Where instances of `cls` hold their slot `name`: found by storing an object there and looking for its address."""
    instance: Any = object.__new__(cls)
    marker = object()
    setattr(instance, name, marker)
    for offset in range(ctypes.sizeof(Object), cls.__basicsize__, 8):
        if Word.from_address(id(instance) + offset).value == id(marker):
            return offset
    raise _Unlike(f"the slot {name} of {cls.__name__} was not found")


def _check_object() -> None:
    sample = object()
    head = Object.from_address(id(sample))
    more = [sample, sample]
    if head.type != id(object) or head.references != sys.getrefcount(sample) - 1:
        raise _Unlike("objects have another head")
    more.clear()


def _check_array() -> None:
    whole = np.zeros((4, 6), np.float32)
    part = whole[1:, ::2]
    for array in (whole, part, np.zeros(()), np.zeros((2, 0), np.int64)):
        seen = Array.from_address(id(array))
        shape = tuple(Word.from_address(seen.shape + 8 * i).value for i in range(array.ndim))
        strides = tuple(Word.from_address(seen.strides + 8 * i).value for i in range(array.ndim))
        same = (
            seen.type == id(np.ndarray) and seen.data == array.ctypes.data and seen.ndim == array.ndim and shape == array.shape
            and strides == array.strides and seen.base == (None if array.base is None else id(array.base)) and seen.descr == id(array.dtype)
            and seen.flags == array.flags.num
        )  # fmt: skip
        if not same:
            raise _Unlike("arrays have other fields")


C_API_NEW_FROM_DESCR = 94
"""Number of PyArray_NewFromDescr in NumPy's table of C functions, which is part of its ABI; number 2 is the type of arrays."""


def _array_function() -> int:
    """The address of PyArray_NewFromDescr, after a try."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    unpack = ctypes.pythonapi.PyCapsule_GetPointer
    unpack.restype, unpack.argtypes = Pointer, [ctypes.py_object, ctypes.c_char_p]
    table = unpack(_multiarray_umath._ARRAY_API, None)
    if Word.from_address(table + 8 * 2).value != id(np.ndarray):
        raise _Unlike("NumPy's table of C functions is another")
    address = Word.from_address(table + 8 * C_API_NEW_FROM_DESCR).value
    new_array = ctypes.PYFUNCTYPE(ctypes.py_object, Pointer, Pointer, Int, Pointer, Pointer, Pointer, Int, Pointer)(address)
    dtype, shape = np.dtype(np.float32), (Word * 2)(3, 5)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # the function takes a reference
    made = new_array(id(np.ndarray), id(dtype), 2, ctypes.addressof(shape), None, None, 0, None)
    if type(made) is not np.ndarray or made.dtype is not dtype or made.shape != (3, 5) or not made.flags.owndata:
        raise _Unlike("NumPy's function that makes arrays is another")
    return address


PY_TP_NEW = 65
"""Number of tp_new, from CPython's typeslots.h, part of its stable ABI."""


def _constructor(cls: type) -> int:
    """The address of the class's tp_new."""
    get = ctypes.pythonapi.PyType_GetSlot
    get.restype, get.argtypes = Pointer, [ctypes.py_object, ctypes.c_int]
    return int(get(cls, PY_TP_NEW))


def python_layout(tensors: TensorClass | None) -> tuple[PythonLayout, tuple[object, ...]] | str:
    """The layout of this process with the objects it points to, or why native code cannot read objects here."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(Pointer) != 8:
        return f"{platform.python_implementation()} of this kind"
    empty: tuple[object, ...] = ()
    ordinary = Pointer(id(0))
    layout = PythonLayout(id(np.ndarray), id(list), id(tuple), id(None), id(False), id(empty), mode=ctypes.addressof(ordinary), zero=id(0))
    try:
        _check_object()
        _check_array()
        layout.new_array = _array_function()
        if tensors is not None:
            layout.tensor, layout.new_tensor = id(tensors.tensor), _constructor(tensors.tensor)
            layout.alias, layout.leaf_node, layout.grad_mode = id(tensors.alias), id(tensors.leaf_node), id(tensors.grad_mode)
            for name in ("array", "type", "node", "alias"):
                setattr(layout, f"{name}_slot", slot_offset(tensors.tensor, f"_{name}"))
            layout.base_slot = slot_offset(tensors.alias, "base")
            layout.mode = id(tensors.mode) + slot_offset(type(tensors.mode), "special")
    except (_Unlike, ImportError, AttributeError) as difference:
        return str(difference)
    return layout, (empty, ordinary, tensors)
