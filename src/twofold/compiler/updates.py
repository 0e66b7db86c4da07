"""Scatter-like operations: two kernels on one buffer. The first fills it (with a copy of an operand, or a constant), the second updates it:
a store at computed positions over the domain of what is written.

Where positions repeat, "set" keeps the last value in C order, as NumPy does, and the others combine one value after the other. Buffers of
16 bits would be rounded at every addition, so sums into them stay on the host, which rounds once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twofold.compiler import affine as af
from twofold.compiler.affine import ZERO, Affine
from twofold.compiler.evaluate import identity
from twofold.compiler.expr import Expr, cast, const, fn, register_type
from twofold.compiler.kernel_builder import Environment, Index, KernelBuilder, dtype_of_value, shape_of
from twofold.compiler.rules import broadcast, output_dtype
from twofold.compiler.rules_creation import fits_dtype, stored_number
from twofold.compiler.rules_indexing import checked, indexed_entries, nonempty, replaced_by, vector_at
from twofold.compiler.rules_pooling import MAX_TAPS, Windows, winning_place
from twofold.compiler.spec import Buffer, KernelSpec, Store
from twofold.ir.graph import Node, Value
from twofold.ir.types import TensorType
from twofold.ops.indexing import placed_first

Written = tuple[Sequence[Affine | Expr], Expr]
"""(index of the buffer, value)."""
Write = Callable[[KernelBuilder, Index], Written]
Start = Value | float | int | bool


class FillKernel(KernelBuilder):
    """Stores the value from which an update begins."""

    def __init__(self, environment: Environment, node: Node, start: Start) -> None:
        super().__init__(environment)
        self.node, self.start = node, start

    def _build(self) -> None:
        v = self.node.outputs[0]
        shape, t = shape_of(v), register_type(dtype_of_value(v))
        index, names = self.new_dims(shape, "d")
        e = cast(self.pull(self.start, index), t) if isinstance(self.start, Value) else const(self.start, t)
        self.stages.append(Store(v.name, dtype_of_value(v), af.flat_index(index, shape), tuple(names), e))


class UpdateKernel(KernelBuilder):
    """Combines values into a buffer at computed positions, over `domain`."""

    def __init__(self, environment: Environment, node: Node, domain: tuple[int, ...], mode: str, write: Write) -> None:
        super().__init__(environment)
        self.node, self.domain, self.mode, self.write = node, domain, mode, write

    def _build(self) -> None:
        v = self.node.outputs[0]
        index, names = self.new_dims(self.domain, "d")
        entries, e = self.write(self, index)
        shape = shape_of(v)
        strides = af.strides_of(shape)
        offset = af.flat_index([x if isinstance(x, Affine) else ZERO for x in entries], shape)
        computed = [(x, s) for x, s in zip(entries, strides, strict=True) if isinstance(x, Expr)]
        self.stages.append(
            Store(
                v.name, dtype_of_value(v), offset, tuple(names), cast(e, register_type(dtype_of_value(v))), self.mode,
                tuple(x for x, _ in computed), tuple(s for _, s in computed),
            )
        )  # fmt: skip

    def spec(self, name: str) -> KernelSpec:
        spec = super().spec(name)
        v = self.node.outputs[0]
        spec.buffers[v.name] = Buffer(v.name, dtype_of_value(v), spec.buffers[v.name].numel, "inout")
        return spec


@dataclass(eq=False)
class Update:
    """The kernels of a scatter-like node, in order, all on the buffer of its output."""

    node: Node
    builders: list[KernelBuilder]


Maker = Callable[[Environment, Node], Update | None]
"""None: the node runs on the host."""
UPDATES: dict[str, Maker] = {}


def update_kernels(environment: Environment, node: Node) -> Update | None:
    """The kernels of a node, or None where it has none. Raises Materialise for an operand that must be stored first."""
    maker = UPDATES.get(node.op.name)
    return None if maker is None else maker(environment, node)


def _put(*names: str) -> Callable[[Maker], Maker]:
    def put(maker: Maker) -> Maker:
        for name in names:
            UPDATES[name] = maker
        return maker

    return put


def _update(environment: Environment, node: Node, start: Start, *passes: tuple[tuple[int, ...], str, Write]) -> Update | None:
    """The fill and the passes (domain, mode, write); None where the host must do it."""
    t = node.outputs[0].type
    types = [t, *(v.type for v in node.operands())]
    if any(type(x) is not TensorType or not x.is_static or x.device != "cpu" for x in types):
        return None
    dtype = output_dtype(node)
    combines = any(mode != "set" for _, mode, _ in passes)
    if combines and (dtype.is_low_precision or dtype.short == "bool"):
        return None
    if 0 in shape_of(node.outputs[0]):
        return None
    builders: list[KernelBuilder] = [FillKernel(environment, node, start).build([node.outputs[0]])]
    builders += [UpdateKernel(environment, node, d, mode, write).build([node.outputs[0]]) for d, mode, write in passes if 0 not in d]
    return Update(node, builders)


# ---- along one dimension -----------------------------------------------------------------------------------------------------------


def _scatter_at(node: Node, value: Callable[[KernelBuilder, Index], Expr]) -> Write:
    """Writes at index[i, j, …] of dimension `dim`."""
    dim = node.attributes["dim"]
    positions, size = node.inputs[1], shape_of(node.outputs[0])[dim]

    def write(b: KernelBuilder, index: Index) -> Written:
        at = checked(b, node, b.pull(positions, index), size, dim, (), False)
        return replaced_by(index, dim, at), value(b, index)

    return write


def _has_dims(node: Node) -> bool:
    return bool(shape_of(node.outputs[0])) and bool(shape_of(node.inputs[1]))


@_put("scatter", "scatter_add", "scatter_value")
def _scatter(environment: Environment, node: Node) -> Update | None:
    if not _has_dims(node):
        return None
    dtype = output_dtype(node)
    if node.op.name == "scatter_value":
        if not fits_dtype(node.attributes["value"], dtype):
            return None
        write = _scatter_at(node, lambda b, index: stored_number(node.attributes["value"], dtype))
    else:
        write = _scatter_at(node, lambda b, index: b.pull(node.inputs[2], index))
    mode = "add" if node.op.name == "scatter_add" else "set"
    return _update(environment, node, node.inputs[0], (shape_of(node.inputs[1]), mode, write))


COMBINE = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}


@_put("scatter_reduce")
def _scatter_reduce(environment: Environment, node: Node) -> Update | None:
    mode = COMBINE.get(node.attributes["reduce"])
    dtype = output_dtype(node)
    if mode is None or not _has_dims(node) or dtype.is_low_precision or dtype.short == "bool":
        return None
    domain = shape_of(node.inputs[1])
    passes = [(domain, mode, _scatter_at(node, lambda b, index: b.pull(node.inputs[2], index)))]
    if not node.attributes["include_self"]:
        begin = {"add": 0, "mul": 1}.get(mode)
        neutral = const(identity(mode, dtype.numpy).item() if begin is None else begin, register_type(dtype))
        passes.insert(0, (domain, "set", _scatter_at(node, lambda b, index: neutral)))
    return _update(environment, node, node.inputs[0], *passes)


@_put("index_add", "index_copy", "index_fill")
def _slices(environment: Environment, node: Node) -> Update | None:
    shape, dim, positions = shape_of(node.outputs[0]), node.attributes["dim"], node.inputs[1]
    dtype, name = output_dtype(node), node.op.name
    if not shape or (name == "index_fill" and not fits_dtype(node.attributes["value"], dtype)):
        return None
    count = shape_of(positions)[0] if shape_of(positions) else 1
    alpha = node.attributes.get("alpha", 1)

    def write(b: KernelBuilder, index: Index) -> Written:
        at = checked(b, node, vector_at(b, positions, index[dim], ()), shape[dim], dim, (), False)
        if name == "index_fill":
            e = stored_number(node.attributes["value"], dtype)
        else:
            e = b.pull(node.inputs[2], index)
            e = e if alpha == 1 else fn("mul", e, const(alpha, e.type))
        return replaced_by(index, dim, at), e

    mode = "add" if name == "index_add" else "set"
    return _update(environment, node, node.inputs[0], ((*shape[:dim], count, *shape[dim + 1 :]), mode, write))


# ---- several dimensions, flat positions, rows ------------------------------------------------------------------------------------------


def _indexed_domain(node: Node, indices: Sequence[Value]) -> tuple[int, ...]:
    """The shape that indexing the output gives."""
    shape, dims = shape_of(node.outputs[0]), node.attributes["dims"]
    rank = max(len(shape_of(i)) for i in indices)
    padded = [(1,) * (rank - len(shape_of(i))) + shape_of(i) for i in indices]
    found = tuple(0 if 0 in sizes else max(sizes) for sizes in zip(*padded, strict=True))
    rest = tuple(n for d, n in enumerate(shape) if d not in dims)
    at = 0 if placed_first(dims) else dims[0]
    return (*rest[:at], *found, *rest[at:])


@_put("index_put", "index_backward")
def _index_put(environment: Environment, node: Node) -> Update | None:
    back = node.op.name == "index_backward"
    indices, values = node.inputs[1], node.inputs[0] if back else node.inputs[2]
    shape = shape_of(node.outputs[0])

    def write(b: KernelBuilder, index: Index) -> Written:
        e = b.pull(values, broadcast(index, shape_of(values)))
        return indexed_entries(b, node, shape, indices, index, ()), e

    mode = "add" if back or node.attributes["accumulate"] else "set"
    return _update(environment, node, 0 if back else node.inputs[0], (_indexed_domain(node, indices), mode, write))


@_put("put")
def _flat_put(environment: Environment, node: Node) -> Update | None:
    x, positions, values = node.inputs
    shape = shape_of(x)
    if shape_of(positions) != shape_of(values) or not nonempty(node):
        return None
    count = af.strides_of((*shape, 1))[0] * shape[0] if shape else 1

    def write(b: KernelBuilder, index: Index) -> Written:
        at = checked(b, node, b.pull(positions, index), count, 0, (), True)
        # the last dimension has stride 1: a flat position may stand in its place
        return ((*(ZERO,) * (len(shape) - 1), at) if shape else ()), b.pull(values, index)

    return _update(environment, node, x, (shape_of(positions), "add" if node.attributes["accumulate"] else "set", write))


@_put("embedding_dense_backward")
def _embedding_backward(environment: Environment, node: Node) -> Update | None:
    grad, positions = node.inputs
    skipped = node.attributes["padding_idx"]
    if node.attributes["scale_grad_by_freq"]:
        return None

    def write(b: KernelBuilder, index: Index) -> Written:
        at = cast(b.pull(positions, index[:-1]), "i64")
        e = b.pull(grad, index)
        if skipped >= 0:
            e = fn("where", fn("eq", at, const(skipped, "i64")), const(0, e.type), e)
        return (checked(b, node, at, node.attributes["num_weights"], 0, (), False), index[-1]), e

    return _update(environment, node, 0, (shape_of(grad), "add", write))


@_put("bincount_of")
def _bincount(environment: Environment, node: Node) -> Update | None:
    positions, size = node.inputs[0], node.attributes["minlength"]

    def write(b: KernelBuilder, index: Index) -> Written:
        at = cast(b.pull(positions, index), "i64")
        counted = fn("lt", at, const(size, "i64"))
        return (checked(b, node, fn("where", counted, at, const(0, "i64")), size, 0, (), False),), cast(counted, "i64")

    return _update(environment, node, 0, (shape_of(positions), "add", write))


@_put("max_pool_backward")
def _max_pool_backward(environment: Environment, node: Node) -> Update | None:
    """Each window's gradient is added at the place of its maximum, which is found again from the operand."""
    grad, x = node.inputs[:2]
    a = node.attributes
    n = len(a["kernel_size"])
    windows = Windows(node, a["kernel_size"], a["stride"], a["padding"], a["dilation"], x)
    if windows.taps > MAX_TAPS:
        return None

    def write(b: KernelBuilder, index: Index) -> Written:
        place = winning_place(windows, b, index, ())
        return (*index[:-n], *(ZERO,) * (n - 1), place), b.pull(grad, index)

    return _update(environment, node, 0, (shape_of(grad), "add", write))
