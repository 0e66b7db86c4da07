"""Optimisers and learning-rate schedules, with the names of `torch.optim`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.optim import lr_scheduler
    from twofold.optim.adam import Adam, AdamW
    from twofold.optim.adaptive import Adagrad, RMSprop
    from twofold.optim.optimizer import Optimizer
    from twofold.optim.sgd import SGD

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "lr_scheduler": (),
        "adam": ("Adam", "AdamW"),
        "adaptive": ("Adagrad", "RMSprop"),
        "optimizer": ("Optimizer",),
        "sgd": ("SGD",),
    },
)

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
