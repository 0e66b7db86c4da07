"""Row buffers: what several passes over a row need and is dear to compute is computed once and kept in stack memory."""

from __future__ import annotations

import math
from collections.abc import Iterable

from twofold.compiler.affine import Affine, flat_index
from twofold.compiler.expr import ARITHMETIC, COSTS, FREE, Expr, dtype_of, load, rewrite, walk
from twofold.compiler.schedule_kinds import in_registers, passes_of
from twofold.compiler.schedule_tree import Launch
from twofold.compiler.spec import Buffer, Reduce, Stage, Store, roots_of

DEAR_NS = 0.12
"""An element that takes longer to compute again than this is kept: storing and loading it takes about half."""
ROW_BYTES = 1 << 18
"""Row buffers of a kernel take at most this much: a thread's stack, and half of a second-level cache."""


def keep_rows(launch: Launch) -> None:
    """Give a launch of kind "rows" its row buffers: stores in the pass that computes a value, loads in later ones."""
    if launch.kind != "rows" or launch.chunked in launch.inner or in_registers(launch):
        return
    passes = [s for s in passes_of(launch) if any(set(t.dims) & set(launch.inner) for t in s)]
    if len(passes) < 2:
        return
    kept: dict[Expr, Expr] = {}
    inner = frozenset(launch.inner)
    numel = math.prod(launch.sizes[d] for d in launch.inner)
    place = flat_index([Affine(0, ((d, 1),)) for d in launch.inner], tuple(launch.sizes[d] for d in launch.inner))
    room = ROW_BYTES
    seen: set[Expr] = set()
    for stages in passes:
        roots = [e for s in stages for e in roots_of(s)]
        for e in _shared(roots, seen):
            dtype = dtype_of(e.type)
            if _cost(e, inner, kept) > DEAR_NS and numel * dtype.itemsize <= room:
                room -= numel * dtype.itemsize
                name = f"%row{len(kept)}"
                launch.stack[name] = Buffer(name, dtype, numel, "inout")
                kept[e] = load(name, dtype, place)
        seen.update(walk(*roots))
    if kept:
        launch.stages = _with_buffers(launch, kept, place)


def _shared(roots: Iterable[Expr], seen: set[Expr]) -> list[Expr]:
    """The largest expressions below the roots that earlier passes compute."""
    result: list[Expr] = []
    visited: set[Expr] = set()
    stack = list(roots)
    while stack:
        e = stack.pop()
        if e in visited:
            continue
        visited.add(e)
        if e in seen:
            result.append(e)
        else:
            stack += e.args
    return result


def _cost(e: Expr, inner: frozenset[str], kept: dict[Expr, Expr]) -> float:
    """ns to compute an element again; what is kept is loaded."""
    total, visited, stack = 0.0, set[Expr](), [e]
    while stack:
        x = stack.pop()
        if x in visited or not x.dims & inner:
            continue
        visited.add(x)
        if x in kept:
            total += COSTS["load"]
        else:
            total += (0.0 if x.op in FREE else COSTS.get(x.op, ARITHMETIC)) * (2.0 if x.type == "f64" else 1.0)
            stack += x.args
    return total


def _with_buffers(launch: Launch, kept: dict[Expr, Expr], place: Affine) -> list[Stage]:
    """The stages, pass by pass: first a store for each value that is kept from there on; what earlier passes kept is loaded."""
    dims = (*launch.outer, *launch.inner)
    passes = passes_of(launch)
    level = {s.name: k for k, group in enumerate(passes) for s in group if isinstance(s, Reduce)}
    first = {e: max((level[a] + 1 for a in e.accs if a in level), default=0) for e in kept}
    stages: list[Stage] = []
    for k, group in enumerate(passes):
        memo = {e: x for e, x in kept.items() if first[e] < k}
        for e, x in kept.items():
            if first[e] == k:
                buffer = launch.stack[x.attr[0]]
                stages.append(Store(buffer.name, buffer.dtype, place, dims, _rewritten(e, memo)))
        for s in group:
            if isinstance(s, Reduce):
                stages.append(Reduce(s.name, s.op, s.over, s.kept, _rewritten(s.value, memo)))
            else:
                index = tuple(_rewritten(e, memo) for e in s.index)
                stages.append(Store(s.buffer, s.dtype, s.offset, s.dims, _rewritten(s.value, memo), s.mode, index, s.strides, s.guards))
    return stages


def _rewritten(e: Expr, memo: dict[Expr, Expr]) -> Expr:
    return rewrite(e, lambda _: None, memo)
