"""What a compilation may be told."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from typing import Any

from twofold.runtime.target import Target
from twofold.support.errors import ArgumentError


@dataclass(frozen=True)
class CompileOptions:
    """Options of `graph_module.compile(**options)`.

    target:        a `runtime.target.Target`, or a name such as "haswell"; None: this machine (or TWOFOLD_CPU)
    strict_math:   elementwise functions within 1 ULP, sums in float64 or compensated
    reuse_outputs: outputs live in memory of the program, which the next call overwrites: reading them after it raises StaleOutput
    memory_limit:  most bytes of temporaries; a program that needs more is refused before it runs
    verify:        check the graph after every pass, every kernel spec, and each run: kernels are compared with the interpreter in float64
    passes:        "all", or names of passes to run, for finding faults
    """

    target: Target | str | None = None
    strict_math: bool = False
    reuse_outputs: bool = False
    memory_limit: int | None = None
    verify: bool = False
    passes: Any = "all"

    @classmethod
    def of(cls, given: dict[str, Any]) -> CompileOptions:
        """Options from keyword arguments; ArgumentError names near misses."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                raise ArgumentError(
                    f"compile() has no option {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}")
                )
        result = cls(**given)
        for name in ("strict_math", "verify", "reuse_outputs"):
            if type(getattr(result, name)) is not bool:
                raise ArgumentError(f"compile(): {name} is a bool, not {getattr(result, name)!r}")
        limit = result.memory_limit
        if limit is not None and (type(limit) is not int or limit < 0):
            raise ArgumentError(f"compile(): memory_limit is a number of bytes, not {limit!r}")
        return result
