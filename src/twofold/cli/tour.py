"""`twofold tour`: the main job, stage by stage, on real data."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from twofold.capture.aot import aot
from twofold.capture.trace.tracer import trace
from twofold.cli import compiled
from twofold.data.loader import DataLoader
from twofold.data.uci_digits import digits
from twofold.ir.mode import grad_mode
from twofold.ir.tabular import format_tabular
from twofold.models.digits import DigitsNet
from twofold.optim.adam import AdamW
from twofold.runtime.target import host_target, why_not_here
from twofold.support.errors import TwofoldError
from twofold.tensors.core import Tensor, memory
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.random import manual_seed
from twofold.viz.backward import show_graph

BATCH, LEARNING_RATE, GOAL = 64, 2e-3, 0.97
TOLERANCE = 1e-5
"""Largest allowed difference between eager and graph, interpreted or compiled, relative to the largest value."""
cross_entropy = FUNCTIONS["cross_entropy"]


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def train(model: DigitsNet, loader: DataLoader, epochs: int, console: Console) -> list[float]:
    """Train dynamically; returns the mean loss of each epoch."""
    optimizer = AdamW(model.parameters(), lr=LEARNING_RATE)
    losses = []
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("training", total=epochs * len(loader), loss=float("nan"))
        for epoch in range(epochs):
            total, count = 0.0, 0
            for images, labels in loader:
                loss = cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total, count = total + loss.item(), count + 1
                progress.update(task, advance=1, loss=total / count, description=f"epoch {epoch + 1}/{epochs}")
            losses.append(total / count)
    return losses


def accuracy(model: Any, loader: DataLoader) -> float:
    """The share of images whose highest score is the right class."""
    right = total = 0
    with grad_mode(False):
        for images, labels in loader:
            predicted = model(images).argmax(1)
            right += int((predicted == labels).sum())
            total += len(labels)
    return right / total


def difference(a: Any, b: Any) -> float:
    """The largest difference of two arrays, relative to the largest value."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return float(np.max(np.abs(x - y)) / max(float(np.max(np.abs(x))), 1e-30))


def gradients(model: DigitsNet) -> dict[str, Any]:
    """Copies of the parameters' gradients."""
    return {name: np.array(memory(p.grad)) for name, p in model.named_parameters() if p.grad is not None}


def compare(model: DigitsNet, images: Tensor, labels: Tensor, clock: Clock, console: Console) -> dict[str, Any]:
    """Trace the model, print both graphs, run the static one, and compare outputs and gradients with eager."""
    model.zero_grad()
    loss = cross_entropy(model(images), labels)
    loss.backward()
    eager_loss, eager_grads = loss.item(), gradients(model)
    console.rule("The dynamic graph: what this batch's loss left behind")
    text = io.StringIO()
    show_graph(loss.grad_fn, file=text)
    console.print(text.getvalue().rstrip(), markup=False, highlight=False)
    with clock.stage("trace"):
        graph = trace(model, (images,), dynamic_shapes={"x": {0: "batch"}})
    console.rule("The static graph: the same model, recorded once, for any batch size")
    console.print(format_tabular(graph.graph).rstrip(), markup=False, highlight=False, soft_wrap=True)
    with clock.stage("interpret"):
        model.zero_grad()
        through = cross_entropy(graph(images), labels)
        through.backward()
    static_grads = gradients(model)
    with clock.stage("joint graph"):
        joint = aot(lambda x, y: cross_entropy(model(x), y), images, labels)
        joint_loss, joint_grads = joint(images, labels)
    model.zero_grad()
    scores = difference(memory(model(images).detach()), memory(graph(images).detach()))
    return {
        "nodes": graph.graph.count(),
        "joint_nodes": joint.graph.count(),
        "loss_eager": eager_loss,
        "loss_static": through.item(),
        "loss_joint": joint_loss.item(),
        "difference_outputs": scores,
        "difference_gradients": max(difference(eager_grads[k], static_grads[k]) for k in eager_grads),
        "difference_gradients_joint": max(difference(eager_grads[k], memory(joint_grads["model." + k])) for k in eager_grads),
        "static": graph,
        "joint": joint,
    }


