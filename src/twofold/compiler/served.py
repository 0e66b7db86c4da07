"""The operations that are served by kernels of their own: templates (scans, sorts: none yet) and updates (scatters)."""

from __future__ import annotations

from typing import Any

from twofold.compiler.updates import UPDATES

TEMPLATES: dict[str, Any] = {}

__all__ = ["TEMPLATES", "UPDATES"]
