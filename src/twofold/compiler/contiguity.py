"""Contiguity: along which dimension of a kernel the vectors should run."""

from __future__ import annotations

import math

from twofold.compiler.expr import Expr, walk
from twofold.compiler.spec import KernelSpec, Store

STRIDED_STORE = 100.0
"""A strided store of most of the domain costs a cache line an element: worse than any strided load."""


def load_stride(e: Expr, dim: str) -> int:
    """How far a load moves when the dimension advances by one."""
    return e.stride(dim)


def vector_dim(spec: KernelSpec) -> str | None:
    """The dimension along which most accesses are contiguous; None for a kernel without dimensions."""
    score = dict.fromkeys(spec.sizes, 0.0)
    for s in spec.stages:
        accesses = [(e.attr[1], math.prod(spec.sizes[d] for d in e.dims), 1.0) for e in walk(s.value) if e.op == "load"]
        if isinstance(s, Store):
            count = math.prod(spec.sizes[d] for d in s.dims)
            accesses.append((s.offset, count, STRIDED_STORE if count >= spec.elements // 2 else 1.0))
        for form, count, penalty in accesses:
            for d, c in form.terms:
                score[d] += count if c == 1 else -penalty * count
    return max(score, key=lambda d: score[d]) if score else None
