"""The table of cases. A new one: a `Case` in one of the files here, listed in that file's CASES."""

from __future__ import annotations

from cases import calls, elementwise, normalization, reduction, scaling
from cases.case import Case, ScalingCase

CASES: dict[str, Case | ScalingCase] = {
    case.name: case for module in (elementwise, normalization, reduction, calls, scaling) for case in module.CASES
}


def select(names: list[str]) -> list[Case | ScalingCase]:
    """The cases whose names begin with one of `names`, in the table's order; all for an empty list. KeyError for one that fits none."""
    for name in names:
        if not any(case.startswith(name) for case in CASES):
            raise KeyError(name)
    return [case for name, case in CASES.items() if not names or any(name.startswith(n) for n in names)]
