"""`compile(reuse_outputs=True)`: outputs that live in memory of the program, which the next call overwrites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any, NoReturn

import numpy as np

from twofold.compiler.executable import Executable
from twofold.ir.types import TensorType
from twofold.support.errors import StaleOutput
from twofold.tensors.core import Tensor, wrap_typed


class StaleArray:
    """Stands in a tensor for the array that a later call has overwritten. Whatever is done with it raises StaleOutput."""

    __slots__ = ("_program",)

    def __init__(self, program: str) -> None:
        self._program = program

    def __repr__(self) -> str:
        return f"<output of an earlier call of {self._program}>"

    def __getattr__(self, name: str) -> NoReturn:
        self._raise()

    def _raise(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise StaleOutput(
            f"the tensor is an output of an earlier call of {self._program}, which was compiled with reuse_outputs=True: a later call took "
            "its memory. clone() it before the next call, or compile without reuse_outputs"
        )


_OPERATORS = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or",
)  # fmt: skip
_OTHERS = (
    "array", "array_ufunc", "array_function", "array_wrap", "dlpack", "copy", "deepcopy", "reduce", "reduce_ex", "len", "iter", "contains",
    "getitem", "setitem", "delitem", "bool", "int", "float", "complex", "index", "neg", "pos", "abs", "invert", "round", "eq", "ne", "lt",
    "le", "gt", "ge", "hash", "format", "buffer",
)  # fmt: skip
for _name in (*(p + n for n in _OPERATORS for p in ("", "r", "i")), *_OTHERS):
    setattr(StaleArray, f"__{_name}__", StaleArray._raise)


class OutputBuffers:
    """The outputs of the last call of one program.

    `take` gives arrays for the next call. A tensor of the last call that somebody still has becomes stale. But an array that something else
    looks at (a view, NumPy, a value saved for backward), or that is an argument of the next call, is left to it, and a new one taken.
    Several threads may call: those that find no arrays take new ones.
    """

    def __init__(self, executable: Executable) -> None:
        self._name = executable.name
        self._new = executable.fresh_outputs
        self._last: list[tuple[list[Any], list[Any]]] = []

    def take(self, arguments: Sequence[Any]) -> list[Any]:
        """An array for each output."""
        try:
            arrays, tensors = self._last.pop()
        except IndexError:
            return self._new()
        given = {*map(id, arguments)}
        for k in range(len(arrays)):  # by number: a variable would be one more reference to what is counted
            is_argument = False
            if tensors:
                is_argument = id(tensors[k]) in given
                if not is_argument and getrefcount(tensors[k]) > _ALONE:
                    tensors[k]._array = StaleArray(self._name)
                tensors[k] = None
            if is_argument or getrefcount(arrays[k]) > _ALONE:
                arrays[k] = np.empty_like(arrays[k])
        return arrays

    def keep(self, arrays: list[Any], tensors: list[Any]) -> None:
        """Remember the outputs of a call: arrays, and the tensors around them, if such were returned."""
        self._last = [(arrays, tensors)]


def _references() -> int:
    """What `getrefcount` says of something that only a list refers to."""
    held = [object()]
    return getrefcount(held[0])


_ALONE = _references()


class ReusingCall:
    """An ordinary call of a program that reuses its outputs: checked and run by the builtin function `into`, which returns NotImplemented
    for calls that are out of the ordinary; they go to `careful`."""

    __slots__ = ("_buffers", "_careful", "_into", "_single", "_types")

    def __init__(
        self, buffers: OutputBuffers, into: Callable[..., Any], careful: Callable[..., Any], types: Sequence[TensorType], single: bool
    ) -> None:
        self._buffers, self._into, self._careful, self._types, self._single = buffers, into, careful, tuple(types), single

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return self._careful(*args, **kwargs)
        arrays = self._buffers.take(args)
        if self._into(arrays, *args) is not None:
            return self._careful(*args)
        kinds = {*map(type, args)}
        as_arrays = np.ndarray in kinds and Tensor not in kinds
        tensors: list[Any] = [] if as_arrays else list(map(wrap_typed, arrays, self._types))
        self._buffers.keep(arrays, tensors)
        results = arrays if as_arrays else tensors
        return results[0] if self._single else tuple(results)


def not_ordinary(*args: Any, **kwargs: Any) -> Any:
    """What the builtin function of a `ReusingCall` hands calls to that it does not serve."""
    return NotImplemented
