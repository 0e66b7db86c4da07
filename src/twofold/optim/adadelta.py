"""Adadelta and Lion."""

from __future__ import annotations

from typing import Any

from twofold.optim.formula import FormulaOptimizer
from twofold.optim.optimizer import check_betas, check_range, refuse


class Adadelta(FormulaOptimizer):
    """Adadelta (fn. D. Zeiler, arXiv:1212.5701).

    g = gradient + weight_decay p;  v = rho v + (1 - rho) g²;  d = sqrt(u + eps) / sqrt(v + eps) g;  u = rho u + (1 - rho) d²;  p -= lr d.
    The state is "step", "square_avg" (v) and "acc_delta" (u).  `foreach` and `capturable` have no effect.
    """

    arrays = ("square_avg", "acc_delta")

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("learning rate", lr)
        if rho != 1.0:
            check_range("rho", rho, 0.0, 1.0)
        check_range("eps", eps)
        check_range("weight_decay", weight_decay)
        refuse(differentiable)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """See `FormulaOptimizer`."""
        return (group["lr"], group["rho"], group["eps"], group["weight_decay"], group["maximize"]), ()

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """See the class."""
        v, u, lr, rho, eps, decay, maximize = args
        if maximize:
            g = -g
        if decay:
            g = g + p * decay
        v = v * rho + g * g * (1 - rho)
        d = fn.sqrt(u + eps) / fn.sqrt(v + eps) * g
        return p - d * lr, v, u * rho + d * d * (1 - rho)


class Lion(FormulaOptimizer):
    """Lion (X. Chen et al., "Symbolic discovery of optimization algorithms", arXiv:2302.06675).

    u = sign(b1 m + (1 - b1) g);  p -= lr (u + weight_decay p);  m = b2 m + (1 - b2) g.  The state is "exp_avg" (m), half of Adam's.
    Rates are usually 3 to 10 times smaller than Adam's, weight decay as much larger.  maximize: ascend instead.
    """

    arrays = ("exp_avg",)
    counts = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        check_range("learning rate", lr)
        check_betas(betas)
        check_range("weight_decay", weight_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """See `FormulaOptimizer`."""
        return (group["lr"], *group["betas"], group["weight_decay"], group["maximize"]), ()

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """See the class."""
        m, lr, first, second, decay, maximize = args
        if maximize:
            g = -g
        direction = fn.sign(m * first + g * (1 - first))
        if decay:
            p = p * (1 - lr * decay)
        return p - direction * lr, m * second + g * (1 - second)
