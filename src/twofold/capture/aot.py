"""`aot`: forward and backward as one static graph, made ahead of time by the ordinary gradient rules on symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twofold.capture.code import graph_code
from twofold.capture.graph_module import GraphModule, check_signature, find
from twofold.capture.trace.tracer import trace
from twofold.ir.graph import Graph, Node, Region, Value, input_types
from twofold.ir.interpreter import Interpreter
from twofold.ir.passes import cse, dce
from twofold.ir.tabular import format_tabular
from twofold.ir.types import TensorType, scalar_type
from twofold.support.errors import ArgumentError, AutogradError, UnsupportedError
from twofold.support.pytree import tree_flatten, tree_unflatten
from twofold.tape.engine import undo_with
from twofold.tape.joint import is_float, reverse, tracked_values
from twofold.tape.namespaces import TENSOR, tensor_rules
from twofold.tape.plan import Plan
from twofold.tensors.control import cond
from twofold.tensors.core import Symbol, Tensor, wrap
from twofold.tensors.dispatch import NODE_CLASSES
from twofold.tensors.interpret import TensorInterpreter
from twofold.tensors.nodes import OpNode
from twofold.tensors.recorder import Recorder


class SymbolicNode(OpNode):
    """What a gradient rule reads of a call, with symbols for the saved values: operands and outputs of a node of the static graph."""

    __slots__ = ("__dict__",)

    def __init__(self, node: Node, needs: tuple[bool, ...], values: Mapping[Value, Symbol]) -> None:
        types = tuple(v.type for v in node.outputs)
        out = types if node.op.several else types[0]
        self.plan = Plan(node.op, input_types(node.inputs, scalar_type), out, node.attributes, _no_kernel)
        self.type = out
        self.edges = tuple(self if n else None for n in needs)
        saved = NODE_CLASSES[node.op.name].saved
        for p, x in zip(node.op.inputs, node.inputs, strict=True):
            if p.name in saved:
                setattr(self, "s_" + p.name, _symbols(x, values))
        outputs = node.op.signature.outputs
        if len(outputs) == 1:
            if "result" in saved:
                self.s_result = values[node.outputs[0]]
            return
        for o, v in zip(outputs, node.outputs, strict=False):
            if o.name in saved:
                setattr(self, "s_" + o.name, values[v])


def _no_kernel(*arrays: Any) -> None:
    raise UnsupportedError("a plan of a symbolic node has no kernel")


def _symbols(x: Any, values: Mapping[Value, Symbol]) -> Any:
    if type(x) is Value:
        return values[x]
    return tuple(values[v] for v in x) if type(x) is tuple else x


class Replay(TensorInterpreter):
    """Writes a graph's nodes into the recorder, remembering the symbol of every value."""

    def __init__(self, graph: Graph, recorder: Recorder) -> None:
        super().__init__(graph)
        self.recorder = recorder
        self.symbols: dict[Value, Any] = {}

    def region(self, region: Region, inputs: list[Any]) -> list[Any]:
        """Run one region on symbols; `symbols` keeps what every value became."""
        self.symbols.update(zip(region.inputs, inputs, strict=True))
        for node in region.nodes:
            operands = [_symbols(x, self.symbols) for x in node.inputs]
            self.recorder.source = node.source
            if node.op.name == "constant":
                result: Any = self.constant(node)
            elif node.op.name == "cond":
                result = self.cond_node(node, operands)
            elif node.regions:
                raise UnsupportedError(
                    f"aot through {node.op.name} is not available: its number of turns is not known ahead. "
                    "Backward through the traced graph (trace, then .backward()) works"
                )
            else:
                result = self.call_op(node, operands, node.attributes)
            for v, r in zip(node.outputs, result if isinstance(result, (tuple, list)) else (result,), strict=True):
                self.symbols[v] = r
        self.recorder.source = None
        return [self.symbols[x] if type(x) is Value else x for x in region.outputs]

    def cond_node(self, node: Node, operands: list[Any]) -> tuple[Any, ...]:
        """A cond node again, by replaying its bodies inside new ones."""
        predicate, given = operands
        bodies = [lambda *inner, r=r: tuple(self.region(r, list(inner))) for r in node.regions]
        return cond(predicate, bodies[0], bodies[1], given)


