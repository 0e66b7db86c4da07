"""All functions over tensors: the generated ones of every family, and plain functions over them.

`FUNCTIONS` is the table of public names; rules see it as the TENSOR namespace.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from twofold.tape.namespaces import fill_tensor
from twofold.tensors.generated import FAMILIES

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Every public function by name."""

for _family in FAMILIES:
    FUNCTIONS.update(importlib.import_module(f"twofold.tensors.generated.{_family}").FUNCTIONS)
for _module in ("shapes",):
    FUNCTIONS.update(importlib.import_module(f"twofold.tensors.{_module}").FUNCTIONS)
fill_tensor(FUNCTIONS)
