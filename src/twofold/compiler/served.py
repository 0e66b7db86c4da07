"""The operations that are served by kernels of their own: templates (scans, sorts, searches) and updates (scatters)."""

from __future__ import annotations

from twofold.compiler.templates.table import TEMPLATES
from twofold.compiler.updates import UPDATES

__all__ = ["TEMPLATES", "UPDATES"]
