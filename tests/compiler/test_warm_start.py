"""A second process finds its code in the object cache: it compiles nothing, does not import llvmlite, and computes the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = """
import hashlib, sys
import numpy as np
import twofold
import twofold.nn.functional as F
from twofold.runtime import counters

def values(*shape):
    return twofold.tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))

def loop(x):
    return twofold.while_loop(lambda x: x.sum() < 100.0, lambda x: (x * 2.0,), (x,))[0]

x, w, b, index = values(6, 8), values(4, 8), values(4), twofold.tensor([1, 0, 3])
functions = {
    "pointwise": (lambda x: twofold.tanh(x) * 2 + 1, (x,)),
    "softmax": (lambda x: x.softmax(1), (x,)),
    "norm": (lambda x: F.layer_norm(F.gelu(x), (8,)), (x,)),
    "gather": (lambda x, i: x[i].sum(0), (x, index)),
    "scatter": (lambda x, i: x.index_add(0, i, x[:3]), (x, index)),
    "host step": (lambda x, w, b: F.linear(x, w, b).relu(), (x, w, b)),
    "loop": (loop, (x.abs() + 0.1,)),
}
def digest(results):
    return hashlib.sha256(b"".join(np.ascontiguousarray(r.numpy()).tobytes() for r in results)).hexdigest()[:16]

for name, (function, inputs) in functions.items():
    print(name, digest([twofold.trace(function, inputs).compile()(*inputs)]))
w.requires_grad_()
joint = twofold.aot(lambda x, w: F.layer_norm(x @ w.t(), (4,)).square().sum(), x, w).compile()
loss, gradients = joint(x, w)
print("joint", digest([loss, gradients["w"]]))
print(counters.COMPILATIONS.value, counters.CACHE_HITS.value, "llvmlite" in sys.modules)
"""


def run(folder: Path, **environment: str) -> list[str]:
    """The lines that a new process prints which makes and runs the programs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TWOFOLD")}
    environment = {**kept, "PYTHONPATH": os.pathsep.join(sys.path), "TWOFOLD_CACHE_DIR": str(folder), **environment}
    command = [sys.executable, "-W", "error", "-c", PROGRAMS]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    *first, made = run(tmp_path)
    *second, found = run(tmp_path)
    assert len(first) == 8
    assert first == second
    compiled, hits, imported = made.split()
    assert int(compiled) >= 8
    assert (hits, imported) == ("0", "True")
    assert found == f"0 {compiled} False"


@pytest.mark.slow
def test_another_target_does_not_take_this_one_s_code(tmp_path: Path) -> None:
    """Code for a lower level of x86-64 is compiled into the same folder, and both are found again."""
    *_, wide = run(tmp_path)
    *_, narrow = run(tmp_path, TWOFOLD_CPU="x86-64-v2")
    assert int(narrow.split()[0]) > 0
    assert [run(tmp_path)[-1].split()[0], run(tmp_path, TWOFOLD_CPU="x86-64-v2")[-1].split()[0]] == ["0", "0"]
    assert wide.split()[2] == "True"
