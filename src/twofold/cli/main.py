"""The `twofold` command."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from twofold.cli import cache
from twofold.cli.faults import bisect_file, minify_file
from twofold.cli.tour import run_tour

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Twofold: tensors that run now, and the same tensors as graphs.")
app.add_typer(cache.app, name="cache")


def show_version(wanted: bool) -> None:
    """`--version`: print it and stop."""
    if wanted:
        typer.echo(f"twofold {sys.modules['twofold'].__version__}")
        raise typer.Exit


@app.callback()
def callback(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version and exit."),
) -> None:
    """Twofold: tensors that run now, and the same tensors as graphs."""


@app.command()
def tour(
    epochs: int = typer.Option(16, min=1, help="Passes over the training images."),
    seed: int = typer.Option(0, help="Seed of every random number."),
    json: Path | None = typer.Option(None, help="Write the figures to this file."),  # noqa: B008  (typer's form)
    quiet: bool = typer.Option(False, help="Print the summary only."),
) -> None:
    """Train a small convolutional net on handwritten digits, look at its dynamic, static and compiled graphs, compare and time them."""
    if json is not None and (json.is_dir() or not json.resolve().parent.is_dir()):
        raise typer.BadParameter(f"{json} cannot be written: it is a directory, or its directory does not exist", param_hint="--json")
    raise typer.Exit(run_tour(epochs, seed, json, quiet))


GRAPH = typer.Argument(help="A graph as text: str(graph_module.graph).", exists=True, dir_okay=False)
INPUTS = typer.Option(None, help="An .npz file with an array for each input, by name; without it they are drawn at random.")
SEED = typer.Option(0, help="Seed of inputs drawn at random.")
STRICT = typer.Option(False, "--strict-math", help="Compile with strict_math=True.")
ISOLATE = typer.Option(False, help="Run in child processes, so that a crash is a fault like others.")


@app.command()
def bisect(
    graph: Path = GRAPH, inputs: Path | None = INPUTS, seed: int = SEED, strict_math: bool = STRICT, isolate: bool = ISOLATE
) -> None:
    """Find the pass, or the first node, at which the compiled form of a graph differs from the interpreter. Exits with 1 if it does."""
    raise typer.Exit(bisect_file(graph, inputs, seed, isolate, strict_math=strict_math))


@app.command()
def minify(
    graph: Path = GRAPH, output: Path = typer.Option(Path("repro.py"), "--output", "-o", help="The script to write."),  # noqa: B008
    inputs: Path | None = INPUTS, seed: int = SEED, strict_math: bool = STRICT, isolate: bool = ISOLATE,
) -> None:  # fmt: skip
    """Make a graph whose compiled form is wrong small, and write a script that shows what is left. Exits with 1 if there is a fault."""
    raise typer.Exit(minify_file(graph, output, inputs, seed, isolate, strict_math=strict_math))


if __name__ == "__main__":
    app()