def compare_compiled(model: DigitsNet, joint: Any, images: Tensor, labels: Tensor, clock: Clock, console: Console) -> dict[str, Any]:
    """Compile the model and its training step for this batch size, show the kernels, compare with eager, and time all three ways.

    On a machine without native code it says why, and the figures are empty.
    """
    reason = why_not_here(host_target())
    if reason:
        console.print(f"Nothing is compiled: {reason}", markup=False)
        return {}
    with clock.stage("compile"):
        graph = trace(model, (images,))
        forward, both, figures = compiled.compile_both(graph, joint)
    compiled.show(forward, figures, console)
    model.zero_grad()
    loss = cross_entropy(model(images), labels)
    loss.backward()
    eager = gradients(model)
    joint_loss, joint_gradients = both(images, labels)
    with grad_mode(False):
        scores = difference(memory(model(images)), memory(forward(images)))
    with clock.stage("timing"):
        seconds = compiled.times(model, cross_entropy, graph, joint, forward, both, (images, labels))
    return figures | {
        "loss_compiled": joint_loss.item(),
        "difference_loss_compiled": difference(memory(loss.detach()), memory(joint_loss)),
        "difference_outputs_compiled": scores,
        "difference_gradients_compiled": max(difference(eager[k], memory(joint_gradients["model." + k])) for k in eager),
        "seconds_per_call": seconds,
    }


def run_tour(epochs: int, seed: int, json_path: Path | None, quiet: bool) -> int:
    """The whole tour; returns the exit status: 0 if the graphs agree and the accuracy is reached."""
    console = Console(file=io.StringIO()) if quiet else Console(width=None if os.isatty(1) else 160)
    summary_console = Console(width=None if os.isatty(1) else 160)
    clock = Clock()
    manual_seed(seed)
    with clock.stage("data"):
        train_set, test_set = digits("train"), digits("test")
        loader = DataLoader(train_set, batch_size=BATCH, shuffle=True)
        test_loader = DataLoader(test_set, batch_size=256)
    model = DigitsNet()
    console.print(f"{len(train_set)} training and {len(test_set)} test images of handwritten digits, 8×8 (UCI)")
    with clock.stage("training"):
        losses = train(model, loader, epochs, console)
    console.print(f"trained {epochs} epochs: loss {losses[0]:.4f} → {losses[-1]:.4f}")
    images, labels = next(iter(DataLoader(test_set, batch_size=BATCH)))
    figures = compare(model, images, labels, clock, console)
    static = figures.pop("static")
    figures |= compare_compiled(model, figures.pop("joint"), images, labels, clock, console)
    with clock.stage("evaluation"):
        reached = accuracy(model, test_loader)
        static_reached = accuracy(static, test_loader)
    figures |= {
        "accuracy": reached,
        "accuracy_static": static_reached,
        "losses": losses,
        "epochs": epochs,
        "seed": seed,
        "seconds": clock.seconds,
    }
    agree = all(figures[k] <= TOLERANCE for k in figures if k.startswith("difference_"))
    summary(summary_console, figures, agree)
    if reached < GOAL:
        summary_console.print(
            f"The accuracy is below the goal of {GOAL:.0%}: {epochs} epochs are too few, or something is wrong.", style="red"
        )
    if json_path is not None:
        write_json(json_path, figures)
    return 0 if agree and reached >= GOAL and static_reached == reached else 1


def summary(console: Console, figures: dict[str, Any], agree: bool) -> None:
    """The closing table."""
    console.rule("Summary")
    table = Table(show_header=False, box=None)
    table.add_row(
        "test accuracy", f"{figures['accuracy']:.2%} eager, {figures['accuracy_static']:.2%} by the static graph (goal {GOAL:.0%})"
    )
    table.add_row("static graph", f"{figures['nodes']} nodes; forward and backward together {figures['joint_nodes']}")
    table.add_row("outputs", f"differ by at most {figures['difference_outputs']:.1e} (relative)")
    table.add_row(
        "gradients",
        f"differ by at most {figures['difference_gradients']:.1e} through the graph, "
        f"{figures['difference_gradients_joint']:.1e} by the joint graph",
    )
    if "kernels" in figures:
        summarise_compiled(table, figures)
    table.add_row("eager and graph", "agree" if agree else "DISAGREE")
    for name, seconds in figures["seconds"].items():
        table.add_row(f"time: {name}", f"{seconds * 1e3:.0f} ms")
    console.print(table)


def summarise_compiled(table: Table, figures: dict[str, Any]) -> None:
    """The closing table's rows about the compiled programs."""
    table.add_row(
        "compiled",
        f"{figures['kernels']} kernels and {figures['host_steps']} host steps; forward and backward together "
        f"{figures['joint_kernels']} and {figures['joint_host_steps']}",
    )
    table.add_row(
        "compiled results",
        f"outputs differ by at most {figures['difference_outputs_compiled']:.1e}, "
        f"gradients by {figures['difference_gradients_compiled']:.1e}",
    )
    for what, seconds in figures["seconds_per_call"].items():
        table.add_row(f"{what}, per call", ", ".join(f"{way} {s * 1e3:.2f} ms" for way, s in seconds.items()))


def write_json(path: Path, figures: dict[str, Any]) -> None:
    """Write the figures: temporary name first, then rename."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_text(json.dumps(figures, indent=2) + "\n")
        temporary.replace(path)
    except OSError as e:
        raise TwofoldError(f"the figures could not be written to {path}: {e}") from e
