"""Object code from LLVM text. The only module that uses llvmlite, which is imported when code is first made (0.05 s)."""

from __future__ import annotations

import functools
import os
import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from twofold.runtime import counters
from twofold.runtime.cache import ObjectCache, default_cache, key_of
from twofold.runtime.loader import NativeCode, load_object
from twofold.runtime.target import Target, check_runs_here
from twofold.support.errors import ArgumentError, CompileError, MissingDependency

__all__ = ["ForeignCode", "NativeCode", "assemble", "assembly", "build", "compile_count", "optimised"]

RECIPE = "4; pic, small; fast at level 0; loops vectorised; below level 2: sroa"
"""What is done with a text, in words. It is part of the cache's keys: change it with whatever changes the code that comes out."""
DEFAULT_LEVEL = 1
EXCERPT_LINES = 2
"""Lines shown before and after the one at fault."""

_queue, _lock = threading.RLock(), threading.RLock()
"""`_lock`: one compilation at a time, since llvmlite is not re-entrant. `_queue` is held while waiting for it, so that a thread which
compiles one module after another lets others in between."""
_loaded: weakref.WeakValueDictionary[tuple[object, ...], NativeCode] = weakref.WeakValueDictionary()
"""Code that is in memory now, by key and external symbols."""


@contextmanager
def _alone() -> Iterator[None]:
    with _queue:
        _lock.acquire()
    try:
        yield
    finally:
        _lock.release()


def _before_fork() -> None:
    """A fork waits for the compilation of another thread; else the child would find it unfinished, and LLVM locked, for ever."""
    _queue.acquire()
    _lock.acquire()


def _after_fork() -> None:
    _lock.release()
    _queue.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


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


class _Tools(NamedTuple):
    """What compiles for one target at one level: LLVM's code generator, the settings of its passes, and the passes (None: LLVM's own
    pipeline)."""

    machine: Any
    tuning: Any
    passes: Any


@functools.cache
def _tools(target: Target, level: int) -> _Tools:
    """Made once: llvmlite 0.50 never frees passes.

    Levels 2 and 3 run LLVM's own pipeline, with loops vectorised. Below, stack slots become registers and no more is done: code whose
    vectors are explicit gains nothing from the whole pipeline, which takes several times as long. Level 0 has the fast code generator (a
    fifth of the time).
    """
    llvm = _binding()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.feature_text, opt=3 if level else 0, reloc="pic", codemodel="small"
    )
    tuning = llvm.create_pipeline_tuning_options(speed_level=max(level, 2))
    tuning.loop_vectorization = level >= 2
    tuning.slp_vectorization = False
    if level >= 2:
        return _Tools(machine, tuning, None)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()  # more passes gain nothing for explicit vectors (measured), and take as long as the selection of instructions
    return _Tools(machine, tuning, passes)


def _run_passes(llvm: Any, module: Any, tools: _Tools) -> None:
    builder = llvm.create_pass_builder(tools.machine, tools.tuning)  # each run leaves something in it that makes the next one slower
    try:
        (tools.passes or builder.getModulePassManager()).run(module, builder)
    finally:
        builder.close()


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


@contextmanager
def _compiled(text: str, target: Target, level: int, name: str) -> Iterator[tuple[Any, Any]]:
    """The module after the passes, and the machine to write it for. The module's memory is given back at the end of the block."""
    if type(level) is not int or not 0 <= level <= 3:
        raise ArgumentError(f"the level of optimisation is 0, 1, 2 or 3, not {level!r}")
    if "\0" in text or not _is_encodable(text):
        raise CompileError(f"the LLVM text of {name or 'a module'} holds a zero byte or half of a surrogate pair")
    llvm = _binding()
    tools = _tools(target, level)
    context = llvm.create_context()
    module = None
    try:
        try:
            module = llvm.parse_assembly(text, context)
            module.triple = target.triple
            module.data_layout = str(tools.machine.target_data)
            module.verify()
        except RuntimeError as error:
            raise _malformed(text, name, str(error)) from None
        _run_passes(llvm, module, tools)
        yield module, tools.machine
    finally:
        if module is not None:
            module.close()
        context.close()


def assemble(text: str, target: Target, *, level: int = DEFAULT_LEVEL, name: str = "") -> bytes:
    """An ELF object (position-independent, small code model) of the module that `text` is. `name` is for messages.

    level: 2 and 3 are LLVM's pipelines O2 and O3 with loops vectorised; 1 a short one for code with explicit vectors; 0 that one, and
    code generation that is fast (for code that takes no part of the time).
    Raises CompileError, with the lines at fault, for a text that LLVM does not take.
    """
    with _alone():
        return _assemble(text, target, level, name)


def _assemble(text: str, target: Target, level: int, name: str) -> bytes:
    with _compiled(text, target, level, name) as (module, machine):
        data = bytes(machine.emit_object(module))
    counters.COMPILATIONS.add()
    return data


def optimised(text: str, target: Target, *, level: int = DEFAULT_LEVEL, name: str = "") -> str:
    """The module's LLVM text after the passes."""
    with _alone(), _compiled(text, target, level, name) as (module, _):
        return str(module)


def assembly(text: str, target: Target, *, level: int = DEFAULT_LEVEL, name: str = "") -> str:
    """The module's machine code as assembly text."""
    with _alone(), _compiled(text, target, level, name) as (module, machine):
        return machine.emit_assembly(module)


class ForeignCode(NativeCode):
    """Stands for code of a target that this machine cannot run: whoever asks for an address, to run it, gets an UnsupportedError."""

    __slots__ = ("target",)

    def __init__(self, target: Target) -> None:
        self.base = self.size = self.written = 0
        self.symbols = {}
        self.target = target

    def address(self, symbol: str) -> int:
        check_runs_here(self.target)
        return super().address(symbol)


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
    code = _from_cache(cache, key, symbols)
    if code is None:
        with _alone():
            loaded = _loaded.get(identity)  # another thread may have compiled the same meanwhile
            if loaded is not None:
                return loaded
            data = _assemble(text, target, level, name)
            code = load_object(data, symbols)
            if not code.written:
                _loaded[identity] = code
        cache.put(key, data)
        return code
    return code if code.written else _loaded.setdefault(identity, code)


def _from_cache(cache: ObjectCache, key: str, symbols: Mapping[str, int] | None) -> NativeCode | None:
    data = cache.get(key)
    if data is None:
        return None
    try:
        return load_object(data, symbols)
    except CompileError:  # damaged before it was stored: compiled anew, which raises if the fault lies elsewhere
        return None
