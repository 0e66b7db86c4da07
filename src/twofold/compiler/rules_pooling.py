"""Pull rules of windows: pooling, its adjoints for means, blocks as columns.

A window of at most MAX_TAPS elements is unrolled, tap by tap in row-major order; a larger one is a reduction over dimensions of its own.
What several windows share is read once for each of them, so an operand that is dear to compute is stored first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from twofold.compiler import affine as af
from twofold.compiler.affine import Affine
from twofold.compiler.expr import Expr, Guard, cast, const, fn, iota, is_float, register_type
from twofold.compiler.index_maps import Entry, Position, added, scaled, shifted, windows_over
from twofold.compiler.kernel_builder import Index, KernelBuilder, Materialise, dtype_of_value, shape_of
from twofold.compiler.rules import output_dtype, rule
from twofold.compiler.rules_joining import zero_of
from twofold.compiler.rules_views import source
from twofold.ir.graph import Node, Value

Guards = tuple[Guard, ...]
MAX_TAPS = 64
RECOMPUTE_NS = 0.42
"""As in the planner: more recomputation than this an element costs more than a store and a load."""


def lowest(type: str) -> Expr:
    """The neutral element of maxima."""
    return const(float("-inf") if is_float(type) else int(np.iinfo(np.dtype({"i": "int", "u": "uint"}[type[0]] + type[1:])).min), type)


def check_cheap(b: KernelBuilder, x: Value, e: Expr, uses: float) -> None:
    """Raise Materialise for an operand that would be computed `uses` times and is not cheap."""
    if not b.environment.stored(x, b) and (uses - 1.0) * e.cost > RECOMPUTE_NS:
        raise Materialise(x, "windows would compute it several times")


class Windows:
    """Windows of `kernel` elements over the last dimensions of `x`."""

    def __init__(self, node: Node, kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...],
                 x: Value | None = None) -> None:  # fmt: skip
        self.kernel, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation
        self.x = source(node) if x is None else x
        self.node = node
        self.rank = len(kernel)
        self.space = shape_of(self.x)[-self.rank :]
        self.lead = len(shape_of(self.x)) - self.rank

    @property
    def taps(self) -> int:
        return math.prod(self.kernel)

    def position(self, b: KernelBuilder, index: Index, tap: tuple[Affine, ...], guards: Guards) -> Position:
        """Where tap `tap` of the window at `index` reads; it exists only inside the operand."""
        p, entries = Position.at(b, index, guards), list(index[: self.lead])
        for k, form in enumerate(index[self.lead : self.lead + self.rank]):
            place = form.times(self.stride[k]).plus(tap[k].times(self.dilation[k])).shifted(-self.padding[k])
            p = p.within(place, 0, self.space[k])
            entries.append(place)
        return p.with_entries(entries)

    def each(self, b: KernelBuilder, index: Index, guards: Guards) -> Iterator[Position]:
        """The positions of all taps in row-major order, those that are never inside left out."""
        for at in itertools.product(*map(range, self.kernel)):
            p = self.position(b, index, tuple(map(af.affine, at)), guards)
            if not p.nowhere:
                yield p

    def combined(self, b: KernelBuilder, index: Index, guards: Guards, op: str, empty: Expr) -> Expr:
        """The windows' elements combined ("max" or "sum"); `empty` where none is inside."""
        if self.taps > MAX_TAPS:
            return self._reduced(b, index, guards, op, empty)
        function = "maximum" if op == "max" else "add"
        result: Expr | None = None
        for p in self.each(b, index, guards):
            e = p.choose(lambda q: q.read(self.x), lambda: empty)
            if result is None:
                check_cheap(b, self.x, e, self.taps / math.prod(self.stride))
            result = e if result is None else fn(function, result, e)
        return empty if result is None else result

    def _reduced(self, b: KernelBuilder, index: Index, guards: Guards, op: str, empty: Expr) -> Expr:
        v = self.node.outputs[0]
        if guards:
            raise Materialise(v, "a reduction over windows at partial positions")
        rank = self.lead + self.rank

        def element(i: Index) -> Expr:
            e = self.position(b, i[:rank], i[rank:], ()).choose(lambda q: q.read(self.x), lambda: empty)
            check_cheap(b, self.x, e, self.taps / math.prod(self.stride))
            return e

        shape = (*shape_of(v), *self.kernel)
        return b.reduce((v, op), v, op, element, shape, tuple(range(rank, len(shape))), index)


def _windows(node: Node) -> Windows:
    a = node.attributes
    return Windows(node, a["kernel_size"], a["stride"], a["padding"], a.get("dilation") or (1,) * len(a["kernel_size"]))


# ---- maxima ------------------------------------------------------------------------------------------------------------------------


