"""Signal processing: `signal.windows`, with the names of `torch.signal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.signal import windows

__getattr__, __dir__ = lazy_exports(__name__, {"windows": ()})
__all__ = ["windows"]
