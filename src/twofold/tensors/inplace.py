"""In-place operations on concrete tensors, with gradients through any family of views.

The order is: check, save, write, stamp, number the node, make the base's node the new one, give live views new nodes. A refused write
changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.mode import ANOMALY, MODE, SAVED_HOOKS, grad_enabled
from twofold.ir.op import get_op
from twofold.ir.types import TensorType
from twofold.support.errors import DTypeError, InplaceError, ShapeError
from twofold.tape.engine import check_versions
from twofold.tape.node import Node, tick
from twofold.tape.plan import TABLES, Plan
from twofold.tape.versions import stamp
from twofold.tensors.alias import overlaps, rehome, same_memory
from twofold.tensors.batched import HANDLERS, top_level
from twofold.tensors.core import Tensor, memory
from twofold.tensors.dispatch import (
    NODE_CLASSES,
    active_recorder,
    array_of,
    flat_edges,
    flows,
    operand,
    pack_saved,
    plan_of,
    type_of_operand,
    user_site,
    wanted_names,
)  # fmt: skip
from twofold.tensors.nodes import OpNode

ndarray = np.ndarray


class CopySlices(OpNode):
    """The node of a base written through a view: the operation's own node (`inner`) works inside what `chain` shows of the base."""

    __slots__ = ("chain", "inner")
    is_custom = True
    inner: Node
    chain: tuple[Any, ...]

    def run(self, domain: Any, g: Any) -> tuple[Any, ...]:
        """The gradients of (base, other operands) for the base's gradient `g`."""
        shown = domain.function("view_chain")(g, self.chain)
        inner = self.inner
        if not domain.raw and "result" in inner.saved:
            check_versions(inner)
            inner = twin_of(inner)
        grads = list(domain.pull(inner, shown))
        if self.edges[0] is not None:
            first = grads[0]
            if first is None:
                first = domain.zeros(self.inner.type)
            grads[0] = domain.function("view_scatter")(g, first, self.chain)
        return tuple(grads)

    def free(self) -> None:
        self.inner.free()


def twin_of(inner: Node) -> Node:
    """A copy of a write's inner node for a backward that is recorded: gradients of the saved result go to it, as a node of its own that
    nobody frees.
    """
    twin: Node = type(inner)()
    for name in ("plan", "type", "hooks", "code", "lasti", "edges", *("s_" + n for n in inner.saved)):
        if hasattr(inner, name):
            setattr(twin, name, getattr(inner, name))
    twin.seq = tick()
    return twin


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
        raise InplaceError(
            f"{name}_: elements of this tensor share memory (it was expanded); writing to it is refused. clone() it first", "overlap"
        )
    if tracked and base_overlap:
        raise InplaceError(
            f"{name}_: a gradient would be written through a view of a tensor whose elements share memory "
            "(a detached expand). clone() it first",
            "overlap",
        )


def check_result(name: str, target: TensorType, out: TensorType) -> None:
    """The result must fit the tensor it is written to: its shape, and a dtype that converts without losing a category."""
    if out.shape != target.shape:
        raise ShapeError(
            f"{name}_: the result has shape {out.shape}, which does not fit the tensor of shape {target.shape} written in place"
        )
    if out.dtype.category > target.dtype.category and name not in ("copy",):
        raise DTypeError(
            f"{name}_: a result of {out.dtype.name} cannot be stored in a tensor of {target.dtype.name}; use the out-of-place operation"
        )


def inplace(name: str, self: Tensor, *others: Any, **attributes: Any) -> Tensor:
    """Write the result of operation `name` on (self, *others) into `self`."""
    op = get_op(name)
    operands = (self, *others)
    concrete = set(map(type, operands)) <= (CONCRETE if op.promotion is None else CONCRETE_OR_NUMBER)
    if not concrete or MODE.special:
        level = top_level(operands)
        if level:
            return HANDLERS.inplace(name, self, others, attributes, level)
        recorder = active_recorder(op, operands)
        if recorder is not None:
            return recorder.inplace(op, self, others, attributes)
        operands = (self, *(operand(op, p, x) for p, x in zip(op.inputs[1:], others, strict=True)))
    target = self._type
    plans = TABLES.get(name) if not attributes else None
    plan = plans.get((tuple([x._type if type(x) is Tensor else type_of_operand(x) for x in operands]), ())) if plans is not None else None
    if plan is None:
        plan = plan_of(op, operands, attributes)
    if plan.out is not target:
        check_result(name, target, plan.out)
        plan = Plan(op, plan.ins, target, plan.attributes, plan.kernel)
    if target.device == "meta":
        return self
    array = self._array
    if type(array) is not ndarray:
        array = memory(self)
    elif not array.flags.writeable:
        raise InplaceError(f"{name}_: the tensor shares memory with a read-only NumPy array; clone() it first", "read_only")
    try:
        alias = self._alias
    except AttributeError:  # asking an unset slot again and again is dear
        alias = self._alias = None
    base = self if alias is None or alias.base is None else alias.base
    edge = base._node
    edges = tuple([x._node if type(x) is Tensor else None for x in operands]) if concrete else flat_edges(operands)
    if base is not self:
        edges = (edge, *edges[1:])
    tracked = plan.tracks and (edge is not None or (any(edges) and flows(plan, edges))) and grad_enabled()
    check_write(
        name, overlaps(array), tracked, alias is not None and alias.nograd, edge is not None and edge.is_accumulate,
        base is not self and tracked and overlaps(memory(base)),
    )  # fmt: skip
    arrays = (array, *[x._array if type(x) is Tensor else array_of(x) for x in operands[1:]])
    site = user_site()
    if not tracked:
        ufunc = UFUNCS.get(name)
        if ufunc is not None and plan.inline:
            ufunc(*arrays, array)
        else:
            write(array, plan.kernel(*arrays))
        stamp(array, name + "_", *site)
        return self
    result = plan.kernel(*arrays)
    node = build_node(plan, edges, self, base, arrays, site)
    write(array, result)
    stamp(array, name + "_", *site)
    settle(node, base)
    return self


