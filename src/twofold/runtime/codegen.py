"""Object code from LLVM text. The only module that uses llvmlite, which is imported when code is first made (0.05 s)."""

from __future__ import annotations

import functools
import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from twofold.runtime import counters
from twofold.runtime.cache import default_cache, key_of
from twofold.runtime.loader import NativeCode, load_object
from twofold.runtime.target import Target, check_runs_here
from twofold.support.errors import ArgumentError, CompileError, MissingDependency

__all__ = ["NativeCode", "assemble", "assembly", "build", "compile_count", "optimised"]

RECIPE = "2; pic, small; code generation 3; loops vectorised; short below level 2: sroa, instcombine, simplifycfg, loop-rotate, instcombine"
"""What is done with a text, in words. It is part of the cache's keys: change it with whatever changes the code that comes out."""
DEFAULT_LEVEL = 3
EXCERPT_LINES = 2
"""Lines shown before and after the one at fault."""

_lock = threading.RLock()
"""One compilation at a time: llvmlite is not re-entrant."""
_loaded: weakref.WeakValueDictionary[tuple[object, ...], NativeCode] = weakref.WeakValueDictionary()
"""Code that is in memory now, by key and external symbols."""


def compile_count() -> int:
    """How many modules this process has compiled (what came from the cache is not counted)."""
    return counters.COMPILATIONS.value


@functools.cache
def _binding() -> Any:
    """llvmlite's binding, ready for x86-64 and AArch64."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise MissingDependency(f"compiling needs llvmlite, which cannot be imported ({error}): pip install llvmlite") from None
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def _machine(llvm: Any, target: Target) -> Any:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.feature_text, opt=3, reloc="pic", codemodel="small"
    )


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _malformed(text: str, name: str, message: str) -> CompileError:
    """The error for a text that LLVM refuses, with the lines that it complains about."""
    lines = text.split("\n")
    found = re.search(r"<string>:(\d+):\d+: error: (.*)", message)
    if found:
        wrong, said = [int(found[1]) - 1], f"line {found[1]}: {found[2]}"
    else:
        quoted = {line.strip() for line in message.splitlines()[1:]}
        wrong, said = [i for i, line in enumerate(lines) if line.strip() in quoted][:4], message.strip()[:600]
    shown = sorted({j for i in wrong for j in range(max(i - EXCERPT_LINES, 0), min(i + EXCERPT_LINES + 1, len(lines)))})
    excerpt = "".join(f"\n  {'>' if i in wrong else ' '} {i + 1:4} | {lines[i][:200]}" for i in shown)
    return CompileError(f"the LLVM text of {name or 'a module'} is malformed, which is a fault of the compiler: {said}{excerpt}")


def _run_passes(llvm: Any, module: Any, machine: Any, level: int) -> None:
    """Level 2 and 3: LLVM's own pipeline, with loops vectorised. Below: a few passes for code whose vectors are explicit (it gains nothing from
    the whole pipeline, which takes several times as long)."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=max(level, 2))
    tuning.loop_vectorization = level >= 2
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    if level >= 2:
        builder.getModulePassManager().run(module, builder)
        return
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_loop_rotate_pass()
    passes.add_instruction_combine_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


@contextmanager
def _compiled(text: str, target: Target, level: int, name: str) -> Iterator[tuple[Any, Any]]:
    """The module after the passes, and the machine to write it for. Memory of both is given back at the end of the block."""
    if type(level) is not int or not 0 <= level <= 3:
        raise ArgumentError(f"the level of optimisation is 0, 1, 2 or 3, not {level!r}")
    if "\0" in text or not _is_encodable(text):
        raise CompileError(f"the LLVM text of {name or 'a module'} holds a zero byte or half of a surrogate pair")
    with _lock:
        llvm = _binding()
        machine = _machine(llvm, target)
        context = llvm.create_context()
        module = None
        try:
            try:
                module = llvm.parse_assembly(text, context)
                module.triple = target.triple
                module.data_layout = str(machine.target_data)
                module.verify()
            except RuntimeError as error:
                raise _malformed(text, name, str(error)) from None
            _run_passes(llvm, module, machine, level)
            yield module, machine
        finally:
            for owned in (module, machine, context):
                if owned is not None:
                    owned.close()


def assemble(text: str, target: Target, *, level: int = DEFAULT_LEVEL, name: str = "") -> bytes:
    """An ELF object (position-independent, small code model) of the module that `text` is. `name` is for messages.

    level: 2 and 3 are LLVM's pipelines O2 and O3 with loops vectorised; 0 and 1 a short one for code with explicit vectors.
    Raises CompileError, with the lines at fault, for a text that LLVM does not take.
    """
    with _compiled(text, target, level, name) as (module, machine):
        data = bytes(machine.emit_object(module))
    counters.COMPILATIONS.add()
    return data


def optimised(text: str, target: Target, *, level: int = DEFAULT_LEVEL, name: str = "") -> str:
    """The module's LLVM text after the passes."""
    with _compiled(text, target, level, name) as (module, _):
        return str(module)


def assembly(text: str, target: Target, *, level: int = DEFAULT_LEVEL, name: str = "") -> str:
    """The module's machine code as assembly text."""
    with _compiled(text, target, level, name) as (module, machine):
        return machine.emit_assembly(module)


def build(text: str, target: Target, name: str = "", *, level: int = DEFAULT_LEVEL, symbols: Mapping[str, int] | None = None) -> NativeCode:
    """Machine code of a module, in memory: what is loaded already, else from the object cache, else compiled (and stored there).

    `symbols` gives addresses of functions that the code calls. Identical texts share one NativeCode, unless it has variables of its own.
    Raises UnsupportedError for a target that this machine cannot run, and what `assemble` and `load_object` raise.
    """
    check_runs_here(target)
    key = key_of(text, target, f"{RECIPE}; level {level}")
    identity = (key, *sorted((symbols or {}).items()))
    loaded = _loaded.get(identity)
    if loaded is not None:
        return loaded
    cache = default_cache()
    data = cache.get(key)
    if data is None:
        data = assemble(text, target, level=level, name=name)
        cache.put(key, data)
    code = load_object(data, symbols)
    return code if code.written else _loaded.setdefault(identity, code)
