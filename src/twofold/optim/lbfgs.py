"""Limited-memory BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir.mode import RECORDER, grad_mode
from twofold.optim.line_search import Point, strong_wolfe
from twofold.optim.optimizer import Optimizer, check_grad, check_range, gradient_of, number, step_site
from twofold.support.errors import ArgumentError, UnsupportedError, ValueRangeError
from twofold.tape.versions import stamp
from twofold.tensors.core import Symbol, memory, wrap

LEAST_CURVATURE = 1e-10
"""Pairs whose y·s is not larger would spoil the approximation: they are left out."""


class LBFGS(Optimizer):
    """L-BFGS (algorithm 7.5 of J. Nocedal, S. J. Wright, "Numerical optimization", 2nd edition, 2006).

    `step(closure)` needs a closure that clears the gradients, computes the loss, calls backward and returns the loss; it is called
    several times, at most `max_eval` (default: max_iter * 5 / 4).  One group of parameters only.
    line_search_fn: None (steps of length lr) or "strong_wolfe".  tolerance_grad, tolerance_change: limits below which a step ends early.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_range("learning rate", lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueRangeError(f"LBFGS: line_search_fn must be None or 'strong_wolfe', not {line_search_fn!r}")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueRangeError(f"LBFGS takes one group of parameters, not {len(self.param_groups)}")

    # ---- the parameters as one vector ------------------------------------------------------------------------------------------------

    def _gradient(self) -> Any:
        """All gradients in one vector; a parameter without one counts as zeros."""
        parts = []
        for p in self.param_groups[0]["params"]:
            g = gradient_of(p)
            if g is not None and g._type is not p._type:
                check_grad(p, g)
            parts.append(np.zeros(p._type.numel, memory(p).dtype) if g is None else np.asarray(g._array).reshape(-1))
        return np.concatenate(parts)

    def _values(self) -> list[Any]:
        return [memory(p).copy() for p in self.param_groups[0]["params"]]

    def _move(self, values: list[Any], direction: Any, step: float, site: Any) -> None:
        """parameters = values + step * direction."""
        start = 0
        for p, value in zip(self.param_groups[0]["params"], values, strict=True):
            array = memory(p)
            np.add(value, (direction[start : start + value.size] * step).reshape(value.shape).astype(value.dtype, copy=False), array)
            stamp(array, "LBFGS.step", *site)
            start += value.size

    # ---- steps -----------------------------------------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to `max_iter` iterations; returns the loss before them."""
        if closure is None:
            raise ArgumentError("LBFGS.step() needs a closure that computes the loss and its gradients")
        if RECORDER.get() is not None:
            raise UnsupportedError("a step of LBFGS cannot be recorded: how often it evaluates the loss depends on values")
        site = step_site()

        def loss_of() -> Any:
            with grad_mode(True):
                loss = closure()
            if isinstance(loss, Symbol):
                raise UnsupportedError("a step of LBFGS cannot be recorded: how often it evaluates the loss depends on values")
            return loss

        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = loss_of()
        state["func_evals"] += 1
        grad = self._gradient()
        if grad.size and np.abs(grad).max() > group["tolerance_grad"]:
            with grad_mode(False), np.errstate(all="ignore"):
                self._iterate(group, state, float(first), grad, lambda: float(loss_of()), site)
        return first

    def _iterate(self, group: dict[str, Any], state: dict[str, Any], loss: float, grad: Any, loss_of: Any, site: Any) -> None:
        lr, evaluations = number(group["lr"]), 1
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(group, state, grad)
            state["prev_flat_grad"], state["prev_loss"], previous = wrap(grad.copy()), loss, loss
            t = min(1.0, 1.0 / float(np.abs(grad).sum())) * lr if state["n_iter"] == 1 else lr
            slope = float(grad @ direction)
            state["d"], state["t"] = wrap(direction), t
            if slope > -group["tolerance_change"]:
                break
            values, trials = self._values(), 0
            if group["line_search_fn"] == "strong_wolfe":

                def evaluate(step: float, values: Any = values, direction: Any = direction) -> Point:
                    self._move(values, direction, step, site)
                    value = loss_of()
                    g = self._gradient()
                    return Point(step, value, g, float(g @ direction))

                size = float(np.abs(direction).max())
                point, trials = strong_wolfe(evaluate, Point(0.0, loss, grad, slope), t, size, 1e-9)
                t, loss, grad = point.step, point.loss, point.grad
                self._move(values, direction, t, site)
            else:
                self._move(values, direction, t, site)
                if n != group["max_iter"]:
                    loss, grad, trials = loss_of(), self._gradient(), 1
            state["t"] = t
            evaluations += trials
            state["func_evals"] += trials
            if (
                evaluations >= group["max_eval"]
                or np.abs(grad).max() <= group["tolerance_grad"]
                or np.abs(direction * t).max() <= group["tolerance_change"]
                or abs(loss - previous) < group["tolerance_change"]
            ):
                break

    def _direction(self, group: dict[str, Any], state: dict[str, Any], grad: Any) -> Any:
        """-H g by the two-loop recursion, after the last step has been taken into the history."""
        if state["n_iter"] == 1:
            state.update({"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1.0})
            return -grad
        y = grad - state["prev_flat_grad"]._array
        s = state["d"]._array * state["t"]
        curvature = float(y @ s)
        changes, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        if curvature > LEAST_CURVATURE:
            if len(changes) == group["history_size"]:
                for history in (changes, steps, ro):
                    history.pop(0)
            changes.append(wrap(y))
            steps.append(wrap(s))
            ro.append(1.0 / curvature)
            state["H_diag"] = curvature / float(y @ y)
        q = -grad
        weights = []
        for change, step, r in zip(reversed(changes), reversed(steps), reversed(ro), strict=True):
            weights.append(float(step._array @ q) * r)
            q = q - weights[-1] * change._array
        d = q * state["H_diag"]
        for change, step, r, weight in zip(changes, steps, ro, reversed(weights), strict=True):
            d = d + step._array * (weight - float(change._array @ d) * r)
        return d
