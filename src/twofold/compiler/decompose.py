"""Decomposition: every composite node becomes the nodes that its record's `decomposition` writes, until only primitives remain.

Decompositions are written like gradient rules (see `ops.record`): names mean operations. `RuleWriter` runs them in a namespace of its own,
in which a vocabulary name appends a node and values have operators. What a node's conversions are when the record runs on arrays
(`ir.run`) is written out around the new nodes: promotion of operands, 16-bit floats computed in float32, one rounding at the end.

Sizes must be known: a node with a symbolic size stays as it is.
"""

from __future__ import annotations

import builtins
import os
import time
from collections import deque
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from twofold.ir import dtypes
from twofold.ir.builder import Builder
from twofold.ir.dims import Dim
from twofold.ir.dtypes import DType
from twofold.ir.graph import Graph, Node, Region, Source, Value, input_types
from twofold.ir.interpreter import describe
from twofold.ir.op import VOCABULARY, Op, get_op
from twofold.ir.printer import format_node
from twofold.ir.rewrite import PassLog, PassRecord, Rewrite, run_pass
from twofold.ir.run import SELECTORS, compute_dtype
from twofold.ir.types import TensorType, scalar_type
from twofold.ops.record import RULE_HELPERS
from twofold.ops.rule_code import clone, global_names
from twofold.ops.vocabulary import load_vocabulary
from twofold.support.errors import ArgumentError, GraphError

load_vocabulary()

PASS_NAME = "decompose"
SERVED_WHOLE = frozenset(
    (
        "addmm", "baddbmm", "bmm", "dot", "linear", "matmul", "mm", "mv",
        "convolution", "convolution_backward_weight",
        "scaled_dot_product_attention", "scaled_dot_product_attention_backward",
        "rnn_layer", "rnn_layer_backward", "lstm_layer", "lstm_layer_backward", "gru_layer", "gru_layer_backward",
        *(name for name in VOCABULARY if name.startswith("linalg_") and name != "linalg_vector_norm"),
    )
)  # fmt: skip
"""What a library call or a template computes whole: products of matrices, convolutions, attention, recurrent layers, linear algebra. Most
of these have no decomposition; the list says that they are to stay even where they get one."""

RuleNamespace = dict[str, Any]


def decompose(
    graph: Graph,
    log: PassLog | None = None,
    verify: bool = False,
    keep: frozenset[str] = frozenset(),
    whole: frozenset[str] = SERVED_WHOLE,
) -> PassRecord:
    """Replace composite nodes, in the bodies of control flow too, by primitives. Values keep their types, and names where they have users.

    keep:  names of further operations that stay single nodes
    whole: those that stay by default; pass an empty set to decompose them as well

    New nodes have the source of the node they come from. Linear in the size of the result. Raises GraphError where a decomposition is
    faulty; errors of the operations it names are passed on with a note that names the node and the user's line.
    """
    return run_pass(PASS_NAME, graph, lambda g: _Decomposer(g, keep | whole, log).run(), log, verify)


def is_composite(node: Node) -> bool:
    """True if `decompose` can replace the node: its record has a decomposition, and all sizes are known."""
    if node.op.decomposition is None or any(map(_is_symbolic, node.attributes.values())):
        return False
    return all(type(v.type) is not TensorType or v.type.is_static for v in (*node.operands(), *node.outputs))


def _is_symbolic(attribute: Any) -> bool:
    return type(attribute) is Dim or (type(attribute) is tuple and any(map(_is_symbolic, attribute)))


