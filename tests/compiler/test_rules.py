"""Pull rules against the records' references: every sample row's operation as a kernel of one node, and random compositions."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import twofold.tensors.methods  # noqa: F401  (fills the vocabulary)
from tests.ops.calls import arguments, bind, call, own_record, tensors_in, with_leaves
from tests.ops.row import Row, S
from tests.ops.samples import ROWS
from twofold.capture.aot import aot
from twofold.capture.trace.tracer import trace
from twofold.compiler import (  # noqa: F401
    rules_creation,
    rules_indexing,
    rules_joining,
    rules_padding,
    rules_pooling,
    rules_reduce,
    rules_resampling,
    rules_views,
)
from twofold.compiler.evaluate import evaluate
from twofold.compiler.kernel_builder import Environment, KernelBuilder, Materialise, PullRule, scalar_constant
from twofold.compiler.rules import RULES, rule_for
from twofold.compiler.spec import verify
from twofold.compiler.updates import UPDATES, update_kernels
from twofold.ir.builder import Builder
from twofold.ir.dtypes import BY_NAME
from twofold.ir.graph import Graph, Node, Value, input_types
from twofold.ir.op import VOCABULARY, get_op
from twofold.ir.run import run_record
from twofold.ir.types import TensorType, scalar_type, type_of
from twofold.support.errors import IndexOutOfRange, TwofoldError
from twofold.tensors.core import Tensor, memory


class Stored(Environment):
    """A planner that stores graph inputs and whatever a rule asks to be stored."""

    def __init__(self, graph: Graph) -> None:
        self.kept = set(graph.inputs)
        self.order_of = {v: i for i, node in enumerate(graph.nodes) for v in node.outputs}

    def stored(self, value: Value, builder: KernelBuilder) -> bool:
        return value in self.kept and value not in builder.roots

    def rule(self, node: Node) -> PullRule | None:
        return rule_for(node)

    def site(self, node: Node, what: str) -> int:
        return 1

    def order(self, value: Value) -> int:
        return self.order_of.get(value, -1)


def computed(environment: Stored, value: Value, arrays: dict[Value, np.ndarray], depth: int = 0) -> np.ndarray:
    """The value by kernels: one for it, and before that one for each operand that it needs stored. `arrays`: flat, by value."""
    assert depth < 30, f"{value.name} is asked for again and again"
    while True:
        try:
            builder = KernelBuilder(environment).build([value])
            break
        except Materialise as need:
            if need.value is value:
                raise AssertionError(f"{value.name} cannot be computed: {need.reason}") from need
            arrays[need.value] = computed(environment, need.value, arrays, depth + 1)
            environment.kept.add(need.value)
    spec = builder.spec("kernel")
    verify(spec)
    assert str(spec)
    memory = {v.name: arrays[v] for v in builder.uses}
    assert isinstance(value.type, TensorType)
    memory[value.name] = np.zeros(value.type.numel, value.type.dtype.numpy)  # type: ignore[arg-type]
    evaluate(spec, memory)
    return memory[value.name]


def kernels_of(graph: Graph, inputs: list[np.ndarray], outputs: list[Value]) -> list[np.ndarray]:
    """The outputs by kernels, shaped."""
    environment = Stored(graph)
    node = outputs[0].node
    if node is not None and node.op.name in UPDATES:
        return [updated(environment, node, dict(zip(graph.inputs, inputs, strict=True)))]
    arrays = {v: np.ascontiguousarray(a).reshape(-1) for v, a in zip(graph.inputs, inputs, strict=True)}
    return [computed(environment, v, arrays).reshape(v.type.shape) for v in outputs]


def served(node: Node) -> bool:
    """Whether the node has a rule or is an update."""
    graph = node.outputs[0].graph
    assert isinstance(graph, Graph)
    return rule_for(node) is not None or update_kernels(Stored(graph), node) is not None


def updated(environment: Stored, node: Node, arrays: dict[Value, np.ndarray]) -> np.ndarray:
    """The result of a scatter-like node by its kernels."""
    update = update_kernels(environment, node)
    assert update is not None
    t = node.outputs[0].type
    assert isinstance(t, TensorType)
    out = np.zeros(t.numel, t.dtype.numpy)  # type: ignore[arg-type]
    for builder in update.builders:
        spec = builder.spec("update")
        verify(spec)
        memory_of = {v.name: np.ascontiguousarray(arrays[v]).reshape(-1) for v in builder.uses}
        evaluate(spec, {**memory_of, node.outputs[0].name: out})
    return out.reshape(t.shape)


def referred(graph: Graph, inputs: list[np.ndarray]) -> dict[Value, np.ndarray]:
    """Every value of the graph by the records' references."""
    values: dict[Value, Any] = dict(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        operands = tuple(tuple(values[v] for v in x) if type(x) is tuple else values[x] if type(x) is Value else x for x in node.inputs)
        outs = tuple(v.type for v in node.outputs)
        several = node.op.several
        result = run_record(node.op, operands, input_types(node.inputs, scalar_type), outs if several else outs[0], node.attributes)
        results = result if several else (result,)
        values.update(zip(node.outputs, (np.array(r, order="C") for r in results), strict=True))
    return values


def near(ours: np.ndarray, theirs: np.ndarray, exact: bool, what: str) -> None:
    theirs = np.asarray(theirs)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), what
    if exact or theirs.dtype.kind not in "fV":
        np.testing.assert_array_equal(ours, theirs, what)
        return
    eps = {2: 1e-2, 4: 2e-5, 8: 1e-12}[theirs.dtype.itemsize]
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    size = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0))
    np.testing.assert_allclose(a, b, rtol=eps, atol=eps * max(size, 1e-3), err_msg=what)


