"""KernelSpec: what a kernel computes, with no word about how.

A spec has dimensions (name → size), buffers (name → dtype and number of elements), and stages in order:

    Reduce   name[kept] = op over `over` of an expression        op: sum, prod, max, min (NaN is kept), any, all
    Scan     name[kept + over] = running op along one dimension  (inclusive)
    Store    buffer[offset + Σ index · stride] = expression, over `dims`; mode "set", or "add", "max", "min", "mul": combined with what
             is there, one element after the other in C order of `dims` where positions collide

There are no rows and columns: each reduction names its own dimensions. `verify` checks a spec, `evaluate.evaluate` runs it on NumPy arrays,
`str` shows it, `listing` with the user's lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from twofold.compiler.affine import Affine
from twofold.compiler.expr import Expr, dtype_of, show, walk
from twofold.ir.dtypes import DType
from twofold.ir.graph import Source
from twofold.support.errors import GraphError

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")
MODES = ("set", "add", "mul", "max", "min")


@dataclass(eq=False, slots=True)
class Reduce:
    """`name` = `op` over the dimensions `over` of `value`, for each position of `kept`. No elements: the operation's identity."""

    name: str
    op: str
    over: tuple[str, ...]
    kept: tuple[str, ...]
    value: Expr

    @property
    def dims(self) -> tuple[str, ...]:
        return self.kept + self.over

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(self.kept)}] = {self.op} over {', '.join(self.over)} of {show(self.value)}"


@dataclass(eq=False, slots=True)
class Store:
    """`buffer`[offset + Σ index · stride] = `value` for each position of `dims`; guards as of a load: elsewhere nothing is stored."""

    buffer: str
    dtype: DType
    offset: Affine
    dims: tuple[str, ...]
    value: Expr
    mode: str = "set"
    index: tuple[Expr, ...] = ()
    strides: tuple[int, ...] = ()
    guards: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return self.text({})

    def text(self, names: dict[Expr, str]) -> str:
        """The stage, expressions in `names` by their names."""
        position = str(self.offset)
        for e, s in zip(self.index, self.strides, strict=True):
            position += f"+{s}*{named(e, names)}"
        position += "".join(f" if {low}<={g}<{high}" for g, low, high in self.guards)
        return f"{self.buffer}[{position}] {'=' if self.mode == 'set' else self.mode + '='} {named(self.value, names)}"


Stage = Reduce | Store


def named(e: Expr, names: dict[Expr, str]) -> str:
    """An expression by its name, or in full."""
    return names[e] if e in names else show(e, names)


def roots_of(stage: Stage) -> tuple[Expr, ...]:
    """The expressions a stage evaluates."""
    return (stage.value, *stage.index) if isinstance(stage, Store) else (stage.value,)


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory a kernel reads or writes: dense, `numel` elements of `dtype`. `role`: "in", "out" or "inout"."""

    name: str
    dtype: DType
    numel: int
    role: str = "in"

    @property
    def nbytes(self) -> int:
        return self.numel * self.dtype.itemsize


@dataclass(eq=False, slots=True)
class KernelSpec:
    """One kernel. `sources`: the user's lines it comes from; `nodes`: names of the graph's nodes it computes."""

    name: str
    sizes: dict[str, int]
    buffers: dict[str, Buffer]
    stages: list[Stage]
    nodes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    sites: dict[int, str] = field(default_factory=dict)

    @property
    def reductions(self) -> dict[str, Reduce]:
        return {s.name: s for s in self.stages if isinstance(s, Reduce)}

    @property
    def stores(self) -> list[Store]:
        return [s for s in self.stages if isinstance(s, Store)]

    @property
    def elements(self) -> int:
        """Positions of the whole domain."""
        return math.prod(self.sizes.values())

    @property
    def bytes_read(self) -> int:
        return sum(b.nbytes for b in self.buffers.values() if b.role != "out")

    @property
    def bytes_written(self) -> int:
        return sum(b.nbytes for b in self.buffers.values() if b.role != "in")

    @property
    def operations(self) -> int:
        """Scalar operations of one run (loads, constants and positions are none), every stage over its own dimensions."""
        total = 0
        for s in self.stages:
            count = sum(e.op not in ("load", "const", "iota", "acc") for e in walk(s.value)) + isinstance(s, Reduce)
            total += count * math.prod(self.sizes[d] for d in s.dims)
        return total

    def loads(self) -> set[Expr]:
        """All loads of the kernel."""
        roots = [e for s in self.stages for e in (s.value, *(s.index if isinstance(s, Store) else ()))]
        return {e for e in walk(*roots) if e.op == "load"}

    def __str__(self) -> str:
        head = f"kernel {self.name}({', '.join(f'{d}<{n}' for d, n in self.sizes.items())})"
        return "\n".join([head, *(f"  {b.role} {b.name}: {b.dtype.short}[{b.numel}]" for b in self.buffers.values()), *self._lines()])

    def _lines(self) -> list[str]:
        """Stages with shared expressions named once (trees of shared expressions would explode)."""
        uses: dict[Expr, int] = {}
        for s in self.stages:
            for e in walk(*roots_of(s)):
                for a in e.args:
                    uses[a] = uses.get(a, 0) + 1
            for root in roots_of(s):
                uses[root] = uses.get(root, 0) + 1
        names: dict[Expr, str] = {}
        lines = []
        for s in self.stages:
            for e in walk(*roots_of(s)):
                if e not in names and e.args and e.op != "load" and uses[e] > 1:
                    text = show(e, names)
                    names[e] = f"t{len(names)}"
                    lines.append(f"  {names[e]} = {text}")
            if isinstance(s, Reduce):
                lines.append(f"  {s.name}[{', '.join(s.kept)}] = {s.op} over {', '.join(s.over)} of {named(s.value, names)}")
            else:
                lines.append("  " + s.text(names))
        return lines

    def listing(self) -> str:
        """The spec with the user's lines it comes from."""
        lines = [f"# {place}: {s.text}" if (place := s.location) else "" for s in self.sources]
        return "\n".join([*dict.fromkeys(filter(None, lines)), str(self)])


