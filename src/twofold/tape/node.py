"""Nodes of the dynamic backward graph.

A node is made by an operation that ran while a gradient was wanted. Its class (one for each record, generated) has a slot for each saved
value (``s_<name>``); its edges point at the nodes its operands came from. Nodes know nothing of tensors: what users see through
them (`_saved_self`, hooks) is added by the generated classes' base in `tensors`.

Sequence numbers are negative and unique and count down, so a heap pops the youngest node first, and an order by number is a
topological order: no discovery pass is needed to run backward.
"""

from __future__ import annotations

import itertools
import weakref
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from twofold.ir.types import TensorType
    from twofold.tape.plan import Plan

tick = itertools.count(-1, -1).__next__
"""The one clock of the process: numbers of nodes and times of writes."""


class Hooks:
    """What may be attached to a node; None on most nodes.

    before: gradient of output k -> replacement or None (tensor hooks);  pre / post: node hooks;  retain: outputs whose gradient is kept;
    stack: the Python stack at creation (anomaly mode);  packed: saved values went through saved_tensors_hooks.
    """

    __slots__ = ("before", "packed", "post", "post_accumulate", "pre", "retain", "retained", "stack")

    def __init__(self) -> None:
        self.before: dict[int, tuple[int, Any]] = {}
        self.pre: dict[int, Any] = {}
        self.post: dict[int, Any] = {}
        self.post_accumulate: dict[int, Any] = {}
        self.retain: set[int] = set()
        self.retained: dict[int, Any] = {}
        self.stack: str | None = None
        self.packed = False


class Node:
    """Base of all nodes.

    seq: the sequence number;  edges: for each tensor operand (lists flattened) the node it came from, or None;  plan: what is known of the
    call's types and attributes, None where all operands have the one type `type`;  type: the output's type (a tuple for several outputs);
    code, lasti: the instruction that made it;  hooks: see `Hooks`.
    """

    __slots__ = ("__weakref__", "code", "edges", "hooks", "lasti", "plan", "seq", "type")
    op: ClassVar[Any] = None
    saved: ClassVar[tuple[str, ...]] = ()
    is_out: ClassVar[bool] = False
    is_accumulate: ClassVar[bool] = False
    is_custom: ClassVar[bool] = False
    materialize: bool = True
    """False where missing gradients of outputs are handed on as None rather than as zeros."""
    raw_rules: ClassVar[Any] = None
    rules: ClassVar[Any] = None

    seq: int
    edges: tuple[Node | None, ...]
    plan: Plan | None
    type: Any
    code: CodeType | None
    lasti: int
    hooks: Hooks | None

    def pull(self, g: Any, rules: tuple[Callable[..., Any], ...]) -> tuple[Any, ...]:
        """The gradients of the edges for the gradient `g` of the output (a list of them for several outputs)."""
        raise NotImplementedError

    def free(self) -> None:
        """Drop the saved values; the graph stays walkable."""

    def input_type(self, index: int) -> TensorType:
        """The type of flat operand `index`."""
        return self.type if self.plan is None else self.plan.flat_ins[index]

    @property
    def n_outputs(self) -> int:
        return len(self.type) if type(self.type) is tuple else 1

    def ensure_hooks(self) -> Hooks:
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    def name(self) -> str:
        """The node's name, as PyTorch shows it."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self))}>"


class Out(Node):
    """Output `index` of an operation with several: the node of that tensor. Pops before its owner, which waits for all outputs."""

    __slots__ = ("index", "owner")
    is_out = True
    owner: Node
    index: int

    def __init__(self, owner: Node, index: int, type: TensorType) -> None:
        self.owner, self.index, self.type = owner, index, type
        self.seq, self.edges, self.plan = tick(), (owner,), None
        self.code, self.lasti, self.hooks = owner.code, owner.lasti, None


class AccumulateGrad(Node):
    """The node of a leaf: adds what arrives to `grad`. It refers to the leaf weakly, so there is no cycle."""

    __slots__ = ("array", "grad", "leaf")
    is_accumulate = True
    grad: Any

    def __init__(self, leaf: Any, array: Any, type: TensorType) -> None:
        self.leaf = weakref.ref(leaf)
        self.array, self.grad, self.type = array, None, type
        self.seq, self.edges, self.plan = -tick(), (), None
        self.code, self.lasti, self.hooks = None, 0, None


def owner_of(node: Node) -> tuple[Node, int]:
    """The (node, output index) an edge means."""
    if node.is_out:
        return node.owner, node.index  # type: ignore[attr-defined]
    return node, 0