# ---- one node --------------------------------------------------------------------------------------------------------------------------

OWN = sorted({*RULES, *UPDATES})
"""Operations with a rule of their own (elementwise bodies are tested with their compiler)."""
EXACT_COSTS = ("copy", "view", "gather")
SUMS = ("pad_backward", "unfold_backward", "upsample")
"""Copies by their cost that add elements up, in another order than the reference."""
DTYPES = ("float32", "bfloat16", "int64", "bool", "uint8", "float64")


def graph_of(name: str, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> tuple[Graph, list[np.ndarray], tuple[Value, ...]]:
    """A graph of one node over these arrays."""
    graph = Graph()
    builder = Builder(graph)
    arrays: list[np.ndarray] = []

    def operand(x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(map(operand, x))
        if isinstance(x, (np.ndarray, np.generic)):
            arrays.append(np.asarray(x))
            return builder.input(type_of(x), f"x{len(arrays)}")
        return x

    found = builder.call(get_op(name), tuple(map(operand, inputs)), attributes)
    outputs = found if isinstance(found, tuple) else (found,)
    builder.output(*outputs)
    return graph, arrays, outputs


def cases() -> list[Any]:
    """(row, sample) of every row that calls a record with a rule by the record's own arguments."""
    rows = [ROWS[name] for name in OWN if name in ROWS and name in VOCABULARY and own_record(ROWS[name]) is not None]
    return [pytest.param(row, sample, id=f"{row.name}-{i}") for row in rows for i, sample in enumerate(row.all_samples())]


@pytest.mark.parametrize("row,sample", cases())
def test_a_rule_computes_what_the_reference_does(row: Row, sample: S) -> None:
    op = get_op(row.name)
    for dtype in DTYPES:
        if dtype not in row.dtype_names(sample):
            continue
        args, kwargs = arguments(sample, BY_NAME[dtype], np.asarray)
        inputs, attributes = bind(op, args, kwargs)
        check_node(row.name, inputs, attributes, dtype)


def check_node(name: str, inputs: tuple[Any, ...], attributes: dict[str, Any], what: str = "") -> bool:
    """Compare the kernel of one node with its reference; False where the node runs on the host."""
    graph, arrays, outputs = graph_of(name, inputs, attributes)
    node = graph.nodes[0]
    if not served(node):
        return False
    theirs = referred(graph, arrays)
    ours = kernels_of(graph, arrays, list(outputs))
    for v, a in zip(outputs, ours, strict=True):
        near(a, theirs[v], get_op(name).cost in EXACT_COSTS and not name.startswith(SUMS), f"{name} {what} {attributes}")
    return True


# ---- what functions over records write, and gradients ------------------------------------------------------------------------------

FAMILIES = ("copies", "creation", "indexing", "joining", "lookup", "padding", "pooling", "resampling", "slicing", "views", "folding",
            "reduction")  # fmt: skip


def family_rows() -> list[Row]:
    found = []
    for family in FAMILIES:
        found += importlib.import_module(f"tests.ops.samples.{family}").ROWS
    return found


def joint_graph(row: Row, sample: S) -> tuple[Graph, list[np.ndarray]] | None:
    """The recorded forward (and, where there is one, backward) graph of a sample in float32, and its inputs; None where it cannot be
    recorded."""
    args, kwargs, leaves = with_leaves(row, sample, BY_NAME["float32"])
    tensors = tensors_in(args, kwargs)

    def function(*given: Any) -> Any:
        replace = dict(zip(map(id, tensors), given, strict=True))

        def swap(x: Any) -> Any:
            if isinstance(x, Tensor):
                return replace.get(id(x), x)
            return type(x)(map(swap, x)) if type(x) in (list, tuple) else x

        return call(row, tuple(map(swap, args)), {k: swap(v) for k, v in kwargs.items()})

    try:
        if leaves:
            graph = aot(function, *tensors).graph
        else:
            graph = trace(function, tuple(tensors), check=False).graph
    except TwofoldError:
        return None
    rng = np.random.default_rng(7)
    memory_of = {id(t): np.asarray(memory(t)) for t in tensors}
    arrays = list(memory_of.values())
    for v in graph.inputs[len(arrays) :]:
        assert isinstance(v.type, TensorType)
        arrays.append(rng.standard_normal(v.type.shape).astype(v.type.dtype.numpy))
    fits = len(arrays) == len(graph.inputs) and all(type_of(a) is v.type for a, v in zip(arrays, graph.inputs, strict=True))
    return (graph, arrays) if fits else None


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in family_rows()])
def test_every_node_that_a_sample_records_is_computed_as_by_its_reference(row: Row) -> None:
    """Forward and backward: functions over records write nodes that no row names (views of views, adjoints, gathers)."""
    seen: set[str] = set()
    for sample in row.all_samples():
        recorded = joint_graph(row, sample)
        if recorded is None:
            continue
        graph, arrays = recorded
        try:
            values = referred(graph, arrays)
        except (IndexError, TwofoldError):
            continue  # random gradients are no indices
        for node in graph.nodes:
            key = f"{node.op.name} {[str(v.type) for v in node.operands()]} {node.attributes}"
            if node.op.name not in OWN or key in seen or scalar_constant(node) is not None:
                continue
            seen.add(key)
            operands = tuple(tuple(values[v] for v in x) if type(x) is tuple else values[x] if type(x) is Value else x for x in node.inputs)
            check_node(node.op.name, operands, dict(node.attributes), f"in {row.name}")


