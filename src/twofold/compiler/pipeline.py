"""The pipeline: graph → decompose → canonicalise → plan → assemble → build → Executable. Each stage can be called alone."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from twofold.compiler.assemble import Assembly, assemble_program
from twofold.compiler.canonical import canonicalise
from twofold.compiler.decompose import decompose
from twofold.compiler.executable import Executable
from twofold.compiler.options import CompileOptions
from twofold.compiler.planner import KernelStep, Plan, PlanOptions, plan_graph
from twofold.compiler.prepare import check_supported, copy_graph, separate_outputs
from twofold.compiler.served import TEMPLATES, UPDATES
from twofold.compiler.spec import verify as verify_spec
from twofold.ir.graph import Graph
from twofold.ir.rewrite import PassLog, run_pass
from twofold.runtime.codegen import ForeignCode, build
from twofold.runtime.memory_size import memory_size
from twofold.runtime.target import Target, host_target, named_target, why_not_here
from twofold.support.collector import collector_paused
from twofold.support.errors import OutOfMemory
from twofold.support.logs import artifact_log

FUSION, KERNELS, MEMORY, CODE = artifact_log("fusion"), artifact_log("kernels"), artifact_log("memory"), artifact_log("code")


@dataclass(frozen=True)
class StageRecord:
    """One stage of a compilation: its name, seconds, and a line about its result."""

    name: str
    seconds: float
    result: str

    def __str__(self) -> str:
        return f"{self.name}: {self.result} ({self.seconds * 1e3:.2f} ms)"


@dataclass
class Compilation:
    """Everything a compilation leaves behind: the prepared graph, the passes' log, the plan, the assembly, a record of each stage."""

    source: Graph
    options: CompileOptions
    target: Target
    graph: Graph
    log: PassLog = field(default_factory=PassLog)
    plan: Plan | None = None
    assembly: Assembly | None = None
    sites: dict[int, Any] = field(default_factory=dict)
    stages: list[StageRecord] = field(default_factory=list)

    def timed(self, name: str, begin: float, result: str) -> None:
        self.stages.append(StageRecord(name, time.perf_counter() - begin, result))


def target_of(options: CompileOptions) -> Target:
    """The target that the options name."""
    t = options.target
    if t is None:
        return host_target()
    return named_target(t) if isinstance(t, str) else t


@collector_paused()
def prepare(graph: Graph, options: CompileOptions | None = None, log: PassLog | None = None) -> Compilation:
    """Copy, decompose, canonicalise: the graph of primitives that is planned. `graph` itself stays as it is."""
    options = options or CompileOptions()
    begin = time.perf_counter()
    c = Compilation(graph, options, target_of(options), copy_graph(graph), log or PassLog())
    check_supported(c.graph)

    def wanted(name: str) -> bool:
        return options.passes == "all" or name in options.passes

    if wanted("canonicalise"):
        canonicalise(c.graph, c.log, options.verify)
    decompose(c.graph, c.log, options.verify)
    if wanted("canonicalise"):
        canonicalise(c.graph, c.log, options.verify)
    run_pass("separate_outputs", c.graph, separate_outputs, c.log, options.verify)
    c.timed("prepare", begin, f"{graph.count()} nodes → {c.graph.count()} primitives")
    return c


@collector_paused()
def plan(c: Compilation) -> Compilation:
    """Decide what is stored and which kernels compute it."""
    begin = time.perf_counter()
    c.plan, c.sites = plan_graph(c.graph, PlanOptions(TEMPLATES, UPDATES))
    kernels = [s for s in c.plan.steps if isinstance(s, KernelStep)]
    if c.options.verify:
        for k in kernels:
            verify_spec(k.builder.spec("kernel"))
    c.timed("plan", begin, f"{len(c.plan.steps)} steps, {len(kernels)} loop kernels")
    if FUSION.enabled:
        FUSION.info("\n".join(map(str, c.plan.log)) or "nothing to decide")
    return c


@collector_paused()
def assemble(c: Compilation) -> Compilation:
    """Schedules, LLVM text, the memory plan."""
    begin = time.perf_counter()
    assert c.plan is not None
    c.assembly = a = assemble_program(c.graph, c.plan, c.sites, c.target, c.options.strict_math)
    c.timed("assemble", begin, f"{len(a.launches)} launches, {len(a.text)} characters of LLVM text, arena of {a.memory.peak} bytes")
    if KERNELS.enabled:
        for x in a.launches:
            KERNELS.info(f"{x.spec.listing() if x.spec is not None else x.template}\n{x.schedule or ''}")
    if MEMORY.enabled:
        MEMORY.info(str(a.memory))
    if CODE.enabled:
        CODE.info(a.text.replace("%", "%%"))
    return c


def compile_graph(graph: Graph, **options: Any) -> tuple[Executable, Compilation]:
    """The whole pipeline. For a target that this machine cannot run nothing is built: the executable can be looked at, and raises when it
    is called. Raises OutOfMemory for a program that takes more memory than there is."""
    c = assemble(plan(prepare(graph, CompileOptions.of(options))))
    begin = time.perf_counter()
    assert c.assembly is not None
    if why_not_here(c.target):
        c.timed("build", begin, f"nothing: {c.target.name} is not this machine")
        return Executable(c.assembly, ForeignCode(c.target), c.target, c.options), c
    _check_fits(c.assembly)
    code = build(c.assembly.text, c.target, graph.name, level=1)  # vectors are explicit: LLVM's loop passes have nothing to add
    c.timed("build", begin, c.target.name)
    return Executable(c.assembly, code, c.target, c.options), c


def _check_fits(a: Assembly) -> None:
    """OutOfMemory for a program whose temporaries and outputs are more than this machine has. (The system may promise memory that it does
    not have, and end the process when it is used.)"""
    outputs = [b for b in a.buffers.values() if b.kind == "output"]
    need = a.memory.peak + sum(b.nbytes for b in outputs)
    if need > memory_size():
        parts = sorted([*((b.nbytes, b.name) for b in a.memory.blocks), *((b.nbytes, b.name) for b in outputs)], reverse=True)
        raise OutOfMemory(
            f"{a.graph.name}: a run takes {need} bytes ({a.memory.peak} of temporaries at their peak, the rest outputs), this machine has"
            f" {memory_size()}; the largest: {', '.join(f'{name} ({size} bytes)' for size, name in parts[:3])}"
        )
