"""Long runs: `python -m tests.compiler.fuzz FIRST COUNT` compiles the random programs of COUNT seeds and prints differences, made small.

Each program is compared with its graph interpreted in its own dtypes and with itself in float64. An element may differ from the latter by
some multiple of what the interpreter's does, and of the dtype's rounding of the largest value computed on the way: 16-bit values are not
rounded between fused operations.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

import twofold
from tests.compiler.line_programs import Program, minimise
from tests.compiler.random_programs import make

TARGETS = ("native", "x86-64-v2", "haswell")
WAYS = ("trace", "freeze", "gradients", "trace", "arrays")
EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}
LONG = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16"}
ROUNDINGS, NARROW_ROUNDINGS, NOISE = 32, 4, 32
"""Allowed: so many roundings of the largest value (the second: of 16-bit floats), and so many times the interpreter's own error."""
SHOWN = 12


def options_of(seed: int) -> dict[str, Any]:
    """The options a seed's program is compiled with."""
    return {"target": TARGETS[seed // 3 % 3], "strict_math": seed // 9 % 3 == 0}


def way_of(seed: int) -> str:
    return WAYS[seed % len(WAYS)]


def program_of(seed: int) -> Program:
    return make(seed, gradients=way_of(seed) == "gradients")


def array(t: Any) -> np.ndarray:
    return np.array(t.detach().numpy() if isinstance(t, twofold.Tensor) else t)


def loss_of(p: Program, wide: bool) -> Any:
    """The program with a scalar result: its results, weighted."""
    function = p.function(wide)

    def loss(*arguments: Any) -> Any:
        total = None
        for r in function(*arguments):
            term = (r.reshape(-1) * twofold.arange(r.numel(), dtype=r.dtype).mul(0.7).cos()).sum().to(twofold.float64)
            total = term if total is None else total + term
        return total

    return loss


def evaluate(p: Program, way: str, options: dict[str, Any]) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], list[str]]:
    """(compiled, interpreted, in float64, names) of results, written inputs, gradients."""
    if way == "gradients":
        return _gradients(p, options)
    with twofold.no_grad():
        arguments = p.arguments()
        module = twofold.trace(p.function(), tuple(p.arguments()), check=False)
        plain = module.freeze() if way == "freeze" else module
        program = plain.compile(**options)
        given = p.arguments()
        if way == "arrays" and not module.layout.write_backs:
            got = program(*(array(t) for t in given))
        else:
            got = program(*given)
        interpreted = plain(*arguments)
        wide_arguments = p.arguments(wide=True)
        wide = p.function(wide=True)(*wide_arguments)
    names = [*p.outputs, *(f"{i.name} afterwards" for i in p.inputs)]
    lists = [[*map(array, r), *map(array, a)] for r, a in ((got, given), (interpreted, arguments), (wide, wide_arguments))]
    return lists[0], lists[1], lists[2], names


def _gradients(p: Program, options: dict[str, Any]) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], list[str]]:
    lists = []
    names = ["loss"]
    joint = twofold.aot(loss_of(p, False), *p.arguments(requires_grad=True))
    for run in (joint.compile(**options), joint):
        value, gradients = run(*p.arguments(requires_grad=True))
        names = ["loss", *(f"gradient of {n}" for n in gradients)]
        lists.append([array(value), *(array(g) for g in gradients.values())])
    arguments = p.arguments(wide=True, requires_grad=True)
    value, gradients = twofold.aot(loss_of(p, True), *arguments)(*arguments)
    lists.append([array(value), *(array(g) for g in gradients.values())])
    return lists[0], lists[1], lists[2], names


def coarsest(p: Program) -> float:
    """The rounding of the coarsest floating dtype of the program."""
    named = " ".join([*(i.dtype for i in p.inputs), *p.lines])
    return max((EPSILON[long] for short, long in LONG.items() if short in named), default=EPSILON["float32"])


def _scale(p: Program) -> float:
    """The largest finite magnitude among all values of the program in float64, times what the longest sum adds to rounding errors."""
    every = replace(p, outputs=tuple(dict.fromkeys(_defined(p))))
    with twofold.no_grad():
        arguments = p.arguments(wide=True)
        values = [array(v) for v in (*every.function(wide=True)(*arguments), *arguments)]
    largest, longest = 1.0, 1
    for v in values:
        a = np.abs(np.asarray(v, np.float64))
        largest, longest = max(largest, float(a[np.isfinite(a)].max(initial=0.0))), max(longest, a.size)
    return float(largest * max(1.0, np.sqrt(longest) / 8))


