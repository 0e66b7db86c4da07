"""One process of a measurement; `run.py` starts it. The last line printed is a JSON object.

python benchmarks/worker.py prepare CASE --folder FOLDER [--onnx]      write the case's inputs, float64 reference and ONNX model
python benchmarks/worker.py measure CASE PEER --folder FOLDER          first call, steady state, peak memory, error
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cases import CASES
from cases.case import Case, ScalingCase
from peers import PEERS, NotSupported, Peer, Prepared, export_onnx, onnx_file

SHORTEST_SAMPLE = 100e-6
LEAST_SAMPLES, LONGEST = 7, 20.0
WARM_UP = 0.3


def memory_mb(field: str) -> float:
    """A field of this process's memory: VmHWM, the most it ever had resident, or VmRSS, what it has now."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field + ":")) / 1024


def cpu_seconds() -> tuple[float, float]:
    """(busy seconds of all cores since the machine started, with those that its host took; seconds of this process)."""
    with open("/proc/stat") as stat:
        ticks = [int(x) for x in stat.readline().split()[1:9]]
    times = os.times()
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"), times.user + times.system


def steady(call: Callable[[], Any], seconds: float) -> dict[str, float]:
    """Seconds a call after warm-up: median and least of samples of at least 100 µs, taken for `seconds`.

    `foreign_cpu`: cores that other programs, or the host of a virtual machine, used meanwhile.
    """
    clock = time.perf_counter
    start, calls = clock(), 0
    while calls < 2 or clock() - start < min(WARM_UP, seconds):
        call()
        calls += 1
    start = clock()
    call()
    batch = max(1, int(SHORTEST_SAMPLE / max(clock() - start, 1e-9)))
    gc.collect()
    gc.disable()
    samples: list[float] = []
    busy, own = cpu_seconds()
    start = clock()
    while (clock() - start < seconds or len(samples) < LEAST_SAMPLES) and not (clock() - start > LONGEST and len(samples) >= 3):
        before = clock()
        for _ in range(batch):
            call()
        samples.append((clock() - before) / batch)
    wall = clock() - start
    gc.enable()
    busy_after, own_after = cpu_seconds()
    foreign = max(0.0, (busy_after - busy) - (own_after - own)) / wall
    return {
        "median": statistics.median(samples), "least": min(samples), "samples": len(samples), "batch": batch,
        "foreign_cpu": round(foreign, 3),
    }  # fmt: skip


def relative_error(outputs: Sequence[np.ndarray], folder: Path) -> float:
    """The largest, over the outputs, of max |output - reference| / max |reference|. Raises ValueError for a wrong number or shape."""
    references = sorted(folder.glob("reference*.npy"))
    if len(outputs) != len(references):
        raise ValueError(f"{len(outputs)} outputs, the reference has {len(references)}")
    worst = 0.0
    for got, path in zip(outputs, references, strict=True):
        want = np.load(path)
        if got.shape != want.shape:
            raise ValueError(f"an output has shape {got.shape}, the reference {want.shape}")
        difference = np.abs(np.asarray(got, np.float64) - want).max()
        if not np.isfinite(difference):
            return float("inf")  # max() of Python would pass over a NaN
        worst = max(worst, float(difference / np.abs(want).max()))
    return worst


def load(folder: Path) -> list[np.ndarray]:
    return [np.load(path) for path in sorted(folder.glob("input*.npy"))]


def write_case(case: Case, folder: Path, onnx: bool) -> None:
    """Write the inputs, the reference and, if wanted, the ONNX model or why there is none."""
    inputs = case.make_inputs()
    for i, x in enumerate(inputs):
        np.save(folder / f"input{i}.npy", x)
    for i, x in enumerate(case.reference(*inputs)):
        np.save(folder / f"reference{i}.npy", x)
    if onnx and not case.gradients:
        try:
            export_onnx(case, inputs, onnx_file(folder))
        except Exception as error:
            traceback.print_exc()
            onnx_file(folder).with_suffix(".error").write_text(f"export failed: {type(error).__name__}: {error}".splitlines()[0][:200])


def measure(case: Case, peer: Peer, folder: Path, threads: int, seconds: float, first_only: bool) -> dict[str, Any]:
    """The figures of one case and peer in this process. The clock of the first result starts after the import."""
    inputs = load(folder)
    start = time.perf_counter()
    module = importlib.import_module(peer.packages[0])
    for name in peer.imports:
        importlib.import_module(name)
    imported = time.perf_counter()
    result: dict[str, Any] = {"import": imported - start, "memory_before": memory_mb("VmRSS")}
    start = time.perf_counter()
    prepared: Prepared = peer.prepare(module, case, inputs, folder, threads)
    outputs = prepared.call()
    result["first"] = time.perf_counter() - start
    if not first_only:
        result["forms"] = {"": steady(prepared.call, seconds)} | {name: steady(call, seconds) for name, call in prepared.forms.items()}
        outputs = prepared.call()
    result["memory_peak"] = memory_mb("VmHWM")
    result["error"] = relative_error(prepared.arrays(outputs), folder)
    return result


def measure_compilation(case: ScalingCase, peer: Peer) -> dict[str, Any]:
    """Seconds of `compile()` alone, for each generator; `trace` beside it. The compiled program's result is held against eager."""
    if peer.name != "twofold":
        raise NotSupported("measured for Twofold only")
    twofold = importlib.import_module("twofold")
    x = twofold.from_numpy(np.random.default_rng(0).standard_normal((16, 64), dtype=np.float32))
    result: dict[str, Any] = {"forms": {}, "error": 0.0, "memory_before": memory_mb("VmRSS")}
    for name, generate in case.generators.items():

        def function(x: Any, generate: Any = generate) -> Any:
            return generate(twofold, x, case.nodes)

        start = time.perf_counter()
        module = twofold.trace(function, (x,))
        traced = time.perf_counter()
        program = module.compile()
        compiled = time.perf_counter()
        got, want = program(x).numpy(), function(x).numpy()
        result["error"] = max(result["error"], float(np.abs(got - want).max() / np.abs(want).max()))
        result["forms"][name] = {"median": compiled - traced, "trace": traced - start, "nodes": len(module.graph.nodes)}
    result["memory_peak"] = memory_mb("VmHWM")
    return result


def guarded(action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The figures, or why there are none: "unsupported" (the peer cannot, or this version of Twofold lacks the name) or "failed"."""
    try:
        return action()
    except NotSupported as reason:
        return {"unsupported": str(reason)}
    except Exception as error:
        missing = isinstance(error, AttributeError) and type(error).__module__.startswith("twofold")
        traceback.print_exc()
        return {"unsupported" if missing else "failed": f"{type(error).__name__}: {error}".splitlines()[0][:300]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("prepare", "measure"))
    parser.add_argument("case", choices=CASES)
    parser.add_argument("peer", choices=PEERS, nargs="?")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--onnx", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--first-only", action="store_true")
    a = parser.parse_args()
    case = CASES[a.case]
    if a.action == "prepare":
        if isinstance(case, Case):
            write_case(case, a.folder, a.onnx)
        print("{}")
        return
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: a.threads])
    peer = PEERS[a.peer]
    if isinstance(case, ScalingCase):
        result = guarded(lambda: measure_compilation(case, peer))
    else:
        result = guarded(lambda: measure(case, peer, a.folder, a.threads, a.seconds, a.first_only or case.figure == "first"))
    print(json.dumps(result), flush=True)
    sys.stderr.flush()
    os._exit(0)  # the figures are out; some frameworks take seconds, or crash, on the way down


if __name__ == "__main__":
    main()