@rule("max_pool2d", "max_pool3d")
def max_pool(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return _windows(node).combined(b, index, guards, "max", lowest(register_type(output_dtype(node))))


def _unrolled(node: Node) -> bool:
    return math.prod(node.attributes["kernel_size"]) <= MAX_TAPS


def winner(windows: Windows, b: KernelBuilder, index: Index, guards: Guards, found: Callable[[Position], Expr]) -> Expr:
    """What `found` (an i64 ≥ 0) says of the tap that is its window's maximum: the first of equal ones, the last NaN where there is one;
    -1 where a window has no element."""
    result, best = const(-1, "i64"), lowest(register_type(dtype_of_value(windows.x)))
    for p in windows.each(b, index, guards):
        e = p.read(windows.x)
        better = fn("or", fn("gt", e, best), fn("lt", result, const(0, "i64")))
        if is_float(e.type):
            better = fn("or", better, fn("isnan", e))
        condition = p.condition()
        if condition is not None:
            better = fn("and", condition, better)
        best, result = fn("where", better, e, best), fn("where", better, found(p), result)
    return result


@rule("max_pool_indices", when=_unrolled)
def max_pool_indices(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return fn("maximum", winning_place(_windows(node), b, index, guards), const(0, "i64"))


def winning_place(windows: Windows, b: KernelBuilder, index: Index, guards: Guards) -> Expr:
    """The flat position within the spatial dimensions of each window's maximum; -1 where a window has no element."""

    def place(p: Position) -> Expr:
        forms = [x for x in p.entries[windows.lead :] if isinstance(x, Affine)]
        return iota(af.flat_index(forms, windows.space))

    return winner(windows, b, index, guards, place)


# ---- means -------------------------------------------------------------------------------------------------------------------------


def count_along(b: KernelBuilder, form: Affine, size: int, k: int, s: int, p: int, include_pad: bool) -> Expr:
    """How many positions a window along one dimension counts, an i64."""
    start = form.times(s).shifted(-p)
    low, high = b.bounds(start, ())
    if include_pad:
        if high + k <= size + p:
            return const(k, "i64")
        return fn("sub", fn("minimum", iota(start.shifted(k)), const(size + p, "i64")), iota(start))
    if low >= 0 and high + k <= size:
        return const(k, "i64")
    return fn("sub", fn("minimum", iota(start.shifted(k)), const(size, "i64")), fn("maximum", iota(start), const(0, "i64")))


def divisor(b: KernelBuilder, node: Node, forms: tuple[Affine, ...], space: tuple[int, ...], t: str) -> Expr:
    """What a window's sum is divided by."""
    a = node.attributes
    if a["divisor_override"] is not None:
        return const(a["divisor_override"], t)
    counts = [
        count_along(b, *each, a["count_include_pad"])
        for each in zip(forms, space, a["kernel_size"], a["stride"], a["padding"], strict=True)
    ]
    known = [c.attr for c in counts if c.op == "const"]
    total = const(math.prod(known), "i64")
    for c in counts:
        if c.op != "const":
            total = c if total.op == "const" and total.attr == 1 else fn("mul", total, c)
    return cast(total, t)


def _means(node: Node) -> bool:
    return dtype_of_value(source(node)).is_floating_point


@rule("avg_pool2d", "avg_pool3d", when=_means)
def avg_pool(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    w = _windows(node)
    t = register_type(output_dtype(node))
    return fn("div", w.combined(b, index, guards, "sum", const(0, t)), divisor(b, node, index[w.lead :], w.space, t))


def _even_bins(node: Node) -> bool:
    out = node.attributes["output_size"]
    space = shape_of(source(node))[-len(out) :]
    return _means(node) and all(m and n % m == 0 for n, m in zip(space, out, strict=True))


@rule("adaptive_avg_pool2d", "adaptive_avg_pool3d", when=_even_bins)
def adaptive_avg_pool(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """Bins of one size are windows."""
    out = node.attributes["output_size"]
    kernel = tuple(n // m for n, m in zip(shape_of(source(node))[-len(out) :], out, strict=True))
    w = Windows(node, kernel, kernel, (0,) * len(out), (1,) * len(out))
    t = register_type(output_dtype(node))
    return fn("div", w.combined(b, index, guards, "sum", const(0, t)), const(w.taps, t))


# ---- adjoints ----------------------------------------------------------------------------------------------------------------------


def covering(
    p: Position, forms: tuple[Affine, ...], kernel: Any, stride: Any, padding: Any, counts: Any, dilation: Any
) -> Iterator[tuple[Position, list[Entry], list[Entry]]]:
    """All windows over several dimensions that cover a position: (position with the conditions, windows, taps)."""
    if not forms:
        yield p, [], []
        return
    for q, window, tap in windows_over(p, forms[0], kernel[0], stride[0], padding[0], counts[0], dilation[0]):
        for r, windows, taps in covering(q, forms[1:], kernel[1:], stride[1:], padding[1:], counts[1:], dilation[1:]):
            yield r, [window, *windows], [tap, *taps]


def _few_windows(kernel: Any, stride: Any) -> bool:
    return math.prod(-(-k // s) for k, s in zip(kernel, stride, strict=True)) <= MAX_TAPS


def _fixed_divisor(node: Node) -> bool:
    """Every window counts its whole kernel (or the given number)."""
    a, counts = node.attributes, shape_of(source(node))[-len(node.attributes["size"]) :]
    if not _means(node) or not _few_windows(a["kernel_size"], a["stride"]):
        return False
    if a["divisor_override"] is not None:
        return True
    for n, k, s, p, m in zip(a["size"], a["kernel_size"], a["stride"], a["padding"], counts, strict=True):
        last = (m - 1) * s - p + k
        if last > n + (p if a["count_include_pad"] else 0) or (p and not a["count_include_pad"]):
            return False
    return True


@rule("avg_pool_backward", when=_fixed_divisor)
def avg_pool_backward(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """The sum of the gradients of all windows over the element."""
    a, g = node.attributes, source(node)
    n = len(a["size"])
    t = register_type(output_dtype(node))
    count = a["divisor_override"] if a["divisor_override"] is not None else math.prod(a["kernel_size"])
    result: Expr | None = None
    counts = shape_of(g)[-n:]
    for p, windows, _ in covering(Position.at(b, index, guards), index[-n:], a["kernel_size"], a["stride"], a["padding"], counts, (1,) * n):
        e = p.with_entries((*index[:-n], *windows)).choose(lambda q: q.read(g), lambda: zero_of(node))
        if result is None:
            check_cheap(b, g, e, math.prod(a["kernel_size"]))
        result = e if result is None else fn("add", result, e)
    return const(0, t) if result is None else fn("div", result, const(count, t))


def _even_bins_back(node: Node) -> bool:
    size = node.attributes["size"]
    counts = shape_of(source(node))[-len(size) :]
    return _means(node) and all(m and n % m == 0 for n, m in zip(size, counts, strict=True))


@rule("adaptive_avg_pool_backward", when=_even_bins_back)
def adaptive_avg_pool_backward(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    size, g = node.attributes["size"], source(node)
    n = len(size)
    kernel = tuple(s // m for s, m in zip(size, shape_of(g)[-n:], strict=True))
    p = Position.at(b, index, guards)
    entries = [p.divided(form, k)[0] for form, k in zip(index[-n:], kernel, strict=True)]
    t = register_type(output_dtype(node))
    return fn("div", p.with_entries((*index[:-n], *entries)).read(g), const(math.prod(kernel), t))


# ---- blocks as columns -----------------------------------------------------------------------------------------------------------------


def _block_counts(node: Node, space: tuple[int, ...]) -> tuple[int, ...]:
    a = node.attributes
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(space, a["kernel_size"], a["dilation"], a["padding"], a["stride"], strict=True)
    )


@rule("im2col")
def im2col(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """Row = (channel, tap), column = block: both are taken apart and the tap is read."""
    a, x = node.attributes, source(node)
    shape = shape_of(x)
    counts, kernel = _block_counts(node, shape[-2:]), a["kernel_size"]
    wide = (*shape[:-2], *kernel, *counts)
    p = Position.at(b, index, guards).reshaped(shape_of(node.outputs[0]), wide)
    lead, taps, blocks = p.entries[:-4], p.entries[-4:-2], p.entries[-2:]
    entries: list[Entry] = list(lead)
    for k in range(2):
        p, place = _tap_place(p, blocks[k], taps[k], a, k, shape[-2 + k])
        entries.append(place)
    return p.with_entries(entries).choose(lambda q: q.read(x), lambda: zero_of(node))


def _tap_place(p: Position, block: Entry, tap: Entry, a: Any, k: int, size: int) -> tuple[Position, Entry]:
    from_block = scaled(block, a["stride"][k])
    place = shifted(added(from_block, scaled(tap, a["dilation"][k])), -a["padding"][k])
    return p.within(place, 0, size), place


def _col2im_few(node: Node) -> bool:
    a = node.attributes
    return math.prod(a["kernel_size"]) <= MAX_TAPS


@rule("col2im", when=_col2im_few)
def col2im(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    a, x = node.attributes, source(node)
    space = a["output_size"]
    counts, kernel = _block_counts(node, space), a["kernel_size"]
    wide = (*shape_of(node.outputs[0])[:-2], *kernel, *counts)
    result: Expr | None = None
    for p, blocks, taps in covering(Position.at(b, index, guards), index[-2:], kernel, a["stride"], a["padding"], counts, a["dilation"]):
        q = p.with_entries((*index[:-2], *taps, *blocks)).reshaped(wide, shape_of(x))
        e = q.choose(lambda r: r.read(x), lambda: zero_of(node))
        result = e if result is None else fn("add", result, e)
    return zero_of(node) if result is None else result