UFUNCS: dict[str, Any] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
"""Operations that NumPy can compute right into the target where types need no conversion."""


CONCRETE = frozenset({Tensor})
CONCRETE_OR_NUMBER = frozenset({Tensor, float, int, bool})
"""Types of operands that need no further checks."""


def write(array: Any, result: Any) -> None:
    """Store a computed result; it shares no memory with the target, or is the target."""
    if type(result) is ndarray and result.dtype is not array.dtype:
        result = result.astype(array.dtype)
    array[...] = result


SAVED: dict[Any, tuple[tuple[str, int | None], ...]] = {}
"""What a node keeps: (slot, operand number; -1 for the result; None if it is not wanted), by operation and by which operands have edges."""


def slots_of(plan: Plan, edges: tuple[Any, ...]) -> tuple[tuple[str, int | None], ...]:
    """The entry of `SAVED` for a call."""
    op = plan.op
    key = (op.name, tuple([e is None for e in edges]), tuple([len(t) for t in plan.ins if type(t) is tuple]))
    found = SAVED.get(key)
    if found is None:
        cls = NODE_CLASSES[op.name]
        wanted = wanted_names(cls, op, plan, edges)
        slots = [("s_" + p.name, k if p.name in wanted else None) for k, p in enumerate(op.inputs) if p.name in cls.saved]
        slots += [("s_" + o, -1 if o in wanted else None) for o in ("result",) if o in cls.saved]
        if len(SAVED) >= SAVED_LIMIT:
            SAVED.clear()
        found = SAVED[key] = tuple(slots)
    return found


SAVED_LIMIT = 4096


def kept(value: Any, array: Any, first: bool) -> Any:
    """An operand as it is saved: copied if the write is about to change it."""
    if first or same_memory(value, array):
        return np.array(value)
    return tuple([kept(v, array, False) for v in value]) if type(value) is tuple else value


def build_node(plan: Plan, edges: tuple[Any, ...], self: Tensor, base: Tensor, arrays: tuple[Any, ...], site: Any) -> Node:
    """The node of a tracked write, before it happens; `settle` numbers it and puts it in place."""
    node: Node = NODE_CLASSES[plan.op.name]()
    node.plan, node.type, node.hooks = plan, self._type, None
    node.code, node.lasti = site
    through_view = base is not self
    node.edges = (self._node, *edges[1:]) if through_view else edges
    node.seq = 0
    array = arrays[0]
    for slot, k in slots_of(plan, node.edges):
        setattr(node, slot, None if k is None else array if k < 0 else kept(arrays[k], array, k == 0))
    if MODE.special and ANOMALY.get() is not None:
        node.ensure_hooks().stack = ANOMALY.get().stack()
    if not through_view:
        return node
    outer = CopySlices()
    outer.plan, outer.type, outer.hooks = None, base._type, None
    outer.code, outer.lasti = site
    outer.edges, outer.inner, outer.chain = edges, node, self._alias.chain
    return outer


def settle(node: Node, base: Tensor) -> None:
    """After the write and its stamp: number the node (it may save its own result), hang base and views on it."""
    own = node.inner if type(node) is CopySlices else node
    own.seq = node.seq = tick()
    if MODE.special and (hooks := SAVED_HOOKS.get()) is not None:
        pack_saved(own, hooks)
    move_retain(base._node, node)
    base._node = node
    if base._alias is not None and base._alias.views:
        rehome(base, NODE_CLASSES["view_chain"])


def move_retain(old: Node | None, new: Node) -> None:
    """`retain_grad` follows the tensor to its new node."""
    if old is not None and not old.is_out and old.hooks is not None and 0 in old.hooks.retain:
        old.hooks.retain.discard(0)
        new.ensure_hooks().retain.add(0)
