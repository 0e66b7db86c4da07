"""Every error a user can meet.

Each class derives from `TwofoldError` and from the built-in exception (or exceptions) that PyTorch or NumPy would raise in the same
place, so both `except TwofoldError` and a ported `except RuntimeError` work. The message says what happened; the user's own line is
found when the error is made and shown at its end.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType, FrameType

PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


MODEL_FOLDERS = (PACKAGE_FOLDER + "models" + os.sep, PACKAGE_FOLDER + "cli" + os.sep)
"""Code in the package that is written like a user's: its lines are the ones to show."""


STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def is_user_frame(frame: FrameType) -> bool:
    """True for a frame outside this package (generated code carries a name in angle brackets and counts as ours), or in its models."""
    name = frame.f_code.co_filename
    if name.startswith(PACKAGE_FOLDER):
        return name.startswith(MODEL_FOLDERS)
    if name.startswith(STANDARD_LIBRARY) and "site-packages" not in name:
        return False  # copy.deepcopy and the like stand between the user and us
    return not name.startswith(("<twofold", "<frozen"))


def user_frame(start: int = 1) -> FrameType | None:
    """The innermost frame outside the package, or None where there is none."""
    frame: FrameType | None = sys._getframe(start)
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    return frame


def _caller() -> FrameType | None:
    """The frame to show for an error that is being made; where the package's models make it themselves, the one that called them."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename.startswith(MODEL_FOLDERS):
        while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
            frame = frame.f_back
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    return frame


def line_of(code: CodeType, instruction: int) -> int | None:
    """The source line of the instruction at byte offset `instruction` of `code`; computed only when somebody asks."""
    for begin, end, line in code.co_lines():
        if begin <= instruction < end:
            return line
    return code.co_firstlineno


def describe_site(code: CodeType | None, instruction: int) -> str:
    """`file:line, in function: source text` for a recorded (code, instruction) pair."""
    if code is None:
        return "an unknown place"
    line = line_of(code, instruction)
    text = linecache.getline(code.co_filename, line).strip() if line else ""
    return f"{code.co_filename}:{line}, in {code.co_name}" + (f": {text}" if text else "")


class TwofoldError(Exception):
    """Base of all errors of this package. `site` is the user's (code, instruction) at which it was made, or None."""

    site: tuple[CodeType, int] | None

    def __init__(self, message: str, *, site: tuple[CodeType, int] | None = None) -> None:
        super().__init__(message)
        self.message = message
        if site is None and (frame := _caller()) is not None:
            site = (frame.f_code, frame.f_lasti)
        self.site = site

    def __str__(self) -> str:
        if self.site is None:
            return self.message
        return f"{self.message}\n  at {describe_site(*self.site)}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), str(self))


def _rebuild(cls: type[TwofoldError], message: str) -> TwofoldError:
    error = cls.__new__(cls)
    Exception.__init__(error, message)
    error.message, error.site = message, None
    return error


class ShapeError(TwofoldError, ValueError, RuntimeError):
    """Operands whose shapes do not go together, or a shape that cannot be made. Names the operands."""


class DTypeError(TwofoldError, TypeError, RuntimeError):
    """A dtype the operation does not take, or dtypes that do not promote to one another."""


class DeviceError(TwofoldError, RuntimeError):
    """A device this build does not have, operands on different devices, or a value asked of the `meta` device."""


class DimensionError(TwofoldError, IndexError, RuntimeError):
    """A dimension out of range, given twice, or that the tensor does not have (torch raises IndexError or RuntimeError)."""


class IndexOutOfRange(TwofoldError, IndexError, RuntimeError):
    """An index outside the indexed dimension."""


class ArgumentError(TwofoldError, TypeError):
    """A wrong number, name or type of argument."""


class ValueRangeError(TwofoldError, ValueError, RuntimeError):
    """An argument of the right type with a value the operation does not take."""


class AutogradError(TwofoldError, RuntimeError):
    """A fault in the use of gradients: no graph, freed graph, wrong gradient shape, missing rule, NaN in anomaly mode."""


class InplaceError(TwofoldError, RuntimeError):
    """An in-place write that is refused, or a saved value that was overwritten.

    `kind` is one of leaf, nograd_view, overlap, read_only, shape, view, version, input_alias.
    """

    def __init__(self, message: str, kind: str, *, site: tuple[CodeType, int] | None = None) -> None:
        super().__init__(message, site=site)
        self.kind = kind


class VmapError(TwofoldError, ValueError, RuntimeError):
    """A wrong use of `vmap`, or something in a mapped function that depends on the values of single examples."""


class GraphError(TwofoldError, ValueError, RuntimeError):
    """A malformed graph: verifier failures, cycles, symbols of two graphs mixed."""


class ParseError(GraphError):
    """Graph text that cannot be read; says line and column."""


class TraceError(TwofoldError, RuntimeError, TypeError):
    """Python that needs the value of a symbol while a graph is recorded."""


class GuardError(TwofoldError, RuntimeError):
    """A graph called with inputs other than those it was recorded for."""


class StaleOutput(TwofoldError, RuntimeError):
    """A tensor whose memory a later call of its program has overwritten (`compile(reuse_outputs=True)`)."""


class AssertionFailed(TwofoldError, AssertionError):
    """An assertion written into a graph is false for these inputs."""


class ModuleError(TwofoldError, AttributeError, TypeError):
    """Misuse of an nn.Module."""


class StateDictError(TwofoldError, KeyError, RuntimeError):
    """A state dict that does not fit."""

    __str__ = TwofoldError.__str__


class DataError(TwofoldError, ValueError):
    """A data set or file that cannot be read."""


class FileError(DataError, OSError):
    """A file that cannot be opened or written."""


class MissingFile(FileError, FileNotFoundError):
    """A file that is not there."""


class ExportError(TwofoldError, BufferError, RuntimeError):
    """Memory that cannot be handed out (BufferError, as the DLPack standard asks)."""


class UnknownNameError(TwofoldError, AttributeError):
    """A name the package does not have; names similar ones."""


class OutOfMemory(TwofoldError, MemoryError):
    """The data of a result cannot be allocated."""


class MissingDependency(TwofoldError, ImportError, RuntimeError):
    """An optional package or program that is not installed; says how to install it."""


class CompileError(TwofoldError, RuntimeError):
    """Native code could not be made."""


class VerificationError(TwofoldError, AssertionError):
    """A compiled program computes something else than its graph says. `divergence` holds what differs, and where."""

    divergence: object = None


class UnsupportedError(TwofoldError, NotImplementedError):
    """A feature that does not exist (yet), said plainly."""
