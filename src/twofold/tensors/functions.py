"""All functions over tensors: the generated ones of every family, and plain functions over them.

`FUNCTIONS` is the table of public names; rules see it as the TENSOR namespace. `INPLACE` holds the `name_` forms, `METHODS` what plain
modules want as methods only (or under a method's own signature).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from twofold.tape.namespaces import fill_tensor
from twofold.tensors.generated import FAMILIES

GENERATED: dict[str, Callable[..., Any]] = {}
"""The functions of records alone, as operators and rules use them."""
FUNCTIONS: dict[str, Callable[..., Any]] = {}
INPLACE: dict[str, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}
PLAIN = (
    "shapes",
    "joining",
    "creation",
    "indexing",
    "positions",
    "inplace_views",
    "arithmetic",
    "comparison",
    "activation",
    "reductions",
    "copies",
    "combining",
    "statistics",
    "differences",
    "counting",
    "segments",
    "memory",
    "linear",
    "inplace_products",
    "linalg_names",
    "convolution",
    "pooling",
    "resampling",
    "sampling",
    "random",
    "distributions",
    "numbers",
    "windows",
    "vision",
    "losses",
    "embedding",
    "native",
    "attention",
    "recurrent",
)
"""Modules of plain functions; each has a table FUNCTIONS, and may have INPLACE and METHODS."""

WITH_AXIS = (
    "aminmax", "cat", "concat", "concatenate", "cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmean", "nanmedian",
    "nanquantile", "norm", "quantile", "sort", "stack", "std", "std_mean", "topk", "unique", "unique_consecutive",
    "var", "var_mean",
)  # fmt: skip
"""Plain functions that take NumPy's `axis` and `keepdims` for `dim` and `keepdim`, as the generated reductions do."""


def with_axis(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under NumPy's names of arguments too."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "axis" in kwargs and "dim" not in kwargs:
            kwargs["dim"] = kwargs.pop("axis")
        if "keepdims" in kwargs and "keepdim" not in kwargs:
            kwargs["keepdim"] = kwargs.pop("keepdims")
        return function(*args, **kwargs)

    return call


for _family in FAMILIES:
    _module = importlib.import_module(f"twofold.tensors.generated.{_family}")
    GENERATED.update(_module.FUNCTIONS)
    INPLACE.update(_module.INPLACE)
fill_tensor(GENERATED)
FUNCTIONS.update(GENERATED)
for _name in PLAIN:
    _module = importlib.import_module(f"twofold.tensors.{_name}")
    FUNCTIONS.update(_module.FUNCTIONS)
    INPLACE.update(getattr(_module, "INPLACE", {}))
    METHODS.update(getattr(_module, "METHODS", {}))
for _name in WITH_AXIS:
    for _table in (FUNCTIONS, METHODS):
        if _name in _table:
            _table[_name] = with_axis(_table[_name])
fill_tensor({name: f for name, f in FUNCTIONS.items() if name not in GENERATED})
for _name in ("batching_rules", "batching_nn", "batching_more"):
    importlib.import_module(f"twofold.tensors.{_name}")
