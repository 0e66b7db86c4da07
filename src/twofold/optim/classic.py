"""Rprop and averaged SGD."""

from __future__ import annotations

from typing import Any

from twofold.optim.formula import FormulaOptimizer, scalar_state
from twofold.optim.optimizer import check_range, counter, number, refuse, zeros_like
from twofold.support.errors import ValueRangeError


class Rprop(FormulaOptimizer):
    """Resilient backpropagation (fn. Riedmiller, H. Braun, "A direct adaptive method for faster backpropagation learning", 1993).

    Each element has a step size s, multiplied by etas[1] where the gradient keeps its sign and by etas[0] where it changes (the gradient
    then counts as 0), within `step_sizes`;  p -= sign(g) s.  lr is the first step size.
    The state is "step", "prev" (the last gradient) and "step_size".  `foreach` and `capturable` have no effect.
    """

    arrays = ("prev", "step_size")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("learning rate", lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueRangeError(f"invalid etas: {etas[0]}, {etas[1]}; they must be 0 < etas[0] < 1 < etas[1]")
        refuse(differentiable)
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def initial(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        """See `FormulaOptimizer`."""
        return {"step": counter(), "prev": zeros_like(p), "step_size": zeros_like(p, number(group["lr"]))}

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """See `FormulaOptimizer`."""
        return (*group["etas"], *group["step_sizes"], group["maximize"]), ()

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """See the class."""
        prev, size, down, up, least, most, maximize = args
        if maximize:
            g = -g
        agreement = g * prev
        kept, changed = size * 0 + 1, agreement < 0
        factor = fn.where(changed, kept * down, fn.where(agreement > 0, kept * up, kept))
        size = fn.minimum(fn.maximum(size * factor, kept * least), kept * most)
        g = fn.where(changed, g * 0, g)
        return p - fn.sign(g) * size, g, size


class ASGD(FormulaOptimizer):
    """Averaged stochastic gradient descent (B. T. Polyak, A. B. Juditsky, "Acceleration of stochastic approximation by averaging", 1992).

    g = gradient + weight_decay p;  p = p (1 - lambd eta) - eta g;  ax += mu (p - ax);  then eta = lr / (1 + lambd lr t)^alpha and
    mu = 1 / max(1, t - t0).  The averaged parameter is the state's "ax".
    The state is "step", "eta", "mu" and "ax".  `foreach` and `capturable` have no effect.
    """

    arrays = ("ax",)
    numbers = ("eta", "mu")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_range("learning rate", lr)
        check_range("weight_decay", weight_decay)
        refuse(differentiable)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def initial(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        """See `FormulaOptimizer`."""
        return {"step": counter(), "eta": scalar_state(number(group["lr"])), "mu": scalar_state(1.0), "ax": zeros_like(p)}

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """See `FormulaOptimizer`."""
        eta, mu = values
        lr, lambd = group["lr"], group["lambd"]
        late = count - group["t0"]
        late = max(1.0, late) if fn.number else fn.maximum(late, late * 0 + 1)
        return (eta, mu, lambd, group["weight_decay"], group["maximize"]), (lr / (1 + lambd * lr * count) ** group["alpha"], 1 / late)

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """See the class."""
        ax, eta, mu, lambd, decay, maximize = args
        if maximize:
            g = -g
        if decay:
            g = g + p * decay
        p = p * (1 - lambd * eta) - g * eta
        if fn.number:
            return p, p if mu == 1 else ax + (p - ax) * mu
        return p, fn.where(mu == 1, p, ax + (p - ax) * mu)
