"""The `twofold` command."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from twofold.cli.tour import run_tour

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Twofold: tensors that run now, and the same tensors as graphs.")


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
    """Train a small convolutional net on handwritten digits, look at its dynamic and its static graph, and compare the two."""
    if json is not None and (json.is_dir() or not json.resolve().parent.is_dir()):
        raise typer.BadParameter(f"{json} cannot be written: it is a directory, or its directory does not exist", param_hint="--json")
    raise typer.Exit(run_tour(epochs, seed, json, quiet))


if __name__ == "__main__":
    app()
