"""In-place operations on concrete tensors, with gradients through any family of views.

The order is: check, save, write, stamp, number the node, make the base's node the new one, give live views new nodes. A refused write changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.dtypes import BOOL, DType
from twofold.ir.mode import ANOMALY, MODE, SAVED_HOOKS, grad_enabled
from twofold.ir.op import get_op
from twofold.ir.types import TensorType
from twofold.support.errors import DTypeError, InplaceError, ShapeError
from twofold.tape.node import Node, tick
from twofold.tape.plan import Plan
from twofold.tape.versions import stamp
from twofold.tensors.alias import alias_of, base_of, overlaps, rehome, same_memory
from twofold.tensors.core import Symbol, Tensor, memory
from twofold.tensors.dispatch import NODE_CLASSES, active_recorder, array_of, fill_saved, flat_edges, flows, operand, pack_saved, plan_of, user_site
from twofold.tensors.nodes import OpNode


class CopySlices(OpNode):
    """The node of a base that was written through a view: the operation's own node (`inner`) works inside what `chain` shows of the base."""

    __slots__ = ("chain", "inner")
    is_custom = True
    inner: Node
    chain: tuple[Any, ...]

    def run(self, domain: Any, g: Any) -> tuple[Any, ...]:
        """The gradients of (base, other operands) for the base's gradient `g`."""
        shown = domain.function("view_chain")(g, self.chain)
        grads = list(domain.pull(self.inner, shown))
        if self.edges[0] is not None:
            first = grads[0]
            if first is None:
                first = domain.zeros(self.inner.type)
            grads[0] = domain.function("view_scatter")(g, first, self.chain)
        return tuple(grads)

    def free(self) -> None:
        self.inner.free()


def check_write(name: str, overlap: bool, tracked: bool, nograd: bool, leaf: bool, base_overlap: bool) -> None:
    """The rules that concrete tensors and symbols obey before anything is written."""
    if tracked and nograd:
        raise InplaceError(
            f"{name}_: this view was made under no_grad; writing through it while gradients are recorded is ambiguous. "
            "Write under no_grad, or make the view outside",
            "nograd_view",
        )
    if tracked and leaf:
        raise InplaceError(
            f"{name}_: a leaf that requires grad (or a view of one) cannot be written in place while gradients are recorded. "
            "Use no_grad, or an out-of-place operation",
            "leaf",
        )
    if overlap:
        raise InplaceError(f"{name}_: elements of this tensor share memory (it was expanded); writing to it is refused. clone() it first", "overlap")
    if tracked and base_overlap:
        raise InplaceError(
            f"{name}_: a gradient would be written through a view of a tensor whose elements share memory (a detached expand). clone() it first", "overlap"
        )


def check_result(name: str, target: TensorType, out: TensorType) -> None:
    """The result must fit the tensor it is written to: its shape, and a dtype that converts without losing a category."""
    if out.shape != target.shape:
        raise ShapeError(f"{name}_: the result has shape {out.shape}, which does not fit the tensor of shape {target.shape} written in place")
    if out.dtype.category > target.dtype.category and not (name in ("copy",)):
        raise DTypeError(f"{name}_: a result of {out.dtype.name} cannot be stored in a tensor of {target.dtype.name}; use the out-of-place operation")


def inplace(name: str, self: Tensor, *others: Any, **attributes: Any) -> Tensor:
    """Write the result of operation `name` on (self, *others) into `self`."""
    op = get_op(name)
    if isinstance(self, Symbol) or active_recorder(op, (self, *others)) is not None:
        return active_recorder(op, (self, *others)).inplace(op, self, others, attributes)  # type: ignore[no-any-return]
    operands = (self, *(operand(op, p, x) for p, x in zip(op.inputs[1:], others, strict=True)))
    plan = plan_of(op, operands, attributes)
    target = self._type
    if plan.out is not target:
        check_result(name, target, plan.out)
        plan = Plan(op, plan.ins, target, plan.attributes, plan.kernel)
    if target.device == "meta":
        return self
    array = memory(self)
    base = base_of(self)
    alias = alias_of(self)
    edges = (base._node, *flat_edges(operands[1:]))
    tracked = grad_enabled() and plan.tracks and any(e is not None for e in edges) and (edges[0] is not None or flows(plan, edges))
    check_write(
        name, overlaps(array), tracked, alias is not None and alias.nograd, edges[0] is not None and edges[0].is_accumulate, overlaps(memory(base))
    )
    arrays = (array, *map(array_of, operands[1:]))
    result = plan.kernel(*arrays)
    node = None
    site = user_site()
    if tracked:
        kept = tuple(np.array(a) if i == 0 or same_memory(a, array) else a for i, a in enumerate(arrays)) if saves_operands(op.name) else arrays
        node = build_node(op.name, plan, edges, self, base, kept, array, site)
    write(array, result, target.dtype)
    stamp(array, name + "_", *site)
    if node is not None:
        settle(node, base)
    return self


def saves_operands(name: str) -> bool:
    """True if the operation's rules need operands' values."""
    cls = NODE_CLASSES.get(name)
    return cls is not None and any(n != "result" for n in cls.saved)


def write(array: Any, result: Any, dtype: DType) -> None:
    """Store a computed result; it shares no memory with the target, or is the target."""
    if dtype.category == BOOL or not isinstance(result, np.ndarray) or result.dtype == array.dtype:
        array[...] = result
    else:
        array[...] = result.astype(array.dtype)


def build_node(name: str, plan: Plan, edges: tuple[Any, ...], self: Tensor, base: Tensor, arrays: tuple[Any, ...], result: Any, site: Any) -> Node:
    """The node of a tracked write; `settle` numbers it and puts it in place."""
    cls = NODE_CLASSES[name]
    node: Node = cls()
    node.plan, node.type, node.hooks = plan, self._type, None
    node.code, node.lasti = site
    through_view = base is not self
    node.edges = (self._node, *edges[1:]) if through_view else edges
    node.seq = 0
    fill_saved(node, cls, plan.op, plan, arrays, result)
    if MODE.special:
        if ANOMALY.get() is not None:
            node.ensure_hooks().stack = ANOMALY.get().stack()
        if (hooks := SAVED_HOOKS.get()) is not None:
            pack_saved(node, hooks)
    if not through_view:
        return node
    outer = CopySlices()
    outer.plan, outer.type, outer.hooks = None, base._type, None
    outer.code, outer.lasti = site
    outer.edges, outer.inner, outer.chain = edges, node, self._alias.chain
    return outer


def settle(node: Node, base: Tensor) -> None:
    """After the write and its stamp: number the node (it may save its own result), hang base and views on it."""
    node.seq = tick()
    if isinstance(node, CopySlices):
        node.inner.seq = node.seq
    move_retain(base._node, node)
    base._node = node
    rehome(base, NODE_CLASSES["view_chain"])


def move_retain(old: Node | None, new: Node) -> None:
    """`retain_grad` follows the tensor to its new node."""
    if old is not None and not old.is_out and old.hooks is not None and 0 in old.hooks.retain:
        old.hooks.retain.discard(0)
        new.ensure_hooks().retain.add(0)
