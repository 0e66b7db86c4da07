"""Reverse mode over a static graph: the same gradient rules as at run time, applied node by node to a region.

Nothing here knows tensors: the caller says how one node is differentiated (`pull`) and how two gradients add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twofold.ir.dtypes import FLOAT
from twofold.ir.graph import Node, Region, Value
from twofold.ir.op import NOT_DIFFERENTIABLE, Joint
from twofold.ir.types import TensorType

Pull = Callable[[Node, list[Any], tuple[bool, ...]], tuple[Any, ...]]
"""(node, gradient of each output or None, which flat operands want one) -> gradient of each flat operand or None."""


def is_float(value: Value) -> bool:
    """True if the value can carry a gradient."""
    return isinstance(value.type, TensorType) and value.type.dtype.category == FLOAT


def flat_operands(node: Node) -> list[Any]:
    """The operands with lists opened; numbers and None stay in their places."""
    flat: list[Any] = []
    for x in node.inputs:
        if type(x) is tuple:
            flat.extend(x)
        else:
            flat.append(x)
    return flat


def differentiable_operands(node: Node) -> list[bool]:
    """For each flat operand whether the operation's rules let a gradient through."""
    gradient = node.op.gradient
    if node.regions:
        return [True] * len(flat_operands(node))
    flags: list[bool] = []
    for i, x in enumerate(node.inputs):
        if gradient is NOT_DIFFERENTIABLE:
            through = False
        elif isinstance(gradient, Joint):
            through = True
        else:
            through = node.op.rule(i) is not NOT_DIFFERENTIABLE
        flags.extend([through] * (len(x) if type(x) is tuple else 1))
    return flags


def tracked_values(region: Region, wanted: set[Value]) -> set[Value]:
    """The values of the region that depend differentiably on `wanted` (these included)."""
    tracked = set(wanted)
    for node in region.nodes:
        flags = differentiable_operands(node)
        if any(f and type(x) is Value and x in tracked for f, x in zip(flags, flat_operands(node), strict=True)):
            tracked.update(v for v in node.outputs if is_float(v))
    return tracked


def reverse(region: Region, seeds: Mapping[Value, Any], wanted: set[Value], pull: Pull, add: Callable[[Any, Any], Any]) -> dict[Value, Any]:
    """The gradients of `wanted` for given gradients of some values of the region; values without one are absent."""
    tracked = tracked_values(region, wanted)
    gradients: dict[Value, Any] = {v: g for v, g in seeds.items() if v in tracked}
    for node in reversed(region.nodes):
        parts = [gradients.get(v) for v in node.outputs]
        if all(p is None for p in parts):
            continue
        operands = flat_operands(node)
        flags = differentiable_operands(node)
        needs = tuple(f and type(x) is Value and x in tracked for f, x in zip(flags, operands, strict=True))
        if not any(needs):
            continue
        for v in node.outputs:
            if v not in wanted:
                gradients.pop(v, None)
        for x, need, g in zip(operands, needs, pull(node, parts, needs), strict=True):
            if need and g is not None:
                gradients[x] = add(gradients[x], g) if x in gradients else g
    return {v: gradients[v] for v in wanted if v in gradients}
