"""Index maps: where a view's element lies in its operand, and where an operand's element lies in a view of it.

A `Position` is an index of which each entry is affine or, where a reshape or a step admits no affine form, a computed i64 expression. It
also holds what must be true for the element to exist: `guards` (affine ranges, which a load takes along) and `conditions` (computed).

`operand_position` follows a view step from result to operand (reading a view), `shown_position` from operand to result (writing through a
view): the second finds only positions that the step shows, and says so by guards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from twofold.compiler import affine as af
from twofold.compiler.affine import ZERO, Affine
from twofold.compiler.expr import Expr, Guard, const, fn, iota, within
from twofold.compiler.kernel_builder import KernelBuilder, Straddles
from twofold.ir.graph import Value
from twofold.ir.op import get_op
from twofold.ir.types import TensorType

Entry = Affine | Expr
Shape = tuple[int, ...]
FAR = 1 << 40
"""More rows than any tensor has."""


# ---- arithmetic of entries ---------------------------------------------------------------------------------------------------------


def as_expr(entry: Entry) -> Expr:
    """The value of an entry, an i64 expression."""
    return iota(entry) if isinstance(entry, Affine) else entry


def shifted(entry: Entry, amount: int) -> Entry:
    """entry + amount."""
    if isinstance(entry, Affine):
        return entry.shifted(amount)
    return fn("add", entry, const(amount, "i64")) if amount else entry


def scaled(entry: Entry, factor: int) -> Entry:
    """entry · factor."""
    if isinstance(entry, Affine):
        return entry.times(factor)
    return fn("mul", entry, const(factor, "i64")) if factor != 1 else entry


def added(a: Entry, b: Entry) -> Entry:
    """a + b."""
    if isinstance(a, Affine) and isinstance(b, Affine):
        return a.plus(b)
    return fn("add", as_expr(a), as_expr(b))


def both(conditions: Sequence[Expr]) -> Expr:
    """All of the conditions, of which there is at least one."""
    return reduce(lambda a, b: fn("and", a, b), conditions)


# ---- positions ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Position:
    """An index of a value inside a kernel, and what must hold for it to exist. `given`: how many of the guards the whole pull has already;
    `nowhere`: no element is ever there."""

    builder: KernelBuilder
    entries: tuple[Entry, ...]
    guards: tuple[Guard, ...] = ()
    conditions: tuple[Expr, ...] = ()
    given: int = 0
    nowhere: bool = field(default=False)

    @classmethod
    def at(cls, builder: KernelBuilder, index: Sequence[Entry], guards: tuple[Guard, ...]) -> Position:
        """The position at which a rule is asked for an element."""
        return cls(builder, tuple(index), guards, given=len(guards))

    def with_entries(self, entries: Sequence[Entry]) -> Position:
        return replace(self, entries=tuple(entries))

    def within(self, entry: Entry, low: int, high: int) -> Position:
        """The same position where also low ≤ entry < high."""
        if not isinstance(entry, Affine):
            inside = fn("and", fn("ge", entry, const(low, "i64")), fn("lt", entry, const(high, "i64")))
            return replace(self, conditions=(*self.conditions, inside))
        least, greatest = self.builder.bounds(entry, self.guards)
        if low <= least and greatest < high:
            return self
        if greatest < low or least >= high or low >= high:
            return replace(self, nowhere=True)
        return replace(self, guards=(*self.guards, (entry, low, high)))

    def divided(self, entry: Entry, factor: int) -> tuple[Entry, Entry]:
        """(entry // factor, entry % factor)."""
        if factor == 1:
            return entry, ZERO
        if isinstance(entry, Affine):
            try:
                quotient, rest = self.builder.unflatten(entry, (FAR, factor), self.guards)
                return quotient, rest
            except Straddles:
                pass
        e, f = as_expr(entry), const(factor, "i64")
        return fn("floordiv", e, f), fn("mod", e, f)

    def reshaped(self, old: Shape, new: Shape) -> Position:
        """This index of an array of shape `old`, as an index of the same elements under the shape `new`."""
        if old == new:
            return self
        if all(isinstance(x, Affine) for x in self.entries):
            flat = af.flat_index([x for x in self.entries if isinstance(x, Affine)], old)
            try:
                return self.with_entries(self.builder.unflatten(flat, new, self.guards))
            except Straddles:
                total: Entry = iota(flat)
        else:
            total = reduce(added, [scaled(x, s) for x, s in zip(self.entries, af.strides_of(old), strict=True)])
        entries: list[Entry] = []
        for n, stride in zip(new, af.strides_of(new), strict=True):
            quotient = self.divided(total, stride)[0] if n != 1 else ZERO
            entries.append(self.divided(quotient, n)[1] if entries and n != 1 else quotient)
        return self.with_entries(entries)

    def condition(self) -> Expr | None:
        """What must hold beyond the guards of the whole pull, or None."""
        added_here = [within(*g) for g in self.guards[self.given :]]
        every = [*added_here, *self.conditions]
        return both(every) if every else None

    def read(self, value: Value) -> Expr:
        """The element of `value` here; elsewhere than the position exists its value is not defined (nothing outside is read)."""
        if all(isinstance(x, Affine) for x in self.entries):
            return self.builder.pull(value, tuple(x for x in self.entries if isinstance(x, Affine)), self.guards)
        entries = self.entries
        if self.conditions:
            hold, zero = both(self.conditions), const(0, "i64")
            entries = tuple(x if isinstance(x, Affine) else fn("where", hold, x, zero) for x in entries)
        return self.builder.load_at(value, entries, self.guards)

    def choose(self, inside: Callable[[Position], Expr], outside: Callable[[], Expr]) -> Expr:
        """`inside(position)` where the position exists, `outside()` elsewhere."""
        if self.nowhere:
            return outside()
        condition = self.condition()
        return inside(self) if condition is None else fn("where", condition, inside(self), outside())


# ---- from a view to its operand ------------------------------------------------------------------------------------------------------

Attributes = Mapping[str, Any]
Step = Callable[[Position, Attributes, Shape, Shape], Position]
"""(position, attributes, shape it is an index of, shape wanted) → position."""


def _put(entries: Sequence[Entry], dim: int, entry: Entry) -> tuple[Entry, ...]:
    return (*entries[:dim], entry, *entries[dim:])


def _swap(entries: Sequence[Entry], dim: int, entry: Entry) -> tuple[Entry, ...]:
    return (*entries[:dim], entry, *entries[dim + 1 :])


def _drop(entries: Sequence[Entry], dim: int) -> tuple[Entry, ...]:
    return (*entries[:dim], *entries[dim + 1 :])


def _from_front(index: int, size: int) -> int:
    return index + size if index < 0 else index


def _read_select(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    return p.with_entries(_put(p.entries, a["dim"], af.affine(_from_front(a["index"], base[a["dim"]]))))


def _read_unbind(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    return p.with_entries(_put(p.entries, a["dim"], af.affine(a[""])))


def slice_range(a: Attributes, base: Shape) -> tuple[int, int, int]:
    """(dimension, first position, step) of a slice, or of one of the parts of `split` and `split_with_sizes`."""
    dim = a["dim"]
    if "split_size" in a:
        return dim, a[""] * a["split_size"], 1
    if "split_sizes" in a:
        return dim, sum(a["split_sizes"][: a[""]]), 1
    return dim, slice(a["start"], a["end"], a["step"]).indices(base[dim])[0], a["step"]


def _read_slice(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    dim, start, step = slice_range(a, base)
    return p.with_entries(_swap(p.entries, dim, shifted(scaled(p.entries[dim], step), start)))


def _read_reshape(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    return p.reshaped(seen, base)


def order_of(name: str, a: Attributes, rank: int) -> list[int]:
    """Which dimension of the operand each dimension of a transposed view is."""
    if name == "permute":
        return list(a["dims"])
    order = list(range(rank))
    if name == "t":
        return order[::-1]
    if rank:
        i, j = a["dim0"], a["dim1"]
        order[i], order[j] = order[j], order[i]
    return order


def _read_permuted(name: str) -> Step:
    def step(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
        order = order_of(name, a, len(base))
        return p.with_entries([p.entries[order.index(d)] for d in range(len(base))])

    return step


def _read_expand(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    lead = len(seen) - len(base)
    return p.with_entries([ZERO if n == 1 else x for n, x in zip(base, p.entries[lead:], strict=True)])


def diagonal_dims(a: Attributes, rank: int) -> tuple[int, int, int]:
    """(offset, dim1, dim2), the dimensions counted from the front."""
    return a["offset"], a["dim1"] % rank, a["dim2"] % rank


def _read_diagonal(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    offset, dim1, dim2 = diagonal_dims(a, len(base))
    along, rest = p.entries[-1], list(p.entries[:-1])
    for dim, entry in sorted(((dim1, shifted(along, max(-offset, 0))), (dim2, shifted(along, max(offset, 0)))), key=lambda x: x[0]):
        rest.insert(dim, entry)
    return p.with_entries(rest)


def _read_windows(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    if not base:
        return p.with_entries(())
    dim, inner = a["dimension"], p.entries[-1]
    return p.with_entries(_swap(p.entries[:-1], dim, added(scaled(p.entries[dim], a["step"]), inner)))


def _read_strided(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    flat: Entry = af.affine(a["storage_offset"] or 0)
    for entry, stride in zip(p.entries, a["stride"], strict=True):
        flat = added(flat, scaled(entry, stride))
    return p.with_entries((flat,)).reshaped((FAR,), base)


def _same(p: Position, a: Attributes, seen: Shape, base: Shape) -> Position:
    return p


READS: dict[str, Step] = {
    "select": _read_select, "unbind": _read_unbind, "slice": _read_slice, "split": _read_slice, "split_with_sizes": _read_slice,
    "view": _read_reshape, "squeeze": _read_reshape, "unsqueeze": _read_reshape, "permute": _read_permuted("permute"),
    "transpose": _read_permuted("transpose"), "t": _read_permuted("t"), "expand": _read_expand, "diagonal": _read_diagonal,
    "unfold": _read_windows, "as_strided": _read_strided, "alias": _same, "detach": _same,
}  # fmt: skip
"""View steps that are index maps."""


# ---- from an operand to a view of it -------------------------------------------------------------------------------------------------


def _shown_select(p: Position, a: Attributes, base: Shape, seen: Shape) -> Position:
    dim = a["dim"]
    at = _from_front(a["index"], base[dim]) if "index" in a else a[""]
    return p.within(p.entries[dim], at, at + 1).with_entries(_drop(p.entries, dim))


def _shown_slice(p: Position, a: Attributes, base: Shape, seen: Shape) -> Position:
    dim, start, step = slice_range(a, base)
    quotient, rest = p.divided(shifted(p.entries[dim], -start), step)
    return p.within(rest, 0, 1).within(quotient, 0, seen[dim]).with_entries(_swap(p.entries, dim, quotient))


def _shown_permuted(name: str) -> Step:
    def step(p: Position, a: Attributes, base: Shape, seen: Shape) -> Position:
        return p.with_entries([p.entries[d] for d in order_of(name, a, len(base))])

    return step


def _shown_diagonal(p: Position, a: Attributes, base: Shape, seen: Shape) -> Position:
    offset, dim1, dim2 = diagonal_dims(a, len(base))
    row, column = p.entries[dim1], p.entries[dim2]
    along = shifted(row if offset >= 0 else column, 0)
    rest = [x for d, x in enumerate(p.entries) if d not in (dim1, dim2)]
    p = p.within(added(column, scaled(row, -1)), offset, offset + 1).within(along, 0, seen[-1])
    return p.with_entries([*rest, along])


SHOWN: dict[str, Step] = {
    "select": _shown_select, "unbind": _shown_select, "slice": _shown_slice, "split": _shown_slice, "split_with_sizes": _shown_slice,
    "view": _read_reshape, "squeeze": _read_reshape, "unsqueeze": _read_reshape, "permute": _shown_permuted("permute"),
    "transpose": _shown_permuted("transpose"), "t": _shown_permuted("t"), "diagonal": _shown_diagonal, "alias": _same, "detach": _same,
}  # fmt: skip
"""View steps that show every element at most once, so that what they show can be found from the element."""


# ---- chains of views -----------------------------------------------------------------------------------------------------------------

Chain = Sequence[tuple[str, Sequence[tuple[str, Any]]]]


def chain_shapes(chain: Chain, base: TensorType) -> list[Shape]:
    """The shapes before, between and after the steps of a chain (`ops.views.Chain`)."""
    shapes: list[Shape] = [base.shape]
    t = base
    for name, pairs in chain:
        attributes = dict(pairs)
        which = attributes.pop("", None)
        out = get_op(name).infer((t,), attributes)
        t = out if which is None else out[which]
        shapes.append(t.shape)
    return shapes


def through_chain(p: Position, chain: Chain, base: TensorType) -> Position:
    """From an index of what a chain shows to the index of its base."""
    shapes = chain_shapes(chain, base)
    for k in reversed(range(len(chain))):
        name, pairs = chain[k]
        p = READS[name](p, dict(pairs), shapes[k + 1], shapes[k])
    return p


def into_chain(p: Position, chain: Chain, base: TensorType) -> Position:
    """From an index of the base to the index of what the chain shows; it exists only where the chain shows that element."""
    shapes = chain_shapes(chain, base)
    for k, (name, pairs) in enumerate(chain):
        if not p.nowhere:
            p = SHOWN[name](p, dict(pairs), shapes[k], shapes[k + 1])
    return p


# ---- windows -------------------------------------------------------------------------------------------------------------------------


def windows_over(
    p: Position, entry: Entry, size: int, step: int, padding: int, count: int, dilation: int = 1
) -> list[tuple[Position, Entry, Entry]]:
    """The windows that cover a position along one dimension: window w has element `entry` as its tap t if entry = w·step + t·dilation -
    padding. A list of (position with the condition that this window exists, w, t), for every t in turn."""
    found: list[tuple[Position, Entry, Entry]] = []
    place = shifted(entry, padding)
    if step == 1 or dilation != 1:
        for tap in range(size):
            quotient, rest = p.divided(shifted(place, -tap * dilation), step)
            here = p.within(rest, 0, 1).within(quotient, 0, count)
            found.append((here, quotient, af.affine(tap)))
    else:
        quotient, rest = p.divided(place, step)
        for k in range(-(-size // step)):
            window, tap_entry = shifted(quotient, -k), shifted(rest, k * step)
            here = p.within(tap_entry, 0, size).within(window, 0, count)
            found.append((here, window, tap_entry))
    return [x for x in found if not x[0].nowhere]
