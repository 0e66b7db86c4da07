"""`compile(reuse_outputs=True)`: outputs that live in memory of the program, which the next call overwrites."""

from __future__ import annotations

from sys import getrefcount
from typing import Any, NoReturn

import numpy as np

from twofold.compiler.executable import Executable
from twofold.support.errors import StaleOutput


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
    """The outputs of the last call of one program, for calls that its builtin function (which does the same) does not serve.

    `take` gives arrays for the next call. A tensor of the last call that somebody still has becomes stale, unless something else looks at
    its array (an argument of the next call, a view, NumPy, a value saved for backward): then the array is left to them, and a new one
    taken. Several threads may call: those that find no arrays take new ones.
    """

    def __init__(self, executable: Executable) -> None:
        self._stale = StaleArray(executable.name)
        self._new = executable.fresh_outputs
        self._last: list[tuple[list[Any], list[Any]]] = []

    def take(self) -> list[Any]:
        """An array for each output. What enters the call is to be held by the caller."""
        try:
            arrays, tensors = self._last.pop()
        except IndexError:
            return self._new()
        for k in range(len(arrays)):  # by number: a variable would be one more reference to what is counted
            if getrefcount(arrays[k]) > _ALONE + 1 or tensors[k]._array is not arrays[k]:
                arrays[k] = np.empty_like(arrays[k])
            elif getrefcount(tensors[k]) > _ALONE:
                tensors[k]._array = self._stale
        return arrays

    def keep(self, arrays: list[Any], tensors: list[Any]) -> None:
        """Remember the arrays of a call, and the tensors around them."""
        self._last = [(arrays, tensors)]


def _references() -> int:
    """What `getrefcount` says of something that only a list refers to."""
    held = [object()]
    return getrefcount(held[0])


_ALONE = _references()
