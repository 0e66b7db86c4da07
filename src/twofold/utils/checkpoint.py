"""`twofold.utils.checkpoint.checkpoint`, where PyTorch's users look for it."""

from __future__ import annotations

from twofold.autograd.recompute import checkpoint

__all__ = ["checkpoint"]
