"""What is wrong with the compiled form of a graph, in a word, so that a smaller graph can be asked whether it has the same fault."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.compiler.compare import compare
from twofold.compiler.nodes import WideInterpreter, evaluate_nodes, narrow_call
from twofold.compiler.pipeline import compile_graph
from twofold.compiler.subgraphs import subgraph
from twofold.compiler.verifying import Divergence, Verifier, nodes_tolerance, rounded_output
from twofold.ir.graph import Graph, Node, Value
from twofold.ir.types import TensorType
from twofold.support.errors import UnsupportedError

RUN = "the program as a whole computes something else, though each step is right"
CRASH = "the process is killed"
"""How the faults are named that neither an error nor a divergence names."""


@dataclass(frozen=True)
class Fault:
    """`kind`: what stays the same while a graph is made smaller: the class of an error, or the kind of a divergence. `text`: all of it."""

    kind: str
    text: str
    divergence: Divergence | None = None


def fault_of(graph: Graph, arrays: Sequence[Any], **options: Any) -> Fault | None:
    """Compile a graph and run it on arrays, step by step and then as it is: what is wrong, or None.

    What the interpreter refuses too (an index outside its dimension, a size) is no fault, nor is what the compiler says it does not do.
    """
    try:
        WideInterpreter(graph, narrow_call).run(*arrays)
    except Exception:
        return None
    try:
        executable, _ = compile_graph(graph, **options)
        _, report = Verifier(executable, graph)(arrays, stop=False)
        if report.divergences:
            first = report.divergences[0]
            return Fault(first.kind, str(first), first)
        different = _whole_run(graph, executable.run(*arrays), arrays)
    except UnsupportedError:
        return None
    except Exception as e:
        return Fault(type(e).__name__, f"{type(e).__name__}: {e}")
    return None if different is None else Fault(RUN, f"{RUN}: {different}")


def first_wrong_node(order: Sequence[Node], known: Mapping[Value, Any], **options: Any) -> Node | None:
    """The first node that has a fault when it is compiled alone and given what the interpreter computes for it from known values."""
    values = evaluate_nodes(order, known, narrow_call)
    for node in order:
        if node.op.regions or any(not isinstance(v.type, TensorType) for v in (*node.operands(), *node.outputs)):
            continue
        graph, outside = subgraph([node], node.outputs, node.name)
        if fault_of(graph, [np.asarray(values[v]) for v in outside], **options) is not None:
            return node
    return None


def _whole_run(graph: Graph, outputs: Sequence[Any], arrays: Sequence[Any]) -> str | None:
    """The first output that differs from the interpreter's in float64: its name and worst element."""
    expected = WideInterpreter(graph).run(*arrays)
    for k, (v, got, want) in enumerate(zip(graph.outputs, outputs, expected, strict=True)):
        if type(v) is not Value or not isinstance(v.type, TensorType):
            continue

        def rounded(random: np.random.Generator, k: int = k) -> Any:
            return rounded_output(graph, arrays, k, random)

        tolerance = nodes_tolerance(list(graph.walk()), v.type.dtype)
        c = compare(np.asarray(got).reshape(-1), v.type.dtype, tolerance, [lambda want=want: want], rounded)  # type: ignore[misc]
        if c.count:
            return f"{v.name}, {c.count} of {c.total} elements; the worst is {c.got!r} and should be {c.expected!r}"
    return None


def isolated_fault_of(graph: Graph, arrays: Sequence[Any], **options: Any) -> Fault | None:
    """`fault_of` in a forked child: a crash ends the child only, and is a fault that names the signal."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        try:
            fault = fault_of(graph, arrays, **options)
            with os.fdopen(writable, "w", encoding="utf-8") as pipe:
                json.dump(None if fault is None else (fault.kind, fault.text), pipe)
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, encoding="utf-8") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Fault(CRASH, f"{CRASH} by {signal.Signals(os.WTERMSIG(status)).name}")
    found = json.loads(data) if data else ("interrupted", "the check ended without an answer")
    return None if found is None else Fault(*found)
