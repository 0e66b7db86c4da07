"""The harness of benchmarks/: its cases agree with their references, its processes report, its statistics are right. Nothing is timed."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import twofold

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = ("cases", "pairs", "peers", "report", "worker", "run")


@pytest.fixture(scope="module")
def bench() -> Iterator[SimpleNamespace]:
    """The modules of benchmarks/, which are programs' and no package: their names are taken back afterwards."""
    saved = set(sys.modules)
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield SimpleNamespace(**{name: __import__(name) for name in NAMES})
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in set(sys.modules) - saved:
            if name.split(".")[0] in NAMES:
                del sys.modules[name]


def process(median: float, **more: object) -> dict[str, object]:
    forms = {"": {"median": median}}
    return {"forms": forms, "first": 1.0, "memory_peak": 100.0, "memory_before": 50.0, "error": 1e-7, **more}


def test_ratio_is_to_the_best_other_peer(bench):
    results = {
        "twofold": [process(m) for m in (1.0, 2.2, 3.0)],
        "torch": [process(m) for m in (4.0, 4.0, 4.0)],
        "jax": [process(m) for m in (2.0, 2.0, 2.0)],
        "openvino": [{"unsupported": "runs inference graphs only"}],
    }
    rows = bench.report.summarise(SimpleNamespace(name="case", figure="steady", limit=0.4), results)
    assert [r["peer"] for r in rows] == ["jax", "twofold", "torch", "openvino"]
    jax, ours, torch, openvino = rows
    assert (jax["ratio"], jax["low"], jax["high"]) == (1.0, 1.0, 1.0)
    assert (ours["best"], ours["ratio"]) == ("jax", 1.1)
    assert (ours["low"], ours["high"]) == (0.5, 1.5)
    assert ours["holds"] is False
    assert torch["ratio"] == 2.0
    assert "ratio" not in openvino
    assert "unsupported: runs inference graphs only" in bench.report.text_table(rows)


@pytest.mark.parametrize(
    "seconds, text", [(None, "–"), (2.0, "2.00 s"), (12.34, "12.3 s"), (0.1234, "123 ms"), (4.56e-6, "4.56 µs"), (5e-8, "0.05 µs")]
)
def test_durations(bench, seconds, text):
    assert bench.report.duration(seconds) == text


def test_cases_are_chosen_by_prefix(bench):
    assert [c.name for c in bench.cases.select(["pointwise"])] == ["pointwise_4m", "pointwise_1k"]
    with pytest.raises(KeyError):
        bench.cases.select(["none"])


SMALL = {
    "pointwise_1k": (7,), "gelu_erf_layer_norm": (3, 8), "gelu_tanh_layer_norm": (3, 8), "softmax": (3, 8), "column_sum": (3, 8),
    "call_overhead": (8,), "layer_norm_backward": (3, 8), "batch_norm_train": (2, 3, 4, 4), "first_result": (2, 8), "cross_entropy": (3, 8),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_references_against_float64_tensors(bench, name):
    """Each reference is what the case's function gives in float64, with Twofold's eager operations and gradients."""
    case = bench.cases.CASES[name]
    shape = SMALL[name]
    rng = np.random.default_rng(1)
    channels = shape[1] if len(shape) == 4 else shape[-1]
    affine = [rng.standard_normal(channels), rng.standard_normal(channels)]
    needed = case.reference.__code__.co_argcount
    inputs = [rng.standard_normal(shape), *([rng.integers(0, 8, 3)] if name == "cross_entropy" else affine), rng.standard_normal(shape)][
        :needed
    ]
    tensors = [twofold.from_numpy(x) for x in inputs]
    for i in case.gradients:
        tensors[i].requires_grad_(True)
    y = case.torch(twofold, *case.arguments(tensors))
    outputs = [y]
    if case.gradients:
        outputs += twofold.autograd.grad(y, [tensors[i] for i in case.gradients], None if case.tangent is None else tensors[case.tangent])
    for got, want in zip(outputs, case.reference(*inputs), strict=True):
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-9, atol=1e-12)


def test_error_sees_shapes_numbers_and_nan(bench, tmp_path):
    np.save(tmp_path / "reference0.npy", np.array([1.0, 4.0]))
    assert bench.worker.relative_error([np.array([1.0, 3.0])], tmp_path) == 0.25
    assert bench.worker.relative_error([np.array([1.0, np.nan])], tmp_path) == float("inf")
    with pytest.raises(ValueError, match="shape"):
        bench.worker.relative_error([np.array([[1.0, 4.0]])], tmp_path)
    with pytest.raises(ValueError, match="2 outputs"):
        bench.worker.relative_error([np.ones(2), np.ones(2)], tmp_path)


def test_a_missing_name_of_twofold_is_unsupported_and_a_fault_is_failed(bench):
    assert "twofold.no_such_name" in bench.worker.guarded(lambda: twofold.no_such_name)["unsupported"].replace(
        "'twofold' has no attribute '", "twofold."
    )
    assert bench.worker.guarded(lambda: 1 / 0)["failed"] == "ZeroDivisionError: division by zero"
    assert bench.worker.guarded(lambda: None.name)["failed"].startswith("AttributeError")


def test_absent_peers_are_named(bench):
    peer = dataclasses.replace(bench.peers.PEERS["jax"], packages=("no_such_package",))
    assert peer.missing() == ["no_such_package"]


def test_one_process(bench, tmp_path):
    """A case measured by a fresh process, as run.py starts it."""
    worker = [sys.executable, str(BENCHMARKS / "worker.py")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(BENCHMARKS.parent / "src"), os.environ.get("PYTHONPATH", "")])}
    bench.worker.write_case(bench.cases.CASES["call_overhead"], tmp_path, onnx=False)
    done = subprocess.run(
        [*worker, "measure", "call_overhead", "twofold", "--folder", str(tmp_path), "--threads", "1", "--first-only"],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["error"] < 1e-6, done.stderr
    assert result["first"] > 0
    assert result["memory_peak"] >= result["memory_before"] > 0
