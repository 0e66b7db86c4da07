"""Loop trees of the kinds of launches: pointwise, rows (vectors run inside what is reduced), columns (across it), carried, split."""

from __future__ import annotations

from collections.abc import Sequence

from twofold.compiler.expr import ARITHMETIC, COSTS, FREE, Expr, is_float, walk
from twofold.compiler.schedule_tree import Bound, Finish, Flush, Init, Launch, Limit, Loop, Node, Rows, Step, Tile, Transpose
from twofold.compiler.spec import Reduce, Stage, Store

BLOCK_STEPS = 64
"""Additions to one accumulator before it is added to the next level: the error of a sum grows with them."""
REGISTER_BLOCKS = 8
"""A row of at most so many vectors stays in registers through all passes."""
COLUMN_BLOCKS = 4
"""Vectors side by side in a column kernel: fewer leave the adders idle, more do not fit with their operands."""
MAX_UNROLL = 4
CHEAP_NS = 1.6
"""Loops are unrolled until a trip costs about this much for each lane."""
MANY_EXPRESSIONS = 100
"""Larger bodies are not unrolled: code grows and gains nothing."""
CARRIED_ROWS = 8
"""Rows for which an accumulator in memory is loaded and stored once."""
MANY_INSTRUCTIONS = 300
"""The code of a row that stays in registers has about so many instructions at most."""


def build_tree(launch: Launch) -> None:
    """Fill in `launch.tree`."""
    if launch.kind in ("pointwise", "ordered"):
        launch.tree = _pointwise(launch)
    elif launch.kind == "columns":
        launch.tree = _columns(launch)
    else:
        launch.tree = _rows(launch)


# --- parts of trees


def limits(launch: Launch, d: str) -> tuple[Limit, Limit]:
    """Where the loop over a dimension begins and ends."""
    if d == launch.chunked and launch.chunks > 1:
        return Bound("low"), Bound("high")
    return 0, launch.sizes[d]


def loops(launch: Launch, dims: Sequence[str], body: list[Node]) -> list[Node]:
    """A nest of loops around a body, the first dimension outermost."""
    for d in reversed(dims):
        low, high = limits(launch, d)
        body = [Loop(body, d, low, high)]
    return body


def passes_of(launch: Launch) -> list[list[Stage]]:
    """Stages by level: one more than the reductions of the launch that they read."""
    level: dict[str, int] = {}
    result: list[list[Stage]] = []
    for s in launch.stages:
        k = max((level[a] + 1 for a in s.value.accs if a in level), default=0)
        if isinstance(s, Reduce):
            level[s.name] = k
        while len(result) <= k:
            result.append([])
        result[k].append(s)
    return result


def expressions_along(stages: Sequence[Stage], vector: str | None) -> list[float]:
    """The costs of the expressions that vary along the vector dimension, without their operands."""
    roots = [e for s in stages for e in ((s.value, *s.index) if isinstance(s, Store) else (s.value,))]
    return [0.0 if e.op in FREE else COSTS.get(e.op, ARITHMETIC) for e in walk(*roots) if vector in e.dims and e.op not in FREE]


def unrolling(stages: Sequence[Stage], vector: str | None) -> int:
    """How many vectors one trip of a loop computes."""
    costs = expressions_along(stages, vector)
    if len(costs) > MANY_EXPRESSIONS:
        return 1
    return max(1, min(MAX_UNROLL, int(CHEAP_NS / max(0.1, sum(costs)))))


