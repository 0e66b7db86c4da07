"""LLVM text of expressions at a position: loads (contiguous, reversed, gathered, guarded), functions, checked indices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from twofold.compiler.affine import Affine
from twofold.compiler.emit_functions import Functions, bf16_bits, bf16_value, f16_bits, f16_value
from twofold.compiler.emit_positions import Positions
from twofold.compiler.expr import Expr, Guard
from twofold.compiler.llvm import REGISTERS, Function, Val, number, suffix_of, vector, with_element
from twofold.compiler.spec import Buffer
from twofold.ir.dtypes import DType
from twofold.runtime.target import Target

STORED = REGISTERS | {"bool": "i8", "bf16": "i16", "f16": "i16"}
"""LLVM's type for elements in memory, by the dtype's short name; 16-bit floats as their bits."""
Result = Val | list[Val]
"""Of a finished reduction: one value, or one for each block of the tile."""


class Values:
    """Values of expressions.

    at:       the position
    pointers: buffer → its address
    results:  reduction → its result, once finished
    error:    the address of the error word
    outlined: functions (name, type) that are called, not written in place
    """

    def __init__(self, at: Positions, target: Target, strict: bool, buffers: Mapping[str, Buffer], error: Val) -> None:
        self.at, self.f, self.target, self.buffers, self.error = at, at.f, target, buffers, error
        self.functions = Functions(at.f, target, strict)
        self.pointers: dict[str, Val] = {}
        self.results: dict[str, Result] = {}
        self.active: dict[int, Val | None] = {}
        self.outlined: frozenset[tuple[str, str]] = frozenset()

    # --- expressions

    def of(self, root: Expr, block: int) -> Val:
        """The value for a block of the tile: a vector if it varies along the tile, else a scalar."""
        return self.each([root])[root, block if self.at.tile is not None and self.at.tile.dim in root.dims else -1]

    def wide(self, root: Expr, block: int) -> Val:
        """The value for a block as a vector of the tile's lanes, whatever it varies along."""
        assert self.at.tile is not None
        return self.f.splat(self.of(root, block), self.at.tile.lanes)

    def each(self, roots: Iterable[Expr]) -> _Known:
        """Compute expressions for all blocks, operand by operand: neighbouring instructions belong to different blocks."""
        find = self.at.find
        for root in roots:
            stack = [(root, False)]
            while stack:
                e, ready = stack.pop()
                blocks = self.at.blocks(e.dims)
                if find((e, blocks[-1])) is not None:
                    continue
                if ready:
                    for b in blocks:
                        self.at.keep((e, b), self._one(e, b))
                else:
                    stack.append((e, True))
                    stack += [(a, False) for a in reversed(e.args)]
        return _Known(self.at)

    def _operands(self, e: Expr, block: int) -> list[Val]:
        tile = self.at.tile
        values = []
        for a in e.args:
            own = block if tile is not None and tile.dim in a.dims else -1
            values.append(self.at.find((a, own)))
        lanes = max((v.lanes for v in values), default=1)
        return [self.f.splat(v, lanes) for v in values] if lanes > 1 else values

    def _one(self, e: Expr, block: int) -> Val:
        op, at = e.op, self.at
        if op == "const":
            return number(REGISTERS[e.type], e.attr)
        if op == "iota":
            return at.lane_index(e.attr, block) if at.is_wide(e.dims) else at.index(e.attr, block)
        if op == "within":
            form, low, high = e.attr
            return at.within(form, low, high, block)
        if op == "acc":
            found = self.results[e.attr]
            return found[max(block, 0)] if isinstance(found, list) else found
        if op == "load":
            return self._load(e, block)
        args = self._operands(e, block)
        if op == "check_index":
            size, site = e.attr
            return self._checked(args[0], size, site, block)
        if op == "cast":
            return self.functions.cast(args[0], e.args[0].type, e.type)
        type = e.args[-1].type
        return self._called(op, args, type) if (op, type) in self.outlined else self.functions.apply(op, args, type)

    def _called(self, op: str, args: list[Val], type: str) -> Val:
        """A function of floats as a call: a kernel that uses it often would be large and slow to compile."""
        module, own = self.f.module, args[0].type
        symbol = f"{op}.{suffix_of(own)}"
        if all(g.name != symbol for g in module.functions):
            parameters = [(a.type, f"x{k}") for k, a in enumerate(args)]
            g = module.function(symbol, parameters, own, self.f.attributes + " noinline", internal=True)
            g.ret(Functions(g, self.target, self.functions.strict).apply(op, g.parameters, type))
        return self.f.call(symbol, own, *args)

    def _checked(self, x: Val, size: int, site: int, block: int) -> Val:
        f = self.f
        wrapped = f.select(f.icmp("slt", x, 0), f.binary("add", x, size), x)
        bad = f.icmp("uge", wrapped, size)
        active = self.active.get(block)
        reported = bad
        if active is not None:
            reported = f.binary("and", f.splat(bad, active.lanes), f.splat(active, bad.lanes))
        with f.when(self.any(reported)):
            f.store(number("i64", site), self.error, 8)
        return f.select(bad, 0, wrapped)

    # --- memory

    def from_memory(self, x: Val, stored: DType) -> Val:
        """Loaded elements as values."""
        if stored.short == "bool":
            return self.f.icmp("ne", x, 0)
        if stored.short == "bf16":
            return bf16_value(self.f, x)
        return f16_value(self.f, x, self.target) if stored.short == "f16" else x

    def to_memory(self, x: Val, stored: DType) -> Val:
        """Values as elements in memory; 16-bit floats are rounded to nearest even."""
        if stored.short == "bool":
            return self.f.convert("zext", x, "i8")
        if stored.short == "bf16":
            return bf16_bits(self.f, x)
        return f16_bits(self.f, x, self.target) if stored.short == "f16" else x

    def guarded(self, guards: Sequence[Guard], block: int) -> tuple[Val | None, Val | None]:
        """(condition that is the same for all lanes, mask of the lanes); None: always."""
        uniform: Val | None = None
        lanes: Val | None = None
        for guard in guards:
            form, low, high = guard
            test = self.at.within(form, low, high, block)
            if test.is_vector:
                lanes = test if lanes is None else self.f.binary("and", lanes, test)
            else:
                uniform = test if uniform is None else self.f.binary("and", uniform, test)
        return uniform, lanes

    def both(self, a: Val | None, b: Val | None) -> Val | None:
        """The conjunction of two masks, each of which may be None; a scalar and a vector are a vector."""
        if a is None or b is None:
            return b if a is None else a
        lanes = max(a.lanes, b.lanes)
        return self.f.binary("and", self.f.splat(a, lanes), self.f.splat(b, lanes))

    def any(self, mask: Val) -> Val:
        """Whether a condition holds in some lane."""
        if not mask.is_vector:
            return mask
        bits = f"i{mask.lanes}"
        return self.f.icmp("ne", self.f.let(bits, f"bitcast {mask.type} {mask} to {bits}"), 0)

    def _load(self, e: Expr, block: int) -> Val:
        buffer, offset, guards, stored = e.attr
        element = STORED[stored.short]
        if self.buffers[buffer].numel == 0:
            lanes = self.at.tile.lanes if self.at.is_wide(e.dims) and self.at.tile is not None else 1
            return self.from_memory(number(vector(element, lanes), 0), stored)
        uniform, mask = self.guarded(guards, block)
        moved = self._moved(e, block)
        if self.at.is_wide(e.dims):
            x = self._load_lanes(buffer, offset, element, block, uniform, mask, moved)
        else:
            assert mask is None
            place = self.f.add(self.at.index(offset, block), moved if moved is not None else 0)
            if uniform is not None:
                place = self.f.select(uniform, place, 0)
            x = self._element(buffer, place, element)
        return self.from_memory(x, stored)

    def _moved(self, e: Expr, block: int) -> Val | None:
        """Σ index operand · stride, a scalar or a vector."""
        total: Val | None = None
        for x, stride in zip(self._operands(e, block), e.strides, strict=True):
            step = x if stride == 1 else self.f.binary("mul", x, stride)
            total = step if total is None else self.f.binary("add", total, step)
        return total

    def _element(self, buffer: str, place: Val, element: str) -> Val:
        return self.f.load(element, self.f.gep(self.pointers[buffer], place, element), size_of(element))

    def _load_lanes(
        self, buffer: str, offset: Affine, element: str, block: int, uniform: Val | None, mask: Val | None, moved: Val | None
    ) -> Val:
        """A vector of elements; lanes outside the tile, the guards or the mask are not read."""
        f, tile = self.f, self.at.tile
        assert tile is not None
        type = vector(element, tile.lanes)
        step = offset.coefficient(tile.dim)
        if uniform is not None:  # one branch for all lanes
            slot = f.variable(type, number(type, 0))
            with self.at.when(uniform):
                f.set(slot, self._load_lanes(buffer, offset, element, block, None, mask, moved))
            return f.get(slot, type)
        mask = self.both(mask, tile.mask_of(block))
        if moved is None or not moved.is_vector:
            base = self.at.index(offset, block)
            if moved is not None:
                base = f.add(base, moved)
            if step == 0:
                return f.splat(self._uniform_element(buffer, base, element, mask), tile.lanes)
            if step == 1:
                pointer = f.gep(self.pointers[buffer], base, element)
                return f.load(type, pointer, size_of(element)) if mask is None else f.masked_load(type, pointer, mask, size_of(element))
            if step == -1 and mask is None:
                pointer = f.gep(self.pointers[buffer], f.add(base, 1 - tile.lanes), element)
                return f.shuffle(f.load(type, pointer, size_of(element)), None, list(reversed(range(tile.lanes))))
        return f.gather(type, self.lane_pointers(buffer, offset, element, block, moved), self.full(mask), size_of(element))

    def _uniform_element(self, buffer: str, place: Val, element: str, mask: Val | None) -> Val:
        """One element for all lanes, element 0 if no lane needs it."""
        if mask is not None:
            place = self.f.select(self.any(mask), place, 0)
        return self._element(buffer, place, element)

    def lane_pointers(self, buffer: str, offset: Affine, element: str, block: int, moved: Val | None) -> Val:
        """The address for each lane."""
        f, tile = self.f, self.at.tile
        assert tile is not None
        places = self.at.lane_index(offset, block)
        if moved is not None:
            places = f.binary("add", places, f.splat(moved, tile.lanes))
        pointer = self.pointers[buffer]
        return f.let(with_element(places.type, "ptr"), f"getelementptr inbounds {element}, ptr {pointer}, {places.type} {places}")

    def full(self, mask: Val | None) -> Val:
        """A mask, all lanes for None."""
        assert self.at.tile is not None
        return number(vector("i1", self.at.tile.lanes), True) if mask is None else mask


class _Known:
    """Values by (expression, block)."""

    def __init__(self, at: Positions) -> None:
        self.at = at

    def __getitem__(self, key: tuple[Expr, int]) -> Val:
        found: Val = self.at.find(key)
        return found


def size_of(element: str) -> int:
    """Bytes of one element."""
    return {"i8": 1, "i16": 2, "float": 4, "i32": 4}.get(element, 8)


__all__ = ["STORED", "Function", "Result", "Values", "size_of"]
