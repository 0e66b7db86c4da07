"""The hooks of one module."""

from __future__ import annotations

from typing import Any

from twofold.nn.backward_hooks import wrap_inputs, wrap_outputs
from twofold.support.errors import ValueRangeError
from twofold.tensors.nodes import RemovableHandle


class HookTable:
    """Hooks by kind, in the order they run."""

    KINDS = ("forward_pre", "forward", "backward", "backward_pre", "state_dict", "state_dict_pre", "load_pre", "load_post")

    def __init__(self) -> None:
        self.tables: dict[str, dict[int, Any]] = {k: {} for k in self.KINDS}

    def add(self, kind: str, hook: Any, prepend: bool = False, with_kwargs: bool = False, always: bool = False) -> RemovableHandle:
        """Register a hook; the handle removes it."""
        table = self.tables[kind]
        handle = RemovableHandle(table, (hook, with_kwargs, always))
        if prepend:
            key = next(reversed(table))
            entry = table.pop(key)
            rest = dict(table)
            table.clear()
            table[key] = entry
            table.update(rest)
        return handle

    def call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run `forward` with the hooks around it."""
        for hook, with_kwargs, _ in list(self.tables["forward_pre"].values()):
            given = hook(module, args, kwargs) if with_kwargs else hook(module, args)
            if given is None:
                continue
            if with_kwargs:
                if not isinstance(given, tuple) or len(given) != 2:
                    raise ValueRangeError(
                        f"{type(module).__name__}: a forward pre-hook with kwargs must return None or a pair of new args and kwargs, "
                        f"not {given!r}"
                    )
                args, kwargs = given
            else:
                args = given if isinstance(given, tuple) else (given,)
        backward = self.tables["backward"] or self.tables["backward_pre"]
        link = None
        if backward:
            args, link = wrap_inputs(module, self.tables, args)
        ran: set[int] = set()
        try:
            result = module.forward(*args, **kwargs)
            for key, (hook, with_kwargs, _) in list(self.tables["forward"].items()):
                ran.add(key)
                given = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
                if given is not None:
                    result = given
        except BaseException:
            for key, (hook, with_kwargs, always) in list(self.tables["forward"].items()):
                if always and key not in ran:
                    hook(module, args, kwargs, None) if with_kwargs else hook(module, args, None)
            raise
        return wrap_outputs(link, result) if link is not None else result

    def state_dict(self, module: Any, result: dict[str, Any], prefix: str) -> None:
        for hook, _, _ in list(self.tables["state_dict"].values()):
            hook(module, result, prefix, {})

    def state_dict_pre(self, module: Any, prefix: str, keep_vars: bool) -> None:
        for hook, _, _ in list(self.tables["state_dict_pre"].values()):
            hook(module, prefix, keep_vars)

    def load_pre(
        self, module: Any, given: dict[str, Any], prefix: str, strict: bool, missing: list[str], unexpected: list[str], errors: list[str]
    ) -> None:
        for hook, _, _ in list(self.tables["load_pre"].values()):
            hook(module, given, prefix, {}, strict, missing, unexpected, errors)

    def load_post(self, module: Any, keys: Any) -> None:
        for hook, _, _ in list(self.tables["load_post"].values()):
            hook(module, keys)
