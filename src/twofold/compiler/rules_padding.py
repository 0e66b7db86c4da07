"""Pull rules of padding: every dimension is one or a few stretches, each an affine map into the operand."""

from __future__ import annotations

from twofold.compiler.affine import Affine, affine
from twofold.compiler.expr import Expr, Guard, fn, within
from twofold.compiler.index_maps import Position
from twofold.compiler.kernel_builder import Index, KernelBuilder, shape_of
from twofold.compiler.rules import output_dtype, rule
from twofold.compiler.rules_creation import fits_dtype, stored_number
from twofold.compiler.rules_joining import zero_of
from twofold.compiler.rules_views import source
from twofold.ir.graph import Node, Value
from twofold.ops.padding import pads_by_dim

Guards = tuple[Guard, ...]


@rule("constant_pad_nd", when=lambda node: fits_dtype(node.attributes["value"], output_dtype(node)))
def constant_pad(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x = source(node)
    p, entries = Position.at(b, index, guards), list(index)
    for dim, before, _ in pads_by_dim(node.attributes["pad"], len(index)):
        entries[dim] = entries[dim].shifted(-before)
        p = p.within(entries[dim], 0, shape_of(x)[dim])
    return p.with_entries(entries).choose(lambda q: q.read(x), lambda: stored_number(node.attributes["value"], output_dtype(node)))


Stretch = tuple[int, int, int, int]
"""(first, end, scale, offset): positions first ≤ i < end are copies of the operand's position scale · i + offset."""
MIDDLE, COPIES = 0, 1


def stretches(mode: str, n: int, before: int, after: int) -> list[Stretch]:
    """The stretches of a padded dimension, in the order of positions; the unchanged one and those that repeat elements."""
    start, end, total = before, before + n, before + n + after
    found: list[Stretch] = []
    if before > 0:
        if mode == "replicate":
            found.append((0, start, 0, 0))
        elif mode == "reflect":
            found.append((0, start, -1, before))
        else:
            found.append((0, start, 1, n - before))
    found.append((max(start, 0), min(end, total), 1, -before))
    if after > 0:
        if mode == "replicate":
            found.append((end, total, 0, n - 1))
        elif mode == "reflect":
            found.append((end, total, -1, 2 * (n - 1) + before))
        else:
            found.append((end, total, 1, -before - n))
    return [s for s in found if s[0] < s[1]]


def _mapped(form: Affine, stretch: Stretch) -> Affine:
    _, _, scale, offset = stretch
    return form.times(scale).shifted(offset) if scale else affine(offset)


def padded(p: Position, x: Value, dims: list[tuple[int, int, int]], mode: str) -> Expr:
    """The element at a position after padding these dimensions, (dimension, before, after)."""
    if not dims:
        return p.read(x)
    (dim, before, after), *rest = dims
    form = p.entries[dim]
    assert isinstance(form, Affine)
    result: Expr | None = None
    for stretch in reversed(stretches(mode, shape_of(x)[dim], before, after)):
        here = p.within(form, stretch[0], stretch[1])
        if here.nowhere:
            continue
        e = padded(here.with_entries((*p.entries[:dim], _mapped(form, stretch), *p.entries[dim + 1 :])), x, rest, mode)
        result = e if result is None else fn("where", within(form, stretch[0], stretch[1]), e, result)
    assert result is not None
    return result


def mode_of(name: str) -> str:
    return "circular" if name.startswith("circular") else "reflect" if name.startswith("reflection") else "replicate"


@rule("circular_pad", *(f"{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (1, 2, 3)))
def edge_pad(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dims = [d for d in pads_by_dim(node.attributes["pad"], len(index)) if d[1] or d[2]]
    return padded(Position.at(b, index, guards), source(node), dims, mode_of(node.op.name))


def sources_in(stretch: Stretch, n: int) -> tuple[int, int]:
    """The operand's positions that a stretch copies: (first, end)."""
    first, end, scale, offset = stretch
    a, z = scale * first + offset, scale * (end - 1) + offset
    return max(0, min(a, z)), min(n, max(a, z) + 1)


def folded(p: Position, g: Value, node: Node, dims: list[tuple[int, int, int]], mode: str) -> Expr:
    """The sum of the gradients of all copies of an element of the operand."""
    if not dims:
        return p.read(g)
    (dim, before, after), *rest = dims
    form, n = p.entries[dim], shape_of(node.outputs[0])[dim]
    assert isinstance(form, Affine)
    result: Expr | None = None
    for stretch in stretches(mode, n, before, after):
        first, end, scale, offset = stretch
        here = p.within(form, *sources_in(stretch, n))
        if here.nowhere:
            continue
        # one copy (i = scale · (position - offset)), or as many as the stretch is long where it repeats the border
        copies = [form.shifted(-offset).times(scale)] if scale else [affine(i) for i in range(first, end)]
        for copy in copies:
            e = folded(here.with_entries((*p.entries[:dim], copy, *p.entries[dim + 1 :])), g, node, rest, mode)
            if len(here.guards) != len(p.guards):
                e = fn("where", within(form, *sources_in(stretch, n)), e, zero_of(node))
            result = e if result is None else fn("add", result, e)
    return zero_of(node) if result is None else result


def _few(node: Node) -> bool:
    """Padding repeats no border more often than is worth unrolling."""
    pad = node.attributes["pad"]
    return node.attributes["mode"] != "replicate" or sum(max(0, k) for k in pad) <= 32


@rule("pad_backward", when=_few)
def pad_backward(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dims = [d for d in pads_by_dim(node.attributes["pad"], len(index)) if d[1] or d[2]]
    return folded(Position.at(b, index, guards), source(node), node, dims[::-1], node.attributes["mode"])
