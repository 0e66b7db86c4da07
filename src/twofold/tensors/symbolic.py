"""Gradients of symbols: the ordinary gradient rules applied to the nodes of a static graph, in reverse.

`Replay` writes a graph's nodes into a recorder and remembers what became of each value; `Reverse` differentiates them. `gradients` does
the latter for what is being recorded at the moment, which is how `twofold.func` works inside `trace`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twofold.ir.graph import Graph, Node, Region, Value, input_types
from twofold.ir.op import get_op
from twofold.ir.types import TensorType, scalar_type
from twofold.support.errors import AutogradError, UnsupportedError
from twofold.tape.engine import undo_with
from twofold.tape.joint import is_float, reverse
from twofold.tape.namespaces import TENSOR, tensor_rules
from twofold.tape.plan import Plan
from twofold.tensors.control import cond
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.dispatch import NODE_CLASSES
from twofold.tensors.interpret import TensorInterpreter
from twofold.tensors.nodes import OpNode
from twofold.tensors.recorder import Family, Recorder, Storage


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
                setattr(self, "s_" + p.name, symbols_of(x, values))
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


def symbols_of(x: Any, values: Mapping[Value, Symbol]) -> Any:
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
            operands = [symbols_of(x, self.symbols) for x in node.inputs]
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
        predicate, operands = (symbols_of(x, self.replay.symbols) for x in node.inputs)
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


class Known(dict):
    """The symbols of values that are being recorded; made when first asked for."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __missing__(self, value: Value) -> Symbol:
        found = self[value] = self.recorder.fresh(value)
        return found


class Nodes:
    """The nodes written so far into a region, as `reverse` walks them."""

    def __init__(self, region: Region) -> None:
        self.nodes = list(region.nodes)


def gradients(recorder: Recorder, outputs: list[Symbol], seeds: list[Tensor], inputs: list[Symbol]) -> list[Any]:
    """The gradients of recorded outputs with respect to recorded inputs, written into the same graph; None where there is none."""
    given: dict[Value, Any] = {}
    for s, g in zip(outputs, seeds, strict=True):
        value = recorder.read(s)
        given[value] = TENSOR["add"](given[value], g) if value in given else g
    wanted = [recorder.read(s) for s in inputs]
    replay = Replay(recorder.graph, recorder)
    replay.symbols = Known(recorder)
    source = recorder.source
    try:
        found = reverse(Nodes(recorder.builder.region), given, set(wanted), Reverse(replay).pull, TENSOR["add"])  # type: ignore[arg-type]
    finally:
        recorder.source = source
    return [found.get(v) for v in wanted]


def separate(recorder: Recorder, t: Tensor) -> Symbol:
    """The value of a tensor under a name of its own, which gradients can be taken with respect to."""
    value = recorder.emit(TENSOR_ALIAS, [recorder.read(t)], {})
    recorder.tracks[value] = True
    return recorder.new_symbol(Family(Storage(), value, leaf=True, base_grad=True))


TENSOR_ALIAS = get_op("alias")
