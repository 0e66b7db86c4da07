"""What all templates share: kernel functions, elements in memory as register values, chunks.

A template is made from a node and writes the kernels of one operation. It is a frozen dataclass whose fields are what its code depends on
(dtypes, sizes): equal templates share their code. The values it reads and writes are no part of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from twofold.compiler.emit import KernelCode
from twofold.compiler.emit_functions import Functions, bf16_bits, bf16_value, f16_bits, f16_value
from twofold.compiler.llvm import REGISTERS, Function, Module, Operand, Val, number, vector
from twofold.compiler.spec import Buffer
from twofold.ir.dtypes import DType
from twofold.ir.graph import Node, Value
from twofold.ir.types import TensorType
from twofold.runtime.target import Target

CHUNK_NS = 20_000.0
"""A chunk does at least this much estimated work."""
MAX_CHUNKS = 64


class Template(Protocol):
    """The kernels of one node. `emit` writes them into a module under names that begin with `name`."""

    @property
    def inputs(self) -> tuple[Value, ...]: ...
    @property
    def outputs(self) -> tuple[Value, ...]: ...
    def emit(self, module: Module, name: str, target: Target) -> KernelCode: ...


Maker = Callable[[Node], Template | None]
"""Makes the template of a node; None where the operation runs on the host (an unusual combination of dtypes, …)."""


@dataclass(frozen=True)
class Operands:
    """The values a template reads and writes, in the order of its kernels' arguments. All are equal: no code depends on them."""

    inputs: tuple[Value, ...] = field(compare=False)
    outputs: tuple[Value, ...] = field(compare=False)