class Reverse:
    """The reverse pass over a replayed graph."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def pull(self, node: Node, parts: list[Any], needs: tuple[bool, ...]) -> tuple[Any, ...]:
        """The gradients of one node's operands, by the record's own rules; the nodes written have its source."""
        self.replay.recorder.source = node.source
        if node.op.name == "cond":
            return self.pull_cond(node, parts, needs)
        cls = NODE_CLASSES.get(node.op.name)
        if cls is None:
            raise AutogradError(f"{node.op.name} has no gradient")
        proxy = SymbolicNode(node, needs, self.replay.symbols)
        if node.op.several:
            filled = [zeros_for(v) if p is None and is_float(v) else p for p, v in zip(parts, node.outputs, strict=True)]
            grads = cls.pull(proxy, filled, cls.rules or tensor_rules(cls))
        else:
            grads = cls.pull(proxy, parts[0], cls.rules or tensor_rules(cls))
        plan = proxy.plan
        assert plan is not None
        if plan.undo is not None:
            grads = undo_with(grads, plan.undo, TENSOR["sum_to_size"], TENSOR["to"])
        return grads

    def pull_cond(self, node: Node, parts: list[Any], needs: tuple[bool, ...]) -> tuple[Any, ...]:
        """The gradient of a cond is a cond of the bodies' gradients; each body is computed again inside."""
        predicate, operands = (_symbols(x, self.replay.symbols) for x in node.inputs)
        filled = [zeros_for(v) if p is None and is_float(v) else p for p, v in zip(parts, node.outputs, strict=True)]
        seeds = [p for p in filled if p is not None]
        wanted = [k for k, n in enumerate(needs[1:]) if n]

        def gradient_of(body: Region) -> Callable[..., Any]:
            def run(*inner: Any) -> tuple[Any, ...]:
                inputs, tangents = list(inner[: len(operands)]), iter(inner[len(operands) :])
                self.replay.region(body, inputs)
                given: dict[Value, Any] = {}
                for x, p in zip(body.outputs, filled, strict=True):
                    if p is not None:
                        t = next(tangents)
                        given[x] = given[x] + t if x in given else t
                targets = [body.inputs[k] for k in wanted]
                found = reverse(body, given, set(targets), self.pull, TENSOR["add"])
                return tuple(found.get(v, None) if v in found else zeros_for(v) for v in targets)

            return run

        true, false = map(gradient_of, node.regions)
        result = cond(predicate, true, false, (*operands, *seeds))
        grads: list[Any] = [None] * len(needs)
        for k, g in zip(wanted, result, strict=True):
            grads[k + 1] = g
        return tuple(grads)


def zeros_for(v: Value) -> Any:
    """A zero gradient of a value's type."""
    assert isinstance(v.type, TensorType)
    return TENSOR["zeros"](v.type.shape, dtype=v.type.dtype)


