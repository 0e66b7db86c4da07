"""Programs as lines of Python over the public API, with inputs that a seed fixes: readable, cut down line by line, pasted into a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import twofold

FLOATS, INTEGERS = ("f32", "f64", "bf16", "f16"), ("i64", "i32", "i8", "u8")
DTYPES = {
    "f32": twofold.float32, "f64": twofold.float64, "bf16": twofold.bfloat16, "f16": twofold.float16,
    "i64": twofold.int64, "i32": twofold.int32, "i8": twofold.int8, "u8": twofold.uint8, "bool": twofold.bool,
}  # fmt: skip
SHORT = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Input:
    """An argument: its name, dtype, shape, and the kind of values: "normal", "special" (zeros, infinities, NaN), "index" (0 … high - 1)."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str = "normal"
    high: int = 1

    def array(self, seed: int) -> np.ndarray:
        rng = np.random.default_rng([seed, int(self.name[1:])])
        if self.kind == "index":
            a: Any = rng.integers(0, self.high, self.shape)
        elif self.dtype == "bool":
            a = rng.random(self.shape) < 0.5
        elif self.dtype in INTEGERS:
            a = rng.integers(0 if self.dtype == "u8" else -7, 8, self.shape)
        else:
            a = rng.standard_normal(self.shape)
            if self.kind == "special":
                a = np.where(rng.random(self.shape) < 0.15, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], self.shape), a)
        return np.asarray(np.asarray(a).astype(DTYPES[self.dtype].numpy)).reshape(self.shape)

    def __str__(self) -> str:
        kind = f"index({self.high})" if self.kind == "index" else self.kind
        return f"# {self.name}: {self.dtype}[{', '.join(map(str, self.shape))}] {kind}"


@dataclass(frozen=True)
class Program:
    """Inputs, lines of Python, names of results. `seed` fixes the inputs' values."""

    inputs: tuple[Input, ...]
    lines: tuple[str, ...]
    outputs: tuple[str, ...]
    seed: int = 0

    @property
    def text(self) -> str:
        names = ", ".join(i.name for i in self.inputs)
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def program({names}):\n{body}    return ({''.join(f'{v}, ' for v in self.outputs)})\n"

    def __str__(self) -> str:
        return "".join(f"{i}\n" for i in self.inputs) + f"# values of seed {self.seed}\n" + self.text

    def function(self, wide: bool = False) -> Callable[..., tuple[Any, ...]]:
        """The program as a function of tensors; `wide`: every floating dtype it names is float64."""
        space: dict[str, Any] = {"tf": twofold, "F": twofold.nn.functional}
        space |= {name: twofold.float64 if wide and name in FLOATS else dtype for name, dtype in DTYPES.items()}
        exec(compile(self.text, "<random program>", "exec"), space)
        return space["program"]  # type: ignore[no-any-return]

    def arguments(self, wide: bool = False, requires_grad: bool = False) -> list[Any]:
        """New tensors for the inputs."""
        result = []
        for i in self.inputs:
            a = i.array(self.seed)
            floating = i.dtype in FLOATS
            t = twofold.tensor(
                a.astype(np.float64) if wide and floating else a, dtype=twofold.float64 if wide and floating else DTYPES[i.dtype]
            )
            result.append(t.requires_grad_() if requires_grad and floating else t)
        return result


def tidy(p: Program) -> Program:
    """Without the inputs that no line names."""
    text = p.text.split("\n", 1)[1]
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    return replace(p, inputs=tuple(i for i in p.inputs if i.name in words))


def runs(p: Program) -> bool:
    """Whether the program runs eagerly."""
    try:
        with np.errstate(all="ignore"):
            p.function()(*p.arguments())
    except Exception:
        return False
    return True


def minimise(p: Program, fails: Callable[[Program], bool]) -> Program:
    """The program without lines and results that the failure does not need."""

    def smaller(p: Program) -> Sequence[Program]:
        found = [replace(p, outputs=(v,)) for v in p.outputs] if len(p.outputs) > 1 else []
        found += [replace(p, outputs=tuple(w for w in p.outputs if w != v)) for v in p.outputs] if len(p.outputs) > 1 else []
        defined = [line.split(" = ")[0] for line in p.lines if " = " in line and line[0] == "v"]
        found += [replace(p, outputs=(v.split(",")[0],)) for v in defined if (v.split(",")[0],) != p.outputs and len(p.outputs) == 1]
        found += [replace(p, lines=p.lines[:k] + p.lines[k + 1 :]) for k in reversed(range(len(p.lines)))]
        return [tidy(q) for q in found]

    changed = True
    while changed:
        changed = False
        for q in smaller(p):
            if q.lines == p.lines and len(q.outputs) == len(p.outputs) and q.outputs >= p.outputs:
                continue
            if runs(q) and fails(q):
                p, changed = q, True
                break
    return p
