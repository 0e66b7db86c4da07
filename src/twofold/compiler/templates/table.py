"""The templates, by operation."""

from __future__ import annotations

from twofold.compiler.templates.base import Maker
from twofold.compiler.templates.counting import COUNTS
from twofold.compiler.templates.scans import SCANS
from twofold.compiler.templates.searches import SEARCHES
from twofold.compiler.templates.sorts import SORTS

TEMPLATES: dict[str, Maker] = {**SCANS, **SORTS, **SEARCHES, **COUNTS}

__all__ = ["TEMPLATES"]
