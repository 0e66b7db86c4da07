"""Lazy re-exports for `__init__.py` files (PEP 562): a name's module is imported when the name is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from twofold.support.errors import UnknownNameError


def lazy_exports(package: str, homes: Mapping[str, Sequence[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package named `package`.

    `homes` maps a module, relative to the package (`"loader"`) or absolute (`"twofold.ir.mode"`), to the names exported from it; without
    names, the module itself is exported under its last name. A function must not be named as a submodule of the same package: importing
    the submodule would hide it.
    """
    home_of: dict[str, tuple[str, str | None]] = {name: (module, name) for module, names in homes.items() for name in names}
    home_of.update({module.rpartition(".")[2]: (module, None) for module, names in homes.items() if not names})

    def get(name: str) -> Any:
        if name not in home_of:
            if name.startswith("__"):
                raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
            import difflib  # only here: it costs as much as all the rest of this module

            near = difflib.get_close_matches(name, home_of, 3, 0.7)
            raise UnknownNameError(f"module {package!r} has no attribute {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))
        home, attribute = home_of[name]
        module = import_module(home if home.startswith("twofold.") else f"{package}.{home}")
        value = module if attribute is None else getattr(module, attribute)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return get, names
