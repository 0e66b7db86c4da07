"""`twofold tour`: the main job on real data, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import twofold
from twofold.cli import compiled


def twofold_command(*arguments):
    return subprocess.run([sys.executable, "-m", "twofold", *arguments], capture_output=True, text=True, check=False)


def test_the_tour_reaches_its_goal_and_the_graphs_agree(tmp_path):
    path = tmp_path / "figures.json"
    done = twofold_command("tour", "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    for text in (
        "CrossEntropyLossBackward0",
        "AccumulateGrad",
        "placeholder",
        "conv1.weight",
        "relu_1, max_pool2d",
        "kernels move",
        "object cache",
        "Summary",
        "agree",
    ):
        assert text in done.stdout
    figures = json.loads(path.read_text())
    assert figures["accuracy"] >= 0.97
    assert figures["accuracy_static"] == figures["accuracy"]
    differences = [name for name in figures if name.startswith("difference_")]
    assert len(differences) == 6
    for name in differences:
        assert figures[name] <= 1e-5
    assert figures["kernels"] >= 1
    assert figures["joint_kernels"] > figures["kernels"]
    for seconds in figures["seconds_per_call"].values():
        assert set(seconds) == {"eager", "interpreted", "compiled"}
        assert all(s > 0 for s in seconds.values())
    assert figures["losses"][-1] < figures["losses"][0] / 10
    assert set(figures["seconds"]) >= {"data", "training", "trace", "interpret", "joint graph", "compile", "timing", "evaluation"}


def test_too_few_epochs_fail_and_say_why():
    done = twofold_command("tour", "--epochs", "1", "--quiet")
    assert done.returncode == 1
    assert "below the goal" in done.stdout


def test_a_path_that_cannot_be_written_is_refused_at_once(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "figures.json"):
        done = twofold_command("tour", "--json", str(path))
        assert done.returncode == 2
        assert "cannot be written" in " ".join(done.stderr.replace("│", " ").split())
        assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_version():
    done = twofold_command("--version")
    assert done.returncode == 0
    assert done.stdout.strip() == f"twofold {twofold.__version__}"


@pytest.mark.parametrize("made,kept,words", [
    (3, 0, ["3 modules were compiled", "next process"]), (1, 2, ["1 modules were compiled", "2 came from the object cache"]),
    (0, 3, ["3 modules came from the object cache", "without LLVM"]), (0, 0, ["in memory"]),
])  # fmt: skip
def test_it_says_where_the_code_came_from(made, kept, words):
    note = compiled.cache_note({"modules_compiled": made, "modules_from_cache": kept, "compile_seconds": 0.25})
    for word in (*words, "250 ms"):
        assert word in note


def test_a_second_process_finds_the_code_in_the_cache(tmp_path):
    script = (
        "import sys; from twofold.cli import compiled; import twofold; from twofold.models.digits import DigitsNet;"
        "from twofold.nn.functional import cross_entropy; twofold.manual_seed(0); m = DigitsNet(); x = twofold.rand(4, 1, 8, 8);"
        "y = twofold.tensor([1, 2, 3, 4]); joint = twofold.aot(lambda x, y: cross_entropy(m(x), y), x, y);"
        "print(compiled.compile_both(twofold.trace(m, (x,)), joint)[2]['modules_compiled'], 'llvmlite.binding' in sys.modules)"
    )
    environment = {**os.environ, "TWOFOLD_CACHE_DIR": str(tmp_path / "cache"), "TWOFOLD_CACHE": "1"}
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment) for _ in range(2)]
    made, imported = runs[0].stdout.split()
    assert int(made) > 0
    assert imported == "True"
    assert runs[1].stdout.split() == ["0", "False"]
