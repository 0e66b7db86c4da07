"""The generic path of every operation: symbols, Python numbers, special modes, several outputs, views.

The generated functions call `dispatch` when their fast path does not apply. Everything an operation does is here in its plain form.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

import numpy as np

from twofold.ir.mode import ANOMALY, AUTOCAST, MODE, RECORDER, SAVED_HOOKS, grad_enabled, grad_mode
from twofold.ir.op import Joint, Op
from twofold.ir.types import TensorType, scalar_type, type_of
from twofold.ops.vocabulary import load_vocabulary
from twofold.support.errors import ArgumentError, OutOfMemory, TwofoldError, ValueRangeError, user_frame
from twofold.tape.node import Node, Out, tick
from twofold.tape.plan import Plan, scalar_key, table
from twofold.tape.versions import has_escaped
from twofold.tensors.alias import adopt, make_step
from twofold.tensors.batched import HANDLERS, top_level
from twofold.tensors.core import Symbol, Tensor, memory, wrap_typed
from twofold.tensors.nodes import Packed

load_vocabulary()
Site = tuple[CodeType | None, int]
NODE_CLASSES: dict[str, Any] = {}
"""The generated node class of each differentiable record, by the record's name; filled by the generated modules."""


def user_site() -> Site:
    """(code, instruction) of the user's line."""
    frame = user_frame(2)
    return (None, 0) if frame is None else (frame.f_code, frame.f_lasti)


def active_recorder(op: Op, inputs: tuple[Any, ...]) -> Any:
    """The recorder this call writes to, or None: the active one, or the one the symbols among the operands belong to."""
    recorder = RECORDER.get()
    for x in inputs:
        for t in x if type(x) in (tuple, list) else (x,):
            if isinstance(t, Symbol):
                if recorder is None:
                    recorder = t._recorder
                elif t._recorder is not recorder:
                    recorder.foreign_symbol(op.name, t)
    return recorder


def operand(op: Op, p: Any, value: Any) -> Any:
    """A value given for a tensor parameter, checked: a Tensor, a Python number, None, or a tuple for a list."""
    if isinstance(value, Tensor):
        if p.many:
            raise ArgumentError(f"{op.name}(): argument {p.name!r} must be a sequence of tensors, not one tensor")
        return value
    if value is None and p.optional:
        return None
    if p.many and isinstance(value, (list, tuple)):
        for i, t in enumerate(value):
            if not isinstance(t, Tensor):
                raise ArgumentError(f"{op.name}(): {p.name}[{i}] must be a tensor, not {type(t).__name__}")
        return tuple(value)
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in (bool, int, float) and op.promotion is not None:
        return value
    if isinstance(value, np.ndarray):
        raise ArgumentError(f"{op.name}(): argument {p.name!r} is a NumPy array; make it a tensor with twofold.from_numpy(array)")
    wanted = "sequence of tensors" if p.many else "tensor"
    raise ArgumentError(f"{op.name}(): argument {p.name!r} must be a {wanted}, not {type_name(value)} ({value!r:.60})")


def type_name(value: Any) -> str:
    """The name of a value's class, with its module where it could be taken for ours."""
    cls = type(value)
    return f"{cls.__module__}.{cls.__name__}" if cls.__name__ in ("Tensor", "Parameter") else cls.__name__


def type_of_operand(value: Any) -> Any:
    """What a type rule sees of an operand."""
    if value is None:
        return None
    if isinstance(value, Tensor):
        return value._type
    if type(value) is tuple:
        return tuple(t._type for t in value)
    return scalar_type(type(value))


