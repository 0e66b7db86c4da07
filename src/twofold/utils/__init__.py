"""Names users know from PyTorch's `utils`: `utils.checkpoint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.utils import checkpoint

__getattr__, __dir__ = lazy_exports(__name__, {"checkpoint": ()})
__all__ = ["checkpoint"]