class _Decomposer:
    """One run over one graph. `replaced` maps outputs of composites to the values that stand for them."""

    def __init__(self, graph: Graph, keep: frozenset[str], log: PassLog | None) -> None:
        self.graph, self.keep, self.log = graph, keep, log
        self.writer = RuleWriter(Builder(graph))
        self.replaced: dict[Value, Value] = {}
        self.changes = 0

    def run(self) -> int:
        """The number of composites replaced. Outer regions come first, since bodies use their values."""
        regions: deque[Region] = deque([self.graph])
        while regions:
            region = regions.popleft()
            self._decompose_region(region)
            for node in region.nodes:
                regions.extend(node.regions)
        return self.changes

    def _decompose_region(self, region: Region) -> None:
        result: list[Node] = []
        todo = list(reversed(region.nodes))
        while todo:
            node = todo.pop()
            if any(v in self.replaced for v in node.operands()):
                node.map_operands(self._current)
            if node.op.name in self.keep or not is_composite(node):
                result.append(node)
                continue
            todo += reversed(self._replace(node, region))
            self.changes += 1
        region.nodes[:] = result
        region.outputs = [self._current(x) if type(x) is Value else x for x in region.outputs]
        if region.token is not None:
            region.token = self._current(region.token)

    def _current(self, value: Value) -> Value:
        """What stands for a value now. The chain is as long as composites are nested in one another."""
        while (found := self.replaced.get(value)) is not None:
            value = found
        return value

    def _replace(self, node: Node, region: Region) -> list[Node]:
        """The nodes that take the place of a composite."""
        begin = time.perf_counter()
        new: list[Node] = []
        builder = self.writer.builder
        builder.source = node.source
        try:
            with builder.into(region, new):
                values = self.writer.expand(node)
        except Exception as e:
            e.add_note(describe(node))
            raise
        before = format_node(node) if self.log is not None else ""
        written = set(new)
        for old, value in zip(node.outputs, values, strict=True):
            self.replaced[old] = value
            if value.node in written:
                value.name = old.name
        node.region = None
        if self.log is not None:
            after = "\n".join(map(format_node, new)) or ", ".join(v.name for v in values)
            self.log.rewrites.append(Rewrite(PASS_NAME, node.op.name, before, after, _location(node.op), time.perf_counter() - begin))
        return new


def _location(op: Op) -> str:
    """file:line of a record's decomposition."""
    assert op.decomposition is not None
    code = op.decomposition.__code__
    return f"{os.path.basename(Source(code=code).file)}:{code.co_firstlineno}"


# ---- rules that write nodes ------------------------------------------------------------------------------------------------------------


class WrittenValue:
    """A value of the graph as rules see it: `shape`, `dtype` and `ndim`, and operators that append nodes."""

    __slots__ = ("value", "writer")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Value, writer: RuleWriter) -> None:
        self.value, self.writer = value, writer

    @property
    def type(self) -> TensorType:
        t = self.value.type
        if type(t) is not TensorType:
            raise GraphError(f"a decomposition reads the shape or dtype of {self.value.name}, which is {t}, no tensor")
        return t

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.type.shape

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return self.type.ndim

    def __bool__(self) -> bool:
        raise GraphError(f"a decomposition branches on {self.value.name}, whose elements are not known while the graph is written")

    def __repr__(self) -> str:
        return f"<WrittenValue {self.value.name}: {self.value.type}>"


def _operator(name: str) -> Callable[..., Any]:
    return lambda self, *others: self.writer.call(get_op(name), (self, *others), {})


def _reflected(name: str) -> Callable[..., Any]:
    return lambda self, other: self.writer.call(get_op(name), (other, self), {})


