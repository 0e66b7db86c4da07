"""Pull rules of reading at positions given by tensors. What is read must be stored; positions are checked while the kernel runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twofold.compiler.affine import ZERO, Affine
from twofold.compiler.expr import Expr, Guard, cast, check_index, const, fn, iota, load, within
from twofold.compiler.index_maps import both
from twofold.compiler.kernel_builder import Index, KernelBuilder, Materialise, dtype_of_value, shape_of
from twofold.compiler.rules import broadcast, rule
from twofold.compiler.rules_views import source
from twofold.ir.graph import Node, Value
from twofold.ir.types import TensorType
from twofold.ops.indexing import placed_first

Guards = tuple[Guard, ...]


def checked(b: KernelBuilder, node: Node, index: Expr, size: int, dim: int, guards: Guards, negative: bool) -> Expr:
    """A data-dependent index into a dimension of `size` elements. Where the guards do not hold it is not looked at; without `negative`
    an index below 0 is out of range."""
    e = cast(index, "i64")
    if not negative:
        e = fn("where", fn("lt", e, const(0, "i64")), const(size, "i64"), e)
    if guards:
        e = fn("where", both([within(*g) for g in guards]), e, const(0, "i64"))
    return check_index(e, size, b.site(node, f"{node.op.name}: an index is out of range for dimension {dim} of size {size}"))


def read_flat(b: KernelBuilder, x: Value, flat: Expr, guards: Guards) -> Expr:
    """The element of a stored value at a computed position in C order."""
    if not b.environment.stored(x, b):
        raise Materialise(x, "it is read at computed positions")
    b.uses[x] = None
    return load(x.name, dtype_of_value(x), ZERO, guards, (flat,), (1,))


def nonempty(node: Node) -> bool:
    """Some element can be read: of nothing only nothing is taken, which the host does."""
    return 0 not in shape_of(source(node))


@rule("gather", when=nonempty)
def gather(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x, positions = source(node), node.inputs[1]
    assert isinstance(positions, Value)
    dim, shape = node.attributes["dim"], shape_of(x)
    at = b.pull(positions, index, guards)
    if not shape or not shape_of(positions):
        return read_flat(b, x, checked(b, node, at, max(1, _count(x)), 0, guards, False), guards)
    return b.load_at(x, replaced_by(index, dim, checked(b, node, at, shape[dim], dim, guards, False)), guards)


def _count(x: Value) -> int:
    assert isinstance(x.type, TensorType)
    return int(x.type.numel)


def replaced_by(index: Sequence[Affine | Expr], dim: int, e: Expr) -> tuple[Affine | Expr, ...]:
    return (*index[:dim], e, *index[dim + 1 :])


def vector_at(b: KernelBuilder, positions: Value, form: Affine, guards: Guards) -> Expr:
    """An element of a 1-d (or 0-d) index tensor."""
    return b.pull(positions, (form,) if shape_of(positions) else (), guards)


@rule("index_select", when=lambda node: nonempty(node) and bool(shape_of(source(node))))
def index_select(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x, dim = source(node), node.attributes["dim"]
    at = vector_at(b, node.inputs[1], index[dim], guards)
    return b.load_at(x, replaced_by(index, dim, checked(b, node, at, shape_of(x)[dim], dim, guards, False)), guards)


@rule("embedding", when=nonempty)
def embedding(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    weight = source(node)
    at = b.pull(node.inputs[1], index[:-1], guards)
    return b.load_at(weight, (checked(b, node, at, shape_of(weight)[0], 0, guards, False), index[-1]), guards)


@rule("take", when=nonempty)
def take(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x = source(node)
    at = b.pull(node.inputs[1], index, guards)
    return read_flat(b, x, checked(b, node, at, _count(x), 0, guards, True), guards)


def index_place(dims: tuple[int, ...]) -> int:
    """Where the indices' broadcast shape stands in the result of `index`."""
    return 0 if placed_first(dims) else dims[0]


def indexed_entries(
    b: KernelBuilder, node: Node, x_shape: tuple[int, ...], indices: Sequence[Value], index: Index, guards: Guards
) -> list[Any]:
    """The index of `x` that the element `index` of an `index` result means: checked expressions for the indexed dimensions."""
    dims = node.attributes["dims"]
    count = max(len(shape_of(i)) for i in indices)
    at = index_place(dims)
    inner = index[at : at + count]
    rest = iter((*index[:at], *index[at + count :]))
    places = dict(zip(dims, indices, strict=True))
    entries: list[Any] = []
    for d, n in enumerate(x_shape):
        if d in places:
            e = b.pull(places[d], broadcast(inner, shape_of(places[d])), guards)
            entries.append(checked(b, node, e, n, d, guards, True))
        else:
            entries.append(next(rest))
    return entries


@rule("index", when=nonempty)
def index_(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x = source(node)
    return b.load_at(x, indexed_entries(b, node, shape_of(x), node.inputs[1], index, guards), guards)


@rule("one_hot")
def one_hot(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    classes = node.attributes["num_classes"]
    at = checked(b, node, b.pull(source(node), index[:-1], guards), classes, 0, guards, False)
    return cast(fn("eq", at, iota(index[-1])), "i64")
