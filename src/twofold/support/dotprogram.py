"""Running Graphviz's `dot` program, and writing files so that no reader ever sees half of one."""

from __future__ import annotations

import os
import re
import sys
import warnings

from twofold.support import options
from twofold.support.errors import MissingDependency, TwofoldError, ValueRangeError

TIMEOUT = options.register("viz.timeout", float, 120.0, "seconds that Graphviz's program dot may take for a drawing (0: no limit)")
INSTALL = "apt install graphviz (Debian, Ubuntu), brew install graphviz (macOS) or conda install graphviz"
_FORMAT = re.compile(r"[a-z0-9]+([:._-][a-z0-9]+)*")


class RenderError(TwofoldError, RuntimeError):
    """Graphviz failed, took too long, or was asked to draw a graph above the size limit."""


class OutputError(TwofoldError, OSError):
    """A drawing that cannot be written to its path."""

    __str__ = TwofoldError.__str__


def check_format(format: str) -> str:
    """`format` in lower case ("png", "svg", "pdf", "png:cairo", …); raises ValueRangeError for what cannot be one."""
    if not isinstance(format, str) or not _FORMAT.fullmatch(format.lower()):
        raise ValueRangeError(f"format must be a name Graphviz knows, such as 'png', 'svg' or 'pdf', not {format!r}")
    return format.lower()


def run_dot(source: str, format: str, timeout: float | None = None) -> bytes:
    """The drawing of `source` in `format`, made by the program `dot` found on PATH.

    Raises MissingDependency where there is no such program, ValueRangeError for a format it does not know, RenderError with its own
    message where it fails or needs more than `timeout` seconds (default: the option viz.timeout; 0: no limit). What it says beside a good
    drawing becomes a warning.
    """
    import shutil  # here, since every recording of a graph imports this module, and few draw
    import subprocess

    if timeout is None:
        timeout = TIMEOUT.value
    format = check_format(format)
    program = shutil.which("dot")
    if program is None:
        raise MissingDependency(
            f"drawing a {format} needs Graphviz's program 'dot', which is not on PATH; install it with {INSTALL}. "
            "The graph's text needs no program: see .source and .save(path)"
        )
    try:
        done = subprocess.run([program, f"-T{format}"], input=source.encode(), capture_output=True, timeout=timeout or None, check=False)
    except subprocess.TimeoutExpired:
        raise RenderError(
            f"'dot' had not finished after {timeout:g} seconds; give more with timeout=, draw a smaller graph, or .save() the text"
        ) from None
    except OSError as e:
        raise RenderError(f"'dot' ({program}) could not be run: {e}") from e
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        if "not recognized" in said and said.startswith("Format:"):
            raise ValueRangeError(f"this 'dot' cannot write the format {format!r}. {said}")
        raise RenderError(f"'dot' failed with exit status {done.returncode}: {said or 'it said nothing'}")
    if said:
        warnings.warn(f"dot: {said}", stacklevel=3)
    return done.stdout


def write_file(path: str, data: bytes) -> None:
    """Write `data` to `path` by way of a temporary name beside it, making missing folders; raises OutputError."""
    try:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        temporary = os.path.join(folder, f".twofold-{os.urandom(8).hex()}.tmp")
        os.makedirs(folder, exist_ok=True)
        # os.open rather than tempfile: the file gets the permissions the user's umask gives to any other
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, ValueError) as e:
        raise OutputError(f"{path!r} cannot be written: {e}") from e


def open_file(path: str) -> None:
    """Show a file in the desktop's viewer, without waiting for it; raises MissingDependency where no opener is found."""
    import shutil
    import subprocess

    if sys.platform == "win32":
        os.startfile(path)
        return
    name = "open" if sys.platform == "darwin" else "xdg-open"
    program = shutil.which(name)
    if program is None:
        raise MissingDependency(
            f"{path!r} was written, but cannot be shown: the program {name!r} is not on PATH (package xdg-utils on Linux)"
        )
    subprocess.Popen(
        [program, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