def operands_of(node: Node) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The fields of `Operands`: what a node reads and writes."""
    return tuple(node.operands()), tuple(node.outputs)


def plain_types(node: Node) -> bool:
    """Whether all operands and results are tensors of known shape on the CPU."""
    types = [v.type for v in (*node.operands(), *node.outputs)]
    return all(type(t) is TensorType and t.is_static and t.device == "cpu" for t in types)


def tensor_of(v: Value) -> TensorType:
    """The tensor type of a value."""
    assert isinstance(v.type, TensorType)
    return v.type


@dataclass(frozen=True)
class Rows:
    """A tensor seen along one dimension: `outer` × `size` × `inner` elements in C order. A 0-d tensor is one row of one element."""

    outer: int
    size: int
    inner: int

    @classmethod
    def of(cls, shape: Sequence[int], dim: int) -> Rows:
        if not shape:
            return cls(1, 1, 1)
        return cls(math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :]))

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.outer * self.inner

    @property
    def numel(self) -> int:
        return self.outer * self.size * self.inner


@dataclass(frozen=True)
class Chunks:
    """`count` chunks of `each` items (the last may have fewer) of `items`."""

    count: int
    each: int
    items: int

    @classmethod
    def of(cls, items: int, ns_each: float, unit: int = 1) -> Chunks:
        """Chunks of whole units of items, none of much less work than CHUNK_NS."""
        units = math.ceil(items / unit)
        count = max(1, min(int(items * ns_each / CHUNK_NS), MAX_CHUNKS, units))
        each = max(1, math.ceil(units / count)) * unit
        return cls(math.ceil(items / each), each, items)


class Kernel:
    """A kernel function under construction: its function `f`, its arguments, and reading and writing of elements."""

    def __init__(self, module: Module, name: str, target: Target) -> None:
        width = f' "prefer-vector-width"="{8 * target.vector_bytes}"'
        self.f: Function = module.function(name, [("ptr", "args"), ("i64", "chunk")], "void", 'nounwind "no-trapping-math"="true"' + width)
        self.target, self.name = target, name
        self.args, self.chunk = self.f.parameters
        self.functions = Functions(self.f, target, False)

    def argument(self, position: int) -> Val:
        """The pointer at a position: 0 is the error word, buffers follow."""
        return self.f.load("ptr", self.f.gep(self.args, position, "ptr"), 8)

    def smin(self, a: Operand, b: Operand) -> Val:
        """The lesser of two i64."""
        return self.f.intrinsic("llvm.smin", "i64", self.f.of(a, "i64"), self.f.of(b, "i64"))

    def range_of(self, chunks: Chunks) -> tuple[Val, Val]:
        """First and end of this chunk's items."""
        if chunks.count == 1:
            return number("i64", 0), number("i64", chunks.items)
        low = self.f.mul(self.chunk, chunks.each)
        return low, self.smin(self.f.add(low, chunks.each), chunks.items)

    @contextmanager
    def items(self, chunks: Chunks) -> Iterator[Val]:
        """A loop over this chunk's items."""
        low, high = self.range_of(chunks)
        with self.f.loop(low, high) as i:
            yield i

    # --- elements

    def load(self, pointer: Val, at: Operand, dtype: DType, lanes: int = 1) -> Val:
        """`lanes` neighbouring elements from position `at`, as register values."""
        type = memory_type(dtype)
        return self.value_of(self.f.load(vector(type, lanes), self.f.gep(pointer, at, type), dtype.itemsize), dtype)

    def store(self, x: Val, pointer: Val, at: Operand, dtype: DType) -> None:
        """Register values to neighbouring elements from position `at`; 16-bit floats are rounded to nearest even."""
        self.store_bits(self.bits_of(x, dtype), pointer, at, dtype)

    def bits_at(self, pointer: Val, at: Operand, dtype: DType) -> Val:
        """One element as it is stored."""
        type = memory_type(dtype)
        return self.f.load(type, self.f.gep(pointer, at, type), dtype.itemsize)

    def store_bits(self, x: Val, pointer: Val, at: Operand, dtype: DType) -> None:
        """What `bits_of` or `bits_at` gave."""
        self.f.store(x, self.f.gep(pointer, at, memory_type(dtype)), dtype.itemsize)

    def value_of(self, x: Val, dtype: DType) -> Val:
        """What was loaded as a register value."""
        if dtype.short == "bool":
            return self.f.icmp("ne", x, 0)
        if dtype.short == "bf16":
            return bf16_value(self.f, x)
        return f16_value(self.f, x, self.target) if dtype.short == "f16" else x

    def bits_of(self, x: Val, dtype: DType) -> Val:
        """A register value as it is stored."""
        if dtype.short == "bool":
            return self.f.convert("zext", x, "i8")
        if dtype.short == "bf16":
            return bf16_bits(self.f, x)
        return f16_bits(self.f, x, self.target) if dtype.short == "f16" else x

    def cast(self, x: Val, old: str, new: str) -> Val:
        """NumPy's astype between register types."""
        return x if old == new else self.functions.cast(x, old, new)

    def joined(self, values: Sequence[Val]) -> Val:
        """Scalars as lanes of a vector."""
        type = vector(values[0].type, len(values))
        result = Val(type, "poison")
        for i, x in enumerate(values):
            result = self.f.let(type, f"insertelement {type} {result}, {x.type} {x}, i64 {i}")
        return result

    def parted(self, x: Val) -> list[Val]:
        """The lanes of a vector."""
        return [self.f.let(x.element, f"extractelement {x.type} {x}, i64 {i}") for i in range(x.lanes)]


def memory_type(dtype: DType) -> str:
    """LLVM's type of elements in memory; 16-bit floats are their bits."""
    return {"bool": "i8", "bf16": "i16", "f16": "i16"}.get(dtype.short) or REGISTERS[dtype.short]


def scratch_buffer(name: str, count: int, dtype: Any) -> Buffer:
    """Memory of a kernel besides its buffers; never empty."""
    return Buffer(name, dtype, max(1, count), "inout")


__all__ = [
    "CHUNK_NS",
    "MAX_CHUNKS",
    "Chunks",
    "Kernel",
    "Maker",
    "Operands",
    "Rows",
    "Template",
    "memory_type",
    "operands_of",
    "plain_types",
    "scratch_buffer",
    "tensor_of",
]
