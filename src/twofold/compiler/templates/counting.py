"""Counts and positions of a known number: histc, nonzero_static. Each block of elements is counted alone, then the blocks are combined."""

from __future__ import annotations

import math
from dataclasses import dataclass

from twofold.compiler import affine as af
from twofold.compiler.emit import KernelCode
from twofold.compiler.expr import register_type
from twofold.compiler.llvm import Module, Val, number
from twofold.compiler.templates.base import Chunks, Kernel, Maker, Operands, Template, operands_of, plain_types, scratch_buffer, tensor_of
from twofold.ir.dtypes import DType, int64
from twofold.ir.graph import Node
from twofold.runtime.target import Target

MOST_COUNTERS = 1 << 20
"""Counters of all chunks together."""


@dataclass(frozen=True)
class Histogram(Operands):
    """How many of `count` elements lie in each of `bins` equal intervals from `low` to `high`; the last includes its end."""

    dtype: DType
    count: int
    bins: int
    low: float
    high: float

    def emit(self, module: Module, name: str, target: Target) -> KernelCode:
        """Two kernels: counts of each chunk's elements, and their sums."""
        least = math.ceil(self.count / max(1, MOST_COUNTERS // self.bins))
        chunks = Chunks.of(self.count, 3.0, max(1, least))
        k = Kernel(module, f"{name}.count", target)
        f = k.f
        counters = f.gep(k.argument(3), f.mul(k.chunk, self.bins), "i64")
        with f.loop(0, self.bins) as i:
            f.store(number("i64", 0), f.gep(counters, i, "i64"), 8)
        with k.items(chunks) as i:
            self._count(k, k.load(k.argument(1), i, self.dtype), counters)
        f.ret()
        total = Kernel(module, f"{name}.total", target)
        self._add(total, chunks.count)
        scratch = scratch_buffer("counters", chunks.count * self.bins, int64)
        return KernelCode(((k.name, chunks.count), (total.name, 1)), (scratch,))

    def _count(self, k: Kernel, x: Val, counters: Val) -> None:
        """The limits are compared in the element's own type; the interval is found in float64."""
        f, type = k.f, register_type(self.dtype)
        inside = f.binary("and", f.fcmp("oge", x, self.low), f.fcmp("ole", x, self.high))
        wide = k.cast(x, type, "f64")
        place = f.fdiv(f.fmul(f.fsub(wide, self.low, ""), float(self.bins), ""), self.high - self.low)
        with f.when(inside):
            at = f.gep(counters, k.smin(k.cast(place, "f64", "i64"), self.bins - 1), "i64")
            f.store(f.add(f.load("i64", at, 8), 1), at, 8)

    def _add(self, k: Kernel, chunks: int) -> None:
        f, type = k.f, register_type(self.dtype)
        with f.loop(0, self.bins) as i:
            sum = f.variable("i64", 0)
            with f.loop(0, chunks) as c:
                f.set(sum, f.add(f.get(sum, "i64"), f.load("i64", f.gep(k.argument(3), f.add(f.mul(c, self.bins), i), "i64"), 8)))
            k.store(k.cast(f.get(sum, "i64"), "i64", type), k.argument(2), i, self.dtype)
        f.ret()


def histc(node: Node) -> Template | None:
    """The template of histc; None where the limits are those of the elements."""
    x = tensor_of(node.inputs[0])
    low, high = float(node.attributes["min"]), float(node.attributes["max"])
    if not plain_types(node) or not math.isfinite(high - low) or low >= high:
        return None
    return Histogram(*operands_of(node), x.dtype, x.numel, node.attributes["bins"], low, high)


@dataclass(frozen=True)
class Positions(Operands):
    """The positions in a tensor of `shape` of the first `wanted` elements that are not zero, one a row; rows beyond them are `fill`."""

    dtype: DType
    shape: tuple[int, ...]
    wanted: int
    fill: int

    def emit(self, module: Module, name: str, target: Target) -> KernelCode:
        """Three kernels: counts of each chunk's elements, their running sums (and the rows beyond), and the positions."""
        rank = len(self.shape)
        if self.wanted * rank == 0:
            return KernelCode(())
        chunks = Chunks.of(math.prod(self.shape), 1.0)
        counting = Kernel(module, f"{name}.count", target)
        f = counting.f
        found = f.variable("i64", 0)
        with counting.items(chunks) as i:
            f.set(found, f.add(f.get(found, "i64"), f.convert("zext", self._is_there(counting, i), "i64")))
        f.store(f.get(found, "i64"), f.gep(counting.argument(3), counting.chunk, "i64"), 8)
        f.ret()
        summing = Kernel(module, f"{name}.sum", target)
        self._sums(summing, chunks.count, rank)
        writing = Kernel(module, f"{name}.write", target)
        self._positions(writing, chunks)
        launches = ((counting.name, chunks.count), (summing.name, 1), (writing.name, chunks.count))
        return KernelCode(launches, (scratch_buffer("counts", chunks.count, int64),))

    def _is_there(self, k: Kernel, i: Val) -> Val:
        return k.cast(k.load(k.argument(1), i, self.dtype), register_type(self.dtype), "bool")

    def _sums(self, k: Kernel, chunks: int, rank: int) -> None:
        f = k.f
        total = f.variable("i64", 0)
        with f.loop(0, chunks) as c:
            place = f.gep(k.argument(3), c, "i64")
            count, before = f.load("i64", place, 8), f.get(total, "i64")
            f.store(before, place, 8)
            f.set(total, f.add(before, count))
        with f.loop(f.mul(f.get(total, "i64"), rank), self.wanted * rank) as i:
            k.store(number("i64", self.fill), k.argument(2), i, int64)
        f.ret()

    def _positions(self, k: Kernel, chunks: Chunks) -> None:
        f, rank = k.f, len(self.shape)
        strides = af.strides_of(self.shape)
        row = f.variable("i64", f.load("i64", f.gep(k.argument(3), k.chunk, "i64"), 8))
        with k.items(chunks) as i:
            at = f.get(row, "i64")
            there = self._is_there(k, i)
            with f.when(f.binary("and", there, f.icmp("slt", at, self.wanted))):
                rest = i
                for d, stride in enumerate(strides):
                    k.store(f.binary("sdiv", rest, stride), k.argument(2), f.add(f.mul(at, rank), d), int64)
                    rest = f.binary("srem", rest, stride)
            f.set(row, f.add(at, f.convert("zext", there, "i64")))
        f.ret()


def nonzero_static(node: Node) -> Template | None:
    """The template of nonzero_static; None for a tensor of no elements or no dimensions."""
    x = tensor_of(node.inputs[0])
    if not plain_types(node) or x.numel == 0 or not x.shape:
        return None
    a = node.attributes
    return Positions(*operands_of(node), x.dtype, x.shape, a["size"], a["fill_value"])


COUNTS: dict[str, Maker] = {"histc": histc, "nonzero_static": nonzero_static}