# ---- compositions ----------------------------------------------------------------------------------------------------------------------


def some_step(rng: np.random.Generator, b: Builder, values: list[Value]) -> Value:
    """One more node on a random value: a view or a copy of shape only."""
    x = values[int(rng.integers(len(values)))]
    assert isinstance(x.type, TensorType)
    shape = x.type.shape
    dim = int(rng.integers(len(shape)))
    n = shape[dim]
    kind = rng.choice(("permute", "slice", "cat", "constant_pad_nd", "flip", "roll", "repeat", "view", "unfold", "select_backward", "tril"))
    if kind == "permute":
        return b.call(get_op("permute"), (x,), {"dims": tuple(map(int, rng.permutation(len(shape))))})
    if kind == "slice":
        start = int(rng.integers(n))
        return b.call(get_op("slice"), (x,), {"dim": dim, "start": start, "end": n, "step": int(rng.integers(1, 3))})
    if kind == "cat":
        return b.call(get_op("cat"), ((x, x),), {"dim": dim})
    if kind == "constant_pad_nd":
        return b.call(get_op("constant_pad_nd"), (x,), {"pad": (int(rng.integers(3)), int(rng.integers(3))), "value": 2.0})
    if kind == "flip":
        return b.call(get_op("flip"), (x,), {"dims": (dim,)})
    if kind == "roll":
        return b.call(get_op("roll"), (x,), {"shifts": (int(rng.integers(-3, 4)),), "dims": (dim,)})
    if kind == "repeat":
        return b.call(get_op("repeat"), (x,), {"repeats": tuple(int(rng.integers(1, 3)) if i == dim else 1 for i in range(len(shape)))})
    if kind == "unfold" and n >= 2 and len(shape) < 4:
        return b.call(get_op("unfold"), (x,), {"dimension": dim, "size": 2, "step": int(rng.integers(1, 3))})
    if kind == "select_backward" and len(shape) < 4:
        return b.call(get_op("select_backward"), (x,), {"input_sizes": (*shape[:dim], 3, *shape[dim:]), "dim": dim, "index": 1})
    if kind == "tril" and len(shape) >= 2:
        return b.call(get_op("tril"), (x,), {"diagonal": int(rng.integers(-1, 2))})
    count = x.type.numel
    assert isinstance(count, int)
    divisor = int(rng.choice([d for d in range(1, count + 1) if count % d == 0]))
    return b.call(get_op("view"), (x,), {"size": (divisor, count // divisor)})


@pytest.mark.parametrize("seed", range(100))
def test_compositions_of_copies_of_shape(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph()
    b = Builder(graph)
    array = rng.standard_normal((3, 4, 2)).astype(np.float32)
    values = [b.input(type_of(array), "x")]
    for _ in range(6):
        last = values[-1].type
        if isinstance(last, TensorType) and last.numel > 2000:  # type: ignore[operator]
            break
        values.append(some_step(rng, b, values[-2:]))
    summed = b.call(get_op("sum"), (values[-1],), {"dim": (0,)})
    b.output(values[-1], summed)
    theirs = referred(graph, [array])
    ours = kernels_of(graph, [array], [values[-1], summed])
    near(ours[0], theirs[values[-1]], True, str(graph))
    near(ours[1], theirs[summed], False, str(graph))


# ---- checked positions -------------------------------------------------------------------------------------------------------------------

OUTSIDE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("gather", (np.ones((2, 3)), np.array([[0, 3]])), {"dim": 1}),
    ("gather", (np.ones((2, 3)), np.array([[0, -1]])), {"dim": 1}),
    ("index_select", (np.ones((2, 3)), np.array([2])), {"dim": 0}),
    ("embedding", (np.ones((2, 3)), np.array([[-1]])), {}),
    ("take", (np.ones((2, 3)), np.array([6])), {}),
    ("index", (np.ones((2, 3)), (np.array([-3]),)), {"dims": (0,)}),
    ("one_hot", (np.array([4]),), {"num_classes": 4}),
    ("scatter_add", (np.ones((2, 3)), np.array([[2]]), np.ones((1, 1))), {"dim": 0}),
    ("index_put", (np.ones((2, 3)), (np.array([2]),), np.ones(3)), {"dims": (0,)}),
    ("embedding_dense_backward", (np.ones((1, 3)), np.array([7])), {"num_weights": 7}),
]


@pytest.mark.parametrize("name,inputs,attributes", OUTSIDE, ids=[f"{name}-{i}" for i, (name, _, _) in enumerate(OUTSIDE)])
def test_positions_outside_are_reported(name: str, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> None:
    graph, arrays, outputs = graph_of(name, inputs, attributes)
    with pytest.raises(IndexOutOfRange):
        kernels_of(graph, arrays, list(outputs))


def test_what_guards_exclude_is_not_checked() -> None:
    """The index is read at padded positions only where there is one."""
    graph = Graph()
    b = Builder(graph)
    x, at = np.arange(6.0).reshape(2, 3), np.array([1, 0])
    rows = b.call(get_op("index_select"), (b.input(type_of(x), "x"), b.input(type_of(at), "at")), {"dim": 0})
    padded = b.call(get_op("constant_pad_nd"), (rows,), {"pad": (0, 0, 2, 3), "value": 7.0})
    b.output(padded)
    near(kernels_of(graph, [x, at], [padded])[0], referred(graph, [x, at])[padded], True, "padded rows")
