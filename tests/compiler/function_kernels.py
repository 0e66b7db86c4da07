"""Functions of the scalar vocabulary compiled by themselves: one loop over vectors for each, all of a test in one module."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from twofold.compiler.emit_functions import Functions
from twofold.compiler.expr import COMPARISONS
from twofold.compiler.llvm import REGISTERS, Function, Module, vector
from twofold.ir.dtypes import BY_SHORT
from twofold.runtime.codegen import build
from twofold.runtime.target import named_target

MAX_LANES = 16
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class Case(NamedTuple):
    """A function of operands of the given types ("f32", "i8", …) in `lanes` lanes; 1: a scalar. `cast` has the new type as its result."""

    op: str
    types: tuple[str, ...]
    result: str
    lanes: int


def case(op: str, type: str, arity: int, lanes: int) -> Case:
    """A function of operands of one type (`where`: of a condition and two of the type)."""
    types = ("bool", type, type) if op == "where" else (type,) * arity
    return Case(op, types, "bool" if op in COMPARISONS else type, lanes)


def _write(f: Function, functions: Functions, c: Case) -> None:
    with f.loop(0, f.parameters[4], c.lanes) as i:
        args = []
        for pointer, type in zip(f.parameters, c.types, strict=False):
            stored = "i8" if type == "bool" else REGISTERS[type]
            x = f.load(vector(stored, c.lanes), f.gep(pointer, i, stored), 1)
            args.append(f.icmp("ne", x, 0) if type == "bool" else x)
        y = functions.cast(args[0], c.types[0], c.result) if c.op == "cast" else functions.apply(c.op, args, c.types[-1])
        if c.result == "bool":
            y = f.convert("zext", y, "i8")
        f.store(y, f.gep(f.parameters[3], i, y.element), 1)
    f.ret()


Kernel = Callable[..., np.ndarray]


def kernels(cases: Iterable[Case], cpu: str = "native", strict: bool = False) -> dict[Case, Kernel]:
    """A function over flat NumPy arrays for each case, all compiled as one module."""
    target, module, names = named_target(cpu), Module(), {}
    for c in dict.fromkeys(cases):
        names[c] = f"kernel{len(names)}"
        pointers = [("ptr", n) for n in ("a", "b", "c", "out")]
        f = module.function(names[c], [*pointers, ("i64", "count")], attributes='nounwind "prefer-vector-width"="512"')
        _write(f, Functions(f, target, strict), c)
    code = build(str(module), target, level=1)

    def callable_of(c: Case) -> Kernel:
        native = SIGNATURE(code.address(names[c]))

        def run(*arrays: np.ndarray) -> np.ndarray:
            count = arrays[0].size
            padded = -(-count // MAX_LANES) * MAX_LANES
            # repeated, not zeros: padding must not decide whether a rare branch is taken
            inputs = [np.resize(a, padded).astype(BY_SHORT[t].numpy) for a, t in zip(arrays, c.types, strict=True)]
            out = np.empty(padded, BY_SHORT[c.result].numpy)
            addresses = [a.ctypes.data for a in inputs] + [0] * (3 - len(inputs))
            native(*addresses, out.ctypes.data, padded)
            assert code.size  # the code is kept while it runs
            return out[:count]

        return run

    return {c: callable_of(c) for c in names}