def _defined(p: Program) -> list[str]:
    names = []
    for line in p.lines:
        if line[0] == "v" and " = " in line and "[" not in line.split(" = ")[0]:
            names += [n.strip() for n in line.split(" = ")[0].split(",") if n.strip()]
    return names


def differs(got: np.ndarray, plain: np.ndarray, wide: np.ndarray, roundings: float) -> str | None:
    """What is wrong with a compiled result, or None. `roundings`: the absolute error allowed at least."""
    if got.shape != plain.shape or got.dtype != plain.dtype:
        return f"type: {got.dtype}{list(got.shape)}, interpreted {plain.dtype}{list(plain.shape)}"
    if got.size == 0:
        return None
    if str(got.dtype) not in EPSILON:
        wrong = (got != plain) & (plain == wide.astype(plain.dtype))
        return f"values: {int(wrong.sum())} of {got.size} elements; first {_first(wrong, got, plain)}" if wrong.any() else None
    x, y, z = (np.asarray(a, np.float64) for a in (got, plain, wide))
    agreed = np.isfinite(y) == np.isfinite(z)
    agreed &= np.isnan(y) == np.isnan(z)
    special = agreed & ~np.isfinite(y) & ~((x == y) | (np.isnan(x) & np.isnan(y)))
    if special.any():
        return f"special: {int(special.sum())} of {got.size} elements; first {_first(special, got, plain)}"
    compared = agreed & np.isfinite(y)
    with np.errstate(invalid="ignore"):
        error, noise = np.abs(x - z), np.abs(y - z)
    worst = float(noise[compared].max(initial=0.0))
    wrong = compared & ~(error <= NOISE * worst + roundings + 4 * EPSILON[str(got.dtype)] * np.abs(np.where(compared, z, 0)))
    if wrong.any():
        return f"values: {int(wrong.sum())} of {got.size} elements; first {_first(wrong, got, plain)}; interpreter's error {worst:.3g}"
    return None


def _first(wrong: np.ndarray, got: np.ndarray, plain: np.ndarray) -> str:
    k = int(np.flatnonzero(wrong)[0])
    return f"[{k}] {got.reshape(-1)[k]!r}, interpreted {plain.reshape(-1)[k]!r}"


def judge(p: Program, way: str, options: dict[str, Any]) -> str | None:
    """What is wrong, or None."""
    with np.errstate(all="ignore"):
        got, plain, wide, names = evaluate(p, way, options)
        coarse = coarsest(p)
        allowed = (ROUNDINGS if coarse < 1e-6 else NARROW_ROUNDINGS) * coarse * _scale(p)
        for name, a, b, c in zip(names, got, plain, wide, strict=True):
            why = differs(a, b, c, allowed)
            if why is not None:
                return f"{why} ({name})"
    return None


def attempt(p: Program, way: str, options: dict[str, Any]) -> str | None:
    """`judge`, with an unexpected exception as a difference too."""
    try:
        return judge(p, way, options)
    except Exception as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        return f"crash {type(e).__name__}: {str(e)[:300]} (in {last.name}, {last.filename.rsplit('/', 1)[-1]}:{last.lineno})"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compiler.fuzz", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--show", type=int, default=SHOWN, help="differences that are made small and printed")
    given = parser.parse_args(arguments)
    found: Counter[str] = Counter()
    begin = time.perf_counter()
    for seed in range(given.first, given.first + given.count):
        p, way, options = program_of(seed), way_of(seed), options_of(seed)
        why = attempt(p, way, options)
        if why is None:
            continue
        found[why.split(":")[0]] += 1
        if sum(found.values()) <= given.show:
            report(p, way, options, why)
    print(f"{given.count} programs, {time.perf_counter() - begin:.0f} s; differences: {dict(found) or 'none'}")
    return 1 if found else 0


def report(p: Program, way: str, options: dict[str, Any], why: str) -> None:
    """Print a difference and the smallest program that shows it."""
    kind = why.split(":")[0]

    def fails(q: Program) -> bool:
        now = attempt(q, way, options)
        return now is not None and now.split(":")[0] == kind

    small = minimise(p, fails)
    print(f"--- seed {p.seed}, {way}, {options}: {why[:300]}\n{small}=> {attempt(small, way, options)}")
    print(f"with verify=True: {attempt(small, way, {**options, 'verify': True})}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