def plan_of(op: Op, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Plan:
    """The plan for these operands and attributes; memoised."""
    ins = tuple(map(type_of_operand, operands))
    plans = table(op)
    key = (ins, tuple(scalar_key(v) if type(v) in (int, float, bool) else v for v in attributes.values()))
    try:
        found = plans.get(key)
    except TypeError:
        found = None
    if found is None:
        if not any(type(t) is TensorType or type(t) is tuple for t in ins) and op.inputs and op.promotion is not None:
            raise ArgumentError(f"{op.name}(): at least one operand must be a tensor")
        found = plans.make(key, ins, attributes)
    return found


def array_of(value: Any) -> Any:
    """The data of an operand."""
    if isinstance(value, Tensor):
        return value._array
    if type(value) is tuple:
        return tuple(t._array for t in value)
    return value


def node_of(value: Any) -> Any:
    """The edge of an operand."""
    return value._node if isinstance(value, Tensor) else None


def flat_edges(operands: tuple[Any, ...]) -> tuple[Node | None, ...]:
    """The edges of all operands, lists opened."""
    edges: list[Node | None] = []
    for x in operands:
        if type(x) is tuple:
            edges.extend(t._node for t in x)
        else:
            edges.append(node_of(x))
    return tuple(edges)


def dispatch(op: Op, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """Run or record one operation the generic way."""
    if MODE.special and (autocast := AUTOCAST.get()) is not None:
        inputs = autocast.cast(op, inputs)
    level = top_level(inputs)
    if level:
        return HANDLERS.call(op, inputs, attributes, level)
    recorder = active_recorder(op, inputs)
    if recorder is not None:
        return recorder.call(op, inputs, attributes)
    operands = tuple([operand(op, p, x) for p, x in zip(op.inputs, inputs, strict=True)])
    plan = plan_of(op, operands, attributes)
    return execute(op, plan, operands)


def wants_grad(plan: Plan, edges: tuple[Any, ...]) -> bool:
    """True if the call must leave a node behind."""
    return plan.tracks and any(e is not None for e in edges) and grad_enabled() and flows(plan, edges)


def flows(plan: Plan, edges: tuple[Any, ...]) -> bool:
    """True if one of the operands with a graph is differentiable in this operation."""
    gradient = plan.op.gradient
    if isinstance(gradient, Joint):
        return True
    position = 0
    for rule, t in zip(gradient, plan.ins, strict=True):
        n = len(t) if type(t) is tuple else 1
        if callable(rule) and any(e is not None for e in edges[position : position + n]):
            return True
        position += n
    return False


def execute(op: Op, plan: Plan, operands: tuple[Any, ...]) -> Any:
    """Run the plan's kernel on concrete operands and make tensors (and a node) of the result."""
    arrays = tuple(map(array_of, operands))
    if op.is_view:
        source = operands[0]
        array = None if source._array is None else memory(source)
        if array is not None and op.name == "view" and not array.flags.c_contiguous:
            array = logical_order(source, array)
        arrays = (array, *arrays[1:])
    try:
        result = plan.kernel(*arrays)
    except TwofoldError:
        raise
    except MemoryError:
        raise OutOfMemory(f"{op.name}: there is not enough memory for its result, {plan.out}") from None
    except ValueError as e:  # NumPy's own limits: too many dimensions, too many elements
        raise ValueRangeError(f"{op.name} of {', '.join(map(str, plan.flat_ins))} with result {plan.out}: {e}") from None
    edges = flat_edges(operands)
    node = None
    if wants_grad(plan, edges):
        node = make_node(op, plan, edges, arrays, result, user_site())
    if not plan.several:
        out = wrap_typed(result, plan.out, node)
        if op.is_view:
            finish_view(op, plan, operands[0], out, None)
        return out
    outs = []
    for k, (array, t) in enumerate(zip(result, plan.out, strict=True)):
        out = wrap_typed(array, t, Out(node, k, t) if node is not None and t.dtype.is_floating_point else None)
        if op.is_view:
            finish_view(op, plan, operands[0], out, k)
        outs.append(out)
    return tuple(outs)


def layout_is_free(source: Tensor) -> bool:
    """True for a result whose memory nothing else knows: no leaf, no view, without views and aliases, not handed out."""
    node = source._node
    return not ((node is not None and node.is_accumulate) or getattr(source, "_alias", None) is not None or has_escaped(source._array))


def logical_order(source: Tensor, array: Any) -> Any:
    """The array of a tensor about to be viewed. A result that eager keeps in another layout (channels-last strides under an NCHW shape) is
    put into C order first, so that the layout shows nowhere; a tensor with views, or one that is a view, a leaf or known outside, stays as
    it is."""
    if not layout_is_free(source):
        return array
    source._array = np.ascontiguousarray(array)
    return source._array


def finish_view(op: Op, plan: Plan, source: Tensor, out: Tensor, index: int | None) -> None:
    """Enter a view into its base's family."""
    array, base = out._array, source._array
    if type(array) is np.ndarray and not array.flags.writeable and base.flags.writeable:
        array.flags.writeable = True  # broadcast views: overlapping writes are refused by our own rule
    if not adopt(source, out, make_step(op.name, plan.attributes, index)):
        out._node = None


def make_node(op: Op, plan: Plan, edges: tuple[Any, ...], arrays: tuple[Any, ...], result: Any, site: Site) -> Node:
    """The backward node of a call."""
    cls = NODE_CLASSES[op.name]
    node: Node = cls()
    node.seq = tick()
    node.edges, node.plan, node.type = edges, plan, plan.out
    node.code, node.lasti = site
    node.hooks = None
    fill_saved(node, cls, op, plan, arrays, result)
    if MODE.special:
        if ANOMALY.get() is not None:
            node.ensure_hooks().stack = ANOMALY.get().stack()
        if (hooks := SAVED_HOOKS.get()) is not None:
            pack_saved(node, hooks)
    return node


def fill_saved(node: Node, cls: Any, op: Op, plan: Plan, arrays: tuple[Any, ...], result: Any) -> None:
    """Save what the rules of the wanted gradients name."""
    wanted = wanted_names(cls, op, plan, node.edges)
    for p, value in zip(op.inputs, arrays, strict=True):
        if p.name in cls.saved:
            setattr(node, "s_" + p.name, value if p.name in wanted else None)
    outputs = op.signature.outputs
    if "result" in cls.saved:
        node.s_result = result if "result" in wanted else None  # type: ignore[attr-defined]
    elif len(outputs) > 1:
        for o, value in zip(outputs, result, strict=True):
            if o.name in cls.saved:
                setattr(node, "s_" + o.name, value if o.name in wanted else None)


def wanted_names(cls: Any, op: Op, plan: Plan, edges: tuple[Any, ...]) -> frozenset[str]:
    """The saved names that some wanted gradient's rule needs."""
    if isinstance(op.gradient, Joint):
        return frozenset(cls.saved)
    names: set[str] = set()
    position = 0
    for needs, t in zip(cls.needs, plan.ins, strict=True):
        n = len(t) if type(t) is tuple else 1
        if any(e is not None for e in edges[position : position + n]):
            names.update(needs)
        position += n
    return frozenset(names)


def pack_saved(node: Node, hooks: tuple[Any, Any]) -> None:
    """Send a node's saved values through the pack hook of `saved_tensors_hooks`."""
    for name in node.saved:
        value = getattr(node, "s_" + name)
        if isinstance(value, (np.ndarray, np.generic)):
            setattr(node, "s_" + name, pack_one(node, name, wrap_typed(value, type_of(value)), hooks))


def pack_one(node: Node, name: str, value: Tensor, hooks: tuple[Any, Any]) -> Packed:
    """One saved value through the pack hook. A hook with a method `pack_for(node, name, tensor)` is told what it belongs to."""
    pack, unpack = hooks
    token = SAVED_HOOKS.set(None)
    try:
        with grad_mode(False):
            told = getattr(pack, "pack_for", None)
            packed = pack(value) if told is None else told(node, name, value)
    finally:
        SAVED_HOOKS.reset(token)
    node.ensure_hooks().packed = True
    return Packed(packed, unpack)
