"""Pull rules of reductions."""

from __future__ import annotations

from typing import Any

from twofold.compiler import affine as af
from twofold.compiler.expr import Expr, Guard, cast, const, fn, iota, register_type
from twofold.compiler.kernel_builder import REDUCES, Index, KernelBuilder, Materialise, dtype_of_value, shape_of
from twofold.compiler.rules import output_dtype, rule
from twofold.compiler.rules_views import source
from twofold.ir.graph import Node

Guards = tuple[Guard, ...]
SIMPLE = {"sum": "sum", "prod": "prod", "amax": "max", "amin": "min", "max": "max", "min": "min", "any": "any", "all": "all"}


def axes_of(node: Node) -> tuple[int, ...]:
    """The reduced dimensions, from the front, in order."""
    rank = len(shape_of(source(node)))
    dim: Any = node.attributes.get("dim")
    if dim is None or dim == ():
        return tuple(range(rank))
    dims = dim if isinstance(dim, tuple) else (dim,)
    return tuple(sorted({d % rank for d in dims})) if rank else ()


def keepdim_of(node: Node) -> bool:
    return bool(node.attributes.get("keepdim", False))


def _serves(node: Node) -> bool:
    """NumPy raises for the extremum of nothing: such nodes stay on the host, where the reference does."""
    shape = shape_of(source(node))
    return node.op.name in ("sum", "prod", "any", "all") or all(shape[a] for a in axes_of(node))


def dropped(node: Node, index: Index) -> Index:
    """The index of the result without the dimensions that keepdim keeps."""
    axes = axes_of(node)
    return tuple(f for i, f in enumerate(index) if i not in axes) if keepdim_of(node) else index


@rule(*SIMPLE, when=_serves)
def reduction(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x, op = source(node), SIMPLE[node.op.name]
    t = register_type(output_dtype(node))
    if 0 in shape_of(x):
        return const({"sum": 0, "prod": 1, "any": False, "all": True}[op], t)
    if op in ("max", "min") and dtype_of_value(x).short == "bool":
        op = "any" if op == "max" else "all"
    if op in ("any", "all"):
        return cast(
            b.reduce(
                node.outputs[0], node.outputs[0], op, lambda i: cast(b.pull(x, i), "bool"), shape_of(x), axes_of(node), dropped(node, index)
            ),
            t,
        )
    return b.reduce(node.outputs[0], node.outputs[0], op, lambda i: cast(b.pull(x, i), t), shape_of(x), axes_of(node), dropped(node, index))


for _name in SIMPLE:
    REDUCES[_name] = lambda node: (axes_of(node), keepdim_of(node))


def extremum(b: KernelBuilder, node: Node, op: str, index: Index) -> tuple[Expr, Expr]:
    """(the extreme value, the first position along the one reduced dimension that holds it; NaN wins, as in NumPy and PyTorch)."""
    x, axes = source(node), axes_of(node)
    shape = shape_of(x)
    v = node.outputs[0]
    best = b.reduce((v, op), v, op, lambda i: b.pull(x, i), shape, axes, index)

    def candidate(i: Index) -> Expr:
        e = b.pull(x, i)
        hit = fn("eq", e, best)
        if e.type in ("f32", "f64"):
            hit = fn("or", hit, fn("isnan", e))
        position = iota(af.flat_index([i[a] for a in axes], tuple(shape[a] for a in axes)))
        return fn("where", hit, position, const(1 << 62, "i64"))

    return best, b.reduce((v, "position"), v, "min", candidate, shape, axes, index)


def _one_dim(node: Node) -> bool:
    shape = shape_of(source(node))
    return all(shape[a] for a in axes_of(node)) and dtype_of_value(source(node)).short != "bool"


@rule("argmax", "argmin", when=_one_dim)
def position(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return extremum(b, node, "max" if node.op.name == "argmax" else "min", dropped(node, index))[1]


@rule("max_dim", "min_dim", when=_one_dim)
def with_position(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return extremum(b, node, "max" if node.op.name == "max_dim" else "min", dropped(node, index))[which]


for _name in ("argmax", "argmin", "max_dim", "min_dim"):
    REDUCES[_name] = lambda node: (axes_of(node), keepdim_of(node))

__all__ = ["Materialise", "axes_of", "extremum", "keepdim_of"]