for _symbol, _name in {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
    "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}.items():  # fmt: skip
    setattr(WrittenValue, f"__{_symbol}__", _operator(_name))
    setattr(WrittenValue, f"__r{_symbol}__", _reflected(_name))
for _symbol, _name in {
    "neg": "neg", "invert": "bitwise_not", "abs": "abs", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
}.items():  # fmt: skip
    setattr(WrittenValue, f"__{_symbol}__", _operator(_name))


class RuleWriter:
    """Runs rules so that the operations they name are appended by a `Builder`.

    The third of the namespaces beside RAW and TENSOR (`tape.namespaces`), made for one builder: rules and helpers are cloned into it when
    first used.
    """

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.namespace: RuleNamespace = {"__builtins__": builtins, "__name__": None, "reshape": self._reshape}
        self._cloned: dict[Op, FunctionType] = {}

    def expand(self, node: Node) -> tuple[Value, ...]:
        """Append what the node's decomposition writes; a value for each output of the node, of the same type."""
        op = node.op
        rule = self._cloned.get(op)
        if rule is None:
            assert op.decomposition is not None
            rule = self._cloned[op] = self.clone(op.decomposition)
        attributes = (_widened(node.attributes[p.name]) for p in op.attributes)
        try:
            result = rule(*self._operands(node), *attributes)
        except NameError as e:
            raise GraphError(f"the decomposition of {op.name} names {e.name!r}, which is no operation, helper or built-in") from e
        results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(node.outputs):
            raise GraphError(f"the decomposition of {op.name} returns {len(results)} values, the operation has {len(node.outputs)} outputs")
        return tuple(self._settled(op, old.type, new) for old, new in zip(node.outputs, results, strict=True))

    # --- operands and results

    def _operands(self, node: Node) -> list[Any]:
        """The node's operands, converted as `ir.run.make_kernel` does before it calls a reference."""
        op = node.op
        compute = compute_dtype(op, input_types(node.inputs, scalar_type), tuple(v.type for v in node.outputs))
        operands: list[Any] = []
        for p, x in zip(op.inputs, node.inputs, strict=True):
            if type(x) is tuple:
                operands.append(tuple(self._operand(op, v, compute) for v in x))
            elif type(x) is Value:
                selects = p.name in SELECTORS and type(x.type) is TensorType and x.type.dtype is dtypes.bool_
                operands.append(self._operand(op, x, None if selects else compute))
            else:
                operands.append(x)
        return operands

    def _operand(self, op: Op, value: Value, compute: DType | None) -> WrittenValue:
        t = value.type
        if type(t) is not TensorType:
            return WrittenValue(value, self)
        widens = not op.any_dtype and (compute or t.dtype).is_low_precision
        if compute is not None and not (widens and not t.ndim):  # a 0-d operand goes to float32 directly
            value = self._converted(value, compute)
        return WrittenValue(self._converted(value, dtypes.float32) if widens else value, self)

    def _converted(self, value: Value, dtype: DType) -> Value:
        """The value in a dtype; itself where it has it."""
        if isinstance(value.type, TensorType) and value.type.dtype is dtype:
            return value
        converted: Value = self.builder.call(get_op("to"), (value,), {"dtype": dtype})
        return converted

    def _settled(self, op: Op, wanted: Any, result: Any) -> Value:
        """A result in the type that the operation's type rule gives."""
        if type(result) is not WrittenValue:
            raise GraphError(f"the decomposition of {op.name} returns {result!r} where a tensor of type {wanted} is due")
        value = result.value
        if type(wanted) is TensorType:
            value = self._converted(value, wanted.dtype)
        if value.type != wanted:
            raise GraphError(f"the decomposition of {op.name} gives {value.type}, its type rule {wanted}")
        return value

    # --- the namespace

    def clone(self, function: Any) -> FunctionType:
        """The function with its global names looked up in this namespace, which gets all that it and the helpers it calls mention."""
        todo: list[CodeType] = [function.__code__]
        done: set[str] = set()
        while todo:
            for name in global_names(todo.pop()) - done:
                done.add(name)
                if name in self.namespace:
                    continue
                if name in VOCABULARY:
                    self.namespace[name] = self._function(VOCABULARY[name])
                elif name in RULE_HELPERS:
                    self.namespace[name] = clone(RULE_HELPERS[name], self.namespace)
                    todo.append(RULE_HELPERS[name].__code__)
        return clone(function, self.namespace)

    def _function(self, op: Op) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.call(op, args, kwargs)

    def call(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Append an operation called like its public function; its output, or a tuple of them."""
        names = [p.name for p in op.signature.params if not p.keyword_only]
        if len(args) > len(names):
            raise ArgumentError(f"{op.name}() takes {len(names)} positional arguments, {len(args)} were given")
        given = dict(zip(names, args, strict=False)) | kwargs
        inputs = [_unwrapped(given.pop(p.name, None)) for p in op.inputs]
        result = self.builder.call(op, inputs, given)
        return tuple(WrittenValue(v, self) for v in result) if type(result) is tuple else WrittenValue(result, self)

    def _reshape(self, input: WrittenValue, size: tuple[Any, ...]) -> WrittenValue:
        """`reshape`, which is a plain function beside the records: in a graph, which knows no memory, a view always exists."""
        if input.shape == tuple(size):
            return input
        return WrittenValue(self.builder.call(get_op("view"), (input.value,), {"size": tuple(size)}), self)


def _unwrapped(x: Any) -> Any:
    """An operand for the builder."""
    if type(x) is WrittenValue:
        return x.value
    return tuple(map(_unwrapped, x)) if isinstance(x, (tuple, list)) else x


def _widened(attribute: Any) -> Any:
    """A `dtype` argument of 16 bits asks for its rounding at the end; float32 is computed in."""
    return dtypes.float32 if type(attribute) is DType and attribute.is_low_precision else attribute


__all__ = ["SERVED_WHOLE", "RuleWriter", "WrittenValue", "decompose", "is_composite"]