def vector_loop(launch: Launch, body: Sequence[Stage], unroll: int, sums: Sequence[Reduce] = ()) -> tuple[list[Node], int, int]:
    """The loop along the vector dimension: the nodes, the levels of accumulators used, additions since the last flush.

    Full tiles first, then single vectors, then the rest: one masked vector, or scalars where the target has no masks.
    """
    d, lanes = launch.vector, launch.lanes
    assert d is not None
    low, high = limits(launch, d)
    size = launch.sizes[d]
    step = lanes * unroll
    chunked = isinstance(high, Bound)
    extent = launch.per_chunk if chunked else size

    def tile(blocks: int) -> list[Node]:
        return [Tile([Step([], body)], blocks, lanes)]

    main: Limit = Bound("high", step) if chunked else size - size % step
    whole: Limit = Bound("high", lanes) if chunked else size - size % lanes
    trips = extent // step
    nodes: list[Node] = []
    levels = 1
    if trips:
        if sums and trips > BLOCK_STEPS:
            inner = Loop(tile(unroll), d, 0, main, step, within=BLOCK_STEPS * step)
            nodes.append(Loop([inner, Flush([], sums, 0)], d, low, main, BLOCK_STEPS * step))
            levels, trips = 2, -(-trips // BLOCK_STEPS)
        else:
            nodes.append(Loop(tile(unroll), d, low, main, step))
    if unroll > 1 and (chunked or main != whole):
        nodes.append(Loop(tile(1), d, main, whole, lanes))
    if size % lanes:
        nodes += tail_of(launch, body, whole, high)
    return nodes, levels, trips + (size % step > 0)


def needs_scalars(launch: Launch) -> bool:
    """Whether the tail along the vector dimension is computed in scalars."""
    return launch.vector is not None and not launch.may_mask and launch.sizes[launch.vector] % launch.lanes != 0


def accumulation(
    launch: Launch, dims: Sequence[str], nodes: list[Node], sums: Sequence[Reduce], levels: int, additions: int
) -> tuple[list[Node], int]:
    """Loops over further inner dimensions, with flushes so that no accumulator takes many additions in a row."""
    for d in reversed(dims):
        low, high = limits(launch, d)
        count = launch.per_chunk if isinstance(high, Bound) else launch.sizes[d]
        if sums and additions >= BLOCK_STEPS // 4 and additions * count > BLOCK_STEPS:
            nodes = [*nodes, Flush([], sums, levels - 1)]
            levels, additions = levels + 1, 1
        if sums and additions * count > 4 * BLOCK_STEPS:
            block = max(1, BLOCK_STEPS // additions)
            inner = Loop(nodes, d, 0, high, 1, within=block)
            nodes = [Loop([inner, Flush([], sums, levels - 1)], d, low, high, block)]
            levels, additions = levels + 1, -(-count // block)
        else:
            nodes = [Loop(nodes, d, low, high)]
            additions *= count
    return nodes, levels


def sums_of(launch: Launch, reductions: Sequence[Reduce]) -> list[Reduce]:
    """Those whose error grows with the number of additions and that are not compensated."""
    return [r for r in reductions if r.op == "sum" and is_float(r.value.type) and not launch.compensated(r)]


def in_registers(launch: Launch) -> int:
    """The number of vectors of a whole row if they may stay in registers, else 0."""
    d = launch.vector
    if d is None or (d == launch.chunked and launch.chunks > 1):
        return 0
    size, lanes = launch.sizes[d], launch.lanes
    blocks = -(-size // lanes)
    if blocks > REGISTER_BLOCKS or (size % lanes and not launch.may_mask):
        return 0
    code = sum(max(1.0, cost / ARITHMETIC) for cost in expressions_along(launch.stages, d))
    return blocks if blocks * code <= MANY_INSTRUCTIONS else 0


# --- kinds


def _pointwise(launch: Launch) -> list[Node]:
    d, stages = launch.vector, launch.stages
    if d is None:
        return loops(launch, launch.outer, [Step([], stages)])
    others = [o for o in launch.outer if o != d]
    if launch.across is not None:
        return _transposed(launch, launch.across, [o for o in others if o != launch.across])
    blocks = in_registers(launch)
    if blocks and others and launch.kind == "pointwise":
        mask = launch.sizes[d] % launch.lanes or None
        # what depends on the vector dimension alone is computed once, before the rows
        return [Tile(loops(launch, others, [Step([], stages)]), blocks, launch.lanes, mask)]
    nodes, _, _ = vector_loop(launch, stages, unrolling(stages, d))
    return loops(launch, others, nodes)


def crossing_loads(stages: Sequence[Stage], d: str | None, a: str) -> list[Expr]:
    """Loads that are contiguous along `a` and strided along the vector dimension."""
    roots = [s.value for s in stages]
    return [
        e for e in walk(*roots)
        if e.op == "load" and d is not None and not e.args and not e.attr[2] and e.stride(a) == 1 and abs(e.stride(d)) > 1
    ]  # fmt: skip


def _transposed(launch: Launch, a: str, others: Sequence[str]) -> list[Node]:
    """Squares, the rest of the vector dimension beside them, then the rest of the other one."""
    d, lanes = launch.vector, launch.lanes
    assert d is not None
    loads = crossing_loads(launch.stages, d, a)
    (low, high), (first, last) = limits(launch, a), limits(launch, d)
    full: Limit = Bound("high", lanes) if isinstance(high, Bound) else high - high % lanes
    main: Limit = Bound("high", lanes) if isinstance(last, Bound) else last - last % lanes
    square = Tile([Transpose([Step([], launch.stages)], a, loads)], 1, lanes)
    body: list[Node] = [Loop([square], d, first, main, lanes)]
    if isinstance(last, Bound) or launch.sizes[d] % lanes:
        beside = Loop(tail_of(launch, launch.stages, main, last), a, 0, high, 1, within=lanes)
        body.append(beside)
    rest, _, _ = vector_loop(launch, launch.stages, 1)
    return loops(launch, others, [Loop(body, a, low, full, lanes), Loop(rest, a, full, high)])


def tail_of(launch: Launch, body: Sequence[Stage], whole: Limit, high: Limit) -> list[Node]:
    """What is left of the vector dimension after whole vectors: one masked vector, or scalars where the target has no masks."""
    d, lanes = launch.vector, launch.lanes
    assert d is not None
    if not launch.may_mask:
        return [Loop([Tile([Step([], body)], 1, 1)], d, whole, high, 1)]
    dynamic = isinstance(high, Bound)
    return [Loop([Tile([Step([], body)], 1, lanes, None if dynamic else launch.sizes[d] % lanes, dynamic)], d, whole, high, lanes)]


def _rows(launch: Launch) -> list[Node]:
    """Vectors run along an inner dimension: every pass walks the row, reductions are finished across the lanes."""
    d = launch.vector
    passes = passes_of(launch)
    blocks = in_registers(launch) if launch.inner == [d] else 0
    unroll = unrolling(launch.stages, d)
    body: list[Node] = []
    for stages in passes:
        reductions = [s for s in stages if isinstance(s, Reduce)]
        wide = [s for s in stages if set(s.dims) & set(launch.inner)]
        once = [s for s in stages if s not in wide]
        if once:
            body.append(Step([], once))
        sums = sums_of(launch, reductions)
        levels = 1
        nodes: list[Node] = []
        if wide and blocks:
            nodes = [Step([], wide)]
        elif wide:
            nodes, levels, additions = vector_loop(launch, wide, unroll, sums)
            nodes, levels = accumulation(launch, [i for i in launch.inner if i != d], nodes, sums, levels, additions)
        if reductions:
            body.append(Init([], reductions, blocks or unroll, levels, not blocks and needs_scalars(launch)))
        body += nodes
        if reductions:
            body.append(Finish([], reductions))
    if blocks:
        body = [Tile(body, blocks, launch.lanes, launch.sizes[d] % launch.lanes or None)]  # type: ignore[index]
    if _may_group(launch, passes):
        return _grouped(launch, body)
    return loops(launch, launch.outer, body)


def _may_group(launch: Launch, passes: list[list[Stage]]) -> bool:
    """Whether several rows may share one load of the accumulators in memory: they only accumulate, in one pass."""
    if launch.kind != "carried" or len(passes) != 1 or not launch.outer:
        return False
    return all(isinstance(s, Store) and s.mode != "set" and set(s.dims) & set(launch.inner) for s in launch.stages)


def _grouped(launch: Launch, body: list[Node]) -> list[Node]:
    """Rows in groups, then those that are left."""
    last = launch.outer[-1]
    low, high = limits(launch, last)
    full: Limit = Bound("high", CARRIED_ROWS) if isinstance(high, Bound) else high - high % CARRIED_ROWS
    groups = Loop([Rows(body, last, CARRIED_ROWS)], last, low, full, CARRIED_ROWS)
    return loops(launch, launch.outer[:-1], [groups, Loop(body, last, full, high)])


def _columns(launch: Launch) -> list[Node]:
    """Vectors run along a kept dimension: a tile of columns at a time, all passes over it."""
    d, lanes = launch.vector, launch.lanes
    assert d is not None
    low, high = limits(launch, d)
    size, chunked = launch.sizes[d], isinstance(high, Bound)
    wide = 1 if len(expressions_along(launch.stages, d)) > MANY_EXPRESSIONS else COLUMN_BLOCKS
    step = wide * lanes
    main: Limit = Bound("high", step) if chunked else size - size % step
    whole: Limit = Bound("high", lanes) if chunked else size - size % lanes

    def tile(blocks: int, width: int, mask: int | None = None, dynamic: bool = False) -> list[Node]:
        return [Tile(_column_passes(launch, blocks), blocks, width, mask, dynamic)]

    nodes: list[Node] = []
    if size >= step:
        nodes.append(Loop(tile(wide, lanes), d, low, main, step))
    if wide > 1 and (chunked or main != whole):
        nodes.append(Loop(tile(1, lanes), d, main, whole, lanes))
    if size % lanes:
        if launch.may_mask:
            nodes.append(Loop(tile(1, lanes, None if chunked else size % lanes, chunked), d, whole, high, lanes))
        else:
            nodes.append(Loop(tile(1, 1), d, whole, high, 1))
    return loops(launch, [o for o in launch.outer if o != d], nodes)


def _column_passes(launch: Launch, blocks: int) -> list[Node]:
    body: list[Node] = []
    for stages in passes_of(launch):
        reductions = [s for s in stages if isinstance(s, Reduce)]
        wide = [s for s in stages if set(s.dims) & set(launch.inner)]
        once = [s for s in stages if s not in wide]
        if once:
            body.append(Step([], once))
        nodes: list[Node] = []
        levels = 1
        if wide:
            nodes, levels = accumulation(launch, launch.inner, [Step([], wide)], sums_of(launch, reductions), 1, 1)
        if reductions:
            body.append(Init([], reductions, blocks, levels))
        body += nodes
        if reductions:
            body.append(Finish([], reductions, across=False))
    return body