class JointModule:
    """Forward and backward in one graph.

    Inputs of `graph`: those of the forward graph, then a tangent for each differentiable output. Outputs: the forward's (results, written
    inputs), then the gradients of `gradients_of` (names of inputs), in order.
    """

    def __init__(self, graph: Graph, forward: GraphModule, tangents: list[int], gradients_of: list[int]) -> None:
        self.graph, self.forward_module = graph, forward
        self.tangents, self._gradients_of = tangents, gradients_of
        self._interpreter = Interpreter(graph)

    @property
    def gradients_of(self) -> tuple[str, ...]:
        """The inputs and bindings whose gradients the graph computes."""
        layout = self.forward_module.layout
        return tuple(i.path if i.path is not None else i.value.name for i in (layout.inputs[k] for k in self._gradients_of))

    @property
    def code(self) -> str:
        """The joint graph as Python text."""
        return graph_code(self.graph)

    def print_tabular(self) -> None:
        """Print the joint graph as a table."""
        print(format_tabular(self.graph))

    def __call__(self, *args: Any, tangents: Any = None, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """(what the function returns, gradients by name). `tangents`: the gradient of each differentiable output; 1 for one-element
        outputs.

        Nothing is written back: the values of written inputs are among the graph's outputs only.
        """
        module = self.forward_module
        leaves, spec = tree_flatten((args, kwargs))
        if spec != module.layout.in_spec:
            raise ArgumentError(f"the graph was made for arguments {module.layout.in_spec}, this call has {spec}")
        tensors = module.match(leaves)
        check_signature(module.name, module.layout, leaves, module.bindings)
        seeds = self.seeds(tangents)
        arrays = self._interpreter.run(*(t._array for t in tensors), *seeds)
        count = len(module.graph.outputs)
        results = [r.value if r.output is None else _tensor(arrays[r.output]) for r in module.layout.results]
        gradients = dict(zip(self.gradients_of, map(_tensor, arrays[count:]), strict=True))
        return tree_unflatten(results, module.layout.out_spec), gradients

    def seeds(self, tangents: Any) -> list[Any]:
        """The arrays of the tangents."""
        values = [v for v in self.graph.inputs if v not in self.graph.bindings][-len(self.tangents) :] if self.tangents else []
        if tangents is None:
            for v in values:
                if v.type.numel != 1:  # type: ignore[attr-defined]
                    raise ArgumentError(f"the output whose gradient is {v.name} has type {v.type}: the call needs tangents= for it")
            return [TENSOR["zeros"](v.type.shape, dtype=v.type.dtype)._array + v.type.dtype.numpy.type(1) for v in values]  # type: ignore[attr-defined]
        given = tree_flatten(tangents)[0]
        if len(given) != len(values):
            raise ArgumentError(f"{len(values)} tangents are needed ({', '.join(v.name for v in values)}), {len(given)} were given")
        return [t._array if isinstance(t, Tensor) else t for t in given]


def _tensor(array: Any) -> Tensor:
    return wrap(array)


def aot(fn: Callable[..., Any], *examples: Any, check: bool = False) -> JointModule:
    """The joint forward-and-backward graph of `fn` for inputs like `examples`.

    Gradients are computed for every argument and closed-over tensor that requires grad. The rules are those of eager backward, run on
    symbols; values the backward part needs are taken from the forward part. Raises AutogradError where no input requires grad or no output
    depends on one.
    """
    forward = trace(fn, examples, check=check)
    layout = forward.layout
    leaves = tree_flatten((examples, {}))[0]
    tensors = [find(i, leaves, forward.bindings) for i in layout.inputs]
    wanted = [k for k, t in enumerate(tensors) if t._node is not None]
    if not wanted:
        raise AutogradError("aot: none of the arguments or closed-over tensors requires grad")
    graph = Graph(forward.name + "_joint")
    recorder = Recorder(graph, None)
    symbols: list[Symbol] = []
    for i, v in zip(layout.inputs, forward.graph.inputs, strict=True):
        assert isinstance(v.type, TensorType)
        s = recorder.placeholder(v.name, v.type)
        if i.path is not None:
            graph.bindings[s._family.value] = i.path
        symbols.append(s)
    targets = {forward.graph.inputs[k] for k in wanted}
    tracked = tracked_values(forward.graph, targets)
    outs = [forward.graph.outputs[r.output] for r in layout.results if r.output is not None]
    sources = [v for v in dict.fromkeys(outs) if v in tracked]
    if not sources:
        raise AutogradError("aot: no output depends differentiably on an input that requires grad")
    with recorder.recording():
        replay = Replay(forward.graph, recorder)
        results = replay.region(forward.graph, list(symbols))
        seeds = {v: recorder.placeholder(f"grad_{v.name}", v.type) for v in sources}
        found = reverse(forward.graph, seeds, targets, Reverse(replay).pull, TENSOR["add"])
        recorder.source = None
        grads = [found.get(forward.graph.inputs[k]) for k in wanted]
        grads = [zeros_for(forward.graph.inputs[k]) if g is None else g for k, g in zip(wanted, grads, strict=True)]
        values = [recorder.read(r) if isinstance(r, Tensor) else r for r in (*results, *grads)]
    recorder.builder.output(*values)
    recorder.closed = True
    cse(graph)
    dce(graph)
    return JointModule(graph, forward, list(range(len(sources))), wanted)
