"""The operations of scans: for each a state, how it begins, and how an element enters it.

All but the recurrence are associative and have a neutral state. So a row can be cut, and the states of its parts combined from left to
right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from twofold.compiler.expr import is_float
from twofold.compiler.llvm import REGISTERS, Operand, Val, number, vector
from twofold.compiler.templates.base import Kernel

State = tuple[Val, ...]
"""Values of the register types `types`; scalars, or vectors with a lane for each of several rows. What a step leaves is what is stored."""


@dataclass(frozen=True)
class Running:
    """A running sum, product or log-sum of exponentials in the register type `type`. The state is the result so far."""

    combine_with: str
    type: str

    @property
    def types(self) -> tuple[str, ...]:
        """Register types of the state."""
        return (self.type,)

    @property
    def operands(self) -> tuple[str, ...]:
        """Register types in which operands enter."""
        return (self.type,)

    @property
    def is_splittable(self) -> bool:
        """Whether states of parts of a row may be combined. A product of a part may overflow where the running product does not."""
        return self.combine_with != "mul" or not is_float(self.type)

    @property
    def is_dear(self) -> bool:
        """Whether a step is worth gathering rows into vectors."""
        return self.combine_with == "logaddexp"

    @property
    def cost(self) -> float:
        """Estimated ns of a step."""
        return 6.0 if self.is_dear else 0.6

    def neutral(self, lanes: int) -> State:
        """The state before the first element."""
        start = {"add": -0.0, "mul": 1, "logaddexp": -math.inf}[self.combine_with]
        return (number(vector(REGISTERS[self.type], lanes), start),)

    def step(self, k: Kernel, state: State, x: tuple[Val, ...], place: Operand) -> State:
        """The state after an element at `place` of its row."""
        return self.combine(k, state, x)

    def combine(self, k: Kernel, left: State, right: State) -> State:
        """The state of two neighbouring parts."""
        return (k.functions.apply(self.combine_with, [left[0], right[0]], self.type),)


@dataclass(frozen=True)
class Extremum:
    """A running maximum or minimum ("max", "min") and the latest index it came from; once NaN, the latest index of a NaN."""

    which: str
    type: str
    is_splittable = True
    is_dear = False
    cost = 1.0

    @property
    def types(self) -> tuple[str, ...]:
        return self.type, "i64"

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.type,)

    def neutral(self, lanes: int) -> State:
        return number(vector(REGISTERS[self.type], lanes), self._worst()), number(vector("i64", lanes), 0)

    def _worst(self) -> float | int:
        if is_float(self.type):
            return -math.inf if self.which == "max" else math.inf
        if self.type == "bool":
            return int(self.which == "min")
        bits, signed = int(self.type[1:]), self.type[0] == "i"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        return low if self.which == "max" else high

    def step(self, k: Kernel, state: State, x: tuple[Val, ...], place: Operand) -> State:
        lanes = x[0].lanes
        at = k.f.of(place, "i64")
        return self.combine(k, state, (x[0], k.f.splat(at, lanes) if lanes > 1 else at))

    def combine(self, k: Kernel, left: State, right: State) -> State:
        f, x, before = k.f, right[0], left[0]
        if is_float(self.type):
            # a NaN replaces all, and no number replaces it
            here = f.binary("or", f.fcmp("oge" if self.which == "max" else "ole", x, before), f.fcmp("uno", x, x))
        else:
            here = f.icmp(("s" if self.type[0] == "i" else "u") + ("ge" if self.which == "max" else "le"), x, before)
        return f.select(here, x, before), f.select(here, right[1], left[1])


@dataclass(frozen=True)
class Recurrence:
    """s = a · s + b. It begins with b alone, and is not cut: a product of many a may overflow."""

    type: str
    is_splittable = False
    is_dear = False
    cost = 1.2

    @property
    def types(self) -> tuple[str, ...]:
        return (self.type,)

    @property
    def operands(self) -> tuple[str, ...]:
        return self.type, self.type

    def step(self, k: Kernel, state: State, x: tuple[Val, ...], place: Operand) -> State:
        return (k.f.fadd(k.f.fmul(x[0], state[0], ""), x[1], ""),)


SplittableOperation = Running | Extremum
ScanOperation = Running | Extremum | Recurrence
