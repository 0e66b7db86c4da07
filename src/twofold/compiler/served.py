"""The operations that are served by kernels of their own: templates (scans, sorts) and updates (scatters)."""

from __future__ import annotations

from typing import Any

TEMPLATES: dict[str, Any] = {}
UPDATES: dict[str, Any] = {}
