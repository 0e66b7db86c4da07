"""Pull rules of views and copies of shape only: index maps."""

from __future__ import annotations

from twofold.compiler import affine as af
from twofold.compiler.affine import ZERO
from twofold.compiler.expr import Expr, Guard, cast, const, register_type
from twofold.compiler.kernel_builder import Index, KernelBuilder, Materialise, Straddles, shape_of
from twofold.compiler.rules import broadcast, operand, output_dtype, replaced, rounded, rule
from twofold.ir.graph import Node, Value

Guards = tuple[Guard, ...]


def source(node: Node) -> Value:
    x = node.inputs[0]
    assert isinstance(x, Value)
    return x


@rule("expand")
def expand(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return b.pull(source(node), broadcast(index, shape_of(source(node))), guards)


@rule("alias", "detach", "clone")
def same(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return b.pull(source(node), index, guards)


@rule("to")
def to(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    e = operand(b, node, 0, index, guards)
    dtype = output_dtype(node)
    return rounded(cast(e, register_type(dtype)), dtype)


@rule("permute")
def permute(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dims = node.attributes["dims"]
    return _transposed(b, node, tuple(index[dims.index(i)] for i in range(len(dims))), guards)


@rule("transpose")
def transpose(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    i, j = node.attributes["dim0"], node.attributes["dim1"]
    swapped = list(index)
    if index:
        swapped[i], swapped[j] = swapped[j], swapped[i]
    return _transposed(b, node, tuple(swapped), guards)


@rule("t")
def matrix_transpose(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    return _transposed(b, node, index[::-1], guards)


def _transposed(b: KernelBuilder, node: Node, index: Index, guards: Guards) -> Expr:
    e = b.pull(source(node), index, guards)
    if e.op == "load":
        b.transposed[e] = node.outputs[0]
    return e


@rule("select")
def select(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    shape, dim, at = shape_of(source(node)), node.attributes["dim"], node.attributes["index"]
    position = af.affine(at + shape[dim] if at < 0 else at)
    return b.pull(source(node), (*index[:dim], position, *index[dim:]), guards)


@rule("slice")
def slice_(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dim, step = node.attributes["dim"], node.attributes["step"]
    size = shape_of(source(node))[dim]
    start = slice(node.attributes["start"], node.attributes["end"], step).indices(size)[0]
    return b.pull(source(node), replaced(index, dim, index[dim].times(step).shifted(start)), guards)


@rule("unsqueeze")
def unsqueeze(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dim = node.attributes["dim"]
    return b.pull(source(node), index[:dim] + index[dim + 1 :], guards)


@rule("squeeze", "view", "reshape_copy")
def view(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """A reshape: the flat position, read as an index of the operand's shape; where that is not affine the operand is stored."""
    x, shape = source(node), shape_of(node.outputs[which])
    flat = af.flat_index(index, shape)
    if b.environment.stored(x, b):
        return b.load_flat(x, flat, guards)
    try:
        inner = b.unflatten(flat, shape_of(x), guards)
    except Straddles:
        raise Materialise(x, "a reshape of it is no affine index map") from None
    return b.pull(x, inner, guards)


@rule("unbind")
def unbind(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dim = node.attributes["dim"]
    return b.pull(source(node), (*index[:dim], af.affine(which), *index[dim:]), guards)


@rule("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "full", "full_like", "empty", "empty_like", "zero", "fill")
def filled(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    name, t = node.op.name, register_type(output_dtype(node))
    if name == "fill":
        position = (
            next(i for i, p in enumerate(node.op.inputs) if p.name == "value") if any(p.name == "value" for p in node.op.inputs) else -1
        )
        x = operand(b, node, position, index, guards) if position >= 0 else node.attributes["value"]
        return cast(x, t) if isinstance(x, Expr) else const(x, t)
    if name.startswith("full"):
        return const(node.attributes["fill_value"], t)
    return const(1 if name.startswith("ones") else 0, t)


def _diagonal_shape(node: Node) -> tuple[int, int, int]:
    n = len(shape_of(source(node)))
    return node.attributes["offset"], node.attributes["dim1"] % n, node.attributes["dim2"] % n


@rule("diagonal")
def diagonal(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    offset, dim1, dim2 = _diagonal_shape(node)
    along, rest = index[-1], list(index[:-1])
    for dim, form in sorted(((dim1, along.shifted(max(-offset, 0))), (dim2, along.shifted(max(offset, 0))))):
        rest.insert(dim, form)
    return b.pull(source(node), tuple(rest), guards)


@rule("copy")
def copy(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """The second operand, broadcast and converted."""
    e = operand(b, node, 1, index, guards)
    t = register_type(output_dtype(node))
    return cast(e, t) if isinstance(e, Expr) else const(e, t)


__all__ = ["ZERO", "source"]
