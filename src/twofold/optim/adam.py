"""Adam and AdamW."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir.dtypes import float64
from twofold.ir.mode import grad_mode
from twofold.optim.optimizer import (
    Optimizer,
    assign,
    check_betas,
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


def adam_update(
    p: Any, g: Any, m: Any, v: Any, s: Any, r: Any, lr: float, betas: tuple[float, float], eps: float, decay: float, decoupled: bool,
    maximize: bool, count: float,
) -> None:  # fmt: skip
    """One step, `count` the number of steps with this one."""
    second_moment(p, g, m, v, s, r, lr, betas, decay, decoupled, maximize)
    move(p, m, v, s, lr, betas, eps, count)


def amsgrad_update(
    p: Any, g: Any, m: Any, v: Any, top: Any, s: Any, r: Any, lr: float, betas: tuple[float, float], eps: float, decay: float,
    decoupled: bool, maximize: bool, count: float,
) -> None:  # fmt: skip
    """One step that divides by the largest second moment so far."""
    second_moment(p, g, m, v, s, r, lr, betas, decay, decoupled, maximize)
    np.maximum(top, v, out=top)
    move(p, m, top, s, lr, betas, eps, count)


def second_moment(
    p: Any, g: Any, m: Any, v: Any, s: Any, r: Any, lr: float, betas: tuple[float, float], decay: float, decoupled: bool, maximize: bool
) -> None:
    """Weight decay and the moments: m += (1 - b1) (g - m); v = b2 v + (1 - b2) g²."""
    first, second = betas
    if decoupled:
        if decay:
            np.multiply(p, 1 - lr * decay, p)
        g = np.negative(g, s) if maximize else g
    else:
        g = with_decay(p, g, s, decay, maximize)
    np.subtract(g, m, r)
    np.multiply(r, 1 - first, r)
    np.add(m, r, m)
    np.multiply(v, second, v)
    np.multiply(g, g, r)
    np.multiply(r, 1 - second, r)
    np.add(v, r, v)


def move(p: Any, m: Any, v: Any, s: Any, lr: float, betas: tuple[float, float], eps: float, count: float) -> None:
    """p -= lr m' / (sqrt(v') + eps), m' and v' freed of their bias towards 0."""
    np.sqrt(v, s)
    np.divide(s, math.sqrt(1 - betas[1] ** count), s)
    np.add(s, eps, s)
    np.divide(m, s, s)
    np.multiply(s, lr / (1 - betas[0] ** count), s)
    np.subtract(p, s, p)


class Adam(Optimizer):
    """Adam (D. P. Kingma, J. Ba, arXiv:1412.6980).

    g = gradient + weight_decay p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g²;  p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) +
    eps). decoupled_weight_decay: p is scaled by 1 - lr weight_decay instead (AdamW).  amsgrad: the largest v so far takes the place of v
    (arXiv:1904.09237).  maximize: ascend instead.  `foreach`, `fused` and `capturable` have no effect.
    The state is "step", "exp_avg", "exp_avg_sq" and, with amsgrad, "max_exp_avg_sq".
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_range("learning rate", lr)
        check_range("eps", eps)
        check_betas(betas)
        check_range("weight_decay", weight_decay)
        refuse(differentiable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _state_of(self, p: Any, amsgrad: bool) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter()
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
        if amsgrad and "max_exp_avg_sq" not in state:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state

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
                amsgrad = group["amsgrad"]
                settings = (
                    number(group["lr"]), tuple(map(number, group["betas"])), group["eps"], number(group["weight_decay"]),
                    group["decoupled_weight_decay"], group["maximize"],
                )  # fmt: skip
                for p, g in self.ready(group):
                    state = self._state_of(p, amsgrad)
                    count = memory(state["step"])
                    count += 1
                    moments: tuple[Any, ...] = (state["exp_avg"], state["exp_avg_sq"])
                    if amsgrad:
                        moments = (*moments, state["max_exp_avg_sq"])
                    self.update(amsgrad_update if amsgrad else adam_update, p, g, moments, (*settings, float(count)), site)
        return loss

    def _record(self, group: dict[str, Any]) -> None:
        """The same with tensors."""
        lr, (first, second), decay = group["lr"], group["betas"], group["weight_decay"]
        for p, grad in self.ready(group):
            state = self._state_of(p, group["amsgrad"])
            value, g = widened(p), widened(grad)
            if group["maximize"]:
                g = -g
            if decay and group["decoupled_weight_decay"]:
                value = value * (1 - lr * decay)
            elif decay:
                g = value * decay + g
            m, v = widened(state["exp_avg"]), widened(state["exp_avg_sq"])
            m = m + (g - m) * (1 - first)
            v = v * second + g * g * (1 - second)
            count = state["step"] + 1
            assign(state["step"], count)
            assign(state["exp_avg"], m)
            assign(state["exp_avg_sq"], v)
            if group["amsgrad"]:
                v = FUNCTIONS["maximum"](widened(state["max_exp_avg_sq"]), v)
                assign(state["max_exp_avg_sq"], v)
            count = count.to(float64)
            root = FUNCTIONS["sqrt"](1 - FUNCTIONS["pow"](second, count))
            denominator = FUNCTIONS["sqrt"](v) / root + group["eps"]
            assign(p, value - m / denominator * (lr / (1 - FUNCTIONS["pow"](first, count))))


class AdamW(Adam):
    """Adam whose weight decay is decoupled from the gradient (I. Loshchilov, F. Hutter, arXiv:1711.05101); see `Adam`."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def load_state_dict(self, state_dict: Any) -> None:
        """See `Optimizer.load_state_dict`; the weight decay stays decoupled."""
        super().load_state_dict(state_dict)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
