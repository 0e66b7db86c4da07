"""The vocabulary: one file a family, one record an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.ops.vocabulary import FAMILIES, load_vocabulary

__getattr__, __dir__ = lazy_exports(__name__, {"vocabulary": ("FAMILIES", "load_vocabulary")})
__all__ = ["FAMILIES", "load_vocabulary"]
