"""Where the time to compile goes as graphs grow: seconds, and microseconds a node, by stage.

python benchmarks/compile_scaling.py [--forms chain,layered,…] [--sizes 1000,10000] [--build] [--cpu]

Graphs are generated (`cases/scaling.py` and the forms below). `--build` compiles the LLVM text too, without the object cache. `--cpu`
counts the seconds of this process instead of the clock's: on a busy machine they mean more.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from cases.scaling import SHAPE, layered_graph, random_graph  # noqa: E402

import twofold  # noqa: E402
from twofold.compiler import pipeline  # noqa: E402
from twofold.compiler.options import CompileOptions  # noqa: E402
from twofold.runtime import codegen  # noqa: E402


def chain(lib: Any, x: Any, nodes: int) -> Any:
    """One pointwise operation after the other."""
    for _ in range(nodes // 2):
        x = lib.sin(x) * 0.5
    return x


def independent(lib: Any, x: Any, nodes: int) -> Any:
    """Small results that have only the input in common."""
    return tuple((lib.tanh(x * (1 + i * 0.001)) + 0.5).sum(-1) for i in range(nodes // 4))


def host_steps(lib: Any, x: Any, nodes: int) -> Any:
    """Products of matrices, which are no loop kernels, with something pointwise between them."""
    w = lib.full((SHAPE[1], SHAPE[1]), 0.01)
    for _ in range(nodes // 3):
        x = lib.relu(lib.matmul(x, w)) * 0.1
    return x


def every_step(lib: Any, x: Any, nodes: int) -> Any:
    """A chain of which every second value is an output."""
    outputs = []
    for _ in range(nodes // 2):
        x = lib.tanh(x) * 0.9
        outputs.append(x)
    return tuple(outputs)


FORMS: dict[str, Callable[[Any, Any, int], Any]] = {
    "chain": chain, "random": random_graph, "layered": layered_graph, "independent": independent, "host_steps": host_steps,
    "every_step": every_step,
}  # fmt: skip


def measure(form: str, nodes: int, build: bool, clock: Callable[[], float]) -> tuple[int, dict[str, float]]:
    """(primitives, seconds by stage)."""
    graph = twofold.trace(lambda x: FORMS[form](twofold, x, nodes), (twofold.ones(*SHAPE),), check=False).graph
    seconds: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any], *args: Any) -> Any:
        begin = clock()
        result = function(*args)
        seconds[name] = clock() - begin
        return result

    c = timed("prepare", pipeline.prepare, graph, CompileOptions())
    timed("plan", pipeline.plan, c)
    timed("assemble", pipeline.assemble, c)
    if build:
        timed("LLVM", lambda: codegen.assemble(c.assembly.text, c.target, level=1))
    return c.graph.count(), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    a = parser.parse_args()
    clock = time.process_time if a.cpu else time.perf_counter
    for form in a.forms.split(","):
        for size in map(int, a.sizes.split(",")):
            count, seconds = measure(form, size, a.build, clock)
            parts = "  ".join(f"{name} {s:7.2f} s {s / count * 1e6:6.0f} µs/node" for name, s in seconds.items())
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"{form:12} {count:7} primitives  {parts}  (peak so far {peak} MiB)", flush=True)


if __name__ == "__main__":
    main()
