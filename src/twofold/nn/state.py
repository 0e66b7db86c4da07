"""Loading state dicts: every fault is found before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, StateDictError
from twofold.tensors.core import Tensor, wrap_typed
from twofold.tensors.inplace import inplace
from twofold.tensors.nodes import new_leaf


def own_state(module: Any) -> dict[str, tuple[dict[str, Any], str, Tensor]]:
    """Path → (table, key, tensor) for parameters and persistent buffers."""
    found: dict[str, tuple[dict[str, Any], str, Tensor]] = {}
    for path, m in module.named_modules(remove_duplicate=False):
        for table in (m._parameters, m._buffers):
            for name, t in table.items():
                if t is not None and name not in m._non_persistent:
                    found[f"{path}.{name}" if path else name] = (table, name, t)
    return found


def load_into(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> tuple[list[str], list[str]]:
    """See `Module.load_state_dict`; returns (missing, unexpected) keys."""
    if not isinstance(state_dict, Mapping):
        raise ArgumentError(f"a state dict is a mapping of names to tensors, not {type(state_dict).__name__}")
    given = dict(state_dict)
    errors: list[str] = []
    extra_missing: list[str] = []
    extra_unexpected: list[str] = []
    for path, m in module.named_modules():
        if m._hooks is not None:
            m._hooks.load_pre(m, given, f"{path}." if path else "", strict, extra_missing, extra_unexpected, errors)
    own = own_state(module)
    missing = [k for k in own if k not in given] + extra_missing
    unexpected = [k for k in given if k not in own] + extra_unexpected
    for key, (_, _, t) in own.items():
        if key not in given:
            continue
        new = given[key]
        if not isinstance(new, Tensor):
            errors.append(f"{key} is {type(new).__name__}, not a tensor")
        elif new._type.shape != t._type.shape:
            errors.append(f"size mismatch for {key}: the state dict has {tuple(new._type.shape)}, the module {tuple(t._type.shape)}")
    if strict and missing:
        errors.append(f"missing keys: {', '.join(missing)}")
    if strict and unexpected:
        errors.append(f"unexpected keys: {', '.join(unexpected)}")
    if errors:
        raise StateDictError(f"the state dict does not fit {type(module).__name__}:\n  " + "\n  ".join(errors))
    with grad_mode(False):
        for key, (table, name, t) in own.items():
            if key in given:
                if assign:
                    table[name] = assigned(t, given[key])
                else:
                    inplace("copy", t, given[key])
    for _, m in module.named_modules():
        if m._hooks is not None:
            m._hooks.load_post(m, missing, unexpected)
    return missing, unexpected


def assigned(old: Tensor, new: Tensor) -> Tensor:
    """The state dict's tensor in the role of the module's."""
    t = wrap_typed(new._array, new._type)
    if old._is_param:
        t._is_param = True
    if old._node is not None:
        new_leaf(t)
    return t
