"""Where a kernel's code is while it is written: loop counters, the tile of vectors that is alive, values that are known there.

Values are kept by scope. A scope is opened with each loop and each branch, and what was computed inside is forgotten when it closes, so a
value is only used where its instruction dominates. `hoist` computes before a loop what does not change in it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from twofold.compiler.affine import Affine
from twofold.compiler.llvm import Function, Operand, Val, lanes_constant, number, vector

SMALL = 1 << 30
"""Positions below it are compared as 32-bit lanes."""


class Tiling(NamedTuple):
    """`blocks` vectors of `lanes` elements along `dim` are computed together; of the last one only where `mask` holds, if there is one."""

    dim: str
    blocks: int
    lanes: int
    mask: Val | None = None

    def mask_of(self, block: int) -> Val | None:
        return self.mask if block == self.blocks - 1 else None


class Positions:
    """Counters of open loops (`env`), the tile, the scopes."""

    def __init__(self, f: Function, sizes: dict[str, int]) -> None:
        self.f, self.sizes = f, sizes
        self.env: dict[str, Val] = {}
        self.tile: Tiling | None = None
        self.scopes: list[dict[Hashable, Any]] = [{}]

    # --- scopes

    def find(self, key: Hashable) -> Any:
        """What is known under a key, or None."""
        for scope in reversed(self.scopes):
            found = scope.get(key)
            if found is not None:
                return found
        return None

    def keep(self, key: Hashable, value: Any) -> Any:
        """Known from here to the end of the scope."""
        self.scopes[-1][key] = value
        return value

    @contextmanager
    def scope(self, known: dict[Hashable, Any] | None = None) -> Iterator[dict[Hashable, Any]]:
        """A new scope, which may begin with values known already; it is given back filled."""
        own = {} if known is None else known
        self.scopes.append(own)
        yield own
        self.scopes.pop()

    @contextmanager
    def when(self, condition: Val | None) -> Iterator[None]:
        """What is written inside runs where the (scalar) condition holds; None: always."""
        if condition is None:
            yield
            return
        with self.f.when(condition), self.scope():
            yield

    # --- lanes

    def is_wide(self, dims: frozenset[str]) -> bool:
        """Whether something that varies along these dimensions has a value for each lane."""
        return self.tile is not None and self.tile.lanes > 1 and self.tile.dim in dims

    def blocks(self, dims: frozenset[str]) -> Sequence[int]:
        """The numbers of the tile's vectors; -1 alone for what is the same in all of them."""
        return range(self.tile.blocks) if self.tile is not None and self.tile.dim in dims else (-1,)

    def lane_numbers(self, element: str, factor: int = 1) -> Val:
        """<0, 1, 2, …> · factor."""
        assert self.tile is not None
        return lanes_constant(vector(element, self.tile.lanes), [factor * k for k in range(self.tile.lanes)])

    def first_lanes(self, count: int | Val) -> Val:
        """The mask of the first `count` lanes (a number, or an i64)."""
        assert self.tile is not None
        lanes = self.tile.lanes
        if isinstance(count, int):
            return lanes_constant(vector("i1", lanes), [k < count for k in range(lanes)])
        return self.f.icmp("ult", self.lane_numbers("i32"), self.f.splat(self.f.convert("trunc", count, "i32"), lanes))

    # --- affine forms

    def index(self, form: Affine, block: int = -1) -> Val:
        """The value of an affine form at the first lane of a block, an i64."""
        total: Operand = self._sum(form.terms)
        offset = form.constant
        if block > 0 and self.tile is not None:
            offset += form.coefficient(self.tile.dim) * block * self.tile.lanes
        if not isinstance(total, Val):
            return number("i64", offset)
        return self.f.add(total, offset) if offset else total

    def _sum(self, terms: tuple[tuple[str, int], ...]) -> Operand:
        """Σ coefficient · counter, outer loops first, so that parts are known from outside."""
        order = {d: i for i, d in enumerate(self.env)}
        present = sorted((t for t in terms if t[0] in order), key=lambda t: order[t[0]])
        total: Operand = 0
        key: tuple[Any, ...] = ()
        for d, c in present:
            key = (*key, self.env[d].text, c)
            found = self.find(key)
            if found is None:
                found = self.keep(key, self.f.add(total, self.f.mul(self.env[d], c)))
            total = found
        return total

    def lane_index(self, form: Affine, block: int) -> Val:
        """The values of a form at the lanes of a block, i64s."""
        assert self.tile is not None
        base = self.f.splat(self.index(form, block), self.tile.lanes)
        return self.f.binary("add", base, self.lane_numbers("i64", form.coefficient(self.tile.dim)))

    def within(self, form: Affine, low: int, high: int, block: int) -> Val:
        """low ≤ form < high: an i1, or one for each lane if the form varies along the tile."""
        f = self.f
        first, last = form.bounds(self.sizes)
        wide = self.tile is not None and self.tile.lanes > 1 and form.coefficient(self.tile.dim) != 0
        if not wide:
            x = self.index(form, block)
        elif max(abs(first), abs(last), abs(low), abs(high)) < SMALL:
            assert self.tile is not None
            base = f.splat(f.convert("trunc", self.index(form, block), "i32"), self.tile.lanes)
            x = f.binary("add", base, self.lane_numbers("i32", form.coefficient(self.tile.dim)))
        else:
            x = self.lane_index(form, block)
        tests = []
        if low > first:
            tests.append(f.icmp("sge", x, low))
        if high <= last:
            tests.append(f.icmp("slt", x, high))
        if not tests:
            return number(vector("i1", x.lanes), True)
        return tests[0] if len(tests) == 1 else f.binary("and", tests[0], tests[1])
