"""Finding faults of the compiler: where one is (`bisect`), and the smallest graph that shows it (`minify`).

    program = twofold.trace(model, (x,)).compile(verify=True)    # each run compares each kernel with the interpreter in float64
    print(twofold.debugging.bisect(model, (x,)))                 # the pass and its rule, or the first node that differs
    twofold.debugging.minify(model, (x,), path="repro.py")       # a script of its own: exits with 1 while the fault is there

Also on the command line, for graphs as text: `twofold bisect graph.txt`, `twofold minify graph.txt`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from twofold.capture.arguments import argument_arrays
from twofold.capture.graph_module import GraphModule
from twofold.capture.trace.tracer import trace
from twofold.compiler.bisecting import Finding, bisect_graph
from twofold.compiler.faults import Fault, fault_of, isolated_fault_of
from twofold.compiler.reproducing import write_script
from twofold.compiler.shrinking import Case, Shrinker
from twofold.ir.graph import Graph
from twofold.support.errors import ArgumentError

Fails = Callable[[Graph, Sequence[Any]], bool]


def bisect(function: Any, inputs: Sequence[Any], *, check: Fails | None = None, isolate: bool = False, **options: Any) -> Finding | None:
    """Where the compiled form of a function (or graph module, or graph) differs from the interpreter; None if it does not.

    function: a GraphModule, an `ir.Graph` (then `inputs` are arrays), or anything `twofold.trace` takes
    inputs:   the arguments of a call
    check:    `check(graph, arrays)`: whether a graph has the fault. Default: it fails to compile, a verified run finds a divergence, or the
              outputs differ from the interpreter's
    isolate:  compile and run in forked children, so that a crash is a fault like others
    options:  of `compile`

    Passes are tried first: the first pass after which the graph computes something else in float64, the rule, the rewrite. Then nodes: one
    alone, or the shortest beginning of the graph that shows the fault.
    """
    graph, arrays = _case(function, inputs)
    differs = _fault_finder(check, isolate, options)
    return bisect_graph(graph, arrays, differs, **options)


def minify(
    function: Any,
    inputs: Sequence[Any],
    fails: Fails | None = None,
    *,
    path: str | os.PathLike[str] = "repro.py",
    isolate: bool = False,
    preamble: str = "",
    **options: Any,
) -> Path:
    """Make the graph of a function smaller while it fails, and write a script that shows what is left; returns its path.

    fails:    `fails(graph, arrays)`: whether the fault is there; the script imports it, so that it must be defined at the top of a module.
              Default: that of `bisect`, of the same kind as at first
    preamble: Python that the script runs first
    The other parameters are those of `bisect`. The script exits with 1 while the fault is there, with 0 once it is mended. Raises
    ArgumentError if the graph given does not fail, FileError if the file cannot be written.
    """
    predicate = None if fails is None else _importable(fails)
    graph, arrays = _case(function, inputs)
    case = smallest(graph, arrays, fails, isolate=isolate, **options)
    fault = fault_of_case(case.graph, case.arrays, isolate, **options) if fails is None else None
    fault = fault or Fault("as asked", f"{case.graph.name}: {predicate[1] if predicate else 'the check'} is true")
    return write_script(path, case.graph, case.arrays, fault, options, preamble, predicate)


def _importable(fails: Fails) -> tuple[str, str]:
    """Module and name under which a script finds a function."""
    module, name = getattr(fails, "__module__", "__main__"), getattr(fails, "__qualname__", "<")
    if module == "__main__" or not name.isidentifier():
        raise ArgumentError(
            "minify: the script that is written imports `fails`, so it must be a function at the top of a module that can be imported, "
            f"not {module}.{name}; debugging.smallest takes any function, and returns the graph"
        )
    return module, name


def smallest(graph: Graph, arrays: Sequence[Any], fails: Fails | None = None, *, isolate: bool = False, **options: Any) -> Case:
    """The smallest graph and inputs found that fail; see `minify`."""
    if fails is None:
        fault = fault_of_case(graph, arrays, isolate, **options)
        if fault is None:
            raise ArgumentError(f"minify: {graph.name} compiles, and its verified run agrees with the interpreter: there is no fault")
        kind = fault.kind

        def fails(graph: Graph, arrays: Sequence[Any]) -> bool:
            found = fault_of_case(graph, arrays, isolate, **options)
            return found is not None and found.kind == kind

    return Shrinker(fails).shrink(graph, arrays)


def fault_of_case(graph: Graph, arrays: Sequence[Any], isolate: bool = False, **options: Any) -> Fault | None:
    """What is wrong with the compiled form of a graph for these arrays, or None; `isolate`: asked in a forked child."""
    return (isolated_fault_of if isolate else fault_of)(graph, arrays, **options)


def _fault_finder(check: Fails | None, isolate: bool, options: dict[str, Any]) -> Callable[[Graph, Sequence[Any]], Fault | None]:
    if check is None:
        return lambda graph, arrays: fault_of_case(graph, arrays, isolate, **options)
    asked = check
    return lambda graph, arrays: Fault("as asked", f"{graph.name}: `check` is true") if asked(graph, arrays) else None


def _case(function: Any, inputs: Sequence[Any]) -> tuple[Graph, list[Any]]:
    """The graph of a function and the arrays of its inputs."""
    if isinstance(function, Graph):
        return function, list(inputs)
    if not isinstance(inputs, (tuple, list)):
        raise ArgumentError(f"inputs are a tuple or list with the arguments of a call, not {type(inputs).__name__}")
    module = function if isinstance(function, GraphModule) else trace(function, tuple(inputs), check=False)
    return module.graph, argument_arrays(module, tuple(inputs), {})


__all__ = ["Case", "Fault", "Finding", "bisect", "fault_of_case", "minify", "smallest"]
