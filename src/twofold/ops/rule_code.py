"""Rules as code: the same function over another namespace, in which the names of operations mean something else."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any


def clone(function: Any, namespace: dict[str, Any]) -> FunctionType:
    """The function with its global names looked up in `namespace`. The code is copied, so that inline caches are not shared."""
    made = FunctionType(function.__code__.replace(), namespace, function.__name__, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def global_names(code: CodeType) -> set[str]:
    """The global and attribute names a code object mentions, inner functions included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= global_names(constant)
    return names
