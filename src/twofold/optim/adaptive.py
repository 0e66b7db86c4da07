"""RMSprop and Adagrad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir.mode import grad_mode
from twofold.optim.optimizer import (
    Optimizer,
    assign,
    check_range,
    counter,
    number,
    refuse,
    run_closure,
    step_site,
    widened,
    zeros_like,
)  # fmt: skip
from twofold.optim.sgd import with_decay
from twofold.tensors.core import memory
from twofold.tensors.functions import FUNCTIONS


def rmsprop_update(p: Any, g: Any, v: Any, *rest: Any) -> None:
    """One step: `rest` holds the mean gradient (centered), the momentum buffer, two scratch arrays, and the settings."""
    lr, alpha, eps, decay, maximize, momentum, centered = rest[-7:]
    s, r = rest[-9:-7]
    state = rest[:-9]
    g = with_decay(p, g, s, decay, maximize)
    np.multiply(v, alpha, v)
    np.multiply(g, g, r)
    np.multiply(r, 1 - alpha, r)
    np.add(v, r, v)
    if centered:
        mean = state[0]
        np.subtract(g, mean, r)
        np.multiply(r, 1 - alpha, r)
        np.add(mean, r, mean)
        np.multiply(mean, mean, r)
        np.subtract(v, r, r)
        np.sqrt(r, r)
    else:
        np.sqrt(v, r)
    np.add(r, eps, r)
    np.divide(g, r, r)
    if momentum:
        b = state[-1]
        np.multiply(b, momentum, b)
        r = np.add(b, r, b)
    np.subtract(p, np.multiply(r, lr, s), p)


class RMSprop(Optimizer):
    """RMSprop (T. Tieleman, G. Hinton, lecture 6.5 of "Neural networks for machine learning", 2012).

    g = gradient + weight_decay p;  v = alpha v + (1 - alpha) g²;  d = g / (sqrt(v) + eps), with `centered` the mean gradient's square
    taken from v (A. Graves, arXiv:1308.0850);  b = momentum b + d;  p -= lr b.
    The state is "step", "square_avg" and, where used, "grad_avg" and "momentum_buffer".  `foreach` and `capturable` have no effect.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("learning rate", lr)
        check_range("eps", eps)
        check_range("momentum", momentum)
        check_range("weight_decay", weight_decay)
        check_range("alpha", alpha)
        refuse(differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _state_of(self, p: Any, group: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        state = self.state[p]
        state.setdefault("step", counter())
        names = ["square_avg"] + ["grad_avg"] * bool(group["centered"]) + ["momentum_buffer"] * bool(group["momentum"] > 0)
        for name in ("square_avg", "momentum_buffer", "grad_avg"):  # PyTorch's order in the state dict
            if name in names and name not in state:
                state[name] = zeros_like(p)
        return state, tuple(state[n] for n in names)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have gradients; see `Optimizer.step`."""
        loss = run_closure(closure)
        site = step_site()
        record = self.must_record()
        with grad_mode(False), np.errstate(all="ignore"):
            for group in self.param_groups:
                settings = tuple(group[k] for k in ("lr", "alpha", "eps", "weight_decay", "maximize", "momentum", "centered"))
                for p, g in self.ready(group):
                    state, arrays = self._state_of(p, group)
                    if record:
                        assign(state["step"], state["step"] + 1)
                        self._record(p, g, state, *settings)
                        continue
                    count = memory(state["step"])
                    count += 1
                    self.update(rmsprop_update, p, g, arrays, (number(settings[0]), *settings[1:]), site)
        return loss

    def _record(
        self, p: Any, grad: Any, state: dict[str, Any], lr: Any, alpha: float, eps: float, decay: float, maximize: bool, momentum: float,
        centered: bool,
    ) -> None:  # fmt: skip
        """The same with tensors."""
        value, g = widened(p), widened(grad)
        if maximize:
            g = -g
        if decay:
            g = value * decay + g
        v = widened(state["square_avg"]) * alpha + g * g * (1 - alpha)
        assign(state["square_avg"], v)
        if centered:
            mean = widened(state["grad_avg"])
            mean = mean + (g - mean) * (1 - alpha)
            assign(state["grad_avg"], mean)
            v = v - mean * mean
        d = g / (FUNCTIONS["sqrt"](v) + eps)
        if momentum:
            d = widened(state["momentum_buffer"]) * momentum + d
            assign(state["momentum_buffer"], d)
        assign(p, value - d * lr)


def adagrad_update(p: Any, g: Any, total: Any, s: Any, r: Any, rate: float, eps: float, decay: float, maximize: bool) -> None:
    """total += g²; p -= rate g / (sqrt(total) + eps)."""
    g = with_decay(p, g, s, decay, maximize)
    np.multiply(g, g, r)
    np.add(total, r, total)
    np.sqrt(total, r)
    np.add(r, eps, r)
    np.divide(g, r, r)
    np.multiply(r, rate, r)
    np.subtract(p, r, p)


class Adagrad(Optimizer):
    """Adagrad (J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods", 2011).

    g = gradient + weight_decay p;  s = s + g²;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).  The state, made at once, is "step"
    and "sum", which begins as `initial_accumulator_value`.  `foreach` and `fused` have no effect.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_range("learning rate", lr)
        check_range("lr_decay", lr_decay)
        check_range("weight_decay", weight_decay)
        check_range("initial_accumulator_value", initial_accumulator_value)
        check_range("eps", eps)
        refuse(differentiable)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self._state_of(p, group)

    def _state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter()
            state["sum"] = zeros_like(p, group["initial_accumulator_value"])
        return state

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have gradients; see `Optimizer.step`."""
        loss = run_closure(closure)
        site = step_site()
        record = self.must_record()
        with grad_mode(False), np.errstate(all="ignore"):
            for group in self.param_groups:
                lr, slower = group["lr"], group["lr_decay"]
                settings = (group["eps"], group["weight_decay"], group["maximize"])
                for p, g in self.ready(group):
                    state = self._state_of(p, group)
                    if record:
                        count = state["step"] + 1
                        assign(state["step"], count)
                        self._record(p, g, state["sum"], lr / (1 + (count - 1) * slower), *settings)
                        continue
                    count = memory(state["step"])
                    count += 1
                    self.update(adagrad_update, p, g, (state["sum"],), (number(lr) / (1 + (float(count) - 1) * slower), *settings), site)
        return loss

    def _record(self, p: Any, grad: Any, total: Any, rate: Any, eps: float, decay: float, maximize: bool) -> None:
        """The same with tensors."""
        value, g = widened(p), widened(grad)
        if maximize:
            g = -g
        if decay:
            g = value * decay + g
        sums = widened(total) + g * g
        assign(total, sums)
        assign(p, value - g / (FUNCTIONS["sqrt"](sums) + eps) * rate)
