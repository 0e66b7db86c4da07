"""What a plan consists of: steps in order, each one kernel, host operation or control operation, and the decisions that led to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from twofold.compiler.kernel_builder import KernelBuilder
from twofold.ir.graph import Node, Region, Value


@dataclass(eq=False)
class KernelStep:
    """One kernel of the loop compiler."""

    builder: KernelBuilder


@dataclass(eq=False)
class TemplateStep:
    """A kernel that is no loop spec (a sort, a scan)."""

    node: Node
    template: Any


@dataclass(eq=False)
class UpdateStep:
    """A scatter: the buffer is filled (by a kernel of its own), then updated."""

    node: Node
    update: Any


@dataclass(eq=False)
class HostStep:
    """An operation without a native kernel: NumPy runs it, after the views in `views` of its operands."""

    node: Node
    views: list[Node]
    reason: str


@dataclass(eq=False)
class ControlStep:
    """`cond` or `while_loop`: the node and the plans of its bodies."""

    node: Node
    bodies: list[Plan]


Step = KernelStep | TemplateStep | UpdateStep | HostStep | ControlStep


@dataclass(frozen=True)
class Decision:
    """One decision of the planner: "store", "join", "refuse" or "host", about a value, with its reason."""

    kind: str
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind} {self.value}: {self.reason}"


@dataclass
class Plan:
    """Steps in order. `aliases`: stored values that share another's memory."""

    region: Region
    steps: list[Step]
    aliases: dict[Value, Value]
    constants: list[Value]
    log: list[Decision] = field(default_factory=list)


@dataclass(frozen=True)
class PlanOptions:
    """What the planner may use besides loop kernels."""

    templates: dict[str, Any] = field(default_factory=dict)
    updates: dict[str, Any] = field(default_factory=dict)
