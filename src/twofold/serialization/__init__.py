"""Weights files and checkpoints, read and written without pickle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.serialization.checkpoint import load, save
    from twofold.serialization.weights import load_weights, save_weights

__getattr__, __dir__ = lazy_exports(__name__, {"checkpoint": ("load", "save"), "weights": ("load_weights", "save_weights")})
__all__ = ["load", "load_weights", "save", "save_weights"]
