"""Reductions and normalisations with a `mask=`: `torch.masked`'s functions on dense tensors; see `tensors.masked` for what a mask means.

There is no MaskedTensor class: masks are passed to each call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.tensors.masked import (
        amax,
        amin,
        argmax,
        argmin,
        cumprod,
        cumsum,
        log_softmax,
        logaddexp,
        logsumexp,
        mean,
        median,
        norm,
        normalize,
        prod,
        softmax,
        softmin,
        std,
        sum,
        var,
    )

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "twofold.tensors.masked": (
            "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean",
            "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
        ),
    },
)  # fmt: skip
__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
