"""Views of concrete tensors without the generic path: what `dispatch` does for an operation with one view as its output, and nothing more.

Anything else (symbols, special modes, 0-d scalars, the meta device, attributes that cannot be hashed) goes to `dispatch`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.dtypes import FLOAT
from twofold.ir.mode import MODE
from twofold.ir.op import Op
from twofold.ir.types import type_of
from twofold.tape.node import Node, tick
from twofold.tape.plan import PLAN_LIMIT, Plan, build_plan
from twofold.tensors.alias import adopt, make_step
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch, logical_order, user_site

ndarray = np.ndarray
_known: dict[Any, tuple[Plan, Any, bool]] = {}
"""For an operation, a type and attributes: the plan, the step of the chain of views, and whether a gradient can flow."""


def reset() -> None:
    """Forget all plans of views."""
    _known.clear()


def view_of(op: Op, source: Tensor, attributes: dict[str, Any]) -> Any:
    """The view that `op` gives of a tensor."""
    if MODE.special or type(source) is not Tensor or type(source._array) is not ndarray:
        return dispatch(op, (source,), attributes)
    key = (op, source._type, *attributes.values())
    try:
        found = _known[key]
    except TypeError:
        return dispatch(op, (source,), attributes)
    except KeyError:
        plan = build_plan(op, (source._type,), attributes)
        if len(_known) >= PLAN_LIMIT:
            _known.clear()
        found = _known[key] = (plan, make_step(op.name, plan.attributes), plan.tracks and op.rule(0) is not None)
    plan, step, tracks = found
    base = source._array
    if op.name == "view" and not base.flags.c_contiguous:
        base = logical_order(source, base)
    array = plan.kernel(base)
    if not array.flags.writeable and base.flags.writeable:
        array.flags.writeable = True  # broadcast views: overlapping writes are refused by our own rule
    o = Tensor()
    o._array, o._type = array, plan.out
    node = source._node
    o._node = view_node(op.name, plan, node) if adopt(source, o, step) and tracks and node is not None else None
    return o


def view_node(name: str, plan: Plan, edge: Node) -> Node:
    """The backward node of a view (nothing is saved)."""
    node: Node = NODE_CLASSES[name]()
    node.seq = tick()
    node.edges, node.plan, node.type, node.hooks = (edge,), plan, plan.out, None
    node.code, node.lasti = user_site()
    return node


def selected(op: Op, source: Tensor, dim: int, index: int) -> Tensor | None:
    """The view at one index of dimension `dim` >= 0; None where the generic path is needed (it also explains a wrong index)."""
    if MODE.special or type(source) is not Tensor or type(source._array) is not ndarray:
        return None
    array = source._array
    if dim >= array.ndim:
        return None
    n = array.shape[dim]
    if not -n <= index < n:
        return None
    o = Tensor()
    if dim == 0:
        o._array = part = array[index, ...]
    elif dim == 1:
        o._array = part = array[:, index, ...]
    else:
        place: Any = (*(slice(None),) * dim, index, ...)
        o._array = part = array[place]
    out = o._type = type_of(part)
    node = source._node
    live = adopt(source, o, ("select", (("dim", dim), ("index", index))))
    if live and node is not None and out.dtype.category == FLOAT:
        o._node = view_node("select", Plan(op, (source._type,), out, {"dim": dim, "index": index}, op.reference), node)
    else:
        o._node = None
    return o
