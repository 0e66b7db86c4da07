"""`twofold cache`: looking at compiled code on disk, and removing it."""

from __future__ import annotations

import typer

from twofold.runtime.cache import cache_info, clear_cache

app = typer.Typer(no_args_is_help=True, help="The cache of compiled code on disk.")


@app.command()
def info() -> None:
    """Say where the cache is and what it holds."""
    found = cache_info()
    if not found.enabled:
        typer.echo(f"not in use: {found.folder}" if found.folder else "not in use: it is switched off, or there is no home folder")
        return
    typer.echo(f"{found.folder}: {found.entries} entries, {found.bytes / 2**20:.1f} MiB of at most {found.limit_bytes / 2**20:.0f}")


@app.command()
def clear() -> None:
    """Remove all compiled code."""
    typer.echo(f"{clear_cache()} entries removed")
