"""Small static graphs, built node by node."""

from __future__ import annotations

from typing import Any

from twofold.ir.dtypes import float32
from twofold.ir.graph import Graph, Node, Region, Source, Value
from twofold.ir.op import NOT_DIFFERENTIABLE, Op, Signature
from twofold.ir.types import TOKEN, Type, tensor_type


def op(signature: str) -> Op:
    """A record that only has a signature: drawing infers and computes nothing."""

    def unused(*args: Any, **attributes: Any) -> Any:
        raise AssertionError("drawing must not run operations")

    return Op(Signature.parse(signature), type_rule=unused, reference=unused, gradient=NOT_DIFFERENTIABLE, family="test")


def f32(*shape: int) -> Type:
    return tensor_type(float32, shape)


def enter(region: Region, name: str, *shape: int, path: str | None = None) -> Value:
    """Add an input; with `path`, a binding."""
    value = Value(f32(*shape), name, region=region)
    region.inputs.append(value)
    if path is not None:
        assert isinstance(region, Graph)
        region.bindings[value] = path
    return value


def put(
    region: Region, signature: str, inputs: tuple[Any, ...], *results: tuple[str, Type], regions: tuple[Region, ...] = (),
    source: Source | None = None, **attributes: Any,
) -> Value:  # fmt: skip
    """Append a node; returns its first output."""
    node = Node(op(signature), inputs, attributes, regions, source)
    node.outputs = tuple(Value(t, name, node, i) for i, (name, t) in enumerate(results))
    region.append(node)
    return node.outputs[0]


MATMUL, RELU, MUL = (
    "matmul(Tensor input, Tensor other) -> Tensor",
    "relu(Tensor input) -> Tensor",
    "mul(Tensor input, Tensor other) -> Tensor",
)
COND, LOOP = "cond(Tensor pred, Tensor[] operands) -> Tensor[]", "while_loop(Tensor[] operands) -> Tensor[]"


def relu_of_product() -> Graph:
    """Z = ReLU(XY), Y a binding."""
    g = Graph()
    x, y = enter(g, "x", 2, 3), enter(g, "y", 3, 4, path="layer.weight")
    z = put(g, MATMUL, (x, y), ("matmul", f32(2, 4)))
    g.outputs = [put(g, RELU, (z,), ("relu", f32(2, 4)), source=Source(place="model.py:7", module="layer"))]
    return g


def branches() -> Graph:
    """cond(p, relu(x), x * 2.0 * w) and x summed with keepdim: two outputs, two regions that use values of the enclosing one."""
    g = Graph()
    p, x, w = enter(g, "p"), enter(g, "x", 4), enter(g, "w", 4, path="w")
    yes, no = Region(g), Region(g)
    yes.outputs = [put(yes, RELU, (x,), ("relu", f32(4)))]
    doubled = put(no, MUL, (x, 2.0), ("mul", f32(4)))
    no.outputs = [put(no, MUL, (doubled, w), ("mul_1", f32(4)))]
    c = put(g, COND, (p, ()), ("cond", f32(4)), regions=(yes, no))
    total = "sum(Tensor input, Dim[]? dim=None, bool keepdim=False) -> Tensor"
    s = put(g, total, (x,), ("sum_1", f32(1)), dim=(0,), keepdim=True)
    g.outputs = [c, s]
    return g


def mixture() -> Graph:
    """What the others leave out: a loop in a branch, list operands, tokens, and as outputs two of one node, a number, None, an input."""
    g = Graph()
    n, x = enter(g, "n"), enter(g, "x", 2)
    yes, no = Region(g), Region(g)
    test, inner = Region(yes), Region(yes)
    enter(test, "carried_1", 2)
    test.outputs = [True]
    inner.outputs = [put(inner, RELU, (enter(inner, "carried", 2),), ("relu", f32(2)))]
    yes.outputs = [put(yes, LOOP, ((x,),), ("while_loop", f32(2)), regions=(test, inner))]
    no.outputs = [x]
    c = put(g, COND, (n, ()), ("cond", f32(2)), regions=(yes, no))
    start = put(g, "token() -> Tensor", (), ("token", TOKEN))
    put(g, "print(Tensor token, Tensor value, str text='') -> Tensor", (start, c), ("print_1", TOKEN), text='say "hi"\n')
    joined = put(g, "cat(Tensor[] tensors, Dim dim=0) -> Tensor", ((c, x, c),), ("cat", f32(6)), dim=0)
    parts = "split(Tensor input, int size, Dim dim=0) -> Tensor[]"
    put(g, parts, (joined,), ("split", f32(3)), ("split_1", f32(3)), size=3, dim=0)
    g.outputs = [*g.nodes[-1].outputs, 1.5, None, x]
    return g


def long_chain(length: int) -> Graph:
    g = Graph()
    x = enter(g, "x", 8)
    record, kind = op(RELU), f32(8)
    source = Source(long_chain.__code__, 10)
    for i in range(length):
        node = Node(record, (x,), {}, (), source)
        x = Value(kind, f"relu_{i}", node)
        node.outputs = (x,)
        g.append(node)
    g.outputs = [x]
    return g