def verify(spec: KernelSpec) -> None:
    """Raise GraphError for a malformed spec: unknown dimensions or buffers, an expression that varies along a dimension its stage does not
    have, a reduction read before it exists, types that do not fit, an access outside a buffer."""
    known: dict[str, Reduce] = {}
    for number, s in enumerate(spec.stages):
        dims = set(s.dims)
        # not the stage's text: a tree of shared expressions would explode
        where = f"kernel {spec.name}, stage {number} ({s.name if isinstance(s, Reduce) else s.buffer})"
        if not dims <= set(spec.sizes) or len(dims) != len(s.dims):
            raise GraphError(f"{where}: unknown or repeated dimensions {s.dims}")
        roots = roots_of(s)
        for root in roots:
            if not root.dims <= dims:
                raise GraphError(f"{where}: an expression varies along {sorted(root.dims - dims)}, which the stage does not have")
        for e in walk(*roots):
            _verify_expr(spec, e, known, s.dims, where)
        if isinstance(s, Reduce):
            if s.op not in REDUCTIONS or s.name in known or set(s.over) & set(s.kept):
                raise GraphError(f"{where}: bad operation, name or dimensions")
            known[s.name] = s
        else:
            _verify_store(spec, s, where)


def _verify_store(spec: KernelSpec, s: Store, where: str) -> None:
    b = spec.buffers.get(s.buffer)
    if b is None or b.role == "in" or b.dtype is not s.dtype or s.mode not in MODES:
        raise GraphError(f"{where}: not a buffer this kernel writes")
    if not s.index and not s.guards:
        _inside(spec, s.offset, b, s.dims, where)


def _inside(spec: KernelSpec, offset: Affine, b: Buffer, dims: Any, where: str) -> None:
    if any(spec.sizes[d] == 0 for d in dims):
        return
    low, high = offset.bounds(spec.sizes)
    if low < 0 or high >= b.numel:
        raise GraphError(f"{where}: {b.name}[{offset}] reaches {low} to {high}, the buffer has {b.numel} elements")


def _verify_expr(spec: KernelSpec, e: Expr, known: dict[str, Reduce], dims: Any, where: str) -> None:
    if e.op == "acc" and e.attr not in known:
        raise GraphError(f"{where}: {e.attr} is read before it is computed")
    if e.op == "load":
        buffer, offset, guards, stored = e.attr
        b = spec.buffers.get(buffer)
        if b is None or b.dtype is not stored:
            raise GraphError(f"{where}: {buffer} is not a buffer of {stored.short}")
        if not guards and not e.args:
            _inside(spec, offset, b, dims, where)
    dtype_of(e.type)
