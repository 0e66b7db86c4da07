"""Models of the field, and the small ones of the tour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.models.digits import DigitsNet

__getattr__, __dir__ = lazy_exports(__name__, {"digits": ("DigitsNet",)})
__all__ = ["DigitsNet"]
