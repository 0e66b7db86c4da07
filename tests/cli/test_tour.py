"""`twofold tour`: the main job on real data, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys

import twofold


def twofold_command(*arguments):
    return subprocess.run([sys.executable, "-m", "twofold", *arguments], capture_output=True, text=True, check=False)


def test_the_tour_reaches_its_goal_and_the_graphs_agree(tmp_path):
    path = tmp_path / "figures.json"
    done = twofold_command("tour", "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    for text in ("CrossEntropyLossBackward0", "AccumulateGrad", "placeholder", "conv1.weight", "Summary", "agree"):
        assert text in done.stdout
    figures = json.loads(path.read_text())
    assert figures["accuracy"] >= 0.97
    assert figures["accuracy_static"] == figures["accuracy"]
    for name in ("difference_outputs", "difference_gradients", "difference_gradients_joint"):
        assert figures[name] <= 1e-5
    assert figures["losses"][-1] < figures["losses"][0] / 10
    assert set(figures["seconds"]) >= {"data", "training", "trace", "interpret", "joint graph", "evaluation"}


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
