"""Optimisers and learning-rate schedules, with the names of `torch.optim`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.optim import lr_scheduler
    from twofold.optim.adadelta import Adadelta, Lion
    from twofold.optim.adam import Adam, AdamW
    from twofold.optim.adam_variants import Adamax, NAdam, RAdam
    from twofold.optim.adaptive import Adagrad, RMSprop
    from twofold.optim.classic import ASGD, Rprop
    from twofold.optim.lbfgs import LBFGS
    from twofold.optim.optimizer import Optimizer
    from twofold.optim.sgd import SGD

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "lr_scheduler": (),
        "adadelta": ("Adadelta", "Lion"),
        "adam": ("Adam", "AdamW"),
        "adam_variants": ("Adamax", "NAdam", "RAdam"),
        "adaptive": ("Adagrad", "RMSprop"),
        "classic": ("ASGD", "Rprop"),
        "lbfgs": ("LBFGS",),
        "optimizer": ("Optimizer",),
        "sgd": ("SGD",),
    },
)

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop",
    "lr_scheduler",
]  # fmt: skip
