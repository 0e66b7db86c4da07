"""Where a recorded call stands in the user's code, and how it is spelled there: `abs(x)`, `x.sum()`, `x + y`."""

from __future__ import annotations

import ast
import dis
import linecache
import textwrap
from types import CodeType, FrameType, ModuleType
from typing import Any

from twofold.ir.graph import Source
from twofold.ir.op import VOCABULARY
from twofold.support.errors import user_frame
from twofold.tensors.core import Tensor

_known: dict[tuple[CodeType, int], tuple[str, str]] = {}
LIMIT = 1 << 14


def source_here(module: str) -> Source | None:
    """The Source of the innermost user frame; `module` is the path of the nn.Module that runs."""
    frame = user_frame(2)
    if frame is None:
        return None
    spelling, name = spelled(frame)
    return Source(frame.f_code, frame.f_lasti, module, spelling, name)


def spelled(frame: FrameType) -> tuple[str, str]:
    """("function" | "method" | "operator", the name typed) of the call the frame is in."""
    key = (frame.f_code, frame.f_lasti)
    found = _known.get(key)
    if found is None:
        if len(_known) >= LIMIT:
            _known.clear()
        found = _known[key] = _examine(frame)
    return found


def _examine(frame: FrameType) -> tuple[str, str]:
    opname = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if opname.startswith(("BINARY", "COMPARE", "UNARY", "STORE_SUBSCR", "DELETE_SUBSCR", "CONTAINS")):
        return "operator", ""
    call = _call_at(frame)
    if call is None:
        return "function", ""
    function = call.func
    if not known(function):
        return "function", ""
    if isinstance(function, ast.Attribute):
        owner = function.value
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if isinstance(owner, ast.Name) and isinstance(_lookup(frame, owner.id), ModuleType):
            return "function", function.attr
        return "method", function.attr
    return "function", function.id if isinstance(function, ast.Name) else ""


def known(function: ast.expr) -> bool:
    """True if the called name is an operation's, not a user's own function or module that contains it."""
    name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    return name in VOCABULARY or hasattr(Tensor, name)


def _lookup(frame: FrameType, name: str) -> Any:
    for space in (frame.f_locals, frame.f_globals):
        if name in space:
            return space[name]
    return None


def _call_at(frame: FrameType) -> ast.Call | None:
    """The call expression the frame's instruction belongs to, parsed from the source file; None where that cannot be read."""
    position = None
    for i, p in enumerate(frame.f_code.co_positions()):
        if i == frame.f_lasti // 2:
            position = p
            break
    if position is None:
        return None
    first, last, start, end = position
    if first is None or last is None or start is None or end is None:
        return None
    lines = [linecache.getline(frame.f_code.co_filename, n, frame.f_globals) for n in range(first, last + 1)]
    if not all(lines):
        return None
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][start:]
    try:
        tree = ast.parse(textwrap.dedent(b"".join(raw).decode()).strip(), mode="eval")
    except (SyntaxError, ValueError):
        return None
    return tree.body if isinstance(tree.body, ast.Call) else None
