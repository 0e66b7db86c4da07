"""Backward: the two domains (arrays, tensors), `backward` and `grad`."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from twofold.ir.mode import ANOMALY, grad_mode
from twofold.ir.types import TensorType, type_of
from twofold.support.errors import ArgumentError, AutogradError, DeviceError, DTypeError, ShapeError, VmapError, describe_site
from twofold.tape.engine import CURRENT, Run, check_versions, count_consumers, explain_freed, path_to, raw_pull, undo_with
from twofold.tape.namespaces import TENSOR, raw_name, tensor_rules
from twofold.tape.node import AccumulateGrad, Node
from twofold.tape.versions import NEWEST, stamp
from twofold.tensors.batched import BatchedTensor, batched, new_level
from twofold.tensors.core import Symbol, Tensor, wrap, wrap_typed
from twofold.tensors.levels import check_levels, raised, root_of_levels, without_level
from twofold.tensors.nodes import box_saved

ndarray = np.ndarray
_post_accumulate_hooks = [0]
"""How many post-accumulate hooks were ever registered; while none was, leaves need no counting."""


class RawDomain:
    """Gradients are arrays; nothing is recorded."""

    raw = True

    def __init__(self) -> None:
        anomaly = ANOMALY.get()
        self.check_nan = anomaly is not None and anomaly.check_nan
        if anomaly is None:
            self.pull = raw_pull_any  # type: ignore[method-assign]

    def pull(self, node: Node, g: Any) -> tuple[Any, ...]:
        grads = raw_pull_any(node, g)
        if self.check_nan:
            check_nan(node, grads)
        return grads

    def function(self, name: str) -> Any:
        return raw_name(name)

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def zeros(self, type: TensorType) -> Any:
        return np.zeros(type.shape, type.dtype.numpy)

    def box(self, g: Any) -> Tensor:
        return wrap(g)

    def unbox(self, t: Any) -> Any:
        return t._array

    def replace(self, given: Tensor, returned: Any, what: str) -> Any:
        return replaced(given, returned, what)._array

    def accumulate(self, node: AccumulateGrad, g: Any, fresh: bool) -> None:
        with _accumulate_lock:  # NumPy lets go of the GIL while it adds
            self._accumulate(node, g, fresh)

    def _accumulate(self, node: AccumulateGrad, g: Any, fresh: bool) -> None:
        old = node.grad
        if old is None:
            if not fresh or type(g) is not ndarray or g.base is not None:
                g = np.array(g)  # somebody else holds it, or it is part of something larger
            t = Tensor()
            t._array, t._type, t._node = g, node.type, None
            if g.shape != node.type.shape or g.dtype is not node.type.dtype.numpy:
                t._type = type_of(g)
            node.grad = t
            return
        array = old._array
        if old._node is None and type(array) is ndarray and array.dtype == g.dtype and array.shape == g.shape and array.flags.writeable:
            np.add(array, g, array)
            stamp(array, "accumulation of gradients", None, 0)
        else:
            node.grad = wrap(np.add(array, g), None)


def raw_pull_any(node: Node, g: Any) -> tuple[Any, ...]:
    """`raw_pull`, or a custom node's own way."""
    if node.is_custom:
        return node.run(RAW_DOMAIN, g)  # type: ignore[attr-defined]
    return raw_pull(node, g)


