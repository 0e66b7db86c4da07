"""The shape of the code: who may import whom, lengths of files and functions, what `import twofold` loads."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

SPEC = find_spec("twofold")
assert SPEC is not None
assert SPEC.origin is not None
PACKAGE = Path(SPEC.origin).parent

RANKS = {
    "support": 0,
    "ir": 1,
    "ops": 2,
    "runtime": 2,
    "tape": 3,
    "compiler": 3,
    "tensors": 4,
    "amp": 5,
    "autograd": 5,
    "func": 5,
    "signal": 5,
    "special": 5,
    "linalg": 5,
    "serialization": 5,
    "masked": 5,
    "nn": 6,
    "optim": 6,
    "data": 6,
    "utils": 6,
    "capture": 7,
    "models": 7,
    "jit": 8,
    "onnx": 9,
    "export": 9,
    "viz": 9,
    "interop": 9,
    "cli": 10,
}
TOP = 11
"""Modules directly in the package (`twofold/__init__.py`) stand above all folders."""

MAX_FILE_LINES, MAX_FUNCTION_LINES = 600, 60
GENERATED = "Generated from the records"
"""In the first line of a file that a tool wrote: no length is limited there."""

NOT_AT_IMPORT = ("llvmlite", "rich", "typer", "onnx", "networkx", "torch", "scipy", "pytest")


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, path and syntax tree."""

    name: str
    path: Path
    tree: ast.Module
    text: str

    @property
    def folder(self) -> str:
        """The folder right below the package, or "" for a module directly in it."""
        parts = self.path.relative_to(PACKAGE).parts
        return parts[0] if len(parts) > 1 else ""

    @property
    def rank(self) -> int:
        return RANKS[self.folder] if self.folder else TOP


@dataclass(frozen=True)
class Import:
    """`target` (a dotted module name) imported at `line`; `typing` where it stands under TYPE_CHECKING, `inside` in a function."""

    target: str
    line: int
    typing: bool
    inside: bool


