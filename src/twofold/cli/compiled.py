"""The compiled stage of the tour: native programs of the model and of its training step, beside eager and the interpreted graphs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from twofold.capture.aot import JointModule
from twofold.capture.graph_module import GraphModule
from twofold.compiler.assemble import HostCall, walk_actions
from twofold.ir.mode import grad_mode
from twofold.models.digits import DigitsNet
from twofold.runtime.counters import CACHE_HITS, COMPILATIONS
from twofold.tensors.core import Tensor

SECONDS = 0.25
"""What the timing of one table row may take."""
SHOWN_NODES = 6


def compile_both(graph: GraphModule, joint: JointModule) -> tuple[Any, Any, dict[str, Any]]:
    """(program of the forward graph, program of the joint graph, figures: kernels, host steps, arena, how the code came about)."""
    compiled, hits = COMPILATIONS.value, CACHE_HITS.value
    start = time.perf_counter()
    forward, both = graph.compile(), joint.compile()
    figures = {
        "kernels": len(forward.kernels),
        "host_steps": len(forward.executable.assembly.hosts),
        "joint_kernels": len(both.executable.assembly.launches),
        "joint_host_steps": len(both.executable.assembly.hosts),
        "arena_bytes": forward.memory.peak,
        "joint_arena_bytes": both.executable.assembly.memory.peak,
        "compile_seconds": time.perf_counter() - start,
        "modules_compiled": COMPILATIONS.value - compiled,
        "modules_from_cache": CACHE_HITS.value - hits,
    }
    return forward, both, figures


def show(program: Any, figures: dict[str, Any], console: Console) -> None:
    """The forward program's steps in the order in which they run, and where the code came from."""
    console.rule("The compiled graph: what became one kernel, and what runs on the host")
    table = Table(box=None)
    for heading in ("step", "computes", "bytes moved"):
        table.add_column(heading, overflow="fold")
    for k in program.kernels:
        table.add_row(k.name, _listed(k.nodes), str(k.bytes))
    for action in walk_actions(program.executable.assembly.actions):
        if isinstance(action, HostCall):
            table.add_row("host", f"{action.node.name}: {action.reason}", "")
    console.print(table, markup=False)
    console.print(program.report().splitlines()[-1], markup=False, highlight=False)
    console.print(cache_note(figures), markup=False, highlight=False)


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - SHOWN_NODES
    return ", ".join(names[:SHOWN_NODES]) + (f" and {more} more" if more > 0 else "")


def cache_note(figures: dict[str, Any]) -> str:
    """Whether LLVM ran, or the code of an earlier process was used."""
    seconds = f"{figures['compile_seconds'] * 1e3:.0f} ms"
    made, kept = figures["modules_compiled"], figures["modules_from_cache"]
    if made:
        return (
            f"{made} modules were compiled by LLVM, {kept} came from the object cache; all in {seconds}. The next process finds them there."
        )
    if kept:
        return f"{kept} modules came from the object cache, where an earlier process left them: ready in {seconds}, without LLVM."
    return f"ready in {seconds}: the code was in memory already."


def times(
    model: DigitsNet,
    loss: Callable[..., Tensor],
    graph: GraphModule,
    joint: JointModule,
    forward: Any,
    both: Any,
    batch: tuple[Tensor, Tensor],
) -> dict[str, dict[str, float]]:
    """Median seconds per call: "forward" and "forward and backward", each eager, interpreted and compiled."""
    images, labels = batch

    def eager_step() -> None:
        model.zero_grad()
        loss(model(images), labels).backward()

    with grad_mode(False):
        calls = medians({"eager": lambda: model(images), "interpreted": lambda: graph(images), "compiled": lambda: forward(images)})
    steps = medians({"eager": eager_step, "interpreted": lambda: joint(images, labels), "compiled": lambda: both(images, labels)})
    model.zero_grad()
    return {"forward": calls, "forward and backward": steps}


def medians(actions: dict[str, Callable[[], Any]], seconds: float = SECONDS) -> dict[str, float]:
    """The median time of each action; they take turns, so that what slows the machine down slows all of them."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    end = time.perf_counter() + seconds
    while not taken[next(iter(taken))] or time.perf_counter() < end:
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) for name, t in taken.items()}
