"""`twofold bisect` and `twofold minify`: faults of the compiler, for graphs as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from twofold.capture import debugging
from twofold.compiler.bisecting import default_arrays
from twofold.compiler.reproducing import load_inputs
from twofold.ir.graph import Graph
from twofold.ir.parser import parse_graph
from twofold.support.errors import TwofoldError

FOUND, NOTHING, REFUSED = 1, 0, 2


def bisect_file(path: Path, inputs: Path | None, seed: int, isolate: bool, **options: Any) -> int:
    """Print where the fault is; the status to exit with: 0 if there is none, 1 if there is, 2 for files that cannot be used."""
    try:
        graph, arrays = _case(path, inputs, seed)
        found = debugging.bisect(graph, arrays, isolate=isolate, **options)
    except TwofoldError as e:
        typer.echo(e.message, err=True)
        return REFUSED
    typer.echo("no fault: compiled and interpreted agree" if found is None else str(found))
    return NOTHING if found is None else FOUND


def minify_file(path: Path, output: Path, inputs: Path | None, seed: int, isolate: bool, **options: Any) -> int:
    """Write the smallest graph that shows the fault as a script; the status to exit with as of `bisect_file`."""
    try:
        graph, arrays = _case(path, inputs, seed)
        if debugging.fault_of_case(graph, arrays, isolate, **options) is None:
            typer.echo("no fault: compiled and interpreted agree")
            return NOTHING
        written = debugging.minify(graph, arrays, path=output, isolate=isolate, **options)
    except TwofoldError as e:
        typer.echo(e.message, err=True)
        return REFUSED
    typer.echo(f"{written} shows the fault: it exits with 1 while it is there")
    return FOUND


def _case(path: Path, inputs: Path | None, seed: int) -> tuple[Graph, list[Any]]:
    graph = parse_graph(path.read_text(encoding="utf-8"))
    return graph, default_arrays(graph, seed) if inputs is None else load_inputs(inputs, graph)