class TensorDomain:
    """Gradients are tensors, and the backward operations are recorded themselves: higher derivatives, symbols."""

    raw = False

    def pull(self, node: Node, g: Any) -> tuple[Any, ...]:
        grads: tuple[Any, ...] = node.run(self, g) if node.is_custom else self.pull_record(node, g)  # type: ignore[attr-defined]
        anomaly = ANOMALY.get()
        if anomaly is not None and anomaly.check_nan:
            check_nan(node, grads)
        return grads

    def pull_record(self, node: Node, g: Any) -> tuple[Any, ...]:
        """`pull` for the node of a record."""
        if NEWEST.clock < node.seq:
            check_versions(node)
        try:
            grads = type(node).pull(Boxed(node), g, node.rules or tensor_rules(type(node)))  # type: ignore[arg-type]
        except AttributeError:
            if any(not hasattr(node, "s_" + name) for name in node.saved):
                raise explain_freed(node) from None
            raise
        plan = node.plan
        if plan is not None and plan.undo is not None:
            grads = undo_with(grads, plan.undo, TENSOR["sum_to_size"], _cast)
        elif plan is not None and plan.low:
            grads = tuple(_cast(r, t.dtype) if r is not None and t is not None else r for r, t in zip(grads, plan.flat_ins, strict=True))
        return grads

    def function(self, name: str) -> Any:
        return TENSOR[name]

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def zeros(self, type: TensorType) -> Tensor:
        return TENSOR["zeros"](type.shape, dtype=type.dtype)

    def box(self, g: Any) -> Tensor:
        return g

    def unbox(self, t: Any) -> Any:
        return t

    def replace(self, given: Tensor, returned: Any, what: str) -> Any:
        return replaced(given, returned, what)

    def accumulate(self, node: AccumulateGrad, g: Any, fresh: bool) -> None:
        with _accumulate_lock:
            node.grad = g if node.grad is None else node.grad + g


_accumulate_lock = threading.RLock()
"""Held while a gradient is added to a leaf: several backward runs may reach the same one."""


def replaced(given: Tensor, returned: Any, what: str) -> Tensor:
    """What a hook returned in place of a gradient: a tensor of the same shape and dtype."""
    if not isinstance(returned, Tensor):
        raise ArgumentError(f"{what} must return a tensor or None, not {type(returned).__name__}")
    if returned._type.shape != given._type.shape:
        raise ShapeError(
            f"{what} returned a gradient of shape {tuple(returned._type.shape)} in place of one of shape {tuple(given._type.shape)}"
        )
    if returned._type.dtype is not given._type.dtype:
        raise DTypeError(f"{what} returned a gradient of {returned._type.dtype.name} in place of one of {given._type.dtype.name}")
    return returned


RAW_DOMAIN: Any = None
TENSOR_DOMAIN = TensorDomain()


class Boxed:
    """A node whose saved arrays are read as tensors joined to the graph."""

    def __init__(self, node: Node) -> None:
        self._boxed = node

    def __getattr__(self, name: str) -> Any:
        node = self._boxed
        value = getattr(node, name)
        return box_saved(node, name[2:], value) if name.startswith("s_") else value


def _cast(r: Tensor, dtype: Any) -> Tensor:
    return r if r._type.dtype is dtype else TENSOR["to"](r, dtype)


def check_nan(node: Node, grads: tuple[Any, ...]) -> None:
    """Anomaly mode: raise at the first node that makes a NaN, with the stack of its forward call."""
    for k, r in enumerate(grads):
        array = r._array if isinstance(r, Tensor) else r
        if array is not None and array.dtype.kind in "fV" and np.isnan(array).any():
            stack = node.hooks.stack if node.hooks is not None else None
            where = f"Its forward call:\n{stack}" if stack else f"It was made at {describe_site(node.code, node.lasti)}"
            raise AutogradError(f"{node.name()} returned NaN in gradient {k} (detect_anomaly). {where}")


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def root_gradient(kind: TensorType, g: Any, create_graph: bool) -> Any:
    """The gradient a root starts with, checked against the root's shape."""
    if g is None:
        if kind.numel != 1:
            raise AutogradError(
                f"the gradient of a tensor of shape {tuple(kind.shape)} cannot be implied: "
                "backward() needs a scalar, or a gradient argument of that shape"
            )
        ones = np.ones(kind.shape, kind.dtype.numpy)
        return wrap_typed(ones, kind) if create_graph else ones
    if not isinstance(g, Tensor):
        raise ArgumentError(f"the gradient of a root must be a tensor or None, not {type(g).__name__}")
    if g._type.shape != kind.shape:
        raise ShapeError(f"the gradient has shape {tuple(g._type.shape)}, the tensor it belongs to {tuple(kind.shape)}")
    if not g._type.dtype.is_floating_point:
        raise DTypeError(f"the gradient must be floating-point, not {g._type.dtype.name}")
    if create_graph:
        return g if g._type.dtype is kind.dtype else _cast(g, kind.dtype)
    return g._array if g._type.dtype is kind.dtype else np.asarray(g._array).astype(kind.dtype.numpy)