@cache
def modules() -> dict[str, Module]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("twofold", *path.relative_to(PACKAGE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found[name] = Module(name, path, ast.parse(text, str(path)), text)
    return found


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING")


def imports(node: ast.AST, package: str, typing: bool = False, inside: bool = False) -> Iterator[Import]:
    """All imports of the package below `node`, a syntax tree of a module of the dotted `package`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(a.name, child.lineno, typing, inside) for a in child.names if a.name.split(".")[0] == "twofold")
        elif isinstance(child, ast.ImportFrom):
            base = child.module or ""
            if child.level:
                above = package.split(".")[: len(package.split(".")) - child.level + 1]
                base = ".".join([*above, base]).strip(".")
            if base.split(".")[0] == "twofold":
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    yield Import(full if full in modules() else base, child.lineno, typing, inside)
        elif isinstance(child, ast.If) and is_type_checking(child.test):
            for statement in child.body:
                yield from imports(ast.Module([statement], []), package, True, inside)
            for statement in child.orelse:
                yield from imports(ast.Module([statement], []), package, typing, inside)
        else:
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(child, package, typing, inside or function)


def imports_of(module: Module) -> list[Import]:
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    return list(imports(module.tree, package))


def folder_of(target: str) -> str:
    parts = target.split(".")
    return parts[1] if len(parts) > 1 else ""


def test_every_folder_has_a_rank() -> None:
    assert {m.folder for m in modules().values()} - {""} <= set(RANKS)


def test_imports_point_downwards() -> None:
    wrong = []
    for module in modules().values():
        for i in imports_of(module):
            folder = folder_of(i.target)
            rank = RANKS.get(folder, TOP)  # a module directly in the package is no folder
            if module.folder and folder != module.folder and rank >= module.rank:
                wrong.append(f"{module.path}:{i.line}: {module.folder} (rank {module.rank}) imports {i.target} (rank {rank})")
    assert not wrong, "\n".join(wrong)


def test_no_cycles() -> None:
    graph = {m.name: {i.target for i in imports_of(m) if not i.typing and i.target != m.name} for m in modules().values()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " -> ".join(error.args[1]))


def test_the_package_is_not_imported_inside_functions() -> None:
    wrong = [f"{m.path}:{i.line}: {i.target}" for m in modules().values() for i in imports_of(m) if i.inside]
    assert not wrong, "\n".join(wrong)


def test_init_files_only_re_export() -> None:
    """Docstring, imports, constants, `if TYPE_CHECKING`; functions only `__getattr__` and `__dir__`; no classes."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    wrong = []
    for module in modules().values():
        if module.path.name != "__init__.py":
            continue
        for node in module.tree.body:
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            function = isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__")
            typing = isinstance(node, ast.If) and is_type_checking(node.test)
            if not (isinstance(node, allowed) or docstring or function or typing):
                wrong.append(f"{module.path}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


def test_lengths_of_files_and_functions() -> None:
    wrong = []
    for module in modules().values():
        if GENERATED in module.text.partition("\n")[0]:
            continue
        lines = module.text.count("\n")
        if lines > MAX_FILE_LINES:
            wrong.append(f"{module.path}: {lines} lines")
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    wrong.append(f"{module.path}:{node.lineno}: {node.name} has {length} lines")
    assert not wrong, "\n".join(wrong)


def test_the_checks_see_faults(tmp_path: Path) -> None:
    """The import finder on a text with one of each kind."""
    text = (
        "from typing import TYPE_CHECKING\nimport twofold.ir.mode\nfrom twofold.ir import mode\n"
        "from . import pytree\nfrom ..ir import mode\n"
        "if TYPE_CHECKING:\n    import twofold.ir.op\ndef f():\n    if True:\n        from twofold.support.errors import TwofoldError\n"
    )
    found = list(imports(ast.parse(text), "twofold.support"))
    assert [(i.target, i.line) for i in found] == [
        ("twofold.ir.mode", 2),
        ("twofold.ir.mode", 3),
        ("twofold.support.pytree", 4),
        ("twofold.ir.mode", 5),
        ("twofold.ir.op", 7),
        ("twofold.support.errors", 10),
    ]
    assert [i.line for i in found if i.typing] == [7]
    assert [i.line for i in found if i.inside] == [10]


def environment() -> dict[str, str]:
    """The environment of a new process that finds the same package; one BLAS thread, so that it may fork; compiled files are kept."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": str(PACKAGE.parent), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TWOFOLD_LOGS": ""}


IMPORT_ALONE = """
import os, sys, traceback
import numpy, ml_dtypes
failed = []
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            __import__(name)
        except BaseException:
            sys.stderr.write(f"import {name}: " + traceback.format_exc())
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        failed.append(name)
sys.exit(" ".join(failed) if failed else 0)
"""


def import_alone(*names: str) -> subprocess.CompletedProcess[str]:
    """Imports each module in a process of its own, forked from one that has loaded NumPy and nothing of this package."""
    command = [sys.executable, "-W", "error", "-c", IMPORT_ALONE, *names]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=300)


def test_each_module_imports_alone() -> None:
    result = import_alone(*modules())
    assert result.returncode == 0, result.stderr
    assert import_alone("twofold.support.errors", "twofold.no_such_module").returncode != 0


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys, twofold; print(*(n for n in {NOT_AT_IMPORT!r} if n in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), timeout=60)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


def test_import_is_fast() -> None:
    """`import twofold`, NumPy's own import included, takes at most 0.25 s (the best of five new processes)."""
    code = "import time; t = time.perf_counter(); import twofold; print(time.perf_counter() - t)"
    times = []
    for _ in range(5):
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), timeout=60)
        assert result.returncode == 0, result.stderr
        times.append(float(result.stdout))
    assert min(times) <= 0.25
