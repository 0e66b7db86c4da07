"""What a function does to modules by assignment, while it is recorded and while it is checked."""

from __future__ import annotations

from typing import Any

from twofold.capture.trace.names import modules_around
from twofold.support.errors import TraceError
from twofold.tensors.core import Tensor
from twofold.tensors.inplace import inplace


class ModuleState:
    """Buffers and parameters of the modules in reach, so that attributes assigned while recording (`self.count = self.count + 1`) become
    writes.
    """

    def __init__(self, fn: Any) -> None:
        self.tables: list[tuple[dict[str, Any], dict[str, Any], str]] = []
        for root in modules_around(fn):
            for path, module in root.named_modules():
                for table in (module._buffers, module._parameters):
                    self.tables.append((table, dict(table), path))

    def assigned(self) -> dict[int, Tensor]:
        """id of a tensor that was replaced → the tensor now in its place."""
        return {
            id(old): table[key]
            for table, before, _ in self.tables
            for key, old in before.items()
            if isinstance(old, Tensor) and isinstance(table.get(key), Tensor) and table[key] is not old
        }

    def restore(self) -> None:
        """Turn assigned symbols into writes of the tensors they replaced."""
        for table, before, path in self.tables:
            for key, value in list(table.items()):
                old = before.get(key)
                if value is old or not isinstance(value, Tensor):
                    continue
                if old is None or not isinstance(old, Tensor):
                    raise TraceError(
                        f"{path or 'the module'}.{key} was set to a tensor while recording but was {old!r} before: a graph cannot make it"
                    )
                if value._type is not old._type:
                    raise TraceError(
                        f"{path or 'the module'}.{key} was replaced by a tensor of another type ({old._type} became {value._type})"
                    )
                table[key] = old
                inplace("copy", old, value)

    def put_back(self) -> None:
        """Whatever happened, no symbol stays in a module."""
        for table, before, _ in self.tables:
            if list(table) != list(before) or any(table[k] is not before[k] for k in before):
                table.clear()
                table.update(before)