def edge_of(t: Any) -> Node | None:
    """The node a tensor's gradient (or that of an `autograd.graph.GradientEdge`) arrives at."""
    return t._node if isinstance(t, Tensor) else t.ownership_token


def is_root(t: Any) -> bool:
    """True for a tensor or an `autograd.graph.GradientEdge`."""
    return isinstance(t, Tensor) or hasattr(t, "ownership_token")


def start(
    tensors: Any,
    gradients: Any,
    keep: bool,
    create_graph: bool,
    targets: set[Node] | None,
    capture: set[Node] | None,
    accumulate: bool = True,
) -> Run:
    """Run backward from `tensors`; `targets` restricts it to the paths that lead there, the gradients of `capture` are kept in the run."""
    tensors = _as_list(tensors)
    gradients = [None] * len(tensors) if gradients is None else _as_list(gradients)
    if len(gradients) != len(tensors):
        raise ArgumentError(f"{len(tensors)} tensors but {len(gradients)} gradients")
    roots: list[tuple[Node, Any]] = []
    mapped = False  # a gradient has a batch that its root has not: the engine works with tensors
    for i, (t, g) in enumerate(zip(tensors, gradients, strict=True)):
        if not is_root(t):
            raise ArgumentError(f"backward needs tensors, not {type(t).__name__}")
        if type(t) is BatchedTensor or (type(g) is BatchedTensor and isinstance(t, Tensor)):
            t, g = root_of_levels(t, g)
        if isinstance(t, Symbol):
            raise AutogradError("a symbol has no dynamic backward graph; use twofold.aot, or call backward on the results of the graph")
        node = edge_of(t)
        if node is None:
            which = f"tensor {i}" if len(tensors) > 1 else "the tensor"
            raise AutogradError(f"{which} does not require grad and has no grad_fn: nothing to differentiate")
        if getattr(t, "_type", node.type).device == "meta":
            raise DeviceError("backward on the meta device: its tensors have no data, so there is no gradient to compute")
        mapped = mapped or type(g) is BatchedTensor
        roots.append((node, g))
    tensors_only = create_graph or mapped
    roots = [(node, root_gradient(node.type, g, tensors_only)) for node, g in roots]
    nodes = [n for n, _ in roots]
    needed = None if targets is None else path_to(nodes, targets)
    domain: Any = TENSOR_DOMAIN if tensors_only else RawDomain()
    run = Run(domain, keep, needed, capture, accumulate)
    run.roots = nodes
    if _post_accumulate_hooks[0] and accumulate:
        run.consumers = count_consumers(nodes, needed)
    token = CURRENT.set(run)
    try:
        with grad_mode(create_graph):
            for node, g in roots:
                if needed is None or node in needed:
                    run.seed(node, g)
            run.run()
    finally:
        CURRENT.reset(token)
    return run


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves (or of `inputs` only).

    grad_tensors: gradient of each tensor (None: 1 for a one-element tensor). retain_graph: keep saved values for another pass
    (default: `create_graph`). Raises AutogradError where there is nothing to differentiate, or on a second pass.
    """
    keep = create_graph if retain_graph is None else retain_graph
    if any(type(t) is BatchedTensor for t in _as_list(tensors)):
        raise VmapError("backward() inside vmap: gradients of single examples have no leaf to go to; use twofold.func.grad or vjp")
    if inputs is None:
        start(tensors, grad_tensors, keep, create_graph, None, None)
        return
    wanted = _as_list(inputs)
    if not wanted:
        raise AutogradError("backward: inputs= must not be empty")
    targets = {node for t in wanted if (node := edge_of(t)) is not None}
    if any(edge_of(t) is None for t in wanted):
        raise AutogradError("backward: one of inputs= does not require grad")
    inner = {node for node in targets if not node.is_accumulate}
    run = start(tensors, grad_tensors, keep, create_graph, targets, inner)
    for node in inner:
        g = run.captured.get(node)
        if g is not None and not (node.hooks is not None and 0 in node.hooks.retain):  # a retained gradient is there already
            kept, old = node.ensure_hooks().retained, node.ensure_hooks().retained.get(0)
            kept[0] = run.domain.box(g) if old is None else old + run.domain.box(g)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of `outputs` with respect to `inputs`, a tuple; nodes off the path neither run nor are freed.

    is_grads_batched: `grad_outputs` have one dimension more, the first, and so have the results: many vector-Jacobian products at once.
    An input the outputs do not depend on raises AutogradError, unless `allow_unused` (None is returned) or `materialize_grads` (zeros).
    """
    if allow_unused is None:
        allow_unused = materialize_grads
    elif not allow_unused and materialize_grads:
        raise ArgumentError("grad: materialize_grads=True needs allow_unused not to be False")
    wanted = _as_list(inputs)
    if not wanted:
        raise ArgumentError("grad: inputs must not be empty")
    nodes: list[Node] = []
    for i, t in enumerate(wanted):
        if not is_root(t):
            raise ArgumentError(f"grad: inputs must be tensors, not {type(t).__name__}")
        node = edge_of(t)
        if node is None:
            raise AutogradError(f"grad: input {i} does not require grad")
        nodes.append(node)
    keep = create_graph if retain_graph is None else retain_graph
    targets = set(nodes)
    outputs, level = _as_list(outputs), 0
    if is_grads_batched:
        level = new_level()
        grad_outputs = [None if g is None else batched_gradient(g, level) for g in _as_list(grad_outputs)]
    check_levels(outputs, wanted)
    run = start(outputs, grad_outputs, keep, create_graph, targets, targets, accumulate=False)
    results: list[Any] = []
    for i, node in enumerate(nodes):
        g = run.captured.get(node)
        if g is None and not allow_unused:
            raise AutogradError(f"grad: the outputs do not depend on input {i}; pass allow_unused=True to get None for it")
        if g is None and materialize_grads:
            g = run.domain.zeros(node.type)
        g = g if g is None or isinstance(g, Tensor) else wrap(g)
        if g is not None and isinstance(wanted[i], BatchedTensor):
            g = raised(g, wanted[i])
        results.append(g)
    if level:
        sizes = [g._inner._type.shape[0] for g in grad_outputs if g is not None]
        results = [None if g is None else without_level(g, level, sizes[0]) for g in results]
    return tuple(results)


def batched_gradient(g: Any, level: int) -> Tensor:
    """A gradient with a leading dimension that counts gradients."""
    if not isinstance(g, Tensor) or not g._type.ndim:
        raise ArgumentError("grad(is_grads_batched=True): grad_outputs must be tensors with a leading dimension that counts gradients")
    return batched(g, level)


def retain_grad(t: Tensor) -> None:
    """Keep the gradient of a non-leaf in its `.grad`."""
    node = t._node
    if node is None:
        raise AutogradError("retain_grad() on a tensor that does not require grad")
    if node.is_accumulate:
        return
    node.ensure_hooks().retain.add(0)


def note_post_accumulate_hook() -> None:
    """Remember that leaves must be counted from now on."""
    with _lock:
        _post_accumulate_hooks[0] += 1


_lock = threading.Lock()
RAW_DOMAIN = RawDomain()
