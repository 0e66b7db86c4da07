"""Adamax, NAdam and RAdam."""

from __future__ import annotations

from typing import Any

from twofold.optim.formula import FormulaOptimizer, scalar_state
from twofold.optim.optimizer import check_betas, check_range, counter, refuse, zeros_like


class Adamax(FormulaOptimizer):
    """Adamax (section 7.1 of D. P. Kingma, J. Ba, arXiv:1412.6980).

    g = gradient + weight_decay p;  m = b1 m + (1 - b1) g;  u = max(b2 u, |g| + eps);  p -= lr / (1 - b1^t) m / u.
    The state is "step", "exp_avg" (m) and "exp_inf" (u).  `foreach` and `capturable` have no effect.
    """

    arrays = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_range("learning rate", lr)
        check_range("eps", eps)
        check_betas(betas)
        check_range("weight_decay", weight_decay)
        refuse(differentiable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """See `FormulaOptimizer`."""
        first, second = group["betas"]
        rate = group["lr"] / (1 - first**count)
        return (rate, first, second, group["eps"], group["weight_decay"], group["maximize"]), ()

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """See the class."""
        m, u, rate, first, second, eps, decay, maximize = args
        if maximize:
            g = -g
        if decay:
            g = g + p * decay
        m = m + (g - m) * (1 - first)
        u = fn.maximum(u * second, fn.abs(g) + eps)
        return p - m / u * rate, m, u


def moments(p: Any, g: Any, m: Any, v: Any, settings: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
    """(parameter, gradient, first moment, second moment) after weight decay; settings = (lr, b1, b2, decay, decoupled, maximize)."""
    lr, first, second, decay, decoupled, maximize = settings
    if maximize:
        g = -g
    if decay and decoupled:
        p = p * (1 - lr * decay)
    elif decay:
        g = g + p * decay
    return p, g, m + (g - m) * (1 - first), v * second + g * g * (1 - second)


class _WithMoments(FormulaOptimizer):
    """What NAdam and RAdam share: two moments, coupled or decoupled weight decay."""

    arrays = ("exp_avg", "exp_avg_sq")

    def _defaults(self, lr: Any, betas: Any, eps: float, weight_decay: float, differentiable: bool, **rest: Any) -> dict[str, Any]:
        check_range("learning rate", lr)
        check_range("eps", eps)
        check_betas(betas)
        check_range("weight_decay", weight_decay)
        refuse(differentiable)
        return {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "differentiable": differentiable, **rest}

    @staticmethod
    def _settings(group: dict[str, Any]) -> tuple[Any, ...]:
        return (group["lr"], *group["betas"], group["weight_decay"], group["decoupled_weight_decay"], group["maximize"])


class NAdam(_WithMoments):
    """Adam with Nesterov's momentum (T. Dozat, "Incorporating Nesterov momentum into Adam", 2016).

    mu_t = b1 (1 - 0.96^(t momentum_decay) / 2), P = the product of all mu so far; with m, v as Adam's and d = sqrt(v / (1 - b2^t)) + eps:
    p -= lr (1 - mu_t) / (1 - P) g / d + lr mu_{t+1} / (1 - P mu_{t+1}) m / d.
    The state is "step", "mu_product" (P), "exp_avg" and "exp_avg_sq".  `foreach` and `capturable` have no effect.
    """

    numbers = ("mu_product",)

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_range("momentum_decay", momentum_decay)
        defaults = self._defaults(
            lr, betas, eps, weight_decay, differentiable, momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize, foreach=foreach, capturable=capturable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def initial(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        """See `FormulaOptimizer`."""
        return {"step": counter(), "mu_product": scalar_state(1.0), **{name: zeros_like(p) for name in self.arrays}}

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """See `FormulaOptimizer`."""
        first, second = group["betas"]
        decay = group["momentum_decay"]
        mu = first * (1.0 - 0.5 * 0.96 ** (count * decay))
        following = first * (1.0 - 0.5 * 0.96 ** ((count + 1) * decay))
        product = values[0] * mu
        lr = group["lr"]
        of_g, of_m = lr * (1.0 - mu) / (1.0 - product), lr * following / (1.0 - product * following)
        return (of_g, of_m, 1 - second**count, group["eps"], self._settings(group)), (product,)

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """See the class."""
        m, v, of_g, of_m, correction, eps, settings = args
        p, g, m, v = moments(p, g, m, v, settings)
        d = fn.sqrt(v / correction) + eps
        return p - g / d * of_g - m / d * of_m, m, v


class RAdam(_WithMoments):
    """Rectified Adam (L. Liu et al., "On the variance of the adaptive learning rate and beyond", arXiv:1908.03265).

    rho = 2 / (1 - b2) - 1;  rho_t = rho - 2 t b2^t / (1 - b2^t).  Where rho_t > 5, p -= lr r sqrt(1 - b2^t) m' / (sqrt(v) + eps) with
    r = sqrt((rho_t - 4) (rho_t - 2) rho / ((rho - 4) (rho - 2) rho_t)); before that p -= lr m'.  m' = m / (1 - b1^t).
    The state is "step", "exp_avg" and "exp_avg_sq".  `foreach` and `capturable` have no effect.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = self._defaults(
            lr, betas, eps, weight_decay, differentiable, maximize=maximize, foreach=foreach, capturable=capturable,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip
        super().__init__(params, defaults)

    def advance(self, fn: Any, group: dict[str, Any], count: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """See `FormulaOptimizer`."""
        first, second = group["betas"]
        correction = 1 - second**count
        longest = 2 / (1 - second) - 1
        length = longest - 2 * count * second**count / correction
        inside = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        if fn.number:
            factor = (max(inside, 0.0) * correction) ** 0.5
        else:
            factor = fn.sqrt(fn.maximum(inside, inside * 0) * correction)
        return (group["lr"] / (1 - first**count), factor, length > 5.0, group["eps"], self._settings(group)), ()

    @staticmethod
    def formula(fn: Any, p: Any, g: Any, *args: Any) -> tuple[Any, ...]:
        """See the class."""
        m, v, rate, factor, rectified, eps, settings = args
        p, g, m, v = moments(p, g, m, v, settings)
        if fn.number:
            return p - (m * rate / (fn.sqrt(v) + eps) * factor if rectified else m * rate), m, v
        return p - m * rate * fn.where(rectified, factor / (fn.sqrt(v) + eps), (v * 0 + 1).to(factor.dtype)), m, v
