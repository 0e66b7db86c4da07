"""Learning-rate schedules that rise and fall: warm restarts, cycles, one cycle."""

from __future__ import annotations

import math
from typing import Any

from twofold.optim.optimizer import Optimizer
from twofold.optim.schedules import LRScheduler, check_optimizer, copied, for_groups, positive_period, set_rate
from twofold.support.errors import ArgumentError, ValueRangeError


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine from the initial rate to eta_min in T_0 epochs, then again, each time T_mult times as long (arXiv:1608.03983).

    `step` takes fractions of epochs too.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueRangeError(f"CosineAnnealingWarmRestarts: T_0 must be a positive integer, not {T_0!r}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueRangeError(f"CosineAnnealingWarmRestarts: T_mult must be an integer of at least 1, not {T_mult!r}")
        if not isinstance(eta_min, (int, float)):
            raise ArgumentError(f"CosineAnnealingWarmRestarts: eta_min must be a number, not {eta_min!r}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (b - self.eta_min) * share for b in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to a given (perhaps fractional) one."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueRangeError(f"CosineAnnealingWarmRestarts: the epoch must not be negative, it is {epoch}")
            self._seek(epoch)
        self.last_epoch = math.floor(epoch)
        for group, value in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            set_rate(group, value)
        self._last_lr = [copied(r) for r in self.rates()]

    def _seek(self, epoch: float) -> None:
        """Find the period an epoch lies in."""
        self.T_i = self.T_0
        start = 0
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        while epoch >= start + self.T_i:
            start += self.T_i
            self.T_i *= self.T_mult
        self.T_cur = epoch - start


class OneCycleLR(LRScheduler):
    """From max_lr / div_factor up to max_lr and down to max_lr / (div_factor * final_div_factor) in one run of `total_steps`.

    total_steps, or epochs * steps_per_epoch.  pct_start: the part of the run that goes up.  cycle_momentum: momentum (or the first beta)
    moves the other way, between max_momentum and base_momentum.  three_phase: the way down is as long as the way up, and then the last
    fall. L. N. Smith, N. Topin, "Super-convergence", arXiv:1708.07120.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueRangeError(f"OneCycleLR: pct_start must be a float within [0, 1], not {pct_start!r}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueRangeError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}")
        self.optimizer = optimizer
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        highest = for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _begin_momentum(self, optimizer: Optimizer, base_momentum: Any, max_momentum: Any, last_epoch: int) -> None:
        self.use_beta1 = begin_momentum("OneCycleLR", optimizer)
        lowest, highest = for_groups("base_momentum", optimizer, base_momentum), for_groups("max_momentum", optimizer, max_momentum)
        if last_epoch != -1:
            return
        for group, low, high in zip(optimizer.param_groups, lowest, highest, strict=True):
            set_momentum(group, high, self.use_beta1)
            group["max_momentum"], group["base_momentum"] = high, low

    def _between(self, start: Any, end: Any, share: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[Any]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueRangeError(f"OneCycleLR: step {step} is beyond the run of {self.total_steps} steps")
        rates = []
        for group in self.optimizer.param_groups:
            start = 0.0
            for i, phase in enumerate(self._schedule_phases):
                end = phase["end_step"]
                if step <= end or i == len(self._schedule_phases) - 1:
                    share = (step - start) / (end - start)
                    rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
                    if self.cycle_momentum:
                        momentum = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                        set_momentum(group, momentum, self.use_beta1)
                    break
                start = end
        return rates


class CyclicLR(LRScheduler):
    """Between base_lr and max_lr, up in step_size_up steps and down in step_size_down; step after each batch.

    L. N. Smith, "Cyclical learning rates for training neural networks", arXiv:1506.01186.
    mode: "triangular"; "triangular2", whose height is halved each cycle; "exp_range", whose height is gamma^step; or `scale_fn` of the
    cycle or of the step (`scale_mode` "cycle" or "iterations").  cycle_momentum: momentum (or the first beta) moves the other way, between
    max_momentum and base_momentum.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Any = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueRangeError(f"CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range', not {mode!r}; or give scale_fn")
        self.optimizer = optimizer
        lowest = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, low in zip(optimizer.param_groups, lowest, strict=True):
                set_rate(group, low)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        up = float(positive_period("CyclicLR", "step_size_up", step_size_up))
        down = up if step_size_down is None else float(positive_period("CyclicLR", "step_size_down", step_size_down))
        self.total_size, self.step_ratio = up + down, up / (up + down)
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def _begin_momentum(self, optimizer: Optimizer, base_momentum: Any, max_momentum: Any, last_epoch: int) -> None:
        self.use_beta1 = begin_momentum("CyclicLR", optimizer)
        self.base_momentums = for_groups("base_momentum", optimizer, base_momentum)
        self.max_momentums = for_groups("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:
            for group, low, high in zip(optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True):
                set_momentum(group, high, self.use_beta1)
                group["max_momentum"], group["base_momentum"] = high, low

    def scale_fn(self, x: float) -> float:
        """The part of the full height that a cycle (or step) reaches."""
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        return 1.0 if self.mode == "triangular" else 0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        lows = getattr(self, "base_lrs", None) or [g["lr"] for g in self.optimizer.param_groups]
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True):
                set_momentum(group, high - (high - low) * share * scale, self.use_beta1)
        return [low + (high - low) * share * scale for low, high in zip(lows, self.max_lrs, strict=True)]


def begin_momentum(name: str, optimizer: Optimizer) -> bool:
    """True if the first beta takes the place of momentum; raises where the optimiser has neither."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueRangeError(f"{name}: the optimiser has neither momentum nor betas; pass cycle_momentum=False")
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], value: float, use_beta1: bool) -> None:
    """Set a group's momentum, or its first beta."""
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _total_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        if not isinstance(total_steps, int) or total_steps <= 0:
            raise ValueRangeError(f"OneCycleLR: total_steps must be a positive integer, not {total_steps!r}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ArgumentError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
    for name, n in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(n, int) or n <= 0:
            raise ValueRangeError(f"OneCycleLR: {name} must be a positive integer, not {n!r}")
    return epochs * steps_per_epoch


def _phases(total: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    def phase(end: float, rates: tuple[str, str], momenta: tuple[str, str]) -> dict[str, Any]:
        return {"end_step": end, "start_lr": rates[0], "end_lr": rates[1], "start_momentum": momenta[0], "end_momentum": momenta[1]}

    low, high = "base_momentum", "max_momentum"
    up = phase(float(pct_start * total) - 1, ("initial_lr", "max_lr"), (high, low))
    if not three_phase:
        return [up, phase(total - 1, ("max_lr", "min_lr"), (low, high))]
    back = phase(float(2 * pct_start * total) - 2, ("max_lr", "initial_lr"), (low, high))
    return [up, back, phase(total - 1, ("initial_lr", "min_lr"), (high, high))]
