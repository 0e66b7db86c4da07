"""Mixed precision: `autocast` chooses the dtype of each operation, `GradScaler` keeps float16 gradients from vanishing. As `torch.amp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.amp.autocasting import autocast, custom_bwd, custom_fwd, get_autocast_dtype, is_autocast_available, is_autocast_enabled
    from twofold.amp.grad_scaler import GradScaler

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "autocasting": ("autocast", "custom_bwd", "custom_fwd", "get_autocast_dtype", "is_autocast_available", "is_autocast_enabled"),
        "grad_scaler": ("GradScaler",),
    },
)

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "get_autocast_dtype", "is_autocast_available", "is_autocast_enabled"]
