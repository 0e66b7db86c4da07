"""The rows of all families: one module here for each module of `twofold.ops` that defines records.

A module that cannot be imported does not keep the others from being tested; the completeness test fails for it.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.ops.row import Row

ROWS: dict[str, Row] = {}
"""Every row by name."""
BROKEN: dict[str, Exception] = {}
"""Modules here that could not be read, and why."""


def _collect() -> None:
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        try:
            rows = importlib.import_module(f"{__name__}.{module}").ROWS
        except Exception as e:
            BROKEN[module] = e
            continue
        for row in rows:
            if row.name in ROWS:
                BROKEN[module] = ValueError(f"a second row named {row.name!r}")
            ROWS[row.name] = row


_collect()
