"""Every error a user can meet; see `twofold.support.errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.errors import (
    ArgumentError,
    AssertionFailed,
    AutogradError,
    CompileError,
    DataError,
    DeviceError,
    DimensionError,
    DTypeError,
    ExportError,
    FileError,
    GraphError,
    GuardError,
    IndexOutOfRange,
    InplaceError,
    MissingDependency,
    MissingFile,
    ModuleError,
    OutOfMemory,
    ParseError,
    ShapeError,
    StaleOutput,
    StateDictError,
    TraceError,
    TwofoldError,
    UnknownNameError,
    UnsupportedError,
    ValueRangeError,
    VerificationError,
)
from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.support.linalg_errors import LinAlgError

__getattr__, __dir__ = lazy_exports(__name__, {"twofold.support.linalg_errors": ("LinAlgError",)})  # its base class needs NumPy
__all__ = [
    "ArgumentError",
    "AssertionFailed",
    "AutogradError",
    "CompileError",
    "DTypeError",
    "DataError",
    "DeviceError",
    "DimensionError",
    "ExportError",
    "FileError",
    "GraphError",
    "GuardError",
    "IndexOutOfRange",
    "InplaceError",
    "LinAlgError",
    "MissingDependency",
    "MissingFile",
    "ModuleError",
    "OutOfMemory",
    "ParseError",
    "ShapeError",
    "StaleOutput",
    "StateDictError",
    "TraceError",
    "TwofoldError",
    "UnknownNameError",
    "UnsupportedError",
    "ValueRangeError",
    "VerificationError",
]
