"""Random programs of views, in-place writes, detached aliases and no_grad blocks.

A program is data: which of the fixed inputs (`INPUTS`) are arguments, a list of steps, which registers are returned. Steps are chosen
while a model of shapes (NumPy arrays: real views, no values) runs along, so that they mostly fit. Every choice comes from a `Source`: a
seed, or hypothesis, which then shrinks the program. `minimise` shrinks a program found by a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

INPUTS: dict[str, np.ndarray] = {}
"""The shapes (and aliasing) of the inputs; `worlds.make_inputs` makes the tensors. A, P, E, Z: leaves that require grad. B, F, W: plain. C
= P*2, D = C[1:3], G = B.permute(1, 0), H = F.detach(), K = E*3, J = K.expand(2, 4), V = Z*2 (0-d), T = A.permute(1, 0)*2 (column by column
in memory).
"""


def _shapes() -> None:
    for name, shape in {
        "A": (3, 4),
        "P": (3, 4),
        "E": (4,),
        "Z": (),
        "B": (3, 4),
        "F": (4,),
        "W": (),
        "C": (3, 4),
        "K": (4,),
        "V": (),
        "T": (3, 4),
    }.items():
        INPUTS[name] = np.zeros(shape)
    INPUTS["D"] = INPUTS["C"][1:3]
    INPUTS["G"] = INPUTS["B"].T
    INPUTS["H"] = INPUTS["F"][...]
    INPUTS["T"] = INPUTS["T"].T
    INPUTS["J"] = np.broadcast_to(INPUTS["K"], (2, 4))


_shapes()


@dataclass(frozen=True)
class Step:
    """One operation. operands: register names or numbers (the first is the tensor that is viewed or written); `out`: the register of the
    result (results of operations with several outputs are `out.0`, `out.1`, …); `number`: its place in the program it was written for.
    """

    name: str
    operands: tuple[Any, ...]
    params: tuple[Any, ...] = ()
    no_grad: bool = False
    out: str = ""
    number: int = 0

    def __repr__(self) -> str:
        shown = ", ".join([*map(str, self.operands), *(_short(p) for p in self.params)])
        return f"{self.out + ' = ' if self.out else ''}{self.name}({shown}){' under no_grad' if self.no_grad else ''}"


def _short(p: Any) -> str:
    if isinstance(p, tuple):
        return "(" + ", ".join(map(_short, p)) + ")"
    return f"array({p.tolist()})" if isinstance(p, np.ndarray) else repr(p)


@dataclass(frozen=True)
class Program:
    """See the module's text."""

    arguments: tuple[str, ...]
    steps: tuple[Step, ...]
    returned: tuple[str, ...]

    def __repr__(self) -> str:
        lines = "".join(f"\n    {s!r}," for s in self.steps)
        return f"arguments {', '.join(self.arguments)}; returns {', '.join(self.returned) or 'nothing'}{lines}"

    def without(self, numbers: set[int]) -> Program:
        """The program without the steps of these numbers; what depends on them is skipped when it runs."""
        return replace(self, steps=tuple(s for s in self.steps if s.number not in numbers))


# ---- where choices come from -----------------------------------------------------------------------------------------------------


