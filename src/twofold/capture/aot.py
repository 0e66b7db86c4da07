"""`aot`: forward and backward as one static graph, made ahead of time by the ordinary gradient rules on symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from twofold.capture.code import graph_code
from twofold.capture.graph_module import COMPILERS, GraphModule, check_signature, find
from twofold.capture.trace.tracer import trace
from twofold.ir.graph import Graph
from twofold.ir.interpreter import Interpreter
from twofold.ir.passes import cse, dce
from twofold.ir.tabular import format_tabular
from twofold.ir.types import TensorType
from twofold.support.errors import ArgumentError, AutogradError
from twofold.support.pytree import tree_flatten, tree_unflatten
from twofold.tape.joint import reverse, tracked_values
from twofold.tape.namespaces import TENSOR
from twofold.tensors.core import Symbol, Tensor, wrap
from twofold.tensors.recorder import Recorder
from twofold.tensors.symbolic import Replay, Reverse, zeros_for


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
        arrays = self.run_arrays(self.arrays_of(args, kwargs, tangents))
        count = len(module.graph.outputs)
        results = [r.value if r.output is None else _tensor(arrays[r.output]) for r in module.layout.results]
        gradients = dict(zip(self.gradients_of, map(_tensor, arrays[count:]), strict=True))
        return tree_unflatten(results, module.layout.out_spec), gradients

    def arrays_of(self, args: tuple[Any, ...], kwargs: dict[str, Any], tangents: Any = None) -> list[Any]:
        """The arrays of the graph's inputs for the arguments of a call."""
        module = self.forward_module
        leaves, spec = tree_flatten((args, kwargs))
        if spec != module.layout.in_spec:
            raise ArgumentError(f"the graph was made for arguments {module.layout.in_spec}, this call has {spec}")
        tensors = module.match(leaves)
        check_signature(module.name, module.layout, leaves, module.bindings)
        return [*(t._array for t in tensors), *self.seeds(tangents)]

    def run_arrays(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The joint graph's outputs for arrays in the order of its inputs."""
        return self._interpreter.run(*arrays)

    def compile(self, **options: Any) -> Any:
        """Forward and backward as one native program, called like this module; options as of `GraphModule.compile`."""
        return COMPILERS["joint"](self, **options)

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
