"""Optimisers given by one formula, which runs on arrays, and on tensors while a graph is recorded.

A subclass says what its state is (`initial`), how the numbers of a step follow from its count (`advance`), and the formula itself, a static
method that returns new values. `fn` is a namespace with `sqrt`, `abs`, `sign`, `maximum`, `minimum` and `where`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from twofold.ir.dtypes import float64
from twofold.ir.mode import grad_mode
from twofold.optim.optimizer import Optimizer, assign, counter, number, run_closure, step_site, widened, zeros_like
from twofold.support.errors import UnsupportedError
from twofold.tensors.core import memory, wrap
from twofold.tensors.functions import FUNCTIONS

NAMES = ("sqrt", "abs", "sign", "maximum", "minimum", "where")
ARRAYS = SimpleNamespace(**{name: getattr(np, name) for name in NAMES}, number=True)
TENSORS = SimpleNamespace(**{name: FUNCTIONS[name] for name in NAMES}, number=False)
"""The formula's functions; `number` says that the numbers of `advance` are Python's."""


def scalar_state(value: float) -> Any:
    """A number kept in the state as PyTorch keeps it: a 0-d float32 tensor."""
    return wrap(np.full((), value, np.float32))


def run_formula(p: Any, g: Any, *rest: Any) -> None:
    """The formula on arrays, in the form `Optimizer.update` wants: rest = (*state, scratch, scratch, formula, numbers)."""
    *states, _, _, formula, numbers = rest
    value, *news = formula(ARRAYS, p, g, *states, *numbers)
    for old, new in zip(states, news, strict=True):
        old[...] = new
    p[...] = value


class FormulaOptimizer(Optimizer):
    """Base of the optimisers of this kind; see the module's text.

    arrays: names of the state that has the parameter's shape, in the formula's order.  numbers: names of the state that is a number.
    counts: whether a count of steps is kept.
    """

    arrays: ClassVar[tuple[str, ...]] = ()
    numbers: ClassVar[tuple[str, ...]] = ()
    counts: ClassVar[bool] = True

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """(new parameter, *new state) from the parameter, its gradient, the state and the numbers of `advance`."""
        raise UnsupportedError("the optimiser defines no formula()")

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """(numbers for the formula, new values of the state's numbers) for step `count` (from 1)."""
        raise UnsupportedError(f"{type(self).__name__} defines no advance()")

    def initial(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        """The state before the first step, in PyTorch's order."""
        return {**({"step": counter()} if self.counts else {}), **{name: zeros_like(p) for name in self.arrays}}

    def state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        """The parameter's state, made when first asked for."""
        state = self.state[p]
        if not state:
            state.update(self.initial(p, group))
        return state

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have gradients; see `Optimizer.step`."""
        loss = run_closure(closure)
        site = step_site()
        record = self.must_record()
        with grad_mode(False), np.errstate(all="ignore"):
            for group in self.param_groups:
                for p, g in self.ready(group):
                    state = self.state_of(p, group)
                    if record:
                        self._record(group, p, g, state)
                    else:
                        self._run(group, p, g, state, site)
        return loss

    def _run(self, group: dict[str, Any], p: Any, g: Any, state: dict[str, Any], site: Any) -> None:
        """One parameter's step on arrays."""
        count = 0.0
        if self.counts:
            steps = memory(state["step"])
            steps += 1
            count = float(steps)
        plain = {k: v if k == "params" else number(v) for k, v in group.items()}
        values = tuple(float(memory(state[name])) for name in self.numbers)
        numbers, news = self.advance(ARRAYS, plain, count, values)
        self.update(run_formula, p, g, tuple(state[name] for name in self.arrays), (type(self).formula, numbers), site)
        for name, new in zip(self.numbers, news, strict=True):
            memory(state[name])[...] = new

    def _record(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        """The same with tensors."""
        count: Any = 0
        if self.counts:
            count = state["step"] + 1
            assign(state["step"], count)
            count = count.to(float64)
        values = tuple(state[name].to(float64) for name in self.numbers)
        numbers, news = self.advance(TENSORS, group, count, values)
        states = tuple(widened(state[name]) for name in self.arrays)
        value, *arrays = type(self).formula(TENSORS, widened(p), widened(grad), *states, *numbers)
        for name, new in zip((*self.arrays, *self.numbers), (*arrays, *news), strict=True):
            assign(state[name], new)
        assign(p, value)
