"""Loading state dicts: every fault is found before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, StateDictError
from twofold.tensors.core import Size, Tensor, wrap_typed
from twofold.tensors.inplace import inplace
from twofold.tensors.nodes import new_leaf


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` returns: keys the module has and the dict lacks, and the other way round."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


def own_state(module: Any) -> dict[str, tuple[dict[str, Any], str, Tensor]]:
    """Path → (table, key, tensor) for parameters and persistent buffers."""
    found: dict[str, tuple[dict[str, Any], str, Tensor]] = {}
    for path, m in module.named_modules(remove_duplicate=False):
        for table in (m._parameters, m._buffers):
            for name, t in table.items():
                if t is not None and name not in m._non_persistent:
                    found[f"{path}.{name}" if path else name] = (table, name, t)
    return found


def load_into(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """See `Module.load_state_dict`."""
    if not isinstance(state_dict, Mapping):
        raise ArgumentError(f"a state dict is a mapping of names to tensors, not {type(state_dict).__name__}")
    given = dict(state_dict)
    errors: list[str] = []
    extra_missing: list[str] = []
    extra_unexpected: list[str] = []
    for path, m in module.named_modules():
        if m._hooks is not None:
            m._hooks.load_pre(m, given, f"{path}." if path else "", strict, extra_missing, extra_unexpected, errors)
        m._load_from_state_dict(given, f"{path}." if path else "", {}, strict, extra_missing, extra_unexpected, errors)
    own = own_state(module)
    extra = own_extra(module)
    missing = [k for k in (*own, *extra) if k not in given] + extra_missing
    unexpected = [k for k in given if k not in own and k not in extra] + extra_unexpected
    for key, (_, _, t) in own.items():
        if key not in given:
            continue
        new = given[key]
        if not isinstance(new, Tensor):
            errors.append(f'While copying the parameter named "{key}", expected a Tensor but received {type(new).__name__}')
        elif new._type.shape != t._type.shape and not is_lazy(t):
            errors.append(
                f"size mismatch for {key}: copying a param with shape {Size(new._type.shape)} from checkpoint, "
                f"the shape in current model is {Size(t._type.shape)}."
            )
    if strict and unexpected:
        errors.insert(0, f"Unexpected key(s) in state_dict: {listed(unexpected)}. ")
    if strict and missing:
        errors.insert(0, f"Missing key(s) in state_dict: {listed(missing)}. ")
    if errors:
        raise StateDictError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(errors))
    with grad_mode(False):
        for key, (table, name, t) in own.items():
            if key in given:
                if assign:
                    table[name] = assigned(t, given[key])
                elif is_lazy(t) and not is_lazy(given[key]):
                    t.materialize(given[key]._type.shape)  # type: ignore[attr-defined]
                    inplace("copy", t, given[key])
                elif is_lazy(t):
                    continue
                else:
                    inplace("copy", t, given[key])
    for path, m in extra.items():
        if path in given:
            m.set_extra_state(given[path])
    keys = IncompatibleKeys(missing, unexpected)
    for _, m in module.named_modules():
        if m._hooks is not None:
            m._hooks.load_post(m, keys)
    return keys


def own_extra(module: Any) -> dict[str, Any]:
    """Path → module for those with extra state."""
    found = {}
    for path, m in module.named_modules(remove_duplicate=False):
        if type(m).get_extra_state.__module__ != "twofold.nn.module":
            found[f"{path}._extra_state" if path else "_extra_state"] = m
    return found


def is_lazy(t: Any) -> bool:
    """A parameter or buffer whose shape is not known yet."""
    return bool(getattr(t, "_is_lazy", False))


def listed(names: list[str]) -> str:
    """Names in quotes."""
    return ", ".join(f'"{n}"' for n in names)


def assigned(old: Tensor, new: Tensor) -> Tensor:
    """The state dict's tensor in the role of the module's."""
    t = wrap_typed(new._array, new._type)
    if old._is_param:
        t._is_param = True
    if old._node is not None:
        new_leaf(t)
    return t
