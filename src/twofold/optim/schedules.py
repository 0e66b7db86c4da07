"""Learning-rate schedules: the base class, and rules that follow the epoch in one direction.

Most rules change the present rate rather than compute it anew from the initial one, so that several schedulers can work on one optimiser,
as PyTorch's do.
"""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from twofold.optim.optimizer import Optimizer
from twofold.support.errors import ArgumentError, StateDictError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import INPLACE
from twofold.tensors.inplace import inplace


def set_rate(group: dict[str, Any], value: Any, key: str = "lr") -> None:
    """Set a group's rate; one that is a tensor keeps its identity."""
    if isinstance(group[key], Tensor):
        if isinstance(value, Tensor):
            inplace("copy", group[key], value)
        else:
            INPLACE["fill_"](group[key], value)
    else:
        group[key] = value


def copied(value: Any) -> Any:
    """A rate that later writes do not change."""
    return value.clone() if isinstance(value, Tensor) else value


def check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise ArgumentError(f"a scheduler needs an Optimizer, not {type(optimizer).__name__}")


def positive_period(name: str, what: str, value: Any) -> Any:
    """A period in epochs, checked: what divides by it would fail at a later step."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueRangeError(f"{name}: {what} must be a positive number of epochs, not {value!r}")
    return value


def for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """One value for all groups, or one for each."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueRangeError(f"expected {groups} values for {name}, one for each group, got {len(value)}")
    return list(value)


class LRScheduler:
    """Base of the schedules. A subclass defines `get_lr`, the rates of the groups for `last_epoch`.

    last_epoch: -1 to begin; otherwise the epoch to go on from, for which every group needs its "initial_lr".
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", copied(group["lr"]))
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise StateDictError(f"group {i} has no 'initial_lr', which going on from epoch {last_epoch} needs")
        self.optimizer = optimizer
        self.base_lrs: list[Any] = [copied(g["initial_lr"]) for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._last_lr: list[Any] = [copied(g["lr"]) for g in optimizer.param_groups]
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self.step()

    def rates(self) -> list[Any]:
        """The groups' present rates."""
        return [g["lr"] for g in self.optimizer.param_groups]

    def get_lr(self) -> list[Any]:
        """The rate of each group for `last_epoch`, from the present one."""
        raise ArgumentError(f"{type(self).__name__} defines no get_lr()")

    def closed_form(self) -> list[Any] | None:
        """The rate of each group for `last_epoch`, from the initial one; None where there is no such form."""
        return None

    def get_last_lr(self) -> list[Any]:
        """The rates set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch (or a given one) and set the groups' rates."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", True):
            warnings.warn(
                "scheduler.step() was called before optimizer.step(): the first rate of the schedule is skipped", UserWarning, stacklevel=2
            )
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            values = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = self.closed_form()
            values = self.get_lr() if closed is None else closed
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_rate(group, value)
        self._last_lr = [copied(r) for r in self.rates()]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the state dict was taken."""
        self.__dict__.update(state_dict)


class _WithFunctions(LRScheduler):
    """Rates from the user's functions of the epoch, one for all groups or one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        functions = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(functions) != groups:
            raise ValueRangeError(f"expected {groups} functions, one for each group, got {len(functions)}")
        self.lr_lambdas = functions
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser; of the functions only what callable objects hold."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the state dict was taken; functions stay as they are."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, held in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if held is not None:
                function.__dict__.update(held)


class LambdaLR(_WithFunctions):
    """initial rate * lr_lambda(epoch)."""

    def get_lr(self) -> list[Any]:
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_WithFunctions):
    """rate * lr_lambda(epoch) at every step but the first."""

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self.rates()
        return [r * f(self.last_epoch) for f, r in zip(self.lr_lambdas, self.rates(), strict=True)]


class StepLR(LRScheduler):
    """rate * gamma every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = positive_period("StepLR", "step_size", step_size), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self.rates()
        return [r * self.gamma for r in self.rates()]

    def closed_form(self) -> list[Any] | None:
        return [b * self.gamma ** (self.last_epoch // self.step_size) for b in self.base_lrs]


class MultiStepLR(LRScheduler):
    """rate * gamma at each of `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch not in self.milestones:
            return self.rates()
        return [r * self.gamma ** self.milestones[self.last_epoch] for r in self.rates()]

    def closed_form(self) -> list[Any] | None:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [b * self.gamma**passed for b in self.base_lrs]


class ExponentialLR(LRScheduler):
    """rate * gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self.rates() if self.last_epoch == 0 else [r * self.gamma for r in self.rates()]

    def closed_form(self) -> list[Any] | None:
        return [b * self.gamma**self.last_epoch for b in self.base_lrs]


class ConstantLR(LRScheduler):
    """rate * factor until epoch `total_iters`."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise ValueRangeError(f"ConstantLR: factor must be within [0, 1], not {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return [r * self.factor for r in self.rates()]
        if self.last_epoch != self.total_iters:
            return self.rates()
        return [r * (1.0 / self.factor) for r in self.rates()]

    def closed_form(self) -> list[Any] | None:
        return [b * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for b in self.base_lrs]


class LinearLR(LRScheduler):
    """The rate times a factor that goes from start_factor to end_factor in `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueRangeError(f"LinearLR: start_factor must be within (0, 1], not {start_factor}")
        if not 0 <= end_factor <= 1:
            raise ValueRangeError(f"LinearLR: end_factor must be within [0, 1], not {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return [r * self.start_factor for r in self.rates()]
        if self.last_epoch > self.total_iters:
            return self.rates()
        change = self.end_factor - self.start_factor
        factor = 1.0 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)
        return [r * factor for r in self.rates()]

    def closed_form(self) -> list[Any] | None:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return [b * (self.start_factor + (self.end_factor - self.start_factor) * done) for b in self.base_lrs]


class PolynomialLR(LRScheduler):
    """initial rate * (1 - epoch / total_iters) ** power, 0 from total_iters on."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self.rates()
        now, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return [r * (now / before) ** self.power for r in self.rates()]

    def closed_form(self) -> list[Any] | None:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [b * left**self.power for b in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """eta_min + (initial rate - eta_min) (1 + cos(pi epoch / T_max)) / 2. I. Loshchilov, F. Hutter, arXiv:1608.03983 (without restarts)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        self.T_max, self.eta_min = positive_period("CosineAnnealingLR", "T_max", T_max), eta_min
        super().__init__(optimizer, last_epoch)

    def _at(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return self.rates()
        if self._step_count == 1:
            return self.closed_form()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [r + (b - self.eta_min) * rise for r, b in zip(self.rates(), self.base_lrs, strict=True)]
        factor = self._at(self.last_epoch) / self._at(self.last_epoch - 1)
        return [factor * (r - self.eta_min) + self.eta_min for r in self.rates()]

    def closed_form(self) -> list[Any]:
        return [self.eta_min + (b - self.eta_min) * self._at(self.last_epoch) / 2 for b in self.base_lrs]