class Source:
    """Integers below a limit, and choices made of them; 0 is always the simplest choice."""

    def below(self, n: int) -> int:
        raise NotImplementedError

    def choice(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def number(self) -> float:
        return (self.below(401) - 200) / 100

    def some(self, options: Sequence[Any], least: int, most: int) -> list[Any]:
        """Between `least` and `most` different ones, in any order."""
        left, taken = list(options), []
        for _ in range(least + self.below(min(most, len(left)) - least + 1)):
            taken.append(left.pop(self.below(len(left))))
        return taken


class SeededSource(Source):
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def below(self, n: int) -> int:
        return self.random.randrange(n)


class DrawnSource(Source):
    """Choices drawn by hypothesis."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw

    def below(self, n: int) -> int:
        return self.draw(st.integers(0, n - 1)) if n > 1 else 0


@st.composite
def programs(draw: Callable[[Any], Any]) -> Program:
    """The hypothesis strategy."""
    return generate(DrawnSource(draw))


# ---- generating ------------------------------------------------------------------------------------------------------------------

Draft = tuple[str, tuple[Any, ...], tuple[Any, ...]]


class Writer:
    """Writes one program, step by step. `shapes` are the registers as NumPy arrays of the right shape and strides."""

    def __init__(self, source: Source, visible: list[str]) -> None:
        self.source = source
        self.shapes: dict[str, np.ndarray] = {n: INPUTS[n] for n in visible}
        self.steps: list[Step] = []

    # -- choosing operands

    def register(self) -> str:
        names = list(self.shapes)
        return self.source.choice(names[::-1][:6] if self.source.chance(60) else names)

    def fitting(self, shape: tuple[int, ...], number: int = 15) -> Any:
        """A register that broadcasts to `shape`, or (in `number` percent) a number."""
        ok = [
            n
            for n, a in self.shapes.items()
            if a.ndim <= len(shape) and all(x in (1, y) for x, y in zip(a.shape[::-1], shape[::-1], strict=False))
        ]
        if ok and not self.source.chance(number):
            return self.source.choice(ok[::-1])
        return self.source.number()

    def scalar(self) -> Any:
        ok = [n for n, a in self.shapes.items() if a.ndim == 0]
        return self.source.choice(ok) if ok and self.source.chance(50) else self.source.number()

    def slice(self, n: int) -> slice:
        a = self.source.below(max(1, n))
        b = a + 1 + self.source.below(n - a) if n > a else a
        return slice(a, b, self.source.choice([None, None, 2]))

    def basic(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """A basic index of one to all dimensions."""
        items: list[Any] = [
            self.source.below(n) if n and self.source.chance(33) else self.slice(n)
            for n in shape[: 1 + self.source.below(max(1, len(shape)))]
        ]
        if self.source.chance(15):
            items.insert(self.source.below(len(items) + 1), None)
        if self.source.chance(15):
            items.append(...)
        return tuple(items)

    # -- one step

    def write(self) -> None:
        """Choose and append one step."""
        s = self.source
        name = self.register()
        a = self.shapes[name]
        kind = s.below(100)
        if kind < 30:
            drafts = self.view(name, a)
        elif kind < 36:
            drafts = ("detach", (name,), ())
        elif kind < 58:
            drafts = self.compute(name, a)
        elif kind < 84 or a.ndim == 0:
            drafts = self.elementwise_write(name, a)
        else:
            drafts = self.indexed_write(name, a)
        self.append(drafts, s.chance(12))

    def view(self, name: str, a: np.ndarray) -> Draft:
        s, n, nd = self.source, a.size, a.ndim
        splits = [(d, n // d) for d in (2, 3, 4) if n and n % d == 0]
        sizes = [(n,), (1, n), *splits, tuple(m for m in a.shape if m != 1)] if n else [(0,)]
        kinds = ["view", "expand", "unsqueeze", "squeeze", "reshape"]
        if nd:
            kinds += ["index"] * 4 + ["select", "narrow", "unbind", "split", "unfold", "permute", "transpose"]
        if nd >= 2:
            kinds += ["diagonal", "permute", "transpose"]
        kind = s.choice(kinds)
        d = s.below(nd) if nd else 0
        if kind == "index":
            return ("index", (name,), (self.basic(a.shape),))
        if kind in ("view", "reshape"):
            return (kind, (name,), (s.choice(sizes),))
        if kind == "expand":
            return ("expand", (name,), (s.choice([(2, *a.shape), (1, *a.shape), tuple(3 if m == 1 else m for m in a.shape)]),))
        if kind == "unsqueeze":
            return ("unsqueeze", (name,), (s.below(nd + 1),))
        if kind == "squeeze":
            return ("squeeze", (name,), () if nd == 0 or s.chance(50) else (d,))
        m = a.shape[d]
        if kind == "select" and m:
            return ("select", (name,), (d, s.below(max(1, m))))
        if kind in ("narrow", "select") or not m:
            start = s.below(m + 1)
            return ("narrow", (name,), (d, start, s.below(m - start + 1)))
        if kind == "unbind":
            return ("unbind", (name,), (d,))
        if kind == "split":
            return ("split", (name,), (1 + s.below(max(1, m)), d))
        if kind == "unfold":
            size = 1 + s.below(max(1, m))
            return ("unfold", (name,), (d, size, 1 + s.below(2)))
        if kind == "permute":
            return ("permute", (name,), (tuple(s.some(range(nd), nd, nd)),))
        if kind == "transpose":
            return ("transpose", (name,), (d, s.below(nd)))
        return ("diagonal", (name,), (s.choice([0, 0, 1, -1]), 0, 1))

    def compute(self, name: str, a: np.ndarray) -> Draft:
        s = self.source
        kind = s.choice(["add", "mul", "tanh", "sin", "sum", "clone", "zeros", "add", "mul", "max", "gather", "cat", "where", "sum_dim"])
        if kind in ("add", "mul"):
            return (kind, (name, self.fitting(a.shape)), ())
        if kind == "zeros":
            return ("zeros", (), (s.choice([(3, 4), (4,), (2, 2), ()]),))
        if kind == "gather" and a.ndim and a.shape[0]:
            return ("gather", (name,), (np.array([s.below(a.shape[0]) for _ in range(3)]),))
        if kind in ("max", "sum_dim") and a.ndim and a.size:
            return (kind, (name,), (s.below(a.ndim),))
        same = [n for n, b in self.shapes.items() if b.shape == a.shape]
        if kind == "cat" and a.ndim:
            return ("cat", (name, s.choice(same)), (0,))
        if kind == "where":
            return ("where", (s.choice(same), name, self.fitting(a.shape)), ())
        return (kind if kind in ("tanh", "sin", "sum", "clone") else "sin", (name,), ())

    def elementwise_write(self, name: str, a: np.ndarray) -> Draft:
        s = self.source
        kind = s.choice(
            ["add_", "mul_", "copy_", "sub_", "iadd", "add_", "mul_", "copy_", "tanh_", "sin_", "zero_", "fill_", "clamp_", "masked_fill_"]
        )
        if kind in ("add_", "mul_", "sub_", "iadd"):
            return (kind, (name, self.fitting(a.shape)), ())
        if kind == "copy_":
            return (kind, (name, self.fitting(a.shape, 0)), ())
        if kind == "fill_":
            return (kind, (name, self.scalar()), ())
        if kind == "clamp_":
            return (kind, (name,), (-0.5, 0.75))
        if kind == "masked_fill_":
            same = [n for n, b in self.shapes.items() if b.shape == a.shape]
            return (kind, (name, s.choice(same), self.scalar()), ())
        return (kind, (name,), ())

    def indexed_write(self, name: str, a: np.ndarray) -> Draft:
        s, n = self.source, a.shape[0]
        kind = s.below(100)
        if kind < 10:
            same = [m for m, b in self.shapes.items() if b.shape == a.shape]
            return ("setmask", (name, s.choice(same), s.number()), ())
        if kind < 50 or not n:
            index: Any = self.basic(a.shape)
        elif kind < 62:
            index = (np.array(s.some(range(n), 1, min(n, 2))),)
        elif kind < 74:
            rows = np.array([s.below(n) for _ in range(2)])
            return ("index_put_", (name, self.fitting(a[rows].shape)), ((rows,), s.chance(70) or len(set(rows.tolist())) < 2))
        elif kind < 86 or a.ndim < 2:
            mask = np.array([s.chance(50) for _ in range(a.size)], bool).reshape(a.shape)
            index = (mask,)
        else:
            index = (self.slice(n), np.array(s.some(range(a.shape[1]), 1, min(a.shape[1], 2)), np.int64)) if a.shape[1] else (0,)
        return ("setitem", (name, self.fitting(a[index].shape)), (index,))

    def append(self, draft: Draft, no_grad: bool) -> None:
        """Enter the step, and what it gives into the model of shapes."""
        name, operands, params = draft
        out = f"r{len(self.steps)}" if not name.endswith("_") and name not in ("setitem", "setmask", "iadd") else ""
        self.steps.append(Step(name, operands, params, no_grad, out, len(self.steps)))
        if not out:
            return
        first = self.shapes[operands[0]] if operands and isinstance(operands[0], str) else None
        try:
            result = model(name, first, params, [self.shapes[o] if isinstance(o, str) else o for o in operands])
        except ValueError:
            return
        for k, part in enumerate(result if isinstance(result, list) else [result]):
            self.shapes[f"{out}.{k}" if isinstance(result, list) else out] = part


def model(name: str, a: Any, params: tuple[Any, ...], operands: list[Any]) -> Any:
    """What a step that makes a tensor gives, as far as shape and strides go; a list for several outputs."""
    if name in VIEWS:
        return VIEWS[name](a, *params)
    if name == "detach":
        return a[...]
    if name == "zeros":
        return np.zeros(params[0])
    if name == "gather":
        return a[params[0]].copy()
    if name == "sum":
        return np.zeros(())
    if name in ("max", "sum_dim"):
        return np.zeros(a.shape[: params[0]] + a.shape[params[0] + 1 :])
    if name == "cat":
        return np.concatenate(operands)
    if name == "where":
        return np.zeros(operands[1].shape)
    return np.zeros(a.shape)


def _unfold(a: np.ndarray, dim: int, size: int, step: int) -> np.ndarray:
    count = (a.shape[dim] - size) // step + 1
    if count < 1:
        raise ValueError("too large")
    shape, strides = list(a.shape), list(a.strides)
    shape[dim], strides[dim] = count, strides[dim] * step
    return np.lib.stride_tricks.as_strided(a, (*shape, size), (*strides, a.strides[dim]))


def _view(a: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    return a.reshape(size, copy=False)


def _along(a: np.ndarray, dim: int, index: Any) -> np.ndarray:
    return a[(*(slice(None),) * dim, index, ...)]


VIEWS: dict[str, Callable[..., Any]] = {
    "index": lambda a, index: a[(*index, ...)] if ... not in index else a[index],
    "view": _view,
    "reshape": lambda a, size: a.reshape(size),
    "expand": lambda a, size: np.broadcast_to(a, size),
    "unsqueeze": lambda a, dim: np.expand_dims(a, dim),
    "squeeze": lambda a, *dim: np.squeeze(a, tuple(d for d in range(a.ndim) if a.shape[d] == 1 and (not dim or d in dim))),
    "select": lambda a, dim, i: _along(a, dim, i),
    "narrow": lambda a, dim, start, n: _along(a, dim, slice(start, start + n)),
    "unbind": lambda a, dim: [_along(a, dim, i) for i in range(a.shape[dim])],
    "split": lambda a, n, dim: [_along(a, dim, slice(i, i + n)) for i in range(0, a.shape[dim], n)],
    "unfold": _unfold,
    "permute": lambda a, dims: a.transpose(dims),
    "transpose": lambda a, i, j: a.swapaxes(i, j),
    "diagonal": lambda a, offset, i, j: a.diagonal(offset, i, j),
}
"""The view operations on NumPy arrays."""


def generate(source: Source) -> Program:
    """One program."""
    names = list(INPUTS)
    arguments = source.some(names, 1, 4)
    if source.chance(15):
        arguments.append(source.choice(arguments))
    others = [n for n in names if n not in arguments]
    closed = source.some(others, 0, 2) if source.chance(50) else []
    writer = Writer(source, [*dict.fromkeys(arguments), *closed])
    for _ in range(1 + source.below(15)):
        writer.write()
    returned = source.some(list(writer.shapes)[::-1], 1, 4)
    return Program(tuple(arguments), tuple(writer.steps), tuple(returned))


def seeded(seed: int) -> Program:
    """The program of a seed."""
    return generate(SeededSource(seed))


def minimise(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A program in which nothing can be left out any more so that it still `fails`."""
    best, smaller = program, True
    while smaller:
        smaller = False
        for candidate in _simpler(best):
            if fails(candidate):
                best, smaller = candidate, True
                break
    return best


def _simpler(p: Program) -> list[Program]:
    found = [p.without({s.number}) for s in reversed(p.steps)]
    found += [replace(p, returned=p.returned[:k] + p.returned[k + 1 :]) for k in range(len(p.returned))]
    found += [replace(p, arguments=p.arguments[:k] + p.arguments[k + 1 :]) for k in range(len(p.arguments)) if len(p.arguments) > 1]
    plain = [k for k, s in enumerate(p.steps) if s.no_grad]
    found += [replace(p, steps=(*p.steps[:k], replace(p.steps[k], no_grad=False), *p.steps[k + 1 :])) for k in plain]
    return found
