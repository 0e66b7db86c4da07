"""Executable: a compiled graph, called on NumPy arrays.

One native call runs all of it. Each call takes a frame (pointer table and arena) from a free list, so several threads may run one program.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.compiler.assemble import Assembly, BufferInfo, Launch
from twofold.compiler.host import HostRunner
from twofold.compiler.options import CompileOptions
from twofold.ir.graph import Value
from twofold.ir.interpreter import describe
from twofold.ir.types import TensorType, type_of
from twofold.runtime.builtin import ARGUMENT, RESULT_TUPLE, BufferSpec, LeafSpec, Native, Signature, make_call
from twofold.runtime.codegen import NativeCode
from twofold.runtime.entry import Frame
from twofold.runtime.target import Target, why_not_here
from twofold.support.errors import ArgumentError, DTypeError, IndexOutOfRange, OutOfMemory, ShapeError

NS_PER_BYTE, NS_PER_OPERATION = 0.1, 0.3
LONG_NS = 20_000
"""A run that takes longer by this estimate gives up the GIL, which costs some 50 ns: other Python threads then run meanwhile."""


class Executable:
    """A compiled graph.

    run:       arrays in the order of the graph's inputs → a tuple with an entry for each output
    run_into:  the same, into given arrays
    """

    def __init__(self, assembly: Assembly, code: NativeCode, target: Target, options: CompileOptions) -> None:
        self.assembly, self.code, self.target, self.options = assembly, code, target, options
        graph = assembly.graph
        self.name = graph.name
        self.inputs: list[BufferInfo] = [assembly.buffers[v.name] for v in graph.inputs if isinstance(v.type, TensorType)]
        self.results: list[Any] = []
        self.outputs: list[BufferInfo] = []
        for v in graph.outputs:
            if type(v) is Value and isinstance(v.type, TensorType):
                info = assembly.buffers[root_of(assembly, v).name]
                self.results.append(len(self.outputs))
                self.outputs.append(info)
            else:
                self.results.append((v,))
        self._shapes = [(b.type.shape, b.type.dtype.numpy) for b in self.outputs]
        self._frames: deque[Frame] = deque()
        self._constants = [b for b in assembly.buffers.values() if b.kind == "constant"]
        self._check_memory()

    def _check_memory(self) -> None:
        limit, need = self.options.memory_limit, self.assembly.memory.peak
        if limit is not None and need > limit:
            raise OutOfMemory(
                f"{self.name}: the temporaries of this program take {need} bytes at their peak, memory_limit is {limit}; the largest: "
                + ", ".join(f"{b.name} ({b.nbytes} bytes)" for b in sorted(self.assembly.memory.blocks, key=lambda b: -b.nbytes)[:3])
            )

    # --- frames

    def new_frame(self, code: NativeCode | None = None, host: Callable[[int, Any], None] | None = None) -> Frame:
        """Memory for one run at a time. `instrument.py` gives another `run` and another function for host steps than the program's."""
        a = self.assembly
        arena = {}
        for name, offset in a.memory.offsets.items():
            arena[a.scratch_slots[name] if name in a.scratch_slots else a.buffers[name].slot] = offset
        if host is None and a.hosts:
            host = HostRunner(a.hosts, a.buffers, lambda v: root_of(a, v).name).run
        fixed = {b.slot: b.array.ctypes.data for b in self._constants}
        return Frame(code or self.code, self.target, a.slots, a.memory.peak, arena, fixed, host)

    # --- the native entry

    def native(self, leaves: int, new_frame: Callable[[], Frame] | None = None) -> Native:
        """The program as its builtin functions need it, which take at most so many leaves. `new_frame`, if given, makes frames that have
        more in their tables."""
        assembly = self.assembly

        def explain(frame: Frame, status: int) -> None:
            if status:
                frame.raise_stopped(status)
            raise fault(assembly, frame.error)

        return Native(self.name, self.code, new_frame or self.new_frame, leaves + len(self.outputs), explain, self._is_long())

    def function(self) -> Callable[..., tuple[Any, ...]]:
        """`run` as a builtin function; `run` itself serves what is out of the ordinary, runs that are verified, and programs for other
        machines. (The executable does not keep it: there would be a cycle.)"""
        in_order = self.results == list(range(len(self.outputs)))
        if not in_order or self.options.verify or why_not_here(self.target):
            return self.run
        leaves = [LeafSpec(ARGUMENT, k, buffer=self.buffer_spec(b)) for k, b in enumerate(self.inputs)]
        signature = Signature(leaves, [self.buffer_spec(b) for b in self.outputs], len(leaves))
        return make_call(self.native(len(leaves)), signature, self.run, result=RESULT_TUPLE) or self.run

    def _is_long(self) -> bool:
        """Whether a run is worth giving up the GIL for. What is not known (templates, host steps, loops) counts as long."""
        estimate = 0.0
        for action in self.assembly.actions:
            if not isinstance(action, Launch) or action.spec is None:
                return True
            spec = action.spec
            estimate += NS_PER_BYTE * (spec.bytes_read + spec.bytes_written) + NS_PER_OPERATION * spec.operations
        return estimate > LONG_NS

    @staticmethod
    def buffer_spec(info: BufferInfo, written: bool = False) -> BufferSpec:
        """What an array for this input or output must be; `written`: also for an input."""
        return BufferSpec(info.type.dtype.numpy, info.type.shape, info.slot, info.type, written or info.kind == "output")

    # --- running

    def call(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Run on dense arrays of the right types into such arrays; nothing is checked here. Raises IndexOutOfRange for a bad index in the
        data, naming the operation and the user's line."""
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self.new_frame()
        try:
            pointers = {b.slot: x.ctypes.data for b, x in zip(self.inputs, inputs, strict=True)}
            pointers.update((b.slot, x.ctypes.data) for b, x in zip(self.outputs, outputs, strict=True))
            error = frame.call(pointers)
        finally:
            self._frames.append(frame)
        if error:
            raise fault(self.assembly, error)

    def fresh_outputs(self) -> list[np.ndarray]:
        """New arrays for the outputs."""
        return [np.empty(shape, dtype) for shape, dtype in self._shapes]

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """The outputs for these arrays: a tuple of arrays (and of the numbers among the outputs)."""
        outputs = self.fresh_outputs()
        self.call([self.prepared(a, b) for a, b in self._paired(arrays)], outputs)
        return tuple(outputs[r] if type(r) is int else r[0] for r in self.results)

    def run_into(self, outputs: Sequence[Any], *arrays: Any) -> None:
        """Run into the arrays `outputs`: C-contiguous, writeable, sharing no memory with an input or with each other."""
        if len(outputs) != len(self.outputs):
            raise ArgumentError(
                f"{self.name} has {len(self.outputs)} outputs ({', '.join(b.name for b in self.outputs)}), {len(outputs)} arrays were given"
            )
        for array, b in zip(outputs, self.outputs, strict=True):
            _check_output(self.name, array, b)
        prepared = [self.prepared(a, b) for a, b in self._paired(arrays)]
        for k, array in enumerate(outputs):
            for other, name in [
                *zip(arrays, (b.name for b in self.inputs), strict=True),
                *zip(outputs[:k], (b.name for b in self.outputs), strict=False),
            ]:
                if np.may_share_memory(array, other) and np.shares_memory(array, other):
                    raise ArgumentError(
                        f"{self.name}: output {self.outputs[k].name} shares memory with {name}: outputs must be memory of their own"
                    )
        self.call(prepared, outputs)

    def _paired(self, arrays: Sequence[Any]) -> list[tuple[Any, BufferInfo]]:
        if len(arrays) != len(self.inputs):
            raise ArgumentError(
                f"{self.name} takes {len(self.inputs)} inputs ({', '.join(b.name for b in self.inputs)}), {len(arrays)} were given"
            )
        return list(zip(arrays, self.inputs, strict=True))

    def prepared(self, array: Any, b: BufferInfo) -> np.ndarray:
        """The array as the program takes it: checked, and copied where it is not dense in C order."""
        if not isinstance(array, np.ndarray):
            array = np.asarray(array, None if hasattr(array, "dtype") else b.type.dtype.numpy)
        got = type_of(array)
        if got.dtype is not b.type.dtype:
            raise DTypeError(f"{self.name}: input {b.name} is {b.type}, the array is {got}")
        if got.shape != b.type.shape:
            raise ShapeError(f"{self.name}: input {b.name} is {b.type}, the array is {got}")
        return np.require(array, requirements=("C", "A"))


def _check_output(program: str, array: Any, b: BufferInfo) -> None:
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"{program}: output {b.name} must be a NumPy array, not {type(array).__name__}")
    got = type_of(array)
    if got.dtype is not b.type.dtype:
        raise DTypeError(f"{program}: output {b.name} is {b.type}, the array is {got}")
    if got.shape != b.type.shape:
        raise ShapeError(f"{program}: output {b.name} is {b.type}, the array is {got}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ArgumentError(f"{program}: output {b.name} must be an aligned array in C order (strides {array.strides} are not)")
    if not array.flags.writeable:
        raise ArgumentError(f"{program}: output {b.name} is read-only")


def root_of(assembly: Assembly, v: Value) -> Value:
    """The value whose buffer holds `v`."""
    while v in assembly.root:
        v = assembly.root[v]
    return v


def fault(assembly: Assembly, number: int) -> IndexOutOfRange:
    """The error a kernel reported."""
    node, what = assembly.sites[number]
    error = IndexOutOfRange(what)
    error.add_note(describe(node))
    return error
