"""Pull rules of joining, repeating and rearranging, of the other views, and of what writes through views become."""

from __future__ import annotations

from typing import Any

from twofold.compiler.affine import ZERO
from twofold.compiler.expr import Expr, Guard, cast, const, fn, register_type, within
from twofold.compiler.index_maps import READS, SHOWN, Position, diagonal_dims, into_chain, shifted, through_chain, windows_over
from twofold.compiler.kernel_builder import Index, KernelBuilder, shape_of
from twofold.compiler.rules import output_dtype, replaced, rounded, rule
from twofold.compiler.rules_creation import fits_dtype, stored_number
from twofold.compiler.rules_views import source
from twofold.ir.graph import Node, Value
from twofold.ir.types import TensorType

Guards = tuple[Guard, ...]


def zero_of(node: Node) -> Expr:
    """Zero in the type of the node's result."""
    return const(0, register_type(output_dtype(node)))


def tensor_type_of(v: Value) -> TensorType:
    assert isinstance(v.type, TensorType)
    return v.type


# ---- joining -----------------------------------------------------------------------------------------------------------------------


def converted(e: Expr, x: Value, node: Node) -> Expr:
    """An element of the operand `x` in the dtype of the node's result."""
    dtype = output_dtype(node)
    e = cast(e, register_type(dtype))
    return e if tensor_type_of(x).dtype is dtype else rounded(e, dtype)


