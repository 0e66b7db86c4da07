"""Object code from LLVM text. The only module that uses llvmlite, which is imported when code is first made (0.05 s)."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from twofold.runtime.target import Target, check_runs_here
from twofold.support.errors import CompileError

_lock = threading.RLock()
"""LLVM's global context is not re-entrant."""
_compiled = itertools.count()
_counted = [0]


def compile_count() -> int:
    """How many modules this process has compiled."""
    return _counted[0]


def _binding() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def _machine(llvm: Any, target: Target) -> Any:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.feature_text, opt=3, reloc="pic", codemodel="small"
    )


def _optimised(llvm: Any, text: str, target: Target, level: int, name: str) -> tuple[Any, Any]:
    machine = _machine(llvm, target)
    try:
        module = llvm.parse_assembly(text)
        module.triple = target.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as e:
        raise CompileError(
            f"the LLVM text of {name or 'a module'} is malformed, which is a fault of the compiler: {str(e).strip()[:600]}"
        ) from None
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return module, machine


def optimised(text: str, target: Target, *, level: int = 3, name: str = "") -> str:
    """The module's LLVM text after the passes."""
    with _lock:
        return str(_optimised(_binding(), text, target, level, name)[0])


def assembly(text: str, target: Target, *, level: int = 3, name: str = "") -> str:
    """The module's assembly."""
    with _lock:
        module, machine = _optimised(_binding(), text, target, level, name)
        return machine.emit_assembly(module)


class NativeCode:
    """Machine code in memory. `address(symbol)` of its functions; freed with the object: who runs it holds a reference."""

    def __init__(self, engine: Any, machine: Any) -> None:
        self._engine, self._machine = engine, machine

    def address(self, symbol: str) -> int:
        """Where a function begins; CompileError if there is none of that name."""
        found = self._engine.get_function_address(symbol)
        if not found:
            raise CompileError(f"the module has no function {symbol!r}")
        return found


def build(text: str, target: Target, name: str = "", *, level: int = 3) -> NativeCode:
    """Compile a module for this machine and load it. Raises UnsupportedError for a target this machine cannot run."""
    check_runs_here(target)
    with _lock:
        llvm = _binding()
        module, machine = _optimised(llvm, text, target, level, name)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        _counted[0] = next(_compiled) + 1
    return NativeCode(engine, machine)
