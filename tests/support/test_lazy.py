from __future__ import annotations

import ast
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from twofold.support.lazy import lazy_exports

SPEC = find_spec("twofold")
assert SPEC is not None
PACKAGE = Path(SPEC.origin or "").parent


def fake_package(monkeypatch: pytest.MonkeyPatch, homes: dict[str, tuple[str, ...]]) -> ModuleType:
    module = ModuleType("twofold.fake")
    monkeypatch.setitem(sys.modules, "twofold.fake", module)
    module.__getattr__, module.__dir__ = lazy_exports("twofold.fake", homes)  # type: ignore[method-assign, assignment]
    return module


def test_names_and_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    package = fake_package(monkeypatch, {"twofold.support.ordered": ("OrderedSet",), "twofold.support.options": ()})
    assert "OrderedSet" not in vars(package)
    assert {"OrderedSet", "options"} <= set(dir(package))
    assert package.OrderedSet is sys.modules["twofold.support.ordered"].OrderedSet
    assert "OrderedSet" in vars(package)
    assert package.options is sys.modules["twofold.support.options"]
    with pytest.raises(AttributeError, match=r"module 'twofold\.fake' has no attribute 'nothing'"):
        package.nothing


def lazy_packages() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("__init__.py")) if "lazy_exports" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", lazy_packages(), ids=lambda path: path.parent.name)
def test_type_checkers_see_what_is_exported(path: Path) -> None:
    """The imports under TYPE_CHECKING, the table and `__all__` name the same things, and each exists."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {alias.asname or alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    name = ".".join(("twofold", *path.parent.relative_to(PACKAGE).parts))
    package = __import__(name, fromlist=["*"])
    assert typed == set(package.__all__)
    for exported in package.__all__:
        assert getattr(package, exported) is not None
