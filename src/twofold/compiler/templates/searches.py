"""searchsorted: bisection in a sorted sequence, several wanted elements side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twofold.compiler.emit import KernelCode
from twofold.compiler.expr import is_float, register_type
from twofold.compiler.llvm import Module, Val, number
from twofold.compiler.templates.base import Chunks, Kernel, Maker, Operands, Template, operands_of, plain_types, tensor_of
from twofold.ir.dtypes import DType, from_numpy
from twofold.ir.graph import Node
from twofold.runtime.target import Target

ABREAST = 4
"""Searches whose steps, each of which waits for memory, overlap."""
STEP_NS = 1.5


@dataclass(frozen=True)
class Search(Operands):
    """Where `count` elements of dtype `wanted` belong in sequences of `size` elements: in one sequence, or in one for every `per_sequence`
    elements. Both are compared in the register type `compared`; NaN comes after every number."""

    sequence: DType
    wanted: DType
    written: DType
    compared: str
    size: int
    count: int
    per_sequence: int | None
    right: bool

    def emit(self, module: Module, name: str, target: Target) -> KernelCode:
        """Write the kernel."""
        if self.count == 0:
            return KernelCode(())
        k = Kernel(module, name, target)
        chunks = Chunks.of(self.count, 1.0 + STEP_NS * self.size.bit_length(), ABREAST)
        f = k.f
        low, high = k.range_of(chunks)
        end = f.sub(high, f.binary("srem", f.sub(high, low), ABREAST))
        with f.loop(low, end, ABREAST) as i:
            self._search(k, [f.add(i, j) for j in range(ABREAST)])
        with f.loop(end, high) as i:
            self._search(k, [i])
        f.ret()
        return KernelCode(((name, chunks.count),))

    def _search(self, k: Kernel, places: Sequence[Val]) -> None:
        """Bisect for the wanted elements at `places`: the size of what is left is the same for all of them, and known."""
        f = k.f
        sequence, wanted, results = k.argument(1), k.argument(2), k.argument(3)
        if self.size == 0:
            for at in places:
                k.store(number(f"i{8 * self.written.itemsize}", 0), results, at, self.written)
            return
        elements = [self._compared(k, wanted, at, self.wanted) for at in places]
        begins = [f.mul(f.binary("sdiv", at, self.per_sequence), self.size) if self.per_sequence else number("i64", 0) for at in places]
        found = [f.variable("i64", 0) for _ in places]
        left = f.variable("i64", self.size)
        with f.loop(0, (self.size - 1).bit_length()):
            n = f.get(left, "i64")
            half = f.binary("lshr", n, 1)
            for x, begin, slot in zip(elements, begins, found, strict=True):
                at = f.get(slot, "i64")
                last = self._compared(k, sequence, f.add(begin, f.add(at, f.sub(half, 1))), self.sequence)
                f.set(slot, f.add(at, f.select(self._is_before(k, last, x), half, 0)))
            f.set(left, f.sub(n, half))
        for x, begin, slot, place in zip(elements, begins, found, places, strict=True):
            at = f.get(slot, "i64")
            last = self._compared(k, sequence, f.add(begin, at), self.sequence)
            result = f.add(at, f.convert("zext", self._is_before(k, last, x), "i64"))
            k.store(k.cast(result, "i64", register_type(self.written)), results, place, self.written)

    def _compared(self, k: Kernel, pointer: Val, at: Val, dtype: DType) -> Val:
        return k.cast(k.load(pointer, at, dtype), register_type(dtype), self.compared)

    def _is_before(self, k: Kernel, element: Val, wanted: Val) -> Val:
        """Whether an element of the sequence stays left of the wanted one: it is less, or (`right`) not greater."""
        if self.right:
            return k.f.binary("xor", self._less(k, wanted, element), number("i1", True))
        return self._less(k, element, wanted)

    def _less(self, k: Kernel, a: Val, b: Val) -> Val:
        f = k.f
        if self.compared == "bool":
            return f.binary("and", f.binary("xor", a, number("i1", True)), b)
        less = k.functions.apply("lt", [a, b], self.compared)
        if not is_float(self.compared):
            return less
        return f.binary("or", less, f.binary("and", f.fcmp("ord", a, a), f.fcmp("uno", b, b)))


def searchsorted(node: Node) -> Template | None:
    """The template of searchsorted; None where a sorter is given, whose indices are checked first."""
    operands = tuple(node.operands())
    if len(operands) != 2 or not plain_types(node):
        return None
    sequence, wanted = (tensor_of(v) for v in operands)
    common = np.promote_types(*(np.float32 if t.dtype.is_low_precision else t.dtype.numpy for t in (sequence, wanted)))
    per_sequence = wanted.shape[-1] if sequence.ndim > 1 else None
    return Search(
        *operands_of(node), sequence.dtype, wanted.dtype, tensor_of(node.outputs[0]).dtype, register_type(from_numpy(common)),
        sequence.shape[-1], math.prod(wanted.shape), per_sequence, node.attributes["right"],
    )  # fmt: skip


SEARCHES: dict[str, Maker] = {"searchsorted": searchsorted}
