"""Level 2 of the loop compiler: a schedule, the explicit loop tree of each launch of a kernel. No LLVM here.

The nodes of a tree, in the order they run:

    Loop      a counted loop over one dimension; bounds are numbers, or those of the chunk
    Tile      `blocks` vectors of `lanes` elements along the vector dimension are alive together in the body; `mask` lanes of the last count
    Init      accumulators of reductions get their identities
    Step      stages are computed at one position (for each block of the tile): reductions accumulate, stores store
    Flush     accumulators of one level are added to those of the next: sums stay accurate
    Finish    accumulators become the reductions' results: "across" lanes, or lane by lane ("lanes")
    Transpose squares of lanes × lanes elements are loaded along `dim` and transposed; the body at each position of `dim` among them
    Rows      the body for `count` neighbours of a dimension; an accumulator in memory is loaded and stored once for all
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from twofold.compiler.affine import Affine
from twofold.compiler.expr import Expr
from twofold.compiler.spec import Buffer, KernelSpec, Reduce, Stage, Store
from twofold.runtime.target import Target

CHUNK = "%chunk"
"""The number of the chunk, as a dimension of affine forms."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound of the chunk: its `end` ("low" or "high"); `multiple`: the greatest low + k · multiple up to the high end."""

    end: str
    multiple: int = 1

    def __str__(self) -> str:
        return f"chunk.{self.end}" + (f" in {self.multiple}s" if self.multiple > 1 else "")


Limit = int | Bound


@dataclass(eq=False, slots=True)
class Node:
    """A node of a loop tree."""

    body: list[Node] = field(default_factory=list)

    def head(self) -> str:
        return type(self).__name__.lower()

    def lines(self, depth: int = 0) -> Iterator[str]:
        yield "  " * depth + self.head()
        for n in self.body:
            yield from n.lines(depth + 1)

    def walk(self) -> Iterator[Node]:
        yield self
        for n in self.body:
            yield from n.walk()


@dataclass(eq=False, slots=True)
class Loop(Node):
    dim: str = ""
    low: Limit = 0
    high: Limit = 0
    step: int = 1
    within: int = 0
    """For the inner loop of a blocked one: it runs from the outer loop's position for `within`, at most to `high`."""

    def head(self) -> str:
        low = f"{self.dim}.block" if self.within else self.low
        high = f"min({self.dim}.block + {self.within}, {self.high})" if self.within else self.high
        return f"for {self.dim} in {low} .. {high}" + (f" step {self.step}" if self.step != 1 else "")


@dataclass(eq=False, slots=True)
class Tile(Node):
    blocks: int = 1
    lanes: int = 1
    mask: int | None = None
    dynamic: bool = False

    def head(self) -> str:
        last = f", last of {self.mask}" if self.mask else ", last masked by the chunk" if self.dynamic else ""
        return f"tile {self.blocks} x {self.lanes}{last}"


@dataclass(eq=False, slots=True)
class Init(Node):
    """`blocks` accumulators of `lanes` on each of `levels` levels, and one scalar if `scalar`."""

    reductions: Sequence[Reduce] = ()
    blocks: int = 1
    levels: int = 1
    scalar: bool = False

    def head(self) -> str:
        shape = f" ({self.blocks} accumulators, {self.levels} level{'s' * (self.levels > 1)})"
        return "init " + ", ".join(r.name for r in self.reductions) + shape


@dataclass(eq=False, slots=True)
class Step(Node):
    stages: Sequence[Stage] = ()

    def head(self) -> str:
        return "step " + ", ".join(map(title, self.stages))


@dataclass(eq=False, slots=True)
class Flush(Node):
    reductions: Sequence[Reduce] = ()
    level: int = 0

    def head(self) -> str:
        return f"flush {', '.join(r.name for r in self.reductions)} to level {self.level + 1}"


@dataclass(eq=False, slots=True)
class Finish(Node):
    reductions: Sequence[Reduce] = ()
    across: bool = True

    def head(self) -> str:
        return f"finish {', '.join(r.name for r in self.reductions)} {'across lanes' if self.across else 'lane by lane'}"


@dataclass(eq=False, slots=True)
class Rows(Node):
    dim: str = ""
    count: int = 1

    def head(self) -> str:
        return f"{self.count} rows of {self.dim} for each accumulator"


@dataclass(eq=False, slots=True)
class Transpose(Node):
    dim: str = ""
    loads: Sequence[Expr] = ()

    def head(self) -> str:
        return f"transpose {len(self.loads)} load{'s' * (len(self.loads) > 1)} along {self.dim}"


def title(s: Stage) -> str:
    """A stage in one word or two."""
    return s.name if isinstance(s, Reduce) else s.buffer if s.mode == "set" else f"{s.mode} into {s.buffer}"


@dataclass(eq=False)
class Launch:
    """One function of a kernel, run as `chunks` calls.

    `sizes`: its dimensions; `chunked`: the one that is cut into chunks of `per_chunk` (None: one chunk); `vector`: the one vectors of
    `lanes` elements run along; `fills`: memory that each chunk sets to a reduction's identity first (buffer, offset, elements, reduction);
    `stack`: row buffers in the kernel's own stack memory.
    """

    kind: str
    sizes: dict[str, int]
    stages: list[Stage]
    outer: list[str]
    inner: list[str]
    vector: str | None = None
    lanes: int = 1
    tree: list[Node] = field(default_factory=list)
    chunked: str | None = None
    per_chunk: int = 1
    chunks: int = 1
    fills: list[tuple[str, Affine, int, Reduce]] = field(default_factory=list)
    stack: dict[str, Buffer] = field(default_factory=dict)
    may_mask: bool = False
    strict: bool = False
    across: str | None = None
    """A dimension along which some loads are contiguous while stores are along `vector`."""

    def compensated(self, r: Reduce) -> bool:
        """Whether a reduction carries the rounding error of its sum along."""
        return self.strict and r.op == "sum" and r.value.type == "f64"

    @property
    def reductions(self) -> list[Reduce]:
        return [s for s in self.stages if isinstance(s, Reduce)]

    def __str__(self) -> str:
        where = f", vectors of {self.lanes} along {self.vector}" if self.vector and self.lanes > 1 else ""
        chunks = f", {self.chunks} chunks of {self.per_chunk} of {self.chunked}" if self.chunked and self.chunks > 1 else ""
        lines = [f"launch: {self.kind}{where}{chunks}"]
        lines += [f"  row buffer {b.name}: {b.dtype.short}[{b.numel}]" for b in self.stack.values()]
        lines += [f"  fill {buffer}[{offset}] x {count} with the identity of {r.op}" for buffer, offset, count, r in self.fills]
        for n in self.tree:
            lines += n.lines(1)
        return "\n".join(lines)


@dataclass(eq=False)
class Schedule:
    """How a spec runs: launches one after another, and the memory they need besides its buffers."""

    spec: KernelSpec
    target: Target
    strict: bool
    launches: list[Launch] = field(default_factory=list)
    scratch: list[Buffer] = field(default_factory=list)

    @property
    def chunks(self) -> int:
        """The most chunks of any launch."""
        return max((launch.chunks for launch in self.launches), default=1)

    def __str__(self) -> str:
        lines = [f"scratch {b.name}: {b.dtype.short}[{b.numel}]" for b in self.scratch]
        return "\n".join([*lines, *map(str, self.launches)])


def accumulates(s: Stage) -> bool:
    """Whether a stage combines with what is in memory."""
    return isinstance(s, Store) and s.mode != "set"
