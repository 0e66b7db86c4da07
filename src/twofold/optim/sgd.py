"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir.mode import grad_mode
from twofold.optim.optimizer import Optimizer, assign, check_range, number, refuse, run_closure, step_site, widened, zeros_like
from twofold.support.errors import UnsupportedError, ValueRangeError


def plain_update(p: Any, g: Any, s: Any, _: Any, lr: float, decay: float, maximize: bool) -> None:
    """p -= lr g, g with weight decay."""
    np.multiply(with_decay(p, g, s, decay, maximize), lr, s)
    np.subtract(p, s, p)


def with_decay(p: Any, g: Any, s: Any, decay: float, maximize: bool) -> Any:
    """±g + decay p, in `s` unless it is g itself."""
    if decay:
        np.multiply(p, decay, s)
        return np.subtract(s, g, s) if maximize else np.add(s, g, s)
    return np.negative(g, s) if maximize else g


def momentum_update(
    p: Any,
    g: Any,
    b: Any,
    s: Any,
    r: Any,
    lr: float,
    decay: float,
    maximize: bool,
    momentum: float,
    dampening: float,
    nesterov: bool,
    first: bool,
) -> None:
    """b = momentum b + (1 - dampening) g (at first b = g); p -= lr (b, or with nesterov g + momentum b)."""
    g = with_decay(p, g, s, decay, maximize)
    if first:
        b[...] = g
    else:
        np.multiply(b, momentum, b)
        np.add(b, np.multiply(g, 1 - dampening, r) if dampening else g, b)
    if nesterov:
        np.multiply(b, momentum, r)
        b = np.add(r, g, r)
    np.subtract(p, np.multiply(b, lr, s), p)


class SGD(Optimizer):
    """Stochastic gradient descent with momentum.

    g = gradient + weight_decay p;  b = momentum b + (1 - dampening) g (the first b is g);  p = p - lr b, with `nesterov` p - lr (g +
    momentum b). I. Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013), in PyTorch's form.
    maximize: ascend instead. `foreach` and `fused` have no effect. The state is "momentum_buffer".
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_range("learning rate", lr)
        check_range("momentum", momentum)
        check_range("weight_decay", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueRangeError("nesterov needs a momentum above 0 and no dampening")
        refuse(differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have gradients; see `Optimizer.step`."""
        loss = run_closure(closure)
        site = step_site()
        record = self.must_record()
        with grad_mode(False), np.errstate(all="ignore"):
            for group in self.param_groups:
                if record:
                    self._record(group)
                    continue
                base = (number(group["lr"]), number(group["weight_decay"]), group["maximize"])
                momentum, dampening, nesterov = number(group["momentum"]), group["dampening"], group["nesterov"]
                for p, g in self.ready(group):
                    if not momentum:
                        self.update(plain_update, p, g, (), base, site)
                        continue
                    state = self.state[p]
                    b = state.get("momentum_buffer")
                    first = b is None
                    if b is None:
                        b = state["momentum_buffer"] = zeros_like(p)
                    self.update(momentum_update, p, g, (b,), (*base, momentum, dampening, nesterov, first), site)
        return loss

    def _record(self, group: dict[str, Any]) -> None:
        """The same with tensors."""
        lr, momentum, dampening, decay = group["lr"], group["momentum"], group["dampening"], group["weight_decay"]
        for p, grad in self.ready(group):
            value, g = widened(p), widened(grad)
            if decay:
                g = value * decay - g if group["maximize"] else value * decay + g
            elif group["maximize"]:
                g = -g
            if momentum:
                state = self.state[p]
                if state.get("momentum_buffer") is None:
                    if dampening:
                        raise UnsupportedError("recording the first step of SGD with dampening: run one step before recording")
                    state["momentum_buffer"] = zeros_like(p)
                buffer = state["momentum_buffer"]
                b = widened(buffer) * momentum + (g * (1 - dampening) if dampening else g)
                assign(buffer, b)
                g = b * momentum + g if group["nesterov"] else b
            assign(p, value - g * lr)