@rule("cat")
def cat(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """Which operand has the element is decided by its position; operands out of reach are left out."""
    dim = node.attributes["dim"]
    result: Expr | None = None
    end = shape_of(node.outputs[0])[dim]
    for x in reversed(node.inputs[0]):
        start = end - shape_of(x)[dim]
        here = Position.at(b, replaced(index, dim, index[dim].shifted(-start)), guards).within(index[dim], start, end)
        end = start
        if not here.nowhere:
            result = _before(here, x, node, result)
    return zero_of(node) if result is None else result


def _before(here: Position, x: Value, node: Node, rest: Expr | None) -> Expr:
    e = converted(here.read(x), x, node)
    condition = here.condition()
    return e if condition is None or rest is None else fn("where", condition, e, rest)


@rule("stack")
def stack(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dim = node.attributes["dim"]
    result: Expr | None = None
    for k in reversed(range(len(node.inputs[0]))):
        here = Position.at(b, (*index[:dim], *index[dim + 1 :]), guards).within(index[dim], k, k + 1)
        if not here.nowhere:
            result = _before(here, node.inputs[0][k], node, result)
    return zero_of(node) if result is None else result


# ---- repeating and rearranging -----------------------------------------------------------------------------------------------------


@rule("repeat")
def repeat(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x = source(node)
    lead = len(index) - len(shape_of(x))
    p = Position.at(b, index[lead:], guards)
    counts = node.attributes["repeats"][lead:]
    entries = [i if r == 1 else p.divided(i, n)[1] if n != 1 else ZERO for i, n, r in zip(index[lead:], shape_of(x), counts, strict=True)]
    return p.with_entries(entries).read(x)


@rule("flip")
def flip(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    shape = shape_of(source(node))
    dims = node.attributes["dims"]
    reversed_index = tuple(
        f.times(-1).shifted(n - 1) if d in dims and n > 1 else f for d, (f, n) in enumerate(zip(index, shape, strict=True))
    )
    return b.pull(source(node), reversed_index, guards)


def rolled(p: Position, x: Value, shifts: list[tuple[int, int]]) -> Expr:
    """The element of `x` that stands at a position after moves (dimension, places): of each dimension one of two stretches."""
    if not shifts:
        return p.read(x)
    (dim, places), *rest = shifts
    n = shape_of(x)[dim]
    places = places % n if n else 0
    if not places:
        return rolled(p, x, rest)
    entry = p.entries[dim]

    def moved(q: Position, by: int) -> Expr:
        return rolled(q.with_entries((*q.entries[:dim], shifted(entry, by), *q.entries[dim + 1 :])), x, rest)

    first, second = p.within(entry, 0, places), p.within(entry, places, n)
    if first.nowhere:
        return moved(second, -places)
    if second.nowhere:
        return moved(first, n - places)
    inside = within(entry, 0, places) if not isinstance(entry, Expr) else fn("lt", entry, const(places, "i64"))
    return fn("where", inside, moved(first, n - places), moved(second, -places))


@rule("roll")
def roll(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x, shape = source(node), shape_of(source(node))
    shifts, dims = node.attributes["shifts"], node.attributes["dims"]
    p = Position.at(b, index, guards)
    if dims:
        total: dict[int, int] = {}
        for d, s in zip(dims, shifts, strict=True):
            total[d] = total.get(d, 0) + s
        return rolled(p, x, list(total.items()))
    if len(shape) == 1:
        return rolled(p, x, [(0, shifts[0])])
    if not shape or 0 in shape:
        return b.pull(x, index, guards)
    count = tensor_type_of(x).numel
    assert isinstance(count, int)
    flat = p.reshaped(shape, (count,)).entries[0]
    moved = p.divided(shifted(flat, -(shifts[0] % count) + count), count)[1]
    return p.with_entries((moved,)).reshaped((count,), shape).read(x)


@rule("shift", when=lambda node: fits_dtype(node.attributes["fill"], output_dtype(node)))
def shift(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    dim, amount = node.attributes["dim"], node.attributes["amount"]
    x = source(node)
    form = index[dim].shifted(-amount)
    p = Position.at(b, replaced(index, dim, form), guards).within(form, 0, shape_of(x)[dim])
    return p.choose(lambda q: q.read(x), lambda: stored_number(node.attributes["fill"], output_dtype(node)))


@rule("tril", "triu")
def triangle(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """The element where column - row is on the right side of the diagonal; elsewhere nothing is read."""
    across = index[-1].plus(index[-2].times(-1))
    rows, columns = shape_of(node.outputs[0])[-2:]
    k = node.attributes["diagonal"]
    low, high = (-rows, k + 1) if node.op.name == "tril" else (k, columns + 1)
    p = Position.at(b, index, guards).within(across, low, high)
    return p.choose(lambda q: q.read(source(node)), lambda: zero_of(node))


@rule("diag_embed")
def diag_embed(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    shape = shape_of(node.outputs[0])
    a = dict(zip(("offset", "dim1", "dim2"), diagonal_dims(node.attributes, len(shape)), strict=True))
    p = SHOWN["diagonal"](Position.at(b, index, guards), a, shape, shape_of(source(node)))
    return p.choose(lambda q: q.read(source(node)), lambda: zero_of(node))


# ---- more views --------------------------------------------------------------------------------------------------------------------


@rule("split", "split_with_sizes", "unfold", "as_strided")
def viewed(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x = source(node)
    attributes: dict[str, Any] = {**node.attributes, "": which}
    p = READS[node.op.name](Position.at(b, index, guards), attributes, shape_of(node.outputs[which]), shape_of(x))
    return p.read(x)


def _steps_in(table: dict[str, Any]) -> Any:
    """A condition: every step of the node's chain is in the table."""
    return lambda node: all(name in table for name, _ in node.attributes["chain"])


@rule("view_chain", when=_steps_in(READS))
def view_chain(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    x = source(node)
    return through_chain(Position.at(b, index, guards), node.attributes["chain"], tensor_type_of(x)).read(x)


@rule("view_scatter", when=_steps_in(SHOWN))
def view_scatter(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """What the chain shows is the written value, the rest the old one."""
    base, written = node.inputs
    p = into_chain(Position.at(b, index, guards), node.attributes["chain"], tensor_type_of(base))
    t = register_type(output_dtype(node))
    return p.choose(lambda q: converted(q.read(written), written, node), lambda: cast(b.pull(base, index, guards), t))


@rule("view_chain_backward", when=_steps_in(SHOWN))
def view_chain_backward(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    base = tensor_type_of(node.outputs[0])
    p = into_chain(Position.at(b, index, guards), node.attributes["chain"], base)
    return p.choose(lambda q: q.read(source(node)), lambda: zero_of(node))


@rule("select_backward", "slice_backward", "diagonal_backward")
def placed_back(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """The adjoint of a view of a part: the gradient where the view shows the element, zeros elsewhere."""
    name, shape = node.op.name.removesuffix("_backward"), shape_of(node.outputs[0])
    p = SHOWN[name](Position.at(b, index, guards), node.attributes, shape, shape_of(source(node)))
    return p.choose(lambda q: q.read(source(node)), lambda: zero_of(node))


@rule("unfold_backward", when=lambda node: bool(shape_of(node.outputs[0])) and node.attributes["size"] <= 64)
def unfold_backward(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    """The sum over the windows that cover the element."""
    a, x = node.attributes, source(node)
    dim = a["dim"]
    result = zero_of(node)
    for p, window, tap in windows_over(Position.at(b, index, guards), index[dim], a["size"], a["step"], 0, shape_of(x)[dim]):
        q = p.with_entries((*index[:dim], window, *index[dim + 1 :], tap))
        result = fn("add", result, q.choose(lambda r: r.read(x), lambda: zero_of(node)))
    return result
