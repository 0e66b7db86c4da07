"""Schedules made of others, and the one that follows a metric."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from twofold.optim.optimizer import Optimizer
from twofold.optim.schedules import LRScheduler, check_optimizer, copied, for_groups, set_rate
from twofold.support.errors import ArgumentError, ValueRangeError


class SequentialLR(LRScheduler):
    """Several schedulers one after the other; `milestones` are the epochs at which the next one begins."""

    def __init__(self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        if not schedulers:
            raise ValueRangeError("SequentialLR: needs at least one scheduler")
        for i, s in enumerate(schedulers):
            if isinstance(s, ReduceLROnPlateau):
                raise ValueRangeError(f"SequentialLR: scheduler {i} is a ReduceLROnPlateau, which needs a metric at each step")
            if s.optimizer is not optimizer:
                raise ValueRangeError(f"SequentialLR: scheduler {i} belongs to another optimizer")
        if len(milestones) != len(schedulers) - 1:
            raise ValueRangeError(
                f"SequentialLR: {len(schedulers)} schedulers need {len(schedulers) - 1} milestones, not {len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        for s in schedulers:  # each has taken its first step, and its rate with it
            s.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch. Other epochs cannot be asked for."""
        if epoch is not None:
            raise ArgumentError("SequentialLR.step() takes no epoch")
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser; the schedulers as their state dicts."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [s.state_dict() for s in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the state dict was taken."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class ChainedScheduler(LRScheduler):
    """Several schedulers that all step together, each on the rate the one before it left."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueRangeError("ChainedScheduler: needs at least one scheduler")
        optimizer = optimizer or schedulers[0].optimizer
        for i, s in enumerate(schedulers):
            if isinstance(s, ReduceLROnPlateau) or s.optimizer is not optimizer:
                raise ValueRangeError(f"ChainedScheduler: scheduler {i} needs a metric or belongs to another optimizer")
        self._schedulers, self.optimizer = list(schedulers), optimizer
        self._last_lr = [copied(g["lr"]) for g in optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Every scheduler's step."""
        for s in self._schedulers:
            s.step()
        self._last_lr = [copied(r) for r in self.rates()]

    state_dict = SequentialLR.state_dict
    load_state_dict = SequentialLR.load_state_dict


class ReduceLROnPlateau(LRScheduler):
    """rate * factor where a metric has not improved for `patience` epochs.

    mode: "min" or "max", which way is better.  threshold, threshold_mode: by how much, "rel" as a part of the best value or "abs".
    cooldown: epochs after a reduction in which nothing is counted.  min_lr: limits, one or one a group.  eps: smaller changes are not made.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        check_optimizer(optimizer)
        if not factor < 1.0:
            raise ValueRangeError(f"ReduceLROnPlateau: factor must be below 1, not {factor}")
        if mode not in ("min", "max"):
            raise ValueRangeError(f"ReduceLROnPlateau: mode must be 'min' or 'max', not {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise ValueRangeError(f"ReduceLROnPlateau: threshold_mode must be 'rel' or 'abs', not {threshold_mode!r}")
        self.optimizer = optimizer
        self.min_lrs = for_groups("min_lr", optimizer, min_lr)
        self.mode, self.factor, self.patience, self.threshold = mode, factor, patience, threshold
        self.threshold_mode, self.cooldown, self.eps = threshold_mode, cooldown, eps
        self.cooldown_counter = 0
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.last_epoch = 0
        self._last_lr = [copied(g["lr"]) for g in optimizer.param_groups]

    @property
    def in_cooldown(self) -> bool:
        """True while epochs are not counted."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """True if `a` is an improvement."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return sign * a > sign * best * (1 + sign * self.threshold)
        return sign * a > sign * best + self.threshold

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the epoch's metric (a number or a tensor of one element) and reduce the rates where it is time."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                old = float(group["lr"])
                new = max(old * self.factor, least)
                if old - new > self.eps:
                    set_rate(group, new)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [copied(r) for r in self.rates()]
