"""Learning-rate schedules, with the names of `torch.optim.lr_scheduler`.

A scheduler changes `group["lr"]` of its optimiser's groups; call `scheduler.step()` after `optimizer.step()`.
"""

from __future__ import annotations

from twofold.optim.combined import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from twofold.optim.cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from twofold.optim.schedules import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
