"""Faults put into the compiler, for tests of the tools that find them. Scripts that the tests write import this module too."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import twofold.compiler.assemble as assemble
import twofold.compiler.host as host
from twofold.compiler.algebra import ARITHMETIC
from twofold.compiler.expr import Expr, fn, make, rewrite
from twofold.compiler.memory import MemoryPlan
from twofold.compiler.rules import RULES
from twofold.compiler.spec import KernelSpec, Store
from twofold.ir.op import get_op

Put = Callable[[Any, str, Any], None]
"""Sets an attribute, or an entry of a dict: pytest's monkeypatch, or `put`."""


def put(owner: Any, name: str, value: Any) -> None:
    """Set an attribute, or an entry of a dict, for good."""
    if isinstance(owner, dict):
        owner[name] = value
    else:
        setattr(owner, name, value)


def break_spec(put: Put) -> None:
    """The pull rule of tanh gives a sine: specs are wrong."""

    def wrong(b: Any, node: Any, which: int, index: Any, guards: Any) -> Expr:
        return fn("sin", b.pull(node.inputs[0], index, guards))

    put(RULES, "tanh", wrong)


def break_code(put: Put) -> None:
    """What is scheduled has sines for tanh: code differs from specs."""
    right = assemble.schedule

    def wrong(spec: KernelSpec, *args: Any, **kwargs: Any) -> Any:
        changed = copy.copy(spec)
        changed.stages = [copy.copy(s) for s in spec.stages]
        memo: dict[Expr, Expr] = {}
        for s in changed.stages:
            s.value = rewrite(s.value, lambda e: make("sin", e.args, None, e.type) if e.op == "tanh" else None, memo)
        return right(changed, *args, **kwargs)

    put(assemble, "schedule", wrong)


def break_pass(put: Put) -> None:
    """A rule of the pass `algebra` makes a cosine of a sine of a product."""

    def sine_is_cosine(node: Any, rewriter: Any) -> Any:
        source = node.inputs[0].node
        return rewriter.call(get_op("cos"), node.inputs) if source is not None and source.op.name == "mul" else None

    put(ARITHMETIC.table, "sin", [sine_is_cosine, *ARITHMETIC.table.get("sin", [])])


def break_host(put: Put) -> None:
    """Host steps give their (first) results plus one."""
    right = host._kernel

    def wrong(node: Any, *form: Any) -> Any:
        kernel = right(node, *form)

        def plus_one(*operands: Any) -> Any:
            results = kernel(*operands)
            return (results[0] + 1, *results[1:]) if node.op.several else results + 1

        return kernel if node.op.is_view else plus_one

    put(host, "_kernel", wrong)


def break_memory(put: Put) -> None:
    """All temporaries are in one place."""
    right = assemble.plan_memory

    def wrong(blocks: Any) -> MemoryPlan:
        plan = right(blocks)
        return MemoryPlan(dict.fromkeys(plan.offsets, 0), plan.peak, plan.unshared, plan.blocks, plan.in_place)

    put(assemble, "plan_memory", wrong)


def break_store(put: Put) -> None:
    """Kernels leave out the last element: what they store there is never written."""
    right = assemble.schedule

    def wrong(spec: KernelSpec, *args: Any, **kwargs: Any) -> Any:
        changed = copy.copy(spec)
        changed.stages = [copy.copy(s) for s in spec.stages]
        for s in changed.stages:
            if isinstance(s, Store) and s.dims:
                s.guards = (*s.guards, (s.offset, 0, spec.buffers[s.buffer].numel - 1))
        return right(changed, *args, **kwargs)

    put(assemble, "schedule", wrong)


def has_softmax(graph: Any, arrays: Any) -> bool:
    """Whether a graph has a softmax: a fault as good as any."""
    return any(n.op.name == "softmax" for n in graph.walk())
